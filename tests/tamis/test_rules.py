from pathlib import Path

import pytest

import tamis
from tests.tamis.test_comments import BLOG_POST, SAID

STORY = "A story that is told in many words, and some more of it, too. " * 4
PAGE = f"""<body><nav><a href=/>Home</a> <a href=/b>Blog</a></nav><main><h1>A storm</h1><p>{STORY}</p>
<div class=related><h2>Read on</h2><p>{STORY.upper()}</p><img src=/r.png>
<p class=note>A note of the author, to be kept.</p></div>
<p><b>By</b> <span class=long>an author of whom much is said</span></p><p>{STORY[::-1]}</p></main></body>"""
URL = "https://blog.example.org/storm"


def clean(*entries: object, url: str | None = URL) -> tamis.Cleaned:
    return tamis.clean(PAGE, url, rules=entries)


def test_rules_override_all_other_decisions_and_are_the_reason() -> None:
    cleaned = clean({"site": "example.org", "drop": [".related", "span.long"], "keep": ["nav", ".note"]})
    assert [(b.text[:6], b.kept, b.reason if "rule" in b.reason else "") for b in cleaned.blocks] == [
        *(("Home B", True, "rule: nav"), ("A stor", True, ""), ("A stor", True, "")),
        *(("Read o", False, "rule: .related"), ("A STOR", False, "rule: .related"), ("A note", True, "rule: .note")),
        *(("By an ", False, "rule: span.long"), (STORY[::-1].strip()[:6], True, "")),
    ]
    assert "Home Blog" in cleaned.text
    assert "A STORY" not in cleaned.text + cleaned.html
    assert "r.png" not in cleaned.html
    assert [(s.path, s.reason) for s in cleaned.removed if s.text] == [
        ("/html/body/main/div", "rule: .related"),
        ("/html/body/main/p[2]/#text[1]", "rule: span.long"),
    ]


def test_what_is_kept_is_content_though_a_reader_wrote_it_and_a_block_goes_by_most_of_its_text() -> None:
    assert SAID[0][2] in tamis.clean(BLOG_POST, rules={"keep": ".comment"}).text
    assert "By an author" in clean({"drop": "main > p > b"}).text
    assert "By an author" not in clean({"drop": "span.long"}).text


@pytest.mark.parametrize(
    ("site", "url", "is_for_it"),
    [
        *(("example.org", URL, True), ("EXAMPLE.org", URL, True), ("", None, True), ("b.example.org", URL, False)),
        *(("example.org", "https://example.org./", True), ("example.org", "https://badexample.org/", False)),
        *(("example.org", None, False), ("bücher.example", "https://www.xn--bcher-kva.example:8080/a", True)),
    ],
)
def test_rules_are_for_a_host_and_its_subdomains(site: str, url: str | None, is_for_it: bool) -> None:
    assert ("storm" not in clean({"site": site, "drop": "h1"}, url=url).text) == is_for_it


def test_the_last_rule_for_an_element_applies() -> None:
    assert "A storm" in clean({"drop": "h1"}, {"keep": "h1"}).text
    assert "A storm" not in clean({"keep": "h1"}, {"drop": "h1"}).text


def test_rules_of_a_host_and_of_all_come_in_their_order() -> None:
    entries = [{"site": "example.org", "drop": "a"}, {"drop": "b"}, {"site": "www.example.org", "keep": ["c", "d"]}]
    rules = tamis.Rules([*entries, {"site": "example.org", "keep": "e"}])
    assert "".join(rule.selector for rule in rules.for_url("https://www.example.org/")) == "abcde"
    assert "".join(rule.selector for rule in rules.for_url("https://example.org/")) == "abe"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.toml", '[[rules]]\ndrop = "a"\n[[rules]]\nsite = "a.org"\nkeep = ["p", "a["]', "rule 2: keep: 'a\\['"),
        ("r.toml", "[[rules]]\ndrop = p", "line 2"),
        ("r.json", '[{"drop": "p"},\n{"drop"}]', "line 2"),
        ("r.json", '[{"drop": "p::first-line"}]', "Pseudo-elements"),
        ("r.json", '[{"drop": "svg|path"}]', "drop: 'svg.path' is not a CSS selector: Undefined namespace"),
        ("r.json", '[{"drop": "p", "site": "https://a.org/"}]', "rule 1: site must be a host"),
        ("r.json", '[{"dorp": "p"}]', "must have keep or drop"),
        ("r.json", "3", "must be mappings"),
        ("r.toml", 'drop = "p"', "nothing else, not drop"),
        ("r.toml", "# Caf\udce9", "byte 0xe9 in position 5"),
    ],
)
def test_an_invalid_file_is_an_error_with_its_name_and_position(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8", "surrogateescape")
    with pytest.raises(ValueError, match=f"{name}: .*{message}"):
        tamis.Rules.read(tmp_path / name)
