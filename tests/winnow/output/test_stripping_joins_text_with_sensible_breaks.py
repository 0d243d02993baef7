import numpy as np
import pytest
from lxml import etree

from winnow.output.text import block_texts, join_blocks, visible_text
from winnow.page.page import Page


def text(html: str, *cut: int) -> str:
    page = Page.parse(html)
    kept = np.ones(page.m, bool)
    kept[list(cut)] = False
    return join_blocks(page, block_texts(page), kept)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>A</h1><p>B <b>c</b>\n d</p><p>E</p>", "A\n\nB c d\n\nE"),
        ("<p>a<br>b<br><br>c</p>", "a\nb\n\nc"),
        ("<p>a<br></p><p>b</p>", "a\n\nb"),
        ("<p>x</p><ul><li>a<li>b<ul><li>c</ul><li>d</ul><p>y</p>", "x\n\na\nb\nc\nd\n\ny"),
        ("<dl><dt>t<dd>d<dt>u<dd>e</dl>", "t\nd\nu\ne"),
        ("<ul><li><p>a</p><p>b</p><li><p>c</p></ul>", "a\n\nb\n\nc"),
        ("<ul><li><p>a</p><li><p>b</p></ul>", "a\nb"),
        ("<ul><li>a</ul><ul><li>b</ul>", "a\n\nb"),
        ("<table><tr><th>a<th>b<tr><td>c<td>d</table>", "a\tb\nc\td"),
        ("<table><tr><td><p>a</p><p>b</p><td>c</table>", "a\n\nb\n\nc"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "a\tb\n\nc"),
        ("<pre>\n  if x:\n    y\n</pre><p>z</p>", "  if x:\n    y\n\nz"),
        ("<pre>\n  <b>if</b> x:\n    <i>y</i>\n</pre>", "  if x:\n    y"),
        ("<div>a<p>b</p>c</div>", "a\n\nb\n\nc"),
        ("", ""),
        ("<p> </p>", ""),
    ],
)
def test_breaks_follow_the_markup(html: str, expected: str) -> None:
    assert text(html) == expected


def test_blocks_that_are_cut_leave_no_gap() -> None:
    assert text("<ul><li>a<li>b<li>c</ul><p>d</p>", 1) == "a\nc\n\nd"
    assert text("<p>a</p><p>b</p>", 0, 1) == ""


def test_a_block_between_line_breaks_that_is_cut_leaves_a_paragraph() -> None:
    assert text("<p>a<br>b<br>c</p>", 1) == "a\n\nc"


def test_all_visible_text_of_a_tree_is_found_without_a_page() -> None:
    html = (
        "<html><head><title>T</title></head><body>one <b>two</b><!-- c --> three<script>x</script><p>four<br>five</p>"
        "<noscript>six</noscript><select><option>no</select>seven<?pi x?> eight</body></html>"
    )
    root = etree.fromstring(html, etree.HTMLParser())
    assert visible_text(root) == "one two three\nfour\nfive\nsix\nseven eight"
    assert visible_text(root).split("\n") == Page.from_tree(root).block_texts()


def test_a_row_around_its_table_is_no_row_of_it() -> None:
    root = etree.fromstring("<body><tr><table><td>one</td><td>two</td></table></tr></body>")
    page = Page.from_tree(root)
    assert join_blocks(page, block_texts(page), np.ones(page.m, bool)).split() == ["one", "two"]
