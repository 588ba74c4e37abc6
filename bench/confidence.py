"""Is what a search calls `high` right?

    python bench/confidence.py --repos REPOS --state INDEXES --misses

Asks the 60 questions of data/confidence.tsv about ten repositories, ten of them with no answer there. A hit is right if
it is one of the definitions that answer the question; the file alone is not enough. The threshold was chosen on the
first five repositories (`tuning`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cairn.answers import CodeHit
from cairn.workspace import Workspace

QUESTIONS = Path(__file__).resolve().parent / "data" / "confidence.tsv"
BAR = 0.8
_HITS = 5


class Judged(NamedTuple):
    """A question, and the definitions that answer it as PATH:NAME, the path from its end, an empty name for any."""

    half: str
    repository: str
    query: str
    places: tuple[tuple[str, str], ...]

    def is_right(self, hit: CodeHit) -> bool:
        """Tell whether a hit is one of the definitions."""
        name = f".{hit.qualified_name}"
        return any(hit.path.endswith(path) and name.endswith(f".{own}" if own else "") for path, own in self.places)


def read_questions(file: Path = QUESTIONS) -> Iterator[Judged]:
    """Yield the questions."""
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            half, repository, query, places = line.split("\t")
            parts = [place.partition(":") for place in places.split("|") if place != "-"]
            yield Judged(half, repository, query, tuple((path, name) for path, _, name in parts))


def main() -> int:
    """Ask all questions, and print how often a hit of each confidence is right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="keeps the indexes here")
    parser.add_argument("--misses", action="store_true", help="show what is called high and is wrong")
    options = parser.parse_args()
    questions = list(read_questions())
    counts: dict[tuple[str, str], list[bool]] = {}
    with tempfile.TemporaryDirectory() as fallback:
        for repository in dict.fromkeys(question.repository for question in questions):
            state = (options.state or Path(fallback)) / repository
            with Workspace.open(options.repos / repository, state_dir=state) as workspace:
                workspace.index()
                for question in questions:
                    if question.repository != repository:
                        continue
                    for hit in workspace.search(question.query, limit=_HITS).code:
                        right = question.is_right(hit)
                        counts.setdefault((question.half, hit.confidence), []).append(right)
                        if options.misses and hit.confidence == "high" and not right:
                            print(f"  {repository}: {question.query}\n    {hit.path}:{hit.start_line} {hit.name}")
    for (half, word), rights in sorted(counts.items()):
        print(f"{half:8} {word:6} {sum(rights):3} of {len(rights):3} right ({sum(rights) / len(rights):.2f})")
    highs = [right for (_, word), rights in counts.items() if word == "high" for right in rights]
    return 0 if sum(highs) >= BAR * len(highs) else 1


if __name__ == "__main__":
    sys.exit(main())
