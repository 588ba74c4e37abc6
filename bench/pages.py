#!/usr/bin/env python3
"""Measure the pages of the dashboard in a real browser, on a project with very many memories and events.

    python bench/pages.py --memories 10000 --events 100000
    python bench/pages.py --keep FOLDER             # fill it once, and use it again
    python bench/pages.py --only made agents        # not all parts

The daemon is one of its own, with a state folder of its own. First paint is compared with that of a bare text of the
same daemon, by turns. Chromium must be installed for all parts but `made` and `agents`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from cairn.client import ensure, stop
from cairn.registry import Registry
from cairn.runtime import Runtime, StateFolder
from full_memory import make_project
from metrics import percentile
from processes import cpu_seconds, resident_mb

PATHS = (
    "/",
    "/doubtful",
    "/memories",
    "/memories?text=number",
    "/memories?q=price+of+the+cart",
    "/memories/ID",
    "/sessions",
    "/sessions/ID",
    "/search?q=total",
    "/symbol?s=money.py:5",
    "/savings",
    "/tuning",
    "/system",
)
PARTS = ("made", "load", "paint", "events", "agents")
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_WATCH = """() => { window.seen = 0; new MutationObserver(() => {
  if (document.querySelector("[data-show-new]") && !window.seen) window.seen = Date.now();
}).observe(document.body, {childList: true, subtree: true}) }"""
_QUESTIONS = ("total", "how are prices taxed", "where is the order sorted", "limit of the batch")


class Visitor:
    """A program with the cookie of a browser, at a daemon."""

    def __init__(self, runtime: Runtime, token: str) -> None:
        self.runtime = runtime
        self.base = f"http://127.0.0.1:{runtime.port}"
        self._api = httpx.Client(base_url=self.base, headers={"authorization": f"Bearer {token}"}, timeout=60)
        self.client = httpx.Client(base_url=self.base, timeout=60)
        self.client.get(self.link()).raise_for_status()

    def link(self) -> str:
        """Return a link that works once."""
        return str(self.ask("ui/link", {"path": "/"})["path"])

    def ask(self, operation: str, document: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Return the answer of the API."""
        return self._api.post(f"/api/{operation}", json=document).raise_for_status().json()

    def paths(self) -> list[str]:
        """Return the pages, one of a memory and one of a session among them."""
        found = []
        for path in PATHS:
            if path.endswith("/ID"):
                listed = self.client.get(path.removesuffix("/ID")).text
                path = re.findall(rf'href="({path.removesuffix("ID")}[^"?]+)"', listed)[-1]
            found.append(path)
        return found


def measure_made(visitor: Visitor, turns: int) -> dict[str, dict[str, float]]:
    """Return what the daemon takes to make each page, in milliseconds: wall and processor."""
    found = {}
    for path in visitor.paths():
        visitor.client.get(path).raise_for_status()
    for path in visitor.paths():
        times, before = [], cpu_seconds(visitor.runtime.pid)
        for _ in range(turns):
            begun = time.perf_counter()
            visitor.client.get(path).raise_for_status()
            times.append(1_000 * (time.perf_counter() - begun))
        processor = 1_000 * (cpu_seconds(visitor.runtime.pid) - before) / turns
        found[path] = _percentiles(times) | {"processor": round(processor, 1)}
    return found


def measure_agents(visitor: Visitor, root: Path, n_searches: int) -> dict[str, dict[str, float]]:
    """Return how long searches of an agent take, in milliseconds: alone, and while pages are loaded."""
    found = {}
    for name, pause_seconds in (("alone", None), ("a page each second", 1.0), ("a page after the other", 0.0)):
        with _loading(visitor, pause_seconds):
            times = []
            for place in range(n_searches):
                begun = time.perf_counter()
                visitor.ask("search", {"project": str(root), "query": _QUESTIONS[place % len(_QUESTIONS)]})
                times.append(1_000 * (time.perf_counter() - begun))
        found[name] = _percentiles(times)
    return found


@contextmanager
def _loading(visitor: Visitor, pause_seconds: float | None) -> Iterator[None]:
    """Load pages in a process of its own while the block runs; None loads nothing."""
    if pause_seconds is None:
        yield
        return
    pid = os.fork()
    if pid == 0:
        try:
            with httpx.Client(base_url=visitor.base, cookies=visitor.client.cookies) as client:
                while True:
                    for path in PATHS:
                        if not path.endswith("/ID"):
                            client.get(path)
                            time.sleep(pause_seconds)
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def _percentiles(times: list[float]) -> dict[str, float]:
    return {f"p{share}": round(percentile(times, share), 1) for share in (50, 95)}


def measure_in_browser(visitor: Visitor, root: Path, parts: list[str], turns: int) -> dict[str, Any]:
    """Return what is seen in Chromium."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - other parts need no browser

    from chromium import ARGUMENTS, CHROMIUM  # noqa: PLC0415 - likewise

    found: dict[str, Any] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        context = browser.new_context()
        page = context.new_page()
        page.goto(visitor.base + visitor.link())
        page.wait_for_url(f"{visitor.base}/")
        if "load" in parts:
            fresh = browser.new_context(storage_state=context.storage_state())
            found["first_load"] = _measure_load(fresh.new_page(), visitor.base)
            fresh.close()
        if "paint" in parts:
            found["paint_above_empty_ms"] = _measure_paint(page, visitor, turns)
        if "events" in parts:
            found["event_to_screen_ms"] = _measure_events(page, visitor, root, turns)
        browser.close()
    return found


def _measure_load(page: Any, base: str) -> dict[str, int]:  # noqa: ANN401 - playwright is imported late
    """Return the bytes and requests of the first load, and of them the scripts."""
    responses: list[Any] = []
    page.on("response", lambda response: responses.append(response))
    page.goto(f"{base}/")
    page.wait_for_load_state("load")
    sizes = {one.url: len(one.body()) for one in responses if "/events" not in one.url}
    scripts = sum(size for url, size in sizes.items() if url.endswith(".js"))
    return {"bytes": sum(sizes.values()), "requests": len(sizes), "script_bytes": scripts}


def _measure_paint(page: Any, visitor: Visitor, turns: int) -> dict[str, float]:  # noqa: ANN401 - likewise
    """Return the median time to the first paint of each page above that of an empty page, in milliseconds."""
    from cairn.dashboard.rendering import Pages  # noqa: PLC0415 - needs Jinja

    empty = next(f"/static/{address}" for address in Pages().static if address.endswith(".txt"))
    times: dict[str, list[float]] = {path: [] for path in (empty, *visitor.paths())}
    for _ in range(turns):
        for path, found in times.items():
            page.goto(f"{visitor.base}{path}")
            while not (painted := page.evaluate(_PAINT)):  # waiting by a script of the page is against its policy
                page.wait_for_timeout(5)
            found.append(painted)
    bare = statistics.median(times.pop(empty))
    return {path: round(statistics.median(found) - bare, 1) for path, found in times.items()}


def _measure_events(page: Any, visitor: Visitor, root: Path, turns: int) -> dict[str, float]:  # noqa: ANN401 - likewise
    """Return how long it takes from a memory that is kept until an open page offers what is new, in milliseconds."""
    times = []
    for number in range(turns):
        page.goto(f"{visitor.base}/memories")
        page.locator("#live-dot.on").wait_for()
        page.evaluate(_WATCH)
        page.wait_for_timeout(300 + 37 * number)  # so that it does not fall on the same moment of the stream's step
        document = {"project": str(root), "text": f"Something new {time.time_ns()}", "actor": "person:me"}
        visitor.ask("remember", document)
        begun = time.time()
        page.locator("[data-show-new]").wait_for()
        times.append(page.evaluate("window.seen") - 1_000 * begun)
    return {**_percentiles(times), "most": round(max(times), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--keep", type=Path, help="a folder that is filled once")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = (options.keep or Path(name)).absolute()
        for kind in ("STATE", "CONFIG", "CACHE"):  # a memory counts only where it was made
            os.environ[f"XDG_{kind}_HOME"] = str(place / kind.lower())
        root = place / "shop"
        if not root.exists():
            make_project(root, options.memories, options.events)
        folder = StateFolder.of_user()
        folder.create()
        Registry(folder).add(root, "shop")
        runtime = ensure(folder)
        try:
            found = measure(Visitor(runtime, folder.read_token()), root, options.only, options.turns)
            found["resident_mb"] = round(resident_mb(runtime.pid))
        finally:
            stop(folder)
    print(json.dumps(found, indent=1))


def measure(visitor: Visitor, root: Path, parts: list[str], turns: int) -> dict[str, Any]:
    """Return what is asked for."""
    found: dict[str, Any] = {}
    if "made" in parts:
        found["made_in_ms"] = measure_made(visitor, 3 * turns)
    if {"load", "paint", "events"} & set(parts):
        found |= measure_in_browser(visitor, root, parts, turns)
    if "agents" in parts:
        found["searches_of_agents_ms"] = measure_agents(visitor, root, 15 * turns)
    return found


if __name__ == "__main__":
    main()
