"""`cairn team status`: how the whole of a team's server is, in lines."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from cairn.cli.notes import printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json
from cairn.cli.team import open_catalog
from cairn.loading import load
from cairn.source.text import pluralize

_STATES = {"published": "up to date", "waiting": "waiting"}


def run_status(options: argparse.Namespace) -> int:
    """Show what is wanted and published of each branch, how fresh that is, and which nodes and workers there are."""
    with open_catalog(options) as catalog:
        state = load("cairn.team.state:read_state")(catalog)
    if options.json:
        emit_json(state)
    else:
        for line in _lines(state):
            emit(printable(line))
    return EXIT_FOUND if state["branches"] else EXIT_NONE


def _lines(state: Mapping[str, Any]) -> Iterator[str]:
    for row in state["branches"]:
        yield from _lines_of_branch(row)
    if state["branches"]:
        yield from _summary(state["queue"], state["freshness"])
    else:
        yield "No project was added yet."
    for node in state["nodes"]:
        figures = node["figures"]
        yield (
            f"Node {node['name']}: {_presence(node)}, {pluralize(figures['answered'], 'answer')}, "
            f"{figures['failed']:,} failed, {figures['waiting']:,} waiting, "
            f"{pluralize(figures['open_projects'], 'project')} open"
        )
        yield from _problems(figures)
    for worker in state["workers"]:
        figures = worker["figures"]
        yield (
            f"Worker {worker['name']}: {_presence(worker)}, {figures['published']:,} published, "
            f"{figures['failed']:,} failed"
        )
        yield from _problems(figures)


def _lines_of_branch(row: Mapping[str, Any]) -> Iterator[str]:
    published, wanted = (row["published"] or "nothing")[:12], (row["wanted"] or "unknown")[:12]
    state = f"failed: {row['problem']}" if row["problem"] else _STATES[row["state"]]
    at_work = f", {row['worker']} is at work" if row["is_leased"] else ""
    fresh = f", the newest until {row['fresh_at'][:19]}" if row["fresh_at"] else ""
    yield f"{row['project']} {row['branch']}: published {published}, wanted {wanted}{fresh}"
    yield f"  {state}{at_work}"
    if row["look_problem"]:
        yield f"  not reached: {row['look_problem']}"


def _summary(queue: Mapping[str, Any], fresh: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"Queue: {queue['published']:,} published, {queue['waiting']:,} waiting, {queue['leased']:,} at work, "
        f"{queue['failed']:,} failed; the oldest waits for {queue['oldest_seconds']:,.0f} s."
    )
    yield (
        f"The newest within 5 minutes {fresh['within_5_minutes']:,}, an hour {fresh['within_an_hour']:,}, "
        f"a day {fresh['within_a_day']:,}, longer ago {fresh['older']:,}, never {fresh['never_published']:,}; "
        f"not reached {fresh['unreachable']:,} of {fresh['branches']:,}."
    )


def _presence(part: Mapping[str, Any]) -> str:
    heard = f"silent since {part['heard_at'][:19]}" if part["is_silent"] else f"here since {part['started_at'][:19]}"
    return f"version {part['version']}, {heard}"


def _problems(figures: Mapping[str, Any]) -> Iterator[str]:
    for problem in figures["problems"]:
        times = pluralize(problem["times"], "time")
        yield f"  {problem['code']}, {times}, last at {problem['last_at'][:19]}: {problem['message']}"
