"""``tamis evaluate``: text accuracy of a model against gold pages."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_tamis.commands.common import (
    FAILED,
    CommandError,
    CommandParser,
    add_model_options,
    load_model_option,
    model_switches,
    report_errors,
    warn,
    with_progress,
)
from scrapy_tamis.messages import counted
from tamis import clean
from tamis_papers.evaluation import GoldPage, by_page_type, page_accuracy, read_gold, table

if TYPE_CHECKING:
    import argparse

HELP = """\
clean the pages of a gold file and compare the text with theirs, by type of page
GOLD has one JSON object a line: "id" (or "page"), "gold_text" and, where there are any, "page_type", "fold", "url",
"include" and "exclude" (snippets that must, and must not, be in the text). The page is DIR/<id> or DIR/<id>.html; a
page that is missing counts as empty text.

The metrics are means over pages of word-level F1, precision and recall (lower-cased words as multisets), and the
fractions of "include" and "exclude" snippets that are in the text.

examples:
  tamis evaluate gold.jsonl.xz --pages html/
  tamis evaluate gold.jsonl --pages html/ --model my-model.npz --fold 0
  tamis evaluate chinese.jsonl --pages sites/ --unit char
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("gold GOLD", "gold pages: .jsonl or .jsonl.xz", type=Path)
    add("--pages DIR", "folder with the HTML files", required=True)
    add_model_options(parser)
    add("--fold K", "use the pages of this fold only", type=int)
    add("--unit", "char for languages without spaces (default: word)", choices=("word", "char"), default="word")
    add("--json", "print one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    """Clean and compare every gold page."""
    if not options.pages.is_dir():
        raise CommandError(f"--pages: no such folder: {options.pages}")
    with report_errors(f"{options.gold}: "):
        gold_pages = [page for page in read_gold(options.gold) if options.fold in {None, page.fold}]
    if not gold_pages:
        raise CommandError(f"{options.gold}: no page of fold {options.fold}")
    load_model_option(options)

    missing = 0
    results = []
    for gold in with_progress(gold_pages, "pages"):
        text = _text(gold, options)
        missing += text is None
        results.append((gold, page_accuracy(text or "", gold, options.unit)))
    metrics = by_page_type(results)
    if options.json:
        print(json.dumps({"missing": missing, **{kind: asdict(row) for kind, row in metrics.items()}}))
    else:
        print(table(metrics))
    if missing:
        warn(f"{counted(missing, 'page')} not found in {options.pages}")
    return FAILED if missing else 0


def _text(gold: GoldPage, options: argparse.Namespace) -> str | None:
    """Clean text of a gold page, ``None`` when there is no file for it."""
    for file in (options.pages / gold.page_id, options.pages / f"{gold.page_id}.html"):
        if file.is_file():
            return clean(file.read_bytes(), gold.url, **model_switches(options)).text
    return None
