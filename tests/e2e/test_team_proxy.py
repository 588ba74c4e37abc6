"""Nodes behind the proxy that ships: a project stays at its node, and no question is lost with one."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from postgres import Postgres, find_programs, postgres
from team_installation import Cluster, Installation, cluster, find_haproxy, make_repository
from team_placement import Question, simulate

_PROGRAMS = find_programs()
pytestmark = pytest.mark.skipif(
    _PROGRAMS is None or find_haproxy() is None, reason="needs PostgreSQL and HAProxy: apt install postgresql haproxy"
)
_PROJECTS = ("acme/shop", "acme/bank", "acme/post", "acme/town")


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    assert _PROGRAMS is not None
    with postgres(_PROGRAMS) as server:
        yield server


@pytest.fixture(scope="module")
def installation(database: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder = tmp_path_factory.mktemp("team")
    made = Installation(database.address, folder)
    made.run("migrate")
    made.token("ada")
    for project in _PROJECTS:
        make_repository(folder / project, {"code.py": "def total(items):\n    return sum(items)\n"})
        made.add(project, folder / project, "ada")
    made.run("worker", "--folder", str(folder / "work"), "--once")
    return made


@pytest.fixture(scope="module")
def running(installation: Installation) -> Iterator[Cluster]:
    with cluster(installation, 2) as made:
        yield made


@pytest.fixture(scope="module")
def client(installation: Installation, running: Cluster) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {installation.token('ada')}"}
    with httpx.Client(base_url=running.address, headers=headers, timeout=60) as made:
        yield made


def ask(client: httpx.Client, project: str) -> int:
    """Ask, and once more if a kept connection ends: the proxy ends it where a node does not, so that its client may."""
    for _ in range(2):
        try:
            return client.post(f"/api/projects/{project}/search", json={"query": "total"}).status_code
        except httpx.RemoteProtocolError:
            continue
    raise AssertionError("two nodes ended in the middle of an answer")


def open_projects(running: Cluster) -> list[int]:
    texts = [httpx.get(f"{node.address}/metrics").text for node in running.nodes]
    return [int(re.findall(r"^cairn_open_projects (\d+)", text, re.MULTILINE)[0]) for text in texts]


def test_each_project_is_opened_by_one_node_alone(client: httpx.Client, running: Cluster) -> None:
    for project in _PROJECTS * 3:
        assert ask(client, project) == 200

    assert sum(open_projects(running)) == len(_PROJECTS)


def test_what_is_for_operators_and_what_is_too_large_does_not_pass(client: httpx.Client) -> None:
    assert [client.get(path).status_code for path in ("/metrics", "/readyz", "/healthz", "/")] == [404] * 4
    assert client.post("/api/projects/acme/shop/search", content=b" " * 2_000_001).status_code == 413


def test_one_address_begins_to_sign_in_60_times_however_it_writes_the_path(client: httpx.Client) -> None:
    paths = ("/api/login/device", "/api/login/%64evice", "/%61pi/login/device")

    found = [client.post(paths[number % 2]).status_code for number in range(61)]

    assert 429 not in found[:60]
    assert found[60] == client.post(paths[0]).status_code == 429
    assert client.post(paths[2]).status_code == 404


def test_a_request_has_one_name_in_the_logs_of_the_proxy_and_of_the_node(
    client: httpx.Client, running: Cluster
) -> None:
    headers = {"x-request-id": "forged"}
    answer = client.post("/api/projects/acme/shop/search", json={"query": "hidden words"}, headers=headers)

    name = answer.headers["x-request-id"]
    assert name != "forged"
    (line,) = lines_that_say(name, running)
    told = json.loads(line)
    assert (told["message"], told["operation"], told["project"], told["status"]) == (
        "answered", "search", "acme/shop", 200,
    )  # fmt: skip
    assert name in running.log.read_text()
    texts = [node.log.read_text() for node in running.nodes]
    assert not any(secret in text for text in texts for secret in ("hidden words", client.headers["authorization"][7:]))


def lines_that_say(name: str, running: Cluster) -> list[str]:
    """Return the lines of the nodes' logs with a name, which are written after the answer is sent."""
    for _ in range(600):
        lines = [line for node in running.nodes for line in node.log.read_text().splitlines() if name in line]
        if lines and name in running.log.read_text():
            return lines
        threading.Event().wait(0.1)
    return []


def test_no_question_is_lost_with_a_node_that_is_killed(client: httpx.Client, running: Cluster) -> None:
    done = threading.Event()

    def go_on(project: str) -> list[int]:
        found = []
        while not done.is_set():
            found.append(ask(client, project))
        return found

    with ThreadPoolExecutor(len(_PROJECTS)) as people:
        asking = [people.submit(go_on, project) for project in _PROJECTS]
        for node in running.nodes:
            node.kill()
            assert [ask(client, project) for project in _PROJECTS] == [200] * len(_PROJECTS)
            node.start()
            assert ask_until_found(running, node.address)
        done.set()
        answers = [status for future in asking for status in future.result()]

    assert len(answers) >= 2 * len(_PROJECTS)
    assert set(answers) == {200}


def ask_until_found(running: Cluster, address: str) -> bool:
    """Ask until the proxy gives a node that was started again something to do."""
    for _ in range(600):
        if "cairn_requests_total{" in httpx.get(f"{address}/metrics").text:
            return True
        threading.Event().wait(0.1)
    return False


def wait_until_none_is_down(running: Cluster) -> bool:
    """Wait until the proxy has seen that nodes which were started again are back."""
    for _ in range(600):
        states = dict(re.findall(r"Server nodes/(\w+) is (UP|DOWN)", running.log.read_text()))  # the last one counts
        if "DOWN" not in states.values():
            return True
        threading.Event().wait(0.1)
    return False


def test_the_simulator_foretells_how_often_projects_are_opened(client: httpx.Client, running: Cluster) -> None:
    for node in running.nodes:
        node.kill()
        node.start()
    assert wait_until_none_is_down(running)
    for project in _PROJECTS * 2:
        assert ask(client, project) == 200
    before = opened(running)
    place_of = {project: name for name, projects in before.items() for project in projects}
    first, second = before
    running.nodes[0].kill()
    try:
        for project in _PROJECTS:
            assert ask(client, project) == 200
        after = opened(running)[second]
    finally:
        running.nodes[0].start()

    told = simulate(
        [Question(float(number), number % len(_PROJECTS)) for number in range(3 * len(_PROJECTS))],
        [10] * len(_PROJECTS),
        [first, second],
        lost={first: 2.0 * len(_PROJECTS)},
        place=lambda number: place_of[_PROJECTS[number]],
    )
    assert told.opened == {first: len(before[first]), second: len(after)}
    assert len(after) == len(_PROJECTS)


def opened(running: Cluster) -> dict[str, list[str]]:
    """Return, by node, what its log says that it opened."""
    return {node.log.stem: re.findall(r"opened (acme/\w+)", node.log.read_text()) for node in running.nodes}


def test_while_the_database_is_away_answers_come_through(
    client: httpx.Client, running: Cluster, database: Postgres
) -> None:
    assert [ask(client, project) for project in _PROJECTS] == [200] * len(_PROJECTS)
    database.stop()
    try:
        assert [ask(client, project) for project in _PROJECTS] == [200] * len(_PROJECTS)
    finally:
        database.start()
