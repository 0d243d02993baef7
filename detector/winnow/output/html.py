"""Writes the kept part of a page as an HTML document of its own.

Tags, attributes and addresses are on allow-lists, so unknown markup is left out: no scripts, styles, frames or other
loaded pages.
"""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
import sys
from functools import cache, partial
from html import escape
from itertools import islice, starmap
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.output.formulas import Formula, find_formulas, formula_positions
from winnow.output.runs import (
    checkboxes,
    code_line_elements,
    decode_email,
    omitted_elements,
    run_rewrites,
    tex_runs,
)
from winnow.output.tables import is_callout, layout_tables
from winnow.page.addresses import base_address, join_address
from winnow.page.tree import (
    BLOCK_LEVEL,
    IS_UNSEEN_TEXT,
    TAG_ID,
    TAG_NAMES,
    named_elements,
    nearest,
    runs_of_blocks,
    subtree_sums,
    sums_over_runs,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from winnow.page.attributes import Pairs
    from winnow.page.page import Page

    Flags = NDArray[np.bool_]

_KEPT_TAGS: Final = frozenset(
    """
    a abbr address article aside audio b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em
    figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark menu nav ol p picture pre q
    rp rt ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead time tr
    track u ul var video wbr
    """.split()
)
_DISSOLVED: Final = frozenset({"html", "head", "body"})

OUTPUT_NAME: Final[tuple[str, ...]] = tuple(
    name if name in _KEPT_TAGS else "div" if name in BLOCK_LEVEL - _DISSOLVED else "" for name in TAG_NAMES
)
"""Name to write, by tag id; "" for elements such as ``font``, of which only the contents are written."""

VOID: Final = frozenset({"br", "hr", "img", "source", "track", "wbr"})

_PLAIN_ATTRIBUTES: Final = frozenset(
    """
    abbr align alt class colspan controls datetime dir headers height hreflang id itemid itemprop itemscope itemtype
    kind label lang media name open rel reversed role rowspan scope sizes span srclang start title type value width
    """.split()
)
_ADDRESSES: Final = frozenset({"href", "src", "cite", "poster"})
_LAZY_SOURCES: Final = (
    "data-src data-lazy-src data-original data-lazy data-actualsrc data-hi-res-src data-full-url data-echo data-image "
    "data-url data-backup"
).split()
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset")
_BETWEEN_SOURCES: Final = re.compile(r",\s+|(?<=[0-9][wx]),")  # an address may have commas
_PICTURE_ADDRESS: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp)(?:$|[?#!@])|/", re.IGNORECASE)
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})
_IMAGE_DATA: Final = re.compile(r"data:image/(?:png|gif|jpeg|webp|avif);", re.IGNORECASE)
# Characters that browsers skip before a scheme, and more.
_IGNORED_IN_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")
_SCHEME: Final = re.compile(r"([^/?#:]*):")

MAX_NESTING: Final = 128
"""Maximum depth of markup; deeper elements are written without it, since some readers recurse over the tree."""

_MEDIA: Final = tag_set("img", "picture", "video", "audio")
_MEDIA_PARTS: Final = tag_set("source", "track")
_BREAKS: Final = tag_set("br", "hr")
_CELLS: Final = tag_set("td", "th")
_LINES: Final = tag_set("div", "p", "li", "tr")
_MAX_DISTANCE: Final = 12  # blocks; on 125 pages of WCXB pictures of the content were nearer, 27 others further away
_BOXES: Final = {"[ ]": "☐", "[x]": "☑"}
_TINY: Final = frozenset({"0", "1", "0px", "1px"})
_IS_DIV: Final = np.array([name == "div" for name in OUTPUT_NAME])
_HAS_BORDER: Final = np.array([name in BLOCK_LEVEL and name not in VOID for name in OUTPUT_NAME])

# Linear: each start follows a space, and the spaces after it are no start.
_LANGUAGE_CLASS: Final = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|(?:hljs|sourceCode|shj-lang-)\s+(?:language-)?)"
    r"([a-zA-Z][a-zA-Z0-9+#.-]*)"
)
NO_LANGUAGE: Final = frozenset(
    "default none text plain plaintext plain-text txt nohighlight auto code notranslate".split()
)
_HIDDEN_MAIL: Final = "/cdn-cgi/l/email-protection"  # see decode_email
_HAS_SOURCE: Final = re.compile(r""" src(?:set)?="\s*[^\s"]""")
_KEEPS_DIV: Final = frozenset({"id", "lang", "dir"})  # names of attributes that a div is written for
_FORUM_POST: Final = re.compile(r"(?:^|\s)(?:messageText|postcontent)(?:$|\s)")  # in a blockquote
_EMPTY_LINK: Final = re.compile("<a (?!.* (?:id|name)=)")
_MAX_ANCESTORS: Final = 3  # with the language of a pre
_MAX_BASE_CHARACTERS: Final = 4_000  # every address on the page begins with it
_MAX_CLASS_CHARACTERS: Final = 1_000  # an element's classes are searched for every pre in it


def write_html(
    page: Page, template: Flags, hidden: Flags | None = None, *, links: bool = True, images: bool = True
) -> str:
    """Write a page without its template as an HTML document.

    Only harmless markup is written, without comments. Addresses are absolute if their base is known: the page's
    address, its ``base`` element, or its canonical address. Layout tables become ``div``, formulas
    ``<span class="math">`` with their TeX, and the language of a ``pre`` is in ``class="language-..."``. The page and
    its tree are not changed.

    Args:
        page: the page.
        template: bool[n + m], the units to cut.
        hidden: bool[r], runs that are left out of the blocks that stay.
        links: keep the targets of links; otherwise only their text.
        images: keep pictures, videos and sounds.
    """
    stated: dict[str, str] = {}
    for _, attributes in named_elements(page, "html", "body")[:2]:
        for name, value in attributes.items():
            if name in {"lang", "dir"} and value.strip():
                stated.setdefault(name, value.strip())
    body = _write_body(page, *_strip_template(page, template, hidden), links=links, images=images)
    return write_document(page.title, body, "".join(starmap(_write_attribute, sorted(stated.items(), reverse=True))))


def write_document(title: str, body: str, attributes: str = "") -> str:
    """Write a document from its title, the HTML of its body and the attributes of its ``html``."""
    named = f"<title>{escape(title, quote=False)}</title>" if title else ""
    head = f'<head><meta charset="utf-8">{named}</head>'
    return f"<!DOCTYPE html>\n<html{attributes}>\n{head}\n<body>\n{body}</body>\n</html>\n"


def _strip_template(page: Page, template: Flags, hidden: Flags | None) -> tuple[Flags, Flags]:
    """Return the elements (bool[n]) and runs (bool[r]) that stay when template units are cut.

    A run stays with its block. An element stays while something in its subtree does: a run, or content without text.
    Images, videos and sounds are such content if they are not template themselves and the nearest element around them
    that has any text keeps some of it: the icon of a menu entry goes with the entry, the picture of a gallery stays.
    Logos and buttons, with a whole menu between them and the text that stays, are cut as well, and so are tracking
    pixels and what is in ``noscript``: copies of pictures that scripts load. Line breaks stay behind text that stays,
    and cells in rows of data tables that stay.
    """
    kept_blocks = ~template[page.n :]
    kept_text, all_text = runs_of_blocks(page, kept_blocks), runs_of_blocks(page, np.ones(page.m, bool))
    if hidden is not None:
        kept_text &= ~hidden
    kept_runs = sums_over_runs(page, kept_text)

    seen = ~(within(page, IS_UNSEEN_TEXT[page.tag]) | omitted_elements(page))
    media = _MEDIA[page.tag] & seen & ~within(page, page.tag == TAG_ID["noscript"]) & ~template[: page.n]
    around = nearest(page.parent, sums_over_runs(page, all_text) > 0)
    media &= (around < 0) | (kept_runs[around] > 0)
    media &= _blocks_to_content(page, kept_blocks) <= _MAX_DISTANCE
    widths, heights = page.attribute("width"), page.attribute("height")  # a pixel at most: it counts visits
    media[[at for at, width in widths.items() if {width.strip(), heights.get(at, "").strip()} <= _TINY]] = False
    if formulas := find_formulas(page).by_element:
        kept, block_of = np.append(kept_blocks, False), formula_positions(page).block
        media[[formula for formula in formulas if kept[block_of.get(formula, -1)]]] = True
    for box in checkboxes(page):
        media[box] = kept_runs[page.parent[box]] > 0
    has_content = (kept_runs > 0) | (subtree_sums(page, media) > 0)

    elements = seen & has_content
    if has_code := bool((code := (page.tag == TAG_ID["pre"]) & elements).any()):
        in_code, lines = within(page, code), _LINES[page.tag]
        lines[code_line_elements(page)] = True
        is_empty = (page.block_end == page.block_begin) & (page.run_end == page.run_begin)
        elements |= in_code & lines & is_empty & seen
    is_layout, in_kept = layout_tables(page), np.append(elements, False)[page.parent]
    last_text = np.maximum.accumulate(np.where(all_text, np.arange(1, len(all_text) + 1), 0))
    after_kept = np.append(False, kept_text)[np.append(0, last_text)[page.run_begin]]
    elements |= in_kept & seen & _BREAKS[page.tag] & after_kept
    elements |= in_kept & seen & _CELLS[page.tag] & ~is_layout
    elements |= in_kept & _MEDIA_PARTS[page.tag] | media
    elements &= ~is_layout | has_content
    if has_code:  # white space between tokens and lines of code
        kept_text |= ~all_text & in_code[page.run_node]
    return elements, kept_text


def _blocks_to_content(page: Page, kept: Flags) -> NDArray[np.int64]:
    """int64[n], blocks that are cut between each element and the nearest block that stays; 0 where none does."""
    if not kept.any():
        return np.zeros(page.n, np.int64)
    block, far, at = np.arange(page.m), 2 * page.m, page.block_begin
    before = np.append(-far, np.maximum.accumulate(np.where(kept, block, -far)))
    after = np.append(np.minimum.accumulate(np.where(kept, block, far)[::-1])[::-1], far)
    distance: NDArray[np.int64] = np.minimum(at - 1 - before[at], after[at] - at)
    return distance


def _absolute_base(page: Page) -> str:
    """Address that relative addresses on a page start from, if need be its canonical one; "" if unknown."""
    if not (base := base_address(page)):
        links = (link for _, link in named_elements(page, "link") if link.get("rel", "").lower() == "canonical")
        base = next((link.get("href", "").strip() for link in links), "")
    return base if base.startswith(("http://", "https://")) else ""


def _write_body(page: Page, elements: Flags, runs: Flags, *, links: bool, images: bool) -> str:
    """Write elements and runs in document order."""
    is_written = elements & ~_find_wrappers(page, elements, runs)
    if not images:
        is_written &= ~(_MEDIA | _MEDIA_PARTS)[page.tag]
    runs[[run for run, text in run_rewrites(page).items() if not text]] = False
    kept, written = np.flatnonzero(is_written), np.flatnonzero(runs)
    names, attributes = _output_names(page, kept, links=links), _attributes_to_write(page, kept)
    instead = {box: f'<span class="task">{_BOXES[mark]}</span> ' for box, mark in checkboxes(page).items()}
    instead |= {element: _write_piece(formula) for element, formula in find_formulas(page).by_element.items()}
    block = np.searchsorted(page.block_run_begin, written, side="right")  # from 1; 0 for white space outside all blocks
    block[written >= np.append(0, page.block_run_end)[block]] = 0
    # Places in the document: an element comes before the runs in it and behind those before it.
    of_runs = written + np.searchsorted(page.run_begin, written, side="right")
    place, end = np.concatenate([kept + page.run_begin[kept], of_runs]), page.end[kept] + page.run_end[kept]
    order = place.argsort(kind="stable")
    body, first_run = _Body(_absolute_base(page)), len(kept)
    numbers, ends, texts, blocks = kept.tolist(), end.tolist(), _texts_to_write(page, written), block.tolist()
    for at, item in zip(place[order].tolist(), order.tolist(), strict=True):
        if at >= body.end:
            body.close_before(at)
        if item >= first_run:
            body.write_text(texts[item - first_run], blocks[item - first_run])
        elif numbers[item] in instead:
            body.written.append(instead[numbers[item]])
        elif names[item]:
            body.open_element(names[item], attributes[item], ends[item])
    body.close_before(page.n + page.r)
    return "".join(body.written)


def _texts_to_write(page: Page, runs: NDArray[np.intp]) -> list[str]:
    """HTML of each run."""
    bounds = zip(page.run_offset[runs].tolist(), page.run_offset[runs + 1].tolist(), strict=True)
    # Escaped at once; no text of a tree has a NUL.
    texts = escape("\0".join([page.text[begin:end] for begin, end in bounds]), quote=False).split("\0")
    changed = {run: _write_piece(text) for run, text in run_rewrites(page).items()}
    changed |= {run: "".join(map(_write_piece, pieces)) for run, pieces in tex_runs(page).items()}
    return [changed.get(run, text) for run, text in zip(runs.tolist(), texts, strict=False)] if changed else texts


def _write_piece(piece: str | Formula) -> str:
    """Write text, a formula, or the emoji that a picture shows."""
    if isinstance(piece, str):
        return escape(piece, quote=False)
    tex, classes = escape(piece.tex, quote=False), "math display" if piece.is_display else "math"
    return tex if piece.is_emoji else f'<span class="{classes}">{tex}</span>'


def _attributes_to_write(page: Page, elements: NDArray[np.intp]) -> list[Pairs]:
    """Attributes of each element, with the sources of pictures and the languages of code."""
    attributes, offered, tag = page.attributes.of_elements(elements), _picture_sources(page), page.tag[elements]
    for place in np.flatnonzero(tag == TAG_ID["img"]).tolist():
        index = int(elements[place])
        attributes[place] = _with_source(page, index, attributes[place], offered.get(index, ""))
    for place in np.flatnonzero(tag == TAG_ID["pre"]).tolist():
        attributes[place] = _with_language(page, int(elements[place]), attributes[place])
    return attributes


def _output_names(page: Page, elements: NDArray[np.intp], *, links: bool) -> list[str]:
    """Name to write for each element; "" if only its contents are written."""
    names = [OUTPUT_NAME[tag] for tag in page.tag[elements].tolist()]
    is_div = layout_tables(page)[elements]
    for place in np.flatnonzero(page.tag[elements] == TAG_ID["blockquote"]).tolist():
        is_div[place] |= _FORUM_POST.search(dict(page.attributes[int(elements[place])]).get("class", "")) is not None
    for place in np.flatnonzero(is_div).tolist():
        names[place] = "div"
    return names if links else ["" if name == "a" else name for name in names]


def _with_language(page: Page, index: int, pairs: Pairs) -> Pairs:
    if not (language := _code_language(page, index)):
        return pairs
    attributes = dict(pairs)
    classes = [name for name in attributes.pop("class", "").split() if not name.startswith("language-")]
    return [*attributes.items(), ("class", " ".join([*classes, f"language-{language}"]))]


def _with_source(page: Page, index: int, pairs: Pairs, offered: str) -> Pairs:
    """Give a picture the source that a script, its ``picture`` or the ``noscript`` after it offers."""
    attributes = dict(pairs)
    lazy_set = next((attributes[name] for name in _LAZY_SETS if name in attributes), None)
    if lazy_set is not None and attributes.get("srcset", "data:").startswith("data:"):
        attributes["srcset"] = lazy_set
    lazy = (attributes[name].strip() for name in _LAZY_SOURCES if name in attributes)
    source = next(filter(_PICTURE_ADDRESS.search, lazy), "")
    if not source and attributes.get("src", "").strip()[:5] in {"", "data:"}:  # no source, or a placeholder
        source = (
            _largest_source(attributes.get("srcset", "")) or offered or _source_in_noscript(page, int(page.end[index]))
        )
    return list((attributes | {"src": source} if source else attributes).items())


def _source_in_noscript(page: Page, index: int) -> str:
    """Address of the picture in a ``noscript`` that follows another picture; "" where another element does."""
    if index >= page.n or page.tag[index] != TAG_ID["noscript"]:
        return ""
    pictures = index + np.flatnonzero(page.tag[index : page.end[index]] == TAG_ID["img"])[:1]
    return _largest_source(dict(page.attributes[pictures[0]]).get("src", "")) if len(pictures) else ""


def _picture_sources(page: Page) -> dict[int, str]:
    """Address that the ``picture`` around an ``img`` offers, by the index of the ``img``."""
    offered: dict[int, str] = {}  # by picture
    picture = nearest(page.parent, page.tag == TAG_ID["picture"])
    for index, source in named_elements(page, "source"):
        address = _largest_source(source.get("srcset", "")) or _largest_source(source.get("data-srcset", ""))
        if address and picture[index] >= 0:
            offered.setdefault(int(picture[index]), address)
    images = np.flatnonzero((page.tag == TAG_ID["img"]) & (picture >= 0))
    around = zip(images.tolist(), picture[images].tolist(), strict=True)
    return {image: offered[index] for image, index in around if index in offered}


class _Body:
    """The markup written so far, and the open elements."""

    def __init__(self, base: str) -> None:
        self.written: list[str] = []
        self.end = sys.maxsize  # of the innermost open element
        self._open = [(self.end, "", False)]  # where it ends, name, whether it is block-level
        self._block = 0  # of the text written last
        self._is_separated = True  # whether a block-level element has begun or ended since
        base = base if len(base) <= _MAX_BASE_CHARACTERS else ""
        self._write_attribute = cache(partial(_write_attribute, base=base))  # elements share most of theirs
        self._preformatted = 0  # open elements whose line ends are text

    def write_text(self, text: str, block: int) -> None:
        """Write HTML of a text; ``block`` is 0 for white space outside all blocks."""
        if block:
            if block != self._block and not self._is_separated:  # the element between two blocks was cut
                self.written.append("\n" if self._preformatted else "<br>\n")
            self._block, self._is_separated = block, False
        self.written.append(text)

    def open_element(self, name: str, pairs: Pairs, end: int) -> None:
        """Open an element, or write it whole if it has no end tag; pictures without an address are left out."""
        attributes = "".join(starmap(self._write_attribute, pairs)) if pairs else ""
        if name == "img" and not _HAS_SOURCE.search(attributes):
            return
        is_block = name in BLOCK_LEVEL
        self._is_separated |= is_block
        opening = f"<{name}{attributes}>"
        if name in VOID:
            self.written.append(f"{opening}\n" if is_block and not self._preformatted else opening)
        elif len(self._open) <= MAX_NESTING:
            self._preformatted += name == "pre"
            self.written.append(opening)
            self._open.append((end, name, is_block))
            self.end = end
        elif is_block:
            self.written.append("<br>\n")

    def close_before(self, place: int) -> None:
        """Close the elements that end before a place."""
        while self.end <= place:
            _, name, is_block = self._open.pop()
            self.end = self._open[-1][0]
            if name == "a":
                opening = -2 if self.written[-1].isspace() else -1
                if _EMPTY_LINK.match(self.written[opening]):
                    del self.written[opening]  # a link around a picture that was left out
                    continue
            self._preformatted -= name == "pre"
            self.written.append(f"</{name}>\n" if is_block and not self._preformatted else f"</{name}>")
            self._is_separated |= is_block


def _find_wrappers(page: Page, elements: Flags, runs: Flags) -> Flags:
    """bool[n], each ``div`` without a name that holds nothing but one block-level element."""
    children = np.bincount(page.parent[elements] + 1, minlength=page.n + 1)[1:]
    texts = np.bincount(page.run_node[runs], minlength=page.n)
    wrapper: Flags = _IS_DIV[page.tag] & (children == 1) & (texts == 0)
    only_child = elements & wrapper[page.parent]
    wrapper[page.parent[only_child]] = _HAS_BORDER[page.tag[only_child]]
    found = np.flatnonzero(wrapper)
    wrapper[found] = [
        _KEEPS_DIV.isdisjoint(attributes) and not is_callout("div", attributes.get("class", ""))
        for attributes in map(dict, page.attributes.of_elements(found))
    ]
    return wrapper


def _code_language(page: Page, pre: int) -> str:
    """Language of a ``pre``, which highlighters mark on it, inside it or around it; "" if unknown."""
    inside = slice(pre, page.end[pre])
    codes = (pre + np.flatnonzero((page.tag[inside] == TAG_ID["code"]) & (page.parent[inside] == pre))).tolist()
    for candidate in (*codes, *islice(_ancestors_or_self(page, pre), 1 + _MAX_ANCESTORS)):
        attributes = dict(page.attributes[candidate])
        for name in ("data-lang", "data-language", "language"):
            language = attributes.get(name, "")[:_MAX_CLASS_CHARACTERS].strip().lower()
            if len(language.split()) == 1:
                return "" if language in NO_LANGUAGE else language
        found = _LANGUAGE_CLASS.search(attributes.get("class", "")[:_MAX_CLASS_CHARACTERS])
        if found and found[1].lower() not in NO_LANGUAGE:
            return found[1].lower()
    return ""


def _ancestors_or_self(page: Page, element: int) -> Iterator[int]:
    while element >= 0:
        yield element
        element = int(page.parent[element])


def _largest_source(srcset: str) -> str:
    """Return the address of the largest picture of a ``srcset``; "" without one."""
    best, best_size = "", -1.0
    for address, size in _split_srcset(srcset):
        try:
            number = float(size.strip()[:-1] or 1)
        except ValueError:
            number = 1.0
        if address and not address.startswith("data:") and number > best_size:
            best, best_size = address, number
    return best


def _split_srcset(srcset: str) -> Iterator[tuple[str, str]]:
    for candidate in _BETWEEN_SOURCES.split(srcset.strip()):
        address, _, size = candidate.strip().partition(" ")
        yield address, size


def _write_attribute(name: str, value: str, base: str = "") -> str:
    """Write an attribute after a space; "" for one that is not allowed: a handler, a style, an unsafe address."""
    safe = _safe_value(name, value, base)
    return "" if safe is None else f' {name}="{escape(safe)}"'


def _safe_value(name: str, value: str, base: str) -> str | None:
    """Value to write for an attribute; ``None`` if it is not allowed."""
    if name in _PLAIN_ATTRIBUTES:
        return value
    if name in _ADDRESSES:
        if _HIDDEN_MAIL in value:
            mail = decode_email(value.partition("#")[2])
            return f"mailto:{mail}" if mail else None
        is_safe = value.strip() and is_safe_address(value, image=name in {"src", "poster"})
        return _resolve(value, base) if is_safe else None
    if name != "srcset" or not all(map(is_safe_address, value.split(","))):
        return None
    resolved = (f"{_resolve(address, base)} {size}".strip() for address, size in _split_srcset(value) if address)
    return ", ".join(resolved) if base else value


def _resolve(address: str, base: str) -> str:
    """Make an address absolute, unless it points into the document itself or the base is unknown."""
    bare = address.strip()
    is_final = not base or bare.startswith("#") or _SCHEME.match(bare)
    return address if is_final else join_address(base, bare) or address


def is_safe_address(address: str, *, image: bool = False) -> bool:
    """Whether an address is relative or has a harmless scheme; for images, ``data:`` is harmless too."""
    bare = _IGNORED_IN_ADDRESS.sub("", address)
    scheme = _SCHEME.match(bare)
    if scheme is None or scheme[1].lower() in _SCHEMES:
        return True
    return image and _IMAGE_DATA.match(bare) is not None
