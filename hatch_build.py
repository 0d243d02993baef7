"""Builds the compiled core where there is a compiler, and goes on without it where there is none.

``WINNOW_BUILD_CORE=0`` does not try; ``WINNOW_BUILD_CORE=required`` fails where the core cannot be built, for wheels
that are published.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "WINNOW_BUILD_CORE"
FOLDER = Path("detector", "winnow", "core")
STABLE_ABI = ("0x030B0000", "cp311")  # of CPython 3.11; core.h has it, too


class CoreBuildHook(BuildHookInterface[Any]):
    """Compiles ``detector/winnow/core/source`` into ``_compiled.abi3.so`` next to it, editable installs included."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the files of a wheel are gathered."""
        del version
        wanted = os.environ.get(VARIABLE, "")
        if self.target_name != "wheel" or wanted == "0":
            return
        if sysconfig.get_config_var("Py_GIL_DISABLED"):  # such a Python knows no stable ABI yet
            return
        try:
            built = build(Path(self.root))
        except Exception as error:
            if wanted == "required":
                raise
            self.app.display_warning(f"without the compiled core, which numpy stands in for: {error}")
            return
        build_data["artifacts"].append(f"/{FOLDER.as_posix()}/{built.name}")
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"{STABLE_ABI[1]}-abi3-{platform}"


def build(root: Path) -> Path:
    """Compile the core; returns the library. Raises whatever a compiler that is missing or fails leads to."""
    from setuptools import Distribution, Extension  # noqa: PLC0415  (only where something is compiled)
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415

    folder = root / FOLDER
    sources = folder / "source"
    extension = Extension(
        "_compiled",
        sources=[str(source.relative_to(root)) for source in sorted(sources.rglob("*.c"))],
        depends=[str(header.relative_to(root)) for header in sources.rglob("*.h")],
        include_dirs=[str(sources.relative_to(root))],
        define_macros=[("Py_LIMITED_API", STABLE_ABI[0])],
        extra_compile_args=[
            "-O3",
            "-fno-strict-aliasing",
            "-ffp-contract=off",
        ],  # sums as numpy has them, on any machine
        libraries=["m"],
        py_limited_api=True,
    )
    before = Path.cwd()
    os.chdir(root)
    try:
        with TemporaryDirectory() as temporary:
            command = build_ext(Distribution({"name": "winnow-core", "ext_modules": [extension]}))
            command.build_lib = command.build_temp = temporary
            command.ensure_finalized()
            command.run()
            (found,) = Path(temporary).glob("_compiled*.so")
            target = folder / found.name
            target.unlink(missing_ok=True)  # one that is in use keeps its file
            target.write_bytes(found.read_bytes())
            target.chmod(0o755)
    finally:
        os.chdir(before)
    return target
