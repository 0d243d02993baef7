"""A crawl and its Redis: outages, faults of the server, passwords, TLS, and what is closed at the end."""

import asyncio
import datetime
import ipaddress
import logging
import re
import ssl
import time
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from benchmarks.shared.servers import running_sentinels
from scrapy_tamis.storage import connection as connection_module
from scrapy_tamis.storage.batches import MAX_TRIPS
from scrapy_tamis.storage.clients import memory_advice
from scrapy_tamis.storage.connection import COUNTS, NEAR_DUPLICATES, Connection, problem_at_start
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.index import DuplicateIndex
from tamis.duplicates import Windows

NODES = np.arange(50, dtype=np.uint64)


class Crawl:
    """A connection with its counts, and what was seen of its troubles; it is patient, for the machine may be busy."""

    def __init__(self, url: str, prefix: str = "test", **options) -> None:
        self.failures: list[bool] = []
        self.connection = Connection(
            url, on_failure=self.failures.append, **{"timeout": 60, "retry_interval": 0.05, **options}
        )
        self.counts = NodeCounts(self.connection, prefix=prefix, budget=1000, max_pages=1000, ttl=60)

    def be_patient_for(self, seconds: float) -> None:
        """Wait for so long from now on: to be short of time is for servers that do not answer, whoever is slow."""
        self.connection._timeout = self.connection._batches._timeout = seconds

    async def count(self, page: int, nodes=NODES) -> int | None:
        """Number of pages counted, or None."""
        evidence = await self.counts.count("a.example", page.to_bytes(8, "big"), nodes.astype(np.uint64))
        return evidence and evidence.pages

    async def count_when_back(self, page: int) -> int:
        return await when_back(lambda: self.count(page))


async def when_back(call):
    """The first result of a call."""
    async with asyncio.timeout(60):
        while (found := await call()) is None:  # noqa: ASYNC110 - the breaker has no event to wait for
            await asyncio.sleep(0.02)
    return found


@pytest.fixture
async def crawl():
    crawls = []

    def start(url, **options):
        crawls.append(Crawl(url, **options))
        return crawls[-1]

    yield start
    for each in crawls:
        await each.connection.close()


async def only_one_connection_is_left(connection):
    async with asyncio.timeout(60):
        while len(await connection.call(lambda client: client.client_list())) > 1:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def _lines(caplog, level):
    return [record.getMessage() for record in caplog.records if record.levelno == level]


async def test_a_server_that_hangs_holds_up_one_call_and_then_one_per_probe(tcp_server, crawl):
    server = tcp_server()
    counting = crawl(server.url, retry_interval=3600)
    assert await counting.count(1) == 1
    server.freeze()
    counting.be_patient_for(0.3)
    async with asyncio.timeout(60):
        assert [await counting.count(page) for page in range(2, 1000)] == [None] * 998
    assert counting.failures == [True]
    counting.connection._next_probes[COUNTS] = 0.0  # the interval is over
    assert await asyncio.gather(*(counting.count(page) for page in range(100))) == [None] * 100
    assert len(counting.failures) == 2
    server.thaw()


async def test_a_server_that_hangs_on_more_than_the_network_takes_holds_nothing_up(tcp_server, crawl):
    server = tcp_server()
    counting = crawl(server.url)
    assert await counting.connection.ping()
    server.freeze()
    counting.be_patient_for(0.3)
    async with asyncio.timeout(60):
        assert await counting.count(1, np.arange(1_000_000)) is None
        await counting.connection.close()
    server.thaw()
    await only_one_connection_is_left(crawl(server.url).connection)  # the rest of what was sent goes out only now


async def test_a_page_whose_answer_was_lost_counts_once_when_it_is_sent_again(tcp_server, crawl):
    server = tcp_server()
    counting = crawl(server.url)
    assert await counting.count(1) == 1
    server.freeze()
    counting.be_patient_for(0.3)
    assert await counting.count(2) is None
    server.thaw()
    counting.be_patient_for(60)
    assert await counting.count_when_back(2) == 2
    assert await counting.count(3) == 3


async def test_something_that_is_no_redis_is_seen_at_the_start(crawl):
    async def answer(reader, writer):
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    counting = crawl(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert not await counting.connection.ping()
    server.close()


async def test_the_rights_in_the_documentation_are_enough_and_no_more(tcp_server, crawl):
    text = (Path(__file__).parents[3] / "docs" / "reference" / "settings.md").read_text()
    words = re.search(r"ACL SETUSER tamis ([^`]*)", text)[1].split()
    server = tcp_server("--user", "tamis", *words)
    counting = crawl(server.url.replace("//", "//tamis:password@"), prefix="tamis")
    assert await counting.connection.ping()
    assert await counting.count(1) == 1
    for page in range(2, 8):
        assert await counting.count(page, np.arange(page * 1000, page * 1000 + 600)) == page
    index = DuplicateIndex(counting.connection, "tamis", ttl=1)
    words = [f"word{number}" for number in range(99)]
    for name, number in (("a", 90), ("b", 90), ("a", 95), ("c", 50)):
        found = await index.find(f"http://{name}.example/", Windows(" ".join(words[:number])))
        await index.set_kept(found[1], 1)
    assert counting.failures == []
    assert await counting.connection.call(lambda client: client.keys("*")) is None
    assert await crawl(server.url.replace("//", "//tamis:password@"), prefix="other").count(1) is None


async def test_a_user_who_may_not_read_the_counts_deletes_none(tcp_server, crawl):
    server = tcp_server("--user", "blind", "on", ">password", "~*", "+@all", "-scard")
    counting = crawl(server.url)
    assert await counting.count(1) == 1
    assert await crawl(server.url.replace("//", "//blind:password@")).count(2) is None
    assert await counting.count(2) == 2


async def test_a_revival_that_fails_is_one_more_failure(crawl):
    async def revive():
        raise RuntimeError("no server")

    counting = crawl("redis://127.0.0.1:1/", revive=revive, retry_interval=0)
    assert [await counting.count(page) for page in range(3)] == [None] * 3
    assert counting.failures == [True, False, False]


async def test_a_server_that_the_crawl_can_restart_is_tried_again_at_once(tcp_server, crawl):
    server = tcp_server()

    async def revive():
        server.start()

    counting = crawl(server.url, revive=revive, retry_interval=3600)
    assert await counting.count(1) == 1
    server.kill()
    assert await counting.count(2) is None
    assert await counting.count(3) == 1, "it has come back empty"


async def test_a_busy_event_loop_is_not_taken_for_an_outage(tcp_server, crawl):
    counting = crawl(tcp_server().url)
    assert await counting.count(1) == 1
    counting.be_patient_for(1)

    async def work_on_a_page():
        for seconds in (1.2, 0.3, 0.3):
            time.sleep(seconds)  # noqa: ASYNC251 - what parsing a big page does to the loop
            await asyncio.sleep(0)

    pages, _ = await asyncio.gather(counting.count(2), work_on_a_page())
    assert pages == 2
    assert counting.failures == []


async def test_a_first_call_that_connects_between_pages_is_not_taken_for_an_outage(tcp_server, crawl):
    async def work_on_pages(number, seconds):
        for _ in range(number):
            time.sleep(seconds)  # noqa: ASYNC251
            await asyncio.sleep(0)

    server = tcp_server()
    counting = crawl(server.url, timeout=0.5)
    pages, _ = await asyncio.gather(counting.count(1), work_on_pages(10, 0.17))
    assert (pages, counting.failures) == (1, [])
    server.freeze()
    counting.be_patient_for(0.1)
    pages, _ = await asyncio.gather(counting.count(2), work_on_pages(12, 0.05))
    assert (pages, counting.failures) == (None, [True])


async def test_a_purpose_that_finds_no_time_leaves_the_others_alone(tcp_server, crawl):
    counting = crawl(tcp_server().url, timeout=0.3, retry_interval=3600)
    assert await counting.connection.call(lambda _: asyncio.sleep(60), NEAR_DUPLICATES) is None
    assert NEAR_DUPLICATES in counting.connection._next_probes
    counting.be_patient_for(60)
    assert await counting.count(1) == 1
    assert counting.failures == [True]


async def test_an_outage_of_the_server_is_one_for_all_purposes_with_a_line_at_its_beginning_and_its_end(
    tcp_server, crawl, caplog
):
    caplog.set_level(logging.INFO, "scrapy_tamis")
    server = tcp_server()
    counting = crawl(server.url)
    assert await counting.count(1) == 1
    server.kill()
    for page in (2, 3, 4):
        assert await counting.count(page) is None
        assert await counting.connection.run_commands([("ECHO", "x")]) is None
    server.start()
    assert await counting.count_when_back(5) == 1, "it has come back empty"
    assert _lines(caplog, logging.INFO) == []
    assert await when_back(lambda: counting.connection.run_commands([("ECHO", "x")])) == [b"x"]
    assert counting.failures[0] is True
    assert set(counting.failures[1:]) <= {False}
    assert len(_lines(caplog, logging.WARNING)) == 1
    assert _lines(caplog, logging.INFO) == ["Redis is back: pages are counted again"]


async def test_a_probe_does_not_wait_for_a_server_that_is_long_in_starting(crawl):
    started, may_start = [], asyncio.Event()

    async def revive():
        started.append(True)
        await may_start.wait()

    counting = crawl("redis://127.0.0.1:1/", revive=revive, retry_interval=0.01, timeout=0.1)
    assert await counting.count(1) is None
    async with asyncio.timeout(60):
        while not counting.failures[3:]:
            assert await counting.count(2) is None
            await asyncio.sleep(0.001)
    assert started == [True]
    may_start.set()


@pytest.mark.parametrize(
    ("trouble", "remedy"),
    [("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"), ("CONFIG SET maxmemory 1kb", "CONFIG SET maxmemory 0")],
    ids=["a replica", "out of memory"],
)
async def test_a_server_that_takes_no_writes_refuses_counts_until_it_does(tcp_server, crawl, caplog, trouble, remedy):
    server = tcp_server()
    counting = crawl(server.url)
    assert await counting.count(1) == 1
    await counting.connection.call(lambda client: client.execute_command(*trouble.split()))
    for number in range(2, 5):
        assert await counting.count(number) is None
        assert await counting.connection.run_commands([("GET", "what is read")]) == [None]
    assert counting.failures == [False] * 3
    assert caplog.text.count("Redis refused a command for site evidence (") == 1
    assert "Redis is back" not in caplog.text
    assert await counting.connection.call(lambda client: client.execute_command(*remedy.split()))
    assert await counting.count(2) == 2


async def test_a_server_that_refuses_for_long_is_logged_again(tcp_server, crawl, caplog, monkeypatch):
    monkeypatch.setattr(connection_module, "_REFUSAL_INTERVAL_S", 0.0)
    counting = crawl(tcp_server("--maxmemory", "1kb").url)
    for times in (1, 2):
        assert await counting.count(1) is None
        assert caplog.text.count("Redis refused a command for site evidence (") == times


@pytest.mark.parametrize("limit", [2, None])
async def test_a_far_server_is_asked_over_few_connections_and_a_limit_on_them_is_no_outage(tcp_server, crawl, limit):
    server, opened = tcp_server(), []

    async def pass_on(reader, writer):
        opened.append(writer)
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", server.port)

        async def answer():
            while data := await upstream_reader.read(65536):
                await asyncio.sleep(0.05)
                writer.write(data)
            writer.close()

        answering = asyncio.create_task(answer())
        while data := await reader.read(65536):
            upstream_writer.write(data)
        upstream_writer.close()
        await answering

    async with await asyncio.start_server(pass_on, "127.0.0.1", 0) as far:
        port = far.sockets[0].getsockname()[1]
        counting = crawl(f"redis://127.0.0.1:{port}" + (f"?max_connections={limit}" if limit else ""))

        async def page(number):
            await asyncio.sleep(number / 1000)
            return await counting.count(number)

        assert sorted(await asyncio.gather(*map(page, range(300)))) == list(range(1, 301))
        assert counting.failures == []
        assert len(opened) <= (limit or MAX_TRIPS)
        await counting.connection.close()


@pytest.fixture
def certificate(tmp_path):
    """A self-signed certificate for 127.0.0.1 with its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tamis test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "server.pem"
    pem = serialization.Encoding.PEM
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(pem)
    )
    return file


@asynccontextmanager
async def _tunnel(port, certificate=None, tls_port=None):
    """Terminate TLS in front of a server, as a managed Redis does; ends with the last of those that came.

    Without a certificate it passes on what it gets: TLS to another port, where one is named. Yields its own port.
    """
    passing_on = set()
    context = certificate and ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    if certificate:
        context.load_cert_chain(certificate)

    async def pump(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader, writer):
        passing_on.add(asyncio.current_task())
        first = await reader.read(65536)
        to = tls_port if tls_port and first.startswith(b"\x16") else port
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", to)
        upstream_writer.write(first)
        await asyncio.gather(pump(reader, upstream_writer), pump(upstream_reader, writer))
        await asyncio.gather(*(each.wait_closed() for each in (upstream_writer, writer)), return_exceptions=True)

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]
        await asyncio.gather(*passing_on)


@pytest.mark.parametrize(
    ("options", "address", "said"),
    [
        (["--requirepass", "secret"], "redis://{}", "wants a password"),
        (["--requirepass", "secret"], "redis://:wrong@{}", "refused the password"),
        (["--user", "a", "on", ">secret", "~*", "+@read"], "redis://a:secret@{}", "refused a command"),
        (["--user", "a", "on", ">secret", "~else:*", "+@all"], "redis://a:secret@{}", "refused a command"),
        (["--user", "a", "on", ">secret", "~tamis:*", "+@all", "-@dangerous"], "redis://a:secret@{}", None),
        (["--rename-command", "SMISMEMBER", ""], "redis://{}", "lacks a command: use Valkey"),
        (["--rename-command", "HELLO", "", "--requirepass", "secret"], "redis://:secret@{}", "lacks a command"),
        (["--rename-command", "HELLO", "", "--requirepass", "secret"], "redis://:secret@{}?protocol=2", "lacks a comm"),
        (["--cluster-enabled", "yes"], "redis://{}", "redis+cluster://"),
        ([], "redis+cluster://{}", "is not a cluster"),
        (
            ["--cluster-enabled", "yes", "--user", "a", "on", ">secret", "~*", "+@all", "-cluster"],
            "redis+cluster://a:secret@{}",
            "give its user +cluster",
        ),
        ([], "redis://{}/99", "no such database"),
        ([], "redis://{}", None),
    ],
)
def test_what_will_never_work_is_said_at_the_start_with_what_to_do(tcp_server, options, address, said):
    server = f"127.0.0.1:{tcp_server(*options).port}"
    problem = problem_at_start(address.format(server), "tamis", timeout=60)
    assert problem is None if said is None else said in problem
    assert "secret" not in (problem or "")


def test_a_server_without_tls_is_told_from_one_that_does_not_answer(tcp_server, monkeypatch):
    attempt = connection_module._try_commands

    def soon_given_up(url, prefix, timeout):
        # It waits for the rest of what it takes for a command, for as long as it may.
        attempt(url, prefix, 0.2 if url.startswith("rediss") else timeout)

    monkeypatch.setattr(connection_module, "_try_commands", soon_given_up)
    problem = problem_at_start(f"rediss://127.0.0.1:{tcp_server().port}?ssl_cert_reqs=none&db=0", "tamis", timeout=60)
    assert "does not speak TLS" in problem


async def test_a_server_that_speaks_something_else_is_said_at_the_start():
    async def answer(reader, writer):
        await reader.read(65536)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        problem = await asyncio.to_thread(problem_at_start, url, "tamis", 60)
    assert "is not what answers there: check host and port" in problem


async def test_tls_works_with_user_and_password_and_where_it_does_not_fit_it_is_said_at_the_start(
    tcp_server, certificate, crawl
):
    server = tcp_server("--user", "counter", "on", ">secret", "~*", "+@all")
    async with _tunnel(server.port, certificate) as port:
        user = f"counter:secret@127.0.0.1:{port}"
        trusting = crawl(f"rediss://{user}?ssl_ca_certs={certificate}")
        assert await trusting.connection.ping()
        await trusting.connection.close()
        urls = f"redis://{user}", f"rediss://{user}"
        plain, doubting = [await asyncio.to_thread(problem_at_start, url, "tamis", 60) for url in urls]
    assert "use rediss://" in plain
    assert "ssl_ca_certs" in doubting
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as proxy:
        port = proxy.sockets[0].getsockname()[1]
        urls = f"redis://127.0.0.1:{port}", f"rediss://127.0.0.1:{port}"
        down = [await asyncio.to_thread(problem_at_start, url, "tamis", 60) for url in urls]
    assert down == [None, None], "its server may be back when the crawl needs it"


async def test_sentinels_and_their_master_are_reached_by_tls(tcp_server, certificate, tmp_path):
    master = tcp_server()
    replica = tcp_server("--replicaof", "127.0.0.1", str(master.port))
    async with AsyncExitStack() as stack:
        tls = await stack.enter_async_context(_tunnel(master.port, certificate))
        either = await stack.enter_async_context(_tunnel(master.port, tls_port=tls))  # the Sentinels do without TLS
        stack.callback(replica.kill)  # Sentinels may have told it to reach its master by this tunnel, too
        sentinels = running_sentinels(either, tmp_path)
        hosts, _ = await asyncio.to_thread(sentinels.__enter__)
        stack.push(sentinels)
        ports = [int(host.rpartition(":")[2]) for host in hosts.split(",")]
        tunnels = [await stack.enter_async_context(_tunnel(port, certificate)) for port in ports]
        url = f"rediss+sentinel://{','.join(f'127.0.0.1:{port}' for port in tunnels)}/mymaster"
        trusting = f"{url}?ssl_ca_certs={certificate}"
        problems = [await asyncio.to_thread(problem_at_start, each, "tamis", 60) for each in (trusting, url)]
        connection = Connection(trusting, timeout=60)
        assert await connection.ping()
        await connection.close()
    assert problems[0] is None
    assert "ssl_ca_certs" in problems[1]


def test_a_server_that_does_not_answer_stops_no_crawl(port):
    assert problem_at_start(f"redis://127.0.0.1:{port}", "tamis", timeout=60) is None


@pytest.mark.parametrize(
    ("limit", "policy", "advice"),
    [("0", "noeviction", "no limit"), ("50mb", "noeviction", "no more counts"), ("50mb", "volatile-lru", None)],
)
async def test_a_server_is_asked_for_its_limit_on_memory(tcp_server, limit, policy, advice):
    connection = Connection(tcp_server("--maxmemory", limit, "--maxmemory-policy", policy).url, timeout=60)
    said = await connection.call(memory_advice)
    assert advice in said if advice else said is None
    await connection.close()
