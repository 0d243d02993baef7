"""Generates the whole demo web into a folder, and reads it back.

A folder holds, per host ``NAME``, ``sites/NAME/`` with the bodies and ``sites/NAME.routes.jsonl`` with the answers to
each path.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from demo.hosts import BUILDERS
from demo.site import Resource, Site

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_SEED = 1
DEFAULT_PAGES = 50
LEAST_PAGES = 11


def build_site(name: str, seed: int = DEFAULT_SEED, pages: int = DEFAULT_PAGES) -> Site:
    """Build one host in memory.

    Args:
        name: One of `demo.hosts.BUILDERS`.
        seed: Same seed, same bytes, on every machine and Python version.
        pages: Number of content pages; listings, the 404 and so on come on top.

    Raises:
        ValueError: The pages are too few for all that a host has to show.
    """
    if pages < LEAST_PAGES:
        raise ValueError(f"a demo host needs {LEAST_PAGES} content pages at least, not {pages}")
    site = Site(name, random.Random(f"{seed}/{name}"))
    BUILDERS[name](site, pages).build()
    return site


def generate(folder: Path, seed: int = DEFAULT_SEED, pages: int = DEFAULT_PAGES) -> dict[str, Site]:
    """Write every host into a folder; return them by name."""
    sites = {name: build_site(name, seed, pages) for name in BUILDERS}
    for name, site in sites.items():
        bodies = folder / "sites" / name
        bodies.mkdir(parents=True, exist_ok=True)
        routes = []
        for number, resource in enumerate(site.resources.values()):
            file = f"{number:05}.{_suffix(resource)}"
            (bodies / file).write_bytes(resource.body)
            routes.append({"path": resource.path, "status": resource.status, "headers": resource.headers, "file": file})
        text = "".join(json.dumps(route) + "\n" for route in routes)
        (folder / "sites" / f"{name}.routes.jsonl").write_text(text, encoding="utf-8")
    return sites


def read_resources(folder: Path) -> dict[str, dict[str, Resource]]:
    """Read what `generate` wrote: resources by host name and path."""
    sites: dict[str, dict[str, Resource]] = {}
    for listing in sorted((folder / "sites").glob("*.routes.jsonl")):
        name = listing.name.removesuffix(".routes.jsonl")
        sites[name] = {}
        for line in listing.read_text(encoding="utf-8").splitlines():
            route = json.loads(line)
            headers = tuple((header, value) for header, value in route["headers"])
            body = (folder / "sites" / name / route["file"]).read_bytes()
            sites[name][route["path"]] = Resource(route["path"], route["status"], headers, body)
    return sites


def _suffix(resource: Resource) -> str:
    mime = dict(resource.headers)["Content-Type"].partition(";")[0]
    return {"text/html": "html", "text/plain": "txt"}.get(mime, mime.rpartition("/")[2])
