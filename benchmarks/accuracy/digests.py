"""What each page comes to, as one digest a page: to show that a change of the code changed nothing that it computes.

    python -m benchmarks.accuracy.digests PAGES_DIR [PAGES_DIR ...] -o before.tsv
    python -m benchmarks.accuracy.digests PAGES_DIR [PAGES_DIR ...] --compare before.tsv

A digest is of everything: fingerprints of markup and text, leaves, counts' labels on a site of one page repeated, the
scores of every shipped model to six digits, sections, template, text, HTML, Markdown, and shingles. Those of every step
stand in a column of their own, so that a difference says where it comes in.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

import winnow
from benchmarks.shared.common import html_files, shown, spread
from winnow.counting import leaves, site_level_templates
from winnow.duplicates import shingles
from winnow.fingerprints import node_fingerprints, text_fingerprints
from winnow.models import load_model, shipped_models
from winnow.site import PageCounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from winnow import Page

STEPS: Final = (
    "flat",
    "fingerprints",
    "leaves",
    "labels",
    "scores",
    "text",
    "html",
    "markdown",
    "sections",
    "shingles",
)


def digest(*parts: object) -> str:
    """Eight hexadecimal digits that stand for arrays and texts."""
    whole = hashlib.blake2b(digest_size=4)
    for part in parts:
        if isinstance(part, np.ndarray):
            whole.update(f"{part.dtype.kind}{part.shape}".encode())
            whole.update(np.ascontiguousarray(part).astype(part.dtype.newbyteorder("<")).tobytes())
        else:
            whole.update(str(part).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def digests_of(page: Page) -> Iterator[str]:
    """One digest a step of :data:`STEPS`."""
    yield digest(*(getattr(page, name).astype(np.int64) for name in ("tag", "parent", "end", "block_node")), *page.runs)
    yield digest(node_fingerprints(page), text_fingerprints(page))
    yield digest(leaves(page))
    df = np.arange(page.n + page.m) % 23
    yield digest(site_level_templates(page, df, 40))
    models = [load_model(name) for name in shipped_models()]
    yield digest(*(np.round(model.score(page).templateness, 6) for model in models))
    plain = winnow.clean(page)
    cleaned = [plain, winnow.clean(page, site=PageCounts(df, 40)), winnow.clean(page, model=load_model("logistic"))]
    yield digest(*(one.text for one in cleaned))
    yield digest(*(one.html for one in cleaned))
    yield digest(plain.markdown)
    yield digest(*((s.path, round(s.score, 6), s.template, s.reason) for one in cleaned for s in one.segments))
    yield digest(shingles(plain.text))


def main() -> int:
    """Write digests or compare with those of before; 1 when a page differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="PAGES_DIR")
    parser.add_argument("--pages", type=int, default=2_000, metavar="N", help="so many pages (default: 2000)")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the digests there")
    where.add_argument("--compare", type=Path, metavar="FILE", help="compare with the digests of an earlier run")
    options = parser.parse_args()
    files = spread([file for folder in options.folders for file in html_files(folder)], options.pages)
    before = {}
    if options.compare is not None:
        before = dict(line.split("\t", 1) for line in options.compare.read_text("utf-8").splitlines())
    lines, different = [], dict.fromkeys(STEPS, 0)
    for file in shown(files, "pages"):
        try:
            found = "\t".join(digests_of(winnow.Page.parse(file.read_bytes(), "https://host.example/page")))
        except winnow.PageTooLarge as error:
            found = str(error)
        lines.append(f"{file}\t{found}")
        if before and before.get(str(file)) != found:
            earlier = before.get(str(file), "").split("\t")
            for step, now, then in zip(STEPS, found.split("\t"), earlier, strict=False):
                different[step] += now != then
            print(f"different: {file}", file=sys.stderr)
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", "utf-8")
        return 0
    print(f"{len(files):,} pages; different by step: {', '.join(f'{step} {n}' for step, n in different.items())}")
    return 1 if any(different.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
