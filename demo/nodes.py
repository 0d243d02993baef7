"""A typed node builder whose serialiser writes a page's HTML and its truth in one go.

Every subtree may be flagged as template or content; a node without a flag has its parent's. The flags reach the truth
and never the HTML.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

_SLOT = re.compile(r"\{(\d*(?::[^{}]*)?)\}")
VOID_TAGS = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})
RAW_TEXT_TAGS = frozenset({"script", "style"})
UNSEEN_TAGS = frozenset({"head", "script", "style", "template"})
INLINE_TAGS = frozenset(
    {"a", "abbr", "b", "button", "cite", "code", "del", "em", "font", "i", "img", "input", "ins", "label", "mark"}
    | {"nobr", "small", "span", "strong", "sub", "sup", "time", "u", "wbr"}
)
OPTIONAL_END_TAGS = frozenset({"p", "li", "dd", "dt", "td", "th", "tr", "option"})
COMMENT = "!--"

Child: TypeAlias = "Node | str | None"
Run: TypeAlias = tuple[str, bool]


@dataclass(slots=True)
class Node:
    """An element (or, with the tag `COMMENT`, a comment) of a page being built."""

    tag: str
    attributes: list[tuple[str, str]] = field(default_factory=list)
    children: list[Node | str] = field(default_factory=list)
    template: bool | None = None

    def add(self, *children: Child) -> Node:
        """Append children, leaving out every None, and return the node itself."""
        self.children.extend(child for child in children if child is not None)
        return self


def el(tag: str, /, *children: Child, template: bool | None = None, **attributes: str | int | None) -> Node:
    """Build an element.

    Args:
        tag: The element's name, and after it its classes as selectors write them: ``div.box``.
        *children: Nodes and strings; None is left out.
        template: True for template, False for content, None for whatever the parent is.
        **attributes: ``class_`` means ``class``, ``data_nonce`` means ``data-nonce``; None is left out.
    """
    name, *classes = tag.split(".")
    pairs = [("class", " ".join(classes))] if classes else []
    pairs += [
        (name.rstrip("_").replace("_", "-"), str(value)) for name, value in attributes.items() if value is not None
    ]
    return Node(name, pairs, template=template).add(*children)


def items(tag: str, children: Iterable[Child]) -> Node:
    """Build a list with an item for each child."""
    return el(tag, *(el("li", child) for child in children))


def markup(template: str, *values: object) -> Node:
    """Build an element from HTML with slots.

    A slot is ``{}``, or ``{1}`` for one of the values by its place, or ``{:%d %B}`` with a format. A node, a list of
    nodes and strings, or a string may stand in text; None is left out, and so is an attribute that is None.

    Args:
        template: One element, whose end tags are all written; line breaks and what indents them count nothing. An
            attribute ``template`` or ``content`` without a value is a flag.
        *values: What stands in the slots.
    """
    node = _filled(_parsed_template(template), values)
    assert isinstance(node, Node)  # noqa: S101
    return node


class _TemplateParser(HTMLParser):
    """Parses a template into nodes, with a list of strings and slots wherever a slot may stand."""

    def __init__(self, template: str) -> None:
        super().__init__()
        self.root = Node("")
        self._open, self._slots = [self.root], 0
        self.feed(re.sub(r"\n\s*", "", template))
        self.close()

    def _pieces(self, text: str) -> list[Any]:
        pieces: list[Any] = _SLOT.split(text)
        for at in range(1, len(pieces), 2):
            number, _, form = pieces[at].partition(":")
            pieces[at] = int(number or self._slots), form
            self._slots += 1
        return [piece for piece in pieces if piece]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag)
        for name, value in attrs:
            if value is None and name in {"template", "content"}:
                node.template = name == "template"
            else:
                node.attributes.append((name, self._pieces(value or "")))  # type: ignore[arg-type]
        self._open[-1].children.append(node)
        if tag not in VOID_TAGS:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if self._open.pop().tag != tag:
            raise ValueError(f"</{tag}> closes another element in {self.rawdata}")

    def handle_data(self, data: str) -> None:
        self._open[-1].children += self._pieces(data)

    def handle_comment(self, data: str) -> None:
        self._open[-1].children.append(Node(COMMENT, children=self._pieces(data)))


@lru_cache(maxsize=1_024)
def _parsed_template(template: str) -> Any:
    (root,) = _TemplateParser(template).root.children
    return root


def _filled(piece: Any, values: tuple[object, ...]) -> object:
    """Fill in the slots of a piece of a template."""
    if isinstance(piece, str):
        return piece
    if isinstance(piece, tuple):
        number, form = piece
        return format(values[number], form) if form else values[number]
    attributes = [(name, [_filled(part, values) for part in parts]) for name, parts in piece.attributes]
    written = [(name, "".join(map(str, parts))) for name, parts in attributes if parts != [None]]
    node = Node(piece.tag, written, template=piece.template)
    for child in piece.children:
        value = _filled(child, values)
        for each in value if isinstance(value, list) else [value]:
            node.add(each if each is None or isinstance(each, Node) else str(each))
    if node.tag == COMMENT:
        node.children = ["".join(map(str, node.children))]
    return node


def normalise(text: str) -> str:
    """Collapse white space as the truth does."""
    return " ".join(text.split())


class Serialiser:
    """Writes one page: its HTML, and its text runs in document order with their flags.

    Args:
        slips: Where given, a source of the slips real pages have: end tags left out where a parser implies them,
            stray end tags, duplicate attributes, bare ampersands. None of them changes the text a parser finds.
    """

    def __init__(self, slips: random.Random | None = None) -> None:
        self._slips = slips
        self._out: list[str] = []
        self._open: list[str] = []
        self._runs: list[Run] = []
        self._text: list[str] = []
        self._text_template: bool | None = None

    def write(self, root: Node) -> tuple[str, tuple[Run, ...]]:
        """Return the HTML and the runs ``(text, is template)``, white space normalised and blank runs left out.

        Raises:
            ValueError: Where text that a parser would see as one run is flagged half template and half content.
        """
        self._element(root, template=True, followed_by_text=False)
        self._flush()
        return "".join(self._out), tuple(self._runs)

    def _slip(self, chance: float) -> bool:
        return self._slips is not None and self._slips.random() < chance

    def _flush(self) -> None:
        text = normalise("".join(self._text))
        if text and self._text_template is not None:
            self._runs.append((text, self._text_template))
        self._text.clear()
        self._text_template = None

    def _string(self, text: str, template: bool) -> None:
        if not UNSEEN_TAGS.isdisjoint(self._open):
            self._out.append(text if self._open[-1] in RAW_TEXT_TAGS else html.escape(text, quote=False))
            return
        if text.strip():
            if self._text_template not in (None, template):
                raise ValueError(f"one text run is both template and content: {text!r}")
            self._text_template = template
        self._text.append(text)
        escaped = html.escape(text, quote=False)
        self._out.append(escaped.replace(" &amp; ", " & ") if self._slips else escaped)

    def _element(self, node: Node, *, template: bool, followed_by_text: bool) -> None:
        self._flush()
        if node.tag == COMMENT:
            self._out.append(f"<!-- {node.children[0]} -->\n")
            return
        flag = template if node.template is None else node.template
        self._out.append(self._start_tag(node))
        if node.tag in VOID_TAGS:
            return
        self._open.append(node.tag)
        self._children(node, flag)
        self._flush()
        self._open.pop()
        self._end_tag(node, followed_by_text=followed_by_text)

    def _children(self, node: Node, template: bool) -> None:
        spaced = bool(node.children) and "pre" not in self._open and all(_is_block(c) for c in node.children)
        if spaced:
            self._out.append("\n")
        for position, child in enumerate(node.children):
            if isinstance(child, str):
                self._string(child, template)
                continue
            after = node.children[position + 1] if position + 1 < len(node.children) else None
            self._element(child, template=template, followed_by_text=after is not None and not _is_block(after))
            if spaced:
                self._out.append("\n")
                if self._slip(0.04) and "body" in self._open:
                    stray = [tag for tag in ("span", "font", "b", "center") if tag not in self._open]
                    self._out.append(f"</{stray[0]}>" if stray else "")

    def _start_tag(self, node: Node) -> str:
        pairs = [f'{name}="{html.escape(value)}"' for name, value in node.attributes]
        if pairs and self._slip(0.15):
            pairs.append(pairs[0])
        return f"<{' '.join([node.tag, *pairs])}>"

    def _end_tag(self, node: Node, *, followed_by_text: bool) -> None:
        if node.tag in OPTIONAL_END_TAGS and not followed_by_text and self._slip(0.4):
            return
        if self._slips is not None and node.tag in {"body", "html"}:
            return
        self._out.append(f"</{node.tag}>")


def _is_block(child: Node | str) -> bool:
    return isinstance(child, Node) and child.tag not in INLINE_TAGS
