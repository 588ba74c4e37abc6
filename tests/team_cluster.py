"""A team's parts on one machine for tests: a database of its own, objects in a folder, repositories, people."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.team.catalog import Catalog
from cairn.team.objects import Objects
from cairn.team.operator import Operator
from cairn.team.people import People
from cairn.team.tokens import token_hash
from cairn.team.worker import Worker
from postgres import Postgres, find_programs, postgres

PROGRAMS = find_programs()
needs_postgres = pytest.mark.skipif(PROGRAMS is None, reason="needs PostgreSQL: apt install postgresql")


class Team:
    """A database of its own on the server, with objects in a folder."""

    def __init__(self, server: Postgres, folder: Path, name: str) -> None:
        self.folder = folder
        owner = Catalog(server.address)
        with owner._pool.connection() as connection:
            connection.autocommit = True
            connection.execute(f"CREATE DATABASE {name}".encode())
        owner.close()
        self.address = server.address.replace("///postgres?", f"///{name}?")
        self.owner = Catalog(self.address)
        self.owner.migrate()
        self.operator = Operator(self.owner)
        self.people = People(self.owner)
        self.workers = Catalog(self.address, "cairn_worker")
        self.nodes = Catalog(self.address, "cairn_node")
        self.url = f"file://{folder}/bucket"
        self.objects = Objects(self.url)

    def worker(self, name: str = "w", lease: float = 60.0) -> Worker:
        place = self.folder / f"worker-{name}"
        return Worker(self.workers, self.objects, place, name, Settings(), timedelta(seconds=lease))

    def publish(self) -> None:
        worker = self.worker()
        while worker.look(timedelta(0)) and worker.work():
            pass

    def close(self) -> None:
        for catalog in (self.owner, self.workers, self.nodes):
            catalog.close()


@contextmanager
def running_team(folder: Path, *projects: str) -> Iterator[Team]:
    """Run a team on a server of its own for as long as the block lasts.

    Args:
        folder: of its objects and workers.
        projects: that it has from the start; there is no repository of them.
    """
    assert PROGRAMS is not None
    with postgres(PROGRAMS) as server:
        team = Team(server, folder, "team")
        for project in projects:
            team.operator.add_project(project, "file:///nowhere", "main")
        try:
            yield team
        finally:
            team.close()


class Repository:
    """A repository that workers fetch from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"file://{folder}"
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        result = subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, capture_output=True)
        return result.stdout.decode().strip()

    def commit(self, message: str, files: dict[str, str]) -> str:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")


def reader(team: Team, project: str = "acme/shop", person: str = "ada") -> bytes:
    """Return the hash of a token of somebody who may read a project."""
    token = token_hash(team.operator.new_token(person, 1))
    team.operator.grant(person, project)
    return token
