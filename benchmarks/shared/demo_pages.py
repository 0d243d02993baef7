"""The HTML pages of the demo web, for the crawls that are given all addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from demo.web import read_resources

if TYPE_CHECKING:
    from demo.server import DemoWeb
    from demo.site import Resource


def demo_pages(web: DemoWeb) -> dict[str, Resource]:
    """Return the pages by address, one of each host in turn; redirects, errors and files are left out."""
    pages = [
        (number, urljoin(web.urls[name], resource.path), resource)
        for name, resources in read_resources(web.folder).items()
        for number, resource in enumerate(resources.values())
        if resource.status == 200 and dict(resource.headers)["Content-Type"].startswith("text/html")
    ]
    return {url: resource for _, url, resource in sorted(pages, key=lambda page: page[0])}
