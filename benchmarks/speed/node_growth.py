"""Time per element as pages grow from 100 to 100,000 elements: flat where nothing grows faster than the page.

    python -m benchmarks.speed.node_growth [--repeat 3] [--plot docs/images/time-per-node.svg]

The pages are made: a menu, then stories of a heading, paragraphs with links, a list and a table, as many as it takes.
Every stage runs --repeat times on a page newly parsed, and the fastest run counts, in processor time; microseconds an
element. The calls alone weigh on the smallest pages.
"""

from __future__ import annotations

from itertools import pairwise
from time import thread_time
from typing import TYPE_CHECKING, Final

from threadpoolctl import threadpool_limits

from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.plots import Panel, add_plot_argument, draw
from winnow import Limits, Page, clean, load_model
from winnow.fingerprints import node_fingerprints, text_fingerprints
from winnow.memo import forget
from winnow.page.parsing import parse_html
from winnow.smoothing import smooth_scores

if TYPE_CHECKING:
    from winnow.models.scores import Model

SIZES: Final = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
PARSE, FLATTEN, FINGERPRINT, SCORE, SMOOTH, WHOLE = (
    "lxml parse", "flatten", "fingerprint", "features and score", "smooth", "tree to text",
)  # fmt: skip

_LIMITS: Final = Limits(max_nodes=200_000)


def main() -> None:
    """Time every size and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs, the fastest counts (%(default)s)")
    add_plot_argument(parser)
    options = parser.parse_args()
    model = load_model()
    clean(page_of(100), model=model)  # what is loaded once stays out of it
    found: dict[int, dict[str, float]] = {}
    with threadpool_limits(1):
        for size in SIZES:
            html = page_of(size)
            runs = [_microseconds(html, model) for _ in range(options.repeat)]
            found[size] = {stage: min(run[stage] for run in runs) for stage in runs[0]}
            say(f"{size:,} elements")
    stages = list(found[SIZES[0]])
    rows = [[f"{size:,}", *(f"{found[size][stage]:.2f}" for stage in stages)] for size in SIZES]
    print(table(["elements", *(f"{stage}, µs" for stage in stages)], rows))

    write_json(options, {str(size): figures for size, figures in found.items()})
    if options.plot:
        lines = {stage: [(size, found[size][stage]) for size in SIZES] for stage in stages}
        draw(options.plot, [Panel("elements of the page", "µs per element", lines, {}, log_x=True)])


def page_of(elements: int) -> str:
    """A page of about so many elements, and one that has no two stories alike."""
    pieces = ["<title>A page</title><body><nav>", *(f"<a href='/{n}'>Part {n}</a>" for n in range(10)), "</nav><main>"]
    written, story = 15, 0
    while written < elements:
        pieces.append(
            f"<article class='story story-{story}'><h2>Story {story} of the day</h2>"
            f"<p>It was told {story} times, <a href='/told/{story}'>as they say</a>, and each time it grew. Who knew?"
            f"<p>Then somebody wrote it down on page {story * 7}, and from then on it was <em>always</em> the same."
            f"<ul><li><a href='/a/{story}'>First part</a><li>Second part, {story} words long</ul>"
            f"<table><tr><td>Year<td>{1900 + story % 120}<tr><td>Pages<td>{story}</table>"
            f"<div class='share'><a href='/share/{story}'>Share</a> <span>{story} times</span></div></article>"
        )
        written += 21
        story += 1
    return "".join([*pieces, "</main><footer><p>All rights reserved.</footer>"])


def _microseconds(html: str, model: Model) -> dict[str, float]:
    """Microseconds per element of each stage."""
    forget()
    marks = [thread_time()]
    root = parse_html(html)
    marks.append(thread_time())
    page = Page.from_tree(root, "https://example.org/a", limits=_LIMITS)
    marks.append(thread_time())
    node_fingerprints(page), text_fingerprints(page)
    marks.append(thread_time())
    scores = model.score(page)
    marks.append(thread_time())
    smooth_scores(page, scores)
    marks.append(thread_time())
    seconds = [end - begin for begin, end in pairwise(marks)]
    n = page.n
    root = parse_html(html)
    forget()
    start = thread_time()
    cleaned = clean(root, "https://example.org/a", model=model, limits=_LIMITS)
    seconds.append(thread_time() - start)
    if cleaned.passed_through is not None:
        raise RuntimeError(f"a page of {n:,} elements was passed through: {cleaned.passed_through}")
    names = (PARSE, FLATTEN, FINGERPRINT, SCORE, SMOOTH, WHOLE)
    return {name: each / n * 1e6 for name, each in zip(names, seconds, strict=True)}


if __name__ == "__main__":
    main()
