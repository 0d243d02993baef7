"""``python -m winnow.training.comments``: train the comments head, measure it by folds, and write it with its card."""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

from winnow.training.comments.card import comments_card
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
    parser.add_argument(
        "--sources", type=Path, action="append", default=[], metavar="FILE", help="Markdown for the card"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--figures", action="store_true", help="train by folds as well, for the figures on the card")
    options = parser.parse_args()
    pages = []
    for file in options.gold:
        _begins(f"reads {file}")
        pages += pages_of_gold(file, options.leave_out)
    for folder in options.sites:
        _begins(f"reads the sites of {folder}")
        pages += pages_of_sites(folder, options.seed)
    pages = without_repeats(pages)
    _begins(f"trains on {len(pages):,} pages")
    head = train_comment_head(pages, seed=options.seed)
    figures = None
    if options.figures:
        _begins("trains by folds, for the figures")
        figures = measured_by_folds(pages, seed=options.seed)
    head.save(options.output)
    card = comments_card(
        head,
        pages,
        figures,
        command=_command(options),
        date=datetime.date.today(),
        sources="\n".join(file.read_text(encoding="utf-8").strip() for file in options.sources),
    )
    options.output.with_suffix(".md").write_text(card, encoding="utf-8")
    print(f"{head.version}: {len(pages):,} pages, {sum(page.has_thread for page in pages):,} with comments")
    if figures:
        print(f"names hidden: {figures[0]}\nnames shown: {figures[1]}")


def _command(options: argparse.Namespace) -> str:
    parts = [folder.name for folder in options.sites]
    parts += [f"--gold {file.parent.name}/{file.name}" for file in options.gold]
    parts += [f"--leave-out {name}" for name in options.leave_out]
    return " ".join(["python -m winnow.training.comments", *parts, f"-o {options.output.name} --seed {options.seed}"])


def _begins(step: str) -> None:
    print(f"winnow.training.comments: {step}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
