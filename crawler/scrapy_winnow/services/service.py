"""A command that runs until it is told to end, as the programs see it that look after it."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from scrapy_winnow.services.health import HealthFile
from scrapy_winnow.services.prometheus import serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

LAST_BEAT: Final = "last_beat_seconds"
"""Figure with the time, in seconds since 1970, when a service last said that it is alive."""


_STEP: Final = 0.2  # seconds


class Figure(NamedTuple):
    """One figure of a service.

    Attributes:
        name: without the service's own, which goes before it; a counter's ``_total`` is not in it.
        meaning: one line about it.
        counts: whether it only grows, as a counter does.
    """

    name: str
    meaning: str
    counts: bool = True


class Service:
    """Signs of life and figures of a service, and whether it was told to end.

    SIGTERM, and with ``by_interrupt`` Ctrl-C, ask it to end once it has finished what it holds.

    Args:
        name: what the names of its figures begin with, as ``winnow_dedup``.
        figures: all that it has.
        health_file: see :class:`~scrapy_winnow.services.health.HealthFile`.
        metrics: host and port that figures are served at; ``None`` serves none.
        by_interrupt: whether Ctrl-C asks, too; otherwise it ends the service at once, as a second SIGTERM does.

    Raises:
        ImportError, OSError: figures cannot be served, or the health file cannot be written.
    """

    def __init__(
        self,
        name: str = "winnow",
        figures: Sequence[Figure] = (),
        *,
        health_file: str | PathLike[str] | None = None,
        metrics: tuple[str, int] | None = None,
        by_interrupt: bool = False,
    ) -> None:
        self._name = name
        self._figures = figures
        self._by_interrupt = by_interrupt
        self._values = dict.fromkeys([figure.name for figure in figures], 0.0)
        self._last_beat = time.time()
        self._is_ended = False
        self._health = HealthFile(health_file)
        self._close = serve(metrics, self) if metrics is not None else None

    def __enter__(self) -> Self:
        signal.signal(signal.SIGTERM, self._asked)
        if self._by_interrupt:
            signal.signal(signal.SIGINT, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        self._health.remove()
        if self._close is not None:
            self._close()

    @property
    def is_ended(self) -> bool:
        """Whether it was told to end."""
        return self._is_ended

    def end(self) -> None:
        """Tell it to end."""
        self._is_ended = True

    def beat(self, state: str) -> None:
        """Say that it is alive, and what it is doing."""
        self._last_beat = time.time()
        self._health.beat(state, self._values)

    def wait(self, seconds: float) -> None:
        """Wait, but not for longer than until it is told to end."""
        # In steps: a handler of signals must not touch the lock of an event that is being waited for.
        until = time.monotonic() + seconds
        while not self._is_ended and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _STEP))

    def add(self, name: str, amount: float = 1) -> None:
        """Add to a counter."""
        self._values[name] += amount

    def put(self, name: str, value: float | None) -> None:
        """Set a figure that goes up and down; ``None`` leaves it."""
        if value is not None:
            self._values[name] = value

    def collect(self) -> Iterator[Any]:
        """The figures as they are now, for Prometheus; called in the server's thread."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415  (an extra)

        for figure in self._figures:
            family = CounterMetricFamily if figure.counts else GaugeMetricFamily
            yield family(f"{self._name}_{figure.name}", figure.meaning, value=self._values[figure.name])
        yield GaugeMetricFamily(
            f"{self._name}_{LAST_BEAT}", "When the service last said that it is alive", value=self._last_beat
        )

    def _asked(self, number: int, _frame: object) -> None:
        self._is_ended = True
        if not self._by_interrupt:
            signal.signal(number, _interrupted)


def _interrupted(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
