"""What remains of a page, written as an HTML document of its own.

Tags, attributes and addresses are those of allow-lists, so that markup nobody thought of is left out: nothing that
runs, loads a page or styles one passes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

import numpy as np

from winnow.output.formulas import Formula, formulas_of
from winnow.output.runs import checkboxes, read_mail, shown_runs, tex_runs
from winnow.output.tables import is_callout, layout
from winnow.page.tags import BLOCK_LEVEL, TAG_ID, TAG_NAMES, tag_set
from winnow.page.tree import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from winnow.output.stripping import Remains
    from winnow.page.page import Page

_KEPT: Final = frozenset(
    """
    a abbr address article aside audio b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em
    figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark menu nav ol p picture pre q
    rp rt ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead time tr
    track u ul var video wbr
    """.split()  # noqa: SIM905  (eighty quoted names would be no easier to read)
)
_DISSOLVED: Final = frozenset({"html", "head", "body"})

OUTPUT_NAME: Final[tuple[str, ...]] = tuple(
    name if name in _KEPT else "div" if name in BLOCK_LEVEL - _DISSOLVED else "" for name in TAG_NAMES
)
"""Name to write, by tag id; "" for an element whose contents stand without it, as those of ``font`` do."""

VOID: Final = frozenset({"br", "hr", "img", "source", "track", "wbr"})

_PLAIN_ATTRIBUTES: Final = frozenset(
    """
    abbr align alt class colspan controls datetime dir headers height hreflang id itemid itemprop itemscope itemtype
    kind label lang media name open rel reversed role rowspan scope sizes span srclang start title type value width
    """.split()  # noqa: SIM905  (eighty quoted names would be no easier to read)
)
_ADDRESSES: Final = frozenset({"href", "src", "cite", "poster"})
_LAZY_SOURCES: Final = (
    *("data-src", "data-lazy-src", "data-original", "data-lazy", "data-actualsrc", "data-hi-res-src"),
    *("data-full-url", "data-echo", "data-image", "data-url", "data-backup"),
)
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset")
_CANDIDATES: Final = re.compile(r",\s+|(?<=[0-9][wx]),")  # an address may hold commas itself
_PICTURE: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp)(?:$|[?#!@])|/", re.IGNORECASE)
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})
_IMAGE_DATA: Final = re.compile(r"data:image/(?:png|gif|jpeg|webp|avif);", re.IGNORECASE)
# What browsers skip when they look for a scheme, and more.
_IGNORED_IN_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")
_SCHEME: Final = re.compile(r"([^/?#:]*):")

MAX_NESTING: Final = 128
"""Levels of markup; what lies deeper is written without its markup, for readers that recurse over a tree."""

_WHOLE: Final = tag_set("html", "body")
_PICTURES: Final = tag_set("img", "picture", "source", "video", "audio", "track")
_DIVISIONS: Final = np.array([name == "div" for name in OUTPUT_NAME])
_BORDERED: Final = np.array([name in BLOCK_LEVEL and name not in VOID for name in OUTPUT_NAME])

# Linear: each of its beginnings follows a space, and the spaces behind it are no beginning.
_LANGUAGE_CLASS: Final = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|(?:hljs|sourceCode|shj-lang-)\s+(?:language-)?)"
    r"([a-zA-Z][a-zA-Z0-9+#.-]*)"
)
NO_LANGUAGE: Final = frozenset(
    "default none text plain plaintext plain-text txt nohighlight auto code notranslate".split()  # noqa: SIM905
)
_HIDDEN_MAIL: Final = "/cdn-cgi/l/email-protection"  # see read_mail
_HAS_SOURCE: Final = re.compile(r""" src(?:set)?="\s*[^\s"]""")
_POST: Final = re.compile(r"(?:^|\s)(?:messageText|postcontent)(?:$|\s)")  # of a forum, which quotes nobody
_EMPTY_LINK: Final = re.compile("<a (?!.* (?:id|name)=)")
_LEVELS_ABOVE: Final = 3
_MAX_BASE_CHARACTERS: Final = 4_000  # each address on the page begins with it
_MAX_CLASS_CHARACTERS: Final = 1_000  # the classes of an element are read for each ``pre`` in it


@dataclass(frozen=True, slots=True)
class Parts:
    """What is written of a page.

    Attributes:
        links: the targets of links; without them only the text stays.
        images: pictures, videos and sounds.
    """

    links: bool = True
    images: bool = True


EVERYTHING: Final = Parts()


def write_html(page: Page, remains: Remains, parts: Parts = EVERYTHING) -> str:
    """Write the remains of a page as an HTML document.

    Only harmless markup is written, comments are not. Addresses are in full where it is known what they are relative
    to: the page's address, its ``base`` element, or the address that it states for itself. Tables that only lay out
    the page become ``div``, formulas ``<span class="math">`` with their TeX, and a ``pre`` says its language as
    ``class="language-..."``. The page and its tree are not changed.

    Args:
        page: the page.
        remains: the elements and runs that stay.
        parts: what is to be left out.
    """
    return f"<!DOCTYPE html>\n{_opening(page)}\n<body>\n{_body(page, remains, parts)}</body>\n</html>\n"


def write_document(title: str, paragraphs: list[str]) -> str:
    """Write a title and paragraphs of text as an HTML document."""
    body = "".join(f"<p>{escape(paragraph, quote=False)}</p>\n" for paragraph in paragraphs)
    return f"<!DOCTYPE html>\n<html>\n{_head(title)}\n<body>\n{body}</body>\n</html>\n"


def _head(title: str) -> str:
    named = f"<title>{escape(title, quote=False)}</title>" if title else ""
    return f'<head><meta charset="utf-8">{named}</head>'


def _opening(page: Page) -> str:
    """Everything before the body: the language, the direction and the title of the page."""
    stated: dict[str, str] = {}
    for index in np.flatnonzero(_WHOLE[page.tag])[:2].tolist():
        for name, value in page.attributes[index]:
            if name in {"lang", "dir"} and value.strip():
                stated.setdefault(name, value.strip())
    return f"<html{_write_attributes(sorted(stated.items(), reverse=True))}>\n{_head(page.title)}"


def _base_address(page: Page) -> str:
    """What the addresses on a page are relative to; "" where that is not known, or so long that it is an attack."""
    base = _stated_base(page)
    return base if len(base) <= _MAX_BASE_CHARACTERS else ""


def _stated_base(page: Page) -> str:
    stated = page.attribute("href")
    for index in np.flatnonzero(page.tag == TAG_ID["base"]).tolist():
        if index in stated:
            base = _in_full(stated[index], page.url or "")
            return base if base.startswith(("http://", "https://")) else page.url or ""
    if page.url:
        return page.url if is_safe_address(page.url) else ""
    for index in np.flatnonzero(page.tag == TAG_ID["link"]).tolist():
        found = dict(page.attributes[index])
        if found.get("rel", "").lower() == "canonical" and found.get("href", "").startswith(("http://", "https://")):
            return found["href"].strip()
    return ""


def _body(page: Page, remains: Remains, parts: Parts) -> str:
    """Write elements and runs in document order."""
    formulas, boxes, in_tex = formulas_of(page).of, checkboxes(page), tex_runs(page)
    unwritten = _wrappers(page, remains)
    shown = remains.runs
    if not parts.images:
        unwritten = unwritten | _PICTURES[page.tag]
    kept = np.flatnonzero(remains.elements & ~unwritten)
    texts = shown_runs(page)
    if texts is not page.runs:
        shown = shown & np.fromiter(map(bool, texts), bool, len(texts))
    runs = np.flatnonzero(shown)
    names = _names(page, kept, parts)
    # A last element and a last run stand for the end of the page.
    elements = zip(
        [*kept.tolist(), page.n],
        [*names, ""],
        [*page.run_begin[kept].tolist(), page.r],
        [*page.end[kept].tolist(), page.n],
        [*page.run_end[kept].tolist(), page.r],
        strict=True,
    )
    runs_to_come = zip([*runs.tolist(), page.r], [*_block_numbers(page, runs).tolist(), 0], strict=True)
    run, block = next(runs_to_come)
    body = _Body(_base_address(page))
    offered = _offered_sources(page)
    for index, name, run_begin, end, run_end in elements:
        while run < run_begin:
            body.close_before_run(run)
            body.pieces(in_tex.get(run, (texts[run],)), block)
            run, block = next(runs_to_come)
        body.close_before_element(index)
        if index in formulas:
            body.formula(formulas[index])
        elif index in boxes:
            body.box(boxes[index])
        elif name:
            pairs = page.attributes[index]
            if name == "img":
                pairs = _with_source(page, index, pairs, offered.get(index, ""))
            elif name == "pre":
                pairs = _with_language(page, index, pairs)
            body.element(name, pairs, end, run_end)
    return "".join(body.written)


def _names(page: Page, elements: NDArray[np.intp], parts: Parts) -> list[str]:
    """Name to write for each element; "" for one whose contents stand without it."""
    names = [OUTPUT_NAME[tag] for tag in page.tag[elements].tolist()]
    for place in np.flatnonzero(page.tag[elements] == TAG_ID["blockquote"]).tolist():
        if _POST.search(dict(page.attributes[int(elements[place])]).get("class", "")):
            names[place] = "div"
    dissolved = layout(page)[elements] if (page.tag == TAG_ID["table"]).any() else np.zeros(len(elements), bool)
    for place in np.flatnonzero(dissolved).tolist():
        names[place] = "div"
    return names if parts.links else ["" if name == "a" else name for name in names]


def _with_source(page: Page, index: int, pairs: list[tuple[str, str]], offered: str) -> list[tuple[str, str]]:
    """Give a picture its source from where a script, a ``picture`` or a ``noscript`` beside it would have it from."""
    found = dict(pairs)
    lazy_set = next((found[name] for name in _LAZY_SETS if name in found), None)
    if lazy_set is not None and found.get("srcset", "data:").startswith("data:"):
        found["srcset"] = lazy_set
    lazy = (found[name].strip() for name in _LAZY_SOURCES if _PICTURE.search(found.get(name, "").strip()))
    if source := next(lazy, "") or (_largest_source(found.get("srcset", "")) if _holds_no_picture(found) else ""):
        found["src"] = source
    elif _holds_no_picture(found):
        after = page.elements[index].getnext()
        twin = next(after.iter("img"), None) if after is not None and after.tag == "noscript" else None
        if source := offered or ("" if twin is None else _largest_source(twin.get("src", ""))):
            found["src"] = source
    return list(found.items())


def _holds_no_picture(attributes: dict[str, str]) -> bool:
    """Whether the source of a picture is none, or one within the page that holds its place."""
    return attributes.get("src", "").strip()[:5] in {"", "data:"}


def _offered_sources(page: Page) -> dict[int, str]:
    """Address that the ``picture`` around an ``img`` offers, by the index of the ``img``."""
    chosen = page.tag == TAG_ID["picture"]
    if not chosen.any():
        return {}
    addresses: dict[int, str] = {}
    for index in np.flatnonzero(page.tag == TAG_ID["source"]).tolist():
        stated = dict(page.attributes[index])
        if address := _largest_source(stated.get("srcset", "")) or _largest_source(stated.get("data-srcset", "")):
            addresses[index] = address
    places, around = list(addresses), nearest(page.parent, chosen)
    images = np.flatnonzero((page.tag == TAG_ID["img"]) & (around >= 0))
    first = np.searchsorted(places, around[images])
    inside = np.append(places, page.n)[first] < page.end[around[images]]
    return {
        image: addresses[places[place]]
        for image, place in zip(images[inside].tolist(), first[inside].tolist(), strict=True)
    }


def _with_language(page: Page, index: int, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    if not (language := _code_language(page, index)):
        return pairs
    found = dict(pairs)
    classes = [name for name in found.pop("class", "").split() if not name.startswith("language-")]
    return [*found.items(), ("class", " ".join([*classes, f"language-{language}"]))]


class _Body:
    """The markup written so far, and a stack of the elements that are open."""

    def __init__(self, base: str) -> None:
        self.written: list[str] = []
        self.open_elements: list[tuple[int, int, str, bool]] = []  # end in elements and in runs, closing tag, border
        self.block = 0  # of the text written last
        self.bordered = True  # whether the border of a block-level element has been written since
        self._base = base
        self._preformatted = 0  # open elements whose line ends are text

    def text(self, run: str, block: int) -> None:
        """Write a run; ``block`` is 0 for white space outside all blocks."""
        if block:
            if block != self.block and not self.bordered:  # what kept two blocks apart is not there any more
                self.written.append("\n" if self._preformatted else "<br>\n")
            self.block = block
            self.bordered = False
        self.written.append(escape(run, quote=False))

    def pieces(self, pieces: Iterable[str | Formula], block: int) -> None:
        """Write a run, in which there may be formulas."""
        for piece in pieces:
            if isinstance(piece, Formula):
                self.formula(piece)
            else:
                self.text(piece, block)

    def formula(self, formula: Formula) -> None:
        """Write a formula, or the sign that a picture stands for."""
        if formula.is_sign:
            self.written.append(escape(formula.tex, quote=False))
            return
        classes = "math display" if formula.is_display else "math"
        self.written.append(f'<span class="{classes}">{escape(formula.tex, quote=False)}</span>')

    def box(self, box: str) -> None:
        """Write a box to tick."""
        self.written.append(f'<span class="task">{"☐" if box == "[ ]" else "☑"}</span> ')

    def element(self, name: str, pairs: list[tuple[str, str]], end: int, run_end: int) -> None:
        """Open an element, or write it whole if it has no end tag; a picture without an address is none."""
        attributes, border = _write_attributes(pairs, self._base), name in BLOCK_LEVEL
        if name == "img" and not _HAS_SOURCE.search(attributes):
            return
        self.bordered |= border
        if name in VOID:
            self.written.append(f"<{name}{attributes}>{self._line(border)}")
        elif len(self.open_elements) < MAX_NESTING:
            self._preformatted += name == "pre"
            self.written.append(f"<{name}{attributes}>")
            self.open_elements.append((end, run_end, f"</{name}>", border))
        elif border:
            self.written.append("<br>\n")

    def close_before_element(self, index: int) -> None:
        """Close what does not hold the element."""
        while self.open_elements and self.open_elements[-1][0] <= index:
            self._close()

    def close_before_run(self, run: int) -> None:
        """Close what does not hold the run."""
        while self.open_elements and self.open_elements[-1][1] <= run:
            self._close()

    def _close(self) -> None:
        _, _, closing, border = self.open_elements.pop()
        opening = -2 if self.written[-1].isspace() else -1
        if closing == "</a>" and _EMPTY_LINK.match(self.written[opening]):
            del self.written[opening]  # a link around a picture that was left out
            return
        self._preformatted -= closing == "</pre>"
        self.written.append(f"{closing}{self._line(border)}")
        self.bordered |= border

    def _line(self, border: bool) -> str:
        return "\n" if border and not self._preformatted else ""


def _block_numbers(page: Page, runs: NDArray[np.intp]) -> NDArray[np.intp]:
    """int[k], number of the text block that each of the k runs is in, from 1; 0 for none."""
    number = np.searchsorted(page.block_run_begin, runs, side="right")
    end = np.append(0, page.block_run_end)[number]
    return np.where(runs < end, number, 0)


def _wrappers(page: Page, remains: Remains) -> NDArray[np.bool_]:
    """bool[n], every nameless ``div`` of which nothing is left but one block-level element, a box in a box."""
    children = np.bincount(page.parent[remains.elements] + 1, minlength=page.n + 1)[1:]
    texts = np.bincount(page.run_node[remains.runs], minlength=page.n)
    wrapper: NDArray[np.bool_] = _DIVISIONS[page.tag] & (children == 1) & (texts == 0)
    only_child = remains.elements & wrapper[page.parent]
    wrapper[page.parent[only_child]] = _BORDERED[page.tag[only_child]]
    for index in np.flatnonzero(wrapper).tolist():
        wrapper[index] = not any(
            name in {"id", "lang", "dir"} or (name == "class" and is_callout("div", value))
            for name, value in page.attributes[index]
        )
    return wrapper


def _code_language(page: Page, pre: int) -> str:
    """Language of a ``pre`` of a page, by the marks of its highlighter on it, inside it or around it; "" for none."""
    element = page.elements[pre]
    around = [element]
    while len(around) <= _LEVELS_ABOVE and (above := around[-1].getparent()) is not None:
        around.append(above)
    for candidate in (*element.iterchildren("code"), *around):
        for name in ("data-lang", "data-language", "language"):
            if (stated := candidate.get(name, "")[:_MAX_CLASS_CHARACTERS].strip().lower()) and stated.split() == [
                stated
            ]:
                return "" if stated in NO_LANGUAGE else stated
        found = _LANGUAGE_CLASS.search(candidate.get("class", "")[:_MAX_CLASS_CHARACTERS])
        if found and found[1].lower() not in NO_LANGUAGE:
            return found[1].lower()
    return ""


def _largest_source(srcset: str) -> str:
    """Return the address of the largest picture of a ``srcset``; "" for none."""
    best, best_size = "", -1.0
    for candidate in _CANDIDATES.split(srcset.strip()):
        address, _, size = candidate.strip().partition(" ")
        try:
            number = float(size.strip()[:-1] or 1)
        except ValueError:
            number = 1.0
        if address and not address.startswith("data:") and number > best_size:
            best, best_size = address, number
    return best


def _write_attributes(pairs: Iterable[tuple[str, str]], base: str = "") -> str:
    """Write the attributes that may stay, each with a space before it: no handlers, styles or unsafe addresses.

    Args:
        pairs: names and values.
        base: what relative addresses are relative to; where it is known, they are written in full, but for those of a
            place in the same document.
    """
    written = ((name, _harmless(name, value, base)) for name, value in pairs)
    return "".join(f' {name}="{escape(value)}"' for name, value in written if value is not None)


def _harmless(name: str, value: str, base: str) -> str | None:
    """Value of an attribute as it may be written; ``None`` for one that may not."""
    if name in _PLAIN_ATTRIBUTES:
        return value
    if name in _ADDRESSES:
        if _HIDDEN_MAIL in value:
            mail = read_mail(value.partition("#")[2])
            return f"mailto:{mail}" if mail else None
        is_safe = value.strip() and is_safe_address(value, image=name in {"src", "poster"})
        return _in_full(value, base) if is_safe else None
    if name == "srcset":
        return _set_in_full(value, base) if all(map(is_safe_address, value.split(","))) else None
    return None


def _in_full(address: str, base: str) -> str:
    """Write a relative address in full, where it is known what it is relative to."""
    bare = address.strip()
    if not base or bare.startswith("#") or _SCHEME.match(bare):
        return address
    try:
        return urljoin(base, bare)
    except ValueError:
        return address


def _set_in_full(srcset: str, base: str) -> str:
    if not base:
        return srcset
    candidates = (candidate.strip().partition(" ") for candidate in _CANDIDATES.split(srcset.strip()))
    return ", ".join(f"{_in_full(address, base)} {size}".strip() for address, _, size in candidates if address)


def is_safe_address(address: str, *, image: bool = False) -> bool:
    """Whether an address is relative or has a harmless scheme; with ``image``, ``data:`` pictures are harmless too."""
    bare = _IGNORED_IN_ADDRESS.sub("", address)
    scheme = _SCHEME.match(bare)
    if scheme is None or scheme[1].lower() in _SCHEMES:
        return True
    return image and _IMAGE_DATA.match(bare) is not None
