"""Whatever comes in has a result, in bounded memory: pages above a limit, data called HTML, and damaged pages."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import pytest
from lxml import etree

import tamis
from tamis import Limits, clean
from tamis.cleaning import NOT_HTML

STORY = "<p>Winds of up to 130 km/h are expected on the coast tonight, and the ferries stay in the harbour.</p>" * 2


@pytest.mark.parametrize("piece", ["<p>a", "<p a=b c=d>x", "<!---->", "</p>", "</br>", "<?x>"])
def test_a_page_above_the_limits_takes_less_than_ten_times_its_own_memory(piece: str) -> None:
    code = (
        "import resource, tamis; peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"tamis.clean('<p>a'); html = {piece!r}.encode() * {8_000_000 // len(piece)}; before = peak()\n"
        "print(tamis.clean(html).status, (peak() - before) * 1024 / len(html))"
    )
    status, ratio = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert status == "too_large"
    assert float(ratio) < 10 * (1 if sys.platform == "linux" else 1024)


def test_nodes_are_counted_before_a_page_is_parsed_and_ten_attributes_count_as_one() -> None:
    elements = "<p " + " ".join(f"a{n}=1" for n in range(900)) + ">"
    assert clean(elements * 10 + STORY, limits=Limits(max_nodes=1_000)).text
    assert clean(elements * 12 + STORY, limits=Limits(max_nodes=1_000)).status == "too_large"
    assert clean("<script>'<p>'</script>" * 30 + STORY, limits=Limits(max_nodes=40)).text  # tags in scripts are text


@pytest.mark.parametrize("levels", [1, 150])
def test_paths_of_blocks_are_bounded(levels: int) -> None:
    name = "x-" + "a" * 1_000
    blocks = clean(f"{STORY}{f'<{name}>' * levels}<div>one<br>two").blocks
    assert max(len(block.path) for block in blocks) < 600
    assert blocks[-1].path.endswith(f"/{name[:40]}/div/#text[2]")
    assert blocks[-1].path.startswith("/html/body" if levels == 1 else "//x-")


@pytest.mark.parametrize("level", ["<ol start=999999999><li>", "<ul><li>", "<blockquote>"])
def test_indentation_in_markdown_is_bounded(level: str) -> None:
    lines = clean(STORY + level * 60 + "a<br>" * 99).markdown.split("\n")
    assert sum(line.rstrip("\\").endswith("a") for line in lines) == 99
    assert max(map(len, lines[1:])) < 300


@pytest.mark.parametrize(
    "html",
    [
        "<video><listing><q><<p>/",
        f"{STORY}<video src=a.mp4><p>Your browser has no <q>video</q>.</p></video>",
        f"{STORY}<video src=a.mp4><pre><q>one</q><br><q>two</q></pre></video>",
        f"{STORY}<audio><pre>a<p><q>b</q><p><q>c</q></pre></audio>",
        f"{STORY}<video><ruby>x<rt>y</rt></ruby></video>",
    ],
)
def test_what_a_player_holds_for_browsers_without_it_is_not_written(html: str) -> None:
    assert not set("“”(") & set(clean(html).text)


def test_a_saved_page_may_have_an_address_that_is_not_ascii() -> None:
    saved = (
        "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=--abc\n\n----abc\nContent-Type: text/html\n"
        f"Content-Location: https://e.org/ä\n\n{STORY}\n----abc--\n"
    )
    assert clean(saved.encode()).url.startswith("https://e.org/")


API = json.dumps([{"id": 1, "content": {"rendered": "<p>One.</p>\n<p>Two.</p>"}}])
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>a</title></entry></feed>'
SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://e.org/</loc></url></urlset>'


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        *(
            ("json", text)
            for text in (API, '{"html": "<p>One.</p><p>Two.</p>"}', ' {"a": 1}\n{"a": 2}\n', "[]", '["a", 1]')
        ),
        ("json", '{"a": "' + "<p>b</p>" * 2_000 + '"}'),
        *(
            ("feed", text)
            for text in (ATOM, '<?xml version="1.0"?>\n<!-- a -->' + ATOM, "<rss version=2.0><channel/></rss>")
        ),
        *(
            ("xml", text)
            for text in (SITEMAP, '<?xml version="1.0"?>' + SITEMAP, '<?xml version="1.0"?><wml><card/></wml>')
        ),
        *(
            (None, text)
            for text in ("{{ page }} <p>a", "[1] Smith, 1999 [2]", '{"a": 1} <p>b</p>', "<p>{}</p>", "[if] <p>a</p>]")
        ),
        *((None, text) for text in ("RIFF raff, said the WAVE", "GIF89a is the name of a format", "<feeds>a</feeds>")),
    ],
)
def test_data_are_told_by_their_bytes_whatever_the_header_says(kind: str | None, data: str) -> None:
    found = [
        clean(data),
        clean(data.encode(), encoding="utf-8"),
        clean(b"\xef\xbb\xbf" + data.encode()),
        clean(data.encode("utf-16")),
    ]
    assert {cleaned.status if cleaned.status in NOT_HTML else None for cleaned in found} == {kind}
    assert all(bool(cleaned.text) == (kind is None) for cleaned in found)


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"%PDF-1.7\n%\xe2\xe3",
            b"GIF89a\x40\x01\xf0\x00\xf7\x00",
            b"RIFF\x24\x10\x00\x00WEBPVP8 ",
            b"\x89PNG\r\n\x1a\n",
        ),
        *(b"PK\x03\x04\x14\x00", b"\x1f\x8b\x08\x00", b"\xff\xd8\xff\xe0"),
    ],
)
def test_pictures_and_archives_are_binary_whatever_the_header_says(data: bytes) -> None:
    for encoding in (None, "utf-8", "windows-1252"):
        assert clean(data + b"some words" * 9, encoding=encoding).status == "binary"
    assert clean((data + b"some words" * 9).decode("latin-1")).status == "binary"


def test_a_page_can_be_copied_and_sent_to_another_process_after_it_was_cleaned() -> None:
    page = tamis.Page.parse(f"<style>p{{color:red}}</style>{STORY}")
    text = clean(page).text
    sent = pickle.loads(pickle.dumps(page))  # noqa: S301
    assert clean(sent).text == clean(copy.deepcopy(page)).text == text


def test_the_tree_of_a_json_answer_is_json() -> None:
    assert clean(etree.fromstring(API, etree.HTMLParser())).status == "json"


HEAD, REST = (
    "<html><head><title>Storm",
    f"<link rel=stylesheet href=a.css></head><body><nav><a href=/>Home</a></nav>{STORY * 3}</body>",
)


@pytest.mark.parametrize(
    "html",
    [
        f"{HEAD}{REST}",
        f"{HEAD}{REST}<footer><svg><title>Mail</title></svg></footer><iframe/><!-- an icon -->",
        f"{HEAD}</title><textarea>{REST}",
        f"{HEAD}</title><script src=/a.js>{REST}",
        f'{HEAD}</title><script>var a = "<div>"; if (a <b) {{}}\n{REST}',
        f"{HEAD}</title><style>p {{}}\n{REST}",
        f"{HEAD}</title><!-- ads -- {REST}",
        f"{HEAD}</title></head><body><iframe src=/a>{REST}",
    ],
)
def test_a_page_that_an_element_without_end_swallows_is_read_all_the_same_and_says_so(html: str) -> None:
    for page in (html, html.encode(), tamis.Page.parse(html)):
        cleaned = clean(page)
        assert (cleaned.status, cleaned.mended) == ("cleaned", True)
        assert set(cleaned.text.split("\n\n")) == {STORY[3:].partition("<")[0]}
    assert cleaned.to_dict()["mended"]
    assert cleaned.metadata.title == "Storm"


@pytest.mark.parametrize(
    "html",
    [
        f"<title>Storm</title>{STORY}<script>var a = 1",  # something is left
        f"<title>Storm</title>{STORY}<!-- <p>An end</p>",
        "<title>Storm",  # nothing follows
        "<!-- never closed",
        "<script>document.write('<p>words</p>')",
    ],
)
def test_other_pages_are_left_as_they_are(html: str) -> None:
    cleaned = clean(html)
    assert not cleaned.mended
    assert cleaned.status == ("cleaned" if STORY in html else "empty")
