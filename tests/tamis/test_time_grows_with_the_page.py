"""Nothing hangs: four times as much of anything takes about four times as long, in all that is made of a page."""

from __future__ import annotations

import json
from time import thread_time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import tamis
from tamis.folders import SitePage
from tamis.output.chunks import make_chunks
from tamis.output.leftovers import find_leftovers
from tamis.output.markdown.writer import write_blocks
from tamis.output.markup import read_markup
from tamis.page.hidden import hidden_runs
from tamis.page.page import Page
from tamis.page.parsing import MAX_ATTRIBUTES, parse_html
from tamis_papers.methods import LabelledSitePage
from tamis_papers.pages import Labels, Learned

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = dict[str, Callable[[Any], object]]

MAX_RATIO: Final = 8.0
"""Four times the size, with room for caches and other processes; quadratic work takes sixteen times as long."""

MIN_SECONDS: Final = 0.005
"""Less is not told from chance."""

OUTPUTS: Final[Work] = {
    "html": lambda page: page.html,
    "markdown": lambda page: page.markdown,
    "metadata": lambda page: page.metadata,
    "segments": lambda page: page.segments,
    "chunks": lambda page: page.chunks(20),
}
STORY: Final = "<p>Winds of up to 130 km/h are expected on the coast tonight, and the ferries stay in the harbour.</p>"


def seconds(html: str) -> dict[str, float]:
    """Processor time of cleaning and of each output."""
    begin = thread_time()
    page = tamis.clean(html, "https://news.example/storm")
    found = {"clean": thread_time() - begin}
    for name, work in OUTPUTS.items():
        begin = thread_time()
        work(page)
        found[name] = thread_time() - begin
    return found


def keep_best(best: dict[str, float], times: dict[str, float]) -> None:
    best |= {name: min(taken, best.get(name, taken)) for name, taken in times.items()}


def assert_linear(make: Callable[[int], str], n: int, measure: Callable[[str], dict[str, float]] = seconds) -> None:
    """Compare the best of up to six times for sizes n and 4n; what is quick at 4n needs no comparison."""
    small, large = make(n), make(4 * n)
    of_small: dict[str, float] = {}
    of_large: dict[str, float] = {}
    slow: dict[str, str] = {}
    for _ in range(6):
        keep_best(of_large, measure(large))
        if max(of_large.values()) > MAX_RATIO * MIN_SECONDS:
            keep_best(of_small, measure(small))
        slow = {
            name: f"{of_small[name]:.3f} s, {taken:.3f} s"
            for name, taken in of_large.items()
            if taken > MAX_RATIO * max(of_small.get(name, 0), MIN_SECONDS)
        }
        if not slow:
            return
    raise AssertionError(f"{slow} for n and 4n: {small[:80]!r}")


def timed(work: Callable[[str], object]) -> Callable[[str], dict[str, float]]:
    def measure(html: str) -> dict[str, float]:
        begin = thread_time()
        work(html)
        return {"work": thread_time() - begin}

    return measure


def test_the_header_of_a_saved_page_is_read_up_to_a_length() -> None:
    def make(n: int) -> str:
        head = "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=abc"
        return f"{head}\n\n--abc\nContent-Type: text/html{';a=b' * n}\n\n{STORY}\n--abc--"

    assert_linear(make, 20_000, timed(lambda html: Page.parse(html.encode())))
    assert "130 km/h" in tamis.clean(make(5_000).encode()).text


def test_objects_with_the_title_of_the_page_in_each_other_are_read_once() -> None:
    def make(n: int) -> str:
        objects = '{"title": "Storm tonight", "a": ' * (n // 40) + json.dumps("[" + "[1]," * n * 10) + "}" * (n // 40)
        return f"<title>Storm tonight</title><script type=application/json>{objects}</script>"

    assert_linear(make, 2_000, timed(tamis.clean))


@pytest.mark.parametrize("piece", ["[endif]<!--", "<!----->", "[if IE]--", "[endif]-----"])
def test_a_text_of_leftovers_is_read_once(piece: str) -> None:
    assert_linear(lambda n: piece * n + "x", 20_000, timed(lambda text: find_leftovers([text])))


@pytest.mark.parametrize("begin", ["</html>", "<frameset>"])
def test_what_follows_the_end_of_a_document_is_read_once(begin: str) -> None:
    for piece in ("<!--", "<script ", "<style>", "<!doctype ", "<frame ", "<", "<i>", "</html "):
        assert_linear(lambda n, piece=piece: begin + piece * n, 2_000, timed(parse_html))  # type: ignore[misc]


@pytest.mark.parametrize("attribute", ["a{}", "a{}='>'", 'a{}="<"', "a{}= "])
def test_attributes_without_number_are_read_up_to_a_number(attribute: str) -> None:
    def make(n: int) -> str:
        return f"<p {' '.join(attribute.format(number) for number in range(n))}>{STORY}"

    assert_linear(make, 5_000, timed(parse_html))
    root = parse_html(make(20_000))
    assert max(len(element.attrib) for element in root.iter()) <= MAX_ATTRIBUTES
    assert "130 km/h" in "".join(root.itertext())


@pytest.mark.parametrize(
    "before",
    [
        *("<!-->", "<!--->", "<title><script></title>", "<i a=b/>", "<script a=b/></script>", "</x a='>'>"),
        *("<!-- --!>", "<script><!--<script></script>--></script>", "<textarea><style></textarea>"),
    ],
)
def test_nothing_hides_a_tag_whose_attributes_are_cut(before: str) -> None:
    root = parse_html(f"<p>{before}<b {' '.join(f'a{number}' for number in range(MAX_ATTRIBUTES + 5))}>{STORY}")
    assert [len(element.attrib) for element in root.iter("b")] == [MAX_ATTRIBUTES]


@pytest.mark.parametrize("piece", ["<p>Word word word.</p>", "Word word. ", "<li>Word word.</li>", "字。"])
def test_long_chunks_are_counted_once(piece: str) -> None:
    assert_linear(lambda n: piece * n, 500, timed(lambda html: make_chunks(write_blocks(read_markup(html)), 1_000_000)))


TEXTS: Final = (
    *("<!--", "-->", "<script ", "</script>", "[endif]&lt;!--", "&lt;!-----&gt;", "<![CDATA[", "<!doctype "),
    *("&amp;", "&#", "&zwj;", "\n", "\u00a0", "a\u00ad", "e\u0301", "\u202e", "字", "字。", "😀", "A ", "aB", "w" * 9),
    *("2024-05-17 ", "17.5.2024 ", "May 17, 2024 ", "12:30 ", "2 days ago ", "11", "$4.99 ", "J. Smith and ", "by A "),
    *("(", "[", "](", "]:", '"', "“a” ", "`", "`` ", "*", "a_", "~", "\\", "# ", "- ", "| - ", "1. ", "$x$ "),
    *("$x ", "![", "</", "&lt;", "https://a.example/b ", "a@b.example "),
)
"""In one paragraph, many times."""

ELEMENTS: Final = (
    *("div", "p", "span", "em", "b", "del", "a href=x", "ul><li", "ol reversed><li", "blockquote", "pre", "code", "h1"),
    *("table><tr><td", "table><tr><td colspan=1000 rowspan=1000", "td", "button", "x-y", "dl><dt", "figure", "details"),
    *("img src=data:x", "noscript", "picture", "math alttext=x", "span class=katex-html", "span class=lineno", "br"),
    *("time", "div class=date", "div class=comment", "a rel=author", "div itemprop=author", "div itemprop=articleBody"),
    *("article class=hentry", "section", "form", "svg", "select><option", "sup", "q", "ruby><rt", "base href=/x"),
    *("meta name=author content='A B, C'", "link rel=canonical href=/x", "iframe", "title", "frameset"),
)
"""Beside each other, within each other, in a paragraph and in lines of code."""

VALUES: Final = {
    "class": ("a ", "comment-", "lineno ", "brush: ", "language-", "author-name ", "9", "aB"),
    "href": ("/", "../", "?a=", "%", ":", "/by/", ";sid=", "data:", "&amp;", "é"),
    "srcset": ("a 1x, ", ",", "data:x ", " "),
    "src": ("data:image/png;base64,", " ", "."),
    "style": (" " * 9, "display :  ", "d "),
    "datetime": ("2024-", "Mon, ", "1 ", "9", "("),
    "content": ("A B and ", "&lt;", " ", "&amp;#9"),
    "alt": ("]", "[", "\\", "&quot;"),
    "itemtype": ("http://schema.org/", "Comment "),
}
CARRIERS: Final = {
    "datetime": "time",
    "content": "meta name=author property=og:title",
    "alt": "img src=x",
    "src": "img",
}

JSON_VALUES: Final = ("\\", '"', ", ", "<a ", "&lt;", "&#9", "-->", "Word of it. ", "9", "2024-")

PAGES: Final[dict[str, Callable[[int], str]]] = {
    "attributes": lambda n: "<p " + " ".join(f"a{i}=1" for i in range(n)) + f">{STORY}",
    "class names": lambda n: "".join(f"<div class=c{i}>Word {i} of it.</div>" for i in range(n)),
    "fields": lambda n: "".join(
        f"<li><b class=abc>Word {i}</b><a href=/a/{i}>it</a><a href=/b>so</a></li>" for i in range(n)
    ),
    "rules for text": lambda n: (
        "<style>"
        + "".join(f".c{i},.d{i}{{white-space:pre;text-decoration:line-through}}" for i in range(n))
        + "</style>"
        + "".join(f"<code class=c{i}>Word {i}\nof it.</code>" for i in range(n))
    ),
    "code in code by style": lambda n: "<code style=white-space:pre>a\nb" * n,
    "highlighters": lambda n: (
        "<span class=crayon-language>C</span><div class=crayon-pre><div>a = 1</div><div>&nbsp;</div></div>" * n
    ),
    "lists with letters": lambda n: (
        "<ol type=a><li>Word" * n + "<ol style=list-style-type:lower-roman>" + "<li>So it is." * n
    ),
    "custom elements": lambda n: "".join(f"<x-{i}>Word {i} of it.</x-{i}>" for i in range(n)),
    "links": lambda n: "".join(f"<a href=/a/{i}?b={i}>Word {i}</a> " for i in range(n)),
    "headings": lambda n: "<title>Storm</title>" + "".join(f"<h1>Storm {i}</h1><p>Word {i}.</p>" for i in range(n)),
    "meta": lambda n: "".join(f"<meta name=n{i} content=v{i}>" for i in range(n)) + STORY,
    "documents": lambda n: f"<html><body>{STORY}</body></html>" * n,
    "copies": lambda n: f"<div class=a>{STORY}</div>{STORY}" * n,
    "comments": lambda n: (
        STORY * 9 + "<div class=comment><b>Ann</b> <time>May 17, 2024</time><p>So it is.</p></div>" * n
    ),
    "formulas": lambda n: (
        (
            '<p>So <span class="katex"><math><annotation encoding="application/x-tex">x</annotation></math>'
            '<span class="katex-html">x</span></span> is.</p>'
        )
        * n
    ),
    "formulas in formulas": lambda n: STORY * 5 + "<math>" * min(n, 900) + "<mi>x</mi>" * 20 * n,
    "endless titles": lambda n: STORY + "<title>Storm <b>" * n,
    "data": lambda n: '{"a": [' + '"<p>b</p>", ' * n + "0]}",
    "rows": lambda n: "<table>" + "<tr><td rowspan=100>a<td>b<td colspan=100>c</tr>" * n + "</table>",
    "tables": lambda n: "<table><tr><th>a<th>b<tr><td>c<td colspan=2>d</table>" * n,
    "lists in an item": lambda n: "<ul><li>a" + "<ol reversed><li>b</ol>" * n + "</ul>",
    "deep code": lambda n: "<pre>" + "<div>" * min(n, 1_500) + "<div>a</div>\n<div></div>" * n,
    "code between comments": lambda n: "<pre>a<br>" + "Word of it<!---->" * 99 * n,
    "hidden addresses": lambda n: STORY + "<span data-cfemail=4142>" * n + "a<b></b>" * 20 * n,
    "code with long classes": lambda n: f"<div class='{'a ' * n}'>" + "<pre>Word\nof it</pre>" * n + "</div>",
    "sources of pictures": lambda n: STORY + "<picture>" + "<source srcset='data:x 1x'>" * n + "<img>" * n,
    "a long base": lambda n: f"<base href='http://a.example/{'x' * 9 * n}'>" + "<p><a href=b>Word of it</a></p>" * n,
    "code between marks": lambda n: "<p>" + "<code>a</code><b></b>" * n,
    "code and formulas": lambda n: STORY + "<pre><code>a\nb<br>c</code></pre><math><mi>x</mi></math>" * 2 * n,
    "many notes": lambda n: "<p>" + "a word<span class=sidenote>of it</span> " * 45 * n,
    "emphasis in emphasis": lambda n: "<p><em>" + "a<em>“b”</em><b>c</b>" * n,
    "fields of metadata": lambda n: "<div class=date>" * min(n, 1_500) + "Word of it. " * n,
    "JSON-LD in lists": lambda n: ld("[" * 300 + "[" + "1," * n * 9 + "1]" + "]" * 300),
    "JSON-LD too deep": lambda n: ld("[" * n * 9),
    "JSON-LD of many things": lambda n: ld(json.dumps([{"@type": "Article", "headline": "a", "author": "b"}] * n)),
    "JSON-LD with an end of spaces": lambda n: ld('{"@type":"Article"}-->' + " " * n * 9 + "x"),
    "JSON-LD of things in things": lambda n: ld(
        '{"@type":"Article","articleBody":"a","mainEntity":' * (n + n // 2) + f"[{'0,' * 50 * n}0]" + "}" * (n + n // 2)
    ),
    "texts of things in things": lambda n: ld(
        '{"@type":"Article","articleBody":"a","mainEntity":' * n + f'{{"text":"{"<b >" * 100 * n}"}}' + "}" * n
    ),
    "pushed data": lambda n: "<script>" + 'self.__next_f.push([1,"a"])\n' * 300 * n + f"</script>{STORY}",
    "headlines in headlines": lambda n: (
        f"<title>Storm</title><article>{'<h1><div>' * min(2 * n, 900)}{STORY * n}</article><article>{STORY}</article>"
    ),
    "scripts of JSON-LD": lambda n: ld('{"@type": "Article", "articleBody": "Word of it."}') * n,
}


def ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>{STORY}'


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read_once(text: str) -> None:
    assert_linear(lambda n: f"{STORY}<p>{text * n}</p>", 500)


@pytest.mark.parametrize("element", ELEMENTS)
def test_elements_are_read_once(element: str) -> None:
    closing = "".join(f"</{part.split()[0]}>" for part in reversed(element.split("><")))
    flat, deep = f"<{element}>Word of it. {closing}", f"<{element}>Word "
    code = f"<{element}>{closing}"
    assert_linear(lambda n: f"{STORY}{flat * n}<p>{flat * n}</p><pre>{code * n}</pre>{STORY}", 40)
    assert_linear(lambda n: STORY + deep * n + STORY, 40)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in VALUES.items() for value in values])
def test_values_of_attributes_are_read_once(name: str, value: str) -> None:
    assert_linear(lambda n: f'{STORY}<{CARRIERS.get(name, "a")} {name}="{value * n}">Word of it.', 700)


@pytest.mark.parametrize("value", JSON_VALUES)
def test_values_in_json_ld_are_read_once(value: str) -> None:
    names = ("headline", "author", "datePublished", "keywords", "articleBody", "@type")
    assert_linear(lambda n: ld(json.dumps({"@type": "Article"} | dict.fromkeys(names, value * n))), 350)
    assert_linear(lambda n: ld('{"@type": "Article"}' + value * n), 1_000)


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_read_once(name: str) -> None:
    assert_linear(PAGES[name], 100)


def test_labels_of_a_site_level_method_are_written_in_one_pass() -> None:
    def labels_of(html: str) -> str:
        page = Page.parse(html)
        template = Labels(np.arange(page.n + page.m) > 1)
        return LabelledSitePage(SitePage(0, "page.html", page), template, Learned(1, lambda _: template)).json

    assert_linear(lambda n: "<p>Word of it.</p>" * n, 4_000, timed(labels_of))


STYLES: Final[dict[str, tuple[int, Callable[[int], str]]]] = {
    "many selectors": (
        4_000,
        lambda n: f"<style>{'.x,' * n}.y{{color:#fff}}</style>" + "<p class=x>Word of it.</p>" * n,
    ),
    "selectors of many declarations": (
        500,
        lambda n: f"<style>{'.x,' * n}.y{{{'a:b;' * n}font-size:.9em}}</style>" + "<p class=x>Word of it.</p>" * n,
    ),
    "rules that may show": (
        40,
        lambda n: (
            f"<style>{'.x,' * 20}{''.join(f'.x{i},' * 20 for i in range(n))}.y{{{'a:b;' * 200 * n}}}"
            + "".join(f".x{i}{{display:none}}" for i in range(n))
            + "</style>"
            + "".join(f"<p class=x{i}>Word {i} of it.</p>" for i in range(n))
        ),
    ),
    "steps of selectors": (
        5,
        lambda n: (
            "<style>"
            + f"{','.join(['p~' * 200 + 'p'] * 20)},:is([id*=q]{',[id*=q]' * 50}){{display:none}}" * n
            + "</style>"
            + "".join(f"<p id=w{number}>Word of it.</p>" for number in range(3_000 * n))
        ),
    ),
    "rules in a list of selectors": (
        2_000,
        lambda n: f"<style>{'.z,' * n}.y{{{'.x{display:none}' * n}}}</style><p class=x>Word.</p>{STORY}",
    ),
    "letters without a colon": (
        40_000,
        lambda n: f"<style>.k{{color:#fff;{'a' * n}}}</style><p class=k style='none{'a' * n}'>Word.</p>{STORY}",
    ),
    "sheets for other media": (5_000, lambda n: "<style media=print>p{display:none}</style>" * n + STORY),
    "styles of elements": (
        2_000,
        lambda n: "".join(f'<p a b c d e f style="display:none;top:{i}">Word of it.</p>' for i in range(n)),
    ),
    "backgrounds of elements": (
        4_000,
        lambda n: (
            "<p style=color:#fff>Word.</p>"
            + "".join(f'<p a b c d e f style="background:#{i:06x}">Word of it.</p>' for i in range(n))
        ),
    ),
    "names in scripts": (
        120,
        lambda n: (
            "".join(
                f'<p hidden id="of{i}it" class="{" ".join(f"w{i}x{k}" for k in range(20))}">A.</p>' for i in range(n)
            )
            + f"<p>{STORY}<script>{'word of it' * 200 * n}</script>"
        ),
    ),
}


@pytest.mark.parametrize("name", STYLES)
def test_styles_are_read_once(name: str) -> None:
    n, make = STYLES[name]

    def find_hidden(html: str) -> None:
        page = Page.parse(html)
        hidden_runs(page, np.ones(page.m, bool))

    assert_linear(make, n, timed(find_hidden))


def test_scripts_are_searched_for_so_many_names_only() -> None:
    def make(n: int) -> str:
        names = [" ".join("a" * (20 * number + k) for k in range(5, 24)) for number in range(n)]
        hidden = "".join(
            f'<p hidden id=b{number} class="{name}">Word {number}.</p>' for number, name in enumerate(names)
        )
        return f"{hidden}<p>{STORY}<script>{'a' * 10_000 * n}</script>"

    assert_linear(make, 12, timed(lambda html: hidden_runs(page := Page.parse(html), np.ones(page.m, bool))))


def test_many_hidden_elements_are_found_beside_long_scripts_that_are_searched_once_for_each_name() -> None:
    hidden = "".join(f"<p hidden data-number={n} class=secret>Words that nobody sees.</p>" for n in range(200))
    text = tamis.clean(f"<main>{STORY * 20}</main>{hidden}<script>{'word of it' * 150_000}</script>").text
    assert "130 km/h" in text
    assert "nobody sees" not in text


@pytest.mark.parametrize("html", [
    ld(json.dumps({"@type": "Article", "articleBody": f"&#{'9' * 5_000};", "headline": f"&#{'9' * 5_000};"})),
    f'<meta name=author content="&amp;#{"9" * 5_000};">{STORY}',
    f'<time datetime="Fri, 17 May {"9" * 30} 10:00:00 +0000">x</time>{STORY}',
    ld(f'{{"@type": {"[" * 900}{"]" * 900}, "articleBody": "a"}}'),
])  # fmt: skip
def test_numbers_and_nesting_without_measure_are_no_facts(html: str) -> None:
    page = tamis.clean(html)
    assert "130 km/h" in page.text
    assert page.metadata.published is None
