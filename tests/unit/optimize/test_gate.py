"""Only what is better on unseen questions, and because of the questions, passes."""

from __future__ import annotations

from cairn.optimize.asking import AskedExample, Score
from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.gate import FEWEST, JudgedExample, judge
from cairn.optimize.metrics import file_match, ndcg

FILES = [f"src/{number}.py" for number in range(12)]


def judged(number: int, wanted: str, before: list[str], after: list[str], seconds: float = 0.01) -> JudgedExample:
    example = Example(f"question {number}", (WantedFile(wanted),), group=str(number))
    scores = [
        Score(ndcg(paths, {wanted: 1.0}), ndcg(paths, {wanted: 1.0}), file_match(paths, {wanted: 1.0}))
        for paths in (before, after)
    ]
    return JudgedExample(
        example, "given questions", AskedExample(tuple(before), 0.01), AskedExample(tuple(after), seconds), *scores
    )


def first(path: str) -> list[str]:
    return [path, *(file for file in FILES if file != path)][:10]


def test_what_answers_each_question_better_passes() -> None:
    cases = [judged(n, FILES[n % 9], FILES[2:12], first(FILES[n % 9])) for n in range(60)]
    verdict = judge(cases, 1)
    assert verdict.reasons == ()
    assert verdict.gain.low > 0 < verdict.own_gain.low
    assert verdict.after["ndcg"] == 1.0


def test_what_is_learned_as_well_from_exchanged_labels_is_no_reason() -> None:
    cases = [judged(n, FILES[0], FILES[2:12], first(FILES[0])) for n in range(60)]
    assert judge(cases, 1, [[0.0] * 60]).reasons == ()
    reason = "it gains no more than what is learned from right files exchanged at random"
    assert judge(cases, 1, [[0.0] * 60, [1.0] * 60]).reasons == (reason,)


def test_a_gain_that_may_be_chance_does_not_pass() -> None:
    cases = [judged(n, FILES[3], first(FILES[n % 2 * 3]), first(FILES[(n + 1) % 2 * 3])) for n in range(60)]
    assert any("not certain" in reason for reason in judge(cases, 1).reasons)


def test_too_few_questions_and_slower_answers_do_not_pass() -> None:
    few = [judged(n, FILES[n % 9], FILES[2:12], first(FILES[n % 9])) for n in range(FEWEST - 1)]
    assert "are needed" in judge(few, 1).reasons[0]
    slow = [judged(n, FILES[n % 9], FILES[2:12], first(FILES[n % 9]), seconds=0.05) for n in range(60)]
    assert judge(slow, 1).reasons == ("answers take 50.0 ms in place of 10.0 ms",)


def test_a_kind_of_question_that_gets_worse_does_not_pass() -> None:
    better = [judged(n, FILES[n % 9], FILES[2:12], first(FILES[n % 9])) for n in range(60)]
    worse = [judged(n, FILES[n % 9], first(FILES[n % 9]), FILES[2:12])._replace(kind="others") for n in range(16)]
    assert any(reason.startswith("others fall by") for reason in judge([*better, *worse], 1).reasons)


def test_longer_answers_and_lost_names_do_not_pass() -> None:
    better = [judged(n, FILES[n % 9], FILES[2:12], first(FILES[n % 9])) for n in range(60)]
    long = [
        one._replace(before=one.before._replace(tokens=100), after=one.after._replace(tokens=120)) for one in better
    ]
    assert judge(long, 1).reasons == ("answers have 120 tokens in place of 100",)
    lost = [
        one._replace(
            score_before=one.score_before._replace(function=0.9), score_after=one.score_after._replace(function=0.8)
        )
        for one in better
    ]
    assert judge(lost, 1).reasons == ("the share of wanted names among ten hits falls from 0.900 to 0.800",)


def test_answers_that_changed_most_are_told_without_what_somebody_asked() -> None:
    better = [judged(n, FILES[n % 9], FILES[2:12], first(FILES[n % 9])) for n in range(60)]
    of_commits = [one._replace(example=one.example._replace(source="history")) for one in better[::2]]
    n_better = sum(one.score_after.ndcg > one.score_before.ndcg for one in [*of_commits, *better])
    worse = [judged(60 + n, FILES[3], first(FILES[3]), FILES[4:12]) for n in range(3)]
    verdict = judge([*of_commits, *worse, *better], 1)
    assert (verdict.n_better, verdict.n_worse, len(verdict.changed)) == (n_better, 3, 13)
    gains = [one.after - one.before for one in verdict.changed]
    assert gains == sorted(gains, reverse=True)
    assert [one.group for one in verdict.changed[10:]] == ["60", "61", "62"]
    assert {one.text[:8] for one in verdict.changed[:10]} <= {"question", ""}
    assert {one.text for one in verdict.changed[10:]} == {""}
    few = judge([*of_commits[2:4], *worse], 1)
    assert (few.n_better, few.n_worse, len(few.changed)) == (2, 3, 5)
