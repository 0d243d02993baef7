"""What readers wrote below a story is neither its text nor template."""

from typing import get_args

import pytest

from tests.winnow.comments.pages import BLOG_POST, NAMED_BLOG_POST, SAID, STORY, page_of, thread
from winnow import Limits, clean
from winnow.evidence.comments import Comments

POSTS = pytest.mark.parametrize("html", [BLOG_POST, NAMED_BLOG_POST], ids=["by their look", "by their names"])


@POSTS
def test_comments_are_out_of_the_text_and_in_a_text_of_their_own(html: str) -> None:
    cleaned = clean(html)
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


@POSTS
def test_included_comments_are_in_the_text_and_in_the_html_below_the_story(html: str) -> None:
    cleaned = clean(html, comments="include")
    places = [cleaned.text.index(text) for _, _, text in SAID]
    assert places == sorted(places)
    assert cleaned.text.index("turns brown") < places[0]
    assert all(text in cleaned.html for _, _, text in SAID)
    assert cleaned.comments == clean(html).comments


@POSTS
def test_dropped_comments_are_nowhere(html: str) -> None:
    cleaned = clean(html, comments="drop")
    assert cleaned.text == clean(html).text
    assert not cleaned.comments


@pytest.mark.parametrize("comments", get_args(Comments))
@POSTS
def test_comments_are_never_counted_as_template(html: str, comments: Comments) -> None:
    shares = clean(page_of(STORY)).template_share, clean(html, comments=comments).template_share
    assert shares[1] < shares[0] + 0.15  # the heading of the thread and its controls


@POSTS
def test_sections_of_comments_are_neither_content_nor_removed(html: str) -> None:
    cleaned = clean(html)
    said = [segment for segment in cleaned.segments if segment.comment]
    assert "\n".join(segment.text for segment in said) == cleaned.comments.replace("\n\n", "\n")
    assert not any(segment.template or segment.reason for segment in said)
    assert not any(segment in cleaned.removed for segment in said)


def test_all_text_is_content_comment_or_template() -> None:
    cleaned = clean(NAMED_BLOG_POST)
    kinds = [(segment.comment, segment.template) for segment in cleaned.segments if segment.text]
    assert {(False, False), (True, False), (False, True)} == set(kinds)


def test_a_page_without_comments_has_none() -> None:
    cleaned = clean(page_of(STORY))
    assert not cleaned.comments
    assert not any(segment.comment for segment in cleaned.segments)


def test_a_dated_list_of_other_stories_is_no_thread() -> None:
    titles = (
        "A pie of leeks for Saturday night",
        "A market morning in the old town",
        "What to do with stale rye bread",
    )
    others = "".join(
        f'<li><a href="/{number}">{title}</a> May {number}, 2019</li>' for number, title in enumerate(titles)
    )
    for below in ("", thread()):
        cleaned = clean(page_of(f"{STORY}<div><h3>Related</h3><ul>{others}</ul></div>{below}"))
        assert not any(title in cleaned.comments for title in titles)


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


def test_a_thread_without_a_story_is_the_content() -> None:
    cleaned = clean(page_of(thread(' class="comment"', ' class="comments-area"')))
    assert all(text in cleaned.text for _, _, text in SAID)
    assert not cleaned.comments


def test_a_page_that_is_passed_through_has_no_comments_of_its_own() -> None:
    cleaned = clean(NAMED_BLOG_POST, limits=Limits(max_nodes=5))
    assert not cleaned.comments
    assert SAID[0][2] in cleaned.text


def test_what_cannot_become_of_comments_is_refused() -> None:
    with pytest.raises(ValueError, match="separate, include, drop; not 'hide'"):
        clean(BLOG_POST, comments="hide")  # type: ignore[arg-type]
