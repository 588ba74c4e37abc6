from __future__ import annotations

import threading

from cairn.index.demand import Demand


def test_what_was_met_needs_no_waiting() -> None:
    demand = Demand()
    first, second = demand.raise_one(), demand.raise_one()
    demand.meet(second)
    assert (demand.wait(first, 0.0), demand.wait(second, 0.0)) == (True, True)
    assert not demand.is_open(second)


def test_a_later_question_is_not_met_by_what_began_before_it() -> None:
    demand = Demand()
    demand.meet(demand.raise_one())
    late = demand.raise_one()
    assert demand.is_open(late)
    assert demand.wait(late, 0.0) is False


def test_who_waits_is_told_when_it_is_met_and_when_it_is_refused() -> None:
    demand = Demand()
    number = demand.raise_one()
    threading.Timer(0.05, demand.meet, [number]).start()
    assert demand.wait(number, 60.0) is True
    number = demand.raise_one()
    threading.Timer(0.05, demand.refuse).start()
    assert demand.wait(number, 60.0) is None
    assert demand.is_open(demand.raise_one())
    demand.refuse(for_good=True)
    assert demand.wait(demand.raise_one(), 60.0) is None


def test_once_one_has_waited_in_vain_the_others_hardly_wait() -> None:
    demand = Demand()
    demand.wait(demand.raise_one(), 0.0)
    assert demand.wait(demand.raise_one(), 3_600.0) is False
