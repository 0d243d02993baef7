"""Fingerprints of the units of a page: equal markup with equal content has an equal 64-bit number on every machine."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

import numpy as np

from winnow.core import core
from winnow.hashing import BASE, INVERSE, hash_text, inverse_powers, mix
from winnow.memo import Memo
from winnow.page.tags import IS_BLOCK_LEVEL, TAG_ID, TAG_NAMES, tag_set
from winnow.page.text import character_properties, character_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]
    Positions = NDArray[np.int64]

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
_ABSOLUTE: Final = ("/", "http://", "https://")

_PLACES: Final = 64
_LINKS_OF_A_PLACE: Final = 4_096


class LinkTargets:
    """Writes links in one form per target, so that ``../index.html`` and ``/index.html`` are the same.

    Args:
        url: address of the page; without it links stay relative.
        base: the page's ``<base href>``, where there is one.
    """

    def __init__(self, url: str | None, base: str | None = None) -> None:
        self._host = ""
        self._origins: tuple[str, ...] = ()
        self._folder: list[str] | None = None
        self._self: str | None = None
        addresses = _split(url, base or "")
        if url is None or addresses is None:
            self._of_host = self._of_folder = self._tokens_of("")  # the same for all pages whose place is not known
            return
        page, named = addresses
        host, path = (named if named.netloc else page).netloc, page.path
        if named.netloc or named.path[:1] == "/":
            path = named.path
        elif named.path:
            path = _join(page.path.split("/")[1:-1], named.path)
        self._host = host
        self._origins = (f"https://{host}", f"http://{host}", f"//{host}")
        self._folder = [part for part in path.split("/")[:-1] if part]
        self._self = self.resolve(url)
        self._of_host = self._tokens_of(f"//{host}")
        self._of_folder = self._tokens_of("/".join([f"//{host}", *self._folder, ""]))

    def known(self) -> tuple[bool, bytes, bytes, bytes]:
        """Whether it is known where the page is, its host, its folder with a slash behind each part, and itself."""
        texts = self._host, "".join([part + "/" for part in self._folder or ()]), self._self or ""
        host, folder, own = (text.encode("utf-8", "surrogatepass") for text in texts)
        return self._folder is not None, host, folder, own

    def token(self, link: str) -> int:
        """64-bit token of a link's target."""
        if "#" in link:  # ``this-page#content`` is the same template link on every page
            page, mark, place = self.resolve(link).partition("#")
            return hash_text(mark + place if page == self._self else page + mark + place)
        return (self._of_host if link.startswith(_ABSOLUTE) else self._of_folder)[link]

    def resolve(self, link: str) -> str:
        """Return a link as a path on the page's own host, or as it is for other hosts; volatile parameters are cut."""
        link = link.strip()
        if "=" in link:
            link = _VOLATILE_QUERY.sub("", _PATH_SESSION.sub("", link)).rstrip("?&")
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

    def _tokens_of(self, place: str) -> Memo[str, int]:
        """Tokens of the links met on one host or in one folder; all of them go when places are too many."""
        if place not in _tokens and len(_tokens) >= _PLACES:
            _tokens.clear()
        return _tokens.setdefault(place, Memo(lambda link: hash_text(self.resolve(link)), _LINKS_OF_A_PLACE))


_tokens: Final[dict[str, Memo[str, int]]] = {}


def _split(*urls: str | None) -> tuple[SplitResult, ...] | None:
    """Parts of addresses, unless one is missing or broken."""
    try:
        return tuple(urlsplit(url) for url in urls if url is not None) if None not in urls else None
    except ValueError:
        return None


def _join(folder: list[str], link: str) -> str:
    """Join a relative link to a folder and take ``.`` and ``..`` out of its path."""
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


# ruff: noqa: SIM905 - lists of words are read as text


LINKS: Final = frozenset("href src action poster data background longdesc cite data-src data-href data-url".split())
TEXTS: Final = frozenset("alt title placeholder label value summary aria-label".split())
NAMED: Final = frozenset("class id name for type role rel".split())
LABELLED_BY_VALUE: Final = frozenset({"submit", "button", "reset"})
"""Types of controls that show their value; what is typed into others is not counted."""
_COUNTED: Final = LINKS | TEXTS | NAMED

STATES: Final = frozenset(
    """
    active current selected open opened closed expanded collapsed on off here first last odd even hover visited self
    selflink is-open is-expanded
    """.split()
)
STATE_BEGINNINGS: Final = ("current", "active", "is-active", "is-current", "is-selected", "in-active", "leaf-active")
STATE_ENDINGS: Final = ("-active", "_active", "-current", "_current", "-selected", "_selected")

_DIGITS: Final = re.compile(r"[0-9]+")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{12,}")
_REMEMBERED: Final = 8_192  # values of each name


def reader(name: str, links: LinkTargets) -> Callable[[str], int]:
    """Return what makes tokens of the values of an attribute that counts."""
    return links.token if name in LINKS else _TOKENS[name].__getitem__


def _token(name: str, value: str) -> int:
    stable = " ".join(value.split()) if name in TEXTS else _stable_name(value)
    return hash_text(f"{name}={stable}") if stable else 0


def _stable_name(value: str) -> str:
    """Put ``#`` for numbers and long hexadecimals, and leave out words that say a state."""
    stable = value if value.isalpha() else _DIGITS.sub("#", value)
    if stable.count("#") > 2:
        stable = _DIGITS.sub("#", _HEXADECIMAL.sub("#", value))
    words = stable.split()
    if "curren" in value or "activ" in value or "select" in value:
        beginnings, endings = STATE_BEGINNINGS, STATE_ENDINGS
        words = [word for word in words if not word.startswith(beginnings) and not word.endswith(endings)]
    return " ".join(words if STATES.isdisjoint(words) else [word for word in words if word not in STATES])


_TOKENS: Final = {name: Memo(partial(_token, name), _REMEMBERED) for name in sorted(_COUNTED - LINKS)}

_NAME, _TEXT, _LINK, _TYPE, _VALUE = range(1, 6)  # as in tokens.c, where 0 does not count
_KINDS: Final = dict.fromkeys(NAMED, _NAME) | dict.fromkeys(TEXTS, _TEXT) | dict.fromkeys(LINKS, _LINK)
_KINDS.update(type=_TYPE, value=_VALUE)

_IS_LEFT: Final = np.uint8(1)


def _lines(words: Iterable[str]) -> bytes:
    return "\n".join(words).encode()


_WORDS: Final = tuple(map(_lines, (sorted(STATES), STATE_BEGINNINGS, STATE_ENDINGS, sorted(LABELLED_BY_VALUE))))


def attribute_tokens(page: Page, links: LinkTargets) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Tokens by first attribute, and what ``node_fingerprints`` of the core is to know of each besides.

    The core leaves to Python what is long, what takes the white space of other scripts, and links with parameters or
    dots in their path: links of one site, which are met again.

    Args:
        page: the page.
        links: what its links lead to.
    """
    values = page.attributes.by_name
    tokens = np.zeros(len(page.attributes.first), np.uint64)
    marks = np.zeros(len(tokens), np.uint8)
    kinds = np.fromiter((_KINDS.get(name, 0) for name in values.names), np.uint8, len(values.names))
    core.attribute_tokens(
        *(values.data, values.begin, values.name_of, values.place, values.names, kinds),
        *(_WORDS, links.known(), character_properties(), tokens, marks),
    )
    left = np.flatnonzero(marks[values.place] & _IS_LEFT)
    if len(left):
        places = values.place[left]
        names = values.name_of[left].tolist()
        tokens[places] = [
            reader(values.names[name], links)(value) for name, value in zip(names, values.strings(left), strict=True)
        ]
    return tokens, marks


_EMPTY: Final = np.uint64(1)  # stands for a hash that happens to be 0, which means "no text"


class TextHashes:
    """Prefix sums over the characters of a page that are not white space, kept at the borders of its runs.

    A character's token says whether white space stands before it; a slice's first character is taken as one without.
    """

    def __init__(self, page: Page) -> None:
        starts = np.zeros(page.r, bool)
        starts[page.block_run_begin] = True
        self._exponent = np.empty(page.r + 1, np.int64)
        self._sums, self._correction = np.empty((2, page.r + 1), np.uint64)
        core.text_hashes(
            *(page.text, page.run_offset, starts, character_properties(), character_tokens(), BASE),
            *(self._exponent, self._sums, self._correction),
        )
        self._shift = inverse_powers(self._exponent)

    def of(self, begin: NDArray[np.int32], end: NDArray[np.int32]) -> Hashes:
        """Hash slices of runs; 0 where there is nothing but white space."""
        hashes = mix((self._sums[end] - self._sums[begin]) * self._shift[begin] + self._correction[begin])
        hashes[hashes == 0] = _EMPTY
        hashes[self._exponent[begin] == self._exponent[end]] = 0
        return hashes

    def of_runs(self) -> Hashes:
        """uint64[r], hash of each run."""
        border = np.arange(len(self._exponent), dtype=np.int32)
        return self.of(border[:-1], border[1:])

    def of_units(self, page: Page) -> Hashes:
        """uint64[n + m], hash of the text of each unit."""
        return self.of(
            np.concatenate([page.run_begin, page.block_run_begin]), np.concatenate([page.run_end, page.block_run_end])
        )


FINGERPRINT_VERSION: Final = 1
"""Number of the definition below; counts of different versions must never meet, so it is a part of every stored key."""

UNSEEN: Final = tag_set("head", "script", "style", "template", "link", "meta", "base", "title")
"""Look-up table over tag ids: subtrees that no fingerprint around them takes notice of."""

_TAG_TOKEN: Final = np.array([hash_text(f"<{name}>") for name in TAG_NAMES], np.uint64)
_CLOSE: Final = np.uint64(hash_text("</>"))
_BLOCK: Final = np.uint64(hash_text("block"))


def text_fingerprints(page: Page) -> Hashes:
    """Hash the text of every unit, markup aside.

    Case is folded, white space collapses over the borders of runs, a border of a text block counts as white space, and
    digits are kept.

    Returns:
        uint64[n + m], elements first; 0 for units without text.
    """
    return TextHashes(page).of_units(page)


def node_fingerprints(page: Page) -> Hashes:
    """Hash markup with content of every unit: tags, attributes, text and children.

    Attributes are normalised by :mod:`~winnow.fingerprints`, links relative to ``page.url``;
    text as in :func:`text_fingerprints`; comments, white space, and the subtrees of :data:`UNSEEN` leave no trace in
    the elements around them. A block is the inline markup between two borders of block-level elements, under the name
    of its element.

    Returns:
        uint64[n + m], elements first; 0 for elements of :data:`UNSEEN` and inside them.
    """
    links = LinkTargets(page.url, _base(page))
    table = page.attributes
    tokens, marks = attribute_tokens(page, links)
    unknown = np.zeros(page.n, np.uint64)
    for i, name in page.unknown_names.items():
        unknown[i] = hash_text(name)
    hashes = np.zeros(page.n + page.m, np.uint64)
    core.node_fingerprints(
        *(page.arrays, _TAG_TOKEN, IS_BLOCK_LEVEL, UNSEEN, table.first, table.begin, tokens, marks, unknown),
        *(page.text, page.run_offset, character_properties(), character_tokens()),
        *(BASE, INVERSE, int(_CLOSE), int(_BLOCK), TAG_ID["input"], hashes),
    )
    return hashes


def _base(page: Page) -> str | None:
    """Address of the page's first ``<base href>``."""
    return next(filter(None, page.attributes.values_of("href", np.flatnonzero(page.tag == TAG_ID["base"]))), None)
