"""Keeps what a page states to be its subject: the ingredients and steps of a recipe, questions and their answers.

JSON-LD and microdata of the types Recipe, HowTo and FAQPage name the text of the page itself. Other types do not: gold
text has less than half of what products state, and the whole page of a forum is one QAPage. Only blocks of the page are
kept: what it does not show stays away.
"""

from __future__ import annotations

from itertools import accumulate, chain, compress, groupby, islice
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.evidence.draft import Reason
from tamis.metadata.json_ld import json_ld_scripts, json_ld_things, json_ld_types
from tamis.metadata.values import TAG, unescape_text
from tamis.page.text import WORD, word_windows
from tamis.page.tree import as_mask, cached_on_page, elements_with_names, prefix_sums, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tamis.arrays import Flags, Integers
    from tamis.evidence.draft import Draft
    from tamis.page.page import Page

_FIELDS: Final = {
    "Recipe": ("recipeIngredient", "ingredients", "recipeInstructions"),
    "HowTo": ("supply", "tool", "step", "steps"),
    "FAQPage": ("mainEntity",),
}
"""The fields of each type whose texts are kept."""

_MAX_TEXTS: Final = 500  # of a list


def keep_stated(draft: Draft) -> None:
    """Keep the blocks that a page states to be its recipe, its instructions, or its questions and answers."""
    stated = stated_blocks(draft.page)
    if stated is not None and np.count_nonzero(draft.kept):
        draft.overrule(stated & ~draft.kept & ~draft.written_by_readers, Reason.MAIN_CONTENT, cut=False)


def missing_fraction(draft: Draft) -> float:
    """Fraction of the ingredients and steps that a page states of which the kept text lacks words; 0 without any."""
    lists = [texts for name, texts in stated_lists(draft.page) if name not in _FIELDS["FAQPage"]]
    if not any(lists):  # as on most pages
        return 0.0
    kept = set(WORD.findall("\n".join(compress(draft.texts, draft.kept.tolist())).lower()))
    words_of_texts = [WORD.findall(text.lower()) for text in chain.from_iterable(lists)]
    lacking = sum(sum(map(kept.__contains__, words)) < 0.9 * len(words) for words in words_of_texts)
    return lacking / len(words_of_texts)


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
    found = _blocks_with(page, list(chain.from_iterable(lists))) & draft.kept
    return None if (found & seen).any() else found


def stated_blocks(page: Page) -> Flags | None:
    """bool[m], the blocks that a page states to be its subject; ``None`` if there are none, as on most pages."""
    marked = _marked_elements(page)
    texts = list(dict.fromkeys(chain.from_iterable([texts for _, texts in stated_lists(page)])))
    if not (marked or texts):
        return None
    found = _blocks_with(page, texts) if texts else np.zeros(page.m, bool)
    for element in marked:
        found[page.block_begin[element] : page.block_end[element]] = True
    elsewhere = elements_with_names(page, "nav", "footer", "aside")
    found &= ~within(page, as_mask(page, elsewhere))[page.block_node]
    return found if found.any() else None


@cached_on_page
def stated_lists(page: Page) -> list[tuple[str, list[str]]]:
    """Return the first ten fields that the JSON-LD of a page states, each with its texts in their order."""
    return list(islice(_fields(page), 10))


def _fields(page: Page) -> Iterator[tuple[str, list[str]]]:
    scripts = json_ld_scripts(page)
    if not any('Recipe"' in script or 'HowTo"' in script or 'FAQPage"' in script for script in scripts):
        return  # before they are parsed
    for thing in json_ld_things(page):
        for kind in json_ld_types(thing):
            for name in _FIELDS.get(kind, ()):
                if name in thing:
                    texts = islice(_texts(thing[name]), _MAX_TEXTS)
                    yield name, [text for text, _ in groupby(texts)]  # a step may be its own name


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a field, however its things are nested: HowToSection, HowToStep, Question."""
    names = ("name", "text", "itemListElement", "item", "steps", "acceptedAnswer", "suggestedAnswer")  # in this order
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
            waiting += [value.get(name) for name in reversed(names)]


def _lines(text: str) -> Iterator[str]:
    for line in TAG.sub("\n", unescape_text(text[:10_000])).split("\n"):
        normalized = " ".join(line.split())
        if normalized:
            yield normalized


def _marked_elements(page: Page) -> list[int]:
    """Elements that microdata marks as ingredients and steps, and as questions and answers of an FAQPage."""
    if "itemprop" not in page.attributes.names:  # as on most pages
        return []
    marked = _elements_containing(page, ("recipeingredient", "ingredients", "recipeinstructions"), "itemprop")
    pages = _elements_containing(page, ("schema.org/faqpage",), "itemtype")
    if pages:
        inside = within(page, as_mask(page, pages))
        marked += [element for element in _elements_containing(page, ("name", "text"), "itemprop") if inside[element]]
    return marked


def _elements_containing(page: Page, parts: Sequence[str], name: str) -> list[int]:
    return page.attributes.elements_with([index for index, _ in page.attributes.containing(parts, name)])


def _blocks_with(page: Page, texts: Sequence[str]) -> Flags:
    """bool[m], blocks that a text of up to 40 words consists of, or most of whose words stand in a row in texts.

    A text of one word is found only near others.
    """
    words_of_texts = [WORD.findall(text.lower()) for text in texts]
    words_of_blocks = [WORD.findall(text.lower()) for text in page.block_texts()]
    words = list(chain.from_iterable(words_of_blocks))
    begins = [0, *accumulate(map(len, words_of_blocks))]
    found = _with_known_windows(words, np.array(begins), words_of_texts)
    of_one_word = np.zeros(page.m, bool)
    for first, end, size in _spelled_out(words, begins, words_of_texts):
        (of_one_word if size == 1 else found)[first:end] = True
    sums, blocks = prefix_sums(found), np.arange(page.m)
    near = sums[np.minimum(blocks + 4, page.m)] > sums[np.maximum(blocks - 3, 0)]  # within three blocks
    return found | (of_one_word & near)


def _with_known_windows(words: list[str], begins: Integers, words_of_texts: Sequence[list[str]]) -> Flags:
    """bool[m], blocks of at least four words most of whose windows of three the texts have: data is worded otherwise.

    ``begins`` are the first words of the blocks, and the end.
    """
    known = set(chain.from_iterable(word_windows(each, 3) for each in words_of_texts))
    sums = prefix_sums(np.fromiter(map(known.__contains__, word_windows([*words, "", ""], 3)), bool, len(words)))
    counts = np.diff(begins) - 2
    found: Flags = (counts >= 2) & (sums[begins[1:] - 2] - sums[begins[:-1]] >= 0.7 * counts)
    return found


def _spelled_out(
    words: list[str], begins: list[int], words_of_texts: Sequence[list[str]]
) -> Iterator[tuple[int, int, int]]:
    """Yield first block, end and number of words of each row of blocks that consists of a text of up to 40 words."""
    wanted = {tuple(each) for each in words_of_texts if 0 < len(each) <= 40}
    sizes_by_first: dict[str, set[int]] = {}  # by their first word
    for text in wanted:
        sizes_by_first.setdefault(text[0], set()).add(len(text))
    block_at = {begin: block for block, begin in reversed(list(enumerate(begins)))}
    for block, begin in enumerate(begins[:-1]):
        for size in sizes_by_first.get(words[begin], ()) if begin < len(words) else ():
            end = block_at.get(begin + size)
            if end is not None and tuple(words[begin : begin + size]) in wanted:
                yield block, end, size
