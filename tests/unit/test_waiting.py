from __future__ import annotations

import threading

import pytest

from cairn.errors import BusyError
from cairn.waiting import Asker, GiveWay, check, give_way


def test_work_goes_on_while_somebody_waits_for_it_and_when_nobody_ever_did() -> None:
    check()
    with Asker().serve():
        check()


def test_work_stops_once_whoever_asked_is_gone_and_that_of_others_goes_on() -> None:
    gone, here = Asker(), Asker()
    gone.leave()
    with here.serve():
        with gone.serve(), pytest.raises(BusyError, match="nobody is waiting"):
            check()
        check()
    check()


def test_an_asker_is_that_of_one_thread() -> None:
    asker, outcome = Asker(), []
    asker.leave()

    def work() -> None:
        check()
        outcome.append("done")

    with asker.serve():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert outcome == ["done"]


def test_only_work_in_haste_gives_way_before_it_becomes_slow() -> None:
    give_way()
    with Asker().serve():
        give_way()
    with Asker(in_haste=True).serve(), pytest.raises(GiveWay):
        give_way()
