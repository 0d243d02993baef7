"""Archives and results in a store that speaks S3's protocol, on loopback."""

import logging
from http.client import HTTPConnection

import pytest

from scrapy_tamis.archives import reading
from scrapy_tamis.commands import main
from tests.scrapy_tamis.archives.made import rows_of


@pytest.fixture(scope="module")
def server():
    from moto.server import ThreadedMotoServer  # noqa: PLC0415  (a second, for whoever runs other files)

    # It logs each request, into whatever a test captures by then.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()
    server.stop()


@pytest.fixture(scope="module")
def store(server, archives):
    """A bucket with two archives, for a client that is known."""
    from s3fs import S3FileSystem  # noqa: PLC0415  (as moto)

    store = S3FileSystem(key="of-a-test", secret="of-a-test", endpoint_url="http://{}:{}".format(*server))
    store.mkdir("crawl")
    for file in archives:
        store.put_file(str(file), f"crawl/{file.name}")
    store.pipe_file("crawl/notes.txt", b"no archive")
    return store


@pytest.fixture
def bucket(server, store, monkeypatch):
    """The bucket, for clients with the credentials of the environment."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "of-a-test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server))
    store.clear_instance_cache()
    return store


def clean(sources, folder):
    return main(["warc", *map(str, sources), "-o", str(folder), "-j", "1"])


@pytest.mark.usefixtures("bucket")
def test_a_pattern_in_a_bucket_gives_what_the_same_files_here_do_read_in_parts(cleaned, monkeypatch, tmp_path):
    monkeypatch.setattr(reading, "MIN_PART_BYTES", 3_000)
    assert len(reading.split_archives(["s3://crawl/first.warc.gz"])["s3://crawl/first.warc.gz"]) > 2
    assert clean(["s3://crawl/*.warc.gz"], tmp_path) == 0
    assert rows_of(tmp_path) == rows_of(cleaned, without={"markdown"})


@pytest.mark.parametrize(
    ("source", "key"),
    [("s3://crawl/first.warc.gz", "wrong"), ("s3://crawl/*.warc.gz", "wrong"), ("s3://crawl/first.warc.gz", None)],
)
def test_wrong_credentials_are_one_line_that_says_what_to_do(
    source, key, server, bucket, monkeypatch, capsys, tmp_path
):
    if key is None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    else:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    require_credentials(server, "0")
    try:
        bucket.clear_instance_cache()
        assert clean([source], tmp_path / "out") == 2
    finally:
        require_credentials(server, "inf")
    message = capsys.readouterr().err.strip()
    assert message.startswith(f"tamis: {source}: ")
    assert "AWS_ACCESS_KEY_ID" in message
    assert "\n" not in message


def require_credentials(server, after):
    """Refuse requests without known credentials after so many others."""
    connection = HTTPConnection(*server)
    connection.request("POST", "/moto-api/reset-auth", after)
    assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.parametrize(("kind", "place"), [([], "rows"), (["--one-pass", "--format", "parquet"], "columns")])
def test_results_go_into_a_bucket_as_into_a_folder(kind, place, bucket, archives, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = ["warc", *map(str, archives), "-j", "1", *kind, "-o"]
    assert main([*arguments, "here"]) == 0
    assert main([*arguments, f"s3://crawl/{place}/"]) == 0
    local = {file.name: file.read_bytes() for file in (tmp_path / "here").iterdir()}
    assert len(local) == 2
    assert {name.rpartition("/")[2]: bucket.cat_file(name) for name in bucket.ls(f"crawl/{place}")} == local
    assert not (tmp_path / ".tamis").exists()
