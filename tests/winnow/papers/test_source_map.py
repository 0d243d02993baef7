import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.page.page import Page
from winnow.page.parsing import decoded
from winnow.papers.pages import Events
from winnow.papers.repeats import template_hashes
from winnow.papers.source_map import NOWHERE, SourceMap, byte_offsets, source_map


def assert_bytes_parse_to_the_nodes(source: bytes) -> int:
    """Parse the bytes at each element's offsets alone, and look for its hash; unescape those of runs."""
    page = Page.parse(source)
    located = source_map(source, page)
    encoding, _ = decoded(source)
    hashes = template_hashes(page, Events.of(page))
    found = 0
    for number, (begin, end) in enumerate(located.element.tolist()):
        if begin == NOWHERE:
            continue
        piece = source[begin:end].decode(encoding)
        alone = Page.parse(piece)
        assert hashes[number] in template_hashes(alone, Events.of(alone))[: alone.n], (page.elements[number].tag, piece)
        found += 1
    assert_bytes_parse_to_the_runs(page, located, source, encoding)
    return found


def assert_bytes_parse_to_the_runs(page: Page, located: SourceMap, source: bytes, encoding: str) -> None:
    for run, (begin, end) in zip(page.runs, located.run.tolist(), strict=True):
        assert Page.parse(f"<div>{source[begin:end].decode(encoding)}").text.split() == run.split()


@pytest.mark.parametrize(
    "source",
    [
        "<P>one<P CLASS=x>two<UL><LI>a<LI>b</UL>",
        "<table><TR><TD>1<td>2<tr><th>3</table>after",
        "<div><p>x</div>y</p>z",
        "<p>a<!-- <p>no</p> -->b<!-->c<!--x--!>d</p>",
        "<p>a<![CDATA[<b>no</b>]]>b</p><?php echo '<b>' ?>c",
        "<p title='a>b' data-x=\"</p>\">Fish &amp; chips &lt; 5 &euro; &#8364;</p>",
        "<p>one</i> two</>three</b> four",
        "<script>if (a<b) '<p>' </script><style>p>a{}</style><textarea><b>x</textarea><p>y",
        "<a href=x/>1</a><br/>2<br>3</br>4<img src=y>5",
        "text first<b>bold</b> and last < 3 <3",
        "\r\n<!DOCTYPE html>\r\n<html>\r\n<body>\r\n<p>a\r\nb</p>\r\n</body>\r\n</html>\r\n",
        "<p =a b==c>x<o:p>y</o:p></p><p a='1'b=2>z",
        "<title>T < U</title><meta name=a><p>cut off <a href='never",
        "<dl><dt>a<dd>b<dt>c</dl><a href=1>x<a href=2>y",
        "<html lang=a><body class=b><html lang=c><body id=d>x",
    ],
)
def test_bytes_at_the_offsets_parse_to_the_node(source: str) -> None:
    assert assert_bytes_parse_to_the_nodes(source.encode()) > 0


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Grüße €𝄞"),
        ("iso-8859-1", "Grüße ß"),
        ("windows-1251", "Привет мир"),
        ("shift_jis", "日本語ソ表"),
        ("gb18030", "简体中文€𝄞"),
        ("big5", "許功蓋繁體"),
        ("euc-kr", "한국어"),
        ("iso-2022-jp", "日本語の文"),
    ],
)
def test_offsets_count_bytes_of_any_encoding(encoding: str, text: str) -> None:
    source = f"<meta charset={encoding}><p>{text}<b>{text}x</b> {text}<td>{text}".encode(encoding)
    page = Page.parse(source)
    located = source_map(source, page)
    (bold,) = [number for number, element in enumerate(page.elements) if element.tag == "b"]
    begin, end = located.element[bold].tolist()
    assert begin == source.index(b"<b>")
    assert end == source.index(b"</b>") + 4
    assert assert_bytes_parse_to_the_nodes(source) > 4


def test_offsets_of_another_text_are_refused() -> None:
    assert byte_offsets(b"abc", "abd", "utf-8") is None
    offsets = byte_offsets("aä€𝄞b".encode(), "aä€𝄞b", "utf-8")
    assert offsets is not None
    assert offsets.tolist() == [0, 1, 3, 6, 10, 11]


PIECES = [
    *(
        "<P>",
        "</p>",
        "<li>",
        "</LI>",
        "<td x='1>2'>",
        "<tr>",
        "<table>",
        "</table>",
        "<b>",
        "</b>",
        "<a href=u>",
        "</a>",
    ),
    *("<div\nid=k>", "</div >", "<br/>", "<!-- c -->", "<![CDATA[ d ]]>", "&amp;", "&eacute;", "word ", "é€", "\r\n"),
    *("<script>a<b</script>", "</i>", "<img alt='<p>'>", " < ", "<ul>", "</ul>", "<select><option>q</select>"),
]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_any_soup_is_followed(pieces: list[str]) -> None:
    source = "".join(pieces).encode()
    page = Page.parse(source)
    located = source_map(source, page)
    assert located.element.shape == (page.n, 2)
    assert_bytes_parse_to_the_runs(page, located, source, "utf-8")
    own = located.element[:, 0] != NOWHERE
    assert (located.element[own, 0] < located.element[own, 1]).all()
    inner = np.flatnonzero(own & np.append(own, False)[page.parent] & (page.parent >= 0))
    assert (located.element[inner, 0] >= located.element[page.parent[inner], 0]).all()
