"""What the generator knows about a page and keeps beside it, never in it; and how well cleaned text agrees with it.

They are compared by multisets of words: runs of word characters, lower-cased; Chinese and Japanese characters singly.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tamis.page.text import WORD

if TYPE_CHECKING:
    from collections.abc import Iterable

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


class Accuracy(NamedTuple):
    """Counts of words, which add up over pages.

    Attributes:
        content: Content words in the truth.
        content_kept: Those of them that the cleaned text has.
        template: Template words in the truth.
        template_cut: Those of them that the cleaned text does not have beyond what the content accounts for.
    """

    content: int = 0
    content_kept: int = 0
    template: int = 0
    template_cut: int = 0

    @property
    def content_recall(self) -> float:
        """Share of the content's words that were kept; 1 where there is no content."""
        return self.content_kept / self.content if self.content else 1.0

    @property
    def template_recall(self) -> float:
        """Share of the template's words that were cut; 1 where there is no template."""
        return self.template_cut / self.template if self.template else 1.0


def words(text: str) -> Counter[str]:
    """Return the multiset of a text's words."""
    return Counter(WORD.findall(text.lower()))


def compare(truth: PageTruth, cleaned: str) -> Accuracy:
    """Compare the cleaned text of one page with its truth."""
    content, template, kept = words(truth.content_text), words(truth.template_text), words(cleaned)
    left_over = (kept - content) & template
    return Accuracy(content.total(), (kept & content).total(), template.total(), template.total() - left_over.total())


def total(parts: Iterable[Accuracy]) -> Accuracy:
    """Add up comparisons of several pages."""
    sums = [sum(column) for column in zip(*parts, strict=True)]
    return Accuracy(*sums)
