"""The page as data for the browser, which builds the tree that was scored, element by element.

No second parser sees the page, so only what is in these lists can appear. Scripts, frames, plug-ins, addresses and
event handlers are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tamis.page.text import WORD
from tamis.page.tree import TAG_NAMES, elements_with_attributes

if TYPE_CHECKING:
    from tamis import Page

_SKIPPED: Final = frozenset(
    "script link meta base title template param source track frame applet bgsound animate set".split()
)
_REPLACED_BY: Final = {
    **dict.fromkeys(("iframe", "object", "embed"), "tamis-frame"),
    **dict.fromkeys(("noscript", "noframes", "frameset", "form", "dialog", "portal"), "div"),
}
"""Drawn instead of elements that load or send something, or show only without scripts."""

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*\Z")
_ATTRIBUTES: Final = frozenset(
    """
    abbr align alt bgcolor border cellpadding cellspacing checked class color cols colspan datetime dir disabled face
    frame headers height hidden id label lang noshade nowrap open placeholder reversed role rows rowspan rules scope
    selected size span start style title type valign value vspace hspace width
    """.split()
)
_DRAWN: Final = frozenset({"svg", "math"})
_WITH_OWN_TEXT: Final = frozenset({"style", "option", "textarea", "svg", "math"})
_IMAGE_DATA: Final = re.compile(r"data:image/(?:png|gif|jpeg|webp|avif|bmp|x-icon|svg\+xml)[;,]", re.IGNORECASE)
_ADDRESSES: Final = frozenset({"href", "xlink:href", "src"})
_WEB: Final = re.compile(r"https?:|[^:]*(?:[/?#]|\Z)", re.IGNORECASE)
_MAX_IMAGE_DATA: Final = 200_000  # characters
_LOOKED_AT: Final = 4_096  # bytes, for a doctype


def describe_page(page: Page, *, load_assets: bool) -> dict[str, Any]:
    """Return a page as data for the browser.

    Returns:
        ``tag`` of each element, "" for one that is not drawn, and ``parent``; ``attributes`` by number of element;
        ``own`` text of elements whose text is not text of the page (styles, options); ``runs`` of text with
        ``runOwner``, and ``runBegin``, how many stand before each element; ``blockRuns``, begin and end of each block
        in runs, and its number of ``words``; ``blocks``, begin and end of each element in blocks.
    """
    tags: list[str] = []
    attributes: dict[int, list[tuple[str, str]]] = {}
    own: dict[int, str] = {}
    within: list[str] = []  # the drawing that each element lies in, "" for none
    for index, (tag, parent, element) in enumerate(
        zip(page.tag.tolist(), page.parent.tolist(), page.elements, strict=True)
    ):
        name = TAG_NAMES[tag] or str(element.tag).rpartition("}")[2].lower()
        outside = within[parent] if parent >= 0 else ""
        within.append(outside or (name if name in _DRAWN else ""))
        if (parent >= 0 and not tags[parent]) or name in _SKIPPED or (outside and name == "foreignobject"):
            tags.append("")
            continue
        tags.append(_REPLACED_BY.get(name, name if _NAME.match(name) else "span"))
        if kept := _safe_attributes(page.attributes[index] or [], name, bool(within[index]), load_assets):
            attributes[index] = kept
        if name in _WITH_OWN_TEXT or outside:
            own[index] = "".join(map(str, element.itertext())) if name in {"style", "textarea"} else element.text or ""
    return {
        "tag": tags,
        "parent": page.parent.tolist(),
        "attributes": attributes,
        "own": {index: text for index, text in own.items() if text.strip()},
        "runs": page.runs,
        "runOwner": page.run_node.tolist(),
        "runBegin": page.run_begin.tolist(),
        "blockRuns": [page.block_run_begin.tolist(), page.block_run_end.tolist()],
        "words": [len(WORD.findall(text)) for text in page.block_texts()],
        "blocks": [page.block_begin.tolist(), page.block_end.tolist()],
    }


def has_doctype(html: bytes) -> bool:
    """Whether a page has a doctype, without which a browser uses quirks mode."""
    return b"<!doctype" in html[:_LOOKED_AT].lower()


def _safe_attributes(
    pairs: list[tuple[str, str]], tag: str, is_in_drawing: bool, load_assets: bool
) -> list[tuple[str, str]]:
    """Return the attributes that cannot act; of a link its address as a title."""
    kept = []
    for name, value in pairs:
        if name in _ATTRIBUTES or name.startswith("aria-"):
            kept.append((name, value))
        elif name in _ADDRESSES:
            # Image data, parts of the same drawing, and the web addresses of images.
            inside = _IMAGE_DATA.match(value) and len(value) <= _MAX_IMAGE_DATA
            web = load_assets and name == "src" and _WEB.match(value)
            if (tag == "img" and (inside or web)) or (is_in_drawing and (inside or value.startswith("#"))):
                kept.append((name, value))
        elif is_in_drawing and _NAME.match(name.lower()) and not name.lower().startswith("on"):
            kept.append((name, value))
    if tag == "a" and (link := dict(pairs).get("href")):
        kept += [("href", "#"), ("title", link)]
    return kept


def find_style_sheets(page: Page) -> list[str]:
    """Return the addresses of the page's style sheets, for ``--load-assets``."""
    sheets = (link for _, link in elements_with_attributes(page, "link") if "stylesheet" in link.get("rel", "").lower())
    return [sheet["href"] for sheet in sheets if sheet.get("href")]
