"""Where several files of C define a name, the one that is included is meant, be it by way of other headers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.errors import AmbiguousError, UnknownSymbolError
from cairn.workspace import Workspace
from small_projects import callers, write_files

FIND = "int find(int key) {\n    return key;\n}\n"
FILES = {
    "src/table.h": "int find(int key);\n",
    "src/table.c": f'#include "table.h"\n{FIND}',
    "src/server.h": '#include "table.h"\n',
    "src/all.h": '#include "server.h"\n#include "all.h"\n',
    "src/use.c": '#include "all.h"\nint use(void) {\n    return find(1);\n}\n',
    "deps/lib/table.h": "static int find(int key);\n",
    "deps/lib/table.c": f'#include "table.h"\nstatic {FIND}int again(void) {{\n    return find(2);\n}}\n',
    "deps/lib/call.c": '#include "table.c"\nint call(void) {\n    return find(3);\n}\n',
    "other/table.c": f"{FIND}int longer;\nint other(void) {{\n    return find(4);\n}}\n".replace("key;", "key + 1000;"),
    "lone.c": "int lone(void) {\n    return find(5);\n}\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("includes")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("symbol", "places"),
    [
        ("src/table.c:find", {("src/use.c", 3)}),
        ("deps/lib/table.c:find", {("deps/lib/table.c", 6), ("deps/lib/call.c", 3)}),
        ("other/table.c:find", {("other/table.c", 6)}),
    ],
)
def test_a_call_leads_to_what_its_file_includes(project: Workspace, symbol: str, places: set[tuple[str, int]]) -> None:
    assert {(link.path, link.line) for link in project.graph.callers(symbol).links} == places


def test_what_may_mean_any_of_them_is_said(project: Workspace) -> None:
    unresolved = project.graph.callers("src/table.c:find").unresolved
    assert unresolved is not None
    assert {mention.path for mention in unresolved.first} == {"lone.c", "other/table.c"}


def test_a_header_that_includes_something_else_leads_elsewhere(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, **{f"more/{number}.c": f"int more{number};\n" for number in range(40)}})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.graph.callers("src/table.c:find").links
        (tmp_path / "src" / "server.h").write_text('#include "../deps/lib/table.c"\n')
        assert not workspace.graph.callers("src/table.c:find").links
        assert ("src/use.c", 3) in {
            (link.path, link.line) for link in workspace.graph.callers("deps/lib/table.c:find").links
        }


def test_headers_in_a_folder_of_their_own_lead_to_the_body_beside_them(tmp_path: Path) -> None:
    files = {
        f"{library}/{path}": text
        for library in ("one", "two")
        for path, text in {
            "include/api.h": "int begin(int key);\n",
            "src/api.c": f'#include "../include/api.h"\n{FIND}'.replace("find", "begin"),
            "src/use.c": '#include "../include/api.h"\nint use(void) {\n    return begin(1);\n}\n',
        }.items()
    }
    assert callers(tmp_path, "one/src/api.c:begin", files) == {("one/src/use.c", 3)}


def test_a_file_is_named_by_the_end_of_its_path_and_a_definition_in_it_with_either_mark(project: Workspace) -> None:
    assert project.graph.callers("src/table.c#find") == project.graph.callers("src/table.c:find")
    assert project.graph.callers("src/table.c#2") == project.graph.callers("src/table.c:2")
    assert {importer.path for importer in project.graph.importers("server.h").importers} == {"src/all.h"}


def test_of_files_with_one_name_those_of_the_project_come_first(project: Workspace) -> None:
    assert {importer.path for importer in project.graph.importers("table.h").importers} == {
        "src/server.h",
        "src/table.c",
    }
    with pytest.raises(AmbiguousError, match=r"2: other/table\.c, src/table\.c$"):
        project.graph.importers("table.c")


def test_a_file_that_is_not_there_is_looked_for_among_files(project: Workspace) -> None:
    with pytest.raises(UnknownSymbolError) as caught:
        project.graph.importers("servr.h")
    assert "did you mean server.h" in caught.value.hint
