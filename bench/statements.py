"""Measures which statements `cairn.memory.statements` recognises in the sentences of `data/capture/statements.txt`.

    python bench/statements.py            precision and recall of both halves
    python bench/statements.py --errors   the mistakes in the half that rules are developed on
    python bench/statements.py --all      the mistakes in both halves

Each line is `TYPE BY | SENTENCE`. The odd lines are the half to develop on; the even ones are held out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from cairn.memory.statements import judge

SENTENCES = Path(__file__).parent / "data" / "capture" / "statements.txt"
THRESHOLD = 0.7


class Labelled(NamedTuple):
    """A sentence, and what it states: `none` if nothing worth keeping."""

    type: str
    by: str
    text: str


class Tally(NamedTuple):
    """How many were right, wrongly taken for something, and missed."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of what was found that is right."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share of what is there that was found."""
        return self.right / max(1, self.right + self.missed)


def read_sentences() -> tuple[list[Labelled], list[Labelled]]:
    """Return the half to develop on, and the half to report."""
    rows = []
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        label, _, text = line.partition(" | ")
        type, by = label.split()
        rows.append(Labelled(type, by, text))
    return rows[::2], rows[1::2]


def answer(row: Labelled) -> str:
    """Return what the rules say."""
    statement = judge(row.text, row.by)
    return statement.type if statement is not None and statement.confidence >= THRESHOLD else "none"


def measure(rows: list[Labelled], type: str = "") -> Tally:
    """Count; a sentence taken for the wrong type is both wrong and missed.

    Args:
        rows: the sentences.
        type: only of this type; of all if it is empty.
    """
    answers = [(row.type, answer(row)) for row in rows]
    right = sum(label == said != "none" and type in ("", label) for label, said in answers)
    wrong = sum(said not in ("none", label) and type in ("", said) for label, said in answers)
    missed = sum(label not in ("none", said) and type in ("", label) for label, said in answers)
    return Tally(right, wrong, missed)


def main(arguments: list[str]) -> None:
    halves = dict(zip(("developed on", "held out"), read_sentences(), strict=True))
    for name, rows in halves.items():
        for type in ("", "decision", "discovery", "gotcha", "trade_off"):
            tally = measure(rows, type)
            print(f"{name:13} {type or 'all':10} precision {tally.precision:.3f}  recall {tally.recall:.3f}  {tally}")
    shown = [rows for name, rows in halves.items() if "--all" in arguments or name == "developed on"]
    if arguments:
        for row in (row for rows in shown for row in rows):
            if (said := answer(row)) != row.type:
                print(f"{row.type} -> {said}: ({row.by}) {row.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
