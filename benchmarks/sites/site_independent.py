"""The site-independent detector as its paper has it: precision and recall of template on blocks of sites never seen.

    python -m benchmarks.sites.site_independent SITES_DIR [--sites 60] [--folds 10]

Blocks and their labels are those of the method site-independent-blocks: elements of 20 tags with 40 characters and 3
different words; template on a tenth of the pages, content the topmost ones that no other page has. The features are
those of the model `logistic`. In each of ten folds over the sites, on the other nine:

* text: multinomial naive Bayes on the words of each block,
* logistic: its score, got from other sites, and the features, all cut into intervals by minimum description length, in
  a logistic regression,
* forest: the same binary features in a random forest.

Blocks of equal text count once in training, and then blocks of equal features. The paper's figure is a recall of 0.70
at precision 0.90. Kolcz and Yih: Site-Independent Template-Block Detection (PKDD 2007), section 4.1 and Figure 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.naive_bayes import MultinomialNB

from benchmarks.shared.common import parser_of, say, shown, spread, table, write_json
from benchmarks.sites.site_truth import pages_of
from winnow.hashing import hash_text
from winnow.papers.element_features import Measures, node_features
from winnow.papers.pages import Detagged, SiteError
from winnow.papers.site_independent import Discretisation, SiteIndependentBlocks
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.training.sites import Site

    Floats = NDArray[np.float64]

FOLDS: Final = 10
INNER: Final = 3
PRECISIONS: Final = (0.95, 0.90, 0.85, 0.80)
WORDS: Final = HashingVectorizer(n_features=1 << 18, alternate_sign=False, norm=None)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Labelled blocks of some sites (e of them).

    Attributes:
        features: float32[e, k].
        words: sparse counts of hashed words, a row for each block.
        text: uint64[e], hash of the text.
        template: bool[e].
        site: int64[e], number of the site.
    """

    features: NDArray[np.float32]
    words: csr_matrix
    text: NDArray[np.uint64]
    template: NDArray[np.bool_]
    site: NDArray[np.int64]

    def __getitem__(self, rows: NDArray[Any]) -> Blocks:
        return Blocks(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    @classmethod
    def together(cls, parts: Sequence[Blocks]) -> Blocks:
        """Join blocks."""
        joined = {
            name: (vstack if name == "words" else np.concatenate)([getattr(part, name) for part in parts])
            for name in cls.__dataclass_fields__
        }
        return cls(**{**joined, "words": csr_matrix(joined["words"])})


def main() -> None:
    """Read, train and judge fold by fold, and print the table."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("folder", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--sites", type=int, metavar="N", help="so many of them, evenly spread")
    parser.add_argument("--counted", type=int, default=50, metavar="N", help="pages counted of each (%(default)s)")
    parser.add_argument("--taken", type=int, default=5, metavar="N", help="pages learned from of each (%(default)s)")
    parser.add_argument("--folds", type=int, choices=range(1, FOLDS + 1), default=FOLDS, metavar="N", help="of ten")
    parser.add_argument("--later-tags", action="store_true", help="paragraphs and HTML 5's sections are blocks, too")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        sites = spread(find_sites(options.folder), options.sites)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    method = SiteIndependentBlocks(later_tags=options.later_tags)
    numbered = list(enumerate(sites))
    read = [
        blocks_of(site, number, method, options.counted, options.taken) for number, site in shown(numbered, "sites")
    ]
    blocks = Blocks.together([each for each in read if each is not None])

    fold = np.random.default_rng(options.seed).permutation(len(sites)) % FOLDS
    judged, scores = [], []
    for number in range(options.folds):
        say(f"fold {number + 1} of {options.folds}")
        tested = fold[blocks.site] == number
        judged.append(blocks.template[tested])
        scores.append(judge(blocks[np.flatnonzero(~tested)], blocks[np.flatnonzero(tested)], options.seed))
    template = np.concatenate(judged)
    rows = {name: quality(np.concatenate([each[name] for each in scores]), template) for name in scores[0]}
    headings = [f"recall at precision {precision:.2f}" for precision in PRECISIONS]
    print(table(["", *headings, "average precision"], [[name, *row.values()] for name, row in rows.items()]))
    say(f"{len(np.unique(blocks.site))} sites, {len(template):,} blocks judged, {template.mean():.2f} of them template")
    write_json(options, rows)


def blocks_of(site: Site, number: int, method: SiteIndependentBlocks, counted: int, taken: int) -> Blocks | None:
    """Label the blocks of some pages of a site; ``None`` where it gives none."""
    pages = pages_of(site)
    pages = pages.subset(spread(range(len(pages)), counted))
    try:
        learned = method.learn(pages)
    except SiteError:
        return None
    features, texts, template = [], [], []
    for read in pages.subset(spread(range(len(pages)), taken)).distinct():
        page = read.page
        measures = Measures.of(page)
        place = np.full(page.n, -1)
        place[measures.elements] = np.arange(len(measures.elements))
        elements, labels = learned.examples(page)
        visible = place[elements] >= 0
        elements = elements[visible]
        template.append(labels[visible])
        features.append(node_features(measures)[place[elements]])
        texts += texts_of(Detagged(page), page.run_begin[elements], page.run_end[elements])
    if not texts:
        return None
    keys = np.array([hash_text(text) for text in texts], np.uint64)
    site_numbers = np.full(len(texts), number)
    return Blocks(np.concatenate(features), WORDS.transform(texts), keys, np.concatenate(template), site_numbers)


def texts_of(detagged: Detagged, begin: NDArray[np.int32], end: NDArray[np.int32]) -> list[str]:
    """Text of some slices of runs, none of them blank."""
    first = detagged.place[np.searchsorted(detagged.run, begin)]
    last = detagged.place[np.searchsorted(detagged.run, end) - 1]
    return [detagged.text[at : to + 1] for at, to in zip(first.tolist(), last.tolist(), strict=True)]


def judge(train: Blocks, test: Blocks, seed: int) -> dict[str, Floats]:
    """Score the blocks of sites never seen, by each classifier."""
    train = train[np.unique(train.text, return_index=True)[1]]
    inner = train.site % INNER
    own = np.zeros(len(train.text))
    for number in range(INNER):
        apart = inner == number
        if apart.any():
            own[apart] = words_score(train[np.flatnonzero(~apart)], train[np.flatnonzero(apart)])
    text = words_score(train, test)

    matrix = np.column_stack([train.features, own])
    cut = Discretisation.of(matrix, train.template)
    binary, label = cut.binary(matrix), train.template
    kept = np.unique(np.column_stack([binary.indices.reshape(len(label), -1), label]), axis=0, return_index=True)[1]
    binary, label = binary[kept], label[kept]
    tested = cut.binary(np.column_stack([test.features, text]))
    say(f"{len(label):,} different blocks, {cut.size:,} binary features")
    logistic = LogisticRegression(C=0.1, max_iter=300).fit(binary, label)
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed).fit(binary, label)
    return {
        "text": text,
        "logistic": logistic.predict_proba(tested)[:, 1],
        "forest": forest.predict_proba(tested)[:, 1],
    }


def words_score(train: Blocks, test: Blocks) -> Floats:
    """Log-odds of naive Bayes by the words alone, for each word of a block, so that long ones are not all sure."""
    logarithms = MultinomialNB().fit(train.words, train.template).predict_log_proba(test.words)
    odds: Floats = (logarithms[:, 1] - logarithms[:, 0]) / np.maximum(np.asarray(test.words.sum(axis=1)).ravel(), 1)
    return odds


def quality(score: Floats, template: NDArray[np.bool_]) -> dict[str, float]:
    """Recall at some precisions, and the average precision."""
    precision, recall, _ = precision_recall_curve(template, score)
    reached = {f"{least:.2f}": float(recall[precision >= least].max(initial=0)) for least in PRECISIONS}
    return {**reached, "average_precision": float(average_precision_score(template, score))}


if __name__ == "__main__":
    main()
