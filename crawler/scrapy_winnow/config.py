"""The ``WINNOW_*`` settings, read once; ``docs/settings.md`` has the table."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from scrapy.utils.project import data_path

from scrapy_winnow.fields import OPTIONAL_FIELDS, WRITTEN_FIELDS
from scrapy_winnow.hosts.entries import MOST_PAGES
from winnow.site.counting.site_level import MIN_PAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

DAY: Final = 86_400

LEARNED: Final = "learned"
"""What ``WINNOW_MODEL`` says for the model that ``winnow learn`` has published."""

DEFAULTS: Final[Mapping[str, object]] = {
    "WINNOW_ENABLED": True,
    "WINNOW_MODEL": None,
    "WINNOW_HTML_FIELD": "html",
    "WINNOW_URL_FIELD": "url",
    "WINNOW_FIELD_NAMES": {},
    "WINNOW_OUTPUTS": [],
    "WINNOW_KEEP_HTML": True,
    "WINNOW_DUPLICATES": True,
    "WINNOW_DROP_DUPLICATES": False,
    "WINNOW_DUPLICATES_TTL": 30 * DAY,
    "WINNOW_DUPLICATES_CAP": 1_000_000,
    "WINNOW_DUPLICATES_SKETCH": 8,
    "WINNOW_DUPLICATES_RESEMBLANCE": None,
    "WINNOW_DUPLICATES_STREAM": False,
    "WINNOW_DUPLICATES_STREAM_LENGTH": 100_000,
    "WINNOW_SITE_EVIDENCE": True,
    "WINNOW_READ_ONLY": None,
    "WINNOW_THREAD_BYTES": 262_144,
    "WINNOW_MAX_BYTES": 16_000_000,
    "WINNOW_MAX_NODES": 100_000,
    "WINNOW_REDIS_URL": None,
    "WINNOW_REDIS_PREFIX": "winnow",
    "WINNOW_REDIS_TIMEOUT": 0.5,
    "WINNOW_REDIS_RETRY_INTERVAL": 5.0,
    "WINNOW_STATE_DIR": "winnow",
    "WINNOW_STATE_BYTES": 1 << 30,
    "WINNOW_HOST_BUDGET": 2_900,
    "WINNOW_HOST_PAGES": 1_024,
    "WINNOW_SETTLE_PAGES": 64,
    "WINNOW_HOST_TTL": 30 * DAY,
    "WINNOW_CORRECTIONS": False,
    "WINNOW_SPOOL_BYTES": 1 << 28,
    "WINNOW_LEARN": False,
    "WINNOW_LEARN_BYTES": 64_000_000,
    "WINNOW_LEARN_HOSTS": 500,
    "WINNOW_LEARN_PAGES": 10,
    "WINNOW_MODEL_REFRESH": 30.0,
}
"""Every setting with its default."""

READ_ONLY_COMMANDS: Final = frozenset({"shell", "fetch", "view", "parse", "check"})
"""Commands of Scrapy for a look at a page; they read site evidence and write none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of one crawl; each attribute is the setting of that name in lower case without its prefix."""

    enabled: bool
    model: str | None
    html_field: str
    url_field: str
    field_names: Mapping[str, str | None]
    outputs: frozenset[str]
    keep_html: bool
    duplicates: bool
    drop_duplicates: bool
    duplicates_ttl: int
    duplicates_cap: int
    duplicates_sketch: int
    duplicates_resemblance: float | None
    duplicates_stream: bool
    duplicates_stream_length: int
    site_evidence: bool
    read_only: bool
    thread_bytes: int
    max_bytes: int
    max_nodes: int
    redis_url: str | None
    redis_prefix: str
    redis_timeout: float
    redis_retry_interval: float
    state_dir: Path
    state_bytes: int
    host_budget: int
    host_pages: int
    settle_pages: int
    host_ttl: int
    corrections: bool
    spool_bytes: int
    learn: bool
    learn_bytes: int
    learn_hosts: int
    learn_pages: int
    model_refresh: float

    @property
    def own_model(self) -> str | None:
        """Name or path of the model that the crawl begins with; ``None`` for the package's own."""
        return None if self.model == LEARNED else self.model

    @property
    def follows(self) -> bool:
        """Whether learned models are taken over: a model that is named is kept."""
        return self.model == LEARNED or (self.learn and self.model is None)

    @property
    def corrects(self) -> bool:
        """Whether early pages are cleaned again; a host settles only where it is counted."""
        return self.corrections and self.site_evidence and not self.read_only

    @property
    def teaches(self) -> bool:
        """Whether pages become examples; their labels are from the counts."""
        return self.learn and self.site_evidence and not self.read_only

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read and check the settings.

        Raises:
            ValueError: a setting has a value that cannot work; the message names it.
        """
        reader = _Reader(settings)
        return cls(
            enabled=reader.truth("WINNOW_ENABLED"),
            model=reader.text("WINNOW_MODEL") or None,
            html_field=reader.name("WINNOW_HTML_FIELD"),
            url_field=reader.name("WINNOW_URL_FIELD"),
            field_names=reader.names("WINNOW_FIELD_NAMES", WRITTEN_FIELDS + OPTIONAL_FIELDS),
            outputs=reader.choices("WINNOW_OUTPUTS", OPTIONAL_FIELDS),
            keep_html=reader.truth("WINNOW_KEEP_HTML"),
            duplicates=reader.truth("WINNOW_DUPLICATES"),
            drop_duplicates=reader.truth("WINNOW_DROP_DUPLICATES"),
            duplicates_ttl=reader.whole("WINNOW_DUPLICATES_TTL", least=1),
            duplicates_cap=reader.whole("WINNOW_DUPLICATES_CAP", least=1),
            duplicates_sketch=reader.whole("WINNOW_DUPLICATES_SKETCH", least=8, most=1024),
            duplicates_resemblance=reader.share("WINNOW_DUPLICATES_RESEMBLANCE"),
            duplicates_stream=reader.truth("WINNOW_DUPLICATES_STREAM"),
            duplicates_stream_length=reader.whole("WINNOW_DUPLICATES_STREAM_LENGTH", least=1),
            site_evidence=reader.truth("WINNOW_SITE_EVIDENCE"),
            read_only=_looks_only() if reader.value("WINNOW_READ_ONLY") is None else reader.truth("WINNOW_READ_ONLY"),
            thread_bytes=reader.whole("WINNOW_THREAD_BYTES"),
            max_bytes=reader.whole("WINNOW_MAX_BYTES", least=1),
            max_nodes=reader.whole("WINNOW_MAX_NODES", least=1),
            redis_url=reader.text("WINNOW_REDIS_URL") or None,
            redis_prefix=reader.name("WINNOW_REDIS_PREFIX"),
            redis_timeout=reader.seconds("WINNOW_REDIS_TIMEOUT"),
            redis_retry_interval=reader.seconds("WINNOW_REDIS_RETRY_INTERVAL"),
            state_dir=Path(data_path(Path(reader.name("WINNOW_STATE_DIR")).expanduser())),
            state_bytes=reader.whole("WINNOW_STATE_BYTES", least=4 << 20),
            host_budget=reader.whole("WINNOW_HOST_BUDGET", least=100),
            host_pages=reader.whole("WINNOW_HOST_PAGES", least=1, most=MOST_PAGES),
            settle_pages=reader.whole_or_none("WINNOW_SETTLE_PAGES", least=MIN_PAGES),
            host_ttl=reader.whole("WINNOW_HOST_TTL", least=1),
            corrections=reader.truth("WINNOW_CORRECTIONS"),
            spool_bytes=reader.whole("WINNOW_SPOOL_BYTES", least=1),
            learn=reader.truth("WINNOW_LEARN"),
            learn_bytes=reader.whole("WINNOW_LEARN_BYTES", least=1_000_000),
            learn_hosts=reader.whole("WINNOW_LEARN_HOSTS", least=1),
            learn_pages=reader.whole("WINNOW_LEARN_PAGES", least=1),
            model_refresh=reader.seconds("WINNOW_MODEL_REFRESH"),
        )


class _Reader:
    """Typed look-ups in Scrapy's settings that fail with the name of the setting."""

    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings

    def value(self, name: str) -> object:
        return self._settings.get(name, DEFAULTS[name])

    def truth(self, name: str) -> bool:
        try:
            return self._settings.getbool(name, bool(DEFAULTS[name]))
        except ValueError as error:
            raise ValueError(f"{name} must be true or false, not {self.value(name)!r}") from error

    def text(self, name: str) -> str:
        return str(self.value(name) or "").strip()

    def name(self, name: str) -> str:
        if not (text := self.text(name)):
            raise ValueError(f"{name} must not be empty")
        return text

    def whole(self, name: str, *, least: int = 0, most: int | None = None) -> int:
        value = self.value(name)
        try:
            number = int(str(value))
        except ValueError:
            number = least - 1
        if number < least:
            raise ValueError(f"{name} must be a whole number from {least} on, not {value!r}")
        if most is not None and number > most:
            raise ValueError(f"{name} must be a whole number up to {most}, not {value!r}")
        return number

    def whole_or_none(self, name: str, *, least: int) -> int:
        number = self.whole(name)
        if 0 < number < least:
            raise ValueError(f"{name} must be 0 or a whole number from {least} on, not {self.value(name)!r}")
        return number

    def seconds(self, name: str) -> float:
        value = self.value(name)
        try:
            number = float(str(value))
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            raise ValueError(f"{name} must be a number of seconds above 0, not {value!r}")
        return number

    def share(self, name: str) -> float | None:
        value = self.value(name)
        if value is None or value == "":
            return None
        try:
            number = float(str(value))
        except ValueError:
            number = 0.0
        if not 0 < number <= 1:
            raise ValueError(f"{name} must be above 0 and at most 1, or None, not {value!r}")
        return number

    def choices(self, name: str, known: tuple[str, ...]) -> frozenset[str]:
        chosen = frozenset(part.strip() for part in self._settings.getlist(name) if part.strip())
        if unknown := chosen - set(known):
            raise ValueError(f"{name} may hold {', '.join(known)}; not {', '.join(sorted(unknown))}")
        return chosen

    def names(self, name: str, known: tuple[str, ...]) -> Mapping[str, str | None]:
        try:
            names = self._settings.getdict(name)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must map {', '.join(known)} to field names: {error}") from error
        if unknown := set(names) - set(known):
            raise ValueError(f"{name} may map {', '.join(known)}; not {', '.join(sorted(map(str, unknown)))}")
        return {field: names.get(field, field) for field in known}


def _looks_only() -> bool:
    """Whether the running command of Scrapy is one of :data:`READ_ONLY_COMMANDS`."""
    # Scrapy takes its command out of sys.argv, hence the line as it was typed, Python's own part included.
    words = iter(sys.orig_argv)
    if not any(Path(word).stem == "scrapy" for word in words):
        return False
    return next((word for word in words if not word.startswith("-")), None) in READ_ONLY_COMMANDS
