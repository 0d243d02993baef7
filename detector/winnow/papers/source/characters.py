"""Where each character of a run of text is in the source: entities are several bytes for one character."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNIT: Final = re.compile(r"&\#?\w+;?|\r\n?|[^&\r]+|&", re.ASCII)


def character_offsets(source: bytes, run: str, encoding: str) -> list[int] | None:
    """Return the byte at which each character of a run begins, and where the last one ends.

    Args:
        source: the bytes of the run in the source.
        run: the run, as the parser returned it.
        encoding: name of the codec.

    Returns:
        As many offsets as the run has characters, and one more; ``None`` where the bytes do not spell the run, as
        around stray end tags.
    """
    offsets = [0]
    parts: list[str] = []
    for text, size in _units(source.decode(encoding, "replace"), encoding):
        if len(text) == len(size):
            for bytes_of_character in size:
                offsets.append(offsets[-1] + bytes_of_character)
        else:
            offsets += [offsets[-1]] * (len(text) - 1) + [offsets[-1] + sum(size)]
        parts.append(text)
    return offsets if "".join(parts) == run and offsets[-1] == len(source) else None


def _units(source: str, encoding: str) -> Iterator[tuple[str, list[int]]]:
    """Cut a source into entities, line ends and plain text: what each spells, and the sizes of its own characters."""
    for found in _UNIT.finditer(source):
        unit = found[0]
        size = [len(character.encode(encoding, "replace")) for character in unit]
        if unit[0] == "&" and (spelt := html.unescape(unit)) != unit:
            end = 0
            while end < min(len(spelt), len(unit)) and spelt[-1 - end] == unit[-1 - end] and unit[-1 - end] != ";":
                end += 1
            entity = len(unit) - end
            yield spelt[: len(spelt) - end], [sum(size[:entity])]
            if end:
                yield unit[entity:], size[entity:]
        elif unit[0] == "\r":
            yield "\n", [sum(size)]
        else:
            yield unit, size
