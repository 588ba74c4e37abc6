"""The benchmark's scores: which hit answers which target, and NDCG over their ranks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Hit(NamedTuple):
    """One result of a search; lines are 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Target:
    """What a question asks for: a file, or some lines of it when both are given."""

    path: str
    start_line: int | None = None
    end_line: int | None = None

    @classmethod
    def from_label(cls, label: str | Mapping[str, Any]) -> Target:
        """Read a target as the annotations write it: a path, or a path with `start_line` and `end_line`."""
        if isinstance(label, str):
            return cls(label)
        return cls(label["path"], label.get("start_line"), label.get("end_line"))

    def __str__(self) -> str:
        if self.start_line is None:
            return self.path
        return f"{self.path}:{self.start_line}-{self.end_line}"


def path_matches(one: str, other: str) -> bool:
    """Return whether one path is a suffix of the other, counted in whole parts.

    Targets are relative to the repository and hits to the folder indexed, which may lie below it.
    """
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def matches(hit: Hit, target: Target) -> bool:
    """Return whether the paths match and, where the target has lines, the hit overlaps them."""
    if not path_matches(hit.path, target.path):
        return False
    if target.start_line is None or target.end_line is None:
        return True
    return hit.start_line <= target.end_line and target.start_line <= hit.end_line


def target_ranks(hits: Sequence[Hit], targets: Iterable[Target]) -> list[int | None]:
    """Return for each target the 1-based rank of the first hit that matches it."""
    return [next((rank for rank, hit in enumerate(hits, 1) if matches(hit, target)), None) for target in targets]


def ndcg(ranks: Sequence[int | None], limit: int = 10) -> float:
    """Return the normalised discounted cumulative gain of a question's target ranks, 0 to 1.

    A rank where one or more targets are first matched gains 1 / log2(rank + 1); the ideal has min(limit, targets) such
    ranks from the top. This is the rule of the published figures (semble's `benchmarks/metrics.py`).
    """
    gained = {rank for rank in ranks if rank is not None and rank <= limit}
    ideal = sum(_discount(rank) for rank in range(1, min(limit, len(ranks)) + 1))
    return sum(_discount(rank) for rank in sorted(gained)) / ideal if ideal else 0.0


def first_per_file(hits: Iterable[Hit]) -> list[Hit]:
    """Return the best hit of each file, in order: what the file rule ranks."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.path, hit)
    return list(best.values())


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest of `values` that at least `percent` % of them do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def count_place(counts: Counter[tuple[str, str]], form: str, place: int, confidence: str | None) -> None:
    """Count at which place the right hit of an answer is, 0 for none, by form and confidence.

    Args:
        counts: what `print_places` prints.
        form: of the question.
        place: 1-based.
        confidence: the word of the first hit, None if there is none.
    """
    counts[form, "asked"] += 1
    counts[form, "first"] += place == 1
    counts[form, "in five"] += 0 < place <= 5
    if confidence is not None:
        counts[confidence, "asked"] += 1
        counts[confidence, "first"] += place == 1


def print_places(counts: Counter[tuple[str, str]], forms: Iterable[str]) -> None:
    """Print how often the right hit came first and among five, and how often each word of confidence was right."""
    for form in forms:
        first, in_five, asked = (counts[form, what] for what in ("first", "in five", "asked"))
        print(f"{form:<14} first {first:>4}, in five {in_five:>4} of {asked}")
    for word in ("high", "medium", "low"):
        print(f"{word:<14} right {counts[word, 'first']:>4} of {counts[word, 'asked']}")
