"""Word F1 on pages of whole sites marked by hand: each page alone, and with 2 to 100 pages of its site counted.

    python -m benchmarks.accuracy.whole_sites SITES_DIR ... [--folds 10] [--models FOLDS] [--peers] [--rules]

With ``--folds`` what the counts say is learned anew for each fold of the sites, on all others; with ``--models`` each
site is cleaned by the model that has not seen it.

Counted are the page and others of its site, drawn at random, each content once. Words that only blocks have which may
be either are held against nobody; pages without any content are left out. *Holes* are blocks that are cut inside tables
and lists of which 70% of the text is kept, a thousand blocks kept. *Gains* and *loses* count the sites that are more
than .01 above and below their pages alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

import tamis
from benchmarks.accuracy.site_evidence import SEEN, block_examples, count_others, learn_evidence
from benchmarks.shared.common import models_of_folds, rules_in_turn
from benchmarks.shared.peers import peers
from scrapy_tamis.losses import in_kept_structures
from tamis.evidence import site_counts
from tamis.output.text import block_texts
from tamis.page.text import WORD
from tamis.site import PageCounts
from tamis_papers.experiments.harness import exit_on_bad_input, parser_of, say, table, write_json
from tamis_papers.marks import COMMENTS, CONTENT, MAYBE, marked_sites, read_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from tamis import Cleaned, Page
    from tamis.evidence.site_counts import Evidence
    from tamis.folders import SitePages
    from tamis.models import Model
    from tamis_papers.marks import PageMarks

    Evidences = dict[str, Evidence]

ALONE: Final = "page alone"
_LOSES: Final = -0.01


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITES_DIR", help="folders with one folder a site")
    parser.add_argument("--marks", type=Path, default=Path("benchmarks/gold/sites.jsonl"), metavar="FILE")
    parser.add_argument("--models", type=Path, metavar="FOLDS", help="models as `train_weights` writes them")
    parser.add_argument("--peers", action="store_true", help="other extractors beside it, as far as they are installed")
    parser.add_argument("--rules", action="store_true", help="also without each rule of the decision")
    parser.add_argument("--folds", type=int, metavar="N", help="learn the evidence of the counts on the other folds")
    options = parser.parse_args()
    others = peers(modes=True) if options.peers else {}
    f1: dict[str, dict[str, list[tuple[float, float, float]]]] = defaultdict(lambda: defaultdict(list))
    holes: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    with exit_on_bad_input():
        sites = list(marked_sites(options.sites, read_marks(options.marks)))
        model_of = models_of_folds(options.models)
        evidence = _evidence_by_site(sites, model_of, options.folds) if options.folds else {}
        for site, pages in sites:
            say(site.name)
            model = model_of(site.name)
            site_counts.LEARNED = evidence.get(site.name, site_counts.LEARNED)  # type: ignore[misc]
            site_pages, random = {read.name: read.page for read in site.read_all()}, np.random.default_rng(0)
            for name, page in site_pages.items():
                if name not in pages:
                    continue
                letters = pages[name].of_blocks(page.block_texts())
                words = words_by_mark(page, letters)
                if words[CONTENT].total() < 4:
                    continue
                results = _clean_with_counts(page, site_pages, model, random, without_rules=options.rules)
                for key, cleaned in results.items():
                    f1[key][site.name].append(scores_of(cleaned.text, words))
                    cut, kept = holes_of(cleaned, np.array([letter == CONTENT for letter in letters]))
                    holes[key][0] += cut
                    holes[key][1] += kept
                if others:
                    html = (site.folder / name).read_bytes()
                    for peer, extract in others.items():
                        f1[peer][site.name].append(scores_of(extract(html), words))
    rows = [_row(key, by_site, f1[ALONE], holes.get(key)) for key, by_site in f1.items()]
    print(table(["", "P", "R", "F1", "gains", "loses", "holes"], rows))
    write_json(
        options, {key: {site: [v[2] for v in of] for site, of in by_site.items()} for key, by_site in f1.items()}
    )


def _clean_with_counts(
    page: Page, site_pages: Mapping[str, Page], model: Model, random: np.random.Generator, *, without_rules: bool
) -> dict[str, Cleaned]:
    """Clean a page alone and with the counts of some other pages, by what is said of it in the table."""
    counts_of: dict[str, PageCounts | None] = {ALONE: None}
    for seen in SEEN:
        counts_of[f"{seen} pages counted"] = PageCounts(*count_others(page, site_pages, seen, model, random))
    return {
        key + without: tamis.clean(page, model=model, site=counts)
        for without in rules_in_turn(without_rules)
        for key, counts in counts_of.items()
    }


def _evidence_by_site(
    sites: Sequence[tuple[SitePages, Mapping[str, PageMarks]]], model_of: Callable[[str], Model], folds: int
) -> Evidences:
    """What the counts say, learned for each site on those of other folds."""
    examples = {}
    for site, pages in sites:
        say(f"{site.name}: examples")
        content_of = {name: page.content for name, page in pages.items()}
        examples[site.name] = block_examples(site, content_of, model_of(site.name))
    names = np.random.default_rng(0).permutation(list(examples)).tolist()
    learned: dict[str, site_counts.Evidence] = {}
    for fold in range(folds):
        others = [examples[name] for index, name in enumerate(names) if index % folds != fold]
        evidence = learn_evidence(*(np.concatenate(column) for column in zip(*others, strict=True)))
        learned |= dict.fromkeys(names[fold::folds], evidence)
    return learned


def words_by_mark(page: Page, letters: str) -> dict[str, Counter[str]]:
    """Count the words of a page's blocks by what they are marked as; those of template are not counted."""
    words = {letter: Counter[str]() for letter in (CONTENT, COMMENTS, MAYBE)}
    for letter, text in zip(letters, block_texts(page), strict=True):
        words.get(letter, Counter()).update(WORD.findall(text.lower()))
    return words


def scores_of(text: str, words: dict[str, Counter[str]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of a text; words that only may be content or comments are held against nobody."""
    got = Counter(WORD.findall(text.lower()))
    hit = (got & words[CONTENT]).total()
    extra = got - words[CONTENT]
    wrong = extra.total() - (extra & words[MAYBE]).total()
    precision, recall = hit / max(hit + wrong, 1), hit / words[CONTENT].total()
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def holes_of(cleaned: Cleaned, content: NDArray[np.bool_]) -> tuple[int, int]:
    """Blocks of content (bool[m]) cut inside structures of which most is kept; and blocks kept."""
    draft = cleaned.decided
    if draft is None or cleaned.status == "from_data":  # whose blocks are others
        return 0, 0
    kept = draft.kept
    return int((in_kept_structures(draft, kept, 0.7) & content & ~kept).sum()), int(kept.sum())


def _row(
    key: str,
    by_site: dict[str, list[tuple[float, float, float]]],
    alone: dict[str, list[tuple[float, float, float]]],
    holes: Sequence[int] | None,
) -> list[object]:
    values = np.concatenate([np.array(of) for of in by_site.values()])
    gains = [np.mean([v[2] for v in of]) - np.mean([v[2] for v in alone[site]]) for site, of in by_site.items()]
    return [
        key, *values.mean(axis=0).round(3).tolist(), sum(gain > -_LOSES for gain in gains),
        sum(gain < _LOSES for gain in gains), "" if holes is None else round(1000 * holes[0] / max(holes[1], 1), 1),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
