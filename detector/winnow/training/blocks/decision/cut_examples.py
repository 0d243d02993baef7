"""Examples of cuts: how good the text of a gold page would be, had it been cut there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from winnow.evidence.comments import CommentPartition
from winnow.evidence.main_content import find_later_copies, headings_of_main_content
from winnow.features.blocks import features_of
from winnow.models.decision import ARTICLE, KINDS, PageView, kept_blocks
from winnow.models.scores import BETAS, FAVORS
from winnow.output.text import block_texts
from winnow.page.text import WORD
from winnow.smoothing import smooth_scores
from winnow.training.blocks.restyling import pages_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.networks import BlockPerceptron
    from winnow.page.page import Page
    from winnow.training.blocks.gold_sets import GoldExample

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class CutPage:
    """The k cuts of a gold page, by scores of a model that has not seen it.

    Attributes:
        source, collection: of the page.
        fold: number of the fold that the page is in.
        kind: index of the kind of page; of pages without a type that of articles.
        features: float32[k, len(CUT_NAMES)].
        quality: float64[len(FAVORS), k], F-measure of the text, with the weight of recall of each favor.
        kind_inputs: float64[d], what the kind of page is judged by.
    """

    source: str
    collection: str
    fold: int
    kind: int
    features: NDArray[np.float32]
    quality: Floats
    kind_inputs: Floats


def cut_pages(example: GoldExample, model: BlockPerceptron, fold: int) -> list[CutPage]:
    """Cut a gold page and its copy in another style in every way that a decision could, as :func:`winnow.clean` would.

    Pages without text and pages above the caps give nothing.
    """
    return [_cut_page(page, example, model, fold) for page in pages_of(example) if page.m]


def _cut_page(page: Page, example: GoldExample, model: BlockPerceptron, fold: int) -> CutPage:
    view = PageView.of(page, features_of(page))
    scores = model.score(page)
    threads = CommentPartition.of(page, scores, "separate")
    smoothed = smooth_scores(page, threads.without_excluded(scores)).value[page.n :]
    levels, rows = view.cuts(smoothed)
    kept = kept_blocks(smoothed, levels) & (threads.section[page.n :] < 0)
    kind = example.gold.page_type
    return CutPage(
        source=example.source,
        collection=example.collection,
        fold=fold,
        kind=KINDS.index(kind) if kind in KINDS else ARTICLE,
        features=rows,
        quality=_qualities(page, example.gold.text, kept),
        kind_inputs=view.kind_inputs(scores.templateness[page.n :]),
    )


def _qualities(page: Page, gold_text: str, kept: NDArray[np.bool_]) -> Floats:
    """float64[len(FAVORS), k], F-measures of what each of k cuts keeps of m blocks."""
    texts = block_texts(page)
    lengths = np.fromiter(map(len, texts), np.int64, page.m)
    words = [WORD.findall(text.lower()) for text in texts]
    gold = Counter(WORD.findall(gold_text.lower()))
    numbers = {word: number for number, word in enumerate(gold)}
    block = np.repeat(np.arange(len(words)), list(map(len, words)))
    number = np.fromiter((numbers.get(word, len(gold)) for own in words for word in own), np.int64, len(block))
    wanted = np.array([*gold.values(), 0])
    qualities = np.zeros((len(FAVORS), len(kept)))
    for cut, blocks in enumerate(kept):
        whole = blocks | headings_of_main_content(page, lengths, blocks)
        stays = whole & ~find_later_copies(page, texts, whole)
        found = np.bincount(number[stays[block]], minlength=len(wanted))
        overlap = np.minimum(found, wanted).sum()
        for favor, name in enumerate(FAVORS):
            square = BETAS[name] ** 2
            qualities[favor, cut] = (1 + square) * overlap / max(square * wanted.sum() + found.sum(), 1)
    return qualities
