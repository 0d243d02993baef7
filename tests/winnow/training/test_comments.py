"""The comments head learns from threads that authors name, and does without the names afterwards."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.winnow.test_comments import SAID, STORY, page_of, thread
from winnow.evidence.comment_model import CommentHead, dated_features
from winnow.features.blocks import features_of
from winnow.page.page import Page
from winnow.training.comments import (
    CommentRecipe,
    comment_page,
    compare_with_labels,
    cross_validate_head,
    main,
    pages_of_gold,
    pages_of_sites,
    train_comment_head,
    without_repeats,
)

NAMED = thread(' class="comment"', ' class="comments-area"')
POSTS = page_of("<h1>Which flour?</h1>" + thread(' class="post topic-reply"', ' class="forum topic"') * 2)
SMALL = CommentRecipe(units=(8, 8, 4), epochs=60, dropout=0.0, min_sources=1, other_weight=2.0)


def labels_of(html: str, *, forum: bool = False, gold: float | None = None) -> dict[str, float]:
    page = Page.parse(html)
    content = None if gold is None else np.full(page.m, gold)
    return dict(zip(page.block_texts(), comment_page(page, "a", forum=forum, content=content).label, strict=True))


def test_what_is_inside_named_comments_is_labelled_and_what_is_around_them() -> None:
    labels = labels_of(page_of(STORY + NAMED))
    for name, date, text in SAID:
        assert labels[f"{name} says:"] == labels[date] == labels[text] == 1
    assert np.isnan(labels["Reply"])  # a control is neither
    assert np.isnan(labels["3 thoughts on “How to bake bread at home”"])
    assert labels["How to bake bread at home"] == labels["Copyright 2019 Bread Blog"] == 0


def test_posts_of_forums_and_threads_that_gold_text_holds_are_no_comments() -> None:
    assert set(labels_of(page_of(STORY + NAMED), forum=True).values()) == {0}
    assert set(labels_of(page_of(STORY + NAMED), gold=0.9).values()) == {0}
    assert labels_of(page_of(STORY + NAMED), gold=0.1)[SAID[0][2]] == 1


def test_a_page_whose_names_do_not_exclude_comments_teaches_nothing_of_what_it_does_not_name() -> None:
    assert set(labels_of(page_of(STORY)).values()) == {0}
    assert np.isnan(list(labels_of(page_of(STORY + thread(' class="reader-reviews"'))).values())).all()


def test_comments_that_several_pages_of_a_source_have_are_invitations() -> None:
    pages = [comment_page(Page.parse(page_of(f"<p>{n}</p>{NAMED}")), "a", forum=False) for n in range(2)]
    assert all((page.label == 1).any() for page in pages)
    for page in without_repeats(pages):
        assert not (page.label[page.words > 3] == 1).any()


def examples():
    bodies = [STORY + NAMED, STORY, "<h1>Which flour?</h1>" + thread(' class="post"', ' class="forum topic"') * 2]
    return [
        comment_page(Page.parse(page_of(body)), f"{kind}{number}", forum=kind == 2)
        for number in range(6)
        for kind, body in enumerate(bodies)
    ]


def test_the_head_finds_comments_without_their_names() -> None:
    head = train_comment_head(examples(), recipe=SMALL)
    page = Page.parse(page_of(STORY + thread()))
    features = features_of(page)
    prediction = head.predict(dated_features(page), features)
    of_text = dict(zip(page.block_texts(), prediction.comment, strict=True))
    assert min(of_text[text] for _, _, text in SAID) > 0
    assert of_text["How to bake bread at home"] < 0
    posts = Page.parse(POSTS)
    assert prediction.forum < head.predict(dated_features(posts), features_of(posts)).forum


def test_figures_count_words() -> None:
    page = comment_page(Page.parse(page_of(STORY + NAMED)), "a", forum=False)
    everything = compare_with_labels([page], [np.ones(len(page.texts), bool)])
    assert everything.recall == 1
    assert 0 < everything.precision < 1
    assert compare_with_labels([page], [page.label == 1]).f1 == 1
    hidden, shown = cross_validate_head(examples(), recipe=SMALL)
    assert hidden.sources == shown.sources == 6
    assert shown.on_forums <= 1


def test_pages_are_gathered_from_gold_and_from_sites(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    rows = [
        {"id": "1", "gold_text": "Bread is made of flour", "url": "https://www.bread.example.co.uk/1"},
        {"id": "2", "gold_text": "x", "url": "https://forum.example/2", "page_type": "forum"},
        {"id": "3", "gold_text": "x", "source": "other"},
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in rows:
        (tmp_path / "html" / f"{row['id']}.html").write_text(page_of(STORY + NAMED))
    blog, forum = pages_of_gold(tmp_path / "gold.jsonl", leave_out={"other"})
    assert (blog.source, blog.forum, blog.has_thread) == ("example.co.uk", False, True)
    assert (forum.forum, forum.has_thread) == (True, False)

    sites = tmp_path / "sites"
    for name in ("blog", "board"):
        (sites / name).mkdir(parents=True)
        for number in range(30):
            (sites / name / f"{number}.html").write_text(page_of(STORY + (NAMED if number % 2 else "")))
    (tmp_path / "sites.jsonl").write_text('{"site": "board", "genre": "forum"}\n{"site": "blog", "genre": "blog"}\n')
    pages = pages_of_sites(sites)
    assert sum(page.has_thread for page in pages) == 15
    assert sum(page.source == "blog" for page in pages) == 20
    assert all(page.forum == (page.source == "board") for page in pages)


def test_the_command_writes_the_head_and_a_card_that_names_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "html").mkdir()
    rows = []
    for number, page in enumerate([page_of(STORY + NAMED), page_of(STORY), POSTS] * 3):
        (tmp_path / "html" / f"{number}.html").write_text(page)
        rows.append({"id": str(number), "gold_text": "Bread", "url": f"https://a{number}.example/"})
        rows[-1]["page_type"] = "forum" if page == POSTS else "article"
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "sources.md").write_text("* bakers")
    output = tmp_path / "head.npz"
    arguments = ["--gold", str(tmp_path / "gold.jsonl"), "--sources", str(tmp_path / "sources.md"), "-o", str(output)]
    monkeypatch.setattr("sys.argv", ["comments", *arguments])
    main()
    card = output.with_suffix(".md").read_text(encoding="utf-8")
    assert f"`{CommentHead.load(output).version}`" in card
    assert "9 pages of 9 sources, 3 pages with comments" in card
    assert f"python -m winnow.training.comments --gold {tmp_path.name}/gold.jsonl -o head.npz --seed 0" in card
    assert card.endswith("* bakers\n")
    assert "9 pages, 3 with comments" in capsys.readouterr().out
