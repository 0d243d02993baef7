"""What all site-level methods have in common: pages read in passes, labels, output, parameters, counted hashes."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.folders import SitePage, SitePages
from tamis.page.page import Page
from tamis_papers.methods import METHODS, labelled_pages, method
from tamis_papers.pages import (
    HashCounts,
    Labels,
    Learned,
    SiteError,
    SiteMethod,
    distinct_pages,
    parameter,
    whole_elements,
)
from tests.tamis.chosen import site_of, tags_of


@dataclass(frozen=True)
class LongBlocks(SiteMethod):
    """Template is text of so many characters: not a method for anything but these tests."""

    name: ClassVar[str] = "long-blocks"
    characters: int = parameter(5, "least length", "characters")

    def learn(self, pages: SitePages) -> Learned:
        for _ in pages.read_all():
            pass
        return Learned(1, self.label)

    def label(self, read: SitePage) -> Labels:
        long = np.array([len(text) >= self.characters for text in read.page.block_texts()], bool)
        return Labels(np.concatenate([np.zeros(read.page.n, bool), long]))


def test_what_is_no_template_comes_out_as_text_html_and_json() -> None:
    (page,) = labelled_pages(site_of("<p>long text</p><p>abc</p>"), LongBlocks())
    assert page.text == "abc"
    assert "abc" in page.html
    assert "long" not in page.html
    assert page.characters == (9, 12)
    labels = json.loads(page.json)
    assert labels["template_share"] == 0.75
    assert labels["blocks"][0] == {"path": "/html/body/p[1]", "text": "long text", "template": True, "content": None}


def test_progress_tells_of_every_page_of_every_pass() -> None:
    told: list[tuple[int, int, str]] = []
    pages = site_of("<p>a", "<p>b")
    pages.progress = lambda *what: told.append(what)
    list(labelled_pages(pages, LongBlocks()))
    names = ["https://a.example/0", "https://a.example/1"]
    assert told == [(1, 2, names[0]), (2, 2, names[1])] * 2


def test_files_are_read_again_on_every_pass_and_missing_ones_told_of(tmp_path: Path) -> None:
    files = [tmp_path / f"{k}.html" for k in range(3)]
    for file in files[:2]:
        file.write_text(f"<p>{file.name}")
    pages = SitePages.of_files(tmp_path, files, "https://b.example/sub")
    assert [read.page.url for read in pages.read_all()] == [
        "https://b.example/sub/0.html",
        "https://b.example/sub/1.html",
    ]
    assert pages.skipped == {"2.html": "no such file or directory"}
    files[0].write_text("<p>changed")
    assert pages.read(0).page.text == "changed"
    with pytest.raises(FileNotFoundError):
        pages.read(2)


def test_names_of_files_and_folders_that_are_no_text_are_parts_of_addresses(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xfe")
    pages = SitePages.of_files(folder, [folder / "a b" / os.fsdecode(b"\xff.html")])
    assert pages.urls == ["https://%FE/a%20b/%FF.html"]


def test_copies_and_pages_without_text_are_left_out_of_learning() -> None:
    pages = site_of("<p>same  text", "<div>same\ntext</div>", "<img>", "<p>other")
    assert [read.number for read in distinct_pages(pages)] == [0, 3]
    assert [read.number for read in pages.read_all()] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_refuses_a_site_of_one_page(name: str) -> None:
    with pytest.raises(SiteError):
        METHODS[name]().learn(site_of("<p>the only page</p>"))


def test_unknown_parameters_are_named() -> None:
    with pytest.raises(TypeError, match=r"NodeHashes.* 'gaps'"):
        method("node-hashes", gaps=1)


def _template(html, shared_texts, not_shared=()):
    """Tags of the elements that are template, where these texts are shared and all elements but some tags."""
    page = Page.parse(html)
    elements = [element.tag not in not_shared for element in page.elements]
    blocks = [text in shared_texts for text in page.block_texts()]
    template = whole_elements(page, np.array(elements + blocks))
    assert template[page.n :].tolist() == blocks
    return tags_of(page, template)


PAGE = "<body><nav><img><ul><li>Home<li>News</ul></nav><main><img><p>story</p><h4>Share</h4></main></body>"


def test_an_element_is_template_when_all_its_text_is():
    assert _template(PAGE, {"Home", "News", "Share"}) == ["nav", "img", "ul", "li", "li", "h4"]


def test_pictures_go_with_the_text_around_them():
    assert _template("<body><div><img></div><p>story<p>Share</body>", {"Share"}) == ["p"]
    assert _template("<body><div><img></div></body>", set()) == []
    assert "img" in _template(PAGE, {"Home", "News", "Share", "story"})


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("site-level", wrong) for wrong in ({"theta": 0}, {"theta": 1.1}, {"min_pages": 1})),
        *(("node-hashes", wrong) for wrong in ({"least": 0}, {"gap": -1}, {"least_share": 2})),
        *(("text-windows", wrong) for wrong in ({"window": 0}, {"least": 0}, {"density": 0}, {"sample": -1})),
        *(("site-independent-blocks", wrong) for wrong in ({"share": 1.5}, {"least": 1})),
        *(("clusters", wrong) for wrong in ({"least_support": 1.5}, {"sample": 1})),
        *(("menus", wrong) for wrong in ({"size": 0}, {"most_pages": 1}, {"threshold": 2}, {"variant": "quick"})),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(name: str, wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        METHODS[name](**wrong)


@given(st.lists(st.lists(st.integers(0, 9), max_size=6)))
def test_a_hash_counts_once_on_each_page_that_has_it_and_nothing_does_not_count(pages: list[list[int]]) -> None:
    counts = HashCounts.of_pages(np.array(page, np.uint64) for page in pages)
    expected = [sum(number in page for page in pages) if number else 0 for number in range(12)]
    assert counts.df(np.arange(12, dtype=np.uint64)).tolist() == expected
    assert counts.pages == len(pages)
