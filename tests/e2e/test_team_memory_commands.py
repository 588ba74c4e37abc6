"""Memories of two laptops that a team's server carries, as people and an operator use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from postgres import find_programs, postgres
from team_installation import Installation, make_repository

_PROGRAMS = find_programs()
pytestmark = pytest.mark.skipif(_PROGRAMS is None, reason="needs PostgreSQL: apt install postgresql")


class Person:
    """Somebody with a laptop: a clone of the project, and a home of their own."""

    def __init__(self, installation: Installation, name: str, server: str) -> None:
        self.folder = installation.folder / name
        self.clone = self.folder / "shop"
        self.folder.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CAIRN_DAEMON": "false",
            **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE")},
        }
        subprocess.run(["git", "clone", "-q", installation.folder / "shop", self.clone], check=True)
        words = installation.run("token", name, "--scope", "read", "--scope", "write", "--json")
        installation.run("grant", name, "acme/shop", "--write")
        self.run("login", server, "--token-stdin", stdin=json.loads(words)["token"])

    def run(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        command = [sys.executable, "-m", "cairn", *arguments]
        result = subprocess.run(
            command, cwd=self.clone, env=self.environment, input=stdin, capture_output=True, text=True, check=False
        )
        assert result.returncode == code, result.stderr
        return result.stdout + result.stderr

    def memories(self) -> list[dict[str, Any]]:
        command = [sys.executable, "-m", "cairn", "memories", "--json"]
        result = subprocess.run(command, cwd=self.clone, env=self.environment, capture_output=True, check=False)
        rows: list[dict[str, Any]] = json.loads(result.stdout)["memories"]
        return rows


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    assert _PROGRAMS is not None
    folder = tmp_path_factory.mktemp("team")
    with postgres(_PROGRAMS) as server:
        made = Installation(server.address, folder)
        made.run("migrate")
        make_repository(folder / "shop", {"code.py": "def total(items):\n    return 0\n"})
        made.add("acme/shop", folder / "shop")
        made.run("worker", "--folder", str(folder / "work"), "--once")
        yield made


@pytest.fixture(scope="module")
def server(installation: Installation) -> Iterator[str]:
    with installation.serving() as found:
        yield found


def test_memories_reach_colleagues_and_an_operator_can_erase_them(
    installation: Installation, server: str, tmp_path: Path
) -> None:
    ada, bob = Person(installation, "ada", server), Person(installation, "bob", server)
    ada.run("remember", "--shared", "totals are in cents, never in euros")
    ada.run("remember", "a note of ada alone")
    assert "share it: cairn memories join" in ada.run("memories", "sync", code=2)
    assert "acme/shop" in ada.run("memories", "join", "acme/shop")
    assert bob.run("memories", "team", code=1).strip() == "Memories of this project are shared with no team."
    bob.run("memories", "join", "acme/shop")
    assert [(row["summary"], row["source"]) for row in bob.memories()] == [
        ("totals are in cents, never in euros", "team")
    ]
    status = json.loads(ada.run("memories", "team", "--json"))
    assert (status["project"], status["waiting"], status["sent"], status["problem"]) == ("acme/shop", 0, 1, "")

    (row,) = json.loads(installation.run("memories", "acme/shop", "--json"))["memories"]
    assert (row["people"], row["erased"]) == (["ada"], False)
    installation.run("memories", "--person", "ada", "--export", str(tmp_path / "ada.jsonl"))
    assert "in cents" in (tmp_path / "ada.jsonl").read_text()
    assert "alone" not in (tmp_path / "ada.jsonl").read_text()

    assert "name a project" in installation.run("memories", "--erase", code=2)
    assert "nobody is here to be asked" in installation.run("memories", "--person", "ada", "--erase", code=2)
    would = installation.run("memories", "--person", "ada", "--erase", "--dry-run")
    assert row["memory"] in would
    assert "Would erase 1 memory." in would
    assert installation.run("memories", "--person", "ada", "--erase", "--yes").strip() == "Erased 1 memory."
    bob.run("memories", "sync")
    assert bob.memories() == []

    ada.run("remember", "--shared", "carts end after an hour")
    ada.run("memories", "sync")
    bob.run("memories", "sync")
    installation.run("revoke", "bob", "acme/shop")
    assert "there is no project acme/shop" in bob.run("memories", "sync", code=1)
    assert bob.memories() == []
    assert "Left acme/shop" in ada.run("memories", "leave")
    assert {row["summary"] for row in ada.memories()} == {"a note of ada alone", "carts end after an hour"}


def test_a_server_that_is_away_keeps_nobody_from_remembering(installation: Installation, server: str) -> None:
    eve = Person(installation, "eve", server)
    eve.run("memories", "join", "acme/shop")
    eve.run("logout", server)
    eve.run("remember", "--shared", "what waits")
    assert "login" in eve.run("memories", "sync", code=2)
    assert "1 event waits" in eve.run("memories", "team")


def test_a_project_with_memories_is_removed_only_if_somebody_confirms_it(
    installation: Installation, server: str
) -> None:
    gil = Person(installation, "gil", server)
    gil.run("memories", "join", "acme/shop")
    gil.run("remember", "--shared", "carts are emptied at night")
    gil.run("memories", "sync")
    installation.add("acme/other", installation.folder / "shop")
    assert installation.run("remove", "acme/other").strip() == "acme/other is gone."
    refused = installation.run("remove", "acme/shop", code=2)
    assert "shared in acme/shop would be gone for ever, and nobody is here to be asked" in refused
    assert "cairn team memories acme/shop --export FILE" in refused
    assert "by gil" in installation.run("memories", "acme/shop")
    assert installation.run("remove", "acme/shop", "--yes").strip() == "acme/shop is gone."
    assert "has no project acme/shop" in installation.run("remove", "acme/shop", code=1)
