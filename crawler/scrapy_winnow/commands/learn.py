"""``winnow learn``: refits the model from the examples of running crawls, and hands it over to them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_winnow.commands.common import FAILED, CommandError, Progress, load_model_option, reason
from scrapy_winnow.commands.server import LEAST_LEASE, add_server_options, connect
from scrapy_winnow.commands.services import add_service_options, service_of

if TYPE_CHECKING:
    from redis import Redis

    from scrapy_winnow.learning.published import Published
    from scrapy_winnow.storage.keys import LearningKeys

_EPILOG = """\
Crawls with WINNOW_LEARN=True put examples into Redis: features and labels of pages whose hosts are well known. A
learner refits the model in use to them, compares the two on a fifth of the hosts that never teaches, and publishes the
new one if it is better. Crawls take it over within WINNOW_MODEL_REFRESH seconds. Of several learners on one Redis one
is in charge; when it dies another takes over.

exit codes: 0 all went well, 1 nothing could be learned now (with --once), 2 the command line is wrong or Redis is away

examples:
  winnow learn --redis-url redis://localhost:6379/0
  winnow learn --redis-url redis://localhost:6379/0 --once
  winnow learn --redis-url redis://localhost:6379/0 --status
  winnow learn --redis-url redis://localhost:6379/0 --rollback
  winnow learn --once                    in a project, after a crawl: its settings say where the examples are
"""

OWN: Final = "own"
"""What ``--rollback`` says for the model that the crawls begin with."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "learn",
        help="let running crawls teach the model",
        description="Refit the model from the examples of running crawls, and hand it over to them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_server_options(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--once", action="store_true", help="refit once and end")
    what.add_argument("--status", action="store_true", help="show the models, the examples and the learner in charge")
    what.add_argument(
        "--rollback",
        nargs="?",
        const="",
        metavar="VERSION",
        help="use the model before the one in use, or VERSION, or the package's own (own), and publish no other",
    )
    what.add_argument(
        "--export",
        type=Path,
        metavar="FILE",
        help="write the learned model in use, .npz, and its card beside it",
    )
    what.add_argument("--resume", action="store_true", help="publish again after a rollback")
    for name, kind, default, metavar, meaning in (
        ("--interval", float, 600.0, "S", "seconds between looks"),
        ("--lease", float, 30.0, "S", "seconds until a dead learner is replaced"),
        ("--min-hosts", int, 20, "N", "hosts with examples that a refit needs"),
        ("--margin", float, 0.002, "X", "least gain in the area under the ROC curve on the hosts held out"),
        ("--seed", int, 0, "N", "random seed"),
    ):
        parser.add_argument(name, type=kind, default=default, metavar=metavar, help=f"{meaning} (default: %(default)s)")
    parser.add_argument(
        "--model", metavar="MODEL", help="the model that the crawls begin with (default: the package's own)"
    )
    add_service_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Do what the options ask for."""
    if not options.interval > 0 or not options.lease >= LEAST_LEASE or options.min_hosts < 2 or not options.margin >= 0:
        raise CommandError("--interval: above 0; --lease: at least 1; --min-hosts: at least 2; --margin: at least 0")
    with connect(options) as client:
        return _run(options, client)


def _run(options: argparse.Namespace, client: Redis) -> int:
    from scrapy_winnow.learning.examples import FEATURE_VERSION  # noqa: PLC0415
    from scrapy_winnow.learning.published import Published  # noqa: PLC0415
    from scrapy_winnow.storage.keys import LearningKeys  # noqa: PLC0415

    keys = LearningKeys.of(options.prefix, FEATURE_VERSION)
    published = Published(client, keys)
    if options.status:
        print("\n".join(status_lines(client, keys, published)))
        return 0
    if options.export is not None:
        return _export(options.export, published)
    if options.resume:
        published.resume()
        print("Learners publish again.")
        return 0
    if options.rollback is not None:
        return _roll_back(options.rollback, published)
    return _learn(options, client, keys)


def _learn(options: argparse.Namespace, client: Redis, keys: LearningKeys) -> int:
    from scrapy_winnow.learning.learner import FIGURES, Learner, LeaseLost, Terms, keep_learning  # noqa: PLC0415  (slow to import)
    from scrapy_winnow.storage.lease import Lease  # noqa: PLC0415
    from winnow.models.networks import BlockPerceptron  # noqa: PLC0415

    own = load_model_option(options)
    if not isinstance(own, BlockPerceptron):
        raise CommandError(f"--model: {own.name!r} cannot be refitted, only models of the kind 'blocks'")
    lease = Lease(client, keys, options.lease)
    terms = Terms(min_hosts=options.min_hosts, margin=options.margin, seed=options.seed)
    shown = Progress()
    service = service_of(options, "winnow_learn", FIGURES, text="%(asctime)s %(message)s")

    def progress(done: int, total: int, name: str = "") -> None:
        service.beat("refitting")
        if options.log_format == "text":
            shown(done, total, name)

    learner = Learner(client, keys, lease, own, terms, progress)
    try:
        with service:
            if not options.once:
                keep_learning(learner, lease, interval=options.interval, patience=options.lease / 2, service=service)
                return 0
            if not lease.take():
                raise CommandError("another learner is in charge", FAILED)
            return 0 if learner.learn() in {"published", "not better"} else FAILED
    except LeaseLost:
        raise CommandError("the lease was lost to another learner; nothing was published", FAILED) from None
    finally:
        lease.leave()


def _roll_back(wanted: str, published: Published) -> int:
    from scrapy_winnow.learning.handover import PACKAGE  # noqa: PLC0415

    kept = {card.version: card for card in published.history()}
    version = PACKAGE if wanted == OWN else wanted
    if not wanted:
        in_use = published.in_use().version
        if in_use == PACKAGE:
            raise CommandError("no learned model is in use", FAILED)
        before = kept[in_use].parent if in_use in kept else PACKAGE
        version = before if before in kept else PACKAGE
    if not published.roll_back(version):
        raise CommandError(f"no such version: {version}; there are {', '.join([OWN, *kept])}")
    print(f"In use now: {version or 'the model that the crawls begin with'}. No other is published until --resume.")
    return 0


def _export(file: Path, published: Published) -> int:
    from scrapy_winnow.learning.handover import PACKAGE  # noqa: PLC0415
    from winnow.models.files import ModelError  # noqa: PLC0415

    if file.suffix != ".npz":
        raise CommandError(f"--export: the model's file must end in .npz: {file}")
    version = published.in_use().version
    if version == PACKAGE:
        raise CommandError("no learned model is in use", FAILED)
    card = next((card for card in published.history() if card.version == version), None)
    try:
        published.model(version).save(file)
        if card is not None:
            file.with_suffix(".md").write_text(card.text, encoding="utf-8")
    except (OSError, ModelError) as error:
        raise CommandError(f"--export: {reason(error)}", FAILED) from error
    print(f"winnow: wrote {file}", file=sys.stderr)
    return 0


def status_lines(client: Redis, keys: LearningKeys, published: Published) -> list[str]:
    """What there is, as lines of text: the learner in charge, the examples, the models."""
    examples, bytes_ = client.zcard(keys.hosts), int(client.hget(keys.state, "bytes") or 0)
    left = client.pttl(keys.lease)
    in_use = published.in_use()
    lines = [
        f"learner   {f'in charge; its lease runs for another {left / 1000:.0f} s' if left > 0 else 'none in charge'}",
        f"examples  {examples:,} hosts, {bytes_ / 1e6:.1f} MB",
        f"in use    {in_use.version or 'the model that the crawls begin with'}{', held' if in_use.held else ''}",
    ]
    cards = published.history()
    if cards:
        lines += ["", f"{'':2}{'version':<18}{'parent':<18}{'made':<27}{'hosts':>6}{'pages':>7}{'AUC':>8}{'was':>8}"]
    for card in reversed(cards):
        mark = "* " if card.version == in_use.version else "  "
        lines.append(
            f"{mark}{card.version:<18}{card.parent:<18}{card.made:<27}{card.hosts:>6,}{card.pages:>7,}"
            f"{card.auc:>8.4f}{card.parent_auc:>8.4f}"
        )
    return lines
