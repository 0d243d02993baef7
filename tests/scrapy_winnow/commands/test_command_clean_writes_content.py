import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_winnow.commands import main

MENU = "".join(f"<li><a href=/{name}>{name} and all about it</a>" for name in ("Weather", "Sport", "Culture", "Travel"))
STORY = "<h1>Storm warning</h1>" + "".join(
    f"<p>Winds of up to {speed} km/h are expected on the coast tonight, says the office.</p>"
    for speed in range(130, 139)
)
PAGE = f"<html><title>Storm</title><body><nav><ul>{MENU}</ul></nav><main>{STORY}</main></body></html>"


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return str(path)


def test_text_is_written_to_standard_output(model: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "--model", model, page]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Storm warning\n\nWinds of up to 130 km/h")
    assert out.endswith("office.\n")
    assert "Sport" not in out
    assert err == ""


@pytest.mark.parametrize(
    ("kind", "start"),
    [("markdown", "# Storm warning\n\nWinds"), ("html", "<!DOCTYPE html>\n<html>"), ("text", "Storm warning\n\nWinds")],
)
def test_the_format_can_be_chosen(
    kind: str, start: str, model: str, page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clean", "--model", model, "--format", kind, page]) == 0
    out = capsys.readouterr().out
    assert out.startswith(start)
    assert "Sport" not in out


def test_json_is_one_object_a_line(model: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "--model", model, "--format", "json", page, page]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == second
    assert first["file"] == page
    assert first["title"] == "Storm"
    assert 0 < first["template_share"] < 0.5
    assert first["model"].startswith("logistic-")
    assert (first["fallback"], first["passed_through"], first["url"]) == (False, None, None)


def test_standard_input_is_read(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAGE.encode("utf-16"))))
    assert main(["clean", "--model", model, "-"]) == 0
    assert capsys.readouterr().out.startswith("Storm warning")


def test_several_files_are_told_apart(model: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "--model", model, page, page]) == 0
    assert capsys.readouterr().out.count(f"==> {page} <==\nStorm warning") == 2


def test_one_file_is_written_to_a_file_and_several_to_a_folder(model: str, page: str, tmp_path: Path) -> None:
    assert main(["clean", "--model", model, page, "-o", str(tmp_path / "one.txt")]) == 0
    other = tmp_path / "other.html"
    other.write_text(PAGE.replace("Storm", "Frost"))
    folder = tmp_path / "new" / "folder"
    assert main(["clean", "--model", model, page, str(other), "--format", "markdown", "-o", str(folder)]) == 0
    assert (tmp_path / "one.txt").read_text().startswith("Storm warning\n")
    assert sorted(file.name for file in folder.iterdir()) == ["other.md", "page.md"]
    assert (folder / "other.md").read_text().startswith("# Frost warning\n")


def test_a_file_is_never_overwritten_by_another_of_its_name(
    model: str, page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = tmp_path / "elsewhere" / "page.html"
    same.parent.mkdir()
    same.write_text(PAGE.replace("Storm", "Frost"))
    assert main(["clean", "--model", model, page, str(same), "-o", str(tmp_path / "out")]) == 1
    assert (tmp_path / "out" / "page.txt").read_text().startswith("Storm")
    assert f"{same}: would overwrite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is a binary file"),
        (b"%PDF-1.7\n", "is a binary file"),
        (bytes(range(256)) * 20, "is a binary file"),
    ],
)
def test_what_is_no_page_is_refused_and_the_others_are_still_cleaned(
    content: bytes, message: str, model: str, page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.html"
    bad.write_bytes(content)
    assert main(["clean", "--model", model, str(bad), page]) == 1
    out, err = capsys.readouterr()
    assert f"winnow: {bad}: {message}" in err
    assert "Storm warning" in out


def test_missing_files_and_folders_are_named(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "--model", model, str(tmp_path / "gone.html"), str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert f"{tmp_path / 'gone.html'}: no such file or directory" in err
    assert f"{tmp_path}: no HTML files in this folder" in err


def test_an_empty_name_is_no_directory(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "--model", model, ""]) == 1
    assert "no such file or directory (its name is empty)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "html",
    ["<p>a\x00b</p>", "<frameset><frame src=a></frameset>", '<?xml version="1.0"?><html xmlns="x"><p>a</html>', "<>"],
)
def test_odd_pages_are_cleaned_without_complaint(html: str, model: str, tmp_path: Path) -> None:
    odd = tmp_path / "odd.html"
    odd.write_text(html)
    assert main(["clean", "--model", model, str(odd)]) == 0


def test_a_page_of_template_only_is_kept_in_part_and_that_is_said(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    menu = tmp_path / "menu.html"
    menu.write_text(f"<ul>{MENU}</ul>")
    assert main(["clean", "--model", model, str(menu)]) == 0
    out, err = capsys.readouterr()
    assert out.strip()
    assert "everything looks like template" in err


def test_a_page_above_the_caps_is_passed_through_and_that_is_said(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = tmp_path / "large.html"
    large.write_text("<p>word</p>" * 100_001)
    assert main(["clean", "--model", model, str(large)]) == 0
    out, err = capsys.readouterr()
    assert out.count("word") == 100_001
    assert "too large (nodes)" in err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["clean"],
        ["nonsense"],
        ["clean", "--format", "pdf", "x"],
        ["segments"],
        ["train", "x"],
        ["evaluate", "x"],
    ],
)
def test_wrong_usage_ends_with_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: winnow" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--url", "https://host.example/", "{page}", "{page}"], "--url goes with a single FILE"),
        (["--model", "nowhere", "{page}"], "--model: no model named 'nowhere'"),
        (["--model", "{page}", "{page}"], "--model: {page}: not a model file"),
        (["-o", "{page}.d/x/y.txt", "{page}", "--model", "{model}"], "-o: no such folder"),
    ],
)
def test_options_that_make_no_sense_are_explained(
    arguments: list[str], message: str, model: str, page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clean", *(argument.format(page=page, model=model) for argument in arguments)]) == 2
    assert message.format(page=page) in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["clean"], ["segments"], ["train"], ["evaluate"]])
def test_help_has_examples(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    assert "examples:\n  winnow " in capsys.readouterr().out


def test_cleaning_loads_neither_scrapy_nor_redis_nor_what_training_needs(model: str, page: str) -> None:
    program = (
        "import sys; from scrapy_winnow.commands import main; code = main(sys.argv[1:]);"
        "heavy = {'scrapy', 'twisted', 'redis', 'sklearn'} & set(sys.modules);"
        "print(heavy, file=sys.stderr) if heavy else None; sys.exit(3 if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "clean", "--model", model, page], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Storm warning")


def test_a_reader_that_has_gone_ends_the_command_quietly(model: str, page: str) -> None:
    program = "import sys; from scrapy_winnow.commands import main; sys.exit(main(sys.argv[1:]))"
    many = [page] * 300
    with subprocess.Popen(
        [sys.executable, "-c", program, "clean", "--model", model, *many],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(240) == 1
