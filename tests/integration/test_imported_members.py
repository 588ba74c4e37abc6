"""References to members of a type that a file imports by themselves, as constants in Java and Kotlin are."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

JAVA = "package shop;\n\npublic class Limits {\n    public static final int MOST = 15;\n}\n"
KOTLIN = "package shop\n\nobject Limits {\n    const val MOST = 15\n}\n"
CSHARP = "namespace Shop;\n\npublic static class Limits\n{\n    public const int MOST = 15;\n}\n"
USE = "class Use {\n    int use(int n) {\n        return n & MOST;\n    }\n}\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"L.java": JAVA, "U.java": f"package b;\nimport static shop.Limits.MOST;\n{USE}"},
            {("import", 2), ("read", 5)},
        ),
        ({"L.java": JAVA, "U.java": f"package b;\nimport static shop.Limits.*;\n{USE}"}, {("read", 5)}),
        (
            {"L.kt": KOTLIN, "U.kt": "package b\nimport shop.Limits.MOST\nfun use(n: Int) = n and MOST\n"},
            {("import", 2), ("read", 3)},
        ),
        (
            {"L.kt": KOTLIN, "U.kt": "package b\nimport shop.Limits.MOST as TOP\nfun use(n: Int) = n and TOP\n"},
            {("import", 2), ("read", 3)},
        ),
        ({"L.cs": CSHARP, "U.cs": f"using static Shop.Limits;\nnamespace B;\n{USE}"}, {("read", 5)}),
    ],
)
def test_an_imported_constant_is_referred_to(
    files: dict[str, str], expected: set[tuple[str, int]], tmp_path: Path
) -> None:
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = workspace.graph.references("Limits.MOST")
    assert {(one.kind, one.line) for one in found.references} == expected
    assert found.unresolved is None


def test_an_imported_constant_of_another_type_is_another(tmp_path: Path) -> None:
    other = JAVA.replace("Limits", "Bounds")
    use = f"package b;\nimport static shop.Bounds.MOST;\n{USE}"
    write_files(tmp_path, {"L.java": JAVA, "O.java": other, "U.java": use})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = workspace.graph.references("Limits.MOST")
    assert not found.references
    assert found.unresolved is None
