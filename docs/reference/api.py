"""Writes ``docs/reference/api.md`` from the docstrings of what programs may build on: ``python -m docs.reference.api``.

Docstrings are in Google's style. A test compares the page with what this would write.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import scrapy_tamis
import tamis

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = Path(__file__).parent / "api.md"

_HEAD: Final = """\
# API

What programs may build on, made from the docstrings by `make docs`; everything else may change with any version.
[Without Scrapy](../guides/library.md) is shorter.
"""
_TO_MARKDOWN: Final = """\
### tamis.output.markdown.to_markdown

Converts any HTML, such as `Cleaned.html`, to [Markdown](output.md#markdown); nothing is cut.
"""
_SECTIONS: Final = ("Args", "Attributes", "Returns", "Raises", "Yields", "See Also")
_SECTION: Final = re.compile(rf"^({'|'.join(_SECTIONS)}):$", re.MULTILINE)
_ENTRY: Final = re.compile(r"^(\*{0,2}\w[\w, .]*?):\s+(.*)", re.DOTALL)
_MADE_HERE: Final = {"Chunk", "Cleaned", "Content", "Metadata", "Page", "Segment"}
"""Classes whose objects programs get and do not make."""
_HOOKS: Final = {"update_settings", "process_item", "frequencies", "check"}
"""Methods that Scrapy or the library itself calls."""
_OF_PAGE: Final = {"parse", "from_tree", "block_texts"}
"""What programs need of `tamis.Page`, whose arrays are for work on Tamis itself."""
_ROLE: Final = re.compile(r":\w+:`~?([^`<]*?)(?:\s*<[^>]*>)?`")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page."""
    names = sorted(tamis.__all__, key=lambda name: (inspect.isclass(getattr(tamis, name)), name.lower()))
    parts = [_HEAD, "## tamis", *(_described(f"tamis.{name}", getattr(tamis, name)) for name in names)]
    parts += [_TO_MARKDOWN, "## scrapy_tamis"]
    parts += [_described(f"scrapy_tamis.{name}", getattr(scrapy_tamis, name)) for name in scrapy_tamis.__all__]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _described(name: str, thing: Any) -> str:
    if inspect.isclass(thing):
        signature = [] if thing.__name__ in _MADE_HERE else [_signature(name, thing)]
        return "\n\n".join([f"### {name}", *signature, _text(thing), *_members(thing)])
    if callable(thing):
        return "\n\n".join([f"### {name}", _signature(name, thing), _text(thing)])
    return f"### {name}\n\n`{thing!r}`"


def _members(cls: type) -> Iterator[str]:
    """The public methods and properties of a class, those that it has itself."""
    attributes = {each.name for each in fields(cls)} if is_dataclass(cls) else set()
    for name, member in vars(cls).items():
        if name.startswith("_") or name in attributes | _HOOKS or (cls is tamis.Page and name not in _OF_PAGE):
            continue
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(member, property | cached_property):
            yield f"#### {cls.__name__}.{name}\n\n{_text(member)}"
        elif inspect.isfunction(function):
            yield f"#### {cls.__name__}.{name}\n\n{_signature(f'{cls.__name__}.{name}', function)}\n\n{_text(function)}"


def _signature(name: str, thing: Any) -> str:
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return f"```python\n{name}\n```"
    signature = inspect.signature(thing)
    kept = [
        parameter.replace(annotation=_annotation(parameter.annotation))
        for parameter in signature.parameters.values()
        if parameter.name not in {"self", "cls"} and not parameter.name.startswith("_")
    ]
    returns = inspect.Signature.empty if inspect.isclass(thing) else _annotation(signature.return_annotation)
    one = f"{name}{signature.replace(parameters=kept, return_annotation=returns)}"
    if len(one) > 100:
        end = one[one.rindex(")") :]
        separated = str(inspect.Signature(kept))[1:-1]
        one = f"{name}(\n{textwrap.indent(_one_a_line(separated), '    ')}\n{end}"
    return f"```python\n{one}\n```"


def _one_a_line(parameters: str) -> str:
    lines, depth, begin = [], 0, 0
    for at, character in enumerate(parameters):
        depth += (character in "[(") - (character in "])")
        if character == "," and not depth:
            lines.append(parameters[begin : at + 1].strip())
            begin = at + 1
    return "\n".join([*lines, parameters[begin:].strip() + ","])


class _Plain(str):
    """An annotation that is written as it stands in the code."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _annotation(annotation: Any) -> Any:
    return annotation if annotation is inspect.Parameter.empty else _Plain(annotation)


def _text(thing: Any) -> str:
    """A docstring as Markdown: its text, and a list for each of its sections."""
    docstring = inspect.getdoc(thing) or ""
    if thing is tamis.Page:
        return _inline(docstring.partition("\n\n")[0]) + " Its arrays are described by `help(tamis.Page)`."
    types = {each.name: each.type for each in fields(thing)} if is_dataclass(thing) else {}
    first, *sections = _SECTION.split(_example_in_fence(docstring))
    written = [_inline(first.strip())]
    for name, section in zip(sections[::2], sections[1::2], strict=True):
        if name == "See Also":
            continue
        body, after = _dedented(section)
        rows = [_ENTRY.match(entry) for entry in re.split(r"\n(?=\S)", body)]
        if name == "Returns" or not all(rows):
            written.append(f"{name}: {_inline(' '.join(body.split()))}")
        else:
            entries = [
                f"* `{row[1]}`{_type(types, row[1])}: {_inline(' '.join(row[2].split()))}" for row in rows if row
            ]
            written.append("\n".join([f"{name}:", "", *entries]))
        if after:
            written.append(_inline(after))
    return "\n\n".join(filter(None, written))


def _type(types: dict[str, Any], names: str) -> str:
    """The type of attributes that share a line."""
    found = types.get(names.partition(",")[0])
    return f" ({found})" if isinstance(found, str) else ""


def _dedented(body: str) -> tuple[str, str]:
    """The indented text of a section, and what stands below it."""
    lines = body.strip("\n").split("\n")
    end = next((at for at, line in enumerate(lines) if line and not line.startswith(" ")), len(lines))
    return textwrap.dedent("\n".join(lines[:end])).strip(), "\n".join(lines[end:]).strip()


def _example_in_fence(text: str) -> str:
    return re.sub(r"(?m)(^>>> (?:.|\n(?!\n))*)", r"```python\n\1\n```", text)


def _inline(text: str) -> str:
    """Marks of reStructuredText as those of Markdown, outside of code blocks."""

    def replaced(part: str) -> str:
        part = _ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2] if '~' in found[0] else found[1]}`", part)
        return part.replace("``", "`")

    return "```".join(part if at % 2 else replaced(part) for at, part in enumerate(text.split("```")))


if __name__ == "__main__":
    main()
