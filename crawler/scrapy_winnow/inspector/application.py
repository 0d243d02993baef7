"""The inspector as one HTML document, with everything that it needs in it."""

from __future__ import annotations

import json
import secrets
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, Template
from markupsafe import Markup

_PARTS: Final = ("sections.js", "card.js", "outputs.js", "settings.js")
_ASSETS: Final = files("scrapy_winnow.inspector") / "assets"


def application(data: dict[str, Any], *, title: str, load_assets: bool = False) -> str:
    """Write the document.

    The policy lets no script run but the inspector's own, which carry a random number that the page cannot know, and
    fetches nothing but, with ``load_assets``, pictures, fonts and style sheets. The page that is inspected is data;
    the browser builds it in a sandboxed frame of an origin of its own.

    Args:
        data: what the script of the inspector works with.
        title: title of the page that is inspected.
        load_assets: let the page load its pictures and style sheets from where they are.
    """
    nonce = secrets.token_urlsafe(24)
    policy = content_policy(nonce, load_assets=load_assets)
    return _template().render(
        title=title or "page",
        policy=policy,
        nonce=nonce,
        stylesheet=Markup(_asset("inspector.css")),  # noqa: S704  our own
        script=Markup(_script()),  # noqa: S704  our own
        frame_script=Markup(_asset("frame.js")),  # noqa: S704  our own
        data=Markup(in_script(data)),  # noqa: S704  no "<" is left in it
    )


def content_policy(nonce: str, *, load_assets: bool = False) -> str:
    """Return the content security policy of the inspector, which holds for the frame in it, too."""
    web = " http: https:" if load_assets else ""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'{web}; img-src data:{web}; "
        f"font-src data:{web}; connect-src 'self'; form-action 'none'"
    )


def in_script(data: Any) -> str:
    """Write JSON so that it can stand inside a script element, whatever is in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character, written in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028")):
        text = text.replace(character, written)
    return text.replace("\u2029", "\\u2029").encode("utf-8", "replace").decode()


def _script() -> str:
    """The parts of the script, which share one scope."""
    return '"use strict";\n(() => {\n' + "".join(map(_asset, _PARTS)) + "})();\n"


@lru_cache(maxsize=1)
def _template() -> Template:
    return Environment(autoescape=True).from_string(_asset("inspector.html"))


@lru_cache(maxsize=8)
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
