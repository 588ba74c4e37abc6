"""One memory: shown in full and edited, even if somebody else changes or deletes it meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple, get_args

from starlette.responses import Response

from cairn.daemon.http import status_of
from cairn.dashboard.highlighting import highlight
from cairn.dashboard.news import News, asks_for_news, news_of
from cairn.dashboard.remarks import Remark
from cairn.dashboard.visit import ACTOR, Visit, one_of
from cairn.errors import NotFoundError, RequestError
from cairn.types import MemoryType

_GONE = "This memory was deleted elsewhere. What you typed stays here."
_CHANGED = (
    "Not saved: it was changed elsewhere meanwhile. What you wrote is still in the form; save again to keep that."
)
_CONFLICT = 409


class MemoryForm(NamedTuple):
    """The form of a memory."""

    text: str
    type: str
    tags: str


async def show(visit: Visit) -> Response:
    """Show one memory in full; an open page asks whether it has changed."""
    try:
        (memory,) = await visit.ask("memories/show", ids=(visit.request.path_params["id"],))
    except NotFoundError:
        if not asks_for_news(visit):
            raise
        return visit.page("news.html", news=News(visit.query["seen"], "", is_asked=True, loss=_GONE))
    news = _news_of(visit, memory)
    if news.is_asked:
        return visit.page("news.html", news=news)
    return await _page(visit, memory, news)


async def edit(visit: Visit) -> Response:
    """Change a memory, unless it has changed since the form was made."""
    fields, id = await visit.form(), visit.request.path_params["id"]
    form = MemoryForm(one_of(fields, "text").replace("\r\n", "\n"), one_of(fields, "type"), one_of(fields, "tags"))
    try:
        (memory,) = await visit.ask("memories/show", ids=(id,))
    except NotFoundError as error:
        visit.note(str(error), is_error=True, hint=str(error.hint))
        return visit.page("error.html", 404, written=form.text)
    news = _news_of(visit, memory)
    if one_of(fields, "seen") not in ("", news.seen):
        visit.note(_CHANGED, is_error=True)
        return await _page(visit, memory, news, form, _CONFLICT)
    changes = _changes_of(memory, form)
    try:
        if not form.text.strip():
            raise RequestError("a memory needs a text", "to be rid of it, archive or delete it")
        if any(changes.values()):
            await visit.ask("memories/edit", id=id, actor=ACTOR, **changes)
    except RequestError as error:
        visit.note(str(error), is_error=True, hint=str(error.hint))
        return await _page(visit, memory, news, form, status_of(error))
    return visit.back(f"/memories/{id}", Remark("It is changed.") if any(changes.values()) else None)


async def _page(
    visit: Visit, memory: dict[str, Any], news: News, written: MemoryForm | None = None, status: int = 200
) -> Response:
    """Return the page of a memory; if it could not be saved, with what was typed."""
    links = (await visit.ask("memories/code", id=memory["id"]))["links"] if memory["files"] else []
    return visit.page(
        "memory.html",
        status,
        memory=memory,
        news=news,
        written=written,
        form=written or MemoryForm(memory["text"], memory["type"], " ".join(memory["tags"])),
        links=await asyncio.to_thread(_in_colours, links),
        types=get_args(MemoryType),
    )


def _news_of(visit: Visit, memory: dict[str, Any]) -> News:
    """Return what is new in a memory, except for having been shown to agents, which does not affect editing."""
    return news_of(visit, 1, [{name: value for name, value in memory.items() if name != "shown"}])


def _changes_of(memory: dict[str, Any], form: MemoryForm) -> dict[str, object]:
    """Return the fields of a memory that differ in the form, for `memories/edit`."""
    tags = set(form.tags.replace(",", " ").split())
    changes: dict[str, object] = {
        "tags": tuple(sorted(tags - set(memory["tags"]))),
        "remove_tags": tuple(sorted(set(memory["tags"]) - tags)),
    }
    if form.text != memory["text"]:
        changes["text"] = form.text
    if form.type != memory["type"]:
        changes["type"] = form.type
    return changes


def _in_colours(links: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return links to code with highlighted texts."""
    return [
        {
            **link,
            "then": None if link["then"] is None else highlight(link["then"], link["language"]),
            "now": None if link["now"] is None else highlight(link["now"], link["language"]),
        }
        for link in links
    ]
