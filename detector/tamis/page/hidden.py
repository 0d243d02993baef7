"""Text that nobody sees: what a page's own styles, attributes and elements hide, and nothing on the page opens.

Such text is a way to put words into whatever reads the output. What a reader can open is content: tabs, accordions, the
rest of a text; so is what comes in by a movement or a script. What opens it is looked for on the page: a control that
names an element or stands beside it, a script that names it, a style for another state. Words in names count only for
what has a label beside it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from tamis.page.attributes import NAME_WORD
from tamis.page.cascade import find_hiding
from tamis.page.css_values import INHERITED, OPENABLE
from tamis.page.selectors import previous_siblings
from tamis.page.tree import (
    TAG_ID,
    as_mask,
    cached_on_page,
    elements_with_attributes,
    elements_with_names,
    prefix_sums,
    run_lengths,
    sums_over_runs,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.arrays import Flags
    from tamis.page.cascade import Hiding
    from tamis.page.page import Page


Hidden = Literal["drop", "keep"]
HIDDEN: Final[tuple[Hidden, ...]] = get_args(Hidden)
_FEW_CHARACTERS: Final = 4  # of a sign for screen readers, which parts what stands beside it
_CONTROLS: Final = tag_set("button", "summary", "label")
_ROLES: Final = frozenset({"button", "tab"})
_NAMING: Final = re.compile(r"aria-controls|for|popovertarget|commandfor|data-(?:.*-)?(?:target|toggle|tab|panel|href)")
_WORDS: Final = frozenset({
    *("accordion", "accordian", "answer", "answers", "collapse", "collapsed", "collapsible", "expand", "expandable"),
    *("expander", "faq", "faqs", "panel", "panels", "pane", "question", "spoiler", "tab", "tabs", "toggle", "trigger"),
})  # fmt: skip
"""Words in the names of what opens, where a label stands beside it."""
_PAYWALL: Final = frozenset({"paywall", "paywalled", "premium", "subscriber", "subscribers", "subscription"})
_MIN_PARAGRAPHS: Final = 4  # of a story behind a paywall
_MAX_LABEL: Final = 150  # characters at most
_MAX_CHILDREN: Final = 4  # of an element with one control
_MIN_ALIKE: Final = 3  # panels with the same classes
_MAX_CLASSES: Final = 20  # of an element
_MAX_SEARCHED: Final = 200_000_000  # bytes of scripts, once for each name that is looked for in them
_QUOTES: Final = ((b'"', b'"'), (b"'", b"'"), (b".", b"'"), (b".", b'"'), (b"'.", b""), (b'".', b""))
"""What stands around a class in a script."""


def hidden_runs(page: Page, wanted: Flags) -> Flags:
    """Find what nobody sees of some blocks.

    Args:
        page: the page.
        wanted: bool[m], the blocks that matter; elsewhere some of what is hidden may not be found.

    Returns:
        bool[r], the runs that are hidden.
    """
    hidden = np.zeros(page.r, bool)
    hiding, setters = find_hiding(page, wanted)
    if not hiding:
        return hidden
    opened = _opened(page, hiding)
    lids = [element for element, how in hiding.items() if how.way not in INHERITED and element not in opened]
    if lids:
        hidden = within(page, as_mask(page, lids))[page.run_node]
    for way, setter in setters.items():
        setting = [element for element, how in hiding.items() if how.way == way and element not in opened]
        hidden |= (as_mask(page, setting)[setter] & (setter >= 0))[page.run_node]
    return hidden


def _opened(page: Page, hiding: dict[int, Hiding]) -> set[int]:
    """Those of the hidden elements that readers or scripts open."""
    whole, rp = {TAG_ID["html"], TAG_ID["body"]}, TAG_ID["rp"]
    found = {
        element
        for element, how in hiding.items()
        if page.tag[element] in whole
        or how.moves
        or ((how.way == "clip" or page.tag[element] == rp) and _is_sign(page, element))
    }
    left = [element for element, how in hiding.items() if how.way in OPENABLE and element not in found]
    found.update(element for element in left if hiding[element].is_shown_in_other_state)
    if left:
        found |= _beside_controls(page, np.array(left))
    if not (left := [element for element in left if element not in found]):
        return found
    scripts, named = _Scripts(page), _named_by_controls(page)
    characters = sums_over_runs(page, run_lengths(page))
    for element in left:
        above = int(page.parent[element])
        if (above in found and characters[above] == characters[element]) or _is_named(
            dict(page.attributes[element]), named, scripts
        ):
            found.add(element)
    return found


def _is_sign(page: Page, element: int) -> bool:
    """Whether an element for screen readers has no letter or digit: it parts what stands beside it."""
    begin, end = page.run_offset[page.run_begin[element]], page.run_offset[page.run_end[element]]
    return bool(end - begin <= _FEW_CHARACTERS) and not any(map(str.isalnum, page.text[begin:end]))


def _with_words(page: Page, words: frozenset[str]) -> Flags:
    """bool[n], elements with one of some words in their class or id."""
    found: list[int] = []
    for name in ("class", "id"):
        values = page.attributes.first_index_by_value(name).items()
        indices = [index for value, index in values if not words.isdisjoint(map(str.lower, NAME_WORD.findall(value)))]
        found += page.attributes.elements_with(indices)
    return as_mask(page, found)


@cached_on_page
def _controls(page: Page) -> Flags:
    """bool[n], elements that a reader clicks to change the page."""
    table = page.attributes
    links = table.containing(("#", "javascript:"), "href")
    found = table.elements_with([index for index, href in links if href.startswith(("#", "javascript:"))])
    found += [element for element, role in page.attribute("role").items() if role in _ROLES]
    found += table.elements_having("aria-expanded", "onclick")
    is_link = (page.tag == TAG_ID["a"]) & ~as_mask(page, table.elements_having("href"))
    controls: Flags = as_mask(page, found) | is_link | _CONTROLS[page.tag]
    return controls


def _beside_controls(page: Page, elements: NDArray[np.intp]) -> set[int]:
    """Those of some elements that stand beside their only control, or beside a label as others do."""
    controls, characters = prefix_sums(_controls(page)), sums_over_runs(page, run_lengths(page))
    inside = controls[page.end] - controls[:-1]  # of each element
    parent, before = page.parent[elements], previous_siblings(page)[elements]
    after = np.where(page.end[elements] < page.end[parent], page.end[elements], -1)
    children = np.bincount(page.parent[1:], minlength=page.n)[parent]
    found = (inside[parent] - _controls(page)[parent] - inside[elements] == 1) & (children <= _MAX_CHILDREN)
    for other in (before, after):
        found |= (other >= 0) & (inside[other] == 1) & (characters[other] <= _MAX_LABEL)
    begin, first = page.attributes.begin, page.attributes.first
    keys = [first[begin[each] : begin[each + 1]].tobytes() for each in elements.tolist()]
    pairs = list(zip(parent.tolist(), keys, strict=True))
    has_label = (before >= 0) & (characters[before] > 0) & (characters[before] <= _MAX_LABEL)
    has_label &= ~as_mask(page, elements)[before] & (page.tag[before] != TAG_ID["p"])
    if has_label.any():
        is_named = _with_words(page, _WORDS)
        alike = Counter(key for _, key in set(pairs))  # in other elements
        found |= has_label & [key != b"" and alike[key] >= _MIN_ALIKE for key in keys]
        found |= has_label & (is_named[elements] | is_named[parent] | is_named[before])
    paragraphs = Counter(pairs)
    is_rest = np.array([paragraphs[pair] >= _MIN_PARAGRAPHS for pair in pairs])
    if is_rest.any():
        found |= is_rest & _with_words(page, _PAYWALL)[elements]
    return set(elements[found].tolist())


@cached_on_page
def _named_by_controls(page: Page) -> set[str]:
    """Ids, classes and values that controls name."""
    table = page.attributes
    names = filter(_NAMING.fullmatch, table.names)
    values = [
        word for name in names for value in table.first_index_by_value(name) for word in value.split()[:_MAX_CLASSES]
    ]
    values += [href for _, href in table.containing(("#",), "href") if href[:1] == "#"]
    found = {value.lstrip("#").strip() for value in values}
    stating = {name for name in table.names if name[:5] == "data-" or name == "id"}
    for pairs in table.of_elements(_controls(page).nonzero()[0], stating):
        found.update(f"{name}={value}" for name, value in pairs if value or name == "id")
    for _, stated in elements_with_attributes(page, "template"):  # where React puts what it sends hidden
        kind, _, number = stated.get("id", "").partition(":")
        found.add(f"S:{number}" if kind in {"B", "P"} else "")
    if "tab" in page.attribute("role").values():
        found.add("role=tabpanel")
    return found - {""}


def _is_named(stated: dict[str, str], named: set[str], scripts: _Scripts) -> bool:
    """Whether a control or a script of the page names an element, by its attributes."""
    identity, classes = stated.get("id", "").strip(), stated.get("class", "").split()[:_MAX_CLASSES]
    labels = (f"id={label}" for label in stated.get("aria-labelledby", "").split()[:_MAX_CLASSES])
    pairs = (f"{name}={value}" for name, value in stated.items() if name[:5] == "data-" or name == "role")
    if not named.isdisjoint((identity, *(f".{name}" for name in classes), *labels, *pairs)):
        return True
    if identity and any(scripts[mark + identity.encode()] for mark in (b'"', b"'", b"#")):
        return True
    return any(
        scripts[name] and any(scripts[before + name + behind] for before, behind in _QUOTES)
        for name in map(str.encode, classes)
    )


class _Scripts(dict[bytes, bool]):
    """Whether names are in the scripts of a page; after so many bytes were searched, all are."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._texts = [page.raw_texts[element] for element in elements_with_names(page, "script")]
        self._left = _MAX_SEARCHED // (sum(map(len, self._texts)) + 1)

    def __missing__(self, name: bytes) -> bool:
        found = self[name] = len(self) >= self._left or any(name in text for text in self._texts)
        return found
