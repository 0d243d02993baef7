import json
from pathlib import Path

import numpy as np
import pytest

from scrapy_tamis.fetching import Document, InputError
from scrapy_tamis.inspector.documents import CountedReplay, Documents, FolderReplay, GoldFile, LinesFile, gold_name
from scrapy_tamis.inspector.inspection import Inspection, Trial
from scrapy_tamis.inspector.inspector import Inspector
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.storage.settled import Labels
from tamis import Page, clean, load_model
from tamis.models.decision import FAVORS, SCOPES
from tamis_papers.evaluation import read_gold
from tests.scrapy_tamis.archives.made import BOATS, write_archive
from tests.scrapy_tamis.inspector.browsing import story
from tests.tamis.test_comments import BLOG_POST, FORUM, SAID


def _inspection(html: str) -> Inspection:
    return Inspection(Document("page.html", None, html.encode()))


def test_every_block_is_in_a_section_and_kept_as_the_library_says() -> None:
    inspection = _inspection(story(3))
    state = inspection.state(Trial())
    cleaned = clean(Page.parse(story(3)))
    assert "".join(between + text for between, _, text in state["text"]) == cleaned.text
    sections = {(section["path"], section["kind"] != 0) for section in state["sections"]}
    assert sections == {(segment.path, segment.template) for segment in cleaned.segments if segment.text}
    kept = [inspection.page.block_texts()[block] for block, kind in enumerate(state["kind"]) if kind == 0]
    assert [text for _, block, text in state["text"] if block >= 0] == kept


def test_a_threshold_that_is_tried_is_where_text_is_cut() -> None:
    states = [_inspection(story(3)).state(Trial(threshold=0.4, favor=favor)) for favor in FAVORS]
    assert [state["threshold"] for state in states] == [0.4] * 3
    assert states[0]["text"] == states[1]["text"] == states[2]["text"]


def test_a_page_is_cut_by_the_favor_and_scope_that_are_tried() -> None:
    ways = [{"favor": favor, "scope": scope} for favor in FAVORS for scope in SCOPES]
    shown = [_inspection(BOATS).cleaned(Trial(**way)).text for way in ways]
    assert shown == [clean(BOATS, **way).text for way in ways]
    assert len(set(shown)) > 1


def test_comments_of_readers_differ_from_template() -> None:
    inspection = _inspection(BLOG_POST)
    cleaned = inspection.cleaned(Trial())
    kinds = inspection.state(Trial())["kind"]
    marked = {text for text, kind in zip(inspection.page.block_texts(), kinds, strict=True) if kind == 2}
    assert all(line in marked for line in cleaned.comments.split("\n") if line)
    assert {text for _, _, text in SAID} <= marked


def test_posts_of_a_forum_are_no_comments_whatever_threshold_is_tried() -> None:
    document = Document("page.html", "https://board.example.org/viewtopic.php?t=7", FORUM.encode())
    assert not any(Inspection(document).cleaned(Trial(threshold=at)).comments for at in (None, 0.9))


def test_a_page_above_the_limits_is_inspected_and_says_so() -> None:
    inspection = _inspection(story(3).replace("</footer>", "<i></i>" * 110_000))
    assert "nodes, the limit is 100,000" in inspection.too_large
    assert "In report 3" in inspection.cleaned(Trial()).text
    assert _inspection(story(3)).too_large == ""


def test_pages_of_a_folder_are_replayed_each_but_the_page_itself(site: Path) -> None:
    documents = Documents(str(site))
    replay = FolderReplay(documents)
    assert replay.pages == 14
    inspection = Inspection(documents.read(5), replay)
    blocks = {text: inspection.page.n + number for number, text in enumerate(inspection.page.block_texts())}
    story_block = next(unit for text, unit in blocks.items() if "In report 5" in text)
    for pages in (1, 2, 9, 14):
        counts = inspection.evidence(Trial(pages=pages))
        assert counts is not None
        df, _ = counts.frequencies(inspection.page)
        assert df[blocks["Weather"]] == pages
        assert df[story_block] == 1
    assert inspection.evidence(Trial()) is None


def test_the_places_of_a_page_are_looked_up_by_the_model_that_is_tried() -> None:
    name = "blocks-self-taught"  # with which the crawl has counted
    hashed = HashedPage.of(Page.parse(story(3)), load_model(name))
    every = np.unique(hashed.fingerprints)
    replay = CountedReplay(Labels(200, 1, every, np.full(len(every), 255, np.uint8), 7.0), frozenset())
    counts = Inspection(Document("page.html", None, story(3).encode()), replay).evidence(Trial(name, pages=200))
    assert counts is not None
    assert (counts.df[hashed.units] == 200).all()


def test_marks_are_corrected_in_gold_and_pages_saved_again_replace_themselves(site: Path, tmp_path: Path) -> None:
    gold = GoldFile(tmp_path / "gold.jsonl")
    inspection = Inspection(Documents(str(site)).read(2))
    texts = inspection.page.block_texts()
    title, weather = texts.index("Story 2 of the harbour"), texts.index("Weather")
    shown = inspection.state(Trial())["kind"]
    gold.save(inspection, Trial(), {})
    gold.save(inspection, Trial(), {weather: "content", len(texts) - 1: "template", title: "content"})
    (page,) = read_gold(tmp_path / "gold.jsonl")
    assert page.page_id == "story-02"
    assert {"Weather", "Story 2 of the harbour"} <= set(page.text.split("\n"))
    assert list(GoldFile(tmp_path / "gold.jsonl").rows) == ["story-02"]
    assert inspection.state(Trial())["kind"] == shown, "what was cut is shown, not what should have been"


def test_lines_that_another_one_writes_meanwhile_stay(tmp_path: Path) -> None:
    files = [LinesFile(tmp_path / "votes.jsonl", "page", "vote") for _ in range(2)]
    for number, file in enumerate([*files, files[0]]):
        file.write({"page": f"page {number}", "vote": "tamis"})
    assert len(LinesFile(tmp_path / "votes.jsonl", "page", "vote").rows) == 3


def test_gold_of_code_with_odd_line_ends_is_read_again(tmp_path: Path) -> None:
    inspection = _inspection(story(3).replace("</p>", "</p><pre>one\u2028two\u2029three</pre>", 1))
    GoldFile(tmp_path / "gold.jsonl").save(inspection, Trial(), {})
    (row,) = GoldFile(tmp_path / "gold.jsonl").rows.values()
    assert "one\u2028two\u2029three" in row["gold_text"]


def test_gold_of_a_page_without_marks_is_its_text(tmp_path: Path) -> None:
    article = json.dumps({"headline": "The bridge", "articleBody": "The council has met about the bridge. " * 20})
    for html in (
        story(2).replace("In report 2", "In <b style='display: none'>another</b> report 2"),
        f"<p>Loading</p><script type=application/ld+json>{article}</script>",
    ):
        inspection = _inspection(html)
        GoldFile(tmp_path / "gold.jsonl").save(inspection, Trial(), {})
        (page,) = read_gold(tmp_path / "gold.jsonl")
        assert len(page.text) > 700
        assert page.text == inspection.cleaned(Trial()).text


def test_a_page_is_saved_whatever_the_next_one_is(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(story(1), encoding="utf-8")
    (tmp_path / "b.html").touch()
    inspector = Inspector(Documents(str(tmp_path)), gold=GoldFile(tmp_path / "gold.jsonl"))
    assert inspector.save(0, {"trial": {}, "marks": []}) == {"saved": 1, "next": 1}


@pytest.mark.parametrize(
    ("name", "gold"),
    [
        *(("a/b.html", "a/b"), ("../../etc/passwd", "etc/passwd"), ("https://host.example/", "host.example")),
        *(("https://host.example/../x?q=1", "host.example/x_q=1"), ("..", "page")),
    ],
)
def test_names_in_gold_stay_below_their_folder(name: str, gold: str) -> None:
    assert gold_name(name) == gold


def test_the_counts_of_a_crawl_stand_in_for_its_pages() -> None:
    page = HashedPage.of(Page.parse(story(3), "https://harbour.example/3"))
    weather = page.page.block_texts().index("Weather")
    unit = page.page.n + weather
    fingerprint = page.fingerprints[page.units == unit]
    labels = Labels(200, 1, fingerprint, np.array([255], np.uint8), 7.0)
    for pages, contents in ((40, frozenset()), (200, frozenset([page.contents_id]))):
        df = page.frequencies(CountedReplay(labels, contents).count(page, pages, None)[0])
        assert df[unit] == pages
        assert set(np.delete(df[page.page.n :], weather).tolist()) == {1}


@pytest.mark.parametrize("name", ["crawl.warc.gz", "crawl.warc.open"])
def test_the_pages_of_one_host_of_an_archive_are_read(tmp_path: Path, name: str) -> None:
    urls = [f"https://{'other' if number % 3 == 1 else 'harbour'}.example/{number}" for number in range(6)]
    archive = write_archive(tmp_path / name, [(url, story(number)) for number, url in enumerate(urls)])
    documents = Documents(str(archive))
    assert documents.names == [f"https://harbour.example/{number}" for number in (0, 2, 3, 5)]
    assert Documents(str(archive), "https://other.example/").names == [f"https://other.example/{n}" for n in (1, 4)]
    replay = FolderReplay(documents)
    assert replay.pages == 4
    assert Inspection(documents.read(2), replay).state(Trial(pages=4))["seen"] == 4
    with pytest.raises(InputError, match="holds no page of gone"):
        Documents(str(archive), "https://gone.example/")
