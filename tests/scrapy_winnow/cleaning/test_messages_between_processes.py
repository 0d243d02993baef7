"""What the crawl and a cleaning process send each other arrives as it was, however it is cut up on the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_winnow.fields import CleanedItem, CleaningOptions
from scrapy_winnow.messages import (
    CleaningTask,
    Message,
    MessageReader,
    pack_cleaned,
    pack_failure,
    pack_task,
    read_cleaned,
    read_task,
)
from scrapy_winnow.storage.evidence import UnitCounts
from winnow import Limits

TEXT = st.text(st.characters(), max_size=10)  # lone surrogates included
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=4,
)
MESSAGES = st.builds(
    Message,
    st.dictionaries(st.text("abc", max_size=3), PLAIN, max_size=2),
    st.lists(st.binary(max_size=20), max_size=2).map(tuple),
)


def only(data: bytes) -> Message:
    (message,) = MessageReader().feed(data)
    return message


@given(st.lists(MESSAGES, max_size=3), st.integers(1, 30))
def test_messages_are_put_together_from_pieces_of_any_size(messages, size):
    sent = b"".join(message.packed() for message in messages)
    reader = MessageReader()
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    received = [message for piece in pieces for message in reader.feed(piece)]
    assert [(message.head, message.parts) for message in received] == [(m.head, m.parts) for m in messages]


@given(TEXT | st.binary(max_size=50), TEXT | st.none())
def test_a_task_without_counts_arrives_as_it_was(html, url):
    options = CleaningOptions(Limits(max_bytes=9), ("markdown",), "drop", 12)
    task = read_task(only(pack_task(CleaningTask(html, url, None, options, None))))
    assert (task.html, task.url, task.counts, task.options, task.model) == (html, url, None, options, None)


def test_counts_arrive_as_they_were():
    counts = UnitCounts(9, np.array([2, 8]), np.array([70_000, 1]), 80_000, 3)
    sent = CleaningTask("x", "http://host.example/", counts, CleaningOptions(), "model.npz")
    task = read_task(only(pack_task(sent)))
    assert task.model == "model.npz"
    assert (task.counts.size, task.counts.pages, task.counts.label_version) == (9, 80_000, 3)
    assert task.counts.units.tolist() == [2, 8]
    assert task.counts.df.tolist() == [70_000, 1]


def test_what_came_out_arrives_as_it_was():
    values = {"text": "caf\u00e9 \ud800", "template_share": 0.1234, "shingles": ["00"], "segments": [{"score": 0.5}]}
    shingles = np.array([0, 2**64 - 1], np.uint64)
    cleaned = read_cleaned(only(pack_cleaned(CleanedItem(values, shingles, True))))
    assert cleaned.values == values
    assert cleaned.shingles.tolist() == shingles.tolist()
    assert cleaned.shingles.dtype == np.uint64
    assert cleaned.with_evidence is True


def test_a_page_that_could_not_be_cleaned_is_none():
    assert read_cleaned(only(pack_failure())) is None


def test_a_value_that_is_not_plain_is_an_error_of_who_sends_it():
    with pytest.raises(TypeError, match="not JSON serializable"):
        Message({"values": {1, 2}}).packed()
