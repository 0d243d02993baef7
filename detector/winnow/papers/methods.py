"""What all site-level methods have in common, and the one table that they are found in.

A method works in two passes. :meth:`SiteMethod.learn` reads the pages of a site and keeps what it needs to know;
:meth:`SiteTemplate.label` then labels one page after the other, those that were learned from and new ones of the same
site. So a site of thousands of pages needs no more than one tree at a time.

    from winnow.papers.methods import method
    from winnow.papers.pages import SitePages

    pages = SitePages.of_files(folder, files)
    template = method("site-level").learn(pages)
    for read in pages.read_all():
        labels = template.label(read)  # labels.template: bool[n + m], elements first, then blocks
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol, cast, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """What a method says of the units of a page.

    Attributes:
        template: bool[n + m], the units that are template, elements first.
        content: bool[n + m], the units that are surely not, as examples to learn from; ``None`` where the method has
            no rule for them, so that training takes what no other page of the site has.
    """

    template: NDArray[np.bool_]
    content: NDArray[np.bool_] | None = None


class SiteTemplate(Protocol):
    """What a method has learned of a site."""

    @property
    def pages(self) -> int:
        """Number of different pages that it was learned from."""
        ...

    def label(self, read: SitePage) -> Labels:
        """Label the units of a page of the site, one of those learned from (by its ``number``) or a new one."""
        ...


class Place(Protocol):
    """A template in the original source of a page."""

    @property
    def begin(self) -> int:
        """Its first byte, -1 where the source could not be followed."""
        ...

    @property
    def end(self) -> int:
        """The byte behind its last one."""
        ...


@runtime_checkable
class LocatingTemplate(Protocol):
    """What a method has learned that knows where in the source of a page its templates are."""

    def templates(self, read: SitePage) -> Sequence[Place]:
        """Return the templates of a page by their places in its source, in order."""
        ...


class SiteMethod(Protocol):
    """A method is a frozen dataclass of its parameters, each made by :func:`parameter`.

    Its docstring names the paper and section, the parameters with defaults and units, the cost, and when to use it.
    Values that will not do raise `ValueError` in ``__post_init__``.

    Attributes:
        name: name of the method, as in :data:`METHODS`.
    """

    name: ClassVar[str]

    def learn(self, pages: SitePages, progress: Progress | None = None) -> SiteTemplate:
        """Find out what the site repeats.

        Args:
            pages: its pages, read as often as the method needs; ``pages.distinct()`` leaves copies out.
            progress: called for each page that is done.

        Raises:
            SiteError: the site will not do: one page only, only copies, no links.
        """
        ...


def parameter(default: Any, description: str, unit: str = "", choices: tuple[str, ...] = ()) -> Any:
    """Return a dataclass field that is a parameter of a method, and an option of ``winnow site``.

    Args:
        default: its default; the option takes values of its type.
        description: what it does, in half a sentence.
        unit: what it is measured in ("pages", "characters", "share, 0 to 1").
        choices: the values that it may have, where they are few.
    """
    return field(default=default, metadata={"description": description, "unit": unit, "choices": choices})


class Parameter(NamedTuple):
    """One parameter of a method; see :func:`parameter`."""

    name: str
    default: Any
    description: str
    unit: str
    choices: tuple[str, ...]


class Entry(NamedTuple):
    """Where a method is defined, and what it does in one line; its module is imported when it is used."""

    module: str
    type_name: str
    description: str


METHODS: Final[dict[str, Entry]] = {
    "site-level": Entry(
        "winnow.papers.page_level", "SiteLevel", "units on a tenth of the pages, by normalised markup or by text"
    ),
    "node-hashes": Entry(
        "winnow.papers.repeats",
        "NodeHashes",
        "topmost DOM nodes that occur often, to the letter, and small gaps",
    ),
    "text-windows": Entry(
        "winnow.papers.repeats", "TextWindows", "stretches of text that occur often, whatever their markup"
    ),
    "site-independent-blocks": Entry(
        "winnow.papers.site_independent",
        "SiteIndependentBlocks",
        "elements of block tags whose text is on a tenth of the pages; content only where no other page has it",
    ),
    "clusters": Entry(
        "winnow.papers.clustering",
        "Clusters",
        "pages clustered by template, and what most of a cluster share",
    ),
    "menus": Entry("winnow.papers.menus", "Menus", "what a page has in common with the few pages of its menu"),
}
"""Every site-level method by its name."""


def method_type(name: str) -> type[SiteMethod]:
    """Return the class of a method.

    Raises:
        ValueError: there is no such method.
    """
    if name not in METHODS:
        raise ValueError(f"no such method: {name!r}; there are {', '.join(METHODS)}")
    entry = METHODS[name]
    return cast("type[SiteMethod]", getattr(import_module(entry.module), entry.type_name))


def method(name: str, **parameters: Any) -> SiteMethod:
    """Return a method with some of its parameters set.

    Raises:
        ValueError: there is no such method, it has no such parameter, or a value will not do.
    """
    known = {each.name for each in parameters_of(name)}
    if unknown := parameters.keys() - known:
        raise ValueError(f"{name} has no parameter {', '.join(sorted(unknown))}; it has {', '.join(sorted(known))}")
    return method_type(name)(**parameters)


def parameters_of(name: str) -> list[Parameter]:
    """List the parameters of a method.

    Raises:
        ValueError: there is no such method.
    """
    listed = fields(cast("Any", method_type(name)))
    return [Parameter(each.name, each.default, **each.metadata) for each in listed if "description" in each.metadata]
