"""The Lua scripts for the learner, which is a process of its own and may wait."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redis import Redis
    from redis.commands.core import Script


def sync_script(client: Redis, name: str) -> Script:
    """Return the script ``crawler/lua/NAME.lua`` to be called with keys and arguments."""
    return client.register_script(resources.files("crawler").joinpath("lua", f"{name}.lua").read_text(encoding="utf-8"))
