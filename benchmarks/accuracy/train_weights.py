"""Trains the weights of the package's own model, and models without a fifth of the sources each, to measure with.

    python -m benchmarks.accuracy.train_weights DATA

DATA has `sites-train/`, `sites-dev/`, `sites-gold.jsonl`, `wcxb-dev/`, `articles/` and `facts/`; `benchmarks/README.md`
says where they are to be had. It learns from the gold pages, from pages that a reader marked, from lines that must be
in the text of pages, and from sites with their counts; from nothing of the sites that are kept apart. FOLDS gets
`without-0.npz` and so on, and `folds.json` with the fold of each source, which `transfer`, `whole_sites` and
`lost_pages` read.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Final

from benchmarks.shared.facts import fact_examples
from tamis_papers.experiments.harness import say
from tamis_papers.marks import marked_examples, marked_page_examples
from tamis_papers.pages import find_sites
from tamis_papers.training.blocks import train_blocks
from tamis_papers.training.gold import gold_examples
from tamis_papers.training.train import write_model

_WEIGHTS: Final = Path("detector/tamis/models/weights")
_GOLD: Final = Path("benchmarks/gold")


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with the data")
    parser.add_argument("-o", "--output", type=Path, default=_WEIGHTS / "blocks.npz", metavar="MODEL")
    parser.add_argument("--folds", type=Path, default=Path(".tamis/folds"), metavar="FOLDS")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    options = parser.parse_args()
    folder, apart = options.data / "sites-train", sources_apart(options.data)
    files = [options.data / name for name in ("wcxb-dev/gold.jsonl", "articles/gold.jsonl", "sites-gold.jsonl")]
    gold = [example for example in gold_examples(files, folder) if example.gold.source != "htmltotext-bench"]
    gold += marked_examples([folder, options.data / "sites-dev"], _GOLD / "sites.jsonl")
    gold += (pages := marked_page_examples(options.data, _GOLD / "pages.jsonl"))
    marked = {example.file for example in pages}
    partly = [example for example in fact_examples(options.data / "facts") if example.file not in marked]
    trained = train_blocks(
        [site for site in find_sites(folder) if site.name not in apart],
        [example for example in gold if example.source not in apart],
        partial_examples=[example for example in partly if example.source not in apart],
        processes=options.processes,
        progress=lambda done, of, name: say(f"{done:,} of {of:,}: {name}"),
    )
    sources = "\n".join((_WEIGHTS / "sources" / name).read_text().strip() for name in ("sites.md", "gold.md"))
    write_model(trained, options.output, data=folder.name, command="make model", sources=sources)
    options.folds.mkdir(parents=True, exist_ok=True)
    for fold, model in enumerate(trained.fold_models):
        model.save(options.folds / f"without-{fold}.npz")
    fold_of = json.dumps(dict(trained.fold_of), indent=1, sort_keys=True)
    (options.folds / "folds.json").write_text(fold_of, encoding="utf-8")


def sources_apart(data: Path) -> set[str]:
    """Return the sources of the marked pages that are kept apart from all training."""
    return {example.source for example in marked_page_examples(data, _GOLD / "pages-apart.jsonl")}


if __name__ == "__main__":
    main()
