import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from winnow.page.attributes import AttributeTable
from winnow.page.page import Page

NAMES = st.sampled_from(["class", "id", "href", "data-x", "{urn:x}y"])
VALUES = st.sampled_from(["", "a", "b c", "é", "http://x.org/"])


@st.composite
def elements(draw: st.DrawFn) -> list[etree._Element]:
    attributes = draw(st.lists(st.dictionaries(NAMES, VALUES), max_size=8))
    return [etree.Element("p", each) for each in attributes]


def table_of(some: list[etree._Element]) -> AttributeTable:
    """The table of a page with these elements below a root without attributes."""
    root = etree.Element("div")
    root.extend(some)
    return Page.from_tree(root).attributes


@given(elements())
def test_a_table_is_the_sequence_of_what_each_element_has(some: list[etree._Element]) -> None:
    table = table_of(some)
    assert list(table) == [[], *(element.items() for element in some)]
    assert table[1:] == list(table)[1:]
    assert len(table) == len(some) + 1


@given(elements())
def test_equal_attributes_share_the_place_of_the_first(some: list[etree._Element]) -> None:
    table = table_of(some)
    flat = [(index, pair) for index, element in enumerate(some, 1) for pair in element.items()]
    pairs = [pair for _, pair in flat]
    assert table.first.tolist() == [pairs.index(pair) for pair in pairs]
    assert table.element.tolist() == [index for index, _ in flat]
    for name in ("class", "title"):
        assert table.named(name) == {value: pairs.index((key, value)) for key, value in reversed(pairs) if key == name}


@given(elements(), st.data())
def test_what_is_worked_out_of_different_attributes_is_spread_over_the_elements(
    some: list[etree._Element], data: st.DataObject
) -> None:
    table = table_of(some)
    by_first = np.zeros(len(table.first), np.uint64)
    for place in set(table.first.tolist()):
        by_first[place] = data.draw(st.integers(0, 2**64 - 1))
    sums = table.sums(by_first)
    assert sums.dtype == np.uint64
    place_of = {(name, value): place for name, named in table.by_name.items() for value, place in named.items()}
    assert sums.tolist() == [0] + [
        sum(int(by_first[place_of[pair]]) for pair in element.items()) % 2**64 for element in some
    ]

    chosen = np.array([False, *(data.draw(st.booleans()) for _ in some)], bool)
    firsts = table.firsts(chosen)
    for pair, place in place_of.items():
        assert firsts[place] == any(
            yes and pair in element.items() for yes, element in zip(chosen[1:], some, strict=True)
        )


def test_markup_is_as_long_as_its_source() -> None:
    page = Page.parse('<p class="a b" id="c"><br><i hidden="">x</i></p>')
    lengths = page.attributes.markup_length()[-3:]
    assert lengths.tolist() == [len(' class="a b" id="c"'), 0, len(' hidden=""')]
