"""A port of loopback for a server that is told where to listen."""

from __future__ import annotations

import socket
import sys
from typing import Self


class ReservedPort:
    """A port that is nobody else's until it is closed, as a context manager.

    A port that was only looked for can be taken before the server listens at it, or while the server is down: by
    another process that looks for one, or by any outgoing connection. So it is held by a socket that never listens,
    beside which Linux lets a server listen that reuses addresses, as servers do.

    Attributes:
        number: the port.
    """

    def __init__(self) -> None:
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("127.0.0.1", 0))
        self.number: int = self._held.getsockname()[1]
        if sys.platform != "linux":  # elsewhere an address that is held cannot be listened at
            self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give it back."""
        self._held.close()
