from __future__ import annotations

from pathlib import Path

import pytest

from cairn.config import load
from cairn.errors import ConfigError
from cairn.model_detection import detect_provider
from cairn.model_settings import ModelSettings

ASKS = "embedding:\n  provider: auto\n"


def program(folder: Path, name: str) -> None:
    file = folder / name
    file.write_text("#!/bin/sh\nexit 1\n")
    file.chmod(0o755)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return the variables of somebody who has nothing."""
    (tmp_path / "bin").mkdir()
    return {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin"), "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "XDG_STATE_HOME": str(tmp_path / "state")}  # fmt: skip


def test_the_first_of_github_openai_google_and_ollama_that_is_at_hand_is_found(home: dict[str, str]) -> None:
    assert detect_provider(home) == "bundled"
    program(Path(home["PATH"]), "ollama")
    assert detect_provider(home) == "ollama"
    assert detect_provider({**home, "GEMINI_API_KEY": "k"}) == "google"
    assert detect_provider({**home, "GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"}) == "openai"
    assert detect_provider({**home, "OPENAI_API_KEY": "k", "GH_TOKEN": "t"}) == "github"
    assert detect_provider({**home, "OPENAI_API_KEY": " "}) == "ollama"


def test_gh_counts_once_it_has_logged_in(home: dict[str, str]) -> None:
    program(Path(home["PATH"]), "gh")
    assert detect_provider(home) == "bundled"
    hosts = Path(home["XDG_CONFIG_HOME"]) / "gh" / "hosts.yml"
    hosts.parent.mkdir(parents=True)
    hosts.write_text("github.com:\n    user: x\n")
    assert detect_provider(home) == "github"


def test_nothing_is_looked_for_unless_the_user_asks(home: dict[str, str]) -> None:
    variables = {**home, "GH_TOKEN": "t", "OPENAI_API_KEY": "k"}
    assert load(None, variables).settings.chain == ()
    assert [model.name for model in load(None, {**variables, "CAIRN_EMBEDDING_PROVIDER": "auto"}).settings.chain] == [
        "github:openai/text-embedding-3-small"
    ]


def test_the_users_file_may_ask_for_detection(home: dict[str, str]) -> None:
    file = Path(home["XDG_CONFIG_HOME"]) / "cairn" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(ASKS)
    assert load(None, home).settings.chain == ()
    assert [model.name for model in load(None, {**home, "GEMINI_API_KEY": "k"}).settings.chain] == [
        "google:gemini-embedding-001"
    ]


def test_a_project_that_asks_for_detection_needs_an_answer_to_what_was_found(
    home: dict[str, str], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / ".cairn").mkdir(parents=True)
    (project / ".cairn" / "config.yaml").write_text(ASKS)
    variables = {**home, "GITHUB_TOKEN": "t"}
    settings, request = load(project, variables)
    assert settings.chain == ()
    assert request is not None
    assert "github:openai/text-embedding-3-small at https://models.github.ai/inference" in request.words
    assert "the key in GITHUB_TOKEN" in request.words
    request.settle(allowed=True)
    assert [model.provider for model in load(project, variables).settings.chain] == ["github"]
    assert load(project, {**home, "OPENAI_API_KEY": "k"}).settings.chain == ()


def test_a_model_that_is_opened_has_a_provider() -> None:
    with pytest.raises(ConfigError, match="must name a provider"):
        ModelSettings("auto", "m")
