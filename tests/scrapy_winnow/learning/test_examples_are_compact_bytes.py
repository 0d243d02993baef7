"""A page's features and labels become bytes and come back equal; whatever else is read is refused."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_winnow.learning import examples as module
from scrapy_winnow.learning.examples import CONTENT, TEMPLATE, UNLABELLED, Example, ExampleError
from scrapy_winnow.learning.teaching import TEACHING_PAGES, block_labels, example_of, ready_to_teach
from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
from winnow.features.blocks import BlockFeatures, features_of
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.page.page import Page
from winnow.training.marked import MarkedPage

HTML = (
    "<html><head><title>Storm warning</title></head><body><ul class='mainMenu nav-2'><li><a href=/>Home</a>"
    "<li><a href=/w>Weather</a></ul><div id=story><h1>Storm warning</h1><p>Winds of up to 130 km/h tonight.</p>"
    "<p>The ferries <b>stay</b> in the harbour.<br>Until Sunday noon.</p></div><footer>Rights</footer></body></html>"
)


def _example(html: str = HTML) -> tuple[BlockFeatures, Example]:
    page = Page.parse(html)
    features = features_of(page)
    labels = np.array([(TEMPLATE, CONTENT, UNLABELLED)[number % 3] for number in range(page.m)], np.int8)
    return features, Example.of(features, labels)


def test_what_is_written_is_read():
    features, example = _example()
    again = Example.from_bytes(example.to_bytes())
    half = features.static.astype(np.float16)
    assert np.array_equal(again.static, half.astype(np.float32))
    assert np.array_equal(again.words, features.words)
    assert np.array_equal(again.content, example.content)
    assert {(CONTENT), (TEMPLATE), (UNLABELLED)} == set(again.content.tolist())
    for name in ("parent", "end", "block_begin", "block_end", "owner", "levels"):
        assert np.array_equal(getattr(again.tokens, name), getattr(features.tokens, name)), name
        assert getattr(again.tokens, name).dtype == getattr(features.tokens, name).dtype, name


def test_learned_features_of_what_is_read_are_those_of_the_page():
    features, example = _example()
    chance = np.random.default_rng(1)
    tables = TokenTables(*chance.normal(size=(2, TABLE_SIZE)).astype(np.float32))
    again = Example.from_bytes(example.to_bytes())
    assert np.allclose(tables.features(again.tokens), tables.features(features.tokens))


def test_the_order_of_words_is_not_kept():
    one, two = (_example(f"<p>{text}</p>")[1].tokens.word.tolist() for text in ("a storm is near", "near is a storm"))
    assert one == two == sorted(one)
    assert len(one) == 4


def test_a_page_without_elements_or_blocks_is_no_obstacle():
    for html in ("<p>x", "<img>", ""):
        example = _example(html)[1]
        assert Example.from_bytes(example.to_bytes()).static.shape == example.static.shape


@given(st.data())
def test_damaged_bytes_are_refused_or_hold_numbers_in_range(data: st.DataObject):
    plain = bytearray(_BYTES)
    for _ in range(data.draw(st.integers(1, 4))):
        plain[data.draw(st.integers(0, len(plain) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(plain)))
    for broken in (bytes(plain), bytes(plain[:cut])):
        _read_or_refuse(broken)


@given(st.data())
def test_arrays_that_lie_are_refused_or_hold_numbers_in_range(data: st.DataObject):
    header = module._HEADER.size
    plain = bytearray(zlib.decompress(_BYTES[header:]))
    for _ in range(data.draw(st.integers(1, 4))):
        plain[data.draw(st.integers(0, len(plain) - 1))] = data.draw(st.integers(0, 255))
    _read_or_refuse(_BYTES[:header] + zlib.compress(bytes(plain)))


def _read_or_refuse(data: bytes) -> None:
    try:
        example = Example.from_bytes(data)
    except ExampleError:
        return
    m, tokens = len(example.words), example.tokens
    features = TokenTables(*np.ones((2, TABLE_SIZE), np.float32)).features(tokens)
    assert features.shape[0] == example.static.shape[0] == len(example.content) == m
    assert np.isfinite(example.static).all()
    assert np.isfinite(features).all()
    assert set(example.content.tolist()) <= {CONTENT, TEMPLATE, UNLABELLED}
    spans = np.arange(m + 1)[tokens.block_end[tokens.name_element]] - spans_of(tokens, m)
    assert (spans >= 0).all()


def spans_of(tokens, m):
    return np.arange(m + 1)[tokens.block_begin[tokens.name_element]]


_BYTES = _example()[1].to_bytes()


def test_examples_of_other_features_bombs_and_giants_are_refused(monkeypatch: pytest.MonkeyPatch):
    mark, *numbers = module._HEADER.unpack_from(_BYTES)
    rest = _BYTES[module._HEADER.size :]
    for broken, message in (
        (module._HEADER.pack(bytes(8), *numbers) + rest, "another feature version"),
        (module._HEADER.pack(mark, 7, 2**31, 0, 0, 0) + rest, "too large"),
        (module._HEADER.pack(mark, *numbers) + zlib.compress(bytes(50_000_000)), "other lengths"),
        (_BYTES + bytes(module.MOST_BYTES), "bytes"),
        (b"", "bytes"),
    ):
        with pytest.raises(ExampleError, match=message):
            Example.from_bytes(broken)


def _evidence(hashed: HashedPage, df: list[int], pages: int = 40, **more: object) -> SiteEvidence:
    return SiteEvidence(np.array(df), pages=pages, undercount=0, counted=True, **more)  # type: ignore[arg-type]


def test_labels_are_what_the_site_repeats_and_what_it_does_not():
    hashed = HashedPage.of(Page.parse("<body><p>on all pages</p><p>on this one</p><p>on some</p></body>"))
    blocks = {text: number for number, text in enumerate(hashed.page.block_texts())}
    by_text = {"on all pages": 40, "on this one": 1, "on some": 3}
    texts = [hashed.page.block_texts()[unit - hashed.page.n] if unit >= hashed.page.n else "" for unit in hashed.units]
    labels = block_labels(hashed, _evidence(hashed, [by_text.get(text, 1) for text in texts]))
    assert labels[blocks["on all pages"]] == TEMPLATE
    assert labels[blocks["on this one"]] == CONTENT
    assert labels[blocks["on some"]] == UNLABELLED


def test_hosts_teach_once_they_have_settled_or_have_many_pages():
    hashed = HashedPage.of(Page.parse(HTML))
    df = [1] * len(hashed.units)
    assert not ready_to_teach(_evidence(hashed, df, TEACHING_PAGES - 1))
    assert ready_to_teach(_evidence(hashed, df, TEACHING_PAGES))
    assert ready_to_teach(_evidence(hashed, df, 12, settled=True))


def test_pages_without_labels_or_with_too_many_blocks_give_no_example():
    for html, df in (("<p>x</p>", 3), (f"<body>{'<p>x</p>' * 2_001}", 1), ("<img>", 1)):
        hashed = HashedPage.of(Page.parse(html))
        assert example_of(hashed, _evidence(hashed, [df] * len(hashed.units))) is None
    hashed = HashedPage.of(Page.parse(HTML))
    assert example_of(hashed, _evidence(hashed, [1] * len(hashed.units))) is not None


def test_a_page_whose_author_marks_the_article_teaches_by_the_mark_which_is_hidden():
    story = "".join(f"<p>{'The ferries stay in the harbour until Sunday noon. ' * 6}{n}</p>" for n in range(3))
    pages = [
        Page.parse(f"<body><p>All our news</p><div class='{name}'>{story}</div><p>Alone on this page</p></body>")
        for name in ("e-content wide", "wide")
    ]
    marked, plain = map(HashedPage.of, pages)
    evidence = _evidence(marked, [1] * len(marked.units))  # nothing repeats, so that the site takes all for content
    data = example_of(marked, evidence, MarkedPage.of(marked.page)), example_of(plain, evidence)
    assert MarkedPage.of(plain.page) is None
    assert data[0] is not None
    assert data[1] is not None
    by_mark, by_site = map(Example.from_bytes, data)
    assert by_mark.content.tolist() == [TEMPLATE, CONTENT, CONTENT, CONTENT, TEMPLATE]
    assert by_site.content.tolist() == [CONTENT] * 5
    assert (by_mark.marked, by_site.marked) == (True, False)
    assert np.array_equal(by_mark.static, by_site.static)
    assert np.array_equal(by_mark.tokens.name, by_site.tokens.name)
