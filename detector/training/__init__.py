"""Training of page-level models: sites to labels, labels to examples, examples to weights and a model card."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Final, Protocol

from detector.training.logistic import train_logistic
from detector.training.model_card import model_card
from detector.training.report import Figures, Trained
from detector.training.sites import Site, find_sites

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["TRAINERS", "Figures", "Site", "Trained", "Trainer", "find_sites", "train"]


class Trainer(Protocol):
    """Makes one kind of model; raises ``ValueError`` where sites or gold text do not do."""

    def __call__(
        self,
        sites: Sequence[Site],
        gold: Path | None = None,
        *,
        seed: int = 0,
        processes: int = 1,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Trained:
        """Train from sites and, if the kind of model uses it, gold text."""
        ...


TRAINERS: Final[dict[str, Trainer]] = {"logistic": train_logistic}
"""How each kind of model is made, by its name."""


def train(
    sites_dir: Path,
    *,
    output: Path,
    model: str = "logistic",
    gold: Path | None = None,
    seed: int = 0,
    processes: int = 1,
    date: datetime.date | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Trained:
    """Train a model, and write it with its model card (``.md``) beside it.

    Args:
        sites_dir: folder of sites, one folder a site.
        output: file to write, ending in ``.npz``.
        model: kind of model, one of :data:`TRAINERS`.
        gold: gold text, for kinds of models that use it.
        seed: the same seed and the same pages give the same weights.
        processes: worker processes that read pages.
        date: date on the model card; today's by default.
        progress: called with sites done, sites in all, and the name of the site that was read.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: the kind of model or the file name will not do, or sites or gold text are not what it needs.
    """
    if model not in TRAINERS:
        raise ValueError(f"no such kind of model: {model!r}; there are {', '.join(sorted(TRAINERS))}")
    if output.suffix != ".npz":
        raise ValueError(f"the model's file must end in .npz: {output}")
    sites = find_sites(sites_dir)
    trained = TRAINERS[model](sites, gold, seed=seed, processes=processes, progress=progress)
    output.parent.mkdir(parents=True, exist_ok=True)
    trained.model.save(output)
    command = f"winnow train {sites_dir.name} -o {output.name} --model {model} --seed {seed}"
    card = model_card(trained, data=sites_dir.name, command=command, date=date or datetime.date.today())
    output.with_suffix(".md").write_text(card, encoding="utf-8")
    return trained
