"""The story of a page whose elements hold next to nothing, since its scripts write it: from the JSON it comes with.

Read are JSON-LD, scripts of JSON (Next.js, Nuxt, Gatsby), what React's server components push, scripts that set
``window.__INITIAL_STATE__`` and its like, and what Discourse has in ``data-preloaded``. No script is run.
"""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING, Any, Final

from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from winnow.page.page import Page

_LEAST: Final = 200  # characters of a story
_LONG: Final = 12  # words of a text, as names, labels and addresses have not
_TEXTS: Final = frozenset(
    """
    articlebody body bodyhtml body_html bodytext content contenthtml content_html cooked copy description excerpt html
    intro lead markup paragraph paragraphs rawhtml raw_html rendered standfirst story summary text textcontent value
    """.split()  # noqa: SIM905  (forty quoted names would be no easier to read)
)
_TITLES: Final = ("headline", "title", "name")
_STATE: Final = re.compile(
    r"(?:window|self|globalThis)\s*\.\s*(?:__\w{1,60}__|\w{0,40}(?:STATE|DATA|Data|State)\w{0,20})\s*=\s*(?=[\[{])"
)
_PUSH: Final = re.compile(r"self\.__next_f\.push\(\[1,(?=\")")
_ROW: Final = re.compile(rb"[0-9a-f]{1,8}:(?:T([0-9a-f]{1,8}),|[A-Z]{0,2}(?=.))", re.DOTALL)
_JSON_TYPES: Final = frozenset({"application/json", "application/ld+json"})
_MAX_CHARACTERS: Final = 8_000_000
_MAX_VALUES: Final = 200_000
_MAX_STATES: Final = 20
_TAG: Final = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>]*)?>")


def story_of_data(page: Page, length: int = 0) -> str:
    """Return the story that a page's JSON tells as an HTML document; "" where there is none.

    Args:
        page: the page.
        length: characters of what its elements say; a story has more than twice as many.
    """
    best: tuple[int, str] = (max(_LEAST, 2 * length), "")
    for document in _documents(page):
        title, texts = _texts(document)
        characters = sum(len(_TAG.sub("", text)) for text in texts)
        if characters > best[0]:
            paragraphs = (text if _TAG.search(text) else _paragraphs(text) for text in texts)
            heading = f"<h1>{escape(title)}</h1>" if title else ""
            best = characters, f"<article>{heading}{''.join(f'<div>{text}</div>' for text in paragraphs)}</article>"
            if isinstance(document, dict) and document.get("articleBody"):
                break  # made for this
    if not best[1]:
        return ""
    return f"<html><head><title>{escape(page.title)}</title></head><body>{best[1]}</body></html>"


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in re.split(r"\n\s*", text.strip()))


def _documents(page: Page) -> Iterator[Any]:
    """What the page holds in JSON, what is made for others to read first."""
    left = _MAX_CHARACTERS
    states: list[str] = []
    types = page.attribute("type")
    scripts = [element for element in page.raw_texts if page.tag[element] == TAG_ID["script"]]
    for script in sorted(scripts, key=lambda script: "ld+json" not in types.get(script, "")):
        text = page.raw_text(script).strip()
        left -= len(text)
        if left < 0:
            return
        if types.get(script, "").strip().lower() in _JSON_TYPES:
            yield from _things(_loaded(text))
        elif "javascript" in types.get(script, "javascript"):
            states.append(text)
    if flight := "".join(part for state in states for part in _parts_of_flight(state)):
        yield list(_rows_of_flight(flight.encode()))
    yield from map(_loaded, page.attribute("data-preloaded").values())
    for state in states:
        for number, found in enumerate(_STATE.finditer(state)):
            if number < _MAX_STATES:
                yield _loaded(state[found.end() :])


def _parts_of_flight(script: str) -> Iterator[str]:
    """The strings that a script of React's server components pushes."""
    for found in _PUSH.finditer(script):
        if isinstance(part := _loaded(script[found.end() :]), str):
            yield part


def _rows_of_flight(data: bytes) -> Iterator[Any]:
    """Values of the rows of React's server components: ``1a:["$", ...]``, or ``1a:T4d2,`` and so many bytes of text."""
    at = 0
    while row := _ROW.match(data, at):
        end = row.end() + int(row[1], 16) if row[1] else (data.find(b"\n", row.end()) + 1 or len(data))
        text = data[row.end() : end].decode(errors="replace")
        yield {"text": text} if row[1] else _loaded(text)
        at = end


def _things(document: Any) -> Iterator[Any]:
    """The things of a document of JSON-LD that have an article's body, then the whole document."""
    values = document.get("@graph", [document]) if isinstance(document, dict) else document
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict) and value.get("articleBody"))
    yield document


def _loaded(text: str) -> Any:
    """The value of JSON at the beginning of a text; ``None`` for what is none."""
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _texts(document: Any) -> tuple[str, list[str]]:
    """The title and the long texts of a document, each once, in their order."""
    title = ""
    texts: dict[str, None] = {}
    waiting: list[tuple[str, Any]] = [("", document)]
    for _ in range(_MAX_VALUES):
        if not waiting:
            break
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed([(key.lower(), held) for key, held in value.items()])
        elif isinstance(value, list):
            waiting += reversed([(name, held) for held in value])
        elif isinstance(value, str):
            if value[:1] in {"{", "["} and (held := _loaded(value)) is not None:
                waiting.append((name, held))
            elif name in _TITLES and not title:
                title = value.strip()
            elif (name in _TEXTS or (not name and _TAG.search(value))) and len(value.split(None, _LONG)) > _LONG:
                texts.setdefault(value)
    return title, list(texts)
