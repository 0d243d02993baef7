"""What an author marks for machines is the article: what lies outside is likelier template; a mark keeps nothing."""

import json
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Cleaned, clean, load_model
from tamis.evidence.marked_articles import article_mark, with_authors_mark
from tamis.page.page import Page
from tamis.page.text import WORD
from tamis.site import PageCounts
from tamis_papers.training.examples import without_marks

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


def labels_of(html: str) -> dict[str, float]:
    """How the mark labels each block."""
    page = Page.parse(html)
    mark = article_mark(page)
    assert mark is not None
    return dict(zip(page.block_texts(), mark[0].tolist(), strict=True))


@pytest.mark.parametrize(
    "attributes",
    [
        *("itemprop='articleBody'", "property='schema:articleBody'", "property='content:encoded'"),
        *("class='e-content wide'", "class='entry-content'"),
    ],
)
def test_a_marked_element_is_the_article(attributes: str) -> None:
    labels = labels_of(page_of(attributes))
    assert all(labels[text] == 1 for text in [*STORY, *LIST])
    assert all(labels[text] == 0 for text in NEXT)
    assert np.isnan(labels["The ferry"])  # some mark the heading, others do not


TEXT = paragraphs(STORY)


@pytest.mark.parametrize(
    "html",
    [
        TEXT,
        "<div class=entry-content><p>A teaser of ten words is too short for it.</p></div>",
        f"<div class=entry-content>{TEXT}</div>" * 2,
        f"<div class=comment><div class=e-content>{TEXT}</div></div>",
        f"<div itemtype='https://schema.org/DiscussionForumPosting'><div itemprop=articleBody>{TEXT}</div></div>",
        f"<script type='application/ld+json'>{{not json</script>{TEXT}",
        json_ld("\n".join(STORY), "LiveBlogPosting") + TEXT,
        json_ld("\n".join(STORY)) + "<p>Subscribe to read on</p>",
    ],
    ids=["no mark", "teaser", "several", "of a reader", "forum", "broken", "live blog", "not on the page"],
)
def test_what_does_not_mark_one_whole_article_is_left_alone(html: str) -> None:
    assert article_mark(Page.parse(f"<body>{html}")) is None


def test_marks_are_hidden_in_a_copy() -> None:
    page = Page.parse(page_of("class='entry-content wide' itemprop=articleBody"))
    hidden = Page.from_tree(without_marks(page.elements[0]))
    assert article_mark(hidden) is None
    assert hidden.block_texts() == page.block_texts()
    assert hidden.attribute("class") == dict.fromkeys(hidden.attribute("class"), "wide")
    assert article_mark(page) is not None


_WORDS = st.lists(st.sampled_from(["otter", "river", "swam", "up", "Ölten", "海", "far"]), min_size=1, max_size=9)


@given(st.lists(_WORDS, min_size=1, max_size=8), st.lists(_WORDS, max_size=4), st.randoms(use_true_random=False))
def test_blocks_of_a_text_in_json_are_found_wherever_they_stand(own: list, other: list, random: Random) -> None:
    inside = [" ".join(words) for words in own]
    outside = [" ".join([*words, "elsewhere"]) for words in other]
    blocks = [*STORY, *inside, *outside]
    random.shuffle(blocks)
    labels = labels_of(json_ld(" ".join([*STORY, *inside])) + paragraphs(blocks))
    for text in inside:
        assert labels[text] == 1 if len(WORD.findall(text)) >= 4 else np.isnan(labels[text])
    assert all(labels[text] == 0 for text in outside)


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


def test_the_sentence_between_the_headline_and_the_marked_text_stays() -> None:
    said = (
        "Ferries to the islands come hours late this week, and the harbour master does not expect that to change soon."
    )
    header = f"<header><h1>The ferry</h1><p>{said}</p></header>"
    page = f"<article>{header}<div itemprop=articleBody>{TEXT}</div></article>"
    assert said in clean(f"<title>The ferry</title><body><main>{page}</main>").text


CARD = (
    "<h2>Ingredients</h2><ul><li>4 firm pears, peeled<li>80 g soft butter<li>1 pinch of salt</ul><h2>Method</h2><ol>"
    "<li>Heat the oven to 190 degrees and butter a shallow dish.<li>Lay the pears in it. Bake for 35 minutes.</ol>"
)


@pytest.mark.parametrize("head", ["", json_ld("\n".join(STORY))])
def test_the_recipe_beside_a_marked_introduction_stays(head: str) -> None:
    article = f"<article><h1>Baked pears</h1><div>{TEXT}</div></article>"
    others = "<aside><h3>Popular</h3><ul><li><a href=/0>Rye rolls</a><li><a href=/1>Plum soup</a></ul></aside>"
    text = clean(f"<title>Baked pears</title>{head}<body><main>{article}<section>{CARD}</section></main>{others}").text
    assert text.endswith(
        "Method\n\nHeat the oven to 190 degrees and butter a shallow dish.\nLay the pears in it. Bake for 35 minutes."
    )
    assert "Ingredients\n\n4 firm pears, peeled\n80 g soft butter\n1 pinch of salt" in text


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
    html = thread_of_a_forum(json_ld(" ".join(STORY[:4]), "Article"))
    page = Page.parse(html, "https://board.example.org/viewtopic.php?t=7")
    assert article_mark(page) is not None
    scores = load_model("blocks").score(page)
    assert with_authors_mark(page, scores) is scores


@pytest.mark.parametrize(
    "head",
    [
        "<script type='application/ld+json'>" + "[" * 200_000 + '"articleBody"' + "]" * 200_000 + "</script>",
        json_ld("\ud800 \udfff " + " ".join(STORY)),
        json_ld(["articleBody", None, {"articleBody": 1}]),
        json_ld("The ferry was late.") * 20_000,
    ],
    ids=["deep", "surrogates", "no text", "many"],
)
def test_hostile_json_hangs_nothing_and_changes_nothing(head: str) -> None:
    assert all(holds(clean(page_of(head=head)), STORY))
