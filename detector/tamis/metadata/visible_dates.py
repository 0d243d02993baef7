"""Dates that readers see: of publication and of the last change, around the headline or with a label that says so.

Every date in the visible text is a candidate. Candidates score higher with a label before them ("Published", "Updated
on"), in markup for it (``time``, ``class="date"``), near the headline, and on a line with little else. Dates of other
articles, comments, events and copyright notices, dates within sentences and what stands above the page, such as today's
date, score lower. A date that is still to come is none of publication.
"""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.metadata.dates import dates_in, iso_date, short_dates_in
from tamis.metadata.visible import (
    attribute_places,
    declared_language,
    element_text,
    first_block,
    heading_block,
    place_scores,
)
from tamis.page.addresses import join_address
from tamis.page.text import UNSEEN_CHARACTERS, WORD
from tamis.page.tree import TAG_ID, block_lengths, elements_named, named_elements, once_per_page, prefix_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tamis.page.page import Page

_MAX_TEXT_CHARACTERS: Final = 400_000
_MAX_CANDIDATES: Final = 400  # of each kind
_MAX_LABEL_CHARACTERS: Final = 40  # before a date
_MAX_LABEL_LINE: Final = 25  # characters of a line that is a label
_MIN_DATE_SCORE: Final = 3.0  # half of it if the page has no other date
_MAX_BYLINE_BLOCKS: Final = 5  # after the headline
_MAX_TEASER_BLOCKS: Final = 5
_MAX_TEASER_CHARACTERS: Final = 400
_MAX_TEASER_DEPTH: Final = 3  # elements around a date
_MAX_TEASER_LINKS: Final = 20
_MIN_TEASER_WORDS: Final = 4  # of a link: names of authors and categories have fewer
_MAX_HEADER_FRACTION: Final = 0.8  # of the blocks of a page that the headline shares with what is beside it

# Of text in lower case; each alternative begins with a letter, so that few places of a text are tried.
_UPDATED: Final = re.compile(
    r"updat|modifi|edited|revis|reviewed|changed|aktualis|geändert|bearbeitet|änderung|mise? à jour|actualiz|aggiorna"
    r"|atualiz|bijgewerkt|gewijzigd|wijzig|uppdater|oppdater|opdater|ändrad|endret|ændret|zaktualiz|aktualiz|edytow|zmian"
    r"|změn|uprav|обновл|изменен|оновлен|змін|güncel|değişt|módos|frissít|päivit|muokat|actualit|τροποπ|ενημέρ|ενημερ"
    r"|cập nhật|diperbarui|تحديث|تعديل|עודכן|更新|修订|修改|改訂|수정|업데이트"
)
_ONLY_PUBLISHED: Final = (  # of texts, not of events and things
    r"publish|posted|veröffentlicht|erschienen|publié|publicad|publicat|mis en ligne|pubblicat|geplaatst|gepubliceerd"
    r"|publicerad|publisert|publiceret|udgivet|offentliggjort|opublikowan|julkaistu|publikován|zveřejn|megjelent"
    r"|közzétéve|objavljen|опублик|опубл|δημοσ|yayın|diterbitkan|đăng|نشر|פורסם|发布|發布|发表|發表|公開|公表|掲載|投稿|게시"
)
_PUBLISHED: Final = re.compile(
    rf"{_ONLY_PUBLISHED}|date(?<=\bdate)\b|submitted|written|released|created|started|original|erstellt|datum|stand:"
    r"|fecha|dodan|lisätty|vydán|дата|tarih|تاريخ|작성|입력|등록"
)
_PUBLICATION: Final = re.compile(rf"(?:first )?(?:{_ONLY_PUBLISHED})")
_LAST: Final = re.compile(
    r"\b(?:last|zuletzt|letzt|derni|últim|ultim|laatst|senast|sist|sidst|ostatni|posledn|последн|останн|utolsó|viimeksi"
    r"|son|τελευτ)|最終|最后|最後|마지막"
)
_OTHER_DATE: Final = re.compile(
    r"©|copyright|\(c\)|join(?:ed| date)|member since|since|expire|deadline|born|retrieved|accessed|until"
    r"|through|effective|\bnext\b|\bevent|upcoming|\bvalid\b|gültig|termin\b"
)
_BYLINE: Final = re.compile(r"(?:by|von|par|por|di|door|av|af)\b:? ")
_FOREIGN_LABEL: Final = re.compile(r"[^\W\d_]{2}[^:：]{0,20}[:：]\s?$")
_SENTENCE_BEFORE: Final = re.compile(r"(?:\b[a-zß-öø-ÿа-я]{2,}\s+){3}\S*\s*\S*\s*$")
_SENTENCE_AFTER: Final = re.compile(
    r"[,)]?\s(?!(?:by|at|in|um|von|par|por|di|da|à|a|às|kl|om|o|u|av|af|door|на|в|от|from|under|with"
    r"|and (?:last )?updat)\b)"
    r"[a-zß-öø-ÿа-я]{2,}\s"
)
_MAX_BYLINE_CHARACTERS: Final = 120
_MIN_SENTENCE_CHARACTERS: Final = 12  # behind a date
_MIN_TEASER_CHARACTERS: Final = 16
_DATE_CLASSES: Final = "date datetime published posted timestamp pubdate datum fecha meta dateline time byline".split()


class _Date(NamedTuple):
    """A visible date, or one stated in the markup of visible text."""

    value: str
    block: int
    label: str  # what stands before it, in lower case
    score: float  # by its line


def visible_dates(page: Page, common: Collection[int], *, is_publication_wanted: bool) -> dict[str, str]:
    """Return the dates of publication, if wanted, and modification in the text, as ``published`` and ``modified``.

    A date that is still to come is neither.

    Args:
        page: the page.
        common: blocks that most pages of the site have: their dates are not of this one.
        is_publication_wanted: whether dates without a label of the last change are looked for.
    """
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    dates = [date for date in _find_dates(page) if date.block not in common] if page.m else []
    dates = [date for date in dates if date.value[:10] <= tomorrow]
    if not is_publication_wanted:
        dates = [date for date in dates if _UPDATED.search(date.label)]
    found: dict[str, str] = {}
    days = [(is_one, {date.value[:10] for date in dates if is_one(date.label)}) for is_one in _SINGLE]
    single = [is_one for is_one, labelled in days if len(labelled) == 1]
    scored = [(date.value, *_score_date(page, date, single)) for date in dates]
    if not scored:
        return found
    value, score, _ = max(scored, key=itemgetter(1))
    is_only_day = len({value[:10] for value, published, _ in scored if published >= _MIN_DATE_SCORE / 3}) == 1
    if is_publication_wanted and score >= _MIN_DATE_SCORE / (2 if is_only_day else 1):
        found["published"] = value
    value, _, score = max(scored, key=itemgetter(2))
    if score >= _MIN_DATE_SCORE:
        found["modified"] = value
    return found


def _score_date(page: Page, date: _Date, single: list[Callable[[str], object]]) -> tuple[float, float]:
    """Scores of a date as that of publication and as that of modification.

    A label that only one day on the page has, such as "Last updated", counts wherever it stands.
    """
    is_updated, is_published = bool(_UPDATED.search(date.label)), bool(_PUBLISHED.search(date.label))
    place = float(place_scores(page)[date.block])
    if any(is_one(date.label) for is_one in single):
        place = max(place, -0.5) + 2.0
    score = place + date.score + 1.5 * (date.block in _date_blocks(page)) - 5.0 * bool(_OTHER_DATE.search(date.label))
    if not (is_updated or is_published) and score >= _MIN_DATE_SCORE / 2:
        score -= 4.0 * _is_above_page(page, date.block) + 4.0 * _is_of_teaser(page, date.block)
    return score + 1.5 * is_published - 4.0 * (is_updated and not is_published), score + 2.5 if is_updated else -9.0


def _is_last_change(label: str) -> bool:
    """Whether a label says that a date is of the last change, as at the end of a page, of nobody's post."""
    return bool(_LAST.search(label)) and bool(_UPDATED.search(label)) and " by " not in label


_SINGLE: Final[tuple[Callable[[str], object], ...]] = (_is_last_change, _PUBLICATION.match)


def _is_above_page(page: Page, block: int) -> bool:
    """Whether a block before the headline is in another part of the page, such as a bar with today's date."""
    heading = heading_block(page)
    if heading is None or block >= heading:
        return False
    element, steps = int(page.block_node[heading]), 0
    while not page.block_begin[element] <= block < page.block_end[element]:
        element, steps = int(page.parent[element]), steps + 1
    held = int(page.block_end[element] - page.block_begin[element])
    return steps > 1 and held > _MAX_HEADER_FRACTION * page.m


def _is_of_teaser(page: Page, block: int) -> bool:
    """Whether a block is in a small element with a link to another page that is longer than a name or a category."""
    heading, outer, element = heading_block(page), -1, int(page.block_node[block])
    if heading is not None and 0 <= block - heading <= _MAX_BYLINE_BLOCKS:
        return False
    for _ in range(_MAX_TEASER_DEPTH):
        begin, end = int(page.block_begin[element]), int(page.block_end[element])
        if end - begin > _MAX_TEASER_BLOCKS or (heading is not None and begin <= heading < end):
            break
        if block_lengths(page)[begin:end].sum() > _MAX_TEASER_CHARACTERS or not element:
            break
        outer, element = element, int(page.parent[element])
    if outer < 0:
        return False
    links = (np.flatnonzero(page.tag[outer : page.end[outer]] == TAG_ID["a"]) + outer).tolist()[:_MAX_TEASER_LINKS]
    texts = [element_text(page, index) for index in links if _leads_elsewhere(page, index)]
    return any(
        len(text) >= _MIN_TEASER_CHARACTERS
        and sum(not word.isdecimal() for word in WORD.findall(text)) >= _MIN_TEASER_WORDS
        and text not in page.title
        for text in texts
    )


def _leads_elsewhere(page: Page, link: int) -> bool:
    href = dict(page.attributes[link]).get("href", "")
    return href[:1] not in {"", "#"} and not (page.url and join_address(page.url, href) == page.url)


def _find_dates(page: Page) -> list[_Date]:
    lines, language, found = page.block_texts(), declared_language(page), []
    heading = heading_block(page)
    visible: dict[int, list[tuple[date, str]]] = {}
    for block, at, end, value in _written_dates(page, language):
        line = lines[block]
        label = line[max(0, at - _MAX_LABEL_CHARACTERS) : at]
        if len(label.strip(" :|·•-–—/")) < 2 and block and len(lines[block - 1]) <= _MAX_LABEL_LINE:
            label = lines[block - 1] if block - 1 != heading else ""
        label = UNSEEN_CHARACTERS.sub("", label).lower()
        found.append(_Date(value, block, label, _score_line(line, at, end, label)))
        visible.setdefault(block, []).append((date.fromisoformat(value), label))
    for block, value, label in _stated_dates(page, language):
        day = date.fromisoformat(value[:10])
        labels = [seen for other, seen in visible.get(block, ()) if _is_same_day(day, other)]
        if labels or block not in visible:
            before = labels[0] if labels else lines[block][:_MAX_LABEL_CHARACTERS].lower()
            found.append(_Date(value, block, f"{label.lower()} {before}", 1.5))
    return found


def _written_dates(page: Page, language: str | None) -> Iterator[tuple[int, int, int, str]]:
    """Block, begin and end in its line, and day of each date in the text; of years of two digits near the headline."""
    starts, heading = prefix_sums(block_lengths(page) + 1), heading_block(page)
    for begin, end, value in dates_in(page.block_lines[:_MAX_TEXT_CHARACTERS], language):
        block = int(starts.searchsorted(begin, "right")) - 1
        yield block, begin - int(starts[block]), end - int(starts[block]), value
    if heading is not None:
        lines, first = page.block_texts(), max(0, heading - _MAX_BYLINE_BLOCKS)
        for block in range(first, min(page.m, heading + _MAX_BYLINE_BLOCKS + 1)):
            if len(lines[block]) <= _MAX_BYLINE_CHARACTERS:
                yield from ((block, *short) for short in short_dates_in(lines[block], language))


def _score_line(line: str, begin: int, end: int, label: str) -> float:
    """Score of a date by its line: best on a line of its own, worst within a sentence or what another label names."""
    rest, after = len(line) - (end - begin), line[end : end + _MAX_LABEL_CHARACTERS]
    score = 1.0 if rest <= 25 else 0.0 if rest <= 60 else -0.8 if begin <= 24 else -3.0
    start = line[: len(label)].lower()
    if _PUBLISHED.match(start) or _UPDATED.match(start):
        return max(score, 0.0 if rest <= _MAX_BYLINE_CHARACTERS else -0.8)
    if _BYLINE.match(start) and score >= 0:
        return 1.5
    if _UPDATED.search(label) or _PUBLISHED.search(label):
        return max(score, 0.0) if label.rstrip().endswith((":", "：")) else score
    if len(after) >= _MIN_SENTENCE_CHARACTERS and _SENTENCE_AFTER.match(after):
        return min(score, -3.0)
    if len(after) >= _MIN_SENTENCE_CHARACTERS and after.lstrip().startswith(":"):  # who said something, and when
        return score - 3.0
    before = line[max(0, begin - _MAX_LABEL_CHARACTERS) : begin]
    return score - 2.5 * bool(_FOREIGN_LABEL.search(label)) - 2.0 * bool(_SENTENCE_BEFORE.search(before))


def _is_same_day(day: date, other: date) -> bool:
    """Whether two dates are one day, in any time zone, or with day and month swapped."""
    return abs((day - other).days) <= 1 or (day.year, day.month, day.day) == (other.year, other.day, other.month)


def _stated_dates(page: Page, language: str | None) -> list[tuple[int, str, str]]:
    """Block, date and class names of dates in ``time`` elements and in titles of ``abbr``."""
    found = []
    for name, attribute in (("time", "datetime"), ("abbr", "title")):
        for index, pairs in named_elements(page, name)[:_MAX_CANDIDATES]:
            value = iso_date(pairs.get(attribute), language)
            if value:
                block = first_block(page, index)
                found.append((block, value, " ".join(filter(None, (pairs.get("class"), pairs.get("itemprop"))))))
    return found


@once_per_page
def _date_blocks(page: Page) -> set[int]:
    """Blocks in ``time`` elements and in elements with a class for dates."""
    places = attribute_places(page, _DATE_CLASSES, "class", "id")
    elements = elements_named(page, "time") + page.attributes.elements_with(places)
    found: set[int] = set()
    for index in elements[: 4 * _MAX_CANDIDATES]:
        begin = first_block(page, index)
        found.update(range(begin, min(max(int(page.block_end[index]), begin + 1), begin + 6)))
    return found
