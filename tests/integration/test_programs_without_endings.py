"""Programs without an ending, such as `git-effort`, and other files that are called by several words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "bin/shop-report": "#!/usr/bin/env bash\n# Prints what was sold.\nset -e\ncat sold.txt\n",
    "bin/shop-restock": "#!/usr/bin/env bash\nset -e\nshop-report | sort\n",
    "Makefile": "install:\n\tcp bin/shop-report bin/shop-restock /usr/bin\n",
    "History.md": "# 1.0\n\n* shop-report prints what was sold\n* shop-report is faster\n",
    "web/user-card.vue": "<template><p>{{ name }}</p></template>\n",
    "web/page.js": "import UserCard from './user-card.vue'\n\nsend({ 'content-type': 'text/plain' })\n",
    "docs/content-type.md": "# Types\n\nWhat is sent has one.\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("programs")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def first(workspace: Workspace, text: str) -> str:
    return workspace.search(text).code[0].path


@pytest.mark.parametrize("text", ["shop-report", "where is shop-report", "where is shop-report defined"])
def test_the_name_of_a_program_is_the_file_that_is_called_so(workspace: Workspace, text: str) -> None:
    assert first(workspace, text) == "bin/shop-report"


def test_a_misspelt_program_is_said_not_to_be_there(workspace: Workspace) -> None:
    answer = workspace.search("shop-reprot")
    assert answer.code[0].path == "bin/shop-report"
    assert answer.code[0].confidence != "high"
    assert "No file shop-reprot is indexed" in str(answer.notes[0])


def test_a_word_with_a_hyphen_is_the_code_that_is_called_so(workspace: Workspace) -> None:
    assert first(workspace, "user-card") == "web/user-card.vue"


def test_a_word_with_a_hyphen_is_what_code_says_before_what_a_document_is_about(workspace: Workspace) -> None:
    assert first(workspace, "content-type") == "web/page.js"


def test_a_word_with_a_colon_is_no_misspelt_program(workspace: Workspace) -> None:
    assert not any("No file" in str(note) for note in workspace.search("shop:shop-reprot").notes)
