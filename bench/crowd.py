"""Ten processes index, edit, switch branches, collect garbage, check and ask at once; every answer is checked.

    python bench/crowd.py --seconds 75

The functions that are asked for are on both branches and are never edited, though half of their files are, each in one
step: their names, their callers and what they call are known at every moment. No answer may be wrong, and nothing may
fail except with "busy" or "locked", which goes away on another try.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import os
import queue
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from multiprocessing.queues import Queue
from pathlib import Path

from cairn.errors import CairnError, error_from
from cairn.workspace import Workspace

FILES = 60
PATIENCE_SECONDS = 40.0
BUSY = ("index-locked", "busy", "slow")
_QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "A"}
_QUIET |= {"GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}

Report = tuple[str, str, str]  # who, what was done or went wrong, and about what


def text(number: int, mark: str, filler: int) -> str:
    """Return a file: the function that is asked for, which calls the next, among others that change."""
    following = (number + 1) % FILES
    extra = "\n".join(f"    total_{place} = {mark}_{place}(amount)" for place in range(filler))
    return (
        f"from steady_{following} import keep_{following}\n\n\n"
        f"def {mark}_{number}(amount):\n{extra or '    pass'}\n    return amount\n\n\n"
        f"def keep_{number}(amount):\n    return keep_{following}(amount) + {number}\n"
    )


def git(root: Path, *arguments: str) -> bool:
    done = subprocess.run(["git", *arguments], cwd=root, env=os.environ | _QUIET, capture_output=True)
    return done.returncode == 0


def make(root: Path) -> None:
    """Make a repository with two branches, of which half of the files differ."""
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for number in range(FILES):
        (root / f"steady_{number}.py").write_text(text(number, "plain", 3))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    git(root, "switch", "-qc", "side")
    for number in range(40):
        body = "".join(f"    total += side_{place}(total)\n" for place in range(number % 9))
        (root / f"side_{number}.py").write_text(f"def side_{number}(total):\n{body}    return total\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "second")
    git(root, "switch", "-q", "main")


class Wrong(Exception):
    """An answer is wrong."""


def expect(right: bool, what: object) -> None:
    if not right:
        raise Wrong(str(what)[:300])


# -- what is asked -----------------------------------------------------------------------------------------------------


def check_search(workspace: Workspace, number: int) -> None:
    workspace.refresh()
    answer = workspace.search(f"keep_{number}", limit=3)
    found = [(hit.name, hit.path) for hit in answer.code]
    expect(found[:1] == [(f"keep_{number}", f"steady_{number}.py")], (number, found, answer.notes))
    expect(f"def keep_{number}(" in answer.code[0].preview, (number, answer.code[0].preview))
    if number < FILES // 2:  # what is edited may be another chunk by now
        (whole,) = workspace.fetch([answer.code[0].id])
        expect(f"def keep_{number}(" in whole.text, (number, whole.text))


def check_graph(workspace: Workspace, number: int) -> None:
    before, after = (number - 1) % FILES, (number + 1) % FILES
    callers = {link.symbol.name for link in workspace.graph.callers(f"keep_{number}").links}
    expect(callers == {f"keep_{before}"}, (number, "callers", callers))
    callees = {link.symbol.name for link in workspace.graph.callees(f"keep_{number}").links}
    expect(callees == {f"keep_{after}"}, (number, "callees", callees))
    importers = {importer.path for importer in workspace.graph.importers(f"steady_{number}.py").importers}
    expect(importers == {f"steady_{before}.py"}, (number, "importers", importers))


def check_whole(workspace: Workspace, number: int) -> None:
    impact = workspace.graph.impact(f"keep_{number}", limit=0)
    expect(len(impact.changed) == 1, (number, "impact", impact.changed))
    shown = {entry.path for entry in workspace.graph.map(max_tokens=8_000).entries}
    expect(sum(f"steady_{place}.py" in shown for place in range(FILES)) > FILES // 2, (number, "map", len(shown)))
    dead = {entry.symbol.name for entry in workspace.graph.dead_code().dead}
    expect(not any(name.startswith("keep_") for name in dead), (number, "dead", dead))


def command(root: Path, *arguments: str, environment: dict[str, str] | None = None) -> dict[str, object]:
    """Run the command line and return its document; what it says went wrong is raised."""
    line = [sys.executable, "-m", "cairn", *arguments, "-C", str(root), "--json"]
    done = subprocess.run(line, env=os.environ | (environment or {}), capture_output=True, text=True)
    expect("Traceback" not in done.stderr, done.stderr[-900:])
    document = json.loads(done.stdout) if done.stdout.strip() else {}
    if isinstance(document, dict) and (error := document.get("error")):
        raise error_from(error["code"], f"{arguments}: {error['message']}", error["hint"])
    expect(done.returncode in (0, 1), (arguments, done.returncode, done.stderr[-600:]))
    return document if isinstance(document, dict) else {"rows": document}


def check_command(root: Path, number: int, environment: dict[str, str]) -> None:
    found = command(root, "search", f"keep_{number}", "-n", "2", environment=environment)
    rows = found.get("code") or found.get("hits") or []
    names = [row["name"] for row in rows]  # type: ignore[attr-defined] # JSON
    expect(names[:1] == [f"keep_{number}"], (number, names, found.get("notes")))
    links = command(root, "callers", f"keep_{number}", environment=environment)
    callers = {link["symbol"]["name"] for link in links["links"]}  # type: ignore[attr-defined] # JSON
    expect(callers == {f"keep_{(number - 1) % FILES}"}, (number, "callers", callers))


# -- the processes -----------------------------------------------------------------------------------------------------


def patiently(who: str, reports: Queue[Report], act: Callable[[], object]) -> None:
    """Do one thing; when the index is busy, do it again until it succeeds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            act()
        except CairnError as error:
            if error.code not in BUSY or time.monotonic() > deadline:
                reports.put((who, "error", f"{error.code}: {error}"))
                return
            reports.put((who, "busy", error.code))
            time.sleep(0.2)
        except Wrong as error:
            reports.put((who, "wrong", str(error)))
            return
        except Exception:  # noqa: BLE001 - whatever it is, it is reported
            reports.put((who, "crash", traceback.format_exc()[-1_200:]))
            return
        else:
            reports.put((who, "done", ""))
            return


def ask_long(root: Path, who: str, reports: Queue[Report], end: float, check: Callable[[Workspace, int], None]) -> None:
    chance = random.Random(who)
    with Workspace.open(root) as workspace:
        while time.monotonic() < end:
            number = chance.randrange(FILES)
            patiently(who, reports, lambda number=number: check(workspace, number))  # type: ignore[misc] # mypy infers no lambda with defaults


def ask_opening(
    root: Path, who: str, reports: Queue[Report], end: float, check: Callable[[Workspace, int], None]
) -> None:
    chance = random.Random(who)

    def act() -> None:
        with Workspace.open(root) as workspace:
            check(workspace, chance.randrange(FILES))

    while time.monotonic() < end:
        patiently(who, reports, act)


def ask_command(root: Path, who: str, reports: Queue[Report], end: float, environment: dict[str, str]) -> None:
    chance = random.Random(who)
    while time.monotonic() < end:
        patiently(who, reports, lambda: check_command(root, chance.randrange(FILES), environment))


def change(root: Path, who: str, reports: Queue[Report], end: float) -> None:
    """Edit the code above functions that are asked for, and switch branches."""
    chance = random.Random(who)
    while time.monotonic() < end:
        for _ in range(chance.randint(1, 4)):
            number = chance.randrange(FILES // 2, FILES)
            other = root.parent / f"new_{number}.py"
            other.write_text(text(number, chance.choice(("plain", "fresh")), chance.randint(0, 30)))
            other.replace(root / f"steady_{number}.py")
            time.sleep(chance.random() * 0.3)
        if chance.random() < 0.5:
            expect(git(root, "switch", "-q", chance.choice(("main", "side"))), "switch")
        reports.put((who, "done", ""))


def run_commands(
    root: Path, who: str, reports: Queue[Report], end: float, commands: tuple[tuple[str, ...], ...]
) -> None:
    chance = random.Random(who)
    while time.monotonic() < end:
        patiently(who, reports, lambda: command(root, *chance.choice(commands), environment={"CAIRN_DAEMON": "0"}))
        time.sleep(chance.random() * 0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=75.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(play(Path(folder), options.seconds)))


def play(folder: Path, seconds: float) -> dict[str, object]:
    """Let all run for some seconds, and return what happened."""
    root = folder / "root"
    make(root)
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    os.environ["CAIRN_DAEMON_PORT"] = "38900"
    with Workspace.open(root) as workspace:
        workspace.index()
    command(root, "search", "keep_1", environment={"CAIRN_DAEMON": "0"})  # makes the daemon serve the project
    subprocess.run([sys.executable, "-m", "cairn", "daemon", "start"], check=True, capture_output=True)
    context = multiprocessing.get_context("spawn")
    reports: Queue[Report] = context.Queue()
    end = time.monotonic() + seconds
    alone, together = {"CAIRN_DAEMON": "0"}, {"CAIRN_DAEMON": "1"}
    jobs: list[tuple[str, Callable[..., None], tuple[object, ...]]] = [
        ("searches", ask_long, (check_search,)),
        ("searches with a new workspace", ask_opening, (check_search,)),
        ("asks the graph", ask_long, (check_graph,)),
        ("asks the graph with a new workspace", ask_opening, (check_graph,)),
        ("asks for the whole", ask_long, (check_whole,)),
        ("asks by commands", ask_command, (alone,)),
        ("asks the daemon", ask_command, (together,)),
        ("changes", change, ()),
        ("indexes in full", run_commands, ((("index", "--full"),),)),
        ("tends", run_commands, ((("index",), ("gc",), ("doctor",), ("doctor", "--fix")),)),
    ]
    processes = [
        context.Process(target=run, args=(root, who, reports, end, *rest), daemon=True) for who, run, rest in jobs
    ]
    for process in processes:
        process.start()
    counts: collections.Counter[str] = collections.Counter()
    wrong: list[Report] = []
    while any(process.is_alive() for process in processes) or not reports.empty():
        try:
            report = reports.get(timeout=0.5)
        except queue.Empty:
            continue
        counts[f"{report[0]}: {report[1]}"] += 1
        if report[1] in ("wrong", "error", "crash"):
            wrong.append(report)
            print(json.dumps(report), file=sys.stderr, flush=True)
    wrong += [("process", "died", str(process.exitcode)) for process in processes if process.exitcode]
    subprocess.run([sys.executable, "-m", "cairn", "daemon", "stop"], check=False, capture_output=True)
    return {"seconds": seconds, "what": dict(sorted(counts.items())), "wrong": len(wrong), "first": wrong[:5]}


if __name__ == "__main__":
    main()
