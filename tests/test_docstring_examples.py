"""Examples in docstrings say what the code does."""

import doctest
import importlib
import pkgutil

import pytest

import scrapy_tamis
import tamis

MODULES = [
    module.name
    for package in (tamis, scrapy_tamis)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


MOST_USED = {"tamis.cleaning", "tamis.duplicates", "tamis.smoothing"}


@pytest.mark.parametrize("name", [tamis.__name__, *MODULES])
def test_examples_give_what_they_show_and_what_is_used_most_has_one(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0
    assert found.attempted or name not in MOST_USED
