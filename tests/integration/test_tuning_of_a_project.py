"""A project is tuned to how its users ask, used at once, and taken back without a trace."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.errors import NotFoundError, RequestError
from cairn.memory.moments import Moment, ToolCall
from cairn.optimize.asking import ask
from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.run import RunPlan
from cairn.optimize.versions import Version
from cairn.search.tuning import SHIPPED, shipped_digest, tuning_file
from cairn.storage.memory.rows import AskedQuestion, ShownHit
from cairn.workspace import Workspace
from small_projects import THINGS, write_things

# Words of the users' own, which stand nowhere in the code.
SLANG = [
    *("zorbe", "klimp", "trosk", "vanto", "quibb", "druzz"),
    *("flarn", "mopsi", "snerk", "wizzo", "brint", "hutch"),
]
FORMS = ("how does the {} start", "limits of the {}", "where is a {} closed", "why is the {} slow", "{} that expires")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Workspace]:
    write_things(tmp_path)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


def examples(wanted: list[str] = THINGS) -> list[Example]:
    found = []
    for turn in range(15):
        for number, word in enumerate(SLANG):
            text = FORMS[(turn + number) % len(FORMS)].format(word)
            file = WantedFile(f"{wanted[number % len(wanted)]}.py")
            found.append(Example(text, (file,), group=f"s{turn}", seconds=float(turn), source="feedback"))
    return found


def tune(workspace: Workspace, given: list[Example] | None = None) -> Version:
    return workspace.tuning.run(RunPlan(), given=examples() if given is None else given)


def first(workspace: Workspace, query: str) -> str:
    return workspace.search(query).code[0].path


def answers(workspace: Workspace) -> list[object]:
    return [
        [(hit.id, hit.score, hit.relevance) for hit in workspace.search(f"the {word} of it").code]
        for word in (*THINGS, *SLANG)
    ]


def test_words_of_the_users_find_what_they_mean_once_the_project_is_tuned(project: Workspace) -> None:
    before = answers(project)
    version = tune(project)
    assert (version.status, version.report["reasons"]) == ("active", [])
    assert version.report["gain"]["low"] > 0.2
    project.tuning.versions.apply(version.number)  # without a trial
    assert [first(project, f"open the {word}") for word in SLANG] == [f"{name}.py" for name in THINGS]
    assert project.tuning.versions.roll_back() == 0
    assert not tuning_file(project.state).exists()
    assert answers(project) == before


def test_the_same_seed_gives_the_same_tuning(project: Workspace) -> None:
    one = tune(project)
    project.tuning.versions.roll_back()
    other = tune(project)
    assert {**one.tuning, "number": 0} == {**other.tuning, "number": 0}
    assert project.tuning.versions.active()[0].number == other.number == 2
    project.tuning.versions.apply(1)
    content = tuning_file(project.state).read_bytes()
    project.tuning.versions.apply(2)
    assert project.tuning.versions.roll_back() == 1
    assert tuning_file(project.state).read_bytes() == content


def test_a_run_without_enough_questions_says_how_many_there_are(project: Workspace) -> None:
    version = tune(project, examples()[:99])
    assert version.status == "refused"
    assert version.report["reasons"] == ["there are 99 questions whose right files are known; 100 are needed"]
    assert not tuning_file(project.state).exists()


def test_one_file_that_is_opened_whatever_is_asked_changes_nothing(project: Workspace) -> None:
    assert tune(project, examples(["viaduct"])).status == "refused"


def test_an_interrupted_run_goes_on_where_it_was(project: Workspace) -> None:
    looked: list[str] = []

    def stop(what: str, done: int, total: int) -> None:
        looked.append(what)
        if "held out" in what:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.tuning.run(RunPlan(progress=stop), given=examples())
    looked.clear()
    version = project.tuning.run(RunPlan(progress=lambda what, done, total: looked.append(what)), given=examples())
    assert version.status == "active"
    assert "look at questions" not in looked


def test_what_an_interrupted_run_fitted_to_other_shipped_values_is_fitted_again(project: Workspace) -> None:
    def stop(what: str, done: int, total: int) -> None:
        if "held out" in what:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.tuning.run(RunPlan(progress=stop), given=examples())
    with project.memory.store.writing() as connection:
        connection.execute("UPDATE tuning_run SET body = replace(body, ?, 'others')", (shipped_digest(),))
    assert tune(project).status == "active"


def test_the_doctor_says_whether_a_tuning_is_used(project: Workspace) -> None:
    def told() -> list[tuple[str, str]]:
        findings = project.upkeep.doctor()
        return [(finding.level, finding.message) for finding in findings if finding.check == "tuning"]

    assert told() == []
    tune(project)
    assert told() == [("ok", "version 1 is used")]
    file = tuning_file(project.state)
    file.write_text(file.read_text().replace('"number": 1', '"number": 7'))
    assert told() == [("warning", "a tuning is there, but not used: it was not written here")]


def test_of_a_long_hit_only_the_lines_that_are_shown_make_an_answer_longer(tmp_path: Path) -> None:
    tokens = []
    for n_lines in (7, 40):
        root = tmp_path / str(n_lines)
        root.mkdir()
        lines = "".join(f"    total += compute({number:04})\n" for number in range(n_lines))
        (root / "wallet.py").write_text(f"def fill(total):\n{lines}")
        with Workspace.open(root) as workspace:
            workspace.index()
            with workspace._index.reading(workspace._index.views.checkout) as library:
                tokens.append(ask(library, SHIPPED, Example("how is the total filled", ())).tokens)
    assert tokens[0] > 40
    assert tokens[1] < 1.2 * tokens[0]


def test_a_version_that_is_not_there_cannot_be_used(project: Workspace) -> None:
    with pytest.raises(NotFoundError):
        project.tuning.versions.apply(7)
    with pytest.raises(RequestError):
        project.tuning.versions.roll_back()


def test_the_commands_tell_and_change_what_is_used(project: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    tune(project)
    place = ["-C", str(project.root)]
    assert main([*place, "optimize", "diff", "0", "1"]) == 0
    assert "expansions.zorb" in capsys.readouterr().out
    assert main([*place, "optimize", "history", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["versions"][0]["status"] == "active"
    assert main([*place, "optimize", "rollback"]) == 0
    assert main([*place, "optimize", "status"]) == 0
    assert "used: the shipped values" in capsys.readouterr().out
    assert main([*place, "optimize", "run"]) == 1
    assert "100 are needed" in capsys.readouterr().out


def test_a_set_of_questions_is_scored_for_this_project_and_for_other_tools(
    project: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    rows = [{"query": name, "files": [f"{name}.py"], "symbols": [name.title()]} for name in THINGS]
    questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    place = ["-C", str(project.root)]
    assert main([*place, "eval", "run", str(questions), "--json"]) == 0
    own = capsys.readouterr().out
    assert json.loads(own)["metrics"]["ndcg"]["mean"] == 1.0
    assert main([*place, "eval", "run", str(questions), "--command", "echo {query}.py; ls", "--json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)["metrics"]["ndcg"]["mean"] == 0.0  # no shell: `;` and `ls` are printed, too
    assert main([*place, "eval", "run", str(questions), "--command", "printf %s.py {query}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["file_match"]["mean"] == 1.0
    (tmp_path / "a.json").write_text(printed)
    (tmp_path / "b.json").write_text(own)
    assert main([*place, "eval", "compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    assert "NDCG@10: 0.000 -> 1.000" in capsys.readouterr().out
    assert main([*place, "eval", "run", str(questions), "--command", "ls"]) == 2
    (tmp_path / "b.json").write_text('{"scores": 5}')
    capsys.readouterr()
    assert main([*place, "eval", "compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 2
    assert main([*place, "eval", "compare", str(tmp_path / "a.json"), str(tmp_path / "missing.json")]) == 2
    asked = "  try: name two files with what this printed: cairn eval run QUESTIONS --json\n"
    assert capsys.readouterr().err.count(asked) == 2
    questions.write_text('{"query": "half a \\ud83d and \\u0000", "files": ["wallet.py"]}')
    assert main([*place, "eval", "run", str(questions), "--command", "printf %s {query}", "--json"]) == 0


def test_what_there_is_to_learn_from_is_counted_again_once_there_is_more(project: Workspace) -> None:
    assert project.tuning.status()["examples"] == {"history": 0, "feedback": 0}
    project.memory.remember("Wallets are made of leather")  # where nothing is remembered, nothing is kept
    project.memory.take(Moment("", "session-start", "s-1", "claude-code", time.time()))
    asked = AskedQuestion("s-1", 0.0, "code", "how does the wallet open", 2, 0.9, "http")
    hits = [ShownHit(0, rank, "", f"{name}.py", 1, 5, "", 0.9) for rank, name in enumerate(("wallet", "harbour"), 1)]
    project.memory.feedback.note_answer(asked, hits)
    assert project.tuning.status()["examples"]["feedback"] == 0
    read = ToolCall("read", "Read", "harbour.py", "ok")
    project.memory.take(Moment("", "after-tool", "s-1", "claude-code", time.time(), call=read))
    assert project.tuning.status()["examples"]["feedback"] == 1
