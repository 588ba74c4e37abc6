"""The symbol graph answers the same however little of a project it may keep in memory."""

from __future__ import annotations

import shutil
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import cairn.storage
from cairn.errors import BusyError, IndexMovedError
from cairn.graph.code import Code
from cairn.graph.cycles import find_cycles
from cairn.graph.dead import find_dead
from cairn.graph.entities import How
from cairn.graph.facts import KeptFacts
from cairn.graph.graph import Graph
from cairn.graph.impact import impact
from cairn.graph.network import Network
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.questions import callers_of
from cairn.graph.ranking import definition_ranks, repository_map
from cairn.graph.reach import CONFIDENCE
from cairn.graph.recent import Room
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.stored import StoredCode
from cairn.index.snapshot import Snapshot
from cairn.source.roles import Role
from cairn.storage.connection import reading, transaction
from cairn.storage.index import blob_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.waiting import Asker
from cairn.workspace import Workspace

FOLDERS = Path(__file__).parent / "projects"
PACKAGE = Path(cairn.storage.__file__).parent
NOTHING, ALL = 0, 1_000_000_000


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Projects in thirteen languages and a package of our own, indexed as one."""
    root = tmp_path_factory.mktemp("projects") / "all"
    shutil.copytree(FOLDERS, root)
    shutil.copytree(PACKAGE, root / "storage", ignore=shutil.ignore_patterns("__pycache__"))
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def opened(workspace: Workspace, kept_bytes: int) -> Iterator[Graph]:
    """Give the graph of a workspace, with no edges known before."""
    workspace.state.graph(1).unlink(missing_ok=True)
    with closing(workspace.state.open_for_reading()) as connection:
        snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
        graph = Graph(workspace.state, workspace.root, str(workspace.root), workspace.settings, kept_bytes=kept_bytes)
        graph.refresh(snapshot, connection)
        yield graph


@pytest.fixture
def forgetful(workspace: Workspace) -> Iterator[Graph]:
    """A graph that keeps the last file it read, and no more."""
    yield from opened(workspace, NOTHING)


@pytest.fixture
def roomy(workspace: Workspace) -> Iterator[Graph]:
    """A graph that keeps all."""
    yield from opened(workspace, ALL)


def made_anew(graph: Graph) -> Network:
    """Resolve everything, whatever edges are known."""
    graph.code.load_all()
    return Network.build(graph.code, graph.resolver)


def test_edges_are_the_same_when_nothing_is_kept(forgetful: Graph, roomy: Graph) -> None:
    one, other = made_anew(forgetful), made_anew(roomy)
    assert len(one.sources) > 200
    for name in Network.__dataclass_fields__:
        if name not in ("seconds", "resolved"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_what_may_not_be_kept_takes_no_memory(forgetful: Graph, roomy: Graph) -> None:
    held = []
    for graph in (forgetful, roomy):
        tracemalloc.start()
        assert len(made_anew(graph).sources) > 200
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    assert held[0] < held[1] / 2


def test_answers_are_the_same_when_nothing_is_kept(forgetful: Graph, roomy: Graph) -> None:
    assert find_dead(forgetful) == find_dead(roomy)
    assert find_cycles(forgetful) == find_cycles(roomy)
    assert repository_map(forgetful, 5_000) == repository_map(roomy, 5_000)
    nodes = np.unique(roomy.network.targets)[::12].tolist()
    for node in nodes:
        assert callers_of(forgetful, [node]) == callers_of(roomy, [node])
        assert impact(forgetful, [node]) == impact(roomy, [node])


@pytest.mark.parametrize("kept_bytes", [NOTHING, ALL])
def test_facts_found_within_a_question_are_stored_before_there_are_too_many_and_after_it(
    workspace: Workspace, roomy: Graph, kept_bytes: int
) -> None:
    expected = [callers_of(roomy, [node]) for node in _asked_about(roomy)]
    n_stored = n_facts(workspace)
    forget_facts(workspace)
    for graph in opened(workspace, kept_bytes):
        with reading(graph.connection):
            graph.code.load_all()
            assert [callers_of(graph, [node]) for node in _asked_about(roomy)] == expected
            assert n_facts(workspace) == (0 if kept_bytes else n_stored)
        graph.store_facts()
        assert n_facts(workspace) == n_stored
        assert not graph._kept.unstored


class Noting(KeptFacts):
    """Notes of which blobs facts were found, in that order, and how many bytes were kept at once at most."""

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self.blobs: list[int] = []
        self.most_bytes = 0

    def add(self, facts: Iterable[tuple[int, bytes, bytes]]) -> None:
        """Note and keep."""
        facts = list(facts)
        super().add(facts)
        self.blobs += [blob for blob, _, _ in facts]
        self.most_bytes = max(self.most_bytes, sum(len(encoded) for _, encoded in self.unstored.values()))


@pytest.mark.parametrize("at_once", [False, True])
def test_each_file_is_parsed_once_however_little_room_there_is(workspace: Workspace, *, at_once: bool) -> None:
    forget_facts(workspace)
    room = Room.of(NOTHING)._replace(unstored=3_000)
    kept = Noting(room)
    with closing(workspace.state.open_for_reading()) as connection, reading(connection):
        snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
        view = str(workspace.root)
        code = Code(snapshot, connection, workspace.state, workspace.root, view, workspace.settings, kept, room)
        code.reread({})
        if at_once:
            code.load_all()
        for _ in range(2):
            assert all(code.file(number).facts for number in range(len(code.paths)))
        connection.execute("COMMIT")
        code.store_facts()
    assert len(kept.blobs) == len(set(kept.blobs)) == n_facts(workspace) > 30
    with closing(workspace.state.open_for_reading()) as connection:
        largest = connection.execute("SELECT max(length(data)) FROM facts").fetchone()[0]
    assert kept.most_bytes <= room.unstored + largest


@pytest.fixture
def written_meanwhile(tmp_path: Path) -> Callable[..., None]:
    """A project with two callers of `aim`, and what adds a third and indexes it when it is called first."""
    for number in range(2):
        (tmp_path / f"{number}.py").write_text(f"from aim import aim\n\n\ndef work_{number}():\n    return aim()\n")
    (tmp_path / "aim.py").write_text("def aim():\n    return 1\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()

    def write(*_: int) -> None:
        if not (tmp_path / "2.py").exists():
            (tmp_path / "2.py").write_text("from aim import aim\n\n\ndef work_2():\n    return aim()\n")
            with Workspace.open(tmp_path) as other:
                other.index()

    return write


def test_facts_are_not_mixed_with_another_state_of_the_index(
    tmp_path: Path, written_meanwhile: Callable[..., None]
) -> None:
    with Workspace.open(tmp_path) as workspace:
        for graph in opened(workspace, NOTHING):
            with reading(graph.connection), pytest.raises(IndexMovedError):
                graph.code.load_all(written_meanwhile)
            assert not graph.connection.in_transaction


def test_a_question_begins_anew_when_the_index_was_written_meanwhile(
    tmp_path: Path, written_meanwhile: Callable[..., None]
) -> None:
    found: list[int] = []

    def question(graph: Graph) -> int:
        found.append(len(callers_of(graph, graph.code.nodes_named("aim")).links))
        written_meanwhile()
        if len(found) == 1:
            raise IndexMovedError("another process changed the index meanwhile")
        return found[-1]

    with Workspace.open(tmp_path) as workspace:
        assert workspace.graph.ask(question, None) == 3
    assert found == [2, 3]


class Impatient(Asker):
    """Waits until it was asked so often whether it still does."""

    def __init__(self, patience: int) -> None:
        super().__init__()
        self.patience = patience

    def check(self) -> None:
        """Be gone after a while."""
        self.patience -= 1
        if not self.patience:
            self.leave()
        super().check()


def test_nothing_is_parsed_any_more_once_whoever_asked_is_gone(workspace: Workspace) -> None:
    forget_facts(workspace)
    workspace.state.graph(1).unlink(missing_ok=True)
    asker, parsed = Asker(), []

    def progress(done: int, total: int) -> None:
        parsed.append((done, total))
        if done == 5:
            asker.leave()

    with asker.serve(), pytest.raises(BusyError):
        workspace.graph.import_cycles(progress=progress)
    assert parsed[-1][0] == 5 < parsed[-1][1]
    assert n_facts(workspace) >= 5  # and who asks again finds these
    assert len(workspace.graph.import_cycles().cycles) == 1


@pytest.mark.parametrize("patience", [1, 10, 60])
def test_nothing_is_resolved_any_more_once_whoever_asked_is_gone(roomy: Graph, patience: int) -> None:
    roomy.code.load_all()
    for number in range(len(roomy.code.paths)):
        roomy.code.file(number)
    asker = Impatient(patience)
    with asker.serve(), pytest.raises(BusyError):
        Network.build(roomy.code, roomy.resolver)
    assert asker.is_gone
    assert len(Network.build(roomy.code, roomy.resolver).sources) > 200


def forget_facts(workspace: Workspace) -> None:
    workspace.close()
    with closing(workspace.state.open_for_writing()) as connection, transaction(connection):
        connection.execute("DELETE FROM facts")


def _asked_about(graph: Graph) -> list[int]:
    found: list[int] = np.unique(graph.network.targets)[::40].tolist()
    return found


def n_facts(workspace: Workspace) -> int:
    with closing(workspace.state.open_for_reading()) as connection:
        found: int = connection.execute("SELECT count(*) FROM facts").fetchone()[0]
    return found


def test_facts_that_can_never_be_stored_are_kept_as_far_as_there_is_room() -> None:
    kept = KeptFacts(Room.of(1_000)._replace(unstored=200))
    kept.add((blob, b"hash", bytes(60)) for blob in range(4))
    kept.add([(0, b"hash", bytes(60))])
    assert (kept.are_many, kept.are_fresh) == (True, True)
    kept.were_not_stored()
    assert list(kept.unstored) == [0, 1, 2]
    assert (kept.are_many, kept.are_fresh) == (False, False)
    kept.add([(5, b"hash", bytes(200))])
    assert (kept.are_many, kept.are_fresh) == (False, True)
    kept.were_stored()
    assert not kept.unstored
    assert not kept.are_fresh


def test_ranks_are_those_of_a_walk_from_node_to_node(roomy: Graph) -> None:
    """PageRank, written down edge by edge."""
    code, network = roomy.code, roomy.network
    minor = {n for n, roles in enumerate(code.snapshot.files.roles.tolist()) if roles & int(_MINOR)}
    nodes = [
        node_of(number, place)
        for number in range(len(code.paths))
        for place, one in enumerate((None, *code.file(number).definitions), -1)
        if one is None or one.kind in FUNCTION_KINDS | TYPE_KINDS
    ]
    edges = [
        (source, target, CONFIDENCE[How(how)])
        for source, target, how in zip(
            *(x.tolist() for x in (network.sources, network.targets, network.hows)), strict=True
        )
        if source != target and {source, target} <= set(nodes)
    ]
    weight = {node: 0.05 if file_of(node) in minor else 1.0 for node in nodes}
    start = {node: weight[node] / sum(weight.values()) for node in nodes}
    out = dict.fromkeys(nodes, 0.0)
    for source, _, sure in edges:
        out[source] += sure
    ranks = start
    for _ in range(40):
        lost = sum(rank for node, rank in ranks.items() if not out[node])
        following = {node: 0.15 * start[node] + 0.85 * lost * start[node] for node in nodes}
        for source, target, sure in edges:
            following[target] += 0.85 * ranks[source] * sure / out[source]
        ranks = following
    found, values = definition_ranks(roomy)
    assert found.tolist() == [node for node in nodes if file_of(node) not in minor]
    assert values.tolist() == pytest.approx([ranks[node] for node in found.tolist()], rel=1e-9)


_MINOR = Role.TEST | Role.EXAMPLE | Role.DOCS | Role.LEGACY | Role.OLD_VERSION


def test_names_are_found_in_the_table_as_in_the_index(forgetful: Graph, roomy: Graph) -> None:
    roomy.code.load_all()
    names = {one.name for number in range(len(roomy.code.paths)) for one in roomy.code.file(number).definitions}
    assert len(names) > 100
    for name in (*names, "no such name"):
        found = roomy.code.nodes_named(name)
        assert found == forgetful.code.nodes_named(name)
        assert {roomy.code.file(file_of(node)).definitions[place_of(node)].name for node in found} <= {name}


def test_a_file_that_the_index_lost_meanwhile_is_an_error_to_try_again_after(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def a():\n    return b()\n")
    (tmp_path / "b.py").write_text("def b():\n    return 1\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        with closing(workspace.state.open_for_writing()) as connection, transaction(connection):
            blob_db.drop_blobs(connection, [1, 2])
        with pytest.raises(IndexMovedError, match="another process changed"):
            graph.code.file(0)


def test_facts_are_stored_unless_another_process_writes(tmp_path: Path) -> None:
    (tmp_path / "alpha.py").write_text("def alpha():\n    pass\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        with closing(workspace.state.open_for_writing()) as connection:
            stored = StoredCode(
                Snapshot.open(connection, workspace.state, str(workspace.root)),
                connection,
                workspace.state,
                str(workspace.root),
            )
            (blob,) = stored.snapshot.files.blob_ids.tolist()
            facts = [(blob, stored.hashes([blob])[blob], b"facts")]
            with write_lock(workspace.state.lock, 0, INDEX):
                assert not stored.store_facts(facts)
            assert stored.facts(blob) is None
            assert stored.store_facts(facts)
            assert stored.facts(blob) == b"facts"
