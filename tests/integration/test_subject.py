from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

NAMES = ("collect", "select", "report", "order", "repeat", "schedule")


def write_framework(root: Path, word: str, package: str) -> None:
    """Write six modules about a word, and a test and a page for each, which say the same and more."""
    for name in NAMES:
        text = f'"""{name.title()} {word}s in a session."""\n\n\ndef {name}_{word}(items):\n    return list(items)\n'
        files = {
            f"{package}/{name}.py": text,
            f"tests/test_{name}.py": f"from {package}.{name} import {name}_{word}\n\n\ndef test_{name}_{word}s():\n"
            f'    """{name.title()} all {word}s of a session."""\n    assert {name}_{word}([]) == []\n',
            f"docs/{name}.md": f"# {name.title()} {word}s\n\n{name.title()} the {word}s of a session like this.\n",
        }
        for path, content in files.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(content)


@pytest.fixture
def framework(tmp_path: Path) -> Iterator[Workspace]:
    write_framework(tmp_path, "test", "trial")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize("name", NAMES)
def test_in_a_test_framework_a_question_about_tests_is_about_its_code(name: str, framework: Workspace) -> None:
    assert framework.search(f"where does a session {name} tests").code[0].path == f"trial/{name}.py"


def test_a_test_framework_may_lack_tests_of_its_own(tmp_path: Path) -> None:
    write_framework(tmp_path, "test", "trial")
    rmtree(tmp_path / "tests")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search("where does a session collect tests").code[0].path == "trial/collect.py"


def test_the_tests_of_a_test_framework_are_found_when_they_are_asked_for(framework: Workspace) -> None:
    assert framework.search("tests for the schedule of a session").code[0].path == "tests/test_schedule.py"


def test_in_any_other_project_a_question_about_tests_is_about_tests(tmp_path: Path) -> None:
    write_framework(tmp_path, "order", "shop")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search("how are the tests of collect orders written").code[0].path.startswith("tests/")


def test_in_a_documentation_tool_a_question_about_documents_is_about_its_code(tmp_path: Path) -> None:
    write_framework(tmp_path, "document", "pages")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert (
            workspace.search("collect the documents of the documentation in a session")
            .code[0]
            .path.startswith("pages/")
        )


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("how are calls on mocks recorded", "src/calls.py"),
        ("tests for calls on mocks", "tests/test_calls.py"),
    ],
)
def test_a_library_for_mocks_is_not_asked_for_its_tests_by_the_word(tmp_path: Path, query: str, path: str) -> None:
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
        assert workspace.search(query).code[0].path == path
