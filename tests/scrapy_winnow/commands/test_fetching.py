"""``winnow clean ADDRESS`` fetches one page as robots.txt allows, and from no private address unless asked."""

import socket
import threading
from urllib.parse import urlsplit

import pytest

from scrapy_winnow import fetching
from scrapy_winnow.commands import main

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
    code, out, _ = clean(path, "--allow-private", "--format", "json")
    assert code == 0
    assert "The ferries stay" in out
    assert ("/st%C3%B6ry" if "ö" in path else "/story") in out  # the last address is the page's


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("/story", [], "127.0.0.1 is a private address; --allow-private fetches from it"),
        ("/private/story", ["--allow-private"], "robots.txt does not allow it"),
        ("/lured", ["--allow-private"], "robots.txt does not allow it"),
        ("/file", ["--allow-private"], "could not be fetched: "),
        ("/gone", ["--allow-private"], "could not be fetched: HTTP Error 404"),
        ("/story", ["--allow-private", "--site"], "one address at a time"),
    ],
)
def test_what_may_not_be_fetched_is_refused_with_the_reason(path, options, message, clean, web):
    code, out, err = clean(path, *options)
    assert (code > 0, out) == (True, "")
    assert message in err
    assert "/private/story" not in web.asked


def test_a_server_that_cannot_say_what_it_forbids_is_left_alone(clean, web):
    web.pages["/robots.txt"] = (503, {}, b"")
    assert "robots.txt could not be read" in clean("/story", "--allow-private")[2]
    assert web.asked == ["/robots.txt"]


def test_of_a_long_robots_txt_the_beginning_is_heeded(clean, web):
    status, headers, rules = web.pages["/robots.txt"]
    web.pages["/robots.txt"] = (status, headers, rules + b"\n# and more" * 90_000)
    assert "The ferries stay" in clean("/story", "--allow-private")[1]
    assert "robots.txt does not allow it" in clean("/private/story", "--allow-private")[2]


def test_a_page_that_is_too_large_is_refused(clean, monkeypatch):
    monkeypatch.setattr(fetching, "_MAX_BYTES", 50)
    assert "is larger than 50 bytes" in clean("/story", "--allow-private")[2]


def test_a_server_that_sends_a_byte_now_and_then_is_given_up(monkeypatch):
    monkeypatch.setattr(fetching, "_TIMEOUT_S", 0.5)
    is_over = threading.Event()

    def drip(server):
        with server.accept()[0] as connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
            for _ in range(600):
                if not is_over.wait(0.05):
                    connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as server:
        dripping = threading.Thread(target=drip, args=[server])
        dripping.start()
        with pytest.raises(fetching.InputError, match=r"took longer than 0\.5 s"):
            fetching.fetch(f"http://127.0.0.1:{server.getsockname()[1]}/", obey_robots=False, allow_private=True)
        is_over.set()
        dripping.join()


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1", "224.0.0.1"])
def test_no_name_leads_to_a_private_address(address, monkeypatch):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(family, socket.SOCK_STREAM, 6, "", (address, 80))])
    with pytest.raises(fetching.InputError, match="is a private address"):
        fetching.fetch("http://innocent.example/")


def test_where_the_first_address_of_a_name_does_not_answer_the_next_one_is_asked(web, monkeypatch):
    web.pages["/story"] = (200, {}, STORY)
    tried = []

    def reach_the_last(address, *_):
        tried.append(address[0])
        if len(tried) == 1:
            raise OSError("no route to it")
        connection = socket.socket()
        connection.connect(("127.0.0.1", urlsplit(web.url).port))
        return connection

    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 80)) for host in ("8.8.8.8", "1.1.1.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "create_connection", reach_the_last)
    assert fetching.fetch("http://two.example/story", obey_robots=False).html == STORY
    assert tried == ["8.8.8.8", "1.1.1.1"]
