"""A dotted key leads to the English text, however many languages translate it and however large the file is."""

from __future__ import annotations

from pathlib import Path

from cairn.workspace import Workspace
from small_projects import write_files

TEXTS = "{}:\n{}  errors:\n    messages:\n      blank: {}\n"
CODES = ("aln", "am", "ar", "arz", "ast", "ba", "be-Tarask", "bg", "ce", "cs", "da", "de")


def test_a_key_is_found_in_the_english_file_among_many_languages(tmp_path: Path) -> None:
    texts = {f"config/locales/{code}.yml": TEXTS.format(code, "", code) for code in (*CODES, "en")}
    write_files(tmp_path, {**texts, "app/models/user.rb": "class User\n  validates :name\nend\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search("errors.messages.blank").code[0].path == "config/locales/en.yml"


def test_a_key_is_found_far_down_in_a_large_file(tmp_path: Path) -> None:
    many = "".join(f"  place_{number}:\n    name: The place with the number {number}\n" for number in range(9_000))
    write_files(tmp_path, {"config/locales/server.en.yml": TEXTS.format("en", many, "is empty")})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        first = workspace.search("errors.messages.blank").code[0]
        assert first.path == "config/locales/server.en.yml"
        assert "is empty" in first.preview
