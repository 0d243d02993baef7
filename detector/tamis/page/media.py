"""Media queries, for the one screen that pages are read for: 1280 by 800 pixels, light, with a mouse and scripts."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final

from tamis.page.css_values import read_length

_WIDTH, _HEIGHT = 1280.0, 800.0  # px
_QUERY: Final = re.compile(r"\(([^()]*+)\)|([\w-]++)")
_RANGE: Final = re.compile(r"(?:(.*?)\s*([<>]=?)\s*)?(width|height)\s*(?:([<>]=?|=)\s*(.*))?")
_FEATURES: Final = {
    "orientation": "landscape", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference",
    "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine", "scripting": "enabled",
}  # fmt: skip


@lru_cache(maxsize=1_024)
def holds(media: str) -> bool:
    """Whether one of some media queries holds for the screen."""
    return len(media) <= 1_000 and any(map(_query_holds, media.lower().split(",")))


def _query_holds(query: str) -> bool:
    is_negated, is_any, found = False, False, []
    for feature, word in _QUERY.findall(query):
        if word in {"not", "or"}:
            is_negated, is_any = is_negated or word == "not", is_any or word == "or"
        elif word not in {"and", "only"}:
            found.append(word in {"all", "screen"} if word else _has_feature(feature.strip()))
    return (any(found) if is_any else all(found)) != is_negated


def _has_feature(feature: str) -> bool:
    name, _, value = map(str.strip, feature.partition(":"))
    bound, _, side = name.partition("-")
    if bound in {"min", "max"} and side in {"width", "height"}:
        size = _WIDTH if side == "width" else _HEIGHT
        wanted = read_length(value, math.inf if bound == "min" else 0.0)
        return size >= wanted if bound == "min" else size <= wanted
    found = _RANGE.fullmatch(feature)
    if found is not None and (found[2] or found[4]):
        size = _WIDTH if found[3] == "width" else _HEIGHT
        ends = [(read_length(found[1]), found[2], size)] if found[2] else []
        ends += [(size, found[4], read_length(found[5]))] if found[4] else []
        return all(a <= b if operator[0] == "<" else a >= b for a, operator, b in ends)
    return name in _FEATURES and value in {"", _FEATURES[name]}


def is_supported(condition: str) -> bool:
    """Whether the condition of ``@supports`` holds, as nearly all do in browsers of today."""
    return not condition.startswith("not") and "-ms-" not in condition
