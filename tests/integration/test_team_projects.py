"""The daemon and its tools for agents ask a team's server; what it answers is made by the operations themselves."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cairn.client import Client
from cairn.config import Settings
from cairn.daemon.app import Application
from cairn.errors import CairnError
from cairn.mcp.surface import Surface
from cairn.operations import perform
from cairn.protocol.documents import error_to_dict
from cairn.protocol.graph_requests import SymbolRequest
from cairn.protocol.requests import FetchRequest, OutlineRequest, ProjectRequest, SearchRequest
from cairn.protocol.table import decode_request
from cairn.remote.servers import SignIns, TeamServer
from cairn.runtime import StateFolder
from cairn.workspace import Workspace
from scripted_server import Asked, Reply, ScriptedServer, scripted
from serving import AsgiTransport, make_app

COMMIT = "c" * 40
TOKEN = "cairn_of_ada"
REMOTE = {"project": "acme/tools", "commit": COMMIT}
ROWS = [
    {"project": f"acme/{name}", "branch": "main", "default": True, "commit": COMMIT,
     "repository": f"git.example.org/acme/{name}"}
    for name in ("shop", "tools")
]  # fmt: skip


class Node:
    """Answers as a team's server does, about one folder whatever the project."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace.open(folder, settings=Settings())
        self.workspace.index()
        self.is_away = False

    def answer(self, asked: Asked) -> Reply:
        if self.is_away:
            return Reply(503, {"code": "busy", "message": "too many", "hint": ""})
        if asked.authorization != f"Bearer {TOKEN}":
            return Reply(401)
        if asked.path == "/api/projects":
            return Reply(document={"projects": ROWS})
        _, _, _, organisation, name, operation = asked.path.split("/", 5)
        try:
            document = perform(self.workspace, operation, decode_request(operation, json.loads(asked.body)))
        except CairnError as error:
            return Reply(404, error_to_dict(error))
        remote = {"project": f"{organisation}/{name}", "commit": COMMIT}
        if isinstance(document, list):
            return Reply(document=[{**item, "remote": remote} for item in document])
        return Reply(document={**document, "remote": remote})


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "rates.py").write_text("def exchange_rate(currency):\n    return lookup(currency)\n\n\n"
                                     "def lookup(currency):\n    return RATES[currency]\n")  # fmt: skip
    made = Node(folder)
    yield made
    made.workspace.close()


@pytest.fixture
def server(node: Node) -> Iterator[ScriptedServer]:
    with scripted(node.answer) as running:
        yield running


@pytest.fixture
def app(tmp_path: Path, server: ScriptedServer) -> Iterator[Application]:
    """A daemon with a project of its own, whose user is signed in."""
    mine = tmp_path / "shop"
    mine.mkdir()
    (mine / "cart.py").write_text("def rate_of_tax(cart):\n    return cart.rate\n")
    subprocess.run(["git", "init", "-q"], cwd=mine, check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@git.example.org:acme/shop.git"], cwd=mine, check=True)
    made = make_app(tmp_path / "state", mine)
    SignIns(StateFolder(tmp_path / "state")).keep(TeamServer(server.url, TOKEN))
    yield made
    made.daemon.projects.close()


def ask(app: Application, operation: str, request: ProjectRequest) -> Any:  # noqa: ANN401 - JSON
    return asyncio.run(Client(AsgiTransport(app)).call(operation, request))


def use(app: Application, tool: str, **arguments: object) -> str:
    """Return what an agent reads of a call."""
    surface = Surface(Client(AsgiTransport(app)), "shop")
    answer = asyncio.run(surface.handle("tools/call", {"name": tool, "arguments": arguments}))
    text: str = answer["content"][0]["text"]
    return text


def test_the_daemon_asks_the_server_and_marks_what_it_answers(app: Application) -> None:
    found = ask(app, "search", SearchRequest(query="exchange rate", project="acme/tools", session="s"))
    assert found["remote"] == REMOTE
    assert found["code"][0]["filepath"] == "rates.py"
    (text,) = ask(app, "fetch", FetchRequest(ids=(found["code"][0]["id"],), project="acme/tools"))
    assert text["remote"] == REMOTE
    assert "lookup(currency)" in text["text"]
    callers = ask(app, "graph/callers", SymbolRequest(symbol="lookup", project="acme/tools"))
    assert (callers["links"][0]["symbol"]["name"], callers["remote"]) == ("exchange_rate", REMOTE)
    assert ask(app, "outline", OutlineRequest(file="rates.py", project="acme/tools"))["remote"] == REMOTE


def test_a_session_is_not_sent_the_same_twice(app: Application) -> None:
    request = SearchRequest(query="exchange rate", project="acme/tools", session="s")
    assert "sent" not in ask(app, "search", request)["code"][0]
    assert ask(app, "search", request)["code"][0]["sent"]


def test_a_checkout_is_answered_by_the_daemon_itself(app: Application, server: ScriptedServer) -> None:
    found = ask(app, "search", SearchRequest(query="tax", project="acme/shop"))
    assert found["code"][0]["filepath"] == "cart.py"
    assert "remote" not in found
    assert "acme/shop is checked out at" in found["notes"][-1]
    assert {asked.method for asked in server.asked} == {"GET"}


def test_all_are_searched_at_once_and_the_best_come_first(app: Application) -> None:
    found = ask(app, "search", SearchRequest(query="exchange rate of a currency", project="all"))
    assert found["code"][0]["project"] == "acme/tools"
    assert {hit["project"] for hit in found["code"]} == {"acme/tools", "shop"}
    assert {hit["project"]: hit.get("remote") for hit in found["code"]} == {"acme/tools": REMOTE, "shop": None}
    assert "score" not in found["code"][0]


def test_agents_read_where_an_answer_is_from_and_how_to_go_on(app: Application) -> None:
    note = "Of acme/tools at cccccccccccc, not checked out here; ask on with project='acme/tools'."
    for tool, arguments in (
        ("search", {"query": "exchange rate"}),
        ("fetch", {"ids": ["rates.py#lookup"]}),
        ("outline", {"file": "rates.py"}),
        ("context", {"task": "exchange rate"}),
        ("graph", {"relation": "callers", "symbol": "lookup"}),
    ):
        text = use(app, tool, project="acme/tools", **arguments)
        assert text.endswith(note), text
        assert TOKEN not in text
    everywhere = use(app, "search", query="exchange rate", project="all")
    assert "[acme/tools] rates.py:1" in everywhere
    assert "Ask on about a hit with `project`: the name in brackets." in everywhere


def test_a_server_that_is_away_leaves_what_is_here(app: Application, node: Node) -> None:
    node.is_away = True
    found = ask(app, "search", SearchRequest(query="tax", project="all"))
    assert [hit["project"] for hit in found["code"]] == ["shop"]
    assert any("does not answer" in note for note in found["notes"])
    assert ask(app, "search", SearchRequest(query="tax", project="acme/shop"))["code"]
    text = use(app, "search", query="rate", project="acme/tools")
    assert text.startswith("error[team-away]: 127.0.0.1")


def test_sign_ins_that_cannot_be_trusted_leave_what_is_here(app: Application, tmp_path: Path) -> None:
    StateFolder(tmp_path / "state").servers.chmod(0o666)
    found = ask(app, "search", SearchRequest(query="tax", project="all"))
    assert [hit["project"] for hit in found["code"]] == ["shop"]
    assert any("servers.json" in note for note in found["notes"])


def test_what_an_agent_gets_wrong_is_told_as_everywhere(app: Application) -> None:
    assert use(app, "fetch", ids=["c_none"], project="acme/tools").startswith("error[not-found]")
    assert use(app, "search", query="x", project="acme/none").startswith("error[project]")
    assert use(app, "graph", relation="why", symbol="rates.py:1", project="acme/tools").startswith(
        "error[not-available]"
    )
    assert use(app, "graph", relation="impact", diff="HEAD", project="acme/tools").startswith("error[query]")


def test_after_signing_out_nothing_is_asked_any_more(app: Application, tmp_path: Path, server: ScriptedServer) -> None:
    ask(app, "search", SearchRequest(query="rate", project="acme/tools"))
    SignIns(StateFolder(tmp_path / "state")).forget(server.url)
    n_asked = len(server.asked)
    with pytest.raises(CairnError, match="no project on this machine is called"):
        ask(app, "search", SearchRequest(query="rate", project="acme/tools"))
    assert ask(app, "search", SearchRequest(query="tax", project="all"))["code"]
    assert len(server.asked) == n_asked


def test_a_project_here_asks_no_server(app: Application, server: ScriptedServer) -> None:
    assert ask(app, "search", SearchRequest(query="tax", project="shop"))["code"]
    assert server.asked == []
