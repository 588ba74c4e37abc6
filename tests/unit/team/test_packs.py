"""Packs of the contents of files: what was packed is read and written again, and a damaged pack is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="needs the extra `team`")

from cairn.errors import ObjectDamagedError
from cairn.team.generation import PlantedView
from cairn.team.texts import PackedFiles, Tree, content_hash, write_pack

CONTENTS = {
    "a.py": b"def total(): ...\n" * 50,
    "again/same.py": b"def total(): ...\n" * 50,
    "deep/er/empty": b"",
    "noise.bin": bytes(range(256)) * 3 + os.urandom(2_000),
    "sch\u00f6n.txt": "\u00e4\n".encode() * 10_000,
}


def packed(folder: Path, contents: dict[str, bytes]) -> tuple[Tree, Path]:
    """Return the tree of some files, and their only pack."""
    by_name = {content_hash(data): data for data in contents.values()}
    write_pack(folder / "pack", sorted(by_name.items()))
    return Tree(
        {path: content_hash(data) for path, data in contents.items()}, dict.fromkeys(by_name, "p")
    ), folder / "pack"


def written(tree: Tree, pack: Path, root: Path) -> dict[str, bytes]:
    """Write the files of a tree, and return what is there then."""
    root.mkdir()
    PackedFiles(tree, lambda _: pack).write(root, 1_000)
    return {f"{file.relative_to(root)}": file.read_bytes() for file in root.rglob("*") if file.is_file()}


def test_files_are_what_they_were_and_are_told_as_they_are_on_disk(tmp_path: Path) -> None:
    tree, pack = packed(tmp_path, CONTENTS)
    files = PackedFiles(tree, lambda _: pack)

    assert written(tree, pack, tmp_path / "root") == CONTENTS
    assert {path: files.read(path) for path in CONTENTS} == CONTENTS
    assert dict(files.sizes()) == {path: len(data) for path, data in CONTENTS.items()}
    assert {(tmp_path / "root" / path).stat().st_mtime_ns for path in CONTENTS} == {1_000}
    with pytest.raises(FileNotFoundError):
        files.read("deep/er")


def test_of_a_pack_only_what_a_tree_names_is_written(tmp_path: Path) -> None:
    tree, pack = packed(tmp_path, CONTENTS)
    one = tree._replace(files={"b.py": tree.files["a.py"]})
    assert written(one, pack, tmp_path / "root") == {"b.py": CONTENTS["a.py"]}


@pytest.mark.parametrize("path", ["../a.py", "/a.py", "a//b.py", ""])
def test_a_path_that_leads_out_of_the_project_is_refused(path: str, tmp_path: Path) -> None:
    tree, pack = packed(tmp_path, CONTENTS)
    with pytest.raises(ObjectDamagedError, match="is not a path below a project"):
        PackedFiles(tree._replace(files={path: tree.files["a.py"]}), lambda _: pack)


def test_a_pack_that_is_cut_or_altered_anywhere_shows_nothing_else(tmp_path: Path) -> None:
    contents = {"a.py": b"def total(): ...\n" * 3, "empty": b"", "b.py": b"x = 1\n"}
    tree, pack = packed(tmp_path, contents)
    whole = pack.read_bytes()
    end = whole.index(b"PK\1\2")  # from where on it says again what is in it
    changed = [whole[:length] for length in range(end)]
    changed += [whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :] for place in range(end)]
    n_refused = 0
    for number, content in enumerate(changed):
        pack.write_bytes(content)
        try:
            found = written(tree, pack, tmp_path / f"root-{number}")
        except ObjectDamagedError:
            n_refused += 1
        else:  # a time, or what no reader looks at
            assert found == contents

    assert n_refused >= end + 0.7 * end


def test_a_pack_without_what_a_tree_names_is_refused(tmp_path: Path) -> None:
    tree, pack = packed(tmp_path, CONTENTS)
    lacking = content_hash(b"not there")
    tree.packs[lacking] = "p"
    tree.files["c.py"] = lacking

    with pytest.raises(ObjectDamagedError, match="lacks what it should hold"):
        PackedFiles(tree, lambda _: pack)


def test_files_that_cannot_be_written_are_read_from_packs(tmp_path: Path) -> None:
    tree, pack = packed(tmp_path, CONTENTS)
    (tmp_path / "file").write_text("")
    view = PlantedView(tmp_path / "file" / "root", PackedFiles(tree, lambda _: pack))

    for _ in range(3):
        assert {path: view.read(path) for path in CONTENTS} == CONTENTS
    with pytest.raises(NotADirectoryError):
        view.ensure_on_disk()
