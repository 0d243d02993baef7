"""A page as data that a browser can be told to draw: its own elements, attributes and text, and nothing that acts.

The browser builds the very tree that was judged, element by element, so that no second parser sees the page: what is
not in these lists cannot come to be. Scripts, frames, plug-ins, addresses and handlers are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from winnow.page.tags import TAG_NAMES

if TYPE_CHECKING:
    from winnow.page.page import Page

_LEFT_OUT: Final = frozenset(
    "script link meta base title template param source track frame applet bgsound animate set".split()  # noqa: SIM905
)
_STOOD_IN_FOR: Final = {
    **dict.fromkeys(("iframe", "object", "embed"), "winnow-frame"),
    **dict.fromkeys(("noscript", "noframes", "frameset", "form", "dialog", "portal"), "div"),
}
"""What is drawn instead of elements that load something, send something, or show only without scripts."""

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*\Z")
_ATTRIBUTES: Final = frozenset(
    """
    abbr align alt bgcolor border cellpadding cellspacing checked class color cols colspan datetime dir disabled face
    frame headers height hidden id label lang noshade nowrap open placeholder reversed role rows rowspan rules scope
    selected size span start style title type valign value vspace hspace width
    """.split()  # noqa: SIM905
)
_DRAWN: Final = frozenset({"svg", "math"})
_WITH_OWN_TEXT: Final = frozenset({"style", "option", "textarea", "svg", "math"})
_PICTURE_DATA: Final = re.compile(r"data:image/(?:png|gif|jpeg|webp|avif|bmp|x-icon|svg\+xml)[;,]", re.IGNORECASE)
_ADDRESSES: Final = frozenset({"href", "xlink:href", "src"})
_WEB: Final = re.compile(r"https?:|[^:]*(?:[/?#]|\Z)", re.IGNORECASE)
_LONGEST_DATA: Final = 200_000  # characters of one picture


def drawing(page: Page) -> dict[str, Any]:
    """Describe a page for the browser.

    Returns:
        ``names``, tag names, each once; ``tag`` and ``parent`` of each element, -1 for one that is not drawn;
        ``attributes`` as name, value, name, value by number of element; ``own`` text of elements whose text is no text
        of the page (styles, options); ``runs`` of text with ``runOwner``, and ``runBegin``, how many stand before each
        element; ``blockRuns``, begin and end of each block in runs, and ``blocks``, begin and end of each element in
        blocks; ``links`` by number of element; whether there is a ``doctype``.
    """
    names: dict[str, int] = {}
    tags: list[int] = []
    attributes: dict[int, list[str]] = {}
    own: dict[int, str] = {}
    links: dict[int, str] = {}
    within: list[str] = []  # the drawing that each element lies in, "" for none
    for index, (tag, parent, element) in enumerate(
        zip(page.tag.tolist(), page.parent.tolist(), page.elements, strict=True)
    ):
        name = TAG_NAMES[tag] or str(element.tag).rpartition("}")[2].lower()
        outside = within[parent] if parent >= 0 else ""
        within.append(outside or (name if name in _DRAWN else ""))
        if (parent >= 0 and tags[parent] < 0) or name in _LEFT_OUT or (outside and name == "foreignobject"):
            tags.append(-1)
            continue
        shown = _STOOD_IN_FOR.get(name, name if _NAME.match(name) else "span")
        tags.append(names.setdefault(shown, len(names)))
        pairs = page.attributes[index]
        if pairs and (kept := _kept(pairs, picture=name == "img", drawn=bool(within[index]))):
            attributes[index] = kept
        if name in _WITH_OWN_TEXT or outside:
            own[index] = "".join(map(str, element.itertext())) if name in {"style", "textarea"} else element.text or ""
        if name == "a" and (link := element.get("href")):
            links[index] = link
    return {
        "names": list(names),
        "tag": tags,
        "parent": page.parent.tolist(),
        "attributes": attributes,
        "own": {index: text for index, text in own.items() if text.strip()},
        "links": links,
        "runs": page.runs,
        "runOwner": page.run_node.tolist(),
        "runBegin": page.run_begin.tolist(),
        "blockRuns": [page.block_run_begin.tolist(), page.block_run_end.tolist()],
        "blocks": [page.block_begin.tolist(), page.block_end.tolist()],
        "doctype": _has_doctype(page),
    }


def _has_doctype(page: Page) -> bool:
    """Whether a browser lays the page out by today's rules rather than by those of pages without a doctype."""
    docinfo: Any = page.elements[0].getroottree().docinfo if page.n else None
    return docinfo is not None and bool(docinfo.doctype)


def _kept(pairs: list[tuple[str, str]], *, picture: bool, drawn: bool) -> list[str]:
    """The attributes that may stay: name, value, name, value; those of a picture, or of a part of a drawing."""
    kept: list[str] = []
    for name, value in pairs:
        if name in _ATTRIBUTES or name.startswith("aria-"):
            kept += name, value
        elif name in _ADDRESSES:
            # Pictures that are in the page, parts of the same drawing, and for --load-assets pictures on the web.
            inside = _PICTURE_DATA.match(value) and len(value) <= _LONGEST_DATA
            web = name == "src" and _WEB.match(value)
            if (picture and (inside or web)) or (drawn and (inside or value.startswith("#"))):
                kept += name, value
        elif drawn and _NAME.match(name.lower()) and not name.lower().startswith("on"):
            kept += name, value
    return kept


def style_sheets(page: Page) -> list[str]:
    """Return the addresses of the page's style sheets, for ``--load-assets``."""
    return [
        href
        for element in page.elements
        if element.tag == "link"
        and "stylesheet" in (element.get("rel") or "").lower()
        and (href := element.get("href"))
    ]
