"""Fingerprints of the units of a page: equal markup with equal content has an equal 64-bit number on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.fingerprints.compiled_attributes import marked_tokens
from winnow.fingerprints.link_targets import LinkTargets
from winnow.fingerprints.normalised_attributes import LABELLED_BY_VALUE, attribute_tokens
from winnow.fingerprints.text_hashes import TextHashes
from winnow.hashing import BASE, INVERSE, hash_text, inverse_powers, mix, powers
from winnow.page.attributes.values import AttributeValues
from winnow.page.events import Events
from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import IS_BLOCK_LEVEL, TAG_ID, TAG_NAMES, tag_set
from winnow.page.text.characters import character_tokens
from winnow.page.text.kinds import character_properties

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.core import Core
    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]

FINGERPRINT_VERSION: Final = 1
"""Number of the definition below; counts of different versions must never meet, so it is a part of every stored key."""

UNSEEN: Final = tag_set("head", "script", "style", "template", "link", "meta", "base", "title")
"""Look-up table over tag ids: subtrees that no fingerprint around them takes notice of."""

_TAG_TOKEN: Final = np.array([hash_text(f"<{name}>") for name in TAG_NAMES], np.uint64)
_CLOSE: Final = np.uint64(hash_text("</>"))
_BLOCK: Final = np.uint64(hash_text("block"))


def text_fingerprints(page: Page) -> Hashes:
    """Hash the text of every unit, markup aside.

    Case is folded, white space collapses over the borders of runs, a border of a text block counts as white space, and
    digits are kept.

    Returns:
        uint64[n + m], elements first; 0 for units without text.
    """
    return TextHashes(page).of_units(page)


def node_fingerprints(page: Page) -> Hashes:
    """Hash markup with content of every unit: tags, attributes, text and children.

    Attributes are normalised by :mod:`~winnow.fingerprints.normalised_attributes`, links relative to ``page.url``;
    text as in :func:`text_fingerprints`; comments, white space, and the subtrees of :data:`UNSEEN` leave no trace in
    the elements around them. A block is the inline markup between two borders of block-level elements, under the name
    of its element.

    Returns:
        uint64[n + m], elements first; 0 for elements of :data:`UNSEEN` and inside them.
    """
    values = page.attributes.by_name
    core = compiled()
    if core is not None and isinstance(values, AttributeValues):
        return _compiled_node_fingerprints(core, page, values)
    return _node_fingerprints(page, TextHashes(page))


def both_fingerprints(page: Page) -> tuple[Hashes, Hashes]:
    """:func:`node_fingerprints` and :func:`text_fingerprints` of one page, with the text hashed once."""
    if compiled() is not None:
        return node_fingerprints(page), text_fingerprints(page)
    text = TextHashes(page)
    return _node_fingerprints(page, text), text.of_units(page)


def _compiled_node_fingerprints(core: Core, page: Page, values: AttributeValues) -> Hashes:
    """Do what :func:`_node_fingerprints` does in one walk over the events."""
    links = LinkTargets(page.url, _base(page))
    table = page.attributes
    tokens, marks = marked_tokens(core, page, values, links)
    unknown = np.zeros(page.n, np.uint64)
    for i, name in page.unknown_names.items():
        unknown[i] = hash_text(name)
    hashes = np.zeros(page.n + page.m, np.uint64)
    core.node_fingerprints(
        *(page.arrays, _TAG_TOKEN, IS_BLOCK_LEVEL, UNSEEN, table.first, table.begin, tokens, marks, unknown),
        *(page.text, page.run_offset, character_properties(), character_tokens()),
        *(BASE, INVERSE, int(_CLOSE), int(_BLOCK), TAG_ID["input"], hashes),
    )
    return hashes


def _node_fingerprints(page: Page, text: TextHashes) -> Hashes:
    """Lay the page out as one sequence of events (element opens, run, element closes) and hash slices of it."""
    events = Events.of(page)
    opens, closes, runs = events.opens, events.closes, events.runs
    seen = ~within(page, UNSEEN[page.tag])
    own = mix(_TAG_TOKEN[page.tag] + _attribute_tokens(page, seen))
    tokens = np.zeros(len(events), np.uint64)
    tokens[opens] = own
    tokens[closes] = _CLOSE
    run_hashes = text.of_runs()
    tokens[runs] = run_hashes
    kept = np.empty(len(tokens), bool)
    kept[opens] = kept[closes] = seen
    kept[runs] = (run_hashes != 0) & seen[page.run_node]
    tokens[~kept] = 0

    exponent = prefix_sums(kept)
    sums = np.zeros(len(tokens) + 1, np.uint64)
    np.cumsum(tokens * powers(0, int(exponent[-1]) + 1)[exponent[:-1]], out=sums[1:])

    borders = np.sort(np.concatenate([b[IS_BLOCK_LEVEL[page.tag]] for b in (opens, closes)] + [opens[:1], closes[:1]]))
    block_begin = borders[np.searchsorted(borders, runs[page.block_run_begin]) - 1] + 1
    block_end = borders[np.searchsorted(borders, runs[page.block_run_end - 1])]
    begin = np.concatenate([opens, block_begin])
    end = np.concatenate([closes + 1, block_end])
    hashes = (sums[end] - sums[begin]) * inverse_powers(exponent[begin])
    hashes[page.n :] += mix(_TAG_TOKEN[page.tag[page.block_node]] + _BLOCK)
    return mix(hashes)


def _attribute_tokens(page: Page, seen: NDArray[np.bool_]) -> Hashes:
    """uint64[n]: sum of the tokens of an element's attributes, so that their order says nothing."""
    table = page.attributes
    tokens = attribute_tokens(table, LinkTargets(page.url, _base(page)), table.firsts(seen))
    own = table.sums(tokens)
    controls, values = _typed_values(page)
    own[controls] -= tokens[values]
    for i, name in page.unknown_names.items():
        own[i] ^= np.uint64(hash_text(name))
    return own


def _typed_values(page: Page) -> tuple[list[int], list[int]]:
    """Form controls whose value is no label, and the place of each one's value in the page's table."""
    table, inputs = page.attributes, np.flatnonzero(page.tag == TAG_ID["input"])
    place_of = table.named("value")
    controls, places = [], []
    for i, kind, value in zip(
        inputs.tolist(), table.values_of("type", inputs), table.values_of("value", inputs), strict=True
    ):
        if value is not None and (kind or "text").lower() not in LABELLED_BY_VALUE:
            controls.append(i)
            places.append(place_of[value])
    return controls, places


def _base(page: Page) -> str | None:
    """Address of the page's first ``<base href>``."""
    return next(filter(None, page.attributes.values_of("href", np.flatnonzero(page.tag == TAG_ID["base"]))), None)
