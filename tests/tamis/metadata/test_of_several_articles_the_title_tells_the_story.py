"""Of the articles on an endless page the one whose headline the title has is the story; the others are others."""

import pytest

from tamis import clean, load_model
from tamis.evidence.marked_articles import with_titled_article
from tamis.page.page import Page

TITLE = "Ferry of the northern line came seven hours late"
OTHERS = ["Farmers meet again about the price of milk", "Old cinema at the market opens its doors"]
STORIES = [
    [
        f"{who} waited for {hours} hours on Tuesday, and the mayor of the town, who has seen {hours * 7} winters, "
        f"said that nobody had seen the like of it, not even in the year {1950 + hours}."
        for hours in range(1, 7)
    ]
    for who in ("Travellers", "Dairymen", "Spectators")
]


def article(headline: str, story: list[str], rank: str = "h1") -> str:
    return f"<article><{rank}>{headline}</{rank}>{''.join(f'<p>{text}</p>' for text in story)}</article>"


def page_of(*articles: str, title: str = f"{TITLE} | The Paper") -> str:
    menu = "<nav><a href=/>Home</a><a href=/news>News</a></nav>"
    return f"<html><head><title>{title}</title></head><body>{menu}<main>{''.join(articles)}</main></body></html>"


def endless(rank: str = "h1", title: str = f"{TITLE} | The Paper") -> str:
    headlines = [TITLE, *OTHERS]
    return page_of(*map(article, headlines, STORIES, [rank] * 3), title=title)


@pytest.mark.parametrize("model", ["blocks", "blocks-self-taught", "logistic"])
@pytest.mark.parametrize("rank", ["h1", "h2"])
def test_the_next_stories_of_an_endless_page_go(rank: str, model: str) -> None:
    without_title = clean(endless(rank, title="The Paper"), model=model).text
    assert all(text in without_title for story in STORIES for text in story)
    cleaned = clean(endless(rank), model=model)
    assert all(text in cleaned.text for text in STORIES[0])
    assert not any(text in cleaned.text for story in STORIES[1:] for text in story)


def test_the_story_may_stand_below_others_and_inside_an_article_of_all() -> None:
    html = page_of(f"<article>{article(OTHERS[0], STORIES[1])}{article(TITLE, STORIES[0])}</article>")
    cleaned = clean(html)
    assert all(text in cleaned.text for text in STORIES[0])
    assert not any(text in cleaned.text for text in STORIES[1])


@pytest.mark.parametrize(
    "html",
    [
        page_of(article(TITLE, STORIES[0])),
        page_of(article(TITLE, STORIES[0][:1]), article(OTHERS[0], STORIES[1])),
        page_of(article(TITLE, STORIES[0]), article(OTHERS[0], STORIES[1], "h2")),
        page_of(article(TITLE, STORIES[0]), article("The milk", STORIES[1])),
        page_of(article(TITLE, STORIES[0]), article(f"Update: {TITLE}", STORIES[1])),
        page_of(article(OTHERS[1], STORIES[0]), article(OTHERS[0], STORIES[1])),
        page_of(f"<h1>{TITLE}</h1>", article(OTHERS[1], STORIES[0]), article(OTHERS[0], STORIES[1])),
        page_of(f"<h1>{TITLE}</h1>"),
        page_of(),
    ],
    ids=[
        "one article", "a short story", "a headline of another rank", "a heading of two words",
        "more of the same story", "none of the title", "a headline above the articles", "no article", "no text",
    ],
)  # fmt: skip
def test_nothing_is_moved_where_the_title_does_not_tell_stories_apart(html: str) -> None:
    page = Page.parse(html)
    scores = load_model("blocks").score(page)
    assert with_titled_article(page, scores) is scores


def test_headlines_without_spaces_are_told_apart_by_characters() -> None:
    headlines = "北线渡轮周二晚点七小时抵达港口", "奶农为牛奶价格再次开会讨论"
    stories = ["".join(chr(0x4E00 + 37 * number + 11 * place) for place in range(150)) + "。" for number in (1, 40)]
    articles = [
        f"<article><h1>{headline}</h1><p>{story}</p></article>"
        for headline, story in zip(headlines, stories, strict=True)
    ]
    page = Page.parse(page_of(*articles, title=f"{headlines[0]}_日报"))
    scores = load_model("blocks").score(page)
    moved = with_titled_article(page, scores).templateness - scores.templateness
    there = [any(part in text for part in (headlines[1], stories[1])) for text in page.block_texts()]
    assert (moved[page.n :] > 0).tolist() == there
