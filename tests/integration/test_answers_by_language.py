"""What the symbol graph says about languages of which it knows less than of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace


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


def test_files_of_lua_that_import_each_other_are_a_cycle(tmp_path: Path) -> None:
    files = {"lua/a.lua": 'local b = require "b"\nreturn {}\n', "lua/b.lua": 'local a = require "a"\nreturn {}\n'}
    with opened(tmp_path, files) as workspace:
        (cycle,) = workspace.graph.import_cycles().cycles
        assert {step.path for step in cycle.steps} == {"lua/a.lua", "lua/b.lua"}


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
