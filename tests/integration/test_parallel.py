"""Several questions at once in one project: through one workspace, and through the daemon."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from cairn.config import Settings
from cairn.daemon.projects import Projects
from cairn.embedding.static import bundled_model
from cairn.errors import BusyError
from cairn.graph.graph import Graph
from cairn.graph.values import Unfollowed
from cairn.index.aside import files_set_aside
from cairn.index.views import Views
from cairn.search.opened import OpenIndex
from cairn.storage.index import chunk_db, meta_db
from cairn.workspace import Workspace
from conftest import Git
from serving import make_app

T = TypeVar("T")
N_THREADS = 6
CODE = '''"""Money."""


def tax(price):
    """Return the tax on a price."""
    return price * 0.2


def total(price):
    """Add the tax to a price."""
    return price + tax(price)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "money.py").write_text(CODE)
    for number in range(20):
        (root / f"part{number}.py").write_text(
            f"from money import total\n\n\ndef part{number}():\n    total({number})\n"
        )
    with Workspace.open(root) as workspace:
        workspace.index()
    return root


@pytest.fixture
def workspace(project: Path) -> Iterator[Workspace]:
    with Workspace.open(project) as found:
        yield found


@pytest.fixture
def projects(tmp_path: Path, project: Path) -> Iterator[Projects]:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text(CODE)
    found = make_app(tmp_path / "state", project, other, settings=replace(Settings(), daemon_threads=3)).daemon.projects
    yield found
    assert found.close()


def at_once(*works: Callable[[], T]) -> list[T]:
    """Do some work in a thread each, begun together, and return the outcomes."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], T]) -> T:
        start.wait(30)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result(60) for future in [pool.submit(run, work) for work in works]]


def n_open_files() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def edit(root: Path, times: int) -> None:
    """Change a file and bring the index up to date, every other time from scratch."""
    with Workspace.open(root) as writer:
        for number in range(times):
            (root / "more.py").write_text(f"def more{number}(price):\n    return {number}\n")
            writer.index(full=bool(number % 2))


# -- one workspace, many threads ---------------------------------------------------------------------------------------


def test_all_that_a_thread_reads_is_of_one_state_while_others_read_and_the_index_is_rebuilt(project: Path) -> None:
    with Workspace.open(project) as workspace:
        views = Views(project, None, 1_000_000)
        opened = OpenIndex(workspace.state, workspace.settings, project, views, bundled_model, lambda _: None)
    edited = threading.Event()
    states = set()

    def read() -> int:
        n_read = 0
        while not edited.is_set() or not n_read:
            with opened.reading(views.checkout) as library:
                snapshot = library.snapshot
                ids = snapshot.chunk_ids([row for row in range(snapshot.n_rows) if snapshot.file_of_row[row] >= 0])
                rows = chunk_db.read_chunks(library.connection, ids)
                assert meta_db.state(library.connection) == snapshot.state
                assert len(rows) == len(ids) > 20
            states.add(snapshot.state)
            n_read += 1
        return n_read

    def write() -> int:
        edit(project, 8)
        edited.set()
        return 1

    assert all(at_once(write, *[read] * N_THREADS))
    opened.close()
    assert len(states) > 1


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted under /proc")
def test_many_threads_ask_everything_while_files_change_and_nothing_stays_open(project: Path) -> None:
    def ask_all(workspace: Workspace) -> None:
        (hit, *_) = workspace.search("tax", mode="symbol").code
        assert (hit.name, workspace.fetch([hit.id])[0].name) == ("tax", "tax")
        assert len(workspace.graph.callers("total").links) == 20
        assert workspace.search("callers of tax").code[0].name == "total"
        assert "tax" in workspace.code.outline("money.py", mode="context", symbol="total").text
        assert workspace.refresh() in ("", "another process is updating the index: this is what it holds so far")

    with Workspace.open(project) as workspace:  # what stays for good is there from here on
        ask_all(workspace)
    before = n_open_files()
    with Workspace.open(project) as workspace:
        edited = threading.Event()

        def ask() -> int:
            n_asked = 0
            while not edited.is_set() or not n_asked:
                ask_all(workspace)
                n_asked += 1
            return n_asked

        def write() -> int:
            edit(project, 6)
            edited.set()
            return 1

        assert all(at_once(write, *[ask] * N_THREADS))
    assert n_open_files() <= before


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted under /proc")
def test_closing_while_questions_run_breaks_none_and_leaves_nothing_open(workspace: Workspace) -> None:
    def ask() -> list[str]:
        return [workspace.search("tax", mode="symbol").code[0].name for _ in range(20)]

    def close() -> list[str]:
        for _ in range(40):
            workspace.close()
        return ["tax"] * 20

    ask()
    workspace.close()
    before = n_open_files()
    assert at_once(close, *[ask] * N_THREADS) == [["tax"] * 20] * (N_THREADS + 1)
    workspace.close()
    assert n_open_files() <= before


def test_a_damaged_database_is_replaced_once_however_many_find_it_damaged(workspace: Workspace) -> None:
    database = workspace.state.database
    workspace.close()
    database.write_bytes(b"SQLite format 3\0" + b"nonsense" * 1_000)
    found = at_once(*[lambda: workspace.search("tax", mode="symbol").code[0].name] * N_THREADS)
    assert found == ["tax"] * N_THREADS
    assert len([file for file in files_set_aside(workspace.state) if file.name.startswith("index.db.damaged")]) == 1


def test_a_branch_is_read_by_many_threads_at_once(checkout: Path, git: Git) -> None:
    for number in range(10):
        (checkout / f"part{number}.py").write_text(CODE.replace("tax", f"tax{number}"))
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "begin")
    with Workspace.open(checkout) as workspace:
        workspace.index(branch="main")
        ask = [lambda: len(workspace.search("Return the tax", mode="literal", branch="main", limit=0).code)]
        assert workspace.search("def total", mode="literal", branch="main", limit=0).code
        expected = ask[0]()
        assert at_once(*ask * N_THREADS) == [expected] * N_THREADS


def test_a_search_is_answered_while_the_symbol_graph_is_held_up(workspace: Workspace) -> None:
    held, go_on = threading.Event(), threading.Event()

    def hold(done: int, total: int) -> None:
        held.set()
        go_on.wait(30)

    with ThreadPoolExecutor(2) as pool:
        asking = pool.submit(workspace.graph.callers, "total", progress=hold)
        assert held.wait(30)
        behind = pool.submit(workspace.graph.callees, "total")  # waits for the graph
        assert workspace.search("tax", mode="symbol").code[0].name == "tax"
        assert not asking.done()
        assert not behind.done()
        go_on.set()
        assert len(asking.result(30).links) == 20
        assert [link.symbol.name for link in behind.result(30).links] == ["tax"]


# -- the daemon --------------------------------------------------------------------------------------------------------


def test_questions_of_a_project_are_answered_side_by_side(projects: Projects) -> None:
    meeting = threading.Barrier(2)

    async def use() -> None:
        met = [projects.run("shop", lambda _: meeting.wait(30)) for _ in range(2)]
        assert sorted(await asyncio.gather(*met)) == [0, 1]

    asyncio.run(use())


def test_a_project_leaves_room_for_others_and_for_events(projects: Projects) -> None:
    held = threading.Event()

    async def use() -> None:
        busy = [
            asyncio.create_task(projects.run("shop", lambda _: held.wait(60), slow=bool(slow))) for slow in (0, 1) * 8
        ]
        await asyncio.sleep(0)
        assert await projects.run("other", lambda workspace: workspace.root.name, timeout_seconds=60) == "other"
        assert await projects.run_at_once("shop", lambda workspace: workspace.root.name) == "shop"
        assert not any(task.done() for task in busy)
        held.set()
        assert all(await asyncio.gather(*busy))
        assert projects.states()[0].waiting == 0

    asyncio.run(use())


def test_what_asks_a_symbol_graph_that_is_held_up_gives_its_place_to_searches(projects: Projects) -> None:
    held, go_on = threading.Event(), threading.Event()

    def hold(done: int, total: int) -> None:
        held.set()
        go_on.wait(30)

    async def use() -> None:
        first = asyncio.create_task(
            projects.run("shop", lambda workspace: workspace.graph.callers("total", progress=hold), slow=True)
        )
        assert await asyncio.to_thread(held.wait, 30)
        more = [
            asyncio.create_task(projects.run("shop", lambda workspace: workspace.graph.callers("tax")))
            for _ in range(8)
        ]
        found = await projects.run("shop", lambda workspace: workspace.search("tax", mode="symbol"), timeout_seconds=30)
        assert found.code[0].name == "tax"
        assert not any(task.done() for task in (first, *more))
        go_on.set()
        assert len((await first).links) == 20
        assert [[link.symbol.name for link in found.links] for found in await asyncio.gather(*more)] == [["total"]] * 8

    asyncio.run(use())


class BoundedResult(NamedTuple):
    """An answer of the symbol graph that is whole, or was cut."""

    unfollowed: Unfollowed | None


@pytest.mark.parametrize("name", ["shop", "other"])
def test_cut_answers_are_gone_on_with_after_an_event(projects: Projects, name: str) -> None:
    begun, stopped, done = threading.Event(), threading.Event(), threading.Event()
    times = itertools.count()

    def find(graph: Graph) -> BoundedResult:
        turn = next(times)
        if turn == 1:
            begun.set()
            while graph.patience.lasts():
                stopped.wait(0.01)
            stopped.set()
        elif turn == 2:
            done.set()
        return BoundedResult(Unfollowed(1, ("tax",), 1, False, 0.0) if turn < 2 else None)

    async def use() -> None:
        await projects.run(
            "shop",
            lambda workspace: workspace.graph.ask(lambda graph: graph.answers.give("tax", lambda: find(graph))),
            slow=True,
        )
        assert await asyncio.to_thread(begun.wait, 30)
        assert await projects.run_at_once(name, lambda _: stopped.wait(30))
        assert await asyncio.to_thread(done.wait, 30)

    asyncio.run(use())


def test_an_event_that_is_not_taken_in_time_is_told_so(projects: Projects) -> None:
    held = threading.Event()

    async def use() -> None:
        with pytest.raises(BusyError, match="not taken within"):
            await projects.run_at_once("shop", lambda _: held.wait(60), timeout_seconds=0.05)
        held.set()
        assert await projects.run_at_once("shop", lambda workspace: workspace.root.name) == "shop"

    asyncio.run(use())


def test_a_question_that_is_left_keeps_its_room_until_its_work_has_ended(projects: Projects) -> None:
    held = threading.Event()

    async def use() -> None:
        for _ in range(2):  # all the room of a project
            with pytest.raises(BusyError):
                await projects.run("shop", lambda _: held.wait(60), timeout_seconds=0.05)
        with pytest.raises(BusyError):
            await projects.run("shop", lambda workspace: workspace.root.name, timeout_seconds=0.05)
        held.set()
        assert await projects.run("shop", lambda workspace: workspace.root.name, timeout_seconds=60) == "shop"

    asyncio.run(use())
