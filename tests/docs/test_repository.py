"""The files that a public host reads are well-formed and ask for what we need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOST = ROOT / ".github"
FORMS = sorted(set((HOST / "ISSUE_TEMPLATE").glob("*.yml")) - {HOST / "ISSUE_TEMPLATE" / "config.yml"})


def load(file: Path) -> dict[str, Any]:
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("file", sorted(HOST.rglob("*.yml")), ids=lambda file: file.name)
def test_every_file_for_the_host_is_yaml_with_a_mapping(file: Path) -> None:
    assert load(file)


def test_linux_and_macos_run_the_two_commands_of_the_readme() -> None:
    job = load(HOST / "workflows" / "ci.yml")["jobs"]["test"]
    assert {name.partition("-")[0] for name in job["strategy"]["matrix"]["system"]} == {"ubuntu", "macos"}
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands == ["make demo", "make test"]
    for command in commands:
        assert command in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_wheel_is_built_and_searched_with() -> None:
    steps = load(HOST / "workflows" / "ci.yml")["jobs"]["package"]["steps"]
    commands = "\n".join(step.get("run", "") for step in steps)
    assert "uv build" in commands
    assert "cairn search" in commands


def test_workflows_may_only_read_the_repository() -> None:
    for file in (HOST / "workflows").glob("*.yml"):
        assert load(file)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_every_issue_form_has_a_name_and_fields_with_labels(file: Path) -> None:
    form = load(file)
    assert form["name"]
    assert form["description"]
    for field in form["body"]:
        assert field["type"] in {"input", "textarea"}
        assert field["attributes"]["label"]
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ["bug", "wrong-answer"])
def test_reports_of_problems_ask_for_what_the_doctor_finds(name: str) -> None:
    labels = [field["attributes"]["label"] for field in load(HOST / "ISSUE_TEMPLATE" / f"{name}.yml")["body"]]
    assert any("cairn doctor --json" in label for label in labels)
