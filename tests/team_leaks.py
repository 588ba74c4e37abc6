"""People who may read some projects ask for everything in all of them: whatever shows what they may not read is a leak.

Each project has words of its own in its name, its definitions and its commits, so any of them tells where it is from.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator, Iterator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette

from cairn.protocol.table import TEAM_OPERATIONS
from cairn.team.audit import AuditLog
from cairn.team.node import SearchNode
from cairn.team.server import TeamApi
from team_cluster import Repository, Team

_WORD = re.compile(r"(?:zn|zd|zm)[0-9a-f]{10}")  # of a name, of a definition, of a message
_TIMES = re.compile(r'"took_ms": ?[0-9.e-]+')
_ABSENT = "acme/zn0000000000"


class Project(NamedTuple):
    """A project: its name, and the words of its definitions and of its commit."""

    name: str
    definition: str
    message: str


class Company(NamedTuple):
    """Projects, and people with their tokens and the names of what each may read."""

    projects: list[Project]
    people: dict[str, tuple[str, frozenset[str]]]


def make_company(team: Team, folder: Path, n_people: int, n_projects: int, seed: int) -> Company:
    """Publish projects, and grant each to some people at random."""
    chance = random.Random(seed)
    projects = []
    for _ in range(n_projects):
        name, definition, message = (f"{kind}{chance.getrandbits(40):010x}" for kind in ("zn", "zd", "zm"))
        repository = Repository(folder / name)
        text = f"def {definition}(item):\n    return item\n\n\ndef use_{definition}():\n    return {definition}(1)\n"
        repository.commit(f"Add the {message}", {f"{definition}.py": text, "README.md": f"# About {definition}\n"})
        team.operator.add_project(f"acme/{name}", repository.url, "main")
        projects.append(Project(f"acme/{name}", definition, message))
    team.publish()
    people = {}
    for number in range(n_people):
        granted = frozenset(project.name for project in projects if chance.random() < number / max(1, n_people - 1))
        token = team.operator.new_token(f"person-{number}", 1, ["read", "write"])
        for name in granted:
            team.operator.grant(f"person-{number}", name, may_write=chance.random() < 0.5)
        people[f"person-{number}"] = token, granted
    return Company(projects, people)


class Question(NamedTuple):
    """A request about a project: what follows its name in the path, and the body."""

    method: str
    path: str
    body: bytes


def questions(about: Project) -> Iterator[Question]:
    """Yield every operation with what finds something in a project, and every way to ask for it wrongly."""
    word = about.definition
    values: dict[str, dict[str, Any]] = {
        "search": {"query": f"where is {word}", "explain": True},
        "similar": {"file": f"{word}.py", "line": 1},
        "fetch": {"ids": [f"{word}.py#{word}", f"{word}.py:1-2"]},
        "context": {"task": f"change {word}"},
        "outline": {"file": f"{word}.py"},
        "graph/path": {"source": f"use_{word}", "target": word},
        "graph/importers": {"target": f"{word}.py"},
        "history": {"query": about.message},
        "history/related": {"file": f"{word}.py"},
    }
    for operation in TEAM_OPERATIONS:
        yield _post(operation, values.get(operation, {"symbol": word}))
    for mode in ("symbol", "literal", "regex"):
        yield _post("search", {"query": word[:6], "mode": mode})
    yield _post("search", {"query": word, "branch": "main"})
    yield _post("search", {"query": word, "branch": "absent"})
    yield _post("search", {"query": word, "limit": -1})
    yield _post("search", {"query": word, "project": about.name})
    yield _post("search", {"query": ""})
    yield _post("outline", {"file": f"../{word}.py"})
    yield _post("graph/callers", {"symbol": f"{word[:-1]}_"})  # for which there are suggestions
    yield _post("absent", {"query": word})
    yield Question("POST", "search", b"{")
    yield Question("POST", "events", b'{"events": []}')
    yield Question("GET", "events", b"")


def _post(operation: str, values: dict[str, Any]) -> Question:
    return Question("POST", operation, json.dumps(values).encode())


class Asked:
    """Asks as people and keeps what leaked.

    Attributes:
        leaks: in words.
        n_requests: how many were made.
        n_answered: those with an answer about a project.
    """

    def __init__(self, company: Company, app: Starlette) -> None:
        self._company = company
        self._app = app
        self._same: dict[tuple[str, Question], str] = {}
        self._of_none: dict[tuple[str, str, str, str], tuple[int, str]] = {}
        self.leaks: list[str] = []
        self.n_requests = self.n_answered = 0

    async def ask(self, token: str, question: Question, project: str) -> tuple[int, str]:
        """Return the status and the text of an answer, without times."""
        url = f"/api/projects/{project}/{question.path}" if project else question.path
        status, text = await _call(self._app, question.method, url, question.body, token)
        self.n_requests += 1
        return status, _TIMES.sub("", text)

    async def ask_all(self) -> None:
        """Ask everything of everybody."""
        async for _ in self.ask_by_project():
            pass

    async def ask_by_project(self) -> AsyncIterator[int]:
        """Ask the same; yield the number of projects after each, all of which is asked at once: few are open then."""
        for person, (token, granted) in self._company.people.items():
            status, text = await self.ask(token, Question("GET", "/api/projects", b""), "")
            listed = {row["project"] for row in json.loads(text)["projects"]}
            if status != 200 or listed != granted:
                self.leaks.append(f"{person} is shown {len(listed)} projects of {len(granted)}")
            _, text = await self.ask(token, Question("GET", "/api/admin/state", b""), "")
            self._look(f"{person} state", text, set())
        for place, project in enumerate(self._company.projects):
            other = self._company.projects[place - 1]
            for person, (token, granted) in self._company.people.items():
                if project.name in granted:
                    await self._ask_allowed(person, token, project, other)
                else:
                    await self._ask_forbidden(person, token, project)
            for token in ("", "cairn_guessed"):
                await self._ask_unknown(token, project)
            yield place + 1

    async def _ask_allowed(self, person: str, token: str, project: Project, other: Project) -> None:
        """What one may read is answered the same to all who may, and with no word of any other project."""
        own = dict.fromkeys(questions(project))
        for question in own:
            status, text = await self.ask(token, question, project.name)
            self.n_answered += status == 200
            self._look(f"{person} {question.path} {project.name}", text, _words(project))
            if question.path != "events" and self._same.setdefault((project.name, question), text) != text:
                self.leaks.append(f"{person} gets another answer: {question.path} {project.name}")
        for question in (one for one in questions(other) if one not in own):  # its words in this project's place
            _, text = await self.ask(token, question, project.name)
            asked = set(_WORD.findall(question.body.decode()))
            self._look(f"{person} {question.path} {project.name} for another", text, _words(project) | asked)

    async def _ask_forbidden(self, person: str, token: str, project: Project) -> None:
        """What one may not read is like what does not exist."""
        for question in questions(project):
            found = await self.ask(token, question, project.name)
            absent = await self._absent(person, token, question)
            if (found[0], found[1].replace(project.name, _ABSENT)) != absent:
                self.leaks.append(f"{person} can tell {project.name} from none: {question.path}")
            asked = set(_WORD.findall(question.body.decode()))
            self._look(f"{person} {question.path} {project.name}", found[1], asked | {project.name.partition("/")[2]})

    async def _absent(self, person: str, token: str, question: Question) -> tuple[int, str]:
        """Return what somebody is told of a project that is not there; the same, whatever they look for in it."""
        asked = person, question.method, question.path, _WORD.sub("", question.body.decode())
        if asked not in self._of_none:
            self._of_none[asked] = await self.ask(token, question, _ABSENT)
        return self._of_none[asked]

    async def _ask_unknown(self, token: str, project: Project) -> None:
        for question in questions(project):
            status, text = await self.ask(token, question, project.name)
            if status not in (401, 404, 422) or _WORD.search(text):
                self.leaks.append(f"somebody unknown gets {status}: {question.path}")

    def _look(self, what: str, text: str, allowed: set[str]) -> None:
        if shown := set(_WORD.findall(text)) - allowed:
            self.leaks.append(f"{what} shows {', '.join(sorted(shown)[:3])}")


def _words(project: Project) -> set[str]:
    return {project.name.partition("/")[2], project.definition, project.message}


async def _call(app: Starlette, method: str, path: str, body: bytes, token: str) -> tuple[int, str]:
    """Return the status and the text of an answer: what a client would do besides costs more than most answers."""
    said: list[MutableMapping[str, Any]] = []
    headers = [(b"authorization", f"Bearer {token}".encode())] if token else []
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b"", "root_path": ""}

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message)

    await app(scope, receive, send)
    return said[0]["status"], b"".join(message.get("body", b"") for message in said).decode()


@asynccontextmanager
async def asking(team: Team, company: Company, folder: Path) -> AsyncIterator[Asked]:
    """Yield who asks a node of a team."""
    node = SearchNode(team.nodes, team.objects, folder / "leaks-node")
    audit = AuditLog(team.nodes)
    try:
        yield Asked(company, TeamApi(team.nodes, node, audit=audit).app())
    finally:
        audit.close()
        node.close()
