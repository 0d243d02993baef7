"""Training of page-level models: sites to labels, labels to examples, examples to weights and a model card."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Final

from tamis.files import write_output
from tamis.folders import no_progress
from tamis.models import BLOCKS, DEFAULT_MODEL
from tamis_papers.methods import method
from tamis_papers.page_level import LOGISTIC
from tamis_papers.pages import find_sites
from tamis_papers.training.blocks import train_blocks
from tamis_papers.training.examples import SITE_LEVEL_METHOD
from tamis_papers.training.gold import gold_examples
from tamis_papers.training.logistic import train_logistic
from tamis_papers.training.report import model_card

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tamis.folders import Progress
    from tamis_papers.training.report import Trained

MODEL_KINDS: Final = (BLOCKS, LOGISTIC)
"""The kinds of models that can be trained."""


def train(
    sites_dir: Path,
    *,
    output: Path,
    model: str = DEFAULT_MODEL,
    gold: Sequence[Path] = (),
    marks: bool = False,
    labels: str = SITE_LEVEL_METHOD,
    sources: str = "",
    seed: int = 0,
    processes: int = 1,
    progress: Progress = no_progress,
) -> Trained:
    """Train a model, and write it with its model card (``.md``) beside it.

    Args:
        sites_dir: folder of sites, one folder a site.
        output: file to write, ending in ``.npz``.
        model: kind of model, one of :data:`MODEL_KINDS`.
        gold: files of gold pages; these and the marks are for models that learn from more than sites.
        marks: learn from the marks of authors on pages of the sites, too; not with gold pages.
        labels: the site-level method that labels the sites, one of :data:`tamis_papers.methods.METHODS`.
        sources: whom the pages are from, as Markdown for the model card.
        seed: the same seed and the same pages give the same weights.
        processes: worker processes that read pages.
        progress: called with how many things are done, of how many, and the name of the last one or of the next step.

    Raises:
        FileNotFoundError: there is no such folder, or the HTML of a gold page is missing.
        ImportError: the gold text needs a package that is not installed.
        ValueError: the kind of model or the file name will not do, or sites or gold text are not what it needs.
    """
    method(labels)  # or an error that names those that there are
    if model not in MODEL_KINDS:
        raise ValueError(f"no such kind of model: {model!r}; there are {', '.join(sorted(MODEL_KINDS))}")
    if output.suffix != ".npz":
        raise ValueError(f"the model's file must end in .npz: {output}")
    if model == LOGISTIC and gold:
        raise ValueError("the logistic model learns from site-level labels only; it takes no gold text")
    if marks and model != BLOCKS:
        raise ValueError(f"marks of authors are for the kind {BLOCKS!r}, not {model!r}")
    if marks and gold:
        raise ValueError("marks of authors are for models without gold text")
    sites = find_sites(sites_dir)
    output.parent.mkdir(parents=True, exist_ok=True)  # what fails here would fail after hours
    common: Any = {"labels": labels, "seed": seed, "processes": processes, "progress": progress}
    if model == LOGISTIC:
        trained = train_logistic(sites, **common)
    else:
        trained = train_blocks(sites, gold_examples(gold, sites_dir), marks=marks, **common)
    with_gold = "".join(f" --gold {file.parent.name}/{file.name}" for file in gold)
    with_gold += " --marks" if marks else ""
    with_labels = f" --labels {labels}" if labels != SITE_LEVEL_METHOD else ""
    command = f"tamis train {sites_dir.name}{with_gold}{with_labels} -o {output.name} --model {model} --seed {seed}"
    write_model(trained, output, data=sites_dir.name, command=command, sources=sources)
    return trained


def write_model(trained: Trained, output: Path, *, data: str, command: str, sources: str) -> None:
    """Write a model, and its card beside it; see :func:`tamis_papers.training.report.model_card`."""
    trained.model.save(output)
    card = model_card(trained, data=data, command=command, date=datetime.date.today(), sources=sources)
    write_output(output.with_suffix(".md"), card)
