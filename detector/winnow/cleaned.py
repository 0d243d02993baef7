"""A page without its template, the result of :func:`winnow.clean`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Final

from winnow.metadata import Metadata, declared_kind, read_metadata
from winnow.output.chunks import Chunk, make_chunks
from winnow.output.html import write_document, write_html
from winnow.output.markdown import to_markdown
from winnow.page.tags import TAG_ID
from winnow.segments import Segment, blocks, segments

if TYPE_CHECKING:
    from winnow.evidence.draft import Draft
    from winnow.page.page import Page

NOT_HTML: Final = frozenset({"binary", "json", "feed", "xml"})


@dataclass(eq=False)
class Cleaned:
    """A page without its template.

    :attr:`html`, :attr:`markdown`, :attr:`segments`, :attr:`blocks` and :attr:`removed` are computed on first use. The
    lxml tree of the page must not be changed before. The page and its tree stay in memory as long as this object.

    Attributes:
        text: text of the content, without reader comments unless they are included; blocks are separated as in
            :func:`winnow.output.text.join_blocks`.
        title: title of the document, "" without one.
        template_share: fraction of the text's characters that was cut as template, 0..1.
        fallback: the whole page looked like template, and its least template-like section was kept.
        passed_through: ``None``, or the limit that the page exceeds (``"bytes"``, ``"nodes"`` or ``"depth"``); then
            nothing was cut. ``"binary"`` for a PDF or a picture, ``"json"``, ``"feed"`` for RSS and Atom; these have no
            text.
        model_version: version of the model used.
        url: address of the page, if given.
        comments: text of the reader comments, without their controls; "" if there are none, on forums, whose posts are
            the content, and with ``comments="drop"``.
        confidence: expected word F1 of the text against what a person would keep, 0..1; 0 for no text and with
            ``fallback``, ``None`` with models that do not estimate it, and for pages passed through. Check pages of low
            confidence first.
        from_data: whether the content is from the page's JSON, see :mod:`winnow.page_data`.
        decided: the decisions on every unit; ``None`` for a page that was passed through or has no elements.
    """

    text: str
    title: str
    template_share: float
    fallback: bool
    passed_through: str | None
    model_version: str
    decided: Draft | None = field(repr=False)
    url: str | None = None
    comments: str = ""
    confidence: float | None = None
    from_data: bool = False
    _links: bool = field(default=True, repr=False)
    _images: bool = field(default=True, repr=False)
    _metadata_page: Page | None = field(default=None, repr=False)

    @property
    def status(self) -> str:
        """``"cleaned"``, ``"fallback"``, ``"from_data"``, ``"empty"``, ``"too_large"``, or the data that it is."""
        if self.passed_through is not None:
            return self.passed_through if self.passed_through in NOT_HTML else "too_large"
        if not self.text:
            return "empty"
        return "from_data" if self.from_data else "fallback" if self.fallback else "cleaned"

    @property
    def hint(self) -> str:
        """Advice for a page without text; "" for others."""
        if self.status != "empty":
            return ""
        has_scripts = self.decided is not None and bool((self.decided.page.tag == TAG_ID["script"]).any())
        return "the scripts of the page write its text: render it in a browser first" if has_scripts else "no text"

    @cached_property
    def html(self) -> str:
        """Clean HTML, a whole document without scripts, styles, frames, comments or handlers."""
        if self.decided is None:
            lines = (f"<p>{escape(line, quote=False)}</p>\n" for line in self.text.splitlines())
            return write_document(self.title, "".join(lines))
        page = self.decided.page
        template, hidden = self.decided.template, self.decided.hidden
        return write_html(page, template, hidden, links=self._links, images=self._images)

    @cached_property
    def markdown(self) -> str:
        """The clean HTML as Markdown."""
        return to_markdown(self.html)

    @cached_property
    def segments(self) -> list[Segment]:
        """The sections of the page with their scores, in document order; none for a page that was passed through."""
        return [] if self.decided is None else segments(self.decided)

    @cached_property
    def blocks(self) -> list[Segment]:
        """Every text block of the page, kept or not, with its own score and reason, in document order."""
        return [] if self.decided is None else blocks(self.decided)

    @cached_property
    def metadata(self) -> Metadata:
        """Facts that the page states: headline, authors, dates, language and the like, each with its source."""
        return Metadata() if self._metadata_page is None else read_metadata(self._metadata_page, self.text)

    @cached_property
    def kind(self) -> str | None:
        """Kind of page: as the page states it, else as the model predicts it.

        One of ``"article"``, ``"collection"``, ``"documentation"``, ``"forum"``, ``"listing"``, ``"product"`` and
        ``"service"``; ``None`` for a page that was passed through.
        """
        if self.decided is None or self._metadata_page is None:
            return None
        return declared_kind(self._metadata_page) or self.decided.choice.kind

    def chunks(self, max_words: int = 300) -> list[Chunk]:
        """Cut the content into pieces for retrieval with their headings, see :func:`winnow.output.chunks.make_chunks`.

        Raises:
            ValueError: ``max_words`` is not above 0.
        """
        return make_chunks(self.html, max_words)

    def to_dict(self, *further: str) -> dict[str, Any]:
        """Return the plain attributes, and others by name, as a dictionary that JSON can hold.

        Args:
            further: any of ``html``, ``markdown``, ``metadata``, ``segments``, ``blocks`` and ``chunks``.

        Raises:
            ValueError: another name is given.
        """
        known = "html", "markdown", "metadata", "segments", "blocks", "chunks"
        if unknown := set(further).difference(known):
            raise ValueError(f"to_dict takes {', '.join(known)}; not {', '.join(sorted(unknown))}")
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        return plain | {"kind": self.kind} | {name: self._as_json(name) for name in further}

    def _as_json(self, name: str) -> Any:
        value = self.chunks() if name == "chunks" else getattr(self, name)
        if isinstance(value, list):
            return [asdict(part) for part in value]
        return asdict(value) if name == "metadata" else value

    def __getstate__(self) -> dict[str, Any]:
        """Compute everything for a pickle or a copy, which cannot hold the page and its tree."""
        self.html, self.segments, self.blocks, self.metadata, self.kind  # noqa: B018
        return vars(self) | {"decided": None, "_metadata_page": None}

    @property
    def removed(self) -> list[Segment]:
        """The sections that were cut, each with its score and reason."""
        return [segment for segment in self.segments if segment.template]
