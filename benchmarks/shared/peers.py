"""Other extractors, each as a function from HTML to text; those that are installed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.shared.common import installed
from tamis.page.parsing import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    Extractor = Callable[[bytes], str]


def peers(*, modes: bool = False) -> dict[str, Extractor]:
    """Return the extractors that are installed by name, with their defaults; if asked, also modes of trafilatura."""
    known: dict[str, Extractor] = {
        "trafilatura": trafilatura_text,
        "resiliparse": resiliparse_text,
        "justext": justext_text,
        "readability": readability_text,
    }
    found = {name: known[name] for name in installed(*known)}
    if modes and "trafilatura" in found:
        found["trafilatura, precision"] = partial(trafilatura_text, favor_precision=True, include_comments=False)
        found["trafilatura, recall"] = partial(trafilatura_text, favor_recall=True)
    return found


def trafilatura_text(html: bytes | str, **options: Any) -> str:
    """Extract with trafilatura and options of its own."""
    import trafilatura  # noqa: PLC0415  (optional)

    return trafilatura.extract(html if isinstance(html, str) else decode(html), **options) or ""


def resiliparse_text(html: bytes) -> str:
    """Extract with resiliparse, main content only."""
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415  (optional)

    return extract_plain_text(decode(html), main_content=True) or ""


def justext_text(html: bytes) -> str:
    """Extract with jusText and its English stop words."""
    import justext  # noqa: PLC0415  (optional)

    try:
        paragraphs = justext.justext(decode(html), justext.get_stoplist("English"))
    except Exception:
        return ""
    return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)


def readability_text(html: bytes) -> str:
    """Extract with readability-lxml."""
    import lxml.html  # noqa: PLC0415
    from readability import Document  # noqa: PLC0415  (optional)

    try:
        content: Any = lxml.html.fromstring(Document(decode(html)).summary())
        return str(content.text_content())
    except Exception:
        return ""
