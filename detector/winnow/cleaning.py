"""A page in, its content out: the whole way from HTML to clean text, HTML and Markdown."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree

from winnow.cleaned import Cleaned, Decided
from winnow.comments import COMMENTS, Comments, Parting
from winnow.inputs import check_choice, check_input, usable_model
from winnow.metadata.marks import with_authors_mark
from winnow.models.base import FAVORS, SCOPES
from winnow.output.conditional_comments import leftovers
from winnow.output.markup.html import Parts
from winnow.output.repeats import later_copies
from winnow.output.story_parts import story_parts
from winnow.output.stripping import template_units
from winnow.output.tables import in_table
from winnow.output.text import block_texts, join_blocks, visible_text
from winnow.page.charset import is_binary
from winnow.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from winnow.page.parsing import parse_html
from winnow.site.counting.site_level import HTML_SHARE, site_level_templates
from winnow.site.evidence import contradicted, with_site_evidence
from winnow.site.own_text import beside_story, own_paragraphs, says_more
from winnow.smoothing.smooth import SmoothedScores, smooth_scores, unsmoothed

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.models.base import Favor, Model, Scope, Scores


def clean(
    html: str | bytes | etree._Element | etree._ElementTree | Page,
    url: str | None = None,
    *,
    encoding: str | None = None,
    model: Model | str | Path | None = None,
    smooth: bool = True,
    deduplicate: bool = True,
    links: bool = True,
    images: bool = True,
    tables: bool = True,
    comments: Comments = "separate",
    limits: Limits = DEFAULT_LIMITS,
    df: NDArray[np.int64] | None = None,
    pages: int = 0,
    scope: Scope = "auto",
    favor: Favor = "balanced",
) -> Cleaned:
    r"""Separate the content of a page from its template.

    Args:
        html: HTML as text or bytes, an lxml tree (it is not changed), or a :class:`~winnow.page.page.Page`.
        url: address of the page, where known; links count as in-site or not relative to it.
        encoding: charset of bytes, as the HTTP header names it; otherwise :func:`winnow.page.charset.decoded` finds it.
        model: page-level model, its name or its file; by default the one that comes with the package.
        smooth: make the scores agree with the tree; without it every unit is judged alone.
        deduplicate: cut text that the page has twice, as copies for another screen are.
        links: keep the targets of links in HTML and Markdown; without them their text stays.
        images: keep pictures, videos and sounds there.
        tables: keep tables of data; tables that only lay out the page are not concerned.
        comments: ``"separate"`` keeps what readers wrote out of the content and in :attr:`Cleaned.comments`,
            ``"include"`` has it in both, ``"drop"`` in neither.
        limits: caps above which a page is passed through as it is.
        df: int64[n + m], pages of the site that contain each unit, where they have been counted; it takes a
            :class:`~winnow.page.page.Page` to know the units.
        pages: pages of the site that were counted.
        scope: ``"article"`` where only the story of each page is wanted, ``"page"`` where lists and other things that
            are not template are wanted, too; ``"auto"`` goes by what kind of page it is.
        favor: ``"precision"`` where template that stays is worse than content that goes, ``"recall"`` the reverse.

    Returns:
        The content. Any HTML gives one, be it empty or broken.

    Raises:
        TypeError: an argument is of a type that is not taken; the message says what is.
        ValueError: ``df`` does not have one count per unit, the model's file holds none, or there is no such ``scope``,
            ``favor`` or ``comments``.
        LookupError: there is no such ``encoding``.
        FileNotFoundError: there is no such model.

    >>> page = clean("<nav><a href='/'>Home</a></nav><article><h1>Storm</h1><p>Winds of up to 130 km/h.</p></article>")
    >>> page.text
    'Storm\n\nWinds of up to 130 km/h.'
    """
    check_input(html, url, encoding)
    check_choice("comments", comments, COMMENTS)
    check_choice("scope", scope, SCOPES)
    check_choice("favor", favor, FAVORS)
    model = usable_model(model)
    page = _page_to_clean(html, url, encoding, limits, model)
    if isinstance(page, Cleaned):
        return page
    of_model = model.score(page)
    page_level = with_authors_mark(page, of_model)
    texts = block_texts(page)
    lengths = np.fromiter(map(len, texts), np.int64, page.m)
    scores, site, own = _with_site(page, page_level, lengths, df, pages)
    threads = Parting.of(page, scores, site, comments)
    smoothing = smooth_scores if smooth else unsmoothed
    smoothed = smoothing(page, threads.decided(scores))
    judged = np.where(site, 1.0, smoothed.value)[page.n :]
    choice = scores.decision.choose(judged, scope=scope, favor=favor)
    counts_tell = df is not None and (site.any() or not np.array_equal(scores.templateness, page_level.templateness))
    if counts_tell:  # what is template, and not what is content: nothing more is kept for them
        judged = smoothing(page, threads.decided(page_level)).value[page.n :]
        without = scores.decision.choose(judged, scope=scope, favor=favor)
        choice = min(choice, without, key=attrgetter("threshold"))
    if site.any():
        smoothed = _with_certain_blocks(page, smoothed, site, choice.threshold)
    template, fallback = template_units(page, smoothed, choice.threshold)
    template[threads.section >= 0] = not threads.included
    kept, values = ~template[page.n :], smoothed.value[page.n :]
    own &= threads.section[page.n :] < 0
    own_story = beside_story(page, own, kept, values, choice.threshold)
    parts_of_story = np.zeros(page.n + page.m, bool)
    stays = own_story | story_parts(page, texts, kept | own_story, values)
    parts_of_story[page.n :] = stays & ~site[page.n :] & template[page.n :]
    template &= ~parts_of_story
    copies = np.zeros(page.n + page.m, bool)
    if deduplicate:
        copies[page.n :] = later_copies(page, texts, ~template[page.n :])
        copies[page.n :] |= later_copies(page, texts, threads.readers)
    cut = copies.copy()
    if not tables:
        cut |= in_table(page)
    cut[page.n :] |= leftovers(texts) | threads.controls
    template |= cut
    section = np.where(threads.section >= 0, threads.section, smoothed.section)
    smoothed = SmoothedScores(smoothed.value, _sections_of_their_own(section, cut | parts_of_story))
    kept, readers = ~template[page.n :], threads.readers & ~cut[page.n :]
    return Cleaned(
        text=join_blocks(page, texts, kept),
        title=page.title,
        template_share=float(lengths[~kept & ~readers].sum() / max(int(lengths.sum()), 1)),
        fallback=fallback,
        passed_through=None,
        model_version=model.version,
        _decided=Decided(
            *(page, smoothed, template, texts, site, copies, (threads.section >= 0) & ~cut, choice.threshold),
            outside=(of_model.templateness < choice.threshold) & (page_level.templateness >= choice.threshold),
        ),
        url=page.url,
        comments=join_blocks(page, texts, readers) if comments != "drop" else "",
        confidence=choice.confidence,
        kind=choice.kind,
        _parts=Parts(links=links, images=images),
    )


def _page_to_clean(
    html: str | bytes | etree._Element | etree._ElementTree | Page,
    url: str | None,
    encoding: str | None,
    limits: Limits,
    model: Model,
) -> Page | Cleaned:
    """The page, or what becomes of one that there is nothing to clean of: no HTML, above a cap, without elements."""
    if _is_no_html(html, encoding):
        return Cleaned("", "", 0.0, False, "binary", model.version, None, url)
    if isinstance(html, Page):
        page = html
    else:
        try:
            page = _page(html, url, encoding, limits)
        except PageTooLarge as too_large:
            return replace(_passed_through(html, encoding, too_large.reason, model), url=url)
    return page if page.n else Cleaned("", "", 0.0, False, None, model.version, None, url)


def _is_no_html(html: str | bytes | etree._Element | etree._ElementTree | Page, encoding: str | None) -> bool:
    """Tell whether it is a PDF or a picture, say; whoever names the charset of bytes knows that they are text."""
    if isinstance(html, Page):
        return html.binary
    return encoding is None and isinstance(html, str | bytes) and is_binary(html)


def _page(
    html: str | bytes | etree._Element | etree._ElementTree, url: str | None, encoding: str | None, limits: Limits
) -> Page:
    if isinstance(html, str | bytes):
        return Page.parse(html, url, encoding=encoding, limits=limits)
    return Page.from_tree(_root(html), url, limits=limits)


def _root(tree: etree._Element | etree._ElementTree) -> etree._Element:
    return tree.getroot() if isinstance(tree, etree._ElementTree) else tree


def _with_site(
    page: Page, page_level: Scores, lengths: NDArray[np.int64], df: NDArray[np.int64] | None, pages: int
) -> tuple[Scores, NDArray[np.bool_], NDArray[np.bool_]]:
    """What the counts of the site say: moved scores, bool[n + m] its template, bool[m] paragraphs of the page alone."""
    site = _site_labels(page, df, pages, elements=bool(page_level.weight[: page.n].any()))
    if df is None:
        return page_level, site, np.zeros(page.m, bool)
    own = own_paragraphs(page, lengths, df, pages)
    moved = with_site_evidence(page, page_level, df, pages)
    moved = replace(moved, templateness=np.where(site, 1.0, moved.templateness))
    content = page_level.templateness[page.n :] < page_level.threshold
    if contradicted(page_level, moved) and not says_more(own, content, lengths):
        return page_level, np.zeros_like(site), own
    return moved, site, own


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


def _passed_through(
    html: str | bytes | etree._Element | etree._ElementTree, encoding: str | None, reason: str, model: Model
) -> Cleaned:
    root = parse_html(html, encoding) if isinstance(html, str | bytes) else _root(html)
    return Cleaned(
        text=visible_text(root),
        title=" ".join((root.findtext(".//title") or "").split()),
        template_share=0.0,
        fallback=False,
        passed_through=reason,
        model_version=model.version,
        _decided=None,
    )
