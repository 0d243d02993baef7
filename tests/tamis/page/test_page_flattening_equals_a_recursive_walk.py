from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree

from tamis.core import core
from tamis.page.page import Page
from tamis.page.tree import BLOCK_LEVEL, TAG_ID, UNSEEN_TEXT

NAMES = ["div", "p", "span", "a", "b", "br", "li", "td", "script", "select", "svg", "head", "blink", "SPAN", "option"]
TEXTS = st.sampled_from([None, "", " ", "\n\t", "a", " b ", "c d", "\u3000", "\u00e9\U0001f600"])


@st.composite
def nodes(draw: st.DrawFn, depth: int = 4) -> etree._Element:
    kind = draw(st.sampled_from([*NAMES, "!comment", "!instruction"])) if depth < 4 else "html"
    if kind == "!comment":
        node: etree._Element = etree.Comment("ignored")
    elif kind == "!instruction":
        node = etree.ProcessingInstruction("php", "ignored")
    else:
        node = etree.Element(kind, dict(draw(st.lists(st.sampled_from([("id", "1"), ("class", "x y")]), max_size=2))))
        node.text = draw(TEXTS)
        if depth:
            node.extend(draw(st.lists(nodes(depth=depth - 1), max_size=3)))
    node.tail = draw(TEXTS)
    return node


@dataclass
class Walk:
    """What the flattened page has to say, found the slow way."""

    rows: list[list[int]] = field(default_factory=list)  # parent, end, depth, run_begin, run_end
    runs: list[tuple[str, int, int]] = field(default_factory=list)  # text, owner, border
    boxes: list[int] = field(default_factory=list)
    border: int = 0

    def text(self, text: str | None, owner: int, seen: bool) -> None:
        if text and seen:
            self.runs.append((text, owner, self.border))

    def enter(self, element: etree._Element, parent: int, depth: int, seen: bool) -> None:
        name = element.tag.lower()
        block_level = name in BLOCK_LEVEL or parent < 0
        seen = seen and name not in UNSEEN_TEXT
        index = len(self.rows)
        self.rows.append([parent, 0, depth, len(self.runs), 0])
        self.boxes.append(index if block_level else self.boxes[parent])
        self.border += block_level
        self.text(element.text, index, seen)
        for child in element:
            if isinstance(child.tag, str):
                self.enter(child, index, depth + 1, seen)
            self.text(child.tail, index, seen)
        self.rows[index][1] = len(self.rows)
        self.rows[index][4] = len(self.runs)
        self.border += block_level

    def blocks(self) -> list[tuple[int, int, int]]:
        found: dict[int, list[int]] = {}
        for k, (text, _, border) in enumerate(self.runs):
            if text.strip():
                found.setdefault(border, []).append(k)
        return [(self.boxes[self.runs[ks[0]][1]], ks[0], ks[-1] + 1) for ks in found.values()]


@st.composite
def pages(draw: st.DrawFn) -> tuple[etree._Element, Page, Walk]:
    """A random tree, the page that it is flattened into, and what a recursive walk finds."""
    root = draw(nodes())
    root.tail = None
    head = next(root.iter("head"), ())
    assume(all(child.tag in {"script", etree.Comment, etree.PI} for child in head))  # what ends a head is parsed again
    walk = Walk()
    walk.enter(root, -1, 0, seen=True)
    return root, Page.from_tree(root), walk


@given(pages())
def test_elements_are_those_of_the_tree_in_its_order(found: tuple[etree._Element, Page, Walk]) -> None:
    root, page, walk = found
    rows = zip(page.parent, page.end, page.depth, page.run_begin, page.run_end, strict=True)
    assert [[*row] for row in rows] == walk.rows
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    assert [element.tag for element in page.elements] == [element.tag.lower() for element in elements]
    assert page.tag.tolist() == [TAG_ID.get(element.tag.lower(), 0) for element in elements]
    assert list(page.attributes) == [element.items() for element in elements]


@given(pages())
def test_runs_are_the_texts_between_pieces_of_markup(found: tuple[etree._Element, Page, Walk]) -> None:
    _, page, walk = found
    assert page.runs == [text for text, _, _ in walk.runs]
    assert [page.text[a:b] for a, b in pairwise(page.run_offset)] == page.runs
    assert page.is_nonblank.tolist() == [not text.isspace() for text in page.runs]
    assert page.run_node.tolist() == [owner for _, owner, _ in walk.runs]


@given(pages())
def test_blocks_are_runs_that_no_block_level_tag_divides(found: tuple[etree._Element, Page, Walk]) -> None:
    _, page, walk = found
    blocks = [*zip(page.block_node.tolist(), page.block_run_begin.tolist(), page.block_run_end.tolist(), strict=True)]
    assert blocks == walk.blocks()
    assert page.block_texts() == [" ".join("".join(page.runs[b:e]).split()) for _, b, e in blocks]
    joined = [(run, page.runs[run - 1][-1] + page.runs[run][0]) for _, b, e in blocks for run in range(b + 1, e)]
    assert page.continues_word.nonzero()[0].tolist() == [
        run for run, around in joined if len("".join(around.split())) == 2
    ]
    for i in range(page.n):
        inside = [b for b, (_, begin, _) in enumerate(blocks) if page.run_begin[i] <= begin < page.run_end[i]]
        assert inside == list(range(page.block_begin[i], page.block_end[i])) or not inside
        assert len(inside) == page.block_end[i] - page.block_begin[i]


@given(pages())
def test_the_parent_of_a_unit_comes_before_it(found: tuple[etree._Element, Page, Walk]) -> None:
    _, page, _ = found
    assert page.unit_parent[0] == -1
    assert (page.unit_parent < np.arange(page.n + page.m)).all()


def test_arrays_have_the_shapes_and_types_that_are_documented() -> None:
    page = Page.parse("<p>one <b>two</b><p>three")
    assert page.tag.dtype == np.int16
    for array in (page.parent, page.end, page.depth, page.run_begin, page.run_end, page.block_begin, page.block_end):
        assert (array.dtype, array.shape) == (np.int32, (page.n,))
    for array in (page.block_node, page.block_run_begin, page.block_run_end):
        assert (array.dtype, array.shape) == (np.int32, (page.m,))


def test_a_tree_that_scrapy_already_holds_is_not_changed() -> None:
    root = etree.fromstring("<div>a<p>b</p>c<!-- d -->e</div>", parser=etree.HTMLParser())
    before = etree.tostring(root)
    page = Page.from_tree(root.find(".//div"))
    assert etree.tostring(root) == before
    assert page.block_texts() == ["a", "b", "ce"]


def test_text_after_the_root_of_a_part_does_not_belong_to_it() -> None:
    root = etree.fromstring("<p>in</p>out", parser=etree.HTMLParser())
    assert Page.from_tree(root.find(".//p")).runs == ["in"]


def test_the_title_is_that_of_the_page_and_not_that_of_a_drawing() -> None:
    svg = "<svg><title>Icon</title></svg>"
    assert Page.parse(f"<body>{svg}<p>x").title == ""
    assert Page.parse(f"<title> A\n B </title>{svg}").title == "A B"


def test_the_core_takes_no_arrays_that_do_not_fit_each_other() -> None:
    page = Page.parse("<ul class=a><li id=b>one<li>two</ul>")
    arrays = (
        page.tag, page.parent, page.end, page.depth, page.run_begin, page.run_end, page.block_begin, page.block_end,
        page.run_node, page.block_node, page.block_run_begin, page.block_run_end, page.run_offset, page.is_nonblank,
    )  # fmt: skip
    core.checked_page(arrays, page.utf8, page.attributes.arrays)
    for place, array in enumerate(arrays):
        for changed in (array[:-1], array - 200)[: 2 if array.dtype.itemsize in {2, 4} else 1]:
            with pytest.raises(ValueError, match="arrays of other lengths"):
                core.checked_page((*arrays[:place], changed, *arrays[place + 1 :]), page.utf8, page.attributes.arrays)
    with pytest.raises(ValueError, match="PyCapsule"):
        core.data_tables(arrays, np.zeros(page.n, np.int32))
