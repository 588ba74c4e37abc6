"""Memories: browse, search, tidy and erase them."""

from __future__ import annotations

from typing import get_args

from starlette.responses import Response

from cairn.dashboard.news import news_of
from cairn.dashboard.remarks import Remark
from cairn.dashboard.visit import ACTOR, Visit, ask_for_list, ask_or_say, one_of
from cairn.errors import RequestError
from cairn.source.text import pluralize
from cairn.types import MemoryOrigin, MemoryStatus, MemoryType

PAGE = 25
_OK = 200
_MOST = 10_000  # memories per action on everything that a filter finds
_AT_ONCE = 1_000  # ids per request
_MOST_UNDONE = 200  # memories for which undo is offered on the next page
_LISTS = ("types", "statuses", "origins")
_FILTERS = ("text", "file", "branch", "tag", "session", "since", "until")
_DONE = {
    "archive": "archived", "resolve": "resolved", "reopen": "reopened", "supersede": "superseded",
    "undo": "as before", "delete": "deleted", "keep": "kept",
}  # fmt: skip
_UNDONE = ("archive", "resolve", "reopen", "supersede")
# Labels of actions on everything that a filter finds.
_IN_BULK = {"delete": "forget", **{name: name for name in ("archive", "resolve", "reopen", "keep")}}
# The status that each action sets; other actions are operations of their own.
_STATUSES = {"archive": "archived", "resolve": "resolved", "reopen": "active"}
_OPERATIONS = {"delete": "memories/forget", "undo": "memories/undo", "keep": "memories/keep"}


async def browse(visit: Visit) -> Response:
    """List memories by filter, or find them by their text."""
    found, offset, status = await ask_for_list(visit, "memories", "memories", PAGE, **_filters(visit))
    news = news_of(visit, found["total"], found["memories"])
    if news.is_asked:
        return visit.page("news.html", news=news)
    meant = []
    if query := visit.query.get("q", "").strip():
        asked = {"query": query, "limit": 10, "include_resolved": True, "all_branches": True}
        meant = (await ask_or_say(visit, "recall", {"memory": []}, **asked))[0]["memory"]
    return visit.page(
        "memories.html",
        status,
        found=found,
        is_understood=status == _OK,
        news=news,
        meant=meant,
        offset=offset,
        page=PAGE,
        fields={name: visit.query.get(name, "") for name in _FILTERS},
        types=get_args(MemoryType),
        statuses=get_args(MemoryStatus),
        origins=get_args(MemoryOrigin),
    )


async def doubtful(visit: Visit) -> Response:
    """List memories that may have become false or useless."""
    found, offset, _ = await ask_for_list(visit, "memories/doubtful", "memories", PAGE)
    return visit.page("doubtful.html", found=found, offset=offset, page=PAGE)


async def change(visit: Visit) -> Response:
    """Act on memories: on the marked ones, or on everything that the filter finds."""
    form = await visit.form()
    action = one_of(form, "action")
    if action not in _DONE and action != "export":
        raise RequestError("there is nothing to do", "press one of the buttons below the list")
    if action == "export":
        return await _export(visit, form)
    ids = await _filtered(visit, form, action) if one_of(form, "all") else form.get("id", [])
    if not ids:
        raise RequestError("no memory is marked that this would change", "mark the memories that you mean first")
    if (action == "delete" or one_of(form, "all")) and not one_of(form, "sure"):
        return await _ask(visit, action, ids)
    if action == "delete" and len(ids) <= PAGE:  # or it would report again what another tab has done already
        await visit.ask("memories/show", ids=tuple(ids), max_tokens=1_000)
    for start in range(0, len(ids), _AT_ONCE):
        await _act_on(visit, action, tuple(ids[start : start + _AT_ONCE]), one_of(form, "successor"))
    done = f"{pluralize(len(ids), 'memory is', 'memories are')} {_DONE[action]}."
    may_be_undone = action in _UNDONE and len(ids) <= _MOST_UNDONE
    return visit.back("/memories", Remark(done, ids if may_be_undone else ()))


async def _act_on(visit: Visit, action: str, ids: tuple[str, ...], successor: str) -> None:
    if action in _OPERATIONS:
        await visit.ask(_OPERATIONS[action], ids=ids, actor=ACTOR)
    elif action == "supersede":
        if not successor:
            raise RequestError("no memory is named that takes its place", "put its id into the field")
        await visit.ask("memories/status", ids=ids, status="superseded", superseded_by=successor, actor=ACTOR)
    else:
        await visit.ask("memories/status", ids=ids, status=_STATUSES[action], actor=ACTOR)


async def _ask(visit: Visit, action: str, ids: list[str]) -> Response:
    """Ask for confirmation before erasing memories for ever or changing many; nothing is changed yet."""
    shown = await visit.ask("memories/show", ids=tuple(ids[:PAGE]), max_tokens=8_000)
    shown = [memory for memory in shown if memory["id"]]
    return visit.page("confirm.html", action=action, ids=ids, shown=shown)


async def _export(visit: Visit, form: dict[str, list[str]]) -> Response:
    """Return memories as a file for `cairn import`."""
    is_filtered, ids = bool(one_of(form, "all")), tuple(form.get("id", []))
    if not is_filtered and not ids:
        raise RequestError("no memory is marked", "mark the memories that you mean first")
    found = await visit.ask("memories/export", **(_filter_of(form) if is_filtered else {"ids": ids}))
    headers = {"Content-Disposition": "attachment; filename=memories.jsonl"}
    text = "".join(f"{line}\n" for line in found["lines"])
    return Response(text, media_type="application/jsonl; charset=utf-8", headers=headers)


async def _filtered(visit: Visit, form: dict[str, list[str]], action: str) -> list[str]:
    """Return the ids of all memories that an action would change; nothing is changed yet."""
    if action not in _IN_BULK:
        raise RequestError("this is not done with all that a filter finds", "mark the memories that you mean")
    fields = _filter_of(form)
    found = await visit.ask("memories/change", action=_IN_BULK[action], **fields, dry_run=True)
    return list(found["ids"])[:_MOST]


def _filter_of(form: dict[str, list[str]]) -> dict[str, object]:
    """Return the filter of the page on which a form was."""
    fields: dict[str, object] = {name: one_of(form, f"filter-{name}") for name in _FILTERS}
    return {**fields, **{name: [text for text in form.get(f"filter-{name}", []) if text] for name in _LISTS}}


def _filters(visit: Visit) -> dict[str, object]:
    fields: dict[str, object] = {name: visit.query.get(name, "").strip() for name in _FILTERS}
    return {**fields, **{name: tuple(visit.several(name)) for name in _LISTS}}
