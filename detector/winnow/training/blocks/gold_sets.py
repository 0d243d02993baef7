"""Gold pages to learn from: where their HTML is, whom they are from, and which are held out together."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.training.evaluation import GoldPage, read_gold

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from tldextract import TLDExtract

FOLDS: Final = 5
"""Parts into which the sources are divided; what is measured or decided of one is learned from the others."""

MOST_PAGES: Final = 30
"""Pages of a source that are learned from; more of them teach little."""


@dataclass(frozen=True, slots=True)
class GoldExample:
    """A gold page on the disk.

    Attributes:
        gold: the page.
        file: its HTML.
        source: its site, or its registrable domain; pages of one source are never on both sides of a fold.
        collection: the collection that it is from.
    """

    gold: GoldPage
    file: Path
    source: str
    collection: str


def gold_examples(
    files: Iterable[Path], sites: Path | None = None, *, leave_out: Collection[str] = ()
) -> list[GoldExample]:
    """Read gold pages and find their HTML: ``html/ID.html`` beside the file, or the page ID of the folder of sites.

    Args:
        files: the gold files.
        sites: the folder of sites.
        leave_out: collections (``source`` in the files) to leave out.

    Raises:
        FileNotFoundError: the HTML of a page is not there.
        ImportError: tldextract is not installed.
        ValueError: a file is malformed.
    """
    found = []
    for file in files:
        try:
            pages = read_gold(file)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error
        for page in pages:
            if page.source in leave_out:
                continue
            html = file.parent / "html" / f"{page.page_id}.html"
            source = source_of(page)
            if not html.is_file() and sites is not None and (sites / page.page_id).is_file():
                html, source = sites / page.page_id, page.page_id.partition("/")[0]
            if not html.is_file():
                raise FileNotFoundError(
                    f"no such file: {html}; the HTML of the gold page ID is read from html/ID.html there"
                )
            found.append(GoldExample(page, html, source, page.source or str(file)))
    return _spread(found)


def _spread(examples: Sequence[GoldExample]) -> list[GoldExample]:
    """Leave out pages, evenly, of sources with more than :data:`MOST_PAGES`."""
    of_source: dict[str, list[GoldExample]] = defaultdict(list)
    for example in examples:
        of_source[example.source].append(example)
    return [
        own[number * len(own) // min(MOST_PAGES, len(own))]
        for own in of_source.values()
        for number in range(min(MOST_PAGES, len(own)))
    ]


def source_of(page: GoldPage) -> str:
    """Return the registrable domain of a gold page, its id where the address is not known.

    Raises:
        ImportError: tldextract is not installed.
    """
    return registrable_domain(page.url) or page.page_id


def registrable_domain(address: str | None) -> str:
    """Return the registrable domain of an address, its host if that has none; "" without an address.

    Raises:
        ImportError: tldextract is not installed.
    """
    host = (address or "").partition("//")[2].partition("/")[0].lower()
    return _suffixes()(host).top_domain_under_public_suffix or host


@lru_cache(maxsize=1)
def _suffixes() -> TLDExtract:
    try:
        from tldextract import TLDExtract  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("training with gold text needs tldextract: pip install 'scrapy-winnow[train]'") from error
    return TLDExtract(suffix_list_urls=(), cache_dir=None)  # the list that comes with it; nothing is fetched


def folds(gold: Sequence[GoldExample], sites: Iterable[str], seed: int = 0) -> dict[str, int]:
    """Divide the sources into folds.

    Pages with a fold of their own keep it, as far as their source allows; a collection that a gold file has beside
    others (its pages have a ``source``) is held out whole, so that what is learned of it holds for collections not
    seen; other sources are dealt out at random.

    Args:
        gold: gold pages.
        sites: names of sites without gold text.
        seed: of the random order.

    Returns:
        the fold of every source.
    """
    number = Counter(example.collection for example in gold if example.gold.source)
    collections = {name: place % FOLDS for place, (name, _) in enumerate(number.most_common())}
    votes: dict[str, Counter[int]] = defaultdict(Counter)
    for example in gold:
        fold = collections.get(example.collection, example.gold.fold)
        if fold is not None:
            votes[example.source][fold % FOLDS] += 1
    fold_of = {source: min(counted, key=lambda fold: (-counted[fold], fold)) for source, counted in votes.items()}
    others = sorted(({example.source for example in gold} | set(sites)) - set(fold_of))
    dealt = np.random.default_rng(seed).permutation(len(others)) % FOLDS
    return fold_of | dict(zip(others, dealt.tolist(), strict=True))
