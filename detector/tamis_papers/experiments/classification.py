"""Pages classified with and without templates: Table 3, accuracy of naive Bayes on problems of two topics.

The paper took pages on five topics from four shops. A classifier that learns one topic from one shop and another topic
from a second one learns the shops' templates; then it is asked for pages of all the shops.

Here the topics are the page types of GOLD, and a page says what the gold text of a page of that type says. (On the demo
web: the hosts, and the content of their own pages.) These texts stand inside the pages of real sites
(`tamis_papers.experiments.content_exchange`), so that every site has pages of every topic, as the shops did. Sites are
taken in groups of four. For every two topics and every two sites of a group, multinomial naive Bayes learns the first
topic from the first site and the second from the second, and tells the pages of each topic on all other sites apart.
Intervals are over pairs of topics.

Chakrabarti, Kumar and Punera: Page-level Template Detection via Isotonic Smoothing (WWW 2007), section 6.3.

    python -m tamis_papers.experiments.classification [SITES ... --gold GOLD] [--model MODEL]
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.sparse import vstack
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from tamis import load_model
from tamis_papers.evaluation import read_gold
from tamis_papers.experiments.content_exchange import WAYS, cleaned_texts, frames_of_sites, shortened
from tamis_papers.experiments.harness import (
    demo_sites,
    estimate,
    exit_on_bad_input,
    report,
    say,
    sites_in,
    sites_parser,
)
from tamis_papers.pages import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scipy.sparse import csr_matrix

    from tamis.models import Model
    from tamis_papers.experiments.content_exchange import Frame
    from tamis_papers.experiments.harness import MarkedSite

GROUP: Final = 4

Texts = dict[str, list[list[str]]]
"""By topic; each text as paragraphs."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = sites_parser(__doc__)
    parser.add_argument("--gold", type=Path, metavar="GOLD", help="gold pages whose texts are used, .jsonl")
    parser.add_argument("--pages", type=int, default=20, metavar="N", help="pages of a topic on a site (%(default)s)")
    parser.add_argument("--model", default="logistic", metavar="MODEL", help="page-level model (%(default)s)")
    options = parser.parse_args(arguments)
    if bool(options.sites) != bool(options.gold):
        parser.error("SITES and --gold go together")
    with exit_on_bad_input():
        if options.sites:
            texts, frames = texts_of_gold(options.gold), frames_of_sites(sites_in(options.sites), 40)
        else:
            demo = list(demo_sites(40))
            texts, frames = texts_of_sites(demo), frames_of_sites((site.pages for site in demo), 20)
        rows = table_3(frames, texts, options.pages, load_model(options.model))
    report(options, ["accuracy of naive Bayes", "all pairs of topics", "gain over FULLTEXT"], rows)


def texts_of_gold(gold: Path) -> Texts:
    """Gold texts by page type."""
    return _by_topic((page.page_type, page.text) for page in read_gold(gold))


def texts_of_sites(sites: Sequence[MarkedSite]) -> Texts:
    """Content of the marked pages of sites, each site being a topic."""
    return _by_topic(
        (site.name, "\n".join(text for text, kind in zip(read.page.block_texts(), truth, strict=True) if kind == 0))
        for site in sites
        for read, truth in site.read_marked()
    )


def _by_topic(pairs: Iterable[tuple[str, str]]) -> Texts:
    texts: Texts = defaultdict(list)
    for topic, text in pairs:
        paragraphs = shortened(text)
        if sum(len(paragraph.split()) for paragraph in paragraphs) >= 50:
            texts[topic].append(paragraphs)
    return {topic: texts[topic] for topic in sorted(texts) if len(texts[topic]) >= GROUP}


def table_3(frames: Mapping[str, Sequence[Frame]], texts: Texts, pages: int, model: Model) -> list[list[object]]:
    """A row for each way of cleaning: its name, the accuracy, and the gain over all text.

    Raises:
        ValueError: there are fewer than four sites.
    """
    random = np.random.default_rng(0)
    order = random.permutation(sorted(frames)).tolist()
    groups = [order[at : at + GROUP] for at in range(0, len(order) - GROUP + 1, GROUP)]
    if not groups:
        raise ValueError(f"{GROUP} sites are needed, there are {len(frames)} with enough pages")
    found: dict[str, dict[tuple[str, str], list[float]]] = {way: defaultdict(list) for way in WAYS}
    for number, group in enumerate(groups, 1):
        cleaned: dict[str, dict[tuple[str, str], list[str]]] = {way: defaultdict(list) for way in WAYS}
        for site, topics, filled in _fill_pages(group, frames, texts, pages, number, random):
            for topic, by_way in zip(topics, cleaned_texts(filled, model, WAYS), strict=True):
                for way, text in by_way.items():
                    cleaned[way][site, topic].append(text)
        for way, of_pages in cleaned.items():
            for pair, accuracy in problems(group, list(texts), of_pages):
                found[way][pair].append(accuracy)
        say(f"{number} of {len(groups)} groups of sites")
    means = {way: [float(np.mean(of_pair)) for of_pair in by_pair.values()] for way, by_pair in found.items()}
    rows: list[list[object]] = []
    for way, of_way in means.items():
        gains = [mean - full for mean, full in zip(of_way, means[WAYS[0]], strict=True)]
        rows.append([way, estimate((mean, 1) for mean in of_way), estimate((gain, 1) for gain in gains)])
    return rows


def _fill_pages(
    group: Sequence[str],
    frames: Mapping[str, Sequence[Frame]],
    texts: Texts,
    pages: int,
    number: int,
    random: np.random.Generator,
) -> Iterator[tuple[str, list[str], list[tuple[bytes, str]]]]:
    """Yield each site of a group, with the topics of its pages, and their HTML and addresses; no text is used twice."""
    shuffled = {topic: random.permutation(len(of_topic)).tolist() for topic, of_topic in texts.items()}
    for position, site in enumerate(group):
        style = ("p", "div", "br")[(number + position) % 3]  # every site has its own way
        topics: list[str] = []
        filled: list[tuple[bytes, str]] = []
        for topic, of_topic in texts.items():
            count = min(pages, len(of_topic) // GROUP)
            own = shuffled[topic][position * count : (position + 1) * count]
            chosen = spread([frames[site][each] for each in random.permutation(len(frames[site]))], len(own))
            for text, frame in zip(own, chosen, strict=False):
                filled.append((frame.filled(of_topic[text], style), frame.url))
                topics.append(topic)
        yield site, topics, filled


def problems(
    group: Sequence[str], topics: Sequence[str], of_pages: Mapping[tuple[str, str], Sequence[str]]
) -> list[tuple[tuple[str, str], float]]:
    """Solve every problem of a group of sites: pair of topics and accuracy of each."""
    counter = CountVectorizer(min_df=2)
    counter.fit([text for texts in of_pages.values() for text in texts])
    words = {key: counter.transform(texts) for key, texts in of_pages.items()}
    pairs = combinations(topics, 2)
    return [(pair, _accuracy(group, pair, sites, words)) for pair in pairs for sites in permutations(group, 2)]


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
