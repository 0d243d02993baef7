import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.output.chunks import Chunk, make_chunks
from winnow.output.markdown import to_markdown
from winnow.output.markdown.writer import write_blocks
from winnow.output.markup import read_markup

SENTENCE = "The quick brown fox jumps over the lazy dog. "
PAGE = f"""<h1>Guide</h1><p>Intro.</p><h2>First</h2><p>{SENTENCE * 3}</p><p>Short.</p>
<h3>Deep</h3><pre><code>{"x = 1" * 1}
{"y = 2 " * 40}</code></pre><h2>Second</h2><ul>{"".join(f"<li>item {n} of some words</li>" for n in range(10))}</ul>"""


def chunks_of(html: str, max_words: int = 300) -> list[Chunk]:
    return make_chunks(write_blocks(read_markup(html)), max_words)


def test_each_chunk_has_the_headings_above_it_and_its_index() -> None:
    chunks = chunks_of(PAGE, 60)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.headings for chunk in chunks] == [
        *(["Guide"], ["Guide", "First"], ["Guide", "First", "Deep"], ["Guide", "Second"])
    ]
    assert chunks[1].text_with_headings.startswith("Guide > First\n\nThe quick")


def test_headings_are_plain_text_and_neither_pictures_nor_rules_are_chunks() -> None:
    html = """<h1><a href="/c" title="Permalink">On <em>C#</em> &lt;T&gt;</a><img src="/i.png" alt="x"></h1><p>One.</p>
        <hr><h2><img src="/j.png" alt="y"></h2><p>Two.</p><hr>"""
    assert [chunk.text_with_headings for chunk in chunks_of(html)] == ["On C# <T>\n\nOne.", "On C# <T>\n\nTwo."]


def test_items_of_a_list_are_sections_if_all_have_headings_with_something_below() -> None:
    html = """<h1>Guide</h1><ul><li><h2>First</h2><p>One.<ul><li>a<li>b</ul><li>New<h2>Second</h2>
        <ul><li><h3>Deep</h3>Two.</ul></ul><p>End.<ul><li><h2>Third</h2>c<li>d</ul><ol><li><h2>Step</h2>Three.</ol>
        <ul><li><h2>Nothing below</h2></ul>"""
    assert [(chunk.headings, chunk.text) for chunk in chunks_of(html)] == [
        (["Guide", "First"], "One.\n\n- a\n- b"),
        (["Guide", "Second"], "New"),
        (["Guide", "Second", "Deep"], "Two."),
        (["Guide"], "End.\n\n- ## Third\n  c\n- d\n\n1. ## Step\n   Three.\n\n- ## Nothing below"),
    ]


def test_code_stays_whole_and_long_lists_and_paragraphs_are_split_between_items_and_sentences() -> None:
    chunks = chunks_of(PAGE, 15)
    assert [chunk.words for chunk in chunks if "x = 1" in chunk.text] == [len(["```", "x", "=", "1"]) + 121]
    items = [chunk.text for chunk in chunks if chunk.headings == ["Guide", "Second"]]
    assert len(items) > 2
    assert all(line.startswith("- item") for text in items for line in text.split("\n"))
    sentences = [chunk for chunk in chunks if "fox" in chunk.text]
    assert all(chunk.text.endswith(".") and chunk.words <= 15 for chunk in sentences)


@given(st.integers(1, 80))
def test_the_chunks_hold_all_the_text_once_and_in_order(most: int) -> None:
    words = " ".join(chunk.text for chunk in chunks_of(PAGE, most)).replace("```", "").split()
    whole = [line for line in to_markdown(PAGE).replace("```", "").split("\n") if not line.startswith("#")]
    assert words == " ".join(whole).split()


def test_chunks_of_no_words_are_an_error_and_an_empty_page_has_none() -> None:
    assert chunks_of("") == []
    with pytest.raises(ValueError, match="at least 1"):
        chunks_of(PAGE, 0)
