"""The headline of a page without the name of its site, and this name where only the title has it.

The title, a declared headline and the headings of a page each may hold the name of the site, of a section or a slogan.
The headline is the heading that is most like the declared headline, else the part of the title that the page repeats.
A title that is the site's, or its software's, gives way to the only heading of the content.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from tamis.metadata.values import normalize_text, word_set
from tamis.metadata.visible import Heading, headings, site_names
from tamis.page.addresses import domain, safe_urlsplit
from tamis.page.text import UNSPACED_CLASS, letters_of
from tamis.page.tree import block_lengths

if TYPE_CHECKING:
    from tamis.metadata.site_facts import SiteFacts
    from tamis.page.page import Page

_BETWEEN: Final = r" (?:[|–—•·»«›‹~*-]|::) | ?[|»«] ?|: "  # parts of a title
_BETWEEN_PARTS: Final = re.compile(f"({_BETWEEN})")
_BETWEEN_SHOWN: Final = re.compile(  # also "新闻-新华网" and "「Treeviz」:開発日誌"
    rf"({_BETWEEN}|(?<=[^\sa-zA-Z])(?:--?|_)(?=[{UNSPACED_CLASS}])|(?<=[{UNSPACED_CLASS}」』】])[:：])"
)
_MAX_PARTS: Final = 15  # of a title, with what is between them
_MAX_NAME_WORDS: Final = 4  # of a site
_INNER_SIGNS: Final = tuple(":,;.!?)'’-")  # what follows a part of a sentence
_GENERIC_TITLES: Final = frozenset(
    "home homepage index untitled untitleddocument document reactapp viteapp vueapp nextjsapp createnextapp app myapp"
    " welcome startseite newpage page title".split()
)


class Headline(NamedTuple):
    """What :func:`find_headline` found.

    Attributes:
        text: the headline.
        is_visible: whether it is text of the page, not only declared.
        site_name: the end of the title that is the name of the site; "" if no end is.
    """

    text: str
    is_visible: bool
    site_name: str


class _Site(NamedTuple):
    """The letters of the names that a site has and of its host, and this host."""

    names: frozenset[str]
    letters: str
    host: str

    def is_name(self, text: str) -> bool:
        own = letters_of(text)
        return bool(own) and (own in self.names or (len(own) > 3 and own in self.letters))

    def is_like_host(self, text: str) -> bool:
        """Whether a few words have a part of the host's name in them, or are shortened to one."""
        words = text.split()
        if len(words) > _MAX_NAME_WORDS:
            return False
        letters = letters_of(text)
        initials = "".join([word[0] for word in words if word[0].isupper()]).lower()
        for part in self.host.split(".")[:-1]:
            if (len(part) > 2 and part == initials) or (len(part) > 4 and letters_of(part) in letters):
                return True
        return False

    def without_name(self, title: str, *, is_split_by_colon: bool = False) -> tuple[str, str]:
        """The last or first part of a title that is a name of the site, and the rest; "" and the title for none."""
        parts = _BETWEEN_PARTS.split(title)
        if len(parts) < 3:
            return "", title
        if parts[-2].strip() == "|" and self.is_like_host(parts[-1]):
            return parts[-1], "".join(parts[:-2]).strip() or title
        for part, between, rest in ((parts[-1], parts[-2], parts[:-2]), (parts[0], parts[1], parts[2:])):
            if (is_split_by_colon or between != ": ") and self.is_name(part):
                return part, "".join(rest).strip() or title
        return "", title


def find_headline(page: Page, declared: str | None, site_name: str, common: SiteFacts) -> Headline:
    """Find the headline of a page.

    Args:
        page: the page.
        declared: the headline that it declares, or its title.
        site_name: the name of the site that it declares, or "".
        common: what most pages of the site have.
    """
    host = domain(page.url or "")
    declared_site = _Site(frozenset({letters_of(site_name)}) | common.texts, letters_of(host), host)
    site = declared_site._replace(names=declared_site.names.union(map(letters_of, site_names(page))))
    shown = [heading for heading in headings(page, "h1") if not common.has(page, heading)]
    in_title, _ = site.without_name(page.title)
    is_shown = letters_of(declared or "") in {letters_of(heading.text) for heading in shown}
    if not declared or (site.is_name(declared) and not site.is_name(page.title) and not is_shown):
        declared = normalize_text(page.title) or (shown[0].text if shown else _only_section(page))
    if len(shown) == 1 and letters_of(declared or "") in common.texts:  # the site's title
        declared = shown[0].text
    if not declared:
        return Headline("", False, in_title)
    _, headline = declared_site.without_name(declared, is_split_by_colon=True)
    if len(headline) >= 60 and page.title.startswith(headline.rstrip("….")):  # it is cut off
        headline = page.title
    title = page.title if headline in page.title else headline
    visible = (
        _similar_heading(page, headline, shown, site)
        or _shown_part(page, title, site)
        or _heading_of_main_content(page, headline, shown, site)
    )
    _, text = site.without_name(visible or headline)
    return Headline(text, bool(visible), in_title)


def _similar_heading(page: Page, declared: str, shown: list[Heading], site: _Site) -> str | None:
    """The ``h1`` with most words in common with the declared headline, at least half of its own; else the only one."""
    parts = _BETWEEN_PARTS.split(page.title[:1_000])[: 2 * _MAX_PARTS]
    wanted = {letters_of(declared), *_parts_of(parts, site)}
    candidates = _candidates(page, parts, shown, site)
    best = _most_similar(declared, candidates, wanted)
    if best is None and len(candidates) == 1:
        only = candidates[0]
        words = set(only.text.lower().split())
        is_likely = len(words) > 1 and not words.isdisjoint(f"{declared} {page.title}".lower().split())
        if is_likely or letters_of(only.text) == letters_of(parts[0]) or _is_static(page, declared, only, site):
            best = only
    return best and _part_of_heading(page, best, wanted)


def _candidates(page: Page, parts: list[str], shown: list[Heading], site: _Site) -> list[Heading]:
    """The headings that are not the site's name; not the book's in "Storm - Book", if the chapter has one, too."""
    candidates = [heading for heading in shown if not site.is_name(heading.text)]
    if len(parts) < 3:
        return candidates
    if candidates:
        is_outer = letters_of(parts[-1]) in {letters_of(heading.text) for heading in candidates}
    else:
        is_outer = len(parts[0].split()) > 2
    if not is_outer:
        return candidates
    first = letters_of(parts[0])
    inner = [heading for heading in headings(page, "h1", "h2", "h3") if letters_of(heading.text) == first]
    return [heading for heading in inner if not site.is_name(heading.text)] or candidates


def _most_similar(declared: str, candidates: list[Heading], wanted: set[str]) -> Heading | None:
    """The heading that is a part of the title, else has most words in common with the declared headline."""
    declared_words = word_set(declared)
    best, best_overlap = None, (False, 0, 0.0, 0)
    for heading in candidates:
        words = word_set(heading.text)
        letters = letters_of(heading.text)
        common = len(words & declared_words)
        is_wanted = letters in wanted
        is_enough = common > 1 or len(declared_words) <= 3 or letters_of(declared).startswith(letters)
        is_like = is_enough and 0 < len(words) <= 2 * common
        overlap = is_wanted, common, common / max(len(words), 1), len(heading.text)
        if overlap > best_overlap and (is_wanted or is_like):
            best, best_overlap = heading, overlap
    return best


def _parts_of(parts: list[str], site: _Site) -> set[str]:
    """Letters of the parts of a title, each alone and with those after it, without names of the site."""
    found = set()
    for begin in range(0, len(parts), 2):
        for end in range(begin + 1, len(parts) + 1, 2):
            part = "".join(parts[begin:end])
            if not site.is_name(part):
                found.add(letters_of(part))
    return found


def _part_of_heading(page: Page, heading: Heading, wanted: set[str]) -> str:
    """The elements of a heading that are a part of the title, without a label, a source or a number beside them."""
    begin, end = int(page.run_begin[heading.element]), int(page.run_end[heading.element])
    if end - begin > 48:
        return heading.text
    bounds = page.run_offset[begin : end + 1].tolist()
    runs = [normalize_text(page.text[start:stop]) for start, stop in pairwise(bounds)]
    runs = [run for run in runs if run]
    if not 1 < len(runs) <= 12:
        return heading.text
    words = len(heading.text.split())
    max_other_words = 2 if letters_of(heading.text) in wanted else words // 2  # of a label such as "Solved"
    found = []
    for first, last in combinations(range(len(runs) + 1), 2):
        before, part, after = "".join(runs[:first]), " ".join(runs[first:last]), "".join(runs[last:])
        is_most = bool(before or after) and words - len(part.split()) <= max_other_words
        is_in_sentence = part.startswith(_INNER_SIGNS) or after.startswith(_INNER_SIGNS)
        is_in_sentence |= before.endswith((":", "(", "‘", "“", "„", "«", '"'))
        if is_most and not is_in_sentence and " " in part and letters_of(part) in wanted:
            found.append(part)
    return max(found, key=len, default=heading.text)


def _is_static(page: Page, title: str, heading: Heading, site: _Site) -> bool:
    """Whether a title is that of the site or of its software, while a heading stands at the text of the page.

    It is, too, if the address has words of the heading instead of those of the title.
    """
    if not _is_at_text(page, heading):
        return False
    slug = word_set(re.sub(r"\W|_", " ", safe_urlsplit(page.url or "").path))
    in_slug = len(word_set(heading.text) & slug)
    is_of_slug = in_slug >= 2 and in_slug > len(word_set(title) & slug)
    return site.is_name(title) or letters_of(title) in _GENERIC_TITLES or is_of_slug


def _only_section(page: Page) -> str | None:
    """The only ``h2`` that text follows."""
    found = [heading.text for heading in headings(page, "h2") if _is_at_text(page, heading)]
    return found[0] if len(found) == 1 else None


def _is_at_text(page: Page, heading: Heading) -> bool:
    """Whether a paragraph follows a heading within a few blocks."""
    begin = int(page.block_end[heading.element])
    return bool((block_lengths(page)[begin : begin + 6] >= 80).any())


def _heading_of_main_content(page: Page, title: str, shown: list[Heading], site: _Site) -> str | None:
    """The only ``h1`` of several words that text follows, where the page does not show its title."""
    if not safe_urlsplit(page.url or "").path.strip("/"):  # a home page
        return None
    long = [heading for heading in shown if len(heading.text.split()) >= 6 and not site.is_name(heading.text)]
    found = [heading.text for heading in long if _is_at_text(page, heading)]
    if len(found) != 1 or letters_of(title) in letters_of(page.block_lines):
        return None
    return found[0]


def _shown_part(page: Page, title: str, site: _Site) -> str | None:
    """The longest part of a title that is a heading, or most of it and a line, on the side that is not for sites."""
    pieces = _BETWEEN_SHOWN.split(title)
    lines = f"\n{page.block_lines}\n"
    if not 3 <= len(pieces) <= _MAX_PARTS:
        return _after_name(title, site, lines)
    sign = pieces[1].strip()
    shown = [heading.text for heading in headings(page, "h1", "h2", "h3")]
    is_first_heading = bool(shown) and letters_of(shown[0]) == letters_of("".join(pieces[2:]))
    is_after_site = site.is_name(pieces[0]) or (sign == ":" and is_first_heading)
    if sign == ":" and not is_after_site:
        shown = shown[:1] + [text for text in shown[1:] if 2 * len(text) > len(title)]  # not "Opinion"
    letters = set(map(letters_of, shown))
    is_site_first = sign in {"•", "::"} or is_after_site  # as between the name of a forum and its topic
    begins = range(2 * is_site_first, len(pieces) if is_site_first or sign == "»" else 1, 2)
    found = []
    for begin in begins:
        for end in range(begin + 1, len(pieces) + (begin > 0), 2):
            part = "".join(pieces[begin:end]).strip()
            may_be_line = sign not in {"»", ":"} and (begin > 0 or 2 * len(part) > len(title))
            is_shown = letters_of(part) in letters or (may_be_line and f"\n{part}\n" in lines)
            if is_shown and not site.is_name(part):
                found.append(part)
    return max(found, key=len, default=None)


def _after_name(title: str, site: _Site, lines: str) -> str | None:
    """The rest of a title that begins or ends with the name of the site, without a sign between, if it is a line."""
    words = title.split()
    for count in range(1, min(_MAX_NAME_WORDS, len(words) - 1) + 1):
        for name, rest in ((words[:count], words[count:]), (words[-count:], words[:-count])):
            if site.is_name(" ".join(name)) and f"\n{' '.join(rest)}\n" in lines:
                return " ".join(rest)
    return None
