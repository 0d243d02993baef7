"""What readers wrote below a story is neither its text nor template: how it is found, and what becomes of it."""

from typing import get_args

import pytest

from tamis import clean
from tamis.evidence.comments import Comments, named_comments
from tamis.page.page import Page
from tests.tamis.metadata.test_marks_of_authors_decide_what_is_kept import thread_of_a_forum

STORY = """<article><h1>How to bake bread at home</h1>
<p>Bread is made of flour, water, salt and time, and of these four it is time that most recipes forget to speak of.</p>
<p>Mix them in the evening, leave the dough in a cool place, and in the morning you will find that it has doubled.</p>
<p>Bake it in a hot oven for forty minutes, in a pot with a lid, and take the lid off for the last ten of them, so that
the crust turns brown and the house smells of it until the next day.</p></article>"""

SAID = (
    ("Anna", "March 3, 2019 at 10:15 am", "Thank you so much, I tried this yesterday and my kids loved it!"),
    ("Bob", "March 4, 2019 at 8:02 pm", "How much salt did you take? Mine was a bit bland I am afraid."),
    ("Carol", "March 9, 2019 at 1:44 pm", "Great post, I will try it with rye next weekend and tell you."),
)


def page_of(body: str) -> str:
    """A page with a menu and a footer around its body."""
    return f"""<html><head><title>Bread</title></head><body><nav><a href="/">Home</a> <a href="/a">About us</a></nav>
{body}<footer><p>Copyright 2019 Bread Blog</p></footer></body></html>"""


def thread(named: str = "", list_named: str = "") -> str:
    """A thread of comments with attributes for each of them and for their list."""
    comments = "".join(
        f"<li{named}><div><b>{name}</b> <span>says:</span></div><div><a href='#{name}'>{date}</a></div><p>{text}</p>"
        f"<div><a href='?answer={name}'>Reply</a></div></li>"
        for name, date, text in SAID
    )
    return f"<div{list_named}><h2>3 thoughts on “How to bake bread at home”</h2><ol>{comments}</ol></div>"


BLOG_POST = page_of(STORY + thread(' class="comment"', ' class="comments-area"'))


def test_comments_are_out_of_the_text_and_in_a_text_of_their_own() -> None:
    cleaned = clean(BLOG_POST)
    for name, date, text in SAID:
        assert text not in cleaned.text
        assert text not in cleaned.html
        assert text not in cleaned.markdown
        assert text in cleaned.comments
        assert name in cleaned.comments
        assert date in cleaned.comments
    assert "turns brown" in cleaned.text
    assert "3 thoughts" not in cleaned.text + cleaned.comments
    assert "Reply" not in cleaned.text + cleaned.comments


def test_included_comments_are_in_the_text_and_in_the_html_below_the_story() -> None:
    cleaned = clean(BLOG_POST, comments="include")
    places = [cleaned.text.index(text) for _, _, text in SAID]
    assert places == sorted(places)
    assert cleaned.text.index("turns brown") < places[0]
    assert all(text in cleaned.html for _, _, text in SAID)
    assert cleaned.comments == clean(BLOG_POST).comments


def test_dropped_comments_are_nowhere() -> None:
    cleaned = clean(BLOG_POST, comments="drop")
    assert cleaned.text == clean(BLOG_POST).text
    assert not cleaned.comments


@pytest.mark.parametrize("comments", get_args(Comments))
def test_comments_are_never_counted_as_template(comments: Comments) -> None:
    shares = clean(page_of(STORY)).template_share, clean(BLOG_POST, comments=comments).template_share
    assert shares[1] < shares[0] + 0.15  # the heading of the thread and its controls


def test_sections_of_comments_are_neither_content_nor_removed() -> None:
    cleaned = clean(BLOG_POST)
    said = [segment for segment in cleaned.segments if segment.comment]
    assert "\n".join(segment.text for segment in said) == cleaned.comments.replace("\n\n", "\n")
    assert not any(segment.template or segment.reason for segment in said)
    assert not any(segment in cleaned.removed for segment in said)


def test_a_dated_list_of_other_stories_without_names_is_no_thread() -> None:
    assert not clean(page_of(STORY + thread())).comments


def test_a_named_comment_on_a_picture_with_a_sentence_is_no_text() -> None:
    comment = (
        "<li class=comment><b class=comment-author>Jan</b> <i>2. May 2009 at 10:20</i><p>What a fine thing to see!</p>"
    )
    post = "<h1>A boat</h1><img src=a.jpg><p>We saw this boat in the harbour yesterday, and it was blue all over.</p>"
    cleaned = clean(
        f"<title>A boat</title><ul><li><a href=/>Home</ul>{post}<h3>Comments</h3><ol class=comments>{comment}</ol>"
    )
    assert "blue all over" in cleaned.text
    assert "fine thing" not in cleaned.text
    assert "fine thing" in cleaned.comments


def test_comments_that_are_far_longer_than_the_story_are_comments() -> None:
    cleaned = clean(page_of(STORY + thread(' class="comment"', ' class="comments-area"') * 40))
    assert len(cleaned.comments) > 10 * len(cleaned.text)
    assert SAID[0][2] not in cleaned.text


FORUM = thread_of_a_forum("").replace("class='post bg2'", "class='post bg2 comment'").replace(" comment'", "'", 1)
"""A thread whose answers are named like comments."""


@pytest.mark.parametrize("model", ["blocks", "blocks-self-taught"])
def test_posts_of_a_forum_that_are_named_like_comments_are_the_content(model: str) -> None:
    cleaned = clean(FORUM, url="https://board.example.org/viewtopic.php?t=7", model=model)
    assert not cleaned.comments


def test_a_model_that_knows_no_kinds_of_pages_finds_the_comments_below_a_longer_story() -> None:
    assert SAID[0][2] in clean(BLOG_POST, model="blocks-self-taught").comments


def test_a_thread_without_a_story_is_the_content() -> None:
    cleaned = clean(page_of(thread(' class="comment"', ' class="comments-area"')))
    assert all(text in cleaned.text for _, _, text in SAID)
    assert not cleaned.comments


def test_what_cannot_become_of_comments_is_refused() -> None:
    with pytest.raises(ValueError, match="separate, include, drop; not 'hide'"):
        clean(BLOG_POST, comments="hide")  # type: ignore[arg-type]


# ---- Names of elements


def is_comment(attributes: str) -> bool:
    """Whether what an element with some attributes holds is a comment, and what is beside it is none."""
    said = named_comments(Page.parse(f"<p>story</p><div {attributes}><p>said</p></div>"))
    assert said is None or said.tolist() == [False, True]
    return said is not None


@pytest.mark.parametrize(
    "attributes",
    [
        "class='comment even depth-1'", "class=comment-body", "id=comment-17", "id=li-comment-17",
        "class=ipsComment_content", "class=commentBody", "itemscope itemtype='https://schema.org/Comment'",
        "itemprop=comment", "class=komentarz",
        "typeof='sioc:Post sioct:Comment'",
    ],
)  # fmt: skip
def test_names_of_single_comments(attributes: str) -> None:
    assert is_comment(attributes)


@pytest.mark.parametrize(
    "attributes", ["id=comments", "class=comment-list", "class=commentlist", "class=comments-area", "id=disqus_thread"]
)
def test_what_is_named_like_a_thread_is_no_comment_by_itself(attributes: str) -> None:
    assert not is_comment(attributes)
    page = Page.parse(f"<div class=comment><h2>said</h2><div {attributes}><p>beside</p></div></div>")
    assert named_comments(page) is None


@pytest.mark.parametrize(
    "attributes",
    [
        "class=comment-count", "class=widget_recent_comments", "class=no-comments", "class=comments-link",
        "class=hljs-comment", "class=wp-embed-responsive", "class=comment-policy", "class=recommended", "class=",
        "id=block-comment-0 class='block block-comment'", "class=wpd-field-comment",
    ],
)  # fmt: skip
def test_names_that_only_mention_comments(attributes: str) -> None:
    assert not is_comment(attributes)


@pytest.mark.parametrize("form", ["id=respond", "class=comment-form", "id=commentform", "class=comment-respond"])
def test_a_form_within_comments_is_no_comment(form: str) -> None:
    comment = "<div class=comment><p>said</p></div>"
    page = Page.parse(f"<div class=comment-body>{comment}<div {form}><p class=comment>Leave a reply</p></div></div>")
    comments = named_comments(page)
    assert comments is not None
    assert comments.tolist() == [True, False]


def test_comments_in_code_are_code() -> None:
    page = Page.parse("<pre><div class=comment>// adds one</div></pre><span class=comment># text</span>")
    assert named_comments(page) is None
