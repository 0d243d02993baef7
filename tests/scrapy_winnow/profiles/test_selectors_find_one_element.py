import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsel import Selector

from scrapy_winnow.profiles.selectors import Selectors
from winnow import Page

NAMES = st.sampled_from(["div", "p", "ul", "li", "span", "a", "h2", "nav", "table", "x-card"])
ATTRIBUTES = st.sampled_from(
    ["", ' id="a"', ' id="b"', ' class="x"', ' class="x y"', ' class="y z"', ' id="post-4711"']
)
TREES = st.recursive(
    st.just("text"),
    lambda inner: st.builds(
        lambda name, attributes, children: f"<{name}{attributes}>{''.join(children)}</{name}>",
        NAMES,
        ATTRIBUTES,
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@given(TREES)
def test_every_element_is_found_and_it_alone(html: str) -> None:
    page = Page.parse(f"<body>{html}</body>")
    selectors = Selectors(page)
    root = Selector(root=page.elements[0], type="html")
    for index, element in enumerate(page.elements):
        found = root.css(selectors.of(index))
        assert [each.root for each in found] == [element], selectors.of(index)


@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ("<div id=top><p>x</p></div>", "#top"),
        ("<nav>x</nav>", "nav"),
        ("<div class='card wide'>x</div><div class=card>y</div>", "div.wide"),
        ("<div id=post-4711 class=css-1a2b3c4d>x</div><div>y</div>", "body > div:nth-of-type(1)"),
    ],
)
def test_what_lasts_is_preferred(html: str, selector: str) -> None:
    assert Selectors(Page.parse(html)).of(2) == selector
