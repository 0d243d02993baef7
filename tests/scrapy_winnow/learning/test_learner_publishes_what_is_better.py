"""A refit is published if it is better on hosts that did not teach; a rollback takes it back."""

import logging
import time

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from scrapy_winnow.commands import main
from scrapy_winnow.learning.cards import Card
from scrapy_winnow.learning.collection import Collector, is_held_out
from scrapy_winnow.learning.handover import PACKAGE
from scrapy_winnow.learning.learner import FIGURES, Learner, LeaseLost, Terms, keep_learning
from scrapy_winnow.learning.published import VERSIONS_KEPT, Published
from scrapy_winnow.services.service import Service
from scrapy_winnow.storage.lease import Lease
from tests.scrapy_winnow.waiting import until
from winnow.models import load_model
from winnow.models.networks import BlockPerceptron
from winnow.training.blocks import train_blocks
from winnow.training.networks import Recipe
from winnow.training.refitting import Moving

FAR = Moving(rate=0.01, steps=150)
TINY = Recipe(hidden=(8, 4), networks=1, epochs=2, min_steps=150)


@pytest.fixture
def learner_of(client, keys, ignorant):
    """Makes learners that begin with a model that knows nothing; their leases are given back."""
    leases = []

    def make(lease_seconds: float = 5, **terms: object) -> Learner:
        lease = Lease(client, keys, lease_seconds)
        assert lease.take()
        leases.append(lease)
        chosen = Terms(**{"min_hosts": 3, "margin": 0.002, "seed": 1, "moving": FAR, **terms})
        return Learner(client, keys, lease, ignorant, chosen, lambda *_: None)

    yield make
    for lease in leases:
        lease.leave()


def _winnow(redis_url: str, prefix: str, *arguments: str) -> int:
    return main(["learn", "--redis-url", redis_url, "--prefix", prefix, *arguments])


def test_hosts_are_split_for_good_and_all_examples_are_read(client, keys, fill, examples):
    fill()
    collection = Collector(client, keys).read()
    assert len(collection.fitted) + len(collection.held_out) == sum(map(len, examples.values()))
    fitted, held_out = ({page.source for page in pages} for pages in (collection.fitted, collection.held_out))
    assert fitted | held_out == set(examples)
    assert held_out == {host for host in examples if is_held_out(host.encode())}
    assert len(held_out) >= 2
    assert 100 < sum(is_held_out(b"host%d" % number) for number in range(1000)) < 300


def test_damaged_examples_are_left_out_and_hosts_without_any_taken_off(client, keys, fill, examples, caplog):
    fill()
    (first, second, *_) = examples
    client.delete(keys.examples + first)
    client.hset(keys.examples + second, "damaged", b"no example")
    collector = Collector(client, keys)
    collection = collector.read()
    assert len(collection.fitted) + len(collection.held_out) == sum(map(len, examples.values())) - 4
    assert "1 examples are damaged" in caplog.text
    assert collector.extent().hosts == len(examples) - 1
    assert int(client.hget(keys.state, "bytes")) == sum(map(int, client.hvals(keys.sizes)))
    assert client.zscore(keys.hosts, first) is None


def test_a_better_model_is_published_with_its_facts_and_an_equal_one_is_not(
    client, keys, fill, learner_of, ignorant, redis_url, prefix, capsys, caplog, tmp_path
):
    caplog.set_level(logging.INFO, "scrapy_winnow")
    fill()
    learner = learner_of()
    assert learner.learn() == "published"
    published = Published(client, keys)
    in_use = published.in_use()
    model, (card,) = published.model(in_use.version), published.history()
    assert (card.version, card.parent, in_use.serial) == (model.version, ignorant.version, 1)
    assert card.parent_auc == 0.5
    assert 0.8 < card.auc <= 1
    assert card.hosts + card.held_out_hosts == 10
    assert f"Published {model.version} in place of {ignorant.version}" in caplog.text
    assert f"{card.auc:.4f} (was 0.5000)" in caplog.text

    assert learner.learn() == "nothing new"
    client.hset(keys.current, "tried", 1)
    assert learner_of_same(learner).learn() == "not better"
    assert published.in_use().version == model.version

    assert _winnow(redis_url, prefix, "--status") == 0
    status = capsys.readouterr().out
    assert "learner   in charge" in status
    assert "10 hosts" in status
    assert f"* {model.version}" in status

    file = tmp_path / "learned.npz"
    assert _winnow(redis_url, prefix, "--export", str(file)) == 0
    assert load_model(file).version == model.version
    assert f"{card.auc:.4f}, before 0.5000" in file.with_suffix(".md").read_text()


def learner_of_same(learner: Learner) -> Learner:
    """The learner with a margin that no refit reaches."""
    learner._terms = Terms(min_hosts=3, margin=0.9, seed=1, moving=FAR)
    return learner


def test_a_refit_whose_lease_is_lost_as_it_is_published_has_not_been_tried(client, keys, fill, learner_of):
    fill()
    learner = learner_of(lease_seconds=60)  # its own thread notices only after 20 s
    client.set(keys.lease, b"another's")
    with pytest.raises(LeaseLost):
        learner.learn()
    client.delete(keys.lease)
    assert learner_of().learn() == "published"


def test_too_few_hosts_are_waited_for(client, keys, fill, learner_of):
    assert learner_of(min_hosts=3).learn() == "few hosts"
    fill()
    assert learner_of_more(learner_of, client, keys) == "few hosts"


def test_of_hosts_too_few_to_hold_some_out_each_is_in_turn(client, keys, fill, learner_of, examples, caplog):
    caplog.set_level(logging.INFO, "scrapy_winnow")
    few = [host for host in examples if not is_held_out(host.encode())][:3]
    fill(*few)
    assert learner_of(min_hosts=2).learn() == "published"
    (card,) = Published(client, keys).history()
    assert (card.hosts, card.held_out_hosts, card.pages) == (3, 3, sum(len(examples[host]) for host in few))
    assert card.parent_auc == 0.5
    assert card.gain > card.error
    assert "3 hosts are held out, in turn" in caplog.text


def test_two_hosts_say_too_little_of_each_other(fill, learner_of, examples):
    fill(*[host for host in examples if not is_held_out(host.encode())][:2])
    assert learner_of(min_hosts=2).learn() == "few hosts"


def learner_of_more(learner_of, client, keys) -> str:
    client.delete(keys.lease)
    return learner_of(min_hosts=11).learn()


def _publish(client, keys, other: BlockPerceptron) -> str:
    """Publish a model; return its version."""
    published, lease = Published(client, keys), Lease(client, keys, 5)
    parent = published.in_use().version
    card = Card(other.version, parent or "own", "", 1, 1, 1, 1, *[0.0] * 8)
    assert lease.take()
    assert published.publish(other, card, token=lease.token, compared=parent) == "published"
    lease.leave()
    return other.version


def test_a_rollback_is_one_command_and_holds_until_it_is_resumed(
    client, keys, fill, learner_of, opinion, redis_url, prefix, capsys
):
    first, second = (_publish(client, keys, opinion(logit)) for logit in (1.0, 2.0))
    published = Published(client, keys)
    assert _winnow(redis_url, prefix, "--rollback") == 0
    assert f"In use now: {first}" in capsys.readouterr().out
    assert (published.in_use().version, published.in_use().held) == (first, True)
    fill()
    learner = learner_of()
    assert learner.learn() == "held"
    assert _winnow(redis_url, prefix, "--rollback", "own") == 0
    assert published.in_use().version == PACKAGE
    assert _winnow(redis_url, prefix, "--rollback") == 1
    assert "no learned model is in use" in capsys.readouterr().err
    assert _winnow(redis_url, prefix, "--rollback", "blocks-gone") == 2
    assert second in capsys.readouterr().err
    assert _winnow(redis_url, prefix, "--rollback", second) == 0
    assert _winnow(redis_url, prefix, "--resume") == 0
    assert not published.in_use().held
    assert published.in_use().version == second
    assert published.in_use().serial == 5


def test_only_the_latest_versions_are_kept(client, keys, opinion):
    versions = [_publish(client, keys, opinion(float(logit))) for logit in range(VERSIONS_KEPT + 3)]
    assert [card.version for card in Published(client, keys).history()] == versions[3:]
    assert {version.decode() for version in client.hkeys(keys.models)} == set(versions[3:])
    assert client.hlen(keys.cards) == VERSIONS_KEPT
    client.hset(keys.cards, versions[-1], '{"of": "another layout"}')
    client.hset(keys.cards, versions[-2], "no card")
    assert [card.version for card in Published(client, keys).history()] == versions[3:-2]


def test_what_was_compared_with_another_model_than_the_one_in_use_is_not_published(client, keys, ignorant, opinion):
    first = _publish(client, keys, opinion(1.0))
    published, lease = Published(client, keys), Lease(client, keys, 5)
    assert lease.take()
    card = Card(ignorant.version, "", "", 1, 1, 1, 1, *[0.0] * 8)
    assert published.publish(ignorant, card, token=lease.token, compared="blocks-before") == "changed"
    assert published.publish(ignorant, card, token="1-other", compared=first) == "lost"
    assert published.in_use().version == first
    lease.leave()


def test_a_learner_without_its_lease_stops_between_the_steps(client, keys, fill, learner_of):
    fill()
    learner = learner_of(lease_seconds=0.2)
    client.set(keys.lease, "another's")
    until(lambda: not learner._lease.token)
    with pytest.raises(LeaseLost):
        learner.learn()
    assert Published(client, keys).in_use().serial == 0


def test_a_learner_waits_while_redis_is_away(tcp_server, keys, ignorant, caplog):
    caplog.set_level(logging.INFO, "scrapy_winnow")
    server = tcp_server()
    deadline = time.monotonic() + 120

    class Watched(Service):
        def wait(self, seconds: float) -> None:
            server.stop()
            if "Redis is away" in caplog.text:
                self.end()
            assert time.monotonic() < deadline
            super().wait(seconds)

    with Redis.from_url(server.url, retry=Retry(NoBackoff(), 0)) as client:
        lease = Lease(client, keys, 1)
        learner = Learner(client, keys, lease, ignorant, Terms(3, 0.002, 1, FAR), lambda *_: None)
        keep_learning(learner, lease, interval=0.001, patience=0.001, service=Watched(figures=FIGURES))
        lease.leave()
    said = [record.getMessage() for record in caplog.records]
    assert said[:2] == ["This learner is in charge", "0 hosts have examples; a refit needs 3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--once", "--model", "logistic"], "cannot be refitted"),
        (["--once", "--lease", "0"], "--lease: at least 1"),
        (["--once", "--min-hosts", "1"], "--min-hosts: at least 2"),
        (["--once", "--model", "absent"], "--model: no model named"),
        (["--export", "model.pickle"], "must end in .npz"),
    ],
)
def test_wrong_options_are_explained(arguments, message, redis_url, prefix, capsys):
    assert _winnow(redis_url, prefix, *arguments) == 2
    assert message in capsys.readouterr().err


def test_a_server_that_is_not_there_is_explained(tmp_path, capsys):
    assert main(["learn", "--redis-url", "redis://127.0.0.1:1/0", "--status"]) == 2
    assert "Redis: " in capsys.readouterr().err
    assert main(["learn", "--redis-url", "nonsense", "--status"]) == 2
    assert "not the address of a Redis" in capsys.readouterr().err
    assert main(["learn", "--state-dir", str(tmp_path), "--status"]) == 2
    assert "no private server" in capsys.readouterr().err


def test_examples_alone_make_a_model(client, keys, fill, examples):
    fill()
    collection = Collector(client, keys).read()
    pages = [*collection.fitted, *collection.held_out]
    trained = train_blocks([], examples=pages, seed=1, recipe=TINY)
    assert (trained.sites, trained.pages) == (len(examples), len(pages))
    (figures,) = trained.figures.values()
    assert figures.auc > 0.8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "SITES_DIR or --from-redis"),
        (["--from-redis", "{url}", "--prefix", "empty"], "no examples there"),
        (["--from-redis", "{url}", "--prefix", "{prefix}", "--model", "logistic"], "for the kind 'blocks'"),
        (["--from-redis", "redis://127.0.0.1:1"], "Redis: "),
    ],
)
def test_what_cannot_be_trained_from_is_explained(arguments, message, fill, redis_url, prefix, tmp_path, capsys):
    fill()
    given = [argument.format(url=redis_url, prefix=prefix) for argument in arguments]
    assert main(["train", *given, "-o", str(tmp_path / "m.npz")]) == 2
    assert message in capsys.readouterr().err
