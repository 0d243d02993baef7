"""The ``WINNOW_*`` settings, read once; ``docs/reference/settings.md`` has the table."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from scrapy_winnow.fields import OPTIONAL_FIELDS, WRITTEN_FIELDS
from scrapy_winnow.settings_reader import SettingsReader
from scrapy_winnow.storage.evidence import MAX_PAGES
from winnow.counting import MIN_PAGES
from winnow.evidence.comments import COMMENTS, Comments
from winnow.models.scores import FAVORS, SCOPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from winnow.models.scores import Favor, Scope

DAY: Final = 86_400

LONGEST: Final = 36_500 * DAY
"""Longest time to live: Redis refuses those that leave its clock."""

AUTOMATIC: Final = "auto"
"""What ``WINNOW_PROCESSES`` says for one process per core beside the crawl's own, ``MOST_PROCESSES`` at most."""

MOST_PROCESSES: Final = 2
"""Cleaning processes that one crawl can keep busy."""

LEARNED: Final = "learned"
"""What ``WINNOW_MODEL`` says for the model that ``winnow learn`` has published."""

DEFAULTS: Final[Mapping[str, object]] = {
    "WINNOW_ENABLED": True,
    "WINNOW_REQUIRED": True,
    "WINNOW_MODEL": None,
    "WINNOW_SCOPE": "auto",
    "WINNOW_FAVOR": "balanced",
    "WINNOW_HTML_FIELD": "html",
    "WINNOW_URL_FIELD": "url",
    "WINNOW_ENCODING": None,
    "WINNOW_FIELD_NAMES": {},
    "WINNOW_OUTPUTS": [],
    "WINNOW_METADATA": False,
    "WINNOW_LINKS": True,
    "WINNOW_IMAGES": True,
    "WINNOW_TABLES": True,
    "WINNOW_DEDUPLICATE": True,
    "WINNOW_COMMENTS": "separate",
    "WINNOW_KEEP_HTML": True,
    "WINNOW_DUPLICATES": True,
    "WINNOW_DROP_DUPLICATES": False,
    "WINNOW_DUPLICATES_TTL": 30 * DAY,
    "WINNOW_DUPLICATES_SKETCH": 8,
    "WINNOW_DUPLICATES_RESEMBLANCE": None,
    "WINNOW_SITE_EVIDENCE": True,
    "WINNOW_READ_ONLY": None,
    "WINNOW_PROCESSES": 0,
    "WINNOW_THREAD_TAGS": 3_000,
    "WINNOW_GC_FREEZE": True,
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
    "WINNOW_REPORT": None,
    "WINNOW_METRICS": None,
    "WINNOW_HEALTH_FILE": None,
    "WINNOW_WARC": None,
    "WINNOW_WARC_BYTES": 1_000_000_000,
    "WINNOW_PROGRESS": True,
}
"""Every setting with its default."""

READ_ONLY_COMMANDS: Final = frozenset({"shell", "fetch", "view", "parse", "check"})
"""Commands of Scrapy for a look at a page; they read site evidence and write none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of one crawl; each attribute is the setting of that name in lower case without its prefix."""

    enabled: bool
    required: bool
    model: str | None
    scope: Scope
    favor: Favor
    html_field: str
    url_field: str
    encoding: str | None
    field_names: Mapping[str, str | None]
    outputs: frozenset[str]
    metadata: bool
    links: bool
    images: bool
    tables: bool
    deduplicate: bool
    comments: Comments
    keep_html: bool
    duplicates: bool
    drop_duplicates: bool
    duplicates_ttl: int
    duplicates_sketch: int
    duplicates_resemblance: float | None
    site_evidence: bool
    read_only: bool
    processes: int
    thread_tags: int
    gc_freeze: bool
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
    report: str | None
    metrics: tuple[str, int] | None
    health_file: str | None
    warc: str | None
    warc_bytes: int
    progress: bool

    @property
    def own_model(self) -> str | None:
        """Name or path of the model that the crawl begins with; ``None`` for the package's own."""
        return None if self.model == LEARNED else self.model

    @property
    def follows(self) -> bool:
        """Whether learned models are taken over: a model that is named is kept."""
        return self.model == LEARNED or (self.learn and self.model is None)

    @property
    def is_watched(self) -> bool:
        """Whether there is a crawl to watch: Winnow is on, and this is no look at a page by a command of Scrapy."""
        return self.enabled and not _looks_only()

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
            ConfigError: settings have values that cannot work; the message names all of them.
        """
        reader = SettingsReader(settings, DEFAULTS)
        config = cls(
            enabled=reader.truth("WINNOW_ENABLED"),
            required=reader.truth("WINNOW_REQUIRED"),
            model=reader.model("WINNOW_MODEL", LEARNED),
            scope=reader.choice("WINNOW_SCOPE", SCOPES),
            favor=reader.choice("WINNOW_FAVOR", FAVORS),
            html_field=reader.name("WINNOW_HTML_FIELD"),
            url_field=reader.name("WINNOW_URL_FIELD"),
            encoding=reader.encoding("WINNOW_ENCODING"),
            field_names=reader.names("WINNOW_FIELD_NAMES", WRITTEN_FIELDS + OPTIONAL_FIELDS),
            outputs=reader.choices("WINNOW_OUTPUTS", OPTIONAL_FIELDS)
            | ({"metadata"} if reader.truth("WINNOW_METADATA") else set()),
            metadata=reader.truth("WINNOW_METADATA"),
            links=reader.truth("WINNOW_LINKS"),
            images=reader.truth("WINNOW_IMAGES"),
            tables=reader.truth("WINNOW_TABLES"),
            deduplicate=reader.truth("WINNOW_DEDUPLICATE"),
            comments=reader.choice("WINNOW_COMMENTS", COMMENTS),
            keep_html=reader.truth("WINNOW_KEEP_HTML"),
            duplicates=reader.truth("WINNOW_DUPLICATES"),
            drop_duplicates=reader.truth("WINNOW_DROP_DUPLICATES"),
            duplicates_ttl=reader.whole("WINNOW_DUPLICATES_TTL", least=1, most=LONGEST),
            duplicates_sketch=reader.whole("WINNOW_DUPLICATES_SKETCH", least=8, most=1024),
            duplicates_resemblance=reader.share("WINNOW_DUPLICATES_RESEMBLANCE"),
            site_evidence=reader.truth("WINNOW_SITE_EVIDENCE"),
            read_only=_looks_only() if reader.value("WINNOW_READ_ONLY") is None else reader.truth("WINNOW_READ_ONLY"),
            processes=reader.whole_or_word("WINNOW_PROCESSES", AUTOMATIC, _processes()),
            thread_tags=reader.whole("WINNOW_THREAD_TAGS"),
            gc_freeze=reader.truth("WINNOW_GC_FREEZE"),
            max_bytes=reader.whole("WINNOW_MAX_BYTES", least=1),
            max_nodes=reader.whole("WINNOW_MAX_NODES", least=1),
            redis_url=reader.redis_url("WINNOW_REDIS_URL"),
            redis_prefix=reader.name("WINNOW_REDIS_PREFIX"),
            redis_timeout=reader.seconds("WINNOW_REDIS_TIMEOUT"),
            redis_retry_interval=reader.seconds("WINNOW_REDIS_RETRY_INTERVAL"),
            state_dir=reader.folder("WINNOW_STATE_DIR"),
            state_bytes=reader.whole("WINNOW_STATE_BYTES", least=4 << 20),
            host_budget=reader.whole("WINNOW_HOST_BUDGET", least=100),
            host_pages=reader.whole("WINNOW_HOST_PAGES", least=1, most=MAX_PAGES),
            settle_pages=reader.whole_or_none("WINNOW_SETTLE_PAGES", least=MIN_PAGES),
            host_ttl=reader.whole("WINNOW_HOST_TTL", least=1, most=LONGEST),
            corrections=reader.truth("WINNOW_CORRECTIONS"),
            spool_bytes=reader.whole("WINNOW_SPOOL_BYTES", least=1),
            learn=reader.truth("WINNOW_LEARN"),
            learn_bytes=reader.whole("WINNOW_LEARN_BYTES", least=1_000_000),
            learn_hosts=reader.whole("WINNOW_LEARN_HOSTS", least=1),
            learn_pages=reader.whole("WINNOW_LEARN_PAGES", least=1),
            model_refresh=reader.seconds("WINNOW_MODEL_REFRESH"),
            report=reader.file("WINNOW_REPORT"),
            metrics=reader.address("WINNOW_METRICS"),
            health_file=reader.file("WINNOW_HEALTH_FILE"),
            warc=reader.file("WINNOW_WARC"),
            warc_bytes=reader.whole("WINNOW_WARC_BYTES", least=1),
            progress=reader.truth("WINNOW_PROGRESS"),
        )
        reader.check()
        return config


def _processes() -> int:
    """Cleaning processes for the cores that are not the crawl's own; none for a look at a page."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 0 if _looks_only() else min(cores - 1, MOST_PROCESSES)


def _looks_only() -> bool:
    """Whether the running command of Scrapy is one of :data:`READ_ONLY_COMMANDS`."""
    # Scrapy takes its command out of sys.argv, hence the line as it was typed, Python's own part included.
    words = iter(sys.orig_argv)
    if not any(Path(word).stem == "scrapy" for word in words):
        return False
    return next((word for word in words if not word.startswith("-")), None) in READ_ONLY_COMMANDS
