"""Names of elements say that they hold a comment, a thread, a form for writing one, or nothing of the kind."""

import pytest

from tests.winnow.comments.pages import blocks_of
from winnow.evidence.comments import NamedComments
from winnow.page.page import Page


def named(attributes: str) -> tuple[list[int], list[int], list[int]]:
    names = NamedComments.of(Page.parse(f"<p>story</p><div {attributes}><p>said</p></div>"))
    return tuple(kind.astype(int).tolist() for kind in (names.comment, names.thread, names.form))  # type: ignore[return-value]


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
    assert named(attributes) == ([0, 1], [0, 1], [0, 0])


@pytest.mark.parametrize(
    "attributes", ["id=comments", "class=comment-list", "class=commentlist", "class=comments-area", "id=disqus_thread"]
)
def test_names_of_threads(attributes: str) -> None:
    assert named(attributes) == ([0, 0], [0, 1], [0, 0])


@pytest.mark.parametrize("attributes", ["id=respond", "class=comment-form", "id=commentform", "class=comment-respond"])
def test_names_of_forms(attributes: str) -> None:
    assert named(attributes) == ([0, 0], [0, 0], [0, 1])


@pytest.mark.parametrize(
    "attributes",
    [
        "class=comment-count", "class=widget_recent_comments", "class=no-comments", "class=comments-link",
        "class=hljs-comment", "class=wp-embed-responsive", "class=comment-policy", "class=recommended", "class=",
    ],
)  # fmt: skip
def test_names_that_only_mention_comments(attributes: str) -> None:
    assert named(attributes) == ([0, 0], [0, 0], [0, 0])


def test_a_form_within_a_comment_is_no_comment() -> None:
    page = Page.parse("<div class=comment><p>said</p><div id=respond><p>Leave a reply</p></div></div><p>after</p>")
    names = NamedComments.of(page)
    assert not names.comment[blocks_of(page, "Leave a reply", "after")].any()
    assert names.form[blocks_of(page, "Leave a reply")].all()


def test_comments_in_code_are_code() -> None:
    page = Page.parse("<pre><div class=comment>// adds one</div></pre><span class=comment># text</span>")
    assert not NamedComments.of(page).comment.any()
