"""Trees learn which cut of a page is best, for each scope and favor, and how good it is; kinds are told apart."""

from dataclasses import replace

import numpy as np
import pytest

from winnow.models.decision import CUT_NAMES, KIND_INPUTS, KINDS, LearnedDecision
from winnow.models.scores import FAVORS, SCOPES
from winnow.training.decision import CutPage, Decisions, add_page_columns, learn_decisions

LEVEL, LINKS = CUT_NAMES.index("level"), CUT_NAMES.index("added: link share")
ARTICLE, LISTING = KINDS.index("article"), KINDS.index("listing")
CUTS = 6


def cut_page(number: int, random: np.random.Generator) -> CutPage:
    """Articles are best cut at the second level, listings at the sixth; what is added there has links."""
    kind = LISTING if number % 3 == 0 else ARTICLE
    best = 4 if kind == LISTING else 1
    features = random.normal(size=(CUTS, len(CUT_NAMES))).astype(np.float32)
    features[:, LEVEL] = np.arange(CUTS)
    distance = np.arange(CUTS) - best
    top = random.uniform(0.7, 1.0)
    features[:, LINKS] = top
    quality = np.stack(
        [top - 0.08 * np.abs(distance), top - 0.08 * np.abs(distance + 1), top - 0.08 * np.abs(distance - 1)]
    )
    inputs = random.normal(size=len(KIND_INPUTS))
    inputs[0] += 4 * (kind == LISTING)
    return CutPage(f"host{number}", "one", number % 5, kind, features, quality, inputs)


@pytest.fixture(scope="module")
def pages() -> list[CutPage]:
    random = np.random.default_rng(3)
    return [cut_page(number, random) for number in range(250)]


@pytest.fixture(scope="module")
def decisions(pages: list[CutPage]) -> Decisions:
    return learn_decisions(pages, number=15)


def chosen(decision: LearnedDecision, page: CutPage, scope: str = "auto", favor: str = "balanced") -> int:
    rows = add_page_columns(page.features, decision.kinds.probabilities(page.kind_inputs), scope)  # type: ignore[arg-type]
    return int(decision.trees[favor].predict(rows).argmax())  # type: ignore[index]


def test_the_best_cut_is_found_on_pages_not_seen(pages: list[CutPage], decisions: Decisions):
    right = [chosen(decisions.without[page.fold], page) == page.quality[0].argmax() for page in pages]
    assert np.mean(right) > 0.85


def test_kinds_of_pages_are_told_apart(pages: list[CutPage], decisions: Decisions):
    right = [decisions.without[page.fold].kinds.probabilities(page.kind_inputs).argmax() == page.kind for page in pages]
    assert np.mean(right) > 0.9


def test_a_favor_moves_the_cut(pages: list[CutPage], decisions: Decisions):
    cut = {favor: np.mean([chosen(decisions.learned, page, favor=favor) for page in pages]) for favor in FAVORS}
    assert cut["precision"] < cut["balanced"] - 0.5
    assert cut["recall"] > cut["balanced"] + 0.5


def test_a_scope_moves_the_cut_where_it_tells_what_the_page_does_not(pages: list[CutPage]):
    unclear = [replace(page, kind_inputs=np.zeros_like(page.kind_inputs)) for page in pages]
    decision = learn_decisions(unclear, number=15).learned
    cut = {scope: np.array([chosen(decision, page, scope=scope) for page in unclear]) for scope in SCOPES}
    assert (cut["article"] == 1).mean() > 0.9
    assert (cut["page"] == 4).mean() > 0.9
    assert cut["article"].mean() <= cut["auto"].mean() < cut["page"].mean()


def test_confidence_is_what_the_cut_gives(pages: list[CutPage], decisions: Decisions):
    expected, reached = [], []
    for page in pages:
        decision = decisions.without[page.fold]
        best = chosen(decision, page)
        rows = add_page_columns(page.features, decision.kinds.probabilities(page.kind_inputs), "auto")
        expected.append(decision.confidence.predict(rows[best : best + 1])[0])
        reached.append(page.quality[0, best])
    assert np.mean(expected) == pytest.approx(np.mean(reached), abs=0.01)
    assert np.corrcoef(expected, reached)[0, 1] > 0.7


def test_pages_of_one_fold_are_not_enough(pages: list[CutPage]):
    with pytest.raises(ValueError, match="two folds"):
        learn_decisions([page for page in pages if page.fold == 2], number=2)


def test_pages_of_one_kind_are(pages: list[CutPage]):
    decision = learn_decisions([page for page in pages if page.kind == ARTICLE], number=2).learned
    assert KINDS[int(decision.kinds.probabilities(pages[0].kind_inputs).argmax())] == "article"


def test_a_decision_comes_back_from_its_arrays(pages: list[CutPage], decisions: Decisions):
    again = LearnedDecision.stored(decisions.learned.arrays())
    for page in pages[:20]:
        assert chosen(again, page) == chosen(decisions.learned, page)
