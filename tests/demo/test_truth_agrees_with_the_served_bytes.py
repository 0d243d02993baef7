import random
import re
from pathlib import Path

import pytest

from demo.hosts import BUILDERS
from demo.nodes import Serialiser, el
from demo.server import DemoWeb
from demo.web import LEAST_PAGES, build_site, generate
from tests.demo.browsing import get, text_runs


@pytest.mark.parametrize("name", BUILDERS)
def test_the_runs_of_the_truth_are_the_text_that_lxml_finds(web: DemoWeb, name: str) -> None:
    for path, truth in web.pages(name).items():
        if truth.kind == "empty":
            continue
        found = text_runs(get(web.urls[name] + path[1:]).tree())
        expected = [text for text, _ in truth.runs]
        if truth.well_formed:
            assert found == expected, path
        else:
            assert " ".join(found).split() == " ".join(expected).split(), path


@pytest.mark.parametrize("name", BUILDERS)
def test_pages_carry_no_mark_of_their_truth_and_articles_have_template_and_content(name: str) -> None:
    site = build_site(name)
    for path, truth in site.truth.items():
        markup = re.sub(rb">[^<]*<", b"><", site.resources[path].body)
        assert not re.search(rb"template=|is[-_]template|data-(?:template|content|truth|label)", markup)
        assert truth.kind != "article" or (truth.content_text.strip() and truth.template_text.strip())


def test_the_same_seed_writes_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    for folder, seed in (("one", 7), ("two", 7), ("three", 8)):
        generate(tmp_path / folder, seed=seed, pages=LEAST_PAGES)
    one, two, three = (
        {file.relative_to(tmp_path / folder): file.read_bytes() for file in (tmp_path / folder).rglob("*.*")}
        for folder in ("one", "two", "three")
    )
    assert one == two
    assert one != three


def test_slips_change_the_markup_and_not_the_text() -> None:
    page = el("body", el("ul", *(el("li", f"number {number} & more", class_="item") for number in range(60))))
    sound, runs = Serialiser().write(page)
    broken, runs_of_broken = Serialiser(random.Random(3)).write(page)
    assert runs == runs_of_broken
    assert sound.count("</li>") == 60 > broken.count("</li>")
    assert " &amp; " in sound
    assert " & " in broken
