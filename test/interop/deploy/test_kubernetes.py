"""The Kubernetes manifests: valid for the last releases, and in step with the command they start."""

import re
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from servers import cli

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "server" / "deploy"
DOCUMENTS = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))


def find(kind: str) -> dict:
    return next(document for document in DOCUMENTS if document["kind"] == kind)


@pytest.mark.parametrize("version", ["1.31", "1.34", "1.37"])
@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda document: f"{document['kind']} {document['metadata']['name']}"
)
def test_valid(document, version):
    kubernetes_validate.validate(document, version, strict=True)


def test_the_validator_refuses_what_is_wrong():
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**find("Deployment"), "spec": {"replicas": "two"}}, "1.34", strict=True)


def test_the_arguments_are_those_of_the_command():
    container = find("Deployment")["spec"]["template"]["spec"]["containers"][0]
    command = cli(*container["args"], "--help")
    help_text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    flags = [argument for argument in container["args"] if argument.startswith("--")]
    assert flags and all(re.search(rf"{flag}\b(?!-)", help_text) for flag in flags)
    variables = [variable["name"] for variable in container["env"]]
    assert variables and all(re.search(rf"\b{name}\b", help_text) for name in variables)


def test_services_and_budgets_select_the_pods():
    labels = find("Deployment")["spec"]["template"]["metadata"]["labels"]
    selectors = [document["spec"]["selector"] for document in DOCUMENTS if "selector" in document["spec"]]
    assert len(selectors) == 4
    assert all(labels.items() >= selector.get("matchLabels", selector).items() for selector in selectors)


def test_the_image_is_the_one_that_the_dockerfile_says_how_to_build():
    image = find("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
    assert re.search(rf"docker build .* -t {re.escape(image)} ", (DEPLOY / "Dockerfile").read_text())
