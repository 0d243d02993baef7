"""What some units of a page are (bool[n] or bool[n + m], elements first), and sites in memory, for tests of labels."""

import numpy as np

from tamis.folders import SitePages
from tamis.page.page import Page
from tamis_papers.experiments.harness import HtmlPages


def site_of(*pages: str) -> SitePages:
    """A site of these pages, at the addresses 0, 1 and so on."""
    return HtmlPages.from_html([(f"https://a.example/{number}", html.encode()) for number, html in enumerate(pages)])


def tags_of(page: Page, chosen: np.ndarray) -> list[str]:
    return [page.elements[element].tag for element in np.flatnonzero(chosen[: page.n])]


def texts_of(page: Page, chosen: np.ndarray) -> list[str]:
    return [page.block_texts()[block] for block in np.flatnonzero(chosen[page.n :])]


def by_id(page: Page, chosen: np.ndarray) -> dict[str, bool]:
    return {name: bool(chosen[element]) for element, name in page.attribute("id").items()}
