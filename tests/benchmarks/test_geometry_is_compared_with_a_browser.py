"""The agreement of two layouts is measured element by element; pages are made ready for a browser without scripts."""

import socket
from dataclasses import replace
from http.client import HTTPConnection
from urllib.parse import urlsplit

import numpy as np
import pytest

from benchmarks.layout.browser_layout import prepared, styled_pages
from benchmarks.layout.geometry import agreement, comparable
from benchmarks.sites.site_server import MISSING_IMAGE, serving
from winnow.page.page import Page
from winnow.papers.geometry import HIDDEN_AREA, layout
from winnow.training.sites import Site

BODY = "".join(f"<p id=p{k}>{'Some words of a paragraph. ' * k}</p>" for k in range(1, 15))


def as_boxes(page, geometry):
    """What a browser would say that laid out the page just like the estimate, areas included."""
    n = page.n
    height = np.divide(geometry.area[:n], geometry.width[:n], out=np.zeros(n), where=geometry.width[:n] > 0)
    return np.stack([geometry.x[:n], geometry.y[:n], geometry.width[:n], height], axis=1)


def test_a_browser_that_lays_out_the_same_agrees_in_everything():
    page = Page.parse(f"<body>{BODY}</body>")
    geometry = layout(page)
    assert agreement(page, as_boxes(page, geometry), geometry) == pytest.approx((1, 1, 1, 1))


def test_ranks_count_and_not_sizes():
    page = Page.parse(f"<body>{BODY}</body>")
    geometry = layout(page)
    boxes = as_boxes(page, geometry)
    boxes[:, 3] = 10_000 * boxes[:, 3] ** 3  # monotone, all of it far above what is hidden
    boxes[:, 1] = -boxes[:, 1]
    found = agreement(page, boxes, geometry)
    assert found is not None
    assert found.area == pytest.approx(1)
    assert found.top == pytest.approx(-1)
    assert found.hidden == pytest.approx(1 - (geometry.area[: page.n] < HIDDEN_AREA)[comparable(page)].mean())


def test_what_style_sheets_hide_counts_among_all_elements_only():
    page = Page.parse(f"<body>{BODY}</body>")
    geometry = layout(page)
    boxes = as_boxes(page, geometry)
    largest = int(page.n - 1)
    boxes[largest] = 0
    found = agreement(page, boxes, geometry)
    assert found is not None
    assert found.area == pytest.approx(1)
    assert found.area_of_all < 0.9
    assert found.hidden == pytest.approx(1 - 1 / comparable(page).sum())


def test_elements_that_the_browser_does_not_have_are_left_out():
    page = Page.parse(f"<body>{BODY}</body>")
    geometry = layout(page)
    boxes = as_boxes(page, geometry)
    boxes[-3:] = np.nan
    assert agreement(page, boxes, geometry) == pytest.approx((1, 1, 1, 1))


def test_a_page_with_next_to_nothing_is_not_compared():
    page = Page.parse("<body><p>one<p>two</body>")
    geometry = layout(page)
    assert agreement(page, as_boxes(page, geometry), geometry) is None


def test_only_elements_that_have_a_box_are_compared():
    page = Page.parse(
        "<head><title>t</title><style>p{}</style></head>"
        "<body><p>x<br><svg><path/></svg><select><option>1</option></select></body>"
    )
    names = [page.elements[index].tag for index in np.flatnonzero(comparable(page))]
    assert names == ["body", "p", "svg", "select"]


@pytest.fixture
def site(tmp_path):
    (tmp_path / "css").mkdir()
    (tmp_path / "css" / "a b.css").write_text("p {}")
    (tmp_path / "photo.jpg").write_bytes(b"jpeg")
    heads = {
        "styled.html": "<link rel='Stylesheet' href='/css/a%20b.css?v=2'>",
        "relative.html": "<link rel=stylesheet href='css/a b.css'><link rel='alternate stylesheet' href=none.css>",
        "incomplete.html": "<link rel=stylesheet href='css/a b.css'><link rel=stylesheet href=none.css>",
        "elsewhere.html": "<link rel=stylesheet href='https://cdn.example/css/a b.css'>",
        "outside.html": "<link rel=stylesheet href='../../etc/passwd'>",
        "broken.html": "<link rel=stylesheet href='http://[bad/'>",
        "plain.html": "",
    }
    for name, head in heads.items():
        (tmp_path / name).write_text(f"<head>{head}</head><body><p>{name}</p></body>")
    return Site("s", tmp_path, tuple(sorted(tmp_path.glob("*.html"))))


def test_pages_are_taken_whose_style_sheets_are_all_there(site):
    assert [file.name for file in styled_pages(site, 10, seed=0)] == ["relative.html", "styled.html"]
    assert (
        len(styled_pages(replace(site, files=(site.folder / "relative.html", site.folder / "styled.html")), 1, seed=0))
        == 1
    )


def test_a_page_is_made_ready_for_a_browser(site):
    file = site.files[0]
    page = Page.parse(
        "<!DOCTYPE html><meta http-equiv=refresh content='0; url=/elsewhere'><body><p>ö<img src=photo.jpg loading=lazy>"
        "<img src=/gone.png srcset='gone2.png 2x'><img src='data:image/gif;base64,x'><script>1 < 2</script>"
    )
    html = prepared(site, file, page).decode()
    assert html.lower().startswith("<!doctype html>")
    again = Page.parse(html)
    assert [dict(pairs)["data-winnow-element"] for pairs in again.attributes] == [str(k) for k in range(page.n)]
    assert [again.attribute("src")[index] for index in sorted(again.attribute("src"))] == [
        "photo.jpg",
        MISSING_IMAGE,
        "data:image/gif;base64,x",
    ]
    assert not again.attribute("http-equiv")
    assert not again.attribute("srcset")
    assert not again.attribute("loading")
    assert "1 < 2" in html


def test_the_prepared_page_is_served_in_place_of_its_file_and_the_rest_from_the_folder(site):
    def fetch(url):
        parts = urlsplit(url)
        connection = HTTPConnection(parts.hostname, parts.port, timeout=240)
        connection.request("GET", parts.path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read()

    with serving(site.folder) as server:
        url = server.serve("sub/seite ä.html", "<p>ä".encode())
        assert fetch(url) == (200, "text/html; charset=utf-8", "<p>ä".encode())
        home = url.partition("/sub/")[0]
        assert fetch(f"{home}/css/a%20b.css") == (200, "text/css", b"p {}")
        assert fetch(f"{home}{MISSING_IMAGE}")[1] == "image/svg+xml"
        assert fetch(f"{home}/gone.css")[0] == 404
        port = urlsplit(url).port
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", port), timeout=1)
