"""A project's words come to stand for names of its code once enough questions of enough sessions say so."""

from __future__ import annotations

from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.from_history import learn_wordings
from cairn.optimize.vocabulary import learn_expansions

FILES = ("shelf", "drawer", "cellar", "barrel", "basket", "locker")
OTHERS = [Example(f"where is the {word} kept", (WantedFile(f"src/{word}.py"),), group=word) for word in FILES]


def asked(texts: list[str], groups: list[str]) -> list[Example]:
    return [
        Example(text, (WantedFile("src/wallet.py"),), group=group) for text, group in zip(texts, groups, strict=True)
    ]


QUESTIONS = ["empty the purse", "who fills a purse", "purse limits"]


def test_a_word_stands_for_the_name_that_three_questions_of_two_sessions_wanted() -> None:
    found = learn_expansions([*asked(QUESTIONS, ["1", "1", "2"]), *OTHERS])
    assert found["purs"] == (("wallet", 1.0),)


def test_one_session_or_two_questions_teach_nothing() -> None:
    assert "purs" not in learn_expansions([*asked(QUESTIONS, ["1", "1", "1"]), *OTHERS])
    assert "purs" not in learn_expansions([*asked(QUESTIONS[:2], ["1", "2"]), *OTHERS])
    assert "purs" not in learn_expansions([*asked([QUESTIONS[0]] * 3, ["1", "2", "3"]), *OTHERS])


def test_a_file_that_all_questions_want_is_not_what_a_word_stands_for() -> None:
    texts = [f"the {word} of {other}" for word in ("purse", "saddle", "anvil") for other in ("red", "blue", "green")]
    assert learn_expansions(asked(texts, [str(number) for number in range(len(texts))])) == {}


def test_openings_are_first_words_that_stand_seldom_elsewhere() -> None:
    subjects = ["Teach the parser tabs", "Teaches lists", "core: teach maps", "Parser", "Parser of maps", "Parser bugs"]
    subjects += [
        "Tidy parser",
        "New parser",
        "Another parser",
        "Old parser",
        "Good parser",
        "How the lexer works",
        "How it ends",
        "How now",
    ]
    assert learn_wordings(subjects).openings == {"teach"}


def test_scopes_are_what_three_subjects_name_in_front() -> None:
    subjects = ["router: a", "fix(router): b", "[router] c", "fix: d", "fix: e", "fix: f", "cache: g", "cache: h"]
    assert learn_wordings(subjects).scopes == {"router"}
