"""``scrapy winnow``: the commands of ``winnow`` as a command of Scrapy, found by its entry point."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from scrapy_winnow.commands import add_commands, run

if TYPE_CHECKING:
    import argparse


class WinnowCommand(ScrapyCommand):
    """Takes the command lines of ``winnow``, in a project and outside."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, object]] = {"LOG_ENABLED": False}

    def short_desc(self) -> str:
        """The line in Scrapy's list of commands."""
        return "Clean pages, look at their sections, train and measure models, look after what crawls have counted"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the commands of ``winnow``, without the options that commands of Scrapy have."""
        parser.prog, parser.usage = "scrapy winnow", None
        add_commands(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse what no command knows."""
        if args:
            raise UsageError(f"unrecognized arguments: {' '.join(args)}")
        opts.profile = None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002
        """Run the command and leave its exit code."""
        self.exitcode = run(opts)
