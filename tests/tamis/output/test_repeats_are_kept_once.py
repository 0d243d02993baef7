"""What a page says twice, word for word, is kept once, unless it is meant to be there twice."""

import numpy as np
import pytest

from tamis import clean
from tamis.evidence.main_content import find_later_copies
from tamis.page.page import Page

LONG = "A sentence that is long enough to be sure of a copy."
OTHER = "Another sentence, and long enough to be sure as well."


def copies(html: str, *cut: int) -> list[bool]:
    page = Page.parse(html)
    kept = np.ones(page.m, bool)
    kept[list(cut)] = False
    return find_later_copies(page, page.block_texts(), kept).tolist()


@pytest.mark.parametrize(
    "html",
    [
        f"<table><tr class=odd><td>a<td>{LONG}<tr class=even><td>b<td>{LONG}</table>",
        f"<ul><li class=first>{LONG}<li>{OTHER}<li>{LONG}</ul>",
        "<main><p>Stay in.</p></main><div class=mobile><p>Stay in.</p></div>",
        f"<p>one<br>{LONG}</p><p>two<br>{LONG}</p>",
        f"<p>{LONG}<br>two<br>{LONG}</p>",
        f"<pre><div>{LONG}</div><div>{LONG}</div></pre>",
        f"<ul><li>{LONG}<li>{OTHER}</ul><h2>{LONG}</h2><p>One.</p><h2>{OTHER}</h2><p>Two.</p>",
    ],
)
def test_values_items_refrains_code_short_texts_and_what_a_table_of_contents_names_may_be_repeated(html: str) -> None:
    assert not any(copies(html))


def test_a_heading_right_after_the_same_one_is_a_copy() -> None:
    html = "<h1>Pears</h1><a href=/pears><h2>Pears</h2></a><p>Pears</p><h3>Plums</h3><p>Ripe.</p><h3>Plums</h3>"
    assert copies(html) == [False, True] + [False] * 4


def test_headings_that_are_repeated_take_no_other_text_with_them() -> None:
    assert copies("<h2>Pears</h2>" * 100 + f"<p>{LONG}</p>" * 2) == [False] + [True] * 99 + [False] * 2


def test_a_page_that_holds_itself_a_dozen_times_is_kept_once() -> None:
    section = f"<h2>Rates</h2><p>{LONG}</p><ul><li>3<li>5</ul>"
    assert copies("".join(f"<div class=depth{number}>{section}" for number in range(12))) == [False] * 4 + [True] * 44


def test_a_table_that_is_there_twice_for_two_screens_is_kept_once() -> None:
    table = f"<table><tr><td>a<td>{LONG}<tr><td>b<td>{LONG}</table>"
    assert copies(f"<div>{table}</div><div class=mobile>{table}</div>") == [False] * 4 + [True] * 4


def test_what_several_entries_of_a_manual_have_in_common_stays_in_each() -> None:
    entry = f"<dt>{{}}<dd><p>{LONG}</p>"
    assert not any(copies("".join(f"<dl class=entry>{entry.format(name)}</dl>" for name in ("union", "setdiff"))))
    assert copies(f"<dl>{entry.format('union')}</dl><dl class=entry>{entry.format('setdiff')}</dl>")[-1]
    assert copies(f"<div>{LONG}</div><p>{LONG}</p>") == [False, True]


def test_a_line_of_code_stays_in_each_piece_of_code() -> None:
    assert not any(copies(f"<pre class=a><div>{LONG}</div><div>b</div></pre><pre><div>{LONG}</div><div>c</div></pre>"))


@pytest.mark.parametrize("classes", [("post-7 post category-sea", "post-8 post tag-quay"), ("node odd", "node even")])
def test_what_the_posts_of_a_list_have_in_common_stays_in_each(classes: tuple[str, str]) -> None:
    assert not any(copies("".join(f'<article class="{each}"><p>{LONG}</p></article>' for each in classes)))


def test_pictures_that_repeat_stay_where_repeats_are_wanted() -> None:
    items = f"<li>An item, {LONG.lower()}</li><li><b><img src=/star.svg></b></li>"
    html = f"<p>{LONG} <img src=/star.svg></p><p>{OTHER}</p><ul>{items}</ul>"
    assert [clean(html, deduplicate=wanted).markdown.count("star.svg") for wanted in (True, False)] == [1, 2]
    assert [clean(html, deduplicate=wanted).html.count("<b>") for wanted in (True, False)] == [0, 1]
