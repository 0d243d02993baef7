"""The Lua scripts of ``storage/lua``: called by their hash, loaded when the server does not know them."""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

from scrapy_winnow.storage.clients import is_cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis
    from redis.asyncio import Redis as AsyncRedis
    from redis.commands.core import Script as SyncScript


class Script:
    """One Lua script; every call of it must be safe to repeat.

    Args:
        names: files below ``storage/lua`` without their ending, which are joined in this order.

    Attributes:
        source: the text of the script.
        sha: what the server knows it by.
    """

    def __init__(self, *names: str) -> None:
        folder = resources.files("scrapy_winnow.storage").joinpath("lua")
        self.source = "".join(folder.joinpath(f"{name}.lua").read_text(encoding="utf-8") for name in names)
        self.sha = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()

    async def run(self, client: AsyncRedis, keys: Sequence[str | bytes], arguments: Sequence[Any]) -> Any:
        """Run the script in one round trip, and return its reply.

        Raises:
            redis.RedisError: the server refused or could not be reached.
        """
        try:
            return await client.evalsha(self.sha, len(keys), *keys, *arguments)
        except NoScriptError:
            await self._load(client, keys)
            return await client.evalsha(self.sha, len(keys), *keys, *arguments)

    async def _load(self, client: Any, keys: Sequence[str | bytes]) -> None:
        """Load the script; in a cluster where its keys are, since one server that hangs would hold up all others."""
        if is_cluster(client) and keys:
            node = client.get_node_from_key(keys[0] if isinstance(keys[0], str) else keys[0].decode())
            await client.execute_command("SCRIPT LOAD", self.source, target_nodes=node)
        else:
            await client.script_load(self.source)

    def of(self, client: Redis) -> SyncScript:
        """Return the script to be called with keys and arguments by a process that may wait for the answer."""
        return client.register_script(self.source)
