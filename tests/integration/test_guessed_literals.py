"""A text that looks like code is looked for as it stands, in those files that can hold it by what the index knows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.index.views import CheckoutView
from cairn.search.query import understand
from cairn.workspace import Workspace
from small_projects import write_files

SOURCE = Path(__file__).parents[2] / "src" / "cairn" / "search"
LONG = " ".join(f"word{number:x}" for number in range(4_000))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Some of this project's own files, and texts that the index does not have all words of."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(SOURCE, root / "search", ignore=shutil.ignore_patterns("__pycache__", "*.json"))
    write_files(
        root,
        {
            "text.txt": f"{LONG} call(alpha, beta, gamma); {LONG}\n",
            "text.md": f"# Head\n\n{LONG} call(alpha, beta, gamma); {LONG}\n\nend\n",
            "text.py": f"def text():\n    x = '{LONG} call(alpha, beta, gamma);'\n    return x\n",
            "names.py": f"def {'long' * 20}(alpha, ___, größe):\n    return größe({'long' * 20}, ___)\n",
        },
    )
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def code_lines() -> list[str]:
    lines = [line.strip() for file in sorted(SOURCE.glob("*.py")) for line in file.read_text().splitlines()]
    return [line for line in lines if "(" in line and len(line) > 8 and len(line.split()) <= 8 and line[0] not in "\"'"]


def test_a_guessed_text_is_found_on_the_same_lines_as_one_that_is_asked_for(project: Workspace) -> None:
    guessed = [line for line in code_lines()[::25] if understand(line).mode == "literal"]
    assert len(guessed) > 30
    for line in guessed:
        found, wanted = project.search(line, limit=0), project.search(line, mode="literal", limit=0)
        assert [(hit.path, hit.start_line) for hit in found.code] == [
            (hit.path, hit.start_line) for hit in wanted.code
        ], line


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("call(alpha, beta, gamma);", {"text.txt", "text.md", "text.py"}),
        (f"{'long' * 20}(alpha, ___, größe):", {"names.py"}),
        ("größe(" + "long" * 20 + ", ___)", {"names.py"}),
        ("ng(alpha, ___, ", {"names.py"}),
    ],
)
def test_what_the_index_lacks_is_found_as_well(project: Workspace, text: str, files: set[str]) -> None:
    answer = project.search(text)
    assert ({hit.path for hit in answer.code} if answer.mode == "literal" else set[str]()) == files


def test_a_sentence_with_a_call_in_it_reads_few_files(project: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    view = CheckoutView
    before = view.read

    def note_and_read(self: CheckoutView, path: str) -> bytes:
        read.append(path)
        return before(self, path)

    monkeypatch.setattr(view, "read", note_and_read)
    answer = project.search("fix(search): rank understand() before the reader")
    assert answer.mode == "hybrid"
    assert "exactly; these are related." in answer.notes[0]
    scanned = set(read) - {hit.path for hit in answer.code}
    assert 0 < len(scanned) < len(list(SOURCE.glob("*.py"))) / 3


def test_a_text_of_several_lines_is_found_where_a_chunk_ends_between_them(project: Workspace) -> None:
    n_guessed = 0
    for file in sorted(SOURCE.glob("*.py"))[:12]:
        lines = file.read_text().splitlines()
        for number in [number for number, line in enumerate(lines) if line.startswith("def ") and number > 3][:4]:
            text = "\n".join(lines[number - 3 : number + 1])
            if understand(text).mode == "literal":
                n_guessed += 1
                assert [hit.path for hit in project.search(text).code] == [f"search/{file.name}"]
    assert n_guessed > 2
