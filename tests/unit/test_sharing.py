from __future__ import annotations

import threading
import time

import pytest

from cairn.sharing import OneForAll, Shared


def test_what_is_retired_is_closed_at_once_when_nobody_uses_it_and_once() -> None:
    closed: list[str] = []
    shared = Shared("it", closed.append)
    with shared.use() as thing:
        assert thing == "it"
    assert closed == []
    assert shared.retire()
    assert shared.retire()
    assert closed == ["it"]


def test_what_is_retired_is_closed_when_the_last_has_left() -> None:
    closed: list[str] = []
    shared = Shared("it", closed.append)
    with shared.use():
        with shared.use():
            assert not shared.retire()
        assert closed == []
    assert closed == ["it"]


def test_whoever_retires_it_can_wait_for_the_others() -> None:
    shared = Shared("it", lambda _: None)
    entered, leave = threading.Event(), threading.Event()

    def use() -> None:
        with shared.use():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=use)
    thread.start()
    assert entered.wait(30)
    assert not shared.retire(0.01)
    threading.Timer(0.05, leave.set).start()
    assert shared.retire(30)
    thread.join()


def test_what_is_used_after_it_was_closed_is_closed_again() -> None:
    closed: list[str] = []
    shared = Shared("it", closed.append)
    shared.retire()
    with shared.use():
        pass
    assert closed == ["it", "it"]


def test_work_that_is_wanted_while_it_is_done_is_done_once_more_for_all_who_came_meanwhile() -> None:
    work: OneForAll[int] = OneForAll()
    begun, go_on = threading.Event(), threading.Event()
    runs: list[int] = []
    outcomes: list[int] = []

    def do() -> int:
        runs.append(len(runs))
        begun.set()
        go_on.wait(30)
        return len(runs)

    def ask() -> None:
        outcomes.append(work.run(do))

    first = threading.Thread(target=ask)
    first.start()
    assert begun.wait(30)
    others = [threading.Thread(target=ask) for _ in range(5)]
    for thread in others:
        thread.start()
    while work.n_waiting < len(others):
        time.sleep(0.001)
    go_on.set()
    for thread in (first, *others):
        thread.join()
    assert sorted(outcomes) == [1, 2, 2, 2, 2, 2]


def test_work_that_fails_is_done_again_by_the_next() -> None:
    work: OneForAll[int] = OneForAll()

    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        work.run(fail)
    assert work.run(lambda: 1) == 1
    assert work.run(lambda: 2) == 2
