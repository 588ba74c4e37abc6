"""A call on an unknown object means no function of a module by its name, unless the object may be the module."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_projects import callers

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
