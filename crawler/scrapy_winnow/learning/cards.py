"""What is known of a published model: the facts of a model card, small enough to be kept with it in Redis."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Final, Self

_TYPES: Final[dict[str, set[type]]] = {"str": {str}, "int": {int}, "float": {int, float}}


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a published model, the facts of a model card.

    Attributes:
        version: the model's version.
        parent: version of the model that it was refitted from and compared with.
        made: when, as ISO 8601 in UTC.
        hosts, pages, blocks: how many it was fitted to.
        held_out_hosts: hosts that it was measured on.
        auc, parent_auc: area under the ROC curve on their site-level labels, its own and its parent's.
        f_measure, parent_f_measure: of the words of content that stay, likewise.
        recall, parent_recall: recall of template at precision 0.90, likewise.
        gain, error: mean over the hosts held out of how much the area under the ROC curve grew, and its standard error.
    """

    version: str
    parent: str
    made: str
    hosts: int
    pages: int
    blocks: int
    held_out_hosts: int
    auc: float
    parent_auc: float
    f_measure: float
    parent_f_measure: float
    recall: float
    parent_recall: float
    gain: float
    error: float

    def to_json(self) -> str:
        """Write the card."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, data: bytes | str) -> Self | None:
        """Read a card; ``None`` for one that learners of another version have written, or nobody has."""
        try:
            card = cls(**json.loads(data))
        except (TypeError, ValueError, RecursionError):
            return None
        return card if all(type(getattr(card, each.name)) in _TYPES[str(each.type)] for each in fields(card)) else None

    @property
    def figures(self) -> str:
        """Its figures and its parent's on the hosts held out, in a line."""
        pairs = (
            ("area under the curve", self.auc, self.parent_auc),
            ("f-measure of content", self.f_measure, self.parent_f_measure),
            ("recall of template at precision 0.90", self.recall, self.parent_recall),
        )
        written = ", ".join(f"{name} {new:.4f} (was {old:.4f})" for name, new, old in pairs)
        return f"{written}; mean gain by host {self.gain:+.4f}, standard error {self.error:.4f}"

    @property
    def text(self) -> str:
        """All of it as Markdown."""
        taught = f"{self.pages:,} pages of {self.hosts:,} hosts, {self.blocks:,} labelled text blocks"
        rows = [
            ("version", f"`{self.version}`"),
            ("refitted from", f"`{self.parent}`"),
            ("made on", self.made),
            ("data", f"examples of crawls: {taught}"),
            ("held out", f"{self.held_out_hosts:,} hosts"),
            ("area under the ROC curve there", f"{self.auc:.4f}, before {self.parent_auc:.4f}"),
            ("f-measure of words of content there", f"{self.f_measure:.4f}, before {self.parent_f_measure:.4f}"),
            ("recall of template at precision 0.90 there", f"{self.recall:.4f}, before {self.parent_recall:.4f}"),
            ("mean gain by host in the area, standard error", f"{self.gain:+.4f}, {self.error:.4f}"),
        ]
        lines = ["# A learned model of the kind `blocks`", "", "| | |", "|---|---|"]
        return "\n".join([*lines, *(f"| {name} | {value} |" for name, value in rows), ""])
