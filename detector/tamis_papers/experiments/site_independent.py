"""Template blocks of sites never seen: the figure of the template-blocks paper, recall at some precisions.

Blocks and their labels are the paper's (:class:`tamis_papers.site_independent.SiteIndependentBlocks`): elements of 20
tags with 40 characters and 3 different words; template on a tenth of the pages, content the topmost ones that no other
page has, the rest left out. The features are those of the model `logistic`. In each of ten folds over the sites, on the
other nine:

* text: multinomial naive Bayes on the words of each block, by word;
* logistic regression: its score, got from other sites, and the features, all cut into intervals by minimum description
  length;
* random forest: the same binary features.

The divergence of a block from the rest of its page is that of kinds of characters, as in the model, or with
``--divergence words`` that of words, as in the paper.

Blocks of equal text count once in training, and then blocks of equal features. The paper's figure is a recall of 0.70
at precision 0.90. With fewer than ten sites, each is a fold. On the demo web all sites use words of one generator.

Kolcz and Yih: Site-Independent Template-Block Detection (PKDD 2007), section 4 and Figure 1.

    python -m tamis_papers.experiments.site_independent [SITES ...]
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.naive_bayes import MultinomialNB

from tamis.hashing import hash_text
from tamis_papers.discretisation import binary_features, mdl_cuts
from tamis_papers.element_features import NODE_FEATURES, Measures, node_features
from tamis_papers.experiments.harness import demo_sites, exit_on_bad_input, report, say, sites_in, sites_parser
from tamis_papers.pages import Detagged, SiteError, distinct_pages, spread
from tamis_papers.site_independent import SiteIndependentBlocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tamis.arrays import Flags, Floats, Hashes, Integers, Singles
    from tamis.folders import SitePages

FOLDS: Final = 10
PRECISIONS: Final = (0.95, 0.90, 0.85, 0.80)
_WORDS: Final = HashingVectorizer(n_features=1 << 18, alternate_sign=False, norm=None)
DIVERGENCES: Final = ("characters", "words")


class Blocks(NamedTuple):
    """Labelled blocks of some sites (e of them).

    Attributes:
        features: float32[e, k].
        words: sparse counts of hashed words, a row for each block.
        text: uint64[e], hash of the text.
        template: bool[e].
        site: int64[e], number of the site.
    """

    features: Singles
    words: csr_matrix
    text: Hashes
    template: Flags
    site: Integers

    def rows(self, chosen: Integers) -> Blocks:
        """Some of the blocks."""
        features, words, text, template, site = self
        return Blocks(features[chosen], words[chosen], text[chosen], template[chosen], site[chosen])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = sites_parser(__doc__)
    parser.add_argument("--counted", type=int, default=50, metavar="N", help="pages counted of each (%(default)s)")
    parser.add_argument("--taken", type=int, default=10, metavar="N", help="pages learned from of each (%(default)s)")
    parser.add_argument("--divergence", choices=DIVERGENCES, default=DIVERGENCES[0], help="of what (%(default)s)")
    options = parser.parse_args(arguments)
    with exit_on_bad_input():
        sites = sites_in(options.sites) or [site.pages for site in demo_sites(30)]
    rows = figure_1(sites, options.counted, options.taken, options.divergence)
    report(options, ["", *(f"recall at precision {each:.2f}" for each in PRECISIONS), "average precision"], rows)


def figure_1(
    sites: Sequence[SitePages], counted: int, taken: int, divergence: str = "characters"
) -> list[list[object]]:
    """A row for each classifier: its name, the recall at each of :data:`PRECISIONS`, and the average precision."""
    read = [blocks_of(site, number, counted, taken, divergence) for number, site in enumerate(sites)]
    parts = [each for each in read if each is not None]
    features, words, *others = zip(*parts, strict=True)
    blocks = Blocks(np.concatenate(features), csr_matrix(vstack(words)), *map(np.concatenate, others))
    fold = np.random.default_rng(0).permutation(len(sites)) % FOLDS
    judged, scores = [], []
    for number in range(min(FOLDS, len(sites))):
        say(f"fold {number + 1} of {min(FOLDS, len(sites))}")
        tested = fold[blocks.site] == number
        if tested.any():
            judged.append(blocks.template[tested])
            scores.append(judge(blocks.rows(np.flatnonzero(~tested)), blocks.rows(np.flatnonzero(tested))))
    template = np.concatenate(judged)
    say(f"{len(parts)} sites, {len(template):,} blocks, {template.mean():.2f} of them template")
    return [[name, *quality(np.concatenate([each[name] for each in scores]), template)] for name in scores[0]]


def blocks_of(site: SitePages, number: int, counted: int, taken: int, divergence: str) -> Blocks | None:
    """Label the blocks of some pages of a site; ``None`` where it gives none."""
    method, pages = SiteIndependentBlocks(), site.subset(spread(range(len(site)), counted))
    try:
        learned = method.learn(pages)
    except SiteError:
        return None
    features, texts, template = [], [], []
    for read in distinct_pages(pages.subset(spread(range(len(pages)), taken))):
        page, measures = read.page, Measures(read.page)
        row = np.full(page.n, -1)
        row[measures.elements] = np.arange(len(measures.elements))
        labels, elements = learned.label(read), method.blocks(page)[0]
        inside = np.zeros(page.n, bool) if labels.content is None else labels.content[: page.n]
        content = inside & ~np.append(inside, False)[page.parent]
        elements = elements[(row[elements] >= 0) & (labels.template[elements] | content[elements])]
        template.append(labels.template[elements])
        features.append(node_features(measures)[row[elements]])
        detagged = Detagged(page)
        begin, end = detagged.slices(page.run_begin[elements], page.run_end[elements])
        block_texts = [detagged.text[first:last] for first, last in zip(begin.tolist(), end.tolist(), strict=True)]
        if divergence == "words":
            features[-1][:, list(NODE_FEATURES).index("divergence")] = [
                words_divergence(text, detagged.text) for text in block_texts
            ]
        texts += block_texts
    if not texts:
        return None
    keys = np.array([hash_text(text) for text in texts], np.uint64)
    words = _WORDS.transform(texts)
    return Blocks(np.concatenate(features), words, keys, np.concatenate(template), np.full(len(texts), number))


def words_divergence(inside: str, page: str) -> float:
    """Kullback-Leibler divergence of the words of a block from those of the rest of its page, in nats."""
    words, page_words = Counter(inside.lower().split()), Counter(page.lower().split())
    total, rest = max(words.total(), 1), page_words.total() - words.total() + len(page_words) / 2
    return sum(
        n / total * math.log(n / total * rest / (max(page_words[word] - n, 0) + 0.5)) for word, n in words.items()
    )


def judge(train: Blocks, test: Blocks) -> dict[str, Floats]:
    """Score the blocks of sites never seen, by each classifier."""
    train = train.rows(np.unique(train.text, return_index=True)[1])
    held_out_score = np.zeros(len(train.text))
    for number in range(3):
        held_out = train.site % 3 == number
        if held_out.any():
            held_out_score[held_out] = words_score(
                train.rows(np.flatnonzero(~held_out)), train.rows(np.flatnonzero(held_out))
            )
    text = words_score(train, test)

    matrix = np.column_stack([train.features, held_out_score])
    cuts = [mdl_cuts(column, train.template) for column in matrix.T]
    binary = binary_features(matrix, cuts)
    pattern = np.column_stack([binary.indices.reshape(len(matrix), -1), train.template])
    kept = np.unique(pattern, axis=0, return_index=True)[1]
    binary, label = binary[kept], train.template[kept]
    tested = binary_features(np.column_stack([test.features, text]), cuts)
    logistic = LogisticRegression(C=0.1, max_iter=300).fit(binary, label)
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=0).fit(binary, label)
    return {
        "text": text,
        "logistic regression": logistic.predict_proba(tested)[:, 1],
        "random forest": forest.predict_proba(tested)[:, 1],
    }


def words_score(train: Blocks, test: Blocks) -> Floats:
    """Log-odds of naive Bayes by the words alone, for each word of a block, so that long ones are not all sure."""
    logarithms = MultinomialNB().fit(train.words, train.template).predict_log_proba(test.words)
    odds: Floats = (logarithms[:, 1] - logarithms[:, 0]) / np.maximum(np.asarray(test.words.sum(axis=1)).ravel(), 1)
    return odds


def quality(score: Floats, template: Flags) -> list[float]:
    """Recall at each of :data:`PRECISIONS`, and the average precision."""
    precision, recall, _ = precision_recall_curve(template, score)
    reached = [float(recall[precision >= least].max(initial=0)) for least in PRECISIONS]
    return [*reached, float(average_precision_score(template, score))]


if __name__ == "__main__":
    main()
