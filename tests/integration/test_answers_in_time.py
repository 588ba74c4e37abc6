"""An answer for which there was not enough time says so over MCP, over HTTP and on the command line."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn import __version__
from cairn.cli.here import answer_from_graph
from cairn.cli.main import main
from cairn.client import Client
from cairn.graph.patience import GraphPatience
from cairn.mcp.http import InProcess
from cairn.mcp.surface import Surface
from cairn.protocol import PROTOCOL_VERSION
from cairn.runtime import Runtime, StateFolder, environment_mark
from cairn.storage.lock import file_lock
from cairn.workspace import Workspace
from serving import TOKEN, Served, make_app, serving

RELATIONS = ("callers", "references", "subclasses", "importers", "tests", "impact")
SAID = "This is not all: after 0 s"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("folder") / "shop"
    root.mkdir()
    (root / "till.py").write_text("class Till:\n    pass\n")
    (root / "small.py").write_text("from till import Till\n\n\nclass Small(Till):\n    pass\n\n\nTill()\n")
    with Workspace.open(root) as workspace:
        workspace.index()
    return root


@pytest.fixture
def served(shop: Path) -> Iterator[Served]:
    """A daemon that the command line finds, and whose graph has no time at all."""
    folder = StateFolder.of_user()
    folder.create()
    app = make_app(folder.path, shop)
    asyncio.run(app.daemon.projects.run("shop", hurry))
    with serving(app) as daemon, file_lock(folder.lock, 5):
        where = ("127.0.0.1", daemon.port, __version__, PROTOCOL_VERSION, environment_mark())
        folder.write(Runtime(os.getpid(), "", *where), TOKEN)
        yield daemon
        folder.forget()


def hurry(workspace: Workspace) -> None:
    """Give neither a question nor what goes on after it any time: an hour is over at each look at the clock."""
    hours = itertools.count(0, 3_600)
    workspace.graph.current().patience = GraphPatience(seconds=0, least_files=0, steady=lambda: float(next(hours)))


def hurry_only_questions(workspace: Workspace) -> None:
    workspace.graph.current().patience = GraphPatience(seconds=0, least_files=0)


def test_over_http_what_was_not_read_is_counted(served: Served) -> None:
    for relation in RELATIONS:
        asked = {"project": "shop", "target" if relation == "importers" else "symbol": "Till"}
        status, document = served.ask("POST", f"/api/graph/{relation}", asked)
        assert status == 200
        assert document["unfollowed"]["files"] + document["unfollowed"]["definitions"] > 0
        assert [note for note in document["notes"] if note.startswith(SAID)]


def test_what_was_cut_is_whole_once_the_daemon_had_time(served: Served) -> None:
    asyncio.run(served.app.daemon.projects.run("shop", hurry_only_questions))
    asked = {"project": "shop", "symbol": "Till"}
    _, document = served.ask("POST", "/api/graph/callers", asked)
    assert document["unfollowed"]["files"] > 0
    for pause in (0.05 * 2**times for times in range(9)):  # a question stops what is done meanwhile
        time.sleep(pause)
        _, document = served.ask("POST", "/api/graph/callers", asked)
        if "unfollowed" not in document:
            break
    assert "unfollowed" not in document
    assert [link["filepath"] for link in document["links"]] == ["small.py"]


def test_a_context_is_cut_as_well_and_whole_once_the_daemon_had_time(served: Served) -> None:
    asyncio.run(served.app.daemon.projects.run("shop", hurry_only_questions))
    asked = {"project": "shop", "task": "class Till"}
    _, document = served.ask("POST", "/api/context", asked)
    assert SAID in document["items"][0]["text"]
    assert "small.py" not in document["items"][0]["text"]
    for pause in (0.05 * 2**times for times in range(9)):
        time.sleep(pause)
        _, document = served.ask("POST", "/api/context", asked)
        if SAID not in document["items"][0]["text"]:
            break
    assert SAID not in document["items"][0]["text"]
    assert "called by:\nsmall.py:8" in document["items"][0]["text"]


def test_an_agent_is_not_told_that_there_is_nothing(served: Served, shop: Path) -> None:
    surface = Surface(Client(InProcess(served.app)), str(shop))

    async def ask(relation: str) -> str:
        asked = {"name": "graph", "arguments": {"relation": relation, "symbol": "Till"}}
        answer = await surface.handle("tools/call", asked)
        return str(answer["content"][0]["text"])

    for relation in RELATIONS:
        text = asyncio.run(ask(relation))
        assert SAID in text
        assert "daemon" not in text
        assert "Nothing" not in text


@pytest.mark.usefixtures("served")
def test_the_command_line_does_not_say_that_there_is_nothing(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for relation in RELATIONS:
        assert main(["-C", str(shop), relation, "Till"]) == 0
        shown = capsys.readouterr()
        assert SAID in shown.out + shown.err
        assert "daemon start" not in shown.out + shown.err
        assert "Nothing" not in shown.out + shown.err
        assert main(["-C", str(shop), relation, "Till", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["unfollowed"]["seconds"] == 0


def test_without_a_daemon_the_command_line_says_that_one_goes_on_while_nobody_asks(shop: Path) -> None:
    options = argparse.Namespace(project=str(shop), state_dir=None, no_update=True)
    cut = {"notes": [SAID], "unfollowed": {"files": 1}}
    (said, on_daemon) = answer_from_graph(options, lambda _workspace, _bar: cut)["notes"]
    assert said == SAID
    assert (
        on_daemon == "A running daemon resolves the whole project while nobody asks; start it with: cairn daemon start"
    )
    assert answer_from_graph(options, lambda _workspace, _bar: {"notes": []})["notes"] == []
