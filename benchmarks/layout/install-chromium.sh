#!/bin/sh
# Installs Debian's Chromium and a font of the usual widths, which benchmarks.layout.geometry compares with. Run it as root.
set -eu
apt-get update -q
apt-get install -y -q --no-install-recommends chromium fonts-liberation
chromium --version
