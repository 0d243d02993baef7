"""Facts about a page as YAML at the head of a Markdown file, as note-takers and static site generators read it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NOT_PRINTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_front_matter(facts: Mapping[str, str | Sequence[str] | None]) -> str:
    """Write facts as YAML between lines of dashes; those that are ``None`` or empty are left out.

    Values are double-quoted scalars or lists of them, which are JSON as well: nothing in them is markup of YAML.
    """
    lines = [f"{name}: {_quote(value)}" for name, value in facts.items() if value]
    return "\n".join(["---", *lines, "---", ""]) if lines else ""


def _quote(value: str | Sequence[str]) -> str:
    written = json.dumps(value if isinstance(value, str) else list(value), ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
