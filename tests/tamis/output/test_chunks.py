from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.output.chunks import Chunk, make_chunks
from tamis.output.markdown import to_markdown
from tamis.output.markdown.writer import write_blocks
from tamis.output.markup import read_markup

SENTENCE = "The quick brown fox jumps over the lazy dog. "
PAGE = f"""<h1>Guide</h1><p>Intro.</p><h2>First</h2><p>{SENTENCE * 3}</p><p>Short.</p>
<h3>Deep</h3><pre><code>x = 1
{"y = 2 " * 40}</code></pre><h2>Second</h2><ul>{"".join(f"<li>item {n} of some words</li>" for n in range(10))}</ul>"""


def chunks_of(html: str, max_words: int = 300, **limits: Any) -> list[Chunk]:
    return make_chunks(write_blocks(read_markup(html)), max_words, **{"min_words": 0, **limits})


def test_each_chunk_has_the_headings_above_it_and_its_index() -> None:
    chunks = chunks_of(PAGE, 60)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert list(dict.fromkeys(tuple(chunk.headings) for chunk in chunks)) == [
        *(("Guide",), ("Guide", "First"), ("Guide", "First", "Deep"), ("Guide", "Second"))
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


def test_headings_without_text_below_are_text_of_the_heading_above_them() -> None:
    html = """<h1>Shop</h1><p>New.<h2>Hats</h2><h3><a href="/h/1">Bowler</a></h3><h3>Fez</h3><h2>Shoes</h2><hr>
        <h2><img src="/i.png" alt="x"></h2><h2>Coats</h2><p>Warm."""
    assert [(chunk.headings, chunk.text) for chunk in chunks_of(html)] == [
        (["Shop"], "New.\n\n## Hats\n\n### [Bowler](/h/1)\n\n### Fez\n\n## Shoes"),
        (["Shop", "Coats"], "Warm."),
    ]
    assert [chunk.text for chunk in chunks_of("<h1>Shop</h1>" + "<h2>A hat</h2>" * 5, 6)] == [
        "# Shop\n\n## A hat",
        *["## A hat\n\n## A hat"] * 2,
    ]


def test_a_lone_heading_without_text_below_ends_the_piece_before_it() -> None:
    html = "<h1>Shop</h1><h2>What they say</h2><p>So good.</p><h3>Ann</h3><h2>Visit</h2><p>Us.</p><h1>Comments</h1>"
    assert [(chunk.headings, chunk.text) for chunk in chunks_of(html)] == [
        (["Shop", "What they say"], "So good.\n\n### Ann"),
        (["Shop", "Visit"], "Us.\n\n# Comments"),
    ]


def test_a_piece_knows_where_the_last_heading_with_a_link_leads() -> None:
    html = """<h1>Shop</h1><p>New.<h2><a href="/big.png"><img src="/i.png"></a> <a href="/h/1"><em>Hat</em></a>, see
        <a href="/more">more</a></h2><p>20 euros.<h3>Sizes</h3><p>All.<a href="/h/2"><h2>Shoe</h2><p>9 euros.</p></a>"""
    assert [chunk.link for chunk in chunks_of(html)] == ["", "/h/1", "/h/1", "/h/2"]


def test_the_title_is_above_all_headings_unless_it_is_one_of_them() -> None:
    blocks = write_blocks(read_markup("<p>Intro.<h2>First</h2><p>One."))
    assert [chunk.headings for chunk in make_chunks(blocks, title="Guide", min_words=0)] == [
        ["Guide"],
        ["Guide", "First"],
    ]
    assert [chunk.headings for chunk in make_chunks(blocks, title="First", min_words=0)] == [[], ["First"]]


def test_long_quotations_are_split_between_paragraphs_unless_they_hold_code() -> None:
    quotation = f"<blockquote><p>{SENTENCE}<p>a<br>b<ul><li>c<li>d</ul><p>{SENTENCE}</blockquote>"
    fox = f"> {SENTENCE.strip()}"
    assert [chunk.text for chunk in chunks_of(quotation, 15)] == [f"{fox}\n>\n> a\\\n> b", "> - c\n> - d", fox]
    assert len(chunks_of(quotation.replace("<ul>", "<pre>x\n\ny</pre>"), 15)) == 1
    assert chunks_of(f"<blockquote>{'<p>a b c' * 90}</blockquote>", 40)[0].words <= 40


def test_long_tables_are_split_between_rows_with_the_head_above_each_piece() -> None:
    rows = "".join(f"<tr><td>item {n}<td>{n}" for n in range(9))
    html = f"<table><tr><th>Name<th>No.{rows}</table>"
    head, line, *body = to_markdown(html).split("\n")
    chunks = chunks_of(html, 30)
    lines = [chunk.text.split("\n") for chunk in chunks]
    assert [part[:2] for part in lines] == [[head, line]] * 3
    assert [row for part in lines for row in part[2:]] == body
    assert all(chunk.words <= 30 for chunk in chunks)
    assert len(chunks_of(html, 19)) == 1  # the head would be most of each piece


def test_long_lists_paragraphs_and_code_are_split_between_items_sentences_and_lines() -> None:
    chunks = chunks_of(PAGE, 15)
    code = [chunk.text for chunk in chunks_of("<pre><code>" + "y = 2\n" * 9 + "</code></pre>", 14)]
    assert code == [*["```\n" + "y = 2\n" * 4 + "```"] * 2, "```\ny = 2\n```"]
    items = [chunk.text for chunk in chunks if chunk.headings == ["Guide", "Second"]]
    assert len(items) > 2
    assert all(line.startswith("- item") for text in items for line in text.split("\n"))
    sentences = [chunk for chunk in chunks if "fox" in chunk.text]
    assert all(chunk.text.endswith(".") and chunk.words <= 15 for chunk in sentences)


@given(st.integers(1, 80))
def test_the_chunks_hold_all_the_text_once_and_in_order(most: int) -> None:
    words = " ".join(chunk.text for chunk in chunks_of(PAGE, most)).replace("```", "").replace("#", "").split()
    whole = [line for line in to_markdown(PAGE).replace("```", "").split("\n") if not line.startswith("#")]
    assert words == " ".join(whole).split()


SECTIONS = "".join(
    f"<h2>Part {part}</h2><p>{SENTENCE}</p><h3>Detail {part}</h3><p>{SENTENCE * (1 + 9 * (part == 2))}</p>"
    for part in range(4)
)


def test_small_sections_are_joined_with_their_neighbours_but_not_across_a_heading_above_them() -> None:
    chunks = chunks_of(f"<h1>Guide</h1>{SECTIONS}", 60, min_words=30)
    assert [(chunk.headings, chunk.words) for chunk in chunks] == [
        (["Guide"], 60),
        *[(["Guide", "Part 2", "Detail 2"], words) for words in (54, 36)],
        (["Guide", "Part 3"], 21),
    ]


@pytest.mark.parametrize(
    ("sentence", "words"), [("ไม่มีช่องว่างระหว่างคำ" * 50, 550), ("가나다 라마 바사 " * 90, 270), ("word " * 400, 400)]
)
def test_no_chunk_is_longer_than_asked_for_in_any_script(sentence: str, words: int) -> None:
    chunks = chunks_of(f"<p>{sentence}</p>", 40)
    assert all(chunk.words <= 40 for chunk in chunks)
    assert sum(chunk.words for chunk in chunks) == pytest.approx(words, rel=0.05)
    assert all(len(chunk.text) <= 100 for chunk in chunks_of(f"<p>{sentence}</p>", 40, max_chars=100))
    assert all(len(chunk.text) <= 50 for chunk in chunks_of(f"<p>{sentence}</p>", 50, length=len))


def test_chunks_overlap_in_whole_sentences_and_can_do_without_targets_of_links() -> None:
    numbered = "".join(f"<p>Sentence {number} is short. It ends here.</p>" for number in range(8))
    chunks = chunks_of(numbered, 20, overlap=4)
    assert [chunk.text.split("\n\n")[0] for chunk in chunks[1:]] == ["It ends here."] * (len(chunks) - 1)
    assert all(chunk.words <= 20 for chunk in chunks)
    story = f"<main><h1>Storm</h1><p>{SENTENCE * 9}<a href='https://a.example/x'>More</a></p></main>"
    assert "a.example" not in tamis.clean(story).chunks(links=False)[0].text
    assert "a.example" in tamis.clean(story).chunks()[0].text


def test_chunks_of_no_words_are_an_error_and_an_empty_page_has_none() -> None:
    assert chunks_of("") == []
    with pytest.raises(ValueError, match="at least 1"):
        chunks_of(PAGE, 0)
    with pytest.raises(ValueError, match="below max_words"):
        chunks_of(PAGE, 9, overlap=9)


def test_the_headline_is_above_the_chunks_of_a_page_without_a_heading_of_level_1() -> None:
    story = "<p>Winds of up to 130 km/h are expected on the coast tonight, and the ferries stay in the harbour.</p>" * 3
    page = tamis.clean(f"<title>Storm warning</title><main>{story}<h2>Ferries</h2>{story}</main>")
    assert [chunk.headings for chunk in page.chunks(min_words=0)] == [["Storm warning"], ["Storm warning", "Ferries"]]
    page = tamis.clean(f"<title>Storm warning</title><main>{story}<h1>A storm</h1>{story}</main>")
    assert [chunk.headings for chunk in page.chunks(min_words=0)] == [[], ["A storm"]]
