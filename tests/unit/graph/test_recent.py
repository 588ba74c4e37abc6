from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cairn.graph.memo import Memo
from cairn.graph.recent import Recent, Unfinished


def test_what_was_used_last_stays_and_the_rest_goes() -> None:
    kept: Recent[int, int] = Recent(20, lambda _: 1)
    for number in range(100):
        kept.put(number, number)
        assert kept.get(0) == 0
    assert kept.get(99) == 99
    assert kept.get(50) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), max_size=60))
def test_what_is_kept_never_weighs_more_than_allowed_but_for_the_last(puts: list[tuple[int, int]]) -> None:
    kept: Recent[int, int] = Recent(40, lambda weight: weight)
    for key, weight in puts:
        assert kept.put(key, weight) == weight
        assert kept.get(key) == weight
        found = [one for other in range(10) if other != key and (one := kept._older.get(other)) is not None]
        assert sum(found) <= 40


def test_what_was_cleared_is_gone() -> None:
    kept: Recent[str, int] = Recent(10, lambda _: 1)
    kept.put("a", 1)
    kept.clear()
    assert kept.get("a") is None


def test_a_memory_forgets_what_was_not_asked_for_lately_and_finds_it_again() -> None:
    memory = Memo(limit=10)
    asked: list[int] = []

    def square(number: int) -> int:
        def find() -> int:
            asked.append(number)
            return number * number

        return memory.recall(number, -1, find)

    for number in range(100):
        assert square(number) == number * number
        assert square(0) == 0
    assert asked == list(range(100))
    assert square(3) == 9
    assert asked[-1] == 3


def test_unfinished_work_is_taken_once_and_the_oldest_gives_way() -> None:
    unfinished: Unfinished[str] = Unfinished(2)
    for key in "abc":
        unfinished.keep(key, key.upper())
    assert unfinished.take("a") is None
    assert unfinished.take("b") == "B"
    assert unfinished.take("b") is None
    assert unfinished.take("c") == "C"
