"""What readers see of the facts: the headline, the dates and the byline around it.

Every date of the visible text is a candidate, and every text that looks like a byline. What speaks for one: a label in
front of it ("Published", "Updated on"), markup that says so (``time``, ``class="date"``), the headline near by, and a
line that holds little else. Dates of other stories, of comments and of copyright notices have less of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from winnow.metadata.dates import dates_in, iso_date
from winnow.metadata.values import names_in_byline
from winnow.page.tags import TAG_ID
from winnow.page.tree import once_per_page, within

if TYPE_CHECKING:
    from winnow.page.page import Page

MAX_FACT_CHARACTERS: Final = 4_000  # white space included
_MAX_TEXT: Final = 400_000  # characters of the visible text
_MAX_BYLINE_CHARACTERS: Final = 120
_MAX_CANDIDATES: Final = 400  # of each kind
_MAX_RUNS: Final = 40  # text runs of a byline
_MAX_LABEL: Final = 40  # characters in front of a date
_NEAR: Final = 12  # text blocks from the headline
_SURE: Final = 3.0  # what must speak for a date; half of it where the page has no other one

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
    r"©|copyright|\(c\)|join(?:ed| date)|member since|since|expire|deadline|born|retrieved|accessed|until"
    r"|through|effective",
    re.IGNORECASE,
)
_DATED, _OF_OTHERS, _BYLINE, _NO_BYLINE = 1, 2, 4, 8
_CLASSES: Final = {
    "date datetime published posted timestamp pubdate datum fecha meta dateline time": _DATED,
    "related recent sidebar footer nav menu archive archives replies review reviews testimonial testimonials"
    " recommended readmore": _OF_OTHERS,
    "comment comments reply widget": _OF_OTHERS | _NO_BYLINE,
    "author authors autor writer contributor contributors vcard fn": _BYLINE,
    "bio box avatar image img photo about social list": _NO_BYLINE,
    "byline": _BYLINE | _DATED,
}
_KIND_OF_WORD: Final = {word: kind for words, kind in _CLASSES.items() for word in words.split()}
_OF_SITE: Final = re.compile(r"\b(?:site|menu)-?(?:title|name|logo)\b")
# Linear: each step of a path is read by the one before it alone.
_OF_AUTHOR: Final = re.compile(
    r"/(?:authors?|by|contributors?|profiles?|people|staff|writers?|journalists?|autor(?:es)?|auteurs?|redacteur)/[^/?#]+/?$"
)


@dataclass(frozen=True, slots=True)
class _Date:
    """A date that readers see, or that the markup of what they see states."""

    value: str
    published: float
    modified: float


@once_per_page
def visible_dates(page: Page) -> dict[str, str]:
    """Return ``published`` and ``modified`` as the visible text has them, either where it does."""
    found: dict[str, str] = {}
    dates = _dates(page)
    best = max(dates, key=lambda one: one.published, default=None)
    if best is not None:
        is_only_one = len({one.value[:10] for one in dates if one.published >= _SURE / 3}) == 1
        if best.published >= (_SURE / 2 if is_only_one else _SURE):
            found["published"] = best.value
    best = max(dates, key=lambda one: one.modified, default=None)
    if best is not None and best.modified >= _SURE:
        found["modified"] = best.value
    return found


def _dates(page: Page) -> list[_Date]:
    lines, text = page.block_texts(), page.block_lines[:_MAX_TEXT]
    if not lines:
        return []
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    language = language_of(page)
    heading, marks, others = heading_block(page), _marked_blocks(page), _blocks_of_others(page)
    places = []
    for begin, end, value in dates_in(text, language):
        block = bisect_right(starts, begin) - 1
        line, at = lines[block], begin - starts[block]
        label = line[max(0, at - _MAX_LABEL) : at]
        if len(label.strip(" :|·•-–—")) < 2 and block and len(lines[block - 1]) <= _MAX_LABEL:
            label = lines[block - 1]
        places.append((block, value, label, len(line) - (end - begin), at, 0.0))
    shown: dict[int, list[date]] = {}
    for place in places:
        shown.setdefault(place[0], []).append(date.fromisoformat(place[1]))
    for block, value, label in _stated_dates(page, language):
        day = date.fromisoformat(value[:10])
        if block in shown and not any(_is_same_day(day, other) for other in shown[block]):
            continue  # a time element whose text says another day
        places.append((block, value, f"{label} {lines[block][:_MAX_LABEL]}", 0, 0, 0.5))
    dates: list[_Date] = []
    for block, value, label, rest, at, stated in places:
        distance = None if heading is None else block - heading
        score = stated + _nearness(distance) + 1.5 * (block in marks) - 0.001 * min(block, 900)
        score -= 1.5 * (block in others and not (distance is not None and -3 <= distance <= 8))
        score += 1.0 if rest <= 25 else 0.0 if rest <= 60 else -0.8 if at <= 24 else -3.0
        score -= 5.0 * bool(_NO_DATE_OF_PAGE.search(label))
        is_updated, is_published = bool(_UPDATED.search(label)), bool(_PUBLISHED.search(label))
        published = score + 1.5 * is_published - 4.0 * (is_updated and not is_published)
        dates.append(_Date(value, published, score + 2.5 if is_updated else -9.0))
    return dates


def _is_same_day(day: date, other: date) -> bool:
    """Whether two dates are one day, of any time zone, or with day and month in either order."""
    return abs((day - other).days) <= 1 or (day.year, day.month, day.day) == (other.year, other.day, other.month)


def _nearness(distance: int | None) -> float:
    """How much the place of a text speaks for it: text blocks behind the headline, or in front of it (below 0)."""
    if distance is None or not -9 < distance < 2 * _NEAR:
        return 0.0
    return (2.5 if 0 <= distance <= 6 else 2.0 if -4 <= distance <= _NEAR else 1.0) - 0.03 * abs(distance)


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
    elements += _called(page, _DATED)
    found: set[int] = set()
    for index in elements[: 4 * _MAX_CANDIDATES]:
        begin, end = int(page.block_begin[index]), int(page.block_end[index])
        found.update(range(begin, min(max(end, begin + 1), begin + 6)))
    return found


@once_per_page
def _blocks_of_others(page: Page) -> set[int]:
    """Blocks in comments, lists of other stories, side bars and footers."""
    chosen = np.isin(page.tag, [TAG_ID["nav"], TAG_ID["footer"], TAG_ID["aside"]])
    marked = np.array(_called(page, _OF_OTHERS), np.int64)
    # what holds most of the page is no side matter, whatever it is called
    chosen[marked[2 * (page.block_end[marked] - page.block_begin[marked]) < page.m]] = True
    return set(np.flatnonzero(within(page, chosen)[page.block_node]).tolist())


def visible_authors(page: Page) -> list[str]:
    """Names by ``rel=author``, class names, links to pages of authors, and lines as "By ..." near the headline."""
    lines, heading, others = page.block_texts(), heading_block(page), _blocks_of_others(page)
    best: tuple[float, list[str]] = 0.0, []
    table = page.attributes
    links = [at for value, at in table.places_by_value("href").items() if _OF_AUTHOR.search(value)]
    rels = [at for value, at in table.places_by_value("rel").items() if "author" in value.lower().split()]
    marked = [(index, 2.0) for index in table.elements_with(rels)]
    marked += [(index, 1.5) for index in _called(page, _BYLINE, _NO_BYLINE) + table.elements_with(links)]
    in_form = _in_forms(page)
    candidates: list[tuple[float, int, str, bool]] = []
    for index, weight in marked[:_MAX_CANDIDATES]:
        text = _spaced_text(page, index)
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
        distance = None if heading is None else block - heading
        score = weight + _nearness(distance) + 1.5 * has_prefix - 0.001 * min(block, 900)
        score -= 1.5 * (block in others and not (distance is not None and -3 <= distance <= 8))
        if score > best[0] and score >= 2.0:
            best = score, names
    return best[1]


@once_per_page
def _kinds_of_classes(page: Page) -> list[tuple[int, int]]:
    """Place of each different class and id that says what it holds, and which of the kinds that is."""
    found = []
    for name in ("class", "id"):
        for value, at in page.attributes.places_by_value(name).items():
            kinds = 0
            for word in value.lower().replace("-", " ").replace("_", " ").split():
                kinds |= _KIND_OF_WORD.get(word, 0)
            if kinds:
                found.append((at, kinds))
    return found


def _called(page: Page, kind: int, but: int = 0) -> list[int]:
    """Elements whose class or id says that they are of a kind, and not of another one."""
    return page.attributes.elements_with(
        [at for at, found in _kinds_of_classes(page) if found & kind and not found & but]
    )


def _in_forms(page: Page) -> Any:
    return within(page, np.isin(page.tag, [TAG_ID["form"], TAG_ID["label"], TAG_ID["button"]]))


@once_per_page
def heading_block(page: Page) -> int | None:
    """Number of the block that the headline begins in: the heading, else the line, that is most like the title."""
    title = set(page.title.lower().split())
    best, most = None, 0.0
    levels = [TAG_ID[name] for name in ("h1", "h2", "h3")]
    elements = np.flatnonzero(np.isin(page.tag, levels))[:_MAX_CANDIDATES].tolist()
    for index in elements:
        words = set(text_of(page, index).lower().split())
        alike = 2 * len(words & title) / max(len(words) + len(title), 1) + 0.15 * bool(
            words and page.tag[index] == levels[0]
        )
        if alike > most:
            best, most = int(page.block_begin[index]), alike
    if most < 0.5 and len(title) >= 3:
        for block, line in enumerate(page.block_texts()):
            if len(line) <= 2 * len(page.title):
                words = set(line.lower().split())
                if (alike := 2 * len(words & title) / (len(words) + len(title))) > max(most, 0.5):
                    best, most = block, alike
    return best


def headings(page: Page, *names: str) -> list[str]:
    """Text of each ``h1``, or heading of other levels, that is in no other one and not said to be the site's name."""
    found: list[str] = []
    last_end = 0
    for index in np.flatnonzero(np.isin(page.tag, [TAG_ID[name] for name in names or ("h1",)])).tolist():
        pairs = dict(page.attributes[index])
        if index >= last_end and not _OF_SITE.search(f"{pairs.get('id')} {pairs.get('class')}"):
            found.append(text_of(page, index).rstrip("¶§ "))
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


def _spaced_text(page: Page, index: int) -> str:
    """Text of an element with a space between its parts, and a bar between its text blocks."""
    begin, end = int(page.run_begin[index]), int(page.run_end[index])
    if end - begin > _MAX_RUNS or page.run_offset[end] - page.run_offset[begin] > MAX_FACT_CHARACTERS:
        return ""
    offsets = page.run_offset[begin : end + 1].tolist()
    ends = {int(run) for run in page.block_run_begin[page.block_begin[index] : page.block_end[index]]}
    parts: list[str] = []
    for number, run in enumerate(range(begin, end)):
        if run in ends and parts:
            parts.append("|")
        parts += page.text[offsets[number] : offsets[number + 1]].split()
    return " ".join(parts)


def text_of(page: Page, index: int) -> str:
    """Text of an element; "" for one with too much to be a fact, of which thousands may lie within each other."""
    begin, end = int(page.run_begin[index]), int(page.run_end[index])
    if page.run_offset[end] - page.run_offset[begin] > MAX_FACT_CHARACTERS:
        return ""
    return " ".join(page.text[page.run_offset[begin] : page.run_offset[end]].split())
