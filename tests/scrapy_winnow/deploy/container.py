"""Runs a command as a container would: its user, a root that is read only, its environment, its folders."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

from tests.scrapy_winnow.waiting import SECONDS

USER = 10001
DATA, TEMPORARY = "/mnt", "/media"
"""Where ``/data`` and ``/tmp`` of the container are here: the tests themselves live in ``/tmp``."""

ENTER = f"""
set -e
mount --bind "$DATA_FOLDER" {DATA}
mount -t tmpfs -o mode=1777 none {TEMPORARY}
mount -o remount,bind,ro /
exec setpriv --reuid={USER} --regid={USER} --clear-groups --no-new-privs \\
    --inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search --bounding-set=-all,+dac_read_search "$@"
"""
"""The user may read what is root's, as in an image, and write nothing but the two folders."""


def can_be_entered() -> bool:
    """Whether this machine lets tests have a root and a user of their own: Linux, as root."""
    if os.geteuid() != 0 or which("unshare") is None or which("setpriv") is None:
        return False
    tried = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", DATA], check=False)
    return tried.returncode == 0


class Container:
    """A place to run the commands of an image in.

    Args:
        data: folder of this machine that is ``/data``.
        work: folder that the commands begin in; they may not write there.
    """

    def __init__(self, data: Path, work: Path) -> None:
        self.is_closed = can_be_entered()
        self._data = data
        self._work = work
        if self.is_closed:
            os.chown(data, USER, USER)

    @property
    def data(self) -> str:
        """Where ``/data`` is for the commands."""
        return DATA if self.is_closed else str(self._data)

    def run(self, command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a command of the image with nothing but this environment."""
        programs = str(Path(sys.executable).parent)
        command = [part.replace("/data", self.data) for part in command]
        if self.is_closed:
            command = [part.replace("=/tmp/", f"={TEMPORARY}/") for part in command]
        environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": "/nonexistent", **environment}
        if self.is_closed:
            command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", *command]
            environment |= {"DATA_FOLDER": str(self._data), "TMPDIR": TEMPORARY}
        return subprocess.run(
            command, cwd=self._work, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
