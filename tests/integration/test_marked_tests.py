"""Tests are found by the attributes that mark them, also beside the code and in files with other names."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.graph.values import Impact, TestChoice
from cairn.operations.context import context
from cairn.protocol.requests import ContextRequest
from cairn.workspace import Workspace

RUST = """\
pub fn fee(n: u64) -> u64 { n }
pub fn bill() -> u64 { fee(1) }

#[cfg(test)]
mod tests {
    use super::*;
    fn helper() -> u64 { fee(2) }
    #[test]
    fn is_due() { assert_eq!(fee(1), helper()); }
    #[tokio::test(flavor = "multi_thread")]
    async fn is_late() { fee(3); }
}
"""
CSHARP = """\
using Xunit;
public class Fee { public static int Due(int n) { return n; } }
"""
MARKED = {
    "fee.rs": ("fee", RUST, {}),
    "src/Fee.cs": (
        "Due",
        CSHARP,
        {
            "tests/Unit/Charging.cs": (
                'public class Charging {\n  [Fact(DisplayName = "x")]\n  public void IsDue() { Fee.Due(1); } }\n'
            ),
            "Checks/Rounding.cs": (
                "public class Rounding {\n  [Theory, InlineData(1)]\n  public void IsDue(int n) { Fee.Due(n); }\n}\n"
            ),
        },
    ),
    "src/main/java/shop/Fee.java": (
        "due",
        "package shop;\npublic class Fee { public static int due(int n) { return n; } }\n",
        {
            "src/test/java/shop/Charging.java": (
                "package shop;\nclass Charging {\n  @org.junit.jupiter.api.Test\n  void isDue() { Fee.due(1); }\n}\n"
            ),
        },
    ),
    "src/main/kotlin/shop/Fee.kt": (
        "due",
        "package shop\nfun due(n: Int) = n\n",
        {
            "src/test/kotlin/shop/Charging.kt": (
                "package shop\nclass Charging {\n  @Test\n  fun isDue() { due(1) }\n\n  fun helper() {}\n}\n"
            ),
        },
    ),
    "src/Fee.php": (
        "due",
        "<?php\nnamespace Shop;\nfunction due(int $n): int { return $n; }\n",
        {
            "tests/Charging.php": (
                "<?php\nnamespace Shop;\nclass Charging {\n  #[Test]\n  public function isDue(): void { due(1); }\n}\n"
            ),
        },
    ),
    "fee.zig": ("fee", 'fn fee(n: u64) u64 { return n; }\ntest "is due" { _ = fee(1); }\n', {}),
}


def ask(root: Path, path: str, symbol: str) -> tuple[TestChoice, Impact]:
    name, code, tests = MARKED[path]
    for file, text in {path: code, **tests}.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    with Workspace.open(root) as workspace:
        workspace.index()
        text = symbol or f"{path}:{name}"
        return workspace.graph.choose_tests(text), workspace.graph.impact(text)


@pytest.mark.parametrize("path", MARKED)
def test_marked_tests_are_found_and_affect_nothing(path: str, tmp_path: Path) -> None:
    choice, impact = ask(tmp_path, path, "")
    expected = sorted(MARKED[path][2] or [path])
    assert sorted(test.path for test in choice.tests) == expected
    assert {test.reason for test in choice.tests} == {"calls it"}
    assert all(test.tests for test in choice.tests)
    assert choice.total == len(expected)
    assert sorted(test.path for test in impact.tests) == expected
    assert [one.symbol.name for one in impact.affected] == (["bill"] if path == "fee.rs" else [])


def test_what_tests_share_in_a_module_for_tests_belongs_to_these(tmp_path: Path) -> None:
    choice, _ = ask(tmp_path, "fee.rs", "")
    assert choice.tests[0].tests == ("tests.helper", "tests.is_due", "tests.is_late")


def test_a_test_beside_the_code_that_changed_itself_is_run(tmp_path: Path) -> None:
    choice, _ = ask(tmp_path, "fee.rs", "is_due")
    assert [(test.path, test.reason) for test in choice.tests] == [("fee.rs", "changed itself")]


def test_the_callers_beside_tests_are_still_shown_around_a_definition(tmp_path: Path) -> None:
    (tmp_path / "fee.rs").write_text(RUST)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        text = context(workspace, ContextRequest(ids=("fee.rs#fee",)))["items"][0]["text"]
    called, _, tested = text.partition("tested by:")
    assert "fee.rs:2 function bill" in called
    assert "is_due" not in called.partition("called by:")[2]
    assert "is_due" in tested


def test_what_tests_need_is_affected_though_it_holds_no_tests(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "fee.py").write_text("def fee():\n    return 1\n")
    (tmp_path / "tests" / "builders.py").write_text("from fee import fee\n\n\ndef build():\n    return fee()\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        impact = workspace.graph.impact("fee")
    assert [(one.symbol.path, one.symbol.name) for one in impact.affected] == [("tests/builders.py", "build")]
    assert impact.tests == ()


def test_a_mark_in_a_comment_makes_no_test(tmp_path: Path) -> None:
    (tmp_path / "fee.rs").write_text("/*\n#[test]\n*/\npub fn fee() {}\npub fn bill() { fee() }\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.graph.choose_tests("fee").tests == ()
        assert [one.symbol.name for one in workspace.graph.impact("fee").affected] == ["bill"]
