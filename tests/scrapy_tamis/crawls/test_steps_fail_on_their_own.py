"""Whatever a step of an item's way stumbles over, the item goes on with what the other steps have written."""

import pytest

from tests.scrapy_tamis.crawl_process import ODD_URLS


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls):
    """One crawl per case, all in one process: of one page, or of twelve."""
    urls = shared_web.add_articles(12)
    without_html = {"TAMIS_KEEP_HTML": False}
    cases = {
        "odd": {"item": "odd", "TAMIS_DUPLICATES": "mark"},
        "odd dropped": {"item": "odd", "TAMIS_DUPLICATES": "drop"},
        "roomless": {"item": "roomless", **without_html},
        "forbidding": {"item": "forbidding", **without_html},
        "undeclared": {
            "item": "item",
            "TAMIS_OUTPUTS": ["metadata", "markdown"],
            "TAMIS_FIELD_NAMES": {"markdown": "md"},
        },
        "misnamed": {"item": "dict", "TAMIS_FIELD_NAMES": {"html": "htlm"}, "TAMIS_FEILD_NAMES": "html"},
    }
    cases = {name: {"urls": urls[:1], "with_html": True, **case} for name, case in cases.items()}
    for heavy in (False, True):
        addresses = shared_web.add_articles(12, heavy=heavy)
        whole = {"urls": addresses, "TAMIS_OUTPUTS": ["clean_html", "segments"]}
        cases |= {f"apart {heavy}": {**whole, "callback": "list"}, f"whole {heavy}": whole}
    cases["fingerprints alike"] = {"urls": urls, "REQUEST_FINGERPRINTER_CLASS": "__main__.AddressFingerprinter"}
    results = start_crawls(*cases.values()).results()
    return dict(zip(cases, results, strict=True))


def _stories(crawled):
    """The text of each item without the link below it, which stays or goes by the pages counted until then."""
    return {item["url"]: item["text"].partition("\n\nNext story")[0] for item in crawled.items}


def test_items_with_odd_addresses_are_cleaned_like_others(crawled):
    result = crawled["odd"]
    assert sorted(item["url"] for item in result.items) == sorted(ODD_URLS)
    assert all("Story 0" in item["text"] for item in result.items)
    assert result.tamis_stats["tamis/items/cleaned"] == len(ODD_URLS)
    assert not {"tamis/items/failed", "tamis/items/incomplete"} & set(result.stats)
    assert "Traceback" not in result.log


def test_items_with_odd_addresses_are_near_duplicates_like_others(crawled):
    stats = crawled["odd dropped"].tamis_stats
    assert len(crawled["odd dropped"].items) + stats["tamis/items/dropped"] == len(ODD_URLS)
    assert crawled["odd"].tamis_stats["tamis/items/duplicate"] == len(ODD_URLS) - 1


@pytest.mark.parametrize("kind", ["roomless", "forbidding"])
def test_an_item_that_takes_no_text_keeps_its_html(crawled, kind):
    (item,) = crawled[kind].items
    assert "Story 0" in item["html"]
    assert not item.get("text")
    stats = {name: n for name, n in crawled[kind].tamis_stats.items() if name.startswith("tamis/items/")}
    assert stats == {"tamis/items/without_field": 1}
    why = {"roomless": "is not declared", "forbidding": "refuses it (ZeroDivisionError: )"}[kind]
    log = crawled[kind].log
    assert (
        log.count(f"{kind.capitalize()}Item go on without their clean text: the field 'text' {why}. TAMIS_FIELD") == 1
    )


def test_an_output_that_the_class_does_not_declare_is_said_once(crawled):
    (line,) = crawled["undeclared"].lines("TAMIS_OUTPUTS asks for")
    assert line.endswith(
        "Items of ScrapyItem do not get what TAMIS_OUTPUTS asks for: the class does not declare 'md', 'metadata'"
    )


def test_a_field_that_no_item_has_is_said_at_the_first_item_and_at_the_end(crawled):
    result = crawled["misnamed"]
    (line,) = result.lines("have nothing in the field 'htlm'")
    assert "'url', 'html'" in line
    nothing = result.lines("None of the 1 items of this crawl was cleaned")
    assert len(nothing) == 3, "that of the crawls whose items take no text, in the same log, as well"
    assert sum("1 have nothing in 'htlm': name their field in TAMIS_FIELD_NAMES" in each for each in nothing) == 1
    assert sum("1 have no room for the text: declare a field" in each for each in nothing) == 2
    (line,) = result.lines("there is no setting TAMIS_FEILD_NAMES")
    assert "did you mean TAMIS_FIELD_NAMES?" in line


@pytest.mark.parametrize("heavy", [False, True])
def test_a_callback_that_takes_the_tree_apart_takes_nothing_from_the_item(crawled, heavy):
    apart, whole = crawled[f"apart {heavy}"], crawled[f"whole {heavy}"]
    assert len(apart.items) == 12
    for item in apart.items:
        assert item["status"] == "cleaned"
        assert item["text"].startswith("Story")
        assert len(item["text"]) > 1000
        assert item["title"].startswith("Story")
    assert _stories(apart) == _stories(whole)
    assert apart.tamis_stats["tamis/pages/counted"] == 12


def test_pages_are_told_apart_by_the_whole_of_their_fingerprint(crawled):
    assert crawled["fingerprints alike"].tamis_stats["tamis/pages/counted"] == 12
