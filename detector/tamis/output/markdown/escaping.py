r"""Escapes text in Markdown: characters that would be markup get a backslash, and no others.

Whether a character is markup depends on its position: ``1.`` at the start of a line is a list, ``_`` within a word is
text. So there is one function for text anywhere, and one for whole lines.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final
from urllib.parse import quote

# Linear: each lookahead stops at the first character that cannot follow, at the next < at the latest.
_ANYWHERE: Final = re.compile(
    r"""
      `
    | \\(?=[!-/:-@\[-`{-~]|$)                            # an escape, or a line break
    | <(?=[a-zA-Z/!?]|[^\s<>@]++@)                        # a tag, or an address of mail
    | &(?=\#[0-9]+;|\#[xX][0-9a-fA-F]+;|[a-zA-Z][a-zA-Z0-9]*;)
    | \](?=[(:\[])                                       # the end of a link's text or of a reference's name
    | (?<![ \n])\*|\*(?![ \n])
    | (?<![^\W_])_|_(?![^\W_])                           # not within a word
    | ~(?=~|\Z)|(?<=[^\s/])~                                # a number may be about ~5, and an address in ~home
    """,
    re.VERBOSE,
)
_MAY_BE_MARKUP: Final = re.compile(r"[`\\<&\[\]*_~]")  # most texts have none of these
_WITH_BRACKETS: Final = re.compile(f"{_ANYWHERE.pattern}|[\\[\\]]", re.VERBOSE)
# Linear: only matched at the start of a line, and no two runs of the same characters follow each other.
_AT_LINE_START: Final = re.compile(
    r"""
    \A(?:
      (?P<number>\d{1,9})(?P<point>[.)])(?=\s|$)
    | (?P<mark>
          \#{1,6}(?=\s|$)
        | >
        | [-+*](?=\s|$)
        | =+[ ]*$
        | -+[ ]*$
        | [|:-](?=[ |:]*-)[ |:-]*$                       # the line under the head of a table
        | \[[ xX]\](?=\s|$)                              # a box to tick
      )
    )
    """,
    re.VERBOSE,
)
_SIGNS_AT_START: Final = frozenset("#>-+*=|:[")
# Linear: the lookahead ends at the next dollar sign.
_FORMULA: Final = re.compile(r"\$(?=[^\s$](?:[^$]*[^\s$])?\$(?!\d))")
_MARKUP_IN_TEX: Final = re.compile(r"<(?=[a-zA-Z/!?])|\](?=\()|`")
_IN_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\<>\u2028\u2029]")
_ENTITY: Final = re.compile(r"&(?=#[0-9]+;|#[xX][0-9a-fA-F]+;|[a-zA-Z][a-zA-Z0-9]*;)")


def escape_text(text: str, *, brackets: bool = False, dollars: bool = False) -> str:
    """Escape inline markup in text with normalised white space, as if white space were around it.

    With ``brackets`` all square brackets are escaped, which would end a link or an image; with ``dollars`` also dollar
    signs, see :func:`has_formula`.
    """
    if _MAY_BE_MARKUP.search(text):
        text = (_WITH_BRACKETS if brackets else _ANYWHERE).sub(r"\\\g<0>", text)
    return text.replace("$", "\\$") if dollars else text


def has_formula(text: str) -> bool:
    """Whether many renderers would take a part of a paragraph for a formula, such as ``$x$``."""
    return "$" in text and _FORMULA.search(text) is not None


def escape_lines(text: str) -> str:
    """Escape line starts that would be a heading, list, quotation, rule or table."""
    return "\n".join(map(_escape_line, text.split("\n"))) if "\n" in text else _escape_line(text)


def _escape_line(line: str) -> str:
    if line[:1] not in _SIGNS_AT_START and not line[:1].isdecimal():
        return line
    return _AT_LINE_START.sub(lambda found: f"{found['number'] or ''}\\{found['point'] or found['mark']}", line)


def write_formula(formula: str) -> str:
    """Write TeX between dollar signs so that a renderer without formulas makes neither HTML, links nor code of it."""
    return _MARKUP_IN_TEX.sub(lambda found: f"{found[0]} " if found[0] != "`" else "\\lq ", formula)


def write_address(url: str) -> str:
    """Write the target of a link or the source of an image."""
    bare = _ENTITY.sub("&amp;", _IN_ADDRESS.sub(lambda found: quote(found[0]), url.strip()))
    if "(" in bare or ")" in bare:
        depths = [0, *accumulate((character == "(") - (character == ")") for character in bare)]
        if not min(depths) == depths[-1] == 0:
            return bare.replace("(", "\\(").replace(")", "\\)")
    return bare or "<>"


def write_title(text: str) -> str:
    """Write the title of a link or an image, quoted, after a space; "" for an empty one."""
    words = _ENTITY.sub("&amp;", text.replace("\\", "\\\\").replace('"', '\\"'))
    words = words.replace("<", "&lt;").replace("\n", "&#10;")
    return f' "{words}"' if words.strip() else ""


def write_code_span(code: str) -> str:
    """Write code within a line, between a number of backticks that it does not hold."""
    code = code.replace("\n", " ")
    runs = {len(run) for run in re.findall(r"`+", code)}
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    padded = code[0] == "`" or code[-1] == "`" or (code[0] == code[-1] == " " and not code.isspace())
    return f"{fence} {code} {fence}" if padded else f"{fence}{code}{fence}"
