"""Boxes of the elements of pages of sites as Chromium lays them out, kept on disk."""

from __future__ import annotations

import hashlib
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np
from lxml import etree

from benchmarks.layout.chromium import Browser, BrowserError
from benchmarks.shared.common import say, shown
from benchmarks.sites.site_server import MISSING_IMAGE, serving
from winnow import Page, PageTooLarge
from winnow.page.tags import TAG_ID
from winnow.papers.geometry import PAGE_WIDTH
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from winnow.training.sites import Site

PAGES_PER_SITE: Final = 10
WINDOW_HEIGHT: Final = 768
_MARK: Final = "data-winnow-element"
_MEASURE: Final = f"""
[...document.querySelectorAll("[{_MARK}]")].map(element => {{
  const box = element.getBoundingClientRect();
  return [+element.getAttribute("{_MARK}"), box.x + scrollX, box.y + scrollY, box.width, box.height];
}})
"""


@dataclass(frozen=True, eq=False, slots=True)
class LaidOutPage:
    """A page and where a browser puts its elements.

    Attributes:
        site: the site it is of.
        file: where it is.
        page: the page.
        boxes: float64[n, 4], left, top, width and height of each element in px; zeros where the browser shows nothing,
            NaN where it has no such element.
    """

    site: Site
    file: Path
    page: Page
    boxes: NDArray[np.float64]


def add_layout_arguments(parser: argparse.ArgumentParser, pages_per_site: int = PAGES_PER_SITE) -> None:
    """Add the folders of sites, how many pages of each are laid out, and where their boxes are kept."""
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITES_DIR", help="folders with one folder a site")
    parser.add_argument("--boxes", type=Path, required=True, metavar="FOLDER", help="where boxes are kept between runs")
    parser.add_argument(
        "--pages-per-site",
        type=int,
        default=pages_per_site,
        metavar="N",
        help="pages taken of each site (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="picks the pages")


def laid_out_sites(options: argparse.Namespace) -> Iterator[list[LaidOutPage]]:
    """Lay out the pages that the options choose, site by site; sites without style sheets are left out.

    Ends the program where there are no sites, or no browser for pages that were not laid out before.
    """
    try:
        sites = [site for folder in options.sites for site in find_sites(folder)]
        options.boxes.mkdir(parents=True, exist_ok=True)
        with Layouts(options.boxes) as layouts:
            for site in shown(sites, "sites"):
                if pages := list(layouts.of(site, styled_pages(site, options.pages_per_site, options.seed))):
                    yield pages
    except (OSError, ValueError, BrowserError) as error:
        sys.exit(str(error))


def styled_pages(site: Site, pages: int, seed: int) -> list[Path]:
    """Pick some pages of a site whose style sheets are all in its folder; fewer where there are not so many."""
    order = np.random.default_rng(seed).permutation(len(site.files)).tolist()
    chosen: list[Path] = []
    for number in order[: 3 * pages]:
        if len(chosen) < pages and _has_styles(site, site.files[number]):
            chosen.append(site.files[number])
    return sorted(chosen)


class Layouts:
    """Lays out pages, or reads from a folder how they were laid out before; a browser starts when it is needed.

    Args:
        folder: where the boxes are kept, an ``.npz`` file a page.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._browser: Browser | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def of(self, site: Site, files: Iterable[Path]) -> Iterator[LaidOutPage]:
        """Lay out pages of a site; those that the browser does not finish are left out.

        Raises:
            BrowserError: there is no Chromium, or it does not start.
        """
        with ExitStack() as stack:
            server = None
            for file in files:
                try:
                    page = Page.parse(file.read_bytes(), site.url(file))
                except PageTooLarge:
                    continue
                html = prepared(site, file, page)
                kept = self._folder / f"{site.name}-{hashlib.sha256(html).hexdigest()[:16]}.npz"
                if kept.is_file():
                    with np.load(kept, allow_pickle=False) as arrays:
                        boxes = arrays["boxes"]
                else:
                    self._browser = self._browser or self._stack.enter_context(Browser(int(PAGE_WIDTH), WINDOW_HEIGHT))
                    server = server or stack.enter_context(serving(site.folder))
                    try:
                        self._browser.open(server.serve(file.relative_to(site.folder).as_posix(), html))
                        boxes = _boxes(page, self._browser.evaluate(_MEASURE))
                    except BrowserError as error:
                        say(f"{file} is left out: {error}")
                        continue
                    np.savez_compressed(kept, boxes=boxes)
                yield LaidOutPage(site, file, page, boxes)


def prepared(site: Site, file: Path, page: Page) -> bytes:
    """Return a page for the browser: elements numbered, a grey picture for missing images, no way to lead elsewhere.

    The elements of the page are changed, its arrays are not.
    """
    for number, element in enumerate(page.elements):
        element.set(_MARK, str(number))
        if element.tag == "img":
            for name in ("loading", "srcset"):
                element.attrib.pop(name, None)
            address = element.get("src", "")
            if not address.startswith("data:") and not _in_folder(site, file, address):
                element.set("src", MISSING_IMAGE)
        elif element.tag == "source":
            element.attrib.pop("srcset", None)
        elif element.tag == "meta":
            element.attrib.pop("http-equiv", None)  # neither another charset nor another address
    tree = page.elements[0].getroottree()
    return bytes(etree.tostring(tree, method="html", encoding="utf-8", doctype=tree.docinfo.doctype or None))


def _boxes(page: Page, measured: list[list[float]]) -> NDArray[np.float64]:
    boxes = np.full((page.n, 4), np.nan)
    rows = np.array(measured, np.float64).reshape(-1, 5)
    boxes[rows[:, 0].astype(np.int64)] = rows[:, 1:].astype(np.float32)
    return boxes


def _has_styles(site: Site, file: Path) -> bool:
    try:
        page = Page.parse(file.read_bytes())
    except PageTooLarge:
        return False
    sheets = []
    for index in np.flatnonzero(page.tag == TAG_ID["link"]):
        attributes = dict(page.attributes[index])
        kinds = attributes.get("rel", "").lower().split()
        if "stylesheet" in kinds and "alternate" not in kinds:
            sheets.append(attributes.get("href", ""))
    return bool(sheets) and all(_in_folder(site, file, sheet) for sheet in sheets)


def _in_folder(site: Site, file: Path, address: str) -> bool:
    """Whether an address in a page leads to a file in the site's folder."""
    try:
        parts = urlsplit(urljoin(f"http://localhost/{file.relative_to(site.folder).as_posix()}", address))
    except ValueError:
        return False
    target = (site.folder / unquote(parts.path).lstrip("/")).resolve()
    return parts.netloc == "localhost" and target.is_relative_to(site.folder.resolve()) and target.is_file()
