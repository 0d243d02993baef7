import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.fingerprints import node_fingerprints, text_fingerprints
from winnow.page.page import Page


def of_first(html: str, name: str = "div", url: str | None = None) -> int:
    """Markup fingerprint of the first element of a name."""
    page = Page.parse(html, url)
    index = next(i for i, element in enumerate(page.elements) if element.tag == name)
    return int(node_fingerprints(page)[index])


BASE = '<div class="menu" id="m"><a href="/a">A</a> text <b>bold</b></div>'


@pytest.mark.parametrize(
    "other",
    [
        '<div class="menu" id="m"><a href="/b">A</a> text <b>bold</b></div>',
        '<div class="footer" id="m"><a href="/a">A</a> text <b>bold</b></div>',
        '<div class="menu" id="n"><a href="/a">A</a> text <b>bold</b></div>',
        '<div class="menu" id="m"><a href="/a" title="T">A</a> text <b>bold</b></div>',
        '<div id="menu" class="m"><a href="/a">A</a> text <b>bold</b></div>',
    ],
)
def test_other_attributes_make_another_fingerprint(other: str) -> None:
    assert of_first(BASE) != of_first(other)


@pytest.mark.parametrize(
    "other",
    [
        '<p>before</p><div id="m" class="menu"><a href="/a">A</a> text <b>bold</b></div>after',
        '<div class="menu" id="m">\n  <a href="/a"> A </a>\n\ttext\u00a0<b>BOLD</b></div>',
        '<div class="menu" id="m"><!-- c --><a href="/a">A</a> text <b>bold</b><script>x()</script></div>',
        '<div class="menu" id="m" nonce="r4" style="top: 3px"><a href="/a" class="active">A</a> text <b>bold</b></div>',
        '<div class="menu" id="m" onclick="x()"><a href="/a" aria-current="page">A</a> text <b>bold</b></div>',
    ],
)
def test_place_white_space_case_comments_scripts_and_states_make_no_difference(other: str) -> None:
    assert of_first(BASE) == of_first(other)


def test_a_block_is_the_markup_of_a_line_and_the_name_of_its_element() -> None:
    def block(html: str) -> int:
        page = Page.parse(html)
        return int(node_fingerprints(page)[page.n])

    line = '<a href="/x"><b>One</b></a> two'
    assert block(f"<p>{line}</p>") == block(f"<p class=q>\n{line}\n</p>") == block(f"<p>{line}<br>other</p>")
    assert block(f"<p>{line}</p>") != block(f"<h1>{line}</h1>")
    assert block(f"<p>{line}</p>") != block("<p><a href='/y'><b>One</b></a> two</p>")
    assert block("<p>One <img src=a.png></p>") != block("<p>One <img src=b.png></p>")


def test_invisible_elements_have_no_fingerprint_and_change_no_other_one() -> None:
    page = Page.parse("<head><title>t</title></head><body><div>x<script>1</script></div><style>s</style>")
    fingerprints = dict(zip([element.tag for element in page.elements], node_fingerprints(page).tolist(), strict=False))
    assert [name for name, value in fingerprints.items() if value == 0] == ["head", "title", "script", "style"]


PARTS = st.recursive(
    st.sampled_from(["x", "y z", "Y", "12", " ", "\u00a0\n", "<br>", "<img src=a.png>", "<script>1</script>"]),
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format, st.sampled_from(["div", "b", "ul", "p"]), st.lists(inner, max_size=3).map("".join)
    ),
    max_leaves=12,
)


def canonical(page: Page, i: int) -> tuple[object, ...]:
    """The slow definition: tag, attributes, and the children that leave a trace, texts folded."""
    element = page.elements[i]
    children: list[object] = []

    def text(value: str | None) -> None:
        if value and value.strip():
            children.append(" ".join(value.split()).casefold())

    text(element.text)
    child = i + 1
    while child < page.end[i]:
        if page.elements[child].tag != "script":
            children.append(canonical(page, child))
        text(page.elements[child].tail)
        child = int(page.end[child])
    return (element.tag, tuple(sorted(element.items())), tuple(children))


@settings(max_examples=40, deadline=None)
@given(st.lists(PARTS, max_size=5).map("".join))
def test_fingerprints_are_equal_exactly_where_the_trees_are(html: str) -> None:
    page = Page.parse(f"<div>{html}</div>")
    trees: dict[tuple[object, ...], int] = {}
    fingerprints: dict[int, tuple[object, ...]] = {}
    for i, fingerprint in enumerate(node_fingerprints(page)[: page.n].tolist()):
        if page.elements[i].tag != "script":
            tree = canonical(page, i)
            assert trees.setdefault(tree, fingerprint) == fingerprint
            assert fingerprints.setdefault(fingerprint, tree) == tree


@settings(max_examples=40, deadline=None)
@given(st.lists(PARTS, max_size=5).map("".join))
def test_text_fingerprints_are_equal_exactly_where_the_texts_are(html: str) -> None:
    page = Page.parse(f"<div>{html}</div>")
    border = set(page.block_run_begin.tolist())
    texts: dict[str, int] = {}
    seen: dict[int, str] = {}
    begins = np.concatenate([page.run_begin, page.block_run_begin])
    ends = np.concatenate([page.run_end, page.block_run_end])
    for begin, end, fingerprint in zip(begins, ends, text_fingerprints(page).tolist(), strict=True):
        joined = "".join(" " * (k in border) + page.runs[k] for k in range(begin, end))
        text = " ".join(joined.split()).casefold()
        assert (fingerprint == 0) == (not text)
        assert texts.setdefault(text, fingerprint) == fingerprint
        assert seen.setdefault(fingerprint, text) == text


def of_text(text: str) -> int:
    return int(text_fingerprints(Page.parse(f"<body>{text}</body>"))[1])


@pytest.mark.parametrize(
    ("upper", "lower"), [("ÀÉÎÕÜ", "àéîõü"), ("ПРИВЕТ", "привет"), ("ΓΕΙΆ", "γειά"), ("ＡＢＣ", "ａｂｃ")]
)
def test_case_is_folded_in_every_script_that_has_it(upper: str, lower: str) -> None:
    assert of_text(upper) == of_text(lower)


def test_characters_outside_the_basic_plane_differ() -> None:
    assert len({of_text(text) for text in ("a \U0001f600 b", "a \U0001f601 b", "a \U00020000 b", "a  b")}) == 4
