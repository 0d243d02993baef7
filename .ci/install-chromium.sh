#!/bin/sh
# Installs Debian's Chromium without windows and a font of the usual widths, where there is none yet: the tests of the
# inspector and of the report drive it. It takes root, or sudo without a password.
set -eu
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
	if command -v "$name" >/dev/null; then exit 0; fi
done
root=
if [ "$(id -u)" != 0 ]; then root="sudo -n"; fi
$root apt-get update -q
install() { $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" fonts-liberation; }
install chromium-headless-shell || install chromium  # older releases have the whole browser only
