"""A process with all that crawls and commands import, and load with their first page; it forks for each run of one.

It is asked in lines of JSON: for a run of a module, which is answered by the number of the process, or with that
number for its end, which is answered by the exit code.
"""

import gc
import json
import os
import runpy
import sys
import warnings

import aiohttp  # noqa: F401
from prometheus_client import parser  # noqa: F401
from scrapy.core.downloader import Downloader, contextfactory  # noqa: F401
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

import tamis
from scrapy_tamis import addon, commands, pipeline  # noqa: F401
from scrapy_tamis.storage import counts
from tests.scrapy_tamis import crawl_process  # noqa: F401


def load_components() -> None:
    """Import what Scrapy's own settings name, load the model, the languages and the list of public suffixes."""
    for name, value in Settings().items():
        for path in [*value, *value.values()] if name.endswith("_BASE") else [value]:
            if isinstance(path, str) and path.startswith("scrapy.") and path.rpartition(".")[2][0].isupper():
                with warnings.catch_warnings(action="default"):  # older ones use what Twisted has deprecated
                    load_object(path)
    _ = tamis.clean(f"<h1>Words</h1><p>{'Some words of a story. ' * 20}", "http://a.example/").metadata
    counts._domain_of("a.example")
    assert "twisted.internet.reactor" not in sys.modules, "which each process installs for itself"


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, int):
            answer = os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1])
        elif not (answer := os.fork()):
            run(*asked)
            return
        print(answer, flush=True)


def run(module: str, arguments: list[str], folder: str, files: list[str], environment: dict[str, str]) -> None:
    for number, file in enumerate([os.devnull, *files]):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOCTTY, 0o600), number)
    os.chdir(folder)
    os.environ |= environment
    sys.path[:0] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [module, *arguments]
    sys.orig_argv = [sys.executable, "-m", *sys.argv]
    if module == "tamis":
        raise SystemExit(commands.main())
    sys.modules.pop(module, None)  # as if it were not imported yet
    if module == "scrapy":  # it warns of what it does itself
        warnings.simplefilter("default")
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    load_components()
    gc.freeze()  # or each crawl's collections visit all of this
    main()
