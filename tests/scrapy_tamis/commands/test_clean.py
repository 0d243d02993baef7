"""``tamis clean``."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_tamis.commands import main

MENU = "".join(f"<li><a href=/{name}>{name} and all about it</a>" for name in ("Weather", "Sport", "Culture", "Travel"))
STORY = "<h1>Storm warning</h1>" + "".join(
    f"<p>Winds of up to {speed} km/h are expected on the coast tonight, says the office.</p>"
    for speed in range(130, 139)
)
PAGE = f"<html><title>Storm</title><body><nav><ul>{MENU}</ul></nav><main>{STORY}</main></body></html>"
PROGRAM = "import sys; from scrapy_tamis.commands import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return str(path)


@pytest.fixture
def clean(model, capsys):
    """Run the command and return exit code, standard output and standard error."""

    def run(*arguments):
        return main(["clean", "--model", model, *map(str, arguments)]), *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("kind", "start"),
    [("markdown", "# Storm warning\n\nWinds"), ("html", "<!DOCTYPE html>\n<html>"), ("text", "Storm warning\n\nWinds")],
)
def test_content_is_written_in_each_format(kind, start, clean, page):
    code, out, err = clean("--format", kind, page)
    assert (code, err) == (0, "")
    assert out.startswith(start)
    assert out.endswith("\n")
    assert "Sport" not in out


def test_a_page_is_read_from_standard_input(clean, page, monkeypatch):
    with Path(page).open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert clean("-")[1].startswith("Storm warning\n\nWinds")


def test_several_files_get_headings_or_a_folder_and_none_is_overwritten(clean, page, tmp_path):
    assert clean(page, page)[1].count(f"==> {page} <==\nStorm warning") == 2
    assert clean(page, "-o", tmp_path / "one.txt")[0] == 0
    assert (tmp_path / "one.txt").read_text().startswith("Storm warning\n")
    same = tmp_path / "elsewhere" / "page.html"
    same.parent.mkdir()
    other = tmp_path / "other.html"
    for file in (same, other):
        file.write_text(PAGE.replace("Storm", "Frost"))
    folder = tmp_path / "new" / "folder"
    code, _, err = clean(page, other, same, "--format", "markdown", "-o", folder)
    assert code == 1
    assert f"{same}: would overwrite" in err
    assert sorted(file.name for file in folder.iterdir()) == ["other.md", "page.md"]
    assert (folder / "page.md").read_text().startswith("# Storm")
    assert (folder / "other.md").read_text().startswith("# Frost warning\n")


@pytest.fixture
def mirror(tmp_path):
    for place in ("index.html", "a/index.html", "a/b/story.htm", "a/page"):
        file = tmp_path / "mirror" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PAGE.replace("Storm warning", f"Storm warning of {place}"))
    (tmp_path / "mirror" / "style.css").write_text("p {}")
    return tmp_path / "mirror"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_folder_becomes_the_same_folders(clean, mirror, tmp_path, processes):
    out = tmp_path / "out"
    assert clean(mirror, "-o", out, "-j", processes)[0] == 0
    written = sorted(str(file.relative_to(out)) for file in out.rglob("*") if file.is_file())
    assert written == ["a/b/story.txt", "a/index.txt", "a/page.txt", "index.txt"]
    assert (out / "a" / "index.txt").read_text().startswith("Storm warning of a/index.html\n")


def test_a_file_of_a_folder_that_cannot_be_read_is_named_and_the_others_cleaned(clean, mirror, tmp_path, monkeypatch):
    opened = Path.open

    def open_all_but_one(file, *mode, **options):
        if file == mirror / "a" / "page":
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return opened(file, *mode, **options)

    monkeypatch.setattr(Path, "open", open_all_but_one)
    code, _, err = clean(mirror, "-o", tmp_path / "out")
    assert (code, err) == (1, f"tamis: {mirror / 'a' / 'page'}: permission denied\n")
    assert len([file for file in (tmp_path / "out").rglob("*") if file.is_file()]) == 3


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jl"])
def test_a_folder_becomes_one_file_of_json_lines(clean, mirror, tmp_path, name):
    out = tmp_path / name
    assert clean(mirror, "--format", "json", "--with", "metadata", "--with", "markdown", "-o", out)[0] == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [rows[0][name] for name in ("title", "status", "url")] == ["Storm", "cleaned", None]
    assert 0 < rows[0]["template_share"] < 0.5
    assert [Path(row["file"]).name for row in rows] == ["story.htm", "index.html", "page", "index.html"]
    assert all(row["metadata"]["headline"].startswith("Storm warning of") for row in rows)
    assert all(row["markdown"].startswith("# Storm") for row in rows)


def test_pages_are_not_overwritten_by_their_content(clean, mirror, page, monkeypatch):
    pages = {file: file.read_text() for file in [*mirror.rglob("*.htm*"), Path(page)]}
    monkeypatch.chdir(mirror.parent)
    code, _, err = clean(mirror, "--format", "html", "-o", "mirror")
    assert (code, err.count("would overwrite")) == (1, 2)  # of those that end in .html
    assert clean(page, "--format", "html", "-o", "page.html")[0] == 2
    assert pages == {file: file.read_text() for file in pages if file.exists()}


def test_files_whose_names_are_no_text_are_cleaned_like_others(clean, page, tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.html"))
    odd.write_text(PAGE)
    assert clean(odd, page, "--format", "json", "-o", tmp_path / "pages.jsonl")[0] == 0
    rows = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert [Path(row["file"]).name for row in rows] == ["?.html", "page.html"]


@pytest.mark.parametrize(
    ("switch", "before", "after"),
    [("--no-links", "[read](/r)", "read"), ("--no-images", "![i](/i.png)", ""), ("--no-tables", "| a | b |", "")],
)
def test_links_images_and_tables_can_be_left_out(switch, before, after, clean, tmp_path):
    parts = "<p>Then <a href=/r>read</a> <img src=/i.png alt=i> it all.</p><table><tr><th>a<th>b<tr><td>c<td>d</table>"
    page = tmp_path / "page.html"
    page.write_text(PAGE.replace("</main>", f"{parts}</main>"))
    assert before in clean("--format", "markdown", page)[1]
    out = clean("--format", "markdown", page, switch)[1]
    assert before not in out
    assert after in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b" \n\t", "is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is a binary file"),
        (b"%PDF-1.7\n", "is a binary file"),
        (b"WARC/1.0\r\nWARC-Type: response\r\n", "is an archive (WARC), not HTML: tamis warc cleans archives"),
        (b"https://host.example/a\nhttps://host.example/b\n", "is a list of addresses"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "is compressed: unpack it with gunzip first"),
        (b'{"url": "http://a.example/"}\n{"url": "http://b.example/"}\n', "is JSON lines, not HTML"),
        (b'{"url": "http://a.example/"}', "is JSON, not HTML: clean the HTML in its fields"),
        (None, "no such file or directory"),
    ],
)
def test_files_that_are_not_pages_are_named_and_the_others_cleaned(content, message, clean, page, tmp_path):
    bad = tmp_path / "bad.html"
    if content is not None:
        bad.write_bytes(content)
    code, out, err = clean(bad, page)
    assert code == 1
    assert f"tamis: {bad}: " in err
    assert message in err
    assert "Storm warning" in out
    assert clean("--format", "segments", bad, page)[0] == 1


def test_output_that_cannot_be_written_is_named(clean, page, tmp_path):
    absent = tmp_path / "absent"
    absent.symlink_to(tmp_path / "gone" / "file")
    code, _, err = clean(page, "-o", absent)
    assert (code, err) == (2, f"tamis: -o {absent}: no such file or directory\n")


@pytest.mark.parametrize("options", [[], ["--site"]])
def test_a_page_of_a_charset_that_decodes_nothing_does_not_keep_the_others_from_being_cleaned(
    options, clean, page, tmp_path
):
    odd = tmp_path / "odd.html"
    odd.write_bytes(b"<meta charset=undefined><p>Caf\xe9s and b\xe0rs of the harbour, all of them open.")
    assert "Storm warning" in clean(*options, odd, page)[1]


def test_the_command_for_a_list_of_addresses_works_in_an_empty_folder(clean, forks, web, tmp_path):
    addresses, folder = tmp_path / "addresses.txt", tmp_path / "empty"
    addresses.write_text("\n".join(web.add_articles(2)))
    folder.mkdir()
    said = re.search(r"(SCRAPY_\w+)=(\S+) scrapy (crawl .*)=FILE crawls and cleans them", clean(addresses)[2])
    variable, value, words = said.groups()
    ended = forks.scrapy(*f"{words}={addresses}".split(), "-a", "pages=1", folder=folder, **{variable: value})
    assert (ended.returncode, (folder / "report.html").is_file()) == (0, True), ended.stderr
    assert "'tamis/items/cleaned': 1" in ended.stderr


def test_names_that_are_not_files_are_explained(clean, tmp_path):
    assert clean("http://[") == (1, "", "tamis: http://[: Invalid IPv6 URL\n")
    code, _, err = clean("", tmp_path)
    assert code == 1
    assert "no such file or directory (its name is empty)" in err
    assert f"{tmp_path}: no HTML files in this folder" in err


def test_pages_of_template_only_above_the_limits_and_damaged_are_warned_of(clean, tmp_path):
    menu, large = tmp_path / "menu.html", tmp_path / "large.html"
    menu.write_text(f"<nav><ul>{MENU}</ul></nav><p style='display: none'>The ferries stay in port until Sunday.</p>")
    code, out, err = clean(menu)
    assert code == 0
    assert out.strip()
    assert "everything looks like template" in err
    large.write_text("<p>word</p>" * 100_001)
    code, out, err = clean(large)
    assert (code, out.strip()) == (0, "")
    assert "too large (nodes): not read, so there is no text" in err
    damaged = tmp_path / "damaged.html"
    damaged.write_text("<title>Ferries<p>The ferries stay in port until Sunday, says the office in its report.")
    code, out, err = clean(damaged, "--format", "json")
    assert (code, json.loads(out)["mended"]) == (0, True)
    assert "a title, script or comment never ends" in err


def test_cleaning_loads_neither_scrapy_nor_redis_nor_what_training_needs(model, page):
    program = (
        "import sys; from scrapy_tamis.commands import main; code = main(sys.argv[1:]);"
        "heavy = {'scrapy', 'twisted', 'redis', 'sklearn'} & set(sys.modules);"
        "print(heavy, file=sys.stderr) if heavy else None; sys.exit(3 if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "clean", "--model", model, page], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Storm warning")


def test_a_closed_pipe_ends_the_command_quietly(model, page):
    command = [sys.executable, "-c", PROGRAM, "clean", "--model", model, *[page] * 300]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(240) == 1


def test_closed_streams_fail_nothing(model, page, tmp_path):
    out = tmp_path / "out.txt"
    command = [sys.executable, "-c", PROGRAM, "clean", "--model", model, page, "-o", str(out)]
    for closed in ("1", "2"):
        shell = ["sh", "-c", f'exec "$@" {closed}>&-', "sh"]
        for each in (command[:-2], command):
            done = subprocess.run([*shell, *each], capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
        assert out.read_text().startswith("Storm warning")
        out.unlink()
    shell = ["sh", "-c", 'exec "$@" 0<&-', "sh", *command[:4], "-"]
    assert subprocess.run(shell, capture_output=True, text=True, check=False).stderr == "tamis: -: is empty\n"


def test_segments_are_a_table_or_json(clean, page):
    head, *rows = clean("--format", "segments", page)[1].splitlines()
    assert head.split() == ["score", "what", "why", "chars", "section", "text"]
    assert any("template landmark" in row and "/html/body/nav" in row and "Sport" in row for row in rows)
    assert any("content" in row and "Winds" in row for row in rows)
    segments = json.loads(clean("--format", "json", "--with", "segments", page)[1])["segments"]
    assert set(segments[0]) >= {"path", "tag", "score", "template", "comment", "reason", "characters", "text"}
    assert sum(segment["text"].count("Winds") for segment in segments if not segment["template"]) == 9
    assert sum(segment["text"].count("all about it") for segment in segments if segment["template"]) == 4


def test_what_the_pages_of_a_site_repeat_is_counted_first_and_kept_for_others(clean, tmp_path):
    about = "This paper was founded by two friends on the coast, who have always wanted to write for everyone."
    (tmp_path / "mirror").mkdir()
    for number in range(15):
        story = "".join(
            f"<p>Sentence {number}, {line} of a story that is told here at length.</p>" for line in range(9)
        )
        (tmp_path / "mirror" / f"{number:02}.html").write_text(f"<main><h1>Story {number}</h1>{story}<p>{about}</p>")
    first, counts = tmp_path / "mirror" / "00.html", tmp_path / "counts"
    assert about in clean(first)[1]
    for processes in (1, 2):
        code, out, _ = clean("--site", "--site-file", counts, "-j", processes, tmp_path / "mirror")
        assert code == 0
        assert about not in out
        assert "Sentence 14, 8" in out
        assert about not in clean("--site-file", counts, first)[1]
        rows = clean("--format", "segments", "--site-file", counts, first)[1].splitlines()
        assert [row.split()[1] for row in rows if about[:30] in row] == ["template"]
    assert about not in clean("--site", "--model", "blocks-self-taught", tmp_path / "mirror")[1]
    assert "another version or model" in clean("--site-file", counts, "--model", "blocks-self-taught", first)[2]
