#!/usr/bin/env python3
"""Replay the history of repositories: tune on the older commits, ask the newer ones, before the gate and with it.

    python bench/learning.py replay CHECKOUT... --state INDEXES
    python bench/learning.py shuffled CHECKOUT --state INDEXES
    python bench/learning.py questions REPOS --state INDEXES --bench BENCH --versions FOLDER

Each CHECKOUT is a git repository with its full history; its files need not be checked out. Of the commits that say what
they do, the newer 30 % are the future. The project is tuned as it was before them, with the history and the gate of
that time. Then subjects of the future are asked of states at equal distances, with the history behind each commit: with
the shipped values, and with the tuning if the gate let it through. `shuffled` gives every question the files of
another one at random: nothing can be learned then, so nothing may ship. `questions` asks the questions of the benchmark
whose repositories lie in REPOS with each version that `replay --versions FOLDER` kept there, and where a repository has
its history with the version that this ships: none may answer worse than the shipped values.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

from cairn.facets.past_states import PastStates
from cairn.facets.project_index import ProjectIndex
from cairn.history.past import Past
from cairn.optimize.asking import ask, code_files, known_examples, score_of
from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.from_history import examples_from_history
from cairn.optimize.metrics import interval_of, ndcg
from cairn.optimize.run import RunPlan, TuningProposal, propose
from cairn.search.library import Library
from cairn.search.past import PastOfView
from cairn.search.tuning import SHIPPED, Tuning, describe_tuning, parse_tuning
from cairn.workspace import Workspace
from dataset import Repository, load_repositories
from systems import key_of

_FUTURE = 0.3
_STATES = 6
_HISTORY_SECONDS = 600.0


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("replay", "shuffled", "questions"))
    parser.add_argument("folders", nargs="+", type=Path, help="checkouts with their full histories")
    parser.add_argument("--state", type=Path, required=True, help="where the indexes are kept")
    parser.add_argument("--questions", type=int, default=100, help="of each repository's future")
    parser.add_argument("--most", type=int, default=1_500, help="examples to tune on, the newest; for a curve")
    parser.add_argument("--times", type=int, default=50, help="how often labels are shuffled")
    parser.add_argument("--versions", type=Path, help="where versions that ship are kept")
    parser.add_argument("--bench", type=Path, help="the benchmark, for `questions`")
    options = parser.parse_args()
    return {"replay": _replay, "shuffled": _shuffle, "questions": _ask_questions}[options.what](options)


# -- replay ------------------------------------------------------------------------------------------------------------


def _replay(options: argparse.Namespace) -> int:
    gains, code_gains, shipped = [], [], 0
    scores = f"{'before':>8}{'after':>8}{'gain':>8}   95 % of the difference"
    print(f"{'repository':<16}{'asked':>6}{scores}   code, 95 % of the difference   ships")
    for folder in options.folders:
        before, after, proposal, seconds = _tune_and_ask(folder.absolute(), options)
        all_gain = interval_of([two - one for (one, _), (two, _) in zip(before, after, strict=True)])
        mean_before, mean_after = fmean(one for one, _ in before), fmean(one for one, _ in after)
        own = [
            (one, two) for (_, one), (_, two) in zip(before, after, strict=True) if one is not None and two is not None
        ]
        code_gain = interval_of([two - one for one, two in own])
        code_before, code_after = (fmean(side) for side in zip(*own, strict=True))
        gains.append((mean_before, mean_after))
        code_gains.append((code_before, code_after))
        is_shipped = not proposal.reasons
        shipped += is_shipped
        if is_shipped and options.versions is not None:
            kept = describe_tuning(proposal.tuning._replace(number=1))
            (options.versions / f"{folder.name}.json").write_text(json.dumps(kept), "utf-8")
        print(
            f"{folder.name:<16}{len(before):>6}{mean_before:>8.3f}{mean_after:>8.3f}"
            f"{100 * (mean_after / mean_before - 1):>+7.1f} %   {all_gain.low:+.3f} to {all_gain.high:+.3f}"
            f"   {100 * (code_after / code_before - 1):>+5.1f} %, {code_gain.low:+.3f} to {code_gain.high:+.3f}   "
            f"{'yes' if is_shipped else proposal.reasons[0]}  ({seconds:.0f} s of the processor)",
            flush=True,
        )
    for name, rows in (("all files", gains), ("code", code_gains)):
        one, two = fmean(row[0] for row in rows), fmean(row[1] for row in rows)
        print(f"{name}: {one:.4f} to {two:.4f}, {100 * (two / one - 1):+.1f} %")
    print(f"{shipped} of {len(gains)} shipped")
    return 0


_Rows = list[tuple[float, float | None]]


def _tune_and_ask(folder: Path, options: argparse.Namespace) -> tuple[_Rows, _Rows, TuningProposal, float]:
    """Return NDCG@10 over all files and over code, before and after, the tuning, and what it took."""
    with Workspace.open(folder, state_dir=options.state.absolute() / folder.name) as workspace:
        with _opened(workspace, _git(folder, "rev-parse", "HEAD")) as library:
            newest = _past_of(library)
        examples = examples_from_history(newest, most=1_500)
        future = examples[-int(_FUTURE * len(examples)) :]
        marks = [int(place * len(future) / _STATES) for place in range(_STATES)]
        states = [_git(folder, "rev-parse", f"{future[mark].before}^1") for mark in marks]
        with _opened(workspace, states[0]):
            pass  # indexed
        started = time.process_time()
        with PastStates(workspace._index, 600.0) as past:
            older = past.examples(workspace._index.views.find(states[0]))[-options.most :]
            with _opened(workspace, states[0]) as library:
                proposal = propose(library, older, RunPlan(seconds=600.0), past.found)
        seconds = time.process_time() - started
        tuning = SHIPPED if proposal.reasons else proposal.tuning._replace(number=1)
        before: _Rows = []
        after: _Rows = []
        step = max(1.0, len(future) / options.questions)
        places = [int(number * step) for number in range(min(len(future), options.questions))]
        for number, state in enumerate(states):
            last = marks[number + 1] if number + 1 < len(marks) else len(future)
            with _opened(workspace, state) as library:
                library = library._replace(past=PastOfView(newest, ""))
                is_code = code_files(library).__contains__
                own = [future[place] for place in places if marks[number] <= place < last]
                for example in known_examples(library, own):
                    for rows, used in ((before, SHIPPED), (after, tuning)):
                        score = score_of(ask(library, used, example), example, is_code)
                        rows.append((score.ndcg, score.code))
        return before, after, proposal, seconds


@contextmanager
def _opened(workspace: Workspace, revision: str) -> Iterator[Library]:
    workspace.index(branch=revision, history=False)
    workspace.history.update(_HISTORY_SECONDS, branch=revision)
    index: ProjectIndex = workspace._index
    with index.reading(index.views.find(revision)) as library:
        yield library._replace(tuning=SHIPPED)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# -- labels at random --------------------------------------------------------------------------------------------------


def _shuffle(options: argparse.Namespace) -> int:
    for folder in map(Path.absolute, options.folders):
        shipped = 0
        tip = _git(folder, "rev-parse", "HEAD")
        with Workspace.open(folder, state_dir=options.state.absolute() / folder.name) as workspace:
            with _opened(workspace, tip):
                pass  # indexed
            with PastStates(workspace._index, 600.0) as past:
                examples = past.examples(workspace._index.views.find(tip))[-options.most :]
                with _opened(workspace, tip) as library:
                    for seed in range(options.times):
                        labelled = _with_other_labels(examples, seed)
                        proposal = propose(library, labelled, RunPlan(seed, 600.0), past.found)
                        shipped += not proposal.reasons
        print(f"{folder.name}: {shipped} of {options.times} runs shipped", flush=True)
    return 0


def _with_other_labels(examples: Sequence[Example], seed: int) -> list[Example]:
    """Return the examples, each with the files of one at random."""
    others = list(examples)
    random.Random(seed).shuffle(others)
    return [one._replace(wanted=other.wanted) for one, other in zip(examples, others, strict=True)]


# -- the questions of the benchmark ------------------------------------------------------------------------------------


def _ask_questions(options: argparse.Namespace) -> int:
    files = sorted(options.versions.glob("*.json"))
    versions = {file.stem: parse_tuning(json.loads(file.read_text("utf-8"))) for file in files}
    differences: dict[str, list[float]] = {name: [] for name in (*versions, "its own")}
    for repos in options.folders:
        names = [one.name for one in repos.iterdir() if (options.bench / "annotations" / f"{one.name}.json").is_file()]
        for repository in load_repositories(options.bench, repos, names):
            state = options.state.absolute() / key_of(repository.folder)  # as retrieval.py keeps it
            with Workspace.open(repository.folder, state_dir=state) as workspace:
                own = _own_version(workspace)
                tried = versions if own is None else {**versions, "its own": own}
                for name, found in _differences(workspace, repository, tried).items():
                    differences[name] += found
                    print(f"{repository.name:<20}{name:<12}{len(found):>4}{fmean(found):>+9.4f}", flush=True)
    for name, found in differences.items():
        if found:
            mean, low, high, n_asked = interval_of(found)
            print(f"all                 {name:<12}{n_asked:>4}{mean:>+9.4f}   95 % from {low:+.4f} to {high:+.4f}")
    return 0


def _own_version(workspace: Workspace) -> Tuning | None:
    """Return what the history of a repository ships, None if it ships nothing."""
    workspace.index(history=False)
    workspace.history.update(_HISTORY_SECONDS)
    index: ProjectIndex = workspace._index
    with PastStates(index, 600.0) as past:
        examples = past.examples(index.views.checkout)
        with index.reading(index.views.checkout) as library:
            proposal = propose(library._replace(tuning=SHIPPED), examples, RunPlan(seconds=600.0), past.found)
    reasons = "; ".join(proposal.reasons) or "ships"
    print(f"{workspace.root.name}: {proposal.counts.get('examples', 0)} commits, {reasons}", flush=True)
    return None if proposal.reasons else proposal.tuning._replace(number=1)


def _differences(
    workspace: Workspace, repository: Repository, versions: Mapping[str, Tuning]
) -> dict[str, list[float]]:
    """Return for each version by how much NDCG@10 over files differs from that of the shipped values."""
    index: ProjectIndex = workspace._index
    found: dict[str, list[float]] = {name: [] for name in versions}
    with index.reading(index.views.checkout) as library:
        paths = library.snapshot.files.paths
        for question in repository.questions:
            wanted = {path: 1.0 for path in paths if any(_is_of(path, target.path) for target in question.targets)}
            example = Example(question.query, tuple(map(WantedFile, wanted)))
            before = ndcg(ask(library, SHIPPED, example).paths, wanted)
            for name, tuning in versions.items():
                found[name].append(ndcg(ask(library, tuning, example).paths, wanted) - before)
    return found


def _is_of(path: str, label: str) -> bool:
    """Tell whether a label names a file, from the top of the repository or from that of the folder indexed."""
    return path == label or label.endswith(f"/{path}")


def _past_of(library: Library) -> Past:
    if library.past is None:
        raise SystemExit("there is no history")
    return library.past.past


if __name__ == "__main__":
    sys.exit(main())
