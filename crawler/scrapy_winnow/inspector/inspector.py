"""What the inspector shows: the pages, the models to choose from, the site that they are of, and the gold collected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scrapy_winnow.inspector.documents import DocumentError, gold_name
from scrapy_winnow.inspector.inspection import Inspection
from scrapy_winnow.inspector.prepared import prepared
from scrapy_winnow.inspector.tried import Tried
from winnow.models import DEFAULT_MODEL, shipped_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_winnow.inspector.documents import Documents
    from scrapy_winnow.inspector.gold import GoldFile
    from scrapy_winnow.inspector.replay import Replay

_KEPT: Final = 3
_PASSED_THROUGH: Final = {
    "bytes": "A crawl passes this page through uncut: it is larger than WINNOW_MAX_BYTES.",
    "nodes": "A crawl passes this page through uncut: it has more nodes than WINNOW_MAX_NODES.",
    "depth": "A crawl passes this page through uncut: its tree is deeper than the parser's limit.",
}


@dataclass(eq=False)
class Inspector:
    """Pages under inspection, the last few of them kept.

    Attributes:
        documents: the pages.
        models: names or paths of models to choose from; the first is the one to begin with.
        replay: what the site says of its pages; ``None`` where no other page is known.
        gold: where corrections go; ``None`` where none are collected.
        load_assets: let pages load their pictures and style sheets.
        pages: pages of the site that are taken as seen to begin with.
    """

    documents: Documents
    models: Sequence[str] = ()
    replay: Replay | None = None
    gold: GoldFile | None = None
    load_assets: bool = False
    pages: int = 0
    _open: dict[int, Inspection] = field(default_factory=dict)

    def page(self, number: int) -> Inspection:
        """Return a page by its number.

        Raises:
            DocumentError: there is no such page, or it cannot be read.
        """
        if not 0 <= number < len(self.documents):
            raise DocumentError(f"there is no page {number + 1}")
        if number not in self._open:
            while len(self._open) >= _KEPT:
                del self._open[next(iter(self._open))]
            self._open[number] = Inspection.of(self.documents.read(number), self.replay)
        return self._open[number]

    def title(self, number: int) -> str:
        """Title of a page, or its name."""
        page = self.page(number)
        return page.page.title or page.document.name

    def data(self, number: int, *, server: bool) -> dict[str, Any]:
        """What the script of the inspector works with; all there is to know of the page where there is no server."""
        page = self.page(number)
        tried = Tried(model=self.models[0] if self.models else None, pages=self.pages)
        state = page.state(tried)
        data: dict[str, Any] = {
            "server": server,
            "number": number,
            "pages": len(self.documents) if server else 1,
            "document": page.described(load_assets=self.load_assets),
            "state": state,
            "assets": self.load_assets,
            "models": self._choices(),
            "notice": self._notice(page, fallback=state["fallback"]),
        }
        if server and self.gold is not None:
            data |= {
                "collect": self.gold.path.name,
                "saved": len(self.gold),
                "known": gold_name(page.document) in self.gold,
            }
        if not server:
            models = [name for name, _ in data["models"]]
            data |= {"outputs": page.outputs(tried), "weights": page.all_weights(tried)}
            data |= {"prepared": prepared(page, tried, models)}
        return data

    def save(self, number: int, tried: Tried, marks: dict[int, str]) -> dict[str, Any]:
        """Save a page as gold, and name the next that is not yet.

        Raises:
            DocumentError: no gold is collected, or the page cannot be read.
            OSError: it cannot be written.
            ValueError: the marks are none of the page's.
        """
        if self.gold is None:
            raise DocumentError("no gold is collected: begin with --collect FILE")
        self.gold.save(self.page(number), tried, marks)
        return {"saved": len(self.gold), "next": self._next(number)}

    def seen(self) -> dict[str, Any]:
        """How many pages of the site have been read."""
        replay = self.replay
        return {"seen": replay.seen if replay else 0, "of": replay.of if replay else 0}

    def _next(self, number: int) -> int | None:
        gold = self.gold
        if gold is None or not self.documents.of_one_site:
            return None
        for other in range(number + 1, len(self.documents)):
            if gold_name(self.documents.read(other)) not in gold:
                return other
        return None

    def _choices(self) -> list[tuple[str, str]]:
        own = [name for name in self.models if name]
        others = [name for name in shipped_models() if name not in own and (own or name != DEFAULT_MODEL)]
        return [*([] if own else [("", DEFAULT_MODEL)]), *((name, name) for name in [*own, *others])]

    @staticmethod
    def _notice(page: Inspection, *, fallback: bool) -> str:
        says = [_PASSED_THROUGH[page.passed_through]] if page.passed_through else []
        if fallback:
            says.append("All of this page looks like template; its least template-like section is kept.")
        return " ".join(says)
