"""What the commands share: errors and exit codes, options, models and Redis as input, progress of long work."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
import zlib
from codecs import BOM_UTF8
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from scrapy_tamis.fetching import reason
from scrapy_tamis.messages import loggable
from scrapy_tamis.storage.keys import site_of
from tamis import Rules, files, load_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from io import BufferedReader

    from redis import Redis

    from tamis.models import Model

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

_TERMINAL_INTERVAL_S: Final = 0.2
_LOG_INTERVAL_S: Final = 30.0
_MIN_FRACTION: Final = 0.02
"""What must be done before the time left is estimated."""
_REDIS_TIMEOUT_S: Final = 30.0  # a command may wait longer than a crawl
_Thing = TypeVar("_Thing")


class CommandError(Exception):
    """Ends a command with a message for the user and the exit code of wrong usage."""


def warn(message: str) -> None:
    """Write a message to standard error, with nothing of a page or server in it that steers a terminal."""
    print(f"tamis: {loggable(message)}", file=sys.stderr)


@contextmanager
def report_errors(what: str = "") -> Iterator[None]:
    """Turn errors of files and values into a :class:`CommandError` that begins with ``what``.

    The name of a file follows, unless ``what`` ends with a colon; an error of a value is to name its file itself.
    """
    try:
        yield
    except BrokenPipeError:  # the reader of a pipe has enough
        raise
    except (OSError, ValueError, RecursionError) as error:  # the last of JSON that is nested without end
        file = getattr(error, "filename", None)
        where = f"{file}: " if file and not what.endswith(": ") else ""
        raise CommandError(f"{what}{where}{reason(error)}") from error


def page_address(value: str) -> str:
    """Return the value of ``--url``, or refuse it: links could not be told by an address without a host."""
    if site_of(value) is None:
        raise argparse.ArgumentTypeError(f"{value} is not an http or https address")
    return value


@contextmanager
def open_input(name: str) -> Iterator[BufferedReader | gzip.GzipFile]:
    """Open a file, decompressed where it ends in ``.gz``, or standard input for ``-``."""
    file: str | int = 0 if name == "-" else name
    try:
        with gzip.open(name) if name.endswith(".gz") else open(file, "rb", closefd=name != "-") as opened:
            yield opened
    except IsADirectoryError as error:
        raise CommandError(f"{name} is a folder: give its files, as in {name.rstrip('/')}/*.jsonl.gz") from error
    except (OSError, EOFError, zlib.error) as error:
        raise CommandError(f"{Path(name).resolve()}: {reason(error)}") from error


def json_rows(opened: BufferedReader | gzip.GzipFile) -> Iterator[Any]:
    """Yield the values of JSON lines, or of one JSON array; ``None`` for half a line, as a killed crawl leaves one."""
    if opened.peek(64).removeprefix(BOM_UTF8).lstrip()[:1] == b"[":
        yield from json.load(opened)
        return
    for line in filter(bytes.strip, opened):
        row = None
        with suppress(ValueError, RecursionError):
            row = json.loads(line)
        yield row


def write_output(file: Path, content: str, inputs: Iterable[str | Path] = ()) -> None:
    """Write the file of ``-o``, unless it is one of those that are read; ``-`` is standard output."""
    if file == Path("-"):
        sys.stdout.write(content)
        return
    with report_errors(f"-o {file}: "):
        files.write_output(file, content, inputs)


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, or of all."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, and refuse others in the name of this command rather than that of all."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            meant = get_close_matches(unknown[0].partition("=")[0], self._option_string_actions, 1, 0.8)
            hint = f"; did you mean {meant[0]}?" if meant else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """End with the message in one line: a usage of ten lines above it hides it."""
        self.exit(USAGE, f"{self.prog}: error: {message}\n{self.prog} --help has all options\n")

    def add(
        self,
        names: str,
        meaning: str,
        *,
        many: bool = False,
        group: argparse._ActionsContainer | None = None,
        **settings: Any,
    ) -> None:
        """Add an option or argument.

        Args:
            names: flags, or the name of an argument, and in capitals what it takes; one that takes nothing is a switch.
            meaning: its help.
            many: whether it may be given more than once; its values are a list.
            group: group of options that it belongs to.
            settings: as of :meth:`argparse.ArgumentParser.add_argument`. The type is that of a number by default, and a
                path for flags that take a ``FILE``, ``DIR`` or ``FOLDER``.
        """
        *flags, last = names.split()
        if last.isupper():
            settings["metavar"] = last
        else:
            flags.append(last)
            if "choices" not in settings:
                settings["action"] = "store_true"
        if many:
            settings = {"action": "append", "default": [], **settings}
            meaning += "; may be given more than once"
        if isinstance(settings.get("default"), int | float):
            settings.setdefault("type", type(settings["default"]))
        elif flags[0].startswith("-") and last in {"FILE", "DIR", "FOLDER"}:
            settings["type"] = Path
        (group or self).add_argument(*flags, help=meaning, **settings)


def add_model_options(parser: CommandParser, *, many: bool = False) -> None:
    """Add the choice of a model, or of several, and of how it cuts."""
    add = parser.add
    add("--model MODEL", "model file, or name of a model of the package (default: the package's own)", many=many)
    what_to_keep = "article: the main content only; page: all that is not template; auto: by the kind of page (default)"
    add("--scope", what_to_keep, choices=("auto", "article", "page"), default="auto")
    which_mistake = "precision cuts more, recall cuts less"
    add("--favor", which_mistake, choices=("balanced", "precision", "recall"), default="balanced")


def model_switches(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of :func:`tamis.clean` that :func:`add_model_options` adds options for."""
    return {"model": options.model, "scope": options.scope, "favor": options.favor}


def load_model_option(options: argparse.Namespace) -> Model:
    """Load the model that the options name."""
    with report_errors("--model: "):
        return load_model(options.model)


def load_rules(path: Path | None) -> Rules:
    """Load the file of ``--rules``."""
    with report_errors("--rules "):
        return Rules() if path is None else Rules.read(path)


class Progress:
    """Writes to standard error how much is done and how long the rest may take; off a terminal every 30 seconds."""

    def __init__(self, what: str = "") -> None:
        self._what = f"{what} " if what else ""
        self._on_terminal = sys.stderr.isatty()
        self._begun = self._last = time.monotonic()
        self._total = self._first = self._done = 0

    def __call__(self, done: int, total: int, name: str = "") -> None:
        """Report that ``done`` of ``total`` items are done, the last of them ``name``."""
        now = time.monotonic()
        if total != self._total or done < self._done:  # another stage has begun
            self._begun, self._total, self._first = now, total, done
        self._done = done
        line = f"{done:,} of {total:,} {self._what}{name:<40.40}"
        fraction = (done - self._first) / max(total - self._first, 1)
        left = "" if done >= total or fraction < _MIN_FRACTION else self._time_left(fraction, now - self._begun)
        if self._on_terminal and (now - self._last > _TERMINAL_INTERVAL_S or done in {0, total}):
            self._last = now
            print(f"\r{line}{left:<16}", end="\n" if done == total else "", file=sys.stderr, flush=True)
        elif not self._on_terminal and now - self._last > _LOG_INTERVAL_S:
            self._last = now
            print(f"{line.rstrip()}{left}", file=sys.stderr, flush=True)

    @staticmethod
    def _time_left(fraction: float, seconds_taken: float) -> str:
        seconds = seconds_taken * (1 - fraction) / fraction
        if seconds >= 5400:
            return f", {seconds / 3600:.1f} h left"
        return f", {seconds / 60:.0f} min left" if seconds >= 90 else f", {seconds:.0f} s left"


def with_progress(things: Sequence[_Thing], what: str) -> Iterator[_Thing]:
    """Go through things and report the progress."""
    progress = Progress(what)
    for done, thing in enumerate(things, 1):
        yield thing
        progress(done, len(things))


def add_server_options(parser: CommandParser) -> None:
    """Add the choice of the server that holds what crawls have counted."""
    server = parser.add_mutually_exclusive_group()
    default = "(default: TAMIS_REDIS_URL of the environment or the project)"
    parser.add("--redis-url URL", f"Redis that crawls count in {default}", group=server)
    folder = "folder of a private server (default: TAMIS_STATE_DIR of the project)"
    parser.add("--state-dir DIR", folder, group=server)
    parser.add("--prefix PREFIX", "first part of every key (default: that of the project, else tamis)")


def find_server(options: argparse.Namespace) -> bool:
    """Fill in the server and the prefix that were not given, as a crawl here finds them; return if there is one."""
    if options.redis_url is None and options.state_dir is None and find_spec("scrapy") is not None:
        from scrapy.utils.project import get_project_settings, inside_project

        from scrapy_tamis.config import checked_setting

        try:
            settings = get_project_settings()
            options.redis_url = checked_setting(settings, "TAMIS_REDIS_URL")
            options.prefix = options.prefix or checked_setting(settings, "TAMIS_REDIS_PREFIX")
            folder = checked_setting(settings, "TAMIS_STATE_DIR")
            if options.redis_url is None and (inside_project() or folder.is_dir()):  # of `scrapy runspider`
                options.state_dir = folder
        except Exception as error:  # the project's own code
            raise CommandError(f"the settings of the project cannot be read: {error}") from error
    options.prefix = options.prefix or "tamis"
    return options.redis_url is not None or options.state_dir is not None


@contextmanager
def connect_to(url: str | None, state_dir: Path | None = None, *, create: bool = False) -> Iterator[Redis]:
    """Connect to the server at an address, or to the private one of a folder, which is started if need be."""
    from scrapy_tamis.storage.clients import CLIENT_ERRORS, blocking_client, check_address, message_of
    from scrapy_tamis.storage.embedded import EmbeddedServer, EmbeddedServerError

    try:
        with ExitStack() as stack:
            if state_dir is not None:
                server = EmbeddedServer(state_dir)
                with report_errors():  # of a folder that may not be read
                    has_data = server.has_data
                if not (has_data or create):
                    raise CommandError(f"no private server has stored data in {server.folder}")
                url = stack.enter_context(server).url
            elif problem := check_address(str(url)):
                raise CommandError(f"the address of Redis {problem}")
            limits = {"socket_timeout": _REDIS_TIMEOUT_S, "socket_connect_timeout": _REDIS_TIMEOUT_S}
            client = stack.enter_context(blocking_client(str(url), **limits))
            client.ping()
            yield client
    except CLIENT_ERRORS as error:
        from scrapy_tamis.storage.connection import permanent_problem

        message = permanent_problem(error, str(url)) or f"Redis: {message_of(error, str(url))}"
        raise CommandError(message) from error
    except EmbeddedServerError as error:
        raise CommandError(str(error)) from error
