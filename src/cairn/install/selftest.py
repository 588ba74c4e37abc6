"""Tests an installation like an agent would: runs the hook of a session's start, and asks the server for its tools."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from cairn.documents.document import parse_document
from cairn.errors import CairnError
from cairn.hints import Hint
from cairn.hooks.adapter import TEST_SESSION, Adapter, Change, FileEntry, Item, Place, Whole
from cairn.hooks.agents import NAMES
from cairn.hooks.commands import hook_command, iter_commands, mentions_cairn
from cairn.hooks.entry import VARIABLES
from cairn.hooks.report import Reply, Report
from cairn.install.files import read_content, real_path

Part = Literal["files", "hooks", "mcp"]

_HOOK_SECONDS, _SERVER_SECONDS = 20.0, 60.0
_USUAL = "session-start"
_TRIES = 4  # the daemon may first have to open the project, for which a real hook would not wait
_LOGS = Hint("it may say why", "daemon logs")


class SelfTestResult(NamedTuple):
    """The test result of a part of an installation: a sentence, with what to do if it fails."""

    agent: str
    part: Part
    works: bool
    message: str
    hint: str = ""


class SelfTest:
    """Tests an installation. Each server is started only once, since many agents have the same.

    Args:
        place: where Cairn is installed.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._servers: dict[tuple[str, ...], str] = {}

    def try_agent(self, adapter: Adapter) -> list[SelfTestResult]:
        """Test the hooks and the MCP server of an agent as its files now have them."""
        changes = adapter.changes(self._place)
        values = list(_iter_ours(changes, self._place))
        results = []
        if adapter.events and adapter.first_payload:
            by_plugin = _has_plugin(changes, self._place)
            results.append(_try_hook(adapter, self._place, values, by_plugin=by_plugin))
        servers = [words for value in values for words in iter_commands(value) if isinstance(words, tuple)]
        if servers:
            results.append(self._try_server(adapter, servers[0]))
        return results

    def _try_server(self, adapter: Adapter, words: tuple[str, ...]) -> SelfTestResult:
        if words != (*self._place.command, "mcp"):
            message = f"the files of {adapter.title} start the MCP server in their own way, so it was not tried"
            return SelfTestResult(adapter.name, "mcp", True, message)
        if (missing := _missing_program(self._place)) is not None:
            return SelfTestResult(adapter.name, "mcp", False, *missing)
        if words not in self._servers:
            try:
                n_tools = len(list_tools(words, str(self._place.root), _environment(self._place)))
            except (OSError, ValueError, LookupError, TypeError) as error:
                return SelfTestResult(
                    adapter.name, "mcp", False, f"the MCP server does not list its tools: {error}", _LOGS
                )
            self._servers[words] = f"the MCP server lists {n_tools} tools"
        return SelfTestResult(adapter.name, "mcp", True, self._servers[words])


def _iter_ours(changes: Sequence[Change], place: Place) -> Iterator[Any]:
    """Yield the values in an agent's files that start Cairn in any way."""
    for change in changes:
        try:
            content = read_content(real_path(change.file, place))
            if isinstance(change, Whole):
                yield _json_of(change, content)
            elif isinstance(change, FileEntry | Item) and content is not None:
                found = parse_document(content, change.format, str(change.file)).get(change.path, None)
                values = found if isinstance(change, Item) and isinstance(found, list) else [found]
                yield from (value for value in values if mentions_cairn(value))
        except CairnError:
            continue  # the file has been named already


def _json_of(change: Whole, content: bytes | None) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(content) if content is not None and change.file.suffix == ".json" else None
    except ValueError:
        return None


# -- hooks -------------------------------------------------------------------------------------------------------------


def _has_plugin(changes: Sequence[Change], place: Place) -> bool:
    """Tell whether there is a plugin, which runs the hook itself, so that no file has its command."""
    for change in changes:
        if isinstance(change, Whole) and change.file.suffix == ".ts":
            with suppress(CairnError):  # the file has been named already
                return read_content(real_path(change.file, place)) is not None
    return False


def _try_hook(adapter: Adapter, place: Place, values: Sequence[Any], *, by_plugin: bool) -> SelfTestResult:
    def fail(message: str, hint: str = _LOGS) -> SelfTestResult:
        return SelfTestResult(adapter.name, "hooks", False, message, hint)

    event = _USUAL if _USUAL in adapter.events else next(iter(adapter.events))
    # Agents that share a file have each other's hooks in it.
    known = [hook_command(place, event, name) for name in dict.fromkeys((adapter.name, *NAMES))]
    written = [words.strip() for value in values for words in iter_commands(value) if isinstance(words, str)]
    command = next((command for command in known if command in written), known[0] if by_plugin else "")
    if not command:  # never run anything else that a repository may bring
        return fail(
            f"the files of {adapter.title} lack Cairn's hook for {event}, or have another", _again(adapter, place)
        )
    if (missing := _missing_program(place)) is not None:
        return fail(*missing)
    for _ in range(_TRIES):
        try:
            code, output = _run(command, adapter, place)
        except subprocess.TimeoutExpired:
            return fail(f"the hook does not end within {_HOOK_SECONDS:.0f} s")
        except OSError as error:
            return fail(f"the hook cannot be started: {error.strerror}")
        if code != 0:
            return fail(f"the hook exits with {code}")
        wrong = _what_is_wrong(adapter, event, output)
        if not wrong:
            return SelfTestResult(adapter.name, "hooks", True, "the hook answers")
    return fail(wrong)


def _run(command: str, adapter: Adapter, place: Place) -> tuple[int, str]:
    payload = payload_of(adapter, str(place.root))
    environment = {**_environment(place), **adapter.first_environment}
    ended = subprocess.run(
        ["/bin/sh", "-c", command], input=payload, capture_output=True, text=True, check=False, errors="replace",
        cwd=place.root, env=environment, timeout=_HOOK_SECONDS,
    )  # fmt: skip
    return ended.returncode, ended.stdout


def payload_of(adapter: Adapter, folder: str) -> str:
    """Return an agent's hook input at the start of a session in a folder."""
    text = json.dumps(adapter.first_payload)
    return text.replace('"SESSION"', json.dumps(TEST_SESSION)).replace('"FOLDER"', json.dumps(folder))


def _what_is_wrong(adapter: Adapter, event: str, output: str) -> str:
    """Return why the agent would not understand an output; empty if it would."""
    takes_context = "context" in adapter.abilities.get(event, ())
    report = Report(TEST_SESSION, adapter.name, event, 0.0, "", adapter.first_environment, adapter.first_payload)
    shape = adapter.answer(report, Reply(context="x" if takes_context else ""))
    if takes_context and output.strip() in ("", "{}"):
        return "the hook runs, but Cairn does not answer it"
    if _form(output) != _form(shape):
        return f"the hook answers in a way that {adapter.title} does not understand: {output[:100]!r}"
    return ""


def _form(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return the keys of a JSON document without its values; of another text, whether it is empty."""
    try:
        return _names(json.loads(text))
    except ValueError:
        return bool(text.strip())


def _names(value: Any) -> Any:  # noqa: ANN401 - JSON
    return {name: _names(inner) for name, inner in value.items()} if isinstance(value, dict) else type(value).__name__


def _again(adapter: Adapter, place: Place) -> Hint:
    return Hint.of("init", agent=adapter.name, user=place.level == "user")


def _missing_program(place: Place) -> tuple[str, Hint] | None:
    """Return the problem if the program is missing, about which the command itself would be silent."""
    program = place.command[0]
    if shutil.which(program, path=place.environment.get("PATH", os.defpath)):
        return None
    where = "there" if os.sep in program else "on your PATH"
    here = os.path.dirname(sys.executable)
    known = f"add {here} to your PATH" if shutil.which("cairn", path=here) else "uv tool install codecairn"
    return f"`{program}` is not {where}", Hint(f"{known}; then", "init")


def _environment(place: Place) -> dict[str, str]:
    """Return the environment that an agent would set, without that of the agent that may be running this."""
    return {name: value for name, value in place.environment.items() if name not in VARIABLES}


# -- the server --------------------------------------------------------------------------------------------------------


def list_tools(words: Sequence[str], folder: str, environment: Mapping[str, str]) -> list[str]:
    """Start an MCP server like an agent, and return the names of its tools.

    Raises:
        OSError: if it cannot be started.
        ValueError, LookupError, TypeError: if it does not answer as it should.
    """
    first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "cairn-init", "version": "1"}}
    with subprocess.Popen(
        list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder,
        env=dict(environment),
    ) as process:  # fmt: skip
        timer = threading.Timer(_SERVER_SECONDS, process.kill)
        timer.start()
        try:
            _ask(process, 1, "initialize", first)
            tools = _ask(process, 2, "tools/list", {})["tools"]
            return [str(tool["name"]) for tool in tools]
        finally:
            timer.cancel()
            process.kill()


def _ask(process: subprocess.Popen[bytes], number: int, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    if process.stdin is None or process.stdout is None:
        raise ValueError("it has no streams")
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
    process.stdin.flush()
    while line := process.stdout.readline():
        reply = json.loads(line)
        if reply.get("id") == number:
            return reply["result"]
    raise ValueError("it ends at once")
