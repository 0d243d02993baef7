"""A model file that was changed anywhere is refused as what it is: no other error comes out."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.models import registry
from winnow.models.files import FORMAT, ModelError, read_model_file

MODEL = next(registry._SHIPPED.glob("blocks-self*.npz")).read_bytes()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("model") / "model.npz"


@settings(max_examples=300, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(-400, 400), st.integers(0, 255)), min_size=1, max_size=4),
    end=st.one_of(st.just(len(MODEL)), st.integers(1, len(MODEL))),
)
def test_any_change_is_a_model_error_or_none(file, changes, end):
    data = bytearray(MODEL)
    for place, value in changes:
        data[place] = value
    file.write_bytes(data[:end])
    with suppress(ModelError):
        header, _ = read_model_file(file)
        assert header["format"] == FORMAT
