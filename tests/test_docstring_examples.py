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


@pytest.mark.parametrize("name", [winnow.__name__, *MODULES])
def test_examples_give_what_they_show(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_what_is_used_most_has_an_example():
    for name in ("winnow.cleaning", "winnow.duplicates", "winnow.smoothing"):
        assert doctest.testmod(importlib.import_module(name)).attempted > 0
