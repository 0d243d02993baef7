import itertools

import numpy as np

from winnow.features.blocks import STATIC_NAMES, features_of
from winnow.memo import forget
from winnow.models.blocks.features.containers import LEVELS, containers
from winnow.page.page import Page

PAGE = """<body><nav><a href=/a>A</a><p>menu</p></nav>
<div class=post>{0}<h2>Title, one</h2><p>Some text. More text here</p><p>Last words</p>{1}</div>
<footer><p>end</p><p>of page</p></footer></body>"""
PLAIN = PAGE.format("", "")
WRAPPED = PAGE.format("<div><section><div>", "</div></section></div>")

UNCHANGED = ("share of page", "link share", "sentence ends per word", "commas per word", "log blocks", "log characters")


def container_columns():
    return [k for k, name in enumerate(STATIC_NAMES) if name.startswith("container ") and name.endswith(UNCHANGED)]


def test_a_container_is_the_outermost_element_that_holds_the_same_blocks():
    page = Page.parse("<body><p>a</p><div><section><p>b</p><p>c</p></section></div></body>")
    tags = [page.elements[index].tag for index in containers(page)[1].tolist()]
    assert tags == ["html", "div", "div"]


def test_each_level_holds_more_blocks_until_the_root_repeats():
    page = Page.parse(WRAPPED)
    held = page.block_end - page.block_begin
    levels = containers(page)
    assert levels.shape == (LEVELS, page.m)
    for lower, upper in itertools.pairwise(levels):
        assert ((held[upper] > held[lower]) | ((upper == lower) & (upper == 0))).all()


def test_extra_wrappers_leave_the_containers_of_all_blocks():
    plain, wrapped = Page.parse(PLAIN), Page.parse(WRAPPED)
    names = [
        [[page.elements[index].tag for index in level] for level in containers(page).tolist()]
        for page in (plain, wrapped)
    ]
    assert names[0] == names[1]


def test_extra_wrappers_leave_what_containers_say_of_their_text():
    plain, wrapped = (features_of(Page.parse(html)).static for html in (PLAIN, WRAPPED))
    columns = container_columns()
    assert len(columns) == LEVELS * len(UNCHANGED)
    assert np.array_equal(plain[:, columns], wrapped[:, columns])


def test_features_do_not_depend_on_the_pages_seen_before():
    first = features_of(Page.parse(PLAIN))
    for number in range(50):
        features_of(Page.parse(f"<div class='c{number} post-{number}' id=x{number}>word{number} a</div>" * 5))
    forget()
    again = features_of(Page.parse(PLAIN))
    assert np.array_equal(first.static, again.static)
    assert np.array_equal(first.tokens.name, again.tokens.name)
    assert np.array_equal(first.tokens.word, again.tokens.word)


def test_the_order_of_attributes_and_classes_does_not_matter_to_the_log_odds_of_names():
    forms = ("<p id=one class='b a'>x</p>", "<p class='a b' id=one>x</p>")
    names = [sorted(features_of(Page.parse(form)).tokens.name.tolist()) for form in forms]
    assert names[0] == names[1]
