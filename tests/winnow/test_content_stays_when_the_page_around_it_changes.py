"""What is content stays content when a menu is added, wrappers come and go, or all the page is a piece of one."""

import re

import pytest

from winnow import clean

MENU = (
    "<ul>"
    + "".join(f"<li><a href='/{name}'>{name.title()}</a></li>" for name in ("home", "news", "sport", "shop"))
    + "</ul>"
)
FOOTER = "<p><a href='/about'>About us</a> | <a href='/terms'>Terms of use</a> | © 2024 The Harbour News</p>"
HEADING = "Storm warning for the coast"
STORY = f"""<h1>{HEADING}</h1>
<p>Winds of up to 130 km/h are expected tonight, and the ferries to the islands stay in the harbour until Sunday.</p>
<p>"Whoever can should stay at home," said the harbour master, who has seen nothing like it for thirty years.</p>
<h2>What to expect</h2>
<ul><li>High tides of more than four metres</li><li>Closed roads along the sea wall</li>
<li>No trains after ten</li></ul>
<table><tr><th>Harbour</th><th>Highest wind</th></tr><tr><td>Saltby</td><td>124 km/h</td></tr>
<tr><td>Priory</td><td>131 km/h</td></tr></table>
<p>The next report is due at six in the morning, when the worst of the storm should have passed to the east.</p>"""


def words(html: str) -> list[str]:
    return clean(html).text.split()


def page(story: str, *, before: str = "", after: str = "") -> str:
    title = "<title>Storm warning for the coast - The Harbour News</title>"
    return f"<html><head>{title}</head><body>{before}<main>{story}</main>{after}</body></html>"


@pytest.mark.parametrize(
    ("before", "after"),
    [(MENU, ""), ("", f"<footer>{FOOTER}</footer>"), (f"<header>{MENU}</header>", f"<footer>{FOOTER}</footer>")],
    ids=["menu", "footer", "both"],
)
def test_what_is_put_around_the_content_goes(before: str, after: str):
    assert words(page(STORY, before=before, after=after)) == words(page(STORY))


FRAMED = page(
    STORY,
    before=f'<header class="site-header">{MENU}</header>',
    after=f'<footer id="footer" class="foot">{FOOTER}</footer>',
)


@pytest.mark.parametrize(
    "changed",
    [
        FRAMED.replace("<main>", "<div><div><main>").replace("</main>", "</main></div></div>"),
        FRAMED.replace("<p>", "<div><p>").replace("</p>", "</p></div>"),
        re.sub(r' (class|id)="[^"]*"', "", FRAMED),
        FRAMED.replace('id="footer" class="foot"', 'class="foot" id="footer"'),
        FRAMED.replace("</footer>", "</footer><footer><p>All rights reserved</p></footer>"),
        FRAMED.replace("><", ">\n\n  <"),
    ],
    ids=["wrapped", "paragraphs wrapped", "no names", "attributes turned", "second footer", "white space"],
)
def test_the_content_stays_as_it_is(changed: str):
    assert words(changed) == words(FRAMED)


def test_the_heading_of_a_kept_story_stays():
    assert clean(FRAMED).text.startswith(HEADING)


def test_headings_and_tables_within_a_kept_story_stay():
    text = clean(FRAMED).text
    assert "What to expect\n\nHigh tides" in text
    assert "Harbour\tHighest wind\nSaltby\t124 km/h\nPriory\t131 km/h" in text


WHOLE = [
    f"<main>{STORY}</main>",
    f"<h1>{HEADING}</h1><p>Winds of up to 130 km/h are expected on the coast.</p>",
    "<p>One paragraph alone.</p>",
    "<ul><li>one</li><li>two</li><li>three</li></ul>",
    "<table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></table>",
    """<article><h1>Trip</h1><p>We went up the hill in the morning.</p><p>It rained. We came back and had soup.</p>
<blockquote>Soup is good food</blockquote><pre>salt water</pre></article>""",
]


@pytest.mark.parametrize("piece", WHOLE, ids=["story", "heading", "paragraph", "list", "table", "quotation and code"])
def test_a_piece_without_template_keeps_all(piece: str):
    for html in (piece, f"<html><head><title>{HEADING}</title></head><body>{piece}</body></html>"):
        assert "".join(words(html)) == "".join(re.sub(r"<title>.*?</title>|<[^>]+>", " ", html).split())


def test_a_table_of_the_template_goes():
    table = "<table><tr><th>Office</th><th>Hours</th></tr><tr><td>Quay</td><td>9 to 5</td></tr></table>"
    changed = FRAMED.replace("<footer", f"<div class='sidebar widget'>{MENU}{table}</div><footer")
    assert words(changed) == words(FRAMED)


def test_a_choice_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="scope may be auto"):
        clean(STORY, scope="story")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="favor may be balanced"):
        clean(STORY, favor="both")  # type: ignore[arg-type]


@pytest.mark.parametrize("scope", ["auto", "article", "page"])
@pytest.mark.parametrize("favor", ["balanced", "precision", "recall"])
def test_every_choice_keeps_the_story_and_says_how_sure_it_is(scope: str, favor: str):
    cleaned = clean(FRAMED, scope=scope, favor=favor)  # type: ignore[arg-type]
    assert "said the harbour master" in cleaned.text
    assert "Terms of use" not in cleaned.text
    assert cleaned.confidence is not None
    assert 0 < cleaned.confidence <= 1
    assert cleaned.kind == "article"
