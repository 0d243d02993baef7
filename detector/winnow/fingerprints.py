"""Fingerprints of the units of a page: 64-bit hashes, the same on every machine for equal markup with equal content."""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import numpy as np

from winnow.core import core
from winnow.hashing import BASE, INVERSE, hash_text, mix, powers
from winnow.memo import Memo
from winnow.page.tags import IS_BLOCK_LEVEL, TAG_ID, TAG_NAMES, tag_set
from winnow.page.text import CODES, character_properties, character_tokens
from winnow.page.tree import once_per_page, prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]

_VOLATILE_QUERY: Final = re.compile(
    r"""(?<=[?&;])                  # a parameter whose value is of one visit, one release or one referring page
        (?:v|ver|version|rev|t|ts|_|cb|cache|cachebuster|timestamp|rand|random|nocache|nonce|_?wpnonce|token|csrf\w*|
           s|sid|sess\w*|phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|utm_\w+|fbclid|gclid|
           destination|return_?to|redirect(?:_to)?|return|next|continue|ref|referr?er)
        =[^&;\#]*[&;]?""",
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_PATH_SESSION: Final = re.compile(r";(?:jsessionid|sid|phpsessid)=[^?#;/]*", re.ASCII | re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)


def _without_volatile_parameters(link: str) -> str:
    return _VOLATILE_QUERY.sub("", _PATH_SESSION.sub("", link)).rstrip("?&")


_stable_links: Final = Memo(_without_volatile_parameters, 16_384)  # a site repeats its links


class LinkTargets:
    """Resolves links, so that ``../index.html`` and ``/index.html`` have the same fingerprint.

    Args:
        url: address of the page; without it links stay relative.
        base: the page's ``<base href>``, if it has one.
    """

    def __init__(self, url: str | None, base: str | None = None) -> None:
        self._host = ""
        self._page: str | None = None
        self._origins: tuple[str, ...] = ()
        self._folder: list[str] | None = None
        try:
            page, stated = urlsplit(url or ""), urlsplit(base or "")
        except ValueError:
            url = None
        if url is None:
            return
        host, path = (stated if stated.netloc else page).netloc, page.path
        if stated.netloc or stated.path[:1] == "/":
            path = stated.path
        elif stated.path:
            path = _join(page.path.split("/")[1:-1], stated.path)
        self._host = host
        self._origins = (f"https://{host}", f"http://{host}", f"//{host}")
        self._folder = [part for part in path.split("/")[:-1] if part]
        self._page = self.resolve(url)

    def core_arguments(self) -> tuple[bool, bytes, bytes, bytes]:
        """Whether the page's place is known, its host, its folder with a slash after each part, and the page itself."""
        texts = self._host, "".join([part + "/" for part in self._folder or ()]), self._page or ""
        host, folder, page = (text.encode("utf-8", "surrogatepass") for text in texts)
        return self._folder is not None, host, folder, page

    def token(self, link: str) -> int:
        """64-bit token of a link's target."""
        target = self.resolve(link)
        page, mark, place = target.partition("#")
        if mark and page == self._page:  # ``this-page#content`` is the same template link on every page
            target = mark + place
        return hash_text(target)

    def resolve(self, link: str) -> str:
        """Return a link as a path on the page's own host, or as it is for other hosts; volatile parameters are cut."""
        link = link.strip()
        if "=" in link:
            link = _stable_links[link]
        first = link[:1]
        if self._folder is None or first in {"", "#", "?"}:
            return link
        if first == "/":
            if link[:2] != "//":
                return link if "/." not in link else _join([], link[1:])
        elif link[:4] != "http":
            return link if ":" in link and _SCHEME.match(link) else _join(self._folder, link)
        if link.startswith(self._origins):
            rest = link[link.index("//") + 2 + len(self._host) :]
            if rest[:1] in {"", "/", "?", "#"}:
                return rest if rest[:1] == "/" else "/" + rest
        return link if ":" in link or first == "/" else _join(self._folder, link)


def _join(folder: list[str], link: str) -> str:
    """Join a relative link to a folder, without ``.`` and ``..`` in its path."""
    if not link.startswith(".") and "/." not in link:
        return "/" + "".join([part + "/" for part in folder]) + link
    mark = min((at for at in (link.find("?"), link.find("#")) if at >= 0), default=len(link))
    *names, last = link[:mark].split("/")
    if last in {".", ".."}:
        names.append(last)
        last = ""
    parts = list(folder)
    for name in names:
        if name == "..":
            del parts[-1:]
        elif name != ".":
            parts.append(name)
    return "/" + "".join([part + "/" for part in parts]) + last + link[mark:]


_LINKS: Final = frozenset("href src action poster data background longdesc cite data-src data-href data-url".split())
_TEXTS: Final = frozenset("alt title placeholder label value summary aria-label".split())
_NAMES: Final = frozenset("class id name for type role rel".split())
_CONTROLS_WITH_LABEL: Final = ("button", "reset", "submit")  # what is typed into other controls is not counted

_STATES: Final = frozenset(
    """
    active current selected open opened closed expanded collapsed on off here first last odd even hover visited self
    selflink is-open is-expanded
    """.split()
)
_STATE_PREFIXES: Final = ("current", "active", "is-active", "is-current", "is-selected", "in-active", "leaf-active")
_STATE_SUFFIXES: Final = ("-active", "_active", "-current", "_current", "-selected", "_selected")

_DIGITS: Final = re.compile(r"[0-9]+")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{12,}")


def _attribute_token(name: str, value: str) -> int:
    stable = " ".join(value.split()) if name in _TEXTS else _stable_name(value)
    return hash_text(f"{name}={stable}") if stable else 0


def _stable_name(value: str) -> str:
    """Replace numbers and long hexadecimals by ``#``, and drop words for a state."""
    stable = value if value.isalpha() else _DIGITS.sub("#", value)
    if stable.count("#") > 2:
        stable = _DIGITS.sub("#", _HEXADECIMAL.sub("#", value))
    words = stable.split()
    if "curren" in value or "activ" in value or "select" in value:
        words = [word for word in words if not word.startswith(_STATE_PREFIXES) and not word.endswith(_STATE_SUFFIXES)]
    return " ".join(word for word in words if word not in _STATES)


_NAME, _TEXT, _LINK, _TYPE, _VALUE = range(1, 6)  # as in attribute_tokens.c, where 0 is not counted
_KINDS: Final = dict.fromkeys(_NAMES, _NAME) | dict.fromkeys(_TEXTS, _TEXT) | dict.fromkeys(_LINKS, _LINK)
_KINDS.update(type=_TYPE, value=_VALUE)

_IS_LEFT: Final = np.uint8(1)
_WORDS: Final = tuple(
    "\n".join(words).encode() for words in (sorted(_STATES), _STATE_PREFIXES, _STATE_SUFFIXES, _CONTROLS_WITH_LABEL)
)


def attribute_tokens(page: Page) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Tokens and marks of the attributes by their first occurrence, for ``node_fingerprints`` of the core.

    The core leaves to Python what is long, has white space of other scripts, or is a link with parameters or dots in
    its path.
    """
    table, links = page.attributes, LinkTargets(page.url, base_href(page))
    tokens = np.zeros(len(table.first), np.uint64)
    marks = np.zeros(len(tokens), np.uint8)
    kinds = np.fromiter((_KINDS.get(name, 0) for name in table.names), np.uint8, len(table.names))
    core.attribute_tokens(
        *(table.arrays, tuple(table.names), kinds, _WORDS, links.core_arguments()),
        *(character_properties(), tokens, marks),
    )
    left = np.flatnonzero(marks[table.place] & _IS_LEFT)
    if len(left):
        places = table.place[left]
        names = [table.names[name] for name in table.name_of[left].tolist()]
        tokens[places] = [
            links.token(value) if name in _LINKS else _attribute_token(name, value)
            for name, value in zip(names, table.strings(left), strict=True)
        ]
    return tokens, marks


FINGERPRINT_VERSION: Final = 1
"""Version of the definition below, a part of every stored key, since counts of different versions must never meet."""

UNSEEN: Final = tag_set("head", "script", "style", "template", "link", "meta", "base", "title")
"""Look-up table over tag ids: subtrees that the fingerprints of the elements around them ignore."""

_TAG_TOKEN: Final = np.array([hash_text(f"<{name}>") for name in TAG_NAMES], np.uint64)
_CLOSE: Final = hash_text("</>")
_BLOCK: Final = hash_text("block")


@once_per_page
def text_fingerprints(page: Page) -> Hashes:
    """Hash the text of every unit, without markup.

    Case is folded, digits are kept, and white space collapses, also across runs. The border of a text block counts as
    white space, white space at either end of a unit does not count.

    Returns:
        uint64[n + m], elements first; 0 for units without text.
    """
    codes = np.frombuffer(page.text.encode("utf-16-le", "surrogatepass"), "<u2")
    characters = np.frombuffer(page.text.encode("utf-32-le", "surrogatepass"), "<u4")
    length = 1 + (characters >= CODES)  # characters outside the basic plane take two codes
    offset = prefix_sums(length)[page.run_offset]
    has_ink = ~np.fromiter(map(str.isspace, page.text), bool, len(page.text)).repeat(length)
    border = prefix_sums(has_ink)[offset]  # of runs, in codes that are not white space
    places = np.flatnonzero(has_ink)
    after_gap = np.diff(places, prepend=-2) > 1
    after_gap[border[page.block_run_begin]] = True
    ungapped, gapped = character_tokens().reshape(2, CODES)[:, codes[places]]
    tokens = np.where(after_gap, gapped, ungapped)
    sums = np.zeros(len(tokens) + 1, np.uint64)
    np.cumsum(tokens * powers(len(tokens)), out=sums[1:])
    correction = np.append(ungapped - tokens, np.uint64(0))  # white space before a unit does not count
    begin = border[np.concatenate([page.run_begin, page.block_run_begin])]
    end = border[np.concatenate([page.run_end, page.block_run_end])]
    hashes = mix((sums[end] - sums[begin]) * powers(len(sums), INVERSE)[begin] + correction[begin])
    hashes[hashes == 0] = 1  # 0 means no text
    hashes[begin == end] = 0
    return hashes


@once_per_page
def node_fingerprints(page: Page) -> Hashes:
    """Hash the markup and content of every unit: tags, attributes, text and children.

    Links are resolved by :class:`LinkTargets`, numbers and states are dropped from other attributes, text is as in
    :func:`text_fingerprints`; comments, white space and the subtrees of :data:`UNSEEN` change nothing in the elements
    around them. A block is the inline markup between two borders of block-level elements, under the name of its
    element.

    Returns:
        uint64[n + m], elements first; 0 for elements of :data:`UNSEEN` and inside them.
    """
    tokens, marks = attribute_tokens(page)
    unknown = np.zeros(page.n, np.uint64)
    for i, name in page.unknown_names.items():
        unknown[i] = hash_text(name)
    hashes = np.zeros(page.n + page.m, np.uint64)
    core.node_fingerprints(
        *(page.arrays, _TAG_TOKEN, IS_BLOCK_LEVEL, UNSEEN, tokens, marks, unknown),
        *(page.text, page.run_offset, character_properties(), character_tokens()),
        *(BASE, INVERSE, _CLOSE, _BLOCK, TAG_ID["input"], hashes),
    )
    return hashes


def base_href(page: Page) -> str | None:
    """Address of the page's first ``<base href>`` that is not empty; ``None`` without one."""
    bases = (dict(page.attributes[element]) for element in np.flatnonzero(page.tag == TAG_ID["base"]).tolist())
    return next((base["href"] for base in bases if base.get("href")), None)
