"""From nothing to done: the three pages of the documentation, their programs and commands run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.prose import prose
from tests.scrapy_tamis.archives.made import write_archive
from tests.scrapy_tamis.web import served

DOCS = Path(__file__).parents[2] / "docs"
QUICK = "from scrapy_tamis.project.settings import *\nAUTOTHROTTLE_ENABLED = False\n"


class Reader:
    """Somebody who copies the programs and commands of a page into a folder."""

    def __init__(self, page, folder):
        text = (DOCS / page).read_text("utf-8")
        fence = re.compile(r"^```python\n(# (\S+)\n.*?)^```$", re.MULTILINE | re.DOTALL)
        for program in fence.finditer(text):
            (folder / program[2]).write_text(program[1], "utf-8")
        commands = re.findall(r"^ {4}(\S.*)$", fence.sub("", text), re.MULTILINE)
        assert commands[0].startswith("pip install "), "what the tests have"
        self.commands = [line for line in commands[1:] if not re.match(r"[\d ]+\*", line)]  # nor the crontab
        self.folder = folder
        (folder / "quick.py").write_text(QUICK)

    def run(self, *, first=0, **replaced):
        """Run the commands from one on, and return what they print."""
        script = "\n".join(self.commands[first:]).replace("scrapy_tamis.project.settings", "quick")
        for old, new in replaced.items():
            assert old in script
            script = script.replace(old, new)
        environment = os.environ | {"PATH": f"{Path(sys.prefix, 'bin')}:{os.environ['PATH']}", "PYTHONPATH": "."}
        done = subprocess.run(
            ["bash", "-e"], cwd=self.folder, env=environment, input=script, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def _story(number, text, site):
    return (
        f"<title>Story {number} - {site}</title><nav><a href=/>{site}</a> <a href=/0>First</a></nav>"
        f"<article><h1>Story {number}</h1><time datetime=2026-11-0{number + 1}>0{number + 1} November 2026</time>"
        f"{''.join(f'<p>{each}' for each in text)}</article>"
        f"<a href=/{number + 1}>Next story</a><footer>Imprint of {site}</footer>"
    )


def _texts(site, count):
    return [[f"{prose(f'{site} {number} {part}', 40).capitalize()}." for part in range(4)] for number in range(count)]


@pytest.fixture
def paper():
    """A newspaper of six stories."""
    with served() as web:
        web.texts = _texts("Courier", 6)
        web.texts[4][1] = "The lifeboat crew of Saltby went out in a gale."
        for number, text in enumerate(web.texts):
            web.add(f"/{number}", _story(number, text, "Courier"))
        web.add("/", "<title>Courier</title><h1>Courier</h1><a href=/0>Story 0</a>")
        yield web


def test_a_site_becomes_a_store_that_finds_passages_by_meaning(paper, tmp_path):
    reader = Reader("rag.md", tmp_path)
    stored, _, found = reader.run(
        **{
            "https://example.org/": f"{paper.url}/",
            "when does the library reopen": "lifeboat in a gale",
        }
    ).partition("\n")
    assert stored == "6 chunks"
    assert found.startswith(f'---\ntitle: "Story 4"\nurl: "{paper.url}/4"\ndate: "2026-11-05"\n---\n\n# Story 4\n')
    assert "The lifeboat crew of Saltby" in found
    assert "Imprint" not in found


def test_sites_are_watched_for_new_changed_and_copied_stories(paper, tmp_path):
    reader = Reader("monitor.md", tmp_path)
    with served() as other:
        other.add("/", "<title>Evening</title><a href=/0>Story 0</a>")
        other.add("/0", _story(0, _texts("Evening", 1)[0], "Evening"))
        first = reader.run(**{"https://example.org/ >": f"'{paper.url}/\n{other.url}/' >"})
        assert first.count("NEW ") == 7
        assert reader.run(first=1) == "", "nothing has happened"
        (tmp_path / "monitor.db").unlink()
        unread = "python -u monitor.py today.jsonl > /dev/full || true"
        reader.run(first=-1, **{"python monitor.py today.jsonl": unread})
        assert reader.run(first=-1) == "", "what nobody read has been noted"
        paper.add("/2", _story(2, [*paper.texts[2], "Correction: the bridge is open."], "Courier"))
        other.add("/1", _story(1, paper.texts[3], "Evening"))
        second = reader.run(first=1)
    copied = second.index(f"COPY     {other.url}/1\n         of {paper.url}/3 (")
    changed = second.index(f"CHANGED  {paper.url}/2\n         +Correction: the bridge is open.\n")
    assert min(copied, changed) == 0
    assert second.count("\n") == 4, second


def test_archives_become_a_corpus_with_full_text_search(paper, tmp_path):
    pages = [(f"https://courier.example{path}", body) for path, (_, _, body) in paper.pages.items()]
    write_archive(tmp_path / "crawl-1.warc.gz", [*pages, ("https://courier.example/print/4", pages[4][1])])
    reader = Reader("corpus.md", tmp_path)
    indexed, _, found = reader.run(**{"lifeboat storm": r"lifeboat gale\""}).partition("\n")
    assert indexed == "7 pages of 8", "one story is there twice"
    assert found.startswith("Story 4 - Courier\n  https://courier.example/4\n")
    assert "The [lifeboat] crew of Saltby went out in a [gale]" in found
