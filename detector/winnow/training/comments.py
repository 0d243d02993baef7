"""Trains the comments head and writes it with its card: ``python -m winnow.training.comments``.

It learns from the names that authors give to comments, which the head itself does not see, and from gold text; nobody
labelled comments by hand. On a page with a named thread, the blocks of its comments are comments and what is outside
the thread is not. Where gold text holds the thread, or on a forum, nothing is a comment: the posts are the content. A
page whose names say nothing of comments, answers or reviews has none.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from winnow.evidence.comment_model import (
    NAMES_OF_A_PAGE,
    OF_A_PAGE,
    CommentHead,
    name_bag,
    page_features,
    static_features,
)
from winnow.evidence.comments import NamedComments, threads, unlinked_words
from winnow.features.blocks import STATIC_NAMES, BlockFeatures, features_of
from winnow.features.tokens import TABLE_SIZE, word_features
from winnow.models.sequence import standardise
from winnow.page.page import Page, PageTooLarge
from winnow.training.evaluation import read_gold
from winnow.training.examples import BlockPage, sequence_pages, stack_features
from winnow.training.gold import content_fractions, deal_folds, registrable_domain
from winnow.training.networks import add_votes, log_odds_of_votes
from winnow.training.report import write_card
from winnow.training.sequences import NetworkRecipe, fit_sequence, mean_and_scale
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Floats = NDArray[np.float64]


MIN_WORDS: Final = 15
"""Words of a named thread with fewer of which a page says nothing: it may be the invitation to write the first one."""

_GOLD: Final = 0.5
_REPEATED: Final = 3  # words of a block; shorter ones recur by chance
_UNNAMED: Final = re.compile(
    r"com+ent|disqus|respon[sd]|repl(?:y|ies)|discuss|review|feedback|opinion|guestbook|pinglun|reactie|kommentar|koment"
    r"|yorum|testimonial|post-?body|thread|forum|topic|answer|message",
    re.IGNORECASE,
)
"""Names that may stand around comments which are not named as such."""
_CONTROL: Final = re.compile(
    r"\W*(?:reply|responder|répondre|antworten|odpowiedz|ответить|rispondi|yanıtla|回复|beantwoorden|vastaa|svara"
    r"|cancel reply|edit|permalink|link|report|flag|share|like|quote|delete|log ?in to .*|#?\d*|says:?|reply to .*)\W*",
    re.IGNORECASE,
)
"""Controls inside comments: neither comments nor anything else."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CommentPage(BlockPage):
    """The blocks of one page as examples (m of them); a label is 1 for a comment and 0 for anything else.

    ``static`` has the columns of :func:`winnow.evidence.comment_model.static_features`.

    Attributes:
        forum: whether the page is one of a forum.
        features: what the network's windows are made from.
        named, texts: bool[m], in an element that is named like a comment; text of each block.
    """

    forum: bool
    features: BlockFeatures
    named: NDArray[np.bool_]
    texts: list[str]

    @property
    def has_thread(self) -> bool:
        """Whether comments are labelled on the page."""
        return bool((self.label == 1).any())


def comment_page(page: Page, source: str, *, forum: bool, content: NDArray[np.float64] | None = None) -> CommentPage:
    """Label a page; ``content`` is float64[m], fraction of each block that is in its gold text, if any."""
    names, features = NamedComments.of(page), features_of(page)
    label = _labels(page, names, features.words, forum, content)
    return CommentPage(
        *(source, static_features(page, features), features.tokens, features.words, label),
        forum=forum,
        features=features,
        named=names.comment,
        texts=page.block_texts(),
    )


def _labels(
    page: Page, names: NamedComments, words: NDArray[np.float64], forum: bool, content: NDArray[np.float64] | None
) -> NDArray[np.float32]:
    label = np.full(page.m, np.nan, np.float32)
    in_named = words[names.comment].sum()
    if forum or (content is not None and in_named and (content * words)[names.comment].sum() > _GOLD * in_named):
        label[:] = 0
        return label
    if in_named >= MIN_WORDS or words[names.thread].sum() >= 2 * MIN_WORDS:
        label[~names.thread] = 0
    elif not any(
        _UNNAMED.search(value)
        for name in ("class", "id", "itemtype", "itemprop")
        for value in page.attributes.places_by_value(name)
    ):
        label[:] = 0
    if in_named >= MIN_WORDS:
        control = np.fromiter((_CONTROL.fullmatch(text) is not None for text in page.block_texts()), bool, page.m)
        label[names.comment & ~control] = 1
    if content is not None:
        label[(content > _GOLD) & ~names.comment] = 0
    label[names.form] = 0
    return label


def without_repeats(pages: Sequence[CommentPage]) -> list[CommentPage]:
    """Take the label from comments that several pages of a source have: invitations and rules, not comments."""
    holders: defaultdict[tuple[str, str], int] = defaultdict(int)
    for page in pages:
        for text in {page.texts[block] for block in np.flatnonzero(page.label == 1).tolist()}:
            holders[page.source, text] += 1
    result = []
    for page in pages:
        repeated = [
            block
            for block in np.flatnonzero((page.label == 1) & (page.words > _REPEATED)).tolist()
            if holders[page.source, page.texts[block]] > 1
        ]
        label = page.label.copy()
        label[repeated] = np.nan
        result.append(replace(page, label=label))
    return result


MAX_WITH_THREAD: Final = 15
MAX_WITHOUT_THREAD: Final = 5
"""Most pages of a site with and without a thread."""

FORUM: Final = "forum"
"""Kind of a gold page, and genre of a site, whose posts are the content."""


def pages_of_gold(file: Path, leave_out: Collection[str] = ()) -> list[CommentPage]:
    """Label gold pages, but for some collections; the HTML of page ``ID`` is ``html/ID.html`` beside the file."""
    found = []
    for gold in read_gold(file):
        if gold.source in leave_out:
            continue
        try:
            page = Page.parse((file.parent / "html" / f"{gold.page_id}.html").read_bytes())
        except PageTooLarge:
            continue
        source = registrable_domain(f"//{gold.site}" if gold.site else gold.url) or gold.page_id
        content = content_fractions(page.block_texts(), gold.text)
        found.append(comment_page(page, source, forum=gold.page_type == FORUM, content=content))
    return found


def pages_of_sites(folder: Path, seed: int = 0) -> list[CommentPage]:
    """Label some pages of every site, with and without a thread; ``FOLDER.jsonl`` says which sites are forums."""
    manifest = folder.with_suffix(".jsonl")
    lines = manifest.read_text(encoding="utf-8").splitlines() if manifest.is_file() else []
    forums = {row["site"] for row in map(json.loads, lines) if row.get("genre") == FORUM}
    found: list[CommentPage] = []
    for site in find_sites(folder):
        room = {True: MAX_WITH_THREAD, False: MAX_WITHOUT_THREAD}
        for number in np.random.default_rng(seed).permutation(len(site.files)).tolist():
            if not any(room.values()):
                break
            try:
                page = Page.parse(site.files[number].read_bytes())
            except PageTooLarge:
                continue
            example = comment_page(page, site.name, forum=site.name in forums)
            if page.m and room[example.has_thread]:
                room[example.has_thread] -= 1
                found.append(example)
    return found


STACKING_FOLDS: Final = 3
"""The word odds that a page is learned from are of the pages of the other folds."""

_CLIP: Final = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentRecipe(NetworkRecipe):
    """How the head is trained.

    Attributes:
        thread_weight, forum_weight, other_weight: weight of a page with comments, of one of a forum, and of any other.
        max_pages: pages of a source that count in full.
        min_sources: sources that must have a word for it to have odds.
        regularisation: inverse strength, of the part that knows forums.
    """

    units: tuple[int, int, int] = (24, 16, 12)
    epochs: int = 6
    dropout: float = 0.2
    thread_weight: float = 8.0
    forum_weight: float = 2.0
    other_weight: float = 0.4
    max_pages: int = 6
    min_sources: int = 3
    regularisation: float = 0.03


def train_comment_head(
    pages: Sequence[CommentPage], *, seed: int = 0, recipe: CommentRecipe = CommentRecipe()
) -> CommentHead:
    """Train on pages that are labelled; the same seed and pages give the same weights.

    Raises:
        ValueError: there are no pages with comments, or none of a forum, or no others.
    """
    pages = [page for page in pages if page.texts]
    if not any(page.has_thread for page in pages) or len({page.forum for page in pages}) < 2:
        raise ValueError("pages with comments, pages of forums and other pages are needed")
    weight = _page_weights(pages, recipe)

    def learn(seen: Sequence[BlockPage], weights: Floats) -> Callable[[BlockPage], Matrix]:
        odds = word_odds(seen, weights, recipe.min_sources)
        return lambda page: word_features(page.tokens, odds)

    matrices = stack_features(pages, weight, learn, folds=STACKING_FOLDS, seed=seed)
    mean, scale = mean_and_scale(np.concatenate(matrices))
    network = fit_sequence(sequence_pages(pages, matrices, weight, mean, scale), recipe, seed)
    words = word_odds(pages, weight, recipe.min_sources)
    return CommentHead(words, mean, scale, network.rounded(), *_fit_forum_regression(pages, matrices, recipe))


def _page_weights(pages: Sequence[CommentPage], recipe: CommentRecipe) -> Floats:
    """float64[pages]; the pages of one source and kind that are above the most share the weight of so many."""
    kinds = [(page.source, "thread" if page.has_thread else "forum" if page.forum else "other") for page in pages]
    number = Counter(kinds)
    of_kind = {"thread": recipe.thread_weight, "forum": recipe.forum_weight, "other": recipe.other_weight}
    return np.array([of_kind[kind[1]] * min(number[kind], recipe.max_pages) / number[kind] for kind in kinds])


def word_odds(pages: Sequence[BlockPage], weight: Floats, min_sources: int) -> Matrix:
    """float32[TABLE_SIZE], log-odds of words for comment, 0 for those of too few sources."""
    votes = np.zeros((2, TABLE_SIZE))
    sources: defaultdict[str, NDArray[np.bool_]] = defaultdict(lambda: np.zeros(TABLE_SIZE, bool))
    for page, page_weight in zip(pages, weight, strict=True):
        tokens, mass = page.tokens, page.labelled_mass
        of_word = (values.repeat(tokens.words_per_block) for values in (mass, mass * np.nan_to_num(page.label)))
        add_votes(votes, page_weight, tokens.word, *of_word)
        sources[page.source][tokens.word] = True
    known = np.sum(list(sources.values()), axis=0) >= min_sources
    return np.where(known, log_odds_of_votes(votes), np.float32(0))


def _fit_forum_regression(
    pages: Sequence[CommentPage], matrices: Sequence[Matrix], recipe: CommentRecipe
) -> tuple[Matrix, Matrix, Matrix]:
    """Mean, scale and weights of the logistic regression that tells pages of forums from others."""
    rows = np.stack([page_features([matrix], page.words) for page, matrix in zip(pages, matrices, strict=True)])
    mean, scale = mean_and_scale(rows)
    bags = [name_bag(page.features) for page in pages]
    index = np.concatenate([np.full(len(bag), row) for row, bag in enumerate(bags)]), np.concatenate(bags)
    names = sparse.csr_array((np.ones(len(index[0])), index), shape=(len(pages), NAMES_OF_A_PAGE)).toarray()
    spread = names.std(axis=0) + 1e-3
    centre = names.mean(axis=0)
    number = Counter(page.source for page in pages)
    inputs = np.concatenate([standardise(rows.astype(np.float32), mean, scale), (names - centre) / spread], axis=1)
    regression = LogisticRegression(C=recipe.regularisation, max_iter=500).fit(
        np.clip(inputs, -_CLIP, _CLIP),
        np.array([page.forum for page in pages]),
        sample_weight=[1 / np.sqrt(number[page.source]) for page in pages],
    )
    of_page, of_names = regression.coef_[0, :OF_A_PAGE], regression.coef_[0, OF_A_PAGE:]
    # a name is there or not: two values, of which the regression saw the clipped ones
    here, away = (np.clip((value - centre) / spread, -_CLIP, _CLIP) for value in (1.0, 0.0))
    bias = regression.intercept_[0] + (of_names * away).sum()
    weight = np.concatenate([of_page, of_names * (here - away), [bias]])
    return mean, scale, weight.astype(np.float32)


# Measures the comments head on sources that it has not seen, with the names of comments hidden and shown.

TEST_FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class CommentMetrics:
    """Figures by words.

    Attributes:
        precision, recall: of the comments of pages that have some, over all their words.
        f1, sources: mean over the sources with comments, and their number.
        on_forums, elsewhere: fraction of words taken for comments, mean over such pages.
    """

    precision: float
    recall: float
    f1: float
    sources: int
    on_forums: float
    elsewhere: float


def compare_with_labels(pages: Iterable[CommentPage], found: Iterable[NDArray[np.bool_]]) -> CommentMetrics:
    """Compare the blocks found with the labels."""
    of_source: dict[str, NDArray[np.float64]] = {}
    on_forums: list[float] = []
    elsewhere: list[float] = []
    for page, comments in zip(pages, found, strict=True):
        words, label = page.words, page.label
        if page.has_thread:
            counts = [words[comments & (label == 1)], words[comments & (label == 0)], words[~comments & (label == 1)]]
            of_source.setdefault(page.source, np.zeros(3))
            of_source[page.source] += [each.sum() for each in counts]
        elif (label == 0).any():
            share = words[comments & (label == 0)].sum() / max(words[label == 0].sum(), 1)
            (on_forums if page.forum else elsewhere).append(float(share))
    right, wrong, missed = sum(of_source.values(), np.zeros(3))
    by_source = [2 * r / max(2 * r + w + m, 1e-9) for r, w, m in of_source.values()]
    return CommentMetrics(
        precision=float(right / max(right + wrong, 1e-9)),
        recall=float(right / max(right + missed, 1e-9)),
        f1=float(np.mean(by_source)) if by_source else float("nan"),
        sources=len(of_source),
        on_forums=float(np.mean(on_forums)) if on_forums else float("nan"),
        elsewhere=float(np.mean(elsewhere)) if elsewhere else float("nan"),
    )


def cross_validate_head(
    pages: Sequence[CommentPage], *, seed: int = 0, recipe: CommentRecipe = CommentRecipe()
) -> tuple[CommentMetrics, CommentMetrics]:
    """Measure heads trained without a fifth of the sources each on that fifth, names hidden, and names shown.

    Every block is taken for main content.
    """
    fold_of = deal_folds((page.source for page in pages), TEST_FOLDS, seed)
    tested: list[CommentPage] = []
    hidden: list[NDArray[np.bool_]] = []
    shown: list[NDArray[np.bool_]] = []
    for fold in range(TEST_FOLDS):
        head = train_comment_head([page for page in pages if fold_of[page.source] != fold], seed=seed, recipe=recipe)
        for page in pages:
            if fold_of[page.source] == fold and page.texts:
                tested.append(page)
                hidden.append(_find_comments(head, page, np.zeros_like(page.named)))
                shown.append(_find_comments(head, page, page.named))
    return compare_with_labels(tested, hidden), compare_with_labels(tested, shown)


def _find_comments(head: CommentHead, page: CommentPage, named: NDArray[np.bool_]) -> NDArray[np.bool_]:
    prediction = head.predict(page.static[:, len(STATIC_NAMES) :].astype(np.float64), page.features)
    features = page.features
    return threads(prediction, named, page.texts, page.words, unlinked_words(features), np.zeros(len(page.texts)))


_WHAT: Final = "Tells the text blocks that readers wrote below a story from the story and from template, by their look."

_LABELS: Final = (
    "no human ones of comments: elements that authors name as comments (schema.org, class and id names); "
    "on forums, and where gold text holds the thread, nothing"
)

_LIMITS: Final = """\
Most threads that it has learned from are English ones of WordPress, Substack, Drupal and a few dozen other systems;
where a thread is neither named nor dated it is not found. Reviews in the manner of comments are comments to it."""


def _metrics_section(hidden: CommentMetrics, shown: CommentMetrics) -> str:
    lines = [
        "## On sources that it was not fitted to\n",
        f"Five folds by registrable domain or site; by words, {hidden.sources} sources with threads.\n",
        "| | precision | recall | words of forums taken for comments | words of pages without any |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, row in (("names hidden: by their look alone", hidden), ("names shown", shown)):
        lines.append(f"| {name} | {row.precision:.3f} | {row.recall:.3f} | {row.on_forums:.1%} | {row.elsewhere:.1%} |")
    return "\n".join(lines)


def main() -> None:
    """Train the comments head, measure it by folds, and write it with its card."""
    parser = argparse.ArgumentParser(prog="python -m winnow.training.comments", description="Train the comments head.")
    parser.add_argument("sites", type=Path, nargs="*", metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--gold", type=Path, action="append", default=[], metavar="FILE", help="gold pages, .jsonl")
    parser.add_argument("--leave-out", action="append", default=[], metavar="SOURCE", help="collection to leave out")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="file to write, .npz")
    parser.add_argument(
        "--sources", type=Path, action="append", default=[], metavar="FILE", help="Markdown for the card"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--figures", action="store_true", help="train by folds as well, for the figures on the card")
    options = parser.parse_args()
    pages = []
    for file in options.gold:
        _log(f"reads {file}")
        pages += pages_of_gold(file, options.leave_out)
    for folder in options.sites:
        _log(f"reads the sites of {folder}")
        pages += pages_of_sites(folder, options.seed)
    pages = without_repeats(pages)
    _log(f"trains on {len(pages):,} pages")
    head = train_comment_head(pages, seed=options.seed)
    figures = None
    if options.figures:
        _log("trains by folds, for the figures")
        figures = cross_validate_head(pages, seed=options.seed)
    head.save(options.output)
    names = [folder.name for folder in options.sites]
    names += [f"--gold {file.parent.name}/{file.name}" for file in options.gold]
    names += [f"--leave-out {name}" for name in options.leave_out]
    command = " ".join(
        ["python -m winnow.training.comments", *names, f"-o {options.output.name} --seed {options.seed}"]
    )
    with_threads = sum(page.has_thread for page in pages)
    origins = len({page.source for page in pages})
    card = write_card(
        "comments",
        _WHAT,
        {
            "version": f"`{head.version}`",
            "made on": datetime.date.today().isoformat(),
            "made by": f"`{command}`",
            "data": f"{len(pages):,} pages of {origins:,} sources, {with_threads:,} pages with comments",
            "labels": _LABELS,
        },
        [_metrics_section(*figures)] if figures else [],
        _LIMITS,
        "\n".join(file.read_text(encoding="utf-8").strip() for file in options.sources),
    )
    options.output.with_suffix(".md").write_text(card, encoding="utf-8")
    print(f"{head.version}: {len(pages):,} pages, {with_threads:,} with comments")
    if figures:
        print(f"names hidden: {figures[0]}\nnames shown: {figures[1]}")


def _log(step: str) -> None:
    print(f"winnow.training.comments: {step}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
