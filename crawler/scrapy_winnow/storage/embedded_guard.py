"""The parent process of the embedded server, which ends it when the last crawl that used it is gone.

It is run as a script, on purpose without any import from the project or from site-packages: it stays small and
starts in milliseconds. Every crawl holds a shared lock on a file as long as it lives, and the kernel drops that lock
however the crawl ends, ``kill -9`` included. So waiting for the exclusive lock is waiting for the last crawl.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys


def main(lock_path: str, command: list[str]) -> int:
    """Run ``command`` until nobody holds a shared lock on ``lock_path``, then end it cleanly.

    Args:
        lock_path: File on which each user of the server holds a shared ``flock``.
        command: Program and arguments of the server.

    Returns:
        The exit code of the server.
    """
    server = os.posix_spawn(command[0], command, os.environ)
    lock = os.open(lock_path, os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # The exclusive lock is kept until the server has written everything, so a crawl that starts now waits for it.
    os.kill(server, signal.SIGTERM)
    _, status = os.waitpid(server, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(abs(main(sys.argv[1], sys.argv[2:])))
