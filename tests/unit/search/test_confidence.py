from __future__ import annotations

from cairn.search.confidence import HIGH, relevance, relevances
from cairn.search.rank import Ranked, Ranking


def ranking_of(*scores: tuple[float, float], n_named: int = 0) -> Ranking:
    """Return a ranking of one row a file with these scores and cosines."""
    rows = [Ranked(number, number, score, None, dense, 0.0) for number, (score, dense) in enumerate(scores)]
    return Ranking(rows, 1.0, n_named=n_named)


def test_a_hit_is_no_surer_than_those_above_it() -> None:
    ranking = ranking_of((2.0, 0.4), (1.99, 0.9), (0.5, 0.1))
    assert relevance(ranking, 1) > relevance(ranking, 0)
    chances = relevances(ranking, 3)
    assert chances == sorted(chances, reverse=True)
    assert chances[1] == chances[0] == relevance(ranking, 0)


def test_the_only_definition_of_a_name_is_sure_and_several_share_its_chance() -> None:
    assert relevances(ranking_of((0.5, 0.1), (0.4, 0.1), n_named=1), 2)[0] >= HIGH
    assert relevances(ranking_of((0.5, 0.1), (0.4, 0.1), n_named=2), 2)[0] < HIGH
