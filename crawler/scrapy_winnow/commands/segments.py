"""``winnow segments``: the sections of pages and their scores."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from scrapy_winnow.commands.clean import add_page_options, clean_file, find_sources, load_rules
from scrapy_winnow.commands.common import FAILED, CommandParser, load_model_option, warn
from scrapy_winnow.fetching import InputError

if TYPE_CHECKING:
    import argparse

    from winnow import Segment

_TEXT_WIDTH: Final = 50  # characters
_PATH_WIDTH: Final = 60
HELP: Final = """\
show the sections of pages with their scores
The score is the smoothed templateness, from 0 (content) to 1 (template). Template is cut, for one of these reasons:
  author     the page marks another part as its article
  landmark   it lies in a nav, header, footer or aside element
  links      most of its text is links
  copy       the page has the same text before it
  hidden     nobody sees it
  leftover   it is left over from a conditional comment
  rule       a rule of --rules
  model      its score alone
Content that its score alone would have cut has a reason, too: main content (it belongs to it), structure (of a table,
list or code that stays as a whole) or rule.

examples:
  winnow segments page.html
  winnow segments --json page.html | jq 'select(.template)'     the sections that are cut
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_page_options(parser)
    parser.add("--json", "write one JSON object a section, with all its text")


def run(options: argparse.Namespace) -> int:
    """Write the sections of every file; files that fail are named on standard error."""
    load_rules(options.rules)
    load_model_option(options)
    sources, code = find_sources(options)
    for name, _ in sources:
        try:
            cleaned, warnings = clean_file(name, options)
        except InputError as error:
            warn(f"{name}: {error}")
            code = FAILED
            continue
        for warning in warnings:
            warn(f"{name}: {warning}")
        if options.json:
            for segment in cleaned.segments:
                print(json.dumps({"file": name, **asdict(segment)}, ensure_ascii=False))
        else:
            if len(sources) > 1:
                print(f"==> {name} <==")
            _print_segments(cleaned.segments)
    return code


def _print_segments(segments: list[Segment]) -> None:
    print(f"{'score':>5}  {'what':<8} {'why':<12} {'chars':>7}  {'section':<{_PATH_WIDTH}}  text")
    for segment in segments:
        path = segment.path if len(segment.path) <= _PATH_WIDTH else f"…{segment.path[1 - _PATH_WIDTH :]}"
        text = " ".join(segment.text[: 2 * _TEXT_WIDTH].split())
        text = text if len(text) <= _TEXT_WIDTH else f"{text[: _TEXT_WIDTH - 1]}…"
        what = "comments" if segment.comment else "template" if segment.template else "content"
        why = segment.reason.partition(":")[0]
        line = f"{segment.score:5.2f}  {what:<8} {why:<12} {segment.characters:7,}  {path:<{_PATH_WIDTH}}  {text}"
        print(line.rstrip())
