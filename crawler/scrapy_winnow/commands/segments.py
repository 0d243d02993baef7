"""``winnow segments``: the sections of pages and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy_winnow.commands.clean import add_page_options, clean_pages

if TYPE_CHECKING:
    import argparse

    from scrapy_winnow.commands.common import CommandParser
    from winnow import Cleaned

_TEXT_WIDTH: Final = 50  # characters
_PATH_WIDTH: Final = 60
HELP: Final = """\
show the sections of pages with their scores
The score is the smoothed templateness, from 0 (content) to 1 (template). Template is cut, for one of these reasons:
  site       most of its text is on other pages of the site; with --site or --site-file
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
  winnow clean --format json --with segments page.html | jq '.segments[] | select(.template)'     with all their text
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_page_options(parser)
    parser.set_defaults(format="text")


def run(options: argparse.Namespace) -> int:
    """Write the sections of every page."""
    return clean_pages(options, _table_of)


def _table_of(_name: str, cleaned: Cleaned, _options: argparse.Namespace) -> str:
    lines = [f"{'score':>5}  {'what':<8} {'why':<12} {'chars':>7}  {'section':<{_PATH_WIDTH}}  text"]
    for segment in cleaned.segments:
        path = segment.path if len(segment.path) <= _PATH_WIDTH else f"…{segment.path[1 - _PATH_WIDTH :]}"
        text = " ".join(segment.text[: 2 * _TEXT_WIDTH].split())
        text = text if len(text) <= _TEXT_WIDTH else f"{text[: _TEXT_WIDTH - 1]}…"
        what = "comments" if segment.comment else "template" if segment.template else "content"
        why = segment.reason.partition(":")[0]
        line = f"{segment.score:5.2f}  {what:<8} {why:<12} {segment.characters:7,}  {path:<{_PATH_WIDTH}}  {text}"
        lines.append(line.rstrip())
    return "".join(f"{line}\n" for line in lines)
