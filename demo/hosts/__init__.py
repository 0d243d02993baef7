"""The hosts of the demo web, one module each: a genre, its markup and its furniture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.hosts.blog import Blog
from demo.hosts.council import Council
from demo.hosts.docs import Docs
from demo.hosts.forum import Forum
from demo.hosts.news import News
from demo.hosts.shop import Shop

if TYPE_CHECKING:
    from collections.abc import Callable

    from demo.hosts.parts import Host
    from demo.site import Site

BUILDERS: dict[str, Callable[[Site, int], Host]] = {
    "news": News,
    "shop": Shop,
    "forum": Forum,
    "docs": Docs,
    "blog": Blog,
    "council": Council,
}
"""What builds each host, ``pages`` content pages of it."""
