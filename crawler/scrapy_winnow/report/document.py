"""A crawl's report as one HTML file that needs nothing else."""

from __future__ import annotations

import datetime
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from scrapy_winnow.report.plots import line_plot, smooth, spark
from scrapy_winnow.report.summary import HostSummary, summary
from scrapy_winnow.storage.hosts import ago
from winnow.models import load_model

if TYPE_CHECKING:
    from scrapy_winnow.report.records import CrawlRecord
    from winnow.models.scores import Model

_ASSETS: Final = files("scrapy_winnow.report") / "assets"
_MOST_IN_DETAIL: Final = 40
_MOST_IN_TABLE: Final = 1_000


def report(record: CrawlRecord, model: Model | None = None, now: datetime.datetime | None = None) -> str:
    """Write the report.

    Args:
        record: the crawl.
        model: the model that it used, to say which sections of the sampled pages are in doubt.
        now: what time it is.
    """
    model = model or load_model()
    found = summary(record)
    times, speeds = found.speed
    samples = {
        host.name: record.samples.look(host.name, model) if record.samples is not None else None
        for host in found.hosts[:_MOST_IN_DETAIL]
    }
    return _template().render(
        record=record,
        stored=[] if record.pages else sorted(record.hosts.values(), key=lambda host: (-host.pages, host.host)),
        most=_MOST_IN_TABLE,
        all=found,
        samples=samples,
        table=found.hosts[:_MOST_IN_TABLE],
        detail=found.hosts[:_MOST_IN_DETAIL],
        speed=line_plot(times, speeds, title="Pages per second over the crawl", x_label="seconds"),
        curve=_curve,
        spark=_spark,
        style=Markup(_asset("report.css")),  # noqa: S704  our own
        now=(now or datetime.datetime.now().astimezone()).strftime("%Y-%m-%d %H:%M"),
    )


def _curve(host: HostSummary) -> Markup:
    shares = smooth([page.template_share for page in host.pages])
    return line_plot(
        [*range(1, len(shares) + 1)],
        shares,
        title=f"Share of text cut on {host.name} by pages seen",
        x_label="pages",
        percent=True,
    )


def _spark(host: HostSummary) -> Markup:
    return spark(smooth([page.template_share for page in host.pages]), title=f"Share of text cut on {host.name}")


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.filters["ago"] = ago
    environment.filters["percent"] = lambda value: f"{value:.0%}"
    return environment.from_string(_asset("report.html"))


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
