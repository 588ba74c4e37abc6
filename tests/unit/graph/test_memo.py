"""What was found out is found once, with what it needs, and the same whichever way circles are entered."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from cairn.graph.memo import Memo, content_of, namesakes_of, place_called


class Words:
    """Asks a word for the words it is made of, and remembers what that gives; a word that leads to itself is `?`."""

    def __init__(self, made_of: Mapping[str, Sequence[str]]) -> None:
        self.memo = Memo()
        self.asked: list[str] = []
        self._made_of = made_of

    def text(self, word: str) -> str:
        return self.memo.recall(word, "?", lambda: self._find(word))

    def _find(self, word: str) -> str:
        self.asked.append(word)
        self.memo.need(ord(word))
        return word + "".join(self.text(part) for part in self._made_of.get(word, ()))


def test_what_was_found_is_not_looked_for_again() -> None:
    words = Words({"a": "bb"})
    assert [words.text("a"), words.text("b")] == ["abb", "b"]
    assert words.asked == ["a", "b"]


def test_what_is_found_needs_what_its_parts_need_also_when_they_were_found_before() -> None:
    words = Words({"a": "b", "b": "c", "d": "b"})
    assert words.text("a") == "abc"
    with words.memo.noting() as needs:
        words.text("d")
    assert needs == {ord(letter) for letter in "dbc"}


def test_a_value_in_a_circle_is_the_same_whoever_asks_first() -> None:
    made_of = {"a": "bx", "b": "c", "c": "ay", "x": "c"}
    expected = {word: Words(made_of).text(word) for word in made_of}
    assert expected["a"] == "abc?yxc?y"
    for order in itertools.permutations(made_of):
        words = Words(made_of)
        assert {word: words.text(word) for word in order} == expected


def test_a_failure_leaves_nothing_half_open() -> None:
    words = Words({})

    def fail() -> str:
        raise LookupError

    for _ in range(2):
        try:
            words.memo.recall("a", "", fail)
        except LookupError:
            continue
    assert words.text("a") == "a"


def test_needs_of_different_kinds_differ() -> None:
    assert len({content_of("a"), namesakes_of("a"), place_called("a")}) == 3


def test_what_is_forgotten_is_found_again() -> None:
    memo = Memo()
    answers = iter((1, 2))
    assert [memo.recall("key", 0, lambda: next(answers)) for _ in range(2)] == [1, 1]
    memo.forget()
    assert memo.recall("key", 0, lambda: next(answers)) == 2


def test_what_others_make_up_is_remembered_where_all_of_them_are_known() -> None:
    words = Words({"a": "b", "c": "d", "d": "c"})
    for word in "abcd":
        words.text(word)
    words.memo.combine("ab", ["a", "b"], lambda needs: [sorted(each) for each in needs])
    words.memo.combine("cd", ["c", "d"], lambda _: "both")
    words.memo.combine("ax", ["a", "x"], lambda _: "of what is not known")
    assert words.memo.known("ab") == [[ord("a"), ord("b")], [ord("b")]]
    assert words.memo.known("cd") == "both"
    assert words.memo.known("ax") is None
    with words.memo.noting() as needs:
        words.memo.known("ab")
    assert needs == set()
