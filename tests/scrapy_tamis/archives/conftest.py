import pytest

from scrapy_tamis.commands import main
from tests.scrapy_tamis.archives.made import page, write_archive


@pytest.fixture(scope="session")
def stories():
    """Addresses and pages of two hosts, in turn."""
    return [(f"http://{host}.example/{n}", page(host, n)) for n in range(14) for host in ("north", "south")]


@pytest.fixture(scope="session")
def archives(stories, tmp_path_factory):
    """Two archives with the pages of both hosts."""
    folder = tmp_path_factory.mktemp("archives")
    return [
        write_archive(folder / "first.warc.gz", stories[:16]),
        write_archive(folder / "second.warc.gz", stories[16:]),
    ]


@pytest.fixture(scope="session")
def cleaned(archives, tmp_path_factory):
    """The folder of the two archives after a run in one process."""
    folder = tmp_path_factory.mktemp("cleaned") / "out"
    assert main(["warc", *map(str, archives), "-o", str(folder), "--with", "markdown", "-j", "1"]) == 0
    return folder
