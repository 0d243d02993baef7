from collections.abc import Iterator

import pytest

from demo.server import DemoWeb


@pytest.fixture(scope="session")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as served:
        yield served
