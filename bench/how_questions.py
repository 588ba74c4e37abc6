"""Is the file that answers a question about how a project works among the first? Asks 260 questions of a third author.

    python bench/how_questions.py --repos REPOS --state INDEXES --misses

REPOS holds checkouts of the projects in data/how_questions.tsv, each in a folder called like it, at the revision that
is named there, with their histories. Half of the questions are short, half are whole sentences. A language model wrote
them from the code, without seeing what Cairn answers; it seldom says the names that the code has.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from cairn.workspace import Workspace
from metrics import ndcg

QUESTIONS = Path(__file__).resolve().parent / "data" / "how_questions.tsv"
ROWS = 50  # of an answer; the first of each file counts


class HowQuestion(NamedTuple):
    """A question, the files that answer it best, and those that also do."""

    project: str
    revision: str
    kind: str
    text: str
    best: tuple[str, ...]
    also: tuple[str, ...]

    @property
    def folder(self) -> str:
        """What the checkout is called."""
        return self.project.rpartition("/")[2]


class Placed(NamedTuple):
    """A question with the rank of the first best file and of the first that answers at all, and NDCG@10."""

    question: HowQuestion
    best: int
    any: int
    gain: float


def read_questions(file: Path = QUESTIONS) -> list[HowQuestion]:
    """Return the questions."""
    found = []
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            place, kind, text, best, also = line.split("\t")
            project, _, revision = place.partition("@")
            found.append(HowQuestion(project, revision, kind, text, tuple(best.split("|")), tuple(also.split("|"))))
    return found


def place(workspace: Workspace, question: HowQuestion) -> Placed:
    """Ask a question."""
    files = list(dict.fromkeys(hit.path for hit in workspace.search(question.text, limit=ROWS).code))
    ranks = {file: rank for rank, file in enumerate(files, 1)}
    best = [ranks.get(file) for file in question.best]
    found = [rank for rank in best if rank]
    any_file = [*found, *(ranks[file] for file in question.also if file in ranks)]
    return Placed(question, min(found, default=0), min(any_file, default=0), ndcg(best))


def show(label: str, placed: list[Placed]) -> None:
    """Print the shares and the mean of some questions."""
    shares = [
        fmean(0 < rank <= most for rank in ranks)
        for ranks in ([one.best for one in placed], [one.any for one in placed])
        for most in (1, 5)
    ]
    best, best_in_five, any_first, any_in_five = shares
    files = f"best file {best:.3f} / {best_in_five:.3f}   any {any_first:.3f} / {any_in_five:.3f}"
    print(f"{label:<20}{len(placed):>4}   {files}   NDCG@10 {fmean(one.gain for one in placed):.3f}")


def main() -> None:
    """Ask all questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="keeps the indexes here")
    parser.add_argument("--misses", action="store_true", help="show what was not among five")
    options = parser.parse_args()
    questions, placed = read_questions(), list[Placed]()
    with tempfile.TemporaryDirectory() as fallback:
        for folder in sorted({question.folder for question in questions}):
            own = [question for question in questions if question.folder == folder]
            root, state = options.repos / folder, (options.state or Path(fallback)) / folder
            head = subprocess.check_output(["git", "-C", root, "rev-parse", "HEAD"], text=True)
            if not head.startswith(own[0].revision):
                raise SystemExit(f"{root} is not at {own[0].revision}")
            with Workspace.open(root, state_dir=state) as workspace:
                workspace.index()
                placed += [place(workspace, question) for question in own]
            show(folder, placed[-len(own) :])
    for one in placed if options.misses else ():
        if not 0 < one.best <= 5:
            print(f"  {one.best}  {one.question.folder}: {one.question.text}: {'|'.join(one.question.best)}")
    for kind in ("short", "how"):
        show(kind, [one for one in placed if one.question.kind == kind])
    show("all", placed)


if __name__ == "__main__":
    main()
