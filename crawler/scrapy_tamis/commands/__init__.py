"""The ``tamis`` command: cleaning pages, looking at their sections, training and evaluating models.

Help and wrong usage should not wait: what only one command needs and is slow to import, such as Redis, Scrapy or the
inspector, it imports when it runs.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_tamis.commands import clean, compare, dedup, evaluate, hosts, inspect, report, train, warc
from scrapy_tamis.commands.common import FAILED, INTERRUPTED, USAGE, CommandError, CommandParser, warn
from scrapy_tamis.extras import missing_package
from scrapy_tamis.fetching import reason
from tamis import __version__, core, load_model

if TYPE_CHECKING:
    from collections.abc import Sequence

_DESCRIPTION = "Separate the content of web pages from their template."
_EPILOG = """\
exit codes: 0 all went well, 1 some input failed, 2 the command line is wrong

examples:
  tamis clean page.html                    the content as text
  curl -s https://host.example/ | tamis clean - --format markdown
  tamis clean page.html --format segments  the sections of a page and their scores
  tamis COMMAND --help                     all options of a command, with examples
  tamis --print-completion bash            completion for the shell
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0, 1 when some input failed, 2 for wrong usage."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as by >&-
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  until the process ends
    parser = make_parser()
    if not (sys.argv[1:] if arguments is None else arguments):
        parser.print_help(sys.stderr)
        return USAGE
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        options = parser.parse_args(arguments)
        code: int = options.run(options)
        sys.stdout.flush()
    except (CommandError, ModuleNotFoundError) as error:
        warn(missing_package(error) if isinstance(error, ModuleNotFoundError) else str(error))
        return USAGE
    except OSError as error:
        # Of standard output: the reader has gone, as with "| head", or a disk is full. What is left to flush at exit
        # goes nowhere, quietly.
        if not isinstance(error, BrokenPipeError):
            warn(f"{error.filename or 'standard output'}: {reason(error)}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except BrokenProcessPool:
        warn("a process died (out of memory?)")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def make_parser() -> CommandParser:
    """Return the parser of all commands."""
    style: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = CommandParser("tamis", description=_DESCRIPTION, epilog=_EPILOG, **style)
    parser.add_argument("--version", nargs=0, action=_Version, help="print the versions of Tamis, model and lxml")
    completes = "print what completes commands and options in this shell, and exit"
    try:
        import shtab

        shtab.add_argument_to(parser, help=completes)
    except ImportError:
        parser.add_argument("--print-completion", metavar="SHELL", action=_NoCompletion, help=completes)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (clean, inspect, compare, warc, train, evaluate, dedup, hosts, report):
        summary, _, epilog = command.HELP.partition("\n")
        command_parser = commands.add_parser(
            command.__name__.rpartition(".")[2],
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=epilog,
            **style,
        )
        command.add_options(command_parser)
        command_parser.set_defaults(run=command.run)
    return parser


class _NoCompletion(argparse.Action):
    """Says what completion needs."""

    def __call__(self, *_: Any) -> None:
        """Load what is not there."""
        raise ModuleNotFoundError(name="shtab")


class _Version(argparse.Action):
    """Prints the versions that decide what comes out."""

    def __call__(self, *_: Any) -> None:
        """Load the model, print and end."""
        print(f"tamis {__version__}, core {core.VERSION}, model {load_model().version}, lxml {version('lxml')}")
        raise SystemExit(0)
