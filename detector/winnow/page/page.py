"""A page as flat arrays: one pass over an lxml tree, and no per-node Python objects after it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from winnow.core import compiled
from winnow.page.charset import is_binary
from winnow.page.flat_tree import FlatTree, no_garbage_collection
from winnow.page.flattening.compiled import flatten_compiled
from winnow.page.flattening.walk import flatten
from winnow.page.limits import DEFAULT_LIMITS, Limits, PageTooLarge
from winnow.page.parsing import parse_html
from winnow.page.text.kinds import character_properties

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml import etree
    from numpy.typing import NDArray

    Indices = NDArray[np.int32]

__all__ = ["DEFAULT_LIMITS", "Limits", "Page", "PageTooLarge", "once_per_page"]

Array = TypeVar("Array", bound="NDArray[Any]")


@dataclass(eq=False)
class Page(FlatTree):
    """A page: its tree in flat arrays, its address, and what follows from them.

    *Units* are what gets a score: the ``n`` elements followed by the ``m`` blocks. In the tree of units a block is a
    leaf below its ``block_node``; see :attr:`unit_parent`.

    Attributes:
        url: address of the page, where known.
        binary: whether it was parsed from what is no HTML, but a PDF or a picture for example.
    """

    url: str | None = None
    binary: bool = False

    @classmethod
    def parse(
        cls, html: str | bytes, url: str | None = None, *, encoding: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Page:
        """Parse HTML the way Scrapy does, and flatten it.

        Args:
            html: the document; bytes are decoded by BOM, ``encoding``, ``meta``, or what they look like.
            url: address of the page; links are in-site or not relative to it.
            encoding: charset of the HTTP header, where there was one.
            limits: caps on size.

        Raises:
            PageTooLarge: the page is above one of the caps.
        """
        limits.check("bytes", len(html))
        page = cls.from_tree(parse_html(html, encoding), url, limits=limits)
        page.binary = encoding is None and is_binary(html)
        return page

    @classmethod
    def from_tree(cls, root: etree._Element, url: str | None = None, *, limits: Limits = DEFAULT_LIMITS) -> Page:
        """Flatten an lxml tree, such as the ``response.selector.root`` that Scrapy already holds; it is not changed.

        Raises:
            PageTooLarge: the tree is above one of the caps.
        """
        core = compiled()
        flat = flatten_compiled(core, root, limits) if core is not None else None
        if flat is None:
            with no_garbage_collection():
                nodes = list(root.iter())
                limits.check("nodes", len(nodes))
                flat = flatten(nodes)
            limits.check("depth", int(flat.depth.max(initial=-1)) + 1)
        return cls(**vars(flat), url=url)

    @cached_property
    def unit_parent(self) -> Indices:
        """int32[n + m], parent of each unit; always smaller than the unit's own index, -1 for the root."""
        return np.concatenate([self.parent, self.block_node])

    def block_texts(self) -> list[str]:
        """Text of each block (``m`` strings), white space normalised."""
        return list(self._block_texts)

    @cached_property
    def _block_texts(self) -> tuple[str, ...]:
        return tuple(self.block_lines.split("\n")) if self.m else ()

    @cached_property
    def block_lines(self) -> str:
        """The block texts joined by line feeds, of which they have none themselves."""
        text, offset, begin, end = self.text, self.run_offset, self.block_run_begin, self.block_run_end
        core = compiled()
        if core is not None:
            lines: str = core.block_texts(text, offset, begin, end, character_properties())
            return lines
        bounds = zip(offset[begin].tolist(), offset[end].tolist(), strict=True)
        return "\n".join([" ".join(text[first:behind].split()) for first, behind in bounds])

    def attribute(self, name: str) -> dict[int, str]:
        """Value of one attribute by element index, for the elements that carry it."""
        table, named = self.attributes, self.attributes.named(name)
        if not named:
            return {}
        chosen = np.zeros(len(table.first), bool)
        chosen[list(named.values())] = True
        at = np.flatnonzero(chosen[table.first])
        value_of = {place: value for value, place in named.items()}
        return dict(zip(table.element[at].tolist(), map(value_of.__getitem__, table.first[at].tolist()), strict=True))


def once_per_page(function: Callable[[Page], Array]) -> Callable[[Page], Array]:
    """Keep the array that a function makes of a page with the page, for all who ask for it; it is read-only."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def kept(page: Page) -> Array:
        known = vars(page)
        if name not in known:
            known[name] = function(page)
            known[name].flags.writeable = False
        array: Array = known[name]
        return array

    return kept
