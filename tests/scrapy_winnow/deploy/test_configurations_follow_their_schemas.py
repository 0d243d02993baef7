"""What a forge, Docker and Kubernetes are told has the form that they ask for; the schemas come with the checkers."""

import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize(
    ("schema", "files"), [("github-workflows", WORKFLOWS), ("compose-spec", [ROOT / "deploy" / "compose.yaml"])]
)
def test_a_configuration_follows_its_schema(schema, files):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_manifests_follow_the_interface_of_kubernetes():
    manifests = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text()))
    assert [manifest["kind"] for manifest in manifests] == ["PersistentVolumeClaim", "Job"]
    for manifest in manifests:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**manifests[1], "spec": {"completions": "eight"}}, "1.33", strict=True)


def test_a_job_of_kubernetes_counts_its_tries_as_its_rules_ask():
    _, job = yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text())
    pod = job["spec"]["template"]["spec"]
    assert job["spec"]["backoffLimitPerIndex"]
    assert pod["restartPolicy"] == "Never"  # the one that goes with it
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"]
    (container,) = pod["containers"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    assert "USER 10001" in (ROOT / "deploy" / "Dockerfile").read_text()


def test_what_the_image_copies_is_let_through_by_the_list_of_what_to_leave_out():
    words = [
        line.split()[1:-1]
        for line in (ROOT / "deploy" / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ")
    ]
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {name for names in words for name in names} == let_through
    assert all((ROOT / name).exists() for name in let_through)
