"""Compares a team's server with the own machine: the same answers, and what they cost through it.

    python bench/team.py --bench BENCH --repos REPOS [--n-repos 20] [--rounds 3] [--n-nodes 2] [--only NAME...]

Each repository becomes a commit of its own, published by a worker to a folder of objects and PostgreSQL,
and answered by nodes behind HAProxy; a local daemon answers from a clone. Both are asked the questions of the benchmark
over HTTP on a connection that is kept, by turns. "Cold" is the first answer of a node that has fetched nothing, against
the first answer of the clone's index, both in a process that has imported what it needs.

    python bench/team.py --memories 1000 [--seed 1]

Three laptops make that many events of shared memories, and exchange them with a server while 4 of 10 requests are lost,
unanswered or sent twice. Then a project is searched while an exchange of its memories waits for a server that never
answers, and while none does, by turns; and what such an exchange costs, which the daemon tries once a minute at most.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from cairn.client import ensure, stop
from cairn.config import Settings
from cairn.errors import CairnError
from cairn.memory.team_memories import TeamLink, TeamMemories
from cairn.memory.team_sync import sync
from cairn.registry import Registry
from cairn.remote.connection import TeamConnection
from cairn.remote.servers import TeamServer
from cairn.runtime import Runtime, StateFolder
from cairn.team.catalog import Catalog
from cairn.team.node import SearchNode
from cairn.team.objects import Objects
from cairn.team.operator import Operator
from cairn.team.server import TeamApi
from cairn.team.tokens import token_hash
from cairn.team.worker import Worker
from cairn.workspace import Workspace
from dataset import Repository, load_repositories
from metrics import percentile
from postgres import find_programs, postgres
from team_events import AppWire, Laptop, UnsteadyWire
from team_installation import Installation, cluster, commit_all, find_haproxy

_LEASE_SECONDS = 600


def copy_repository(source: Path, target: Path) -> None:
    """Make a repository of one commit out of a folder."""
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cairn"))
    commit_all(target)


class Connection:
    """Asks one server on a connection that is kept."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        self._http = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=600)
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    def search(self, path: str, **values: object) -> tuple[object, float]:
        """Return the hits of an answer as they are, and the milliseconds it took."""
        begun = time.perf_counter()
        self._http.request("POST", path, json.dumps(values), self._headers)
        response = self._http.getresponse()
        document: dict[str, Any] = json.loads(response.read())
        ms = 1_000 * (time.perf_counter() - begun)
        if response.status != 200:
            raise SystemExit(f"{path}: {document}")
        return document["code"], ms


def cold_seconds(node: SearchNode, folder: Path, token: bytes, repository: Repository) -> list[float]:
    """Return the seconds to a first answer of a node that has nothing of it, and of the clone's index."""
    question = repository.questions[0].query
    begun = time.perf_counter()
    with node.project(token, f"bench/{repository.name}", None) as (_, workspace):
        workspace.search(question)
    there = time.perf_counter() - begun
    begun = time.perf_counter()
    with Workspace.open(folder / "clones" / repository.name) as workspace:
        workspace.refresh()
        workspace.search(question)
    return [there, time.perf_counter() - begun]


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path)
    parser.add_argument("--repos", type=Path)
    parser.add_argument("--memories", type=int, metavar="N", help="exchange so many events instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n-repos", type=int, default=20)
    parser.add_argument("--n-questions", type=int, default=10, help="of each repository")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--n-nodes", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    programs = find_programs()
    if programs is None or (find_haproxy() is None and options.memories is None):
        raise SystemExit("PostgreSQL or HAProxy is not installed")
    if options.memories is not None:
        with tempfile.TemporaryDirectory() as scratch, postgres(programs) as server:
            share_memories(Path(scratch), server.address, options.memories, random.Random(options.seed))
            search_while_cut_off(Path(scratch))
        return
    if options.bench is None or options.repos is None:
        parser.error("--bench and --repos are needed")
    repositories = load_repositories(options.bench, options.repos, options.only)[: options.n_repos]
    with tempfile.TemporaryDirectory() as scratch, postgres(programs) as server:
        folder = Path(scratch)
        os.environ |= {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("STATE", "CONFIG", "CACHE", "DATA")}
        compare(folder, server.address, repositories, options)


def share_memories(folder: Path, address: str, n_events: int, randomly: random.Random) -> None:
    """Let three laptops change memories and exchange them over lines that lose requests; print what came out."""
    with closing(Catalog(address)) as owner, closing(Catalog(address, "cairn_node")) as nodes:
        owner.migrate()
        operator = Operator(owner)
        operator.add_project("acme/shop", "https://git.example.org/acme/shop.git", "main")
        with closing(SearchNode(nodes, Objects(f"file://{folder}/bucket"), folder / "node")) as node:
            app = TeamApi(nodes, node).app()
            laptops = []
            for place in range(3):
                token = operator.new_token(f"person{place}", 1, ("read", "write"))
                operator.grant(f"person{place}", "acme/shop", may_write=True)
                wire = UnsteadyWire(AppWire(app, token), randomly, 0.4)
                laptops.append(Laptop(folder / f"laptop{place}", wire, offset_seconds=40.0 * place))
            outcomes = [0, 0]
            begun = time.process_time()
            for _ in range(n_events):
                randomly.choice(laptops).change(randomly, "the word is swordfish")
                if randomly.random() < 0.1:
                    outcomes[randomly.choice(laptops).try_to_sync()] += 1
            for laptop in laptops * 2:
                while not laptop.try_to_sync():
                    outcomes[0] += 1
                outcomes[1] += 1
            seconds = time.process_time() - begun
    states = [laptop.state() for laptop in laptops]
    waiting = sum(laptop.team.status().n_waiting for laptop in laptops)
    print(
        f"{n_events:,} events on 3 laptops: {outcomes[1]:,} exchanges done, {outcomes[0]:,} cut, {seconds:.1f} s of CPU"
    )
    print(f"{len(states[0]):,} memories, all equal: {states[0] == states[1] == states[2]}; waiting: {waiting}")


def search_while_cut_off(folder: Path) -> None:
    """Search a project by turns while an exchange waits for a server that never answers, and while none does."""
    root = folder / "project"
    shutil.copytree(Path(__file__).resolve().parents[1] / "src" / "cairn" / "memory", root)
    listener = socket.create_server(("127.0.0.1", 0))  # connects, and says nothing
    server = TeamServer(f"http://127.0.0.1:{listener.getsockname()[1]}", "token")
    times: dict[bool, list[float]] = {True: [], False: []}
    costs = []
    with Workspace.open(root) as workspace, Workspace.open(root) as other:
        workspace.refresh()
        for number in range(50):
            workspace.memory.remember(f"memory {number} says how the store of events is opened", shared=True)
        memories = TeamMemories(other.memory.store)
        memories.join(TeamLink(server.url, "acme/shop"))

        def exchange() -> None:
            begun = time.thread_time()
            with suppress(CairnError):
                sync(memories, TeamConnection(server, answer_seconds=2.0))
            costs.append(1_000 * (time.thread_time() - begun))

        for turn in range(41):
            is_cut_off = bool(turn % 2)
            thread = threading.Thread(target=exchange)
            if is_cut_off:
                thread.start()
                connection, _ = listener.accept()
            for query in ("where is an event checked", "how are memories erased", "clock of another machine") * 3:
                begun = time.perf_counter()
                workspace.search(query)
                if turn:
                    times[is_cut_off].append(1_000 * (time.perf_counter() - begun))
            if is_cut_off:
                connection.close()
                thread.join()
    listener.close()
    cut, free = (percentile(times[is_cut_off], 50) for is_cut_off in (True, False))
    print(f"search p50: cut off {cut:.2f} ms, no exchange {free:.2f} ms, {cut / free:.2f} times")
    print(f"an exchange with a server that is away: {statistics.median(costs):.1f} ms of CPU")


def compare(folder: Path, address: str, repositories: list[Repository], options: argparse.Namespace) -> None:
    """Publish the repositories, ask both sides, and print what came out."""
    owner = Catalog(address)
    owner.migrate()
    operator = Operator(owner)
    objects = Objects(f"file://{folder}/bucket")
    token = operator.new_token("bench", 1)
    for repository in repositories:
        copy_repository(repository.folder, folder / "origins" / repository.name)
        subprocess.run(
            ["git", "clone", "-q", folder / "origins" / repository.name, folder / "clones" / repository.name],
            check=True,
        )
        operator.add_project(f"bench/{repository.name}", f"file://{folder}/origins/{repository.name}", "main")
        operator.grant("bench", f"bench/{repository.name}")

    with closing(Catalog(address, "cairn_worker")) as catalog:
        lease = timedelta(seconds=_LEASE_SECONDS)
        worker = Worker(catalog, objects, folder / "worker", "bench", Settings(), lease)
        begun = time.perf_counter()
        while worker.look(timedelta(days=1)) | worker.work():
            pass
        print(f"published {len(repositories)} repositories in {time.perf_counter() - begun:.1f} s")
    tell_sizes(folder, owner)
    for repository in repositories:
        with Workspace.open(folder / "clones" / repository.name) as workspace:
            workspace.index()
        Registry(StateFolder.of_user()).add(folder / "clones" / repository.name, repository.name)
    ratios = []
    with ExitStack() as stack:
        catalog = stack.enter_context(closing(Catalog(address, "cairn_node")))
        # Nothing is deleted meanwhile: ext4 takes ten times as long to make a file where many were just deleted.
        nodes = [
            stack.enter_context(closing(SearchNode(catalog, objects, folder / f"cold-{number}"))) for number in range(2)
        ]
        cold_seconds(nodes[0], folder, token_hash(token), repositories[0])  # imports what is needed
        for repository in repositories:
            there, here = cold_seconds(nodes[1], folder, token_hash(token), repository)
            ratios.append(there / here)
    print(f"cold: {statistics.median(ratios):.2f} times the local first answer, worst {max(ratios):.2f}")
    state = StateFolder.of_user()
    runtime = ensure(state)
    try:
        installation = Installation(address, folder, variables=dict(os.environ))
        with cluster(installation, options.n_nodes) as team:
            ask_both(Connection(team.address, token), local_connection(state, runtime), folder, repositories, options)
    finally:
        stop(state)


def tell_sizes(folder: Path, owner: Catalog) -> None:
    """Print how much the objects and the database take, and how many chunks they are for."""
    files = [path for path in (folder / "bucket").rglob("*") if path.is_file()]
    n_bytes = sum(path.stat().st_size for path in files)
    n_chunks = 0
    for state in (folder / "worker").glob("*/state/index.db"):
        with closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as connection:
            n_chunks += connection.execute("SELECT count(*) FROM chunk").fetchone()[0]
    with owner.transaction() as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None  # of a function
    print(f"objects: {len(files)} with {n_bytes / 1e6:.1f} MB for {n_chunks:,} chunks; database {row[0] / 1e6:.1f} MB")


def local_connection(state: StateFolder, runtime: Runtime) -> Connection:
    """Return a connection to the local daemon."""
    return Connection(f"http://{runtime.host}:{runtime.port}", state.read_token())


def ask_both(
    there: Connection, here: Connection, folder: Path, repositories: list[Repository], options: argparse.Namespace
) -> None:
    """Ask a node and the daemon the same questions, by turns."""
    same = total = 0
    times: dict[str, list[float]] = {"node": [], "daemon": []}
    for repository in repositories:
        questions = [question.query for question in repository.questions[: options.n_questions]]
        for number in range(options.rounds + 1):  # the first opens the project on both sides
            for query in questions:
                path = f"/api/projects/bench/{repository.name}/search"
                remote, remote_ms = there.search(path, query=query)
                local, local_ms = here.search(
                    "/api/search", query=query, project=str(folder / "clones" / repository.name)
                )
                if number:
                    times["node"].append(remote_ms)
                    times["daemon"].append(local_ms)
                else:
                    total += 1
                    same += remote == local
    print(f"the same hits, whole: {same} of {total}")
    for share in (50, 95):
        node, daemon = (percentile(times[name], share) for name in ("node", "daemon"))
        print(f"p{share}: node {node:.2f} ms, daemon {daemon:.2f} ms, {node / daemon:.2f} times")


if __name__ == "__main__":
    main()
