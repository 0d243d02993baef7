import numpy as np
import pytest

from winnow.features.blocks import FEATURE_NAMES, STATIC_NAMES, features_of
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.page.page import Page

SMALL = """<html><head><title>Red boats</title></head><body>
<div id="menu"><a href="/a">Home</a> <a href="/b">News today</a></div>
<main><h1>Red boats sail</h1><p>First, one boat. Then two!</p><p>And <b>bold</b> 12</p></main>
</body></html>"""


def tables(seed=0):
    rng = np.random.default_rng(seed)
    return TokenTables(*rng.normal(size=(2, TABLE_SIZE)).astype(np.float32))


def static(html):
    return features_of(Page.parse(html)).static


def column(html, name):
    return static(html)[:, STATIC_NAMES.index(name)].tolist()


def test_every_column_has_one_name_of_its_own():
    features = features_of(Page.parse(SMALL))
    assert features.static.shape == (4, len(STATIC_NAMES))
    assert features.matrix(tables()).shape == (4, len(FEATURE_NAMES))
    assert features.matrix(tables()).dtype == np.float32
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p></p>",
        "<p>x</p>",
        "x",
        "<script>a</script>",
        "<h1>.</h1>",
        "<a href>\u00a0</a>,",
        "<title></title><p>\U0001f600</p>",
        "<div class=''>" * 300 + "deep",
        b"\xff\xfe\x00\x01",
        "<p>word" * 2_000,
    ],
)
def test_features_of_bad_pages_are_finite(html):
    page = Page.parse(html)
    matrix = features_of(page).matrix(tables())
    assert matrix.shape == (page.m, len(FEATURE_NAMES))
    assert np.isfinite(matrix).all()


def test_values_of_the_text_are_those_counted_by_hand():
    assert column(SMALL, "log words") == pytest.approx(np.log1p([3, 3, 5, 3]))
    assert column(SMALL, "log characters") == pytest.approx(np.log1p([13, 12, 22, 9]))
    assert column(SMALL, "link share") == pytest.approx([1, 0, 0, 0])
    assert column(SMALL, "emphasised share") == pytest.approx([0, 0, 0, 4 / 9])
    assert column(SMALL, "digit share") == pytest.approx([0, 0, 0, 2 / 9])
    assert column(SMALL, "log sentence ends") == pytest.approx(np.log1p([0, 0, 2, 0]))
    assert column(SMALL, "log commas") == pytest.approx(np.log1p([0, 0, 1, 0]))
    assert column(SMALL, "share of the title's words") == pytest.approx([0, 1, 0, 0])
    assert column(SMALL, "ends a sentence") == [0, 0, 1, 0]
    assert column(SMALL, "begins in upper case") == [1, 1, 1, 1]


def test_values_of_the_place_are_those_counted_by_hand():
    assert column(SMALL, "enclosed by h1") == [0, 1, 0, 0]
    assert column(SMALL, "enclosed by main") == [0, 1, 1, 1]
    assert column(SMALL, "blocks before, share") == pytest.approx([0, 0.25, 0.5, 0.75])
    assert column(SMALL, "log blocks after") == pytest.approx(np.log1p([3, 2, 1, 0]))
    assert column(SMALL, "signed log blocks from h1") == pytest.approx([-np.log(2), 0, np.log(2), np.log(3)])
    assert column(SMALL, "container 0: is p") == [0, 0, 1, 1]
    assert column(SMALL, "container 1: log blocks") == pytest.approx(np.log1p([4, 3, 3, 3]))
    assert column(SMALL, "neighbour -1: p") == [-1, 0, 0, 1]
    assert column(SMALL, "neighbour +1: heading") == [1, 0, 0, -1]


def test_text_of_many_blocks_counts_its_twins():
    assert column("<p>a b<p>c<p>A B", "log twins") == pytest.approx(np.log1p([1, 0, 1]))


@pytest.mark.parametrize(
    "hiding", ["hidden", "aria-hidden=true", "style='display: none'", "style='color:red; display:none'"]
)
def test_what_markup_hides_is_told(hiding):
    assert column(f"<div {hiding}><p>a</p></div><p>b</p>", "hidden by markup") == [1, 0]


def test_names_change_the_learned_features_only():
    plain, named = (features_of(Page.parse(f"<div{name}><p>a b</p></div>")) for name in ("", " class=post-meta"))
    assert np.array_equal(plain.static, named.static)
    difference = plain.matrix(tables()) != named.matrix(tables())
    assert {FEATURE_NAMES[k] for k in np.flatnonzero(difference.any(axis=0))} >= {"names: path log-odds"}


def test_parts_of_names_are_the_same_however_they_are_written():
    forms = ("post-meta-12", "post_meta_7", "postMeta 3", "POST meta 99 post")
    rows = [features_of(Page.parse(f"<p class='{form}'>a</p>")).matrix(tables()) for form in forms]
    learned = len(STATIC_NAMES)
    assert all(np.allclose(row[:, learned:], rows[0][:, learned:], atol=1e-6) for row in rows)


def test_only_the_first_parts_of_a_name_count():
    many = " ".join(f"w{letter}" for letter in "abcdefghijkl")
    of = [features_of(Page.parse(f"<p class='{names}'>a</p>")).tokens.name for names in (many, f"{many} extra")]
    assert of[0].tolist() == of[1].tolist()
    assert len(of[0]) == 12
