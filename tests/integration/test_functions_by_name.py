"""A call on an unknown object means no function of a module by its name, unless the object may be the module."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import callers, write_files

PYTHON = {
    "edit.py": (
        "import pikepdf\n\n\ndef rotate(degrees):\n    with pikepdf.open('x') as pdf:\n"
        "        for page in pdf.pages:\n            page.rotate(degrees)\n\n\n"
        "def edit(pages):\n    pages[-1].rotate(90)\n\n\nclass Till:\n    def open(self):\n        self.rotate(1)\n"
    ),
    "use.py": "import edit\n\nedit.rotate(1)\n",
}
TYPESCRIPT = {
    "lib/group-by.ts": "export function groupBy(items: any) { return items; }\n",
    "use.ts": (
        'import { prisma } from "@shop/db";\nimport lib from "./lib/group-by";\nimport other from "lodash";\n\n'
        "export async function count(tx: any) {\n"
        "  await prisma.link.groupBy({});\n  await tx.groupBy({});\n  other.groupBy([]);\n"
        "  return lib.groupBy([]);\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("symbol", "files", "lines"),
    [("rotate", PYTHON, {("use.py", 3)}), ("groupBy", TYPESCRIPT, {("use.ts", 9)})],
    ids=["Python", "TypeScript"],
)
def test_a_call_on_an_object_means_no_function_of_a_module(
    symbol: str, files: dict[str, str], lines: set[tuple[str, int]], tmp_path: Path
) -> None:
    assert callers(tmp_path, symbol, files) == lines


C = {
    "request.h": "struct list { void (*drop_items)(void *); };\n",
    "list.c": '#include "request.h"\n\nvoid drain(struct list *list, struct gone *gone) {\n'
    "  list->drop_items(list);\n  gone->drop_items(list);\n  gone->inner.drop_items(list);\n}\n",
    "other.c": "void drop_items(void *thing) {}\n\nvoid use(void) {\n  drop_items(0);\n}\n",
}


def test_a_call_of_c_through_a_field_means_no_function_of_its_name(tmp_path: Path) -> None:
    assert callers(tmp_path, "drop_items", C) == {("other.c", 4)}
    with Workspace.open(tmp_path) as workspace:
        unresolved = workspace.graph.callers("drop_items").unresolved
    assert unresolved is not None
    assert [mention.path for mention in unresolved.first][-1] == "list.c"


VARIABLES = {
    "made.ts": 'import { createContext, create } from "there";\n\nexport const Shown = createContext(null);\n'
    "export const client = create({});\nexport const limits = { most: 3 };\n",
    "use.tsx": 'import { Shown, client, limits } from "./made";\n\n'
    "export function page() {\n  return <Shown.Provider value={1} />;\n}\n\n"
    'export function load() {\n  return client.get("/x");\n}\n\n'
    "export function cap() {\n  return limits.most;\n}\n",
}


@pytest.mark.parametrize(("variable", "user"), [("Shown", "page"), ("client", "load"), ("limits", "cap")])
def test_an_attribute_of_a_variable_uses_the_variable(variable: str, user: str, tmp_path: Path) -> None:
    write_files(tmp_path, VARIABLES)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        impact = workspace.graph.impact(variable)
        assert workspace.graph.callers(variable).unresolved is None
    assert [effect.symbol.name for effect in impact.affected] == [user]
    assert impact.unresolved is None
