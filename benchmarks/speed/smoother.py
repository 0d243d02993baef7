"""Time the smoother on random page-like trees, next to the paper's dynamic program.

    python benchmarks/speed/smoother.py [--nodes 100 300 750 1500] [--pages 50] [--penalty area|nodes|constant]

Prints a row for each size: nodes, levels of the tree, sections found, milliseconds per page one by one, per page with
all pages in one call, and with the dynamic program of the paper, a numpy row per node (O(n^2) time and memory; left out
above --plain-limit nodes; its optimum must be the same). Times are the best of --repeat rounds.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from winnow.papers.page_level import by_area, by_nodes, constant
from winnow.smoothing import smooth

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Tree(NamedTuple):
    """A page to smooth."""

    parent: NDArray[np.int32]
    score: NDArray[np.float64]
    penalty: NDArray[np.float64]
    levels: int


def page_like(nodes: int, kind: str, random: np.random.Generator) -> Tree:
    """Make a tree as pages have them: wrappers, then lists and paragraphs, in document order, scores by section."""
    parent, depth = [-1], [0]
    path = [0]
    while len(parent) < nodes:
        step = random.random()
        if len(path) > 4 and (step > 0.42 or len(path) > 15):  # else the next node goes below the last one
            del path[max(2, len(path) - random.geometric(0.5)) :]
        parent.append(path[-1])
        depth.append(len(path))
        path.append(len(parent) - 1)
    parents = np.array(parent, dtype=np.int32)

    area = random.lognormal(9, 1.5, nodes)
    logit = random.normal(0, 2, nodes)
    for i in range(nodes - 1, 0, -1):
        area[parent[i]] += area[i]
    for i in range(1, nodes):
        if random.random() > 0.05:  # most nodes are of the kind that their parent is
            logit[i] = logit[parent[i]]
    score = 1 / (1 + np.exp(-logit - random.normal(0, 1, nodes)))
    penalties = {
        "area": lambda: by_area(area, area[0]),
        "nodes": lambda: by_nodes(parents),
        "constant": lambda: constant(nodes),
    }
    return Tree(parents, score, penalties[kind](), max(depth) + 1)


def plain(tree: Tree) -> float:
    """Return the optimum by the dynamic program of the paper's section 4 (corrected), a row of scores per node."""
    grid, index = np.unique(tree.score, return_inverse=True)
    n = grid.size
    error = np.abs(tree.score[:, None] - grid[None, :])
    value = np.empty((index.size, n), dtype=np.int32)
    for i in range(index.size - 1, -1, -1):
        backwards = error[i, ::-1]
        least = np.minimum.accumulate(backwards)[::-1]
        position = np.maximum.accumulate(np.where(backwards == least[::-1], np.arange(n), 0))
        value[i] = n - 1 - position[::-1]
        if tree.parent[i] >= 0:
            error[tree.parent[i]] += np.minimum(error[i], least + tree.penalty[i])
    chosen = np.empty(index.size, dtype=np.int64)
    chosen[0] = value[0, 0]
    for i in range(1, index.size):
        inherited = chosen[tree.parent[i]]
        best = value[i, inherited]
        chosen[i] = best if error[i, inherited] > error[i, best] + tree.penalty[i] else inherited
    return float(error[0, chosen[0]] + tree.penalty[0])


def milliseconds(job: Callable[[], object], repeat: int) -> float:
    """Return the best time of some runs."""
    best = float("inf")
    for _ in range(repeat):
        begin = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


def forest_of(trees: list[Tree]) -> Tree:
    """Put trees side by side."""
    begin = np.cumsum([0, *(tree.parent.size for tree in trees[:-1])])
    parent = np.concatenate([np.where(t.parent < 0, -1, t.parent + b) for t, b in zip(trees, begin, strict=True)])
    score, penalty = (np.concatenate([tree[column] for tree in trees]) for column in (1, 2))
    return Tree(parent, score, penalty, max(tree.levels for tree in trees))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 300, 750, 1500, 3000], help="sizes of pages")
    parser.add_argument("--pages", type=int, default=50, help="pages of each size, and trees in a forest (default 50)")
    parser.add_argument("--penalty", choices=["area", "nodes", "constant"], default="area", help="default area")
    parser.add_argument("--repeat", type=int, default=5, help="rounds; the best one counts (default 5)")
    parser.add_argument(
        "--plain-limit", type=int, default=1500, help="most nodes for the paper's program (default 1500)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the random trees (default 1)")
    options = parser.parse_args()
    if min(*options.nodes, options.pages, options.repeat) < 1:
        parser.error("--nodes, --pages and --repeat must be 1 or more")

    random = np.random.default_rng(options.seed)
    print(f"{'nodes':>6} {'levels':>6} {'sections':>8} {'ms/page':>8} {'ms/page in forest':>18} {'ms/page, paper':>15}")
    for nodes in options.nodes:
        trees = [page_like(nodes, options.penalty, random) for _ in range(options.pages)]
        forest = forest_of(trees)
        alone = np.mean(
            [milliseconds(lambda t=t: smooth(t.parent, t.score, None, t.penalty), options.repeat) for t in trees]
        )
        together = milliseconds(lambda f=forest: smooth(f.parent, f.score, None, f.penalty), options.repeat) / len(
            trees
        )
        sections = len(np.unique(smooth(forest.parent, forest.score, None, forest.penalty).section)) / len(trees)
        levels = np.mean([tree.levels for tree in trees])
        paper = "-"
        if nodes <= options.plain_limit:
            few = trees[:5]
            paper = f"{np.mean([milliseconds(lambda t=t: plain(t), 2) for t in few]):.2f}"
            for tree in few:
                optimum, found = plain(tree), smooth(tree.parent, tree.score, None, tree.penalty).cost
                assert abs(optimum - found) < 1e-5, f"{found} is not the optimum {optimum}"
        print(f"{nodes:6} {levels:6.1f} {sections:8.1f} {alone:8.2f} {together:18.2f} {paper:>15}", flush=True)


if __name__ == "__main__":
    main()
