"""Labelled elements of many sites as training examples."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.logistic.features import node_features
from winnow.models.logistic.measures import Measures
from winnow.training.labels import IGNORED, SITE_LEVEL_METHOD, TEMPLATE, SiteCounts
from winnow.training.logistic.tuning import TuningPage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from winnow.progress import Progress
    from winnow.training.sites import Site

PAGES_PER_SITE: Final = 30
EXAMPLES_PER_PAGE: Final = 100
TUNING_PAGES_PER_SITE: Final = 8


@dataclass(frozen=True, eq=False, slots=True)
class Examples:
    """Labelled elements of the pages of some sites (e of them).

    Attributes:
        values: float32[e, k], features.
        label: bool[e], true for template, false for content.
        area: float64[e], px².
        weight: float64[e]; those of a site add up to 1, its pages have equal parts, and so has an element the more text
            it holds, by its square root.
        site: int64[e], number of the site.
    """

    values: NDArray[np.float32]
    label: NDArray[np.bool_]
    area: NDArray[np.float64]
    weight: NDArray[np.float64]
    site: NDArray[np.int64]

    def merged(self) -> Examples:
        """Merge examples of one site with equal features and labels; their weights add up, so fits stay the same."""
        extra = np.stack([self.label, self.site], axis=1).astype(np.float32)
        rows = np.ascontiguousarray(np.concatenate([self.values, extra], axis=1))
        keys = rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        kept = first[order]
        weight = np.bincount(group, self.weight).astype(np.float64)[order]
        return Examples(self.values[kept], self.label[kept], self.area[kept], weight, self.site[kept])


def page_examples(measures: Measures, label: NDArray[np.int8], site: int, random: np.random.Generator) -> Examples:
    """Pick up to 100 labelled elements of a page; their weights add up to 1.

    Args:
        measures: the page, measured.
        label: int8[n + m], labels of its units.
        site: number of its site.
        random: picks the elements.
    """
    elements = measures.elements
    rows = np.flatnonzero(label[elements] != IGNORED)
    rows = np.sort(random.permutation(rows)[:EXAMPLES_PER_PAGE])
    by_text = np.sqrt(1 + measures.words[rows])
    return Examples(
        values=node_features(measures)[rows],
        label=label[elements[rows]] == TEMPLATE,
        area=measures.geometry.area[elements[rows]],
        weight=by_text / max(by_text.sum(), 1),
        site=np.full(len(rows), site),
    )


def of_one_site(pages: Sequence[Examples]) -> Examples:
    """Join the examples of a site's pages; every page has an equal part of the site's weight, which is 1."""
    joined = joined_examples(pages)
    return replace(joined, weight=joined.weight / len(pages))


def joined_examples(parts: Sequence[Examples]) -> Examples:
    """Join examples, weights as they are."""
    return Examples(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Examples.__dataclass_fields__)
    )


@dataclass(frozen=True, eq=False, slots=True)
class Collected:
    """What was read from the sites.

    Attributes:
        examples: the examples.
        tuning: pages to choose a threshold by.
        pages: number of pages that examples were taken from.
    """

    examples: Examples
    tuning: list[TuningPage]
    pages: int


def collect(
    sites: Sequence[Site],
    *,
    labels: str = SITE_LEVEL_METHOD,
    seed: int,
    processes: int = 1,
    progress: Progress | None = None,
) -> Collected:
    """Gather examples from up to 30 pages of every site, up to 100 of each page, in the order of the sites.

    Args:
        sites: the sites.
        labels: the site-level method that labels them.
        seed: picks pages and elements.
        processes: worker processes that read pages.
        progress: called with sites done, sites in all, and the site that was read.

    Raises:
        ValueError: no site gave any example.
    """
    tasks = [(number, site, labels, seed) for number, site in enumerate(sites)]
    if processes > 1:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            parts = _gathered(pool.map(_of_site, tasks), sites, progress)
    else:
        parts = _gathered(map(_of_site, tasks), sites, progress)
    if not parts:
        raise ValueError("no site has enough pages with text in common and of their own to learn from")
    return Collected(
        joined_examples([part.examples for part in parts]),
        [page for part in parts for page in part.tuning],
        sum(part.pages for part in parts),
    )


def _gathered(parts: Iterable[Collected | None], sites: Sequence[Site], progress: Progress | None) -> list[Collected]:
    done = []
    for number, part in enumerate(parts):
        if part is not None:
            done.append(part)
        if progress:
            progress(number + 1, len(sites), f"site {sites[number].name}")
    return done


def _of_site(task: tuple[int, Site, str, int]) -> Collected | None:
    number, site, labels, seed = task
    counts = SiteCounts(site, labels)
    random = np.random.default_rng([seed, number])
    files = random.permutation(counts.files)[:PAGES_PER_SITE].tolist()
    parts: list[Examples] = []
    tuning: list[TuningPage] = []
    for labelled in counts.labelled(files):
        measures = Measures.of(labelled.page)
        n = labelled.page.n
        parts.append(page_examples(measures, labelled.label, number, random))
        if len(tuning) < TUNING_PAGES_PER_SITE:
            words = measures.statistics.per_unit(measures.statistics.words)[n:]
            tuning.append(TuningPage(labelled.file, site.url(labelled.file), number, labelled.label[n:], words))
    if not any(len(part.label) for part in parts):
        return None
    return Collected(of_one_site(parts), tuning, len(parts))
