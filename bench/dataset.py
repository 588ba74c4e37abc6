"""Reads the benchmark: its repositories, their questions, and what others published."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from metrics import Target


@dataclass(frozen=True, slots=True)
class Question:
    """One question; the first target is the primary one."""

    query: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository as `checkout.py` laid it out. `folder` is what gets indexed."""

    name: str
    language: str
    folder: Path
    questions: tuple[Question, ...]


def load_repositories(
    bench: Path, checkouts: Path, only: Collection[str] = (), *, whole: bool = False
) -> list[Repository]:
    """Return the repositories of the benchmark in `bench`, in its order.

    Args:
        bench: holds repos.json and annotations/.
        checkouts: holds a folder for each repository.
        only: the names of those that count, all if empty.
        whole: index all of a folder instead of the part that the questions are about.

    Raises:
        SystemExit: if a name in `only` is unknown or a folder is missing.
    """
    specs = json.loads((bench / "repos.json").read_text(encoding="utf-8"))
    unknown = set(only) - {spec["name"] for spec in specs}
    if unknown:
        raise SystemExit(f"no such repository in the benchmark: {', '.join(sorted(unknown))}")
    found = []
    for spec in specs:
        if only and spec["name"] not in only:
            continue
        folder = checkouts / spec["name"] / ("" if whole else spec.get("benchmark_root") or "")
        if not folder.is_dir():
            raise SystemExit(f"{folder} is missing: lay the repositories out with checkout.py first")
        found.append(Repository(spec["name"], spec["language"], folder, read_questions(bench, spec["name"])))
    return found


def read_questions(bench: Path, name: str) -> tuple[Question, ...]:
    """Return the questions of one repository."""
    rows = json.loads((bench / "annotations" / f"{name}.json").read_text(encoding="utf-8"))
    return tuple(
        Question(
            row["query"],
            row["category"],
            tuple(Target.from_label(label) for label in [*row["relevant"], *(row.get("secondary") or [])]),
        )
        for row in rows
    )


def load_published(bench: Path) -> dict[str, dict[str, float]]:
    """Return the published NDCG@10, by repository and system."""
    published: dict[str, dict[str, float]] = json.loads((bench / "published-ndcg10.json").read_text(encoding="utf-8"))
    return published
