"""Text that was never meant for readers: borders of conditional comments, markup that was never rendered, labels."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from tamis.output.code import in_code_blocks
from tamis.page.tree import elements_named, is_among, within

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
        *("story continues below advertisement", "article continues below advertisement", "continue reading below"),
        *("article continues after advertisement", "this article continues below", "scroll to continue with content"),
        *("add to list", "add to your list", "add to grocery list", "add to your grocery list", "add to shopping list"),
        *("add to your shopping list", "add to my shopping list", "add to reading list", "add to wish list"),
    }
)
_MAX_LABEL: Final = 40  # characters
_MULTIPLIERS: Final = re.compile(r"½?(?:[1-9]x ?){2,5}", re.IGNORECASE)  # of a recipe
# Linear: no match has the sign that begins one. Of page builders for WordPress; of templates.
_BUILDERS: Final = ("[vc_", "[/vc_", "[et_pb_", "[/et_pb_", "[fusion_", "[/fusion_", "[av_", "[/av_")
_SHORTCODE: Final = re.compile(r"\[/?(?:vc|et_pb|fusion|av)_\w{1,40}[^\[\]]{0,2000}\]")
_TEMPLATES: Final = ("{{", "{%", "<%")
_TEMPLATE: Final = re.compile(r"(?:\s|\{\{[^{}]{0,300}\}\}|\{%[^%]{0,300}%\}|<%[^%]{0,300}%>)+")


def find_leftovers(together: str, texts: Sequence[str]) -> list[int]:
    """Numbers of the texts, white space normalised, that are leftovers as a whole.

    These are borders of conditional comments, labels of advertisements, and buttons of recipes.

    Args:
        together: any text that has all their words.
        texts: the texts.
    """
    found = [
        number
        for number, text in enumerate(texts)
        if len(text) <= _MAX_LABEL
        and (text.lower() in _LABELS or (text[1:2] == "x" and _MULTIPLIERS.fullmatch(text) is not None))
    ]
    if "--" not in together and "[" not in together:  # one of which is in every such text
        return found
    comments = (
        number
        for number, text in enumerate(texts)
        if text[:1] in _COMMENT_STARTS and _CONDITIONAL_COMMENT.fullmatch(text)
    )
    return sorted({*found, *comments})


def unrendered_runs(page: Page) -> dict[int, str]:
    """Text without markup of page builders and templates, of the runs outside code that have some.

    Of templates, only runs that hold nothing else are left out: others may be about them.
    """
    signs = [sign for sign in (*_BUILDERS, *_TEMPLATES) if sign in page.text]
    if not signs:
        return {}
    in_code = in_code_blocks(page) | within(page, is_among(page, elements_named(page, "code", "kbd", "samp")))
    found: dict[int, str] = {}
    offsets = page.run_offset.tolist()
    for sign in signs:
        at = page.text.find(sign)
        while at >= 0:
            run = bisect_right(offsets, at) - 1
            text = found.get(run, page.text[offsets[run] : offsets[run + 1]])
            if not in_code[page.run_node[run]]:
                found[run] = "" if _TEMPLATE.fullmatch(text) else _SHORTCODE.sub("", text)
            at = page.text.find(sign, offsets[run + 1])
    return found
