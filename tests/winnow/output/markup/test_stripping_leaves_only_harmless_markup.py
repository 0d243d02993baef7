import re

import numpy as np
import pytest

from winnow.output.html import safe_address, write_html
from winnow.output.stripping import remains
from winnow.page.page import Page


def cleaned(html: str, url: str | None = None) -> str:
    page = Page.parse(html, url)
    return write_html(page, remains(page, np.zeros(page.n + page.m, bool)))


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
    written = cleaned(f"<p>Story</p>{html}")
    assert "<p>Story</p>" in written
    assert not re.search(
        r"script|style|iframe|object|embed|svg|math|<!--|alert|stylesheet|refresh|<input|later", written
    )


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " \t\n javascript:alert(1)",
        "java\tscript:alert(1)",
        "\x01javascript:alert(1)",
        "java\u200bscript:alert(1)",
        "vbscript:msgbox",
        "data:text/html,<script>1</script>",
        "data:image/svg+xml;base64,xx",
        "file:///etc/passwd",
        "blob:x",
    ],
)
def test_dangerous_addresses_are_told(address: str) -> None:
    assert not safe_address(address)
    assert not safe_address(address, image=True)


@pytest.mark.parametrize(
    "address",
    ["", "/a", "a/b:c", "?q=a:b", "#a:b", "//host/x", "https://host/a", "HTTP://host", "mailto:a@b.example", "tel:+1"],
)
def test_ordinary_addresses_are_told(address: str) -> None:
    assert safe_address(address)


def test_pictures_may_be_inline_data_but_links_may_not() -> None:
    data = "data:image/png;base64,AAAA"
    assert f'<img src="{data}">' in cleaned(f"<p>t</p><img src={data}>")
    assert "data:" not in cleaned(f"<a href={data}>t</a>")


def test_text_and_attributes_are_escaped() -> None:
    written = cleaned("<p title='\"><script>'>1 &lt; 2 &amp;amp; <b>&lt;script&gt;</b></p>")
    assert '<p title="&quot;&gt;&lt;script&gt;">1 &lt; 2 &amp;amp; <b>&lt;script&gt;</b></p>' in written


def test_text_inside_tags_that_are_left_out_stays() -> None:
    assert "<p>a b c</p>" in cleaned("<p>a <font color=red>b</font> <my-card>c</my-card></p>")


def test_forms_and_noscript_become_plain_boxes() -> None:
    assert cleaned("<noscript>Turn it on</noscript><form action=/x>Name</form>").count("<div>") == 2


@pytest.mark.parametrize("start", ["<html lang=ar dir=rtl><body>", "<html><body lang=ar dir=rtl>"])
def test_the_document_says_its_language_direction_and_title(start: str) -> None:
    written = cleaned(f"{start}<title>T &amp; U</title><p>x")
    assert '<html lang="ar" dir="rtl">' in written
    assert "<title>T &amp; U</title>" in written


LINKS = "<p><a href=b>x</a> <a href='#n'>y</a> <a href='?q'>z</a> <img src=/i.png srcset='i.png 1x, j,k.png 2x'></p>"


@pytest.mark.parametrize(
    ("head", "url"),
    [
        ("", "https://host.example/sub/a"),
        ("<base href=/sub/a>", "https://host.example/"),
        ("<base href=https://host.example/sub/a>", None),
        ("<base href=javascript:x>", "https://host.example/sub/a"),
        ("<link rel=canonical href=https://host.example/sub/a>", None),
    ],
)
def test_addresses_are_written_in_full_where_it_is_known_what_they_are_relative_to(head: str, url: str | None) -> None:
    written = cleaned(head + LINKS, url)
    assert re.findall('href="([^"]+)"', written) == [
        *("https://host.example/sub/b", "#n", "https://host.example/sub/a?q"),
    ]
    assert 'src="https://host.example/i.png"' in written
    assert 'srcset="https://host.example/sub/i.png 1x, https://host.example/sub/j,k.png 2x"' in written


def test_addresses_stay_as_they_are_where_it_is_not_known() -> None:
    assert '<a href="b">x</a>' in cleaned(LINKS)
    assert '<a href="b">x</a>' in cleaned("<base href=/sub/>" + LINKS)
