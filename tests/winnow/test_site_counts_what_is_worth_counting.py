from winnow.counting import countable
from winnow.page.page import Page


def counted(html: str) -> set[str]:
    """Names of the counted elements (``name.class`` where there is a class)."""
    page = Page.parse(html)
    chosen = [element for element, yes in zip(page.elements, countable(page), strict=False) if yes]
    return {".".join(filter(None, [element.tag, element.get("class")])) for element in chosen}


def test_the_whole_page_and_what_no_reader_sees_are_not_counted() -> None:
    html = (
        "<head><title>t</title></head><body><div>x<script>1</script><style>s</style></div><template><p>y</p></template>"
    )
    assert counted(html) == {"div"}


def test_elements_without_text_or_media_are_not_counted() -> None:
    assert counted("<div class=e><p> </p><hr><br><span></span></div><div class=f><p>x</p></div>") == {"div.f", "p"}


def test_images_forms_and_frames_are_counted_with_what_holds_them() -> None:
    assert counted("<div class=logo><a class=l><img></a></div>") == {"div.logo", "a.l", "img"}
    assert counted("<div><form><input></form><iframe></iframe></div>") == {"div", "form", "input", "iframe"}


def test_parts_of_a_line_are_not_counted_and_whole_lines_are() -> None:
    assert counted("<p>not <em>this</em> one, nor <a class=x>that</a></p>") == {"p"}
    assert counted("<ul><li><a><b>whole</b></a></li></ul>") == {"ul", "li", "a", "b"}
    assert counted("<div> <a>one</a><br> <i>two</i> </div>") == {"div", "a", "i"}
    assert counted("<div><span>a<p>b</p></span>c</div>") == {"div", "p", "span"}
    assert counted("<div><span>a<p>b</p>c</span></div>") == {"div", "p", "span"}
    assert counted("<div>a<span>b<p>c</p>d</span></div>") == {"div", "p"}


def test_all_blocks_are_counted() -> None:
    page = Page.parse("<p>a<br>b</p><div>c</div>")
    assert countable(page)[page.n :].tolist() == [True] * 3
