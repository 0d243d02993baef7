"""Archives in a store that speaks S3's protocol, on loopback: found, read over broken connections, refused."""

import gzip
import logging
import re
import socket
import threading
from http.client import HTTPConnection

import pytest
from moto.server import ThreadedMotoServer
from s3fs import S3FileSystem

from scrapy_winnow.archives.reading import parts, stream
from scrapy_winnow.commands import main


@pytest.fixture(scope="module")
def server():
    # Of each request, in the middle of whatever a test captures by then.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()
    server.stop()


@pytest.fixture
def bucket(server, monkeypatch):
    """A bucket of the server, for whoever has the credentials of the environment."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "of-a-test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server))
    forget_connections()
    store = S3FileSystem(key="of-a-test", secret="of-a-test", endpoint_url="http://{}:{}".format(*server))
    store.mkdir("crawl")
    yield store
    store.rm("crawl", recursive=True)


def forget_connections():
    S3FileSystem.clear_instance_cache()


def clean(sources, folder):
    assert main(["warc", *map(str, sources), "-o", str(folder), "-j", "1"]) == 0
    return {file.name: gzip.decompress(file.read_bytes()) for file in folder.iterdir()}


def test_a_pattern_in_a_bucket_gives_what_the_same_files_here_do(bucket, archives, tmp_path):
    for file in archives:
        bucket.put_file(str(file), f"crawl/2026/{file.name}")
    bucket.pipe_file("crawl/2026/notes.txt", b"no archive")
    far = clean(["s3://crawl/2026/*.warc.gz"], tmp_path / "far")
    assert sorted(far) == ["first.jsonl.gz", "second.jsonl.gz"]
    assert far == clean(archives, tmp_path / "near")


def test_a_large_archive_in_a_bucket_is_divided_and_gives_what_the_same_file_here_does(
    bucket, archives, monkeypatch, tmp_path
):
    whole = clean(archives[:1], tmp_path / "near")
    bucket.put_file(str(archives[0]), "crawl/first.warc.gz")
    monkeypatch.setattr(parts, "PART_BYTES", 3_000)
    assert len(parts.divided(["s3://crawl/first.warc.gz"])["s3://crawl/first.warc.gz"]) > 2
    assert clean(["s3://crawl/first.warc.gz"], tmp_path / "far") == whole


def test_a_connection_that_breaks_on_the_way_is_made_again(bucket, server, archives, monkeypatch, tmp_path):
    monkeypatch.setattr(stream, "_PAUSE", 0.01)
    monkeypatch.setattr(S3FileSystem, "retries", 1)
    bucket.put_file(str(archives[0]), "crawl/first.warc.gz")
    with BreakingProxy(server, breaks=2) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.address)
        forget_connections()
        far = clean(["s3://crawl/first.warc.gz"], tmp_path / "far")
    assert proxy.breaks == 0
    assert far == clean(archives[:1], tmp_path / "near")


@pytest.mark.parametrize(
    ("source", "key"),
    [("s3://crawl/first.warc.gz", "wrong"), ("s3://crawl/*.warc.gz", "wrong"), ("s3://crawl/first.warc.gz", None)],
)
def test_wrong_credentials_are_one_line_that_says_what_to_do(
    source, key, bucket, archives, server, monkeypatch, capsys, tmp_path
):
    bucket.put_file(str(archives[0]), "crawl/first.warc.gz")
    if key is None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    else:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    ask_for_rights(server, "0")
    try:
        forget_connections()
        assert main(["warc", source, "-o", str(tmp_path / "out"), "-j", "1"]) == 2
    finally:
        ask_for_rights(server, "inf")
    told = capsys.readouterr().err.strip()
    assert told.startswith(f"winnow: {source}: ")
    assert "AWS_ACCESS_KEY_ID" in told
    assert "\n" not in told


def ask_for_rights(server, after):
    """From so many requests on, those without known credentials are refused."""
    connection = HTTPConnection(*server)
    connection.request("POST", "/moto-api/reset-auth", after)
    assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.parametrize("kind", [[], ["--one-pass", "--format", "parquet"]])
def test_what_comes_out_goes_into_a_bucket_as_it_does_into_a_folder(kind, bucket, archives, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = ["warc", *map(str, archives), "-j", "1", *kind, "-o"]
    assert main([*arguments, "here"]) == 0
    assert main([*arguments, "s3://crawl/clean/"]) == 0
    near = {file.name: file.read_bytes() for file in (tmp_path / "here").iterdir()}
    assert len(near) == 2
    assert {name.rpartition("/")[2]: bucket.cat_file(name) for name in bucket.ls("crawl/clean")} == near
    assert not list((tmp_path / ".winnow").iterdir())


def test_a_store_that_takes_no_files_is_said_before_anything_is_read(bucket, archives, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    for address, why in (("s3://no-such-bucket/clean", "bucket does not exist"), ("http://127.0.0.1:9/clean", "HTTP")):
        assert main(["warc", str(archives[0]), "-o", address, "-j", "1"]) == 2
        told = capsys.readouterr().err
        assert why in told
        assert told.count("\n") == 1


def test_a_folder_for_what_is_half_done_keeps_what_else_is_in_it(archives, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "own.txt").write_text("of somebody else")
    work = ["--work", str(tmp_path / "disk")]
    assert main(["warc", str(archives[0]), "-o", str(tmp_path / "out"), "-j", "1", *work]) == 0
    assert [file.name for file in (tmp_path / "disk").iterdir()] == ["own.txt"]
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["first.jsonl.gz"]


def test_what_is_not_there_is_named(bucket, archives, capsys, tmp_path):
    assert main(["warc", "s3://crawl/*.warc.gz", "-o", str(tmp_path / "out")]) == 2
    assert "no such archive: s3://crawl/*.warc.gz" in capsys.readouterr().err
    gone = "s3://crawl/gone.warc.gz"
    assert main(["warc", gone, str(archives[0]), "-o", str(tmp_path / "out"), "-j", "1"]) == 1
    assert f"broken: {gone}: FileNotFoundError" in capsys.readouterr().err
    assert (tmp_path / "out" / "first.jsonl.gz").stat().st_size > 1000


def test_a_kind_of_address_that_is_not_known_is_named(capsys, tmp_path):
    assert main(["warc", "s4://crawl/first.warc.gz", "-o", str(tmp_path)]) == 2
    assert "s4://crawl/first.warc.gz: no kind of address that is known" in capsys.readouterr().err


def whole_request(client):
    """What a client asks, in however many pieces it comes."""
    asked = b""
    while b"\r\n\r\n" not in asked:
        asked += client.recv(1 << 16)
    head, _, body = asked.partition(b"\r\n\r\n")
    (length,) = re.findall(rb"(?i)^content-length: *(\d+)", head, re.MULTILINE) or [b"0"]
    while len(body) < int(length):
        body += client.recv(1 << 16)
    return head + b"\r\n\r\n" + body


class BreakingProxy:
    """Passes on what comes, and breaks off some of the answers that hold parts of archives."""

    def __init__(self, server, breaks):
        self.breaks = breaks
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept)
        self.address = "http://{}:{}".format(*self._listening.getsockname())

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client):
        with client, socket.create_connection(self._server) as server:
            asked = whole_request(client)
            server.sendall(asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            answer = server.makefile("rb").read()
            if self.breaks and asked.startswith(b"GET") and b"206" in answer[:20]:
                self.breaks -= 1
                answer = answer[: len(answer) // 2]
            client.sendall(answer)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
