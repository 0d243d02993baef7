import gzip
import json
import sys

import pytest

from scrapy_tamis.commands import main
from tamis_papers.training.train import train


def _sentences(subject, count):
    return " ".join(f"{subject} has a sentence with the number {k} in it, and some more words." for k in range(count))


@pytest.fixture
def sites(tmp_path):
    """Six small sites: a menu and notices on every page, stories of its own on each, all of them short and long."""
    folder = tmp_path / "sites"
    for site in range(6):
        menu = "".join(f'<li><a href="/{k}.html">Site {site} section number {k}</a></li>' for k in range(9))
        notices = "".join(f"<div><a href=/n{k}>{_sentences(f'Notice {k} of {site}', 4**k)}</a></div>" for k in range(4))
        (folder / f"site-{site}").mkdir(parents=True)
        for page in range(14):
            stories = "".join(
                f"<div><p>{_sentences(f'Story {page} part {k} on {site}', 4**k)}</p></div>" for k in range(4)
            )
            sources = "".join(f"<li><a href=/{page}/{k}>Source {k} of story {page}</a></li>" for k in range(3))
            (folder / f"site-{site}" / f"{page}.html").write_text(
                f"<html><head><title>Story {page}</title></head><body><nav><ul>{menu}</ul></nav>"
                f"<main>{stories}<ul>{sources}</ul></main><footer>{notices}</footer></body></html>"
            )
    return folder


def test_a_model_and_its_card_are_written_and_the_model_cleans(sites, tmp_path, capsys):
    model = tmp_path / "model.npz"
    sources = [tmp_path / "sites.md", tmp_path / "more.md"]
    for file in sources:
        file.write_text(f"- Pages by {file.stem}.\n")
    arguments = ["train", str(sites), "-o", str(model), "--model", "logistic", "--processes", "1"]
    assert main([*arguments, "--sources", str(sources[0]), "--sources", str(sources[1])]) == 0
    out, err = capsys.readouterr()
    assert "6 sites, 84 pages" in out
    assert "on sources held out, by site-level labels:" in out
    assert "area under the ROC curve" in out
    assert f"wrote {model}" in err
    card = model.with_suffix(".md").read_text()
    assert card.startswith("# Model `logistic`")
    assert card.endswith("## Sources of the training data\n\n- Pages by sites.\n- Pages by more.\n")

    page = str(sites / "site-0" / "3.html")
    assert main(["clean", "--model", str(model), page]) == 0
    text = capsys.readouterr().out
    assert "Story 3 part 2 on 0 has a sentence" in text
    assert "section number 4" not in text


def test_a_model_that_cannot_be_written_is_not_trained(sites):
    file, steps = next(sites.rglob("*.html")), []
    with pytest.raises(FileExistsError):
        train(sites, output=file / "model.npz", processes=1, progress=lambda *step: steps.append(step))
    assert not steps


def test_the_items_of_a_crawl_teach_a_model_in_one_command(sites, tmp_path, capsys):
    items = tmp_path / "items.jsonl.gz"
    with gzip.open(items, "wt") as lines:
        for file in sorted(sites.rglob("*.html")):
            url = f"https://{file.parent.name}.example/{file.name}"
            lines.write(json.dumps({"url": url, "html": file.read_text(), "text": "..."}) + "\n")
        lines.write('{"url": "https://a.example/", "text": "without HTML"}\n')
    model = tmp_path / "model.npz"
    assert main(["train", str(items), "-o", str(model), "--model", "logistic", "--processes", "1"]) == 0
    out, err = capsys.readouterr()
    assert "6 sites, 84 pages" in out
    assert "6 sites are few" in err
    assert main(["clean", "--model", str(model), str(sites / "site-0" / "3.html")]) == 0
    assert "Story 3 part 2 on 0 has a sentence" in capsys.readouterr().out

    (tmp_path / "bare.jsonl").write_text('{"url": "https://a.example/", "text": "without HTML"}\n')
    assert main(["train", str(tmp_path / "bare.jsonl"), "-o", str(model), "--model", "logistic"]) == 2
    assert "crawl with TAMIS_KEEP_HTML = True" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["rapidfuzz.distance", "scipy.sparse"])
def test_a_missing_package_is_named(package, sites, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    arguments = ["train", str(sites), "--gold", str(tmp_path / "gold.jsonl"), "-o", str(tmp_path / "m.npz")]
    for module in [name for name in sys.modules if name.startswith("tamis_papers.training.")]:
        monkeypatch.delitem(sys.modules, module)
    assert main([*arguments, "--model", "blocks"]) == 2
    assert "pip install 'tamis[train]'" in capsys.readouterr().err
