"""A page in, its content out: reads HTML, has every unit decided of, and gives clean text, HTML and Markdown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lxml import etree

from winnow.cleaned import Cleaned
from winnow.deciding import decide
from winnow.evidence.comments import COMMENTS, Comments
from winnow.inputs import check_choice, check_input, usable_model
from winnow.models.base import FAVORS, SCOPES
from winnow.output.html import Parts
from winnow.output.text import join_blocks, visible_text
from winnow.page.charset import is_binary
from winnow.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from winnow.page.parsing import parse_html

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from winnow.models.base import Favor, Model, Scope


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
    decided = decide(
        page,
        model,
        df,
        pages,
        smooth=smooth,
        deduplicate=deduplicate,
        tables=tables,
        comments=comments,
        scope=scope,
        favor=favor,
    )
    return Cleaned(
        text=join_blocks(page, decided.texts, decided.kept),
        title=page.title,
        template_share=decided.template_share,
        fallback=decided.fallback,
        passed_through=None,
        model_version=model.version,
        _decided=decided,
        url=page.url,
        comments=join_blocks(page, decided.texts, decided.readers) if comments != "drop" else "",
        confidence=decided.choice.confidence,
        kind=decided.choice.kind,
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
