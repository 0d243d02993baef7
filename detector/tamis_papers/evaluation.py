r"""Text accuracy against gold main content, page by page, with the definition of the WCXB benchmark.

Lower-cased ``\w+`` tokens are compared as multisets and the figures are averaged over pages, each page counting the
same. For languages written without spaces, characters other than white space are compared instead.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Tokens = Literal["word", "char"]


@dataclass(frozen=True, slots=True)
class GoldPage:
    """One page of a gold file.

    Attributes:
        page_id, text: its name, and its main content, written down by a person.
        page_type, fold, url: kind of page (``"untyped"`` where the file says nothing), fold and address, where known.
        include, exclude: snippets that must be in the text, and that must not.
        source: collection that the page is from, where a file names it; empty where it says nothing.
    """

    page_id: str
    text: str
    page_type: str
    fold: int | None
    url: str | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Figures of one page, or their means over several; ``None`` where no page has such snippets.

    Attributes:
        precision, recall, f1: overlap of the text with the gold text, 0..1.
        include, exclude: fraction of the snippets that must be there that are, and of the others that are not.
        pages: number of pages.
    """

    precision: float
    recall: float
    f1: float
    include: float | None
    exclude: float | None
    pages: int = 1


def read_gold(path: Path) -> list[GoldPage]:
    """Read a ``.jsonl`` or ``.jsonl.xz`` file with one object a page: ``id`` (or ``page``), ``gold_text`` and, where
    there are any, ``page_type``, ``fold``, ``source``, ``url``, ``include`` and ``exclude``.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is not such an object; the message names the line.
    """  # noqa: D205
    opener = lzma.open if path.suffix == ".xz" else open
    pages = []
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    pages.append(_gold_page(line, number))
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError(f"not an xz file, or a damaged one: {error}") from error
    if not pages:
        raise ValueError("there is no page in it")
    return pages


def _gold_page(line: str, number: int) -> GoldPage:
    try:
        row: dict[str, Any] = json.loads(line)
        return GoldPage(
            page_id=str(row.get("id") or row["page"]),
            text=row["gold_text"] or "",
            page_type=row.get("page_type") or "untyped",
            fold=row.get("fold"),
            url=row.get("url"),
            include=tuple(row.get("include") or ()),
            exclude=tuple(row.get("exclude") or ()),
            source=row.get("source") or "",
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"line {number} is not a JSON object with 'id' and 'gold_text'") from error


def page_accuracy(text: str, gold: GoldPage, tokens: Tokens = "word") -> Accuracy:
    """Compare the text found on a page with its gold text."""
    predicted, reference = _count_tokens(text, tokens), _count_tokens(gold.text, tokens)
    precision = recall = f1 = 0.0
    if not reference:
        precision = recall = f1 = 0.0 if predicted else 1.0
    elif overlap := (predicted & reference).total():
        precision, recall = overlap / predicted.total(), overlap / reference.total()
        f1 = 2 * precision * recall / (precision + recall)
    return Accuracy(precision, recall, f1, _share(gold.include, text), _share(gold.exclude, text))


def by_page_type(results: Iterable[tuple[GoldPage, Accuracy]]) -> dict[str, Accuracy]:
    """Average the figures over all pages (``"all"``, which comes first) and over the pages of each type."""
    rows: dict[str, list[Accuracy]] = defaultdict(list)
    for gold, accuracy in results:
        rows["all"].append(accuracy)
        rows[gold.page_type].append(accuracy)
    return {kind: mean_accuracy(rows[kind]) for kind in sorted(rows, key=lambda kind: (kind != "all", kind))}


def mean_accuracy(rows: Sequence[Accuracy]) -> Accuracy:
    """Average the figures of some pages, to four decimals."""
    means: dict[str, Any] = {}
    for name in ("precision", "recall", "f1", "include", "exclude"):
        known = [figure for row in rows if (figure := getattr(row, name)) is not None]
        means[name] = round(fmean(known), 4) if known else None
    return Accuracy(**means, pages=len(rows))


def table(figures: dict[str, Accuracy]) -> str:
    """Write the figures of :func:`by_page_type` as a table, a line per page type."""
    lines = [f"{'':14}{'pages':>6}{'F1':>8}{'P':>8}{'R':>8}{'incl':>8}{'excl':>8}"]
    for kind, row in figures.items():
        cells = (row.f1, row.precision, row.recall, row.include, row.exclude)
        written = "".join(f"{'-' if cell is None else format(cell, '.4f'):>8}" for cell in cells)
        lines.append(f"{kind:14}{row.pages:>6}{written}")
    return "\n".join(lines)


def _count_tokens(text: str, tokens: Tokens) -> Counter[str]:
    """Words as the published figures of WCXB have them, so not :data:`tamis.page.text.WORD`, or characters."""
    lowered = text.lower()
    return Counter(re.findall(r"\w+", lowered) if tokens == "word" else re.sub(r"\s", "", lowered))


def _share(snippets: Sequence[str], text: str) -> float | None:
    lowered = text.lower()
    return sum(snippet.lower() in lowered for snippet in snippets) / len(snippets) if snippets else None
