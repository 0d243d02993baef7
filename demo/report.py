"""What a crawl of the demo web came to: one row per host, measured against the truth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from demo.truth import Accuracy, compare, total

if TYPE_CHECKING:
    from pathlib import Path

    from demo.server import DemoWeb

Items = list[dict[str, Any]]


def read_items(path: Path) -> Items:
    """Read items in the order they were stored."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_twin(item: dict[str, Any]) -> bool:
    """Whether the page is a near-duplicate of another address."""
    return item.get("duplicate_of") not in {None, item["url"]}


def host_table(web: DemoWeb, items: Items) -> str:
    """Return a row for each host and one for all; words are those of the second half of a host's pages."""
    pages = {name: [item for item in items if web.host(item["url"]) == name] for name in web.urls}
    accuracies = {name: _accuracy(web, own[len(own) // 2 :]) for name, own in pages.items()}
    rows: list[tuple[str, ...]] = [
        ("host", "address", "pages", "text cut", "near-duplicates", "template cut *", "content kept *")
    ]
    rows += [(name, url, *_figures(pages[name], accuracies[name])) for name, url in web.urls.items()]
    rows += [("all", "", *_figures(items, total(accuracies.values())))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [[f"{cell:{'<' if at < 2 else '>'}{widths[at]}}" for at, cell in enumerate(row)] for row in rows]
    return "".join(f" {'   '.join(cells)}\n" for cells in lines)


def _figures(items: Items, accuracy: Accuracy) -> tuple[str, ...]:
    cut = sum(item.get("template_share") or 0.0 for item in items) / max(1, len(items))
    recalls = (f"{accuracy.template_recall:.3f}", f"{accuracy.content_recall:.3f}")
    return str(len(items)), f"{cut:.0%}", str(sum(map(is_twin, items))), *recalls


def _accuracy(web: DemoWeb, items: Items) -> Accuracy:
    """Compare what people wrote on pages with the truth, for which comments are content."""
    written = (f"{item.get('text') or ''}\n{item.get('comments') or ''}" for item in items)
    return total(compare(web.truth(item["url"]), text) for item, text in zip(items, written, strict=True))
