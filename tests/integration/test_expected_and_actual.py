"""What Kotlin declares with `expect` and gives each platform with `actual` is one symbol to whoever uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "common/Clock.kt": "package shop\n\nexpect class Clock {\n    fun tick(): Int\n}\n\nexpect fun now(): Long\n",
    "jvm/Clock.kt": (
        "package shop\n\nactual class Clock {\n    actual fun tick(): Int = 1\n}\n\nactual fun now(): Long = 1\n"
    ),
    "js/Clock.kt": "package shop\n\nactual typealias Clock = Watch\n\nactual fun now(): Long = 2\n",
    "other/Clock.kt": "package other\n\nfun now(): Long = 3\n",
    "common/Use.kt": (
        "package shop\n\nfun use(clock: Clock) {\n    clock.tick()\n    now()\n    listOf(1).map(::now)\n}\n"
    ),
}


@pytest.mark.parametrize("place", ["common/Clock.kt:7", "jvm/Clock.kt:7", "js/Clock.kt:5"])
def test_a_call_is_one_of_each_platform(place: str, tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        calls, found = workspace.graph.callers(place), workspace.graph.references(place)
        impact = workspace.graph.impact(place)
    assert [link.line for link in calls.links] == [5, 6]
    assert calls.unresolved is None
    assert [one.line for one in found.references] == [5, 6]
    assert [one.symbol.name for one in impact.affected] == ["use"]


@pytest.mark.parametrize("place", ["common/Clock.kt:3", "jvm/Clock.kt:3", "js/Clock.kt:3"])
def test_a_type_is_used_on_each_platform(place: str, tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = workspace.graph.references(place)
    assert [(one.kind, one.path, one.line) for one in found.references] == [("type", "common/Use.kt", 3)]


@pytest.mark.parametrize("place", ["common/Clock.kt:4", "jvm/Clock.kt:4"])
def test_a_method_is_called_on_each_platform(place: str, tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert [link.line for link in workspace.graph.callers(place).links] == [4]


def test_a_function_of_another_package_is_another(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert not workspace.graph.callers("other/Clock.kt:now").links
