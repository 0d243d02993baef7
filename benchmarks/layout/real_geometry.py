"""Does real geometry make a better model than the estimate? The `logistic` model with either, on sites never seen.

    python -m benchmarks.layout.real_geometry SITES_DIR [SITES_DIR ...] --boxes FOLDER [--pages-per-site 10]

The pages are those of `benchmarks.layout.geometry`: pages of sites that have their style sheets. The same four
regressions of the `logistic` model learn from the same site-level labels, leave-sites-out by ten folds, with four kinds
of geometry:

* estimated: the layout without a browser, as in the package,
* real: Chromium's boxes, for features, for the choice among the four regressions, for which elements are hidden, and
  for the penalties of the smoother,
* real where shown: the same, but what the browser does not show has its estimated box, and is judged by itself,
* none: as estimated, but the features of position and area are left out.

Measured on the sites held out, every site with the same weight: word f-measure of the content that stays, basic and
smoothed, with the threshold that is best on the other folds, and the area under the ROC curve of the text blocks. The
difference to `estimated` has a 95% interval over sites, by bootstrap.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.layout.browser_layout import add_layout_arguments, laid_out_sites
from benchmarks.shared.common import parser_of, say, shown, table, write_json
from benchmarks.shared.intervals import mean_interval
from winnow import Page
from winnow.papers.element_features import NODE_FEATURES, Measures
from winnow.papers.geometry import PAGE_WIDTH, Geometry
from winnow.smoothing import smooth_scores, unsmoothed
from winnow.training.logistic import THRESHOLDS, Examples, fit, joined_examples, of_one_site, page_examples
from winnow.training.sites import CONTENT, IGNORED, TEMPLATE, SiteCounts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmarks.layout.browser_layout import LaidOutPage
    from winnow.papers.page_level import LogisticModel

    Floats = NDArray[np.float64]

FOLDS: Final = 10
KINDS: Final = ("estimated", "real", "real where shown", "none")
POSITION_AND_AREA: Final = (
    *("top_margin", "bottom_margin", "side_margin", "centre_distance", "vertical_position", "area", "area_share"),
)


@dataclass(frozen=True, eq=False, slots=True)
class JudgedPage:
    """A page with site-level labels and a browser's boxes, by its file: trees are large and read again when needed.

    Attributes:
        file, url: where it is.
        site: number of its site.
        boxes: float64[n, 4], as of `LaidOutPage`.
        label: int8[n + m].
    """

    file: Path
    url: str
    site: int
    boxes: Floats
    label: NDArray[np.int8]

    def measures(self, kind: str) -> Measures:
        """Read and measure the page with one kind of geometry."""
        measures = Measures.of(Page.parse(self.file.read_bytes(), self.url))
        if kind.startswith("real"):
            geometry = real_geometry(measures.page, self.boxes)
            return replace(measures, geometry=geometry if kind == "real" else completed(geometry, measures.geometry))
        return measures


@dataclass(frozen=True, eq=False, slots=True)
class Quality:
    """Figures of one page.

    Attributes:
        basic, smooth: float64, f-measure of its content words for each threshold.
        area: under the ROC curve of its blocks, unsmoothed; NaN where they are all of one kind.
    """

    basic: Floats
    smooth: Floats
    area: float


def main() -> None:
    """Train and judge with each kind of geometry, fold by fold, and print the table."""
    parser = parser_of(__doc__ or "")
    add_layout_arguments(parser)
    options = parser.parse_args()
    pages = [page for number, laid in enumerate(laid_out_sites(options)) for page in _labelled(laid, number)]
    sites = sorted({page.site for page in pages})
    if len(sites) < FOLDS:
        sys.exit(f"{FOLDS} or more sites with style sheets are needed, there are {len(sites)}")
    number_of = dict(zip(sites, np.random.default_rng(options.seed).permutation(len(sites)) % FOLDS, strict=True))

    figures: dict[str, dict[str, dict[int, float]]] = {}
    for kind in KINDS:
        say(f"{kind} geometry")
        examples = _examples(pages, kind, options.seed)
        fold_of_example = np.array([number_of[site] for site in examples.site.tolist()])
        models = [_fitted(examples, fold_of_example != fold, kind) for fold in range(FOLDS)]
        judged = [(page, _judge(models[number_of[page.site]], page, kind)) for page in shown(pages, "pages judged")]
        figures[kind] = _by_site(judged, number_of)
    rows = [[kind, *_row(figures[kind], figures["estimated"])] for kind in KINDS]
    names = list(figures["estimated"])
    print(table(["geometry", *(cell for name in names for cell in (name, "difference (95%)"))], rows))
    say(f"{len(sites)} sites, {len(pages)} pages")
    write_json(options, {"sites": len(sites), "pages": len(pages), **_json(figures)})


def real_geometry(page: Page, boxes: Floats) -> Geometry:
    """Make a geometry of a browser's boxes (float64[n, 4]); blocks take the box of the element around them.

    Elements that the browser does not have take up nothing.
    """
    known = np.nan_to_num(boxes)
    units = np.concatenate([known, known[page.block_node]])
    x, y, width, height = np.maximum(units, 0).T
    return Geometry(
        x=x,
        y=y,
        width=width,
        height=height,
        area=width * height,
        page_width=PAGE_WIDTH,
        page_height=max(float(height[0]), 1.0),
    )


def completed(real: Geometry, estimated: Geometry) -> Geometry:
    """Give what takes up nothing in a browser its estimated box."""
    shown = real.area > 0
    boxes = {
        name: np.where(shown, getattr(real, name), getattr(estimated, name))
        for name in ("x", "y", "width", "height", "area")
    }
    return replace(real, **boxes)


def _labelled(laid: Sequence[LaidOutPage], number: int) -> list[JudgedPage]:
    site = laid[0].site
    counts = SiteCounts(site)
    boxes = {page.file: page.boxes for page in laid}
    chosen = [index for index in counts.files if site.files[index] in boxes]
    return [
        JudgedPage(page.file, site.url(page.file), number, boxes[page.file], page.label)
        for page in counts.labelled(chosen)
        if len(boxes[page.file]) == page.page.n
    ]


def _examples(pages: Sequence[JudgedPage], kind: str, seed: int) -> Examples:
    random = np.random.default_rng(seed)
    by_site: dict[int, list[Examples]] = defaultdict(list)
    for page in shown(pages, "pages read"):
        by_site[page.site].append(page_examples(page.measures(kind), page.label, page.site, random))
    return joined_examples([of_one_site(parts) for parts in by_site.values()])


def _fitted(examples: Examples, chosen: NDArray[np.bool_], kind: str) -> LogisticModel:
    if kind == "none":
        left_out = [feature.name in POSITION_AND_AREA for feature in NODE_FEATURES]
        examples = replace(examples, values=np.where(left_out, np.float32(0), examples.values))
    return fit(examples, chosen)


def _judge(model: LogisticModel, page: JudgedPage, kind: str) -> Quality:
    measures = page.measures(kind)
    n = measures.page.n
    label = page.label[n:]
    words = measures.statistics.per_unit(measures.statistics.words)[n:]
    scores = model.score_measured(measures)
    basic, smooth = (way(measures.page, scores).value[n:] for way in (unsmoothed, smooth_scores))
    known = label != IGNORED
    both = len(np.unique(label[known])) > 1
    return Quality(
        _f_measures(basic, words, label),
        _f_measures(smooth, words, label),
        float(roc_auc_score(label[known] == TEMPLATE, basic[known])) if both else np.nan,
    )


def _f_measures(value: Floats, words: NDArray[np.int64], label: NDArray[np.int8]) -> Floats:
    kept = value[:, None] < THRESHOLDS
    content, labelled = words * (label == CONTENT), words * (label != IGNORED)
    if not content.any():
        return np.full(len(THRESHOLDS), np.nan)
    measures: Floats = 2.0 * (content @ kept) / (content.sum() + labelled @ kept)
    return measures


def _by_site(judged: Sequence[tuple[JudgedPage, Quality]], fold_of: dict[int, int]) -> dict[str, dict[int, float]]:
    """Means over the pages of each site, thresholds chosen on the sites of the other folds."""
    qualities: dict[int, list[Quality]] = defaultdict(list)
    for page, quality in judged:
        qualities[page.site].append(quality)
    figures: dict[str, dict[int, float]] = {"content f-measure, smoothed": {}, "basic": {}, "area under ROC": {}}
    for name, rows in (("content f-measure, smoothed", "smooth"), ("basic", "basic")):
        curves = {site: _mean([getattr(page, rows) for page in pages]) for site, pages in qualities.items()}
        for site, curve in curves.items():
            others = [other for each, other in curves.items() if fold_of[each] != fold_of[site]]
            figures[name][site] = float(curve[np.nanargmax(_mean(others))])
    for site, pages in qualities.items():
        figures["area under ROC"][site] = float(_mean([np.array([page.area]) for page in pages])[0])
    return figures


def _mean(rows: Sequence[Floats]) -> Floats:
    """Mean of the rows that are known."""
    known = [row for row in rows if not np.isnan(row).any()]
    return np.mean(known, axis=0) if known else np.full_like(rows[0], np.nan)


def _row(figures: dict[str, dict[int, float]], baseline: dict[str, dict[int, float]]) -> list[object]:
    cells: list[object] = []
    for name, by_site in figures.items():
        values, before = np.array(list(by_site.values())), np.array(list(baseline[name].values()))
        difference = (values - before)[~np.isnan(values - before)]
        cells.append(float(np.nanmean(values)))
        if by_site is baseline[name]:
            cells.append("")
        else:
            low, high = mean_interval(difference.tolist())
            cells.append(f"{difference.mean():+.3f} ({low:+.3f} to {high:+.3f})")
    return cells


def _json(figures: dict[str, dict[str, dict[int, float]]]) -> dict[str, Any]:
    return {
        kind: {name: float(np.nanmean(list(by_site.values()))) for name, by_site in rows.items()}
        for kind, rows in figures.items()
    }


if __name__ == "__main__":
    main()
