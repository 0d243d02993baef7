"""Cleans a page: parses HTML, decides which units are kept, and returns clean text, HTML and Markdown."""

from __future__ import annotations

import codecs
import re
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from lxml import etree
from w3lib.encoding import resolve_encoding

from tamis.decide import decide
from tamis.evidence.comments import COMMENTS, Comments
from tamis.evidence.draft import Options, Reason
from tamis.metadata import Metadata, declared_kind, read_metadata
from tamis.metadata.site_facts import NOTHING_COUNTED, find_site_facts
from tamis.models import usable_model
from tamis.models.decision import FAVORS, SCOPES
from tamis.output.chunks import Chunk, make_chunks
from tamis.output.front_matter import write_front_matter
from tamis.output.html import write_html
from tamis.output.markdown.blocks import stack_blocks
from tamis.output.markdown.writer import write_blocks
from tamis.output.markup import Markup, make_markup
from tamis.output.text import text_of_blocks
from tamis.page.hidden import HIDDEN
from tamis.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from tamis.page.text import block_words, count_words, without_controls
from tamis.page.tree import TAG_ID, within
from tamis.page_data import article_in_data
from tamis.rules import Rule, Rules
from tamis.segments import Segment, blocks, segments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tamis.evidence.draft import Draft, SiteCounts
    from tamis.models import Model
    from tamis.models.decision import Favor, Scope
    from tamis.output.markdown.blocks import Block
    from tamis.page.hidden import Hidden

NOT_HTML: Final = {
    "binary": "a binary file such as a PDF or picture, not HTML: use a tool for its format",
    "json": "JSON, not HTML: clean the HTML in its fields",
    "feed": "a feed, not HTML: clean the pages that it links to",
    "xml": "XML such as a sitemap, not HTML: clean the pages that it names",
}
"""What is not read, by status: what it is, and what to do."""


@dataclass(eq=False, repr=False)
class Cleaned:
    """A page without its template.

    :attr:`html`, :attr:`markdown`, :attr:`metadata`, :attr:`segments`, :attr:`blocks` and :attr:`removed` are computed
    on first use. Do not change the lxml tree of the page before. The page stays in memory as long as this object.

    Attributes:
        text: text of the content, without reader comments unless they are included.
        title: title of the document, "" without one.
        status: ``"cleaned"``; ``"fallback"``: all looked like template, and the best section was kept;
            ``"from_data"``: the content is from the page's JSON; ``"empty"``: no text is left; and, not read,
            ``"too_large"``, ``"binary"``, ``"json"``, ``"feed"`` or ``"xml"``.
        model_version: version of the model.
        template_share: fraction of the text's characters that was cut as template, 0..1.
        url: address of the page, if given.
        comments: text of the reader comments; "" on forums, whose posts are the content.
        confidence: expected word F1 of the text against what a person would keep, 0..1; 0 for ``"fallback"``;
            ``None`` for pages that were not read, and with models that do not estimate it.
        mended: an element or comment without end, which hides the page in browsers, was ended early.
        decided: the decisions on every unit; ``None`` for a page that was not read or has no elements.
    """

    text: str
    title: str
    status: str
    model_version: str
    template_share: float = 0.0
    decided: Draft | None = None
    url: str | None = None
    comments: str = ""
    confidence: float | None = None
    mended: bool = False
    _limit: str = ""
    _links: bool = True
    _images: bool = True
    _metadata_page: Page | None = None

    def __repr__(self) -> str:
        """One line: title, kind, words and confidence, or what became of the page instead."""
        if self.decided is None or not self.text:
            return f"<Cleaned {self.title!r} {self.status}>"
        words = int(block_words(self.decided.page)[self.decided.kept].sum())
        confidence = "" if self.confidence is None else f", confidence {self.confidence:.2f}".replace(" 0.", " .")
        status = "" if self.status == "cleaned" else f", {self.status}"
        return f"<Cleaned {self.title!r} {self.kind}, {words:,} words{confidence}{status}>"

    def _repr_markdown_(self) -> str:
        """Return the Markdown, which notebooks show."""
        return self.markdown

    @property
    def hint(self) -> str:
        """Advice where there is no text: what else than HTML it is, or which limit is exceeded; "" for other pages."""
        if self._limit:
            return f"too large ({self._limit}): not read, so there is no text"
        if self.status != "empty":
            return NOT_HTML.get(self.status, "")
        has_scripts = self.decided is not None and bool((self.decided.page.tag == TAG_ID["script"]).any())
        return "the scripts of the page write its text: render it in a browser first" if has_scripts else "no text"

    @cached_property
    def html(self) -> str:
        """Clean HTML, a whole document without scripts, styles, frames, comments or handlers."""
        return write_html(self._markup, links=self._links)

    @cached_property
    def markdown(self) -> str:
        """The clean HTML as Markdown."""
        return "\n".join(stack_blocks(self._markdown_blocks))

    def markdown_with(self, *, front_matter: bool = False, links: bool = True) -> str:
        """Return the Markdown with front matter, or without link targets.

        Args:
            front_matter: whether YAML with the known ones of ``title``, ``url``, ``author``, ``date`` and ``language``
                comes first.
            links: whether links keep their targets.
        """
        text = "\n".join(stack_blocks(self._blocks_with(links=links)))
        if not front_matter:
            return text
        facts = self.metadata
        title = facts.headline or facts.title or self.title
        url = self.url or facts.canonical
        named = {"title": title, "url": url, "author": facts.authors, "date": facts.published}
        head = write_front_matter(named | {"language": facts.language})
        return "\n".join(filter(None, [head, text]))

    @cached_property
    def _markup(self) -> Markup:
        """The tree that the clean HTML and Markdown are written from."""
        if self.decided is None:
            return Markup([], [], [])
        page, deduplicate = self.decided.page, self.decided.options.deduplicate
        template, hidden = self.decided.template, self.decided.hidden
        return make_markup(page, template, hidden, images=self._images, deduplicate=deduplicate)

    @cached_property
    def _markdown_blocks(self) -> list[Block]:
        """The blocks that the Markdown and the chunks are made of."""
        return write_blocks(self._markup, links=self._links)

    def _blocks_with(self, *, links: bool) -> list[Block]:
        return self._markdown_blocks if links else write_blocks(self._markup, links=False)

    @cached_property
    def segments(self) -> list[Segment]:
        """The sections of the page with their scores, in document order; none for a page that was not read."""
        return [] if self.decided is None else segments(self.decided)

    @cached_property
    def blocks(self) -> list[Segment]:
        """Every text block of the page, kept or not, with its own score and reason, in document order."""
        return [] if self.decided is None else blocks(self.decided)

    @cached_property
    def metadata(self) -> Metadata:
        """Facts that the page states: headline, authors, dates, language and the like, each with its source."""
        if self._metadata_page is None:
            return Metadata()
        common, draft = NOTHING_COUNTED, self.decided
        if draft is not None and draft.page is self._metadata_page:
            common = find_site_facts(draft.page, draft.df, draft.declared, draft.pages)
            of_readers = draft.written_by_readers.nonzero()[0].tolist()  # dates of comments are not of the page
            common = common._replace(blocks=common.blocks.union(of_readers))
        return read_metadata(self._metadata_page, self.text, common)

    @cached_property
    def kind(self) -> str | None:
        """Kind of page, as stated or else predicted; ``None`` for a page that was not read.

        One of ``"article"``, ``"collection"``, ``"documentation"``, ``"forum"``, ``"listing"``, ``"product"`` and
        ``"service"``.
        """
        if self.decided is None or self._metadata_page is None:
            return None
        return declared_kind(self._metadata_page) or self.decided.choice.kind

    def chunks(
        self,
        max_words: int = 300,
        *,
        min_words: int = 100,
        max_chars: int | None = None,
        length: Callable[[str], int] | None = None,
        overlap: int = 0,
        links: bool = True,
    ) -> list[Chunk]:
        """Cut the content into pieces for retrieval with their headings, see :func:`tamis.output.chunks.make_chunks`.

        If the content has no heading of level 1, all pieces are below the headline that :attr:`metadata` has.

        Args:
            max_words: maximum length of a piece, above 0.
            min_words: length from which on a section is a piece of its own; shorter ones are joined.
            max_chars: maximum number of characters of a piece as well.
            length: function that measures a text for ``max_words``, ``min_words`` and ``overlap``, such as
                ``lambda text: len(tokenizer.encode(text))``. Default: words.
            overlap: words at the end of a piece, in whole sentences, that the next piece of its section repeats.
            links: whether links keep their targets.

        Raises:
            ValueError: ``max_words`` or ``max_chars`` is not above 0, or ``overlap`` is not below ``max_words``.
        """
        blocks = self._blocks_with(links=links)
        has_title = any(part.level == 1 for block in blocks for part in block.parts)
        title = "" if has_title else self.metadata.headline or ""
        return make_chunks(
            blocks,
            max_words,
            title,
            min_words=min_words,
            max_chars=max_chars,
            length=length or count_words,
            overlap=overlap,
        )

    def to_dict(self, *further: str) -> dict[str, Any]:
        """Return the plain attributes, and others by name, for JSON.

        Args:
            further: any of ``html``, ``markdown``, ``metadata``, ``segments``, ``blocks`` and ``chunks``.

        Raises:
            ValueError: another name is given.
        """
        known = "html", "markdown", "metadata", "segments", "blocks", "chunks"
        unknown = [repr(name) for name in further if name not in known]
        if unknown:
            raise ValueError(f'to_dict takes {", ".join(known)}, as in to_dict("html"); not {", ".join(unknown)}')
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "decided" and f.name[0] != "_"}
        return plain | {"kind": self.kind} | {name: self._as_json(name) for name in further}

    def _as_json(self, name: str) -> Any:
        value = self.chunks() if name == "chunks" else getattr(self, name)
        if isinstance(value, list):
            return [asdict(part) for part in value]
        return asdict(value) if name == "metadata" else value

    def __getstate__(self) -> dict[str, Any]:
        """Compute everything for a pickle or a copy, which cannot hold the page and its tree."""
        self._markup, self.segments, self.blocks, self.metadata, self.kind  # noqa: B018
        return vars(self) | {"decided": None, "_metadata_page": None}

    @property
    def removed(self) -> list[Segment]:
        """The sections that were cut, each with its score and reason."""
        return [segment for segment in self.segments if segment.template]


Html = str | bytes | etree._Element | etree._ElementTree | Page


def clean(
    html: str | bytes | etree._Element | etree._ElementTree | Page,
    url: str | None = None,
    *,
    encoding: str | None = None,
    model: Model | str | Path | None = None,
    smooth: bool = True,
    deduplicate: bool = True,
    links: bool = True,
    images: bool = True,
    tables: bool = True,
    comments: Comments = "separate",
    limits: Limits = DEFAULT_LIMITS,
    site: SiteCounts | None = None,
    scope: Scope = "auto",
    favor: Favor = "balanced",
    rules: Rules | Mapping[str, Any] | Sequence[Mapping[str, Any]] | tuple[Rule, ...] = (),
    hidden: Hidden = "drop",
) -> Cleaned:
    r"""Separate the content of a page from its template: menus, footers, banners, lists of other pages.

    Args:
        html: HTML as ``str`` or ``bytes``, an lxml element or tree (it is not changed), or a
            :class:`~tamis.page.page.Page`.
        url: address of the page, for absolute addresses and links inside the site; give it if you can.
        encoding: charset of bytes, as the HTTP header names it. Default: detected, as browsers do.
        model: model, its name, or its file. Default: the package's own.
        smooth: whether scores are smoothed over the tree (Chakrabarti et al. 2007, section 4).
        deduplicate: whether text and pictures that the page repeats are cut.
        links: whether HTML and Markdown keep link targets. The text of links stays in any case.
        images: whether HTML and Markdown keep pictures, videos and sounds.
        tables: whether data tables are kept.
        comments: where reader comments go: ``"separate"``: :attr:`Cleaned.comments` only; ``"include"``: the text as
            well; ``"drop"``: nowhere.
        limits: size limits; a page above one is not read, and its status is ``"too_large"``.
        site: counts of the page's site, such as a :class:`tamis.Site`. Default: the page alone decides.
        scope: ``"article"`` keeps the main content only; ``"page"`` keeps all that is not template, such as lists;
            ``"auto"`` decides by the kind of page.
        favor: ``"precision"`` cuts more, ``"recall"`` cuts less; ``"balanced"``.
        rules: CSS selectors of what is always kept or dropped: :class:`tamis.Rules`, or its entries.
        hidden: ``"drop"`` or ``"keep"`` what browsers do not show, see :mod:`tamis.page.hidden`.

    Returns:
        The content. Any HTML has a result, even if it is empty or broken; ``status`` says what became of it.

    Raises:
        TypeError: an argument has the wrong type; the message says which types are accepted.
        ValueError: the site's counts are of another page or model, the model's file or a rule is invalid, or ``scope``,
            ``favor``, ``comments`` or ``hidden`` is unknown.
        LookupError: ``encoding`` is unknown.
        FileNotFoundError: there is no such model.

    See Also:
        tamis.Site: counts what the pages of a site repeat.
        tamis.load_model: loads a model once, for many pages.

    >>> import tamis
    >>> nav, story = "<nav><a href='/'>Home</a></nav>", "<h1>Storm</h1><p>Winds of up to <b>130 km/h</b>.</p>"
    >>> page = tamis.clean(f"{nav}<article>{story}</article>")
    >>> page.text
    'Storm\n\nWinds of up to 130 km/h.'
    >>> page.markdown
    '# Storm\n\nWinds of up to **130 km/h**.'
    """
    _check_input(html, url, encoding, limits)
    check_choice("comments", comments, COMMENTS)
    check_choice("scope", scope, SCOPES)
    check_choice("favor", favor, FAVORS)
    check_choice("hidden", hidden, HIDDEN)
    model = usable_model(model)
    url = url and without_controls(url)
    page = _page_to_clean(html, url, encoding, limits, model)
    if isinstance(page, Cleaned):
        return page
    if site is not None and (isinstance(site, type) or not hasattr(site, "frequencies")):
        raise TypeError(f"site must be a tamis.Site, not {_type_name(site)}")
    if not (isinstance(rules, tuple) and all(isinstance(rule, Rule) for rule in rules)):
        rules = (rules if isinstance(rules, Rules) else Rules(rules)).for_url(page.url)  # type: ignore[arg-type]
    options = Options(
        scope=scope,
        favor=favor,
        comments=comments,
        smooth=smooth,
        deduplicate=deduplicate,
        tables=tables,
        rules=rules,
        keep_hidden=hidden == "keep",
    )
    draft = _decide_on_page_or_data(page, model, site, options)
    is_mended = False
    if page.mended_html is not None and _has_nothing(draft):
        with suppress(PageTooLarge):
            mended_page = Page.parse(page.mended_html, page.url, limits=limits)
            mended_draft = _decide_on_page_or_data(mended_page, model, None, options)
            is_mended = not _has_nothing(mended_draft)
            if is_mended:
                page, draft = mended_page, mended_draft
    has_comments = draft.comments is not None and comments != "drop"
    text = text_of_blocks(draft.page, draft.kept, draft.hidden)
    status = "from_data" if draft.page is not page else "fallback" if draft.is_fallback else "cleaned"
    return Cleaned(
        text=text,
        title=draft.page.title,
        status=status if text else "empty",
        model_version=model.version,
        template_share=draft.template_share,
        decided=draft,
        url=page.url,
        comments=text_of_blocks(draft.page, draft.written_by_readers, draft.hidden) if has_comments else "",
        confidence=draft.choice.confidence,
        mended=is_mended,
        _links=links,
        _images=images,
        _metadata_page=page,
    )


def _decide_on_page_or_data(page: Page, model: Model, site: SiteCounts | None, options: Options) -> Draft:
    """Decide on a page, or on the article in its JSON if the page itself has almost no text."""
    draft = decide(page, model, site, options)
    seen = draft.kept if draft.shown_by_scripts is None else draft.kept & ~draft.shown_by_scripts
    characters = int(draft.lengths.dot(seen))
    if characters > 300 or "script" not in page.tag_names:  # a page with less text may be rendered by its scripts
        return draft
    article, trust = article_in_data(page, characters)
    if article:
        with suppress(PageTooLarge):
            draft = decide(Page.parse(article, page.url), model, None, options)
            if draft.choice.confidence is not None:
                words = float(block_words(draft.page).dot(draft.kept))  # short texts are often something else
                draft.choice = draft.choice._replace(confidence=trust * words / (words + 100))
            return draft
    in_noscript = within(page, page.tag == TAG_ID["noscript"])[page.block_node]
    if in_noscript[draft.kept].all():  # "This page needs JavaScript."
        draft.overrule(np.ones(page.m, bool), Reason.UNWANTED, cut=True)
    return draft


def _has_nothing(draft: Draft) -> bool:
    """Whether the page is empty, or a fallback that was kept because all of it looked like template."""
    return draft.is_fallback or not draft.kept.any()


def _page_to_clean(html: Html, url: str | None, encoding: str | None, limits: Limits, model: Model) -> Page | Cleaned:
    """Return the page, or the result if it cannot be cleaned: not HTML, too large, or without elements."""
    try:
        page = _read_page(html, url, encoding, limits)
    except PageTooLarge as too_large:
        return Cleaned("", "", "too_large", model.version, url=url, _limit=too_large.reason)
    return page if page.n and page.data is None else Cleaned("", "", page.data or "empty", model.version, url=url)


def _read_page(html: Html, url: str | None, encoding: str | None, limits: Limits) -> Page:
    if isinstance(html, Page):
        return html
    if isinstance(html, str | bytes):
        return Page.parse(html, url, encoding=encoding, limits=limits)
    root = html.getroot() if isinstance(html, etree._ElementTree) else html
    if root is None:
        raise TypeError("html is an lxml ElementTree without a root")
    return Page.from_tree(root, url, limits=limits)


def _check_input(html: object, url: object, encoding: object, limits: object) -> None:
    """Raise the errors of :func:`clean` for invalid input; the messages say what is expected."""
    if not isinstance(html, Html):
        raise TypeError(f"html must be str, bytes, an lxml tree or a tamis.Page, not {_type_name(html)}")
    if isinstance(html, str) and len(html) < 500 and _ADDRESS_OR_FILE.fullmatch(html):
        warnings.warn(f"{html!r} is taken for HTML: fetch the page, or read the file, and give its bytes", stacklevel=3)
    if url is not None and not isinstance(url, str):
        raise TypeError(f"url must be a str, not {_type_name(url)}")
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be tamis.Limits, as tamis.Limits(max_bytes=1_000_000), not {_type_name(limits)}")
    if encoding is None:
        return
    if not isinstance(encoding, str):
        raise TypeError(f"encoding must be the name of a charset, not {_type_name(encoding)}")
    if not isinstance(html, bytes):
        raise TypeError(f"encoding goes with bytes; html is {_type_name(html)}")
    if resolve_encoding(encoding) is None:
        codecs.lookup(encoding)


_ADDRESS_OR_FILE: Final = re.compile(r"https?://\S+|[^<>\n]+\.html?")


def check_choice(name: str, chosen: object, choices: tuple[str, ...]) -> None:
    """Raise a ``ValueError`` if the value is not one of the choices."""
    if chosen not in choices:
        raise ValueError(f"{name} may be {', '.join(choices)}; not {chosen!r}")


def _type_name(value: object) -> str:
    """Name of a value's type, with advice on what to pass instead."""
    kind = type(value).__name__
    if hasattr(value, "selector") and hasattr(value, "body"):
        return f"{kind}; give its .body and .url"
    if isinstance(value, Path):
        return f"{kind}; give its read_bytes()"
    return kind
