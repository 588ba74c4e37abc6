"""Packs of the contents of files: what was packed is written again, and a damaged pack is refused as such."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="needs the extra `team`")

from cairn.errors import ObjectDamagedError
from cairn.team.texts import Tree, content_hash, write_files, write_pack

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


def test_files_are_what_they_were_and_are_told_as_they_are_on_disk(tmp_path: Path) -> None:
    tree, pack = packed(tmp_path, CONTENTS)
    root = tmp_path / "root"
    root.mkdir()

    stats = {stat.path: stat for stat in write_files(tree, root, lambda _: pack)}

    assert stats.keys() == CONTENTS.keys()
    for path, data in CONTENTS.items():
        status = (root / path).stat()
        assert (root / path).read_bytes() == data
        assert stats[path][1:] == (len(data), status.st_mtime_ns, status.st_ctime_ns)


def test_of_a_pack_only_what_a_tree_names_is_written(tmp_path: Path) -> None:
    tree, pack = packed(tmp_path, CONTENTS)
    root = tmp_path / "root"
    root.mkdir()

    stats = list(write_files(tree._replace(files={"b.py": tree.files["a.py"]}), root, lambda _: pack))

    assert [stat.path for stat in stats] == ["b.py"]
    assert os.listdir(root) == ["b.py"]


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
        root = tmp_path / f"root-{number}"
        root.mkdir()
        try:
            stats = list(write_files(tree, root, lambda _: pack))
        except ObjectDamagedError:
            n_refused += 1
        else:  # a time, or what no reader looks at
            assert {stat.path: (root / stat.path).read_bytes() for stat in stats} == contents

    assert n_refused >= end + 0.7 * end


def test_a_pack_without_what_a_tree_names_is_refused(tmp_path: Path) -> None:
    tree, pack = packed(tmp_path, CONTENTS)
    lacking = content_hash(b"not there")
    tree.packs[lacking] = "p"
    tree.files["c.py"] = lacking
    (tmp_path / "root").mkdir()

    with pytest.raises(ObjectDamagedError, match="lacks what it should hold"):
        list(write_files(tree, tmp_path / "root", lambda _: pack))
