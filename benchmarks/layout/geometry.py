"""How near the layout without a browser comes to that of Chromium, on pages of sites with their style sheets.

    python -m benchmarks.layout.geometry SITES_DIR ... --boxes FOLDER [--genres FILE ...] [--pages-per-site N]

Pages whose style sheets are all in their site's folder are served over HTTP on loopback, the site's folder as root, and
laid out by Chromium in a window as wide as the estimate assumes; nothing else can be fetched, and scripts are off.
Images that are not in the folder are a grey picture of 200 by 150 px. The boxes are kept in FOLDER, so that the next
run needs no browser. `benchmarks/layout/install-chromium.sh` installs Debian's.

Per page, over the elements that a browser can show at all:

* area: Spearman's rank correlation of area, over the elements that Chromium gives an area,
* area of all: the same over all elements, those that style sheets hide included,
* top: rank correlation of the distance from the top of the page, over the elements with an area,
* hidden: share of the elements on which both agree whether the area is below 2,000 px².

The table has medians over pages. `--genres` names files with a JSON object a line that has `site` and `genre`.

Chakrabarti, Kumar and Punera: Page-level Template Detection via Isotonic Smoothing (WWW 2007), section 5.2.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from benchmarks.layout.browser_layout import add_layout_arguments, laid_out_sites
from benchmarks.shared.common import parser_of, table, write_json
from winnow.page.tags import tag_set
from winnow.page.tree import within
from winnow.papers.geometry import HIDDEN_AREA, Geometry, layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from winnow.page.page import Page

LEAST_ELEMENTS: Final = 10
"""Pages with fewer elements to compare are left out."""

_WITHOUT_BOX: Final = tag_set(
    *("head", "title", "meta", "link", "base", "style", "script", "template", "noframes", "br", "wbr"),
    *("option", "optgroup", "datalist", "area", "param", "source", "track", "col", "colgroup"),
)
_DRAWING: Final = tag_set("svg", "math")


class Agreement(NamedTuple):
    """How well the estimate agrees with a browser on one page, or medians over pages; see above."""

    area: float
    area_of_all: float
    top: float
    hidden: float


def main() -> None:
    """Lay out the pages twice and print the agreement by genre."""
    parser = parser_of(__doc__ or "")
    add_layout_arguments(parser)
    parser.add_argument(
        "--genres", type=Path, nargs="+", default=[], metavar="FILE", help="genres of the sites, .jsonl"
    )
    options = parser.parse_args()
    genre_of = _genres(options.genres)
    measured: dict[str, list[Agreement]] = defaultdict(list)
    sites: dict[str, int] = defaultdict(int)
    for pages in laid_out_sites(options):
        found = [agreement(laid.page, laid.boxes, layout(laid.page)) for laid in pages]
        rows = [row for row in found if row is not None]
        for kind in ("all", *([genre_of.get(pages[0].site.name, "unknown")] if genre_of else [])):
            measured[kind] += rows
            sites[kind] += bool(rows)
    if not measured["all"]:
        sys.exit("no page of these sites has its style sheets beside it")
    kinds = sorted(measured, key=lambda kind: (kind != "all", -len(measured[kind])))
    figures = {kind: {"sites": sites[kind], "pages": len(measured[kind]), **_medians(measured[kind])} for kind in kinds}
    print(table(["median over pages", *figures["all"]], [[kind, *row.values()] for kind, row in figures.items()]))
    write_json(options, figures)


def agreement(page: Page, boxes: NDArray[np.float64], geometry: Geometry) -> Agreement | None:
    """Compare an estimate with a browser's boxes (float64[n, 4]); `None` where there is too little to compare."""
    real, estimated = boxes[:, 2] * boxes[:, 3], geometry.area[: page.n]
    known = comparable(page) & ~np.isnan(real)
    seen = known & (real > 0)
    if seen.sum() < LEAST_ELEMENTS:
        return None
    return Agreement(
        area=_rank_correlation(real[seen], estimated[seen]),
        area_of_all=_rank_correlation(real[known], estimated[known]),
        top=_rank_correlation(boxes[seen, 1], geometry.y[: page.n][seen]),
        hidden=float(((real < HIDDEN_AREA) == (estimated < HIDDEN_AREA))[known].mean()),
    )


def comparable(page: Page) -> NDArray[np.bool_]:
    """bool[n], elements that have a box in a browser unless something hides them; the parts of drawings have none."""
    drawing = _DRAWING[page.tag]
    without = within(page, _WITHOUT_BOX[page.tag]) | (within(page, drawing) & ~drawing)
    without[:1] = True  # the root has the size of the page
    return ~without


def _rank_correlation(real: NDArray[np.float64], estimated: NDArray[np.float64]) -> float:
    if np.ptp(real) == 0 or np.ptp(estimated) == 0:
        return 0.0  # nothing to rank
    return float(spearmanr(real, estimated).statistic)


def _medians(rows: Iterable[Agreement]) -> dict[str, float]:
    medians = np.median(np.array(list(rows)), axis=0).tolist()
    return {name.replace("_", " "): value for name, value in zip(Agreement._fields, medians, strict=True)}


def _genres(files: Iterable[Path]) -> dict[str, str]:
    genres: dict[str, str] = {}
    for file in files:
        try:
            for line in file.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                genres[row["site"]] = row["genre"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"{file}: no JSON objects with 'site' and 'genre': {error!r}")
    return genres


if __name__ == "__main__":
    main()
