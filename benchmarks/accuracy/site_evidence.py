r"""Learns what a site's counts say of a block: the weights in ``evidence/site_counts.py``.

    python -m benchmarks.accuracy.site_evidence SITES_DIR [SITES_DIR ...] --marks benchmarks/gold/sites.jsonl \
        --gold articles/gold.jsonl --gold wcxb-dev/gold.jsonl

It learns from pages of whole sites that were marked by hand, and from gold pages.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.shared.common import models_of_folds
from tamis.evidence.marked_articles import with_authors_mark, with_titled_article
from tamis.evidence.site_counts import Evidence, find_evidence
from tamis.folders import SitePages
from tamis.models import log_odds
from tamis.places import find_places
from tamis.site import Site
from tamis_papers.evaluation import GoldPage, read_gold
from tamis_papers.experiments.harness import exit_on_bad_input, parser_of, say
from tamis_papers.marks import marked_sites, read_marks
from tamis_papers.training.gold import content_fractions, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from tamis.models import Model
    from tamis.page.page import Page

    Floats = NDArray[np.float64]
    ContentOf = Mapping[str, Callable[[list[str]], Floats]]

SEEN: Final = (2, 5, 10, 30, 100)
"""Pages of a site that are counted when a page is looked at, itself among them."""

_MAX_LOGIT: Final = 6.0  # of a block, as in places.c


def count_others(
    page: Page, site: Mapping[str, Page], seen: int, model: Model, random: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """Count a page and others of its site (by name) drawn at random, until so many different ones are counted.

    Returns:
        int64[n + m + 3 * q + k], pages that have each unit of the page, each code of its places and each text that it
        states; pages counted.
    """
    counts, pages = Site(sys.maxsize, model), list(site.values())
    for other in [page, *(pages[number] for number in random.permutation(len(pages)).tolist())]:
        if counts.pages < seen:
            counts.count(other)
    return counts.frequencies(page, model)


def block_examples(pages: SitePages, content_of: ContentOf, model: Model) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Make examples of the pages of a site that have labels, each looked at with :data:`SEEN` pages counted.

    ``content_of`` labels the block texts of a page, by its name, as :meth:`PageMarks.content` does.

    Returns:
        float64[e, 5], log-odds of the page's own score and the inputs of
        :func:`~tamis.evidence.site_counts.find_evidence` but for the constant; bool[e], whether the block is
        template; float64[e], its weight: the root of its characters, pages alike.
    """
    site, random = {read.name: read.page for read in pages.read_all()}, np.random.default_rng(0)
    rows, labels, weights = [], [], []
    for name, page in site.items():
        if name not in content_of:
            continue
        texts = page.block_texts()
        content = content_of[name](texts)
        known = ~np.isnan(content)
        if not (content == 1).any():
            continue
        scores = with_titled_article(page, with_authors_mark(page, model.score(page)))
        own = np.clip(log_odds(scores.templateness[page.n :], 1e-6), -_MAX_LOGIT, _MAX_LOGIT)
        root = np.sqrt(np.maximum(np.fromiter(map(len, texts), float, page.m), 1))
        for seen in SEEN:
            df, counted = count_others(page, site, seen, model, random)
            if counted == 1:
                continue
            units, templateness = page.n + page.m, scores.templateness[page.n :]
            of_places = df[units : units + find_places(page, model).codes.size]
            inputs, _ = find_evidence(page, df[:units], of_places, counted, templateness, model)
            rows.append(np.column_stack([own, *inputs[:-1, page.n :]])[known])
            labels.append(content[known] == 0)
            weights.append((root / root.sum() * np.sqrt(page.m))[known])
    if not rows:
        return np.zeros((0, 5)), np.zeros(0, bool), np.zeros(0)
    return np.concatenate(rows), np.concatenate(labels), np.concatenate(weights)


def gold_hosts(path: Path) -> Iterator[tuple[SitePages, ContentOf]]:
    """Yield the pages of the hosts that have five pages or more in a file of gold pages, and what labels them.

    A block is content from seven tenths of its words in the gold text on, in its order, and template up to two tenths.
    """
    by_host: dict[str, list[GoldPage]] = {}
    for page in read_gold(path):
        by_host.setdefault(urlsplit(page.url or "").hostname or "", []).append(page)
    for host, pages in sorted(by_host.items()):
        if host and len(pages) >= 5:
            names = [page.page_id for page in pages]
            files = [path.parent / "html" / f"{name}.html" for name in names]
            content_of: ContentOf = {page.page_id: partial(_content_by_gold, gold=page.text) for page in pages}
            yield SitePages(names, [page.url or "" for page in pages], files), content_of


def _content_by_gold(texts: list[str], gold: str) -> Floats:
    fractions = content_fractions(texts, gold)
    return np.select([fractions >= 0.7, fractions <= 0.2], [1.0, 0.0], np.nan)


def learn_evidence(rows: Floats, labels: NDArray[np.bool_], weights: Floats) -> Evidence:
    """Fit a logistic regression to :func:`block_examples`; its numbers are for one of the page's own log-odds."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    fitted = LogisticRegression(C=0.3, max_iter=500).fit((rows - mean) / scale, labels, sample_weight=weights)
    own, *others = (fitted.coef_[0] / scale).tolist()
    constant = float(fitted.intercept_[0] - (fitted.coef_[0] * mean / scale).sum())
    return Evidence(*(weight / own for weight in (*others, constant)))


def main() -> None:
    """Learn, and print the weights."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITES_DIR", help="folders with one folder a site")
    parser.add_argument("--marks", type=Path, required=True, metavar="FILE", help="pages marked by hand")
    parser.add_argument(
        "--gold", type=Path, action="append", default=[], metavar="FILE", help="gold pages beside html/"
    )
    parser.add_argument(
        "--models", type=Path, metavar="FOLDS", help="models that have not seen a site, each by its fold"
    )
    options = parser.parse_args()
    with exit_on_bad_input():
        model_of = models_of_folds(options.models)
        examples = []
        for site, pages in marked_sites(options.sites, read_marks(options.marks)):
            say(site.name)
            content_of: ContentOf = {name: page.content for name, page in pages.items()}
            examples.append(block_examples(site, content_of, model_of(site.name)))
        for path in options.gold:
            for host_pages, content_of in gold_hosts(path):
                model = model_of(registrable_domain(host_pages.urls[0]))
                examples.append(block_examples(host_pages, content_of, model))
    learned = learn_evidence(*(np.concatenate(column) for column in zip(*examples, strict=True)))
    print(", ".join(f"{name}={value:.3f}" for name, value in learned._asdict().items()))


if __name__ == "__main__":
    main()
