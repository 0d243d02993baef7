"""The user's rules: CSS selectors of what to keep or drop on a site, which override the model and the counts."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast
from urllib.parse import urlsplit

import numpy as np
from cssselect import SelectorError
from lxml import etree
from lxml.cssselect import CSSSelector

from winnow.evidence.draft import Reason
from winnow.page.tree import nearest, prefix_sums
from winnow.smoothing import SmoothedScores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from winnow.evidence.draft import Draft

_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_ENTRY: Final = frozenset({"site", "keep", "drop"})


class Rule(NamedTuple):
    """Keep or drop the elements that match a CSS selector."""

    selector: str
    keep: bool


class Rules:
    """Rules by site.

    If several rules match an element, the last one applies; a rule for a nested element overrides that of an outer one.
    A rule applies to a text block if it covers more than half of the text.

    Args:
        entries: one mapping or a list of them, with ``keep``, ``drop`` or both, each a selector or a list of selectors;
            and optionally ``site``, the host that they apply to, including its subdomains.
        source: name of the rules in error messages.

    Raises:
        ValueError: an entry has another form, or an invalid selector or host; the message names it.

    >>> rules = Rules([{"site": "example.org", "drop": ".related", "keep": ["h1", "table"]}, {"drop": ".cookies"}])
    >>> [rule.selector for rule in rules.of("https://www.example.org/a")]
    ['.related', 'h1', 'table', '.cookies']
    >>> rules.of("https://example.com/")
    (Rule(selector='.cookies', keep=False),)
    """

    def __init__(self, entries: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (), source: str = "rules") -> None:
        self._by_site: dict[str, list[tuple[int, Rule]]] = {}
        if isinstance(entries, Mapping):
            entries = [entries]
        if not isinstance(entries, list | tuple):
            raise ValueError(f"{source}: must be mappings with keep, drop and site, not {entries!r}")  # noqa: TRY004
        for number, entry in enumerate(entries, 1):
            try:
                site, rules = _read_entry(entry)
            except ValueError as error:
                raise ValueError(f"{source}: rule {number}: {error}") from None
            self._by_site.setdefault(site, []).extend((number, rule) for rule in rules)
        self._of_host = lru_cache(maxsize=1024)(self._find)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file: tables ``[[rules]]`` in TOML, or in JSON a list of objects.

        Raises:
            OSError: it cannot be read.
            ValueError: it is no such file; the message names the file, and the line or the rule.
        """
        text = path.read_text("utf-8")
        try:
            entries = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        if isinstance(entries, dict):
            if unknown := entries.keys() - {"rules"}:
                raise ValueError(f"{path}: holds [[rules]] and nothing else, not {', '.join(sorted(unknown))}")
            entries = entries.get("rules", ())
        return cls(entries, str(path))

    def __bool__(self) -> bool:
        return bool(self._by_site)

    def of(self, url: str | None) -> tuple[Rule, ...]:
        """Return the rules for a page, in their order; without an address, those for all sites."""
        if not self._by_site:
            return ()
        try:
            host = (urlsplit(url or "").hostname or "").rstrip(".")
        except ValueError:
            host = ""
        return self._of_host(host)

    def _find(self, host: str) -> tuple[Rule, ...]:
        try:
            labels = host.encode("idna").decode().split(".")
        except UnicodeError:
            labels = host.split(".")
        sites = ("", *(".".join(labels[at:]) for at in range(len(labels))))
        found = [rule for site in dict.fromkeys(sites) for rule in self._by_site.get(site, ())]
        return tuple(rule for _, rule in sorted(found, key=lambda numbered: numbered[0]))


def _read_entry(entry: object) -> tuple[str, list[Rule]]:
    if not isinstance(entry, Mapping) or entry.keys() - _ENTRY or not entry.keys() & {"keep", "drop"}:
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
                _selector(selector)
            except (SelectorError, etree.XPathSyntaxError, TypeError, AttributeError) as error:
                raise ValueError(f"{key}: {selector!r} is no CSS selector: {error}") from None
            rules.append(Rule(selector, key == "keep"))
    return host, rules


@lru_cache(maxsize=4096)
def _selector(selector: str) -> CSSSelector:
    return CSSSelector(selector, translator="html")


def apply_rules(draft: Draft) -> None:
    """Apply the user's rules for the page's site."""
    page, rules = draft.page, draft.options.rules
    if not rules:
        return
    number = {id(element): at for at, element in enumerate(page.elements)}
    rule_here = np.full(page.n, -1, np.int32)
    for at, rule in enumerate(rules):
        found = cast("list[etree._Element]", _selector(rule.selector)(page.elements[0]))
        rule_here[[number[id(element)] for element in found]] = at
    around = nearest(page.parent, rule_here >= 0)  # the element whose rule applies to each element
    rule_of = np.append(rule_here, -1)[around]
    length = np.diff(page.run_offset) * page.has_ink
    of_runs, total = rule_of[page.run_node], prefix_sums(length)
    of_blocks = np.full(page.m, -1, np.int32)
    for at in np.unique(of_runs[of_runs >= 0]).tolist():
        under = prefix_sums(length * (of_runs == at))
        begin, end = page.block_run_begin, page.block_run_end
        of_blocks[2 * (under[end] - under[begin]) > total[end] - total[begin]] = at
    draft.rule = np.concatenate([rule_of, of_blocks])
    for keep in (False, True):
        chosen = np.flatnonzero([rule.keep == keep for rule in rules])
        draft.overrule(np.isin(draft.rule, chosen), Reason.RULE, cut=not keep)
    # A matched element is one section again; overrule has made each of its units a section.
    block = page.n + np.arange(page.m)
    same = (around[page.block_node] >= 0) & (rule_of[page.block_node] == of_blocks)
    section = np.concatenate([around, np.where(same, around[page.block_node], block)])
    draft.smoothed = SmoothedScores(
        draft.smoothed.value, np.where(draft.rule >= 0, section, draft.smoothed.section).astype(np.int32)
    )
