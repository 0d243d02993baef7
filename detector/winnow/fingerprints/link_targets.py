"""Links in one form per target, without what changes from visit to visit."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from winnow.hashing import hash_text
from winnow.memo import Memo

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
