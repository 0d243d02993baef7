r"""Text that stays text: what Markdown would take for markup gets a backslash, and nothing else does.

What is markup depends on where it stands: ``1.`` at the start of a line is a list, ``_`` within a word is nothing. So
there is one function for text anywhere, and one for the lines that are made of it.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

# Linear: what looks ahead stops at the character that it begins with.
_ANYWHERE: Final = re.compile(
    r"""
      `
    | \\(?=[!-/:-@\[-`{-~]|$)                            # an escape, or a line break
    | <(?=[a-zA-Z/!?])                                   # a tag
    | &(?=\#[0-9]+;|\#[xX][0-9a-fA-F]+;|[a-zA-Z][a-zA-Z0-9]*;)
    | \](?=[(:\[])                                       # the end of a link's text, the name of a reference
    | (?<![ \n])\*|\*(?![ \n])
    | (?<![^\W_])_|_(?![^\W_])                           # within a word it is one of its characters
    | ~(?=~|\Z)|(?<=[^\s/])~                                # a number may be about ~5, and an address in ~home
    """,
    re.VERBOSE,
)
_FIRST: Final = re.compile(r"[`\\<&\[\]*_~]")
"""What all of these begin with: most texts have none of it, and are left alone after one look."""
_WITH_BRACKETS: Final = re.compile(f"{_ANYWHERE.pattern}|[\\[\\]]", re.VERBOSE)
# Linear: matched at the start of a line alone, and of two runs of the same characters none follow each other.
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
# Linear: a dollar sign looks as far as the next one.
_FORMULA: Final = re.compile(r"\$(?=[^\s$](?:[^$]*[^\s$])?\$(?!\d))")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IN_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\<>\u2028\u2029]")
_ENTITY: Final = re.compile(r"&(?=#[0-9]+;|#[xX][0-9a-fA-F]+;|[a-zA-Z][a-zA-Z0-9]*;)")


def escape_text(text: str, *, brackets: bool = False, dollars: bool = False) -> str:
    """Escape what would be inline markup wherever it stood; the borders of the text are taken for those of a word.

    Args:
        text: text, white space normalised.
        brackets: escape all square brackets, as inside a link or an image, which they would end.
        dollars: escape dollar signs, see :func:`has_formula`.
    """
    escaped = text if text.isprintable() else _CONTROLS.sub("", text)
    if _FIRST.search(escaped):
        escaped = (_WITH_BRACKETS if brackets else _ANYWHERE).sub(r"\\\g<0>", escaped)
    return escaped.replace("$", "\\$") if dollars else escaped


def has_formula(text: str) -> bool:
    """Tell whether a paragraph holds what many renderers take for a formula, as the dollars of ``$x$`` do."""
    return "$" in text and _FORMULA.search(text) is not None


def escape_lines(text: str) -> str:
    """Escape what would be a heading, list, quotation, rule or table at the start of each line."""
    return "\n".join(_AT_LINE_START.sub(_with_backslash, line) if _begins(line) else line for line in text.split("\n"))


def _begins(line: str) -> bool:
    first = line[:1]
    return (first in _SIGNS_AT_START or first.isdecimal()) and _AT_LINE_START.match(line) is not None


def _with_backslash(found: re.Match[str]) -> str:
    if found["number"]:
        return f"{found['number']}\\{found['point']}"
    return f"\\{found['mark']}"


def write_address(url: str) -> str:
    """Write the target of a link or the source of an image."""
    bare = _ENTITY.sub("&amp;", _IN_ADDRESS.sub(lambda found: quote(found[0]), url.strip()))
    if not bare:
        return "<>"
    return bare if _balanced(bare) else bare.replace("(", "\\(").replace(")", "\\)")


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def write_title(text: str) -> str:
    """Write the title of a link or an image, quoted, with a space before it; nothing for an empty one."""
    words = _ENTITY.sub("&amp;", text.replace("\\", "\\\\").replace('"', '\\"')).replace("\n", "&#10;")
    return f' "{words}"' if words.strip() else ""


def write_code_span(code: str) -> str:
    """Write code within a line, between more backticks in a row than it holds itself."""
    code = code.replace("\n", " ")
    fence = "`" * _shortest_missing(code)
    padded = code[0] == "`" or code[-1] == "`" or (code[0] == code[-1] == " " and not code.isspace())
    return f"{fence} {code} {fence}" if padded else f"{fence}{code}{fence}"


def _shortest_missing(code: str) -> int:
    runs = {len(run) for run in re.findall(r"`+", code)}
    return next(length for length in range(1, len(runs) + 2) if length not in runs)
