"""A request for a page: its project, its questions to the operations, and its response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from cairn.daemon.answering import answer
from cairn.daemon.http import status_of
from cairn.daemon.state import Daemon
from cairn.dashboard.courtesy import Courtesy
from cairn.dashboard.remarks import Remark, Remarks
from cairn.dashboard.rendering import Pages
from cairn.dashboard.runs import Builds, Embeddings
from cairn.errors import ProjectError, QueryError, RequestError, TooLargeError
from cairn.facets.memory_status import last_heard
from cairn.fields import OFFSET
from cairn.hints import Hint
from cairn.operations import perform
from cairn.protocol.memory_table import MEMORY_OPERATIONS
from cairn.protocol.table import OPERATIONS
from cairn.schema import decode
from cairn.workspace import Workspace

ACTOR = "person:dashboard"
# Query fields with the same meaning in every project; the others name a project's files, branches, tags or rows.
_OF_ANY_PROJECT: Mapping[str, Sequence[str]] = {
    "/memories": ("q", "text", "types", "statuses", "origins", "since", "until"),
    "/sessions": ("agent", "since"),
    "/search": ("q", "lang", "kind", "explain"),
    "/savings": ("days", "by"),
    "/settings": ("text", "set", "name"),
}
_PLAIN_IN_PATHS = "/:@!$&'()*+,;="
_REMARK = "said"  # the query field with the token of a remark
_PARTS_BETWEEN = 50  # bytes of a page between two checks for waiting agents
_END_OF_HEAD = "</header>"
_MAX_FORM_BYTES, _MAX_FORM_FIELDS = 2_000_000, 20_000


class PageResponse(StreamingResponse):
    """A page that is rendered later: in a thread and in small steps, so that no agent waits for it.

    Its head is sent and displayed before the rest is rendered.

    Args:
        pages: the templates.
        template: the template's name.
        values: for the template.
        courtesy: how long to wait for agents.
        status: of HTTP.
    """

    def __init__(
        self, pages: Pages, template: str, values: Mapping[str, Any], courtesy: Courtesy, status: int = 200
    ) -> None:
        super().__init__(self._send(), status, media_type="text/html")
        self._parts = pages.parts(template, values)
        self._threads, self._courtesy = pages.threads, courtesy
        self._head = ""

    async def begin(self) -> None:
        """Render the head."""
        self._head = await self.make(_END_OF_HEAD)

    async def make(self, last: str = "") -> str:
        """Render what comes next, up to the part that ends with `last`; by default the rest."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._take, last)

    def _take(self, last: str) -> str:
        taken = []
        for number, part in enumerate(self._parts):
            taken.append(part)
            if last and last in part:
                break
            if number % _PARTS_BETWEEN == 0:
                self._courtesy.hold()
        return "".join(taken)

    async def _send(self) -> AsyncIterator[str]:
        yield self._head
        yield await self.make()


class Visit:
    """A request for a page, from an admitted browser.

    Args:
        request: from the browser.
        daemon: answers the questions.
        pages: the templates.
        builds: index builds that were started on a page.
        embeddings: embeddings of memories that were started on a page.
        remarks: the waiting remarks.
        nonce: marks the page's scripts as ours.
        title: of the page; empty if it only shows errors.

    Attributes:
        operated: the team servers that the user operates.
        is_begun: whether the head of the page has been sent.
    """

    def __init__(
        self,
        request: Request,
        daemon: Daemon,
        pages: Pages,
        builds: Builds,
        embeddings: Embeddings,
        remarks: Remarks,
        nonce: str,
        title: str = "",
    ) -> None:
        self.request, self.daemon, self.builds, self.embeddings = request, daemon, builds, embeddings
        self._pages, self._remarks, self._nonce = pages, remarks, nonce
        self._courtesy = Courtesy(lambda: daemon.quiet_seconds_of_agents)
        self._title = title
        self.operated = daemon.elsewhere.operated()
        self.is_begun = False
        self._notes: list[dict[str, Any]] = []

    # -- what the address says ----------------------------------------------------------------------------------------

    @cached_property
    def query(self) -> QueryParams:
        """The query fields; path bytes that are not UTF-8 remain lone surrogates."""
        text = self.request.scope["query_string"].decode("latin-1")
        return QueryParams(parse_qsl(text, keep_blank_values=True, errors="surrogateescape"))

    def several(self, name: str) -> list[str]:
        """Return all non-empty values of a query field."""
        return [value for value in self.query.getlist(name) if value]

    def number(self, name: str, default: int, most: int = 10_000_000) -> int:
        """Return a query field as a non-negative integer, or the default if it is not one."""
        text = self.query.get(name, "")
        return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 12 else default

    @property
    def title(self) -> str:
        """The title of the page, with its id or symbol."""
        about = self.request.path_params.get("id") or self.query.get("s")
        title = self._title or "Error"
        return f"{about} · {title}" if about else title

    @cached_property
    def projects(self) -> dict[str, str]:
        """The name of each project in URLs, by folder, most recently allowed first; see `Registry.names`.

        A project whose folder is gone is left out, unless the page is about it; that page says so.
        """
        registry, asked = self.daemon.projects.registry, self.query.get("project", "")
        present = {project.root for project in registry.present()}
        names = reversed(registry.names().items())
        return {root: name for root, name in names if root in present or asked in (root, name)}

    @property
    def project(self) -> str:
        """The page's project: the one in the URL, else the most recently allowed one.

        Raises:
            ProjectError: if there is none.
        """
        if name := self.query.get("project", ""):
            return name
        for name in self.projects.values():
            return name
        raise ProjectError("no project is indexed yet", Hint.of("index", path=None))

    @property
    def root(self) -> Path:
        """The folder of the project.

        Raises:
            ProjectError: if there is none.
        """
        return Path(self.daemon.projects.registry.find(self.project).root)

    @property
    def for_any_project(self) -> list[tuple[str, str]]:
        """The query fields to keep when another project is chosen on the same page."""
        names = _OF_ANY_PROJECT.get(self.request.url.path, ())
        return [(name, value) for name, value in self.query.multi_items() if name in names and value]

    def address(self, path: str, **fields: object) -> str:
        """Return the URL of a page for the same project; empty fields are left out.

        Args:
            path: of the page, as text; special characters, such as a question mark in a session's id, are escaped.
            fields: the query fields.
        """
        named = {"project": self.query.get("project", ""), **fields}
        pairs = [
            (name, str(item))
            for name, value in named.items()
            for item in (value if isinstance(value, list | tuple) else [value])
            if item not in ("", None, 0)
        ]
        place = quote(path, safe=_PLAIN_IN_PATHS, errors="surrogateescape")
        return f"{place}?{urlencode(pairs, errors='surrogateescape')}" if pairs else place

    def same(self, **fields: object) -> str:
        """Return this page's URL with other values for some fields, and without its remark."""
        now = {name: self.query.getlist(name) for name in self.query if name != _REMARK}
        return self.address(self.request.scope["path"], **{**now, **fields})

    # -- what it asks -------------------------------------------------------------------------------------------------

    async def ask(self, operation: str, **fields: Any) -> Any:  # noqa: ANN401 - JSON
        """Return the answer of an operation on the project, the same as `--json` on the command line.

        Raises:
            CairnError: whatever the operation raises.
        """
        known = MEMORY_OPERATIONS.get(operation) or OPERATIONS[operation]
        request = decode(known.request, {"project": self.project, **fields})
        await self._courtesy.wait()
        return await answer(self.daemon, operation, request)

    async def ask_each(self, **asked: tuple[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the answers of several memory operations, by name, in a single thread.

        Args:
            asked: by name, the operation and its fields.

        Raises:
            CairnError: whatever the first failing one raises.
        """
        requests = {
            name: (operation, decode(MEMORY_OPERATIONS[operation].request, {"project": self.project, **fields}))
            for name, (operation, fields) in asked.items()
        }

        def work(workspace: Workspace) -> dict[str, Any]:
            answers = {}
            for name, request in requests.items():
                self._courtesy.hold()
                answers[name] = perform(workspace, *request)
            return answers

        limit = self.daemon.limits.answer_seconds
        return await self.daemon.projects.run(self.project, work, timeout_seconds=limit)

    async def agents(self) -> list[dict[str, Any]]:
        """Return the agents that reported events, each with the time, as in `cairn status`."""
        return await self.daemon.projects.run(self.project, _agents_of)

    async def form(self) -> dict[str, list[str]]:
        """Return the fields of the submitted form.

        Raises:
            TooLargeError: if it is larger than any form of ours.
            RequestError: if it cannot be read.
        """
        body = bytearray()
        async for part in self.request.stream():
            body += part
            if len(body) > _MAX_FORM_BYTES:
                raise TooLargeError(f"the form is larger than {_MAX_FORM_BYTES:,} bytes", "mark fewer memories")
        try:
            return parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_FORM_FIELDS)
        except ValueError as error:
            raise RequestError("the form cannot be read", "open the page again") from error

    # -- what it answers ----------------------------------------------------------------------------------------------

    def note(self, text: str, *, is_error: bool = False, hint: str = "") -> None:
        """Add a note above the page."""
        self._notes.append({"text": text, "is_error": is_error, "hint": hint})

    def page(self, template: str, status: int = 200, **values: Any) -> PageResponse:  # noqa: ANN401 - what templates show
        """Return a page with its waiting remark; after `begin`, without the head."""
        remark = self._remarks.take(self.query.get(_REMARK, ""))
        notes = [{"text": remark.text, "is_error": False, "hint": ""}] if remark.text else []
        common = {"notes": notes + self._notes, "undone": remark.undone, "same": self.same, **self._of_head()}
        return PageResponse(self._pages, template, {**common, **values}, self._courtesy, status)

    def begin(self) -> str:
        """Return the head of a page before its content is known."""
        self.is_begun = True
        return self._pages.render("head.html", self._of_head())

    def _of_head(self) -> dict[str, Any]:
        return {"visit": self, "nonce": self._nonce, "address": self.address}

    def back(self, fallback: str, remark: Remark | None = None, **fields: object) -> Response:
        """Redirect to the page that sent a form, with a remark, and with some fields in its URL."""
        fields[_REMARK] = "" if remark is None else self._remarks.keep(remark)
        came = urlsplit(self.request.headers.get("referer", ""))
        own = came.netloc == self.request.headers.get("host") and came.path.startswith("/")
        if not own:
            return RedirectResponse(self.address(fallback, **fields), 303)
        kept = [pair for pair in _pairs(came.query) if pair[0] not in fields]
        new = [(name, str(value)) for name, value in fields.items() if value not in ("", None)]
        query = urlencode([*kept, *new], errors="surrogateescape")
        return RedirectResponse(f"{came.path}?{query}" if query else came.path, 303)


class RowsOfPage(NamedTuple):
    """One page of rows of a list.

    Attributes:
        found: the answer with the rows.
        offset: the number of rows before them.
        status: of HTTP, for the page.
    """

    found: Any
    offset: int
    status: int


async def ask_for_list(visit: Visit, operation: str, rows: str, limit: int, **fields: object) -> RowsOfPage:
    """Ask for the rows at the URL's offset; beyond the end of the list, for the last ones.

    Args:
        visit: of the page.
        operation: lists the rows.
        rows: the field of its answer with the rows.
        limit: how many to show at once.
        fields: of the operation, from the page's filter.
    """
    offset, nothing = visit.number("offset", 0, int(OFFSET.most or 0)), {rows: [], "total": 0}
    found, status = await ask_or_say(visit, operation, nothing, **fields, limit=limit, offset=offset)
    if offset and found["total"] and not found[rows]:
        offset = (found["total"] - 1) // limit * limit
        found, status = await ask_or_say(visit, operation, nothing, **fields, limit=limit, offset=offset)
    return RowsOfPage(found, offset, status)


async def ask_or_say(visit: Visit, operation: str, nothing: object, **fields: object) -> tuple[Any, int]:
    """Return an answer, and the HTTP status for the page.

    If the question is invalid, that is said above the page, and the answer is `nothing`. So the page still has the form
    with what was typed.
    """
    try:
        return await visit.ask(operation, **fields), 200
    except (RequestError, QueryError) as error:
        visit.note(str(error), is_error=True, hint=str(error.hint))
        return nothing, status_of(error)


def one_of(form: Mapping[str, Sequence[str]], name: str) -> str:
    """Return a field of a form, empty if it was not sent."""
    return form.get(name, [""])[-1]


def _agents_of(workspace: Workspace) -> list[dict[str, Any]]:
    return last_heard(workspace.memory.usage.sources())


def _pairs(query: str) -> Sequence[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=200, errors="surrogateescape")
    except ValueError as error:
        raise RequestError("the address cannot be read", "open the page again") from error
