"""``tamis train``: sites in, the weights of a model out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_tamis.commands.common import FAILED, CommandError, CommandParser, Progress, report_errors, warn
from tamis.files import refuse_inputs
from tamis.models import DEFAULT_MODEL

if TYPE_CHECKING:
    import argparse

    from tamis_papers.training.report import Trained

_FEW_SITES: Final = 20
_POOR_RECALL: Final = 0.2
HELP = """\
train a page-level model from the pages of many sites
SITES_DIR has one folder a site with its HTML files anywhere below. What repeats on the pages of a site is taken for
template, what does not for content: nobody has to label anything. Where there is gold text, the kind "blocks" learns
from it, too: --gold names a file as for "tamis evaluate", and the HTML of its page ID is html/ID.html beside it, or
the file ID of SITES_DIR. It then learns by folds what kind a page is and how good its text will be, which takes six
trainings. The model card, with the data, the command and the metrics, is written beside the model (MODEL.md). The same
pages and seed give the same weights.

kinds of models:
  blocks    scores text blocks in their context
  logistic  scores elements, with a logistic regression for each of four sizes

examples:
  tamis train sites/ -o my-model.npz
  tamis train sites/ --labels site-independent-blocks -o my-model.npz
  tamis train sites/ --gold gold/pages.jsonl --gold more/pages.jsonl -o my-model.npz
  tamis clean --model my-model.npz page.html
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("sites SITES_DIR", "folder with one folder a site", type=Path)
    add("-o --output MODEL", "file to write, .npz", type=Path, required=True)
    add("--model KIND", "blocks or logistic (default: %(default)s)", default=DEFAULT_MODEL)
    add("--gold FILE", "gold pages, .jsonl or .jsonl.xz, for --model blocks", many=True)
    add("--marks", "learn from pages whose authors mark the article, too, for --model blocks without --gold")
    add(
        "--labels METHOD",
        "site-level method that labels them, see tamis site --list (default: %(default)s)",
        default="site-level",
    )
    add("--sources FILE", "Markdown with the sources of the pages, for the model card", many=True)
    add("--seed SEED", "random seed (default: 0)", default=0)
    add("--processes N", "processes that read pages (default: one a core)", type=int, default=os.cpu_count() or 1)


def run(options: argparse.Namespace) -> int:
    """Train, write model and card, and print the metrics."""
    if options.processes < 1:
        raise CommandError("--processes: at least 1")
    names = ("output", "model", "gold", "marks", "labels", "seed", "processes")
    settings = {name: getattr(options, name) for name in names}
    from tamis_papers.training.report import describe_metrics
    from tamis_papers.training.train import train

    with report_errors():
        for written in (options.output, options.output.with_suffix(".md")):
            refuse_inputs(written, [*options.sources, *options.gold])
        sources = "\n".join(file.read_text(encoding="utf-8").strip() for file in options.sources)
        trained = train(options.sites, sources=sources, progress=Progress(), **settings)
    gold = f"{trained.gold_pages:,} gold pages, " if trained.gold_pages else ""
    gold += f"{trained.marked_pages:,} marked pages, " if trained.marked_pages else ""
    print(f"{trained.sites:,} sites, {trained.pages:,} pages, {gold}{trained.examples:,} units")
    for labels, metrics in trained.metrics.items():
        print(f"on sources held out, by {labels}:")
        for name, value in describe_metrics(metrics):
            print(f"  {name}: {value}")
    warn(f"wrote {options.output} and {options.output.with_suffix('.md')}")
    return _warn_if_poor(trained)


def _warn_if_poor(trained: Trained) -> int:
    """Warn of a model that should not be used as it is; the exit code says so, too."""
    if 0 < trained.sites < _FEW_SITES:
        warn(
            f"{trained.sites} sites are few: what repeats on them is theirs, and what is learned of it may not hold "
            f"elsewhere; {_FEW_SITES} and more are better"
        )
    poor = [labels for labels, metrics in trained.metrics.items() if metrics.recall_at_precision_90 < _POOR_RECALL]
    if not poor:
        return 0
    warn(
        f"the model is poor: by {', '.join(poor)} it finds less than {_POOR_RECALL:.0%} of the template where nine of "
        "ten cuts are right, on sites held out; train on more sites, and measure it before you use it"
    )
    return FAILED
