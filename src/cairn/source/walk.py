"""Finds the eligible files of a project, from git or by walking the folders, and reads them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from cairn.errors import PathError, resource_error
from cairn.kernels.files import read_below
from cairn.source import git
from cairn.source.eligible import BINARY, UNLISTED, check_folder, check_name
from cairn.source.ignore import IgnoreRules
from cairn.source.plumbing import GitStalledError
from cairn.types import FileStat, Skipped

MAX_FILE_BYTES = 1_000_000
CAIRNIGNORE = ".cairnignore"
_EXCLUDED = "excluded by .cairnignore"
# Limits for all ignore files of a project together.
_MAX_RULES_BYTES = 4_000_000

_Scope = tuple[int, IgnoreRules]  # the length of a folder's path with `/`, and its rules


class Walk(NamedTuple):
    """The files to index and those left out, both sorted by path.

    Files that git ignores, and the state of version control and Cairn, are in neither.
    """

    files: list[FileStat]
    skipped: list[Skipped]


class Folder(NamedTuple):
    """What applies to a folder's files: why none is eligible, or the rules, outermost first."""

    reason: str = ""
    cairnignore: tuple[_Scope, ...] = ()
    gitignore: tuple[_Scope, ...] = ()
    is_unlisted: bool = False


def walk(
    root: Path,
    *,
    repository: git.Repository | None,
    max_file_bytes: int = MAX_FILE_BYTES,
    meanwhile: Callable[[], None] | None = None,
) -> Walk:
    """Find the eligible files below a folder.

    Files are left out if their names mark them as vendored, locked, minified or binary, or if `.cairnignore` files
    exclude them (gitignore syntax, nested ones too). A negation (`!vendor/`) brings back anything but binaries.
    Symbolic links are never followed.

    Args:
        root: the folder; paths are relative to it.
        repository: the checkout that contains the root, to ask git for the files; None to walk the folders and read
            `.gitignore` files as git would.
        max_file_bytes: files above this size are skipped.
        meanwhile: called while git, if asked, starts working.

    If git does not finish, because of a pipe in place of a `.gitignore` or rules on which it computes forever, the
    folders are walked as if there were no git, and `skipped` says so.

    Raises:
        PathError: if the root cannot be read, or git fails.
    """
    walker = Walker(root, max_file_bytes)
    try:
        listing = git.list_files(root, meanwhile=meanwhile) if repository else None
        # An ignored folder is indexed if the user names it as the root.
        is_wanted = listing is not None and (bool(listing.paths) or not git.is_ignored(root))
    except GitStalledError as error:
        walker.add_stalled(error)
        listing, is_wanted = None, False
    if repository and listing and is_wanted:
        walker.add_listed(listing, repository.work_tree)
    else:
        walker.add_tree()
    return sort_walk(walker.files, walker.skipped)


def sort_walk(files: list[FileStat], skipped: list[Skipped]) -> Walk:
    """Return a walk of files and skipped files, given in any order."""
    path_of = attrgetter("path")
    return Walk(sorted(files, key=path_of), sorted(skipped, key=path_of))


def list_folders(root: Path, *, repository: git.Repository | None) -> list[str]:
    """Return the folders that have or could get eligible files, relative to the root, which is `""`.

    Ignored, vendored and cache folders are left out, unless they have an eligible file nevertheless.

    Raises:
        PathError: if the root cannot be read, or git fails.
    """
    walker = Walker(root, MAX_FILE_BYTES)
    walker.add_tree()
    folders = set(walker.folders)
    if repository:  # git may track files in folders that it ignores
        parents = {file.path.rpartition("/")[0] for file in walk(root, repository=repository).files}
        for folder in parents - folders:
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
    return sorted(folders)


def read_file(root: Path, path: str, max_file_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Read one file below the root, as it stands now, without following a symbolic link.

    Args:
        root: the folder the path is relative to; it may itself be reached through a link.
        path: as in `FileStat`.
        max_file_bytes: size above which the file is refused.

    Raises:
        OSError: FileNotFoundError if the file vanished; PermissionError if it cannot be read; NotADirectoryError or
            ELOOP for a link; EINVAL for a path that leaves the root or is not a regular file; EFBIG if it is too large.
        ResourceError: if too many files are open, which says nothing about this one.
    """
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise OSError(errno.EINVAL, "not a path below the root", path)
    if (content := read_below(os.fspath(root), path, max_file_bytes)) is not None:
        return content
    try:
        descriptor = _open_below(root, parts)
    except OSError as error:
        if (
            error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
            and (shortage := resource_error(error)) is not None
        ):
            raise shortage from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        # Read one byte more than the size, which reaches the end of most files; loop in case the file is growing.
        data = piece = os.read(descriptor, min(status.st_size, max_file_bytes) + 1)
        while piece and len(data) != status.st_size and len(data) <= max_file_bytes:
            piece = os.read(descriptor, max_file_bytes + 1 - len(data))
            data += piece
    finally:
        os.close(descriptor)
    if len(data) > max_file_bytes:
        raise OSError(errno.EFBIG, _too_large(max_file_bytes), path)
    return data


# O_NONBLOCK: a pipe must not make us wait for a writer.
_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def _open_below(root: Path, parts: list[str]) -> int:
    """Open a path part by part, so that no part can be swapped for a link meanwhile."""
    top = os.path.join(root, parts[0])  # the root itself may be reached through a link
    if len(parts) == 1:
        return os.open(top, _READ_FILE)
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for part in parts[1:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _READ_FILE, dir_fd=folder)
    finally:
        os.close(folder)


def _too_large(max_file_bytes: int) -> str:
    return f"larger than {max_file_bytes:,} bytes"


class Walker:
    """Collects the files of one walk; `source/tree.py` overrides its access to the disk to read a commit."""

    def __init__(self, root: Path, max_file_bytes: int) -> None:
        self.files: list[FileStat] = []
        self.skipped: list[Skipped] = []
        self.folders: list[str] = []  # folders that `add_tree` has entered
        self._root = root
        self._prefix = os.path.join(root, "")
        self._real_prefix = os.path.join(os.path.realpath(root), "")
        self._max_file_bytes = max_file_bytes
        self._listed: set[str] | None = None  # git's list, which saves access to the disk
        self._rules: dict[bytes, IgnoreRules] = {}
        self._rules_bytes = 0

    def add_listed(self, listing: git.Listing, work_tree: Path) -> None:
        """Add the files that git lists, including those in submodules that are checked out."""
        folders = {"": self._add_rules("", Folder())}
        submodules: list[str] = []
        self._add_listing(listing, str(work_tree), "", folders, submodules)
        while submodules:
            submodule = submodules.pop()
            top = self._root / submodule
            try:
                listing = git.list_files(top, own_repository=True)
                real = os.path.realpath(top)
            except (PathError, OSError) as error:
                self._skip(submodule, f"submodule: {error}")
            else:
                self._add_listing(listing, real, f"{submodule}/", folders, submodules)

    def add_stalled(self, error: GitStalledError) -> None:
        """Record why git could not list the files."""
        path = error.path if error.path and git.is_below(error.path) else ".git"
        self._skip(path, f"git stops at it, so files are found without git: {error.reason or error}")

    def add_tree(self) -> None:
        """Add files by walking the folders."""
        pending = [("", self._add_rules("", Folder(), with_git=True))]
        while pending:
            base, folder = pending.pop()
            try:
                with os.scandir(self._prefix + base) as scan:
                    entries = list(scan)
            except OSError as error:
                if not base:
                    raise PathError(
                        f"{self._root} cannot be read: {error.strerror}", "name a folder you can read"
                    ) from error
                self._skip(base.rstrip("/"), f"unreadable folder: {error.strerror}")
                continue
            self.folders.append(base.rstrip("/"))
            for entry in entries:
                if entry.name not in UNLISTED:
                    self._add_entry(base + entry.name, entry, folder, pending)

    def _add_listing(
        self, listing: git.Listing, top: str, base: str, folders: dict[str, Folder], submodules: list[str]
    ) -> None:
        paths = [base + path for path in listing.paths] if base else listing.paths
        self._listed = (self._listed or set()).union(paths)
        for path in listing.unreadable:
            self._skip(os.path.relpath(os.path.join(top, path), self._real_prefix), "unreadable folder")
        self._add_paths(paths, folders, submodules)

    def _add_paths(self, paths: list[str], folders: dict[str, Folder], submodules: list[str]) -> None:
        for path in paths:
            parent, _, name = path.rpartition("/")
            folder = folders.get(parent) or self._enter_all(parent, folders)
            if folder.is_unlisted or name in UNLISTED:
                continue
            if path.endswith("/"):
                self._skip(parent, folder.reason or "a repository of its own")
                continue
            try:
                status = os.lstat(self._prefix + path)
            except (FileNotFoundError, NotADirectoryError):  # deleted, or left out of a sparse checkout
                continue
            except OSError as error:
                self._skip(path, f"unreadable: {error.strerror}")
                continue
            if stat.S_ISDIR(status.st_mode):
                self._add_submodule(path, folders, submodules)
            else:
                self._add_file(path, folder, status)

    def _add_submodule(self, path: str, folders: dict[str, Folder], submodules: list[str]) -> None:
        if reason := self._enter_all(path, folders).reason:
            self._skip(path, _of_folder(reason))
        elif os.path.lexists(f"{self._prefix}{path}/.git"):
            submodules.append(path)
        elif _is_empty(self._prefix + path):
            self._skip(path, "submodule that is not checked out")
        # otherwise a folder replaced a tracked file, and git lists its files individually

    def _enter_all(self, path: str, folders: dict[str, Folder]) -> Folder:
        """Return what applies in a folder, entering its parents first."""
        folder = folders[""]
        end = 0
        while end < len(path):
            end = path.find("/", end + 1) % (len(path) + 1)  # -1 is the end
            above = path[:end]
            inner = folders.get(above)
            if inner is None:
                inner = folders[above] = self._enter(above, folder, with_git=False)
            folder = inner
        return folder

    def _add_entry(self, path: str, entry: os.DirEntry[str], folder: Folder, pending: list[tuple[str, Folder]]) -> None:
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:  # the listing does not say, and access is denied
            is_folder = False
        if match(folder.gitignore, path, is_folder=is_folder):
            return
        if is_folder:
            inner = self._enter(path, folder, with_git=True)
            if inner.reason:
                self._skip(path, _of_folder(inner.reason))
            else:
                pending.append((f"{path}/", inner))
            return
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            self._skip(path, f"unreadable: {error.strerror}")
            return
        self._add_file(path, folder, status)

    def _enter(self, path: str, parent: Folder, *, with_git: bool) -> Folder:
        if parent.reason or parent.is_unlisted:
            return parent
        if path.rpartition("/")[2] in UNLISTED:
            return Folder(is_unlisted=True)
        if self._is_link(path):
            return Folder("behind a symlink")
        excluded = match(parent.cairnignore, path, is_folder=True)
        if excluded:
            return Folder(_EXCLUDED)
        if excluded is None and (reason := check_folder(path, self._holds)):
            return Folder(reason)
        return self._add_rules(f"{path}/", parent, with_git=with_git)

    def _add_rules(self, base: str, parent: Folder, *, with_git: bool = False) -> Folder:
        cairnignore = self._read_rules(base, CAIRNIGNORE)
        gitignore = self._read_rules(base, ".gitignore") if with_git else ()
        if not cairnignore and not gitignore:
            return parent
        return Folder("", parent.cairnignore + cairnignore, parent.gitignore + gitignore)

    def _read_rules(self, base: str, name: str) -> tuple[_Scope, ...]:
        if not self._holds(base + name):
            return ()
        try:
            text = self._read(base + name)
        except OSError as error:  # the walk finds the file anyway and reports the problem
            if error.errno == errno.EFBIG:
                self._skip(base + name, f"not obeyed: {_too_large(MAX_FILE_BYTES)}")
            return ()
        rules = self._rules.get(text)
        if rules is None:
            self._rules_bytes += len(text)
            if self._rules_bytes > _MAX_RULES_BYTES:
                self._skip(base + name, f"not obeyed: more than {_MAX_RULES_BYTES:,} bytes of rules in this project")
                return ()
            rules = self._rules[text] = IgnoreRules(text)
        if rules.unused:
            self._skip(base + name, f"{rules.unused:,} of its rules are not obeyed: too long or too many")
        return ((len(os.fsencode(base)), rules),)

    def _is_link(self, path: str) -> bool:
        return os.path.islink(self._prefix + path)

    def _read(self, path: str) -> bytes:
        return read_file(self._root, path)

    def _add_file(self, path: str, folder: Folder, status: os.stat_result) -> None:
        reason = folder.reason or self._reason_to_skip(path, folder, status)
        if reason:
            self._skip(path, reason)
        else:
            self.files.append(FileStat(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))

    def _reason_to_skip(self, path: str, folder: Folder, status: os.stat_result) -> str:
        if not stat.S_ISREG(status.st_mode):
            return self._irregular(path, status.st_mode)
        if reason := self._reason_by_rules(path, folder, status.st_size):
            return reason
        if not status.st_mode & stat.S_IROTH and not os.access(self._prefix + path, os.R_OK):
            return "unreadable"
        return ""

    def _reason_by_rules(self, path: str, folder: Folder, size: int) -> str:
        """Return why a regular file of this name and size is not indexed, empty if it is."""
        excluded = match(folder.cairnignore, path, is_folder=False)
        if excluded:
            return _EXCLUDED
        reason = check_name(path.rpartition("/")[2])
        if reason and (excluded is None or reason == BINARY):
            return reason
        return _too_large(self._max_file_bytes) if size > self._max_file_bytes else ""

    def _irregular(self, path: str, mode: int) -> str:
        if not stat.S_ISLNK(mode):
            return "not a regular file"
        try:
            target = os.path.join(os.path.realpath(self._prefix + path), "")
        except (OSError, ValueError):  # deleted meanwhile, or its target is inaccessible
            return "symlink"
        return "symlink" if target.startswith(self._real_prefix) else "symlink out of the root"

    def _holds(self, path: str) -> bool:
        return os.path.lexists(self._prefix + path) if self._listed is None else path in self._listed

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(path, reason))


def match(scopes: tuple[_Scope, ...], path: str, *, is_folder: bool) -> bool | None:
    """Apply the innermost rule for a path: True to ignore it, False to keep it, None if there is no rule."""
    if scopes:
        encoded = os.fsencode(path)
        for start, rules in reversed(scopes):
            verdict = rules.match(encoded[start:], is_folder=is_folder)
            if verdict is not None:
                return verdict
    return None


def _is_empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:  # deleted meanwhile, or unreadable
        return True


def _of_folder(reason: str) -> str:
    return reason if reason == _EXCLUDED else f"{reason} folder"
