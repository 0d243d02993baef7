"""A page in, its content out: the whole way from HTML to clean text, HTML and Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree

from winnow.models.registry import load_model
from winnow.output.conditional_comments import leftovers
from winnow.output.html import document, write_html
from winnow.output.markdown import to_markdown
from winnow.output.repeats import later_copies
from winnow.output.segments import Segment, segments
from winnow.output.stripping import remains, template_units
from winnow.output.text import block_texts, join_blocks, visible_text
from winnow.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from winnow.page.parsing import parse_html
from winnow.site.counting.site_level import HTML_SHARE, site_level_templates
from winnow.site.evidence import contradicted, with_site_evidence
from winnow.smoothing.smooth import SmoothedScores, smooth_scores, unsmoothed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.base import Model


@dataclass(eq=False)
class Cleaned:
    """A page without its template.

    The text is there from the start. :attr:`html`, :attr:`markdown`, :attr:`segments` and :attr:`removed` are worked
    out when first asked for, from the page; the page and the lxml tree it came from stay in memory as long as this
    object does, so take what you need from it and let it go. The tree must not be changed before that.

    Attributes:
        text: text of the content, blocks separated as in :func:`winnow.output.text.join_blocks`.
        title: title of the document, "" without one.
        template_share: characters of text that were cut, as a share of all, 0..1.
        fallback: every block was template; the least template-like section was kept all the same.
        passed_through: ``None``, or the cap that the page is above (``"bytes"``, ``"nodes"`` or ``"depth"``). Then
            nothing was cut: the text is all the visible text, and the HTML that text in paragraphs.
        model_version: version of the model that decided.
    """

    text: str
    title: str
    template_share: float
    fallback: bool
    passed_through: str | None
    model_version: str
    _decided: Decided | None = field(repr=False)

    @cached_property
    def html(self) -> str:
        """Clean HTML, a whole document without scripts, styles, frames, comments or handlers."""
        if self._decided is None:
            return document(self.title, self.text.splitlines())
        page, template = self._decided.page, self._decided.template
        return write_html(page, remains(page, template))

    @cached_property
    def markdown(self) -> str:
        """The clean HTML as Markdown."""
        return to_markdown(self.html)

    @cached_property
    def segments(self) -> list[Segment]:
        """The sections of the page with their scores, in document order; none for a page that was passed through."""
        decided = self._decided
        if decided is None:
            return []
        return segments(decided.page, decided.smoothed, decided.template, decided.texts, decided.site, decided.copies)

    @property
    def decided(self) -> Decided | None:
        """What was decided of every unit; ``None`` for a page that was passed through or has no elements."""
        return self._decided

    @property
    def removed(self) -> list[Segment]:
        """The sections that were cut, each with its score and what marks it."""
        return [segment for segment in self.segments if segment.template]


@dataclass(frozen=True, eq=False, slots=True)
class Decided:
    """What was decided of every unit of a page, from which the lazy parts of :class:`Cleaned` are made.

    Attributes:
        page: the page.
        smoothed: score and section of each unit, with the site's evidence.
        template: bool[n + m], the units that were cut.
        texts: text of each of the m blocks.
        site: bool[n + m], units that are template according to the site.
        copies: bool[n + m], blocks that were cut since they repeat content before them.
    """

    page: Page
    smoothed: SmoothedScores
    template: NDArray[np.bool_]
    texts: list[str]
    site: NDArray[np.bool_]
    copies: NDArray[np.bool_]


def clean(
    html: str | bytes | etree._Element | etree._ElementTree | Page,
    url: str | None = None,
    *,
    model: Model | None = None,
    smooth: bool = True,
    limits: Limits = DEFAULT_LIMITS,
    df: NDArray[np.int64] | None = None,
    pages: int = 0,
) -> Cleaned:
    r"""Separate the content of a page from its template.

    Args:
        html: HTML as text or bytes, an lxml tree (it is not changed), or a :class:`~winnow.page.page.Page`.
        url: address of the page, where known; links count as in-site or not relative to it.
        model: page-level model; by default the one that comes with the package.
        smooth: make the scores agree with the tree; without it every unit is judged alone.
        limits: caps above which a page is passed through as it is.
        df: int64[n + m], pages of the site that contain each unit, where they have been counted; it takes a
            :class:`~winnow.page.page.Page` to know the units.
        pages: pages of the site that were counted.

    Returns:
        The content. Any HTML gives one, be it empty or broken.

    Raises:
        ValueError: ``df`` does not have one count per unit.

    >>> page = clean("<nav><a href='/'>Home</a></nav><article><h1>Storm</h1><p>Winds of up to 130 km/h.</p></article>")
    >>> page.text
    'Storm\n\nWinds of up to 130 km/h.'
    """
    model = model if model is not None else load_model()
    if isinstance(html, Page):
        page = html
    else:
        try:
            page = _page(html, url, limits)
        except PageTooLarge as too_large:
            return _passed_through(html, too_large.reason, model)
    if not page.n:
        return Cleaned("", "", 0.0, False, None, model.version, None)
    scores = model.score(page)
    site = _site_labels(page, df, pages, elements=bool(scores.weight[: page.n].any()))
    if df is not None:
        moved = with_site_evidence(page, scores, df, pages)
        moved = replace(moved, templateness=np.where(site, 1.0, moved.templateness))
        if contradicted(scores, moved):
            site = np.zeros_like(site)
        else:
            scores = moved
    smoothed = smooth_scores(page, scores) if smooth else unsmoothed(page, scores)
    smoothed = _with_certain_blocks(page, smoothed, site, scores.threshold)
    template, fallback = template_units(page, smoothed, scores.threshold)
    texts = block_texts(page)
    copies = np.concatenate([np.zeros(page.n, bool), later_copies(page, texts, ~template[page.n :])])
    cut = copies.copy()
    cut[page.n :] |= leftovers(texts)
    template |= cut
    smoothed = SmoothedScores(smoothed.value, _sections_of_their_own(smoothed.section, cut))
    kept = ~template[page.n :]
    lengths = np.fromiter(map(len, texts), np.int64, page.m)
    return Cleaned(
        text=join_blocks(page, texts, kept),
        title=page.title,
        template_share=float(lengths[~kept].sum() / max(int(lengths.sum()), 1)),
        fallback=fallback,
        passed_through=None,
        model_version=model.version,
        _decided=Decided(page, smoothed, template, texts, site, copies),
    )


def _page(html: str | bytes | etree._Element | etree._ElementTree, url: str | None, limits: Limits) -> Page:
    if isinstance(html, str | bytes):
        return Page.parse(html, url, limits=limits)
    return Page.from_tree(_root(html), url, limits=limits)


def _root(tree: etree._Element | etree._ElementTree) -> etree._Element:
    return tree.getroot() if isinstance(tree, etree._ElementTree) else tree


def _site_labels(page: Page, df: NDArray[np.int64] | None, pages: int, *, elements: bool) -> NDArray[np.bool_]:
    """bool[n + m], units that are template according to the site.

    Without ``elements``, those that only section 5.1's share of HTML makes template are left out: a model that has no
    opinion of elements does not need them.
    """
    if df is None:
        return np.zeros(page.n + page.m, bool)
    if len(df) != page.n + page.m:
        raise ValueError(f"df has {len(df)} counts, the page has {page.n + page.m} units")
    return site_level_templates(page, df, pages, html_share=HTML_SHARE if elements else None)


def _with_certain_blocks(
    page: Page, smoothed: SmoothedScores, site: NDArray[np.bool_], threshold: float
) -> SmoothedScores:
    """Make blocks that the site repeats sections of their own where smoothing has drawn them into the content.

    They are leaves, so the values still do not fall from parent to child.
    """
    certain = site & (smoothed.value < threshold)
    certain[: page.n] = False
    return SmoothedScores(np.where(certain, 1.0, smoothed.value), _sections_of_their_own(smoothed.section, certain))


def _sections_of_their_own(section: NDArray[np.int32], blocks: NDArray[np.bool_]) -> NDArray[np.int32]:
    """int32[n + m], the sections with each of the chosen blocks (bool[n + m]) made one of its own."""
    return np.where(blocks, np.arange(len(blocks), dtype=np.int32), section)


def _passed_through(html: str | bytes | etree._Element | etree._ElementTree, reason: str, model: Model) -> Cleaned:
    root = parse_html(html) if isinstance(html, str | bytes) else _root(html)
    return Cleaned(
        text=visible_text(root),
        title=" ".join((root.findtext(".//title") or "").split()),
        template_share=0.0,
        fallback=False,
        passed_through=reason,
        model_version=model.version,
        _decided=None,
    )
