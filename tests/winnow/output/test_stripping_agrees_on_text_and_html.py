import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree

from winnow.output.html import write_html
from winnow.output.stripping import remains
from winnow.output.text import block_texts, join_blocks
from winnow.page.page import Page

TAGS = (
    "div",
    "p",
    "span",
    "b",
    "a",
    "ul",
    "li",
    "pre",
    "table",
    "tr",
    "td",
    "section",
    "form",
    "noscript",
    "font",
    "my-x",
)
LEAVES = ("<br>", "<hr>", "<img src=x>", " ", "\n", "<!--c-->", "<script>x</script>", "<select><option>x</select>")

words = st.integers(0, 10**6).map(lambda number: f"w{number}")
markup = st.recursive(
    st.one_of(words, words.map(lambda word: f" {word} "), st.sampled_from(LEAVES)),
    lambda inner: st.tuples(st.sampled_from(TAGS), st.lists(inner, max_size=4)).map(
        lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"
    ),
    max_leaves=30,
)


@settings(deadline=None, max_examples=300)
@given(markup, st.integers(0, 2**32 - 1))
@example("<pre>w0<div>w0</div>w0</pre>", 618808743)
def test_text_and_clean_html_hold_the_same_words_whatever_is_cut(html: str, seed: int) -> None:
    page = Page.parse(f"<body>{html}</body>")
    before = etree.tostring(page.elements[0])
    rng = np.random.default_rng(seed)
    template = rng.random(page.n + page.m) < 0.4
    kept = ~template[page.n :]

    text = join_blocks(page, block_texts(page), kept)
    again = Page.parse(write_html(page, remains(page, template)))

    wanted = " ".join(text for text, keep in zip(block_texts(page), kept, strict=True) if keep).split()
    assert text.split() == wanted
    assert " ".join(again.block_texts()).split() == wanted
    assert etree.tostring(page.elements[0]) == before
