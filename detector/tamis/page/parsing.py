"""Decodes documents, tells HTML from other data, and parses it as Scrapy parses a response, so that both see the same.

Source of the rules of charsets: HTML standard, section 13.2.3: byte order mark, HTTP header, ``meta``; ``utf-16`` in a
``meta`` means ``utf-8``. A declaration that would damage the text is passed over. Bytes that nothing declares are
guessed as Firefox does (chardetng): one of the encodings of the web, windows-1252 where nothing speaks for another.
"""

from __future__ import annotations

import re
from contextlib import suppress
from email.parser import BytesParser
from typing import Final, NamedTuple, cast

from chardetng_py import EncodingDetector
from lxml import etree
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

from tamis.core import core
from tamis.page.text import without_controls
from tamis.page.tree import TAG_ID

_SINGLE_BYTES: Final = re.compile(r"cp125|iso8859-|latin|koi8|mac|ascii")  # no word of theirs is UTF-8 by chance
_DEFAULT: Final = "cp1252"
_SIGNS: Final = b"\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa2\xa3\xa5\xa7\xa9\xab\xad\xae\xb0\xb7\xbb\xbc\xbd\xbe"
"""Quotation marks, dashes, spaces and signs of windows-1252: with no other byte above 0x7f a page is in it."""

_OTHER_SCRIPT: Final = "[\u0370-\u1cff\uff61-\uff9f]"
_GARBLED: Final = re.compile(
    "[^\x00-\x1a\x1c-\x7f](?:(?<=[\ufffd\x1b\x80-\x9f\ue000-\uf8ff])|(?<=[À-ɏ]{4})|(?<=[А-ЯЁ]{4})"
    rf"|(?<=[A-Za-zÀ-ɏ]{_OTHER_SCRIPT})|(?<={_OTHER_SCRIPT})(?=[A-Za-zÀ-ɏ])"
    r"|(?<=[a-z][\u3400-\u9fff])(?=[a-z])|(?<=[^\W\d_][¡-©«¬®-¶¸¹»-¿×÷])(?=[^\W\d_]))"
)
"""What text decoded with its own charset has in a few places at most."""

_SAMPLE: Final = 100_000  # bytes that chardetng reads where a charset is declared: it reads 8 MB a second

# A text may begin with the letters of a signature: numbers in bytes follow them in a picture, not words.
_BINARY: Final = re.compile(
    rb"%PDF-\d|\x89PNG|\xff\xd8\xff|PK\x03\x04|\x1f\x8b|\x7fELF"
    rb"|GIF8[79]a.{0,6}[\x00-\x08\x0e-\x1f]|RIFF.{4}[A-Z]{3}[A-Z ]",
    re.DOTALL,
)
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_WIDE: Final = re.compile(rb"((?:[\t-~]\0){3})|(?:\0[\t-~]){3}")
LOOKED_AT: Final = 4_096  # bytes or characters, at the beginning and the end

_ALIASES: Final = {"utf-16": "utf-8", "utf-16-be": "utf-8", "utf-16-le": "utf-8", "x-user-defined": "cp1252"}
"""What browsers read where one of these is declared, since a document in UTF-16 could not be read so far."""


def decode(html: bytes, encoding: str | None = None) -> str:
    """Decode a document, see :func:`decoded`."""
    text = decoded(html, encoding)[1]
    return html.decode() if text is None else text


def decoded(html: bytes, encoding: str | None = None) -> tuple[str, str | None]:
    """Return the codec of a document, and the decoded document without its byte order mark.

    The codec is decided by, in this order: a byte order mark, text that is UTF-8 beyond chance, the charset of the HTTP
    header, that of a ``meta`` element, shorter text in UTF-8, and what the bytes look like. UTF-8 outweighs what is
    declared, since saved pages and mirrors are often converted and keep the declaration they came with. A declared
    charset that would garble the text is passed over if another one does not. A few wrong bytes, as where a page was
    cut off or two were joined, do not make it another charset. The text is ``None`` if the document is valid UTF-8.

    Args:
        html: the document.
        encoding: charset of the HTTP header, where there was one.
    """
    marked, mark = read_bom(html)
    if marked is not None and mark is not None:
        return marked, to_unicode(html[len(mark) :], marked)
    if wide := _wide_codec(html):
        return wide, to_unicode(html, wide)
    utf8 = _read_utf8(html)
    if utf8.continuations >= 12 and not utf8.is_damaged:  # fewer can be two or three characters of a charset of Asia
        return "utf-8", utf8.text
    declared = _declared_charsets(html, encoding)
    if _is_utf8(html, utf8, declared):
        return "utf-8", utf8.text
    return _least_garbled(html, [name for name in declared if name != "utf-8"])


class _Utf8(NamedTuple):
    """A document read as UTF-8.

    Attributes:
        text: its text, ``None`` where it is UTF-8 as it is.
        continuations: bytes of characters but the first ones.
        characters: characters beyond ASCII; of valid UTF-8 any number above 0 if there are some.
        damage: number of replacements.
    """

    text: str | None
    continuations: int
    characters: int
    damage: int

    @property
    def is_damaged(self) -> bool:
        """Whether more than a few of the characters beyond ASCII were replaced."""
        return self.damage > self.continuations * 0.05


def _read_utf8(html: bytes) -> _Utf8:
    continuations = core.count_continuations(html)
    if continuations >= 0:
        return _Utf8(None, continuations, continuations, 0)
    text = html.decode("utf-8", "replace")
    damage = text.count("\ufffd") - text.endswith("\ufffd")  # a page may have been cut off in a character
    return _Utf8(text, len(html) - len(text), len(text) - len(text.encode("ascii", "ignore")) - damage, damage)


def _declared_charsets(html: bytes, encoding: str | None) -> list[str]:
    """The charsets that the HTTP header and a ``meta`` element declare, in this order."""
    header = http_content_type_encoding(f"text/html; charset={encoding}") if encoding else None
    declared = (name for name in (header, html_body_declared_encoding(html)) if name is not None)
    return [_ALIASES.get(name, name) for name in declared if _is_charset(name)]


def _is_utf8(html: bytes, utf8: _Utf8, declared: list[str]) -> bool:
    """Whether a document with few characters beyond ASCII is UTF-8, by these and by what is declared."""
    if declared[:1] == ["utf-8"]:
        has_escapes = html.isascii() and b"\x1b" in html  # of ISO-2022-JP
        return utf8.characters >= utf8.damage and not has_escapes
    if "utf-8" in declared or not declared:
        return utf8.characters >= max(1, 2 * utf8.damage)
    return utf8.continuations > 0 and not utf8.is_damaged and _SINGLE_BYTES.match(declared[0]) is not None


def _is_charset(name: str) -> bool:
    """Whether a codec of Python makes text of any bytes: "hex", "rot13", "idna", "undefined" and "punycode" do not."""
    try:
        made = b"\xff".decode(name, "replace")
        return isinstance(made, str) and made != ""  # as punycode makes of it from Python 3.13 on
    except (LookupError, UnicodeError):
        return False


def _least_garbled(html: bytes, declared: list[str]) -> tuple[str, str]:
    """Decode what is not UTF-8: as declared, or as it looks if only the former would garble it.

    Of header and ``meta`` that differ, the ``meta`` decides where the bytes look like it.
    """
    if len(set(declared)) > 1 and _DEFAULT != _guess(html[:_SAMPLE]) == declared[1]:
        declared.reverse()
    texts: dict[str, str] = {}
    garbled: dict[str, int] = {}
    for name in declared:
        texts[name] = to_unicode(html, name)
        is_plain = texts[name].isascii() and "\x1b" not in texts[name]
        garbled[name] = 0 if is_plain else len(_GARBLED.findall(texts[name]))
        if 8 * garbled[name] <= len(texts[name]) - len(texts[name].encode("ascii", "ignore")):
            return name, texts[name]
    guessed = _guess(html[:_SAMPLE] if declared else html)
    if guessed not in texts:
        texts[guessed] = to_unicode(html, guessed)
        garbled[guessed] = 2 * len(_GARBLED.findall(texts[guessed])) if declared else 0
    best = min(texts, key=lambda name: garbled[name])
    return best, texts[best]


def _wide_codec(html: bytes) -> str | None:
    """UTF-16 without a byte order mark: every other byte of the first characters, which are markup, is zero."""
    found = _WIDE.match(html)
    return found and ("utf-16-le" if found[1] else "utf-16-be")


def _guess(html: bytes) -> str:
    if html.translate(None, _SIGNS).isascii() and b"\x1b" not in html:  # ISO-2022-JP is ASCII with escapes
        return _DEFAULT
    detector = EncodingDetector()
    detector.feed(html, last=True)
    return resolve_encoding(detector.guess(tld=None, allow_utf8=False)) or _DEFAULT


def is_binary(html: str | bytes) -> bool:
    """Whether a document is a picture, archive or the like; a few stray control characters do not make it one."""
    if isinstance(html, str):
        if html.startswith(("\ufffdPNG", "\u2030PNG", "\ufffd\ufffd\ufffd\ufffd\0", "\x1f\ufffd")):
            return True
        start = html[:LOOKED_AT].encode("latin-1", "replace")
    else:
        start = html[:LOOKED_AT]
        if start.startswith((b"\xff\xfe", b"\xfe\xff")) or _wide_codec(start):
            return False
    if _BINARY.match(start):
        return True
    return len(start) - len(start.translate(None, _CONTROLS)) > len(start) // 10


# Linear, all of them: repeated parts are possessive, and begin with other characters than what follows.
_ROOT: Final = re.compile(
    r"\s*+(?:(?P<xml><\?xml\b)(?:[^<]|<!--.*?(?:-->|\Z)|<[?!])*+|(?:<!--.*?-->\s*+|<\?[^>]*+>\s*+)*+)"
    r"<(?:[\w.-]++:)?(?P<name>[\w.-]++)",
    re.DOTALL,
)
_JSON: Final = re.compile(
    r"\s*+(?=[\[{])(?:\[\s*+)*+(?:\{\s*+(?:\}|\"(?:[^\"\\]|\\.)*+(?:\"\s*+:|\Z))"
    r"|(?<=[\[\s])(?:(?:\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|-?\d[\d.eE+-]*+|true|false|null)\s*+(?:,|\Z)|\]))",
    re.DOTALL,
)
FEEDS: Final = frozenset({"rss", "feed", "rdf"})


def kind_of_data(html: str | bytes) -> str | None:
    """``"binary"``, ``"json"``, ``"feed"`` for RSS and Atom or ``"xml"`` by the bytes; ``None`` for what may be HTML.

    What says that it is XML is HTML if its root is.
    """
    if is_binary(html):
        return "binary"
    start = _ascii_of(html[:LOOKED_AT])
    if is_json(start, html):
        return "json"
    root = _ROOT.match(start)
    name = root["name"].lower() if root else ""
    if name in FEEDS:
        return "feed"
    is_xml = name in {"urlset", "sitemapindex"} or (root and root["xml"] and name not in TAG_ID)
    return "xml" if is_xml else None


def _ascii_of(part: str | bytes) -> str:
    """Decode a part of a document as far as it is ASCII, in UTF-16 as well; without a byte order mark."""
    if isinstance(part, bytes):
        part = part.replace(b"\0", b"").decode("utf-8", "replace").lstrip("\ufffd")
    return part.removeprefix("\ufeff")


def is_json(start: str, document: str | bytes) -> bool:
    """Whether the beginning and the end of a document are those of a JSON object or array, or of several."""
    return _JSON.match(start) is not None and _ascii_of(document[-LOOKED_AT:]).rstrip()[-1:] in {"}", "]"}


_HTML_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?:\s++|<\?xml\b[^>]*+>|<!--.*?-->)*+<(?:!doctype\s++html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)


def begins_as_html(html: bytes) -> bool:
    """Whether bytes that a server does not call HTML begin as a whole document of it."""
    return _HTML_START.match(html[:LOOKED_AT]) is not None


_SAVED: Final = re.compile(
    rb"\s*+[a-z-]++:.*multipart/related.*?\bboundary\s*+=\s*+\"?+([^\"\r\n;]*[^\"\s;])", re.IGNORECASE | re.DOTALL
)
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_HTML_PART: Final = re.compile(rb"^content-type:\s*(?:text/html|application/xhtml\+xml)", re.IGNORECASE | re.MULTILINE)


def page_of_mhtml(html: bytes) -> tuple[bytes, str | None, str | None] | None:
    """Return bytes, charset and address of a page that a browser saved as MHTML (RFC 2557); ``None`` for others."""
    if not (saved := _SAVED.match(html[:LOOKED_AT])):
        return None
    for part in html.split(b"--" + saved[1])[1:]:
        header, *body = _BLANK_LINE.split(part.lstrip(), 1)
        header = header[:LOOKED_AT]  # long ones take quadratic time, and parts of parts have no bound of depth
        if body and _HTML_PART.search(header):
            message = BytesParser().parsebytes(b"\n\n".join([header, *body]), headersonly=True)
            if isinstance(content := message.get_payload(decode=True), bytes):
                address = message.get("Content-Location")  # a header object where it is not in ASCII
                charset = message.get_content_charset()
                return content, charset, None if address is None else without_controls(str(address))
    return None


MAX_ATTRIBUTES: Final = 1_000
"""Attributes of an element in a large document; parsers take quadratic time for them, hours for two million."""


def parse_html(html: str | bytes, encoding: str | None = None) -> etree._Element:
    """Return the root element of a document as lxml reads it; one without any element gives an empty ``html``.

    Args:
        html: the document.
        encoding: charset named by the HTTP header, see :func:`decoded`.
    """
    return parse_prepared(prepare(html, encoding).html)


def parse_prepared(html: bytes) -> etree._Element:
    """Parse a document of :func:`prepare` by lxml."""
    parser = etree.HTMLParser(recover=True, huge_tree=True, encoding="utf-8", collect_ids=False)
    root = etree.fromstring(html or b"<html/>", parser=parser)
    return root if root is not None else etree.fromstring(b"<html/>", parser=parser)


_CHARACTER: Final = rb"\xc3[\x82-\xb4](?:\xc2[\x80-\xbf]){1,3}+"  # of UTF-8, whose bytes were written as UTF-8
_MISREAD: Final = re.compile(_CHARACTER + rb"(?:" + _CHARACTER + rb")*+")  # begins with a byte that is found fast
_OUTSIDE_MISREAD: Final = re.compile(rb"[^\x80-\xc2]")
_UPPER_CONTROL: Final = re.compile(rb"\xc2[\x80-\x9f]")
_SIGNS_OF_CONTROLS: Final = {
    chr(code).encode(): bytes([code]).decode("cp1252", "ignore").encode() or chr(code).encode()
    for code in range(0x80, 0xA0)
}


def _mend_misread(html: bytes) -> bytes:
    """Mend characters that were once read as Latin-1 and written as UTF-8: of UTF-8, then of windows-1252."""
    parts: list[bytes] = []
    begin = 0
    while begin < len(html):  # in parts, since a substitution remembers all that it found
        cut = _OUTSIDE_MISREAD.search(html, begin + (1 << 20))
        end = cut.start() if cut else len(html)
        mended = _MISREAD.sub(_read_again, html[begin:end])
        parts.append(_UPPER_CONTROL.sub(lambda found: _SIGNS_OF_CONTROLS[found[0]], mended))
        begin = end
    return b"".join(parts)


def _read_again(found: re.Match[bytes]) -> bytes:
    """Return what misread characters were, if they can be read again."""
    read = found[0].decode().encode("latin-1")
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            return read.decode(encoding).encode()
    return found[0]


class Prepared(NamedTuple):
    """A document in UTF-8 for a parser.

    Attributes:
        html: the document.
        is_slow: whether parsing it as HTML5 would take quadratic time.
        nodes: its start tags, other tags that make elements or comments, and comments.
        attributes: attributes of all of them.
        endless: name of the first element whose text never ends, so that all that follows is in it, or of a title that
            ends in the body; "!--" for a comment.
        rest: bytes of the document from that text on.
    """

    html: bytes
    is_slow: bool
    nodes: int
    attributes: int
    endless: str | None
    rest: int


def prepare(html: str | bytes, encoding: str | None = None) -> Prepared:
    """Prepare a document for a parser.

    Tags of frames are left out, and what the head holds for browsers without scripts; ``<iframe/>`` gets an end. In a
    document with control characters from U+0080 to U+009F, which show nothing, text that was misread is mended.

    Args:
        html: the document. NUL characters and halves of surrogate pairs are dropped.
        encoding: charset named by the HTTP header; without it :func:`decoded` says what decides.
    """
    text = html if isinstance(html, str) else decoded(html, encoding)[1]
    body = cast("bytes", html) if text is None else text.encode("utf-8", "ignore")
    if core.has_controls(body):
        body = _mend_misread(body)
    return Prepared(*core.scan_tags(body.replace(b"\x00", b""), MAX_ATTRIBUTES))


_TAG_OF_PAGE: Final = re.compile(rf"</?(?:{'|'.join(TAG_ID)})(?=[\s/>])".encode(), re.IGNORECASE)
_TAG_AFTER_CODE: Final = re.compile(rb"(?:\A|(?<=[\s>]))" + _TAG_OF_PAGE.pattern, re.IGNORECASE)
_TEXT_AFTER_TAG: Final = re.compile(rb">[^<>]*?[^<>\s]")
_ENDLESS: Final = {
    **{name: (_TAG_OF_PAGE, f"</{name}>") for name in ("title", "textarea", "iframe", "noframes", "noembed")},
    **{name: (_TAG_AFTER_CODE, f"</{name}>") for name in ("script", "style")},  # code may have tags in strings
    "!--": (_TAG_OF_PAGE, "-->"),
}
"""What closes an element or comment that never ends, and the tags before which it is closed."""


def close_endless(document: Prepared) -> bytes | None:
    """End what never ends before the next tag of a head or body; ``None`` if nothing is endless or no text follows.

    Browsers show nothing of such a page, since all that follows is part of its title, of a script or of a comment.
    """
    if document.endless not in _ENDLESS:
        return None
    pattern, end_tag = _ENDLESS[document.endless]
    begin = len(document.html) - document.rest
    rest = document.html[begin:]
    tag = pattern.search(rest)
    if tag is None or not _TEXT_AFTER_TAG.search(rest, tag.end()):
        return None
    return document.html[: begin + tag.start()] + end_tag.encode() + rest[tag.start() :]
