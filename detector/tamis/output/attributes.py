"""The attributes that clean HTML has: those on a list, with safe and absolute addresses, pictures with their source."""

from __future__ import annotations

import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.output.code import code_blocks, language_in_toolbar
from tamis.output.runs import decode_email
from tamis.output.styles import alignments
from tamis.page.addresses import base_address, join_address, safe_urlsplit
from tamis.page.css_values import ALIGNMENTS
from tamis.page.tree import TAG_ID, elements_with_attributes, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tamis.page.attributes import Pairs
    from tamis.page.page import Page

_PLAIN: Final = frozenset(
    """
    abbr align alt class colspan controls datetime dir headers height hreflang id itemid itemprop itemscope itemtype
    kind label lang media name open rel reversed role rowspan scope sizes span srclang start title type value width
    """.split()
)
_OF_DOCUMENT: Final = frozenset(
    """
    __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ activeElement activeViewTransition
    addEventListener adoptNode adoptedStyleSheets alinkColor all anchors append appendChild applets attributes baseURI
    bgColor body browsingTopics captureEvents caretPositionFromPoint caretRangeFromPoint characterSet charset childNodes
    childElementCount children clear cloneNode close compareDocumentPosition compatMode constructor contains contentType
    cookie createAttribute createAttributeNS createCDATASection createComment createDocumentFragment createElement
    createElementNS createEvent createExpression createNSResolver createNodeIterator createProcessingInstruction
    createRange createTextNode createTreeWalker currentScript customElementRegistry defaultView designMode dir
    dispatchEvent doctype documentElement documentURI domain elementFromPoint elementsFromPoint embeds evaluate
    execCommand exitFullscreen exitPictureInPicture exitPointerLock featurePolicy fgColor firstChild firstElementChild
    fonts forms fragmentDirective fullscreen fullscreenElement fullscreenEnabled getAnimations getElementById
    getElementsByClassName getElementsByName getElementsByTagName getElementsByTagNameNS getRootNode getSelection
    hasChildNodes hasFocus hasOwnProperty hasStorageAccess hasUnpartitionedCookieAccess head hidden images
    implementation importNode inputEncoding insertBefore isConnected isDefaultNamespace isEqualNode isPrototypeOf
    isSameNode lastChild lastElementChild lastModified linkColor links location lookupNamespaceURI lookupPrefix
    moveBefore nextSibling nodeName nodeType nodeValue normalize open ownerDocument parentElement parentNode
    pictureInPictureElement pictureInPictureEnabled plugins pointerLockElement prepend prerendering previousSibling
    propertyIsEnumerable queryCommandEnabled queryCommandIndeterm queryCommandState queryCommandSupported
    queryCommandValue querySelector querySelectorAll readyState referrer releaseEvents removeChild
    removeEventListener replaceChild replaceChildren requestStorageAccess rootElement scripts scrollingElement
    startViewTransition styleSheets textContent timeline title toLocaleString toString valueOf visibilityState
    vlinkColor wasDiscarded when write writeln xmlEncoding xmlStandalone xmlVersion
    """.split()
)
"""Properties of ``document``, which an ``id`` or ``name`` would stand for in the page that clean HTML is put into."""
_ADDRESSES: Final = frozenset({"href", "src", "cite", "poster"})
_NOWHERE: Final = "# \t\r\n"  # an address of these alone leads nowhere
_WRITTEN: Final = _PLAIN | _ADDRESSES | {"srcset"}
_LAZY_SOURCES: Final = (
    "data-src data-lazy-src data-original data-lazy data-actualsrc data-hi-res-src data-full-url data-echo data-image "
    "data-url data-backup"
).split()
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset")
_OF_PICTURES: Final = frozenset({"src", "srcset", *_LAZY_SOURCES, *_LAZY_SETS})
_BETWEEN_SOURCES: Final = re.compile(r",(?:\s+|(?<=[0-9][wx],))")  # an address may have commas
_PICTURE_ADDRESS: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp)(?:$|[?#!@])|/", re.IGNORECASE)
_ABSOLUTE: Final = ("https://", "http://")
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})
_RUN: Final = frozenset({"javascript", "vbscript", "data"})  # what these schemes lead to
_IMAGE_DATA: Final = re.compile(r"data:image/(?:png|gif|jpeg|webp|avif);", re.IGNORECASE)
# Characters that browsers skip before a scheme, and more.
_IGNORED_IN_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")
_SCHEME: Final = re.compile(r"([^/?#:]*):")
_ORIGIN: Final = re.compile(r"https?://[\w.:-]+(?=[/?#]|\Z)", re.ASCII)
# Linear: each step of a path begins with a slash, and no step has one.
_PLAIN_PATH: Final = re.compile(r"(?:/[\w%~+-][\w%~+.-]*)+/?(?:\?[\w%~+=&.-]+)?", re.ASCII)
_HIDDEN_MAIL: Final = "/cdn-cgi/l/email-protection"  # see decode_email
_MAX_BASE_CHARACTERS: Final = 4_000  # every address on the page begins with it

# Linear: each start follows a space, and the spaces after it are no start.
_LANGUAGE_CLASS: Final = re.compile(
    r"(?:^|\s)(?:(?:lang-|ltx_lst_language_|highlight-(?:source-|text-)?|brush:\s*|enlighter-l-|(?:hljs|sourceCode|shj-lang-|syntaxhighlighter)\s+(?:language-)?)"
    r"(?=([a-zA-Z][a-zA-Z0-9+#.-]*))|language-\.?(?=([^\s`.][^\s`]*)))"
)
NO_LANGUAGE: Final = frozenset(
    "default none text plain plaintext plain-text txt nohighlight auto code notranslate".split()
)
_MAX_ANCESTORS: Final = 3  # with the language of a pre
_LANGUAGE: Final = re.compile(r"\{?[\w+#.-]{1,40}\}?")
_MAX_CLASS_CHARACTERS: Final = 1_000  # an element's classes are searched for every pre in it


def attributes_to_write(page: Page, elements: NDArray[np.intp]) -> list[Pairs]:
    """Attributes of some elements as they are written, with the sources of pictures and the languages of code.

    Addresses are absolute if their base is known: the page's address, its ``base`` element, or its canonical address.
    Handlers, styles and unsafe addresses are left out.
    """
    base = _absolute_base(page)
    safe_pair = partial(_safe_pair, base=base if len(base) <= _MAX_BASE_CHARACTERS else "")
    attributes, tag = page.attributes.of_elements(elements, _WRITTEN, safe_pair), page.tag[elements]
    if "img" in page.tag_names:
        positions, offered = np.flatnonzero(tag == TAG_ID["img"]), _picture_sources(page)
        images, stated = elements[positions], page.attributes.of_elements(elements[positions], _OF_PICTURES)
        for position, image, pairs in zip(positions.tolist(), images.tolist(), map(dict, stated), strict=True):
            if sources := _better_sources(page, image, pairs, offered.get(image, "")):
                safe = dict(filter(None, map(safe_pair, sources.items())))
                attributes[position] = list((dict(attributes[position]) | safe).items())
    aligned = alignments(page)[elements] if "table" in page.tag_names else np.zeros(len(elements))
    for position in aligned.nonzero()[0].tolist():
        said = "align", ALIGNMENTS[int(aligned[position])]
        attributes[position] = [*(pair for pair in attributes[position] if pair[0] != "align"), said]
    return _with_languages(page, elements, attributes)


def attributes_as_stated(page: Page, elements: NDArray[np.intp]) -> list[Pairs]:
    """Attributes of some elements but for addresses that run a script, with the languages of code."""
    return _with_languages(page, elements, page.attributes.of_elements(elements, None, _harmless_pair))


def _with_languages(page: Page, elements: NDArray[np.intp], attributes: list[Pairs]) -> list[Pairs]:
    """Add the language of each ``pre`` among some elements to their attributes, as ``class="language-..."``."""
    for position in np.flatnonzero(code_blocks(page)[elements]).tolist():
        if language := _code_language(page, int(elements[position])):
            pairs = dict(attributes[position])
            classes = [name for name in pairs.pop("class", "").split() if not name.startswith("language-")]
            attributes[position] = [*pairs.items(), ("class", " ".join([*classes, f"language-{language}"]))]
    return attributes


def _absolute_base(page: Page) -> str:
    """Address that relative addresses on a page start from, if need be its canonical one; "" if unknown."""
    if not (base := base_address(page)):
        links = (
            link for _, link in elements_with_attributes(page, "link") if link.get("rel", "").lower() == "canonical"
        )
        base = next((link.get("href", "").strip() for link in links), "")
    return base if safe_urlsplit(base).scheme in {"http", "https"} else ""


def _better_sources(page: Page, index: int, attributes: dict[str, str], offered: str) -> dict[str, str]:
    """The ``src`` and ``srcset`` of a picture that a script, its ``picture`` or the ``noscript`` after it offers."""
    found: dict[str, str] = {}
    lazy_set = next((attributes[name] for name in _LAZY_SETS if name in attributes), None)
    if lazy_set is not None and attributes.get("srcset", "data:").startswith("data:"):
        found["srcset"] = lazy_set
    lazy = (attributes[name].strip() for name in _LAZY_SOURCES if name in attributes)
    source = next(filter(_PICTURE_ADDRESS.search, lazy), "")
    if not source and attributes.get("src", "").strip()[:5] in {"", "data:"}:  # no source, or a placeholder
        largest = _largest_source(found.get("srcset", attributes.get("srcset", "")))
        source = largest or offered or _source_in_noscript(page, int(page.end[index]))
    return found | {"src": source} if source else found


def _source_in_noscript(page: Page, index: int) -> str:
    """Address of the picture in a ``noscript`` that follows another picture; "" where another element does."""
    if index >= page.n or page.tag[index] != TAG_ID["noscript"]:
        return ""
    pictures = index + np.flatnonzero(page.tag[index : page.end[index]] == TAG_ID["img"])[:1]
    return _largest_source(dict(page.attributes[pictures[0]]).get("src", "")) if len(pictures) else ""


def _picture_sources(page: Page) -> dict[int, str]:
    """Address that the ``picture`` around an ``img`` offers, by the index of the ``img``."""
    if "picture" not in page.tag_names:
        return {}
    offered: dict[int, str] = {}  # by picture
    picture = nearest(page.parent, page.tag == TAG_ID["picture"])
    for index, source in elements_with_attributes(page, "source"):
        address = _largest_source(source.get("srcset", "")) or _largest_source(source.get("data-srcset", ""))
        if address and picture[index] >= 0:
            offered.setdefault(int(picture[index]), address)
    images = np.flatnonzero((page.tag == TAG_ID["img"]) & (picture >= 0))
    around = zip(images.tolist(), picture[images].tolist(), strict=True)
    return {image: offered[index] for image, index in around if index in offered}


def _code_language(page: Page, pre: int) -> str:
    """Language of a ``pre``, which highlighters mark on it, inside it or around it; "" if unknown."""
    inside = slice(pre, page.end[pre])
    codes = (pre + np.flatnonzero((page.tag[inside] == TAG_ID["code"]) & (page.parent[inside] == pre))).tolist()
    for candidate in (*codes, *islice(_ancestors_or_self(page, pre), 1 + _MAX_ANCESTORS)):
        attributes = dict(page.attributes[candidate])
        for name in ("data-lang", "data-language", "language"):
            language = attributes.get(name, "")[:_MAX_CLASS_CHARACTERS].strip().lower()
            if is_language(language):
                return "" if language in NO_LANGUAGE else language
        stated = attributes.get("data-syntaxhighlighter-params") or attributes.get("class", "")  # Confluence
        found = _LANGUAGE_CLASS.search(stated[:_MAX_CLASS_CHARACTERS])
        language = (found[1] or found[2]).lower() if found else ""
        if is_language(language) and language not in NO_LANGUAGE:
            return language
    return language_in_toolbar(page, pre)


def is_language(name: str) -> bool:
    """Whether this may be the name of a language of code, which is written after a fence in Markdown."""
    return _LANGUAGE.fullmatch(name) is not None


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


def _safe_pair(pair: tuple[str, str], base: str) -> tuple[str, str] | None:
    """Name and value to write of an attribute; ``None`` if it is not allowed."""
    name, value = pair
    safe = _safe_value(name, value, base)
    return None if safe is None else (name, safe)


def _harmless_pair(pair: tuple[str, str]) -> tuple[str, str] | None:
    name, value = pair
    scheme = _SCHEME.match(_IGNORED_IN_ADDRESS.sub("", value)) if name in _ADDRESSES else None
    return None if scheme is not None and scheme[1].lower() in _RUN else pair


def _safe_value(name: str, value: str, base: str) -> str | None:
    """Value to write for an attribute; ``None`` if it is not allowed."""
    if name in _PLAIN:
        return None if value in _OF_DOCUMENT and name in {"id", "name"} else value
    if name == "srcset":
        return _safe_sources(value, base)
    if _HIDDEN_MAIL in value:
        mail = decode_email(value.partition("#")[2])
        return f"mailto:{mail}" if mail else None
    if value.startswith(_ABSOLUTE):  # as most are
        return value
    is_safe = name in _ADDRESSES and value.strip(_NOWHERE) and is_safe_address(value, image=name in {"src", "poster"})
    return _resolve(value, base) if is_safe else None


def _safe_sources(srcset: str, base: str) -> str | None:
    sources = [(address, size) for address, size in _split_srcset(srcset) if address]
    if not all(address.startswith(_ABSOLUTE) or is_safe_address(address) for address, _ in sources):
        return None
    return ", ".join([f"{_resolve(address, base)} {size}".strip() for address, size in sources]) if base else srcset


def _resolve(address: str, base: str) -> str:
    """Make an address absolute, unless it points into the document itself or the base is unknown."""
    if address.startswith(_ABSOLUTE):
        return address
    bare = address.strip()
    if not base or bare.startswith("#") or _SCHEME.match(bare):
        return address
    if _PLAIN_PATH.fullmatch(bare) and (origin := _ORIGIN.match(base)):  # as joined below, in a tenth of the time
        return origin[0] + bare
    return join_address(base, bare) or address


def is_safe_address(address: str, *, image: bool = False) -> bool:
    """Whether an address is relative or has a harmless scheme; for images, ``data:`` is harmless too."""
    bare = _IGNORED_IN_ADDRESS.sub("", address)
    scheme = _SCHEME.match(bare)
    if scheme is None or scheme[1].lower() in _SCHEMES:
        return True
    return image and _IMAGE_DATA.match(bare) is not None
