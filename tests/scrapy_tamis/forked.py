"""Processes whose imports are done when they begin: forks of one that has imported what crawls and commands do."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Ended(NamedTuple):
    """What is left of a process that has ended."""

    returncode: int
    stdout: str
    stderr: str


class Forks:
    """Runs modules in forks of one process; see ``imported.py`` for its side."""

    def __init__(self) -> None:
        command = [sys.executable, "-W", "error", "-m", "tests.scrapy_tamis.imported"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, question: object) -> int:
        print(json.dumps(question), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def scrapy(self, *arguments: object, folder: Path, **environment: str) -> Ended:
        """Run a command of Scrapy in a folder."""
        return Forked(self, "scrapy", *map(str, arguments), folder=folder, **environment).end()

    def tamis(self, *arguments: object, folder: Path, **environment: str) -> Ended:
        """Run a command of Tamis in a folder."""
        return Forked(self, "tamis", *map(str, arguments), folder=folder, **environment).end()

    def close(self) -> None:
        self._process.communicate()


class Forked:
    """``python -W error -m MODULE ARGUMENTS`` in a folder; standard error may be a terminal."""

    def __init__(
        self, forks: Forks, module: str, *arguments: str, folder: Path, terminal: str = "", **environment: str
    ) -> None:
        self._forks, self._ended = forks, None
        self._written = tempfile.TemporaryDirectory()
        self._files = [str(Path(self._written.name, name)) for name in ("stdout", "stderr")]
        if terminal:
            self._files[1] = terminal
        environment = {**os.environ, **environment}
        self.pid = forks.ask([module, arguments, str(folder), self._files, environment])

    def kill(self) -> None:
        if self._ended is None:
            os.kill(self.pid, signal.SIGKILL)

    def end(self) -> Ended:
        """Wait for its end."""
        if self._ended is None:
            code = self._forks.ask(self.pid)
            self._ended = Ended(code, *(Path(file).read_text() if Path(file).is_file() else "" for file in self._files))
            self._written.cleanup()
        return self._ended
