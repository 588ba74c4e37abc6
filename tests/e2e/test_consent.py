"""A project that asks for an embedding model: what its user is asked, and what is sent before and after."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import in_process
from embedding_server import EmbeddingServer
from terminal import run_on_terminal

SECONDS = 60


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as one:
        yield one


@pytest.fixture
def project(tmp_path: Path, server: EmbeddingServer) -> Path:
    root = tmp_path / "project"
    (root / ".cairn").mkdir(parents=True)
    (root / "a.py").write_text('def total(prices):\n    """Add up the prices."""\n    return sum(prices)\n')
    (root / ".cairn" / "config.yaml").write_text(
        f"embedding:\n  provider: openai\n  model: m\n  url: {server.url}/v1\n  query_timeout_seconds: 2\n"
    )
    return root


def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "OPENAI_API_KEY": "sk-none", "CAIRN_DAEMON": "0"}


def cairn(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal."""
    return in_process.cairn(*arguments, cwd=root, environment=environment(root.parent))


def at_terminal(root: Path, typed: str, *arguments: str) -> str:
    """Run `cairn index` on a terminal, type something there, and return what it showed."""
    command = [sys.executable, "-m", "cairn", "index", *arguments]
    return run_on_terminal(command, root, typed=typed, environment=environment(root.parent))[1]


def test_nothing_is_sent_and_nothing_asked_without_a_terminal(project: Path, server: EmbeddingServer) -> None:
    done = cairn(project, "index")
    assert done.returncode == 0
    assert f"{project}/.cairn/config.yaml asks for openai:m at {server.url}/v1" in done.stderr
    assert "cairn index" in done.stderr
    assert "asks for openai:m" in cairn(project, "search", "how are prices added").stderr
    assert f"asks for    openai:m at {server.url}/v1" in cairn(project, "status").stdout
    assert cairn(project, "index", "--ask").returncode == 2
    assert server.asked == []


def test_a_yes_is_asked_for_once_and_sends_the_code_to_that_server(project: Path, server: EmbeddingServer) -> None:
    shown = at_terminal(project, "y\n")
    assert f"openai:m at {server.url}/v1" in shown
    assert "Allow it for this project? [y/N]" in shown
    assert any("Add up the prices" in text for text in server.texts)
    assert "Allow it" not in at_terminal(project, "")
    done = cairn(project, "search", "how are prices added")
    assert "asks for" not in done.stderr
    assert "how are prices added" in server.texts[-1]
    server.asked.clear()
    config = project / ".cairn" / "config.yaml"
    config.write_text(config.read_text().replace("model: m", "model: n"))
    assert "asks for openai:n" in cairn(project, "search", "how are prices added").stderr
    assert "embedding" not in cairn(project, "index", "--json").stdout.replace('"embedding": []', "")
    assert not any("Add up the prices" in text for text in server.texts)


@pytest.mark.parametrize("typed", ["n\n", "\n", "maybe\n"])
def test_all_but_a_yes_sends_nothing_and_is_not_asked_again_unless_wanted(
    project: Path, server: EmbeddingServer, typed: str
) -> None:
    assert "Not allowed" in at_terminal(project, typed)
    assert "Allow it" not in at_terminal(project, "")
    assert "asks for" not in cairn(project, "search", "how are prices added").stderr
    assert server.asked == []
    assert "Allow it for this project?" in at_terminal(project, "y\n", "--ask")
    assert server.asked


def test_a_terminal_that_is_closed_is_no_answer(project: Path, server: EmbeddingServer) -> None:
    assert "Allow it" in at_terminal(project, "\x04")
    assert "Allow it" in at_terminal(project, "\x04")
    assert server.asked == []
