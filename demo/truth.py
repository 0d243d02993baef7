"""What the generator knows about a page and writes beside it, never into it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from demo.nodes import Run


@dataclass(frozen=True, slots=True)
class PageTruth:
    """The truth about one page.

    Attributes:
        path: Path and query of the page's URL.
        kind: ``article``, ``listing``, ``empty`` or ``error``.
        runs: The text runs of the body in document order, each ``(text, is template)``, white space normalised.
        charset: What the bytes are encoded in.
        declared: Where the charset is declared: ``header``, ``meta``, ``both`` or ``nowhere``.
        well_formed: False for pages with broken markup.
        story: A name that pages on several hosts share where they carry the same story.
    """

    path: str
    kind: str
    runs: tuple[Run, ...]
    charset: str = "utf-8"
    declared: str = "both"
    well_formed: bool = True
    story: str | None = None

    @property
    def template_text(self) -> str:
        """The template's text, one run a line."""
        return "\n".join(text for text, template in self.runs if template)

    @property
    def content_text(self) -> str:
        """The content's text, one run a line."""
        return "\n".join(text for text, template in self.runs if not template)


def write_truth(path: Path, pages: Iterable[PageTruth]) -> None:
    """Write one page a line, as JSON."""
    lines = [json.dumps(asdict(page), ensure_ascii=False) + "\n" for page in pages]
    path.write_text("".join(lines), encoding="utf-8")


def read_truth(path: Path) -> dict[str, PageTruth]:
    """Read what `write_truth` wrote, by path."""
    pages: dict[str, PageTruth] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            fields = json.loads(line)
            fields["runs"] = tuple((text, template) for text, template in fields["runs"])
            page = PageTruth(**fields)
            pages[page.path] = page
    return pages
