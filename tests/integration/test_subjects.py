"""Projects that are about what elsewhere says in which files to look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files


@pytest.fixture
def mocks(tmp_path: Path) -> Iterator[Workspace]:
    """A library that makes mocks, with tests of its own."""
    files = {
        "src/mocks.py": "class Mock:\n    def answer(self, call):\n        return self.stubs[call.name]\n",
        "src/stubs.py": "class Stub:\n    def matches(self, call):\n        return self.arguments == call.arguments\n",
        "src/calls.py": "def record_call(mock, call):\n    mock.calls.append(call)\n",
        "src/verify.py": "def verify_mock(mock, call):\n    assert call in mock.calls\n",
        "src/spies.py": "def spy_on(target):\n    return Mock(wraps=target)\n",
        "tests/test_calls.py": "def test_calls_on_mocks_are_recorded(mock):\n    mock.run()\n    assert mock.calls\n",
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("how are calls on mocks recorded", "src/calls.py"),
        ("tests for calls on mocks", "tests/test_calls.py"),
    ],
)
def test_a_library_for_mocks_is_not_asked_for_its_tests_by_the_word(mocks: Workspace, query: str, path: str) -> None:
    assert mocks.search(query).code[0].path == path
