"""What the symbol graph says about languages of which it knows less than of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import UnknownSymbolError
from cairn.workspace import Workspace
from in_process import cairn


def opened(root: Path, files: dict[str, str]) -> Workspace:
    """Return a project of some files, indexed."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    workspace = Workspace.open(root)
    workspace.index()
    return workspace


@pytest.mark.parametrize(
    "statement",
    ['local wait = require("app.wait")', "require 'app.wait'", 'f(require "app.wait".x)', 'pcall(require, "app.wait")'],
)
def test_a_file_of_lua_is_imported_in_each_way_of_writing_it(tmp_path: Path, statement: str) -> None:
    files = {
        "lua/app/wait.lua": "return {}\n",
        "lua/main.lua": f"{statement}\n",
        "lua/no.lua": "pcall(f, 'app.wait')\n",
    }
    with opened(tmp_path, files) as workspace:
        importers = workspace.graph.importers("lua/app/wait.lua").importers
        assert [(importer.path, importer.line) for importer in importers] == [("lua/main.lua", 1)]


@pytest.mark.parametrize(
    "statement",
    [
        "source tools/lib.sh",
        ". ./tools/lib.sh",
        'source "tools/lib.sh" --quiet',
        'source "$ROOT/tools/lib.sh"',
        '. "${BASH_SOURCE%/*}/tools/lib.sh"',
        'source "$(dirname "$0")/tools/lib.sh"',
        "  [ -z $DONE ] && source tools/lib.sh",
    ],
)
def test_a_script_is_imported_in_each_way_of_writing_it(tmp_path: Path, statement: str) -> None:
    files = {
        "tools/lib.sh": "say() {\n  echo $1\n}\n",
        "run.sh": f"{statement}\nsay hello\n",
        "other.sh": 'source "$FILE"\nsource /tools/lib.sh\necho source tools/lib.sh\n',
    }
    with opened(tmp_path, files) as workspace:
        found = workspace.graph.importers("tools/lib.sh")
        callers = workspace.graph.callers("say").links
    assert [(importer.path, importer.line) for importer in found.importers] == [("run.sh", 1)]
    assert [(link.path, link.line, link.how) for link in callers] == [("run.sh", 2, "import")]


def test_a_file_of_lua_that_replaces_a_function_of_the_language_does_so_for_itself(tmp_path: Path) -> None:
    files = {
        "trace.lua": (
            "function require(name)\n  return name\nend\n\nfunction trace(name)\n  return require(name)\nend\n"
        ),
        "main.lua": 'local wait = require("wait")\ntrace("wait")\n',
        "wait.lua": "return {}\n",
    }
    with opened(tmp_path, files) as workspace:
        found = [(link.path, link.line) for link in workspace.graph.callers("require").links]
        traced = [(link.path, link.line) for link in workspace.graph.callers("trace").links]
    assert (found, traced) == ([("trace.lua", 6)], [("main.lua", 2)])


def test_files_of_lua_that_import_each_other_are_a_cycle(tmp_path: Path) -> None:
    files = {"lua/a.lua": 'local b = require "b"\nreturn {}\n', "lua/b.lua": 'local a = require "a"\nreturn {}\n'}
    with opened(tmp_path, files) as workspace:
        (cycle,) = workspace.graph.import_cycles().cycles
        assert {step.path for step in cycle.steps} == {"lua/a.lua", "lua/b.lua"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.lua", "add({ run = function() return require('wait') end })\n"),
        ("a.js", "run(() => {\n  const wait = require('./wait');\n});\n"),
    ],
)
def test_what_a_function_without_a_name_imports_is_not_loaded_with_the_file(
    tmp_path: Path, path: str, text: str
) -> None:
    wait = f"wait.{path.partition('.')[2]}"
    with opened(tmp_path, {path: text, wait: "\n"}) as workspace:
        (importer,) = workspace.graph.importers(wait).importers
        assert (importer.path, importer.deferred) == (path, True)


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("lua/linked_list.lua", "tests/linked_list_spec.lua"),
        ("lib/src/cancel_token.dart", "test/cancel_token_test.dart"),
        ("src/parse.zig", "test/parse_test.zig"),
        ("src/Tree.hs", "test/TreeSpec.hs"),
        ("deploy.sh", "tests/deploy_test.sh"),
        ("Lock.ps1", "tests/Lock.Tests.ps1"),
    ],
)
def test_a_test_is_found_by_its_name_whatever_is_known_of_the_language(tmp_path: Path, path: str, test: str) -> None:
    with opened(tmp_path, {path: "\n", test: "\n\n"}) as workspace:
        (found,) = workspace.graph.choose_tests(path).tests
        assert (found.path, found.reason) == (test, "is named after it")


CLUSTER = {
    "main.tf": 'resource "aws_vpc" "this" {\n}\n\nresource "aws_subnet" "this" {\n  vpc = aws_vpc.this.id\n}\n',
    "outputs.tf": 'output "vpc" {\n  value = aws_vpc.this.id\n}\n',
}


def test_blocks_of_terraform_have_the_lines_that_say_their_names(tmp_path: Path) -> None:
    with opened(tmp_path, CLUSTER) as workspace:
        graph = workspace.graph
        found, calls, effect = (
            graph.references("aws_vpc.this"),
            graph.callers("aws_vpc.this"),
            graph.impact("main.tf:1"),
        )
        unread = [(found.unresolved, found.notes), (calls.unresolved, calls.notes), (effect.unresolved, effect.notes)]
        for unresolved, notes in unread:
            assert unresolved is not None
            lines = [(mention.path, mention.line) for mention in unresolved.first]
            assert (unresolved.names, lines) == (("aws_vpc.this",), [("main.tf", 5), ("outputs.tf", 2)])
            assert notes[0] == "References in hcl are not read."


def test_no_definition_of_an_unread_language_counts_as_used(tmp_path: Path) -> None:
    with opened(tmp_path, CLUSTER) as workspace:
        (note,) = workspace.graph.dead_code().notes
    assert note.startswith("Looked at 0 definitions; those of hcl are not judged")
    assert "used" not in cairn("dead", cwd=tmp_path).stderr.replace("Nothing is known to be unused.", "")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            ("importers", "a.ps1"),
            "Which files import a.ps1 is not known: imports of powershell are not resolved to files.",
        ),
        (("callees", "total"), "References in sql are not read."),
    ],
)
def test_what_is_not_read_is_said_first_and_nothing_is_denied(
    tmp_path: Path, question: tuple[str, str], said: str
) -> None:
    files = {
        "a.ps1": "function Go {\n  1\n}\n",
        "shop.sql": "CREATE FUNCTION total() RETURNS int AS $$ SELECT fee() $$ LANGUAGE sql;\n",
    }
    with opened(tmp_path, files):
        pass
    done = cairn(*question, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said)


def test_lines_that_import_a_file_by_name_are_listed_where_imports_lead_nowhere(tmp_path: Path) -> None:
    with opened(tmp_path, {"a.zig": 'const b = @import("b.zig");\n', "b.zig": "pub fn f() void {}\n"}) as workspace:
        unresolved = workspace.graph.importers("b.zig").unresolved
        assert unresolved is not None
        assert [(mention.path, mention.line) for mention in unresolved.first] == [("a.zig", 1)]


SHAPES = """\
abstract type Shape end
abstract type Box{T} end
abstract type Round <: Shape end
abstract type Pair{T} <: Box{T} end
struct Circle <: Round
  r::Int
end
struct Crate{T} <: Box{T} end
struct Two{A, B} <: Pair{Box{A}, B} end
struct Bound{T<:Shape} end
"""


def test_types_of_julia_derive_from_types_with_and_without_parameters(tmp_path: Path) -> None:
    with opened(tmp_path, {"src/Shapes.jl": SHAPES}) as workspace:
        below = {
            name: {link.symbol.name for link in workspace.graph.subclasses(name).links} for name in ("Shape", "Box")
        }
    assert below == {"Shape": {"Round", "Circle"}, "Box": {"Pair", "Crate", "Two"}}


def test_labels_of_tests_are_no_functions(tmp_path: Path) -> None:
    files = {
        "src/heap.jl": "function sink!(x)\n  x\nend\nfunction pop_all!(x)\n  sink!(x)\nend\n",
        "test/heap.jl": '@testset "sink!" begin\n  sink!(1)\n  @testset "grow!" begin\n    grow!(2)\n  end\nend\n',
    }
    with opened(tmp_path, files) as workspace:
        graph = workspace.graph
        callers = {(link.symbol.name, link.line) for link in graph.callers("sink!").links}
        assert callers == {("pop_all!", 5), ("sink!", 2)}
        assert [link.symbol.name for link in graph.callees("test/heap.jl:1").links] == ["sink!"]
        assert graph.callees("grow!").symbol.kind == "test"


def test_the_heading_of_a_document_is_no_type(tmp_path: Path) -> None:
    files = {"docs/errors.md": "# Errors\n\n## Error\n\nText.\n", "a.ts": "class Lost extends Error {}\n"}
    with opened(tmp_path, files) as workspace:
        with pytest.raises(UnknownSymbolError) as caught:
            workspace.graph.subclasses("Error")
        assert caught.value.hint == (
            "only documents have a part of that name, such as docs/errors.md:3; list the lines of 2 files that say it: "
            "cairn search Error --mode literal"
        )
        assert workspace.graph.references("docs/errors.md:3").symbol.name == "Errors.Error"


SEALED = """\
package main

type shape interface {
	isShape()
}

type round struct{}

func (round) isShape() { mark() }

type flat struct{}

func (flat) isShape() {}
func (flat) lost()    {}
func (round) lost()   {}
func mark()           {}
func main()           { var s shape = round{}; use(s) }
func use(s shape)     {}
"""


def test_methods_of_go_that_an_interface_wants_are_not_unused(tmp_path: Path) -> None:
    with opened(tmp_path, {"main.go": SEALED, "go.mod": "module example.com/app\n"}) as workspace:
        dead = {(found.symbol.name, found.reason) for found in workspace.graph.dead_code().dead}
    reason = "nothing calls it, and only definitions say its name"
    assert dead == {("flat.lost", reason), ("round.lost", reason)}


def test_methods_of_julia_for_functions_of_other_modules_are_not_unused(tmp_path: Path) -> None:
    text = (
        "struct Lost <: Exception end\n"
        "Base.:(==)(a::Lost, b::Lost) = same(a)\n"
        "function Base.showerror(io::IO, e::Lost)\n  print(io, 1)\nend\n"
        "same(a) = true\n"
        "_unused(a) = a\n"
    )
    with opened(tmp_path, {"src/lost.jl": text}) as workspace:
        assert [found.symbol.name for found in workspace.graph.dead_code().dead] == ["_unused"]


def test_a_type_of_go_calls_what_its_methods_call_and_feels_what_calls_these(tmp_path: Path) -> None:
    files = {
        "go.mod": "module shop\n\ngo 1.22\n",
        "till/till.go": "package till\n\ntype Till struct{}\n\ntype TillRoll struct{}\n",
        "till/open.go": (
            "package till\n\nfunc (t *Till) Open() { ring() }\n\nfunc (t *TillRoll) Tear() { rip() }\n\n"
            "func ring() {}\n\nfunc rip() {}\n"
        ),
        "cmd/main.go": 'package main\n\nimport "shop/till"\n\nfunc run(t *till.Till) { t.Open() }\n',
    }
    with opened(tmp_path, files) as workspace:
        called = workspace.graph.callees("Till").links
        affected = workspace.graph.impact("Till").affected
    assert [(link.symbol.name, link.path, link.line) for link in called] == [("ring", "till/open.go", 3)]
    assert "run" in {one.symbol.name for one in affected}


def test_a_member_that_no_type_of_the_name_has_is_unknown_and_not_ambiguous(tmp_path: Path) -> None:
    files = {f"{folder}/client.go": f"package {folder}\n\ntype Client struct{{}}\n" for folder in ("one", "two")}
    with opened(tmp_path, files) as workspace, pytest.raises(UnknownSymbolError, match=r"'Client\.Update'"):
        workspace.graph.callers("Client.Update")
