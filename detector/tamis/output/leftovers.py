"""Text that was never meant for readers: borders of conditional comments, markup that was never rendered, labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.output.code import in_code_blocks
from tamis.page.tree import as_mask, elements_with_names, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tamis.page.page import Page

# A conditional comment, ``<!--[if IE]> ... <![endif]-->``, and a lone ``<![endif]>`` are dropped by the parser. But in
# ``<!--[if IE]> --> ... [endif]-->`` the last part is text to a parser and to a browser.
# Linear: no two of the repeated parts begin with the same character.
_CONDITIONAL_COMMENT: Final = re.compile(
    r"(?=.*(?:-->|<!--|\[(?:if |endif\])))(?:\[(?:if [^\]]{1,60}|endif)\]|<!|--+|>| )++"
)
_COMMENT_STARTS: Final = frozenset("<[-")
_LABELS: Final = frozenset(
    {
        *("advertisement", "advertisements", "anzeige", "werbung", "publicité", "publicidad", "advertentie", "reklama"),
        *(f"advertisement {number}" for number in range(1, 10)),
        "this advertisement has not loaded yet, but your article continues below.",
        *("continue reading below", "this article continues below", "scroll to continue with content"),
        *(f"{text} continues {where} advertisement" for text in ("story", "article") for where in ("below", "after")),
        *(f"add to {whose}{kind}list" for whose in ("", "my ", "your ") for kind in ("", "grocery ", "shopping ")),
        *("1x 2x", "1x 2x 3x", "1x2x3x", "1x 2x 3x 4x", "½x 1x 2x", "½x 1x 2x 3x", "0.5x 1x 2x"),  # of a recipe
    }
)
_IS_LENGTH_OF_LABEL: Final = np.isin(np.arange(max(map(len, _LABELS)) + 2), [*map(len, _LABELS)])  # False beyond
# Linear: no match has the sign that begins one. Of page builders for WordPress; of templates.
_SHORTCODE: Final = re.compile(r"\[/?(?:vc|et_pb|fusion|av)_\w{1,40}[^\[\]]{0,2000}\]")
_SIGNS: Final = ((b"[", _SHORTCODE), (b"{", re.compile(r"\{[{%]")), (b"<", re.compile("<%")))
"""How each of them begins, which is searched fast: most texts have none of these characters."""
_TEMPLATE: Final = re.compile(r"(?:\s|\{\{[^{}]{0,300}\}\}|\{%[^%]{0,300}%\}|<%[^%]{0,300}%>)+")


def find_leftovers(texts: Sequence[str]) -> list[int]:
    """Numbers of the texts, white space normalised, that are leftovers as a whole.

    These are borders of conditional comments, labels of advertisements, and buttons of recipes.
    """
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    possible = _IS_LENGTH_OF_LABEL.take(lengths, mode="clip").nonzero()[0].tolist()
    found = [number for number in possible if texts[number].lower() in _LABELS]
    whole = "\n".join(texts)
    if "<" in whole or ">" in whole or "[" in whole:  # single characters are searched fast
        starts = (number for number, text in enumerate(texts) if text[:1] in _COMMENT_STARTS)
        found += [number for number in starts if _CONDITIONAL_COMMENT.fullmatch(texts[number])]
    return found


def unrendered_runs(page: Page) -> dict[int, str]:
    """Text without markup of page builders and templates, of the runs outside code that have some.

    Of templates, only runs that hold nothing else are left out: others may be about them.
    """
    signs = (sign for start, pattern in _SIGNS if start in page.utf8 for sign in pattern.finditer(page.text))
    if not (at := [sign.start() for sign in signs]):
        return {}
    in_code = in_code_blocks(page) | within(page, as_mask(page, elements_with_names(page, "code", "kbd", "samp")))
    found: dict[int, str] = {}
    for run in {*(page.run_offset.searchsorted(at, side="right") - 1).tolist()}:
        text = page.text[page.run_offset[run] : page.run_offset[run + 1]]
        if not in_code[page.run_node[run]]:
            found[run] = "" if _TEMPLATE.fullmatch(text) else _SHORTCODE.sub("", text)
    return found
