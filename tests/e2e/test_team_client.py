"""Commands on a developer's machine that ask a team's server, with the server itself and its database."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

import psycopg

from developer_machine import Machine, git
from postgres import find_programs, postgres
from team_installation import Installation, make_repository

_PROGRAMS = find_programs()
pytestmark = pytest.mark.skipif(_PROGRAMS is None, reason="needs PostgreSQL: apt install postgresql")

SHOP = {
    "shop/cart.py": "def total(items):\n    return sum(price(item) for item in items)\n\n\n"
    "def price(item):\n    return item.cents * item.quantity\n",
    "shop/orders.py": "from shop.cart import total\n\n\ndef check_out(cart):\n    return total(cart.items)\n",
}
TOOLS = {"tools/rates.py": "def exchange_rate(currency):\n    return RATES[currency]\n"}
SECRET = {"hidden.py": "def price_of_silence():\n    return 0\n"}
# Commands about the project, with a word of what they print.
QUESTIONS = (
    (("search", "how is the price of a cart computed"), "shop/cart.py"),
    (("fetch", "shop/cart.py#price"), "item.cents"),
    (("outline", "shop/cart.py"), "price"),
    (("context", "total the items of a cart"), "total"),
    (("callers", "price"), "shop/cart.py:2"),
    (("callees", "check_out"), "total"),
    (("references", "total"), "shop/orders.py"),
    (("path", "check_out", "price"), "total"),
    (("importers", "shop/cart.py"), "shop/orders.py"),
    (("impact", "price"), "check_out"),
    (("history", "Begin"), "Begin"),
    (("related", "shop/cart.py"), "shop/orders.py"),
    (("similar", "shop/cart.py:5"), "shop/cart.py:1"),
)
_OWN = ("took_ms", "view", "generation", "branch", "remote")


class Team:
    """The parts that the tests share."""

    def __init__(self, operator: Installation, address: str, token: str, head: str) -> None:
        self.operator, self.address, self.token, self.head = operator, address, token, head

    def developer(self, home: Path) -> Machine:
        machine = Machine(home)
        machine.run("login", self.address, "--token-stdin", stdin=self.token)
        return machine


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    assert _PROGRAMS is not None
    folder = tmp_path_factory.mktemp("team")
    for name, files in (("shop", SHOP), ("tools", TOOLS), ("secret", SECRET)):
        make_repository(folder / name, files)
    head = git(folder / "shop", "rev-parse", "HEAD")
    with ExitStack() as stack:
        server = stack.enter_context(postgres(_PROGRAMS))
        operator = Installation(server.address, folder)
        operator.run("migrate")
        token = operator.token("ada")
        for name, *people in (("shop", "ada"), ("tools", "ada"), ("secret",)):
            operator.add(f"acme/{name}", folder / name, *people)
        operator.run("worker", "--folder", str(folder / "work"), "--once")
        with psycopg.connect(server.address) as connection:  # as if it had been fetched from there
            connection.execute("UPDATE cairn.project SET url = 'https://git.example.org/acme/' || name || '.git'")
        yield Team(operator, stack.enter_context(operator.serving()), token, head)


@pytest.fixture(scope="module")
def ada(team: Team, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return team.developer(tmp_path_factory.mktemp("ada") / "home")


def own(document: Any) -> Any:  # noqa: ANN401 - JSON
    """Return an answer without what tells when and where it was made."""
    if isinstance(document, list):
        return [{name: value for name, value in item.items() if name not in _OWN} for item in document]
    return {name: value for name, value in document.items() if name not in _OWN}


@pytest.mark.parametrize(("command", "word"), QUESTIONS, ids=lambda value: value[0] if value else None)
def test_a_project_that_is_nowhere_here_is_answered_by_the_server(
    ada: Machine, team: Team, command: tuple[str, ...], word: str
) -> None:
    shown = ada.run(*command, "--project", "acme/shop")
    assert word in shown.stdout
    assert f"From acme/shop on the team's server, commit {team.head[:12]}. It is not checked out here" in shown.stderr
    assert team.token not in shown.stdout + shown.stderr


def test_an_answer_of_the_server_is_that_of_a_checkout_and_says_where_it_is_from(
    ada: Machine, team: Team, tmp_path: Path
) -> None:
    subprocess.run(["git", "clone", "-q", team.operator.folder / "shop", tmp_path / "clone"], check=True)
    local = Machine(tmp_path / "local")
    for command, _ in QUESTIONS:
        there = ada.json(*command, "--project", "acme/shop")
        here = local.json(*command, folder=tmp_path / "clone")
        assert own(there) == own(here), command
        remote = {"project": "acme/shop", "commit": team.head}
        assert {json.dumps(item["remote"]) for item in (there if isinstance(there, list) else [there])} == {
            json.dumps(remote)
        }


def test_what_is_checked_out_is_answered_as_it_is_on_disk(team: Team, tmp_path: Path) -> None:
    developer = team.developer(tmp_path / "home")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(team.operator.folder / "shop"), str(clone))
    git(clone, "remote", "set-url", "origin", "git@git.example.org:acme/shop.git")
    (clone / "refund.py").write_text("def refund_of_an_order():\n    return 0\n")

    asked = ("search", "refund_of_an_order", "--project", "acme/shop")
    here = developer.json(*asked, folder=clone)  # in it, before anything was indexed
    assert here["code"][0]["filepath"] == "refund.py"
    assert "remote" not in here
    assert here["notes"][-1] == f"acme/shop is checked out at {clone}: this is what is there now."
    developer.run("index", folder=clone)
    elsewhere = developer.json(*asked)  # and from anywhere else
    assert [hit["id"] for hit in elsewhere["code"]] == [hit["id"] for hit in here["code"]]
    assert "refund.py" in developer.run("outline", "refund.py", "--project", "acme/shop").stdout


def test_all_means_the_projects_here_and_those_of_the_team(team: Team, tmp_path: Path) -> None:
    developer = team.developer(tmp_path / "home")
    make_repository(tmp_path / "mine", {"rates.py": "def rate_of_interest():\n    return 3\n"})
    developer.run("index", folder=tmp_path / "mine")

    found = developer.json("search", "exchange rate", "--project", "all")
    projects = {hit["project"]: hit.get("remote", {}).get("project") for hit in found["code"]}
    assert projects["acme/tools"] == "acme/tools"
    assert projects["mine"] is None
    assert "acme/secret" not in json.dumps(found)
    shown = developer.run("search", "exchange rate", "--project", "all")
    assert "acme/tools: tools/rates.py:1" in shown.stdout
    hint = re.search(r"cairn fetch ID --project \S+", shown.stderr)
    assert hint is not None
    (hit,) = [hit for hit in found["code"] if hit["project"] == "acme/tools"]
    assert "RATES" in developer.run("fetch", hit["id"], "--project", "acme/tools").stdout


def test_what_one_may_not_read_does_not_exist(ada: Machine) -> None:
    messages = []
    for name in ("secret", "absent"):
        refused = ada.json("search", "price_of_silence", "--project", f"acme/{name}", code=2)["error"]
        assert refused["code"] == "project"
        assert refused["hint"] == "this lists what you may read: cairn login"
        messages.append(refused["message"].replace(name, "X"))
    assert messages[0] == messages[1]


def test_a_wrong_question_has_the_error_that_it_has_everywhere(ada: Machine) -> None:
    for command, code, exit_code in (
        (("search", "(", "--mode", "regex"), "query", 2),
        (("fetch", "c_nothing"), "not-found", 1),
        (("callers", "no_such_name"), "symbol-unknown", 1),
        (("outline", "/etc/passwd"), None, None),
        (("impact", "--diff"), "query", 2),
        (("why", "shop/cart.py:1"), "not-available", 2),
    ):
        result = subprocess.run(
            ada.command(*command, "--project", "acme/shop", "--json"),
            env=ada.environment, cwd=ada.home, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert "Traceback" not in result.stderr
        assert result.returncode in ((exit_code,) if exit_code else (1, 2)), (command, result.stderr)
        error = json.loads(result.stdout).get("error")
        assert error is None or code in (None, error["code"]), (command, error)
        assert "root:" not in result.stdout


def test_without_the_server_what_is_here_is_answered_and_the_rest_says_why(team: Team, tmp_path: Path) -> None:
    developer = Machine(tmp_path / "home")
    with team.operator.serving("other") as address:
        developer.run("login", address, "--token-stdin", stdin=team.token)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(team.operator.folder / "shop"), str(clone))
    git(clone, "remote", "set-url", "origin", "ssh://git@git.example.org:7999/acme/shop")
    developer.run("index", folder=clone)

    everywhere = developer.json("search", "price of a cart", "--project", "all")
    assert everywhere["code"][0]["project"] == "shop"
    assert any("does not answer" in note for note in everywhere["notes"])
    here = developer.json("search", "price of a cart", "--project", "acme/shop")
    assert here["code"][0]["filepath"] == "shop/cart.py"
    away = developer.run("search", "rates", "--project", "acme/tools", code=3)
    assert "error[team-away]" in away.stderr
    assert "try: this shows which servers answer: cairn login" in away.stderr


def test_a_revoked_token_says_how_to_sign_in_again(team: Team, tmp_path: Path) -> None:
    developer = Machine(tmp_path / "home")
    token = team.operator.token("eve")
    team.operator.run("grant", "eve", "acme/shop")
    developer.run("login", team.address, "--token-stdin", stdin=token)
    team.operator.run("token", "eve", "--revoke")

    refused = developer.run("search", "price", "--project", "acme/shop", code=2)
    assert "error[sign-in]" in refused.stderr
    assert f"try: cairn login {team.address}" in refused.stderr
    assert token not in refused.stderr


def test_without_a_server_a_name_of_a_team_says_where_to_sign_in(tmp_path: Path) -> None:
    refused = Machine(tmp_path / "home").run("search", "price", "--project", "acme/shop", code=2)
    assert "error[project]" in refused.stderr
    assert "cairn login URL" in refused.stderr
