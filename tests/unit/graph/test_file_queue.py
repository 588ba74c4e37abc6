"""Files of a question are read in an order in which something is found soon, and none is lost."""

from __future__ import annotations

from collections.abc import Callable

from cairn.graph.file_queue import FileQueue


def always() -> bool:
    return True


def never() -> bool:
    return False


def is_even(number: int) -> bool:
    return number % 2 == 0


def says_all(_: int) -> bool:
    return True


def taken_from(queue: FileQueue, count: int, may_look_on: Callable[[], bool] = always) -> list[int]:
    taken: list[int] = []
    while some := queue.take(count, always, may_look_on):
        assert len(some) <= count
        taken += some
    return taken


def test_likely_files_come_first_and_the_others_keep_their_order() -> None:
    queue = FileQueue([1, 2, 3, 4, 5, 6], says_all, is_even)
    assert taken_from(queue, 2) == [2, 4, 6, 1, 3, 5]
    assert not queue


def test_files_that_do_not_say_the_name_are_left_out() -> None:
    assert taken_from(FileQueue(range(9), is_even), 4) == [0, 2, 4, 6, 8]


def test_files_are_read_as_they_come_once_there_is_no_time_to_look_for_likely_ones() -> None:
    assert taken_from(FileQueue([1, 3, 2, 5], says_all, is_even), 1, never) == [1, 3, 2, 5]
    assert taken_from(FileQueue([2, 1, 4], says_all, is_even), 1, never) == [2, 4, 1]  # there is a likely one


def test_a_likely_file_does_not_wait_until_all_texts_were_looked_at() -> None:
    looked_at: list[int] = []

    def says(number: int) -> bool:
        looked_at.append(number)
        return True

    queue = FileQueue([*range(1, 100, 2), 0, *range(101, 10_001, 2)], says, is_even)
    assert queue.take(5, always, always) == [0]
    assert len(looked_at) < 100


def test_without_time_nothing_is_taken_and_nothing_is_lost() -> None:
    queue = FileQueue([1, 2, 3], says_all, is_even)
    assert queue.take(2, never, always) == []
    assert queue.files == [1, 2, 3]


def test_what_was_put_back_comes_next_and_what_is_added_last() -> None:
    queue = FileQueue([2, 4, 6, 8], says_all, is_even)
    assert queue.take(3, always, always) == [2, 4, 6]
    queue.put_back([4, 6])
    queue.extend([10])
    assert sorted(queue.files) == [4, 6, 8, 10]
    assert taken_from(queue, 10) == [4, 6, 8, 10]


def test_only_likely_files_are_taken_where_no_others_are_wanted() -> None:
    queue = FileQueue([1, 2, 3], says_all, is_even)
    assert queue.take(5, always, always, only_likely=True) == [2]
    assert queue.take(5, always, always, only_likely=True) == []
    assert queue.take(5, always, always) == [1, 3]
