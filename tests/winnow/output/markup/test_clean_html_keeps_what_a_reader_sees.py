import numpy as np
import pytest

from winnow.output.html import Parts, write_html
from winnow.output.markdown import to_markdown
from winnow.output.stripping import remains
from winnow.output.text import block_texts, join_blocks
from winnow.page.page import Page


def page_and_html(html: str, parts: Parts | None = None) -> tuple[Page, str]:
    page = Page.parse(html)
    return page, write_html(page, remains(page, np.zeros(page.n + page.m, bool)), parts or Parts())


def text(html: str) -> str:
    page = Page.parse(html)
    return join_blocks(page, block_texts(page), np.ones(page.m, bool))


@pytest.mark.parametrize(
    "image",
    [
        "<img src='data:image/gif;base64,R0' data-src=/p.jpg>",
        "<img src=/blank.gif data-src=/p.jpg>",
        "<img data-lazy=/p.jpg>",
        "<img data-srcset='/s.jpg 300w, /p.jpg 900w'>",
        "<img src='data:image/svg+xml,x' srcset='/s.jpg 1x, /p.jpg 2x'>",
        "<img class=lazy src='data:image/gif;base64,R0'><noscript><img src=/p.jpg></noscript>",
        "<picture><source srcset='/s.jpg 1x, /p.jpg 2x'><img src='data:image/gif;base64,R0'></picture>",
        "<picture><source data-srcset='/p.jpg'><img></picture>",
    ],
)
def test_a_lazy_picture_gets_the_source_that_a_script_would_give_it(image: str) -> None:
    assert ' src="/p.jpg"' in page_and_html(f"<p>x {image}</p>")[1]


def test_a_data_attribute_that_is_no_picture_is_not_its_source() -> None:
    assert ' src="/p.jpg"' in page_and_html("<p>x <img src=/p.jpg data-url=12></p>")[1]


def test_buttons_and_elements_of_ones_own_that_touch_each_other_are_parted() -> None:
    html = "<div><button>Yes</button><button>No</button> <my-tag>a</my-tag><my-tag>b</my-tag></div>"
    assert text(html) == "Yes No a b"
    assert to_markdown(page_and_html(html)[1]) == "Yes No a b"


def test_language_and_direction_inside_the_page_stay() -> None:
    assert '<div dir="rtl"><p lang="ar">' in page_and_html("<div dir=rtl><p lang=ar>x</p></div>")[1]


def test_nothing_is_added_between_the_lines_of_a_pre() -> None:
    assert "<pre><div>a</div><div>b</div></pre>" in page_and_html("<pre><div>a</div><div>b</div></pre>")[1]


KATEX = """<p>So <span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation
encoding=application/x-tex>x^2</annotation></semantics></math></span><span class=katex-html aria-hidden=true><span
class=base><span>x</span><span>2</span></span></span></span> grows.</p>"""


def test_a_formula_is_its_tex_in_every_output() -> None:
    html = page_and_html(KATEX)[1]
    assert '<span class="math">x^2</span>' in html
    assert to_markdown(html) == "So $x^2$ grows."
    assert text(KATEX) == "So $x^2$ grows."
    wikipedia = "<p>So <math alttext='{\\displaystyle a_1}'><mi>a</mi></math> is.</p>"
    assert to_markdown(page_and_html(wikipedia)[1]) == "So $a_1$ is."


def test_links_and_images_can_be_left_out() -> None:
    html = "<p>See <a href=/a>this</a> <img src=/i.png alt=i> now</p>"
    assert "<p>See this <img" in page_and_html(html, Parts(links=False))[1]
    assert "<img" not in page_and_html(html, Parts(images=False))[1]
    assert '<a href="/a">this</a>' in page_and_html(html, Parts(images=False))[1]
