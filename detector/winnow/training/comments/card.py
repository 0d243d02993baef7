"""Writes the card of a comments head: what it was made of, by which command, and what it can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import datetime
    from collections.abc import Sequence

    from winnow.evidence.comment_model import CommentHead
    from winnow.training.comments.examples import CommentPage
    from winnow.training.comments.measuring import Measured

_WHAT: Final = "Tells the text blocks that readers wrote below a story from the story and from template, by their look."

_LABELS: Final = (
    "no human ones of comments: elements that authors name as comments (schema.org, class and id names); "
    "on forums, and where gold text holds the thread, nothing"
)

_LIMITS: Final = """\
Most threads that it has learned from are English ones of WordPress, Substack, Drupal and a few dozen other systems;
where a thread is neither named nor dated it is not found. Reviews in the manner of comments are comments to it."""


def comments_card(
    head: CommentHead,
    pages: Sequence[CommentPage],
    figures: tuple[Measured, Measured] | None,
    *,
    command: str,
    date: datetime.date,
    sources: str = "",
) -> str:
    """Write a card as Markdown.

    Args:
        head: what was trained.
        pages: what on.
        figures: with names hidden and with names shown, if they were measured.
        command: the command that makes it again.
        date: when it was made.
        sources: whom the training data is from, as Markdown; left out if empty.
    """
    with_threads = sum(page.has_thread for page in pages)
    origins = len({page.source for page in pages})
    rows = [
        ("version", f"`{head.version}`"),
        ("made on", date.isoformat()),
        ("made by", f"`{command}`"),
        ("data", f"{len(pages):,} pages of {origins:,} sources, {with_threads:,} pages with comments"),
        ("labels", _LABELS),
    ]
    parts = [
        "# Model `comments`",
        _WHAT,
        "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]),
        *([_measured(*figures)] if figures else []),
        f"## Limits\n\n{_LIMITS}",
    ]
    if sources.strip():
        parts.append(f"## Sources of the training data\n\n{sources.strip()}")
    return "\n\n".join(parts) + "\n"


def _measured(hidden: Measured, shown: Measured) -> str:
    lines = [
        "## On sources that it was not fitted to\n",
        f"Five folds by registrable domain or site; by words, {hidden.sources} sources with threads.\n",
        "| | precision | recall | words of forums taken for comments | words of pages without any |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, row in (("names hidden: by their look alone", hidden), ("names shown", shown)):
        lines.append(f"| {name} | {row.precision:.3f} | {row.recall:.3f} | {row.on_forums:.1%} | {row.elsewhere:.1%} |")
    return "\n".join(lines)
