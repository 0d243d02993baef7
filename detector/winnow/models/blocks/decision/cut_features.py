"""One row of features per cut: how much it keeps, how sure that is, where it lies, what it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.blocks.decision.cuts import Cuts
    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Matrix = NDArray[np.float32]

PROPERTIES: Final = (
    "link share", "sentence ends per word", "digit share", "enclosed by p", "enclosed by li", "enclosed by link",
    "enclosed by h1", "log depth", "log twins", "share of the title's words",
    "container 0: link share", "container 1: link share", "container 1: log alike siblings",
    "alike blocks: log number", "alike blocks: log words per block",
    "15 blocks around: log words per block", "15 blocks around: link share",
)  # fmt: skip
"""Features of blocks whose means over what is kept, weighted by words, are features of the cut."""

_OF_CUT: Final = (
    "level", "log words", "share of words", "share of blocks", "expected F1", "expected F1 to the best",
    "expected precision", "expected recall", "mean logit kept", "mean logit cut", "highest logit kept",
    "lowest logit cut", "log runs", "runs per block", "longest run", "first block", "last block",
    "words before", "words until the last", "share of the words between", "words per block",
    "share of its container's words", "share of its container's blocks", "container's share of the page",
    "container's depth", "log words of page", "log blocks of page", "expected content of page",
)  # fmt: skip
_OF_GROUP: Final = ("share of page", "share of kept", "mean content", "place", "log words per block")
_GROUPS: Final = ("added", "next")

CUT_NAMES: Final = (
    *_OF_CUT,
    *(f"kept: {name}" for name in PROPERTIES),
    *(f"{group}: {name}" for group in _GROUPS for name in (*_OF_GROUP, *PROPERTIES)),
)
"""Features of a cut, in the order of the columns."""

_LARGEST_LOGIT: Final = 10.0
_FAR: Final = 99.0


def cut_features(page: Page, cuts: Cuts, logits: Floats, words: Floats, properties: Matrix) -> Matrix:
    """float32[k, len(CUT_NAMES)].

    Args:
        page: the page.
        cuts: its k cuts.
        logits: float64[m], logits of the blocks' templateness.
        words: float64[m], words of each block, above 0.
        properties: float32[m, len(PROPERTIES)].
    """
    m = page.m
    members = cuts.kept
    clipped = np.clip(logits, -_LARGEST_LOGIT, _LARGEST_LOGIT)
    content = 1 / (1 + np.exp(clipped))
    place = np.arange(m) / m
    weighted = np.column_stack(
        [words, words * content, words * clipped, np.ones(m), place, words[:, None] * properties]
    ).astype(np.float32)
    # Each cut keeps what the one before keeps: all sums are those of what each adds, one pass over the blocks.
    steps = _sums_by(members.shape[0] - members.sum(axis=0), weighted, members.shape[0] + 1)
    sums, total = steps[:-1].cumsum(axis=0), steps.sum(axis=0)
    all_words, all_content = total[0], max(total[1], 1e-9)
    words_in, content_in, logits_in, blocks_in = sums[:, :4].T
    expected = 2 * content_in / (words_in + all_content)

    padded = np.zeros((len(members), m + 2), np.int8)
    padded[:, 1:-1] = members
    begins, ends = np.nonzero(np.diff(padded, axis=1) == 1), np.nonzero(np.diff(padded, axis=1) == -1)
    runs = np.bincount(begins[0], minlength=len(members))
    until = np.append(0.0, np.cumsum(words))
    longest = np.maximum.reduceat(until[ends[1]] - until[begins[1]], np.cumsum(runs) - runs)
    first, last = members.argmax(axis=1), m - 1 - members[:, ::-1].argmax(axis=1)

    container = cuts.container
    begin, end = page.block_begin[container], page.block_end[container]
    inside = np.maximum(until[end] - until[begin], 1e-6)
    groups = [_group(group, words_in, all_words) for group in (steps[:-1], steps[1:])]
    own = [
        cuts.logit.clip(-_FAR, _FAR), np.log1p(words_in),
        words_in / all_words, blocks_in / m, expected, expected / expected.max(),
        content_in / words_in, content_in / all_content, logits_in / words_in,
        (total[2] - logits_in) / np.maximum(all_words - words_in, 1),
        np.where(members, clipped, -_FAR).max(axis=1), np.where(members, _FAR, clipped).min(axis=1),
        np.log1p(runs), runs / blocks_in, longest / words_in, first / m, last / m,
        until[first] / all_words, until[last + 1] / all_words, words_in / (until[last + 1] - until[first]),
        words_in / blocks_in, np.minimum(words_in / inside, 1), blocks_in / np.maximum(end - begin, 1),
        inside / all_words, page.depth[container],
        np.full_like(expected, np.log1p(all_words)), np.full_like(expected, np.log1p(m)),
        np.full_like(expected, all_content / all_words),
    ]  # fmt: skip
    means = sums[:, 5:] / words_in[:, None]
    return np.column_stack([*own, means, *groups]).astype(np.float32)


def _sums_by(step: NDArray[np.int64], columns: Matrix, steps: int) -> Floats:
    """float64[steps, c], the sums of c columns over the blocks of each step."""
    return np.column_stack([np.bincount(step, column, steps) for column in columns.T])


def _group(sums: Floats, words_in: Floats, all_words: float) -> Floats:
    """float64[k, ...], features of what a cut adds to the one before or leaves to the next, 0 for nothing."""
    words, content, _, blocks, place = sums[:, :5].T
    mass, number = np.maximum(words, 1e-6), np.maximum(blocks, 1)
    of_group = [words / all_words, words / words_in, content / mass, place / number, np.log1p(words / number)]
    return np.column_stack([*of_group, sums[:, 5:] / mass[:, None]])
