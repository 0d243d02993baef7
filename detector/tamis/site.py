"""A site in memory: counts the units of its pages, so that pages are cleaned by what other pages repeat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from tamis.counting import LossyCounts, spread_frequencies
from tamis.files import replacing
from tamis.fingerprints import FINGERPRINT_VERSION, node_fingerprints
from tamis.models import usable_model
from tamis.page.page import Page
from tamis.places import counted_units, main_text_id

if TYPE_CHECKING:
    from tamis.arrays import Integers
    from tamis.models import Model


def _header(model: Model) -> bytes:
    """First line of a file of counts: all that they depend on."""
    return f"tamis site 1, fingerprints {FINGERPRINT_VERSION}, model {model.version}\n".encode()


class Site:
    """Counts of a site in bounded memory, without Scrapy and Redis.

    Args:
        budget: maximum number of units remembered, 16 bytes each.
        model: page-level model, its name or its file; pages must be cleaned with the same one; by default the package's
            own.

    >>> import tamis
    >>> site = tamis.Site()
    >>> for number in range(5):
    ...     page = f"<p>Menu of the site</p><p>Article {number} is on this page and on no other one.</p>"
    ...     _ = site.count(page, f"https://example.org/{number}")
    >>> site
    <Site of 5 pages>
    >>> page = tamis.clean(page, url="https://example.org/4", site=site)
    """

    def __init__(self, budget: int = 20_000, model: Model | str | Path | None = None) -> None:
        self._model = usable_model(model)
        self._counts = LossyCounts(budget)

    def __repr__(self) -> str:
        return f"<Site of {self.pages:,} pages>"

    @property
    def pages(self) -> int:
        """Number of pages counted."""
        return self._counts.pages

    def count(self, html: str | bytes | Page, url: str | None = None) -> bool:
        """Count a page, unless a page with the same main text was counted at any address.

        Args:
            html: the page.
            url: its address; links are resolved against it.

        Returns:
            Whether the page was new.

        Raises:
            PageTooLarge: the page exceeds one of the default :class:`~tamis.Limits`.
        """
        page = html if isinstance(html, Page) else Page.parse(html, url)
        if not page.n:
            return False
        main_text = main_text_id(page, self._model)
        if main_text and self._counts.df(np.array([main_text], np.uint64))[0]:
            return False
        _, fingerprints, _ = counted_units(page, self._model)
        return self._counts.add(_page_id(page), np.append(fingerprints, np.uint64(main_text)))

    def frequencies(self, page: Page, model: Model | None = None) -> tuple[Integers, int]:
        """Look up on how many pages each unit and each place code of a page occurs, and the number of pages counted.

        A page that was not counted is included as if it had been. ``model`` is the one that cleans the page.

        Raises:
            ValueError: the pages were counted with another model; the codes of places hold its scores.
        """
        if model is not None and model.version != self._model.version:
            raise ValueError(
                f"the site was counted with the model {self._model.version}, and the page is cleaned with "
                f"{model.version}: give both the same one, as in Site(model=...)"
            )
        counted, fingerprints, _ = counted_units(page, self._model)
        known = bool(page.n) and self._counts.has(_page_id(page))
        df = spread_frequencies(page, counted, self._counts.df(fingerprints) + (not known))
        return df, self.pages + (not known)

    def save(self, path: str | Path) -> None:
        """Write the counts to a file."""
        with replacing(path) as new:
            new.write_bytes(_header(self._model) + self._counts.to_bytes())

    @classmethod
    def load(cls, path: str | Path, budget: int = 20_000, model: Model | str | Path | None = None) -> Self:
        """Read the counts of a site.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file holds no counts, is damaged, or its counts are of another version or model.
        """
        site = cls(budget, model)
        packed = Path(path).read_bytes()
        header = _header(site._model)
        message = f"{path}: not the counts of a site, damaged, or of another version or model; count the pages again"
        if not packed.startswith(header):
            raise ValueError(message)
        try:
            site._counts = LossyCounts.from_bytes(packed.removeprefix(header), budget)
        except ValueError as error:
            raise ValueError(message) from error
        return site


def _page_id(page: Page) -> int:
    return int(node_fingerprints(page)[0])


class PageCounts(NamedTuple):
    """The counts of a page, int64[n + m] or longer by those of its places, as the ``site`` of :func:`tamis.clean`."""

    df: Integers
    pages: int

    def frequencies(self, _: Page, _model: Model | None = None) -> tuple[Integers, int]:
        """Return the counts; they must be those of the page, and with the model that cleans it."""
        return self
