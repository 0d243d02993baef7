"""The compiled core under AddressSanitizer and UndefinedBehaviorSanitizer, fed with damaged pages.

    python -m benchmarks.faults.core_fuzzing [PAGES_DIR] [--seconds 60] [--seed 1]

The core is compiled anew with both sanitizers, which stop the process at the first read or write outside its memory,
and at the first overflow. Pages of the demo web, or of a folder, are cut, spliced, repeated and strewn with bytes; each
is counted for a made-up site and cleaned. Then each call of the core that was made for it is made again with one array
of a wrong length, or with numbers that point outside of the others, which has to be refused. A page that takes more
than a minute ends it, with where it stands. Needs gcc or clang.
"""

from __future__ import annotations

import faulthandler
import os
import random
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from importlib import reload
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import tamis
from benchmarks.shared.common import html_files, pages_or_demo_web
from tamis import core, features, fingerprints
from tamis.duplicates import shingles
from tamis.features import TABLE_SIZE, TokenTables, features_of
from tamis.page import tag_sets, text
from tamis_papers.experiments.harness import parser_of, say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    Call = tuple[Callable[..., object], tuple[object, ...]]


_INSIDE: Final = "TAMIS_FUZZING_INSIDE"
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
    b"<noscript>", b"</noscript>", b"<body>", b"<iframe/>", b"<frameset>", b"<noframes>", b"</iframe>", b"\xed\xa0\x80",
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
        command = [sys.executable, "-m", __spec__.name, *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)


def _compiled(folder: Path) -> Path:
    library = folder / "_compiled.abi3.so"
    source = Path(core.__file__).parent / "source"
    files = sorted(map(str, source.rglob("*.c")))
    include = f"-I{sysconfig.get_paths()['include']}", f"-I{source}"
    subprocess.run(["cc", "-shared", "-fPIC", *_SANITIZERS, *include, *files, "-lm", "-o", str(library)], check=True)
    return library


def _fuzz(options: argparse.Namespace) -> None:
    loader = ExtensionFileLoader("tamis.core._compiled", os.environ[_INSIDE])
    module = module_from_spec(ModuleSpec(loader.name, loader, origin=loader.path))
    loader.exec_module(module)
    calls: list[Call] = []
    functions = vars(core.core)
    functions.update(vars(module))
    core.core.set_seed(options.seed)
    for sets_tables in (text, tag_sets, features, fingerprints):
        reload(sets_tables)
    functions.update({name: _recorded(value, calls) for name, value in functions.items() if callable(value)})
    rng, tables = random.Random(options.seed), TokenTables(*np.ones((2, TABLE_SIZE), np.float32))
    with pages_or_demo_web(options.pages, pages=11) as folder:
        seeds = [file.read_bytes()[:60_000] for file in html_files(folder, 200)]
    until, pages, refused = time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < until:
        faulthandler.dump_traceback_later(60, exit=True)  # what takes longer hangs
        html = _damaged(rng, seeds)
        with suppress(tamis.PageTooLarge):
            site = tamis.Site()
            site.count(html, "https://example.org/a/b")
            shingles(tamis.clean(html, "https://example.org/a/b", site=site).markdown)
            features_of(tamis.Page.parse(html), tables)
        pages += 1
        refused += sum(_misused(rng, *call) for call in calls)
        calls.clear()
        if pages % 200 == 0:
            say(f"{pages:,} pages, {refused:,} wrong calls refused")
    faulthandler.cancel_dump_traceback_later()
    print(f"{pages:,} damaged pages and {refused:,} wrong calls, which were refused: nothing was found")


def _recorded(function: Callable[..., object], calls: list[Call]) -> Callable[..., object]:
    def record(*arguments: object) -> object:
        calls.append((function, arguments))
        return function(*arguments)

    return record


def _misused(rng: random.Random, function: Callable[..., object], arguments: tuple[object, ...]) -> bool:
    """Make a call again with one array that does not fit, maybe one of a page's; returns whether it was refused."""
    given = [[_copied(item) for item in value] if isinstance(value, tuple) else [_copied(value)] for value in arguments]
    arrays = [(group, at) for group in given for at, item in enumerate(group) if isinstance(item, np.ndarray)]
    if not arrays:
        return False
    group, at = rng.choice(arrays)
    wrong = [rng.choice((-1, 0, 1, 2, 5, 100, 2**31 - 1, -(2**31))) for _ in range(rng.randrange(6))]
    group[at] = np.array(wrong, np.int64).astype(group[at].dtype)
    damaged = zip(arguments, given, strict=True)
    try:
        function(*(tuple(group) if isinstance(value, tuple) else group[0] for value, group in damaged))
    except (TypeError, ValueError):
        return True
    return False


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


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


if __name__ == "__main__":
    main()
