"""A step for datatrove pipelines, which make corpora of web pages: ``pip install 'tamis[datatrove]'``.

Each page is cleaned without counts of its site. ``tamis warc`` counts sites first, which is more accurate, and writes
JSON lines or Parquet, which datatrove reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datatrove.pipeline.extractors.base import BaseExtractor

from tamis.cleaning import clean
from tamis.models import load_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from datatrove.data import Document

    from tamis.models.decision import Favor, Scope

FACTS = ("title", "confidence", "kind", "template_share")
"""Attributes that the extractor adds to the metadata of a document."""


class _Content(str):
    """The content of a page, with its facts as attributes: datatrove's process returns one string a page."""

    __slots__ = FACTS


class TamisExtractor(BaseExtractor):  # type: ignore[misc]  # datatrove has no types
    """Replaces the HTML in ``text`` by the content, and puts :data:`FACTS` into the metadata.

    As with datatrove's own extractors, another process does the work, which is killed when a page takes too long, and
    documents that fail or have no content are dropped and counted.

    Args:
        timeout: maximum time for a page, in seconds.
        markdown: write Markdown instead of plain text.
        scope: as in :func:`tamis.clean`.
        favor: as in :func:`tamis.clean`.
        model: name or file of the page-level model; ``None`` for the package's own.
    """

    name = "🌾 Tamis"

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
    """Replace the text by the arguments of :meth:`TamisExtractor.extract`."""
    document.text = (document.text, document.metadata.get("url"))
    return document
