"""Template blocks of sites never seen: precision and recall of four classifiers.

    python -m benchmarks.accuracy.cross_site SITES_DIR [--pages-per-site 5] [--folds 10] [--plot FILE]

Blocks on at least 10% of a site's pages are template, blocks on one page only are not, the others are left out. The
sites fall into ten folds; those of a fold are judged by classifiers that were trained on the other nine:

* text: multinomial naive Bayes on the first 16 words of each block,
* logistic: logistic regression on the block features that the package's model has, the scores of names and words
  among them stacked from other sites,
* forest: random forest on the same features,
* blocks: the package's own model, as `winnow train` makes it of sites alone.

Recall is that of template, where precision is 0.90 (and others). There are three tables, since what is counted matters:

* every block the same, as in the paper, whose figure is a recall of 0.70 at precision 0.90,
* every site the same, whatever the number of its blocks,
* by mass: as model cards count, every site and page the same, and a block by its words and their square root.

By mass the figures are lower, because the long blocks are content and the short ones template: the smaller the share of
template, the fewer wrong blocks the same precision allows. That share is given beside the figures, and so is the area
under the ROC curve, which does not depend on it. `--plot` draws the precision-recall curves of the first table.

The paper's pages are not public, and its blocks are larger: elements of 40 characters and more, where ours are
stretches of text of any length.

Kolcz and Yih: Site-Independent Template-Block Detection (PKDD 2007), section 4.1 and Figure 1.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score
from sklearn.naive_bayes import MultinomialNB

from benchmarks.accuracy.site_examples import add_site_arguments, site_examples
from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.plots import Panel, add_plot_argument, draw
from winnow.features.tokens import TABLE_SIZE
from winnow.models.networks import standardise
from winnow.training.networks import learn_tables, stacked_token_features, train_block_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from winnow.training.examples import BlockPage

    Floats = NDArray[np.float64]
    Matrix = NDArray[np.float32]

FOLDS: Final = 10
PRECISIONS: Final = (0.95, 0.90, 0.85, 0.80)
CURVE_POINTS: Final = 101
COUNTED: Final = {"blocks": "every block the same", "sites": "every site the same", "mass": "by mass"}


class Fold:
    """Blocks to learn from and blocks to judge.

    Attributes:
        train, test: their pages.
        labels: bool[e], which blocks to learn from are template.
    """

    def __init__(self, train: list[BlockPage], test: list[BlockPage], seed: int) -> None:
        self.train, self.test, self.seed = train, test, seed
        self.labels = templates(train)

    @cached_property
    def matrices(self) -> tuple[Matrix, Matrix]:
        """float32[e, k] twice: features of the blocks to learn from and to judge, learned ones from other sites."""
        weight = np.ones(len(self.train))
        matrix = np.concatenate(_labelled(self.train, stacked_token_features(self.train, weight, seed=self.seed)))
        mean, scale = matrix.mean(axis=0), (1 / (matrix.std(axis=0) + 1e-3)).astype(np.float32)
        tables = learn_tables(self.train, weight)
        features = [np.concatenate([page.static, tables.features(page.tokens)], axis=1) for page in self.test]
        judged = np.concatenate(_labelled(self.test, features)).astype(np.float32)
        return standardise(matrix, mean, scale), standardise(judged, mean, scale)


def naive_bayes(fold: Fold) -> Floats:
    """Score by the words alone."""
    logarithms = MultinomialNB().fit(_words(fold.train), fold.labels).predict_log_proba(_words(fold.test))
    odds: Floats = logarithms[:, 1] - logarithms[:, 0]  # probabilities would be 1 for a good part of the blocks
    return odds


def logistic(fold: Fold) -> Floats:
    """Score by a linear model."""
    learned_from, judged = fold.matrices
    return _probability(LogisticRegression(C=0.1, max_iter=200).fit(learned_from, fold.labels), judged)


def forest(fold: Fold) -> Floats:
    """Score by a random forest."""
    learned_from, judged = fold.matrices
    model = RandomForestClassifier(100, min_samples_leaf=5, random_state=fold.seed, n_jobs=-1)
    return _probability(model.fit(learned_from, fold.labels), judged)


def blocks(fold: Fold) -> Floats:
    """Score by the package's own model."""
    model = train_block_model([], fold.train, seed=fold.seed)
    scores = []
    for page in fold.test:
        matrix = page.matrix(model.tables)
        scores.append(1 - model.content_probability(matrix, page.windows)[page.labelled])
    return np.concatenate(scores)


CLASSIFIERS: Final[dict[str, Callable[[Fold], Floats]]] = {
    "text": naive_bayes,
    "logistic": logistic,
    "forest": forest,
    "blocks": blocks,
}


def main() -> None:
    """Train and judge fold by fold, and print the table."""
    parser = parser_of(__doc__ or "")
    add_site_arguments(parser)
    parser.add_argument(
        "--folds",
        type=int,
        choices=range(1, FOLDS + 1),
        default=FOLDS,
        metavar="N",
        help="judge so many folds of ten only",
    )
    parser.add_argument("--classifiers", nargs="+", choices=CLASSIFIERS, default=list(CLASSIFIERS), metavar="NAME")
    add_plot_argument(parser)
    options = parser.parse_args()
    sites = site_examples(options)
    if len(sites) < FOLDS:
        parser.error(f"{FOLDS} or more sites are needed, there are {len(sites)}")
    number_of = dict(zip(sites, np.random.default_rng(options.seed).permutation(len(sites)) % FOLDS, strict=True))

    scores: dict[str, list[Floats]] = {name: [] for name in options.classifiers}
    judged: list[BlockPage] = []
    for number in range(options.folds):
        train = [page for site, pages in sites.items() if number_of[site] != number for page in pages]
        test = [page for site, pages in sites.items() if number_of[site] == number for page in pages]
        fold = Fold(train, test, options.seed)
        judged += test
        for name in options.classifiers:
            say(f"fold {number + 1} of {options.folds}: {name}")
            scores[name].append(CLASSIFIERS[name](fold))
        figures = _figures({name: np.concatenate(parts) for name, parts in scores.items()}, judged)
        so_far = [f"{name} {row['blocks']['recall']['0.90']:.3f}" for name, row in figures["classifiers"].items()]
        say("recall at precision 0.90 so far: " + ", ".join(so_far))
    headings = [*(f"recall at precision {precision:.2f}" for precision in PRECISIONS), "average precision", "ROC area"]
    for counted, title in COUNTED.items():
        rows = [
            [name, *row[counted]["recall"].values(), row[counted]["average_precision"], row[counted]["roc_area"]]
            for name, row in figures["classifiers"].items()
        ]
        print(table([f"{title}, {figures['share_of_template'][counted]:.0%} template", *headings], rows))
        print()
    say(f"{figures['sites']} sites, {figures['pages']:,} pages, {figures['blocks']:,} blocks")
    write_json(options, figures)
    if options.plot:
        lines = {name: row["blocks"]["curve"] for name, row in figures["classifiers"].items()}
        paper = {"text": "naive Bayes on text", "logistic": "logistic regression", "forest": "random forest"}
        lines = {paper.get(name, "Winnow's model"): curve for name, curve in lines.items()}
        draw(options.plot, [Panel("recall of template", "precision", lines, {"precision 0.90": 0.9}, marked=False)])


def templates(pages: Sequence[BlockPage]) -> NDArray[np.bool_]:
    """bool[e], which of the labelled blocks are template."""
    return np.concatenate([page.content[page.labelled] == 0 for page in pages])


def _labelled(pages: Sequence[BlockPage], rows: Sequence[Matrix]) -> list[Matrix]:
    return [matrix[page.labelled] for page, matrix in zip(pages, rows, strict=True)]


def _words(pages: Sequence[BlockPage]) -> csr_matrix:
    """Counts of hashed words, a row for each labelled block."""
    parts = []
    for page in pages:
        number = np.cumsum(page.labelled) - 1
        kept = page.labelled[page.tokens.word_block]
        parts.append((number[page.tokens.word_block[kept]], page.tokens.word[kept], int(page.labelled.sum())))
    start = np.cumsum([0, *(blocks for _, _, blocks in parts)])
    row = np.concatenate([rows + first for (rows, _, _), first in zip(parts, start[:-1], strict=True)])
    column = np.concatenate([columns for _, columns, _ in parts])
    return csr_matrix((np.ones(len(row)), (row, column)), (int(start[-1]), TABLE_SIZE))


def _probability(model: Any, matrix: Any) -> Floats:
    probability: Floats = model.predict_proba(matrix)[:, 1]
    return probability


def _figures(scores: dict[str, Floats], pages: Sequence[BlockPage]) -> dict[str, Any]:
    template = templates(pages)
    _, site = np.unique([page.source for page in pages], return_inverse=True)
    of_block = site.repeat([int(page.labelled.sum()) for page in pages])
    pages_of_site = np.bincount(site)
    mass = [page.mass[page.labelled] / pages_of_site[number] for page, number in zip(pages, site, strict=True)]
    weights = {
        "blocks": np.ones(len(template)),
        "sites": 1 / np.bincount(of_block)[of_block],
        "mass": np.concatenate(mass),
    }
    return {
        "sites": len(set(site.tolist())),
        "pages": len(pages),
        "blocks": len(template),
        "share_of_template": {
            counted: float(np.average(template, weights=weight)) for counted, weight in weights.items()
        },
        "classifiers": {
            name: {counted: _quality(score, template, weight) for counted, weight in weights.items()}
            for name, score in scores.items()
        },
    }


def _quality(score: Floats, template: NDArray[np.bool_], weight: Floats) -> dict[str, Any]:
    precision, recall, _ = precision_recall_curve(template, score, sample_weight=weight)
    levels = np.linspace(0, 1, CURVE_POINTS)
    return {
        "recall": {f"{least:.2f}": float(recall[precision >= least].max(initial=0)) for least in PRECISIONS},
        "average_precision": float(average_precision_score(template, score, sample_weight=weight)),
        "roc_area": float(roc_auc_score(template, score, sample_weight=weight)),
        "curve": [[float(level), float(precision[recall >= level].max())] for level in levels],
    }


if __name__ == "__main__":
    main()
