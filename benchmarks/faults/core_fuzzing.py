"""The compiled core under AddressSanitizer and UndefinedBehaviorSanitizer, fed with damaged pages.

    python -m benchmarks.faults.core_fuzzing [PAGES_DIR] [--seconds 60] [--seed 1]

The core is compiled anew with both sanitizers, which stop the process at the first read or write outside its memory,
and at the first overflow. Pages of the demo web, or of a folder, are cut, spliced, repeated and strewn with bytes; each
goes the whole way: parsed, flattened, fingerprinted, scored, smoothed.  Then every
function of the core is called with arrays of wrong lengths and with numbers that point outside of them, which it has to
refuse. Needs gcc or clang.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.faults.core_calls import misuse
from benchmarks.shared.common import html_files, parser_of, say
from demo.web import generate
from winnow import Page, PageTooLarge, core
from winnow.evidence.comment_model import dated_features
from winnow.features.blocks import features_of
from winnow.fingerprints import node_fingerprints
from winnow.page.parsing import parse_html

if TYPE_CHECKING:
    import argparse


_INSIDE: Final = "WINNOW_FUZZING_INSIDE"
_SANITIZERS: Final = (
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-g",
    "-O1",
)
_SPLICES: Final = (
    b"<", b">", b"</", b"<!--", b"-->", b"<p>", b"<svg><title>", b"<table><td>", b"<script>", b'"', b"'", b"=", b"&#x",
    b"&#1114111;", b"\xff\xfe", b"\xf0\x9f\x98\x80", b"\xe3\x80\x80", b"\xc3", b"\x00", b"<a href=", b" class=",
    b"<math><annotation encoding=application/x-tex>", b"<x-y z:w=1>", b"<![CDATA[", b"<?php ", b"\n", b" " * 50,
)  # fmt: skip


def main() -> None:
    """Compile with sanitizers, and start again inside of them."""
    parser = parser_of(__doc__)
    parser.add_argument("pages", type=Path, nargs="?", metavar="PAGES_DIR", help="folder of HTML files (demo web)")
    parser.add_argument("--seconds", type=float, default=60, metavar="S", help="time to spend (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of chance (%(default)s)")
    options = parser.parse_args()
    if _INSIDE in os.environ:
        _fuzz(options)
        return
    with TemporaryDirectory() as folder:
        library = _compiled(Path(folder))
        runtime = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
        environment = {
            **os.environ,
            _INSIDE: str(library),
            "LD_PRELOAD": runtime.stdout.strip(),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python leaves much behind when it ends
            "OMP_NUM_THREADS": "1",
        }
        sys.exit(
            subprocess.run(
                [sys.executable, "-m", __spec__.name, *sys.argv[1:]], env=environment, check=False
            ).returncode
        )


def _compiled(folder: Path) -> Path:
    import sysconfig  # noqa: PLC0415  (of the outer process alone)

    library = folder / "_compiled.abi3.so"
    source = Path(core.__file__).parent / "source"
    files = sorted(map(str, source.rglob("*.c")))
    include = f"-I{sysconfig.get_paths()['include']}", f"-I{source}"
    subprocess.run(["cc", "-shared", "-fPIC", *_SANITIZERS, *include, *files, "-lm", "-o", str(library)], check=True)
    return library


def _fuzz(options: argparse.Namespace) -> None:
    core.load_from(Path(os.environ[_INSIDE]))
    rng = random.Random(options.seed)
    with TemporaryDirectory() as folder:
        if options.pages is None:
            generate(Path(folder), pages=11)
        seeds = [file.read_bytes()[:60_000] for file in html_files(options.pages or Path(folder), 200)]
    until, pages, refused = time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < until:
        html = _damaged(rng, seeds)
        with suppress(PageTooLarge):
            _read(html)
        pages += 1
        refused += misuse(rng)
        if pages % 200 == 0:
            say(f"{pages:,} pages, {refused:,} wrong calls refused")
    print(
        f"{pages:,} damaged pages came to the same both ways, {refused:,} wrong calls were refused; nothing was found."
    )


def _damaged(rng: random.Random, seeds: list[bytes]) -> bytes:
    """Splice two pages and damage what comes out."""
    one, other = rng.choice(seeds), rng.choice(seeds)
    cut, begin = rng.randrange(len(one) + 1), rng.randrange(len(other) + 1)
    html = bytearray(one[:cut] + other[begin : begin + rng.randrange(20_000)])
    for _ in range(rng.randrange(30)):
        place = rng.randrange(len(html) + 1)
        match rng.randrange(4):
            case 0:
                html[place:place] = rng.choice(_SPLICES) * rng.choice((1, 1, 1, 3, 40))
            case 1:
                del html[place : place + rng.randrange(1, 200)]
            case 2:
                html[place : place + 4] = rng.randbytes(4)
            case _:
                html[place:place] = html[place : place + rng.randrange(400)] * rng.randrange(1, 4)
    return bytes(html)


def _read(html: bytes) -> None:
    page = Page.from_tree(parse_html(html), "https://example.org/a/b")
    node_fingerprints(page)
    features_of(page)
    dated_features(page)


if __name__ == "__main__":
    main()
