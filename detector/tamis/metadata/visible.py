"""Facts that readers see: the headline, the dates and the byline around it.

Every date in the visible text is a candidate, and every text that looks like a byline. Candidates score higher with a
label before them ("Published", "Updated on"), in markup for it (``time``, ``class="date"``), near the headline, and on
a line with little else. Dates of other articles, comments and copyright notices score lower.
"""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.metadata.dates import dates_in, iso_date
from tamis.metadata.values import names_in_byline, seen_text
from tamis.page.addresses import join_address
from tamis.page.text import UNSEEN_CHARACTERS
from tamis.page.tree import (
    TAG_ID,
    block_lengths,
    elements_named,
    named_elements,
    once_per_page,
    prefix_sums,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.page.page import Page

_MAX_FACT_CHARACTERS: Final = 4_000  # white space included
_MAX_TEXT_CHARACTERS: Final = 400_000
_MAX_BYLINE_CHARACTERS: Final = 120
_MAX_CANDIDATES: Final = 400  # of each kind
_MAX_BYLINE_RUNS: Final = 40
_MAX_LABEL_CHARACTERS: Final = 40  # before a date
_MAX_BLOCKS_BEHIND: Final = 12  # text blocks between the headline and a byline
_MAX_NAMING: Final = 6  # links, headings, and elements in each of them
_DISTANCES: Final = np.array([-8, -4, 0, 7, _MAX_BLOCKS_BEHIND + 1, 2 * _MAX_BLOCKS_BEHIND])
_NEARNESS: Final = np.array([0.0, 1.0, 2.0, 2.5, 2.0, 1.0, 0.0])  # before, between and from these distances
_MIN_BYLINE_SCORE: Final = 2.0
_PREFIX_SCORE: Final = 1.5
_MIN_DATE_SCORE: Final = 3.0  # half of it if the page has no other date

# Of text in lower case; each alternative begins with a letter, so that few places of a text are tried.
_UPDATED: Final = re.compile(
    r"updat|modifi|edited|revis|reviewed|changed|aktualis|geändert|bearbeitet|mise? à jour|actualiz|aggiorna|atualiz"
    r"|bijgewerkt|uppdater|oppdater|opdater|zaktualiz|edytow|обновл|изменен|оновлен|güncel|更新|修订|修改|수정|업데이트"
)
_PUBLISHED: Final = re.compile(
    r"publish|posted|date(?<=\bdate)\b|submitted|written|released|created|started|veröffentlicht|erstellt|datum|publié|publicad|fecha"
    r"|pubblicat|geplaatst|gepubliceerd|publicerad|publisert|opublikowan|dodano|опублик|дата|опубл|yayın|tarih"
    r"|发布|發布|发表|公開|掲載|投稿|작성|입력|등록|게시"
)
_OTHER_DATE: Final = re.compile(
    r"©|copyright|\(c\)|join(?:ed| date)|member since|since|expire|deadline|born|retrieved|accessed|until"
    r"|through|effective"
)
_SIDE: Final = tag_set("nav", "footer", "aside")
_IN_FORM: Final = tag_set("form", "label", "button")
_DATE_CLASSES: Final = "date datetime published posted timestamp pubdate datum fecha meta dateline time byline".split()
_SIDE_CLASSES: Final = (
    "related recent sidebar footer nav menu archive archives replies review reviews testimonial testimonials"
    " recommended readmore comment comments reply widget"
).split()
_COMMENT_CLASSES: Final = "comment comments reply".split()
_BYLINE_CLASSES: Final = "author authors autor writer contributor contributors vcard fn byline".split()
_LABEL: Final = re.compile(r"^(?:Title|Thread): ?")  # before a headline
_SITE_NAME: Final = re.compile(r"\b(?:site|menu)-?(?:title|name|logo)\b")
_AUTHOR_STEPS: Final = [  # of addresses
    f"/{step}/"
    for step in """author authors by contributor contributors profile profiles people staff writer writers journalist
    journalists autor autores auteur auteurs redacteur""".split()
]
_AUTHOR_PAGE: Final = re.compile(rf"(?:{'|'.join(_AUTHOR_STEPS)})[^/?#]+/?\Z")


class _Date(NamedTuple):
    """A visible date, or one stated in the markup of visible text."""

    value: str
    block: int
    label: str  # what stands before it, in lower case
    score: float  # by its line


def visible_dates(page: Page, *, is_publication_wanted: bool) -> dict[str, str]:
    """Return the dates of publication, if wanted, and modification in the text, as ``published`` and ``modified``."""
    dates = _find_dates(page) if page.m else []
    if not is_publication_wanted:
        dates = [date for date in dates if _UPDATED.search(date.label)]
    found: dict[str, str] = {}
    scored = [(date.value, *_score_date(page, date)) for date in dates]
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


def _score_date(page: Page, date: _Date) -> tuple[float, float]:
    """Scores of a date as that of publication and as that of modification."""
    score = _place_scores(page)[date.block] + date.score + 1.5 * (date.block in _date_blocks(page))
    score -= 5.0 * bool(_OTHER_DATE.search(date.label))
    is_updated, is_published = bool(_UPDATED.search(date.label)), bool(_PUBLISHED.search(date.label))
    return score + 1.5 * is_published - 4.0 * (is_updated and not is_published), score + 2.5 if is_updated else -9.0


def _find_dates(page: Page) -> list[_Date]:
    lines, language, found = page.block_texts(), stated_language(page), []
    visible: dict[int, list[date]] = {}
    starts = prefix_sums(block_lengths(page) + 1)
    for begin, end, value in dates_in(page.block_lines[:_MAX_TEXT_CHARACTERS], language):
        block = int(starts.searchsorted(begin, "right")) - 1
        line, at = lines[block], begin - int(starts[block])
        label = line[max(0, at - _MAX_LABEL_CHARACTERS) : at]
        if len(label.strip(" :|·•-–—")) < 2 and block and len(lines[block - 1]) <= _MAX_LABEL_CHARACTERS:
            label = lines[block - 1]
        rest = len(line) - (end - begin)
        line_score = 1.0 if rest <= 25 else 0.0 if rest <= 60 else -0.8 if at <= 24 else -3.0
        found.append(_Date(value, block, UNSEEN_CHARACTERS.sub("", label).lower(), line_score))
        visible.setdefault(block, []).append(date.fromisoformat(value))
    for block, value, label in _stated_dates(page, language):
        day = date.fromisoformat(value[:10])
        if block not in visible or any(_is_same_day(day, other) for other in visible[block]):
            found.append(_Date(value, block, f"{label} {lines[block][:_MAX_LABEL_CHARACTERS]}".lower(), 1.5))
    return found


def _is_same_day(day: date, other: date) -> bool:
    """Whether two dates are one day, in any time zone, or with day and month swapped."""
    return abs((day - other).days) <= 1 or (day.year, day.month, day.day) == (other.year, other.day, other.month)


@once_per_page
def _place_scores(page: Page) -> NDArray[np.float64]:
    """float64[m], score of each block by its place: near the headline, early on the page, not in side content."""
    block = np.arange(page.m)
    scores = -0.001 * np.minimum(block, 900)
    is_called = np.zeros(len(page.attributes.first), np.int32)
    is_called[_places_of_words(page, _SIDE_CLASSES, "class", "id")] = 1
    # An element that holds most of the page is no side content, whatever its class.
    called = page.attributes.sum_per_element(is_called) > 0
    side = _SIDE.take(page.tag) | (called & (2 * (page.block_end - page.block_begin) < page.m))
    is_side = within(page, side)[page.block_node]
    if (heading := heading_block(page)) is not None:
        distance = block - heading
        nearness = _NEARNESS.take(_DISTANCES.searchsorted(distance, "right"))
        scores += np.where(nearness > 0, nearness - 0.03 * np.abs(distance), 0.0)
        is_side &= (distance < -3) | (distance > 8)
    return scores - 1.5 * is_side


def _stated_dates(page: Page, language: str | None) -> list[tuple[int, str, str]]:
    """Block, date and class names of dates in ``time`` elements and in titles of ``abbr``."""
    found = []
    for name, attribute in (("time", "datetime"), ("abbr", "title")):
        for index, pairs in named_elements(page, name)[:_MAX_CANDIDATES]:
            value = iso_date(pairs.get(attribute), language)
            if value and (block := int(page.block_begin[index])) < page.m:
                found.append((block, value, " ".join(filter(None, (pairs.get("class"), pairs.get("itemprop"))))))
    return found


@once_per_page
def _date_blocks(page: Page) -> set[int]:
    """Blocks in ``time`` elements and in elements with a class for dates."""
    places = _places_of_words(page, _DATE_CLASSES, "class", "id")
    elements = elements_named(page, "time") + page.attributes.elements_with(places)
    found: set[int] = set()
    for index in elements[: 4 * _MAX_CANDIDATES]:
        begin, end = int(page.block_begin[index]), int(page.block_end[index])
        found.update(range(begin, min(max(end, begin + 1), begin + 6)))
    return found


def visible_authors(page: Page) -> list[str]:
    """Names by ``rel=author``, class names, links to pages of authors, and lines as "By ..." near the headline."""
    lines, heading, table = page.block_texts(), heading_block(page), page.attributes
    links = [place for place, value in table.containing(_AUTHOR_STEPS, "href") if _AUTHOR_PAGE.search(value)]
    rels = _places_of_words(page, ["author"], "rel")
    of_readers = {*_places_of_words(page, _COMMENT_CLASSES, "class", "id")}
    classes = [at for at in _places_of_words(page, _BYLINE_CLASSES, "class", "id") if at not in of_readers]
    marked = [(index, 2.0) for index in table.elements_with(rels)]
    marked += [(index, 1.5) for index in table.elements_with(classes) + table.elements_with(links)]
    in_form, place_scores = within(page, _IN_FORM.take(page.tag)), _place_scores(page)
    candidates: list[tuple[float, int | str]] = []  # score of the place and the markup; element, or text without markup
    for index, score in marked[:_MAX_CANDIDATES]:
        if (block := int(page.block_begin[index])) < page.m and not in_form[index]:
            candidates.append((score + place_scores[block], index))
    first = 0 if heading is None else max(0, heading - 5)
    for block in range(first, min(page.m, first + 5 + _MAX_BLOCKS_BEHIND)):
        candidates.append((place_scores[block], lines[block]))
        if block + 1 < page.m and len(lines[block]) <= 20:
            candidates.append((place_scores[block], f"{lines[block]} {lines[block + 1]}"))
    best: list[str] = []
    best_score = 0.0
    for score, place in sorted(candidates, key=itemgetter(0), reverse=True):  # few are read: the likeliest come first
        if score + _PREFIX_SCORE < _MIN_BYLINE_SCORE or score + _PREFIX_SCORE <= best_score:
            break
        text = place if isinstance(place, str) else _spaced_text(page, place)
        if len(text) <= _MAX_BYLINE_CHARACTERS:
            needs_prefix = isinstance(place, str) or score < _MIN_BYLINE_SCORE or score <= best_score
            if (byline := names_in_byline(text, needs_prefix=needs_prefix))[0]:
                best, best_score = byline[0], score + _PREFIX_SCORE * byline[1]
    return best


def _places_of_words(page: Page, words: list[str], *names: str) -> list[int]:
    """Places of the distinct attributes with one of some names, such as ``class``, that have one of some words."""
    return [
        place
        for place, value in page.attributes.containing(words, *names)
        if not set(words).isdisjoint(value.lower().replace("-", " ").replace("_", " ").split())
    ]


@once_per_page
def heading_block(page: Page) -> int | None:
    """Number of the block that the headline begins in: the heading, else the line, that is most like the title."""
    title = set(page.title.lower().split())

    def similarity_of(text: str) -> float:
        words = set(text.lower().split())
        return 2 * len(words & title) / max(len(words) + len(title), 1)

    best, best_similarity = None, 0.0
    for index in elements_named(page, "h1", "h2", "h3")[:_MAX_CANDIDATES]:
        text = element_text(page, index)
        similarity = similarity_of(text) + 0.15 * bool(text and page.tag[index] == TAG_ID["h1"])
        if similarity > best_similarity:
            best, best_similarity = int(page.block_begin[index]), similarity
    if best_similarity < 0.5 and len(title) >= 3:
        best_similarity = 0.5
        for block, line in enumerate(page.block_texts()):
            if len(line) <= 2 * len(page.title) and (similarity := similarity_of(line)) > best_similarity:
                best, best_similarity = block, similarity
    return best


def site_names(page: Page) -> set[str]:
    """Texts and labels that may name the site: those in the first links home, and in headings with a class for it."""
    home, places = join_address(page.url or "", "/"), page.attributes.places_by_value("href")
    homes = ({"/", home, home.removesuffix("/")} - {""}) & places.keys()
    named = [index for index, pairs in named_elements(page, "h1") if _SITE_NAME.search(pairs.get("class", ""))]
    first = named[:_MAX_NAMING] + page.attributes.elements_with([places[value] for value in homes])[:_MAX_NAMING]
    inner = [at for index in first for at in range(index, min(int(page.end[index]), index + _MAX_NAMING))]
    labels = page.attributes.of_elements(np.array(inner, np.int64), {"alt", "aria-label"})
    found = [element_text(page, index) for index in first] + [text for pairs in labels for _, text in pairs]
    return {text.lower().removesuffix("logo") for text in found} - {"home"}


@once_per_page
def headings(page: Page, *names: str) -> list[str]:
    """Text of each heading of some names, without headings in others and the site's name."""
    found: list[str] = []
    last_end = 0
    for index, pairs in named_elements(page, *names):
        if index >= last_end and not _SITE_NAME.search(f"{pairs.get('id')} {pairs.get('class')}"):
            text = element_text(page, index).rstrip("¶§ ")
            found.append(text if text in page.title else _LABEL.sub("", text.rstrip("# ")))  # not "C#"
            last_end = int(page.end[index])
    return [text for text in found if text]


@once_per_page
def stated_language(page: Page) -> str | None:
    """Language in an attribute of ``html`` or ``body``."""
    for index in elements_named(page, "html", "body")[:2]:
        for name in ("lang", "xml:lang"):
            if language := page.attribute(name).get(index, "").strip():
                return language.replace("_", "-")
    return None


def _spaced_text(page: Page, index: int) -> str:
    """Text of an element with spaces between its runs and bars between its blocks; "" if too long for a byline."""
    begin, end = int(page.run_begin[index]), int(page.run_end[index])
    if end - begin > _MAX_BYLINE_RUNS or page.run_offset[end] - page.run_offset[begin] > _MAX_FACT_CHARACTERS:
        return ""
    offsets = page.run_offset[begin : end + 1].tolist()
    ends = {int(run) for run in page.block_run_begin[page.block_begin[index] : page.block_end[index]]}
    parts: list[str] = []
    for number, run in enumerate(range(begin, end)):
        if run in ends and parts:
            parts.append("|")
        parts += page.text[offsets[number] : offsets[number + 1]].split()
    return " ".join(parts)


def element_text(page: Page, index: int) -> str:
    """Text of an element, its lines separated by spaces; "" if it is too long: thousands may be nested."""
    begin, end = int(page.run_begin[index]), int(page.run_end[index])
    if page.run_offset[end] - page.run_offset[begin] > _MAX_FACT_CHARACTERS:
        return ""
    lines = page.block_run_begin[page.block_begin[index] : page.block_end[index]]
    bounds = page.run_offset[[begin, *lines[lines > begin], end]].tolist()
    return seen_text(" ".join(page.text[at:behind] for at, behind in pairwise(bounds)))
