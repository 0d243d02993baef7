"""What :func:`winnow.clean` takes: checks of its arguments, whose messages say what would be right."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING

from lxml import etree
from w3lib.encoding import resolve_encoding

from winnow.models.registry import load_model
from winnow.page.page import Page

if TYPE_CHECKING:
    from winnow.models.base import Model


def check_input(html: object, url: object, encoding: object) -> None:
    """Refuse what is no page.

    Raises:
        TypeError: it is of another type than those taken.
        LookupError: there is no such encoding.
    """
    if not isinstance(html, str | bytes | etree._Element | etree._ElementTree | Page):
        raise TypeError(f"html must be str, bytes, an lxml tree or a winnow.Page, not {_named(html)}")
    if url is not None and not isinstance(url, str):
        raise TypeError(f"url must be a str, not {_named(url)}")
    if encoding is None:
        return
    if not isinstance(encoding, str):
        raise TypeError(f"encoding must be the name of a charset, not {_named(encoding)}")
    if not isinstance(html, bytes):
        raise TypeError(f"encoding goes with bytes; html is {_named(html)}")
    if resolve_encoding(encoding) is None:
        codecs.lookup(encoding)


def check_choice(name: str, chosen: object, choices: tuple[str, ...]) -> None:
    """Refuse a word that is none of the choices.

    Raises:
        ValueError: it is not.
    """
    if chosen not in choices:
        raise ValueError(f"{name} may be {', '.join(choices)}; not {chosen!r}")


def usable_model(model: Model | str | Path | None) -> Model:
    """Return a model, by its name or file as well.

    Raises:
        TypeError: it is none.
    """
    if model is None or isinstance(model, str | Path):
        return load_model(model)
    if not hasattr(model, "score"):
        raise TypeError(f"model must be a model, its name or its file, not {_named(model)}")
    return model


def _named(value: object) -> str:
    """Name of a value's type, with what to give instead where that is known."""
    kind = type(value).__name__
    if hasattr(value, "selector") and hasattr(value, "body"):
        return f"{kind}; give its .body and .url"
    if isinstance(value, Path):
        return f"{kind}; give its read_bytes()"
    return kind
