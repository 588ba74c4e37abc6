"""Issues that name a rule or a command by which a file is called, in another style than its path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

RULE = "exports.check = (node) => {{\n  return report(node, '{}')\n}}\n"
COP = "# Looks at the order.\ndef on_class(node)\n  check(node)\nend\n"
FILES = {
    "lib/rules/no-var.js": RULE.format("const"),
    "lib/rules/no-unused-vars.js": "// A var that is shadowed by a catch parameter.\n"
    + RULE.format("shadowed var catch"),
    "lib/rules/prefer-let.js": "// Fixes a var in a catch.\n" + RULE.format("let of catch"),
    "docs/rules/no-var.md": "# no-var\n\nA var that a catch parameter shadows is not fixed.\n",
    "lib/cop/layout/class_structure.rb": COP,
    "lib/cop/style/class_structure.rb": COP,
    "lib/cop/style/order.rb": COP + "# The order of modifiers that structure a class.\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("rules")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def named(workspace: Workspace, text: str) -> list[str]:
    return [hit.path for hit in workspace.search(text).code if hit.part == "named in the text"]


def test_a_rule_that_a_subject_names_is_the_file_that_is_called_so(workspace: Workspace) -> None:
    text = "Do not fix no-var if the var is shadowed by a catch parameter\n\nThe unused vars in a catch are shadowed.\n"
    assert named(workspace, text) == ["lib/rules/no-var.js"]


@pytest.mark.parametrize("name", ["`Layout/ClassStructure`", "Layout/ClassStructure"])
def test_a_name_below_a_folder_is_the_file_of_that_folder(workspace: Workspace, name: str) -> None:
    text = f"Wrong order of modifiers with {name}\n\nThe order of modifiers in a class is not looked at.\n"
    assert named(workspace, text) == ["lib/cop/layout/class_structure.rb"]


def test_a_text_that_names_a_file_by_its_path_means_that(workspace: Workspace) -> None:
    text = "Do not fix no-var if the var is shadowed\n\nprefer-let.js needs to look for a catch that shadows a var.\n"
    assert named(workspace, text) == ["lib/rules/prefer-let.js"]


def test_several_files_that_are_called_so_are_not_named(workspace: Workspace) -> None:
    assert not named(workspace, "Wrong order with `class-structure`\n\nThe order in a class is not looked at.\n")
