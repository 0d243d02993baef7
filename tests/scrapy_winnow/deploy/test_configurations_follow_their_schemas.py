"""What a forge, Docker and Kubernetes are told has the form that they ask for; the schemas come with the checkers."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize(
    ("schema", "files"),
    [("github-workflows", WORKFLOWS), ("compose-spec", [ROOT / "deploy" / "compose.yaml"])],
)
def test_a_configuration_follows_its_schema(schema, files):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_forge_runs_what_ci_runs():
    (tests,) = [file for file in WORKFLOWS if file.stem == "tests"]
    assert "bash .ci/run" in tests.read_text()
