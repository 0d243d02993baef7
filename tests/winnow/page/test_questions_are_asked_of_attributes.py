"""What is asked of attributes is answered in one scan, and as by a look at every value."""

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from winnow import Page
from winnow.page.attributes import Question, question

NAMED = question("class", "data-none")
OF_TWO = question("class", "id", parts=["ab", "b", "aab"])
OF_ONE = question("title", parts=["a-b"])

VALUES = st.text(st.sampled_from("aAbB-é\u212a "), max_size=6)
ELEMENTS = st.lists(st.dictionaries(st.sampled_from(["class", "id", "title", "rel"]), VALUES), max_size=5)


def answers(page: Page, asked: Question) -> list[tuple[int, str]]:
    return [
        (place, value)
        for name in asked.names
        for value, place in page.attributes.named(name).items()
        if not asked.parts or any(part in value.lower() for part in asked.parts)
    ]


@settings(deadline=None)  # the first page of a process takes longer
@given(ELEMENTS)
def test_every_value_that_has_a_part_is_found(elements: list[dict[str, str]]) -> None:
    root = etree.Element("body")
    root.extend(etree.Element("p", each) for each in elements)
    for asked in (NAMED, OF_TWO, OF_ONE):
        page = Page.from_tree(root)
        found = sorted(page.attributes.having(asked))
        assert found == sorted(answers(page, asked))


def test_a_question_that_is_asked_later_is_answered_too() -> None:
    page = Page.parse("<p lang=de>One<p lang=en>Two")
    assert not page.attributes.having(OF_ONE)
    later = question("lang", parts=["e", "xe"])
    assert [value for _, value in page.attributes.having(later)] == ["de", "en"]
