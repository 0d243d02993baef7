import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import winnow
from tests.winnow.test_cleaning_takes_a_page_to_its_content import MODEL
from winnow.models import shipped_models

TABLE = "<table><tr><th>Speed<th>Place<tr><td>130<td>Coast<tr><td>90<td>Inland</table>"
LONG = "Winds of up to 130 km/h are expected on the coast tonight, says the weather office in its last report."
PAGE = f"""<html><head><title>Storm</title></head><body><article><h1>Storm warning</h1>
<p>{LONG}</p><p>Then <a href="/more">read on</a> <img src="/map.png" alt="Map"> here.</p>
<div><p>{LONG}</p></div>{TABLE}</article></body></html>"""


def clean(**switches: object) -> winnow.Cleaned:
    return winnow.clean(PAGE, "https://host.example/", **{"model": MODEL, **switches})  # type: ignore[arg-type]


def test_links_images_and_tables_can_be_left_out() -> None:
    assert "[read on](https://host.example/more)" in clean().markdown
    assert "read on" in clean(links=False).markdown
    assert "/more" not in clean(links=False).html
    assert "map.png" in clean().markdown
    assert "map.png" not in clean(images=False).markdown
    assert "130\tCoast" in clean().text
    without = clean(tables=False)
    assert all("Inland" not in output for output in (without.text, without.html, without.markdown))


def test_copies_can_be_kept() -> None:
    assert clean().text.count(LONG) == 1
    assert clean(deduplicate=False).text.count(LONG) == 2


def test_a_model_is_taken_by_name_file_or_itself() -> None:
    name = shipped_models()[0]
    file = next(Path(winnow.__file__).parent.glob(f"*/weights/{name}.npz"))
    versions = {clean(model=model).model_version for model in (name, file, str(file), winnow.load_model(name))}
    assert len(versions) == 1


def test_the_encoding_of_bytes_can_be_said() -> None:
    html = "<p>Übung macht den Meister, sagt man hier.</p>".encode("utf-16-le")
    assert "Übung" in winnow.clean(html, encoding="utf-16-le").text


class Response:
    """Looks like one of Scrapy's."""

    selector = None
    body = b""


@pytest.mark.parametrize(
    ("html", "arguments", "error", "message"),
    [
        (1, {}, TypeError, "html must be str, bytes, an lxml tree or a winnow.Page, not int"),
        (None, {}, TypeError, "not NoneType"),
        (Path("page.html"), {}, TypeError, r"read_bytes\(\)"),
        (Response(), {}, TypeError, r"give its .body and .url"),
        ("x", {"url": b"http://x/"}, TypeError, "url must be a str, not bytes"),
        ("x", {"encoding": "utf-8"}, TypeError, "encoding goes with bytes; html is str"),
        (b"x", {"encoding": 8}, TypeError, "encoding must be the name of a charset, not int"),
        (b"x", {"encoding": "no-such"}, LookupError, "no-such"),
        ("x", {"model": 3}, TypeError, "model must be a model, its name or its file, not int"),
        ("x", {"model": "no-such"}, FileNotFoundError, "shipped with the package: blocks"),
    ],
)
def test_wrong_arguments_are_errors_that_say_what_is_taken(
    html: object, arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        winnow.clean(html, **arguments)  # type: ignore[arg-type]


PDF, PNG = b"%PDF-1.7 \xe2\xe3", b"\x89PNG\r\n\x1a\n" + bytes(50)


@pytest.mark.parametrize(
    "document",
    [PDF, PNG, PNG.decode("latin-1"), PNG.decode("cp1252"), PNG.decode("utf-8", "replace"), winnow.Page.parse(PDF)],
)
def test_what_is_no_html_is_flagged_and_has_no_text_whether_as_bytes_text_or_page(document: Any) -> None:
    cleaned = winnow.clean(document)
    assert (cleaned.passed_through, cleaned.text, cleaned.markdown) == ("binary", "", "")


def test_what_came_out_goes_into_json_and_a_dictionary() -> None:
    further = ("html", "markdown", "metadata", "segments", "chunks")
    found = json.loads(json.dumps(clean().to_dict(*further)))
    assert list(found)[:3] == ["text", "title", "template_share"]
    assert found["url"] == "https://host.example/"
    assert found["metadata"]["headline"] == "Storm warning"
    assert found["chunks"][0]["headings"] == ["Storm warning"]
    assert "html" not in clean().to_dict()
    with pytest.raises(ValueError, match="not pictures"):
        clean().to_dict("pictures")


@pytest.mark.parametrize(
    "again",
    [lambda found: pickle.loads(pickle.dumps(found)), copy.deepcopy],  # noqa: S301
    ids=["pickle", "copy"],
)
def test_a_cleaned_page_can_be_pickled_and_copied_with_all_that_it_can_say(again: object) -> None:
    before = clean()
    after = again(before)  # type: ignore[operator]
    assert after.to_dict("html", "markdown", "metadata", "segments", "chunks") == before.to_dict(
        "html", "markdown", "metadata", "segments", "chunks"
    )


def test_a_tree_is_still_taken() -> None:
    assert winnow.clean(etree.HTML(PAGE), model=MODEL).text == clean().text
