"""Hides how git keeps what is not checked out: which commit a name means, the files of a commit, their content."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from cairn.errors import PathError, RevisionError
from cairn.source.git import environment_for, run_git

_TIMEOUT_S = 300.0
_SHA1_BYTES = 20
SYMLINK, SUBMODULE = "120000", "160000"
_SHORTER = re.compile(r"^refs/(?:heads/|remotes/|tags/)?")
# A regular file that is neither in conflict nor marked as one to leave alone (`H` instead of `h` or `S`).
_CLEAN_LINE = re.compile(rb"H 100(?:644|755) ([0-9a-f]+) 0\t(.*)", re.DOTALL)
_TREE_LINE = re.compile(rb"([0-7]{6}) \w+ ([0-9a-f]+) +(-|\d+)\t(.*)", re.DOTALL)


class Revision(NamedTuple):
    """A commit by the name it was asked for.

    `reference` is the full name of the branch or tag, empty for what is none, such as a hash or `HEAD~3`. `label` is
    what a reader is shown: the short name of the reference, else the first digits of the hash.
    """

    label: str
    reference: str
    commit: str


class TreeEntry(NamedTuple):
    """One file of a commit, or what stands in its place; `size` is 0 for a submodule."""

    path: str
    mode: str
    object_id: bytes
    size: int


def resolve_revision(folder: Path, name: str) -> Revision:
    """Return the commit that a branch, tag or revision names.

    Args:
        folder: any folder of a checkout.
        name: as git takes it: `feature`, `origin/feature`, `v2.1`, `HEAD~3`, a hash.

    Raises:
        RevisionError: if there is no such commit here.
    """
    if not name or name.startswith("-") or "\0" in name:
        raise RevisionError(f"{name!r} names no branch or revision", "list them: git branch --all")
    for candidate in (f"refs/heads/{name}", name):  # a branch, even where a tag has the same name
        arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options"]
        found = run_git(folder, [*arguments, f"{candidate}^{{commit}}"])
        if found.returncode:
            continue
        commit = os.fsdecode(found.stdout).split()[-1]
        full = run_git(folder, [*arguments[:1], "--symbolic-full-name", *arguments[1:], candidate])
        reference = os.fsdecode(full.stdout).strip().split("\n")[-1]
        if not reference.startswith("refs/"):
            return Revision(commit[:12], "", commit)
        return Revision(_SHORTER.sub("", reference), reference, commit)
    remote = _only_remote_branch(folder, name)
    hint = f"name it with its remote: {remote}" if remote else "list them: git branch --all; get more: git fetch"
    raise RevisionError(f"git knows no branch or revision {name}", hint)


def missing_commits(folder: Path, names: Sequence[str]) -> set[str]:
    """Return those of some full references and hashes that name no commit any more; none if git cannot tell."""
    if not names:
        return set()
    asked = "".join(f"{name}^{{commit}}\n" for name in names)
    done = run_git(folder, ["cat-file", "--batch-check"], given=asked.encode())
    told = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode or len(told) != len(names):
        return set()
    return {name for name, line in zip(names, told, strict=True) if line.endswith(" missing")}


def _only_remote_branch(folder: Path, name: str) -> str:
    """Return the branch of a remote that has this name, empty when there is none or more than one."""
    done = run_git(folder, ["for-each-ref", "--format=%(refname:short)", f"refs/remotes/*/{name}"])
    names = os.fsdecode(done.stdout).split()
    return names[0] if len(names) == 1 else ""


def list_tree(folder: Path, commit: str) -> list[TreeEntry]:
    """Return the files of a commit that lie below a folder of the checkout, by path relative to it.

    Raises:
        PathError: if git cannot read the commit.
    """
    done = run_git(folder, ["ls-tree", "-r", "-l", "-z", commit], _TIMEOUT_S)
    if done.returncode:
        message = os.fsdecode(done.stderr).strip().split("\n", 1)[0]
        raise PathError(f"git cannot read commit {commit[:12]}: {message}", "see: git fsck")
    entries = []
    for line in done.stdout.split(b"\0"):
        if match := _TREE_LINE.fullmatch(line):
            size = 0 if match[3] == b"-" else int(match[3])
            entries.append(TreeEntry(os.fsdecode(match[4]), match[1].decode(), bytes.fromhex(match[2].decode()), size))
    return entries


def clean_objects(folder: Path) -> dict[str, bytes]:
    """Return {path: object id} of the files below a folder that are as git's index has them.

    Paths are relative to the folder. git compares size, times and inode with what it noted at checkout, and reads a
    file where these cannot vouch for it. Files that it was told to take for unchanged are left out. An error of git
    gives none: the files are then read.
    """
    listed = run_git(folder, ["ls-files", "-z", "--stage", "-v"], _TIMEOUT_S)
    modified = run_git(folder, ["ls-files", "-z", "--modified"], _TIMEOUT_S)
    if listed.returncode or modified.returncode:
        return {}
    dirty = set(modified.stdout.split(b"\0"))
    clean = {}
    for line in listed.stdout.split(b"\0"):
        if (match := _CLEAN_LINE.fullmatch(line)) and match[2] not in dirty:
            clean[os.fsdecode(match[2])] = bytes.fromhex(match[1].decode())
    return clean


def is_content_of(object_id: bytes, data: bytes) -> bool:
    """Tell whether an object holds exactly these bytes, by the hash that is its id."""
    new = hashlib.sha1 if len(object_id) == _SHA1_BYTES else hashlib.sha256
    return new(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest() == object_id


class ObjectReader:
    """Reads objects of one repository, through one process of git that stays for all of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, object_id: bytes) -> bytes:
        """Return the content of an object, as git stores it: no filter or conversion of line ends is applied.

        Raises:
            FileNotFoundError: if the object is not in this repository.
            OSError: if git ended unexpectedly.
        """
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # what follows tells of a process that died
            process.stdin.write(object_id.hex().encode() + b"\n")
            process.stdin.flush()
        header = process.stdout.readline().split()
        if header[1:] == [b"missing"]:
            raise FileNotFoundError(f"object {object_id.hex()} is not in this repository")
        size = int(header[2]) if len(header) == 3 else 0
        data = process.stdout.read(size + 1)
        if len(data) != size + 1:
            self.close()
            raise OSError("git cat-file ended unexpectedly")
        return data[:-1]

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            ["git", "cat-file", "--batch"],
            cwd=self._folder,
            env=environment_for(None),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self._process

    def close(self) -> None:
        """End the process; reading starts another one."""
        if (process := self._process) is not None:
            self._process = None
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()
