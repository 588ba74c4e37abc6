"""On which file system a folder is. Known on Linux only."""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.s3fs", "fuse.rclone")
_OCTAL = re.compile(r"\\([0-7]{3})")  # how a table of mounts writes a space


def is_remote(folder: Path, mounts: Path = MOUNTS) -> bool:
    """Tell whether a folder is on a network file system, where the system does not report changes."""
    return is_network(kind_of(folder, mounts))


def is_network(kind: str) -> bool:
    """Tell whether a kind of file system is one for networks."""
    return kind.startswith(_NETWORK)


def kind_of(folder: Path, mounts: Path) -> str:
    """Return the kind of file system that a folder is on, empty where it is not known."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        target = f"{os.path.realpath(folder)}/"
    except OSError:
        return ""
    best, kind = "", ""
    for line in lines:
        fields, _, rest = line.partition(" - ")
        columns = fields.split(" ")
        point = _OCTAL.sub(lambda found: chr(int(found[1], 8)), columns[4]) if len(columns) > 4 else ""
        if point and target.startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return kind
