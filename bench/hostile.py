"""Runs every command and every MCP tool on repositories that were planted to harm, and reports what escaped them.

    python bench/hostile.py [--only TEXT] [--jobs 2] [--no-trace] [--keep]

For each plant of `hostile_repositories.py` a fresh checkout is made, with a home and state folders of its own, and
`every_command.py` runs in it, under strace where there is one. Then a daemon is asked by an MCP front end for the same
project. It counts as a failure when

- a program ran that is neither Python nor git, or the planted one left its mark;
- a file outside the state folders was written, made, renamed or deleted, or something in the checkout changed;
- a connection was opened to anything but the daemon, or a server was contacted;
- a variable that may hold a secret was read;
- a command took more than `--seconds` or `--mb`, ended the process, raised, or exited with a code other than 0 to 3;
- the daemon did not outlive its answers.
"""

from __future__ import annotations

import argparse
import hashlib
import http.server
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from cairn.client import stop
from cairn.runtime import StateFolder
from cairn.workspace import Workspace
from every_command import COMMANDS
from hostile_repositories import all_plants
from mcp_clients import HELLO, FrontEnd
from plants import SECRETS, Outside, Plant, make_checkout
from processes import resident_mb

BENCH = Path(__file__).parent
PATIENCE = 6  # times what one command may take; after that, all are given up
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "how are settings read"}),
    ("search", {"query": "load_settings"}),
    ("search", {"query": r"def \w+", "mode": "regex"}),
    ("outline", {"file": "src/session.py"}),
    ("outline", {"file": "crash.yaml"}),
    ("fetch", {"ids": ["src/session.py#load_settings"]}),
    ("fetch", {"ids": ["../victims/authorized_keys#1"]}),
    ("graph", {"relation": "callers", "symbol": "load_settings"}),
    ("graph", {"relation": "impact", "diff": "HEAD~1"}),
    ("context", {"task": "open a session"}),
    ("core_files", {"action": "list"}),
    ("core_files", {"action": "suggest"}),
    ("index_status", {"check": True}),
)
OUTSIDE_TEXTS = ("root:x:", "this is authorized_keys", "this is folder/letter")
OWN = ("state", "home/.cache", "report.jsonl")  # folders of the user, and what `every_command.py` writes
_WRITING = r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC"
_TRACED = (
    "execve,execveat,connect,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,"
    "symlink,symlinkat,truncate,chmod,fchmodat,chown,lchown,fchownat,mknod,mknodat,"
    "chdir,fchdir,clone,clone3,fork,vfork"
)
_HARMLESS = ("/dev/", "/proc/", "pipe:", "socket:", "anon_inode:")


class Listener:
    """A server that records all requests."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        heard = self.heard

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                heard.append(f"{self.path} {self.headers} {body[:200]!r}")
                self.send_error(500)

            do_GET = do_POST

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()


class Limits(NamedTuple):
    """What one command may take."""

    seconds: float
    mb: float


class Ground(NamedTuple):
    """Where one plant is tried: the checkout, what it must not reach, the user's folders, all below `folder`."""

    folder: Path
    root: Path
    outside: Outside
    listener: Listener

    @classmethod
    def make(cls, folder: Path, index: Path) -> Ground:
        """Lay it out."""
        victims = folder / "victims"
        (victims / "folder").mkdir(parents=True)
        for name in ("authorized_keys", "folder/letter.txt", "0123456789abcdef0123456789abcdef.seg", "index.db"):
            (victims / name).write_text(f"this is {name}\n" * 100)
        program = folder / "program"
        program.write_text(f"#!/bin/sh\ntouch {folder}/ran\nexit 0\n")
        program.chmod(0o755)
        for name in ("home", "state", "config"):
            (folder / name).mkdir(mode=0o700)
        make_checkout(folder / "checkout")
        listener = Listener()
        return cls(folder, folder / "checkout", Outside(victims, program, f"{listener.url}/v1", index), listener)

    def environment(self) -> dict[str, str]:
        """Return the variables of the user, secrets among them."""
        folders = {"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config"}
        secrets = {name: f"secret-{name}" for name in SECRETS}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CAIRN_", "GIT_"))}
        return kept | secrets | {name: str(self.folder / value) for name, value in folders.items()}

    def fingerprint(self) -> dict[str, str]:
        """Return what nothing may change: the victims, and the checkout without the state folder."""
        found: dict[str, str] = {}
        for top in (self.outside.victims, self.root):
            for folder, folders, files in os.walk(top):
                if folder == str(self.root):  # the state folder, and what `doctor --fix` moved out of its way
                    for names in (folders, files):
                        names[:] = [name for name in names if not re.fullmatch(r"\.cairn(\.moved-[\d-]+)?", name)]
                for name in (*folders, *files):
                    found[os.path.join(folder, name)] = _digest(os.path.join(folder, name))
        return found


def _digest(path: str) -> str:
    try:
        status = os.lstat(path)
    except OSError as error:  # a path that is too long
        return str(error.errno)
    if os.path.islink(path):
        return os.readlink(path)
    if os.path.isfile(path) and status.st_size < 10_000_000:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    return f"{status.st_mode} {status.st_size if os.path.isfile(path) else ''}"


def attempt(plant: Plant, folder: Path, index: Path, limits: Limits, traced: bool) -> list[str]:
    """Try one plant and return what went wrong."""
    ground = Ground.make(folder, index)
    if plant.later is not None:
        index_as_user(ground)
    plant.make(ground.root, ground.outside)
    if plant.later is not None:
        plant.later(ground.root, ground.outside)
    (folder / "ran").unlink(missing_ok=True)  # making the plant may have run it
    before = ground.fingerprint()
    wrong = run_commands(ground, limits, traced)
    wrong += run_tools(ground, limits)
    after = ground.fingerprint()
    wrong += [f"changed: {path}" for path in sorted(before) if after.get(path) != before[path]]
    wrong += [f"made: {path}" for path in sorted(after.keys() - before.keys())]
    if (folder / "ran").exists():
        wrong.append("the planted program ran")
    if heard := ground.listener.heard:
        wrong.append(f"a server was asked {len(heard)} times: {heard[0].splitlines()[0]} ... {heard[0][-150:]}")
    return wrong


def index_as_user(ground: Ground) -> None:
    """Index the checkout before it turns hostile."""
    subprocess.run(
        [sys.executable, "-P", "-m", "cairn", "index", "-C", str(ground.root), "--no-daemon"],
        env=ground.environment(),
        check=True,
        capture_output=True,
    )


def run_commands(ground: Ground, limits: Limits, traced: bool) -> list[str]:
    """Run every command in the checkout, and return what went wrong."""
    report, trace = ground.folder / "report.jsonl", ground.folder / "trace"
    wrong: list[str] = []
    first = 0
    while first < len(COMMANDS):
        command = [
            sys.executable,
            str(BENCH / "every_command.py"),
            str(ground.root),
            str(report),
            "--first",
            str(first),
        ]
        if traced:
            command = [*strace(trace), *command]
        process = subprocess.Popen(
            command,
            env=ground.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            _, said = process.communicate(timeout=PATIENCE * limits.seconds)
            how = f"ended with {process.returncode}: {said[-300:].decode(errors='replace')}"
        except subprocess.TimeoutExpired:
            how = "never ended"
            os.killpg(process.pid, 9)
            process.wait()
        done, unfinished, found = read_report(report, limits)
        wrong += found
        report.unlink(missing_ok=True)
        if unfinished is None and done:
            break
        if unfinished is None:
            return [*wrong, f"nothing ran: {how}"]
        wrong.append(f"{' '.join(COMMANDS[unfinished])}: {how}")
        first = unfinished + 1
    if traced:
        own = (ground.root / ".cairn", *(ground.folder / name for name in OWN))
        wrong += read_trace(trace.read_text(errors="replace").splitlines(), own, ground.folder)
    return wrong


def strace(trace: Path) -> list[str]:
    """Return the words before a command that add to a file what it and all that it starts run, connect to and write."""
    return ["strace", "-f", "--seccomp-bpf", "-y", "-o", str(trace), "-A", "-e", f"trace={_TRACED}"]


def read_report(report: Path, limits: Limits) -> tuple[bool, int | None, list[str]]:
    """Return whether any command ended, the number of one that did not, and what went wrong with the others."""
    wrong: list[str] = []
    started: dict[str, Any] | None = None
    any_done = False
    for line in report.read_text().splitlines() if report.exists() else ():
        entry = json.loads(line)
        if started is None:
            started = entry
            continue
        name = " ".join(started["command"])
        started, any_done = None, True
        if entry["code"] not in range(4):
            wrong.append(f"{name}: exit code {entry['code']}: {entry['said'][-300:]}")
        if "Traceback" in entry["said"]:
            wrong.append(f"{name}: {entry['said'][-300:]}")
        if entry["seconds"] > limits.seconds:
            wrong.append(f"{name}: {entry['seconds']:.1f} s")
        if entry["peak_mb"] > limits.mb:
            wrong.append(f"{name}: {entry['peak_mb']:.0f} MB")
        if secrets := set(entry["asked"]).intersection(SECRETS):
            wrong.append(f"{name}: read {', '.join(sorted(secrets))}")
        if any(secret in entry["said"] for secret in OUTSIDE_TEXTS):
            wrong.append(f"{name}: showed a file outside: {entry['said'][:200]}")
    return any_done, None if started is None else int(started["number"]), wrong


def read_trace(lines: Sequence[str], own: Iterable[Path], planted: Path, harmless_shell: str = "") -> list[str]:
    """Return what a trace shows of programs, connections and writes that should not be.

    Args:
        lines: of strace.
        own: where may be written.
        planted: no program may run from below it.
        harmless_shell: what a shell may be started for; by default nothing.
    """
    own_places = tuple(map(str, own))
    folders = _Folders(lines)
    wrong: dict[str, None] = {}
    for line in lines:
        process, _, call_rest = line.partition(" ")
        call, _, rest = call_rest.strip().partition("(")
        if re.search(r"= -1 E", rest):
            continue
        if call.startswith("exec"):
            program = rest.partition('"')[2].partition('"')[0]
            is_harmless = bool(harmless_shell) and os.path.basename(program) == "sh" and harmless_shell in rest
            is_own = re.fullmatch(r"(python[\d.]*|git(-[a-z-]+)?)", os.path.basename(program))
            if not (is_own or is_harmless) or program.startswith(str(planted)):
                wrong[f"ran {program}"] = None
        elif call == "connect":
            if "AF_INET" in rest:
                wrong[f"connected: {rest[:120]}"] = None
        elif call in ("chdir", "fchdir"):
            folders.change(process, rest)
        elif (place := _written(call, rest, folders.of(process))) and not place.startswith((*_HARMLESS, *own_places)):
            wrong[f"{call} {place}"] = None
    return list(wrong)


class _Folders:
    """In which folder each process of a trace is."""

    def __init__(self, lines: Iterable[str]) -> None:
        begun = re.compile(r"(\d+) +(?:<\.\.\. )?(?:clone3?|v?fork)\b.*= (\d+)$")
        self._parents = {match[2]: match[1] for line in lines if (match := begun.match(line))}
        self._folders: dict[str, str] = {}

    def of(self, process: str) -> str:
        """Return the folder of a process: that of its parent, as long as it has not changed it."""
        while process not in self._folders and process in self._parents:
            process = self._parents[process]
        return self._folders.get(process, str(Path.cwd()))

    def change(self, process: str, rest: str) -> None:
        """Take what follows the name of a call that changes the folder."""
        named = re.search(r'^"((?:[^"\\]|\\.)*)"|^\d+<(.*?)>', rest)
        if named is not None:
            self._folders[process] = os.path.join(self.of(process), named[1] or named[2])


def _written(call: str, rest: str, current: str) -> str:
    """Return the path that a call wrote to, made or deleted; empty for one that only read.

    `current` is the folder that the process was in.
    """
    if call in ("open", "openat"):
        if not re.search(_WRITING, rest):
            return ""
        opened = re.search(r"= \d+<(.*?)>(\(deleted\))?$", rest)
        return opened[1] if opened else ""
    folder = re.search(r"^(?:AT_FDCWD|\d+)<(.*?)>", rest)
    name = re.search(r'"((?:[^"\\]|\\.)*)"', rest)
    if name is None:
        return ""
    return os.path.normpath(os.path.join(folder[1] if folder else current, name[1]))


def run_tools(ground: Ground, limits: Limits) -> list[str]:
    """Ask every MCP tool about the checkout, and return what went wrong."""
    wrong: list[str] = []
    state = StateFolder(ground.folder / "state" / "cairn")
    front_end = FrontEnd(ground.root, ground.environment())
    try:
        front_end.send("initialize", HELLO)
        _receive(front_end, limits)
        daemons: set[int] = set()
        for tool, arguments in CALLS:
            started = time.perf_counter()
            front_end.send("tools/call", {"name": tool, "arguments": arguments})
            answer = _receive(front_end, limits)
            wrong += [f"mcp {tool}: {fault}" for fault in judge(answer, time.perf_counter() - started, limits)]
            if (runtime := state.find()) is not None:
                daemons.add(runtime.pid)
                if (mb := resident_mb(runtime.pid)) > limits.mb:
                    wrong.append(f"mcp {tool}: the daemon takes {mb:.0f} MB")
        if len(daemons) > 1:
            wrong.append(f"mcp: there were {len(daemons)} daemons, one after the other")
    except (OSError, ValueError) as error:
        wrong.append(f"mcp: {error!r}")
    finally:
        front_end.kill()
        stop(state)
    return wrong


def judge(answer: dict[str, Any] | None, seconds: float, limits: Limits) -> Iterator[str]:
    """Yield what is wrong with the answer of a tool; None if there was none."""
    text = json.dumps(answer)
    if answer is None or seconds > limits.seconds:
        yield f"{seconds:.1f} s"
    if answer is not None and ("error" in answer or "Traceback" in text or "internal" in text):
        yield text[:300]
    if any(secret in text for secret in OUTSIDE_TEXTS):
        yield f"showed a file outside: {text[:300]}"


def _receive(front_end: FrontEnd, limits: Limits) -> dict[str, Any] | None:
    timer = threading.Timer(3 * limits.seconds, front_end.process.kill)
    timer.start()
    try:
        return front_end.receive()
    except ValueError:  # it was killed
        return None
    finally:
        timer.cancel()


def make_index(folder: Path) -> Path:
    """Return a state folder that another user has made."""
    make_checkout(folder / "elsewhere")
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder / "their-state")
    try:
        with Workspace.open(folder / "elsewhere") as workspace:
            workspace.index()
    finally:
        os.environ.pop("XDG_STATE_HOME")
        if before is not None:
            os.environ["XDG_STATE_HOME"] = before
    return folder / "elsewhere" / ".cairn"


def try_all(plants: Sequence[Plant], folder: Path, limits: Limits, *, jobs: int, traced: bool) -> dict[str, list[str]]:
    """Try plants and return what went wrong with each, printing each result at once."""
    index = make_index(folder)

    def try_plant(numbered: tuple[int, Plant]) -> list[str]:
        number, plant = numbered
        ground = folder / f"p{number:03}"
        try:
            wrong = attempt(plant, ground, index, limits, traced)
        except (OSError, subprocess.SubprocessError, sqlite3.Error) as error:
            wrong = [f"could not be tried: {error!r}"]
        print(
            f"{'FAIL' if wrong else 'ok  '} {plant.name}",
            *(f"\n       {line}" for line in wrong[:12]),
            sep="",
            flush=True,
        )
        subprocess.run(["rm", "-rf", str(ground)], check=False)  # deeper than Python's own can delete
        return wrong

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip([plant.name for plant in plants], pool.map(try_plant, enumerate(plants)), strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="plants whose name matches this pattern")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--mb", type=float, default=500.0)
    parser.add_argument("--no-trace", action="store_true", help="do without strace")
    options = parser.parse_args()
    plants = [plant for plant in all_plants() if re.search(options.only, plant.name)]
    traced = not options.no_trace and shutil.which("strace") is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        limits = Limits(options.seconds, options.mb)
        found = try_all(plants, Path(scratch), limits, jobs=options.jobs, traced=traced)
    failed = sum(map(bool, found.values()))
    print(f"{len(found)} repositories, {len(COMMANDS)} commands and {len(CALLS)} calls of tools each: {failed} failed")
    print(
        "programs, connections and writes were traced"
        if traced
        else "nothing was traced: strace is not installed, or was turned off"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
