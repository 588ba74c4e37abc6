"""A project is tuned to the habits that its own commits show."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.errors import StoreLockedError
from cairn.facets.past_states import STATES, PastStates
from cairn.operations import perform
from cairn.optimize.run import RunPlan
from cairn.protocol.requests import SearchRequest
from cairn.storage.index.view_db import read_views
from cairn.workspace import Workspace

MODULES = ("wallet", "harbour", "lantern", "orchard", "granary", "chimney", "turbine", "glacier", "meadow", "viaduct")
IN_A_ROW, ROWS = 8, 26  # commits to one module in a row, which none of their subjects names
WHAT = ("the rounding", "a missing check", "the order", "an empty case", "two warnings", "the fallback", "the default")


def write_history(folder: Path) -> None:
    """Make a repository whose commits go on with one module for a while."""
    dice = random.Random(5)
    stream, n_commits = [], 0
    versions = dict.fromkeys(MODULES, 0)

    def commit(subject: str, names: list[str]) -> None:
        nonlocal n_commits
        n_commits += 1
        who = f"committer A <a@example.org> {1_700_000_000 + 3_600 * n_commits} +0000"
        stream.append(f"commit refs/heads/main\n{who}\ndata {len(subject)}\n{subject}\n")
        for name in names:
            text = f"class {name.title()}:\n    def open(self):\n        return {versions[name]}\n"
            stream.append(f"M 644 inline src/{name}.py\ndata {len(text)}\n{text}\n")

    commit("Begin the project here", list(MODULES))
    for _ in range(ROWS):
        name = dice.choice(MODULES)
        for _ in range(IN_A_ROW):
            versions[name] += 1
            commit(f"Fix {dice.choice(WHAT)} of number {dice.randrange(10_000)}", [name])
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    subprocess.run(["git", "-C", folder, "fast-import", "--quiet"], input="".join(stream), text=True, check=True)
    subprocess.run(["git", "-C", folder, "reset", "-q", "--hard", "main"], check=True)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Workspace]:
    write_history(tmp_path)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        workspace.history.update(60.0)
        yield workspace


def answers(workspace: Workspace) -> str:
    """Return the answers to fifty searches as JSON, but for how long they took and how often the index was written."""
    forms = ("Fix how they open, number {}", "Fix {} in the {}", "where is the {1} opened", "{1}", "class {1} of {0}")
    texts = [form.format(number, name) for number, name in enumerate(MODULES) for form in forms]
    documents = [perform(workspace, "search", SearchRequest(query=text)) for text in texts]
    return json.dumps(
        [{name: value for name, value in one.items() if name not in ("took_ms", "generation")} for one in documents]
    )


def test_a_project_learns_from_its_commits_that_work_goes_on_where_it_was(project: Workspace) -> None:
    before = answers(project)
    version = project.tuning.run(RunPlan())
    assert (version.status, version.report["reasons"]) == ("active", [])
    assert version.report["gain"]["low"] > 0 < version.report["own_gain"]["low"]
    assert version.tuning["changes"]["last"] > 0
    assert answers(project) != before
    assert project.tuning.versions.roll_back() == 0
    assert answers(project) == before


def test_commits_are_scored_by_the_code_and_the_history_before_them(project: Workspace) -> None:
    subject = "Let one of them say zorbe klimp trosk"
    (project.root / "src/viaduct.py").write_text(
        "class Viaduct:\n    def open(self):\n        return 'zorbe klimp trosk'\n"
    )
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", subject]
    subprocess.run(["git", "-C", project.root, *commit], check=True)
    project.index()
    views = project.upkeep.status()["views"]
    assert project.search(subject).code[0].path == "src/viaduct.py"
    scores = project.tuning.evaluate_history(10, None)
    assert len(scores) == 10
    assert [score.ndcg for score in scores if score.query == subject and (score.ndcg or 0) < 1]
    assert project.upkeep.status()["views"] == views


def test_the_earlier_states_that_are_asked_are_gone_afterwards(project: Workspace) -> None:
    def views() -> object:
        return project.upkeep.status()["views"]

    before = views()
    index = project._index
    with PastStates(index, 60.0) as states:
        examples = states.examples(index.views.checkout)
        assert len(states.found) == STATES
        assert frozenset().union(*(state.groups for state in states.found)) == {one.group for one in examples}
        with states.found[-1].open() as oldest:
            assert oldest.snapshot.revision
        assert views() != before
    assert views() == before


_KILLED = """
import os, sys
from cairn.facets.past_states import PastStates
from cairn.workspace import Workspace

with Workspace.open(sys.argv[1]) as workspace, PastStates(workspace._index, 600.0) as states:
    states.examples(workspace._index.views.checkout)
    assert states.found
    print("asking", flush=True)
    sys.stdin.read()
"""


@contextmanager
def asking_earlier_states(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that has indexed the earlier states of a project, and asks them until it is killed."""
    command = [sys.executable, "-c", _KILLED, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "asking\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("end", ["run", "garbage"])
def test_the_earlier_states_of_a_run_that_was_killed_go_with_the_next_one_or_with_garbage(
    project: Workspace, end: str
) -> None:
    def views() -> set[str]:
        with closing(project.state.open_for_reading()) as connection:
            return {view.name for view in read_views(connection)}

    own = subprocess.run(
        ["git", "-C", project.root, "rev-parse", "HEAD~3"], capture_output=True, text=True, check=True
    ).stdout.strip()
    project.index(branch=own)  # somebody wanted this one
    before = views()
    with asking_earlier_states(project.root):
        assert len(views() - before) == STATES
        project.upkeep.collect()
        assert len(views() - before) == STATES  # they are in use
    left = views() - before
    assert len(left) == STATES
    if end == "run":
        project.tuning.evaluate_history(10, None)
    else:
        assert set(project.upkeep.collect().views) == left
    assert views() == before
    assert project.upkeep.collect().views == ()


def test_two_runs_do_not_take_the_earlier_states_from_each_other(project: Workspace) -> None:
    impatient = Settings(lock_timeout_seconds=0.0)
    with (
        asking_earlier_states(project.root),
        Workspace.open(project.root, settings=impatient) as other,
        pytest.raises(StoreLockedError, match=r"learning\.lock"),
    ):
        other.tuning.evaluate_history(10, None)


def test_without_time_for_earlier_states_commits_are_asked_of_the_code_of_now(project: Workspace) -> None:
    index = project._index
    with PastStates(index, 0.0) as states:
        examples = states.examples(index.views.checkout)
        assert states.found == []
    with index.reading(index.views.checkout) as library:
        assert examples == project.tuning.examples(library) != []
