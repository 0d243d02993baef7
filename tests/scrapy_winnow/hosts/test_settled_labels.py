"""What a worker holds of settled hosts: how often their nodes occur, and how much template text pages still have."""

import numpy as np
import pytest

from scrapy_winnow.storage.counts import REOPEN_BELOW, SettledHost, SettledHosts


def settled(shares: dict[int, int], expected: float = 100.0, pages: int = 64) -> SettledHost:
    packed = b"".join(node.to_bytes(8, "little") + bytes([share]) for node, share in shares.items())
    return SettledHost.unpack(b"s", 1, pages, packed, expected)


def test_shares_become_frequencies_and_template_stays_template():
    host = settled({2**64 - 1: 255, 5: 128, 9: 26}, pages=1000)
    asked = np.array([5, 6, 2**64 - 1, 9, 5], np.uint64)
    assert host.frequencies(asked).tolist() == [502, 1, 1000, 102, 502]
    assert settled({9: 25}, pages=1000).frequencies(asked)[3] == 100, "rounding must not take a label away"
    assert settled({}).frequencies(asked).tolist() == [1] * 5


def test_drift_is_the_running_mean_of_the_template_text_that_pages_have():
    host = settled({1: 255, 2: 255})
    mass = np.full(2, 50, np.uint8)
    host.observe(b"first", np.array([1, 2], np.uint64), mass)
    assert host.recent == 1
    for page in range(1, 18):
        host.observe(bytes([page]), np.array([7, 8], np.uint64), mass)
        assert host.recent == pytest.approx((15 / 16) ** page)
        assert not host.has_drifted
    host.observe(b"17", np.array([7, 8], np.uint64), mass)
    assert host.recent < REOPEN_BELOW
    assert host.has_drifted


def test_a_host_without_template_text_and_a_page_without_nodes_say_nothing_of_drift():
    for host, nodes in ((settled({1: 255}, expected=0.0), [7]), (settled({1: 255}), [])):
        for page in range(31):
            host.observe(bytes([page]), np.array(nodes, np.uint64), np.full(len(nodes), 9, np.uint8))
        assert not host.has_drifted


def test_a_worker_holds_the_hosts_it_has_met_last():
    hosts = SettledHosts(max_hosts=2)
    for name in "ab":
        hosts.put(name, settled({}))
    assert hosts.get("a") is not None
    hosts.put("c", settled({}))
    assert [hosts.get(name) is not None for name in "abc"] == [True, False, True]
    hosts.drop("a")
    assert hosts.get("a") is None
