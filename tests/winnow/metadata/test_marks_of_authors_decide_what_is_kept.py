"""What lies outside of what an author marks as the article is likelier template; nothing is kept for a mark."""

import json
import time

import numpy as np
import pytest

from winnow import Cleaned, clean, load_model
from winnow.evidence.marked_articles import article_mark, with_authors_mark
from winnow.page.page import Page
from winnow.site import PageCounts

STORY = [
    f"The ferry was {hours} hours late on Tuesday, and the harbour master of the town, who has seen {hours * 7} "
    f"winters there, said that nobody on the pier had seen a sea like this one, not even in the year {1950 + hours}."
    for hours in range(1, 7)
]
NEXT = [
    f"In another part of the country {number} farmers met in the evening, spoke about the price of milk for two hours, "
    f"and went home without an answer, as they had done on {number + 3} evenings before this one, their wives say."
    for number in range(1, 7)
]
LIST = ["The harbour stays closed until Friday.", "Tickets stay valid for a month."]


def paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def page_of(mark: str = "", head: str = "", body: list[str] = STORY) -> str:
    facts = f"<h2>What to know</h2><ul>{''.join(f'<li>{text}</li>' for text in LIST)}</ul>"
    return (
        f"<html><head><title>The ferry</title>{head}</head><body><nav><a href=/>Home</a><a href=/news>News</a></nav>"
        f"<main><div><h1>The ferry</h1><div {mark}>{paragraphs(body[:3])}{facts}{paragraphs(body[3:])}</div></div>"
        f"<div><h2>The farmers</h2>{paragraphs(NEXT)}</div></main></body></html>"
    )


def json_ld(body: object, kind: str = "NewsArticle") -> str:
    data = json.dumps({"@context": "https://schema.org", "@type": kind, "articleBody": body})
    return f"<script type='application/ld+json'>{data}</script>"


def holds(cleaned: Cleaned, texts: list[str]) -> list[bool]:
    return [text in cleaned.text for text in texts]


@pytest.mark.parametrize("model", ["blocks", "blocks-self-taught", "logistic"])
@pytest.mark.parametrize(
    "page",
    [page_of(head=json_ld("\n".join(STORY))), page_of("itemprop=articleBody"), page_of("class=entry-content")],
    ids=["json-ld", "microdata", "hatom"],
)
def test_another_story_on_the_page_of_a_marked_one_goes(page: str, model: str) -> None:
    assert all(holds(clean(page_of(), model=model), NEXT)), "it is a story for all that the page says"
    cleaned = clean(page, model=model)
    assert all(holds(cleaned, STORY))
    assert not any(holds(cleaned, NEXT))


def test_the_rest_of_a_story_of_which_the_mark_has_the_beginning_stays() -> None:
    cleaned = clean(page_of(head=json_ld("\n".join(STORY[:4]))))
    assert all(holds(cleaned, STORY))


@pytest.mark.parametrize("mark", [json_ld("\n".join([*STORY, *NEXT])), json_ld("\n".join(["Nowhere"] * 200))])
def test_a_mark_of_the_whole_page_or_of_none_of_it_changes_nothing(mark: str) -> None:
    assert clean(page_of(head=mark)).text == clean(page_of()).text


def test_nothing_becomes_surer_content_for_a_mark() -> None:
    model = load_model("blocks")
    for html in (page_of("class=entry-content"), page_of(head=json_ld("\n".join(STORY)))):
        page = Page.parse(html)
        scores = model.score(page)
        moved = with_authors_mark(page, scores)
        change = moved.templateness - scores.templateness
        assert change.min() >= 0
        assert change.max() > 0.2


def test_the_counts_of_a_site_come_on_top() -> None:
    page = Page.parse(page_of(head=json_ld("\n".join(STORY))))
    everywhere = page.block_texts().index(" ".join(LIST[0].split()))
    df = np.ones(page.n + page.m, np.int64)
    df[page.n + everywhere] = 40
    cleaned = clean(page, site=PageCounts(df, 40))
    assert all(holds(cleaned, STORY))
    assert not any(holds(cleaned, [*NEXT, LIST[0]]))


def thread_of_a_forum(head: str) -> str:
    posts = "".join(
        f"<div id=p{number} class='post bg2'><div class=inner><dl class=postprofile><dt><a href=/u?u={number} "
        f"class=username>user{number}</a><dd class=profile-posts>Posts: {number}<dd>Joined: Jan {number}, 2015</dl>"
        f"<div class=postbody><h3><a href=#p{number}>Re: The ferry</a></h3><p class=author>Post by user{number} » Mon "
        f"Jan {number}, 2015 9:{number} pm</p><div class=content>{text}</div></div><a href=#top class=top>Top</a>"
        "</div></div>"
        for number, text in enumerate([" ".join(STORY[:4]), *NEXT], 10)
    )
    return (
        f"<html><head><title>The ferry - Board index</title>{head}</head><body id=phpbb class='section-viewtopic ltr'>"
        "<h2 class=topic-title><a href=/t>The ferry</a></h2><div class=action-bar><a href=/r>Post Reply</a></div>"
        f"<div class=pagination>7 posts</div>{posts}<p class=jumpbox-return><a href=/>Return to Sea</a></p>"
        "<h3>Who is online</h3><p>Users browsing this forum: No registered users and 1 guest</p></body></html>"
    )


def test_on_a_forum_the_mark_of_the_first_post_moves_nothing() -> None:
    page = Page.parse(thread_of_a_forum(json_ld(" ".join(STORY[:4]), "Article")))
    assert article_mark(page) is not None
    scores = load_model("blocks").score(page)
    assert with_authors_mark(page, scores) is scores


@pytest.mark.parametrize(
    "head",
    [
        "<script type='application/ld+json'>" + "[" * 200_000 + '"articleBody"' + "]" * 200_000 + "</script>",
        json_ld("<a" * 500_000),
        json_ld("<b>" * 200_000),
        json_ld("\ud800 \udfff " + " ".join(STORY)),
        json_ld(["articleBody", None, {"articleBody": 1}]),
        json_ld(" ".join(["the ferry was"] * 200_000)),
        json_ld("The ferry was late.") * 20_000,
        "<script type='application/ld+json'>{\"articleBody\": " + "9" * 100_000 + "}</script>",
    ],
    ids=["deep", "open tags", "nested tags", "surrogates", "no text", "long", "many", "large number"],
)
def test_hostile_json_takes_no_time_and_changes_nothing(head: str) -> None:
    begin = time.process_time()
    cleaned = clean(page_of(head=head))
    assert time.process_time() - begin < 5
    assert all(holds(cleaned, STORY))
