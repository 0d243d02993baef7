from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from demo.server import DemoWeb

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as served:
        yield served
