"""CSS selectors matched against the arrays of a page, parsed by cssselect.

Every step of a selector is an operation on whole arrays, so the time is linear in the page, and no tree of a parser is
needed.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from cssselect import SelectorError, parse, parser

from tamis.core import core
from tamis.page.tree import TAG_ID, as_mask, cached_on_page, within

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tamis.arrays import Flags
    from tamis.page.page import Page

    Order = NDArray[np.intp]

_MAX_LENGTH: Final = 500
_COMPOUND: Final = r"(?=[a-zA-Z.#])([a-zA-Z][\w-]*+)?+((?:[.#]-?+[a-zA-Z_][\w-]*+)*+)"
_PLAIN: Final = re.compile(rf"{_COMPOUND}(?:(?:\s*+>\s*+|\s++){_COMPOUND})*+", re.ASCII)
_STEP: Final = re.compile(rf"(\s*+>\s*+|\s++|^){_COMPOUND}", re.ASCII)
_MARK: Final = re.compile(r"([.#])([\w-]++)", re.ASCII)
_STATES: Final = frozenset({
    *("hover", "focus", "focus-within", "focus-visible", "active", "target", "visited", "fullscreen", "modal"),
    *("popover-open", "open"),
})  # fmt: skip
"""Pseudo-classes that no element has before a reader does something."""
_OPERATORS: Final[dict[str, Callable[[str, str], bool]]] = {
    "=": str.__eq__,
    "|=": lambda value, wanted: value == wanted or value.startswith(f"{wanted}-"),
    "^=": lambda value, wanted: wanted != "" and value.startswith(wanted),
    "$=": lambda value, wanted: wanted != "" and value.endswith(wanted),
    "*=": lambda value, wanted: wanted != "" and wanted in value,
}


@lru_cache(maxsize=2_048)
def parse_selector(selector: str) -> parser.Selector | None:
    """Parse one selector; ``None`` for what cssselect does not know, for pseudo-elements, and for very long ones."""
    if len(selector) > _MAX_LENGTH:
        return None
    if _PLAIN.fullmatch(selector):
        return _parse_plain(selector)
    with suppress(SelectorError, RecursionError):
        if (found := parse(selector))[0].pseudo_element is None:
            return found[0]
    return None


def _parse_plain(selector: str) -> parser.Selector:
    """Parse names, classes and ids one after the other, as most rules have them, ten times as fast as cssselect."""
    tree: Any = None
    for combinator, name, marks in _STEP.findall(selector):
        compound: Any = parser.Element(None, name or None)
        for sign, word in _MARK.findall(marks):
            compound = (parser.Class if sign == "." else parser.Hash)(compound, word)
        tree = compound if tree is None else parser.CombinedSelector(tree, combinator.strip() or " ", compound)
    return parser.Selector(tree)


def select(page: Page, selector: parser.Selector, *, among: Flags, in_any_state: bool = False) -> Flags:
    """bool[n], the elements that a selector matches; none if it has a part that is not evaluated here.

    Args:
        page: the page.
        selector: one of :func:`parse_selector`.
        among: bool[n], elements that matter; if none of them matches, nothing need be found.
        in_any_state: take every state of an element for given, such as ``:hover`` or a class that no element has.
    """
    try:
        return _Matcher(page, in_any_state).select(selector.parsed_tree, among)
    except NotImplementedError:
        return np.zeros(page.n, bool)


class _Matcher(NamedTuple):
    page: Page
    in_any_state: bool

    def select(self, tree: Any, among: Flags) -> Flags:
        """bool[n], what a selector matches, found from its right end; ``among`` as for :func:`select`."""
        if isinstance(tree, parser.CombinedSelector):
            found = self.select(tree.subselector, among)
            if not np.count_nonzero(left := found & among):
                return left
            return found & _combine(self.page, self.select(tree.selector, everything(self.page)), tree.combinator)
        found = everything(self.page)
        while not isinstance(tree, parser.Element):
            found = found & self._simple(tree)
            if not np.count_nonzero(left := found & among):
                return left
            tree = tree.selector
        return found if tree.element is None else found & _named(self.page, tree.element)

    def _simple(self, tree: Any) -> Flags:
        """bool[n], what the last simple selector of a compound one matches."""
        page = self.page
        if isinstance(tree, parser.Class | parser.Hash):
            name = tree.class_name if isinstance(tree, parser.Class) else tree.id
            found = _with_word(page, "class" if isinstance(tree, parser.Class) else "id", name, False)
            return everything(page) if self.in_any_state and not np.count_nonzero(found) else found
        if isinstance(tree, parser.Function):
            return _nth(page, tree)
        if isinstance(tree, parser.Matching | parser.SpecificityAdjustment):
            found = np.zeros(page.n, bool)
            for each in tree.selector_list:
                found |= self.select(each, everything(page))
            return found
        return everything(page) if self.in_any_state else self._state(tree)

    def _state(self, tree: Any) -> Flags:
        if isinstance(tree, parser.Attrib):
            return _with_attribute(self.page, tree)
        if isinstance(tree, parser.Negation):
            return ~self.select(tree.subselector, everything(self.page))
        if isinstance(tree, parser.Pseudo):
            return _pseudo(self.page, tree.ident)
        raise NotImplementedError


@cached_on_page
def everything(page: Page) -> Flags:
    """bool[n], all elements."""
    return np.ones(page.n, bool)


def _named(page: Page, name: str) -> Flags:
    if (tag := TAG_ID.get(name.lower())) is not None:
        return np.equal(page.tag, tag)
    return as_mask(page, [element for element, other in page.unknown_names.items() if other.lower() == name.lower()])


@cached_on_page
def _with_word(page: Page, attribute: str, word: str, any_case: bool) -> Flags:
    """bool[n], elements with a word in their attributes of a name, in any ASCII case or as it is."""
    table = page.attributes
    return as_mask(page, core.elements_with_word(table.arrays, table.names.get(attribute, -1), word, any_case))


def _with_attribute(page: Page, tree: parser.Attrib) -> Flags:
    if tree.value is None:
        return as_mask(page, page.attributes.elements_having(tree.attrib.lower()))
    wanted, is_any_case = tree.value.value or "", getattr(tree, "flag", None) == "i"  # from cssselect 1.6 on
    if tree.operator == "~=":
        return _with_word(page, tree.attrib.lower(), wanted, is_any_case)
    values = page.attributes.first_index_by_value(tree.attrib.lower())
    if (compare := _OPERATORS.get(tree.operator)) is None:
        raise NotImplementedError(tree.operator)
    if is_any_case:
        indices = [index for value, index in values.items() if compare(value.lower(), wanted.lower())]
    else:
        indices = [index for value, index in values.items() if compare(value, wanted)]
    return as_mask(page, page.attributes.elements_with(indices))


def _combine(page: Page, chosen: Flags, combinator: str) -> Flags:
    """bool[n], elements that stand to a chosen one as the right side of a combinator does to the left."""
    parent = page.parent
    if combinator in {" ", ">"}:
        found = (within(page, chosen) if combinator == " " else chosen).take(parent, mode="wrap")
        found[0] = False  # the root
        return found
    if combinator == "+":
        previous = previous_siblings(page)
        return chosen.take(previous, mode="wrap") & (previous >= 0)
    first = np.full(page.n + 1, page.n, np.intp)  # chosen child of each element, of the root's parent at the end
    children = chosen.nonzero()[0][::-1]
    first[parent[children]] = children
    return np.less(first[parent], np.arange(page.n))


@cached_on_page
def previous_siblings(page: Page) -> Order:
    """intp[n], the element before each in its parent, -1 for none."""
    previous, elements = np.full(page.n, -1, np.intp), np.arange(page.n)
    following = page.end.clip(max=page.n - 1)
    is_next = (page.end < page.n) & (page.parent[following] == page.parent)
    previous[following[is_next]] = elements[is_next]
    return previous


def _pseudo(page: Page, name: str) -> Flags:
    if name in _STATES:
        return np.zeros(page.n, bool)
    if (find := _PSEUDO_CLASSES.get(name)) is None:
        raise NotImplementedError(name)
    return find(page)


def _with_any(*names: str) -> Callable[[Page], Flags]:
    return lambda page: as_mask(page, page.attributes.elements_having(*names))


def _at(position: str) -> Callable[[Page], Flags]:
    return lambda page: np.equal(_positions(page, position), 1)


_PSEUDO_CLASSES: Final[dict[str, Callable[[Page], Flags]]] = {
    "root": lambda page: np.less(page.parent, 0),
    "defined": everything,  # by scripts, where it is an element of theirs
    "empty": lambda page: (page.end == np.arange(page.n) + 1) & (page.run_begin == page.run_end),
    "link": lambda page: (page.tag == TAG_ID["a"]) & _with_any("href")(page),
    "any-link": lambda page: (page.tag == TAG_ID["a"]) & _with_any("href")(page),
    "checked": _with_any("checked", "selected"),
    "disabled": _with_any("disabled"),
    "enabled": lambda page: ~_with_any("disabled")(page),
    "only-child": lambda page: _at("first-child")(page) & _at("last-child")(page),
    "only-of-type": lambda page: _at("first-of-type")(page) & _at("last-of-type")(page),
    **{name: _at(name) for name in ("first-child", "last-child", "first-of-type", "last-of-type")},
}


def _nth(page: Page, tree: parser.Function) -> Flags:
    """bool[n], what ``:nth-child(an + b)`` and its like choose."""
    if tree.name not in {"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type"}:
        raise NotImplementedError(tree.name)
    try:
        step, start = parser.parse_series(tree.arguments)
    except ValueError as error:  # "2n of .a"
        raise NotImplementedError from error
    ahead = _positions(page, tree.name) - start
    return np.equal(ahead, 0) if not step else (ahead * step >= 0) & (ahead % step == 0)


@cached_on_page
def _positions(page: Page, name: str) -> Order:
    """intp[n], the number of each element among the children of its parent, from 1, as a pseudo-class counts them."""
    kind = page.tag if "type" in name else np.zeros(page.n, np.int16)
    count = np.arange(page.n)
    order = np.lexsort((-count if "last" in name else count, kind, page.parent))
    is_first = np.ones(page.n, bool)
    is_first[1:] = (np.diff(page.parent[order]) != 0) | (np.diff(kind[order]) != 0)
    positions = np.empty(page.n, np.intp)
    positions[order] = count - np.maximum.accumulate(np.where(is_first, count, 0)) + 1
    return positions
