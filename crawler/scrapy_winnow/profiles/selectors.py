"""CSS selectors that find one element of a page, as short and as lasting as may be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from winnow.page.page import Page

_PLAIN: Final = re.compile(r"-?[A-Za-z_][\w-]*\Z", re.ASCII)
_NUMBERED: Final = re.compile(r"\d{3,}|[0-9a-f]{8,}", re.IGNORECASE)
"""Names that are made anew for each page or release: ``post-4711``, ``css-1x2y3z4w``."""


class Selectors:
    """Finds selectors for the elements of one page.

    Args:
        page: the page.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._names = [_name(element.tag) for element in page.elements]
        self._ids: dict[str, list[int]] = {}
        self._classes: dict[str, set[int]] = {}
        self._tags: dict[str, set[int]] = {}
        self._children: dict[int, list[int]] = {}
        for index, pairs in enumerate(page.attributes):
            attributes = dict(pairs)
            if "id" in attributes:
                self._ids.setdefault(attributes["id"], []).append(index)
            for name in attributes.get("class", "").split():
                self._classes.setdefault(name, set()).add(index)
            self._tags.setdefault(self._names[index], set()).add(index)
        for index, parent in enumerate(page.parent.tolist()):
            self._children.setdefault(parent, []).append(index)

    def of(self, element: int) -> str:
        """Return a selector that finds this element and no other of the page."""
        steps: list[str] = []
        while True:
            if own := self._alone(element):
                return " > ".join([own, *steps])
            parent = int(self._page.parent[element])
            if parent < 0:
                return " > ".join([self._names[element], *steps])
            steps.insert(0, self._among_siblings(element, parent))
            element = parent

    def _alone(self, element: int) -> str | None:
        """A selector for this one element by what it is alone with: its id, its name, or a class or two."""
        attributes: Mapping[str, str] = dict(self._page.attributes[element])
        name = self._names[element]
        own = attributes.get("id", "")
        if _lasting(own) and self._ids[own] == [element]:
            return f"#{own}"
        if self._tags[name] == {element} and name.isalpha():
            return name
        classes = [each for each in attributes.get("class", "").split() if _lasting(each)]
        of_name = self._tags[name]
        for each in classes:
            if of_name & self._classes[each] == {element}:
                return f"{name}.{each}"
        for first in classes:
            for second in classes:
                if first < second and of_name & self._classes[first] & self._classes[second] == {element}:
                    return f"{name}.{first}.{second}"
        return None

    def _among_siblings(self, element: int, parent: int) -> str:
        name = self._names[element]
        alike = [sibling for sibling in self._children[parent] if self._names[sibling] == name]
        if not name.isalpha() and not re.fullmatch(r"h[1-6]", name):
            return f":nth-child({self._children[parent].index(element) + 1})"
        return name if len(alike) == 1 else f"{name}:nth-of-type({alike.index(element) + 1})"


def _lasting(name: str) -> bool:
    return bool(_PLAIN.match(name)) and not _NUMBERED.search(name)


def _name(tag: object) -> str:
    return str(tag).rpartition("}")[2].lower()
