"""Dates that readers see: of publication and of the last change, around the headline or with a label that says so.

Every date in the visible text is a candidate. Candidates score higher with a label before them ("Published", "Updated
on"), in markup for it (``time``, ``class="date"``), near the headline, and on a line with little else. Dates of other
articles, comments, events and copyright notices, dates within sentences and what stands above the page, such as today's
date, score lower. A date that is still to come is none of publication.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.metadata.dates import dates_in, iso_date, short_dates_in
from tamis.metadata.values import is_byline
from tamis.metadata.visible import (
    attribute_indices,
    declared_language,
    element_text,
    first_block,
    heading_block,
    position_scores,
)
from tamis.page.addresses import join_address
from tamis.page.text import UNSEEN_CHARACTERS, WORD
from tamis.page.tree import (
    TAG_ID,
    block_lengths,
    cached_on_page,
    elements_with_attributes,
    elements_with_names,
    prefix_sums,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tamis.page.page import Page

_MAX_CANDIDATES: Final = 400  # of each kind
_MAX_LABEL_CHARACTERS: Final = 40  # before a date
_MAX_BYLINE_BLOCKS: Final = 5  # after the headline
_MAX_BYLINE_CHARACTERS: Final = 120
_MIN_DATE_SCORE: Final = 3.0  # half of it if the page has no other date

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
_FOREIGN_LABEL: Final = re.compile(r"[^\W\d_]{2}[^:：]{0,20}[:：]\s?$")
_SENTENCE_BEFORE: Final = re.compile(r"(?:\b[a-zß-öø-ÿа-я]{2,}\s+){3}\S*\s*\S*\s*$")
_SENTENCE_AFTER: Final = re.compile(
    r"[,)]?\s(?!(?:by|at|in|um|von|par|por|di|da|à|a|às|kl|om|o|u|av|af|door|на|в|от|from|under|with"
    r"|and (?:last )?updat)\b)"
    r"[a-zß-öø-ÿа-я]{2,}\s"
)


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
    if not page.m:
        return {}
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    dates = [date for date in _find_dates(page) if date.block not in common and date.value[:10] <= tomorrow]
    if not is_publication_wanted:
        dates = [date for date in dates if _UPDATED.search(date.label)]
    if not dates:
        return {}

    def is_of_one_day(is_label: Callable[[str], bool]) -> bool:
        return len({date.value[:10] for date in dates if is_label(date.label)}) == 1

    single = list(filter(is_of_one_day, (_is_last_change, _is_publication)))
    scored = [(date.value, *_score_date(page, date, single)) for date in dates]
    found: dict[str, str] = {}
    value, score, _ = max(scored, key=itemgetter(1))
    is_only_day = len({value[:10] for value, published, _ in scored if published >= _MIN_DATE_SCORE / 3}) == 1
    if is_publication_wanted and score >= _MIN_DATE_SCORE / (2 if is_only_day else 1):
        found["published"] = value
    value, _, score = max(scored, key=itemgetter(2))
    if score >= _MIN_DATE_SCORE:
        found["modified"] = value
    return found


def _score_date(page: Page, date: _Date, single: Collection[Callable[[str], bool]]) -> tuple[float, float]:
    """Scores of a date as that of publication and as that of modification.

    A label that only one day on the page has, such as "Last updated", counts wherever it stands.
    """
    is_updated, is_published = bool(_UPDATED.search(date.label)), bool(_PUBLISHED.search(date.label))
    score = float(position_scores(page)[date.block])
    if any(is_label(date.label) for is_label in single):
        score = max(score, -0.5) + 2.0
    score += date.score + 1.5 * (date.block in _date_blocks(page)) - 5.0 * bool(_OTHER_DATE.search(date.label))
    if not (is_updated or is_published) and score >= _MIN_DATE_SCORE / 2:
        score -= 4.0 * _is_above_page(page, date.block) + 4.0 * _is_of_teaser(page, date.block)
    publication = score + 1.5 if is_published else score - 4.0 * is_updated
    modification = score + 2.5 if is_updated else -9.0
    return publication, modification


def _is_last_change(label: str) -> bool:
    """Whether a label says that a date is of the last change, as at the end of a page, of nobody's post."""
    return bool(_LAST.search(label)) and bool(_UPDATED.search(label)) and " by " not in label


def _is_publication(label: str) -> bool:
    """Whether a label begins by saying that a date is of publication."""
    return _PUBLICATION.match(label) is not None


def _is_above_page(page: Page, block: int) -> bool:
    """Whether a block before the headline is in another part of the page, such as a bar with today's date."""
    heading = heading_block(page)
    if heading is None or block >= heading:
        return False
    element, steps = int(page.block_node[heading]), 0
    while not page.block_begin[element] <= block < page.block_end[element]:
        element, steps = int(page.parent[element]), steps + 1
    shared = int(page.block_end[element] - page.block_begin[element])
    return steps > 1 and shared > 0.8 * page.m


def _is_of_teaser(page: Page, block: int) -> bool:
    """Whether a block is in a small element with a link to another page that is longer than a name or a category."""
    heading = heading_block(page)
    if heading is not None and 0 <= block - heading <= _MAX_BYLINE_BLOCKS:
        return False
    teaser, element = -1, int(page.block_node[block])
    for _ in range(3):
        begin, end = int(page.block_begin[element]), int(page.block_end[element])
        holds_heading = heading is not None and begin <= heading < end
        if element == 0 or holds_heading or end - begin > 5 or block_lengths(page)[begin:end].sum() > 400:
            break
        teaser, element = element, int(page.parent[element])
    if teaser < 0:
        return False
    links = np.flatnonzero(page.tag[teaser : page.end[teaser]] == TAG_ID["a"]) + teaser
    for link in links[:20].tolist():
        text = element_text(page, link)
        words = [word for word in WORD.findall(text) if not word.isdecimal()]
        if len(text) >= 16 and len(words) >= 4 and text not in page.title and _leads_elsewhere(page, link):
            return True
    return False


def _leads_elsewhere(page: Page, link: int) -> bool:
    href = dict(page.attributes[link]).get("href", "")
    return href[:1] not in {"", "#"} and not (page.url and join_address(page.url, href) == page.url)


def _find_dates(page: Page) -> list[_Date]:
    lines, language = page.block_texts(), declared_language(page)
    heading = heading_block(page)
    found = []
    visible: dict[int, list[tuple[date, str]]] = {}
    for block, begin, end, value in _written_dates(page, language):
        line = lines[block]
        label = line[max(0, begin - _MAX_LABEL_CHARACTERS) : begin]
        if len(label.strip(" :|·•-–—/")) < 2 and block and len(lines[block - 1]) <= 25:
            label = lines[block - 1] if block - 1 != heading else ""
        label = UNSEEN_CHARACTERS.sub("", label).lower()
        found.append(_Date(value, block, label, _score_line(line, begin, end, label)))
        visible.setdefault(block, []).append((date.fromisoformat(value), label))
    for block, value, names in _stated_dates(page, language):
        day = date.fromisoformat(value[:10])
        labels = [label for other, label in visible.get(block, ()) if _is_same_day(day, other)]
        if labels or block not in visible:
            before = labels[0] if labels else lines[block][:_MAX_LABEL_CHARACTERS].lower()
            found.append(_Date(value, block, f"{names.lower()} {before}", 1.5))
    return found


def _written_dates(page: Page, language: str | None) -> Iterator[tuple[int, int, int, str]]:
    """Block, begin and end in its line, and day of each date in the text; of years of two digits near the headline."""
    starts = prefix_sums(block_lengths(page) + 1)
    for begin, end, value in dates_in(page.block_lines[:400_000], language):
        block = int(starts.searchsorted(begin, "right")) - 1
        yield block, begin - int(starts[block]), end - int(starts[block]), value
    heading = heading_block(page)
    if heading is None:
        return
    lines = page.block_texts()
    for block in range(max(0, heading - _MAX_BYLINE_BLOCKS), min(page.m, heading + _MAX_BYLINE_BLOCKS + 1)):
        if len(lines[block]) <= _MAX_BYLINE_CHARACTERS:
            for begin, end, value in short_dates_in(lines[block], language):
                yield block, begin, end, value


def _score_line(line: str, begin: int, end: int, label: str) -> float:
    """Score of a date by its line: best on a line of its own, worst within a sentence or what another label names."""
    other_characters = len(line) - (end - begin)
    if other_characters <= 25:
        score = 1.0
    elif other_characters <= 60:
        score = 0.0
    else:
        score = -0.8 if begin <= 24 else -3.0
    start = line[: len(label)].lower()
    if _PUBLISHED.match(start) or _UPDATED.match(start):
        return max(score, 0.0 if other_characters <= _MAX_BYLINE_CHARACTERS else -0.8)
    if is_byline(start) and score >= 0:
        return 1.5
    if _UPDATED.search(label) or _PUBLISHED.search(label):
        return max(score, 0.0) if label.rstrip().endswith((":", "：")) else score
    before, after = line[max(0, begin - _MAX_LABEL_CHARACTERS) : begin], line[end : end + _MAX_LABEL_CHARACTERS]
    if len(after) >= 12 and _SENTENCE_AFTER.match(after):
        return min(score, -3.0)
    if len(after) >= 12 and after.lstrip().startswith(":"):  # who said something, and when
        return score - 3.0
    return score - 2.5 * bool(_FOREIGN_LABEL.search(label)) - 2.0 * bool(_SENTENCE_BEFORE.search(before))


def _is_same_day(day: date, other: date) -> bool:
    """Whether two dates are one day, in any time zone, or with day and month swapped."""
    return abs((day - other).days) <= 1 or (day.year, day.month, day.day) == (other.year, other.day, other.month)


def _stated_dates(page: Page, language: str | None) -> list[tuple[int, str, str]]:
    """Block, date and class names of dates in ``time`` elements and in titles of ``abbr``."""
    found = []
    for name, attribute in (("time", "datetime"), ("abbr", "title")):
        for index, pairs in elements_with_attributes(page, name)[:_MAX_CANDIDATES]:
            value = iso_date(pairs.get(attribute), language)
            if value:
                names = " ".join(filter(None, (pairs.get("class"), pairs.get("itemprop"))))
                found.append((first_block(page, index), value, names))
    return found


@cached_on_page
def _date_blocks(page: Page) -> set[int]:
    """Blocks in ``time`` elements and in elements with a class for dates."""
    names = "date datetime published posted timestamp pubdate datum fecha meta dateline time byline".split()
    elements = elements_with_names(page, "time")
    elements += page.attributes.elements_with(attribute_indices(page, names, "class", "id"))
    found: set[int] = set()
    for index in elements[: 4 * _MAX_CANDIDATES]:
        begin = first_block(page, index)
        blocks = int(page.block_end[index]) - begin
        found.update(range(begin, begin + min(max(blocks, 1), 6)))
    return found
