"""Which crawls teach and which follow, as the table in docs/guides/learning.md has it."""

import pytest
from scrapy.settings import Settings

from scrapy_winnow.config import Config


def _config(**settings) -> Config:
    return Config.from_settings(Settings(settings))


@pytest.mark.parametrize(
    ("learn", "model", "teaches", "follows", "own"),
    [
        (False, None, False, False, None),
        (True, None, True, True, None),
        (False, "learned", False, True, None),
        (True, "learned", True, True, None),
        (True, "logistic", True, False, "logistic"),
    ],
)
def test_who_teaches_and_who_follows(learn, model, teaches, follows, own):
    config = _config(WINNOW_LEARN=learn, WINNOW_MODEL=model)
    assert (config.teaches, config.follows, config.own_model) == (teaches, follows, own)


def test_a_crawl_that_writes_or_counts_nothing_does_not_teach():
    assert not _config(WINNOW_LEARN=True, WINNOW_READ_ONLY=True).teaches
    assert not _config(WINNOW_LEARN=True, WINNOW_SITE_EVIDENCE=False).teaches


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WINNOW_LEARN", "perhaps"),
        ("WINNOW_LEARN_BYTES", 999_999),
        ("WINNOW_LEARN_HOSTS", 0),
        ("WINNOW_LEARN_PAGES", 0),
        ("WINNOW_MODEL_REFRESH", 0),
    ],
)
def test_a_value_that_cannot_work_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        _config(**{name: value})
