from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.memory.feedback import AnsweredQuestion
from cairn.optimize.examples import Example
from cairn.optimize.from_feedback import COMMON, MOST_OF_A_SESSION, from_feedback
from cairn.storage.memory.rows import AskedQuestion, HitUse, ShownHit

Uses = Sequence[tuple[str, str]]


class Asking:
    """Makes answered questions, each a second later than the one before."""

    def __init__(self) -> None:
        self.answered: list[AnsweredQuestion] = []

    def ask(
        self, shown: str, uses: Uses, text: str = "", session: str = "claude-code:s1", symbols: Sequence[str] = ()
    ) -> None:
        """Ask what shows some files, named by letters, and is followed by uses, as `(file, use)`."""
        number = len(self.answered) + 1
        asked = AskedQuestion(session, float(number), "code", text or f"question {number}", len(shown), number=number)
        hits = tuple(ShownHit(number, rank, "", path, 1, 2, "", 0.5) for rank, path in enumerate(shown, 1))
        names = dict(zip(uses, symbols, strict=False))
        used = tuple(HitUse(number, path, names.get((path, use), ""), use, float(number)) for path, use in uses)
        self.answered.append(AnsweredQuestion(asked, hits, used))

    def examples(self, most_of_a_session: int = MOST_OF_A_SESSION) -> list[Example]:
        return from_feedback(self.answered, most_of_a_session).examples

    def left_out(self) -> dict[str, int]:
        return from_feedback(self.answered).left_out


@pytest.fixture
def asking() -> Asking:
    return Asking()


def _wanted(example: Example) -> list[tuple[str, float]]:
    return [(file.path, file.gain) for file in example.wanted]


def test_what_was_used_is_wanted_by_how_much_the_use_says(asking: Asking) -> None:
    asking.ask("abcde", [("b", "read"), ("c", "edited"), ("c", "read"), ("d", "cited"), ("e", "fetched")])
    (example,) = asking.examples()
    assert _wanted(example) == [("c", 1.0), ("d", 0.8), ("b", 0.6), ("e", 0.6)]
    assert (example.group, example.seconds, example.source) == ("claude-code:s1", 1.0, "feedback")


def test_what_was_passed_over_above_is_unwanted_and_what_is_below_says_nothing(asking: Asking) -> None:
    asking.ask("abcdef", [("b", "read"), ("d", "edited")])
    (example,) = asking.examples()
    assert example.unwanted == ("a", "c")


def test_a_question_that_led_to_nothing_says_nothing(asking: Asking) -> None:
    asking.ask("abc", [])
    assert asking.examples() == []
    assert asking.left_out() == {"unused": 1}


def test_what_was_used_after_other_words_was_wanted_before_half_as_much(asking: Asking) -> None:
    asking.ask("abc", [], "limits of a purse")
    asking.ask("dbc", [("d", "edited"), ("b", "read")], "limits of a wallet")
    before, after = asking.examples()
    assert (before.text, _wanted(before)) == ("limits of a purse", [("d", 0.5), ("b", 0.3)])
    assert _wanted(after) == [("d", 1.0), ("b", 0.6)]


def test_another_question_or_session_and_one_with_a_use_are_no_rewordings(asking: Asking) -> None:
    asking.ask("abc", [], "where is the parser")
    asking.ask("abc", [], "limits of a purse", session="claude-code:s2")
    asking.ask("abc", [("a", "edited")], "limits of a wallet")
    asking.ask("abc", [("b", "edited")], "limits of wallets and purses")
    assert [example.text for example in asking.examples()] == ["limits of a wallet", "limits of wallets and purses"]


def test_a_file_that_was_not_shown_is_wanted_if_it_was_edited_and_less_if_it_was_read(asking: Asking) -> None:
    asking.ask("ab", [("x", "edited"), ("y", "read")])
    (example,) = asking.examples()
    assert _wanted(example) == [("x", 1.0), ("y", 0.3)]
    assert example.unwanted == ()


def test_a_first_hit_that_is_all_that_was_opened_counts_half(asking: Asking) -> None:
    asking.ask("ab", [("a", "edited")])
    asking.ask("ab", [("a", "read"), ("b", "edited")])
    first, second = asking.examples()
    assert _wanted(first) == [("a", 0.5)]
    assert _wanted(second) == [("b", 1.0), ("a", 0.6)]


def test_an_agent_that_opens_the_first_hit_whatever_it_is_gives_no_evidence(asking: Asking) -> None:
    letters = "abcdefghijklmnop"
    for number, letter in enumerate(letters):
        asking.ask(letter + "zy", [(letter, "read"), (letter, "edited")], session=f"codex:{number}")
    assert asking.examples() == []
    assert asking.left_out() == {"habit": len(letters)}


def test_a_glance_at_the_first_hit_by_habit_says_nothing_and_what_follows_does(asking: Asking) -> None:
    for letter in "abcdefghijkl":
        asking.ask(letter + "z" + letter.upper(), [(letter, "read"), (letter.upper(), "edited")])
    assert [_wanted(example) for example in asking.examples()] == [[(letter, 1.0)] for letter in "ABCDEFGHIJKL"]
    assert all(example.unwanted == ("z",) or "z" in example.unwanted for example in asking.examples())


def test_what_somebody_says_is_no_habit(asking: Asking) -> None:
    for letter in "abcdefghij":
        asking.ask(letter + "z", [(letter, "good")])
    assert [_wanted(example) for example in asking.examples()] == [[(letter, 1.0)] for letter in "abcdefghij"]


def test_a_file_that_is_used_whatever_is_asked_gives_evidence_divided_by_how_common_it_is(asking: Asking) -> None:
    for number in range(20):
        letter = chr(ord("a") + number)
        asking.ask(f"{letter}ZY", [("Y", "edited"), *([("Z", "edited")] if number < 4 else [])])
    examples = asking.examples()
    assert [_wanted(example) for example in examples] == [[("Z", COMMON / 0.2)]] * 4
    assert asking.left_out() == {"common": 16}
    assert {example.unwanted for example in examples} == {tuple(chr(ord("a") + number)) for number in range(4)}


def test_bad_makes_a_file_unwanted_and_takes_its_other_uses_along(asking: Asking) -> None:
    asking.ask("abc", [("b", "edited"), ("c", "read"), ("c", "bad")])
    asking.ask("abc", [("a", "bad")])
    (example,) = asking.examples()
    assert (_wanted(example), example.unwanted) == ([("b", 1.0)], ("a", "c"))
    assert asking.left_out() == {"unwanted": 1}


def test_a_question_that_a_session_asks_again_is_one_example(asking: Asking) -> None:
    asking.ask("abc", [("b", "read")], text="again")
    asking.ask("bca", [("c", "edited")], text="again")
    asking.ask("abc", [("b", "read")], text="again", session="claude-code:s2")
    first, second = asking.examples()
    assert (_wanted(first), first.seconds) == ([("c", 1.0), ("b", 0.6)], 1.0)
    assert second.group == "claude-code:s2"


def test_questions_of_no_session_are_each_a_group_of_their_own(asking: Asking) -> None:
    asking.ask("abc", [("b", "fetched")], text="same", session="")
    asking.ask("abc", [("c", "fetched")], text="same", session="")
    assert [example.group for example in asking.examples()] == ["question:1", "question:2"]


def test_one_session_gives_no_more_than_the_newest_examples(asking: Asking) -> None:
    for _ in range(30):
        asking.ask("abc", [("b", "good")])
    assert [example.text for example in asking.examples(3)] == []  # `b` is used whatever is asked
    asking.answered.clear()
    for number in range(30):
        asking.ask(f"z{chr(200 + number)}", [(chr(200 + number), "edited")])
    assert [example.text for example in asking.examples(3)] == ["question 28", "question 29", "question 30"]
    assert asking.left_out() == {"limit": 30 - MOST_OF_A_SESSION}


def test_questions_that_held_a_secret_or_are_patterns_are_left_out(asking: Asking) -> None:
    asking.ask("ab", [("b", "edited")], text="who uses [redacted: github-token]")
    asking.ask("ab", [("b", "edited")], text=r"def\s+total\(")
    asking.ask("ab", [("b", "edited")], text="how does total() work")
    assert [example.text for example in asking.examples()] == ["how does total() work"]
    assert asking.left_out() == {"secret": 1, "pattern": 1}


def test_a_definition_that_was_fetched_is_named_if_it_is_the_only_one(asking: Asking) -> None:
    asking.ask("zab", [("a", "fetched"), ("b", "fetched"), ("b", "cited")], symbols=["one", "two", "three"])
    (example,) = asking.examples()
    assert {file.path: file.symbol for file in example.wanted} == {"a": "one", "b": ""}


_PATHS = st.text("abcde", min_size=1, max_size=1)
_USE = st.sampled_from(["read", "fetched", "cited", "edited", "good", "bad"])
_ASKED = st.tuples(
    st.lists(_PATHS, unique=True, max_size=5),
    st.lists(st.tuples(_PATHS, _USE), max_size=6),
    st.sampled_from(["", "claude-code:s1", "claude-code:s2", "codex:s3"]),
    st.sampled_from(["one", "two", "three", "[private]", "a.*b"]),
)


@given(st.lists(_ASKED, max_size=40))
def test_whatever_is_kept_gives_sound_examples_and_every_question_is_accounted_for(
    asked: list[tuple[list[str], list[tuple[str, str]], str, str]],
) -> None:
    asking = Asking()
    for shown, uses, session, text in asked:
        asking.ask("".join(shown), uses, text, session)
    found = from_feedback(asking.answered)
    assert found == from_feedback(asking.answered[::-1])
    assert len(found.examples) + sum(found.left_out.values()) <= found.n_asked == len(asked)
    for example in found.examples:
        paths = [file.path for file in example.wanted]
        assert paths
        assert len(set(paths)) == len(paths)
        assert not set(paths) & set(example.unwanted)
        assert all(0 < file.gain <= 1 for file in example.wanted)


def test_ten_thousand_outcomes_make_examples_all_the_same(asking: Asking) -> None:
    for number in range(2_000):
        uses = [(f"{number % 97}{letter}", "read") for letter in "vwxyz"]
        asking.ask("ab", uses, session=f"claude-code:{number // 10}")
    assert len(asking.examples()) == 2_000
