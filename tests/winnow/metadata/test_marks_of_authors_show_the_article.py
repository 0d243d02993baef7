"""Marks that authors leave for machines say which blocks are the article, or nothing."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.evidence.marked_articles import article_mark
from winnow.page.page import Page
from winnow.page.text import WORD
from winnow.training.examples import without_marks

PARAGRAPHS = [
    f"In paragraph {n} of this story the otter swims further up the river than anyone had thought, " * 2
    for n in range(4)
]
BODY = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)


def page_of(article: str, head: str = "", after: str = "") -> Page:
    menu = "<nav><a href=/>Home</a></nav>"
    body = f"{menu}<h1>The otter</h1>{article}<p>More stories</p>{after}"
    return Page.parse(f"<html><head>{head}</head><body>{body}</body></html>")


def json_ld(kind: str, body: str) -> str:
    return f"<script type='application/ld+json'>{json.dumps({'@type': kind, 'articleBody': body})}</script>"


def marked(page: Page) -> dict[str, float]:
    mark = article_mark(page)
    assert mark is not None
    return dict(zip(page.block_texts(), mark.content.tolist(), strict=True))


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        *(("microdata", "itemprop='articleBody'"), ("rdfa", "property='schema:articleBody'")),
        *(("rdfa", "property='content:encoded'"), ("microformats", "class='e-content wide'")),
        ("hatom", "class='entry-content'"),
    ],
)
def test_a_marked_element_is_the_article(kind: str, attributes: str) -> None:
    page = page_of(f"<div {attributes}>{BODY}</div>")
    mark = article_mark(page)
    assert mark is not None
    assert mark.kind == kind
    labels = marked(page)
    assert all(labels[" ".join(text.split())] == 1 for text in PARAGRAPHS)
    assert labels["Home"] == labels["More stories"] == 0
    assert np.isnan(labels["The otter"])  # some mark the heading, others do not


@pytest.mark.parametrize(
    "page",
    [
        page_of(f"<div>{BODY}</div>"),
        page_of("<div class=entry-content><p>A teaser of ten words is too short for it.</p></div>"),
        page_of(f"<div class=entry-content>{BODY}</div><div class=entry-content>{BODY}</div>"),
        page_of(f"<div class=comment><div class=e-content>{BODY}</div></div>"),
        page_of(
            "<div itemscope itemtype='https://schema.org/DiscussionForumPosting'>"
            f"<div itemprop=articleBody>{BODY}</div></div>"
        ),
        page_of(f"<div>{BODY}</div>", "<script type='application/ld+json'>{not json</script>"),
        page_of(
            f"<div>{BODY}</div>",
            json_ld("LiveBlogPosting", " ".join(PARAGRAPHS)),
        ),
        page_of(
            "<div><p>Subscribe to read on</p></div>",
            json_ld("Article", " ".join(PARAGRAPHS)),
        ),
    ],
    ids=["no mark", "teaser", "several", "of a reader", "forum", "broken", "live blog", "not on the page"],
)  # fmt: skip
def test_what_does_not_mark_one_whole_article_is_left_alone(page: Page) -> None:
    assert article_mark(page) is None


def test_marks_are_hidden_in_a_copy() -> None:
    page = page_of(f"<div class='entry-content wide' itemprop=articleBody>{BODY}</div>")
    root = page.elements[0]
    hidden = Page.from_tree(without_marks(root))
    assert article_mark(hidden) is None
    assert hidden.block_texts() == page.block_texts()
    assert hidden.attribute("class") == dict.fromkeys(hidden.attribute("class"), "wide")
    assert article_mark(page) is not None


_WORDS = st.lists(st.sampled_from(["otter", "river", "swam", "up", "Ölten", "海", "far"]), min_size=1, max_size=9)


@given(st.lists(_WORDS, min_size=1, max_size=8), st.lists(_WORDS, max_size=4), st.randoms(use_true_random=False))
def test_blocks_of_a_text_in_json_are_found_wherever_they_stand(own: list, other: list, random) -> None:
    inside = [" ".join(words) for words in own]
    outside = [" ".join([*words, "elsewhere"]) for words in other]
    blocks = [*PARAGRAPHS, *inside, *outside]
    random.shuffle(blocks)
    page = page_of("".join(f"<p>{text}</p>" for text in blocks), json_ld("Article", " ".join([*PARAGRAPHS, *inside])))
    labels = marked(page)
    for text in inside:
        found = labels[text]
        assert found == 1 if len(WORD.findall(text)) >= 4 else np.isnan(found)
    assert all(labels[text] == 0 for text in outside)
