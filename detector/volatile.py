"""Attributes as a site's template has them: without what changes from page to page or from visit to visit."""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from detector.hashing import hash_text

_LINKS: Final = frozenset("href src action poster data background longdesc cite data-src data-href data-url".split())
_TEXTS: Final = frozenset("alt title placeholder label value summary aria-label".split())
_NAMES: Final = frozenset("id name for type role rel".split())
_SEEN: Final = _LINKS | _TEXTS | _NAMES | {"class"}

_STATES: Final = frozenset(
    """
    active current selected open opened closed expanded collapsed on off here first last odd even hover visited self
    selflink is-open is-expanded
    """.split()
)
_STATE_BEGINNINGS: Final = ("current", "active", "is-active", "is-current", "is-selected", "in-active", "leaf-active")
_STATE_ENDINGS: Final = ("-active", "_active", "-current", "_current", "-selected", "_selected")

_DIGITS: Final = re.compile(r"[0-9]+")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{12,}")
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

_CACHED: Final = 1 << 16
_CACHED_LENGTH: Final = 400
_CACHED_PLACES: Final = 64
_CACHED_LINKS: Final = 4_096  # of each place
_cache: dict[tuple[str, str], int] = {}
_link_cache: dict[str, dict[str, int]] = {}  # by host, and by folder for links that are relative


def attribute_tokens(pairs: list[tuple[str, str]], url: str | None, base: str | None) -> list[int]:
    """Return one 64-bit token per attribute, 0 for those that do not count.

    Counted are names (``class``, ``id``, ``name``, ``type``...), links, and texts (``alt``, ``title``...); styles,
    sizes, event handlers, ``data-*``, ``aria-*`` states, nonces and the like are not. In names, numbers and long
    hexadecimal tokens become ``#``, and words of a class that say a state (``active``, ``current-menu-item``) are
    left out.

    Args:
        pairs: names and values.
        url: address of the page, to which links are relative.
        base: its ``<base href>``, where there is one.
    """
    tokens = [0] * len(pairs)
    if len(_cache) > _CACHED:  # it holds the attributes of one page more at most
        _cache.clear()
    links = LinkResolver(url, base)
    targets: dict[str, int] = {}
    for k in [k for k, (name, _) in enumerate(pairs) if name in _SEEN]:  # most attributes do not count
        name, value = pair = pairs[k]
        if name in _LINKS:
            token = targets.get(value)
            if token is None:
                token = targets[value] = links.token(value)
        else:
            token = _cache.get(pair)
            if token is None:
                token = _token(name, value)
                if len(value) <= _CACHED_LENGTH:
                    _cache[pair] = token
        tokens[k] = token
    return tokens


def _token(name: str, value: str) -> int:
    stable = " ".join(value.split()) if name in _TEXTS else _stable_name(value)
    return hash_text(f"{name}={stable}") if stable else 0


def _stable_name(value: str) -> str:
    """Put ``#`` for numbers and long hexadecimals, and leave out words that say a state."""
    stable = value if value.isalpha() else _DIGITS.sub("#", value)
    if stable.count("#") > 2:
        stable = _DIGITS.sub("#", _HEXADECIMAL.sub("#", value))
    words = stable.split()
    if "curren" in value or "activ" in value or "select" in value:
        beginnings, endings = _STATE_BEGINNINGS, _STATE_ENDINGS
        words = [word for word in words if not word.startswith(beginnings) and not word.endswith(endings)]
    return " ".join(words if _STATES.isdisjoint(words) else [word for word in words if word not in _STATES])


class LinkResolver:
    """Writes links in one form per target, so that ``../index.html`` and ``/index.html`` are the same.

    Args:
        url: address of the page; without it links stay relative.
        base: the page's ``<base href>``, where there is one.
    """

    def __init__(self, url: str | None, base: str | None = None) -> None:
        self._of_host = self._of_folder = _cached_links("")
        self._origins: tuple[str, ...] = ()
        self._folder: list[str] | None = None
        self._self: str | None = None
        if url is None:
            return
        try:
            page, named = urlsplit(url), urlsplit(base or "")
        except ValueError:
            return
        host, path = (named if named.netloc else page).netloc, page.path
        if named.netloc or named.path[:1] == "/":
            path = named.path
        elif named.path:
            path = _join(page.path.split("/")[1:-1], named.path)
        self._origins = (f"https://{host}", f"http://{host}", f"//{host}")
        self._folder = [part for part in path.split("/")[:-1] if part]
        self._self = self.resolve(url)
        self._of_host = _cached_links(host)
        self._of_folder = _cached_links("/".join([host, *self._folder, ""]))

    def token(self, link: str) -> int:
        """64-bit token of a link's target."""
        tokens = self._of_host if link[:1] == "/" or link[:4] == "http" else self._of_folder
        token = tokens.get(link)
        if token is None:
            target = self.resolve(link)
            page, mark, place = target.partition("#")
            if mark:  # ``this-page#content`` is the same template link on every page
                return hash_text(mark + place if page == self._self else target)
            token = hash_text(target)
            if len(link) <= _CACHED_LENGTH and len(tokens) < _CACHED_LINKS:
                tokens[link] = token
        return token

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
            rest = next(link[len(origin) :] for origin in self._origins if link.startswith(origin))
            if rest[:1] in {"", "/", "?", "#"}:
                return rest if rest[:1] == "/" else "/" + rest
        return link if ":" in link or first == "/" else _join(self._folder, link)


def _cached_links(place: str) -> dict[str, int]:
    """Tokens of the links met on one host or in one folder; all of them are forgotten when places are too many."""
    if place not in _link_cache and len(_link_cache) >= _CACHED_PLACES:
        _link_cache.clear()
    return _link_cache.setdefault(place, {})


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


def forget() -> None:
    """Empty the caches."""
    _cache.clear()
    _link_cache.clear()
