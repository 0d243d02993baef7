"""How often clients write to a server: once for all that goes together, however TCP splits it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from redis.asyncio.connection import AbstractConnection


@contextmanager
def counted_round_trips() -> Iterator[list[int]]:
    """Collect the server's port (0 for a file) each time that a client of the event loop writes to a connection."""
    ports: list[int] = []
    send = AbstractConnection.send_packed_command

    async def counted(connection, *what, **options):
        ports.append(getattr(connection, "port", 0))
        return await send(connection, *what, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AbstractConnection, "send_packed_command", counted)
        yield ports
