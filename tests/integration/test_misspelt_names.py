"""A name that nothing has is answered with what is like it, once, and an answer is never empty without a word."""

from __future__ import annotations

from pathlib import Path

from cairn.workspace import Workspace
from small_projects import write_files

KEYS = '{\n  "error.different_password": "Passwords differ.",\n  "error.different_passwordz": "Passwords differ."\n}\n'


def test_keys_that_are_like_each_other_are_not_looked_up_over_and_over(tmp_path: Path) -> None:
    write_files(tmp_path, {"texts/en.json": KEYS, "shop/form.py": "def check(form):\n    return form\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        answer = workspace.search("error.different_passwords")
    assert answer.code[0].path == "texts/en.json"
    assert answer.code[0].confidence != "high"


def test_a_misspelt_name_of_a_module_is_told_as_one_of_a_definition_is(tmp_path: Path) -> None:
    write_files(tmp_path, {"reader/sanitizer.go": "package reader\n\nfunc Clean(text string) string { return text }\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert any("like it are sanitizer" in str(note) for note in workspace.search("sanatizer").notes)
