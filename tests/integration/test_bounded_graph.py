"""Tests and effects of a change are answered in time where nothing is prepared, and say what was not followed."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cairn.errors import UnknownSymbolError
from cairn.graph.answers import BoundedAnswer
from cairn.graph.graph import Graph
from cairn.graph.impact import choose_tests, impact
from cairn.graph.nearest import NearestWalk
from cairn.graph.nodes import node_of
from cairn.graph.patience import GraphPatience, shared_time
from cairn.graph.questions import call_path, callees, callers, importers, importers_within, subclasses
from cairn.graph.recent import Unfinished
from cairn.graph.references import references
from cairn.graph.symbols import find_symbol
from cairn.graph.values import Impact, Importers, Links, References, TestChoice
from cairn.index.snapshot import Snapshot
from cairn.index.views import CheckoutView
from cairn.protocol.documents import graph_to_dict
from cairn.protocol.requests import SearchRequest
from cairn.search.answer import respond
from cairn.search.hits import FileReader
from cairn.search.library import Library
from cairn.search.opened import bundled_model
from cairn.search.query import understand
from cairn.search.shown import ShownCode
from cairn.workspace import Workspace

FOLDERS = Path(__file__).parent / "projects"
CHAIN = 30
USERS = 200
Relation = Callable[[Graph, str], Links | References]
Question = Callable[[Graph, str], BoundedAnswer]
RELATIONS: tuple[Relation, ...] = (callers, references, subclasses)
CALLS = 60


def imported(graph: Graph, _: str) -> Importers:
    return importers(graph, "hub.py")


def affected(graph: Graph, text: str) -> Impact:
    return impact(graph, find_symbol(graph.code, graph.connection, text))


def chosen(graph: Graph, text: str) -> TestChoice:
    return choose_tests(graph, find_symbol(graph.code, graph.connection, text))


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Projects in thirteen languages, indexed as one."""
    root = tmp_path_factory.mktemp("projects") / "all"
    shutil.copytree(FOLDERS, root)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Functions in files of their own, each of which calls the one before; a test calls the last."""
    root = tmp_path_factory.mktemp("chain")
    for number in range(CHAIN):
        before = f"from step_{number - 1} import walk_{number - 1}\n\n\n" if number else ""
        body = f"walk_{number - 1}()" if number else "0"
        (root / f"step_{number}.py").write_text(f"{before}def walk_{number}():\n    return {body}\n")
    last = CHAIN - 1
    (root / "test_all.py").write_text(
        f"from step_{last} import walk_{last}\n\n\ndef test_all():\n    assert walk_{last}() == 0\n"
    )
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A class that many files import, derive from and call."""
    root = tmp_path_factory.mktemp("hub")
    (root / "hub.py").write_text("class Hub:\n    pass\n")
    for number in range(USERS):
        (root / f"user_{number}.py").write_text(
            f"from hub import Hub\n\n\nclass User{number}(Hub):\n    pass\n\n\nHub()\n"
        )
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A class whose methods call functions of files of their own, and one that nobody knows which it is."""
    root = tmp_path_factory.mktemp("caller")
    lines = [f"from step_{number} import walk_{number}\n" for number in range(CALLS)]
    lines.append("\n\nclass Caller:\n")
    for number in range(CALLS):
        (root / f"step_{number}.py").write_text(f"def walk_{number}():\n    pass\n\n\ndef same():\n    pass\n")
        lines.append(f"    def method_{number}(self, it):\n        walk_{number}()\n        it.same()\n\n")
    (root / "caller.py").write_text("".join(lines))
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@contextmanager
def graph_of(workspace: Workspace, patience: GraphPatience) -> Iterator[Graph]:
    """Open the graph of a workspace with no edges known before."""
    workspace.state.graph(1).unlink(missing_ok=True)
    with closing(workspace.state.open_for_reading()) as connection:
        snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
        graph = Graph(workspace.state, workspace.root, str(workspace.root), workspace.settings, patience=patience)
        graph.refresh(snapshot, connection)
        yield graph


def whole() -> GraphPatience:
    return GraphPatience(least_files=1_000)


def endless() -> GraphPatience:
    """GraphPatience that follows one step after the other, and never ends."""
    return GraphPatience(least_files=0, steady=lambda: 0.0)


def steps(number: int) -> GraphPatience:
    """GraphPatience that ends after a number of looks at the clock."""
    looks = itertools.count()
    return GraphPatience(seconds=number, least_files=0, steady=lambda: float(next(looks)))


def busy() -> GraphPatience:
    """GraphPatience that has time left for users, but none to look for other names before."""
    clock = itertools.chain([0.0, 0.0], itertools.repeat(0.5))
    return GraphPatience(seconds=1, least_files=0, steady=lambda: next(clock))


def ask_again(graph: Graph) -> None:
    graph.refresh(graph.code.snapshot, graph.connection)


def test_what_was_followed_to_the_end_is_what_all_edges_say(projects: Workspace) -> None:
    with graph_of(projects, whole()) as known, graph_of(projects, endless()) as walked:
        assert known.is_prepared
        assert not walked.is_prepared
        n_affected = 0
        for number in range(len(known.code.paths)):
            nodes = [node_of(number, place) for place in range(len(known.code.file(number).definitions))]
            answers = impact(known, nodes), impact(walked, nodes)
            assert answers[0] == answers[1]
            n_affected += len(answers[0].affected)
        assert n_affected > 50


def test_without_time_the_nearest_is_answered_and_all_else_is_named(chain: Workspace) -> None:
    with graph_of(chain, steps(60)) as graph:
        nodes = find_symbol(graph.code, graph.connection, "walk_0")
        answer = impact(graph, nodes)
        names = [effect.symbol.name for effect in answer.affected]
        assert names == [f"walk_{number}" for number in range(1, len(names) + 1)]
        assert 0 < len(names) < CHAIN - 1
        assert answer.unfollowed is not None
        assert answer.unfollowed.names[-1] == names[-1]
        assert len(answer.unfollowed.names) == answer.unfollowed.definitions <= 2  # the one before was not done with
        said = " ".join(answer.notes)
        assert "This is not all" in said
        assert f"`{names[-1]}`) is not all known" in said
        assert "daemon" not in said


def test_questions_that_share_a_time_have_an_equal_part_of_it_each(chain: Workspace) -> None:
    lengths = []
    with graph_of(chain, steps(240)) as graph:
        for shares in (1, 4):
            graph.unfinished = Unfinished(1)
            graph.answers.forget()
            with shared_time(2), shared_time(shares):
                ask_again(graph)
                answer = impact(graph, find_symbol(graph.code, graph.connection, "walk_0"))
            assert answer.unfollowed is not None
            assert answer.unfollowed.seconds == 120 / shares
            lengths.append(len(answer.affected))
        ask_again(graph)
        assert graph.patience.lasting == 240
    assert 0 < lengths[1] < lengths[0]


def test_nothing_is_not_said_where_the_time_was_up(chain: Workspace) -> None:
    with graph_of(chain, steps(0)) as graph:
        nodes = find_symbol(graph.code, graph.connection, "walk_0")
        for answer in (impact(graph, nodes), choose_tests(graph, nodes)):
            assert not answer.tests
            assert answer.unfollowed is not None
            assert answer.unfollowed.names == ("walk_0",)
            assert not any("Looked at" in note or "were looked for" in note for note in answer.notes)
        assert "before an answer was found" in impact(graph, nodes).notes[-1]


def test_asked_again_it_goes_on_until_all_is_known(chain: Workspace) -> None:
    with graph_of(chain, whole()) as known:
        nodes = find_symbol(known.code, known.connection, "walk_0")
        expected = impact(known, nodes)
    counts = []
    with graph_of(chain, steps(40)) as graph:
        for _ in range(4 * CHAIN):
            ask_again(graph)
            answer = impact(graph, nodes)
            counts.append(len(answer.affected))
            if answer.unfollowed is None:
                break
        assert answer == expected
    assert counts == sorted(counts)
    assert len(set(counts)) > 3


def test_a_bounded_answer_is_not_kept_for_the_whole_one(chain: Workspace) -> None:
    with graph_of(chain, steps(60)) as graph:
        nodes = find_symbol(graph.code, graph.connection, "walk_0")
        assert impact(graph, nodes).unfollowed is not None
        graph.patience = whole()
        ask_again(graph)
        answer = impact(graph, nodes)
    assert answer.unfollowed is None
    assert len(answer.affected) == CHAIN - 1
    assert [test.path for test in answer.tests] == ["test_all.py"]


def test_json_names_what_was_not_followed_only_where_there_is_such(chain: Workspace) -> None:
    with graph_of(chain, steps(60)) as graph:
        nodes = find_symbol(graph.code, graph.connection, "walk_0")
        answer = choose_tests(graph, nodes)
    document = graph_to_dict(answer)
    assert document["unfollowed"]["definitions"] == 1
    assert document["unfollowed"]["names"]
    assert "unfollowed" not in graph_to_dict(replace(answer, unfollowed=None))


def test_relations_read_to_the_end_are_what_all_edges_say(projects: Workspace) -> None:
    with graph_of(projects, whole()) as known, graph_of(projects, endless()) as read:
        n_found = 0
        for path in known.code.paths:
            assert importers(known, path) == importers(read, path)
            for definition in known.code.file(known.code.numbers[path]).definitions:
                place = f"{path}:{definition.span.start_line}"
                for relation in (*RELATIONS, callees):
                    try:
                        answer = relation(known, place)
                    except UnknownSymbolError:
                        continue
                    assert relation(read, place) == answer
                    n_found += len(answer.references if isinstance(answer, References) else answer.links)
        assert n_found > 50


def test_relations_without_time_say_what_was_not_read(hub: Workspace) -> None:
    for relation in RELATIONS:
        with graph_of(hub, steps(150)) as graph:
            answer = relation(graph, "Hub")
            assert answer.unfollowed is not None
            found = answer.references if isinstance(answer, References) else answer.links
            assert 0 < len({link.path for link in found}) < USERS
            assert answer.unfollowed.files > 0
            assert "This is not all" in " ".join(answer.notes)
    with graph_of(hub, steps(150)) as graph:
        importing = importers(graph, "hub.py")
        assert 0 < len(importing.importers) < USERS
        assert importing.unfollowed is not None
        assert importing.unfollowed.files == USERS - len(importing.importers)


def test_callees_without_time_say_what_was_not_looked_at(caller: Workspace) -> None:
    with graph_of(caller, whole()) as graph:
        expected = callees(graph, "Caller")
    assert len(expected.links) == CALLS
    assert expected.unresolved is not None
    assert expected.unresolved.lines == CALLS
    with graph_of(caller, steps(150)) as graph:
        answer = callees(graph, "Caller")
    assert answer.unfollowed is not None
    assert answer.links == expected.links[: len(answer.links)]
    assert 0 < len(answer.links) < CALLS
    assert f"method_{CALLS - 1}" in answer.unfollowed.names
    assert len(answer.links) <= CALLS - answer.unfollowed.definitions + 1  # of the last, a part may be known
    assert answer.unresolved is None or (answer.unresolved.is_least and answer.unresolved.lines < CALLS)
    assert "This is not all" in " ".join(answer.notes)
    assert "what is called by" in " ".join(answer.notes)


def test_callees_asked_again_go_on_until_they_are_all(caller: Workspace) -> None:
    with graph_of(caller, whole()) as known:
        expected = callees(known, "Caller"), callees(known, "method_3")
    counts = []
    with graph_of(caller, steps(0)) as graph:
        for times in range(40):
            graph.patience = steps(60 * times)
            ask_again(graph)
            answer = callees(graph, "Caller")
            counts.append(len(answer.links))
            if answer.unfollowed is None:
                break
        assert answer == expected[0]
        ask_again(graph)
        assert callees(graph, "method_3") == expected[1]
    assert not counts[0]
    assert counts == sorted(counts)
    assert len(set(counts)) > 3


def test_relations_without_any_time_do_not_say_that_there_is_nothing(hub: Workspace) -> None:
    with graph_of(hub, steps(0)) as graph:
        answers = (
            callers(graph, "Hub"),
            references(graph, "Hub"),
            subclasses(graph, "Hub"),
            importers(graph, "hub.py"),
        )
        for answer in answers:
            assert answer.unfollowed is not None
            assert not any("Looked at" in note for note in answer.notes)
        assert all("before an answer was found" in answer.notes[-1] for answer in answers[:3])


def test_half_of_the_time_is_left_for_reading_where_opening_took_all_of_it() -> None:
    clock = iter((0.0, 0.0, 5.0, 5.3, 5.5))
    patience = GraphPatience(0.8, 0, steady=lambda: next(clock))
    patience.begin()
    patience.leave_half()
    assert patience.lasts()
    assert not patience.lasts()


def test_files_that_were_not_read_have_no_lines_that_cannot_be_resolved(hub: Workspace) -> None:
    with graph_of(hub, steps(150)) as graph:
        for relation in RELATIONS:
            answer = relation(graph, "Hub")
            assert answer.unresolved is None
            assert answer.unfollowed is not None
            assert answer.unfollowed.lines


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_relation_asked_again_once_there_is_time_is_whole(hub: Workspace, relation: Relation) -> None:
    with graph_of(hub, steps(150)) as graph:
        assert relation(graph, "Hub").unfollowed is not None
        graph.patience = whole()
        ask_again(graph)
        answer = relation(graph, "Hub")
        assert answer.unfollowed is None
        found = answer.references if isinstance(answer, References) else answer.links
        assert len({link.path for link in found}) == USERS


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_relation_asked_again_with_more_time_goes_on_until_it_is_whole(hub: Workspace, relation: Relation) -> None:
    with graph_of(hub, whole()) as known:
        expected = relation(known, "Hub")
    counts = []
    with graph_of(hub, steps(0)) as graph:
        for times in range(1, 40):
            graph.patience = steps(USERS * times // 2)
            ask_again(graph)
            answer = relation(graph, "Hub")
            counts.append(len(answer.references if isinstance(answer, References) else answer.links))
            if answer.unfollowed is None:
                break
    assert answer == expected
    assert counts == sorted(counts)
    assert len(set(counts)) > 3


def test_an_alias_that_is_found_late_is_followed(tmp_path: Path) -> None:
    (tmp_path / "hub.py").write_text("def settle():\n    pass\n")
    (tmp_path / "front.py").write_text("from hub import settle as arrange\n")
    (tmp_path / "user.py").write_text("from front import arrange\n\n\ndef use():\n    arrange()\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for ticks in range(0, 60, 3):
            with graph_of(workspace, steps(ticks)) as graph:
                links = callers(graph, "settle")
                assert links.unfollowed is not None or [link.symbol.name for link in links.links] == ["use"]


@pytest.fixture
def renamed(tmp_path: Path) -> Iterator[Workspace]:
    """A function that is passed on under other names, by an import, an export, and as what a file exports."""
    (tmp_path / "hub.py").write_text("def settle():\n    pass\n")
    (tmp_path / "front.py").write_text("from hub import settle as arrange\n")
    (tmp_path / "back.py").write_text("from front import arrange as order\n")
    (tmp_path / "user.py").write_text("from front import arrange\n\n\ndef use():\n    arrange()\n")
    (tmp_path / "other.py").write_text("from back import order\n\n\ndef reuse():\n    order()\n")
    (tmp_path / "till.js").write_text("function ring() {}\nexport default ring\n")
    (tmp_path / "bell.js").write_text("import chime from './till'\n\nfunction toll() {\n  chime()\n}\n")
    with Workspace.open(tmp_path) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize("relation", [callers, references])
@pytest.mark.parametrize(("name", "n_users"), [("settle", 2), ("ring", 1)])
def test_other_names_are_looked_for_again_once_the_files_are_read(
    renamed: Workspace, relation: Relation, name: str, n_users: int
) -> None:
    with graph_of(renamed, whole()) as known, graph_of(renamed, busy()) as read:
        answer = relation(read, name)
        assert answer == relation(known, name)
        found = answer.references if isinstance(answer, References) else answer.links
        assert len({link.path for link in found} - {"hub.py", "till.js", "front.py", "back.py"}) == n_users


@pytest.mark.parametrize("relation", [callers, references])
def test_a_late_name_is_followed_into_files_whose_edges_are_known(renamed: Workspace, relation: Relation) -> None:
    with graph_of(renamed, whole()) as graph:
        assert graph.network
        (renamed.root / "front.py").write_text("# Changed.\nfrom hub import settle as arrange\n")
        graph.patience = busy()
        ask_again(graph)
        answer = relation(graph, "settle")
    with graph_of(renamed, whole()) as known:
        assert answer == replace(relation(known, "settle"), notes=answer.notes)
    assert answer.unfollowed is None
    assert "This is not all" not in " ".join(answer.notes)


@pytest.mark.parametrize("relation", [callers, references])
def test_an_answer_is_not_whole_while_other_names_were_not_looked_for(renamed: Workspace, relation: Relation) -> None:
    with graph_of(renamed, whole()) as known:
        expected = relation(known, "settle")
    for ticks in range(80):
        with graph_of(renamed, steps(ticks)) as graph:
            answer = relation(graph, "settle")
            assert answer.unfollowed is not None or answer == expected


@pytest.mark.parametrize("name", ["settle", "ring"])
def test_effects_are_not_whole_while_other_names_were_not_looked_for(renamed: Workspace, name: str) -> None:
    with graph_of(renamed, whole()) as known:
        nodes = find_symbol(known.code, known.connection, name)
        expected = impact(known, nodes)
    for ticks in range(0, 80, 2):
        with graph_of(renamed, steps(ticks)) as graph:
            answer = impact(graph, nodes)
            assert answer.unfollowed is not None or answer == expected


def test_effects_of_one_of_several_definitions_of_a_name_take_no_more_time(tmp_path: Path) -> None:
    (tmp_path / "hub.py").write_text("def settle():\n    pass\n\n\ndef settle(much=1):\n    return much\n")
    (tmp_path / "user.py").write_text("from hub import settle\n\n\ndef use():\n    settle()\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        with graph_of(workspace, steps(0)) as graph:
            first = [node_of(graph.code.numbers["hub.py"], 0)]
            answer = impact(graph, first)
            assert answer.unfollowed is not None
            assert answer.unfollowed.files == 2
            graph.patience = endless()
            ask_again(graph)
            assert impact(graph, first).unfollowed is None


def test_effects_wait_for_no_changed_file_once_the_time_is_up(renamed: Workspace) -> None:
    with graph_of(renamed, whole()) as graph:
        assert graph.network
        (renamed.root / "user.py").write_text("from front import arrange\n\n\ndef use_it():\n    arrange()\n")
        clock = itertools.chain([0.0, 0.0, 0.5], itertools.repeat(0.8))
        graph.patience = GraphPatience(seconds=1, least_files=0, steady=lambda: next(clock))
        ask_again(graph)
        nodes = find_symbol(graph.code, graph.connection, "settle")
        reader = graph.reader()
        walk = NearestWalk(graph, nodes, len(nodes), for_tests=False)
        walk.go_on(lambda: reader.lasts(0.6), lambda: reader.lasts(0.6))
        left = walk.unfollowed(reader)
        assert left is not None
        assert "settle" in left.names
        assert not left.files  # the search for its users did not begin
        graph.patience = endless()
        ask_again(graph)
        answer = impact(graph, nodes)
        assert {effect.symbol.name for effect in answer.affected} == {"use_it", "reuse"}
        assert answer.unfollowed is None


def found_in(answer: BoundedAnswer) -> int:
    """How much an answer lists."""
    lists = ("links", "references", "importers", "affected", "tests")
    return max(len(getattr(answer, name, ())) for name in lists)


def hasty() -> GraphPatience:
    """GraphPatience that gives a question no time at all."""
    return GraphPatience(seconds=0, least_files=0, steady=lambda: 0.0)


@pytest.mark.parametrize("question", [callers, references, subclasses, imported, affected, chosen])
def test_what_was_cut_is_gone_on_with_while_nobody_asks(hub: Workspace, question: Question) -> None:
    with graph_of(hub, whole()) as known:
        expected = question(known, "Hub")
    with graph_of(hub, hasty()) as graph:
        assert question(graph, "Hub").unfollowed is not None
        assert graph.answers.are_cut
        assert not graph.answers.go_on(lambda: False)
        assert not graph.answers.are_cut
        ask_again(graph)
        assert question(graph, "Hub") == expected


@pytest.mark.parametrize("question", [callers, references, subclasses, imported, affected])
def test_whoever_asks_meanwhile_is_given_what_is_known_by_then(hub: Workspace, question: Question) -> None:
    with graph_of(hub, whole()) as known:
        expected = question(known, "Hub")
    counts = []
    with graph_of(hub, hasty()) as graph:
        question(graph, "Hub")
        for times in range(1, 100):
            looks = itertools.count()
            goes_on = graph.answers.go_on(lambda: next(looks) > 60 * times)  # noqa: B023 - called at once
            ask_again(graph)
            answer = question(graph, "Hub")
            counts.append(found_in(answer))
            assert goes_on == (answer.unfollowed is not None)
            if not goes_on:
                break
    assert answer == expected
    assert counts == sorted(counts)
    assert len(set(counts)) > 2


@pytest.mark.parametrize("question", [callers, references, subclasses, imported, affected])
def test_whoever_asks_again_before_anybody_else_went_on_gets_further_every_time(
    hub: Workspace, question: Question
) -> None:
    with graph_of(hub, whole()) as known:
        expected = question(known, "Hub")
    extents = []
    with graph_of(hub, hasty()) as graph:
        for times in range(1, 60):
            answer = question(graph, "Hub")
            if answer.unfollowed is None:
                break
            extents.append((found_in(answer), -answer.unfollowed.files))
            assert graph.answers.go_on(lambda: True)
            graph.patience = steps(100 * times)
            ask_again(graph)
    assert answer == expected
    assert extents == sorted(extents)  # of what lists as much, none says that more was not read
    assert len(set(extents)) > 2


def test_the_seconds_of_a_question_are_said_whoever_went_on_with_it(hub: Workspace) -> None:
    for question in (callers, affected):
        with graph_of(hub, hasty()) as graph:
            assert question(graph, "Hub").unfollowed is not None
            looks = itertools.count()
            assert graph.answers.go_on(lambda: next(looks) > 200)  # noqa: B023 - called at once
            ask_again(graph)
            answer = question(graph, "Hub")
            assert found_in(answer) > 0
            assert answer.unfollowed is not None
            assert answer.unfollowed.seconds == 0


def test_what_was_asked_last_is_gone_on_with_first(hub: Workspace) -> None:
    with graph_of(hub, hasty()) as graph:
        for question in (references, callers, subclasses, callers):
            assert question(graph, "Hub").unfollowed is not None
        looks = itertools.count()
        assert graph.answers.go_on(lambda: next(looks) > 4_000)
        ask_again(graph)
        assert callers(graph, "Hub").unfollowed is None
        assert references(graph, "Hub").unfollowed is not None


def test_callees_that_were_cut_are_gone_on_with_as_well(caller: Workspace) -> None:
    with graph_of(caller, whole()) as known:
        expected = callees(known, "Caller")
    with graph_of(caller, hasty()) as graph:
        assert not callees(graph, "Caller").links
        looks = itertools.count()
        assert graph.answers.go_on(lambda: next(looks) > 200)
        assert 0 < len(callees(graph, "Caller").links) < CALLS
        assert not graph.answers.go_on(lambda: False)
        assert callees(graph, "Caller") == expected


def test_work_that_was_stopped_early_takes_nothing_back(hub: Workspace) -> None:
    with graph_of(hub, steps(400)) as graph:
        answer = callers(graph, "Hub")
        assert 0 < len(answer.links) < USERS
        graph.patience = hasty()
        looks = itertools.count()
        assert graph.answers.go_on(lambda: next(looks) > 3)
        ask_again(graph)
        assert callers(graph, "Hub") == answer


def test_what_could_not_be_finished_in_a_long_time_either_is_left_to_the_next_question(hub: Workspace) -> None:
    with graph_of(hub, steps(0)) as graph:
        assert callers(graph, "Hub").unfollowed is not None
        assert not graph.answers.go_on(lambda: False)  # after sixty looks at the clock
        begun = callers(graph, "Hub")
        assert 0 < len(begun.links) < USERS
        assert begun.unfollowed is not None
        graph.patience = endless()
        ask_again(graph)
        assert callers(graph, "Hub").unfollowed is None


def test_what_was_cut_is_answered_whole_once_all_edges_are_known(hub: Workspace) -> None:
    with graph_of(hub, hasty()) as graph:
        assert callers(graph, "Hub").unfollowed is not None
        assert graph.answers.go_on(lambda: True)
        assert graph.network
        ask_again(graph)
        assert len(callers(graph, "Hub").links) == USERS


def test_whole_answers_are_found_once(hub: Workspace) -> None:
    with graph_of(hub, endless()) as graph:
        first = callers(graph, "Hub")
        ask_again(graph)
        assert callers(graph, "Hub") is first


def test_whoever_asks_for_a_moment_only_does_not_end_what_is_gone_on_with(hub: Workspace) -> None:
    with graph_of(hub, whole()) as known:
        expected = callers(known, "Hub")
    for moment in range(0, 300, 30):
        with graph_of(hub, hasty()) as graph:
            callers(graph, "Hub")
            looks = itertools.count()
            goes_on = graph.answers.go_on(lambda: next(looks) == moment)  # noqa: B023 - called at once
            assert goes_on == graph.answers.are_cut
            assert goes_on or callers(graph, "Hub") == expected
            assert not graph.answers.go_on(lambda: False)
            assert not graph.answers.are_cut
            assert callers(graph, "Hub") == expected


def test_a_question_that_takes_its_time_is_not_given_a_cut_answer(hub: Workspace) -> None:
    with graph_of(hub, hasty()) as graph:
        assert importers(graph, "hub.py").unfollowed is not None
        assert graph.answers.go_on(lambda: True)
        ask_again(graph)
        patient = importers_within(graph, "hub.py", graph.reader(is_patient=True))
    assert patient.unfollowed is None
    assert len(patient.importers) == USERS


@pytest.mark.parametrize(
    "question",
    ["callers of Hub", "subclasses of Hub", "usages of Hub", "importers of hub.py", "tests of Hub"],
)
def test_a_search_for_a_relation_takes_no_longer_than_other_questions_and_says_so(
    hub: Workspace, question: str
) -> None:
    request = SearchRequest(query=question, type="code", limit=10)
    with graph_of(hub, hasty()) as graph, closing(hub.state.open_for_reading()) as connection:
        reader = FileReader(CheckoutView(hub.root, None, 1_000_000))
        library = Library(graph.code.snapshot, connection, reader, ShownCode(), bundled_model(), lambda: graph)
        answer = respond(library, understand(question), request)
    assert "This is not all" in " ".join(answer.notes)


def test_what_a_method_overrides_is_followed_wherever_the_time_is_up(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text("class Base:\n    def settle(self):\n        pass\n")
    (tmp_path / "derived.py").write_text(
        "from base import Base\n\n\nclass Derived(Base):\n    def settle(self):\n        pass\n"
    )
    (tmp_path / "user.py").write_text("from base import Base\n\n\ndef use():\n    Base().settle()\n")
    (tmp_path / "other.py").write_text("def other():\n    pass\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for ticks in range(40):
            (tmp_path / "other.py").write_text("def other():\n    pass\n")
            workspace.index()
            with graph_of(workspace, whole()) as graph:
                assert graph.network
                (tmp_path / "other.py").write_text(f"def other():\n    return {ticks}\n")
                graph.patience = steps(ticks)
                ask_again(graph)
                nodes = find_symbol(graph.code, graph.connection, "derived.py:5")
                first = impact(graph, nodes)
                graph.patience = endless()
                ask_again(graph)
                answer = impact(graph, nodes) if first.unfollowed is not None else first
            assert answer.unfollowed is None
            assert "use" in {effect.symbol.name for effect in answer.affected}, ticks


@pytest.fixture
def mentioned(tmp_path: Path) -> Iterator[Workspace]:
    """A class that many files beside it mention, and that one far away makes, derives from and passes on."""
    (tmp_path / "core").mkdir()
    (tmp_path / "far").mkdir()
    (tmp_path / "core" / "hub.py").write_text(
        "class Hub:\n    def settle(self):\n        pass\n\n    def arrange(self):\n        pass\n"
    )
    for number in range(120):
        (tmp_path / "core" / f"note_{number}.py").write_text(
            f"from core.hub import Hub\n\n\ndef take_{number}(hub: Hub) -> None:\n    pass\n"
        )
    (tmp_path / "far" / "own.py").write_text(
        "from core.hub import Hub\n\n\nclass Own(Hub):\n    pass\n\n\ndef make():\n    return Hub()\n"
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(("relation", "name"), [(callers, "make"), (subclasses, "Own")])
def test_files_that_look_like_users_are_read_before_those_that_are_nearer(
    mentioned: Workspace, relation: Relation, name: str
) -> None:
    with graph_of(mentioned, steps(600)) as graph:
        answer = relation(graph, "Hub")
    assert isinstance(answer, Links)
    assert [link.symbol.name for link in answer.links] == [name]
    assert answer.unfollowed is not None


def test_users_of_what_was_asked_about_come_before_those_of_its_parts(mentioned: Workspace) -> None:
    for number in range(10, 120):
        (mentioned.root / "core" / f"note_{number}.py").unlink()
    (mentioned.root / "core" / "part.py").write_text("def settle_it(hub):\n    hub.settle()\n    hub.arrange()\n")
    mentioned.index()
    found: set[str] = set()
    for number in itertools.count(50, 50):
        with graph_of(mentioned, steps(number)) as graph:
            answer = affected(graph, "Hub")
        if found := {effect.symbol.name for effect in answer.affected}:
            break
        assert answer.unfollowed is not None
    assert found <= {"make", "Own"}
    with graph_of(mentioned, endless()) as graph:
        answer = affected(graph, "Hub")
    assert {effect.symbol.name for effect in answer.affected} >= {"make", "Own", "settle_it"}
    assert answer.unfollowed is None


def test_that_no_path_leads_through_an_interface_is_not_said_where_the_time_was_up(tmp_path: Path) -> None:
    files = {
        "Store.java": "interface Store {\n  void save();\n}\n",
        "Handler.java": "class Handler {\n  Store store;\n  void handle() {\n    store.save();\n  }\n}\n",
        "Sql.java": "class Sql implements Store {\n  public void save() { write(); }\n  void write() {}\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with Workspace.open(tmp_path) as opened:
        opened.index()
        with graph_of(opened, endless()) as graph:
            whole_path = call_path(graph, "Handler.handle", "Sql.write")
        with graph_of(opened, steps(0)) as graph:
            cut = call_path(graph, "Handler.handle", "Sql.write")
    assert whole_path.steps
    assert cut.steps == ()
    assert any(str(note).startswith("This is not all") for note in cut.notes)


def test_an_import_of_a_whole_package_takes_no_reading_of_functions_with_its_name(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"Http{number}.kt").write_text(f"package shop.part{number}\n\nfun http() {{}}\n")
    (tmp_path / "Use.kt").write_text("package shop\n\nimport shop.http.*\n\nfun use() {\n    ring()\n}\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert not workspace.graph.callees("use").links
        workspace.graph.callees("use")
        with closing(workspace.state.open_for_reading()) as connection:
            assert connection.execute("SELECT count(*) FROM facts").fetchone() == (1,)
