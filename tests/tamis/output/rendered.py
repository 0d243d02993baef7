"""What a page says, whatever way it is written: the blocks of an HTML document with the words in them."""

import unicodedata
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from lxml import etree
from markdown_it import MarkdownIt

RENDERER: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])

_BLOCKS: Final = frozenset(
    "p div ul ol li blockquote pre h1 h2 h3 h4 h5 h6 hr table thead tbody tr td th dl dt dd".split()
)
_MAY_BE_EMPTY: Final = frozenset({"hr", "li", "td", "th"})
_DISSOLVED: Final = frozenset(["p", "div", "thead", "tbody", "body", "dl", "dt", "dd"])
_MARKS: Final = {"em": "em", "i": "em", "strong": "strong", "b": "strong", "del": "del", "s": "del", "code": "code"}

Meaning = list[Any]


def rendered(markdown: str) -> str:
    """Render Markdown as HTML."""
    return str(RENDERER.render(markdown))


def meaning(html: str, *, emphasis: bool = True) -> Meaning:
    """Blocks of a document: the name of each with its contents, paragraphs as pairs of text and its marks.

    White space belongs to no mark. A paragraph that is all there is in an item is the same as bare text. Empty rows at
    the head of a table are none. Without ``emphasis`` it is left out.
    """
    root = etree.fromstring(f"<html><body>{html}</body></html>", parser=etree.HTMLParser())
    if not emphasis:
        etree.strip_tags(root, "em", "strong", "b", "i", "del", "s")
    return list(_blocks(root.find("body"), ()))


def letters(html: str) -> list[tuple[str, frozenset[Any]]]:
    """Letters and digits of a paragraph, each with its marks, and all other characters without."""
    (line,) = meaning(html)
    characters = [(character, marks) for text, marks in line for character in text]
    return [(character, marks if character.isalnum() else frozenset()) for character, marks in characters]


def _blocks(element: etree._Element, marks: tuple[Any, ...]) -> Iterator[Any]:
    line: list[tuple[str, tuple[Any, ...]]] = []
    pre = element.tag == "pre"
    for kind, value, own in _pieces(element, marks):
        if kind == "text":
            line.append((value, own))
            continue
        if words := _line(line, pre=pre):
            yield words
        line.clear()
        if kind == "break":
            continue
        if value.tag in _DISSOLVED:
            yield from _blocks(value, own)
        else:
            inner = list(_blocks(value, own))
            if not inner and value.tag not in _MAY_BE_EMPTY:
                continue
            if value.tag != "tr" or any(cell[1] for cell in inner):
                yield (value.tag, *([value.get("start")] if value.get("start") else []), inner)
    if words := _line(line, pre=pre):
        yield words


def _pieces(element: etree._Element, marks: tuple[Any, ...]) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Text and blocks inside an element, through the elements within lines."""
    yield "text", element.text or "", marks
    for child in element:
        if child.tag in _BLOCKS:
            yield "block", child, marks
        elif child.tag == "br":
            yield "break", child, marks
        elif child.tag == "img":
            yield "text", "\ufffc", (*marks, _image(child))
        else:
            yield from _pieces(child, (*marks, *_mark(child)))
        yield "text", child.tail or "", marks


def _image(element: etree._Element) -> tuple[Any, ...]:
    alternative = " ".join(element.get("alt", "").split())
    return "img", unquote(element.get("src", "")), alternative, element.get("title")


def _mark(element: etree._Element) -> tuple[Any, ...]:
    if element.tag == "a" and element.get("href") is not None:
        return (("a", unquote(element.get("href")), element.get("title")),)
    return (_MARKS[element.tag],) if element.tag in _MARKS else ()


def _line(pieces: list[tuple[str, tuple[Any, ...]]], *, pre: bool) -> list[tuple[str, frozenset[Any]]]:
    if pre:
        return [("".join(text for text, _ in pieces).removesuffix("\n"), frozenset())]
    characters: list[tuple[str, frozenset[Any]]] = []
    for text, marks in pieces:
        for character in unicodedata.normalize("NFC", text):
            if not character.isspace():
                characters.append((character, frozenset(marks)))
            elif characters and characters[-1][0] != " ":
                characters.append((" ", frozenset()))
    while characters and characters[-1][0] == " ":
        characters.pop()
    merged: list[tuple[str, frozenset[Any]]] = []
    for character, marks in characters:
        if merged and merged[-1][1] == marks:
            merged[-1] = merged[-1][0] + character, marks
        else:
            merged.append((character, marks))
    return merged
