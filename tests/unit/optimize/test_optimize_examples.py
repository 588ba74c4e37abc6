from __future__ import annotations

from cairn.optimize.examples import Example, WantedFile, limit_groups


def _example(text: str, group: str, seconds: float) -> Example:
    return Example(text, (WantedFile("a.py"),), group=group, seconds=seconds)


def test_of_a_group_the_newest_examples_are_kept_in_their_order() -> None:
    examples = [_example(f"question {number}", "s", float(number)) for number in (3, 1, 2)]
    assert [example.text for example in limit_groups(examples, 2)] == ["question 2", "question 3"]


def test_examples_without_a_group_are_not_limited() -> None:
    assert len(limit_groups([_example("question", "", 0.0)] * 5, 2)) == 5


def test_equal_times_keep_the_order_of_the_examples() -> None:
    examples = [_example(name, name, 0.0) for name in ("b", "a", "c")]
    assert [example.text for example in limit_groups(examples, 1)] == ["b", "a", "c"]
