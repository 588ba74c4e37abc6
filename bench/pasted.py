"""Is text that was pasted into a search found where it stands in the code?

    python bench/pasted.py --bench BENCH --repos REPOS --state INDEXES --misses

BENCH and REPOS are as for bench/retrieval.py. Asks, in the mode `auto`, for 60 tokens with odd characters (is the first
hit a place that holds the token?) and for 40 error texts with values in their placeholders (is the first hit the line
that raises or formats the text, give or take `NEAR` lines?). The questions are in data/pasted.tsv.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from cairn.answers import CodeHit
from cairn.workspace import Workspace
from dataset import load_repositories
from metrics import percentile

QUESTIONS = Path(__file__).resolve().parent / "data" / "pasted.tsv"
BARS = {"token": 1.0, "error": 0.85}
NEAR = 3  # lines between the hit and the line that is wanted, at most: a statement may have several
_SHOWN = 40  # lines of a hit, at most, for it to point at a line


class Pasted(NamedTuple):
    """A query, and the line that answers it; `place` is `-` where any line that holds the query does.

    Several, with `|` between them, are places that make the same message.
    """

    kind: str
    repository: str
    place: str
    query: str


class Asked(NamedTuple):
    """A question, its first hit, whether that is right, and the processor's time in milliseconds."""

    question: Pasted
    first: str
    is_right: bool
    cpu_ms: float


def read_questions(file: Path = QUESTIONS) -> list[Pasted]:
    """Return the questions."""
    lines = file.read_text("utf-8").splitlines()
    return [Pasted(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def is_right(question: Pasted, hit: CodeHit, root: Path) -> bool:
    """Tell whether a hit shows what was pasted; one that shows a whole long definition does not."""
    if hit.name != question.query and hit.end_line - hit.start_line >= _SHOWN:
        return False
    if question.place == "-":
        text = (root / hit.path).read_text("utf-8", "replace").split("\n")
        return question.query in "\n".join(text[hit.start_line - 1 : hit.end_line])
    places = (place.rpartition(":") for place in question.place.split("|"))
    lines = [int(number) for path, _, number in places if path == hit.path]
    return any(hit.start_line - NEAR <= line <= hit.end_line + NEAR for line in lines)


def ask(workspace: Workspace, question: Pasted) -> Asked:
    """Ask one question; the second time counts, when the files are cached."""
    workspace.search(question.query, limit=10)
    started = time.process_time()
    answer = workspace.search(question.query, limit=10)
    spent = (time.process_time() - started) * 1000
    if not answer.code:
        return Asked(question, "nothing", False, spent)
    hit = answer.code[0]
    return Asked(
        question, f"{hit.path}:{hit.start_line}-{hit.end_line}", is_right(question, hit, workspace.root), spent
    )


def report(asked: Sequence[Asked], *, misses: bool) -> bool:
    """Print the shares and return whether each reaches its bar."""
    passed = True
    for kind, bar in BARS.items():
        own = [one for one in asked if one.question.kind == kind]
        right = sum(one.is_right for one in own)
        passed &= right >= bar * len(own)
        times = sorted(one.cpu_ms for one in own)
        print(f"{kind}: {right} of {len(own)} first (bar {bar:.0%}); p50 {median(times):.1f} ms, "
              f"p95 {percentile(times, 95):.1f} ms")  # fmt: skip
        for one in own if misses else ():
            if not one.is_right:
                print(f"  {one.question.repository}: {one.question.query}\n    {one.first}, not {one.question.place}")
    return passed


def main() -> int:
    """Ask all questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--repos", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="keeps the indexes here")
    parser.add_argument("--misses", action="store_true", help="show what was not found")
    options = parser.parse_args()
    questions = read_questions()
    asked = []
    with tempfile.TemporaryDirectory() as fallback:
        names = sorted({question.repository for question in questions})
        for repository in load_repositories(options.bench, options.repos, names):
            state = (options.state or Path(fallback)) / repository.name
            state.mkdir(parents=True, exist_ok=True)
            with Workspace.open(repository.folder, state_dir=state) as workspace:
                workspace.index()
                asked += [ask(workspace, one) for one in questions if one.repository == repository.name]
    return 0 if report(asked, misses=options.misses) else 1


if __name__ == "__main__":
    sys.exit(main())
