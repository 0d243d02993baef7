"""``python -m winnow.training.comments``: train the comments head, measure it by folds, and print the figures."""

from __future__ import annotations

import argparse
from pathlib import Path

from winnow.training.comments.examples import without_repeats
from winnow.training.comments.fitting import train_comment_head
from winnow.training.comments.gathering import pages_of_gold, pages_of_sites
from winnow.training.comments.measuring import measured_by_folds


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(prog="python -m winnow.training.comments", description="Train the comments head.")
    parser.add_argument("sites", type=Path, nargs="*", metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--gold", type=Path, action="append", default=[], metavar="FILE", help="gold pages, .jsonl")
    parser.add_argument("--leave-out", action="append", default=[], metavar="SOURCE", help="collection to leave out")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="file to write, .npz")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--figures", action="store_true", help="train by folds as well, and print what that gives")
    options = parser.parse_args()
    pages = [page for file in options.gold for page in pages_of_gold(file, options.leave_out)]
    pages += [page for folder in options.sites for page in pages_of_sites(folder, options.seed)]
    pages = without_repeats(pages)
    head = train_comment_head(pages, seed=options.seed)
    head.save(options.output)
    print(f"{head.version}: {len(pages):,} pages, {sum(page.has_thread for page in pages):,} with comments")
    if options.figures:
        for names, figures in zip(("hidden", "shown"), measured_by_folds(pages, seed=options.seed), strict=True):
            print(f"names {names}: {figures}")


if __name__ == "__main__":
    main()
