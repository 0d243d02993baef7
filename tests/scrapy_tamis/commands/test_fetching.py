"""``tamis clean ADDRESS`` fetches one page as robots.txt allows."""

import gzip
import socket
import threading
from contextlib import contextmanager

import pytest

from benchmarks.shared.servers import ReservedPort
from scrapy_tamis import fetching
from scrapy_tamis.commands import main

STORY = b"<nav><a href='/'>Home</a></nav><article><h1>Storm</h1><p>The ferries stay in port until Sunday.</p></article>"


@pytest.fixture
def clean(web, capsys):
    web.pages |= {
        "/robots.txt": (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private"),
        "/story": (200, {}, STORY),
        "/st%C3%B6ry": (200, {}, STORY),
        "/moved": (302, {"Location": "/story"}, b""),
        "/lured": (302, {"Location": "/private/story"}, b""),
        "/file": (302, {"Location": "file:///etc/passwd"}, b""),
    }

    def run(path, *options):
        code = main(["clean", f"{web.url}{path}", *options])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("path", ["/story", "/moved", "/störy"])
def test_a_page_is_fetched_and_cleaned(path, clean):
    code, out, _ = clean(path, "--format", "json")
    assert code == 0
    assert "The ferries stay" in out
    assert ("/st%C3%B6ry" if "ö" in path else "/story") in out  # the last address is the page's


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("/private/story", [], "robots.txt does not allow it"),
        ("/lured", [], "robots.txt does not allow it"),
        ("/file", [], "could not be fetched: "),
        ("/gone", [], "could not be fetched: HTTP Error 404"),
        ("/story", ["--site"], "one address at a time"),
    ],
)
def test_what_may_not_be_fetched_is_refused_with_the_reason(path, options, message, clean, web):
    code, out, err = clean(path, *options)
    assert (code > 0, out) == (True, "")
    assert message in err
    assert "/private/story" not in web.asked


def test_a_server_that_cannot_say_what_it_forbids_is_left_alone(clean, web):
    web.pages["/robots.txt"] = (503, {}, b"")
    assert "robots.txt could not be read" in clean("/story")[2]
    assert web.asked == ["/robots.txt"]


def test_of_a_long_robots_txt_the_beginning_is_heeded(clean, web):
    status, headers, rules = web.pages["/robots.txt"]
    web.pages["/robots.txt"] = (status, headers, rules + b"\n# and more" * 90_000)
    assert "The ferries stay" in clean("/story")[1]
    assert "robots.txt does not allow it" in clean("/private/story")[2]


def test_a_page_that_is_too_large_is_refused(clean, monkeypatch):
    monkeypatch.setattr(fetching, "_MAX_BYTES", 50)
    assert "is larger than 50 bytes" in clean("/story")[2]


def test_a_server_that_is_not_there_is_said_in_words(capsys):
    with ReservedPort() as port:
        url = f"http://127.0.0.1:{port.number}/"
        assert main(["clean", url]) == 1
    assert capsys.readouterr().err == f"tamis: {url}: could not be fetched: connection refused\n"


def test_a_page_that_is_compressed_unasked_is_read(clean, web):
    web.add("/packed", gzip.compress(STORY), Content_Encoding="gzip")
    assert "The ferries stay" in clean("/packed")[1]


def test_a_page_in_two_members_of_gzip_is_read_whole_and_one_that_breaks_off_is_refused(clean, web):
    half = len(STORY) // 2
    packed = gzip.compress(STORY[:half]) + gzip.compress(STORY[half:])
    web.add("/packed", packed, Content_Encoding="gzip")
    assert "in port until Sunday" in clean("/packed")[1]
    web.add("/packed", packed[:-20], Content_Encoding="gzip")
    assert "could not be fetched: Compressed file ended" in clean("/packed")[2]


@contextmanager
def answering(answer):
    """A server that answers one connection by a function of it; the address of its page."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            with server.accept()[0] as connection:
                answer(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join()


def test_a_page_that_breaks_off_is_refused():
    def break_off(connection):
        connection.recv(1_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + STORY)

    with answering(break_off) as url, pytest.raises(fetching.InputError, match="more expected"):
        fetching.fetch(url, obey_robots=False)


def test_a_server_that_sends_a_byte_now_and_then_is_given_up(monkeypatch):
    monkeypatch.setattr(fetching, "_TIMEOUT_S", 0.5)
    is_over = threading.Event()

    def drip(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
        for _ in range(600):
            if not is_over.wait(0.05):
                connection.sendall(b"x")

    with answering(drip) as url:
        with pytest.raises(fetching.InputError, match="did not answer in time"):
            fetching.fetch(url, obey_robots=False)
        is_over.set()
