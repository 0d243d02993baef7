"""Writes the tables of settings and stats into their pages: ``python -m docs.reference.tables``, or ``make docs``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from scrapy_winnow.config import SETTINGS
from scrapy_winnow.stats import STATS

FOLDER: Final = Path(__file__).parent


def settings_table() -> str:
    """Return the rows of the settings."""
    rows = [f"| `{name}` | `{row.default}` | {row.unit} | {row.meaning} |" for name, row in SETTINGS.items()]
    return "\n".join(["| setting | default | unit | meaning |", "|---|---|---|---|", *rows, ""])


def stats_table() -> str:
    """Return the rows of the stats."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in STATS.items()]
    return "\n".join(["| stat | counts |", "|---|---|", *rows, ""])


def with_table(page: str, table: str) -> str:
    """Return a page with the table in the place of the one that has the same head."""
    head = re.escape(table.partition("\n")[0])
    return re.sub(rf"^{head}\n(\|.*\n)*", lambda _: table, page, count=1, flags=re.MULTILINE)


PAGES: Final = {FOLDER / "settings.md": settings_table, FOLDER / "stats.md": stats_table}

if __name__ == "__main__":
    for file, table in PAGES.items():
        file.write_text(with_table(file.read_text(encoding="utf-8"), table()), encoding="utf-8")
