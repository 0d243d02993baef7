"""Gold pages made by hand: what a person has marked as wrong, put right, as training and evaluation read it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_winnow.inspector.documents import gold_name
from winnow.output.text import join_blocks

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy_winnow.inspector.inspection import Inspection
    from scrapy_winnow.inspector.tried import Tried

_LABELS: Final = ("content", "template")


class GoldFile:
    """A file of gold pages, one JSON object a line, with their HTML in the folder ``html`` beside it.

    ``winnow train --gold FILE`` and ``winnow evaluate FILE --pages html`` read it as it is. A page that is saved again
    takes the place of its earlier row.

    Args:
        path: the file, ending in ``.jsonl``; it need not be there yet.

    Raises:
        ValueError: the file is there, and a line of it is no such object.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[str, dict[str, Any]] = {}
        if path.exists():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if line.strip():
                    row = _row(line, number)
                    self._rows[str(row["id"])] = row

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, page_id: object) -> bool:
        return page_id in self._rows

    def save(self, inspection: Inspection, tried: Tried, marks: dict[int, str]) -> str:
        """Save a page as it was cleaned, with the marked blocks put right; return the name that it has in the file.

        Args:
            inspection: the page.
            tried: the settings that it was looked at with.
            marks: ``content`` or ``template``, by number of block.

        Raises:
            ValueError: a mark is neither, or of no block of the page.
        """
        page = inspection.page
        decided = inspection.cleaned(tried).decided
        kept = ~decided.template[page.n :] if decided is not None else np.zeros(page.m, bool)
        kept = kept.copy()
        for block, label in marks.items():
            if label not in _LABELS or not 0 <= block < page.m:
                raise ValueError(f"not a mark: {label!r} of block {block}")
            kept[block] = label == "content"
        page_id = gold_name(inspection.document)
        html = self.path.parent / "html" / f"{page_id}.html"
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_bytes(inspection.document.html)
        self._rows[page_id] = {
            "id": page_id,
            "url": inspection.document.url,
            "gold_text": join_blocks(page, inspection.texts, kept),
            "marks": [{"text": inspection.texts[block], "is": label} for block, label in sorted(marks.items())],
        }
        self._write()
        return page_id

    def _write(self) -> None:
        """Write the file anew beside the old one, and put it in its place: it is whole at any time."""
        beside = self.path.with_name(f"{self.path.name}.new")
        rows = (json.dumps(row, ensure_ascii=False) + "\n" for row in self._rows.values())
        with beside.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(rows)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)


def _row(line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if not isinstance(row, dict) or "id" not in row or "gold_text" not in row:
            raise ValueError  # noqa: TRY301  said once, below
    except ValueError as error:
        raise ValueError(f"line {number} is not a JSON object with 'id' and 'gold_text'") from error
    return row
