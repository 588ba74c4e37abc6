"""A project's texts are improved by its chat model, used by agents and summaries, and taken back."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cairn.cli.main import main
from cairn.config import Settings
from cairn.daemon.app import create_app
from cairn.errors import BusyError
from cairn.mcp.http import mcp_routes
from cairn.mcp.project import Project
from cairn.mcp.surface import Surface
from cairn.mcp.tools import SEARCH, descriptions
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.summaries import SYSTEM, read_meter
from cairn.memory_settings import MemorySettings
from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.run import RunPlan
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.search.tuning import SHIPPED, tuning_file
from cairn.source.text import estimate_tokens
from cairn.waiting import Asker
from cairn.workspace import Workspace
from chat_server import ChatServer
from serving import TOKEN, Served, serving
from small_projects import THINGS, write_things

# Words of the users' own, each too rare to be learned by counting.
SLANG = {f"{start}{name[:4]}": name for name in THINGS for start in ("zor", "kli", "tro", "van", "qui")}
FORMS = ("how does the {} start", "limits of the {}")
BETTER = "Find code in this project; call it first of all for any question about where or how."


def answer(system: str, question: str) -> str:
    """Answer as a model does that calls a tool whose description tells it to."""
    if system.startswith("You improve one text"):
        name = json.loads(question)["name"]
        lines = [f"{word}: {name}" for word, name in SLANG.items()]
        return json.dumps({"text": "\n".join(lines) if name == "rewrites" else BETTER})
    return json.dumps({"tool": "search" if "call it first of all" in system else "shell"})


@pytest.fixture
def server() -> Iterator[ChatServer]:
    server = ChatServer(script=answer)
    yield server
    server.close()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Workspace]:
    write_things(tmp_path)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


def settings_for(server: ChatServer) -> MemorySettings:
    return MemorySettings(
        chat_provider="ollama", chat_model="tiny", chat_url=server.url, chat_price_per_million_tokens=1
    )


def report(workspace: Workspace, session: str, event: str, text: str = "", call: ToolCall | None = None) -> None:
    second = float(report.__dict__.setdefault("n", 1_700_000_000))
    report.__dict__["n"] = second + 1
    moment = Moment(f"{event} {second}", event, session, "claude-code", second, text, call)
    workspace.memory.take(moment, shows=False)


def shown_tools(root: Path) -> list[dict[str, Any]]:
    async def roots() -> list[str]:
        return []

    project = Project(str(root), StateFolder(root / "of-the-user"), roots)
    surface = Surface(None, project.root, None, project.texts)  # type: ignore[arg-type] # nobody is asked
    return list(asyncio.run(surface.handle("tools/list", {}))["tools"])


def described(root: Path) -> str:
    return next(str(tool["description"]) for tool in shown_tools(root) if tool["name"] == "search")


def test_a_better_description_of_a_tool_reaches_agents_and_is_taken_back(
    project: Workspace, server: ChatServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(44):
        session = f"claude-code:{number}"
        report(project, session, "prompt", f"tell me where the {number}th thing of all is kept")
        report(project, session, "after-tool", call=ToolCall("mcp", "mcp__cairn__search", "thing", "ok"))
    for name, value in (("PROVIDER", "openai"), ("MODEL", "tiny"), ("URL", server.url)):
        monkeypatch.setenv(f"CAIRN_MEMORY_CHAT_{name}", value)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    place = ["-C", str(project.root)]
    assert main([*place, "optimize", "run", "--text-calls", "200"]) == 0
    printed = capsys.readouterr().out
    assert "tools: better, 0.000 -> 1.000" in printed
    assert "rewrites: as before: there are 0 examples; 40 are needed" in printed
    assert described(project.root) == BETTER
    assert estimate_tokens(len(json.dumps({"tools": shown_tools(project.root)}))) < 2_500
    meter = read_meter(project.memory.store)
    assert meter.n_calls == len(server.requests)
    assert main([*place, "optimize", "diff", "0", "1"]) == 0
    assert "texts.tool.search" in capsys.readouterr().out
    assert main([*place, "optimize", "rollback"]) == 0
    assert described(project.root) == SEARCH.description


def test_words_of_users_are_learned_from_a_chat_model_and_asked_of_nobody_later(
    project: Workspace, server: ChatServer
) -> None:
    given = [
        Example(form.format(word), (WantedFile(f"{name}.py"),), group=f"s{turn}", seconds=float(turn))
        for turn, form in enumerate(FORMS)
        for word, name in SLANG.items()
    ]
    with Workspace.open(project.root, settings=Settings(memory=settings_for(server))) as workspace:
        version = workspace.tuning.run(RunPlan(), given=given, text_calls=100)
        n_asked = len(server.requests)
        workspace.tuning.versions.apply(version.number)
        found = [workspace.search(f"open the {word}").code[0].path for word in SLANG]
    assert version.report["text"]["rewrites"]["gain"]["low"] > 0.2
    assert found == [f"{name}.py" for name in SLANG.values()]
    assert len(server.requests) == n_asked > 0


def test_words_that_all_lead_to_one_file_are_not_used(project: Workspace) -> None:
    def one_sided(system: str, question: str) -> str:
        return json.dumps({"text": "\n".join(f"{word}: wallet" for word in SLANG)})

    given = [
        Example(form.format(word), (WantedFile("wallet.py"),), group=f"s{turn}", seconds=float(turn))
        for turn, form in enumerate(FORMS)
        for word in SLANG
    ]
    own = ChatServer(script=one_sided)
    with Workspace.open(project.root, settings=Settings(memory=settings_for(own))) as workspace:
        version = workspace.tuning.run(RunPlan(), given=given, text_calls=100)
    own.close()
    assert not version.report["text"]["rewrites"]["passed"]


def test_a_run_that_was_ended_does_not_pay_again_for_what_it_had_asked(project: Workspace) -> None:
    for number in range(44):
        report(project, f"claude-code:{number}", "prompt", f"tell me where the {number}th thing of all is kept")
        call = ToolCall("mcp", "mcp__cairn__search", "thing", "ok")
        report(project, f"claude-code:{number}", "after-tool", call=call)
    asker = Asker()

    def until_ended(system: str, question: str) -> str:
        if len(own.requests) == 25:
            asker.leave()
        return answer(system, question)

    own = ChatServer(script=until_ended)
    with Workspace.open(project.root, settings=Settings(memory=settings_for(own))) as workspace:
        workspace.tuning.tools = descriptions()
        with pytest.raises(BusyError), asker.serve():
            workspace.tuning.run(RunPlan(), text_calls=200)
        assert len(own.requests) == 25
        version = workspace.tuning.run(RunPlan(), text_calls=200)
    own.close()
    assert version.report["text"]["tools"]["passed"]
    different = {json.dumps(body["messages"]) for _, body, _ in own.requests}
    assert len(different) > 50
    assert len(own.requests) - len(different) <= 10


def test_without_a_chat_model_or_without_leave_texts_stay_and_the_run_says_so(
    project: Workspace, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", str(project.root), "optimize", "run"]) == 1
    assert "texts are as they were: no chat model is configured" in capsys.readouterr().out
    with Workspace.open(project.root, settings=Settings(memory=settings_for(server))) as workspace:
        version = workspace.tuning.run(RunPlan(), text_calls=0)
    assert version.report["text"] == {"skipped": "it was not asked for"}
    assert server.requests == []


def test_sessions_are_summed_up_by_the_instructions_of_the_tuning(project: Workspace, server: ChatServer) -> None:
    own = f"{SYSTEM}\nName every file."
    for texts in ({"summary": own}, {}):
        number = project.tuning.versions.add(SHIPPED._replace(texts=texts), "proposed", {}).number
        project.tuning.versions.apply(number)
        with Workspace.open(project.root, settings=Settings(memory=settings_for(server))) as workspace:
            session = f"claude-code:{number}"
            report(workspace, session, "prompt", "explain the wallet")
            report(workspace, session, "after-tool", call=ToolCall("read", "Read", "wallet.py", "ok"))
            report(workspace, session, "session-end")
            assert workspace.memory.summaries is not None
            workspace.memory.summaries.wait(10)
        assert server.requests[-1][1]["messages"][0]["content"] == texts.get("summary", SYSTEM)


def test_texts_that_somebody_else_wrote_or_that_are_too_long_are_not_used(project: Workspace) -> None:
    longer = BETTER * 6
    number = project.tuning.versions.add(SHIPPED._replace(texts={"tool.search": longer}), "proposed", {}).number
    project.tuning.versions.apply(number)
    assert described(project.root) == SEARCH.description
    number = project.tuning.versions.add(SHIPPED._replace(texts={"tool.search": BETTER}), "proposed", {}).number
    project.tuning.versions.apply(number)
    assert described(project.root) == BETTER
    file = tuning_file(project.state)
    file.write_text(file.read_text().replace("first of all", "above all"))
    assert described(project.root) == SEARCH.description


def use_better_description(project: Workspace) -> None:
    number = project.tuning.versions.add(SHIPPED._replace(texts={"tool.search": BETTER}), "proposed", {}).number
    project.tuning.versions.apply(number)


def test_an_agent_in_a_linked_worktree_reads_the_descriptions_of_its_project(tmp_path: Path) -> None:
    main_checkout, linked, stranger = (tmp_path / name for name in ("main", "linked", "stranger"))
    main_checkout.mkdir()
    git = ["git", "-C", str(main_checkout), "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (
        ["init", "-q"],
        ["commit", "-qm", "first", "--allow-empty"],
        ["worktree", "add", "-q", str(linked)],
    ):
        subprocess.run([*git, *arguments], check=True)
    with Workspace.open(main_checkout) as workspace:
        use_better_description(workspace)
    assert described(linked) == BETTER
    # It says that it is a worktree of the project, which knows nothing of it.
    stranger.mkdir()
    (stranger / ".git").write_text((linked / ".git").read_text())
    assert described(stranger) == SEARCH.description


def test_agents_over_http_read_the_descriptions_of_the_only_project(project: Workspace, tmp_path: Path) -> None:
    use_better_description(project)
    other = tmp_path / "other"
    other.mkdir()
    for roots, expected in (([project.root], BETTER), ([project.root, other], SEARCH.description)):
        folder = StateFolder(tmp_path / f"state of {len(roots)}")
        for root in roots:
            Registry(folder).add(root, root.name)
        app = create_app(Settings(), folder=folder, token=TOKEN, extensions=[mcp_routes])
        with serving(app) as served:
            assert described_over_http(served) == expected


def described_over_http(served: Served) -> str:
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    address = f"http://127.0.0.1:{served.port}/mcp"
    reply = httpx.post(address, json=message, headers=headers, timeout=60)
    assert reply.status_code == 200, reply.text
    line = next(line for line in reply.text.splitlines() if '"tools"' in line)
    tools = json.loads(line.removeprefix("data: "))["result"]["tools"]
    return next(str(tool["description"]) for tool in tools if tool["name"] == "search")
