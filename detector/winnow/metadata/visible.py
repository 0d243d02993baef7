"""What readers see of the facts: the headline, the dates and the byline around it.

Every date of the visible text is a candidate, and every text that looks like a byline. What speaks for one: a label in
front of it ("Published", "Updated on"), markup that says so (``time``, ``class="date"``), the headline near by, and a
line that holds little else. Dates of other stories, of comments and of copyright notices have less of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from winnow.metadata.dates import dates_in, iso_date
from winnow.metadata.values import is_name, names_in_byline
from winnow.page.tags import TAG_ID
from winnow.page.tree import once_per_page, within

if TYPE_CHECKING:
    from winnow.page.page import Page

MAX_FACT_CHARACTERS: Final = 4_000  # white space included
_MAX_TEXT: Final = 400_000  # characters of the visible text
_MAX_BYLINE_CHARACTERS: Final = 120
_MAX_CANDIDATES: Final = 400  # of each kind
_MAX_LABEL: Final = 40  # characters in front of a date
_NEAR: Final = 12  # text blocks from the headline

_UPDATED: Final = re.compile(
    r"updat|modifi|edited|revis|reviewed|changed|aktualis|geändert|bearbeitet|mise? à jour|actualiz|aggiorna|atualiz"
    r"|bijgewerkt|uppdater|oppdater|opdater|zaktualiz|edytow|обновл|изменен|оновлен|güncel|更新|修订|修改|수정|업데이트",
    re.IGNORECASE,
)
_PUBLISHED: Final = re.compile(
    r"publish|posted|\bdate\b|submitted|written|released|created|started|veröffentlicht|erstellt|datum|publié|publicad|fecha"
    r"|pubblicat|geplaatst|gepubliceerd|publicerad|publisert|opublikowan|dodano|опублик|дата|опубл|yayın|tarih"
    r"|发布|發布|发表|公開|掲載|投稿|작성|입력|등록|게시",
    re.IGNORECASE,
)
_NO_DATE_OF_PAGE: Final = re.compile(
    r"©|copyright|\(c\)|join(?:ed| date)|member since|since|expire|deadline|born|retrieved|accessed|until|through|effective",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"(?:^|[\s_-])(?:date|datetime|published|posted|timestamp|pubdate|datum|fecha|meta|byline|dateline)(?:$|[\s_-])",
    re.IGNORECASE,
)
_OTHERS: Final = re.compile(
    r"(?:^|[\s_-])(?:comments?|reply|replies|related|recent|sidebar|widget|footer|nav|menu|archives?|reviews?|testimonials?"
    r"|recommend(?:ed|ations)?|read-?more|more-?(?:from|stories|posts))(?:$|[\s_-])",
    re.IGNORECASE,
)
_BYLINE: Final = re.compile(
    r"(?:^|[\s_-])(?:byline|authors?|autor|writer|contributor|posted-by|vcard|fn)(?:[\s_-]*(?:name|link|names|text|title))?"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
# Linear: each step of a path is read by the one before it alone.
_OF_AUTHOR: Final = re.compile(
    r"/(?:authors?|by|contributors?|profiles?|people|staff|writers?|journalists?|autor(?:es)?|auteurs?|redacteur)/[^/?#]+/?$"
)


@dataclass(frozen=True, slots=True)
class _Date:
    """A date that readers see, or that the markup of what they see states."""

    value: str
    block: int
    published: float
    modified: float


@once_per_page
def visible_dates(page: Page) -> dict[str, str]:
    """Return ``published`` and ``modified`` as the visible text has them, either where it does."""
    found: dict[str, str] = {}
    dates = _dates(page)
    for name, threshold in (("published", 3.0), ("modified", 3.0)):
        best = max(dates, key=lambda one: getattr(one, name), default=None)
        if best is not None and getattr(best, name) >= threshold:
            found[name] = best.value
    return found


def _dates(page: Page) -> list[_Date]:
    lines, text = page.block_texts(), page.block_lines[:_MAX_TEXT]
    if not lines:
        return []
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    language = language_of(page)
    heading, marks, others = _heading_block(page), _marked_blocks(page), _blocks_of_others(page)
    dates: list[_Date] = []
    for begin, end, value in dates_in(text, language):
        block = bisect_right(starts, begin) - 1
        line, at = lines[block], begin - starts[block]
        label = line[max(0, at - _MAX_LABEL) : at]
        if len(label.strip(" :|·•-–—")) < 2 and block and len(lines[block - 1]) <= _MAX_LABEL:
            label = lines[block - 1]
        dates.append(_judged(value, block, label, line, end - begin, at, heading, marks, others))
    for block, value, label in _stated_dates(page, language):
        dates.append(_judged(value, block, label, label, len(label), 0, heading, marks, others))
    return dates


def _judged(
    value: str,
    block: int,
    label: str,
    line: str,
    length: int,
    at: int,
    heading: int | None,
    marks: set[int],
    others: set[int],
) -> _Date:
    """Say how much speaks for a date as that of the publication, and of the last change."""
    distance = None if heading is None else block - heading
    score = 0.0
    if distance is not None:
        score += 2.5 if -4 <= distance <= 5 else 1.5 if -8 <= distance <= _NEAR else 0.0
    score += 1.5 * (block in marks) - 2.5 * (block in others)
    rest = len(line) - length
    score += 1.0 if rest <= 25 else 0.0 if rest <= 90 or at <= 40 else -3.0
    if _NO_DATE_OF_PAGE.search(label):
        score -= 5.0
    is_updated, is_published = bool(_UPDATED.search(label)), bool(_PUBLISHED.search(label))
    published = score + 1.5 * is_published - 4.0 * (is_updated and not is_published) - 0.001 * min(block, 900)
    return _Date(value, block, published, score + 2.5 if is_updated else -9.0)


def _stated_dates(page: Page, language: str | None) -> list[tuple[int, str, str]]:
    """Block, day and label of dates in ``time`` elements and titles of ``abbr``; the label is of class names."""
    found = []
    for name in ("time", "abbr"):
        for index in np.flatnonzero(page.tag == TAG_ID[name])[:_MAX_CANDIDATES].tolist():
            pairs = dict(page.attributes[index])
            stated = pairs.get("datetime" if name == "time" else "title")
            value = iso_date(stated, language) if stated else None
            if value and (block := int(page.block_begin[index])) < page.m:
                found.append((block, value, " ".join(filter(None, (pairs.get("class"), pairs.get("itemprop"))))))
    return found


def _marked_blocks(page: Page) -> set[int]:
    """Blocks in ``time`` elements and in those whose class says that they hold a date."""
    elements = np.flatnonzero(page.tag == TAG_ID["time"]).tolist()
    for name in ("class", "id"):
        elements += [index for index, value in page.attribute(name).items() if _DATED.search(value)]
    found: set[int] = set()
    for index in elements[: 4 * _MAX_CANDIDATES]:
        begin, end = int(page.block_begin[index]), int(page.block_end[index])
        found.update(range(begin, min(max(end, begin + 1), begin + 6)))
    return found


@once_per_page
def _blocks_of_others(page: Page) -> set[int]:
    """Blocks in comments, lists of other stories, side bars and footers."""
    chosen = np.isin(page.tag, [TAG_ID["nav"], TAG_ID["footer"], TAG_ID["aside"]])
    for name in ("class", "id"):
        marked = [index for index, value in page.attribute(name).items() if _OTHERS.search(value)]
        # what holds most of the page is no side matter, whatever it is called
        chosen[[index for index in marked if 2 * (page.block_end[index] - page.block_begin[index]) < page.m]] = True
    return set(np.flatnonzero(within(page, chosen)[page.block_node]).tolist())


def visible_authors(page: Page) -> list[str]:
    """Names by ``rel=author``, class names, links to pages of authors, and lines as "By ..." near the headline."""
    lines, heading, others = page.block_texts(), _heading_block(page), _blocks_of_others(page)
    best: tuple[float, list[str]] = 0.0, []
    marked = [(index, 2.0) for index, value in page.attribute("rel").items() if "author" in value.lower().split()]
    marked += [(index, 1.5) for index, value in page.attribute("class").items() if _BYLINE.search(value)]
    marked += [(index, 1.5) for index, value in page.attribute("href").items() if _OF_AUTHOR.search(value)]
    in_form = _in_forms(page)
    candidates: list[tuple[float, int, str, bool]] = []
    for index, weight in marked[:_MAX_CANDIDATES]:
        text = text_of(page, index)
        if 0 < len(text) <= _MAX_BYLINE_CHARACTERS and not in_form[index]:
            candidates.append((weight, int(page.block_begin[index]), text, True))
    first = 0 if heading is None else max(0, heading - 5)
    for block in range(first, min(page.m, first + 5 + _NEAR)):
        if len(lines[block]) <= _MAX_BYLINE_CHARACTERS:
            candidates.append((0.0, block, lines[block], False))
            if block + 1 < page.m and len(lines[block]) <= 20 and len(lines[block + 1]) <= _MAX_BYLINE_CHARACTERS:
                candidates.append((0.0, block, f"{lines[block]} {lines[block + 1]}", False))
    for weight, block, text, is_marked in candidates:
        names, has_prefix = names_in_byline(text)
        if not names or not (has_prefix or is_marked):
            continue
        near = 0.0
        if heading is not None:
            near = 2.0 if -5 <= block - heading <= 6 else 1.0 if -8 <= block - heading <= _NEAR else 0.0
        score = weight + near + 1.5 * has_prefix - 2.0 * (block in others) - 0.001 * min(block, 900)
        if score > best[0] and score >= 2.0:
            best = score, names
    return best[1]


def _in_forms(page: Page) -> Any:
    return within(page, np.isin(page.tag, [TAG_ID["form"], TAG_ID["label"], TAG_ID["button"]]))


@once_per_page
def _heading_block(page: Page) -> int | None:
    """Number of the block that the headline begins in: an ``h1`` with words of the title, or a line that has them."""
    title = set(page.title.lower().split())
    best, shared = None, 0.0
    headings = np.flatnonzero(np.isin(page.tag, [TAG_ID["h1"], TAG_ID["h2"]]))[:_MAX_CANDIDATES].tolist()
    for index in headings:
        own = set(text_of(page, index).lower().split())
        weight = len(own & title) * (1.0 if page.tag[index] == TAG_ID["h1"] else 0.9)
        if weight > shared and 2 * len(own & title) >= len(own):
            best, shared = int(page.block_begin[index]), weight
    if best is None:
        first = [index for index in headings if page.tag[index] == TAG_ID["h1"] and text_of(page, index)]
        best = int(page.block_begin[first[0]]) if first else None
    if best is None and len(title) >= 3:
        for block, line in enumerate(page.block_texts()):
            if len(line) <= 2 * len(page.title) and 3 * len(title & set(line.lower().split())) >= 2 * len(title):
                return block
    return best


def headings(page: Page) -> list[str]:
    """Text of each ``h1`` that is in no other one."""
    found: list[str] = []
    last_end = 0
    for index in np.flatnonzero(page.tag == TAG_ID["h1"]).tolist():
        if index >= last_end:
            found.append(text_of(page, index))
            last_end = int(page.end[index])
    return [text for text in found if text]


def language_of(page: Page) -> str | None:
    """Language that ``html`` or ``body`` states."""
    for index in np.flatnonzero((page.tag == TAG_ID["html"]) | (page.tag == TAG_ID["body"]))[:2].tolist():
        pairs = dict(page.attributes[index])
        language = str(pairs.get("lang") or pairs.get("xml:lang") or "").strip()
        if language:
            return language.replace("_", "-")
    return None


def text_of(page: Page, index: int) -> str:
    """Text of an element; "" for one with too much to be a fact, of which thousands may lie within each other."""
    begin, end = int(page.run_begin[index]), int(page.run_end[index])
    if page.run_offset[end] - page.run_offset[begin] > MAX_FACT_CHARACTERS:
        return ""
    return " ".join(page.text[page.run_offset[begin] : page.run_offset[end]].split())
