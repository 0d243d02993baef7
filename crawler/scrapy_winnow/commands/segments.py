"""``winnow segments``: the sections of a page with their scores."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from scrapy_winnow.commands.shared.failures import FAILED
from scrapy_winnow.commands.shared.inputs import InputError, add_page_options, check_url, clean_input, load

if TYPE_CHECKING:
    from winnow import Segment

_TEXT_WIDTH: Final = 50  # characters
_PATH_WIDTH: Final = 60
_EPILOG = """\
The score is the smoothed templateness, from 0 (content) to 1 (template). Sections are told what they are:
  content    kept
  landmark   cut; it lies in a nav, header, footer or aside element
  links      cut; most of its text is links
  copy       cut; the page has the same text before it
  comment    cut; it is what is left of a conditional comment
  model      cut; its score alone says so

examples:
  winnow segments page.html
  winnow segments --json page.html | jq 'select(.template)'     the sections that are cut
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "segments",
        help="show the sections of pages with their scores",
        description="Show the sections that a page falls into, in document order, with their scores.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_page_options(parser)
    parser.add_argument("--json", action="store_true", help="write one JSON object a section, with its whole text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the sections of every file; files that fail are named on standard error."""
    check_url(options)
    model = load(options)
    code = 0
    for name in options.files:
        try:
            found = clean_input(name, options, model).segments
        except InputError as error:
            print(f"winnow: {name}: {error}", file=sys.stderr)
            code = FAILED
            continue
        if options.json:
            for segment in found:
                print(json.dumps({"file": name, **asdict(segment)}, ensure_ascii=False))
        else:
            if len(options.files) > 1:
                print(f"==> {name} <==")
            _print_table(found)
    return code


def _print_table(found: list[Segment]) -> None:
    print(f"{'score':>5}  {'what':<8} {'chars':>7}  {'section':<{_PATH_WIDTH}}  text")
    for segment in found:
        path = segment.path if len(segment.path) <= _PATH_WIDTH else f"…{segment.path[1 - _PATH_WIDTH :]}"
        text = " ".join(segment.text[: 2 * _TEXT_WIDTH].split())
        shown = text if len(text) <= _TEXT_WIDTH else f"{text[: _TEXT_WIDTH - 1]}…"
        what = "comments" if segment.comment else segment.reason or "content"
        print(f"{segment.score:5.2f}  {what:<8} {segment.characters:7,}  {path:<{_PATH_WIDTH}}  {shown}".rstrip())
