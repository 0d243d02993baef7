"""Learns where to cut a page: boosted trees fitted to how good the text of gold pages is at each cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from winnow.evidence.comments import CommentPartition
from winnow.evidence.main_content import find_later_copies, headings_of_main_content
from winnow.features.blocks import features_of
from winnow.models.decision import ARTICLE, KINDS, KindHead, LearnedDecision, PageView, Trees, kept_blocks, page_columns
from winnow.models.scores import BETAS, FAVORS, SCOPES
from winnow.output.text import block_texts
from winnow.page.text import WORD
from winnow.smoothing import smooth_scores
from winnow.training.gold import FOLDS, parse_with_copy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from winnow.models.networks import BlockPerceptron
    from winnow.models.scores import Favor, Scope
    from winnow.page.page import Page
    from winnow.training.gold import GoldExample

    Floats = NDArray[np.float64]
    Matrix = NDArray[np.float32]


_LEAVES: Final = 12
_DEPTH: Final = 5
_MIN_ROWS: Final = 40
_SHRINKAGE: Final = 10.0  # of a leaf's value, in rows
_MAX_BINS: Final = 255  # of a column; scikit-learn takes no more


@dataclass(frozen=True, eq=False, slots=True)
class Binned:
    """Rows whose columns are cut into bins, once for all fits to them.

    Where rows have weights, scikit-learn cuts by weighted quantiles, and sorts a column again for each of them. Plain
    quantiles do as well. What it is given are numbers of bins, which it takes as they are.

    Attributes:
        bins: float32[k, d], number of the bin of each value, from 0.
        edges: float32[d, _MAX_BINS], highest value in each bin but the last, whose edge is infinite.
    """

    bins: Matrix
    edges: Matrix

    @classmethod
    def of(cls, rows: Matrix) -> Self:
        """Cut float32[k, d] rows."""
        bins = np.empty(rows.shape, np.float32)
        edges = np.full((rows.shape[1], _MAX_BINS), np.inf, np.float32)
        for column, values in enumerate(rows.T):
            own = _edges(values)
            bins[:, column] = np.searchsorted(own, values)
            edges[column, : len(own)] = own
        return cls(bins, edges)

    def of_rows(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """Some of the rows, in the same bins."""
        return type(self)(self.bins[chosen], self.edges)


def _edges(values: Matrix) -> Matrix:
    """Half way between values next to each other: all of them, or where they are many, between the quantiles."""
    ordered = np.sort(values)
    behind = np.flatnonzero(np.diff(ordered)) + 1  # where a value ends
    if len(behind) >= _MAX_BINS:
        quantiles = np.linspace(0, len(ordered), _MAX_BINS + 1)[1:-1]
        behind = np.unique(behind[np.searchsorted(behind, quantiles).clip(max=len(behind) - 1)])
    last, first = ordered[behind - 1], ordered[behind]
    middle = last + (first - last) / 2
    edges: Matrix = np.where(middle < first, middle, last)  # neighbours in single precision have nothing between them
    return edges


def fit_trees(rows: Binned, target: Floats, weight: Floats, *, number: int, rate: float) -> Trees:
    """Fit trees to the target by least squares.

    Args:
        rows: k of them.
        target: float64[k].
        weight: float64[k], how much each row matters; those that do not matter at all are left out.
        number: how many trees.
        rate: share of its step that each tree takes.
    """
    used = np.flatnonzero(weight)
    learner = HistGradientBoostingRegressor(
        max_iter=number,
        learning_rate=rate,
        max_leaf_nodes=_LEAVES,
        max_depth=_DEPTH,
        min_samples_leaf=min(_MIN_ROWS, max(len(used) // 50, 1)),
        l2_regularization=_SHRINKAGE,
        early_stopping=False,
        max_bins=_MAX_BINS,
        random_state=0,  # no chance is in it: the bins are given
    )
    with threadpool_limits(1, user_api="openmp"):  # threads that wait for each other on a busy machine take minutes
        learner.fit(rows.bins[used], target[used], weight[used] / weight[used].mean())
    return _exported(learner, rows.edges)


def _exported(learner: HistGradientBoostingRegressor, edges: Matrix) -> Trees:
    nodes = [tree.nodes for (tree,) in learner._predictors]
    root = np.cumsum([0, *(len(tree) for tree in nodes[:-1])])
    together = np.concatenate(nodes)
    offset = np.repeat(root, [len(tree) for tree in nodes])
    leaf = together["is_leaf"].astype(bool)
    own = np.arange(len(together))
    child = np.stack([np.where(leaf, own, together[side].astype(np.int64) + offset) for side in ("left", "right")])
    feature = np.where(leaf, 0, together["feature_idx"]).astype(np.int32)
    last_bin = np.where(leaf, 0, together["num_threshold"]).astype(np.int64)  # to the left of the node's threshold
    return Trees(
        root=root.astype(np.int32),
        feature=feature,
        threshold=np.where(leaf, np.float32(np.inf), edges[feature, last_bin]),
        child=child.T.astype(np.int32),
        value=np.where(leaf, together["value"], 0).astype(np.float32),
        baseline=float(np.ravel(learner._baseline_prediction)[0]),
        depth=int(together["depth"].max()),
    )


# Examples of cuts: how good the text of a gold page would be, had it been cut there.


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
    return [_cut_page(page, example, model, fold) for page in parse_with_copy(example) if page.m]


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


# Learns where to cut: from cuts of pages by models that have not seen them.

_RATE: Final = 0.1
_CONFIDENCE_TREES: Final = 60
_CONFIDENCE_RATE: Final = 0.06
_KIND_STRENGTH: Final = 0.1  # inverse of the regularisation


@dataclass(frozen=True, eq=False, slots=True)
class Decisions:
    """What was learned from all pages, and from all but those of each fold.

    Attributes:
        learned: from all pages.
        without: for each fold, from the pages of the others; for measuring, and so in balance whatever the favor.
    """

    learned: LearnedDecision
    without: tuple[LearnedDecision, ...]


def learn_decisions(pages: Sequence[CutPage], *, number: int) -> Decisions:
    """Learn where to cut.

    Args:
        pages: gold pages, each cut by the scores of a model that has not seen it.
        number: how many trees are fitted for each favor.

    Trees are fitted to how much worse each cut of a page is than its best. Every page is shown twice: without a scope,
    and with the one that its gold text stands for. The trees of confidence are fitted to cuts that were chosen by trees
    which had not seen the page.

    Raises:
        ValueError: the pages are of too few folds or kinds.
    """
    fold = np.array([page.fold for page in pages])
    used = [part for part in range(FOLDS) if (fold == part).any()]
    if len(used) < 2:
        raise ValueError("gold pages of two folds are needed at least: one to learn from and one to decide on")
    heads = {part: _kind_head(pages, fold != part) for part in used}
    shown = CutRows.of(pages, [heads[page.fold].probabilities(page.kind_inputs) for page in pages])
    fit = partial(shown.trees, pages, number=number)
    trees = {part: fit("balanced", fold != part) for part in used}
    chosen = shown.chosen(trees, fold)
    everything = np.ones(len(pages), bool)
    learned = LearnedDecision(
        {favor: fit(favor, everything) for favor in FAVORS},
        shown.confidence(pages, chosen, everything),
        _kind_head(pages, everything),
    )
    without = {
        part: LearnedDecision(
            dict.fromkeys(FAVORS, trees[part]), shown.confidence(pages, chosen, fold != part), heads[part]
        )
        for part in used
    }
    return Decisions(learned, tuple(without.get(part, learned) for part in range(FOLDS)))


@dataclass(frozen=True, eq=False, slots=True)
class CutRows:
    """The cuts of all pages as the trees are shown them (k rows of s showings, two of each page).

    Attributes:
        rows: float32[k, len(ROW_NAMES)].
        binned: the same rows in bins.
        begin: int64[s + 1], first row of each showing.
        page: int64[s], index of its page.
        weight: float64[s].
    """

    rows: NDArray[np.float32]
    binned: Binned
    begin: NDArray[np.int64]
    page: NDArray[np.int64]
    weight: Floats

    @classmethod
    def of(cls, pages: Sequence[CutPage], kinds: Sequence[Floats]) -> Self:
        """Show every page without a scope and with the one that its gold text stands for."""
        parts = [
            add_page_columns(page.features, kind, scope)
            for page, kind in zip(pages, kinds, strict=True)
            for scope in (SCOPES[0], gold_scope(page))
        ]
        rows = np.concatenate(parts)
        index = np.repeat(np.arange(len(pages)), 2)
        return cls(rows, Binned.of(rows), np.cumsum([0, *map(len, parts)]), index, _weights(pages)[index])

    def trees(self, pages: Sequence[CutPage], favor: Favor, part: NDArray[np.bool_], *, number: int) -> Trees:
        """Fit trees to the cuts of some pages, bool[pages]."""
        own = [page.quality[FAVORS.index(favor)] for page in pages]
        target = np.concatenate([own[page] - own[page].max() for page in self.page.tolist()])
        cuts = np.diff(self.begin)
        weight = np.repeat(self.weight * part[self.page] / cuts, cuts)
        return fit_trees(self.binned, target, weight, number=number, rate=_RATE)

    def chosen(self, trees: Mapping[int, Trees], fold: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[s], the row that is chosen of each showing by the trees which have not seen the fold of its page."""
        found = np.empty(len(self.page), np.int64)
        for showing, page in enumerate(self.page.tolist()):
            begin, end = self.begin[showing : showing + 2]
            found[showing] = begin + trees[int(fold[page])].predict(self.rows[begin:end]).argmax()
        return found

    def confidence(self, pages: Sequence[CutPage], chosen: NDArray[np.int64], part: NDArray[np.bool_]) -> Trees:
        """Fit trees to the F1 of chosen rows, of some pages."""
        cut = chosen - self.begin[:-1]
        reached = [pages[page].quality[0, own] for page, own in zip(self.page.tolist(), cut.tolist(), strict=True)]
        weight = self.weight * part[self.page]
        rows = self.binned.of_rows(chosen)
        return fit_trees(rows, np.array(reached), weight, number=_CONFIDENCE_TREES, rate=_CONFIDENCE_RATE)


def add_page_columns(features: NDArray[np.float32], kinds: Floats, scope: Scope) -> NDArray[np.float32]:
    """float32[k, len(ROW_NAMES)], features of cuts with what is known of their page."""
    of_page = page_columns(kinds, scope)
    return np.concatenate([features, np.broadcast_to(of_page, (len(features), len(of_page)))], axis=1)


def gold_scope(page: CutPage) -> Scope:
    """The scope that the gold text of a page stands for: of articles the story alone, of others all but template."""
    return "article" if page.kind == ARTICLE else "page"


def _weights(pages: Sequence[CutPage]) -> Floats:
    """float64[pages]: a collection counts as the square root of its pages, so that a large one is not the web."""
    number = Counter(page.collection for page in pages)
    return np.array([number[page.collection] ** -0.5 for page in pages])


def _kind_head(pages: Sequence[CutPage], part: NDArray[np.bool_]) -> KindHead:
    """Fit the regression that tells kinds of pages apart."""
    chosen = [page for page, there in zip(pages, part, strict=True) if there]
    inputs = np.stack([page.kind_inputs for page in chosen])
    kind = np.array([page.kind for page in chosen])
    mean, scale = inputs.mean(axis=0), 1 / (inputs.std(axis=0) + 1e-3)
    weight, bias = np.zeros((inputs.shape[1], len(KINDS))), np.full(len(KINDS), -30.0)
    present = np.unique(kind)
    if len(present) == 1:
        bias[present] = 0.0
        return KindHead(mean, scale, weight, bias)
    learner = LogisticRegression(C=_KIND_STRENGTH, max_iter=500)
    mass = _weights(chosen)
    learner.fit(np.clip((inputs - mean) * scale, -4, 4), kind, mass / mass.mean())
    if len(present) == 2:  # scikit-learn has one row of weights then
        weight[:, present[1]], bias[present] = learner.coef_[0], [0.0, learner.intercept_[0]]
    else:
        weight[:, present], bias[present] = learner.coef_.T, learner.intercept_
    return KindHead(mean, scale, weight, bias)
