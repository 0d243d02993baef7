"""Options of the commands that run as services: signs of life, figures and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_winnow.commands.common import CommandError, reason

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy_winnow.services.service import Figure, Service


def add_service_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that :func:`service_of` reads."""
    parser.add_argument(
        "--health-file", metavar="FILE", help="write the time and what it is doing there every second while it is alive"
    )
    parser.add_argument("--metrics", metavar="HOST:PORT", help="serve its figures to Prometheus there")
    parser.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="how it logs (default: %(default)s)"
    )


def service_of(
    options: argparse.Namespace, name: str, figures: Sequence[Figure], *, text: str, by_interrupt: bool = False
) -> Service:
    """Begin to log, and return the service that the options describe.

    Args:
        options: of the command line.
        name: what the names of its figures begin with.
        figures: all that it has.
        text: format of a line of the log as text.
        by_interrupt: whether Ctrl-C lets it finish what it holds.

    Raises:
        CommandError: an option cannot be followed.
    """
    from scrapy_winnow.services.logs import log_to_stderr  # noqa: PLC0415  (help and usage errors need not wait for it)
    from scrapy_winnow.services.prometheus import address_in  # noqa: PLC0415
    from scrapy_winnow.services.service import Service  # noqa: PLC0415

    log_to_stderr(options.log_format, text)
    try:
        metrics = None if options.metrics is None else address_in(options.metrics)
        return Service(name, figures, health_file=options.health_file, metrics=metrics, by_interrupt=by_interrupt)
    except ValueError as error:
        raise CommandError(f"--metrics {error}") from error
    except ImportError as error:
        raise CommandError("--metrics needs more than the core: pip install 'scrapy-winnow[metrics]'") from error
    except OSError as error:
        raise CommandError(f"{options.health_file or options.metrics}: {reason(error)}") from error
