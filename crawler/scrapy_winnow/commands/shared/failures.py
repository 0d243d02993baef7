"""Exit codes of the ``winnow`` command, and the errors that lead to them."""

from __future__ import annotations

from typing import Final

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130


class CommandError(Exception):
    """Ends a command with a message for the user and an exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        self.code = code
        super().__init__(message)


def reason(error: Exception) -> str:
    """What an exception says to a user: "no such file or directory" rather than "[Errno 2] ...: 'x'"."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)
