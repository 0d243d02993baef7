"""Coverage-guided fuzzing of what takes bytes from strangers: pages, what is written of them, Redis, and model files.

    python -m benchmarks.faults.fuzzing [TARGET ...] [--seconds 600] [--keep]

Targets are `page` (cleaning of any bytes), `output` (clean HTML and Markdown, parsed again with html5lib: no script,
handler, unsafe address or control character), `time` (pages that repeat any bytes: four times as many must not take ten
times as long), `redis` (readers of what Redis holds) and `model` (model files with bytes changed). A page that takes
far longer than others of its size fails, too. Each target is fuzzed for --seconds by atheris (`pip install atheris`),
one after the other, from the kept corpus on, which is in `tests/benchmarks/fuzzing.json` and run in the tests. --keep
puts inputs into it that reach something new. The exit code is 1 where one fails; its input is printed.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.shared.common import installed
from tamis_papers.experiments.harness import parser_of, say

CORPUS: Final = Path(__file__).resolve().parents[2] / "tests" / "benchmarks" / "fuzzing.json"
MOST_KEPT: Final = 40
"""Inputs of a target that one run adds at most."""

_NAMES: Final = ("page", "output", "time", "redis", "model")
_WORDS: Final = r"""
    <math> <annotation encoding="application/x-tex"> <pre> <code> <title> <textarea> <script> <!-- --> <svg> <template>
    <table> <td> <video> <q> <img alttext= data-tex= data-lang= data-cfemail= class="language- class="latex" title="
    type="math/tex" href="/cdn-cgi/l/email-protection# id= name= &#13; &#0; &#27; &lt;img&#32;src=x&#32;onerror=1&gt;
    $ ``` ` ]( javascript: createElement {"@type":"NewsArticle","headline":" \ud83d \u001b
""".split()
"""What random bytes seldom become."""
_INSIDE: Final = """
import sys
import atheris
with atheris.instrument_imports(include=["tamis", "scrapy_tamis"]):
    from benchmarks.faults.fuzz_targets import TARGETS
atheris.Setup(sys.argv, TARGETS[{target!r}])
atheris.Fuzz()
"""
"""What a process of its own does: coverage is of what it imports from here on, so that nothing may be before."""


def main() -> int:
    """Fuzz the targets, one after the other."""
    parser = parser_of(__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"these only, of {', '.join(_NAMES)}")
    parser.add_argument("--seconds", type=int, default=600, metavar="S", help="for each target (%(default)s)")
    parser.add_argument("--keep", action="store_true", help="put what was found into the kept corpus")
    options = parser.parse_args()
    if not installed("atheris"):
        return 2
    failed = [name for name in options.targets or _NAMES if not _fuzz(name, options.seconds, keep=options.keep)]
    print(f"failed: {', '.join(failed) or 'none'}")
    return int(bool(failed))


def kept(target: str) -> list[bytes]:
    """The kept inputs of a target."""
    return [base64.b64decode(text) for text in json.loads(CORPUS.read_text(encoding="ascii"))[target]]


def _fuzz(target: str, seconds: int, *, keep: bool) -> bool:
    say(f"{target}: {seconds} s")
    with TemporaryDirectory(prefix="tamis-fuzzing-") as name:
        folder = Path(name)
        (folder / "corpus").mkdir()
        for number, data in enumerate(kept(target)):
            (folder / "corpus" / f"{number:03}").write_bytes(data)
        (folder / "words").write_text("".join(f"{json.dumps(word)}\n" for word in _WORDS), encoding="ascii")
        limits = [
            f"-dict={folder}/words",
            f"-max_total_time={seconds}",
            "-max_len=4096",
            f"-artifact_prefix={folder}/",
            "-timeout=60",
        ]
        command = [sys.executable, "-c", _INSIDE.format(target=target), *limits, str(folder / "corpus")]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        print(f"{target}: {_statistics(done.stderr)}")
        for file in sorted(path for path in folder.iterdir() if path.is_file() and path.name != "words"):
            print(f"{target}: {file.name}: {base64.b64encode(file.read_bytes()).decode()}")
            print(done.stdout[-3_000:], done.stderr[-1_000:])
        if keep and done.returncode == 0:  # what reached something new is in the folder, too
            _keep(target, [file.read_bytes() for file in (folder / "corpus").iterdir()])
        return done.returncode == 0


def _statistics(output: str) -> str:
    """Runs and coverage, as libFuzzer has said them last."""
    lines = [line for line in output.splitlines() if re.match(r"#\d|Done", line)]
    return "; ".join(lines[-2:]) or output[-500:]


def _keep(target: str, inputs: list[bytes]) -> None:
    corpus = json.loads(CORPUS.read_text(encoding="ascii"))
    short = sorted((data for data in inputs if len(data) <= 300), key=len)
    chosen = dict.fromkeys([*kept(target), *short[-MOST_KEPT:]])
    corpus[target] = [base64.b64encode(data).decode() for data in chosen][: 2 * MOST_KEPT]
    CORPUS.write_text(json.dumps(corpus, indent=0) + "\n", encoding="ascii")


if __name__ == "__main__":
    sys.exit(main())
