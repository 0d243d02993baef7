"""Small pages, one for each behaviour, with what is to come out: the files of ``tests/pages``.

A file is a subject. ``=== name`` begins a page: its HTML, which stands in an article unless it is a document of its
own, then what is expected under ``--- text``, ``--- markdown`` and ``--- html``, what must be ``--- nowhere`` in any
output, and the ``--- status``. Text and Markdown of all of them have the same words.
"""

import re
from pathlib import Path
from unicodedata import normalize

import pytest

import tamis
from tamis.page.page import Page
from tests.tamis.output.rendered import rendered

PAGES = Path(__file__).parents[1] / "pages"
STORY = (
    "The storm came over the harbour in the night, and in the morning the boats lay on the quay.",
    "Nobody was hurt, says the harbour master, who had warned the fishermen the evening before.",
)
ARTICLE = (
    "<!DOCTYPE html><html lang=en><head><title>The storm</title></head><body>"
    f"<article><h1>The storm</h1><p>{STORY[0]}</p>\n{{}}\n<p>{STORY[1]}</p></article></body></html>"
)
FORMULA = re.compile(r"(?<!\\)\$\$?[^$]+\$\$?")
EXPECTED = re.compile(r"^--- (text|markdown|html|nowhere|status)\n", re.MULTILINE)


def pages():
    for file in sorted(PAGES.glob("*.txt")):
        for page in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, _, rest = page.partition("\n")
            html, *expected = EXPECTED.split(rest)
            wanted = {kind: text.rstrip("\n") for kind, text in zip(expected[::2], expected[1::2], strict=True)}
            yield pytest.param(html.strip("\n"), wanted, id=f"{file.stem}: {name}")


@pytest.mark.parametrize(("html", "expected"), list(pages()))
def test_a_page_says_what_it_shows(html, expected):
    whole = html.startswith(("<!DOCTYPE", "<html", "<?xml", "{", "%PDF"))
    found = tamis.clean(html if whole else ARTICLE.format(html), "https://harbour.example/news/storm")
    text, markdown = (part if whole else within_story(part) for part in (found.text, found.markdown))
    if "text" in expected:
        assert text == expected["text"]
    if "markdown" in expected:
        assert markdown == expected["markdown"]
    for line in expected.get("html", "").splitlines():
        assert line in found.html
    for line in expected.get("nowhere", "").splitlines():
        assert not any(line in part for part in (found.text, found.markdown, found.html, str(found.chunks())))
    assert found.status == expected.get("status", found.status)
    assert words_of_markdown(found.markdown) == words_of_text(found.text)


def within_story(text):
    """What stands between the two paragraphs of the article."""
    return text.partition(STORY[0])[2].partition(STORY[1])[0].strip("\n")


def words_of_markdown(markdown):
    """Words of what a renderer makes of Markdown, without the descriptions of pictures; a formula is a word.

    Numbers of footnotes are raised in text; in Markdown they are links.
    """
    return words_of_text(" ".join(Page.parse(rendered(FORMULA.sub(as_word, markdown))).block_texts()))


def words_of_text(text):
    return normalize("NFKC", FORMULA.sub(as_word, text)).split()


def as_word(formula):
    return "formula" + formula[0].encode().hex()
