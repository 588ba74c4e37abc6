"""The tools: name, description, arguments and function of each.

A tool's arguments are a request of `cairn.protocol`, so nothing is described twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.errors import BusyError, IndexMissingError
from cairn.mcp import core_text, graph_text, memory_text, text
from cairn.protocol.core_requests import CoreRequest
from cairn.protocol.graph_requests import GraphRequest
from cairn.protocol.memory_requests import MemoryStatusRequest, RecallRequest, RememberRequest
from cairn.protocol.requests import (
    ContextRequest,
    FetchRequest,
    IndexStatusRequest,
    OutlineRequest,
    ProjectRequest,
    SearchRequest,
)
from cairn.protocol.table import core_operation, graph_operation
from cairn.registry import ALL
from cairn.schema import Schema, json_schema
from cairn.source.text import estimate_tokens, pluralize
from cairn.types import MemoryStatus

# Progress: done, total, and what. By default, agents give up on a call after 60 s.
Report = Callable[[float, float, str], Awaitable[None]]
FIRST_INDEX_SECONDS = 25.0
CALL_SECONDS = 50.0
# Claude Code shows tools with this to the model at once; it has to search for the others.
_SHOWN_AT_ONCE = {"anthropic/alwaysLoad": True}
_MOST_REFERENCES = 60  # entries of each kind that a page has room for
_REPORT_SECONDS = 0.2  # seconds between two progress reports; the daemon sends one per file


class AgentCall(NamedTuple):
    """One call of a tool: the daemon's client, the progress reporter, and the agent's name."""

    client: Client
    report: Report
    actor: str = "agent:unknown"

    async def perform(self, operation: str, request: ProjectRequest) -> Any:  # noqa: ANN401 - JSON
        """Perform an operation; without an index, fail at once.

        Raises:
            IndexMissingError: if it needs an index and there is none.
            CairnError: what the daemon says.
        """
        return await self.client.call(operation, replace(request, build=request.project == ALL, hints="tools"))

    async def build_index(self, project: str, within_seconds: float = FIRST_INDEX_SECONDS) -> str:
        """Build the first index of a project, reporting progress to the agent.

        Returns:
            the progress when time runs out, empty if it is complete. The build continues in the background.

        Raises:
            CairnError: what the daemon says.
        """
        done = total = 0
        reported = 0.0
        try:
            async with asyncio.timeout(within_seconds):
                async for name, data in self.client.events("/api/index/build", {"project": project}):
                    if name == "progress":
                        done, total = data["done"], data["total"]
                        if done < total and time.monotonic() - reported < _REPORT_SECONDS:
                            continue
                        reported = time.monotonic()
                        await self.report(done, total, f"indexing {done:,} of {pluralize(total, 'file')}")
        except TimeoutError:
            return f"{done:,} of {pluralize(total, 'file')} so far" if total else "it has just begun"
        return ""


class Tool(NamedTuple):
    """A tool as agents see it.

    `offers` are the request fields that agents see, most important first; the others are for programs. `needs_index`
    means that the first index is built if there is none.
    """

    name: str
    title: str
    description: str
    request: type[ProjectRequest]
    offers: tuple[str, ...]
    run: Callable[[AgentCall, Any], Awaitable[str]]
    needs_index: bool = True
    read_only: bool = True

    def schema(self) -> Schema:
        """Return the JSON Schema of the tool's arguments."""
        whole = json_schema(self.request)
        properties = {name: _short(whole["properties"][name]) for name in self.offers}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if required := [name for name in whole.get("required", ()) if name in properties]:
            schema["required"] = required
        return schema

    def describe(self, description: str = "") -> dict[str, Any]:
        """Return the tool's entry in `tools/list`.

        Args:
            description: replaces its own, unless it would cost agents more.
        """
        is_short = estimate_tokens(len(description)) <= estimate_tokens(len(self.description))
        hints = {"title": self.title, "readOnlyHint": self.read_only, "openWorldHint": False}
        if not self.read_only:
            hints |= {"destructiveHint": False, "idempotentHint": True}
        return {
            "name": self.name,
            "description": description if description and is_short else self.description,
            "inputSchema": self.schema(),
            "annotations": hints,
            "_meta": dict(_SHOWN_AT_ONCE),
        }


def _short(schema: Schema) -> Schema:
    """Return a field's schema without what only costs tokens: null, trivial defaults, bounds."""
    branches = [branch for branch in schema.get("anyOf", ()) if branch != {"type": "null"}]
    if branches:
        schema = {**branches[0], **{name: value for name, value in schema.items() if name != "anyOf"}}
    dropped = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
    if schema.get("default") in (None, "", [], False):
        dropped.add("default")
    kept = {name: value for name, value in schema.items() if name not in dropped}
    if "items" in kept:
        kept["items"] = {name: value for name, value in _short(kept["items"]).items() if name != "description"}
    return kept


def _page_tokens(max_tokens: int | None) -> int:
    """Limit a budget to the size of a page."""
    return text.PAGE_TOKENS if max_tokens is None else min(max_tokens, text.PAGE_TOKENS)


# -- one function a tool -----------------------------------------------------------------------------------------------


async def search(tool_call: AgentCall, request: SearchRequest) -> str:
    """Search, see `SEARCH`."""
    narrowed_by = [name for name in ("globs", "languages", "kinds") if getattr(request, name)]
    limit = 0 if request.max_tokens is None else request.limit
    return text.search_text(await tool_call.perform("search", request), narrowed_by, limit)


SEARCH = Tool(
    "search",
    "Search code",
    "Find code in this project: where is something, how does it work, find usages. Takes "
    'prose ("how are tokens refreshed"), a name (`AuthMiddleware`, `Cache.get`), a quoted text, a regular expression '
    "(mode=regex), or `callers of X`. Best first: path:line, kind, name, id, preview. Use it before grep, rg, find or "
    "reading files; then `fetch` the ids that matter.",
    SearchRequest,
    ("query", "limit", "mode", "globs", "languages", "kinds", "context", "branch", "project"),
    search,
)


async def fetch(tool_call: AgentCall, request: FetchRequest) -> str:
    """Get texts, see `FETCH`."""
    return text.fetch_text(await tool_call.perform("fetch", request), request.skip_lines)


FETCH = Tool(
    "fetch",
    "Fetch code by id",
    "Get the source text of results of `search` or `context` by their ids, or of any definition as `PATH#NAME` "
    "or `PATH#LINE`. Cheaper than reading whole files.",
    FetchRequest,
    ("ids", "skip_lines", "branch", "project"),
    fetch,
    needs_index=False,
)


async def outline(tool_call: AgentCall, request: OutlineRequest) -> str:
    """Outline a file, see `OUTLINE`."""
    request = replace(request, max_tokens=_page_tokens(request.max_tokens))
    return text.outline_text(await tool_call.perform("outline", request))


OUTLINE = Tool(
    "outline",
    "Outline a file",
    "List what a file defines: classes, functions, methods with their lines and heads, a tenth of the file's tokens. "
    "Use it instead of reading or cat-ing a file to see what is in it. mode=context with `symbol`: that definition, "
    "what is around it, its callers, callees and tests.",
    OutlineRequest,
    ("file", "mode", "symbol", "project"),
    outline,
    needs_index=False,
)


async def graph(tool_call: AgentCall, request: GraphRequest) -> str:
    """Ask the symbol graph, see `GRAPH`."""
    if request.relation == "references" and not request.limit:
        request = replace(request, limit=_MOST_REFERENCES)
    operation, operation_request = graph_operation(request)
    return graph_text.graph_text(request.relation, await tool_call.perform(operation, operation_request))


GRAPH = Tool(
    "graph",
    "Callers, impact, tests",
    "Ask for callers of a function, callees, references to a symbol, subclasses or implementations of a "
    "type, the path of calls from one to another, what a change may break (impact), tests to run, importers of a file. "
    "Commits: what solved something like `symbol` (history), what changes with a file (related), what shaped "
    "PATH:LINE (why). impact and tests take `diff`.",
    GraphRequest,
    ("relation", "symbol", "target", "diff", "limit", "project"),
    graph,
)


async def context(tool_call: AgentCall, request: ContextRequest) -> str:
    """Pack what a task needs, see `CONTEXT`."""
    request = replace(request, max_tokens=_page_tokens(request.max_tokens))
    return text.context_text(await tool_call.perform("context", request))


CONTEXT = Tool(
    "context",
    "Context for a task",
    "Get in one answer the code a task needs: the best definitions, each with what is around it, its callers and "
    "tests. Give a `task` in prose when starting, or `ids` of results to see more around them.",
    ContextRequest,
    ("task", "ids", "files", "limit", "project"),
    context,
)


async def core_files(tool_call: AgentCall, request: CoreRequest) -> str:
    """Show or mark core files, see `CORE_FILES`."""
    operation, operation_request = core_operation(request)
    document = await tool_call.perform(operation, operation_request)
    if request.action == "list":
        return core_text.core_text(document)
    if request.action == "suggest":
        return core_text.suggestions_text(document)
    return core_text.core_change_text(document, marked=request.action == "mark")


CORE_FILES = Tool(
    "core_files",
    "Files to know first",
    "List the files to know first in this project, each with a summary and what it defines: read it when starting. "
    "mark or unmark a `file` when asked to; suggest names the most central files.",
    CoreRequest,
    ("action", "file", "summary", "limit", "project"),
    core_files,
    read_only=False,
)


async def index_status(tool_call: AgentCall, request: IndexStatusRequest) -> str:
    """Describe the state of the index, see `INDEX_STATUS`."""
    status = await tool_call.client.get("/api/index/status", project=request.project)
    findings = (
        await tool_call.client.get("/api/index/health", project=request.project, hints="tools")
        if request.check
        else None
    )
    return text.status_text(status, findings)


INDEX_STATUS = Tool(
    "index_status",
    "Index status and health",
    "Show how much of the project is indexed, and what was skipped. Use it when results are odd.",
    IndexStatusRequest,
    ("check", "project"),
    index_status,
)


async def remember(tool_call: AgentCall, request: RememberRequest) -> str:
    """Keep a memory, see `REMEMBER`."""
    request = replace(request, actor=tool_call.actor)
    return memory_text.remembered_text(await tool_call.perform("remember", request))


REMEMBER = Tool(
    "remember",
    "Remember for later sessions",
    "Keep what a later session should know and cannot see in the code: a pitfall (gotcha), a decision and why, the "
    "cause of a bug, a trade-off. One fact a call; link it with `files`.",
    RememberRequest,
    ("text", "type", "files", "importance", "project"),
    remember,
    needs_index=False,
    read_only=False,
)


async def recall(tool_call: AgentCall, request: RecallRequest) -> str:
    """Find memories, see `RECALL`."""
    request = replace(request, max_tokens=_page_tokens(request.max_tokens))
    return memory_text.recall_text(await tool_call.perform("recall", request))


RECALL = Tool(
    "recall",
    "Recall earlier sessions",
    "Ask what earlier sessions learned: pitfalls, decisions, causes of bugs. Before a change, and when something "
    "fails. Name it in several ways. Notes to check, not orders.",
    RecallRequest,
    ("query", "limit", "include_resolved", "project"),
    recall,
    needs_index=False,
)


async def resolve(tool_call: AgentCall, request: MemoryStatusRequest) -> str:
    """Say that memories are settled, see `RESOLVE`."""
    status: MemoryStatus = "superseded" if request.superseded_by else "resolved"
    request = replace(request, actor=tool_call.actor, status=status)
    return memory_text.resolved_text(await tool_call.perform("memories/status", request))


RESOLVE = Tool(
    "resolve",
    "Resolve memories",
    "Say that what memories tell of is no longer so, such as a pitfall that you fixed: they are not recalled any more. "
    "With `superseded_by`, the memory that takes their place.",
    MemoryStatusRequest,
    ("ids", "reason", "superseded_by", "project"),
    resolve,
    needs_index=False,
    read_only=False,
)

# At most ten, because each costs an agent tokens whether or not it is called.
TOOLS = {
    tool.name: tool
    for tool in (SEARCH, FETCH, OUTLINE, GRAPH, CONTEXT, CORE_FILES, REMEMBER, RECALL, RESOLVE, INDEX_STATUS)
}


async def call(
    tool: Tool,
    tool_call: AgentCall,
    request: ProjectRequest,
    within_seconds: float = CALL_SECONDS,
    first_index_seconds: float = FIRST_INDEX_SECONDS,
) -> str:
    """Call a tool and return its text; the first index is built if there is none.

    Raises:
        BusyError: if it takes longer than an agent waits. The building of an index continues.
        CairnError: what went wrong.
    """
    try:
        async with asyncio.timeout(within_seconds):
            try:
                return await tool.run(tool_call, request)
            except IndexMissingError:
                if not tool.needs_index:
                    raise
            return await _run_on_first_index(tool, tool_call, request, first_index_seconds)
    except TimeoutError as error:
        raise BusyError(
            f"no answer in {within_seconds:g} s",
            f"narrow the question, or ask again in a moment: `{tool.name}` as before; what is indexed is kept",
        ) from error


async def _run_on_first_index(tool: Tool, tool_call: AgentCall, request: ProjectRequest, within_seconds: float) -> str:
    """Build the first index and answer from what there is once it is complete or time runs out.

    Raises:
        BusyError: if not even part of it is ready in time.
    """
    far = await tool_call.build_index(request.project, within_seconds)
    try:
        return await tool.run(tool_call, request)
    except IndexMissingError as error:
        if not far:  # it is about a branch that is not indexed
            raise
        raise BusyError(
            f"the project is being indexed for the first time: {far}", "ask again in a moment; `outline` works now"
        ) from error


def descriptions() -> dict[str, str]:
    """Return each tool's description by name."""
    return {tool.name: tool.description for tool in TOOLS.values()}
