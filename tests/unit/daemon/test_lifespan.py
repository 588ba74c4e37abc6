from __future__ import annotations

import gc
from pathlib import Path

from cairn.daemon.lifespan import clear_garbage
from serving import make_app


def n_full() -> int:
    """Return how often all garbage was collected."""
    return int(gc.get_stats()[2]["collections"])


def test_garbage_is_collected_once_behind_requests_and_not_again_before_there_are_others(tmp_path: Path) -> None:
    daemon = make_app(tmp_path / "state").daemon
    with daemon.count_request():
        pass
    before = n_full()
    n_cleared = clear_garbage(daemon, 0)
    assert (n_cleared, n_full()) == (1, before + 1)
    assert clear_garbage(daemon, n_cleared) == 1
    assert n_full() == before + 1


def test_no_garbage_is_collected_while_a_question_is_under_way(tmp_path: Path) -> None:
    daemon = make_app(tmp_path / "state").daemon
    before = n_full()
    with daemon.count_request():
        assert clear_garbage(daemon, 0) == 0
    assert n_full() == before
