"""Site-independent blocks: which are template, and which content."""

from tamis.page.page import Page
from tamis_papers.site_independent import SiteIndependentBlocks
from tests.tamis.chosen import by_id, site_of

NOTICE = "All articles of this paper may be printed for private use only."
PAIR = "Two pages of this site have this sentence, and no more of them."


def story(k: int) -> str:
    return f"<div id=story><ul><li>Story number {k} of the year was about the harbour</li><li>{k} short</li></ul></div>"


def document(k: int, inside: str = "") -> str:
    return f"<body><div id=foot><small>{NOTICE}</small></div><div id=around>{inside}{story(k)}</div></body>"


def test_repeated_blocks_are_template_and_unique_ones_content() -> None:
    pages = site_of(*(document(k) for k in range(10)))
    read = pages.read(3)
    labels = SiteIndependentBlocks().learn(pages).label(read)
    assert by_id(read.page, labels.template) == {"foot": True, "around": False, "story": False}
    assert labels.content is not None
    assert by_id(read.page, labels.content) == {"foot": False, "around": True, "story": True}
    blocks = slice(read.page.n, None)
    assert labels.template[blocks].tolist() == [True, False, False]
    assert labels.content[blocks].tolist() == [False, True, True]


def test_blocks_of_a_few_pages_are_neither_and_keep_what_is_around_them_from_being_content() -> None:
    pages = site_of(*(document(k, f"<div id=pair>{PAIR}</div>" if k < 2 else "") for k in range(50)))
    read = pages.read(0)
    labels = SiteIndependentBlocks().learn(pages).label(read)
    assert labels.content is not None
    assert by_id(read.page, labels.template) == {"foot": True, "around": False, "pair": False, "story": False}
    assert by_id(read.page, labels.content) == {"foot": False, "around": False, "pair": False, "story": True}


def texts_of_blocks(html: str, **parameters: object) -> list[str]:
    page = Page.parse(f"<body>{html}</body>")
    elements, _ = SiteIndependentBlocks(**parameters).blocks(page)  # type: ignore[arg-type]
    return [page.elements[number].tag for number in elements.tolist()]


def test_blocks_have_forty_characters_and_three_different_words() -> None:
    forty = "a b " + "c" * 36
    assert texts_of_blocks(f"<div>{forty}</div><ul>{forty[:-1]}</ul>") == ["div"]
    assert texts_of_blocks(f"<div>  a \n\n b {'c' * 36}  </div><pre>a\n\nb   {'c' * 34}</pre>") == ["div"]
    assert texts_of_blocks(f"<div>{'same words ' * 30}</div><ul>{'same words ' * 30}but</ul>") == ["ul"]
    assert texts_of_blocks(f"<div>{'x ' * 20}</div>", words=1) == ["div"] * 0
    assert texts_of_blocks(f"<div>{'x ' * 21}</div>", words=1) == ["div"]


def test_only_block_tags_make_blocks() -> None:
    text = "Some words that are long enough to be a block of text."
    html = f"<section><p>{text}</p></section><small>{text}</small><table><tr><td>{text}</td></tr></table>"
    assert texts_of_blocks(html) == ["small", "table", "tr", "td"]
    assert texts_of_blocks(html, later_tags=True) == ["section", "p", "small", "table", "tr", "td"]
