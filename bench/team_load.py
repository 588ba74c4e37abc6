"""Loads a team's server, and breaks its parts one after the other, as it is deployed: processes behind HAProxy.

    python bench/team_load.py --bench BENCH --repos REPOS [--projects 200] [--nodes 4] [SCENARIO...]

| scenario | what happens | what is counted |
|---|---|---|
| load | questions at a fixed rate to nodes that have nothing, again, and while nodes are killed | errors, latencies |
| workers | a worker is killed at 50 random moments | branches that are behind, objects that lack or are left over |
| leases | a worker is stopped past its lease, then goes on, 20 times | those that still published |
| database | PostgreSQL is killed and started again under load | errors of projects that were asked about before |
| standby | a primary is killed under load and its standby promoted, 5 times | what was acknowledged and is lost |
| store | the S3 store goes away | answers about open projects; seconds to an error about others |
| objects | 20 objects are altered | those that were answered from |

Without a name all run. Projects are a dozen files each of the repositories of the benchmark, questions are its
questions. A latency counts from when the question was due; every five seconds a node is killed.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from cairn.team.catalog import Catalog
from dataset import load_repositories
from metrics import percentile
from postgres import Postgres, address_of_both, find_programs, postgres, postgres_with_standby
from s3 import BUCKET, s3_store
from team_failover import Writers, count_lost
from team_installation import Cluster, Installation, cluster, commit_all, find_haproxy

_FILES = 12  # of a project
_PERSON = "bench"
_KILL_SECONDS = 5.0


class Answer(NamedTuple):
    """What became of a question: its status (0 without an answer), and the seconds from when it was due."""

    status: int
    seconds: float


class Load:
    """Asks about projects in a fixed random order.

    Args:
        address: of the proxy.
        token: of somebody who may read them all.
        projects: their names.
        questions: what to ask.
    """

    def __init__(self, address: str, token: str, projects: list[str], questions: list[str]) -> None:
        parts = urlsplit(address)
        self._place = parts.hostname or "", parts.port
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._projects = projects
        self._questions = questions
        self._random = random.Random(0)

    def ask(self, project: str, due: float) -> Answer:
        """Ask one question on a connection of its own."""
        body = json.dumps({"query": self._random.choice(self._questions)})
        with closing(http.client.HTTPConnection(*self._place, timeout=60)) as connection:
            try:
                connection.request("POST", f"/api/projects/{project}/search", body, self._headers)
                response = connection.getresponse()
                response.read()
                status = response.status
            except (OSError, http.client.HTTPException):
                status = 0
        return Answer(status, time.perf_counter() - due)

    def run(self, rate: float, seconds: float, projects: list[str] | None = None) -> list[Answer]:
        """Ask at a fixed rate, whether or not answers come, and return all answers."""
        names = projects or self._projects
        with ThreadPoolExecutor(64) as people:
            begun = time.perf_counter()
            asked = []
            for number in range(int(rate * seconds)):
                due = begun + number / rate
                time.sleep(max(0.0, due - time.perf_counter()))
                asked.append(people.submit(self.ask, self._random.choice(names), due))
            return [question.result() for question in asked]


def tell(name: str, answers: list[Answer]) -> None:
    """Print the latencies and the statuses of answers."""
    seconds = [answer.seconds for answer in answers]
    statuses = ", ".join(
        f"{number} x {status or 'none'}" for status, number in Counter(a.status for a in answers).items()
    )
    p50, p99 = (percentile(seconds, share) for share in (50, 99))
    print(
        f"{name}: {len(answers)} questions, p50 {1_000 * p50:.0f} ms, p99 {1_000 * p99:.0f} ms, {statuses}", flush=True
    )


class Bench:
    """A team with projects that are published.

    Attributes:
        installation: its commands.
        projects: the names of its projects.
    """

    def __init__(
        self,
        address: str,
        folder: Path,
        options: argparse.Namespace,
        name: str,
        objects: str | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        with closing(Catalog(address)) as owner, owner._pool.connection() as connection:
            connection.autocommit = True
            connection.execute(f"CREATE DATABASE {name}".encode())
        self.address = address.replace("///postgres?", f"///{name}?")
        self.installation = Installation(self.address, self.folder, objects, variables)
        self.installation.run("migrate")
        self.token = self.installation.token(_PERSON)
        self._options = options
        self._repositories = load_repositories(options.bench, options.repos, [])
        self.questions = [question.query for one in self._repositories for question in one.questions]
        self.projects: list[str] = []
        self._random = random.Random(1)

    def add(self, number: int) -> list[str]:
        """Add projects, and return their names; nobody has published them."""
        new = [f"bench/p{len(self.projects) + place}" for place in range(number)]
        with closing(Catalog(self.address)) as catalog, catalog.transaction() as connection:
            for project in new:
                folder = self.folder / "origins" / project
                self._fill(folder)
                commit_all(folder)
                row = connection.execute(
                    "INSERT INTO project (organisation, name, url) VALUES (%s, %s, %s) RETURNING id",
                    (*project.split("/"), f"file://{folder}"),
                ).fetchone()
                assert row is not None
                connection.execute("INSERT INTO branch (project_id, name, is_default) VALUES (%s, 'main', true)", row)
                connection.execute(
                    "INSERT INTO access (person_id, project_id) SELECT id, %s FROM person WHERE name = %s",
                    (row[0], _PERSON),
                )
        self.projects += new
        return new

    def _fill(self, folder: Path) -> None:
        source = self._random.choice(self._repositories).folder
        files = sorted(path for path in source.rglob("*") if path.is_file() and path.stat().st_size < 50_000)
        start = self._random.randrange(max(1, len(files) - _FILES))
        for path in files[start : start + _FILES]:
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)

    def publish(self) -> None:
        """Have a worker publish what is wanted."""
        self.installation.run("worker", "--folder", str(self.folder / "worker"), "--once")

    def load(self, address: str) -> Load:
        """Return somebody who asks about the projects."""
        return Load(address, self.token, self.projects, self.questions)

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        """Return what the database says."""
        with closing(Catalog(self.address)) as catalog, catalog.transaction() as connection:
            return connection.execute(statement.encode()).fetchall()


def main() -> None:
    """Run the scenarios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--projects", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--rate", type=float, default=20.0, help="questions a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--times", type=int, help="of what is done several times, instead of 50 and 20")
    parser.add_argument("--asynchronous", action="store_true", help="do not wait for the standby, so that some is lost")
    parser.add_argument("scenarios", nargs="*", choices=[[], *SCENARIOS], default=[])
    options = parser.parse_args()
    programs = find_programs()
    if programs is None or find_haproxy() is None:
        raise SystemExit("PostgreSQL or HAProxy is not installed")
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # that a database is away is what is wanted
    with tempfile.TemporaryDirectory() as scratch, postgres(programs) as server:
        for name in options.scenarios or SCENARIOS:
            begun = time.perf_counter()
            SCENARIOS[name](server, Path(scratch), options)
            print(f"  {name} took {time.perf_counter() - begun:.0f} s", flush=True)


def run_load(server: Postgres, folder: Path, options: argparse.Namespace) -> None:
    """Ask nodes that have opened nothing, then those that have, then while nodes are killed."""
    bench = Bench(server.address, folder, options, "load")
    bench.add(options.projects)
    bench.publish()
    with cluster(bench.installation, options.nodes) as team:
        load = bench.load(team.address)
        tell("load, cold", load.run(options.rate, options.seconds))
        tell("load, warm", load.run(options.rate, options.seconds))
        with killing(team) as n_killed:
            tell("load while nodes are killed", load.run(options.rate, options.seconds))
        print(f"  nodes killed: {n_killed()}")


@contextmanager
def killing(team: Cluster) -> Iterator[Callable[[], int]]:
    """Kill one node after the other meanwhile, and start it again."""
    done, killed = threading.Event(), []

    def kill() -> None:
        for number in count():
            if done.wait(_KILL_SECONDS):
                return
            node = team.nodes[number % len(team.nodes)]
            node.kill()
            node.start()
            killed.append(number)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield lambda: len(killed)
    finally:
        done.set()
        thread.join()


def run_workers(server: Postgres, folder: Path, options: argparse.Namespace) -> None:
    """Kill a worker at random moments of its work; then look whether all is there, and nothing else."""
    bench = Bench(server.address, folder, options, "workers")
    chance = random.Random(2)
    begun = time.perf_counter()
    bench.add(1)
    bench.publish()
    usual = time.perf_counter() - begun
    n_times = options.times or 50
    for _ in range(n_times):
        bench.add(1)
        worker = start_worker(bench, "killed", 1.0)
        time.sleep(chance.uniform(0.0, usual))
        worker.kill()
        worker.wait()
    while bench.rows("SELECT 1 FROM branch WHERE leased_until > now()"):
        time.sleep(0.1)
    bench.publish()
    (behind,) = bench.rows("SELECT count(*) FROM branch WHERE published IS NULL OR published <> wanted")[0]
    bench.installation.run("collect", "--grace-hours", "0")
    named = {str(row[0]) for row in bench.rows("SELECT object FROM piece")}
    stored = {path.name for path in (bench.folder / "bucket").rglob("*") if path.is_file()}
    print(f"workers killed: {n_times}, branches behind: {behind}, objects that lack: {len(named - stored)}, "
          f"left over: {len(stored - named)}")  # fmt: skip


def start_worker(bench: Bench, name: str, lease: float) -> subprocess.Popen[bytes]:
    """Start a worker that goes on until it is ended."""
    command = bench.installation.command(
        "worker", "--folder", str(bench.folder / name), "--lease", str(lease), "--name", name
    )
    with (bench.folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(command, env=bench.installation.environment, stderr=log)


def run_leases(server: Postgres, folder: Path, options: argparse.Namespace) -> None:
    """Stop a worker that holds a lease, let another one publish, and let the first go on."""
    bench = Bench(server.address, folder, options, "leases")
    n_times, n_refused, n_published = options.times or 20, 0, 0
    while n_refused + n_published < n_times:
        bench.add(1)
        slow = start_worker(bench, "slow", 1.0)
        held = "SELECT 1 FROM branch WHERE worker = 'slow' AND leased_until > now()"
        while not bench.rows(held):
            time.sleep(0.01)
        slow.send_signal(signal.SIGSTOP)
        if bench.rows(held):
            while bench.rows(held):
                time.sleep(0.05)
            bench.publish()
            before = bench.rows("SELECT id, generation, fence FROM branch ORDER BY id")
            log = bench.folder / "slow.log"
            n_told = log.read_text().count("another worker has taken over")
            slow.send_signal(signal.SIGCONT)
            deadline = time.monotonic() + 30
            while log.read_text().count("another worker has taken over") == n_told and time.monotonic() < deadline:
                time.sleep(0.05)
            is_same = bench.rows("SELECT id, generation, fence FROM branch ORDER BY id") == before
            n_refused += is_same
            n_published += not is_same
        slow.kill()
        slow.wait()
    print(f"workers stopped past their lease: {n_times}, refused: {n_refused}")


def run_database(server: Postgres, folder: Path, options: argparse.Namespace) -> None:
    """Kill PostgreSQL under load, and start it again after half of the time for which its word holds."""
    bench = Bench(server.address, folder, options, "killed")
    bench.add(20)
    bench.publish()
    with cluster(bench.installation, options.nodes) as team:
        load = bench.load(team.address)
        for project in bench.projects:
            load.ask(project, time.perf_counter())
        with ThreadPoolExecutor(1) as crash:
            away = crash.submit(be_away, server, 20.0)
            tell("load while the database is away for 20 s", load.run(options.rate, 40.0))
            away.result()


def be_away(server: Postgres, seconds: float) -> None:
    """Kill a database after some seconds, and start it again after some more."""
    time.sleep(5.0)
    server.stop(signal.SIGKILL)
    time.sleep(seconds)
    server.start()


def run_standby(_: Postgres, folder: Path, options: argparse.Namespace) -> None:
    """Kill a primary under load, and promote the standby that it waits for, with two new servers each time."""
    programs = find_programs()
    assert programs is not None
    sums = Counter[str]()
    for number in range(options.times or 5):
        with postgres_with_standby(programs, is_synchronous=not options.asynchronous) as (primary, standby):
            address = address_of_both(standby, primary, "postgres")
            bench = Bench(address, folder, options, f"standby{number}")
            bench.add(10)
            bench.publish()
            with closing(Catalog(bench.address)) as owner, owner.transaction() as connection:
                connection.execute("UPDATE branch SET looked_at = 'infinity'")  # none of those that people ask about
            bench.installation.run("add", "bench/written", f"file://{folder}/nowhere")
            made = bench.installation.run("token", "writer", "--scope", "read", "--scope", "write", "--json")
            bench.installation.run("grant", "writer", "bench/written", "--write")
            writers = Writers(bench.address, "bench/written", json.loads(made)["token"])
            with cluster(bench.installation, options.nodes) as team, writers.writing() as noted:
                load = bench.load(team.address)
                for project in bench.projects:
                    load.ask(project, time.perf_counter())
                with ThreadPoolExecutor(1) as crash:
                    seconds = crash.submit(fail_over, primary, standby, writers)
                    tell(f"load while standby {number} is promoted", load.run(options.rate, 20.0))
                    print(f"  writing goes on after {seconds.result():.1f} s, "
                          f"{len(noted.refused)} times refused meanwhile")  # fmt: skip
            sums.update(dict(zip(("events", "publications", "tokens", "revocations"), noted.counts(), strict=True)))
            sums.update({f"{name} lost": lost for name, lost in count_lost(bench.address, noted)._asdict().items()})
    print(", ".join(f"{name}: {number:,}" for name, number in sums.items()))


def fail_over(primary: Postgres, standby: Postgres, writers: Writers) -> float:
    """Kill a primary, promote its standby 2 seconds later, and return how long nothing was written.

    The standby is away in the second before, so that it lacks whatever the primary acknowledges without it.
    """
    time.sleep(5.0)
    standby.stop()
    time.sleep(1.0)
    primary.stop(signal.SIGKILL)
    standby.start()
    begun = time.perf_counter()
    time.sleep(2.0)
    standby.promote()
    before = writers.noted.counts()
    writers.wait_until(lambda noted: all(now > then for now, then in zip(noted.counts(), before, strict=True)))
    return time.perf_counter() - begun


def run_store(server: Postgres, folder: Path, options: argparse.Namespace) -> None:
    """Kill an S3 store; ask about projects that are open, and about others."""
    place = folder / "weed"
    place.mkdir()
    with s3_store(place) as store:
        bench = Bench(server.address, folder, options, "store", f"s3://{BUCKET}/team", store.variables)
        projects = bench.add(20)
        bench.publish()
        with cluster(bench.installation, options.nodes) as team:
            load = bench.load(team.address)
            for project in projects[:10]:
                load.ask(project, time.perf_counter())
            store.stop()
            tell("store away, open projects", [load.ask(project, time.perf_counter()) for project in projects[:10]])
            tell("store away, others", [load.ask(project, time.perf_counter()) for project in projects[10:]])


def run_objects(server: Postgres, folder: Path, options: argparse.Namespace) -> None:
    """Alter an object of each of some projects, then ask about them."""
    bench = Bench(server.address, folder, options, "objects")
    projects = bench.add(options.times or 20)
    bench.publish()
    chance = random.Random(3)
    for number, _ in enumerate(projects, 1):
        names = [
            str(row[0]) for row in bench.rows(f"SELECT object FROM piece WHERE branch_id = {number} ORDER BY object")
        ]
        file = next((bench.folder / "bucket").rglob(chance.choice(names)))
        content = bytearray(file.read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        assert hashlib.sha256(content).hexdigest() != file.name
        os.chmod(file, 0o644)
        file.write_bytes(content)
    with cluster(bench.installation, options.nodes) as team:
        load = bench.load(team.address)
        tell("altered objects", [load.ask(project, time.perf_counter()) for project in projects])


SCENARIOS: dict[str, Callable[[Postgres, Path, argparse.Namespace], None]] = {
    "load": run_load,
    "workers": run_workers,
    "leases": run_leases,
    "database": run_database,
    "standby": run_standby,
    "store": run_store,
    "objects": run_objects,
}


if __name__ == "__main__":
    main()
