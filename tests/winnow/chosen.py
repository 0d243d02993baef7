"""What some units of a page are, for tests of labels: bool[n] or bool[n + m], elements first."""

import numpy as np

from winnow.page.page import Page


def tags_of(page: Page, chosen: np.ndarray) -> list[str]:
    return [page.elements[element].tag for element in np.flatnonzero(chosen[: page.n])]


def texts_of(page: Page, chosen: np.ndarray) -> list[str]:
    return [page.block_texts()[block] for block in np.flatnonzero(chosen[page.n :])]


def by_id(page: Page, chosen: np.ndarray) -> dict[str, bool]:
    return {name: bool(chosen[element]) for element, name in page.attribute("id").items()}
