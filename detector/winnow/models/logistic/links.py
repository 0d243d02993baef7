"""Which elements are links, and which of them stay on the site."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.tags import TAG_ID, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.logistic.attributes import Attributes
    from winnow.page.page import Page

_LINK: Final = tag_set("a", "area")
_NO_ADDRESS: Final = ("#", "javascript:", "mailto:", "tel:", "data:")


@dataclass(frozen=True, eq=False, slots=True)
class Links:
    """Links of a page to other pages; jumps within the page and scripts are none.

    Attributes:
        link: bool[n], the element is a link.
        in_site: bool[n], the element is a link to a page of the same site.
    """

    link: NDArray[np.bool_]
    in_site: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Page, attributes: Attributes) -> Links:
        """Find the links of a page.

        Relative links are in-site. Others are when their host is that of the page's address or of its canonical link
        or, where neither is known, the host that most links name.
        """
        link, in_site = np.zeros(page.n, bool), np.zeros(page.n, bool)
        tag = page.tag.tolist()
        hosts: dict[int, str] = {}
        for index, address in attributes.href.items():
            if _LINK[tag[index]] and not address.startswith(_NO_ADDRESS):
                link[index] = True
                host = _host(address)
                if host:
                    hosts[index] = host
                else:
                    in_site[index] = True
        own = _own_hosts(page, attributes) or {host for host, _ in Counter(hosts.values()).most_common(1)}
        for index, host in hosts.items():
            in_site[index] = host in own
        return cls(link, in_site)


def _own_hosts(page: Page, attributes: Attributes) -> set[str]:
    canonical = (
        address
        for index, address in attributes.href.items()
        if page.tag[index] == TAG_ID["link"] and ("rel", "canonical") in page.attributes[index]
    )
    return {host for host in map(_host, (page.url or "", *canonical)) if host}


def _host(address: str) -> str:
    """Lower-case host of an absolute address, ``www.`` left out; empty for relative ones."""
    scheme, separator, rest = address.partition("//")
    if not separator or scheme not in {"http:", "https:", ""}:
        return ""
    return rest.partition("/")[0].lower().removeprefix("www.")
