import math

import pytest

from metrics import Hit, Target, first_per_file, matches, ndcg, path_matches, percentile, target_ranks


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("src/unix/core.c", "src/unix/core.c", True),
        ("unix/core.c", "src/unix/core.c", True),
        ("src/unix/core.c", "core.c", True),
        ("unix/core.c", "win/core.c", False),
        ("re.c", "src/unix/core.c", False),
    ],
)
def test_paths_match_when_one_ends_in_the_whole_parts_of_the_other(one: str, other: str, expected: bool) -> None:
    assert path_matches(one, other) is expected
    assert path_matches(other, one) is expected


@pytest.mark.parametrize(
    ("start", "end", "expected"), [(1, 9, False), (1, 10, True), (12, 13, True), (20, 30, True), (21, 30, False)]
)
def test_a_target_with_lines_must_be_overlapped(start: int, end: int, expected: bool) -> None:
    target = Target.from_label({"path": "lib/a.py", "start_line": 10, "end_line": 20})
    assert matches(Hit("a.py", start, end), target) is expected
    assert not matches(Hit("b.py", start, end), target)


def test_a_target_without_lines_is_any_part_of_the_file() -> None:
    assert matches(Hit("a.py", 500, 600), Target.from_label("lib/a.py"))


def test_ranks_are_those_of_each_targets_first_hit() -> None:
    hits = [Hit("b.py", 1, 5), Hit("a.py", 1, 5), Hit("b.py", 9, 12), Hit("a.py", 9, 12)]
    targets = [Target("a.py"), Target("b.py", 10, 11), Target("c.py")]
    assert target_ranks(hits, targets) == [2, 3, None]


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([1], 1.0),
        ([2], 1 / math.log2(3)),
        ([10], 1 / math.log2(11)),
        ([11], 0.0),
        ([None], 0.0),
        ([], 0.0),
        ([2, 1], 1.0),
        ([1, 3], (1 + 0.5) / (1 + 1 / math.log2(3))),
        ([3, None, None], 0.5 / (1 + 1 / math.log2(3) + 0.5)),
        ([1, 1], 1 / (1 + 1 / math.log2(3))),  # one result that answers two targets gains once
    ],
)
def test_ndcg_by_hand(ranks: list[int | None], expected: float) -> None:
    assert ndcg(ranks) == pytest.approx(expected)


def test_the_ideal_has_no_more_targets_than_the_limit() -> None:
    assert ndcg(list(range(1, 13))) == pytest.approx(1.0)
    assert ndcg([1, None, None], limit=1) == pytest.approx(1.0)


def test_the_file_rule_keeps_the_best_hit_of_each_file() -> None:
    hits = [Hit("a", 1, 2), Hit("b", 1, 2), Hit("a", 5, 6), Hit("c", 1, 2), Hit("b", 3, 4)]
    assert first_per_file(hits) == [Hit("a", 1, 2), Hit("b", 1, 2), Hit("c", 1, 2)]


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 50) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 95) == 4.0
    assert percentile([7.0], 1) == 7.0
