"""A hook of MkDocs: takes pages from outside ``docs/`` into the site and turns links so that they work there.

In the repository a link leads to a file, wherever it is. In the site, files that are no page have no address: links to
them become plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parent.parent
OUTSIDE: Final = ("deploy/README.md", "benchmarks/README.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages outside ``docs/``; their paths in the site are those in the repository."""

_LINK: Final = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside."""
    for name in OUTSIDE:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Turn the links of a page."""
    of_page = page.file.src_uri
    here = posixpath.dirname(of_page if of_page in OUTSIDE else f"docs/{of_page}")

    def turned(link: re.Match[str]) -> str:
        text, target, anchor = link[1], posixpath.normpath(posixpath.join(here, link[2])), link[3] or ""
        target = target.removeprefix("docs/")
        if files.get_file_from_path(target) is None:
            return text
        return f"[{text}]({posixpath.relpath(target, posixpath.dirname(of_page) or '.')}{anchor})"

    return _LINK.sub(turned, markdown)
