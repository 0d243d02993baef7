"""Gathers pages for the comments head: gold pages, and some pages of every site of a folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.page import Page, PageTooLarge
from winnow.training.comments.examples import CommentPage, comment_page
from winnow.training.evaluation import read_gold
from winnow.training.gold import content_shares
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

WITH_THREAD: Final = 15
"""Most pages of a site that have a thread."""

WITHOUT_THREAD: Final = 5
"""Most pages of a site that have none."""

FORUM: Final = "forum"
"""Kind of a gold page, and genre of a site, whose posts are the content."""


def pages_of_gold(file: Path, leave_out: Collection[str] = ()) -> list[CommentPage]:
    """Label gold pages; the HTML of page ``ID`` is ``html/ID.html`` beside the file.

    Args:
        file: the gold file.
        leave_out: collections, as ``source`` in the file names them, to leave out.

    Raises:
        OSError: the file or a page's HTML cannot be read.
        ImportError: rapidfuzz or tldextract is not installed.
        ValueError: the file is malformed.
    """
    from tldextract import TLDExtract  # noqa: PLC0415  (training only)

    suffixes = TLDExtract(suffix_list_urls=(), cache_dir=None)
    with file.open(encoding="utf-8") as lines:
        rows = {str(row.get("id") or row["page"]): row for row in map(json.loads, lines)}
    found = []
    for gold in read_gold(file):
        row = rows[gold.page_id]
        if row.get("source") in leave_out:
            continue
        try:
            page = Page.parse((file.parent / "html" / f"{gold.page_id}.html").read_bytes())
        except PageTooLarge:
            continue
        host = row.get("site") or (gold.url or "").partition("//")[2].partition("/")[0] or gold.page_id
        source = suffixes(host).top_domain_under_public_suffix or host
        content = content_shares(page.block_texts(), gold.text)
        found.append(comment_page(page, source, forum=gold.page_type == FORUM, content=content))
    return found


def pages_of_sites(folder: Path, seed: int = 0) -> list[CommentPage]:
    """Label some pages of every site, with and without a thread; ``FOLDER.jsonl`` says which sites are forums.

    Args:
        folder: one folder a site.
        seed: of the choice of pages.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: there is no site in it.
    """
    manifest = folder.with_suffix(".jsonl")
    lines = manifest.read_text(encoding="utf-8").splitlines() if manifest.is_file() else []
    forums = {row["site"] for row in map(json.loads, lines) if row.get("genre") == FORUM}
    found: list[CommentPage] = []
    for site in find_sites(folder):
        room = {True: WITH_THREAD, False: WITHOUT_THREAD}
        for number in np.random.default_rng(seed).permutation(len(site.files)).tolist():
            if not any(room.values()):
                break
            try:
                page = Page.parse(site.files[number].read_bytes())
            except PageTooLarge:
                continue
            example = comment_page(page, site.name, forum=site.name in forums)
            if page.m and room[example.has_thread]:
                room[example.has_thread] -= 1
                found.append(example)
    return found
