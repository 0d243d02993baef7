"""Pages classified with and without templates: the page-level paper's Table 3 (section 6.3).

The paper took pages on five topics from four shops. A classifier that learns one topic from one shop and another topic
from a second one learns the shops' templates; then it is asked for pages of all the shops.

Here the topics are the page types of GOLD and, with ``--genres``, the genres of sites: what a page says is the gold
text of a page of that type, or the text that no other page of its site has. These texts stand inside the pages of real
sites of SITES_DIR (content_exchange.py), so that every site has pages of every topic, as the shops did.
Sites are taken in groups of four. For every group, every two topics and every two of its sites, multinomial naive
Bayes of scikit-learn learns the first topic from the first site and the second from the second, and tells the pages of
the other sites apart, and those of each topic on the site of the other.

What differs from the paper: topics are kinds of text, not kinds of product; only the texts of pages are exchanged.

    python -m benchmarks.applications.page_classification SITES_DIR GOLD [--genres MANIFEST GENRE_SITES_DIR]
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.sparse import vstack
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from benchmarks.applications.cleaned_texts import METHODS, cleaned_texts
from benchmarks.applications.content_exchange import (
    add_frame_arguments,
    chosen,
    frames_by_site,
    own_texts,
    shortened,
    style_of,
)
from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.intervals import mean_interval, percent
from winnow import load_model
from winnow.training.evaluation import read_gold
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from scipy.sparse import csr_matrix

    from benchmarks.applications.content_exchange import Frame

GROUP: Final = 4
"""Sites that carry pages of all the topics, as in the paper."""

_LEAST_WORDS: Final = 50
_TEXTS_PER_SITE: Final = 3  # of one genre site, so that no site speaks for its genre

Texts = dict[str, list[list[str]]]
"""By topic; each text as paragraphs."""


def main() -> None:
    """Build the pages, clean them in every way, classify, print the table."""
    parser = parser_of(__doc__ or "")
    add_frame_arguments(parser)
    parser.add_argument("gold", type=Path, metavar="GOLD", help="gold pages whose texts are used, .jsonl or .jsonl.xz")
    parser.add_argument(
        "--genres", nargs=2, type=Path, metavar=("MANIFEST", "DIR"),
        help="also topics from the genres of sites: .jsonl with site, genre and language, and the folder of the sites",
    )  # fmt: skip
    parser.add_argument("--language", default="en", help="language of the genres' sites (default: %(default)s)")
    parser.add_argument("--pages", type=int, default=20, metavar="N", help="pages of a topic on a site (default: 20)")
    parser.add_argument("--model", metavar="MODEL", help="page-level model (default: the package's own)")
    options = parser.parse_args()

    sources = {"page types": _page_type_texts(options.gold)}
    if options.genres is not None:
        sources["genres"] = _genre_texts(options)
    frames = frames_by_site(options, least=40)
    figures: dict[str, dict[str, list[float]]] = {}
    for name, texts in sources.items():
        say(f"{name}: " + ", ".join(f"{topic} {len(of_topic)}" for topic, of_topic in texts.items()))
        accuracies = _accuracies(frames, texts, options)
        pairs = sorted(next(iter(accuracies.values())))
        figures[name] = {
            method: [float(np.mean(of_pair[pair])) for pair in pairs] for method, of_pair in accuracies.items()
        }
        print(f"\n{name}: accuracy, %, of naive Bayes that learned each topic from another site\n")
        rows: list[list[Any]] = [
            [f"{one}, {other}", *(f"{100 * np.mean(accuracies[method][one, other]):.1f}" for method in METHODS)]
            for one, other in pairs
        ]
        rows.append(["average", *(f"{100 * np.mean(figures[name][method]):.1f}" for method in METHODS)])
        print(table(["topics", *METHODS], rows))
        full = np.array(figures[name][METHODS[0]])
        print("\ngain over FULLTEXT, points, 95% interval over pairs of topics\n")
        gains = {method: np.array(figures[name][method]) - full for method in METHODS[1:]}
        print(
            table(
                ["", *gains],
                [["gain", *(percent(float(gain.mean()), mean_interval(gain.tolist())) for gain in gains.values())]],
            )
        )
    write_json(options, figures)


def _page_type_texts(gold: Path) -> Texts:
    try:
        pages = read_gold(gold)
    except (OSError, ValueError) as error:
        sys.exit(f"{gold}: {error}")
    texts: Texts = defaultdict(list)
    for page in pages:
        _add(texts, page.page_type, shortened(page.text))
    return dict(sorted(texts.items()))


def _genre_texts(options: argparse.Namespace) -> Texts:
    """Own text of pages of sites, by the sites' genre; genres of three sites at least."""
    manifest, folder = options.genres
    try:
        listed = [json.loads(line) for line in manifest.read_text(encoding="utf-8").splitlines()]
        genre = {each["site"]: each["genre"] for each in listed if each["language"] == options.language}
        sites = [site for site in find_sites(folder) if site.name in genre]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{manifest}, {folder}: {error!r}")
    texts: Texts = defaultdict(list)
    of_genre: dict[str, int] = defaultdict(int)
    for site in sites:
        of_genre[genre[site.name]] += 1
    for site in sites:
        if of_genre[genre[site.name]] >= GROUP - 1:
            say(f"{site.name}: {genre[site.name]}")
            most = max(_TEXTS_PER_SITE, -(-GROUP * options.pages // of_genre[genre[site.name]]))
            for text in own_texts(site, most):
                _add(texts, genre[site.name], shortened(text))
    return dict(sorted(texts.items()))


def _add(texts: Texts, topic: str, paragraphs: list[str]) -> None:
    if sum(len(paragraph.split()) for paragraph in paragraphs) >= _LEAST_WORDS:
        texts[topic].append(paragraphs)


def _accuracies(
    frames: Mapping[str, Sequence[Frame]], texts: Texts, options: argparse.Namespace
) -> dict[str, dict[tuple[str, str], list[float]]]:
    """Accuracies of all problems, by method and pair of topics."""
    random = np.random.default_rng(options.seed)
    model = load_model(options.model)
    names = sorted(frames)
    order = [names[index] for index in random.permutation(len(names)).tolist()]
    groups = [order[at : at + GROUP] for at in range(0, len(order) - GROUP + 1, GROUP)]
    found: dict[str, dict[tuple[str, str], list[float]]] = {method: defaultdict(list) for method in METHODS}
    for number, group in enumerate(groups, 1):
        cleaned: dict[str, dict[tuple[str, str], list[str]]] = {method: defaultdict(list) for method in METHODS}
        shuffled = {topic: random.permutation(len(of_topic)).tolist() for topic, of_topic in texts.items()}
        for place, site in enumerate(group):
            pages, topics = [], []
            own_frames = {frame.url: frame for frame in frames[site]}
            for topic, of_topic in texts.items():
                share = min(options.pages, len(of_topic) // GROUP)
                urls = chosen(sorted(own_frames), share, random)
                for text, url in zip(shuffled[topic][place * share :], urls, strict=False):
                    pages.append((own_frames[url].filled(of_topic[text], style_of(names.index(site))), url))
                    topics.append(topic)
            for topic, by_method in zip(topics, cleaned_texts(pages, model), strict=True):
                for method, text in by_method.items():
                    cleaned[method][site, topic].append(text)
        for method, of_pages in cleaned.items():
            for pair, accuracy in _problems(group, list(texts), of_pages):
                found[method][pair].append(accuracy)
        say(f"{number} of {len(groups)} groups of sites done")
    return found


def _problems(
    group: Sequence[str], topics: Sequence[str], of_pages: Mapping[tuple[str, str], Sequence[str]]
) -> Iterator[tuple[tuple[str, str], float]]:
    """Solve every problem of a group of sites: pair of topics and accuracy of each."""
    counter = CountVectorizer(min_df=2)
    counter.fit([text for texts in of_pages.values() for text in texts])
    words: dict[tuple[str, str], csr_matrix] = {key: counter.transform(texts) for key, texts in of_pages.items()}
    for pair in combinations(topics, 2):
        for sites in permutations(group, 2):
            yield pair, _accuracy(group, pair, sites, words)


def _accuracy(
    group: Sequence[str], topics: tuple[str, str], sites: tuple[str, str], words: Mapping[tuple[str, str], csr_matrix]
) -> float:
    """Train on each topic's own site, test on the topic's pages on all the others; each topic has the same weight."""
    parts = [words[site, topic] for topic, site in zip(topics, sites, strict=True)]
    bayes = MultinomialNB().fit(vstack(parts), np.repeat([0, 1], [part.shape[0] for part in parts]))
    shares = []
    for number, (topic, own) in enumerate(zip(topics, sites, strict=True)):
        test = vstack([words[site, topic] for site in group if site != own])
        shares.append(float(np.mean(bayes.predict(test) == number)))
    return float(np.mean(shares))


if __name__ == "__main__":
    main()
