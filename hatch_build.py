"""Compiles the core of the library by the machine's C compiler, or by that of ziglang from PyPI where there is none."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("detector", "tamis", "core")
STABLE_ABI = ("0x030B0000", "cp311")  # of CPython 3.11; a Python without a lock knows none yet
ZIGLANG = "ziglang>=0.15"
HOW = (
    "tamis needs its compiled core, and it could not be built: {}\n"
    "Install a C compiler (Debian: apt-get install gcc libc6-dev; macOS: xcode-select --install), or run "
    f"'pip install \"{ZIGLANG}\"', whose compiler is used where there is no other, and install again."
)


class CoreBuildHook(BuildHookInterface[Any]):
    """Compiles ``detector/tamis/core/source`` into a library next to it, editable installs included."""

    def dependencies(self) -> list[str]:
        """Ask for a compiler where the machine has none."""
        return [] if self.target_name != "wheel" or find_compiler() else [ZIGLANG]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the files of a wheel are gathered."""
        del version
        if self.target_name != "wheel":
            return
        try:
            built = build(Path(self.root))
        except Exception as error:
            raise RuntimeError(HOW.format(error)) from error
        build_data["artifacts"].append(f"/{FOLDER.as_posix()}/{built.name}")
        build_data["pure_python"] = False
        if is_abi_stable():
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"{STABLE_ABI[1]}-abi3-{platform}"
        else:
            build_data["infer_tag"] = True


def is_abi_stable() -> bool:
    """Whether one library serves this Python and all that follow."""
    return not sysconfig.get_config_var("Py_GIL_DISABLED")


def find_compiler() -> str | None:
    """Return the command of the machine's C compiler: ``CC``, the one Python was built with, or a usual name."""
    built_with = (sysconfig.get_config_var("CC") or "").split()[:1]
    names = [os.environ.get("CC", ""), *built_with, "cc", "gcc", "clang"]
    return next((name for name in names if name and shutil.which(shlex.split(name)[0])), None)


def build(root: Path) -> Path:
    """Compile the core and return the library.

    Raises:
        Exception: whatever a compiler that is missing or fails leads to.
    """
    from setuptools import Distribution, Extension  # noqa: PLC0415  (only where something is compiled)
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415

    class ParallelBuild(build_ext):  # type: ignore[misc]  # setuptools has no types
        def build_extensions(self) -> None:
            compile_in_turn = self.compiler.compile

            def compile_in_parallel(files: list[str], **options: Any) -> list[str]:
                with ThreadPoolExecutor(os.cpu_count()) as pool:
                    compiled = pool.map(lambda file: compile_in_turn([file], **options), files)
                    return [name for objects in compiled for name in objects]

            self.compiler.compile = compile_in_parallel
            super().build_extensions()

    sources = root / FOLDER / "source"
    # Sums as numpy has them; comparisons of numbers that make vectors; and no look-up of what only the core has.
    flags = ["-O3", "-fno-strict-aliasing", "-ffp-contract=off", "-fno-trapping-math", "-fvisibility=hidden"]
    extension = Extension(
        "_compiled",
        sources=sorted(map(str, sources.glob("*.c"))),
        include_dirs=[str(sources)],
        define_macros=[("Py_LIMITED_API", STABLE_ABI[0])] if is_abi_stable() else [],
        extra_compile_args=flags,
        libraries=["m"],
        py_limited_api=is_abi_stable(),
    )
    compiler = find_compiler()
    if compiler is None:
        if find_spec("ziglang") is None:
            raise FileNotFoundError("there is no C compiler on the PATH")
        compiler = f"{sys.executable} -m ziglang cc"
        shared = "-bundle -undefined dynamic_lookup" if sys.platform == "darwin" else "-shared"
        os.environ |= {"LDSHARED": f"{compiler} {shared}", "CFLAGS": "-fno-sanitize=all"}
    os.environ["CC"] = compiler  # of this process, which builds and ends
    with TemporaryDirectory() as temporary:
        command = ParallelBuild(Distribution({"name": "tamis-core", "ext_modules": [extension]}))
        command.build_lib = command.build_temp = temporary
        command.ensure_finalized()
        command.run()
        (found,) = Path(temporary).glob("_compiled*.so")
        target = root / FOLDER / found.name
        target.unlink(missing_ok=True)  # one that is in use keeps its file
        shutil.copy(found, target)
    return target
