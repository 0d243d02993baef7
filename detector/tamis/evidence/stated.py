"""Keeps what a page states to be its subject: the ingredients and steps of a recipe, questions and their answers.

JSON-LD and microdata of the types Recipe, HowTo and FAQPage name the text of the page itself. Other types do not: gold
text has less than half of what products state, and the whole page of a forum is one QAPage. Only blocks of the page are
kept: what it does not show stays away.
"""

from __future__ import annotations

import re
from itertools import accumulate, chain, compress, groupby, islice
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.evidence.draft import Reason
from tamis.metadata.json_ld import json_ld_scripts, json_ld_things
from tamis.metadata.values import as_list, unescape_text
from tamis.page.text import WORD
from tamis.page.tree import elements_named, is_among, once_per_page, prefix_sums, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tamis.arrays import Flags
    from tamis.evidence.draft import Draft
    from tamis.page.page import Page

_FIELDS: Final = {
    "Recipe": ("recipeIngredient", "ingredients", "recipeInstructions"),
    "HowTo": ("supply", "tool", "step", "steps"),
    "FAQPage": ("mainEntity",),
}
"""The fields of each type whose texts are kept."""

_TEXTS: Final = ("name", "text", "itemListElement", "item", "steps", "acceptedAnswer", "suggestedAnswer")
"""Fields of the things in them that are read, in this order."""

_MARKUP: Final = re.compile(r"<[^<>]{1,200}>")  # linear: a tag ends at the next angle bracket
_MAX_TEXTS: Final = 500  # of a list

_SHINGLE_WORDS: Final = 3


def keep_stated(draft: Draft) -> None:
    """Keep the blocks that a page states to be its recipe, its instructions, or its questions and answers."""
    stated = stated_blocks(draft.page)
    if stated is not None and draft.kept.any():
        draft.overrule(stated & ~draft.kept & ~draft.written_by_readers, Reason.MAIN_CONTENT, cut=False)


def missing_fraction(draft: Draft) -> float:
    """Fraction of the ingredients and steps that a page states of which the kept text lacks words; 0 without any."""
    stated = (texts for name, texts in stated_lists(draft.page) if name not in _FIELDS["FAQPage"])
    words_of = [WORD.findall(text.lower()) for text in chain.from_iterable(stated)]
    if not words_of:
        return 0.0
    kept = set(chain.from_iterable(WORD.findall(text.lower()) for text in compress(draft.texts, draft.kept.tolist())))
    return fmean(sum(map(kept.__contains__, words)) < 0.9 * len(words) for words in words_of)


def shown_by_scripts(draft: Draft, seen: Flags) -> Flags | None:
    """Find what nobody sees of a recipe that the page states word for word, and of which it shows nothing.

    A script from elsewhere shows it: the page tells search engines no less.

    Args:
        draft: the decision before hidden text is cut.
        seen: bool[m], the blocks that have text that is not hidden.

    Returns:
        bool[m], blocks of its ingredients and steps; ``None`` if there are none, as on most pages.
    """
    page = draft.page
    lists = [texts for name, texts in stated_lists(page) if name in _FIELDS["Recipe"]]
    if not lists or missing_fraction(draft) > 0.1:
        return None
    found = _find(page, list(chain.from_iterable(lists))) & draft.kept
    return None if (found & seen).any() else found


@once_per_page
def stated_blocks(page: Page) -> Flags | None:
    """bool[m], the blocks that a page states to be its subject; ``None`` if there are none, as on most pages."""
    marked = _marked_elements(page)
    texts = stated_texts(page)
    if not (marked or texts):
        return None
    found = _find(page, texts) if texts else np.zeros(page.m, bool)
    for element in marked:
        found[page.block_begin[element] : page.block_end[element]] = True
    elsewhere = elements_named(page, "nav", "footer", "aside")
    found &= ~within(page, is_among(page, elsewhere))[page.block_node]
    return found if found.any() else None


def stated_texts(page: Page) -> list[str]:
    """The distinct texts that the JSON-LD of a page states, such as each ingredient."""
    return list(dict.fromkeys(chain.from_iterable(texts for _, texts in stated_lists(page))))


@once_per_page
def stated_lists(page: Page) -> list[tuple[str, list[str]]]:
    """Return the first ten fields that the JSON-LD of a page states, each with its texts in their order."""
    if not any(f'{name}"' in script for script in json_ld_scripts(page) for name in _FIELDS):
        return []
    fields = (
        (name, [text for text, _ in groupby(islice(_texts(thing[name]), _MAX_TEXTS))])  # a step may be its own name
        for thing in json_ld_things(page)
        for kind in as_list(thing["@type"])
        if isinstance(kind, str)
        for name in _FIELDS.get(kind.rpartition("/")[2], ())
        if name in thing
    )
    return list(islice(fields, 10))


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a field, however its things are nested: HowToSection, HowToStep, Question."""
    waiting = [value]
    for _ in range(_MAX_TEXTS):
        if not waiting:
            break
        value = waiting.pop()
        if isinstance(value, str):
            yield from _lines(value)
        elif isinstance(value, list):
            waiting += reversed(value[:_MAX_TEXTS])
        elif isinstance(value, dict):
            waiting += [value.get(name) for name in reversed(_TEXTS)]


def _lines(text: str) -> Iterator[str]:
    text = unescape_text(text[:10_000])
    for line in _MARKUP.sub("\n", text).split("\n"):
        normalized = " ".join(line.split())
        if normalized:
            yield normalized


def _marked_elements(page: Page) -> list[int]:
    """Elements that microdata marks as ingredients and steps, and as questions and answers of an FAQPage."""
    marked = _elements_containing(page, ("recipeingredient", "ingredients", "recipeinstructions"), "itemprop")
    pages = _elements_containing(page, ("schema.org/faqpage",), "itemtype")
    if pages:
        inside = within(page, is_among(page, pages))
        marked += [element for element in _elements_containing(page, ("name", "text"), "itemprop") if inside[element]]
    return marked


def _elements_containing(page: Page, parts: Sequence[str], name: str) -> list[int]:
    return page.attributes.elements_with([place for place, _ in page.attributes.containing(parts, name)])


def _find(page: Page, texts: Sequence[str]) -> Flags:
    """bool[m], blocks that a text of up to 40 words consists of, or nearly all of whose words stand in a row in texts.

    A text of one word is found only near others.
    """
    words_of_texts = [WORD.findall(text.lower()) for text in texts]
    words_of_blocks = [WORD.findall(text.lower()) for text in page.block_texts()]
    found = _with_known_shingles(words_of_blocks, words_of_texts)
    of_one_word = np.zeros(page.m, bool)
    for begin, end, size in _spell_out(words_of_blocks, words_of_texts):
        (of_one_word if size == 1 else found)[begin:end] = True
    sums, blocks = prefix_sums(found), np.arange(page.m)
    near = sums[np.minimum(blocks + 4, page.m)] > sums[np.maximum(blocks - 3, 0)]  # within three blocks
    return found | (of_one_word & near)


def _with_known_shingles(words_of_blocks: Sequence[list[str]], words_of_texts: Sequence[list[str]]) -> Flags:
    """bool[m], blocks of at least two shingles, most of which the texts have: data is worded a little differently."""
    known = set(chain.from_iterable(map(_shingles, words_of_texts)))
    found = np.zeros(len(words_of_blocks), bool)
    for block, words in enumerate(words_of_blocks):
        count = len(words) - _SHINGLE_WORDS + 1
        samples = (tuple(words[at : at + _SHINGLE_WORDS]) for at in (0, count // 2, count - 1))
        if count >= 2 and any(map(known.__contains__, samples)):  # most blocks have none of them
            found[block] = sum(map(known.__contains__, _shingles(words))) >= 0.7 * count
    return found


def _shingles(words: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[begin:] for begin in range(_SHINGLE_WORDS)), strict=False)


def _spell_out(
    words_of_blocks: Sequence[list[str]], words_of_texts: Sequence[list[str]]
) -> Iterator[tuple[int, int, int]]:
    """Yield first block, end and number of words of each row of blocks that consists of a text of up to 40 words."""
    whole = {tuple(words) for words in words_of_texts if 0 < len(words) <= 40}
    lengths: dict[tuple[str, ...], set[int]] = {}  # of the texts that begin with some words
    for words in whole:
        lengths.setdefault(words[:_SHINGLE_WORDS], set()).add(len(words))
    line = list(chain.from_iterable(words_of_blocks))
    begins = [0, *accumulate(map(len, words_of_blocks))]
    block_at = {begin: block for block, begin in reversed(list(enumerate(begins)))}
    for block, begin in enumerate(begins[:-1]):
        for length in range(1, _SHINGLE_WORDS + 1):
            for size in lengths.get(tuple(line[begin : begin + length]), ()):
                end = block_at.get(begin + size)
                if end is not None and tuple(line[begin : begin + size]) in whole:
                    yield block, end, size
