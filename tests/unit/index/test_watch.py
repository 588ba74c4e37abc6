from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.errors import PathError, StoreError
from cairn.index import watch
from cairn.index.news import ChangeStream
from cairn.index.watch import FEW_PATHS, RECONCILE_SECONDS, SETTLE_SECONDS, Batch, Watcher, follow, watcher_of
from cairn.source.git import find_repository
from cairn.types import IndexReport

Git = Callable[..., str]
REPORT = IndexReport(0, 0, 0, 0, 0, 0, 0, 0, (), 0.0, 0)


class FakeClock:
    """Clocks that move when a stream is waited for."""

    def __init__(self) -> None:
        self.steady_now = self.wall_now = 1_000.0

    def wall(self) -> float:
        return self.wall_now

    def steady(self) -> float:
        return self.steady_now

    def pass_by(self, seconds: float) -> None:
        self.steady_now += seconds
        self.wall_now += seconds


class FakeStream(ChangeStream):
    """Replays what happens: seconds after which some paths change, or something is done to the clock."""

    def __init__(self, clock: FakeClock, events: list[tuple[float, Sequence[str]]]) -> None:
        self.clock = clock
        self.events = events
        self.opened: list[Collection[str]] = []
        self.closed = 0

    def __call__(self, folders: Collection[str], stop: threading.Event) -> FakeStream:
        self.opened.append(folders)
        return self

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        if not self.events:
            return None
        seconds, paths = self.events[0]
        if seconds > timeout_seconds:
            self.events[0] = (seconds - timeout_seconds, paths)
            self.clock.pass_by(timeout_seconds)
            return frozenset()
        self.events.pop(0)
        self.clock.pass_by(seconds)
        return frozenset(paths)

    def close(self) -> None:
        self.closed += 1


def batches(
    root: Path, events: list[tuple[float, Sequence[str]]], *, busy_seconds: float = 0.1, **options: object
) -> list[tuple[float, Batch]]:
    """Return the batches, each with when it came."""
    clock = FakeClock()
    stream = FakeStream(clock, events)
    watcher = Watcher(root, find_repository(root), open_stream=stream, clock=clock, **options)  # type: ignore[arg-type] # any option
    result = []
    for batch in watcher.batches():
        result.append((round(clock.steady() - 1_000, 3), batch))
        clock.pass_by(busy_seconds)
    assert stream.closed >= 1
    return result


def test_the_first_batch_comes_at_once_and_compares_everything(tmp_path: Path) -> None:
    assert batches(tmp_path, []) == [(0, Batch("start"))]


def test_a_change_is_told_as_soon_as_it_is_known(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    assert batches(tmp_path, [(10.0, [path])])[1] == (10.1, Batch("changes", frozenset([path]), is_exact=True))


def test_a_change_in_a_folder_that_went_with_it_ends_in_words(checkout: Path) -> None:
    clock = FakeClock()
    stream = FakeStream(clock, [(1.0, [str(checkout / "a.py")])])
    told = Watcher(checkout, find_repository(checkout), open_stream=stream, clock=clock).batches()
    next(told)
    shutil.rmtree(checkout)
    with pytest.raises(PathError, match="cannot be read"):
        next(told)


@pytest.mark.parametrize("name", [".gitignore", "lib/.cairnignore", ".git/HEAD", "lib", "inner/.git"])
def test_what_may_concern_other_files_is_no_exact_batch(name: str, checkout: Path) -> None:
    (checkout / "lib").mkdir()
    (told,) = batches(checkout, [(10.0, [str(checkout / "a.py"), str(checkout / name)])])[1:]
    assert told[1].reason == "changes"
    assert not told[1].is_exact


def test_many_changes_are_no_exact_batch(tmp_path: Path) -> None:
    few, many = ([str(tmp_path / f"{number}.py") for number in range(count)] for count in (FEW_PATHS, FEW_PATHS + 1))
    assert [batch.is_exact for _, batch in batches(tmp_path, [(10.0, few), (10.0, many)])] == [False, True, False]


def test_after_exact_batches_everything_is_compared_once_it_is_quiet(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    told = batches(tmp_path, [(10.0, [path]), (10.0, [path]), (1_000.0, [])])
    assert [batch.reason for _, batch in told] == ["start", "changes", "changes", "routine", "routine"]
    assert told[3][0] == pytest.approx(told[2][0] + SETTLE_SECONDS, abs=1)
    assert told[4][0] == pytest.approx(told[3][0] + RECONCILE_SECONDS, abs=1)


def test_who_edits_without_a_pause_has_everything_compared_from_time_to_time(tmp_path: Path) -> None:
    told = batches(tmp_path, [(30.0, [str(tmp_path / "a.py")])] * 50)
    compared = [at for at, batch in told if not batch.is_exact]
    assert len(compared) == 3
    assert compared[1] == pytest.approx(RECONCILE_SECONDS, abs=40)


def test_after_a_failure_or_a_sleep_everything_is_compared(tmp_path: Path) -> None:
    clock = FakeClock()
    stream = FakeStream(clock, [(1.0, [str(tmp_path / name)]) for name in ("a.py", "b.py", "c.py", "d.py")])
    watcher = Watcher(tmp_path, None, open_stream=stream, clock=clock)
    told = []
    for batch in watcher.batches():
        told.append((batch.reason, batch.is_exact))
        if len(told) == 2:
            watcher.note_failure()
        if len(told) == 4:
            clock.wall_now += 1_000
    changes = [("changes", True), ("changes", False), ("changes", True)]
    assert told == [("start", False), *changes, ("woke", False), ("changes", True)]


def test_changes_during_and_just_after_an_update_are_one_batch(tmp_path: Path) -> None:
    a, b = str(tmp_path / "a.py"), str(tmp_path / "b.py")
    told = batches(tmp_path, [(0.0, [a]), (0.3, [b]), (100.0, [])], busy_seconds=1.0)
    assert told[1] == (2.0, Batch("changes", frozenset([a, b]), is_exact=True))


@pytest.mark.parametrize(
    "name", [".git/objects/ab", ".git/index.lock", ".cairn/index.db-wal", "state/index.db", "a.pyc", "ignored/a.py"]
)
def test_what_cannot_be_indexed_wakes_nobody(name: str, checkout: Path) -> None:
    (checkout / ".gitignore").write_text("ignored/\n")
    assert batches(checkout, [(1.0, [str(checkout / name)])], state=checkout / "state") == [(0, Batch("start"))]


def test_a_switch_of_the_branch_is_noticed(checkout: Path) -> None:
    told = batches(checkout, [(1.0, [str(checkout / ".git" / "HEAD")])])
    assert [batch.reason for _, batch in told] == ["start", "changes"]


def test_what_git_begins_to_track_is_noticed_and_a_mere_look_at_the_files_is_not(checkout: Path, git: Git) -> None:
    clock = FakeClock()
    stream = FakeStream(clock, [(1.0, [str(checkout / ".git" / "index")])] * 2)
    told = Watcher(checkout, find_repository(checkout), open_stream=stream, clock=clock).batches()
    next(told)
    (checkout / "a.py").write_text("a = 1\n")
    git(checkout, "add", "a.py")
    assert not next(told).is_exact
    git(checkout, "status")  # it rewrites the index
    assert list(told) == []


def test_a_linked_worktree_is_woken_by_its_own_head(checkout: Path, tmp_path: Path, git: Git) -> None:
    git(checkout, "commit", "-q", "--allow-empty", "-m", "x")
    git(checkout, "worktree", "add", "-q", str(tmp_path / "linked"))
    told = batches(tmp_path / "linked", [(1.0, [str(checkout / ".git" / "worktrees" / "linked" / "HEAD")])])
    assert [batch.reason for _, batch in told] == ["start", "changes"]


def test_after_a_sleep_everything_is_compared(tmp_path: Path) -> None:
    clock = FakeClock()
    stream = FakeStream(clock, [(3.0, []), (3.0, [])])
    watcher = Watcher(tmp_path, None, open_stream=stream, clock=clock)
    told = watcher.batches()
    assert next(told).reason == "start"
    clock.wall_now += 3_600  # nothing else moved
    assert next(told) == Batch("woke")
    watcher.stop()
    assert list(told) == []


def test_everything_is_compared_from_time_to_time(tmp_path: Path) -> None:
    told = batches(tmp_path, [(watch.RECONCILE_SECONDS + 6, [])])
    assert [batch.reason for _, batch in told] == ["start", "routine"]


def test_while_paused_changes_are_gathered(tmp_path: Path) -> None:
    answers = iter([True, True, True])
    a, b = str(tmp_path / "a.py"), str(tmp_path / "b.py")
    told = batches(tmp_path, [(1.0, [a]), (2.0, [b]), (30.0, [])], is_paused=lambda: next(answers, False))
    assert [batch.paths for _, batch in told[1:]] == [frozenset([a, b])]


@pytest.mark.parametrize("pauses", [True, False])
def test_whether_a_battery_pauses_it_is_for_the_user_to_say(pauses: bool, tmp_path: Path) -> None:
    asked: list[bool] = []
    made: list[Watcher] = []

    def is_on_battery() -> bool:
        asked.append(True)
        made[0].stop()
        return True

    settings = Settings(pause_on_battery=pauses, watch_polling=True, watch_poll_seconds=0.1)
    made.append(watcher_of(tmp_path, None, settings, tmp_path / ".cairn", is_on_battery))
    told = [batch.reason for _, batch in zip(range(2), made[0].batches(), strict=False)]
    assert told == (["start"] if pauses else ["start", "poll"])
    assert bool(asked) == pauses


def test_only_folders_that_may_hold_a_file_are_watched(checkout: Path) -> None:
    for name in ("src/inner", "node_modules/x", "ignored/x", ".cairn/derived", "empty"):
        (checkout / name).mkdir(parents=True)
    (checkout / ".gitignore").write_text("ignored/\n")
    clock = FakeClock()
    stream = FakeStream(clock, [])
    list(Watcher(checkout, find_repository(checkout), open_stream=stream, clock=clock).batches())
    names = [os.path.relpath(folder, checkout) for folder in stream.opened[-1]]
    assert names == [".", ".git", "empty", "src", "src/inner"]


def test_a_tracked_file_in_an_ignored_folder_is_watched(checkout: Path, git: Git) -> None:
    (checkout / "build").mkdir()
    (checkout / "build" / "a.py").write_text("a = 1\n")
    git(checkout, "add", "-f", "build/a.py")
    (checkout / ".gitignore").write_text("build/\n")
    clock = FakeClock()
    stream = FakeStream(clock, [])
    list(Watcher(checkout, find_repository(checkout), open_stream=stream, clock=clock).batches())
    assert str(checkout / "build") in stream.opened[-1]


def test_a_new_folder_is_watched_before_its_batch_is_told(tmp_path: Path) -> None:
    clock = FakeClock()
    stream = FakeStream(clock, [(1.0, [str(tmp_path / "new")])])
    told = Watcher(tmp_path, None, open_stream=stream, clock=clock).batches()
    next(told)
    (tmp_path / "new").mkdir()
    assert next(told).reason == "changes"
    assert stream.opened[-1] == [str(tmp_path), str(tmp_path / "new")]


def test_where_the_system_reports_nothing_it_is_looked_for_instead(tmp_path: Path) -> None:
    def refuse(folders: Collection[str], stop: threading.Event) -> FakeStream:
        raise OSError(28, "OS file watch limit reached")

    watcher = Watcher(tmp_path, None, open_stream=refuse, poll_seconds=0.1)
    told = watcher.batches()
    first = next(told)
    assert "watch limit reached" in first.note
    assert watcher.polling
    assert next(told) == Batch("poll")
    watcher.stop()
    assert list(told) == []


def test_a_failed_update_is_tried_again_later_and_later(tmp_path: Path) -> None:
    clock = FakeClock()
    stream = FakeStream(clock, [(60.0, [])])
    watcher = Watcher(tmp_path, None, open_stream=stream, clock=clock)
    failures = iter([StoreError("disk full"), StoreError("disk full"), StoreError("disk full"), None])
    times: list[float] = []

    def update(batch: Batch) -> IndexReport:
        times.append(clock.steady() - 1_000)
        if (error := next(failures)) is not None:
            raise error
        watcher.stop()
        return REPORT

    done = list(follow(watcher, update, StoreError))
    assert [one.batch.reason for one in done] == ["start", "retry", "retry", "retry"]
    assert [one.report for one in done] == [None, None, None, REPORT]
    assert [str(one.error) for one in done[:3]] == ["disk full"] * 3
    assert times == [0, 1, 3, 7]


def test_an_error_that_is_not_to_be_survived_ends_it(tmp_path: Path) -> None:
    clock = FakeClock()
    stream = FakeStream(clock, [])

    def update(batch: Batch) -> IndexReport:
        raise KeyError

    with pytest.raises(KeyError):
        list(follow(Watcher(tmp_path, None, open_stream=stream, clock=clock), update, StoreError))
    assert stream.closed >= 1


def test_when_the_folder_is_gone_there_is_nothing_to_try_again(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    clock = FakeClock()

    def update(batch: Batch) -> IndexReport:
        (tmp_path / "root").rmdir()
        raise PathError("gone")

    with pytest.raises(PathError):
        list(
            follow(Watcher(tmp_path / "root", None, open_stream=FakeStream(clock, []), clock=clock), update, PathError)
        )


def test_few_paths_are_an_edit_and_many_are_a_switch() -> None:
    assert Batch("changes", frozenset("a")).is_edit
    assert not Batch("changes", frozenset(map(str, range(watch.FEW_PATHS + 1)))).is_edit
    assert not Batch("start").is_edit


class PromptStream(FakeStream):
    """Tells at once what has changed."""

    is_prompt = True

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock, [])
        self.saved: set[str] = set()
        self.woken = threading.Semaphore(0)
        self.is_settled = True

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        if timeout_seconds:
            self.woken.acquire()
        told, self.saved = frozenset(self.saved), set()
        self.is_settled = self.is_settled and not told
        return told

    def settle(self) -> None:
        self.is_settled = True

    def is_quiet(self) -> bool:
        return self.is_settled and not self.saved

    def wake(self) -> None:
        self.woken.release()


@contextmanager
def following(watcher: Watcher, update: Callable[[Batch], IndexReport] = lambda _: REPORT) -> Iterator[list[Batch]]:
    """Follow a watcher in a thread, from when its first batch is done; yield the batches so far."""
    told: list[Batch] = []
    begun = threading.Event()

    def run() -> None:
        for done in follow(watcher, update, StoreError):
            told.append(done.batch)
            begun.set()

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait(30)
    try:
        yield told
    finally:
        watcher.stop()
        thread.join(30)
        assert not thread.is_alive()


def test_who_asks_waits_for_what_was_saved_before_and_for_nothing_else(checkout: Path) -> None:
    stream = PromptStream(FakeClock())
    watcher = Watcher(checkout, find_repository(checkout), open_stream=stream, clock=stream.clock)
    with following(watcher) as told:
        assert watcher.catch_up() is True
        assert watcher.catch_up() is True
        assert [batch.reason for batch in told] == ["start"]
        stream.saved.add(path := str(checkout / "a.py"))
        assert watcher.catch_up() is True
        assert told[1:] == [Batch("changes", frozenset([path]), is_exact=True, is_awaited=True)]
        stream.saved.add(str(checkout / "a.pyc"))  # which cannot be indexed
        assert watcher.catch_up() is True
        assert len(told) == 2
    assert watcher.catch_up() is None


def test_who_asks_does_not_wait_for_the_battery(tmp_path: Path) -> None:
    stream = PromptStream(FakeClock())
    watcher = Watcher(tmp_path, None, open_stream=stream, clock=stream.clock, is_paused=lambda: True)
    with following(watcher) as told:
        stream.saved.add(str(tmp_path / "a.py"))
        assert watcher.catch_up() is True
        assert len(told) == 2


def test_where_news_come_late_who_asks_has_everything_compared(tmp_path: Path) -> None:
    stream = PromptStream(FakeClock())
    stream.is_prompt = False
    stream.is_quiet = lambda: False  # type: ignore[method-assign] # as `ChangeStream` does
    watcher = Watcher(tmp_path, None, open_stream=stream, clock=stream.clock)
    with following(watcher) as told:
        assert watcher.catch_up() is True
    assert told[1:] == [Batch("poll", is_awaited=True)]
    polled = Watcher(tmp_path, None, polling=True, poll_seconds=3_600)
    with following(polled) as told:
        assert polled.catch_up() is True
    assert told[1:] == [Batch("poll", is_awaited=True)]


def test_an_answer_waits_no_longer_than_it_should_and_not_at_all_after_a_failure(tmp_path: Path) -> None:
    stream = PromptStream(FakeClock())
    watcher = Watcher(tmp_path, None, open_stream=stream, clock=stream.clock)
    go_on = threading.Event()

    def update(batch: Batch) -> IndexReport:
        if batch.reason == "changes":
            go_on.wait(30)
            raise StoreError("disk full")
        return REPORT

    with following(watcher, update):
        stream.saved.add(str(tmp_path / "a.py"))
        assert watcher.catch_up(0.1) is False
        threading.Timer(0.1, go_on.set).start()
        while watcher.catch_up(30) is False:
            pass
        assert watcher.catch_up(30) is None


def test_a_rule_outside_of_the_project_that_changed_has_everything_compared(checkout: Path) -> None:
    (checkout / "sub").mkdir()
    stream = PromptStream(FakeClock())
    watcher = Watcher(checkout / "sub", find_repository(checkout), open_stream=stream, clock=stream.clock)
    with following(watcher) as told:
        assert watcher.catch_up() is True
        (checkout / "rules").write_text("a.py\n")
        (checkout / "rules").rename(
            checkout / ".gitignore"
        )  # at once: the thread may look between creating and writing
        assert watcher.catch_up() is True
        assert [(batch.reason, batch.is_exact) for batch in told[1:]] == [("changes", False)]
        assert watcher.catch_up() is True
        assert len(told) == 2


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    (tmp_path / "root").mkdir()
    one = Watcher(tmp_path / "root", None)
    yield one
    one.stop()


def news_descriptors() -> int:
    """Return through how many descriptors the system reports changes to this process."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # closed meanwhile, such as that of the list itself
            count += os.readlink(f"/proc/self/fd/{name}") == "anon_inode:inotify"
    return count


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does soon: one of the watcher's own gives descriptors back behind its closing."""
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="only Linux lists descriptors so")
def test_real_edits_are_told_and_descriptors_stay_constant(watcher: Watcher, tmp_path: Path) -> None:
    told = watcher.batches()
    next(told)
    if watcher.polling:
        pytest.skip("this system reports no changes")
    before = news_descriptors()
    for number in range(6):
        folder = tmp_path / "root" / f"folder_{number}"
        folder.mkdir()
        next(told)
        (folder / "a.py").write_text("a = 1\n")
        assert str(folder / "a.py") in next(told).paths
    # Not more: those of watchers that were closed before this test may have been given back since.
    wait_for(lambda: news_descriptors() <= before)
    assert 0 < news_descriptors() <= before
    told.close()
    wait_for(lambda: news_descriptors() < before)
    assert news_descriptors() < before


def test_a_watcher_stops_from_another_thread(watcher: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "TICK_SECONDS", 600.0)  # so that it is the stop that ends the wait
    told = watcher.batches()
    next(told)
    threading.Timer(0.2, watcher.stop).start()
    begun = time.monotonic()
    assert list(told) == []
    assert time.monotonic() - begun < 60
