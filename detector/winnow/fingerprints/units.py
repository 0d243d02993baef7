"""Fingerprints of the units of a page: equal markup with equal content has an equal 64-bit number on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.fingerprints.link_targets import LinkTargets
from winnow.fingerprints.normalised_attributes import attribute_tokens
from winnow.hashing import hash_text, inverse_powers, mix, powers
from winnow.page.events import Events
from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import IS_BLOCK_LEVEL, TAG_ID, TAG_NAMES, UNKNOWN, tag_set
from winnow.page.text.characters import CODES, character_tokens, utf16, white_space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]
    Positions = NDArray[np.int64]

FINGERPRINT_VERSION: Final = 1
"""Number of the definition below; counts of different versions must never meet, so it is a part of every stored key."""

UNSEEN: Final = tag_set("head", "script", "style", "template", "link", "meta", "base", "title")
"""Look-up table over tag ids: subtrees that no fingerprint around them takes notice of."""

_TAG_TOKEN: Final = np.array([hash_text(f"<{name}>") for name in TAG_NAMES], np.uint64)
_CLOSE: Final = np.uint64(hash_text("</>"))
_BLOCK: Final = np.uint64(hash_text("block"))
_EMPTY: Final = np.uint64(1)  # stands for a hash that happens to be 0, which means "no text"

_LABELLED_BY_VALUE: Final = frozenset({"submit", "button", "reset"})


def text_fingerprints(page: Page) -> Hashes:
    """Hash the text of every unit, markup aside.

    Case is folded, white space collapses over the borders of runs, a border of a text block counts as white space, and
    digits are kept.

    Returns:
        uint64[n + m], elements first; 0 for units without text.
    """
    return _TextHashes(page).of_units(page)


def node_fingerprints(page: Page) -> Hashes:
    """Hash markup with content of every unit: tags, attributes, text and children.

    Attributes are normalised by :mod:`~winnow.fingerprints.normalised_attributes`, links relative to ``page.url``;
    text as in :func:`text_fingerprints`; comments, white space, and the subtrees of :data:`UNSEEN` leave no trace in
    the elements around them. A block is the inline markup between two borders of block-level elements, under the name
    of its element.

    Returns:
        uint64[n + m], elements first; 0 for elements of :data:`UNSEEN` and inside them.
    """
    return _node_fingerprints(page, _TextHashes(page))


def both_fingerprints(page: Page) -> tuple[Hashes, Hashes]:
    """:func:`node_fingerprints` and :func:`text_fingerprints` of one page, with the text hashed once."""
    text = _TextHashes(page)
    return _node_fingerprints(page, text), text.of_units(page)


def _node_fingerprints(page: Page, text: _TextHashes) -> Hashes:
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
    for i in np.flatnonzero(page.tag == UNKNOWN).tolist():
        own[i] ^= np.uint64(hash_text(page.elements[i].tag))
    return own


def _typed_values(page: Page) -> tuple[list[int], list[int]]:
    """Form controls whose value is no label, and the place of each one's value in the page's table."""
    table = page.attributes
    controls, values = [], []
    for i in np.flatnonzero(page.tag == TAG_ID["input"]).tolist():
        names = dict(table[i])
        if "value" in names and names.get("type", "text").lower() not in _LABELLED_BY_VALUE:
            controls.append(i)
            values.append(table.named("value")[names["value"]])
    return controls, values


def _base(page: Page) -> str | None:
    """Address of the page's first ``<base href>``."""
    hrefs = (dict(page.attributes[i]).get("href") for i in np.flatnonzero(page.tag == TAG_ID["base"]).tolist())
    return next(filter(None, hrefs), None)


class _TextHashes:
    """Prefix sums over the characters of a page that are not white space, kept at the borders of its runs.

    A character's token says whether white space stands before it; a slice's first character is taken as one without.
    """

    def __init__(self, page: Page) -> None:
        token = character_tokens()
        codes = utf16(page.text)
        offset = page.run_offset
        if len(codes) != len(page.text):  # characters outside the basic plane are two codes
            offset = offset + prefix_sums(page.code_points >= CODES)[offset]

        ink = np.flatnonzero(~white_space().take(codes))  # take: three times as fast as indexing by uint16
        exponent = np.searchsorted(ink, offset)
        spaced = np.ones(len(ink), bool)
        np.not_equal(ink[1:], ink[:-1] + 1, out=spaced[1:])
        spaced[exponent[page.block_run_begin]] = True
        rows = codes.take(ink).astype(np.int32)
        rows += spaced * np.int32(CODES)
        weighted = token.take(rows)
        weighted *= powers(0, len(ink))
        sums = np.zeros(len(offset), np.uint64)
        if len(ink):
            inked = exponent[1:] > exponent[:-1]
            sums[1:][inked] = np.add.reduceat(weighted, exponent[:-1][inked])
            np.cumsum(sums, out=sums)
            first = rows.take(np.minimum(exponent, len(ink) - 1))
            self._correction = token.take(first & (CODES - 1)) - token.take(first)
        else:
            self._correction = sums
        self._exponent = exponent
        self._sums = sums
        self._shift = inverse_powers(exponent)

    def of(self, begin: NDArray[np.int32], end: NDArray[np.int32]) -> Hashes:
        """Hash slices of runs; 0 where there is nothing but white space."""
        hashes = mix((self._sums[end] - self._sums[begin]) * self._shift[begin] + self._correction[begin])
        hashes[hashes == 0] = _EMPTY
        hashes[self._exponent[begin] == self._exponent[end]] = 0
        return hashes

    def of_runs(self) -> Hashes:
        border = np.arange(len(self._exponent), dtype=np.int32)
        return self.of(border[:-1], border[1:])

    def of_units(self, page: Page) -> Hashes:
        return self.of(
            np.concatenate([page.run_begin, page.block_run_begin]), np.concatenate([page.run_end, page.block_run_end])
        )
