"""One definition: its callers and callees, what a change may break, and the tests that cover it."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from cairn.daemon.http import status_of
from cairn.dashboard.flow_pictures import FlowPicture, draw_flow
from cairn.dashboard.pictures import Box, Column, Picture, draw, draw_columns
from cairn.dashboard.views.search import link_to_editor
from cairn.dashboard.visit import Visit
from cairn.errors import AmbiguousError, CairnError, NotFoundError
from cairn.source.text import pluralize

_LIMIT = 60
_FUNCTIONS = ("function", "method", "constructor", "test")


async def show(visit: Visit) -> Response:
    """Show a definition with its neighbours as a picture and as lists."""
    name = visit.query.get("s", "").strip()
    if not name:
        return _form(visit, "")
    answers: dict[str, Any] = {}
    for relation in ("callers", "callees", "impact", "tests"):
        try:
            answers[relation] = await visit.ask(f"graph/{relation}", symbol=name, limit=_LIMIT)
        except AmbiguousError as error:
            visit.note(str(error), is_error=True, hint=str(error.hint))
            return _choices(visit, f"What {name} may mean", await _alike(visit, name))
        except NotFoundError as error:
            visit.note(str(error), is_error=True, hint=str(error.hint))
            return _form(visit, name, status_of(error))
        except CairnError as error:
            if not answers:
                raise
            visit.note(f"{relation}: {error}", is_error=True, hint=str(error.hint))
    if "namesakes" in answers["callers"]:
        return _choices(visit, f"Several definitions are called {name}", answers["callers"]["namesakes"])
    symbol = answers["callers"]["symbol"]
    flow, flow_note = await _flow(visit, symbol)
    return visit.page(
        "symbol.html",
        name=name,
        answers=answers,
        symbol=symbol,
        picture=_neighbours(visit, symbol, answers),
        impact=_impact(visit, symbol, answers),
        flow=flow,
        flow_note=flow_note,
        name_of=_name_of,
        place_of=_place_of,
        editor=await asyncio.to_thread(link_to_editor, visit, symbol["filepath"], symbol["line"]),
    )


def _form(visit: Visit, name: str, status: int = 200) -> Response:
    return visit.page("symbol.html", status, name=name, symbol=None)


def _neighbours(visit: Visit, symbol: dict[str, Any], answers: dict[str, Any]) -> Picture:
    """Return a definition with its callers and callees as a picture."""
    boxes, edges = {_key(symbol): _box(visit, symbol)}, []
    for relation in ("callers", "callees"):
        for link in answers.get(relation, {}).get("links", ()):
            other = link["symbol"]
            boxes.setdefault(_key(other), _box(visit, other))
            edges.append((_key(other), _key(symbol)) if relation == "callers" else (_key(symbol), _key(other)))
    return draw(boxes, edges, _key(symbol), f"What calls {_name_of(symbol)}, and what it calls")


def _impact(visit: Visit, symbol: dict[str, Any], answers: dict[str, Any]) -> Picture | None:
    """Return what a change may break as a picture, by distance, with the tests to run; None for nothing."""
    steps: dict[int, list[Box]] = {}
    for hit in answers.get("impact", {}).get("affected", ()):
        steps.setdefault(hit["depth"], []).append(_box(visit, hit["symbol"]))
    tests = [
        Box(test["filepath"].rpartition("/")[2], visit.address("/symbol", s=test["filepath"]), _said_of(test))
        for test in answers.get("tests", {}).get("tests", ())
    ]
    if not (steps or tests):
        return None
    columns = [Column("changed", [_box(visit, symbol)])]
    columns += [Column(pluralize(depth, "step"), steps[depth]) for depth in sorted(steps)]
    columns += [Column("tests", tests)] if tests else []
    return draw_columns(columns, f"What a change of {_name_of(symbol)} may break, and the tests to run")


def _said_of(test: dict[str, Any]) -> str:
    return f"{test['filepath']} {test['reason']}"


async def _flow(visit: Visit, symbol: dict[str, Any]) -> tuple[FlowPicture | None, str]:
    """Return a function's control flow as a picture, or why there is none; empty if it is not a function."""
    if symbol["kind"] not in _FUNCTIONS:
        return None, ""
    try:
        return draw_flow(await visit.ask("flow", place=f"{symbol['filepath']}:{symbol['line']}")), ""
    except CairnError as error:
        return None, str(error)


async def _alike(visit: Visit, name: str) -> list[dict[str, Any]]:
    """Return definitions with the last word of a name."""
    found = await visit.ask("search", query=name, mode="symbol", limit=_LIMIT)
    last = name.replace("::", ".").rpartition(".")[2]
    named = [hit for hit in found["code"] if hit["name"].rpartition(".")[2] == last]
    return [{**hit, "line": hit["start_line"]} for hit in named]


def _choices(visit: Visit, title: str, symbols: list[dict[str, Any]]) -> Response:
    """Show the definitions that a name may mean."""
    return visit.page("symbols.html", choices=title, symbols=symbols, name_of=_name_of, place_of=_place_of)


def _key(symbol: dict[str, Any]) -> str:
    return f"{symbol['filepath']}:{symbol['line']}:{symbol['name']}"


def _box(visit: Visit, symbol: dict[str, Any]) -> Box:
    name, place = _name_of(symbol), _place_of(symbol)
    return Box(name, visit.address("/symbol", s=place), f"{name} in {place}")


def _name_of(symbol: dict[str, Any]) -> str:
    """Return a symbol's name; code outside of definitions has the name of its file."""
    return str(symbol["name"]) or str(symbol["filepath"]).rpartition("/")[2]


def _place_of(symbol: dict[str, Any]) -> str:
    """Return an unambiguous reference to a symbol; a definition may begin on the first line of a file."""
    return f"{symbol['filepath']}:{symbol['line']}" if symbol["name"] else str(symbol["filepath"])
