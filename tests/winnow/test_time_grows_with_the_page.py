"""Nothing hangs: four times as much of anything takes about four times as long."""

from __future__ import annotations

from time import thread_time
from typing import TYPE_CHECKING

import winnow
from winnow.output.chunks import chunks_of
from winnow.output.text import is_leftover
from winnow.page.parsing import parse_html

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_RATIO = 8.0
"""Four times the size, with room for caches and other processes; quadratic work takes sixteen times as long."""


def assert_linear(work: Callable[[str], object], make: Callable[[int], str], n: int) -> None:
    """Compare the best processor times for sizes n and 4n; what does not reach a millisecond is not slow."""
    small, large = make(n), make(4 * n)
    times = [float("inf")] * 2
    for _ in range(5):
        for place, html in enumerate((small, large)):
            begin = thread_time()
            work(html)
            times[place] = min(times[place], thread_time() - begin)
        if times[1] <= MAX_RATIO * max(times[0], 0.001):
            return
    raise AssertionError(f"{times[0]:.3f} s for n, {times[1]:.3f} s for 4n: {small[:80]!r}")


def test_a_text_of_leftovers_is_read_once() -> None:
    for piece in ("[endif]<!--", "<!----->", "[if IE]--", "[endif]-----"):
        assert_linear(is_leftover, lambda n, piece=piece: piece * n + "x", 20_000)  # type: ignore[misc]


def test_what_follows_the_end_of_a_document_is_read_once() -> None:
    for begin in ("</html>", "<frameset>"):
        for piece in ("<!--", "<script ", "<style>", "<!doctype ", "<frame ", "<", "<i>", "</html "):
            assert_linear(parse_html, lambda n, begin=begin, piece=piece: begin + piece * n, 4_000)  # type: ignore[misc]


def test_formulas_are_read_once() -> None:
    formula = '<p>So <span class="katex"><math><annotation encoding="application/x-tex">x</annotation></math>'
    glyphs = '<span class="katex-html">x</span></span> is.</p>'
    assert_linear(lambda html: winnow.clean(html).html, lambda n: (formula + glyphs) * n, 200)


def test_long_chunks_are_counted_once() -> None:
    for piece in ("<p>Word word word.</p>", "Word word. ", "<li>Word word.</li>"):
        assert_linear(lambda html: chunks_of(html, 10**6), lambda n, piece=piece: piece * n, 1_500)  # type: ignore[misc]
