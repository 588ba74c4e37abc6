from __future__ import annotations

from pathlib import Path

import pytest

from cairn.index.mounts import is_remote, kind_of

LINE = "36 35 98:0 / {} rw,noatime - {} /dev/x rw\n"


def table(folder: Path, *mounts: tuple[str, str]) -> Path:
    file = folder / "mountinfo"
    file.write_text("".join(LINE.format(point.replace(" ", "\\040"), kind) for point, kind in mounts))
    return file


def test_the_innermost_and_last_mount_around_a_folder_counts(tmp_path: Path) -> None:
    at = str(tmp_path)
    mounts = table(tmp_path, ("/", "ext4"), (f"{at}/a b", "nfs4"), (f"{at}/a b", "xfs"), (f"{at}/a", "btrfs"))
    assert kind_of(tmp_path / "a b" / "c", mounts) == "xfs"
    assert kind_of(tmp_path / "other", mounts) == "ext4"
    assert kind_of(tmp_path, tmp_path / "missing") == ""


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "virtiofs", "vboxsf", "9p", "fuse.sshfs"])
def test_who_shares_a_folder_changes_it_unseen_also_below_the_project(kind: str, tmp_path: Path) -> None:
    shared = tmp_path / "project" / "shared"
    mounts = table(tmp_path, ("/", "ext4"), (str(shared), kind))
    assert is_remote(shared, mounts)
    assert is_remote(shared / "inner", mounts)
    assert is_remote(shared.parent, mounts)
    assert not is_remote(tmp_path / "other", mounts)
    assert not is_remote(tmp_path / "other", tmp_path / "missing")
