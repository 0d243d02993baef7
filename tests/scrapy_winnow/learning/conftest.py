"""Examples of small sites, models without knowledge, and the keys and clients of one test."""

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from redis import Redis
from threadpoolctl import threadpool_limits

from scrapy_winnow.learning.examples import FEATURE_VERSION, Example
from scrapy_winnow.learning.priorities import host_priority, page_priority
from scrapy_winnow.learning.teaching import block_labels
from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
from scrapy_winnow.storage.keys import LearningKeys
from scrapy_winnow.storage.scripts import Script
from winnow.features.blocks import FEATURE_NAMES, features_of
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.networks import BlockPerceptron, Network
from winnow.page.page import Page

WORDS = ["wind", "river", "stone", "glass", "paper", "cloud", "salt", "iron", "lemon", "harbour", "winter"]
PAGES = 4
SALT = bytes(16)


def html_of(host: int, number: int) -> str:
    """A page with a menu and a footer that all pages of its host have, and a text of its own."""
    chance = random.Random(f"{host}/{number}")
    menu = "".join(f"<li><a href=/{section}>Section {section} of {host}</a></li>" for section in range(5))
    text = "".join(f"<p>{' '.join(chance.choices(WORDS, k=chance.randint(20, 50)))}.</p>" for _ in range(4))
    return (
        f"<html><head><title>Story {number}</title></head><body><div class=menu><ul>{menu}</ul></div>"
        f"<div class=story><h1>Story {number} {host}</h1>{text}</div><div class=foot>All rights of {host} reserved"
        "</div></body></html>"
    )


def example_bytes(host: int, number: int) -> bytes:
    """The example of a page whose site is counted as 40 pages that share the menu and the footer."""
    hashed = HashedPage.of(Page.parse(html_of(host, number)))
    shared = set(HashedPage.of(Page.parse(html_of(host, number + 1))).fingerprints.tolist())
    df = np.array([40 if fingerprint in shared else 1 for fingerprint in hashed.fingerprints.tolist()])
    evidence = SiteEvidence(df, pages=40, undercount=0, counted=True)
    return Example.of(features_of(hashed.page), block_labels(hashed, evidence)).to_bytes()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Several threads gain nothing on so few examples and wait for each other on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def examples() -> dict[str, list[bytes]]:
    """Examples of ten hosts, by host."""
    return {f"host{host}.test": [example_bytes(host, number) for number in range(PAGES)] for host in range(10)}


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def keys(prefix: str) -> LearningKeys:
    return LearningKeys.of(prefix, FEATURE_VERSION)


@pytest.fixture
def fill(client: Redis, keys: LearningKeys, examples: dict[str, list[bytes]]) -> Callable[..., None]:
    """Puts the examples of some hosts, or of all, into the reservoir, with the script that the crawls use."""

    def put(*hosts: str) -> None:
        script = Script("learning/take_example").of(client)
        for host, pages in examples.items():
            if hosts and host not in hosts:
                continue
            for number, example in enumerate(pages):
                page = page_priority(host, bytes([number]), SALT)
                names = (keys.hosts, keys.sizes, keys.state, keys.examples + host)
                bounds = (10, 100, 10_000_000, 60)
                script(names, (host, host_priority(host, SALT), page, example, *bounds, keys.examples))

    return put


def model_of_one_opinion(logit: float, features: int = len(FEATURE_NAMES)) -> BlockPerceptron:
    """A model that gives every block the same logit of being content."""
    tables = TokenTables(*np.zeros((2, TABLE_SIZE), np.float32))
    random = np.random.default_rng(7)  # the last layer is blind, and what the others see can still be learned from
    arrays = [random.normal(size=shape).astype(np.float32) * 0.2 for shape in Network.shapes(features, 8, 4)]
    network = Network(*arrays[:-2], np.zeros((4, 1), np.float32), np.full(1, logit, np.float32))
    return BlockPerceptron.of(tables, np.zeros(features, np.float32), np.ones(features, np.float32), [network])


@pytest.fixture(scope="session")
def opinion() -> Callable[..., BlockPerceptron]:
    """Makes models that give every block the same logit of being content."""
    return model_of_one_opinion


@pytest.fixture(scope="session")
def ignorant() -> BlockPerceptron:
    """A model that knows nothing: every block is content as likely as not."""
    return model_of_one_opinion(0.0)
