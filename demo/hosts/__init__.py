"""The hosts of the demo web, one module each: a genre, its markup and its furniture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.hosts import blog, council, docs, forum, news, shop

if TYPE_CHECKING:
    from collections.abc import Callable

    from demo.site import Site

BUILDERS: dict[str, Callable[[Site, int], None]] = {
    "news": news.build,
    "shop": shop.build,
    "forum": forum.build,
    "docs": docs.build,
    "blog": blog.build,
    "council": council.build,
}
