import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot

from scrapy_winnow.storage.counts import NodeCounts
from scrapy_winnow.storage.keys import site_of


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://Example.org/a?b#c", "example.org"),
        ("https://example.org:443/", "example.org"),
        ("http://example.org:443/", "example.org:443"),
        ("http://user:secret@127.0.0.1:8080/", "127.0.0.1:8080"),
        ("http://[::1]:8080/", "::1:8080"),
        ("http://münchen.example/", "m%c3%bcnchen.example"),
        ("http://a}b{c.example/", "a%7db%7bc.example"),
        ("http://a b\r\n.example/", "a%20b.example"),
        ("file:///etc/hostname", None),
        ("data:text/html,hello", None),
        ("http://[broken/", None),
        ("http://example.org:port/", None),
        ("", None),
    ],
)
def test_a_site_is_the_host_and_its_unusual_port(url, site):
    assert site_of(url) == site


@given(st.text(max_size=400))
def test_no_host_name_can_leave_its_key(text):
    site = site_of(f"http://{text}/")
    assert site is None or (site.isascii() and len(site) <= 3 * 253 and not set(site) & set("{}* \t\r\n\0"))


@given(st.text(st.sampled_from("ab.:@[]?#/\\ \t{}%é"), max_size=20))
def test_a_known_host_is_named_as_a_new_one(text):
    # White space before an address means nothing, but only what begins with its scheme is looked up.
    for scheme in ("http://", "https://"):
        assert site_of(f"{scheme}{text}/story") == site_of(f" {scheme}{text}/story")


@given(st.text(max_size=60))
def test_all_keys_of_a_host_are_in_one_slot_of_a_cluster(text):
    counts = NodeCounts(None, prefix="winnow", version=1, budget=1, max_pages=1, ttl=1)
    if site := site_of(f"http://{text}/"):
        slots = {key_slot(key.encode()) for key in counts.keys(site)}
        assert slots == {key_slot(site.encode())}
