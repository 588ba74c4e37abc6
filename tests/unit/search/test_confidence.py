from __future__ import annotations

from cairn.search.confidence import GUESSED, HIGH, is_hopeless, relevance, relevances
from cairn.search.rank import Ranked, Ranking


def ranking_of(*scores: tuple[float, float], n_named: int = 0, for_work_item: bool = False) -> Ranking:
    """Return a ranking of one row a file with these scores and cosines."""
    rows = [Ranked(number, number, score, None, dense, 0.0) for number, (score, dense) in enumerate(scores)]
    return Ranking(rows, 1.0, n_named=n_named, for_work_item=for_work_item)


def test_a_hit_is_no_surer_than_those_above_it() -> None:
    ranking = ranking_of((2.0, 0.4), (1.99, 0.9), (0.5, 0.1))
    assert relevance(ranking, 1) > relevance(ranking, 0)
    chances = relevances(ranking, 3)
    assert chances == sorted(chances, reverse=True)
    assert chances[1] == chances[0] == relevance(ranking, 0)


def test_the_only_definition_of_a_name_is_sure_and_several_share_its_chance() -> None:
    assert relevances(ranking_of((0.5, 0.1), (0.4, 0.1), n_named=1), 2)[0] >= HIGH
    assert relevances(ranking_of((0.5, 0.1), (0.4, 0.1), n_named=2), 2)[0] < HIGH


def test_a_high_score_alone_makes_the_hit_of_a_work_item_less_sure_than_that_of_a_question() -> None:
    scores = ((2.6, 0.6), (2.5, 0.6))
    assert relevance(ranking_of(*scores), 0) >= HIGH > relevance(ranking_of(*scores, for_work_item=True), 0)


def test_a_file_that_says_little_of_a_question_is_no_sure_answer_to_it() -> None:
    sure = ranking_of((2.6, 0.6), (1.0, 0.2))
    assert relevance(sure, 0) >= HIGH
    (first, *others) = sure.rows
    assert relevance(sure._replace(rows=[first._replace(cover=0.4), *others]), 0) <= GUESSED


def test_what_commits_add_to_a_score_makes_no_answer_to_a_question_surer() -> None:
    ranking = ranking_of((2.6, 0.6), (1.0, 0.2))
    (first, *others) = ranking.rows
    by_commits = ranking._replace(rows=[first._replace(by_history=0.4), *others])
    assert relevance(by_commits, 0) < relevance(ranking, 0)
    as_work_item = by_commits._replace(for_work_item=True)
    assert relevance(as_work_item, 0) == relevance(ranking._replace(for_work_item=True), 0)


def test_whether_anything_is_found_depends_on_the_same_chance_for_both() -> None:
    for scores in (((0.2, 0.0),), ((1.0, 0.3),)):
        assert is_hopeless(ranking_of(*scores)) == is_hopeless(ranking_of(*scores, for_work_item=True))
