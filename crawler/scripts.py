"""The Lua scripts of ``crawler/lua``: called by their hash, loaded when the server does not know them."""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

    Call = tuple[Sequence[str | bytes], Sequence[Any]]


class Script:
    """One Lua script; every call of it must be safe to repeat.

    Args:
        names: files in ``crawler/lua`` without their ending, which are joined in this order.

    Attributes:
        source: the text of the script.
    """

    def __init__(self, *names: str) -> None:
        files = [resources.files("crawler").joinpath("lua", f"{name}.lua") for name in names]
        self.source = "".join(file.read_text(encoding="utf-8") for file in files)
        self._sha = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()

    async def run(self, client: Redis, calls: Sequence[Call]) -> list[Any]:
        """Run the script once per pair of keys and arguments, in one round trip, and return the replies in order.

        Raises:
            redis.RedisError: the server refused or could not be reached.
        """
        try:
            return await self._send(client, calls)
        except NoScriptError:
            await client.script_load(self.source)
            return await self._send(client, calls)

    async def _send(self, client: Redis, calls: Sequence[Call]) -> list[Any]:
        if len(calls) == 1:
            keys, arguments = calls[0]
            return [await client.evalsha(self._sha, len(keys), *keys, *arguments)]
        pipeline = client.pipeline(transaction=False)
        for keys, arguments in calls:
            pipeline.evalsha(self._sha, len(keys), *keys, *arguments)
        return await pipeline.execute()
