"""`cairn team` as an operator uses it: tables, a project, a worker, a token, the server, questions over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from postgres import find_programs, postgres
from team_installation import Installation, make_repository

_PROGRAMS = find_programs()
pytestmark = pytest.mark.skipif(_PROGRAMS is None, reason="needs PostgreSQL: apt install postgresql")
_SECRET = "hidden_from_everybody"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    assert _PROGRAMS is not None
    folder = tmp_path_factory.mktemp("team")
    with postgres(_PROGRAMS) as server:
        made = Installation(server.address, folder)
        made.run("migrate")
        for name, text in (
            ("shop", "def total(items):\n    return 0\n"),
            ("secret", f"def {_SECRET}():\n    return 0\n"),
        ):
            make_repository(folder / name, {"code.py": text})
            made.add(f"acme/{name}", folder / name)
        made.run("worker", "--folder", str(folder / "work"), "--once")
        yield made


@pytest.fixture(scope="module")
def address(installation: Installation) -> Iterator[str]:
    with installation.serving() as found:
        yield found


@pytest.fixture(scope="module")
def token(installation: Installation) -> str:
    made = installation.token("ada")
    installation.run("grant", "ada", "acme/shop")
    return made


def ask(address: str, token: str, path: str, **values: Any) -> httpx.Response:  # noqa: ANN401 - JSON
    return httpx.post(f"{address}/api/projects/{path}", json=values, headers={"authorization": f"Bearer {token}"})


def test_what_was_committed_is_found_by_whoever_may_read_it(address: str, token: str) -> None:
    answer = ask(address, token, "acme/shop/search", query="total")

    assert answer.status_code == 200
    document = answer.json()
    assert [hit["filepath"] for hit in document["code"]] == ["code.py"]
    assert (document["view"], document["branch"]) == ("acme/shop", "main")
    assert re.fullmatch(r"[0-9a-f]{40}", document["remote"]["commit"])


def test_no_answer_and_no_error_tells_of_what_one_may_not_read(
    address: str, token: str, installation: Installation
) -> None:
    listing = httpx.get(f"{address}/api/projects", headers={"authorization": f"Bearer {token}"})
    assert [row["project"] for row in listing.json()["projects"]] == ["acme/shop"]
    bodies = []
    for name in ("secret", "absent"):
        for operation, values in (
            ("search", {"query": _SECRET}),
            ("graph/callers", {"symbol": _SECRET}),
            ("outline", {"file": "code.py"}),
            ("fetch", {"ids": [f"code.py#{_SECRET}"]}),
            ("history", {"query": "Begin"}),
        ):
            answer = ask(address, token, f"acme/{name}/{operation}", **values)
            assert answer.status_code == 404
            bodies.append(answer.text.replace(name, "X"))
    assert bodies[:5] == bodies[5:]
    assert ask(address, token, "acme/shop/search", query=_SECRET, mode="symbol").json()["code"] == []


def test_without_a_valid_token_nothing_is_told(address: str) -> None:
    for headers in ({}, {"authorization": "Bearer"}, {"authorization": "Basic YTpi"}):
        assert httpx.get(f"{address}/api/projects", headers=headers).status_code == 401
    assert ask(address, "cairn_guessed", "acme/shop/search", query="total").status_code == 401


@pytest.mark.parametrize("path", ["/etc/passwd", "../../state/index.db", "../state/seal", "files/../../objects"])
def test_no_file_outside_of_the_project_is_shown(address: str, token: str, path: str) -> None:
    for operation, values in (("outline", {"file": path}), ("fetch", {"ids": [f"{path}:1-5"]})):
        answer = ask(address, token, f"acme/shop/{operation}", **values)
        assert answer.status_code in (404, 422, 400), answer.text
        assert "root:" not in answer.text
        assert "/node/" not in answer.text


@pytest.mark.parametrize(
    ("operation", "values", "status"),
    [
        ("search", {"query": ""}, 400),
        ("search", {"query": "x", "project": "acme/secret"}, 422),
        ("search", {"query": "x", "unknown": 1}, 422),
        ("search", {"query": "x", "branch": 7}, 422),
        ("search", {"query": "x", "branch": "main; DROP TABLE project"}, 404),
        ("search", {"query": "x" * 3_000_000}, 413),
        ("memories", {}, 404),
        ("index", {}, 404),
    ],
)
def test_bad_questions_are_refused_with_a_reason(
    address: str, token: str, operation: str, values: dict[str, Any], status: int
) -> None:
    answer = ask(address, token, f"acme/shop/{operation}", **values)

    assert answer.status_code == status, answer.text[:300]
    assert set(answer.json()) >= {"code", "message", "hint"}


def test_an_operator_sees_how_things_are(installation: Installation, address: str, token: str) -> None:
    assert ask(address, token, "acme/shop/search", query="total").status_code == 200
    rows = json.loads(installation.run("status", "--json"))["branches"]
    assert {(row["project"], row["generation"], row["problem"]) for row in rows} == {
        ("acme/shop", 1, ""),
        ("acme/secret", 1, ""),
    }
    assert httpx.get(f"{address}/healthz").text == "ok\n"
    assert httpx.get(f"{address}/readyz").status_code == 200
    assert "cairn_open_projects 1" in httpx.get(f"{address}/metrics").text


def test_what_an_operator_gets_wrong_is_explained(installation: Installation) -> None:
    assert "not an address of a repository" in installation.run("add", "acme/x", "ext::sh -c id", code=2)
    assert "name it like ORGANISATION/NAME" in installation.run("remove", "shop", code=2)
    assert "the team has nobody called bob" in installation.run("grant", "bob", "acme/shop", code=1)
    installation.run("token", "bob")
    assert "bob may not read acme/shop" in installation.run("revoke", "bob", "acme/shop", code=1)
    assert "the team has no project acme/gone" in installation.run("grant", "bob", "acme/gone", code=1)
    assert "the team has no project acme/gone" in installation.run("publish", "acme/gone", code=1)
    nowhere = ("--database", "postgresql://127.0.0.1:1/none")
    assert "error[catalog]" in installation.run("status", *nowhere, code=3)


@pytest.mark.parametrize("seconds", [0.8, 1.4])
def test_a_worker_that_is_killed_is_replaced_and_leaves_nothing_behind(
    installation: Installation, address: str, token: str, seconds: float
) -> None:
    name = f"killed-{int(seconds * 10)}"
    text = "".join(f"def part_{i}():\n    return {i}\n\n\n" for i in range(2_000))
    make_repository(installation.folder / name, {"code.py": text})
    installation.add(f"acme/{name}", installation.folder / name, "ada")
    command = installation.command("worker", "--folder", str(installation.folder / "killed"), "--lease", "2")
    worker = subprocess.Popen(command, env=installation.environment, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    worker.kill()
    worker.wait()
    while any(row["is_leased"] for row in json.loads(installation.run("status", "--json"))["branches"]):
        time.sleep(0.2)

    installation.run("worker", "--folder", str(installation.folder / "work"), "--once")

    found = ask(address, token, f"acme/{name}/search", query="part_1999", mode="symbol")
    assert found.status_code == 200, found.text
    assert found.json()["code"][0]["name"] == "part_1999"
    installation.run("collect", "--grace-hours", "0")
    again = ask(address, token, "acme/shop/search", query="total")
    assert again.status_code == 200
