"""Questions about what a header of C or C++ declares are answered with the uses of its body."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "cart.h": "int total(int x);\nint later(int x);\n",
    "cart.c": '#include "cart.h"\nint total(int x) {\n  return x;\n}\nint later(int x) {\n  return 1;\n}\n',
    "app.c": '#include "cart.h"\nvoid run() {\n  total(1);\n  start(later);\n}\n',
    "lone.c": "static int total(int x) {\n  return 2;\n}\nint alone() {\n  return total(2);\n}\n",
    "till.h": "class Till {\n public:\n  int sum(int x);\n};\n",
    "till.cc": (
        '#include "till.h"\nint Till::sum(int x) {\n  return x;\n}\nint use(Till* till) { return till->sum(1); }\n'
    ),
}


@pytest.mark.parametrize(
    ("place", "expected"),
    [("cart.h:1", ("app.c", 3)), ("cart.h:2", ("app.c", 4)), ("till.h:3", ("till.cc", 5)), ("lone.c:1", ("lone.c", 5))],
)
def test_a_declaration_has_the_callers_of_its_body(place: str, expected: tuple[str, int], tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        calls, found = workspace.graph.callers(place), workspace.graph.references(place)
        impact = workspace.graph.impact(place)
    assert [(link.path, link.line) for link in calls.links] == [expected]
    assert calls.unresolved is None
    assert [(one.path, one.line) for one in found.references] == [expected]
    assert len(impact.affected) == 1
