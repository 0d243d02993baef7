"""The ``TAMIS_*`` settings: one table with default, check, unit and meaning of each.

:meth:`Config.from_settings` reads and checks them; ``make docs`` writes the table of ``docs/reference/settings.md``.
"""

# ruff: noqa: RUF009  the defaults of Config are rows of the table

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.project import data_path
from w3lib.encoding import resolve_encoding

from scrapy_tamis.fields import OPTIONAL_FIELDS, READ_FIELDS, WRITTEN_FIELDS
from scrapy_tamis.item_sources import DUPLICATES
from scrapy_tamis.storage.clients import check_address
from scrapy_tamis.storage.keys import MAX_TTL_S
from tamis.counting import MIN_PAGES
from tamis.duplicates import MIN_RESEMBLANCE
from tamis.evidence.comments import COMMENTS
from tamis.models import load_model
from tamis.models.decision import FAVORS, SCOPES
from tamis.page.hidden import HIDDEN
from tamis.page.page import Limits
from tamis.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy_tamis.item_sources import Duplicates

PREFIX: Final = "TAMIS_"

DAY_S: Final = 86_400

MAX_PROCESSES: Final = 2
"""Cleaning processes that one crawl can keep busy: the most that ``TAMIS_PROCESSES = "auto"`` starts."""

READ_ONLY_COMMANDS: Final = frozenset({"shell", "fetch", "view", "parse", "check"})
"""Scrapy's commands that show a single page: they read site evidence and write none."""


class ConfigError(ValueError):
    """Some settings have values that cannot work; the message names all of them."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


# Each check takes a value as it was set, often text from a command line, and returns it with the right type. The
# message of its ValueError follows the name of the setting: "must be true or false, not 'perhaps'".


def _text(value: object) -> str | None:
    text = str(value or "").strip()
    return None if text in {"", "None"} else text


def _name(value: object) -> str:
    if (text := _text(value)) is None:
        raise ValueError("must not be empty")
    return text


def _bool(value: object) -> bool:
    try:
        return BaseSettings({"value": value}).getbool("value")
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"must be true or false, not {value!r}") from None


def _number(
    kind: type[int] | type[float], minimum: float, maximum: float = math.inf, *others: float | None
) -> Callable[[object], float | None]:
    """Check a number that has bounds, or is one of the other values."""
    bounds = f"from {minimum} on" if maximum == math.inf else f"from {minimum} to {maximum}"
    what = " or ".join([f"a {'whole ' * (kind is int)}number {bounds}", *map(str, others)])
    known = {str(other): other for other in others}

    def check(value: object) -> float | None:
        text = str(value) or "None"
        if text in known:
            return known[text]
        with suppress(ValueError):
            if minimum <= (number := kind(text)) <= maximum:
                return number
        raise ValueError(f"must be {what}, not {value!r}")

    return check


def _choice(known: Collection[str]) -> Callable[[object], str]:
    def check(value: object) -> str:
        if (text := str(value or "").strip()) not in known:
            raise ValueError(f"must be one of {', '.join(known)}; not {value!r}")
        return text

    return check


def _outputs(value: object) -> frozenset[str]:
    if isinstance(value, Mapping):
        value = [name for name, is_wanted in value.items() if is_wanted]
    if isinstance(value, str) and value.lstrip()[:1] == "[":  # JSON, as Scrapy's getdict takes mappings
        with suppress(ValueError):
            value = json.loads(value)
    try:
        names = BaseSettings({"value": value}).getlist("value")
    except (TypeError, ValueError):
        names = [value]
    chosen = frozenset(str(name).strip() for name in names) - {""}
    if unknown := chosen - set(OPTIONAL_FIELDS):
        known, wrong = ", ".join(OPTIONAL_FIELDS), ", ".join(sorted(unknown))
        raise ValueError(f"may hold {known}, as in markdown,chunks; not {wrong}")
    return chosen


def _mapping(value: object, example: str) -> Mapping[str, object]:
    try:
        return BaseSettings({"value": value}).getdict("value")
    except (TypeError, ValueError) as error:
        raise ValueError(f"must be a mapping, as {example}: {error}") from error


def _field_names(value: object) -> Mapping[str, str | None]:
    """Return the name of each field, by its default name; ``None`` for one that is not wanted."""
    known = READ_FIELDS + WRITTEN_FIELDS + OPTIONAL_FIELDS
    names = _mapping(value, '{"text": "body"}')
    if unknown := set(names) - set(known):
        wrong = ", ".join(sorted(map(str, unknown)))
        raise ValueError(f'must map {", ".join(known)} to names of yours, as {{"text": "body"}}; not {wrong}')
    found: dict[str, str | None] = {}
    for key in known:
        name = names.get(key, key)
        if not (isinstance(name, str) and name) and (name is not None or key in READ_FIELDS):
            what = "the name of a field" if key in READ_FIELDS else "the name of a field or to None"
            raise ValueError(f"must map {key} to {what}, not to {name!r}")
        found[key] = name
    taken = [name for name in found.values() if name is not None]
    if twice := sorted({name for name in taken if taken.count(name) > 1}):
        raise ValueError(f"must not have two things in one field: {', '.join(twice)}")
    return found


def _rules(value: object) -> Rules:
    """Read rules from a file, or from a list in the project's settings."""
    if isinstance(value, list | tuple | dict):
        return Rules(value)
    return Rules() if (path := _text(value)) is None else Rules.read(Path(path).expanduser())


def _model(value: object) -> str | None:
    name = _text(value)
    try:
        load_model(name)
    except (OSError, ValueError) as error:
        raise ValueError(f"must name a model that can be loaded: {error}") from error
    return name


def _encoding(value: object) -> str | None:
    if (name := _text(value)) is not None and resolve_encoding(name) is None:
        raise ValueError(f"must be the name of a charset, not {name!r}")
    return name


def _limits(value: object) -> Limits:
    if isinstance(value, Limits):
        return value
    given, known = _mapping(value, '{"max_bytes": 1_000_000}'), [each.name for each in fields(Limits)]
    if unknown := set(given) - set(known):
        raise ValueError(f"may have {', '.join(known)}; not {', '.join(sorted(map(str, unknown)))}")
    return Limits(**{name: int(_number(int, 1)(number) or 1) for name, number in given.items()})


_ARGUMENTS: Final[Mapping[str, Callable[[object], object]]] = {
    "model": _model,
    "scope": _choice(SCOPES),
    "favor": _choice(FAVORS),
    "comments": _choice(COMMENTS),
    "hidden": _choice(HIDDEN),
    **dict.fromkeys(("deduplicate", "links", "images", "tables", "smooth"), _bool),
    "encoding": _encoding,
    "limits": _limits,
}
"""What a crawl may hand to :func:`tamis.clean`; its other arguments are of one page."""


def _arguments(value: object) -> Mapping[str, Any]:
    """Check arguments of :func:`tamis.clean`, before any page is there."""
    given = _mapping(value, '{"scope": "article"}')
    if unknown := set(given) - set(_ARGUMENTS):
        raise ValueError(f"may have {', '.join(_ARGUMENTS)}; not {', '.join(sorted(map(str, unknown)))}")
    checked, problems = {}, []
    for name, argument in given.items():
        try:
            checked[name] = _ARGUMENTS[name](argument)
        except ValueError as error:
            problems.append(f"has a {name} that {error}")
    if problems:
        raise ValueError(", and ".join(problems))
    return checked


def _redis_url(value: object) -> str | None:
    """Check an address; it may hold a password, so no message shows it."""
    url = _text(value) or os.environ.get("TAMIS_REDIS_URL", "").strip() or None
    if url is not None and (problem := check_address(url)):
        raise ValueError(problem)
    return url


def _folder(value: object) -> Path:
    """Return a folder, in the project's data folder unless it is absolute."""
    folder = Path(_name(value)).expanduser()
    try:
        return Path(data_path(folder))
    except (NotConfigured, OSError):
        # Under scrapyd and in scripts there is no scrapy.cfg, by which Scrapy finds the project. In a read-only
        # container Scrapy cannot make its data folder, which is not needed with a Redis.
        return Path(".scrapy", folder)


def _file(value: object) -> str | None:
    text = _text(value)
    if text is not None and (not Path(text).parent.is_dir() or Path(text).is_dir()):
        raise ValueError(f"must be a file in an existing folder, not {text!r}")
    return text


def _address(value: object) -> tuple[str, int] | None:
    if (text := _text(value)) is None:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"must be an address to listen at, as 127.0.0.1:9410, not {text!r}")
    return host.strip("[]"), int(port)


def is_read_only_command() -> bool:
    """Whether the running command of Scrapy is one of :data:`READ_ONLY_COMMANDS`."""
    # Scrapy removes its command from sys.argv, so this reads the whole command line, Python's own part included.
    words = iter(sys.orig_argv)
    if not any(Path(word).stem == "scrapy" for word in words):
        return False
    return next((word for word in words if not word.startswith("-")), None) in READ_ONLY_COMMANDS


def _read_only(value: object) -> bool:
    return is_read_only_command() if value is None else _bool(value)


def _processes(value: object) -> int:
    text = str(value).strip()
    if text == "auto":
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores - 1, MAX_PROCESSES)
    if not text.isdecimal():
        raise ValueError(f"must be 'auto' or a whole number from 0 on, not {value!r}")
    return int(text)


class Setting(NamedTuple):
    """A row of the table; ``check`` converts a value to the right type, or raises ``ValueError``."""

    default: object
    check: Callable[[object], object]
    unit: str = ""


def _setting(default: object, check: Callable[[object], object], unit: str = "") -> Any:
    return field(metadata={"setting": Setting(default, check, unit)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of one crawl; each attribute is named as its setting, in lower case without the prefix.

    The text below an attribute is its row in the reference, in Markdown.
    """

    enabled: bool = _setting(True, _bool)
    """`False` switches everything off, for a project or, in `custom_settings`, for one spider"""
    required: bool = _setting(True, _bool)
    """stop the crawl if Tamis cannot start or `TAMIS_REDIS_URL` [can never work](#when-redis-will-never-work). `False`
    goes on without site evidence or without cleaning, and says so. A Redis that does not answer never stops a crawl"""
    clean: Mapping[str, Any] = _setting({}, _arguments, "mapping")
    """arguments of [`tamis.clean`](api.md#tamisclean), as `{"scope": "article", "links": False}`:
    `model`, `scope`, `favor`, `comments`, `hidden`, `deduplicate`, `links`, `images`, `tables`, `smooth`, `encoding`,
    and `limits` as `{"max_bytes": 16_000_000, "max_nodes": 100_000}`"""
    field_names: Mapping[str, str | None] = _setting({}, _field_names, "mapping")
    """other names for the [fields](fields.md), as `{"html": "raw", "text": "body"}`: `html` and `url` are read, the
    others written; `None` switches one off"""
    outputs: frozenset[str] = _setting([], _outputs, "names")
    """optional fields to write: `clean_html`, `markdown`, `metadata`, `chunks`, `segments`, `blocks`"""
    rules: Rules = _setting(None, _rules, "path")
    """[rules](../guides/rules.md) for sites: CSS selectors of what is always kept or dropped; a file in TOML or JSON,
    or a list of mappings"""
    keep_html: bool = _setting(True, _bool)
    """`False` takes the HTML off the item once its content is written; the `site` spider's project does"""
    duplicates: Duplicates = _setting("off", _choice(DUPLICATES))
    """`mark` writes which earlier page an item [nearly duplicates](../guides/near-duplicates.md), `drop` drops the
    item; the `site` spider's project has `mark`"""
    duplicates_resemblance: float = _setting(MIN_RESEMBLANCE, _number(float, 0.5, 1), "0.5 to 1")
    """least [resemblance](../guides/near-duplicates.md#how-alike) of near-duplicates; 1 is the same words"""
    site_evidence: bool = _setting(True, _bool)
    """count what the pages of each site repeat and use the counts; `False` cleans each page alone"""
    read_only: bool = _setting(None, _read_only)
    """read from Redis and write nothing; `None` is true in `scrapy shell`, `fetch`, `view`, `parse` and `check`"""
    processes: int = _setting(0, _processes, "processes")
    """[cleaning processes](#processes) beside the crawl's; `auto` is one for each other core, 2 at most"""
    redis_url: str | None = _setting(None, _redis_url, "URL")
    """`redis://`, `rediss://` (TLS) or `unix://`; `redis+cluster://` and any server of a cluster;
    `redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/MASTER/DATABASE` for the master that Sentinels name, with
    `?sentinel_password=` and `&sentinel_username=` if they have their own; the last two with `rediss` for TLS. `None`
    is the environment variable of this name, the place for passwords; without it a private server starts"""
    redis_prefix: str = _setting("tamis", _name)
    """first part of every key"""
    redis_timeout: float = _setting(0.5, _number(float, 0.001, MAX_TTL_S), "seconds")
    """longest time for a call, connecting included"""
    redis_retry_interval: float = _setting(5.0, _number(float, 0.001, MAX_TTL_S), "seconds")
    """time between attempts while Redis is unreachable"""
    state_dir: Path = _setting("tamis", _folder, "path")
    """folder of the private server, in the project's `.scrapy` unless absolute"""
    state_bytes: int = _setting(1 << 30, _number(int, 4 << 20), "bytes")
    """most memory of the private server; beyond it the hosts and documents not met for longest are dropped"""
    host_budget: int = _setting(2_900, _number(int, 100), "fingerprints")
    """most that is held for a host; beyond it rare fingerprints are dropped, with [a known
    error](../guides/sites.md#what-the-counts-promise)"""
    settle_pages: int = _setting(64, _number(int, MIN_PAGES, math.inf, 0), "pages")
    """pages after which a host may [settle](../guides/sites.md#settled-hosts), 10 or more; with 0 none settles, and
    pages after the 1,024th are not counted"""
    domain_hosts: int = _setting(1_000, _number(int, 0), "hosts")
    """most hosts of one registered domain that a crawl counts, against endless subdomains; 0 is any number"""
    ttl: int = _setting(30 * DAY_S, _number(int, 1, MAX_TTL_S), "seconds")
    """30 days: how long a host is remembered after its last page, one with a single page for a day at most, and an
    original of near-duplicates after it was last met"""
    report: str | None = _setting(None, _file, "path")
    """file for a [report of the crawl](../guides/report.md); `%(name)s` and `%(time)s` stand for the spider's name and
    the start, as in `FEEDS`; the `site` spider's project has `report.html`"""
    metrics: tuple[str, int] | None = _setting(None, _address, "address")
    """address to serve the [stats to Prometheus](stats.md#prometheus) at, as `127.0.0.1:9410`"""

    @property
    def html_field(self) -> str:
        """Where items hold their HTML."""
        return str(self.field_names["html"])

    @property
    def needs_redis(self) -> bool:
        """Whether anything is to be kept in Redis."""
        return self.site_evidence or self.duplicates != "off"

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read and check the settings, or raise :class:`ConfigError`."""
        values: dict[str, Any] = {}
        problems = []
        for name in SETTINGS:
            try:
                values[name.removeprefix(PREFIX).lower()] = checked_setting(settings, name)
            except ValueError as error:
                problems.append(str(error))
        if problems:
            raise ConfigError(problems)
        if is_read_only_command():  # a single page: there is no crawl to report on, and no process is ready in time
            values |= {"processes": 0, "required": False, "report": None, "metrics": None}
        return cls(**values)


SETTINGS: Final[Mapping[str, Setting]] = {
    f"{PREFIX}{each.name.upper()}": each.metadata["setting"] for each in fields(Config)
}
"""Every setting by its name."""


def checked_setting(settings: BaseSettings, name: str) -> Any:
    """Return the value of one setting with the right type, or raise a ``ValueError`` that says what is wrong."""
    setting = SETTINGS[name]
    try:
        return setting.check(settings.get(name, setting.default))
    except ValueError as error:
        raise ValueError(f"{name} {error}") from error
    except (OSError, RuntimeError) as error:  # of files
        raise ValueError(f"{name}: {error}") from error


def unknown_settings(settings: BaseSettings, spider: object) -> list[str]:
    """Return a message for each setting that does not exist, or stands where it has no effect.

    That is in the environment, or among the attributes and ``-a`` arguments of the spider.
    """
    unknown = sorted(name for name in settings if str(name).startswith(PREFIX) and name not in SETTINGS)
    known = {name.removeprefix(PREFIX).lower(): name for name in SETTINGS}
    known |= {key: f'TAMIS_OUTPUTS = ["{key}"]' for key in OPTIONAL_FIELDS}
    known |= {key: f'TAMIS_CLEAN = {{"{key}": ...}}' for key in _ARGUMENTS}
    problems = []
    for name in unknown:
        similar = get_close_matches(name.removeprefix(PREFIX).lower(), known, n=1)
        problems.append(f"there is no setting {name}" + (f"; did you mean {known[similar[0]]}?" if similar else ""))
    unread = sorted((SETTINGS.keys() & os.environ) - {"TAMIS_REDIS_URL", *settings})
    problems += [f"{name} of the environment has no effect: give -s {name}=VALUE" for name in unread]
    misplaced = (name for name in SETTINGS if hasattr(spider, name))
    where = "belongs in its custom_settings, or give -s"
    return problems + [f"{name} of the spider has no effect: it {where} {name}=VALUE" for name in misplaced]
