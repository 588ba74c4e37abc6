"""Files that are not UTF-8 are found by their words, shown readably, and keep their lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.types import Mode
from cairn.workspace import Workspace
from conftest import Git
from small_projects import write_files

LATIN = '"""Größe der Schaltfläche."""\n\n\ndef größe_ändern(faktor):\n    """Übergröße."""\n    return faktor\n'
WINDOWS = "// Prix en €, le “café”\nfunction calculerPrix() {\n  return 'élève';\n}\n"


@pytest.fixture
def project(checkout: Path, git: Git) -> Iterator[Workspace]:
    """A repository with files in Latin-1, Windows-1252 and GBK, and one in UTF-8 that is damaged."""
    (checkout / "buttons.py").write_bytes(LATIN.encode("latin-1"))
    (checkout / "prix.js").write_bytes(WINDOWS.encode("cp1252"))
    (checkout / "chinese.py").write_bytes("# 这是一个注释\nwidth = 1\n".encode("gbk"))
    (checkout / "damaged.py").write_bytes("# Ungewöhnlich \ndef schön():\n    pass  # \xff\n".encode()[:-3] + b"\xff\n")
    git(checkout, "add", "--all")
    git(checkout, "commit", "-q", "-m", "Change the size of buttons")
    with Workspace.open(checkout) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("query", "mode", "place"),
    [
        ("Übergröße", "hybrid", "buttons.py:4"),
        ("größe_ändern", "symbol", "buttons.py:4"),
        ("Schaltfläche", "literal", "buttons.py:1"),
        ("Übergr.*e", "regex", "buttons.py:5"),
        ("élève", "hybrid", "prix.js:2"),
        ("€, le “café”", "literal", "prix.js:1"),
        ("schön", "symbol", "damaged.py:2"),
    ],
)
def test_words_with_accents_are_found_in_files_of_western_encodings(
    project: Workspace, query: str, mode: Mode, place: str
) -> None:
    first = project.search(query, mode=mode).code[0]
    assert f"{first.path}:{first.start_line}" == place


def test_text_of_western_encodings_is_shown_readably(project: Workspace) -> None:
    hit = project.search("größe_ändern").code[0]
    assert (hit.name, hit.signature) == ("größe_ändern", "def größe_ändern(faktor)")
    assert project.fetch([hit.id])[0].text == LATIN.rstrip("\n")
    assert [one.subject for one in project.history.why("buttons.py:4").commits] == ["Change the size of buttons"]


def test_what_is_of_no_western_encoding_is_not_read_as_if_it_were(project: Workspace) -> None:
    hit = project.search("width", mode="symbol").code[0]
    assert (hit.path, hit.start_line) == ("chinese.py", 2)
    assert "Õ" not in project.fetch(["chinese.py:1"])[0].text


def test_the_mark_of_byte_order_of_a_file_is_never_shown(tmp_path: Path) -> None:
    marked = "\ufeffimport json\n\n\ndef load_marked(text):\n    return json.loads(text)\n"
    files = {
        "marked.py": marked,
        "use.py": "\ufefffrom marked import load_marked\n\n\ndef run():\n    load_marked('1')\n",
    }
    write_files(tmp_path, {**files, "settings.cfg": "\ufeff[marks]\nshown = no\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        (line,) = workspace.search('"import json"').code
        assert line.preview == "import json"
        shown = [
            *(hit.preview for hit in workspace.search("load_marked", context=5).code),
            *(fetched.text for fetched in workspace.fetch([line.id, "marked.py:1"])),
            workspace.code.outline("settings.cfg").text,
            *(row.text for row in workspace.graph.references("load_marked").references),
        ]
    assert shown
    assert not [text for text in shown if "\ufeff" in text]
