"""Calls on a variable after it was found to be of a type, and on type parameters with a bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_projects import callers

KOTLIN = """package till
interface Drawer
class Small : Drawer {
    fun slam() = 1
}
class Large : Drawer {
    fun slam() = 2
}
"""


@pytest.mark.parametrize(
    "statement",
    [
        "if (drawer is Small) drawer.slam()",
        "when (drawer) { is Small -> drawer.slam() }",
        "when (drawer) { is Small -> listOf(1).forEach { drawer.slam() } }",
    ],
)
def test_kotlin_casts_what_was_checked(statement: str, tmp_path: Path) -> None:
    files = {"Drawer.kt": KOTLIN, "App.kt": f"package till\nfun run(drawer: Drawer) {{\n    {statement}\n}}\n"}
    assert callers(tmp_path, "Small.slam", files) == {("App.kt", 3)}


def test_kotlin_casts_the_object_itself(tmp_path: Path) -> None:
    text = "package till\nfun Drawer.run() {\n    when (this) {\n        is Small -> slam()\n    }\n}\n"
    assert callers(tmp_path, "Small.slam", {"Drawer.kt": KOTLIN, "App.kt": text}) == {("App.kt", 4)}


def test_a_member_of_a_companion_is_imported_by_its_name(tmp_path: Path) -> None:
    drawer = "package till\nclass Drawer {\n    companion object {\n        fun made() = Drawer()\n    }\n}\n"
    text = "package app\nimport till.Drawer.Companion.made\nfun run() {\n    made()\n}\n"
    assert callers(tmp_path, "made", {"Drawer.kt": drawer, "App.kt": text}) == {("App.kt", 4)}


CHECKED = {
    "php": (
        "<?php\nclass Small { function slam() {} }\nclass Large { function slam() {} }\n"
        "function run($drawer) {\n    if ($drawer instanceof Small) { $drawer->slam(); }\n}\n"
    ),
    "ts": (
        "class Small { slam() {} }\nclass Large { slam() {} }\n\n"
        "function run(drawer: unknown) {\n  if (drawer instanceof Small) { drawer.slam(); }\n}\n"
    ),
    "py": (
        "class Small:\n    def slam(self): ...\nclass Large:\n    def slam(self): ...\n"
        "def run(drawer): isinstance(drawer, Small) and drawer.slam()\n"
    ),
    "java": (
        "class Small { void slam() {} }\nclass Large { void slam() {} }\nclass App {\n  void run(Object drawer) {\n"
        "    if (drawer instanceof Small small) { small.slam(); }\n  }\n}\n"
    ),
}


@pytest.mark.parametrize("ending", list(CHECKED))
def test_a_check_tells_what_a_variable_holds(ending: str, tmp_path: Path) -> None:
    name = f"drawer.{ending}"
    assert callers(tmp_path, "Small.slam", {name: CHECKED[ending]}) == {(name, 5)}


BOUND = {
    "ts": "interface Drawer { slam(): void }\ninterface Other { slam(): void }\n"
    "function run<D extends Drawer>(\n  one: D,\n) {\n  one.slam();\n}\n",
    "java": "interface Drawer { void slam(); }\ninterface Other { void slam(); }\n"
    "class App<D extends Drawer> {\n  D one;\n  void run() {\n    one.slam();\n  }\n}\n",
}


@pytest.mark.parametrize("ending", list(BOUND))
def test_what_a_type_parameter_extends_is_what_it_has(ending: str, tmp_path: Path) -> None:
    name = f"drawer.{ending}"
    assert callers(tmp_path, "Drawer.slam", {name: BOUND[ending]}) == {(name, 6)}


def test_a_head_without_a_body_is_read_over_all_its_lines(tmp_path: Path) -> None:
    text = (
        "interface Drawer {\n  slam(): void;\n}\ninterface Other {\n  slam(): void;\n}\n"
        "interface Till {\n  pick(\n    one: number,\n    two: string,\n  ): Drawer;\n}\n"
        "function run(till: Till) {\n  till.pick(1, '2').slam();\n}\n"
    )
    assert callers(tmp_path, "Drawer.slam", {"till.ts": text}) == {("till.ts", 14)}
