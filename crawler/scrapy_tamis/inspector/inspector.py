"""The inspector: the pages under inspection, and the answers to the requests of its script."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import numpy as np

from scrapy_tamis.fetching import InputError
from scrapy_tamis.inspector.documents import gold_name
from scrapy_tamis.inspector.drawing import describe_page, find_style_sheets, has_doctype
from scrapy_tamis.inspector.inspection import Inspection, Trial
from scrapy_tamis.inspector.server import render_document
from scrapy_tamis.profiles import Selectors
from tamis.models import DEFAULT_MODEL, shipped_models

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_tamis.inspector.documents import Documents, GoldFile, Replay, RulesFile

_MAX_OPEN: Final = 3  # pages


@dataclass(eq=False)
class Inspector:
    """The pages under inspection, of which the last few stay in memory.

    They are shown with the settings of ``first`` at first; its model is the first of the ``models`` to choose from.
    """

    documents: Documents
    first: Trial = field(default_factory=Trial)
    models: Sequence[str] = ()
    replay: Replay | None = None
    gold: GoldFile | None = None
    load_assets: bool = False
    rules: RulesFile | None = None
    page: Callable[[int], Inspection] = field(init=False)

    def __post_init__(self) -> None:
        self.page = lru_cache(maxsize=_MAX_OPEN)(self._open_page)

    def _open_page(self, number: int) -> Inspection:
        rules = self.rules.rules if self.rules is not None else None
        return Inspection(self.documents.read(number), self.replay, rules)

    def render(self, number: int, *, server: bool = True) -> str:
        """Return the HTML document of a page; without a server one that shows it under the first settings only."""
        data, page, document = self.data(number, server=server), self.page(number).page, self.documents.read(number)
        title = page.title or document.name
        return render_document(
            data,
            title=title,
            load_assets=self.load_assets,
            where=" · ".join(name for name in dict.fromkeys([document.name, document.url]) if name and name != title),
            url=document.url,
            doctype=has_doctype(document.html),
            models=self._choices(),
        )

    def answer(self, what: str, number: int, body: dict[str, Any]) -> dict[str, Any] | None:
        """Answer a request of the script; ``None`` where there is no such request."""
        answer, page = None, self.page(number)
        match what:
            case "state":
                answer = page.state(Trial(**body))
            case "weights":
                blocks = [int(block) for block in body["blocks"]]
                answer = {"weights": page.top_features(Trial(**body["trial"]), blocks)}
            case "gold":
                answer = self.save(number, body)
            case "rule":
                answer = self.add_rule(number, Trial(**body["trial"]), int(body["element"]), keep=bool(body["keep"]))
        return answer

    def data(self, number: int, *, server: bool) -> dict[str, Any]:
        """Return the data of the inspector's script; without a server, with weights."""
        page, trial = self.page(number), self.first
        state = page.state(trial)
        notices = [hint] if (hint := page.cleaned(trial).hint) else []
        if page.too_large:
            notices.append(f"A crawl does not read this page: {page.too_large}.")
        if state["status"] == "fallback":
            notices.append("All of this page looks like template; its least template-like section is kept.")
        data: dict[str, Any] = {
            "server": server,
            "number": number,
            "pages": len(self.documents) if server else 1,
            "bytes": len(page.document.html),
            "tree": describe_page(page.page, load_assets=self.load_assets),
            "styles": find_style_sheets(page.page) if self.load_assets else [],
            "state": state,
            "rules": server and self.rules is not None,
            "notice": " ".join(notices),
        }
        if server and self.gold is not None:
            is_known = gold_name(page.document.name) in self.gold.rows
            data |= {"collect": self.gold.path.name, "saved": len(self.gold.rows), "known": is_known}
        if not server:
            section_of = np.array(state["section"])
            blocks_of = (np.flatnonzero(section_of == section).tolist() for section in range(len(state["sections"])))
            data["weights"] = [page.top_features(trial, blocks) for blocks in blocks_of]
        return data

    def save(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Save a page as gold, and return the number of the next page that is not saved."""
        if self.gold is None:
            raise InputError("corrections are not saved: start with --collect FILE")
        marks = {int(block): str(label) for block, label in body["marks"]}
        self.gold.save(self.page(number), Trial(**body["trial"]), marks)
        names = enumerate(self.documents.names)
        unsaved = (other for other, name in names if other > number and gold_name(name) not in self.gold.rows)
        return {"saved": len(self.gold.rows), "next": next(unsaved, None)}

    def add_rule(self, number: int, trial: Trial, element: int, *, keep: bool) -> dict[str, Any]:
        """Write a rule with a lasting selector of an element, and return the new state."""
        if self.rules is None:
            raise InputError("rules are not written: start with --rules FILE")
        page = self.page(number)
        selector = Selectors(page.page).selector_of(element)
        self.rules.add(urlsplit(page.document.url or "").hostname, selector, keep=keep)
        self.page = lru_cache(maxsize=_MAX_OPEN)(self._open_page)
        said = f"{'keep' if keep else 'drop'} {selector} is written to {self.rules.path.name}"
        return {"said": said, "state": self.page(number).state(trial)}

    def _choices(self) -> list[tuple[str, str]]:
        """Return the models to choose from, each with the name that is shown."""
        first = {name: name for name in self.models} or {"": DEFAULT_MODEL}
        others = ((name, name) for name in shipped_models() if name not in first.values())
        return [*first.items(), *others]
