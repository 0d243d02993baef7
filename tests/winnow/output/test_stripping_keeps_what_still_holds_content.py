import numpy as np
import pytest
from lxml import etree
from numpy.typing import NDArray

from winnow.models.scores import ABOVE_ALL
from winnow.output.html import MAX_NESTING, write_html
from winnow.output.markdown import to_markdown
from winnow.output.stripping import remains, template_units
from winnow.page.page import Page
from winnow.page.tree import within
from winnow.smoothing import SmoothedScores


def parsed(html: str) -> tuple[Page, NDArray[np.bool_]]:
    """A page and its template units: everything at or below an element with a ``cut`` attribute."""
    page = Page.parse(html)
    marked = np.zeros(page.n, bool)
    marked[list(page.attribute("cut"))] = True
    elements = within(page, marked)
    return page, np.concatenate([elements, elements[page.block_node]])


def body(html: str) -> str:
    page, template = parsed(html)
    written = write_html(page, remains(page, template))
    return " ".join(written.partition("<body>")[2].partition("</body>")[0].replace("\n", " ").split())


def test_template_text_goes_and_content_stays() -> None:
    assert body("<nav cut><a href=/>Home</a></nav><p>Story</p><footer cut>(c)</footer>") == "<p>Story</p>"


def test_a_template_run_beside_content_in_one_element_goes_alone() -> None:
    page = Page.parse("<div>Share this<p>Story</p>Print this</div>")
    template = np.zeros(page.n + page.m, bool)
    template[page.n] = True
    written = write_html(page, remains(page, template))
    assert "Share" not in written
    assert "<p>Story</p>" in written
    assert "Print this" in written


def test_inline_markup_stays_with_its_block_and_in_its_place() -> None:
    story = '<p>One <b>two <i>three</i></b> four<a href="x">five</a></p>'
    assert body(f"<div><p cut>Menu</p>{story}</div>") == story


def test_elements_that_held_only_template_text_leave_nothing_behind() -> None:
    assert (
        body("<div><ul><li cut>a</li><li cut>b</li></ul><div></div><span> </span></div><p>Story</p>") == "<p>Story</p>"
    )


def test_boxes_in_boxes_collapse_to_one() -> None:
    html = "<div class=a><div class=b><div class=c><p>One</p><p>Two</p></div></div></div><p>Three</p>"
    assert body(html) == '<div class="c"><p>One</p> <p>Two</p> </div> <p>Three</p>'


def test_a_box_with_an_id_is_a_link_target_and_stays() -> None:
    assert body('<div id="top"><div><p>One</p></div></div><p>Two</p>') == '<div id="top"><p>One</p> </div> <p>Two</p>'


def test_a_picture_stays_in_content_and_goes_with_the_menu_entry_it_decorates() -> None:
    page = Page.parse(
        "<ul><li><a href=/><img src=icon.png>Home</a></ul><figure><img src=photo.jpg></figure><p>Story</p>"
    )
    template = np.zeros(page.n + page.m, bool)
    template[page.n] = True  # the text "Home" alone: the elements around it have no opinion of their own
    written = write_html(page, remains(page, template))
    assert "icon.png" not in written
    assert '<figure><img src="photo.jpg">' in written


def test_a_logo_with_a_menu_between_it_and_the_story_goes_and_the_picture_above_the_story_stays() -> None:
    menu = "".join(f"<li cut><a href=/{entry}>Entry {entry}</a></li>" for entry in range(20))
    page = body(
        f"<div><a href=/><img src=logo.png></a></div><ul>{menu}</ul><p cut>By a reporter</p><img src=lead.jpg>"
        "<p cut>Yesterday</p><p>Story</p>"
    )
    assert "logo.png" not in page
    assert "lead.jpg" in page


def test_a_picture_of_one_pixel_counts_visits_and_goes() -> None:
    assert body("<p>Story <img src=count.gif width=1 height=1><img src=line.png width=1></p>").count("<img") == 1


def test_a_picture_in_a_template_element_goes() -> None:
    assert body("<div cut><img src=banner.png></div><p>Story</p>") == "<p>Story</p>"


def test_a_picture_that_a_script_would_load_gets_its_address() -> None:
    copy = "<noscript><img src=a.jpg></noscript>"
    html = f'<p>Story</p><img src="data:image/gif;base64,R0" data-src=" a.jpg " alt="A">{copy}<img data-original=b.jpg>'
    assert body(html) == '<p>Story</p> <img alt="A" src="a.jpg"><img src="b.jpg">'


def test_a_page_of_pictures_only_keeps_them() -> None:
    assert body("<div><img src=a.png><video src=b.mp4></video></div>") == (
        '<div><img src="a.png"><video src="b.mp4"></video></div>'
    )


def test_sources_stay_with_their_picture() -> None:
    picture = '<picture><source srcset="a.webp 1x, b.webp 2x"><img src="a.png"></picture>'
    assert body(f"<p>Story</p>{picture}") == f"<p>Story</p> {picture}"


def test_line_breaks_stay_behind_text_that_stays() -> None:
    page = Page.parse("<div>Menu<br>One<br>Share<br>Two</div>")
    template = np.zeros(page.n + page.m, bool)
    template[[page.n, page.n + 2]] = True
    written = write_html(page, remains(page, template))
    assert "<div>One<br>\nTwo</div>" in written


def test_empty_cells_keep_a_table_in_shape() -> None:
    table = "<table><tr><th></th><th>A</th></tr><tr><td>1</td><td></td></tr></table>"
    assert body(table).replace(" ", "") == table


def test_white_space_inside_pre_is_kept() -> None:
    page, template = parsed("<p cut>Menu</p><pre>\n  <b>if</b> x:\n    <i>pass</i>\n</pre>")
    assert "<pre>\n  <b>if</b> x:\n    <i>pass</i>\n</pre>" in write_html(page, remains(page, template))


def test_the_tree_that_was_given_is_never_changed() -> None:
    html = (
        "<body><!-- c --><nav cut onclick=x()>Menu</nav><script>1</script>t<p>Story<br>more</p> tail<img src=a></body>"
    )
    root = etree.fromstring(html, etree.HTMLParser())
    before = etree.tostring(root)
    page = Page.from_tree(root)
    template = np.zeros(page.n + page.m, bool)
    template[page.n] = True
    to_markdown(write_html(page, remains(page, template)))
    assert etree.tostring(root) == before


def test_every_kept_run_is_written_exactly_once_and_in_order() -> None:
    html = "".join(f"<div>a{i}<span>b{i}<img src=x>c{i}</span><p>d{i}<br>e{i}</p>f{i}</div>" for i in range(50))
    page = Page.parse(html)
    template = np.zeros(page.n + page.m, bool)
    template[page.n + 3 :: 7] = True
    written = write_html(page, remains(page, template))
    again = Page.parse(written)
    texts = page.block_texts()
    assert again.block_texts() == [text for k, text in enumerate(texts) if not template[page.n + k]]


def test_deep_nesting_is_flattened_without_losing_text() -> None:
    page = Page.parse("<blockquote>a" * 1500 + "deep")
    written = write_html(page, remains(page, np.zeros(page.n + page.m, bool)))
    assert written.count("<blockquote>") == MAX_NESTING
    assert "deep" in written
    assert Page.parse(written).block_texts() == page.block_texts()
    assert "deep" in to_markdown(written)


@pytest.mark.parametrize(
    "html", ["", "<html></html>", "plain text", "<frameset><frame src=a></frameset>", "<svg></svg>"]
)
def test_pages_with_next_to_nothing_in_them_give_a_document(html: str) -> None:
    page = Page.parse(html)
    written = write_html(page, remains(page, np.zeros(page.n + page.m, bool)))
    assert Page.parse(written).block_texts() == page.block_texts()


def test_a_page_that_would_end_up_empty_keeps_its_least_template_like_section() -> None:
    page = Page.parse("<p>worst</p><p>better</p><p>bad</p>")
    value = np.full(page.n + page.m, 0.9)
    value[-2] = 0.7
    section = np.arange(page.n + page.m, dtype=np.int32)
    template, fallback = template_units(page, SmoothedScores(value, section), 0.5)
    assert fallback
    assert template[page.n :].tolist() == [True, False, True]


def test_a_page_that_would_end_up_empty_keeps_nothing_that_its_site_knows_as_template() -> None:
    page = Page.parse("<p>menu</p><p>title</p><p>footer</p>")
    smoothed = SmoothedScores(np.ones(page.n + page.m), np.zeros(page.n + page.m, np.int32))
    site = np.append(np.zeros(page.n, bool), [True, False, True])
    assert template_units(page, smoothed, 0.5, site)[0][page.n :].tolist() == [True, False, True]
    nothing_else = np.ones(page.n + page.m, bool)
    assert not template_units(page, smoothed, 0.5, nothing_else)[0][page.n :].any()


def test_what_a_site_knows_as_template_goes_even_where_nothing_else_is_to_be_cut() -> None:
    page = Page.parse("<p>menu</p><p>story</p>")
    smoothed = SmoothedScores(np.ones(page.n + page.m), np.zeros(page.n + page.m, np.int32))
    site = np.append(np.zeros(page.n, bool), [True, False])
    template, fallback = template_units(page, smoothed, ABOVE_ALL, site)
    assert template[page.n :].tolist() == [True, False]
    assert not fallback


def test_a_page_without_text_has_nothing_to_fall_back_to() -> None:
    page = Page.parse("<div></div>")
    template, fallback = template_units(page, SmoothedScores(np.ones(page.n), np.zeros(page.n, np.int32)), 0.5)
    assert template.all()
    assert not fallback


def test_blocks_stay_apart_when_what_stood_between_them_goes() -> None:
    assert body("<div><span>One</span><p cut>Menu</p><b>Two</b><hr><i>Three</i></div>") == (
        "<div><span>One</span><b><br> Two</b><hr> <i>Three</i></div>"
    )
