"""The same question within the same tokens has the same hits in Python, over HTTP, on the command line and over MCP."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cairn.cli.main import main
from cairn.client import Client
from cairn.config import Settings
from cairn.daemon.app import create_app
from cairn.mcp.http import InProcess
from cairn.mcp.surface import report_nowhere
from cairn.mcp.tools import SEARCH, AgentCall, call
from cairn.operations import perform
from cairn.operations.search import merge_searches
from cairn.protocol.documents import SearchDocument
from cairn.protocol.requests import SearchRequest
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.source.text import estimate_tokens
from cairn.workspace import Workspace

BUDGETS = (120, 300, 800, 2_000)
QUERIES = ("where the tax is added to a price", "price_of_part_7", '"return price"', "callers of tax")
MODULE = "def tax(price):\n    return price * 1.2\n\n\n" + "".join(
    f'def price_of_part_{number}(text):\n    """Return the price “{number}” of a\tpart, with the tax added."""\n'
    f'    found = {{"a": "\\\\", "b": \'"{number}"\'}}\n    price = len(found)\n    return price + tax(price)\n\n\n'
    for number in range(30)
)


@dataclass
class Surfaces:
    """One project and the ways to ask it."""

    root: Path
    workspace: Workspace
    transport: InProcess
    run: Callable[[Any], Any]

    def over_http(self, query: str, max_tokens: int | None = None) -> bytes:
        body = json.dumps({"project": str(self.root), "query": query, "max_tokens": max_tokens}).encode()
        reply = self.run(self.transport.send("POST", "/api/search", body))
        assert reply.status == 200
        return bytes(reply.body)

    def over_mcp(self, query: str, max_tokens: int) -> str:
        request = SearchRequest(project=str(self.root), query=query, max_tokens=max_tokens)
        return str(self.run(call(SEARCH, AgentCall(Client(self.transport), report_nowhere), request)))

    def on_the_command_line(self, query: str, max_tokens: int) -> None:
        main(["search", query, "--max-tokens", str(max_tokens), "--json", "--no-daemon", "-C", str(self.root)])


@pytest.fixture(scope="module")
def surfaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surfaces]:
    root = tmp_path_factory.mktemp("prices") / "shop"
    root.mkdir()
    (root / "prices.py").write_text(MODULE, encoding="utf-8")
    state = StateFolder(tmp_path_factory.mktemp("daemon"))
    Registry(state).add(root, "shop")
    app = create_app(Settings(), folder=state)
    with Workspace.open(root) as workspace, asyncio.Runner() as runner:
        workspace.index()
        yield Surfaces(root, workspace, InProcess(app), runner.run)
        app.daemon.projects.close()


@pytest.mark.parametrize("max_tokens", BUDGETS)
@pytest.mark.parametrize("query", QUERIES)
def test_every_surface_has_the_same_hits_within_the_same_budget(
    surfaces: Surfaces, query: str, max_tokens: int, capsys: pytest.CaptureFixture[str]
) -> None:
    python = surfaces.workspace.search(query, max_tokens=max_tokens)
    http = surfaces.over_http(query, max_tokens)
    surfaces.on_the_command_line(query, max_tokens)
    command = capsys.readouterr().out.rstrip("\n")
    text = surfaces.over_mcp(query, max_tokens)
    ids = [hit["id"] for hit in json.loads(http)["code"]]
    assert ids
    assert [hit.id for hit in python.code] == ids
    assert [hit["id"] for hit in json.loads(command)["code"]] == ids
    assert re.findall(r"^prices\.py:.*\b(c_[0-9a-z.]+)\)$", text, re.MULTILINE) == ids
    whole = json.loads(surfaces.over_http(query))
    assert json.loads(http)["omitted"] == python.omitted == whole["omitted"] + len(whole["code"]) - len(ids)
    for sent in (http.decode(), command, text):
        assert estimate_tokens(len(sent)) <= max_tokens


def test_the_hit_at_which_the_room_ends_loses_its_preview_then_its_signature_then_all_but_its_place(
    surfaces: Surfaces,
) -> None:
    whole = json.loads(surfaces.over_http(QUERIES[0]))["code"][0]
    seen: list[frozenset[str]] = []
    for max_tokens in range(60, 400):
        shown = json.loads(surfaces.over_http(QUERIES[0], max_tokens))["code"][:1]
        fields = frozenset(name for hit in shown for name, value in hit.items() if value)
        if fields not in seen:
            seen.append(fields)
    place = frozenset(("id", "kind", "name", "filepath", "start_line", "end_line"))
    every = frozenset(whole)
    assert seen == [frozenset(), place, every - {"preview", "signature"}, every - {"preview"}, every]


def test_notes_go_before_the_best_hit_does_and_are_counted(surfaces: Surfaces) -> None:
    query = "callers of tax"  # which is said to be understood as a question
    answers = [json.loads(surfaces.over_http(query, max_tokens)) for max_tokens in range(60, 300)]
    without = [answer for answer in answers if answer["code"] and "notes" not in answer]
    assert without
    assert all(answer["omitted_notes"] == 1 for answer in without)
    assert all("omitted_notes" not in answer for answer in answers if "notes" in answer)


def test_several_projects_share_one_budget(surfaces: Surfaces) -> None:
    request = SearchRequest(query=QUERIES[0], max_tokens=800)
    document = perform(surfaces.workspace, "search", SearchRequest(query=QUERIES[0]))
    merged = merge_searches([("a", document), ("b", document)], request)
    assert estimate_tokens(len(json.dumps(merged))) <= 800
    assert len(merged["code"]) + merged["omitted"] == 2 * len(document["code"]) + 2 * document["omitted"]
    assert {hit["project"] for hit in merged["code"]} == {"a", "b"}


def test_the_time_that_an_answer_takes_does_not_decide_what_it_holds(surfaces: Surfaces) -> None:
    document: SearchDocument = perform(surfaces.workspace, "search", SearchRequest(query=QUERIES[0]))
    for max_tokens in range(200, 900, 7):
        request = SearchRequest(query=QUERIES[0], max_tokens=max_tokens)
        codes = []
        for took_ms in (1.0, 123_456.78):
            document["took_ms"] = took_ms
            codes.append(merge_searches([("a", document)], request)["code"])
        assert codes[0] == codes[1]
