"""Whether the pages that a report lists first are the bad ones.

    python -m benchmarks.accuracy.report_order GOLD [--begin 1]

Every second page with gold text, from the first or the second on, is cleaned and ranked as the report of a crawl does
it, each as the only page of its host; the weights of `report/ranking.py` were read off those from the first on. Of the
first 25 and 50 are shown the fraction of all words that are wrong (lost, or kept wrongly) and the mean F1; the same for
the order of confidence, and for the best order there is.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

import tamis
from scrapy_tamis.losses import measure_losses
from scrapy_tamis.report.ranking import expected_loss
from scrapy_tamis.report.records import page_record
from tamis.page.text import WORD
from tamis_papers.evaluation import read_gold
from tamis_papers.experiments.harness import exit_on_bad_input, parser_of, table, write_json

_FIRST = (25, 50)


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("gold", type=Path, metavar="GOLD", help="gold pages; HTML in html/ beside them")
    parser.add_argument("--begin", type=int, default=1, choices=(0, 1), help="the first page (%(default)s)")
    options = parser.parse_args()
    records, wrong, f1 = [], [], []
    with exit_on_bad_input():
        for gold in read_gold(options.gold)[options.begin :: 2]:
            cleaned = tamis.clean((options.gold.parent / "html" / f"{gold.page_id}.html").read_bytes(), gold.url)
            values = {name: getattr(cleaned, name) for name in ("text", "status", "template_share", "confidence")}
            record = page_record({**values, **measure_losses(cleaned), "url": gold.url or "https://a.example/"}, 0)
            records += [record] if record is not None else []
            kept, wanted = (Counter(WORD.findall(text.lower())) for text in (cleaned.text, gold.text))
            wrong.append((kept - wanted).total() + (wanted - kept).total())
            f1.append(1 - wrong[-1] / max(kept.total() + wanted.total(), 1))
    usual = np.median([(record.words, record.template_share) for record in records], axis=0).tolist()
    orders = {
        "report": [expected_loss(record, 0, *usual).words for record in records],
        "confidence": [1 - (1 if record.confidence is None else record.confidence) for record in records],
        "best": wrong,
    }
    rows, figures = [], {}
    for name, order in orders.items():
        ranked = np.argsort(-np.array(order, np.float64), kind="stable")
        measured = [
            value
            for first in _FIRST
            for value in (np.take(wrong, ranked[:first]).sum() / sum(wrong), np.take(f1, ranked[:first]).mean())
        ]
        rows.append([name, *(f"{value:.3f}" for value in measured)])
        figures[name] = [float(value) for value in measured]
    heads = [f"{what} of the first {first}" for first in _FIRST for what in ("wrong words", "F1")]
    print(table(["order", *heads], rows))
    write_json(options, figures)


if __name__ == "__main__":
    main()
