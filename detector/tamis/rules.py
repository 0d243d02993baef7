"""The user's rules: CSS selectors of what to keep or drop on a site, which override the model and the counts."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast

import numpy as np
from cssselect import SelectorError
from lxml import etree
from lxml.cssselect import CSSSelector

from tamis.evidence.draft import Reason
from tamis.page.addresses import safe_urlsplit
from tamis.page.tree import nearest, run_lengths, sums_in_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tamis.evidence.draft import Draft

_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


class Rule(NamedTuple):
    """Keep or drop the elements that match a CSS selector."""

    selector: str
    keep: bool


class Rules:
    """Rules by site.

    Args:
        entries: a mapping or a list of mappings, with ``keep``, ``drop`` or both, each a selector or a list of
            selectors; and optionally ``site``, the host that they apply to, including its subdomains.
        source: name of the rules in error messages.

    Raises:
        ValueError: an entry, selector or host is invalid; the message names it.

    >>> rules = Rules([{"site": "example.org", "drop": ".related", "keep": ["h1", "table"]}, {"drop": ".cookies"}])
    >>> [rule.selector for rule in rules.for_url("https://www.example.org/a")]
    ['.related', 'h1', 'table', '.cookies']
    >>> rules.for_url("https://example.com/")
    (Rule(selector='.cookies', keep=False),)
    """

    def __init__(self, entries: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (), source: str = "rules") -> None:
        # For each host and its subdomains, "" for all, its rules with the numbers of their entries.
        self.by_site: dict[str, list[tuple[int, Rule]]] = {}
        if isinstance(entries, Mapping):
            entries = [entries]
        if not isinstance(entries, list | tuple):
            what = "mappings with keep, drop and site, or what Rules.read reads from a file"
            raise ValueError(f"{source}: must be {what}, not {entries!r}")  # noqa: TRY004
        for number, entry in enumerate(entries, 1):
            try:
                site, rules = _read_entry(entry)
            except ValueError as error:
                raise ValueError(f"{source}: rule {number}: {error}") from None
            self.by_site.setdefault(site, []).extend((number, rule) for rule in rules)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file: tables ``[[rules]]`` in TOML, or in JSON a list of objects.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file is invalid; the message names the file, and the line or the rule.
        """
        try:
            text = Path(path).read_text("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not UTF-8: {error}") from error
        return cls.parse(text, Path(path))

    @classmethod
    def parse(cls, text: str, path: Path) -> Self:
        """Like :meth:`read`, from a string; ``path`` names it in errors, and its suffix says the format."""
        try:
            entries = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        if isinstance(entries, dict):
            unknown = entries.keys() - {"rules"}
            if unknown:
                raise ValueError(f"{path}: holds [[rules]] and nothing else, not {', '.join(sorted(unknown))}")
            entries = entries.get("rules", ())
        return cls(entries, str(path))

    def __bool__(self) -> bool:
        return bool(self.by_site)

    def for_url(self, url: str | None) -> tuple[Rule, ...]:
        """Return the rules for a page, in their order; without an address, the rules for all sites."""
        if not self.by_site:
            return ()
        host = (safe_urlsplit(url or "").hostname or "").rstrip(".")
        if not host.isascii():
            with suppress(UnicodeError):
                host = host.encode("idna").decode()
        found = self.by_site.get("", [])
        while host:
            found = found + self.by_site.get(host, [])
            host = host.partition(".")[2]
        return tuple(rule for _, rule in sorted(found, key=itemgetter(0)))


def _read_entry(entry: object) -> tuple[str, list[Rule]]:
    allowed = {"site", "keep", "drop"}
    if not isinstance(entry, Mapping) or entry.keys() - allowed or not entry.keys() & {"keep", "drop"}:
        raise ValueError(f"must have keep or drop, may have site, and nothing else; not {entry!r}")
    site = entry.get("site", "")
    try:
        host = site.lower().encode("idna").decode()
    except (AttributeError, UnicodeError):
        host = "?"
    if site != "" and not _HOST.fullmatch(host):
        raise ValueError(f"site must be a host as example.org, not {site!r}")
    rules = []
    for key in ("drop", "keep"):
        selectors = entry.get(key, [])
        for selector in selectors if isinstance(selectors, list | tuple) else [selectors]:
            try:
                _selector(selector)(etree.Element("html"))  # some faults, as of an unknown prefix, show on a page only
            except (SelectorError, etree.XPathError, RecursionError, TypeError, AttributeError) as error:
                raise ValueError(f"{key}: {selector!r} is not a CSS selector: {error}") from None
            rules.append(Rule(selector, key == "keep"))
    return host, rules


@lru_cache(maxsize=4096)
def _selector(selector: str) -> CSSSelector:
    return CSSSelector(selector, translator="html")


def apply_rules(draft: Draft) -> None:
    """Apply the user's rules for the page."""
    page, rules = draft.page, draft.options.rules
    if not rules:
        return
    index_of = {id(element): index for index, element in enumerate(page.elements)}
    matched_rule = np.full(page.n, -1, np.int32)
    for number, rule in enumerate(rules):
        elements = cast("list[etree._Element]", _selector(rule.selector)(page.elements[0]))
        matched_rule[[index_of[id(element)] for element in elements]] = number
    root = nearest(page.parent, matched_rule >= 0)  # the element whose rule applies to each element
    element_rule = np.append(matched_rule, -1)[root]
    length = run_lengths(page)
    run_rule, all_text = element_rule[page.run_node], sums_in_blocks(page, length)
    block_rule = np.full(page.m, -1, np.int32)
    for number in np.unique(run_rule[run_rule >= 0]).tolist():
        block_rule[2 * sums_in_blocks(page, length * (run_rule == number)) > all_text] = number
    draft.rule = np.concatenate([element_rule, block_rule])
    for keep in (False, True):
        chosen = np.flatnonzero([rule.keep == keep for rule in rules])
        draft.overrule(np.isin(draft.rule, chosen), Reason.RULE, cut=not keep)
    # A matched element is one section again; overrule has made each of its units a section.
    block, block_root = page.n + np.arange(page.m), root[page.block_node]
    is_same_rule = (block_root >= 0) & (element_rule[page.block_node] == block_rule)
    section = np.concatenate([root, np.where(is_same_rule, block_root, block)])
    np.copyto(draft.smoothed.section, section, "same_kind", where=draft.rule >= 0)
