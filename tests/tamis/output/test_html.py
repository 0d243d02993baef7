import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree

from tamis.output.attributes import is_safe_address
from tamis.output.html import write_html
from tamis.output.markup import MAX_NESTING, make_markup
from tamis.output.text import block_texts, text_of_blocks
from tamis.page.page import Page
from tests.tamis.output.written import write

STORY = "<p>Story</p>"


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<style>p{}</style>",
        "<iframe src=//evil.example></iframe>",
        "<object data=x.swf><embed src=x.swf></object>",
        "<svg onload=alert(1)><script>1</script><a href=x>t</a></svg>",
        "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
        "<!-- a comment --><!--[if IE]><p>old</p><![endif]-->",
        "<link rel=stylesheet href=x><meta http-equiv=refresh content=0>",
        "<input value=x><textarea>x</textarea><select><option>x</select>",
        "<template><p>later</p></template>",
        "<img src=x onerror=alert(1)>",
        "<p onclick=alert(1) style=position:fixed formaction=x>t</p>",
        "<a href=javascript:alert(1)>t</a>",
        "<img data-src=javascript:alert(1)>",
    ],
)
def test_nothing_that_runs_styles_or_embeds_is_written(html: str) -> None:
    written = write(STORY + html).html
    assert STORY in written
    harm = r"script|style|iframe|object|embed|svg|math|<!--|alert|stylesheet|refresh|<input|later"
    assert not re.search(harm, written)


def test_dangerous_addresses_are_recognised() -> None:
    dangerous = (
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", " \t\n javascript:x", "java\tscript:x", "\x01javascript:x"),
        *("java\u200bscript:x", "vbscript:msgbox", "data:text/html,<script>1</script>", "data:image/svg+xml;base64,xx"),
        *("file:///etc/passwd", "blob:x"),
    )
    ordinary = ("", "/a", "a/b:c", "?q=a:b", "#a:b", "//host/x", "https://host/a", "HTTP://h", "mailto:a@b.c", "tel:+1")
    assert not any(is_safe_address(address) or is_safe_address(address, image=True) for address in dangerous)
    assert all(map(is_safe_address, ordinary))


def test_pictures_may_be_inline_data_but_links_may_not() -> None:
    data = "data:image/png;base64,AAAA"
    assert f'<img src="{data}">' in write(f"<p>t</p><img src={data}>").html
    assert "data:" not in write(f"<a href={data}>t</a>").html


def test_text_and_attributes_are_escaped() -> None:
    written = write("<p title='\"><script>'>1 &lt; 2 &amp;amp; <b>&lt;script&gt;</b></p>").body
    assert written == '<p title="&quot;&gt;&lt;script&gt;">1 &lt; 2 &amp;amp; <b>&lt;script&gt;</b></p>'


@pytest.mark.parametrize("start", ["<html lang=ar dir=rtl><body>", "<html><body lang=ar dir=rtl>"])
def test_the_document_has_its_language_direction_and_title(start: str) -> None:
    written = write(f"{start}<title>T &amp; U</title><p>x").html
    assert '<html lang="ar" dir="rtl">' in written
    assert "<title>T &amp; U</title>" in written
    assert '<div dir="rtl"><p lang="ar">' in write("<div dir=rtl><p lang=ar>x</p></div>").html


LINKS = "<p><a href=b>x</a> <a href='#n'>y</a> <a href='?q'>z</a> <img src=/i.png srcset='i.png 1x, j,k.png 2x'></p>"


@pytest.mark.parametrize(
    ("head", "url"),
    [
        ("", "https://host.example/sub/a"),
        ("<base href=/sub/a>", "https://host.example/"),
        ("<base href=https://host.example/sub/a>", None),
        ("<base href=javascript:x>", "https://host.example/sub/a"),
        ("<link rel=canonical href=https://host.example/sub/a>", None),
        ("", "HTTPS://host.example/sub/a"),
    ],
)
def test_addresses_are_absolute_if_their_base_is_known(head: str, url: str | None) -> None:
    written = write(head + LINKS, url=url).html
    full = ["https://host.example/sub/b", "#n", "https://host.example/sub/a?q"]
    assert re.findall('href="([^"]+)"', written) == full
    assert 'src="https://host.example/i.png"' in written
    assert 'srcset="https://host.example/sub/i.png 1x, https://host.example/sub/j,k.png 2x"' in written


@pytest.mark.parametrize("head", ["", "<base href=/sub/>", f"<base href=http://host.example/{'x' * 9_000}/>"])
def test_addresses_stay_as_they_are_if_their_base_is_unknown(head: str) -> None:
    assert '<a href="b">x</a>' in write(head + LINKS).html


SHOT = '<picture><source srcset="a.webp 1x, b.webp 2x"><img src="a.png"></picture>'
INLINE = '<p>One <b>two <i>three</i></b> four<a href="x">five</a></p>'
CELLS = "<table><tbody><tr><th></th> <th>A</th> </tr> <tr><td>1</td> <td></td> </tr> </tbody> </table>"


@pytest.mark.parametrize(
    ("html", "body"),
    [
        (f"<nav cut><a href=/>Home</a></nav>{STORY}<footer cut>(c)</footer>", STORY),
        (f"<div><p cut>Menu</p>{INLINE}</div>", INLINE),
        (f"<div><ul><li cut>a</li><li cut>b</li></ul><div></div><span> </span></div>{STORY}", STORY),
        ("<div><div class=c><p>A</p><p>B</p></div></div><p>C</p>", '<div class="c"><p>A</p> <p>B</p> </div> <p>C</p>'),
        ('<div id="top"><div><p>A</p></div></div><p>B</p>', '<div id="top"><p>A</p> </div> <p>B</p>'),
        ("<p>a <font color=red>b</font> <my-card>c</my-card></p>", "<p>a b c</p>"),
        ("<body><noscript>Turn it on</noscript><form action=/x>Name</form>", "<div>Turn it on</div> <div>Name</div>"),
        (f"<div cut><img src=banner.png></div>{STORY}", STORY),
        ("<p><img src=a.png><video src=b.mp4></video></p>", '<p><img src="a.png"><video src="b.mp4"></video></p>'),
        (STORY + SHOT, f"{STORY} {SHOT}"),
        (CELLS.replace("> <", "><"), CELLS),
        ("<p>A <img src=a.gif width=1 height=1><img src=b.png width=1></p>", '<p>A <img src="b.png" width="1"></p>'),
        ("<p>A <a href=x><span> &nbsp;</span></a>b</p>", "<p>A <span> </span>b</p>"),
        ('<p>A <img src="a.png" srcset="/b,top:1.png 1x, c.png 2x"></p>',) * 2,
        ("<p>A<hr><hr><p>B<hr><p cut>Menu</p><hr><p cut>More", "<p>A</p> <hr> <p>B</p>"),
        ("<p>A <a href='#'>b</a>", "<p>A <a>b</a></p>"),
        ("<pre><div>a</div><div>b</div></pre>", "<pre><div>a</div><div>b</div></pre>"),
        (
            "<div><span>One</span><p cut>Menu</p><b>Two</b><hr><i>Three</i></div>",
            "<div><span>One</span><b><br> Two</b><hr> <i>Three</i></div>",
        ),
    ],
)  # fmt: skip
def test_cut_elements_leave_no_markup_behind_and_kept_elements_stay_as_they_are(html: str, body: str) -> None:
    assert write(html).body == body


def test_template_text_next_to_content_in_one_element_is_cut_alone() -> None:
    assert write("<div>Share this<p>Story</p>Print this</div>", 0).body == "<div><p>Story</p> Print this</div>"
    assert write("<div>Menu<br>One<br>Share<br>Two</div>", 0, 2).body == "<div>One<br> Two</div>"
    pre = "<pre>  <b>if</b> x:\n    <i>pass</i>\n</pre>"
    assert pre in write(f"<p cut>Menu</p>{pre}").html


def test_empty_lines_of_code_that_is_cut_go_with_it() -> None:
    line = '<span class="line">{}</span>'
    cut = f"<pre cut>{line.format('one')}{line.format('')}</pre>"
    assert write(f"{cut}<pre>two</pre>").body == "<pre>two</pre>"


def test_a_picture_is_cut_with_the_menu_and_kept_with_the_article() -> None:
    icon = "<ul><li><a href=/><img src=icon.png>Home</a></ul><figure><img src=photo.jpg></figure>"
    assert re.findall("[a-z]+[.](?:png|jpg)", write(icon + STORY, 0).html) == ["photo.jpg"]
    menu = "".join(f"<li cut><a href=/{entry}>Entry {entry}</a></li>" for entry in range(20))
    lead = f"<p cut>By a reporter</p><img src=lead.jpg><p cut>Yesterday</p>{STORY}"
    page = write(f"<div><a href=/><img src=logo.png></a></div><ul>{menu}</ul>{lead}").html
    assert re.findall("[a-z]+[.](?:png|jpg)", page) == ["lead.jpg"]


def test_an_icon_that_shares_the_page_is_left_out_and_a_picture_to_pin_stays() -> None:
    pin = "https://www.pinterest.com/pin/create/button/?url=u"
    shares = ["//www.facebook.com/sharer.php?u=u", "https://x.com/intent/post?text=t", "mailto:?subject=s", pin]
    icons = "".join(f"<li><a href='{share}'><img src=icon.png width=32></a></li>" for share in shares)
    others = "<a href=https://x.com/tamis><img src=us.png></a><a href=mailto:a@b.example><img src=mail.png></a>"
    page = write(f"{STORY}<ul>{icons}</ul>{others}<a href={pin}><img src=cake.png width=600></a>").html
    assert re.findall("[a-z]+[.]png|<li>", page) == ["us.png", "mail.png", "cake.png"]


def test_a_picture_to_turn_pages_or_to_keep_a_space_is_left_out_but_not_where_it_says_something() -> None:
    pages = "<a href=b accesskey=n><img src=next.png></a><a href=c accesskey=p>Past<img src=photo.png width=600></a>"
    spaces = (
        "<img src=/a/spacer.gif><img src='/clear.png?1' alt=' '><img src=/blank.gif alt=';)'><img src=/spacers.gif>"
    )
    html = write(f"<p>Story {pages} {spaces}").html
    assert re.findall('src="(.*?)"', html) == ["photo.png", "/blank.gif", "/spacers.gif"]


@pytest.mark.parametrize(
    ("html", "levels"),
    [
        ("<ul><li><ul><li>a<li>b</ul><li>c</ul>", "ul li li li"),
        ("<ul><li>\n<ul><li><ul><li>a</ul></ul></ul>", "ul li"),
        ("<ul><li><div><ul><li>a</ul></div></ul>", "ul li"),
        ("<ul><li id=n><ul><li>a</ul></ul>", "ul li ul li"),
        ("<ul><li>b<ul><li>a</ul></ul>", "ul li ul li"),
        ("<ol><li><ul><li>a</ul></ol>", "ol li ul li"),
    ],
)
def test_a_level_of_a_list_that_only_indents_another_one_is_left_out(html: str, levels: str) -> None:
    assert " ".join(re.findall("<([uo]l|li)", write(html).html)) == levels


def test_deep_nesting_is_flattened_without_losing_text() -> None:
    html = "<blockquote>a" * 1500 + "deep"
    found = write(html)
    assert found.html.count("<blockquote>") == MAX_NESTING
    assert Page.parse(found.html).block_texts() == Page.parse(html).block_texts()
    assert "deep" in found.markdown


TAGS = [
    *("div", "p", "span", "b", "a", "ul", "li", "pre", "table", "tr", "td", "section", "form", "noscript", "font"),
    "my-x",
]
LEAVES = ("<br>", "<hr>", "<img src=x>", " ", "\n", "<!--c-->", "<script>x</script>", "<select><option>x</select>")

words = st.integers(0, 10**6).map(lambda number: f"w{number}")
markup = st.recursive(
    st.one_of(words, words.map(lambda word: f" {word} "), st.sampled_from(LEAVES)),
    lambda inner: st.tuples(st.sampled_from(TAGS), st.lists(inner, max_size=4)).map(
        lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"
    ),
    max_leaves=30,
)


@settings(deadline=None, max_examples=60)
@given(markup, st.integers(0, 2**32 - 1))
@example("<pre>w0<div>w0</div>w0</pre>", 618808743)
def test_text_and_clean_html_hold_the_same_words_and_the_tree_is_not_changed(html: str, seed: int) -> None:
    page = Page.parse(f"<body>{html}</body>")
    before = etree.tostring(page.elements[0])
    template = np.random.default_rng(seed).random(page.n + page.m) < 0.4
    kept = ~template[page.n :]
    text = text_of_blocks(page, kept)
    again = Page.parse(write_html(make_markup(page, template)))
    wanted = " ".join(text for text, keep in zip(block_texts(page), kept, strict=True) if keep).split()
    assert text.split() == wanted
    assert " ".join(again.block_texts()).split() == wanted
    assert etree.tostring(page.elements[0]) == before
