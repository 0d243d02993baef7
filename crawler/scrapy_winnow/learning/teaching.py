"""From a page and what its site says of it to an example: which pages may teach, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from scrapy_winnow.learning.examples import CONTENT, MOST_BLOCKS, MOST_BYTES, TEMPLATE, UNLABELLED, Example
from winnow.counting import site_level_templates, unique_units
from winnow.features.blocks import features_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
    from winnow.training.marked import MarkedPage

TEACHING_PAGES: Final = 30
"""Pages from which on a host that has not settled yet teaches all the same: many sites are no larger."""


def ready_to_teach(evidence: SiteEvidence) -> bool:
    """Whether a host's counts say enough to label its pages: it has settled, or 30 of its pages were counted."""
    return evidence.settled or evidence.pages >= TEACHING_PAGES


def block_labels(hashed: HashedPage, evidence: SiteEvidence) -> NDArray[np.int8]:
    """int8[m], what the site says of each block: repeated is template, unique is content, in between is not labelled.

    The labels are those of :mod:`winnow.training.sites`, from the counts of markup alone.
    """
    page, df = hashed.page, hashed.frequencies(evidence)
    labels = np.full(page.m, UNLABELLED, np.int8)
    labels[unique_units(page, df, evidence.pages)[page.n :]] = CONTENT
    labels[site_level_templates(page, df, evidence.pages, html_share=None)[page.n :]] = TEMPLATE
    return labels


def example_of(hashed: HashedPage, evidence: SiteEvidence, marked: MarkedPage | None = None) -> bytes | None:
    """Make the example of a page; ``None`` if it is without text or labels, or too large for one.

    Args:
        hashed: the page.
        evidence: what its site says of it.
        marked: what its author has marked as the article; it says more than the site does, and is taken instead.
    """
    if not 0 < hashed.page.m <= MOST_BLOCKS:
        return None
    hidden = marked.hidden() if marked is not None else None
    if marked is not None and hidden is not None:
        labels = np.where(np.isnan(marked.content), UNLABELLED, marked.content > 0.5).astype(np.int8)
        example = Example.of(features_of(hidden), labels, marked=True)
    else:
        labels = block_labels(hashed, evidence)
        if (labels == UNLABELLED).all():
            return None
        example = Example.of(features_of(hashed.page), labels)
    written = example.to_bytes()
    return written if len(written) <= MOST_BYTES else None
