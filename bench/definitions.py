"""Is the file that defines a name found by a question for it, "where is X defined"?

    python bench/definitions.py --repos REPOS --state INDEXES --misses

REPOS holds repositories side by side, each of which is indexed as a whole. The questions are in data/definitions.tsv:
about unique names, names that many files share, plain words that are names, and dotted names, each with the files that
are right.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from cairn.workspace import Workspace

QUESTIONS = Path(__file__).resolve().parent / "data" / "definitions.tsv"
BARS = {1: 0.88, 5: 0.99}


class NameQuestion(NamedTuple):
    """A question for a definition, and the files that answer it."""

    repository: str
    text: str
    right: frozenset[str]


def read_questions(file: Path = QUESTIONS) -> list[NameQuestion]:
    """Return the questions."""
    rows = (line.split("\t") for line in file.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return [NameQuestion(repository, text, frozenset(right.split("|"))) for repository, text, right in rows]


def rank_of(workspace: Workspace, question: NameQuestion) -> tuple[int, str]:
    """Return the place of the first right file, 0 for none, and the file that comes first."""
    files = list(dict.fromkeys(hit.path for hit in workspace.search(question.text, limit=10).code))
    rank = next((place for place, file in enumerate(files, 1) if file in question.right), 0)
    return rank, files[0] if files else "nothing"


def main() -> int:
    """Ask all questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="keeps the indexes here")
    parser.add_argument("--misses", action="store_true", help="show what was not first")
    options = parser.parse_args()
    questions = read_questions()
    ranks = list[int]()
    with tempfile.TemporaryDirectory() as fallback:
        for name in sorted({question.repository for question in questions}):
            state = (options.state or Path(fallback)) / name
            state.mkdir(parents=True, exist_ok=True)
            with Workspace.open(options.repos / name, state_dir=state) as workspace:
                workspace.index()
                for question in (one for one in questions if one.repository == name):
                    rank, first = rank_of(workspace, question)
                    ranks.append(rank)
                    if options.misses and rank != 1:
                        print(f"  {rank}  {name}: {question.text}: {first}, not {'|'.join(question.right)}")
    shares = {most: sum(0 < rank <= most for rank in ranks) / len(ranks) for most in BARS}
    for most, share in shares.items():
        print(f"right file in the first {most}: {share:.2f} of {len(ranks)} (bar {BARS[most]:.2f})")
    return 0 if all(share >= BARS[most] for most, share in shares.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
