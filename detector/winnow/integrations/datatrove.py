"""Steps for datatrove pipelines, which make corpora of web pages: ``pip install 'scrapy-winnow[datatrove]'``.

Each page is cleaned without counts of its site. ``winnow warc`` counts sites first, which is more accurate, and writes
JSON lines or Parquet, which datatrove reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datatrove.pipeline.extractors.base import BaseExtractor
from datatrove.pipeline.filters.base_filter import BaseFilter

from winnow.cleaning import clean
from winnow.models import load_model

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from datatrove.data import Document

    from winnow.models.scores import Favor, Scope

FACTS = ("title", "confidence", "kind", "template_share")
"""Attributes that the extractor adds to the metadata of a document."""


class _Content(str):
    """The content of a page, with its facts as attributes: datatrove's process returns one string a page."""

    __slots__ = FACTS


class WinnowExtractor(BaseExtractor):  # type: ignore[misc]  # datatrove has no types
    """Replaces the HTML in ``text`` by the content, and puts :data:`FACTS` into the metadata.

    As with datatrove's own extractors, another process does the work, which is killed when a page takes too long, and
    documents that fail or have no content are dropped and counted.

    Args:
        timeout: maximum time for a page, in seconds.
        markdown: write Markdown instead of plain text.
        scope: as in :func:`winnow.clean`.
        favor: as in :func:`winnow.clean`.
        model: name or file of the page-level model; ``None`` for the package's own.
    """

    name = "🌾 Winnow"

    def __init__(
        self,
        timeout: float = 5,
        *,
        markdown: bool = False,
        scope: Scope = "auto",
        favor: Favor = "balanced",
        model: str | None = None,
    ) -> None:
        super().__init__(timeout)
        self._markdown = markdown
        self._options: dict[str, Any] = {"scope": scope, "favor": favor}
        self._model = model

    def extract(self, text: str, url: str | None = None) -> str:
        """Return the content of a page."""
        cleaned = clean(text, url, model=load_model(self._model), **self._options)
        content = _Content(cleaned.markdown if self._markdown else cleaned.text)
        for name in FACTS:
            setattr(content, name, getattr(cleaned, name))
        return content

    def run(self, data: Iterable[Document], rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Clean documents, with the address in ``metadata["url"]``."""
        load_model(self._model)  # before the process is forked, so that it has it
        for document in super().run(map(_with_address, data), rank, world_size):
            document.metadata.update({name: getattr(document.text, name) for name in FACTS})
            document.text = str(document.text)
            yield document


def _with_address(document: Document) -> Document:
    """Put the arguments of :meth:`WinnowExtractor.extract` in the place of the text."""
    document.text = (document.text, document.metadata.get("url"))
    return document


class WinnowFilter(BaseFilter):  # type: ignore[misc]  # datatrove has no types
    """Keeps the documents of :class:`WinnowExtractor`, or of ``winnow warc``, that pass all limits.

    Args:
        min_confidence: minimum expected word F1 of the text, 0 to 1; documents without it are kept.
        max_template_share: maximum fraction of the page that was template, 0 to 1.
        kinds: kinds of pages to keep, see :class:`winnow.Cleaned`; ``None`` keeps all.
        exclusion_writer: writes the dropped documents, as with every filter.
    """

    name = "🌾 Winnow filter"

    def __init__(
        self,
        min_confidence: float = 0.0,
        max_template_share: float = 1.0,
        kinds: Collection[str] | None = None,
        exclusion_writer: Any = None,
    ) -> None:
        super().__init__(exclusion_writer)
        self._min_confidence = min_confidence
        self._max_template_share = max_template_share
        self._kinds = kinds

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Return whether to keep a document, and why not."""
        confidence, template_share, kind = (doc.metadata.get(name) for name in ("confidence", "template_share", "kind"))
        if confidence is not None and confidence < self._min_confidence:
            return False, "low_confidence"
        if template_share is not None and template_share > self._max_template_share:
            return False, "mostly_template"
        if self._kinds is not None and kind not in self._kinds:
            return False, "other_kind"
        return True
