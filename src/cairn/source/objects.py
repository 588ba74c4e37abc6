"""Hides how git keeps what is not checked out: which commit a name means, the files of a commit, their content."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import select
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from cairn.errors import DiffError, PathError, RevisionError
from cairn.hints import Hint
from cairn.source.git import Repository, first_complaint, is_below
from cairn.source.plumbing import MAX_BYTES, end_git, run_git, start_git
from cairn.types import FileStat

_TIMEOUT_S = 120.0
_SHA1_BYTES = 20
SYMLINK, SUBMODULE = "120000", "160000"
_SHORTER = re.compile(r"^refs/(?:heads/|remotes/|tags/)?")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FULL_NAME = re.compile(r"refs/[^\0-\x20\x7f~^:?*\[\\]+|[0-9a-f]{40}(?:[0-9a-f]{24})?")
# One file of the index, with what git noted about it when it last saw it unchanged.
_INDEX_ENTRY = re.compile(
    rb"(?P<tag>\S) (?P<mode>[0-7]{6}) (?P<id>[0-9a-f]+) (?P<stage>\d)\t(?P<path>[^\0]*)\0"
    rb"  ctime: (?P<ctime>\d+:\d+)\n  mtime: (?P<mtime>\d+:\d+)\n  dev: \d+\tino: \d+\n  uid: \d+\tgid: \d+\n"
    rb"  size: (?P<size>\d+)\tflags: [0-9a-f]+\n"
)
# git keeps the lower half of seconds and sizes.
_HALF = 1 << 32
# A file written so shortly before the index may have changed again without a change of its time; where a file system
# keeps seconds only, twice the longest step.
_RACY_NS, _RACY_COARSE_NS = 20_000_000, 4_000_000_000
_REGULAR_MODES = (b"100644", b"100755")
_TREE_LINE = re.compile(rb"([0-7]{6}) \w+ ([0-9a-f]+) +(-|\d+|BAD)\t(.*)", re.DOTALL)
_READ_S = 10.0
# After so many objects that git could not read in time, it is asked for no other.
_MAX_STALLS = 3
_MAX_NAME_BYTES = 4_096
_MAX_OBJECT_BYTES = 100_000_000
NOT_FETCHED = -1


class Revision(NamedTuple):
    """A commit by the name it was asked for.

    `reference` is the full name of the branch or tag, empty for what is none, such as a hash or `HEAD~3`. `label` is
    what a reader is shown: the short name of the reference, else the first digits of the hash.
    """

    label: str
    reference: str
    commit: str


class TreeEntry(NamedTuple):
    """One file of a commit, or what stands in its place.

    `size` is 0 for a submodule, and `NOT_FETCHED` for a file whose content this clone never got.
    """

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
    if not _may_be_asked(name):
        raise RevisionError(f"{name[:100]!r} names no branch or revision", "list them: git branch --all")
    for candidate in (f"refs/heads/{name}", name):  # a branch, even where a tag has the same name
        arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options"]
        found = run_git(folder, [*arguments, f"{candidate}^{{commit}}"])
        if found.returncode:
            continue
        commit = os.fsdecode(found.stdout).split()[-1]
        if not _HASH.fullmatch(commit):  # such as a negation
            break
        full = run_git(folder, [*arguments[:1], "--symbolic-full-name", *arguments[1:], candidate])
        reference = os.fsdecode(full.stdout).strip().split("\n")[-1]
        if not reference.startswith("refs/"):
            return Revision(commit[:12], "", commit)
        return Revision(_SHORTER.sub("", reference), reference, commit)
    remote = _only_remote_branch(folder, name)
    hint = f"name it with its remote: {remote}" if remote else "list them: git branch --all; get more: git fetch"
    raise RevisionError(f"git knows no branch or revision {name}", hint)


def _may_be_asked(name: str) -> bool:
    """Tell whether git may be given a name of a revision: it must be no option, and fit on a command line."""
    try:
        return 0 < len(os.fsencode(name)) <= _MAX_NAME_BYTES and not name.startswith("-") and "\0" not in name
    except UnicodeEncodeError:  # half a character
        return False


def missing_commits(folder: Path, names: Sequence[str]) -> set[str]:
    """Return those of some full references and hashes that name no commit any more; none if git cannot tell.

    What is neither, such as a search through the history, names none.
    """
    asked = [name for name in names if _FULL_NAME.fullmatch(name)]
    missing = set(names).difference(asked)
    if not asked:
        return missing
    lines = "".join(f"{name}^{{commit}}\n" for name in asked).encode("utf-8", "replace")
    done = run_git(folder, ["cat-file", "--batch-check"], given=lines)
    told = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode or len(told) != len(asked):
        return set()
    return missing.union(name for name, line in zip(asked, told, strict=True) if line.endswith(" missing"))


def _only_remote_branch(folder: Path, name: str) -> str:
    """Return the branch of a remote that has this name, empty when there is none or more than one."""
    done = run_git(folder, ["for-each-ref", "--format=%(refname:short)", f"refs/remotes/*/{name}"])
    names = os.fsdecode(done.stdout).split()
    return names[0] if len(names) == 1 else ""


def resolve_tree(folder: Path, revision: str) -> str:
    """Return the hash of the tree of a commit.

    Raises:
        DiffError: if git does not know the revision, or nothing is committed yet.
    """
    if not _may_be_asked(revision):
        raise DiffError(f"{revision[:100]!r} is no revision", "name one as git does, such as HEAD~1")
    done = run_git(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}"])
    words = os.fsdecode(done.stdout).split()
    if done.returncode or not words or not _HASH.fullmatch(words[-1]):
        raise _no_revision(folder, revision)
    return words[-1]


def _no_revision(folder: Path, revision: str) -> DiffError:
    if not run_git(folder, ["rev-parse", "--verify", "--quiet", "HEAD"]).returncode:
        return DiffError(f"git knows no revision {revision!r}", "see the revisions with: git log")
    branches = ["for-each-ref", "--count=1", "--format=%(refname:short)", "refs/heads", "refs/remotes"]
    if other := os.fsdecode(run_git(folder, branches).stdout).strip():
        return DiffError(
            f"git knows no revision {revision!r}: the branch that is checked out has no commit yet",
            Hint("compare with another", "impact", diff=other),
        )
    return DiffError(
        "nothing is committed yet, so nothing tells what changed", Hint("name a symbol", "impact", symbol=None)
    )


def list_tree(folder: Path, commit: str, max_bytes: int = MAX_BYTES) -> list[TreeEntry]:
    """Return the files of a commit that lie below a folder of the checkout, by path relative to it, each once.

    Paths that lead out of the folder, which only a forged commit can hold, are left out.

    Args:
        folder: the folder.
        commit: a hash, of a commit or of a whole tree.
        max_bytes: how long the list may be.

    Raises:
        PathError: if git cannot read the commit, or it has more files than can be listed.
    """
    done = run_git(folder, ["ls-tree", "-r", "-l", "-z", commit], _TIMEOUT_S, max_bytes=max_bytes)
    if done.returncode:
        raise PathError(f"git cannot read commit {commit[:12]}: {first_complaint(done)}", "see: git fsck")
    entries = {}
    for line in done.stdout.split(b"\0"):
        if match := _TREE_LINE.fullmatch(line):
            path = os.fsdecode(match[4])
            if is_below(path):
                entries[path] = TreeEntry(path, match[1].decode(), bytes.fromhex(match[2].decode()), _size(match[3]))
    return list(entries.values())


def _size(text: bytes) -> int:
    if text == b"BAD":
        return NOT_FETCHED
    return 0 if text == b"-" else int(text)


class Index(NamedTuple):
    """What git's index holds below a folder.

    `clean` is {path: object id} of clean files, `submodules` are their paths, and `left_out` are the files, and with a
    `/` at the end the folders, that a sparse checkout does not have on disk.
    """

    clean: dict[str, bytes]
    submodules: list[str]
    left_out: frozenset[str] = frozenset()


def clean_objects(root: Path, repository: Repository, files: Iterable[FileStat]) -> dict[str, bytes]:
    """Return {path: object id} of those of some files that are as git's index has them; see `read_index`."""
    return read_index(root, repository, files).clean


def read_index(root: Path, repository: Repository, files: Iterable[FileStat]) -> Index:
    """Return which of some files below a folder are as git's index has them, and where submodules are.

    A file is clean if it has the size and the times that git noted when it last compared it. git itself would read a
    file where these cannot vouch for it, and first run what the repository says is to convert it; here it is not clean.
    Nor are files that git was told to take for unchanged. An error of git gives none: the files are then read.

    Args:
        root: the folder.
        repository: the checkout it belongs to.
        files: by paths relative to the folder.
    """
    file = repository.git_dir / "index"
    try:
        written = os.stat(file).st_mtime_ns
        done = run_git(root, ["ls-files", "-z", "--stage", "-v", "--debug"], _TIMEOUT_S)
        changed = os.stat(file).st_mtime_ns != written
    except (OSError, PathError):
        return Index({}, [])
    entries = list(_INDEX_ENTRY.finditer(done.stdout))
    understood = sum(entry.end() - entry.start() for entry in entries) == len(done.stdout)
    if done.returncode or changed or not understood:
        return Index({}, [])
    noted = {os.fsdecode(entry["path"]): entry for entry in entries}
    clean = {}
    for one in files:
        entry = noted.get(one.path)
        if entry is not None and _is_clean(entry, one, written):
            clean[one.path] = bytes.fromhex(entry["id"].decode())
    submodule = SUBMODULE.encode()
    left_out = frozenset(path for path, entry in noted.items() if entry["tag"] in b"Ss")
    return Index(clean, [path for path, entry in noted.items() if entry["mode"] == submodule], left_out)


def _is_clean(entry: re.Match[bytes], file: FileStat, index_written_ns: int) -> bool:
    """Tell whether a file is surely as git saw it: a file in conflict, or one to leave alone (`h`, `S`), is not."""
    if entry["tag"] != b"H" or entry["stage"] != b"0" or entry["mode"] not in _REGULAR_MODES:
        return False
    racy = _RACY_NS if file.mtime_ns % 1_000_000_000 else _RACY_COARSE_NS
    return (
        int(entry["size"]) == file.size % _HALF
        and entry["mtime"] == _noted(file.mtime_ns)
        and entry["ctime"] == _noted(file.ctime_ns)
        and file.mtime_ns + racy < index_written_ns
    )


def _noted(time_ns: int) -> bytes:
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return b"%d:%d" % (seconds % _HALF, rest)


def is_content_of(object_id: bytes, data: bytes) -> bool:
    """Tell whether an object holds exactly these bytes, by the hash that is its id."""
    new = hashlib.sha1 if len(object_id) == _SHA1_BYTES else hashlib.sha256
    return new(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest() == object_id


class ObjectReader:
    """Reads objects of one repository, through one process of git that stays for all of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._stalls = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, object_id: bytes, max_bytes: int = _MAX_OBJECT_BYTES) -> bytes:
        """Return the content of an object, as git stores it: no filter or conversion of line ends is applied.

        Raises:
            FileNotFoundError: if the object is not in this repository, as in a partial clone.
            OSError: EFBIG if it is larger than `max_bytes`; or if git ended unexpectedly, or takes too long.
        """
        if self._stalls >= _MAX_STALLS:
            raise OSError(errno.ETIMEDOUT, "git stalls on objects of this repository")
        try:
            return self._ask(object_id, max_bytes)
        except FileNotFoundError:
            raise
        except TimeoutError:
            self._stalls += 1
            self.close()
            raise
        except OSError:  # what git says next would be taken for the answer to another question
            self.close()
            raise

    def _ask(self, object_id: bytes, max_bytes: int) -> bytes:
        process = self._process or self._start()
        assert process.stdin is not None
        end = time.monotonic() + _READ_S
        with suppress(BrokenPipeError):  # what follows tells of a process that died
            process.stdin.write(object_id.hex().encode() + b"\n")
            process.stdin.flush()
        while b"\n" not in self._unread:
            self._unread += self._receive(process, end)
        line, _, self._unread = self._unread.partition(b"\n")
        header = line.split()
        if header[1:] == [b"missing"]:
            raise FileNotFoundError(errno.ENOENT, f"object {object_id.hex()} is not in this repository")
        if len(header) != 3 or header[1] != b"blob" or not header[2].isdigit():
            raise OSError(f"git cat-file says {os.fsdecode(line[:100])!r}")
        size = int(header[2])
        if size > max_bytes:
            raise OSError(errno.EFBIG, f"larger than {max_bytes:,} bytes")
        pieces, missing = [self._unread], size + 1 - len(self._unread)
        while missing > 0:
            pieces.append(self._receive(process, end))
            missing -= len(pieces[-1])
        data = b"".join(pieces)
        self._unread = data[size + 1 :]
        return data[:size]

    def _receive(self, process: subprocess.Popen[bytes], end: float) -> bytes:
        assert process.stdout is not None
        ready = select.poll()  # not `select`, which takes no descriptor above 1,023
        ready.register(process.stdout, select.POLLIN)
        if not ready.poll(max(0.0, 1000 * (end - time.monotonic()))):
            raise OSError(errno.ETIMEDOUT, f"git cat-file needed more than {_READ_S:.0f} s")
        data = os.read(process.stdout.fileno(), 1 << 16)
        if not data:
            raise OSError("git cat-file ended unexpectedly")
        return data

    def _start(self) -> subprocess.Popen[bytes]:
        self._unread = b""
        self._process = start_git(self._folder, ["cat-file", "--batch"])
        return self._process

    def close(self) -> None:
        """End the process; reading starts another one."""
        if (process := self._process) is not None:
            self._process = None
            end_git(process)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()
