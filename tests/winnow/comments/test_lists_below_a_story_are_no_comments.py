"""Lists that look like threads: prices, opening hours, measures, copyright lines, other stories with their dates."""

import pytest

from tests.winnow.comments.pages import STORY, page_of
from winnow import clean
from winnow.evidence.comment_model import posted

HOURS = [(day, "10:00 am - 6:00 pm by appointment only") for day in ("Monday", "Tuesday", "Thursday", "Friday")]
PRICES = [(plan, f"One month of the {plan} plan: $34.99 per month") for plan in ("basic", "large", "family", "team")]
MEASURES = [("Flat head bits for the large handle", f"{n} mm") for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("rows", [HOURS, PRICES, MEASURES], ids=["hours", "prices", "measures"])
def test_rows_of_a_list_are_no_thread(rows: list[tuple[str, str]]) -> None:
    listed = "".join(f"<li><div><b>{name}</b></div><p>{text}</p></li>" for name, text in rows)
    assert not clean(page_of(f"{STORY}<div><ol>{listed}</ol></div>")).comments


@pytest.mark.parametrize(
    "text", ["March 3, 2019 at 10:15 am", "2024-05-21 12:31", "3mo", "vor 5 Tagen", "6d", "20:14", "Anna, 2 hours ago"]
)
def test_dates_and_ages_tell_when_something_was_posted(text: str) -> None:
    assert posted(text)


@pytest.mark.parametrize(
    "text",
    [
        *("$34.99", "4.93 / 5.0", "9:00 - 18:30", "8 a.m. - 4 p.m.", "4 mm", "3ATM", "30 Meters", "9.5 x"),
        "© 2026 Bread Blog",
    ],
)
def test_prices_hours_and_measures_do_not(text: str) -> None:
    assert not posted(text)
