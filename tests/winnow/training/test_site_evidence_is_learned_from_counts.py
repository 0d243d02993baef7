"""Site evidence is learned from how often the pages of hosts repeat blocks, and weighed by gold text."""

import json
from pathlib import Path

import numpy as np
import pytest

from winnow.evidence.site_counts import log_likelihood_ratios
from winnow.training.evidence import Repetitions, learn_evidence
from winnow.training.evidence.__main__ import main

STORY = "The otter of pond {} was seen again in the morning by the people of village {} who had gone there. "


def repeated(seed: int) -> Repetitions:
    """Blocks of a host: most of its template is on nine pages of ten, what is content on few."""
    random = np.random.default_rng(seed)
    content = random.random(200) < 0.4
    others = np.full(200, 20)
    seen = random.binomial(others, np.where(content, 0.01, 0.9))
    templateness = np.clip(np.where(content, 0.4, 0.6) + random.normal(scale=0.2, size=200), 0.05, 0.95)
    return Repetitions(templateness, seen, others, content.astype(float), np.full(200, 1 / 200))


def test_blocks_of_the_template_are_repeated_and_the_evidence_counts_where_it_knows_more_than_the_model():
    hosts = [repeated(seed) for seed in range(3)]
    learned = learn_evidence(hosts, hosts)
    template, content = (a / (a + b) for a, b in (learned.template, learned.content))
    assert template > 0.7
    assert content < 0.1
    assert learned.repeated > 0.2
    ratios = log_likelihood_ratios(21, learned)
    assert ratios[20] > 0 > ratios[1]


def test_the_command_counts_sites_and_leaves_some_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    rows = []
    for site in ("mill", "harbour", "left"):
        (tmp_path / "sites" / site).mkdir(parents=True)
        for number in range(10):
            story = STORY.format(number, number * 7) * 4
            html = f"<nav><a href=/>Home of {site}</a></nav><p>{story}</p><footer>All rights of {site}</footer>"
            (tmp_path / "sites" / site / f"{number}.html").write_text(html, encoding="utf-8")
        rows.append({"page": f"{site}/3.html", "gold_text": STORY.format(3, 21) * 4})
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = [str(tmp_path / "sites"), "--gold", str(gold), "--leave-out", "left", "--pages", "3"]
    monkeypatch.setattr("sys.argv", ["evidence", *arguments])
    main()
    said = capsys.readouterr()
    assert said.out.startswith("Evidence(template=(")
    assert said.out.endswith("# 2 sites, 2 of them with gold text\n")
    assert "counts mill" in said.err
    assert "counts left" not in said.err
    monkeypatch.setattr("sys.argv", ["evidence", *arguments[:3], "--leave-out", "mill", "harbour", "left"])
    with pytest.raises(SystemExit):
        main()
