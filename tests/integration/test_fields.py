"""Fields without a definition of their own are known to every question that may be asked about them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.answers import OutlineSymbol
from cairn.errors import UnknownSymbolError
from cairn.graph.fields import find_fields
from cairn.operations.context import context
from cairn.protocol.requests import ContextRequest
from cairn.workspace import Workspace

FILES = {
    "go.mod": "module shop\n\ngo 1.22\n",
    "model/user.go": "package model\n\ntype User struct {\n\tOIDCID *string\n\tName string\n\tSpare string\n}\n",
    "model/shop.go": "package model\n\ntype Shop struct {\n\tName string\n}\n",
    "api/link.go": (
        'package api\n\nimport "shop/model"\n\n'
        "func link(user *model.User, id string) {\n\tuser.OIDCID = &id\n}\n\n"
        "func Handle(user *model.User) {\n\tlink(user, user.Name)\n}\n"
    ),
    "api/link_test.go": (
        'package api\n\nimport (\n\t"testing"\n\n\t"shop/model"\n)\n\n'
        "func TestLink(t *testing.T) {\n\tuser := &model.User{}\n\tif user.OIDCID != nil {\n\t\tt.Fail()\n\t}\n}\n\n"
        "func TestHandle(t *testing.T) {\n\tHandle(&model.User{})\n}\n"
    ),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("fields")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize("least_files", [0, 300])
@pytest.mark.parametrize("text", ["User.OIDCID", "OIDCID", "model/user.go:User.OIDCID"])
def test_a_change_of_a_field_affects_what_uses_it_and_what_that_affects(
    workspace: Workspace, text: str, least_files: int
) -> None:
    workspace.graph.current().patience.least_files = least_files
    impact = workspace.graph.impact(text)
    assert [(one.kind, one.name, one.path, one.line) for one in impact.changed] == [
        ("field", "User.OIDCID", "model/user.go", 4)
    ]
    assert [(one.symbol.name, one.depth, one.via) for one in impact.affected] == [
        ("link", 1, "use"),
        ("Handle", 2, "call"),
    ]
    assert {one.confidence for one in impact.affected} == {0.9}
    assert [(test.path, test.reason) for test in impact.tests] == [("api/link_test.go", "uses it")]
    assert workspace.graph.choose_tests(text).tests == impact.tests
    assert impact.tests[0].tests == ("TestHandle", "TestLink")


def test_of_a_field_that_nothing_uses_it_is_said_what_was_looked_at(workspace: Workspace) -> None:
    impact = workspace.graph.impact("User.Spare")
    assert (impact.affected, impact.tests) == ((), ())
    assert impact.notes[0].startswith("Looked at 1 file of code that mentions `Spare`")
    assert workspace.graph.choose_tests("User.Spare").tests == ()


def test_a_field_that_one_type_alone_has_is_found_by_its_name(workspace: Workspace) -> None:
    found = workspace.graph.references("OIDCID")
    assert found.symbol.name == "User.OIDCID"
    assert {(one.path, one.line) for one in found.references} == {("api/link.go", 6), ("api/link_test.go", 11)}
    several = workspace.graph.references("Name").namesakes or ()
    assert [(field.path, field.name) for field in several] == [
        ("model/shop.go", "Shop.Name"),
        ("model/user.go", "User.Name"),
    ]


def test_a_search_for_uses_of_a_field_is_answered(workspace: Workspace) -> None:
    answer = workspace.search("where is OIDCID used")
    assert {(hit.path, hit.start_line) for hit in answer.code} == {("api/link.go", 6), ("api/link_test.go", 11)}
    assert "references to field User.OIDCID" in " ".join(answer.notes)


def test_a_question_for_the_calls_of_a_field_says_that_it_is_one(workspace: Workspace) -> None:
    for ask in (workspace.graph.callers, workspace.graph.callees):
        with pytest.raises(UnknownSymbolError, match=r"User\.OIDCID \(model/user\.go:4\) is a field"):
            ask("User.OIDCID")
    with pytest.raises(UnknownSymbolError, match=r"nothing is called 'User.Nothing' here"):
        workspace.graph.callers("User.Nothing")


def test_a_context_of_a_field_shows_what_uses_and_tests_it(workspace: Workspace) -> None:
    (item,) = context(workspace, ContextRequest(ids=("model/user.go#OIDCID",)))["items"]
    assert "used by:\napi/link.go:6 function link\ntested by:\napi/link_test.go TestHandle, TestLink\n" in item["text"]
    assert "left out" not in item["text"]


def test_of_what_the_graph_does_not_know_no_untrue_reason_is_given(workspace: Workspace) -> None:
    unknown = OutlineSymbol("", "field", "Nothing", "User.Nothing", "", "", 4, 4, 1)
    _, (note,) = workspace.graph.surroundings("model/user.go", unknown)
    assert note.startswith("callers, callees and tests are left out: the graph knows no field User.Nothing;")
    _, (note,) = workspace.graph.surroundings("model/late.go", unknown)
    assert note.startswith("callers, callees and tests are left out: model/late.go is not in the index;")


def test_names_of_definitions_are_not_read_where_no_type_is_called_as_a_question_says(workspace: Workspace) -> None:
    graph, statements = workspace.graph.current(), list[str]()
    graph.connection.set_trace_callback(statements.append)
    try:
        assert find_fields(graph, "storage.tsdb.retention") == []
    finally:
        graph.connection.set_trace_callback(None)
    assert [statement for statement in statements if "DISTINCT name FROM definition" in statement] == []
