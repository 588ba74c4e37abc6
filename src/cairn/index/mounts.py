"""Tells which file system a folder is on, where the system is Linux."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.s3fs", "fuse.rclone")
# File systems that share folders of the host with a guest.
_OF_HOST = ("virtiofs", "vboxsf", "prl_fs", "drvfs", "fakeowner", "fuse.vmhgfs", "fuse.grpcfuse", "fuse.osxfs")
_OCTAL = re.compile(r"\\([0-7]{3})")  # a space in a mount table


def is_remote(folder: Path, mounts: Path = MOUNTS) -> bool:
    """Tell whether a folder, or a mount inside it, can change without this system noticing, as over a network."""
    try:
        table = list(_read(mounts))
        inside = f"{os.path.realpath(folder)}/"
    except OSError:
        return False
    kinds = [kind for point, kind in table if point.startswith(inside)]
    return any(kind.startswith((*_NETWORK, *_OF_HOST)) for kind in (*kinds, kind_of(folder, mounts)))


def is_network(kind: str) -> bool:
    """Tell whether a kind of file system is a network one."""
    return kind.startswith(_NETWORK)


def kind_of(folder: Path, mounts: Path) -> str:
    """Return the kind of file system that a folder is on, empty if unknown."""
    try:
        target = f"{os.path.realpath(folder)}/"
        around = [(point, kind) for point, kind in _read(mounts) if target.startswith(point.rstrip("/") + "/")]
    except OSError:
        return ""
    best = max((len(point) for point, _ in around), default=0)
    return next((kind for point, kind in reversed(around) if len(point) == best), "")


def _read(mounts: Path) -> Iterator[tuple[str, str]]:
    """Yield where each file system is mounted, and its kind; see proc_pid_mountinfo(5)."""
    for line in mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        fields, _, rest = line.partition(" - ")
        columns = fields.split(" ")
        if len(columns) > 4 and (point := _OCTAL.sub(lambda found: chr(int(found[1], 8)), columns[4])):
            yield point, rest.split(" ")[0]
