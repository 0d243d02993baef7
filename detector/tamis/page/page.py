"""A page as flat arrays: one pass over the tree of a parser, and no per-node Python objects after it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from lxml import etree

import tamis.page.tag_sets  # noqa: F401  (which the core reads a tree by)
from tamis.core import core
from tamis.page.attributes import AttributeTable
from tamis.page.html5 import ATTRIBUTES, TAGS, Html5Tree, parse_html5
from tamis.page.parsing import (
    FEEDS,
    LOOKED_AT,
    close_endless,
    is_json,
    kind_of_data,
    page_of_mhtml,
    parse_prepared,
    prepare,
)
from tamis.page.rebuilding import rebuild
from tamis.page.text import without_controls
from tamis.page.tree import ALIASES, TAG_ID, TAG_NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.arrays import Flags, Indices, Integers


_ELEMENTS: Final = [*TAGS, *(name for name in ALIASES if name not in TAGS)]
_NAMES: Final = (
    "\n".join(_ELEMENTS).encode(),
    np.array([TAG_ID.get(ALIASES.get(name, name), 0) for name in _ELEMENTS], np.int32),
    "\n".join(ATTRIBUTES).encode(),
)


class PageTooLarge(ValueError):  # noqa: N818  callers expect it and handle it
    """The page exceeds one of :class:`Limits`; ``reason`` is ``"bytes"``, ``"nodes"`` or ``"depth"``."""

    def __init__(self, reason: str, size: int, limit: int) -> None:
        super().__init__(reason, size, limit)  # which pickles make it from again
        self.reason = reason
        self.size = size
        self.limit = limit

    def __str__(self) -> str:
        return f"page has {self.size:,} {self.reason}, the limit is {self.limit:,}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Size limits; a page above one is not read and has no text.

    Attributes:
        max_bytes: size of the HTML, in bytes (in characters for a string), checked before anything is read.
        max_nodes: elements and comments, or a tenth of the attributes if that is more, checked before the parse.
        max_depth: levels of the tree. libxml2 silently drops what is nested deeper than 2,048.
    """

    max_bytes: int = 16_000_000
    max_nodes: int = 100_000
    max_depth: int = 2_047

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not isinstance(getattr(self, name), int | float):
                raise TypeError(f"{name} must be a number, not {getattr(self, name)!r}")

    def check(self, what: str, size: int) -> None:
        """Raise :class:`PageTooLarge` if the size, in ``"bytes"``, ``"nodes"`` or ``"depth"``, exceeds its limit."""
        limit = getattr(self, f"max_{what}")
        if size > limit:
            raise PageTooLarge(what, size, limit)


DEFAULT_LIMITS: Final = Limits()
NO_LIMITS: Final = Limits(sys.maxsize, sys.maxsize, sys.maxsize)


@dataclass(eq=False)
class Page:
    """A page: its elements, text runs and text blocks in document order, and its address.

    Three kinds of things, each in arrays of its own:

    * **elements** in preorder (``n`` of them, comments left out). Subtree ``i`` is the slice ``[i, end[i])``, so the
      sum of any quantity over a subtree is a difference of two prefix sums.
    * **text runs** (``r``): every non-empty stretch of text between two pieces of markup, white space included, each
      belonging to its element. The contents of ``script``, ``style`` and the like are not text.
    * **text blocks** (``m``): maximal sequences of runs not divided by a block-level tag or a ``br``, without the blank
      ones. Mixed content (a paragraph and a share bar in one ``div``) is several blocks.

    Attributes:
        attributes: name-value pairs of each element.
        tag: int16[n], ids of :data:`tamis.page.tree.TAG_NAMES`.
        tag_names: names of all elements with a tag id.
        content_in_head: index of the first child of ``head`` at which browsers end it; 0 if there is none.
        unknown_names: tag name by element index, for tags without an id.
        raw_texts: UTF-8 text that begins each ``script``, ``style`` and ``title``, and each other element whose text is
            not text of the page, by element index, in document order.
        title: text of the first ``title`` element outside an image, white space normalised; empty without one.
        utf8: all runs joined, see :attr:`text`.
        run_offset: int64[r + 1], where each run begins, in characters.
        is_nonblank: bool[r], whether each run is not blank.
        has_unseen: bool[r], whether it may hold characters without a width, see :mod:`tamis.page.text`.
        continues_word: bool[r], whether there is no white space between it and the run before it in its block.
        run_node: int32[r], the element a run belongs to.
        run_begin, run_end: int32[n], slice of the runs inside each subtree.
        block_node: int32[m], nearest block-level element around each block.
        block_run_begin, block_run_end: int32[m], slice of the runs of each block.
        block_begin, block_end: int32[n], slice of the blocks inside each subtree.
        parent: int32[n], parent of each element, -1 for the root.
        end: int32[n], end of the slice of each subtree.
        depth: int32[n], 0 for the root.
        url: address of the page, where known.
        data: format of the source if it is not HTML: ``"binary"``, ``"json"``, ``"feed"`` or ``"xml"``.
        mended_html: the document with the missing end added, if a title, script, comment or the like never ends and
            swallows the rest of the page; ``None`` otherwise.
        n, m, r: number of elements, of text blocks and of text runs.

    *Units* are what gets a score: the ``n`` elements followed by the ``m`` blocks. In the tree of units a block is a
    leaf below its ``block_node``; see :attr:`unit_parent`.
    """

    parent: Indices
    end: Indices
    depth: Indices
    attributes: AttributeTable
    tag: NDArray[np.int16]
    tag_names: frozenset[str]
    content_in_head: int
    unknown_names: dict[int, str]
    raw_texts: dict[int, bytes]
    title: str
    utf8: bytes
    run_offset: Integers
    is_nonblank: Flags
    has_unseen: Flags
    continues_word: Flags
    run_node: Indices
    run_begin: Indices
    run_end: Indices
    block_node: Indices
    block_run_begin: Indices
    block_run_end: Indices
    block_begin: Indices
    block_end: Indices
    url: str | None = None
    data: str | None = None
    mended_html: bytes | None = None
    n: int = field(init=False)
    m: int = field(init=False)
    r: int = field(init=False)

    def __repr__(self) -> str:
        """One line: title and size, or the format of what is not HTML."""
        return f"<Page {self.title!r}, {self.data or f'{self.n:,} elements'}>"

    @classmethod
    def parse(
        cls, html: str | bytes, url: str | None = None, *, encoding: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Page:
        """Parse HTML the way browsers do, and flatten it; for other data only :attr:`data` is set.

        A document whose nesting or names would take an HTML5 parser quadratic time is parsed by lxml.

        Args:
            html: the document, or MHTML as browsers save it.
            url: address of the page.
            encoding: charset of the HTTP header.
            limits: limits on size.

        Raises:
            PageTooLarge: the page exceeds a limit.
        """
        if not isinstance(html, str | bytes):
            raise TypeError(f"html must be str or bytes, not {type(html).__name__}")
        data = kind_of_data(html)
        if data is not None:
            page = cls.parse("<html>", url)
            page.data = data
            return page
        limits.check("bytes", len(html))
        saved = page_of_mhtml(html) if isinstance(html, bytes) else None
        if saved is not None:
            html, encoding, url = saved[0], saved[1] or encoding, url or saved[2]
        document = prepare(html, encoding)
        limits.check("nodes", max(document.nodes, document.attributes // 10))  # ten attributes take a node's memory
        arrays = None if document.is_slow else _flatten(parse_html5(document.html), limits)
        if arrays is None:  # libxml2's own trees can be read
            arrays = cast("dict[str, Any]", _flatten(parse_prepared(document.html), limits))
        if len(arrays["parent"]) > 30_000:
            core.return_memory()  # of the tree, which is as large as all that comes now
        return cls(**arrays, url=url, mended_html=close_endless(document))

    @classmethod
    def from_tree(cls, root: etree._Element, url: str | None = None, *, limits: Limits = DEFAULT_LIMITS) -> Page:
        """Flatten an lxml tree, such as the ``response.selector.root`` that Scrapy holds; it is not changed.

        Trees that browsers would read differently, and trees that the core cannot read, are serialised and parsed
        again.

        Raises:
            PageTooLarge: the tree exceeds a limit.
        """
        arrays = _flatten(root, limits)
        names = () if arrays is None else arrays["attributes"].names
        if arrays is None or arrays["content_in_head"] or "shadowrootmode" in names or "shadowroot" in names:
            html = etree.tostring(root, method="html", encoding="unicode", with_tail=False)
            return cls.parse(html, url, limits=limits)
        page = cls(**arrays, url=url)
        page.data = page._data_parsed_as_html()
        return page

    def _data_parsed_as_html(self) -> str | None:
        """``"json"`` or ``"feed"`` if an HTML parser made the tree from one of these."""
        first = (name for element, name in self.unknown_names.items() if element < 4)  # html, body, p
        if not FEEDS.isdisjoint(name.rpartition("}")[2].rpartition(":")[2].lower() for name in first):
            return "feed"
        return "json" if is_json(self.text[:LOOKED_AT], self.text) else None

    def __post_init__(self) -> None:
        self.n, self.m, self.r = len(self.parent), len(self.block_node), len(self.run_node)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what the core holds, which is computed again."""
        return {name: value for name, value in vars(self).items() if type(value).__name__ != "PyCapsule"}

    @cached_property
    def arrays(self) -> object:
        """The arrays as the compiled core takes them, checked once."""
        arrays = (
            self.tag, self.parent, self.end, self.depth, self.run_begin, self.run_end, self.block_begin, self.block_end,
            self.run_node, self.block_node, self.block_run_begin, self.block_run_end, self.run_offset, self.is_nonblank,
        )  # fmt: skip
        return core.checked_page(arrays, self.utf8, self.attributes.arrays)

    @cached_property
    def elements(self) -> list[etree._Element]:
        """The n elements in a tree of lxml, made on first access."""
        return self.subtree(0)

    def subtree(self, element: int) -> list[etree._Element]:
        """Elements of a subtree in a tree of lxml of their own, in the order of the page."""
        return rebuild(self, element)

    def raw_text(self, element: int) -> str:
        """Return one of :attr:`raw_texts`, without control characters."""
        return without_controls(self.raw_texts[element])

    @cached_property
    def text(self) -> str:
        """All runs joined; run ``k`` is ``text[run_offset[k]:run_offset[k + 1]]``."""
        return self.utf8.decode()

    @cached_property
    def runs(self) -> list[str]:
        """The r text runs."""
        text = self.text
        return [text[begin:end] for begin, end in pairwise(self.run_offset.tolist())]

    @cached_property
    def unit_parent(self) -> Indices:
        """int32[n + m], parent of each unit; always smaller than the unit's own index, -1 for the root."""
        return np.concatenate([self.parent, self.block_node])

    def block_texts(self) -> list[str]:
        """Text of each block (``m`` strings), white space normalised."""
        return self._block_texts.copy()

    @cached_property
    def _block_texts(self) -> list[str]:
        return self.block_lines.split("\n") if self.m else []

    @cached_property
    def block_lines(self) -> str:
        """The block texts joined by line feeds; no block text contains one."""
        return self.block_utf8.decode()

    @cached_property
    def block_utf8(self) -> bytes:
        """The same in UTF-8."""
        lines: bytes = core.block_texts(self.arrays)
        return lines

    def attribute(self, name: str) -> dict[int, str]:
        """Value of one attribute by element index, for the elements that carry it."""
        table = self.attributes
        value_of = {index: value for value, index in table.first_index_by_value(name).items()}
        return dict(table.elements_and_values(value_of))


def _flatten(source: etree._Element | Html5Tree, limits: Limits) -> dict[str, Any] | None:
    """Read a tree into the arrays of a :class:`Page`; ``None`` for one that the core cannot read.

    Raises:
        PageTooLarge: the tree exceeds a limit.
    """
    caps = limits.max_nodes, limits.max_depth
    found = core.flatten(source, *_NAMES, *caps)
    if found is None:
        return None
    if isinstance(found, tuple):
        limits.check("nodes", found[0])
        limits.check("depth", found[1])

    arrays = _arrays(found.pop("arrays"), found.pop("where"))
    attributes = AttributeTable(
        names=found.pop("names"),
        data=found.pop("values"),
        begin=arrays.pop("attribute_begin"),
        **{name: arrays.pop(name) for name in ("name_of", "first_index", "value_begin", "first")},
    )
    tag, parent = arrays["tag"], arrays["parent"]
    titles = (
        without_controls(text)
        for element, text in found["raw_texts"].items()
        if tag[element] == TAG_ID["title"] and (not element or tag[parent[element]] != TAG_ID["svg"])
    )
    return {
        "attributes": attributes,
        "tag_names": frozenset(compress(TAG_NAMES, np.bincount(tag).tolist())),
        "title": " ".join(next(titles, "").split()),
        **found,
        **arrays,
    }


def _arrays(memory: bytes, where: dict[str, tuple[str, int, int]]) -> dict[str, NDArray[Any]]:
    """The arrays that lie in one piece of memory, read-only, since the core reads them with the lock released."""
    dtypes: dict[str, Any] = {"int64_t": np.int64, "int32_t": np.int32, "int16_t": np.int16, "uint8_t": np.bool_}
    items: dict[str, NDArray[Any]] = {kind: np.frombuffer(memory, dtype) for kind, dtype in dtypes.items()}
    return {name: items[kind][begin:end] for name, (kind, begin, end) in where.items()}


def _check_core_reads_trees() -> None:
    """Read two small trees, since the core relies on the struct layout of libxml2, lxml and lexbor, which may change.

    Every field that the core reads matters for one of their parts: text, comments, attributes of known and unknown
    names, with a prefix or without a value; elements of known and unknown names, within and beyond the length up to
    which lexbor keeps a name inside its entry; contents of templates, with and without a shadow root.

    Raises:
        ImportError: the core reads a tree wrongly.
    """
    html = (
        '<html><head></head><body id="a"><p class="b" data-c="d" hidden="">one<br/>two</p><!--no-->'
        '<my-card data-beyond-sixteen="e">three</my-card><name-beyond-sixteen>four</name-beyond-sixteen>'
        '<template><p>five</p></template><template shadowrootmode="f"><p>six</p></template>'
        '<svg><use xlink:href="g"></use></svg></body></html>'
    )
    links = "http://www.w3.org/1999/xlink"
    xml = etree.fromstring(html.replace("<svg>", f'<svg xmlns:xlink="{links}">'))
    caps = DEFAULT_LIMITS.max_nodes, DEFAULT_LIMITS.max_depth
    parents = [-1, 0, 0, 2, 3, 2, 2, 2, 7, 2, 9, 2, 11]
    for name, source, shadow_root, text, link in (
        ("lxml", xml, "template", b"onetwothreefour", f"{{{links}}}href"),
        ("selectolax", parse_html5(html.encode()), "div", b"onetwothreefoursix", "xlink:href"),
    ):
        found = core.flatten(source, *_NAMES, *caps)
        tags = ["html", "head", "body", "p", "br", "", "", "template", "p", shadow_root, "p", "svg", "use"]
        names = ["id", "class", "data-c", "hidden", "data-beyond-sixteen", "shadowrootmode", link]
        arrays = _arrays(found["arrays"], found["where"]) if isinstance(found, dict) else {}
        if (
            not arrays
            or [TAG_NAMES[tag] for tag in arrays["tag"].tolist()] != tags
            or arrays["parent"].tolist() != parents
            or (found["utf8"], [*found["names"]], found["values"]) != (text, names, b"abdefg")
            or (found["unknown_names"], found["raw_texts"][8]) != ({5: "my-card", 6: "name-beyond-sixteen"}, b"five")
        ):
            raise ImportError(
                f"this release of {name} stores its trees in a layout that tamis's compiled core cannot read: "
                f"install another release (pip install 'lxml>=6,<7' 'selectolax>=1.0.1,<1.1'), or a newer tamis"
            )


_check_core_reads_trees()
