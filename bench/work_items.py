"""Is the file of a fix found from the whole text of an issue, a task or a commit, and the line of an error text?

    python bench/work_items.py CLONES CHECKOUTS --texts TEXTS --misses
    python bench/work_items.py CLONES CHECKOUTS --half judge --errors
    python bench/work_items.py CLONES CHECKOUTS --half judge --length 10000

CLONES holds git repositories as `OWNER+NAME/repo`, CHECKOUTS is a folder for their files and indexes at the commits of
data/work_items.tsv. Texts of commits are read from the history; those of issues and tasks are `TEXTS/OWNER+NAME/ID.md`,
and cases without a text are left out and counted. Constants are derived on the half `tune` alone. Each state is that
before the fix, so nothing of the fix can be found.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import cairn
from cairn.answers import CodeHit

DATA = Path(__file__).resolve().parent / "data"
REPEATS = 3
NEAR, SHOWN = 3, 40  # lines between a hit and the line that is wanted, and lines of a hit, at most
KINDS = ("commit", "issue", "task")


class Case(NamedTuple):
    """A text, and what it should find: files, or places as `PATH:LINE`. `name` is a commit or the text's own."""

    half: str
    kind: str
    repository: str
    commit: str
    name: str
    wanted: tuple[str, ...]
    text: str


class Found(NamedTuple):
    """A case, the place of the first hit that is right, 0 for none, the first hit, and the processor's time in ms."""

    case: Case
    rank: int
    first: str
    cpu_ms: float


def load_cases(half: str, clones: Path, texts: Path | None) -> tuple[list[Case], int]:
    """Return the cases of a half, and how many have no text here."""
    cases, n_missing = list[Case](), 0
    for line in (DATA / "work_items.tsv").read_text("utf-8").splitlines():
        own_half, kind, repository, commit, name, wanted = line.split("\t")
        if own_half != half:
            continue
        text = _message(clones / repository / "repo", name) if kind == "commit" else _text(texts, repository, name)
        n_missing += not text
        if text:
            cases.append(Case(half, kind, repository, commit, name, tuple(wanted.split("|")), text))
    return cases, n_missing


def load_errors(half: str) -> list[Case]:
    """Return the error texts of a half."""
    rows = (line.split("\t") for line in (DATA / "errors.tsv").read_text("utf-8").splitlines())
    return [
        Case(half, "error", repository, commit, text[:40], tuple(places.split("|")), text.replace(r"\n", "\n"))
        for own_half, repository, commit, places, text in rows
        if own_half == half
    ]


def _message(clone: Path, commit: str) -> str:
    """Return the message of a commit, empty if it is not there."""
    done = subprocess.run(["git", "-C", clone, "log", "-1", "--format=%B", commit], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def _text(texts: Path | None, repository: str, name: str) -> str:
    file = None if texts is None else texts / repository / f"{name}.md"
    return file.read_text("utf-8") if file is not None and file.is_file() else ""


def check_out(clone: Path, commit: str, folder: Path) -> None:
    """Put the files of a commit into a folder, unless they are there."""
    if not folder.exists():
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", clone, folder], check=True)
        subprocess.run(["git", "-C", folder, "checkout", "-q", "--detach", commit], check=False)  # large files may lack


def ask(cases: Sequence[Case], clones: Path, checkouts: Path) -> Iterator[Found]:
    """Ask all cases, each of its state."""
    for repository, commit in dict.fromkeys((case.repository, case.commit) for case in cases):
        folder = checkouts / f"{repository}@{commit[:8]}"
        check_out(clones / repository / "repo", commit, folder)
        state = checkouts / "indexes" / folder.name
        state.mkdir(parents=True, exist_ok=True)
        with cairn.Workspace.open(folder, state_dir=state) as workspace:
            workspace.index()
            for case in cases:
                if (case.repository, case.commit) == (repository, commit):
                    yield ask_one(workspace, case)


def ask_one(workspace: cairn.Workspace, case: Case) -> Found:
    """Ask one case."""
    started = time.process_time()
    hits = workspace.search(case.text, limit=10).code
    spent = (time.process_time() - started) * 1000
    if case.kind == "error":
        right = [_is_at(hit, place) for hit in hits for place in [case.wanted]]
    else:
        right = [path in case.wanted for path in dict.fromkeys(hit.path for hit in hits)]
    first = f"{hits[0].path}:{hits[0].start_line}" if hits else "nothing"
    return Found(case, right.index(True) + 1 if True in right else 0, first, spent)


def _is_at(hit: CodeHit, places: Sequence[str]) -> bool:
    if hit.end_line - hit.start_line >= SHOWN:
        return False
    parts = (place.rpartition(":") for place in places)
    return any(
        hit.path == path and hit.start_line - NEAR <= int(line) <= hit.end_line + NEAR for path, _, line in parts
    )


def ask_lengths(cases: Sequence[Case], clones: Path, checkouts: Path, n_chars: int) -> Iterator[tuple[float, float]]:
    """Yield for each repository the processor time in ms of a subject, and that of its texts one after the other."""
    for repository in dict.fromkeys(case.repository for case in cases):
        own = [case for case in cases if case.repository == repository]
        folder = checkouts / f"{repository}@{own[0].commit[:8]}"
        check_out(clones / repository / "repo", own[0].commit, folder)
        state = checkouts / "indexes" / folder.name
        state.mkdir(parents=True, exist_ok=True)
        subjects = [case._replace(text=case.text.partition("\n")[0]) for case in own]
        bodies = ["\n\n".join(case.text for case in (*own[start:], *own[:start])) for start in range(len(own))]
        texts = [own[0]._replace(text=(body * (n_chars // len(body) + 1))[:n_chars]) for body in bodies]
        with cairn.Workspace.open(folder, state_dir=state) as workspace:
            workspace.index()
            for case in (*subjects, *texts):
                ask_one(workspace, case)
            short, long = (
                median(ask_one(workspace, case).cpu_ms for case in kind * REPEATS) for kind in (subjects, texts)
            )
        yield short, long


def report(found: Sequence[Found], *, misses: bool) -> None:
    """Print the shares by kind, and what was missed."""
    for kind in dict.fromkeys(one.case.kind for one in found):
        own = [one for one in found if one.case.kind == kind]
        first, five = (sum(0 < one.rank <= most for one in own) / len(own) for most in (1, 5))
        print(f"{kind}: {len(own)} texts, first {first:.3f}, in five {five:.3f}, "
              f"p50 {median(one.cpu_ms for one in own):.0f} ms")  # fmt: skip
    for one in found if misses else ():
        if one.rank != 1:
            print(f"  {one.case.repository} {one.case.name[:40]}: {one.first}, not {'|'.join(one.case.wanted)}")


def main() -> int:
    """Ask the cases of one half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path, metavar="CLONES")
    parser.add_argument("checkouts", type=Path, metavar="CHECKOUTS")
    parser.add_argument("--texts", type=Path, metavar="FOLDER")
    parser.add_argument("--half", choices=("tune", "judge"), default="tune")
    parser.add_argument("--errors", action="store_true", help="ask the error texts instead")
    parser.add_argument("--length", type=int, metavar="CHARS", help="time texts of this length against their subjects")
    parser.add_argument("--misses", action="store_true", help="show what was not first")
    options = parser.parse_args()
    cases, n_missing = load_errors(options.half), 0
    if not options.errors:
        cases, n_missing = load_cases(options.half, options.clones, options.texts)
    if options.length:
        times = list(ask_lengths(cases, options.clones, options.checkouts, options.length))
        for short, long in times:
            print(f"subject {short:.1f} ms, text {long:.1f} ms, {long / short:.1f} times")
        print(f"median {median(long / short for short, long in times):.1f} times")
        return 0
    report(list(ask(cases, options.clones, options.checkouts)), misses=options.misses)
    if n_missing:
        print(f"{n_missing} cases have no text here", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
