"""Examples in docstrings say what the code does."""

import doctest
import importlib
import pkgutil

import pytest

import scrapy_winnow
import winnow

MODULES = [
    module.name
    for package in (winnow, scrapy_winnow)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


MOST_USED = {"winnow.cleaning", "winnow.duplicates", "winnow.smoothing"}


@pytest.mark.parametrize("name", [winnow.__name__, *MODULES])
def test_examples_give_what_they_show_and_what_is_used_most_has_one(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0
    assert found.attempted or name not in MOST_USED
