"""A team's server from end to end: workers publish what is committed, nodes answer as the own machine does."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.errors import (
    AccessError,
    CairnError,
    CatalogError,
    NotFoundError,
    ObjectDamagedError,
    ObjectStoreError,
    RequestError,
)
from cairn.operations import perform
from cairn.protocol.table import decode_request
from cairn.team.capabilities import LONGEST_SECONDS
from cairn.team.catalog import Catalog, Connection, WorkList, condemned, list_projects, read_queue
from cairn.team.node import FRESH_SECONDS, SearchNode
from cairn.team.objects import Objects
from cairn.team.server import TeamApi
from cairn.team.state import read_state
from cairn.team.tokens import token_hash
from cairn.team.worker import collect
from cairn.workspace import Workspace
from postgres import Postgres, postgres
from team_cluster import PROGRAMS, Repository, Team, needs_postgres, reader

pytestmark = needs_postgres

FILES = {
    "shop/cart.py": "def total(items):\n    return sum(price(item) for item in items)\n\n\n"
    "def price(item):\n    return item.cents * item.quantity\n",
    "shop/orders.py": "from shop.cart import total\n\n\ndef check_out(cart):\n    return total(cart.items)\n",
    "README.md": "# Shop\n\nCarts and orders.\n",
}
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "how is the price of a cart computed"}),
    ("search", {"query": "total", "mode": "symbol"}),
    ("search", {"query": '"item.cents"'}),
    ("graph/callers", {"symbol": "price"}),
    ("graph/impact", {"symbol": "price"}),
    ("outline", {"file": "shop/cart.py"}),
    ("fetch", {"ids": ["shop/cart.py#price"]}),
    ("context", {"task": "change how a total is computed"}),
    ("history", {"query": "open the shop"}),
    ("history/related", {"file": "shop/cart.py"}),
)
_OWN = ("took_ms", "view", "generation", "branch")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    assert PROGRAMS is not None
    with postgres(PROGRAMS) as running:
        yield running


@pytest.fixture
def team(server: Postgres, tmp_path: Path) -> Iterator[Team]:
    made = Team(server, tmp_path, f"t{uuid4().hex}")
    yield made
    made.close()


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "shop")
    made.commit("Open the shop", FILES)
    made.commit("Document the shop", {"README.md": "# The shop\n\nCarts, orders and prices.\n"})
    return made


@pytest.fixture
def node(team: Team, tmp_path: Path) -> Iterator[SearchNode]:
    made = SearchNode(team.nodes, team.objects, tmp_path / "node")
    yield made
    made.close()


def answer(workspace: Workspace, operation: str, values: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Return an answer without what tells when and where it was made, and on which branch, which a server adds."""
    document = perform(workspace, operation, decode_request(operation, values))
    if isinstance(document, dict):
        document = {name: value for name, value in document.items() if name not in _OWN}
    return json.loads(json.dumps(document))


def test_a_node_answers_as_the_own_machine_does_at_the_same_commit(
    team: Team, shop: Repository, node: SearchNode, tmp_path: Path
) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    subprocess.run(["git", "clone", "-q", shop.url, tmp_path / "clone"], check=True)

    with (
        node.project(reader(team), "acme/shop", None) as (manifest, there),
        Workspace.open(tmp_path / "clone") as here,
    ):
        here.index()
        for operation, values in QUESTIONS:
            assert answer(there, operation, values) == answer(here, operation, values)
    assert manifest.commit == shop.git("rev-parse", "HEAD")


FIRST_QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *QUESTIONS,
    ("search", {"query": "item.cents", "mode": "literal"}),
    ("search", {"query": r"def \w+\(cart\)", "mode": "regex"}),
    ("search", {"query": "sum($A)", "mode": "structural", "languages": ["python"]}),
    ("search", {"query": "callers of total"}),
    ("search", {"query": "shop/cart.py:6"}),
    ("search", {"query": 'Traceback\n  File "shop/orders.py", line 5, in check_out\n    return total(cart.items)\n'}),
    ("similar", {"file": "shop/cart.py", "line": 5}),
    ("graph/references", {"symbol": "total"}),
    ("graph/importers", {"target": "shop/cart.py"}),
)


def test_a_node_answers_whatever_is_asked_first(team: Team, shop: Repository, tmp_path: Path) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    subprocess.run(["git", "clone", "-q", shop.url, tmp_path / "clone"], check=True)
    with Workspace.open(tmp_path / "clone") as here:
        here.index()
        expected = [answer(here, operation, values) for operation, values in FIRST_QUESTIONS]

    for (operation, values), local in zip(FIRST_QUESTIONS, expected, strict=True):
        fresh = SearchNode(team.nodes, team.objects, tmp_path / "fresh")
        with fresh.project(reader(team), "acme/shop", None) as (_, there):
            assert answer(there, operation, values) == local
        fresh.close()


def test_a_search_makes_no_files_of_a_project(team: Team, shop: Repository, node: SearchNode) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()

    with node.project(reader(team), "acme/shop", None) as (_, workspace):
        assert answer(workspace, "search", {"query": "how is the price of a cart computed"})["code"]
        assert not list(workspace.root.iterdir())
        answer(workspace, "graph/callers", {"symbol": "price"})
        files = {file.relative_to(workspace.root).as_posix() for file in workspace.root.rglob("*") if file.is_file()}
        assert files == set(FILES)


def test_an_object_store_that_is_away_is_waited_for_once(team: Team, shop: Repository, tmp_path: Path) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    asked: list[str] = []
    together, further = threading.Barrier(4), threading.Event()

    class Away(Objects):
        def get(self, name: str, target: Path) -> None:
            asked.append(name)
            if len(asked) > 4:
                further.set()
            elif together.wait(timeout=10) >= 0 and name != asked[1]:  # one fails before those begun with it
                further.wait(timeout=0.3)
            raise ObjectStoreError("the object store does not answer", "start it")

    with closing(SearchNode(team.nodes, Away(f"file://{tmp_path}/bucket"), tmp_path / "away")) as node:
        with pytest.raises(ObjectStoreError), node.project(reader(team), "acme/shop", None):
            pass
        assert len(asked) == 4


def test_searches_that_read_all_files_again_and_again_have_them_written(
    team: Team, shop: Repository, node: SearchNode
) -> None:
    shop.commit("Add shelves", {f"shelf{number}.py": f"size = {number}\n" for number in range(40)})
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()

    with node.project(reader(team), "acme/shop", None) as (_, workspace):
        for number in range(10, 20):
            found = workspace.search(f"size = {number}", mode="literal").code
            assert [hit.path for hit in found] == [f"shelf{number}.py"]
        assert (workspace.root / "shelf0.py").exists()


def test_a_new_commit_is_published_with_what_changed_alone(team: Team, shop: Repository, node: SearchNode) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    token = reader(team)
    with node.project(token, "acme/shop", None) as (first, _):
        packs = {piece.object for piece in first.pieces if piece.kind == "pack"}
    shop.git("rm", "-q", "README.md")
    commit = shop.commit("Refund", {"shop/refund.py": "def refund(order):\n    return -order.total\n"})

    team.publish()

    fresh = SearchNode(team.nodes, team.objects, team.folder / "fresh")
    with fresh.project(token, "acme/shop", None) as (second, workspace):
        assert second.commit == commit
        assert packs < {piece.object for piece in second.pieces if piece.kind == "pack"}
        assert workspace.search("refund").code[0].path == "shop/refund.py"
        answer(workspace, "outline", {"file": "shop/refund.py"})
        assert (workspace.root / "shop/refund.py").exists()
        assert not (workspace.root / "README.md").exists()
    fresh.close()


def test_an_open_node_shows_the_new_generation_after_seconds(team: Team, shop: Repository, tmp_path: Path) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    now = [0.0]
    node = SearchNode(team.nodes, team.objects, tmp_path / "node", clock=lambda: now[0])
    token = reader(team)
    with node.project(token, "acme/shop", None) as (_, old):
        shop.commit("Refund", {"shop/refund.py": "def refund(order):\n    return 0\n"})
        team.publish()
        now[0] += FRESH_SECONDS
        with node.project(token, "acme/shop", None) as (manifest, new):
            assert manifest.commit == shop.git("rev-parse", "HEAD")
            assert new.search("refund").code
            assert old.search("total").code  # whoever began with it ends with it
    assert not old.root.exists()
    node.close()


def test_who_may_not_read_a_project_cannot_tell_it_from_one_that_is_not_there(
    team: Team, shop: Repository, node: SearchNode
) -> None:
    for name in ("acme/shop", "acme/secret"):
        team.operator.add_project(name, shop.url, "main")
    team.publish()
    token = reader(team)

    said = []
    for name in ("acme/secret", "acme/nothing"):
        with pytest.raises(NotFoundError) as caught, node.project(token, name, None):
            pass
        said.append(str(caught.value).replace(name, "X"))
    assert said[0] == said[1]
    assert [row["project"] for row in list_projects(team.nodes, token).projects] == ["acme/shop"]
    with pytest.raises(AccessError):
        list_projects(team.nodes, token_hash("guessed"))
    with team.nodes.transaction() as connection:
        for table in ("project", "branch", "piece", "access"):
            assert connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)


@pytest.mark.parametrize("table", ["project", "branch", "piece", "token", "person", "access"])
def test_a_worker_can_read_no_table_and_a_node_can_change_none(team: Team, table: str) -> None:
    for catalog, statement in ((team.workers, "SELECT * FROM"), (team.nodes, "DELETE FROM")):
        with pytest.raises(CatalogError, match="permission denied"), catalog.transaction() as connection:
            connection.execute(f"{statement} {table}".encode())


def test_what_was_revoked_is_refused_within_seconds(team: Team, shop: Repository, tmp_path: Path) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    now = [0.0]
    node = SearchNode(team.nodes, team.objects, tmp_path / "node", clock=lambda: now[0])
    of_ada, of_bob = reader(team), reader(team, person="bob")
    for token in (of_ada, of_bob):
        with node.project(token, "acme/shop", None):
            pass

    team.operator.revoke("ada", "acme/shop")
    team.operator.revoke_tokens("bob")
    now[0] += FRESH_SECONDS

    for token, refused in ((of_ada, NotFoundError), (of_bob, AccessError)):
        with pytest.raises(refused), node.project(token, "acme/shop", None):
            pass
    node.close()


def test_a_worker_that_was_stopped_past_its_lease_publishes_nothing(team: Team, shop: Repository) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    assert team.worker().look(timedelta(0))
    slow = WorkList(team.workers, "slow", timedelta(seconds=0))
    quick = WorkList(team.workers, "quick", timedelta(seconds=60))
    claimed = slow.claim()
    assert claimed is not None
    taken = quick.claim()
    assert taken is not None
    assert taken.fence > claimed.fence

    assert not slow.renew(claimed)
    assert not slow.publish(claimed, [])
    assert quick.claim() is None  # nobody else has it meanwhile
    assert quick.publish(taken, [])


def test_what_fails_is_told_and_tried_again_later(team: Team, shop: Repository) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    worker = team.worker()
    assert worker.look(timedelta(0))
    shop.git("checkout", "-q", "--orphan", "other")
    shop.git("branch", "-D", "main")

    assert worker.work()

    (row,) = read_state(team.owner)["branches"]
    assert "git cannot fetch" in str(row["problem"])
    assert not worker.work()  # not at once
    shop.git("checkout", "-q", "-b", "main")
    shop.commit("Begin again", FILES)
    team.publish()
    assert read_state(team.owner)["branches"][0]["problem"] == ""


def test_nothing_of_a_hostile_repository_runs_or_leads_out_of_its_folder(
    team: Team, shop: Repository, node: SearchNode, tmp_path: Path
) -> None:
    ran, secret = tmp_path / "ran", tmp_path / "secret.py"
    secret.write_text("def stolen():\n    return 0\n")
    (shop.folder / "link.py").symlink_to(secret)
    (shop.folder / "folder").symlink_to(tmp_path)
    shop.commit("Attack", {".gitattributes": "* filter=evil diff=evil\n", ".gitmodules": "[submodule]\n"})
    shop.git("config", "filter.evil.smudge", f"touch {ran}")
    blob = shop.git("hash-object", "-w", "shop/cart.py")
    entry = b"100755 post-checkout\0" + bytes.fromhex(blob)
    forged = b""
    for name in (b"hooks", b".GIT"):
        tree = subprocess.run(
            ["git", "hash-object", "-w", "--literally", "-t", "tree", "--stdin"],
            cwd=shop.folder, input=entry, check=True, capture_output=True,
        ).stdout.decode().strip()  # fmt: skip
        forged = entry = b"40000 " + name + b"\0" + bytes.fromhex(tree)
    assert forged.startswith(b"40000 .GIT")
    top = subprocess.run(
        ["git", "hash-object", "-w", "--literally", "-t", "tree", "--stdin"],
        cwd=shop.folder, input=forged + b"100644 cart.py\0" + bytes.fromhex(blob), check=True, capture_output=True,
    ).stdout.decode().strip()  # fmt: skip
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    token = reader(team)
    with node.project(token, "acme/shop", None) as (_, workspace):
        assert workspace.search("total").code
        assert not workspace.search("stolen", mode="symbol").code
        assert not (workspace.root / "link.py").exists()

    shop.git("update-ref", "refs/heads/main", shop.git("commit-tree", "-m", "Forge", top))
    team.publish()

    checkout = next((team.folder / "worker-w").glob("branch-*/files"))
    assert [path.name for path in checkout.iterdir() if path.name != ".git"] == ["cart.py"]
    assert not (checkout / ".git" / "hooks").exists()
    assert not ran.exists()


def test_an_altered_object_is_refused(team: Team, shop: Repository, node: SearchNode) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    token = reader(team)
    for file in (team.folder / "bucket" / "sha256").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-1] + b"!")

    with pytest.raises(ObjectDamagedError), node.project(token, "acme/shop", None):
        pass


def test_what_was_altered_and_lost_is_published_again_while_the_list_shows_what_was_there(
    team: Team, shop: Repository, tmp_path: Path
) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    token = reader(team)
    with team.owner.transaction() as connection:
        stored = dict(connection.execute("SELECT kind, object FROM piece").fetchall())
    bucket = team.folder / "bucket" / "sha256"
    pack, tree = (bucket / stored[kind][:2] / stored[kind] for kind in ("pack", "tree"))
    pack.write_bytes(pack.read_bytes()[:-1] + b"!")
    tree.unlink()
    listed = list_projects(team.nodes, token)
    node = SearchNode(team.nodes, team.objects, tmp_path / "node")
    with pytest.raises(CairnError) as caught, node.project(token, "acme/shop", None):
        pass
    assert "cairn team publish ORGANISATION/NAME" in caught.value.hint
    shop.commit("Refund", {"shop/refund.py": "def refund(order):\n    return 0\n"})
    team.publish()
    (row,) = read_state(team.owner)["branches"]
    assert row["problem"]  # for the tree is gone

    team.operator.publish_again("acme/shop")

    assert list_projects(team.nodes, token) == listed
    assert read_state(team.owner)["branches"][0]["again"]
    assert read_queue(team.workers)[:4] == (0, 1, 0, 0)
    team.publish()
    assert read_queue(team.workers)[:4] == (1, 0, 0, 0)
    node.close()
    node = SearchNode(team.nodes, team.objects, tmp_path / "node")
    with node.project(token, "acme/shop", None) as (manifest, workspace):
        assert manifest.commit == shop.git("rev-parse", "HEAD")
        assert workspace.search("total").code
        assert workspace.search("refund").code
    node.close()


def test_publishing_again_stores_what_is_there_under_its_name_but_altered(
    team: Team, shop: Repository, node: SearchNode
) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    for file in (team.folder / "bucket" / "sha256").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-1] + b"!")

    team.operator.publish_again("acme/shop")
    team.publish()

    with node.project(reader(team), "acme/shop", None) as (_, workspace):
        assert workspace.search("total").code


def test_whoever_was_at_work_when_a_project_is_to_be_published_again_publishes_nothing(
    team: Team, shop: Repository
) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    assert team.worker().look(timedelta(0))
    worker = WorkList(team.workers, "slow", timedelta(seconds=60))
    before = worker.claim()
    assert before is not None
    assert not before.again

    team.operator.publish_again("acme/shop")

    assert not worker.publish(before, [])
    claimed = worker.claim()
    assert claimed is not None
    assert claimed.again


def test_a_branch_that_nobody_has_looked_at_is_not_claimed_to_be_published_again(team: Team, shop: Repository) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.operator.publish_again("acme/shop")

    assert WorkList(team.workers, "w", timedelta(seconds=60)).claim() is None


def test_a_project_keeps_its_address_and_takes_another_branch(team: Team, shop: Repository, tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    other.commit("Begin", {"secret.py": "def secret():\n    return 0\n"})
    team.operator.add_project("acme/shop", shop.url, "main")

    with pytest.raises(RequestError, match="another address") as caught:
        team.operator.add_project("acme/shop", other.url, "next")
    team.operator.add_project("acme/shop", shop.url, "next")

    assert "cairn team remove acme/shop" in caught.value.hint
    assert other.url not in f"{caught.value} {caught.value.hint}"
    assert [row["branch"] for row in read_state(team.owner)["branches"]] == ["main", "next"]
    with team.owner.transaction() as connection:
        assert connection.execute("SELECT url FROM project").fetchall() == [(shop.url,)]


def test_objects_without_a_generation_go_after_the_grace_period(team: Team, shop: Repository, node: SearchNode) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    stray = team.folder / "stray"
    stray.write_bytes(b"left by a worker that was killed")
    name = team.objects.put(stray)

    assert collect(team.workers, team.objects) == 0
    assert collect(team.workers, team.objects, timedelta(0)) == 1

    assert name not in set(team.objects.older_than(timedelta(0)))
    with node.project(reader(team), "acme/shop", None) as (_, workspace):
        assert workspace.search("total").code


def test_an_object_that_is_about_to_be_published_is_not_deleted(team: Team, shop: Repository, node: SearchNode) -> None:
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    stored = set(team.objects.older_than(timedelta(0)))
    team.operator.remove_project("acme/shop")  # its objects are there without a generation
    team.operator.add_project("acme/shop", shop.url, "main")
    team.worker().look(timedelta(0))
    worker = WorkList(team.workers, "slow", timedelta(seconds=60))
    claim = worker.claim()
    assert claim is not None
    held = min(stored)
    assert worker.hold(claim, held)

    assert collect(team.workers, team.objects, timedelta(0)) == len(stored) - 1

    assert set(team.objects.older_than(timedelta(0))) == {held}
    gone = max(stored)
    with condemned(team.workers, [gone, held], timedelta(minutes=1)) as free:
        assert free == [gone]
        assert not worker.hold(claim, gone)
    assert worker.hold(claim, gone)
    worker.give_up(claim, "it was stopped", timedelta(0))
    assert not worker.hold(claim, held)
    assert collect(team.workers, team.objects, timedelta(0)) == 1
    team.publish()
    with node.project(reader(team), "acme/shop", None) as (_, workspace):
        assert workspace.search("total").code


def test_while_the_database_is_away_answers_go_on_until_nobody_knows_who_may_read(
    shop: Repository, tmp_path: Path
) -> None:
    assert PROGRAMS is not None
    now = [0.0]
    with postgres(PROGRAMS) as server:
        team = Team(server, tmp_path, "away")
        team.operator.add_project("acme/shop", shop.url, "main")
        team.publish()
        token = reader(team)
        node = SearchNode(team.nodes, team.objects, tmp_path / "node", clock=lambda: now[0])
        with node.project(token, "acme/shop", None):
            pass
        server.stop()

        now[0] += FRESH_SECONDS
        with node.project(token, "acme/shop", None) as (_, workspace):
            assert workspace.search("total").code
        now[0] += LONGEST_SECONDS
        with pytest.raises(CatalogError), node.project(token, "acme/shop", None):
            pass

        server.start()
        with node.project(token, "acme/shop", None) as (_, workspace):
            assert workspace.search("total").code
        node.close()
        team.close()


def test_no_question_about_what_is_known_waits_for_a_database_that_is_away(
    team: Team, shop: Repository, tmp_path: Path
) -> None:
    class Counted(Catalog):
        is_away, n_questions = False, 0

        @contextmanager
        def transaction(self, token: bytes | None = None) -> Iterator[Connection]:
            self.n_questions += token is not None
            if self.is_away:
                raise CatalogError("away", "")
            with super().transaction(token) as connection:
                yield connection

    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    of_ada, of_bob, of_eve = (reader(team, "acme/shop", person) for person in ("ada", "bob", "eve"))
    now = [0.0]

    def asked(*tokens: bytes) -> int:
        before = catalog.n_questions
        for token in tokens:
            with node.project(token, "acme/shop", None):
                pass
        return catalog.n_questions - before

    with (
        closing(Counted(team.address, "cairn_node")) as catalog,
        closing(SearchNode(catalog, team.objects, tmp_path / "node", clock=lambda: now[0])) as node,
    ):
        assert asked(of_ada, of_bob) == 2
        now[0] += FRESH_SECONDS
        catalog.is_away = True
        assert asked(of_ada) == 1
        assert asked(of_ada, of_bob, of_ada) == 0
        with pytest.raises(CatalogError):
            asked(of_eve)  # of whom nothing is known here
        catalog.is_away = False
        while asked(of_bob) == 0:  # until it is known to be back
            time.sleep(0.01)
        assert asked(of_bob, of_ada, of_eve) == 2


def test_an_open_project_is_read_with_a_capability_of_its_own_alone(
    team: Team, shop: Repository, node: SearchNode
) -> None:
    for name in ("acme/shop", "acme/secret"):
        team.operator.add_project(name, shop.url, "main")
    team.publish()
    of_ada, of_bob = reader(team), reader(team, "acme/secret", "bob")
    for token, name in ((of_ada, "acme/shop"), (of_bob, "acme/secret")):
        with node.project(token, name, None):
            pass

    # As if a node had mixed up what it remembers of two people.
    node._known[of_ada, "acme/shop", None] = node._known[of_bob, "acme/secret", None]

    with pytest.raises(AccessError, match="not opened for this token"), node.project(of_ada, "acme/shop", None):
        pass


def test_numbers_that_come_again_after_the_database_was_set_back_show_nothing_of_another_project(
    team: Team, shop: Repository, tmp_path: Path
) -> None:
    now = [0.0]
    node = SearchNode(team.nodes, team.objects, tmp_path / "node", clock=lambda: now[0])
    secret = Repository(tmp_path / "secret")
    secret.commit("Begin", {"secret.py": "def stolen():\n    return 0\n"})
    for name, repository in (("acme/secret", secret), ("acme/shop", shop)):
        team.operator.add_project(name, repository.url, "main")
    team.publish()
    token = reader(team, "acme/secret")
    with node.project(token, "acme/secret", None) as (_, workspace):
        assert workspace.search("stolen", mode="symbol").code

    with team.owner.transaction() as connection:  # as if the other one had been published with these numbers
        connection.execute(
            """UPDATE piece SET generation = 2, branch_id = (SELECT sum(id) FROM branch) - branch_id;
               UPDATE piece SET generation = 1"""
        )
    now[0] += FRESH_SECONDS

    with node.project(token, "acme/secret", None) as (_, workspace):
        assert not workspace.search("stolen", mode="symbol").code
        assert workspace.search("total", mode="symbol").code
    assert node.projects_open() == 1
    node.close()


@pytest.mark.parametrize("path", ["/api/projects", "/readyz"])
def test_an_error_of_the_server_names_no_host(team: Team, tmp_path: Path, path: str) -> None:
    nowhere = Catalog("postgresql://hidden.invalid/hidden", "cairn_node")
    node = SearchNode(nowhere, team.objects, tmp_path / "node")

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=TeamApi(nowhere, node).app())
        async with httpx.AsyncClient(transport=transport, base_url="http://team") as client:
            return await client.get(path, headers={"authorization": "Bearer any"})

    answer = asyncio.run(ask())

    assert answer.status_code == 503
    assert "hidden" not in answer.text
    node.close()
    nowhere.close()


def test_answers_and_errors_may_name_a_file_whose_name_is_not_unicode(
    team: Team, shop: Repository, node: SearchNode
) -> None:
    shop.commit("Repeat", dict.fromkeys(("even/twin.py", "odd-\udcff/twin.py"), "def twin():\n    return 0\n"))
    team.operator.add_project("acme/shop", shop.url, "main")
    team.publish()
    token = team.operator.new_token("ada", 1)
    team.operator.grant("ada", "acme/shop")

    async def ask(question: str, document: dict[str, str]) -> httpx.Response:
        transport = httpx.ASGITransport(app=TeamApi(team.nodes, node).app())
        headers = {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://team", headers=headers) as client:
            return await client.post(f"/api/projects/acme/shop/graph/{question}", json=document)

    answer = asyncio.run(ask("callers", {"symbol": "twin"}))
    refusal = asyncio.run(ask("importers", {"target": "twin.py"}))

    assert answer.status_code == 200
    assert any(one["filepath"].startswith("odd-") for one in answer.json()["namesakes"])
    assert refusal.status_code == 400
    assert "odd-" in refusal.json()["message"]
