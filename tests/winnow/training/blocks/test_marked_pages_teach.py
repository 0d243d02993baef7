"""Pages whose authors mark the article become examples, and what they say is learned."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from winnow.page.page import Page
from winnow.training.examples import BlockPage, block_page
from winnow.training.marked import MAX_MARKED_PAGES, label_marked_pages
from winnow.training.networks import Recipe, train_block_model
from winnow.training.sites import find_sites

RECIPE = Recipe(hidden=(8, 4), epochs=2, min_steps=150, teachers=1, networks=1)
STORY = "Early in the morning otter number {} swims up the river, further than anyone here had thought it could. "
NAMES = ("wide", "text", "left", "post", "main")


def html(number: int, mark: str = "", domain: str = "") -> str:
    canonical = f"<link rel=canonical href='https://www.{domain}/{number}'>" if domain else ""
    teasers = "".join(f"<p>Story {number} of another day, {place}</p>" for place in range(3))
    body = f"<nav><a href=/>Home</a></nav><div {mark}><p>{STORY.format(number) * 6}</p></div><aside>{teasers}</aside>"
    return f"<html><head>{canonical}</head><body>{body}</body></html>"


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    marks = {"marked": "itemprop=articleBody", "plain": "", "measured": "class=e-content"}
    for site, mark in marks.items():
        (tmp_path / site).mkdir()
        for number in range(MAX_MARKED_PAGES + 5):
            (tmp_path / site / f"{number}.html").write_text(html(number, mark, f"{site}.co.uk"), encoding="utf-8")
    return tmp_path


def test_marked_pages_are_taken_from_domains_that_are_not_measured(sites: Path):
    pages = label_marked_pages(find_sites(sites), seed=0, leave_out=["measured.co.uk"])
    assert {page.source for page in pages} == {"marked"}
    assert len(pages) == MAX_MARKED_PAGES
    for page in pages:
        assert page.content.tolist() == [0, 1, 0, 0, 0]


def test_copies_teach_once(sites: Path):
    for file in (sites / "marked").iterdir():
        file.write_text(html(7, "itemprop=articleBody"), encoding="utf-8")
    assert len([page for page in label_marked_pages(find_sites(sites), seed=0) if page.source == "marked"]) == 1


def examples(site: str, *, story: float, teaser: float) -> list[BlockPage]:
    content = np.array([0, story, teaser, teaser, teaser], np.float32)
    pages = [Page.parse(html(number, f"class={NAMES[number % 5]}")) for number in range(4)]
    return [block_page(page, content, site) for page in pages]


def test_what_authors_mark_outweighs_that_teasers_are_unique_on_their_site():
    sites = [page for number in range(6) for page in examples(f"site{number}", story=1, teaser=1)]
    marked = [page for number in range(6) for page in examples(f"site{number}", story=1, teaser=0)]
    with threadpool_limits(1):
        without = train_block_model([], sites, recipe=RECIPE)
        with_marks = train_block_model([], sites, marked=marked, recipe=replace(RECIPE, dropout_without_gold=0.2))
    page = Page.parse(html(3))
    teasers = slice(page.n + 2, None)
    assert with_marks.score(page).templateness[teasers].min() > without.score(page).templateness[teasers].max() + 0.1
    assert with_marks.score(page).templateness[page.n + 1] < 0.5
