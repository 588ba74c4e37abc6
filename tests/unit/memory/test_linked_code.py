"""The code that memories speak of, then and now, in a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.memory.linked_code import LinkedCode, LinkedCodes
from cairn.workspace import Workspace
from conftest import Git

CODE = "import sys\n\n\ndef total(prices):\n    return sum(prices)\n\n\ndef tax(price):\n    return price * 1.2\n"


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    (checkout / "money.py").write_text(CODE)
    git(checkout, "add", "money.py")
    git(checkout, "commit", "-q", "-m", "Begin")
    return checkout


def code_of(project: Path, file: str, text: str = "") -> LinkedCode:
    """Return the linked code of a memory that is tied to a file now, after that file was rewritten."""
    with Workspace.open(project) as workspace:
        made = workspace.memory.remember("About money", files=(file,)).observation
        if text:
            (project / "money.py").write_text(text)
        return LinkedCodes(workspace.root).of(made, made.links)[0]


def test_code_that_did_not_change_is_shown_once(project: Path) -> None:
    code = code_of(project, "money.py::tax")
    assert (code.state, code.line, code.diff) == ("current", 8, "")
    assert code.then == code.now == "def tax(price):\n    return price * 1.2"


def test_code_that_changed_is_shown_as_it_was_linked_with_what_differs(project: Path) -> None:
    code = code_of(project, "money.py::tax", CODE.replace("1.2", "1.25"))
    assert code.state == "changed"
    assert code.then == "def tax(price):\n    return price * 1.2"
    assert code.now == "def tax(price):\n    return price * 1.25"
    assert "-    return price * 1.2\n+    return price * 1.25" in code.diff


def test_code_that_is_gone_is_shown_as_it_was(project: Path) -> None:
    code = code_of(project, "money.py::tax", CODE.partition("def tax")[0])
    assert (code.state, code.now, code.line) == ("gone", None, 0)
    assert code.then == "def tax(price):\n    return price * 1.2"


def test_code_that_was_committed_after_it_was_linked_is_found(project: Path, git: Git) -> None:
    new = CODE.replace("1.2", "1.25")
    (project / "money.py").write_text(new)
    with Workspace.open(project) as workspace:
        made = workspace.memory.remember("About money", files=("money.py::tax",)).observation
        git(project, "commit", "-q", "-a", "-m", "Raise the tax")
        (project / "money.py").write_text(CODE.replace("1.2", "1.3"))
        code = LinkedCodes(workspace.root).of(made, made.links)[0]
    assert code.then == "def tax(price):\n    return price * 1.25"
    assert code.revision != made.revision


def test_without_a_repository_it_is_not_known_what_code_was(tmp_path: Path) -> None:
    (tmp_path / "money.py").write_text(CODE)
    code = code_of(tmp_path, "money.py", CODE.replace("1.2", "1.25"))
    assert (code.state, code.then, code.diff) == ("changed", None, "")
    assert code.now is not None
    assert "1.25" in code.now
