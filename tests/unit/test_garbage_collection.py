from __future__ import annotations

import gc

from cairn.garbage_collection import RARELY, collect_rarely


def test_cycles_are_sought_rarely_until_the_last_is_done() -> None:
    before = gc.get_threshold()
    with collect_rarely():
        with collect_rarely():
            assert gc.get_threshold() == RARELY
        assert gc.get_threshold() == RARELY
    assert gc.get_threshold() == before


def test_a_process_that_seeks_them_more_rarely_goes_on_doing_so() -> None:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 1_000)
    try:
        with collect_rarely():
            assert gc.get_threshold() == (RARELY[0], RARELY[1], 1_000)
        assert gc.get_threshold() == (700, 10, 1_000)
    finally:
        gc.set_threshold(*before)
