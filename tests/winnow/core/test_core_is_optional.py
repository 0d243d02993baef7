"""The package is built, installed and used with and without a compiler."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from winnow import clean, core

HTML = "<title>T</title><body><nav><a href=/>Home</a></nav><main><p>" + "Some words of a story, told at length. " * 20
ROOT = Path(__file__).parents[3]


def hook_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class App:
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def display_warning(self, text: str) -> None:
        self.warnings.append(text)


def hook(root: Path, app: App) -> Any:
    return hook_module().CoreBuildHook(str(root), {}, None, None, str(root), "wheel", app)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "detector" / "winnow" / "core"
    shutil.copytree(ROOT / "detector" / "winnow" / "core" / "source", folder / "source")
    return tmp_path


def test_without_a_compiler_a_pure_wheel_is_built(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.delenv("WINNOW_BUILD_CORE", raising=False)
    app, build_data = App(), {"artifacts": [], "pure_python": True}
    hook(sources, app).initialize("standard", build_data)
    assert build_data == {"artifacts": [], "pure_python": True}
    (warning,) = app.warnings
    assert "without the compiled core" in warning


def test_wheels_that_must_have_the_core_are_not_built_without(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("WINNOW_BUILD_CORE", "required")
    with pytest.raises(Exception, match="no-such-compiler"):
        hook(sources, App()).initialize("standard", {"artifacts": []})


@pytest.mark.skipif(core.compiled() is None, reason="no compiler")
def test_one_wheel_serves_all_later_pythons(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_BUILD_CORE", "required")
    build_data: dict[str, Any] = {"artifacts": []}
    hook(sources, App()).initialize("standard", build_data)
    assert build_data["artifacts"] == ["/detector/winnow/core/_compiled.abi3.so"]
    assert build_data["tag"].startswith("cp311-abi3-")
    assert (sources / "detector" / "winnow" / "core" / "_compiled.abi3.so").stat().st_size > 10_000


def test_the_core_can_be_left_out() -> None:
    program = "from winnow import clean, core; print(core.description()); print(clean(input()).text)"
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "WINNOW_CORE": "0"},
        input=HTML,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.splitlines() == ["numpy (WINNOW_CORE=0)", *clean(HTML).text.splitlines()]


def test_a_core_that_was_built_from_older_sources_is_left_out_with_one_warning() -> None:
    program = (
        "import sys, types; sys.modules['winnow.core._compiled'] = types.ModuleType('stale');"
        "from winnow import clean, core; print(core.description()); print(clean(input()).text)"
    )
    found = subprocess.run([sys.executable, "-c", program], input=HTML, capture_output=True, text=True, check=True)
    stale = f"the compiled core is of version 1, not {core.loading.VERSION}"
    assert found.stdout.splitlines() == [f"numpy ({stale})", *clean(HTML).text.splitlines()]
    assert found.stderr.count("RuntimeWarning") == found.stderr.count(stale) == 1


@pytest.mark.skipif(core.compiled() is None, reason="no compiler")
def test_package_and_core_know_the_same_version() -> None:
    header = (ROOT / "detector/winnow/core/source/core.h").read_text(encoding="utf-8")
    assert f"#define CORE_VERSION {core.loading.VERSION}\n" in header


def test_leaving_it_out_ends() -> None:
    before = core.description()
    with core.numpy_only():
        assert core.compiled() is None
        assert core.description() == "numpy (asked for)"
    assert core.description() == before
