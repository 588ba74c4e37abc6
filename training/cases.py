#!/usr/bin/env python3
"""Make the cases that the ranker is fitted on, a file for each repository; see README.md beside this file.

A case is a query with what the first stage says of its best files. Queries are the short questions of the benchmark and
our own, and messages of commits, asked at the state before them, with the history behind that and without. Making
them takes as long as indexing does; fitting reads the files in seconds. A change of the features needs new ones.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import work_items
from cairn.history.messages import weigh
from cairn.index.snapshot import Snapshot
from cairn.protocol.requests import SearchRequest
from cairn.search import learned
from cairn.search.any_length import is_long, understand_text
from cairn.search.features import file_features
from cairn.search.habits import tuned_features
from cairn.search.library import Library
from cairn.search.long_answer import LongText
from cairn.search.past import file_history
from cairn.search.query import Query, is_work_item, understand
from cairn.search.rank import first_stage, rank
from cairn.search.rank_files import LONG_WEIGHTS, WEIGHTS, query_vector
from cairn.search.score import Weights
from cairn.source.commits import Commit, read_commits
from cairn.workspace import Workspace
from collect import is_excluded, names_of
from dataset import Question, Repository, load_repositories
from metrics import Target, path_matches

# Questions of our own about packages that training/collect.py unpacks.
QUESTIONS = Path(__file__).parent / "questions.json"
# Texts by which the result is judged; nothing is fitted on their repositories.
WORK_ITEMS = Path(__file__).resolve().parents[1] / "bench" / "data" / "work_items.tsv"
MOST = 60  # files of a case: more than the second stage looks at, so that weights may change which these are
STRANGERS = 5  # questions about other repositories, put to each
# The repositories whose commits are asked, and at which states.
COMMITS = Path(__file__).parent / "commits.json"
STATES = 5  # of a repository
PER_STATE = 12  # commits that are asked at each state
_NEWEST = 1_000  # commits of the tip's first parents, of which the states are
_LOOKED_AT = 60  # of the commits after a state
_MOST_FILES, _LEAST_SUBJECT = 10, 3  # files of a commit that is asked, and words of its subject
_HISTORY_SECONDS = 600.0
_ISSUE = re.compile(r"\s*\(?#\d+\)?")
_LEAST_WORDS = 12  # of a message that is asked as a whole

# Packages of which there are commits, too.
_PACKAGED = {
    "debian-golang-github-labstack-echo": "labstack+echo",
    "debian-leveldb": "google+leveldb",
    "pypi-werkzeug": "pallets+werkzeug",
}

Floats = npt.NDArray[np.float32]


class Case(NamedTuple):
    """One query. Files are in order of their scores in the first stage.

    Attributes:
        project: what is left out together.
        kind: `question`, `own`, `subject`, `message`, `stranger`, or that of a work item.
        text: the query.
        is_work_item, is_long: what the ranking knows of the kind.
        has_history: whether commits could speak for files.
        features: shape (n, n_features).
        totals: shape (n,), the best score of a row of each file.
        roles: shape (n,).
        parts: the first stage's features of the best row of each file, each of shape (n,).
        found: the files of each target.
        first: files that come first whatever their scores.
        known: the share of the query's terms that occur anywhere.
    """

    project: str
    kind: str
    text: str
    is_work_item: bool
    is_long: bool
    has_history: bool
    features: Floats
    totals: Floats
    roles: npt.NDArray[np.int64]
    parts: dict[str, Floats]
    found: list[list[int]]
    first: list[int]
    known: float


class States(NamedTuple):
    """States of a repository at which the commits up to the tip that follow them are asked."""

    repository: str
    tip: str
    commits: tuple[str, ...]


def choose_states(folder: Path, count: int) -> States:
    """Return states at equal distances in the newest part of a history."""
    tip = _git(folder, "rev-parse", "HEAD").strip()
    listed = _git(folder, "rev-list", "--first-parent", f"--max-count={_NEWEST}", tip).split()
    return States(folder.name, tip, tuple(listed[(place + 1) * len(listed) // (count + 1)] for place in range(count)))


def understood(text: str) -> Query:
    """Return a query that is to be ranked, also one that looks like a text or a pattern to be matched."""
    query = understand_text(text)
    return understand(text, "hybrid") if query.mode in ("literal", "regex") else query


def make_case(
    library: Library, project: str, kind: str, text: str, targets: Sequence[Target], *, use_history: bool
) -> Case:
    """Return what the second stage sees of a query."""
    query = understood(text) if kind != "subject" else understand(text, "hybrid")
    snapshot, vector = library.snapshot, query_vector(library.model, query)
    request, weights = SearchRequest(query=""), WEIGHTS if query.item is None else LONG_WEIGHTS
    gather = None if query.item is None else LongText(library, query, query.item, request).gather
    history = file_history(snapshot, library.past, query) if use_history else None
    has_words = use_history and query.item is not None
    more = tuned_features(snapshot, library.past, query, weights) if has_words else None
    arguments = (snapshot, library.connection, query, vector, request)
    scores = first_stage(*arguments, weights, None, gather, history, more).scores
    scores.settle(MOST)
    blobs = learned.candidates(snapshot, scores, MOST)
    files = snapshot.file_of_blob[blobs]
    paths = [snapshot.files.paths[file] for file in files.tolist()]
    rows = [_best_row(snapshot, scores.total, blob) for blob in blobs.tolist()]
    parts: dict[str, list[float]] = {name: [] for name in Weights._fields}
    for row, blob, file in zip(rows, blobs.tolist(), files.tolist(), strict=True):
        values = scores.features(row, blob, file)
        for name, column in parts.items():
            column.append(values.get(name, 0.0))
    first = []
    if query.named is not None:
        ranking = rank(*arguments, 20, weights, None, gather, history, more)
        named = dict.fromkeys(one.file for one in ranking.rows[: ranking.n_named])
        first = [int(np.flatnonzero(files == file)[0]) for file in named if file in files]
    return Case(
        project,
        kind,
        text,
        is_work_item(query),
        query.item is not None,
        history is not None,
        file_features(snapshot, vector, scores, blobs),
        scores.total[rows],
        snapshot.files.roles[files].astype(np.int64),
        {name: np.array(column, dtype=np.float32) for name, column in parts.items()},
        [[i for i, path in enumerate(paths) if path_matches(path, target.path)] for target in targets],
        first,
        scores.matches.known,
    )


def _best_row(snapshot: Snapshot, totals: Floats, blob: int) -> int:
    start, stop = snapshot.blob_rows[blob : blob + 2]
    return int(start + np.argmax(totals[start:stop]))


def cases_of_questions(repository: Repository, kind: str, strangers: Sequence[str], state: Path) -> Iterator[Case]:
    """Index a repository and yield a case for each of its questions."""
    with Workspace.open(repository.folder, state_dir=state / repository.name) as workspace:
        workspace.index(history=False)
        index = workspace._index
        with index.reading(index.views.checkout) as library:
            project = repository.name if kind == "question" else _project_of(repository.name)
            for question in repository.questions:
                yield make_case(library, project, kind, question.query, question.targets, use_history=False)
            for text in strangers:
                yield make_case(library, project, "stranger", text, (), use_history=False)


def cases_of_commits(folder: Path, state: Path, states: States, strangers: Sequence[str]) -> Iterator[Case]:
    """Index some states of a checkout, and yield cases for the commits that follow them."""
    with Workspace.open(folder, state_dir=state) as workspace:
        index = workspace._index
        for place, commit in enumerate(states.commits):
            workspace.index(branch=commit, history=False)
            workspace.history.update(_HISTORY_SECONDS, branch=commit)
            questions = list(_questions_after(folder, commit, states.tip))[:PER_STATE]
            with index.reading(index.views.find(commit)) as library:
                texts = [one for question in questions for one in _texts_of(folder, library, question)]
                texts += [("stranger", text, []) for text in strangers[place :: len(states.commits)]]
                for kind, text, targets in texts:
                    for use_history in (True, False):
                        yield make_case(library, folder.name, kind, text, targets, use_history=use_history)


def _questions_after(folder: Path, commit: str, tip: str) -> Iterator[Commit]:
    """Yield the commits between a state and the tip that can be asked for, oldest first."""
    listed = _git(folder, "rev-list", "--reverse", "--no-merges", f"{commit}..{tip}").split()[:_LOOKED_AT]
    by_hash = {one.hash: one for one in read_commits(folder, listed)}
    for one in (by_hash[name] for name in listed if name in by_hash):
        subject = _subject_of(one)
        is_weighty = weigh(subject, len(one.changes), by_program=one.by_program) == 1
        if is_weighty and len(one.changes) <= _MOST_FILES and len(subject.split()) >= _LEAST_SUBJECT:
            yield one


def _subject_of(commit: Commit) -> str:
    return _ISSUE.sub("", commit.message.partition("\n")[0].strip())


def _texts_of(folder: Path, library: Library, commit: Commit) -> Iterator[tuple[str, str, list[Target]]]:
    """Yield the kind, the text and the files of each question that a commit makes at a state."""
    known = set(library.snapshot.files.paths)
    files = [path for change in commit.changes if (path := change.before or change.path) in known]
    if not files:
        return
    targets = list(map(Target, files))
    yield "subject", _subject_of(commit), targets
    message = commit.message.strip()
    if is_long(message) and len(message.split()) >= _LEAST_WORDS and not _names_any(message, files):
        yield "message", message, targets


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True).stdout


def cases_of_work_items(items: Sequence[work_items.Case], clones: Path, state: Path) -> Iterator[Case]:
    """Index the states before some fixes of a repository, and yield cases for the texts that they fix."""
    repository = items[0].repository
    for commit in dict.fromkeys(item.commit for item in items):
        with Workspace.open(clones / repository, state_dir=state / f"items-{repository}@{commit[:8]}") as workspace:
            workspace.index(branch=commit, history=False)
            workspace.history.update(_HISTORY_SECONDS, branch=commit)
            index = workspace._index
            with index.reading(index.views.find(commit)) as library:
                for item in items:
                    if item.commit == commit:
                        targets = [Target(path) for path in item.wanted]
                        for use_history in (True, False):
                            yield make_case(library, repository, item.kind, item.text, targets, use_history=use_history)


def _names_any(message: str, files: Sequence[str]) -> bool:
    """Tell whether a message names one of the files that it changed, which would make it no question."""
    return any(PurePosixPath(path).name.lower() in message.lower() for path in files)


def load_own(packages: Path) -> list[Repository]:
    """Return the packages that `QUESTIONS` asks about, from the folder that training/collect.py filled."""
    return [
        Repository(
            entry["source"],
            entry["language"],
            packages / entry["source"] / entry["folder"],
            tuple(
                Question(question["query"], "own", tuple(map(Target, question["relevant"])))
                for question in entry["questions"]
            ),
        )
        for entry in json.loads(QUESTIONS.read_text(encoding="utf-8"))
    ]


def _project_of(source: str) -> str:
    """Return the repository of a source of `collect.py` as `OWNER+NAME`, or its name."""
    ecosystem, _, name = source.partition("-")
    return _PACKAGED.get(source, name if ecosystem == "git" else source)


def judged_projects() -> set[str]:
    """Return the repositories, as `OWNER+NAME`, whose texts judge the result."""
    rows = (line.split("\t") for line in WORK_ITEMS.read_text("utf-8").splitlines())
    return {row[2] for row in rows if row[0] == "judge"}


def clone(mirror: Path, folder: Path) -> Path:
    """Return a checkout without files of a bare repository."""
    if not folder.exists():
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", mirror, folder], check=True)
    return folder


def save(file: Path, cases: Iterator[Case]) -> None:
    """Write the cases of a repository, unless they are there."""
    if file.exists():
        return
    started = time.process_time()
    made = list(cases)
    file.write_bytes(pickle.dumps([tuple(case) for case in made], protocol=5))
    spent = time.process_time() - started
    print(f"{file.stem}: {len(made)} cases, {spent:.0f} s of processor time", file=sys.stderr, flush=True)


def load_cases(folder: Path) -> list[Case]:
    """Return all cases that were made and have files."""
    made = (Case(*fields) for file in sorted(folder.glob("*.cases")) for fields in pickle.loads(file.read_bytes()))
    return [case for case in made if len(case.totals)]


def main() -> int:
    """Make the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder that receives a file for each repository")
    parser.add_argument("--bench", type=Path, help="folder of the benchmark")
    parser.add_argument("--checkouts", type=Path, help="its repositories, laid out")
    parser.add_argument("--packages", type=Path, help="what collect.py unpacked, for our own questions")
    parser.add_argument("--mirrors", type=Path, help="bare clones, OWNER+NAME/repo")
    parser.add_argument("--commits", nargs="*", default=[], metavar="OWNER+NAME", help="of which commits are asked")
    parser.add_argument("--half", help="of the work items, to make cases of these")
    parser.add_argument("--texts", type=Path, help="texts of issues and tasks, OWNER+NAME/ID.md")
    parser.add_argument("--exclude", type=Path, help="JSON list of SHA-256 of names that may not be used")
    parser.add_argument("--state", type=Path, required=True, help="where clones and indexes go")
    arguments = parser.parse_args()
    for folder in (arguments.out, arguments.state):
        folder.mkdir(parents=True, exist_ok=True)
    if arguments.bench:
        repositories = load_repositories(arguments.bench, arguments.checkouts)
        asked = [(one.name, question.query) for one in repositories for question in one.questions]
        for one in repositories:
            others = _some([text for name, text in asked if name != one.name], one.name, 2 * STRANGERS)
            save(arguments.out / f"{one.name}.cases", cases_of_questions(one, "question", others, arguments.state))
    if arguments.packages:
        for one in load_own(arguments.packages):
            save(arguments.out / f"{one.name}.cases", cases_of_questions(one, "own", (), arguments.state))
    digests = frozenset(json.loads(arguments.exclude.read_text())) if arguments.exclude else frozenset()
    own = [text.query for one in load_own(Path()) for text in one.questions]
    known = {entry["repository"]: entry for entry in json.loads(COMMITS.read_text(encoding="utf-8"))}
    for name in arguments.commits or known:
        if is_excluded(names_of("git", name.replace("+", "/")), digests):
            raise SystemExit(f"{name} may not be used")
        folder = clone(arguments.mirrors / name / "repo", arguments.state.absolute() / "clones" / name)
        entry = known.get(name)
        states = choose_states(folder, STATES) if entry is None else States(name, entry["tip"], tuple(entry["states"]))
        state = arguments.state.absolute() / f"commits-{name}"
        made = cases_of_commits(folder, state, states, _some(own, name, STRANGERS))
        save(arguments.out / f"commits-{name}.cases", made)
    if arguments.half:
        items, _ = work_items.load_cases(arguments.half, arguments.mirrors, arguments.texts)
        for name in dict.fromkeys(item.repository for item in items):
            clone(arguments.mirrors / name / "repo", arguments.state / "clones" / name)
            asked = [item for item in items if item.repository == name]
            made = cases_of_work_items(asked, arguments.state.absolute() / "clones", arguments.state.absolute())
            save(arguments.out / f"items-{name}.cases", made)
    return 0


def _some(texts: Sequence[str], seed: str, count: int) -> list[str]:
    """Return some texts, the same ones for the same seed."""
    return sorted(texts, key=lambda text: hashlib.sha256(f"{seed} {text}".encode()).digest())[:count]


if __name__ == "__main__":
    raise SystemExit(main())
