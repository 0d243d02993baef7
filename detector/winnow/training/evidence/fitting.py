"""Learns what repetition says of a block: the numbers of :data:`winnow.evidence.site_counts.LEARNED`.

No block needs a label for the first step. Every block is template with the probability that the page-level model gives
it; the pages of its host that repeat it are then drawn from one of two beta-binomial distributions, and their four
parameters are those under which the counts of many hosts are likeliest. The second step weighs the evidence against the
model's own score on pages with gold text, of hosts with many pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln

from winnow.counting import MemoryCounts, countable
from winnow.evidence.site_counts import Evidence
from winnow.fingerprints import node_fingerprints
from winnow.models.scores import log_odds
from winnow.page.page import Page, PageTooLarge
from winnow.training.gold import content_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from winnow.models.scores import Model
    from winnow.training.sites import Site

    Floats = NDArray[np.float64]

_CROWDS: Final = (2, 3, 5, 10, 20, 40, 80)
"""Pages of a host that are counted when a page is looked at, one of these by turns."""

_BLOCKS_PER_PAGE: Final = 60


@dataclass(frozen=True, eq=False, slots=True)
class Repetitions:
    """Blocks of the pages of some hosts (e of them), each looked at when its host had so many pages.

    Attributes:
        templateness: float64[e], the page-level model's score.
        seen: int64[e], other pages of the host with the block, among those counted.
        others: int64[e], other pages counted.
        content: float64[e], share of the block that is in the page's gold text; NaN without.
        mass: float64[e], weight of the block; every page has the same.
    """

    templateness: Floats
    seen: NDArray[np.int64]
    others: NDArray[np.int64]
    content: Floats
    mass: Floats


def repetitions(
    site: Site, model: Model, *, seed: int = 0, pages: int = 40, gold: Mapping[str, str] | None = None
) -> Repetitions | None:
    """Score the blocks of some pages of a site and count them on others, drawn at random.

    Args:
        site: the site.
        model: page-level model.
        seed: picks pages.
        pages: pages to score.
        gold: gold text by file name; then only pages that have one are scored.

    Returns:
        The blocks, or ``None`` where the site has less than three readable pages.
    """
    rng = np.random.default_rng(seed)
    fingerprints: list[NDArray[np.uint64]] = []
    scored: list[tuple[int, Floats, Floats, NDArray[np.int64]]] = []
    for number in rng.permutation(len(site.files)).tolist():
        file = site.files[number]
        try:
            page = Page.parse(file.read_bytes(), site.url(file))
        except PageTooLarge:
            continue
        kept = np.flatnonzero(countable(page)[page.n :])
        own = node_fingerprints(page)[page.n :][kept]
        fingerprints.append(own)
        text = gold.get(file.name) if gold is not None else ""
        if len(scored) < pages and text is not None and len(kept):
            chosen = rng.permutation(len(kept))[:_BLOCKS_PER_PAGE]
            shares = (
                content_shares(page.block_texts(), text)[kept[chosen]]
                if gold is not None
                else np.full(len(chosen), np.nan)
            )
            scored.append(
                (len(fingerprints) - 1, model.score(page).templateness[page.n + kept[chosen]], shares, chosen)
            )
    if len(fingerprints) < 3 or not scored:
        return None
    parts: list[tuple[Floats, NDArray[np.int64], NDArray[np.int64], Floats, Floats]] = []
    for turn, (index, templateness, shares, chosen) in enumerate(scored):
        crowd = min(_CROWDS[turn % len(_CROWDS)], len(fingerprints) - 1)
        company = rng.permutation([other for other in range(len(fingerprints)) if other != index])[:crowd]
        counts = MemoryCounts()
        for other in company.tolist():
            counts.add(other, np.unique(fingerprints[other]))
        k = len(chosen)
        seen = counts.df(fingerprints[index][chosen])
        parts.append((templateness, seen, np.full(k, crowd), shares, np.full(k, 1 / k)))
    return Repetitions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def learn_evidence(hosts: Sequence[Repetitions], with_gold: Sequence[Repetitions]) -> Evidence:
    """Fit the distributions to hosts without labels, and the weights of the evidence to hosts with gold text."""
    template_a, template_b, content_a, content_b = np.exp(_fit(_mixture_loss, hosts, np.log([0.5, 0.5, 0.05, 3.0])))
    distributions = Evidence((template_a, template_b), (content_a, content_b), 1.0, 1.0)
    repeated, unique = _fit(
        lambda weights, each: _gold_loss(weights, each, distributions), with_gold, np.array([0.5, 0.5])
    )
    return Evidence(
        (float(template_a), float(template_b)),
        (float(content_a), float(content_b)),
        max(float(repeated), 0.0),
        max(float(unique), 0.0),
    )


def _fit(loss, hosts: Sequence[Repetitions], start: Floats) -> Floats:  # type: ignore[no-untyped-def]
    def total(parameters: Floats) -> float:
        return float(sum(loss(parameters, host) / host.mass.sum() for host in hosts) / len(hosts))

    return minimize(total, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6, "maxiter": 600}).x  # type: ignore[no-any-return]


def _log_likelihood(host: Repetitions, a: float, b: float) -> Floats:
    """float64[e], log-probability of the pages seen, but for the binomial coefficient."""
    return betaln(host.seen + a, host.others - host.seen + b) - betaln(a, b)  # type: ignore[no-any-return]


def _mixture_loss(parameters: Floats, host: Repetitions) -> float:
    a, b, c, d = np.exp(parameters)
    template = np.log(host.templateness + 1e-6) + _log_likelihood(host, a, b)
    content = np.log(1 - host.templateness + 1e-6) + _log_likelihood(host, c, d)
    return -float(host.mass @ np.logaddexp(template, content))


def _gold_loss(weights: Floats, host: Repetitions, evidence: Evidence) -> float:
    ratio = _log_likelihood(host, *evidence.template) - _log_likelihood(host, *evidence.content)
    logit = log_odds(host.templateness, 1e-4) + ratio * np.where(ratio > 0, *np.maximum(weights, 0))
    is_content = host.content > 0.5
    return float(host.mass @ np.logaddexp(0, np.where(is_content, logit, -logit)))
