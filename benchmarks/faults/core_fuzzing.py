"""The compiled core under AddressSanitizer and UndefinedBehaviorSanitizer, fed with damaged pages.

    python -m benchmarks.faults.core_fuzzing [PAGES_DIR] [--seconds 60] [--seed 1]

The core is compiled anew with both sanitizers, which stop the process at the first read or write outside its memory,
and at the first overflow. Pages of the demo web, or of a folder, are cut, spliced, repeated and strewn with bytes; each
goes the whole way: parsed, flattened, fingerprinted, scored, smoothed. Its arrays are compared with numpy's. Then every
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
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from benchmarks.shared.common import html_files, parser_of, say
from demo.web import generate
from winnow import Page, PageTooLarge, clean, core, load_model
from winnow.comments.head import dated_features
from winnow.comments.names import NamedComments
from winnow.fingerprints import both_fingerprints
from winnow.models.blocks.block_features import STATIC_NAMES, BlockFeatures
from winnow.models.blocks.features import page_level
from winnow.models.blocks.features.containers import LEVELS
from winnow.page.parsing import parse_html

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from winnow.models.blocks import BlockPerceptron

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
            _compare(html)
        pages += 1
        refused += _misuse(rng)
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


def _compare(html: bytes) -> None:
    root = parse_html(html)
    fast = _arrays(root)
    with core.numpy_only():
        slow = _arrays(root)
    for name, value in fast.items():
        if isinstance(value, np.ndarray) and value.dtype == np.float32:  # of logarithms the last bit may differ
            same = np.allclose(value, slow[name], rtol=3e-7)
        else:
            same = np.array_equal(value, slow[name]) if isinstance(value, np.ndarray) else value == slow[name]
        assert same, f"{name} differs on {html!r}"


def _arrays(root: Any) -> dict[str, Any]:
    page = Page.from_tree(root, "https://example.org/a/b")
    found = {name: value for name, value in vars(page).items() if isinstance(value, np.ndarray | str)}
    found["nodes"], found["text"] = both_fingerprints(page)
    features = BlockFeatures.of(page)
    found["features"], found["dates"] = features.static, dated_features(page, features)
    found["matrix"] = features.matrix(cast("BlockPerceptron", load_model()).tables)
    found["comments"] = NamedComments.of(page).thread
    found["pairs"], found["kept"] = list(page.attributes), clean(page).text
    return found


def _random_page(rng: random.Random, some: Callable[[type[np.generic]], Any]) -> tuple[Any, ...]:
    """Arrays of a page of one element and one block, of which one is not what it should be."""
    one, page = np.ones(1, np.int32), np.zeros(1, np.int32)
    arrays: list[Any] = [one.astype(np.int16), -one, one, page, page, one, page, one, page, page, page, one]
    return _one_wrong(rng, some, arrays)[: rng.choice((11, 12, 12, 12))]


def _one_wrong(rng: random.Random, some: Callable[[type[np.generic]], Any], arguments: list[Any]) -> tuple[Any, ...]:
    """The arguments, of which mostly one array is not what it should be."""
    if rng.random() < 0.9:
        place = rng.choice([place for place, array in enumerate(arguments) if isinstance(array, np.ndarray)])
        arguments[place] = some(arguments[place].dtype.type)
    return tuple(arguments)


def _random_features(
    rng: random.Random, some: Callable[[type[np.generic]], Any], properties: Any, text: str
) -> tuple[Any, ...]:
    """Other arguments of its features, of which one is not what it should be."""
    sizes = len(STATIC_NAMES), len(page_level.NAMES), 1, LEVELS
    arrays: list[Any] = [
        *(np.ones(4, np.uint32), np.zeros(4, np.int8), np.arange(16, dtype=np.int64), np.zeros(1, np.int32)),
        *(np.arange(2, dtype=np.int32), np.ones(1, np.int64), np.zeros(1, np.uint8), properties, np.ones(1, np.int32)),
        *(rng.choice((text, "a", "a\nb")), rng.choice((text, "a")), 1, rng.getrandbits(64)),
        *(np.empty(size, dtype) for size, dtype in zip(sizes, (np.float32, np.float32, float, np.int64), strict=True)),
        np.empty(1, np.int32),
    ]
    return _one_wrong(rng, some, arrays)


def _random_attributes(
    rng: random.Random, some: Callable[[type[np.generic]], Any], properties: Any, text: str
) -> tuple[Any, ...]:
    """Two attributes, of which one array is not what it should be."""
    values = bytes(rng.choice(b"a1f-#/.: =\xc3\xa9\n") for _ in range(rng.choice((2, 9, 300, 1_100))))
    words, place = (
        (b"ab\na", b"a\n\nb", b"", text.encode()),
        (rng.random() < 0.8, b"a", b"f/", rng.choice((b"/1", b""))),
    )
    arguments = [
        *(values, np.array([0, 1, len(values)]), np.arange(2, dtype=np.int32), np.arange(2, dtype=np.int32)),
        *(["class", text], np.array([rng.randrange(7) for _ in range(2)], np.uint8), words, place, properties),
        *(np.zeros(2, np.uint64), np.zeros(2, np.uint8)),
    ]
    return _one_wrong(rng, some, arguments)


def _random_nodes(
    rng: random.Random, some: Callable[[type[np.generic]], Any], properties: Any, text: str
) -> tuple[Any, ...]:
    """Other arguments of the fingerprints of a page of one element and one block, of which one is wrong."""
    arguments = [
        *(np.ones(4, np.uint64), np.ones(4, np.uint8), np.zeros(4, np.uint8), np.zeros(1, np.int32)),
        *(np.arange(2, dtype=np.int32), np.ones(1, np.uint64), np.full(1, 6, np.uint8), np.zeros(1, np.uint64), text),
        *(np.array([0, rng.choice((1, 9))]), properties, np.ones(1 << 17, np.uint64), 3, 5, 7, 9, 1),
        np.zeros(2, np.uint64),
    ]
    return _one_wrong(rng, some, arguments)


def _flags(*lengths: int) -> list[Any]:
    return [np.ones(length, np.uint8) for length in lengths]


def _numbers(*lengths: int) -> list[Any]:
    return [np.zeros(length, np.int64) for length in lengths]


def _stretches() -> list[Any]:
    """Arguments of the surroundings of three blocks in one element."""
    blocks = [np.zeros(1, np.int32), np.full(1, 3, np.int32), np.ones(3)]
    return [*blocks, *_numbers(15, 15), np.empty(3, np.float32), np.empty(15, np.float32)]


def _random_trees(rng: random.Random, some: Callable[[type[np.generic]], Any]) -> tuple[Any, ...]:
    """Two trees of two nodes over rows of three numbers, of which one array is wrong."""
    nodes, rows = np.array([0, 1], np.int32), np.zeros(6, np.float32)
    arrays = [rows, nodes, nodes.copy(), rows[:2].copy(), np.array([0, 1, 1, 0], np.int32), rows[:2].copy()]
    *arguments, sums = _one_wrong(rng, some, [*arrays, np.empty(2)])
    return *arguments, rng.choice((0, 3)), rng.choice((-1, 0, 3, 3, 3)), sums


def _misuse(rng: random.Random) -> int:
    """Call a function of the core with arrays that do not fit; returns how many calls it refused."""
    module: Any = core.compiled()

    def some(dtype: type[np.generic]) -> np.ndarray[Any, Any]:
        return np.array(
            [rng.choice((-1, 0, 1, 2, 5, 100, 2**31 - 1, -(2**31))) for _ in range(rng.randrange(6))]
        ).astype(dtype)

    i64, i32, f32, u8, u64 = np.int64, np.int32, np.float32, np.uint8, np.uint64
    table = np.zeros(0x110000, np.uint8)
    tokens, text = np.zeros(1 << 17, np.uint64), rng.choice(("", "ab c", "é\U0001f600 x"))
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("count_kinds", (text, some(i64), table, some(i64))),
        ("block_texts", (text, some(i64), some(i32), some(i32), table)),
        ("leading_words", (text, "a\nb\n", table, 1, 2, some(i32), some(i32))),
        ("text_hashes", (text, some(i64), some(u8), table, tokens, 3, some(i64), some(u64), some(u64))),
        ("attribute_tokens", _random_attributes(rng, some, table, text)),
        ("node_fingerprints", (_random_page(rng, some), *_random_nodes(rng, some, table, text))),
        ("nearest", (some(i32), some(u8), some(i32))),
        ("countable", (_random_page(rng, some), *[np.zeros(4, np.uint8)] * 4, *_one_wrong(rng, some, _flags(1, 2)))),
        ("leaves", (_random_page(rng, some), *_one_wrong(rng, some, _flags(1, 2, 2)))),
        ("leaf_frequencies", (_random_page(rng, some), *_one_wrong(rng, some, [*_flags(1, 2, 2), *_numbers(2, 2)]))),
        ("surroundings", _one_wrong(rng, some, [*_numbers(18), *_stretches()])),
        ("number_slices", (some(i64), some(i64), rng.getrandbits(64), some(i64), some(i32))),
        ("predict_trees", _random_trees(rng, some)),
        ("name_parts", (b"class name", some(i64), some(i64), 1, 2, some(i32))),
        ("class_signatures", (b"class name", some(i64), some(i64), some(i64))),
        ("having_parts", (b"class name", some(i64), some(i64), rng.choice((b"a\nss", b"", b"a\n\nb")), some(u8))),
        ("date_signs", ([text, "3 days ago"], rng.choice((-1, 40, 10_000)), some(u8))),
        ("static_features", (_random_page(rng, some), *_random_features(rng, some, table, text))),
        ("name_tokens", (*(some(i32) for _ in range(4)), some(i64), some(i64), some(np.uint32), rng.choice((0, 8)))),
        ("word_features", (some(i64), some(i64), some(f32), some(f32))),
        ("name_features", (some(i64), some(i64), some(f32), some(i32), some(i32), some(i32), some(i64), some(f32))),
        ("pool", (some(f32), some(f32), some(i64), some(i64), some(f32), some(f32))),
        ("contract", (some(i32), some(i64), some(i64), some(i64))),
        ("solve_rows", (*(some(i64) for _ in range(8)), 1_000)),
        ("flatten", ("no element", {}, 1, 2, some(u8), some(u8), table, 1, 10, 10)),
    ]
    refused = 0
    for name, arguments in calls:
        try:
            getattr(module, name)(*arguments)
        except (TypeError, ValueError):
            refused += 1
    return refused


if __name__ == "__main__":
    main()
