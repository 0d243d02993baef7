import numpy as np
import pytest

from winnow.output.html import write_html
from winnow.output.markdown import to_markdown
from winnow.output.stripping import remains
from winnow.output.text import block_texts, join_blocks
from winnow.page.page import Page

SPANNED = """<table><caption>Prices</caption><tr><th>Size<th>Price<th>Note
<tr><td rowspan=2>Small<td>1<td><tr><td>2<td>new<tr><td colspan=2>All<td>old<tr><td><td>3<td>x</table>"""
LAYOUT = """<table><tr><td><h1>News</h1><p>One</p><p>Two</p><p>Three</p></td><td>Side</td></tr>
<tr><td>Foot</td><td>Note</td></tr></table>"""


def outputs(html: str, *cut: int) -> tuple[str, str, str]:
    page = Page.parse(html)
    template = np.zeros(page.n + page.m, bool)
    template[[page.n + block for block in cut]] = True
    written = write_html(page, remains(page, template))
    return join_blocks(page, block_texts(page), ~template[page.n :]), written, to_markdown(written)


def test_spanned_and_empty_cells_keep_the_columns_in_text_and_markdown() -> None:
    text, _, markdown = outputs(SPANNED)
    assert text == "Prices\nSize\tPrice\tNote\nSmall\t1\n\t2\tnew\nAll\t\told\n\t3\tx"
    assert markdown.split("\n") == [
        "Prices",
        "",
        "| Size | Price | Note |",
        "| --- | --- | --- |",
        "| Small | 1 |  |",
        "|  | 2 | new |",
        "| All |  | old |",
        "|  | 3 | x |",
    ]


@pytest.mark.parametrize("spans", ["colspan=1000", "colspan=999 rowspan=1000"])
def test_a_few_bytes_that_ask_for_millions_of_places_get_none(spans: str) -> None:
    rows = "".join(f"<tr><td>{number}<td>value" for number in range(1_000))
    text, _, markdown = outputs(f"<table><tr><th {spans}>Head<tr>{rows}</table>")
    assert [line.split() for line in text.split("\n")[1:]] == [[str(number), "value"] for number in range(1_000)]
    assert markdown.split("\n")[-1].replace("|", "").split() == ["999", "value"]
    assert len(text) < 300_000
    assert len(markdown) < 1_000_000


def test_rows_that_are_cut_are_gone_and_cells_that_are_cut_are_empty() -> None:
    text, _, markdown = outputs("<table><tr><th>a<th>b<tr><td>c<td>d<tr><td>e<td>f</table>", 2, 3, 4)
    assert text == "a\tb\n\tf"
    assert markdown.split("\n")[2:] == ["|  | f |"]


@pytest.mark.parametrize(
    "html",
    [
        LAYOUT,
        "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>",
        "<table><tr><td>x<td><table><tr><th>a<th>b<tr><td>c<td>d</table><tr><td>y<td>z</table>",
        "<table><tr><td>a</td></tr><tr><td>b</td></tr></table>",
    ],
)
def test_tables_that_lay_out_a_page_dissolve(html: str) -> None:
    _, written, markdown = outputs(html)
    kept = html.count("<th>") > 0
    assert ("<table>" in written) is kept
    assert ("|" in markdown) is kept


def test_a_table_without_a_head_gets_an_empty_one_and_alignment_is_kept() -> None:
    markdown = outputs("<table><tr><td>a<td align=right>1<tr><td>b<td align=right>2</table>")[2]
    assert markdown.split("\n") == ["|  |  |", "| --- | --: |", "| a | 1 |", "| b | 2 |"]


def test_lists_headings_breaks_code_and_bars_in_cells_stay_in_their_cell() -> None:
    cells = "<td><ul><li>a<li>b|c</ul><td><h3>d</h3>e<br>f<td><pre>g\n h|i</pre>"
    assert to_markdown(f"<table><tr><th>1<th>2<th>3<tr>{cells}</table>").split("\n")[2:] == [
        "| a<br>b\\|c | **d**<br>e<br>f | `g`<br>` h\\|i` |"
    ]


def test_a_span_beyond_all_bounds_is_bounded() -> None:
    text, _, markdown = outputs("<table><tr><th colspan=999999999>a<th>b<tr><td>c<td rowspan=-1>d</table>")
    assert text.startswith("a")
    assert text.endswith("c\td")
    assert len(markdown) < 20_000
