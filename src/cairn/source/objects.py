"""Reads what is not checked out from git's objects: the commit of a name, its files, and their content."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import select
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import NamedTuple, Self

from cairn.errors import DiffError, PathError, RevisionError
from cairn.hints import Hint
from cairn.source.commits import is_partial
from cairn.source.git import Repository, first_complaint, is_below
from cairn.source.plumbing import MAX_BYTES, end_git, run_git, start_git
from cairn.types import FileStat

_TIMEOUT_S = 120.0
_SHA1_BYTES = 20
SYMLINK, SUBMODULE = "120000", "160000"
_SHORTER = re.compile(r"^refs/(?:heads/|remotes/|tags/)?")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FULL_NAME = re.compile(r"refs/[^\0-\x20\x7f~^:?*\[\\]+|[0-9a-f]{40}(?:[0-9a-f]{24})?")
# An entry of the index, with the file's stat data when git last saw it unchanged.
_INDEX_ENTRY = re.compile(
    rb"(?P<tag>\S) (?P<mode>[0-7]{6}) (?P<id>[0-9a-f]+) (?P<stage>\d)\t(?P<path>[^\0]*)\0"
    rb"  ctime: (?P<ctime>\d+:\d+)\n  mtime: (?P<mtime>\d+:\d+)\n  dev: \d+\tino: \d+\n  uid: \d+\tgid: \d+\n"
    rb"  size: (?P<size>\d+)\tflags: [0-9a-f]+\n"
)
# git keeps the lower 32 bits of seconds and sizes.
_HALF = 1 << 32
# A file written this shortly before the index may change again without a new time. The second value, for file systems
# with whole seconds, is twice the longest step.
_RACY_NS, _RACY_COARSE_NS = 20_000_000, 4_000_000_000
_REGULAR_MODES = (b"100644", b"100755")
_TREE_LINE = re.compile(rb"([0-7]{6}) \w+ ([0-9a-f]+)(?: +(-|\d+|BAD))?\t(.*)", re.DOTALL)
_LACKING = b"from promisor remote"  # git exits at an object that a partial clone lacks
_READ_S = 10.0
# Stop asking after git failed to read this many objects in time.
_MAX_STALLS = 3
_MAX_NAME_BYTES = 4_096
_MAX_OBJECT_BYTES = 100_000_000
NOT_FETCHED = -1


class Revision(NamedTuple):
    """A commit, and the name that was asked for.

    `reference` is the full name of a branch or tag, empty for anything else, such as a hash or `HEAD~3`. `label` is for
    people: the short name of the reference, else the first digits of the hash.
    """

    label: str
    reference: str
    commit: str


class TreeEntry(NamedTuple):
    """A file of a commit, or what is in its place.

    `size` is 0 for a submodule, and `NOT_FETCHED` for a file whose content this clone never fetched.
    """

    path: str
    mode: str
    object_id: bytes
    size: int


def resolve_revision(folder: Path, name: str) -> Revision:
    """Return the commit that a branch, tag or revision names.

    Args:
        folder: any folder of a checkout.
        name: in git's syntax: `feature`, `origin/feature`, `v2.1`, `HEAD~3`, a hash.

    Raises:
        RevisionError: if there is no such commit here.
    """
    if not _is_askable(name):
        raise RevisionError(f"{name[:100]!r} is not the name of a branch or revision", "list them: git branch --all")
    for candidate in (f"refs/heads/{name}", name):  # prefer a branch to a tag of the same name
        arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options"]
        result = run_git(folder, [*arguments, f"{candidate}^{{commit}}"])
        if result.returncode:
            continue
        commit = os.fsdecode(result.stdout).split()[-1]
        if not _HASH.fullmatch(commit):  # such as a negation
            break
        full = run_git(folder, [*arguments[:1], "--symbolic-full-name", *arguments[1:], candidate])
        reference = os.fsdecode(full.stdout).strip().split("\n")[-1]
        if not reference.startswith("refs/"):
            return Revision(commit[:12], "", commit)
        return Revision(_SHORTER.sub("", reference), reference, commit)
    remote = _only_remote_branch(folder, name)
    hint = f"name it with its remote: {remote}" if remote else "list them: git branch --all; get more: git fetch"
    raise RevisionError(f"git has no branch or revision named {name}", hint)


def _is_askable(name: str) -> bool:
    """Tell whether git can be asked for a revision: its name is not an option and fits on a command line."""
    try:
        return 0 < len(os.fsencode(name)) <= _MAX_NAME_BYTES and not name.startswith("-") and "\0" not in name
    except UnicodeEncodeError:  # half a surrogate pair
        return False


def missing_commits(folder: Path, names: Sequence[str]) -> set[str]:
    """Return those full references and hashes that no longer name a commit; none if git fails.

    Anything else, such as a search through the history, counts as missing.
    """
    full = [name for name in names if _FULL_NAME.fullmatch(name)]
    missing = set(names).difference(full)
    if not full:
        return missing
    lines = "".join(f"{name}^{{commit}}\n" for name in full).encode("utf-8", "replace")
    result = run_git(folder, ["cat-file", "--batch-check"], given=lines)
    answers = result.stdout.decode("utf-8", "replace").splitlines()
    if result.returncode or len(answers) != len(full):
        return set()
    return missing.union(name for name, line in zip(full, answers, strict=True) if line.endswith(" missing"))


def never_stored(repository: Repository, contents: Mapping[str, bytes]) -> set[str]:
    """Return the names of contents that a repository never had, committed or staged; none if git fails.

    In a partial clone, nothing can be told.
    """
    if not contents or is_partial(repository):
        return set()
    lines = "".join(f"{id}\n" for content in contents.values() for id in _blob_ids(content))
    result = run_git(repository.work_tree, ["cat-file", "--batch-check"], given=lines.encode())
    answers = result.stdout.decode("utf-8", "replace").splitlines()
    if result.returncode or len(answers) != 2 * len(contents):
        return set()
    is_missing = [line.endswith(" missing") for line in answers]
    return {name for number, name in enumerate(contents) if all(is_missing[2 * number : 2 * number + 2])}


def _blob_ids(content: bytes) -> tuple[str, str]:
    """Return git's ids of a content, for both kinds of hash."""
    blob = b"blob %d\0" % len(content) + content
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest(), hashlib.sha256(blob).hexdigest()


def _only_remote_branch(folder: Path, name: str) -> str:
    """Return the remote branch with this name, empty unless there is exactly one."""
    result = run_git(folder, ["for-each-ref", "--format=%(refname:short)", f"refs/remotes/*/{name}"])
    names = os.fsdecode(result.stdout).split()
    return names[0] if len(names) == 1 else ""


def resolve_tree(folder: Path, revision: str) -> str:
    """Return the hash of a commit's tree, or of the commit if a partial clone lacks the tree.

    Raises:
        DiffError: if git does not know the revision, or nothing is committed yet.
    """
    if not _is_askable(revision):
        raise DiffError(f"{revision[:100]!r} is not a revision", "name one as git does, such as HEAD~1")
    for kind in ("tree", "commit"):
        result = run_git(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}"])
        words = os.fsdecode(result.stdout).split()
        if not result.returncode and words and _HASH.fullmatch(words[-1]):
            return words[-1]
    raise _revision_error(folder, revision)


def _revision_error(folder: Path, revision: str) -> DiffError:
    if not run_git(folder, ["rev-parse", "--verify", "--quiet", "HEAD"]).returncode:
        return DiffError(f"git has no revision {revision!r}", "list them: git log")
    branches = ["for-each-ref", "--count=1", "--format=%(refname:short)", "refs/heads", "refs/remotes"]
    if branch := os.fsdecode(run_git(folder, branches).stdout).strip():
        return DiffError(
            f"git has no revision {revision!r}: the branch that is checked out has no commits yet",
            Hint("compare with another", "impact", diff=branch),
        )
    return DiffError(
        "nothing is committed yet, so there is nothing to compare with", Hint("name a symbol", "impact", symbol=None)
    )


def list_tree(folder: Path, commit: str, max_bytes: int = MAX_BYTES) -> list[TreeEntry]:
    """Return a commit's files below a folder of the checkout, with distinct paths relative to it.

    Paths that lead out of the folder, which only a forged commit can have, are left out.

    Args:
        folder: the folder.
        commit: a hash, of a commit or of a whole tree.
        max_bytes: the maximal size of git's list.

    Raises:
        PathError: if git cannot read the commit, or it has more files than can be listed.
    """
    result = run_git(folder, ["ls-tree", "-r", "-l", "-z", commit], _TIMEOUT_S, max_bytes=max_bytes)
    lacks_contents = result.returncode != 0 and _LACKING in result.stderr
    if lacks_contents:  # git cannot print the sizes along with the paths
        result = run_git(folder, ["ls-tree", "-r", "-z", commit], _TIMEOUT_S, max_bytes=max_bytes)
    if result.returncode and _LACKING in result.stderr:
        raise PathError(
            f"this clone is partial and lacks folders of commit {commit[:12]}", f"fetch them: git ls-tree -r {commit}"
        )
    if result.returncode:
        raise PathError(f"git cannot read commit {commit[:12]}: {first_complaint(result)}", "see: git fsck")
    entries = {}
    for line in result.stdout.split(b"\0"):
        if match := _TREE_LINE.fullmatch(line):
            path = os.fsdecode(match[4])
            if is_below(path):
                entries[path] = TreeEntry(path, match[1].decode(), bytes.fromhex(match[2].decode()), _size(match[3]))
    if not lacks_contents:
        return list(entries.values())
    sizes = _fetched_sizes(folder, commit, entries.values())
    return [entry._replace(size=_size_of(entry, sizes)) for entry in entries.values()]


def _size(text: bytes | None) -> int:
    if text in (None, b"BAD"):
        return NOT_FETCHED
    return 0 if text == b"-" else int(text)


def _size_of(entry: TreeEntry, sizes: Mapping[bytes, int]) -> int:
    return 0 if entry.mode == SUBMODULE else sizes.get(entry.object_id, NOT_FETCHED)


def _fetched_sizes(folder: Path, commit: str, entries: Iterable[TreeEntry]) -> dict[bytes, int]:
    """Return {object id: size} of those contents of a commit that a partial clone has.

    Other objects must not be asked for, because git exits at them.
    """
    walk = ["rev-list", "--objects", "--no-object-names", "--no-walk", "--missing=print", commit]
    listed = run_git(folder, walk, _TIMEOUT_S)
    if listed.returncode:
        return {}
    missing = {line[1:] for line in os.fsdecode(listed.stdout).split("\n") if line.startswith("?")}
    ids = {entry.object_id.hex() for entry in entries if entry.mode != SUBMODULE} - missing
    lines = "".join(f"{id}\n" for id in ids).encode()
    told = run_git(folder, ["cat-file", "--batch-check=%(objectname) %(objectsize)"], _TIMEOUT_S, given=lines)
    pairs = [line.split() for line in os.fsdecode(told.stdout).split("\n")]
    return {bytes.fromhex(pair[0]): int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


class Index(NamedTuple):
    """The content of git's index below a folder.

    `clean` is {path: object id} of clean files. `submodules` are paths. `left_out` are files, and folders with a `/` at
    the end, that a sparse checkout does not have on disk. `unproven` is {path: object id} of files whose size
    and times do not prove that they are clean, so that only their content tells.
    """

    clean: dict[str, bytes]
    submodules: list[str]
    left_out: frozenset[str] = frozenset()
    unproven: Mapping[str, bytes] = MappingProxyType({})


def clean_objects(root: Path, repository: Repository, files: Iterable[FileStat]) -> dict[str, bytes]:
    """Return {path: object id} of the files that match git's index; see `read_index`."""
    return read_index(root, repository, files).clean


def read_index(root: Path, repository: Repository, files: Iterable[FileStat], only: Sequence[str] = ()) -> Index:
    """Return which files below a folder match git's index, and where submodules are.

    A file is clean if its size and times are those that git recorded when it last compared it. If these do not prove
    it, git would run the repository's filters and read the file; here it does not count as clean. Nor do files that git
    was told to assume unchanged, or files in conflict. If git fails, no file is clean, and all are read.

    Args:
        root: the folder.
        repository: the checkout it belongs to.
        files: by path relative to the folder.
        only: look up no more than these paths; all if empty.
    """
    file = repository.git_dir / "index"
    paths = [f":(literal){path}" for path in only]
    try:
        written = os.stat(file).st_mtime_ns
        result = run_git(root, ["ls-files", "-z", "--stage", "-v", "--debug", "--", *paths], _TIMEOUT_S)
        changed = os.stat(file).st_mtime_ns != written
    except (OSError, PathError):
        return Index({}, [])
    entries = list(_INDEX_ENTRY.finditer(result.stdout))
    understood = sum(entry.end() - entry.start() for entry in entries) == len(result.stdout)
    if result.returncode or changed or not understood:
        return Index({}, [])
    by_path = {os.fsdecode(entry["path"]): entry for entry in entries}
    clean: dict[str, bytes] = {}
    unproven: dict[str, bytes] = {}
    for stat in files:
        entry = by_path.get(stat.path)
        if entry is not None and entry["tag"] == b"H" and entry["stage"] == b"0" and entry["mode"] in _REGULAR_MODES:
            known = clean if _is_clean(entry, stat, written) else unproven
            known[stat.path] = bytes.fromhex(entry["id"].decode())
    submodule = SUBMODULE.encode()
    left_out = frozenset(path for path, entry in by_path.items() if entry["tag"] in b"Ss")
    return Index(clean, [path for path, entry in by_path.items() if entry["mode"] == submodule], left_out, unproven)


def _is_clean(entry: re.Match[bytes], file: FileStat, index_written_ns: int) -> bool:
    """Tell whether a file's size and times prove that it is as git last saw it."""
    racy = _RACY_NS if file.mtime_ns % 1_000_000_000 else _RACY_COARSE_NS
    return (
        int(entry["size"]) == file.size % _HALF
        and entry["mtime"] == _index_time(file.mtime_ns)
        and entry["ctime"] == _index_time(file.ctime_ns)
        and file.mtime_ns + racy < index_written_ns
    )


def _index_time(time_ns: int) -> bytes:
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return b"%d:%d" % (seconds % _HALF, rest)


def is_content_of(object_id: bytes, data: bytes) -> bool:
    """Tell by its id whether an object has exactly these bytes."""
    new = hashlib.sha1 if len(object_id) == _SHA1_BYTES else hashlib.sha256
    return new(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest() == object_id


class ObjectReader:
    """Reads objects of one repository through a single git process."""

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
        """Return the content of an object as git stores it, without filters or conversion of line endings.

        Raises:
            FileNotFoundError: if the repository does not have the object, as in a partial clone.
            OSError: EFBIG if it is larger than `max_bytes`; or if git exits unexpectedly or is too slow.
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
        except OSError:  # otherwise git's next output would be taken for another answer
            self.close()
            raise

    def _ask(self, object_id: bytes, max_bytes: int) -> bytes:
        process = self._process or self._start()
        assert process.stdin is not None
        end = time.monotonic() + _READ_S
        with suppress(BrokenPipeError):  # reading reports the death of the process
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
        ready = select.poll()  # `select` fails for descriptors above 1,023
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
        """End the process; reading again starts another."""
        if (process := self._process) is not None:
            self._process = None
            end_git(process)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()
