"""``winnow dedup``: decides which documents of the crawls' stream are near-duplicates."""

from __future__ import annotations

import argparse
import os
import socket
from contextlib import ExitStack
from pathlib import Path

from scrapy_winnow.commands.common import FAILED, CommandError, reason
from scrapy_winnow.commands.server import LEAST_LEASE, add_server_options, connected
from scrapy_winnow.commands.services import add_service_options, service_of

_EPILOG = """\
Crawls with WINNOW_DUPLICATES_STREAM=True put what they have cleaned into a stream in Redis. This command takes the
documents off it in their order, decides which of them repeat an earlier one, and writes a verdict on each: to a stream
beside it, and with --out to a file, too. The index is that of the crawls' own look-ups. Start it as often as you like:
all that are started are one group, each document is decided once whichever of them is killed, and the verdicts do not
depend on how many there are. --out belongs to one of them; the file gets the verdicts of all.

exit codes: 0 all went well, 1 verdicts or documents were lost to the bounds, 2 the command line is wrong or Redis away

examples:
  winnow dedup --redis-url redis://localhost:6379/0 --out verdicts.jsonl
  winnow dedup --redis-url redis://localhost:6379/0 --out verdicts.jsonl --until-empty
  winnow dedup --until-empty             in a project, after a crawl: its settings say where the stream is
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "dedup",
        help="find near-duplicates among what crawls have cleaned",
        description="Decide which documents of the crawls' stream are near-duplicates.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_server_options(parser)
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the verdicts there, too, one JSON object a line"
    )
    parser.add_argument("--to-stream", metavar="KEY", help="stream that verdicts go to (default: one of the index's)")
    parser.add_argument("--until-empty", action="store_true", help="end when no document is left")
    parser.add_argument(
        "--group", default="dedup", help="workers of one group share the documents (default: %(default)s)"
    )
    parser.add_argument("--name", help="name of this worker in the group (default: made of host and process)")
    parser.add_argument(
        "--resemblance", type=float, metavar="X", help="least resemblance, as WINNOW_DUPLICATES_RESEMBLANCE"
    )
    for name, kind, default, metavar, meaning in (
        ("--ttl", int, 2_592_000, "S", "seconds that a document is remembered, as WINNOW_DUPLICATES_TTL"),
        ("--cap", int, 1_000_000, "N", "most documents remembered, as WINNOW_DUPLICATES_CAP"),
        ("--kept", int, 100_000, "N", "about how many verdicts their stream holds"),
        ("--batch", int, 100, "N", "documents decided at a time, while Redis waits"),
        ("--claim-after", float, 60.0, "S", "seconds until a document is taken over that another has left undecided"),
        ("--lease", float, 10.0, "S", "seconds until a dead worker is replaced, on a cluster, where one decides"),
    ):
        parser.add_argument(name, type=kind, default=default, metavar=metavar, help=f"{meaning} (default: %(default)s)")
    add_service_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Decide documents until none is left, or until a signal comes."""
    if min(options.ttl, options.cap, options.kept, options.batch) < 1 or not options.claim_after >= 0:
        raise CommandError("--ttl, --cap, --kept, --batch: at least 1; --claim-after: at least 0")
    if not options.lease >= LEAST_LEASE:
        raise CommandError(f"--lease: at least {LEAST_LEASE:g}")
    if options.resemblance is not None and not 0 < options.resemblance <= 1:
        raise CommandError("--resemblance: above 0 and at most 1")
    from scrapy_winnow.duplicates.index import IndexOptions  # noqa: PLC0415
    from scrapy_winnow.duplicates.parted_worker import worker_on  # noqa: PLC0415
    from scrapy_winnow.duplicates.session import FIGURES, Session  # noqa: PLC0415  (help and usage errors need not wait for Redis)
    from scrapy_winnow.duplicates.verdict_file import VerdictFile, VerdictFileError  # noqa: PLC0415

    with ExitStack() as opened:
        service = service_of(options, "winnow_dedup", FIGURES, text="winnow: %(message)s", by_interrupt=True)
        opened.enter_context(service)
        client = opened.enter_context(connected(options))
        file = None
        if options.out is not None:
            try:
                file = opened.enter_context(VerdictFile(options.out))
            except (OSError, VerdictFileError) as error:
                raise CommandError(f"--out {options.out}: {reason(error)}") from error
        worker = worker_on(
            client,
            IndexOptions(options.prefix, ttl=options.ttl, cap=options.cap, least=options.resemblance),
            group=options.group,
            name=options.name or f"{socket.gethostname()}-{os.getpid()}",
            verdicts=options.to_stream,
            kept=options.kept,
            batch=options.batch,
            claim_after=options.claim_after,
            lease=options.lease,
        )
        session = Session(client, worker, file, service)
        return 0 if session.work(until_empty=options.until_empty) else FAILED
