"""Leaves are counted exactly over files, and page by page as they come."""

from collections import defaultdict
from contextlib import ExitStack
from sqlite3 import connect
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_tamis.archives import counting
from scrapy_tamis.archives.counting import HostCounts, LeafWriter, StreamCounts, count_hosts

PAGES = st.lists(
    st.tuples(
        st.sampled_from(["a.example", "b.example", "c.example"]),
        st.integers(0, 9),
        st.sets(st.integers(1, 12), min_size=1, max_size=6),
    ),
    max_size=30,
)


def _hashed(leaves):
    """What a page with these leaves comes to: equal leaves, equal contents."""
    contents = hash(frozenset(leaves)) & (1 << 64) - 1
    fingerprints, units = np.array(sorted(leaves), np.uint64), np.arange(len(leaves))
    main_text_id = contents.to_bytes(8, "little")
    return SimpleNamespace(size=20, units=units, fingerprints=fingerprints, main_text_id=main_text_id)


@settings(max_examples=10, deadline=None)
@given(pages=PAGES, archives=st.integers(1, 3))
def test_each_leaf_counts_the_different_pages_of_its_host_that_have_it(pages, archives, tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaves")
    distinct = {}
    files = [folder / str(number) for number in range(archives)]
    with ExitStack() as stack:
        writers = [stack.enter_context(LeafWriter(file)) for file in files]
        for number, (host, path, leaves) in enumerate(pages):
            known = distinct.setdefault((host, path), leaves)  # an address has one version here
            writers[number % archives].add(f"http://{host}/{path}", host, _hashed(known))
    assert count_hosts(files, folder) == len({host for host, _, _ in pages})
    counts = HostCounts(folder)
    contents = defaultdict(set)
    for (host, _), leaves in distinct.items():
        contents[host].add(frozenset(leaves))
    for host, different in contents.items():
        evidence = counts.evidence(host, np.arange(1, 14, dtype=np.uint64))
        expected = [max(sum(leaf in leaves for leaves in different), 1) for leaf in range(1, 14)]
        assert evidence.df.tolist() == expected
        assert evidence.pages == len(different)


def test_of_a_large_host_a_sample_is_counted_that_does_not_depend_on_the_order(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "MAX_HOST_PAGES", 20)
    pages = [(f"http://a.example/{number}", _hashed({1, 100 + number})) for number in range(50)]
    for name, ordered in (("up", pages), ("down", pages[::-1])):
        (tmp_path / name).mkdir()
        with LeafWriter(tmp_path / name / "leaves") as writer:
            for url, hashed in ordered:
                writer.add(url, "a.example", hashed)
        count_hosts([tmp_path / name / "leaves"], tmp_path / name)
    up, down = (HostCounts(tmp_path / name) for name in ("up", "down"))
    leaves = np.arange(1, 160, dtype=np.uint64)
    evidence = up.evidence("a.example", leaves)
    assert (evidence.pages, evidence.df[0]) == (20, 20)
    assert evidence.df.tolist() == down.evidence("a.example", leaves).df.tolist()


def test_counts_that_are_spilled_to_disk_are_those_that_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "MAX_HOST_PAGES", 12)
    chance = np.random.default_rng(1)
    databases = [connect(tmp_path / name) for name in "ab"]
    small, large = (StreamCounts(database, held) for database, held in zip(databases, (1, 10**9), strict=True))
    for number in range(200):
        host, path = f"host-{chance.integers(5)}", int(chance.integers(30))
        leaves = chance.integers(0, 400, 300).astype(np.uint64)
        page = SimpleNamespace(fingerprints=leaves, main_text_id=(path % 25).to_bytes(8, "little"))
        one, other = (counts.count(f"http://{host}/{path}", host, page) for counts in (small, large))
        assert one.df.tolist() == other.df.tolist(), number
        assert one.pages == other.pages <= 12
    assert small.save() == large.save() == 5
    for database in databases:
        database.close()
