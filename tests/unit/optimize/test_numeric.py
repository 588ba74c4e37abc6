"""Weights move to what the wanted files have, and stay where nothing speaks for a change."""

from __future__ import annotations

import numpy as np

from cairn.optimize.features import Candidates
from cairn.optimize.metrics import interval_of, ndcg
from cairn.optimize.numeric import between, fit_weights
from cairn.optimize.run import fit_kind
from cairn.search.score import Weights

DOCS, TEST, LEXICAL, HISTORY = map(Weights._fields.index, ("docs", "test", "lexical", "history"))


def examples(count: int, seed: int, wants_docs: bool) -> list[Candidates]:
    dice = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        values = dice.random((12, len(Weights._fields)), dtype=np.float32) * np.float32(0.2)
        values[:, DOCS] = 0.0
        values[3, DOCS] = 1.0
        gains = np.zeros(12, dtype=np.float32)
        gains[3 if wants_docs else int(dice.integers(12))] = 1.0
        found.append(Candidates(values, gains, np.ones(12, dtype=np.bool_)))
    return found


def test_a_feature_of_the_wanted_files_gains_weight() -> None:
    fitted = fit_kind(examples(80, 1, wants_docs=True))
    assert fitted.docs > Weights().docs + 0.2
    assert fitted.generated == Weights().generated


def changes_with_tests(count: int, seed: int) -> list[Candidates]:
    """Return changes of a file of code, for which the history speaks, and of two of its tests, which words tell."""
    dice = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        values = dice.random((30, len(Weights._fields)), dtype=np.float32) * np.float32(0.3)
        is_test = np.arange(30) % 3 == 0
        values[:, TEST] = is_test
        values[(3, 6), LEXICAL] += np.float32(0.5)
        values[4, LEXICAL] += np.float32(0.3)
        values[4, HISTORY] += np.float32(0.5) * dice.random(dtype=np.float32)
        values[6, LEXICAL] += np.float32(0.5) * dice.random(dtype=np.float32)
        gains = np.isin(np.arange(30), (3, 4, 6)).astype(np.float32)
        found.append(Candidates(values, gains, ~is_test))
    return found


def mean_place_of_code(examples: list[Candidates], weights: Weights) -> float:
    orders = [np.argsort(-(one.values @ np.array(weights, dtype=np.float32))).tolist() for one in examples]
    return float(np.mean([order.index(4) for order in orders]))


def test_what_is_gained_for_code_is_not_spent_on_the_tests_that_changes_touch() -> None:
    fitted = fit_kind(changes_with_tests(160, 6))
    later = changes_with_tests(80, 7)
    assert fitted.test <= Weights().test
    assert mean_place_of_code(later, fitted) < mean_place_of_code(later, Weights()) - 1


def test_weights_stay_near_the_shipped_ones_where_labels_are_random() -> None:
    fitted = fit_weights(examples(200, 2, wants_docs=False), Weights(), pull=0.2)
    assert max(abs(one - other) for one, other in zip(fitted, Weights(), strict=True)) < 0.5  # 1.3 with labels


def test_the_same_examples_give_the_same_weights() -> None:
    assert fit_kind(examples(80, 3, wants_docs=True)) == fit_kind(examples(80, 3, wants_docs=True))


def test_a_share_of_the_way_lies_between() -> None:
    assert between(Weights(), Weights(docs=0.65), 0.5).docs == 0.1


def test_ndcg_counts_gains_and_ranks() -> None:
    assert ndcg(["a", "b"], {"a": 1.0}) == 1.0
    assert ndcg(["b", "a"], {"a": 1.0}) == 1 / np.log2(3)
    assert ndcg(["b", "a"], {"a": 1.0, "b": 0.5}) < 1.0
    assert ndcg([], {}) == 0.0


def test_an_interval_holds_its_mean_and_grows_with_the_spread() -> None:
    narrow, wide = interval_of([0.5] * 40), interval_of([0.0, 1.0] * 20)
    assert (narrow.low, narrow.high) == (0.5, 0.5)
    assert wide.low < 0.5 < wide.high
    assert interval_of([]).questions == 0
