import numpy as np
import pytest
from lxml import etree

import tamis
from tamis.output.text import text_of_blocks
from tamis.page.page import Page
from tests.tamis.output.written import write


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
        ("<pre>a\n<pre>b\n<b>c</b></pre></pre>", "a\nb\nc"),
        ("<div>a<p>b</p>c</div>", "a\n\nb\n\nc"),
        ("<p>a<span class=sidenote>b <span class=sidenote>c</span></span> d</p>", "a (b c) d"),
        ("<div><button>Y\u200bes</button><button>N\u200bo</button> <my-a>a</my-a><my-a>b</my-a></div>", "Yes No a b"),
        ("", ""),
        ("<p> </p>", ""),
    ],
)
def test_breaks_follow_the_markup(html: str, expected: str) -> None:
    assert write(html).text == expected


def test_blocks_that_are_cut_leave_no_gap() -> None:
    assert write("<ul><li>a<li>b<li>c</ul><p>d</p>", 1).text == "a\nc\n\nd"
    assert write("<p>a</p><p>b</p>", 0, 1).text == ""
    assert write("<p>a<br>b<br>c</p>", 1).text == "a\nc"


def test_rows_that_are_cut_are_gone_and_cells_that_are_cut_are_empty() -> None:
    found = write("<table><tr><th>a<th>b<tr><td>c<td>d<tr><td>e<td>f</table>", 2, 3, 4)
    assert found.text == "a\tb\n\tf"
    assert found.markdown.split("\n")[2:] == ["|  | f |"]


@pytest.mark.parametrize("spans", ["colspan=1000", "colspan=999 rowspan=1000", "colspan=999999999"])
def test_spans_of_millions_of_cells_are_ignored(spans: str) -> None:
    rows = "".join(f"<tr><td>{number}<td rowspan=-1>value" for number in range(1_000))
    found = write(f"<table><tr><th {spans}>Head<tr>{rows}</table>")
    assert [line.split() for line in found.text.split("\n")[1:]] == [[str(number), "value"] for number in range(1_000)]
    assert found.markdown.split("\n")[-1].replace("|", "").split() == ["999", "value"]
    assert len(found.text) < 300_000
    assert len(found.markdown) < 1_000_000


@pytest.mark.parametrize(
    ("html", "is_data"),
    [
        ("<table><tr><td><h1>News</h1><p>One</p><p>Two</p><td>Side<tr><td>Foot<td>Note</table>", False),
        ("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>", False),
        ("<table><tr><td>x<td><table><tr><th>a<th>b<tr><td>c<td>d</table><tr><td>y<td>z</table>", True),
        ("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>", False),
        ("<table><tr><td><h4>Fruit</h4><td>Price<tr><td>Fig<td>1<tr><td>Pear<td>2</table>", True),
        ("<table><tr><td>A<td>B<td>C<td>D<tr><td>E<td><h1>F</h1>G<br>H<br>I<br>J<br>K</table>", False),
    ],
)
def test_tables_that_lay_out_a_page_dissolve(html: str, is_data: bool) -> None:
    found = write(html)
    assert ("<table>" in found.html, "|" in found.markdown) == (is_data, is_data)


def test_cents_that_are_raised_get_a_point_but_powers_and_notes_are_raised() -> None:
    found = write("<p>Now ₹1,013<sup> 65 </sup> each<p>10<sup>65</sup> stars<p>$5.40<sup>12</sup>")
    assert found.text == "Now ₹1,013.65 each\n\n10⁶⁵ stars\n\n$5.40¹²"
    assert found.markdown == found.text
    sentence = "A sentence that is longer than the text of any price is, of"
    assert write(f"<p>{sentence} $500<sup>12</sup>").text == f"{sentence} $500¹²"


def test_a_row_around_a_table_is_not_a_row_of_the_table() -> None:
    page = Page.from_tree(etree.fromstring("<body><tr><table><td>one</td><td>two</td></table></tr></body>"))
    assert text_of_blocks(page, np.ones(page.m, bool)).split() == ["one", "two"]


LINES = "def f(x):\n    return x\n\n# end"


@pytest.mark.parametrize(
    "html",
    [
        f"<pre>{LINES}</pre>",
        f"<pre>\n{LINES}\n</pre>",
        f"<pre><code>{LINES}\n</code></pre>",
        "<pre><div>def f(x):</div><div>    return x</div><div></div><div># end</div></pre>",
        "<pre><div>def f(x):</div>\n<div>    return x</div>\n<div><br></div>\n<div># end</div>\n</pre>",
        "<pre><span>def</span> f(x):<br>    return x<br><br># end</pre>",
        "<pre><code><span class=line>def f(x):</span>\n<span class=line>    return x</span>\n\n# end</code></pre>",
    ],
)
def test_lines_and_indentation_of_code_stay_with_any_markup_of_lines(html: str) -> None:
    found = write(html)
    assert (found.text, found.markdown) == (LINES, f"```\n{LINES}\n```")


def test_numbers_of_lines_are_numbers() -> None:
    assert write("<pre><span class=gutter>x</span>a = 1</pre>").text == "xa = 1"


def test_spaces_of_code_are_those_that_one_can_type() -> None:
    written = write("<pre>if a:\n\xa0\xa0<b>b</b>\xa0= c</pre><p>1\xa0km")
    assert written.text == "if a:\n  b = c\n\n1 km"
    assert "if a:\n  b = c\n" in written.markdown
    assert "if a:\n  <b>b</b> = c" in written.html


def test_marks_of_direction_stay_beside_letters_from_right_to_left_only() -> None:
    assert write("<p>Edition \u200f : \u200e First (\u200eA)<p>גרסה C++\u200e כאן").text == (
        "Edition : First (A)\n\nגרסה C++\u200e כאן"
    )


@pytest.mark.parametrize(
    ("dates", "text"),
    [
        ("<time class='date published'>1 May</time><time class=updated>3 May</time>", "On 1 May by me"),
        ("<time class=published>1 May</time> <time class=updated>3 May</time>", "On 1 May by me"),
        (
            "<time class=published>1 May</time>, updated <time class=updated>3 May</time>",
            "On 1 May, updated 3 May by me",
        ),
        ("<time class='published updated'>1 May</time>", "On 1 May by me"),
        ("<time class=updated>3 May</time>", "On 3 May by me"),
    ],
)
def test_the_date_of_a_change_right_behind_that_of_publication_is_not_shown(dates: str, text: str) -> None:
    assert write(f"<p>On {dates} by me").text == text


STORY = "<p>Winds of up to 130 km/h are expected on the coast tonight, and the ferries stay in the harbour.</p>"
BROKEN = "<!--[if lt IE 7]><html lang=en> <!\n[endif]-->[endif]--><!--[if IE 7]><html> <!\n[endif]-->[endif]-->"


@pytest.mark.parametrize(
    "html",
    [
        *(f"{BROKEN}<html><body>{STORY}", f"<!--[if IE]> --><div>{STORY}</div>[endif]-->"),
        *(f"<!--[if IE]><p>old</p><![endif]-->{STORY}<![endif]-->", f"<![if !IE]>{STORY}<![endif]>"),
        *(f"<!--[if !IE]><!-->{STORY}<!--<![endif]-->", f"<!-- a <!-- b --><div>--></div>{STORY}"),
    ],
)
def test_leftovers_of_conditional_comments_are_not_text(html: str) -> None:
    cleaned = tamis.clean(html)
    assert cleaned.text == STORY[3:-4]
    assert "endif" not in cleaned.html
    assert "--&gt;" not in cleaned.html
    assert {segment.reason for segment in cleaned.removed} <= {"leftover"}
