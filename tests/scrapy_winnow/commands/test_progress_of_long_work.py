from types import SimpleNamespace

import pytest

from scrapy_winnow.commands import common as progress
from scrapy_winnow.commands import train
from scrapy_winnow.commands.common import Progress
from winnow.training import Figures


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_off_a_terminal_a_line_now_and_then_says_how_much_is_left(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = Progress("pages")
    for done in range(100):
        clock.now = 4.0 * done
        shown(done, 100, "page.html")
    lines = capsys.readouterr().err.splitlines()
    assert 10 <= len(lines) <= 13
    assert lines[0] == "8 of 100 pages page.html, 6 min left"
    assert lines[-1].endswith(" s left")


def test_short_work_says_nothing_off_a_terminal(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    shown = Progress()
    for done in range(11):
        clock.now = 0.1 * done
        shown(done, 10)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("recall", "code", "message"), [(0.6, 0, "5 sites are few"), (0.0, 1, "the model is poor")])
def test_a_model_that_is_poor_on_sites_held_out_is_said_to_be(
    recall: float, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = Figures(**(dict.fromkeys(Figures.__dataclass_fields__, 0.5) | {"recall_at_precision_90": recall}))
    assert train._judged(SimpleNamespace(sites=5, figures={"site-level": figures})) == code  # type: ignore[arg-type]
    assert message in capsys.readouterr().err
