"""Calls of the compiled core with arrays of wrong lengths, and with numbers that point outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from winnow import core
from winnow.features.blocks import LEVELS, PAGE_FEATURE_NAMES, STATIC_NAMES
from winnow.models.networks import PANEL

if TYPE_CHECKING:
    import random
    from collections.abc import Callable


def misuse(rng: random.Random) -> int:
    """Call a function of the core with arrays that do not fit; returns how many calls it refused."""
    module: Any = core.core

    def some(dtype: type[np.generic]) -> np.ndarray[Any, Any]:
        return np.array(
            [rng.choice((-1, 0, 1, 2, 5, 100, 2**31 - 1, -(2**31))) for _ in range(rng.randrange(6))]
        ).astype(dtype)

    i64, i32, f32, u8, u64 = np.int64, np.int32, np.float32, np.uint8, np.uint64
    table = np.zeros(0x110000, np.uint8)
    tokens, text = np.zeros(1 << 17, np.uint64), rng.choice(("", "ab c", "é\U0001f600 x"))
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("count_kinds", (text, some(i64), table, some(i64))),
        ("block_texts", (text, some(i64), some(i32), some(i32), table)),
        ("has_long_tag", (text.encode() + rng.choice((b"", b"<a '", b"<p " + b"a " * 2_000)),)),
        ("lower_case", (text, rng.choice((table, some(u8))))),
        ("leading_words", (text, "a\nb\n", table, 1, 2, some(i32), some(i32))),
        ("text_hashes", (text, some(i64), some(u8), table, tokens, 3, some(i64), some(u64), some(u64))),
        ("attribute_tokens", _random_attributes(rng, some, table, text)),
        ("node_fingerprints", (_random_page(rng, some), *_random_nodes(rng, some, table, text))),
        ("nearest", (some(i32), some(u8), some(i32))),
        ("within", (some(i32), some(u8), some(u8))),
        ("shingles", (text.encode(), some(u8), tokens, 3, 5, rng.choice((-1, 0, 1, 9)), some(u64))),
        (
            "shingles",
            (text.encode(), table[: 1 << 16] + rng.randrange(4), tokens, 3, 5, rng.choice((0, 1, 9)), some(u64)),
        ),
        ("countable", (_random_page(rng, some), *[np.zeros(4, np.uint8)] * 4, *_one_wrong(rng, some, _ones(u8, 1, 2)))),
        ("leaves", (_random_page(rng, some), *_one_wrong(rng, some, _ones(u8, 1, 2, 2)))),
        (
            "leaf_frequencies",
            (_random_page(rng, some), *_one_wrong(rng, some, [*_ones(u8, 1, 2, 2), *_ones(i64, 2, 2)])),
        ),
        ("cut_rows", (_random_page(rng, some), *_random_cuts(rng, some))),
        ("predict_trees", _random_trees(rng, some)),
        ("name_parts", (b"class name", some(i64), some(i64), 1, 2, some(i32))),
        ("answer_questions", _random_questions(rng, some)),
        ("date_signs", ([text, "3 days ago"], rng.choice((-1, 40, 10_000)), some(u8))),
        ("static_features", (_random_page(rng, some), *_random_features(rng, some, table, text))),
        ("word_features", (some(i64), some(i64), some(f32), some(f32))),
        ("name_features", (some(i64), some(i64), some(f32), some(i32), some(i32), some(i32), some(i64), some(f32))),
        ("network_logits", _random_network(rng, some)),
        ("smooth", (*_random_units(rng, some), rng.choice((0, 1_000)))),
        ("flatten", ("no element", {}, 1, 2, some(u8), some(u8), table, 1, 10, 10)),
    ]
    refused = 0
    for name, arguments in calls:
        try:
            getattr(module, name)(*arguments)
        except (TypeError, ValueError):
            refused += 1
    return refused


def _random_page(rng: random.Random, some: Callable[[type[np.generic]], Any]) -> tuple[Any, ...]:
    """Arrays of a page of one element and one block, of which one is not what it should be."""
    one, page = np.ones(1, np.int32), np.zeros(1, np.int32)
    arrays: list[Any] = [one.astype(np.int16), -one, one, page, page, one, page, one, page, page, page, one]
    return _one_wrong(rng, some, arrays)[: rng.choice((11, 12, 12, 12))]


def _one_wrong(rng: random.Random, some: Callable[[type[np.generic]], Any], arguments: list[Any]) -> tuple[Any, ...]:
    """The arguments, of which mostly one array is not what it should be."""
    if rng.random() < 0.9:
        place = rng.choice([place for place, array in enumerate(arguments) if isinstance(array, np.ndarray)])
        arguments[place] = some(arguments[place].dtype.type)
    return tuple(arguments)


def _random_questions(rng: random.Random, some: Callable[[type[np.generic]], Any]) -> tuple[Any, ...]:
    """Two values and two questions, of which one array is not what it should be."""
    begin, name_of, asked = np.array([0, 5, 10]), np.array([0, 1], np.int32), np.array([1, 2], np.uint32)
    parts = rng.choice((b"a\nss", b"a\nss", b"", b"a\n\nb", b"a"))
    arrays: list[Any] = [b"class name", begin, name_of, asked, rng.choice((0, 2)), parts, asked, asked.copy()]
    return _one_wrong(rng, some, arrays)


def _random_features(
    rng: random.Random, some: Callable[[type[np.generic]], Any], properties: Any, text: str
) -> tuple[Any, ...]:
    """Other arguments of its features, of which one is not what it should be."""
    sizes = len(STATIC_NAMES), len(PAGE_FEATURE_NAMES), 1, LEVELS
    arrays: list[Any] = [
        *(np.ones(4, np.uint32), np.zeros(4, np.int8), np.arange(16, dtype=np.int64), np.zeros(1, np.int32)),
        *(np.arange(2, dtype=np.int32), np.ones(1, np.int64), np.zeros(1, np.uint8), properties, np.ones(1, np.int32)),
        *(rng.choice((text, "a", "a\nb")), rng.choice((text, "a")), 1, rng.getrandbits(64)),
        *(np.empty(size, dtype) for size, dtype in zip(sizes, (np.float32, np.float32, float, np.int64), strict=True)),
        np.empty(1, np.int32),
    ]
    return _one_wrong(rng, some, arrays)


def _random_attributes(
    rng: random.Random, some: Callable[[type[np.generic]], Any], properties: Any, text: str
) -> tuple[Any, ...]:
    """Two attributes, of which one array is not what it should be."""
    values = bytes(rng.choice(b"a1f-#/.: =\xc3\xa9\n") for _ in range(rng.choice((2, 9, 300, 1_100))))
    words, place = (
        (b"ab\na", b"a\n\nb", b"", text.encode()),
        (rng.random() < 0.8, b"a", b"f/", rng.choice((b"/1", b""))),
    )
    arguments = [
        *(values, np.array([0, 1, len(values)]), np.arange(2, dtype=np.int32), np.arange(2, dtype=np.int32)),
        *(["class", text], np.array([rng.randrange(7) for _ in range(2)], np.uint8), words, place, properties),
        *(np.zeros(2, np.uint64), np.zeros(2, np.uint8)),
    ]
    return _one_wrong(rng, some, arguments)


def _random_nodes(
    rng: random.Random, some: Callable[[type[np.generic]], Any], properties: Any, text: str
) -> tuple[Any, ...]:
    """Other arguments of the fingerprints of a page of one element and one block, of which one is wrong."""
    arguments = [
        *(np.ones(4, np.uint64), np.ones(4, np.uint8), np.zeros(4, np.uint8), np.zeros(1, np.int32)),
        *(np.arange(2, dtype=np.int32), np.ones(1, np.uint64), np.full(1, 6, np.uint8), np.zeros(1, np.uint64), text),
        *(np.array([0, rng.choice((1, 9))]), properties, np.ones(1 << 17, np.uint64), 3, 5, 7, 9, 1),
        np.zeros(2, np.uint64),
    ]
    return _one_wrong(rng, some, arguments)


def _ones(dtype: type[np.generic], *lengths: int) -> list[Any]:
    return [np.ones(length, dtype) for length in lengths]


def _random_trees(rng: random.Random, some: Callable[[type[np.generic]], Any]) -> tuple[Any, ...]:
    """Two trees of two nodes over rows of three numbers, of which one array is wrong."""
    nodes, rows = np.array([0, 1], np.int32), np.zeros(6, np.float32)
    arrays = [rows, nodes, nodes.copy(), rows[:2].copy(), np.array([0, 1, 1, 0], np.int32), rows[:2].copy()]
    *arguments, sums = _one_wrong(rng, some, [*arrays, np.empty(2)])
    return *arguments, rng.choice((0, 3)), rng.choice((-1, 0, 3, 3, 3)), sums


def _random_cuts(rng: random.Random, some: Callable[[type[np.generic]], Any]) -> tuple[Any, ...]:
    """Other arguments of the cuts of a page of one block with one property, of which one array is wrong."""
    logits, levels = np.array([rng.choice((-9.0, 0.5, np.inf, np.nan))]), np.array([0.0, np.inf])
    arrays = [logits, np.ones(1), np.ones(1, np.float32), levels, np.ones(3, np.float32)]
    return _one_wrong(rng, some, [*arrays, np.empty(2 * (28 + 1 + 2 * 6 + 3), np.float32), np.empty(2)])


def _random_units(rng: random.Random, some: Callable[[type[np.generic]], Any]) -> tuple[Any, ...]:
    """Scores of two units, of which one array is not what it should be."""
    scores = [np.array([-1, 0], np.int32), *_ones(np.uint8, 2), *_ones(np.float64, 2), *_ones(np.int64, 2)]
    return _one_wrong(rng, some, [*scores, *_ones(np.float64, 2, 2), *_ones(np.int32, 2)])


def _random_network(rng: random.Random, some: Callable[[type[np.generic]], Any]) -> tuple[Any, ...]:
    """One network of three and two units over two features of two blocks, of which one array is wrong."""
    parts = [np.ones(2, np.float32), rng.choice((np.ones(2, np.float32), np.ones(2, np.float32), some(np.float32)))]
    windows = [np.zeros(6, np.int64), np.array([1, 2, 1, 1, 2, 2]), np.ones(6, np.float32)]
    arrays = [*_ones(np.float32, 2, 2, 2 * PANEL, 3, 2), *windows, *_ones(np.float32, 12 * PANEL, 2, 2)]
    *arguments, logits = _one_wrong(rng, some, [*arrays, np.empty(2, np.float32)])
    chosen = tuple(parts[: rng.choice((0, 1, 2, 2, 2, 2))])
    return chosen, 4.0, *arguments, 0.5, rng.choice((-1, 0, 1, 1, 1, 2)), logits
