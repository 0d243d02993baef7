"""The functions of trafilatura, implemented by Tamis: ``from tamis.compat import trafilatura``.

Arguments and output formats are those of trafilatura 2. These have no effect, since Tamis has no counterpart:
``fast``, ``no_fallback``, ``deduplicate``, ``date_extraction_params``, ``settingsfile`` and ``config``. ``license`` is
``None``. XML, TEI, CSV and ``options`` raise `NotImplementedError`. Only ``extract``,
``bare_extraction`` and ``extract_metadata`` are provided.
"""

from __future__ import annotations

import copy
import json
import re
import string
from dataclasses import replace
from hashlib import blake2b
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from lxml import etree, html

import tamis
from tamis.page.addresses import domain
from tamis.page.parsing import parse_html

if TYPE_CHECKING:
    from tamis.models.decision import Favor

_FORMATS: Final = ("html", "json", "markdown", "python", "txt")


class Document(SimpleNamespace):
    """The attributes of trafilatura's class of this name; ``body`` and ``commentsbody`` are lxml elements."""

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes by name."""
        return dict(vars(self))


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"tamis.compat.trafilatura has no {name}, only extract, bare_extraction and extract_metadata; "
        "Scrapy fetches pages, feeds and sitemaps"
    )


def extract(
    filecontent: Any,
    url: str | None = None,
    record_id: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "txt",
    tei_validation: bool = False,
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: Any = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: set[str] | None = None,
    author_blacklist: set[str] | None = None,
    settingsfile: str | None = None,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
) -> str | None:
    """Return the content of a page in an output format; ``None`` without content, or if a condition is not met.

    Raises:
        NotImplementedError: the format is XML, TEI or CSV, or ``options`` are given.
        ValueError: the format is unknown.
    """
    del fast, no_fallback, tei_validation, deduplicate, date_extraction_params, settingsfile, config
    document = bare_extraction(
        filecontent,
        url,
        favor_precision=favor_precision,
        favor_recall=favor_recall,
        include_comments=include_comments,
        output_format=output_format,
        target_language=target_language,
        include_tables=include_tables,
        include_images=include_images,
        include_formatting=include_formatting,
        include_links=include_links,
        only_with_metadata=only_with_metadata,
        max_tree_size=max_tree_size,
        url_blacklist=url_blacklist,
        author_blacklist=author_blacklist,
        prune_xpath=prune_xpath,
        options=options,
    )
    if document is None:
        return None
    document.id = record_id
    return _write(document, output_format, with_metadata=with_metadata or only_with_metadata)


def bare_extraction(
    filecontent: Any,
    url: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "python",
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: Any = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: set[str] | None = None,
    author_blacklist: set[str] | None = None,
    as_dict: bool = False,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
) -> Any:
    """Return content and metadata as a :class:`Document` or a dictionary; ``None`` and errors as :func:`extract`."""
    del fast, no_fallback, deduplicate, date_extraction_params, with_metadata, config
    if options is not None:
        raise NotImplementedError("tamis.compat.trafilatura has no options: give the arguments themselves")
    if output_format in {"csv", "xml", "xmltei"}:
        raise NotImplementedError(
            f"tamis.compat.trafilatura does not write {output_format}: take html, which has the same structure, json, "
            "markdown or txt, or the tree in the body of what bare_extraction returns"
        )
    if output_format not in _FORMATS:
        raise ValueError(f"no such output_format: {output_format!r}; there are {', '.join(_FORMATS)}")
    content = _content(filecontent)
    if content is None:  # as of a page that could not be fetched
        return None
    limits = tamis.DEFAULT_LIMITS
    if max_tree_size is not None:
        limits = replace(limits, max_nodes=max_tree_size)
    favor: Favor = "recall" if favor_recall else "balanced"
    cleaned = tamis.clean(
        _prune(content, [prune_xpath] if isinstance(prune_xpath, str) else prune_xpath),
        url,
        favor="precision" if favor_precision else favor,
        tables=include_tables,
        images=include_images,
        links=include_links,
        limits=limits,
        comments="separate" if include_comments else "drop",
    )
    document = _make_document(cleaned, url, author_blacklist)
    language = (document.language or "").partition("-")[0]
    if (
        not cleaned.text
        or (max_tree_size is not None and cleaned.status == "too_large")
        or (url_blacklist and document.url in url_blacklist)
        or (target_language and language and language != target_language)
        or (only_with_metadata and not (document.date and document.title and document.url))
    ):
        return None
    is_markdown = output_format == "markdown" or include_formatting or include_links or include_images
    document.raw_text = re.sub(r"\n{2,}", "\n", cleaned.text)
    document.text = cleaned.markdown.strip() if is_markdown else document.raw_text
    document.comments = re.sub(r"\n{2,}", "\n", cleaned.comments)
    document.fingerprint = _fingerprint(f"{document.title} {document.raw_text}")
    document.body = html.document_fromstring(cleaned.html or "<p></p>").find("body")
    document.commentsbody = _paragraphs(document.comments)
    return document.as_dict() if as_dict else document


def extract_metadata(
    filecontent: Any,
    default_url: str | None = None,
    date_config: dict[str, Any] | None = None,
    extensive: bool = True,
    author_blacklist: set[str] | None = None,
) -> Document:
    """Return the facts that a page states, without its content."""
    del date_config, extensive
    return _make_document(tamis.clean(_content(filecontent), default_url), default_url, author_blacklist)


def _fingerprint(text: str) -> str:
    """Simhash (Charikar 2002) of the words of a text, in hexadecimal: equal for equal texts, alike for similar ones.

    As in trafilatura, BLAKE2b hashes the words, the longest of them where these are enough.
    """
    words = [word.strip(string.punctuation) for word in text.split()]
    words = [word for word in words if word.isalnum()]
    samples = ([word for word in words if len(word) > length] for length in (4, 3, 2, 1))
    sample = next((each for each in samples if len(each) >= 32), words)
    hashes = b"".join(blake2b(word.encode(), digest_size=8).digest() for word in sample)
    bits = np.unpackbits(np.frombuffer(hashes, np.uint8).reshape(-1, 8), axis=1)
    majority = 2 * bits.sum(axis=0) >= len(sample)
    return np.packbits(majority).tobytes().hex().lstrip("0") or "0"


def _content(filecontent: Any) -> Any:
    """Return the bytes of a response; other content is returned as it is."""
    return getattr(filecontent, "data", filecontent)


def _prune(content: Any, paths: list[str] | None) -> Any:
    if not paths:
        return content
    root: Any = parse_html(content) if isinstance(content, str | bytes) else copy.deepcopy(content)
    for element in [found for path in paths for found in root.xpath(path)]:
        element.tag = "pruned"
    etree.strip_elements(root, "pruned", with_tail=False)
    return root


def _make_document(cleaned: tamis.Cleaned, url: str | None, author_blacklist: set[str] | None) -> Document:
    facts = cleaned.metadata
    unwanted = {name.lower() for name in author_blacklist or ()}
    address = url or facts.canonical
    return Document(
        title=facts.headline or facts.title,
        author="; ".join(name for name in facts.authors if name.lower() not in unwanted) or None,
        url=address,
        hostname=domain(address or "") or None,
        description=facts.description,
        sitename=facts.site_name,
        date=facts.published[:10] if facts.published else None,
        categories=facts.breadcrumbs,
        tags=facts.tags,
        language=facts.language,
        image=facts.image,
        pagetype=facts.kind,
        **dict.fromkeys("fingerprint id license body comments commentsbody raw_text text filedate".split()),
    )


def _write(document: Document, output_format: str, *, with_metadata: bool) -> str:
    if output_format == "json":
        return _write_json(document, with_metadata=with_metadata)
    names = "title author url hostname description sitename date categories tags fingerprint id".split()
    facts = {name: getattr(document, name) for name in names if with_metadata and getattr(document, name)}
    if output_format == "html":
        return _write_html(document, facts)
    text = "\n".join(filter(None, [document.text, document.comments]))
    if not with_metadata:
        return text
    header = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in facts.items())
    return f"---\n{header}---\n{text}"


def _write_json(document: Document, *, with_metadata: bool) -> str:
    renamed = {"url": "source", "sitename": "source-hostname", "description": "excerpt"}
    names = list(document.as_dict()) if with_metadata else ["text", "comments"]
    values = {renamed.get(name, name): _joined(getattr(document, name)) for name in names if "body" not in name}
    return json.dumps(values, ensure_ascii=False)


def _write_html(document: Document, facts: dict[str, Any]) -> str:
    root = etree.Element("html")
    head = etree.Element("head")
    body = copy.deepcopy(document.body)
    head.extend(etree.Element("meta", name=name, content=_joined(value)) for name, value in facts.items())
    body.extend(document.commentsbody)
    root.extend([head, body])
    return etree.tostring(root, encoding="unicode", method="html")


def _joined(value: Any) -> Any:
    return ";".join(value) if isinstance(value, list) else value


def _paragraphs(text: str) -> Any:
    body = etree.Element("body")
    for line in filter(None, text.split("\n")):
        etree.SubElement(body, "p").text = line
    return body
