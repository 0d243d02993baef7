"""How many modules a reader has to open to follow a page from `winnow.clean` to its text, and how often they change.

    python -m benchmarks.speed.modules_entered [FILE]

Modules of the library only, in the order in which their functions are first called; a change is a call that enters
another module than the call before it. Without a FILE the page is a small one of its own.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import winnow

if TYPE_CHECKING:
    from types import FrameType

PAGE: Final = b"""<html><head><title>Storm warning</title></head><body>
<nav><a href="/">Home</a> <a href="/weather">Weather</a> <a href="/sport">Sport</a></nav>
<article><h1>Storm warning for the coast</h1>
<p>Winds of up to 130 km/h are expected tonight. The ferries stay in the harbour until Sunday noon.</p></article>
<ul class="related"><li><a href="/1">Calm before the storm</a></li><li><a href="/2">Harbour master retires</a></li></ul>
<footer><a href="/about">About us</a> <a href="/terms">Terms</a></footer></body></html>"""
"""A page with a menu, a story, links to others and a footer."""


def modules_entered(html: bytes) -> list[str]:
    """Names of the library's modules in the order in which a page enters them, once for each change."""
    winnow.clean(html)  # look-up tables are made once, and are no part of a page's way
    entered: list[str] = []

    def follow(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("winnow.") and (not entered or entered[-1] != module):
            entered.append(module)

    sys.setprofile(follow)
    try:
        _ = winnow.clean(html).text
    finally:
        sys.setprofile(None)
    return entered


def main() -> None:
    """Follow one page and print its way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a page (default: a small one)")
    options = parser.parse_args()
    entered = modules_entered(options.file.read_bytes() if options.file else PAGE)
    modules = list(dict.fromkeys(entered))
    print("\n".join(modules))
    print(f"{len(modules)} modules, {len(entered)} changes of module")


if __name__ == "__main__":
    main()
