"""Finds a repository, its branch, and the files that git would consider."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from cairn.digest import blake2b
from cairn.errors import PathError
from cairn.hints import Hint
from cairn.source.plumbing import GitStalledError, read_small, run_git
from cairn.source.stalling import refuse_stalling

# Kept as text, which `re` compiles and caches on first use: most runs need few of them.
_REVISION = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_REFERENCE = r"ref: ([^\0-\x20\x7f-\x9f~^:?*\[\\]{1,1000})"
_UNREADABLE = rb"(?m)^warning: could not open directory '(.*)/': "
_ODD = rb"[\0/]\.{0,2}/|[\0/]\.{1,2}\0"  # a path that leads out of the folder, anywhere in the list
_LIST_TIMEOUT_S, _SUBMODULE_TIMEOUT_S = 120.0, 30.0
_SEPARATOR = "--cairn"  # rev-parse echoes unknown options, and a folder's name may contain line breaks
# What git reads first; if one of these is a pipe, it waits forever.
_OF_CHECKOUT = ("HEAD", "index", "config.worktree", "commondir", "gitdir", "info/sparse-checkout")
_OF_REPOSITORY = ("config", "packed-refs", "shallow", "info/exclude", "info/grafts", "objects/info/alternates")
_PATH_SETTING = rb"(?im)^[ \t]*(?:path|excludesfile)[ \t]*=[ \t]*\"?([^\"\r\n]+)"
_MAX_CONFIG_BYTES = 1_000_000
# git reads these entirely, whatever their size.
_MAX_FILE_BYTES, _LARGE_FILES = 10_000_000, {"index": 2_000_000_000, "packed-refs": 200_000_000}


class Repository(NamedTuple):
    """The parts of a checkout, as absolute paths.

    `git_dir` only differs from `common_dir` in a linked worktree, where it has that worktree's HEAD and index.
    """

    work_tree: Path
    git_dir: Path
    common_dir: Path


class Listing(NamedTuple):
    """What git lists below a folder.

    `paths` are relative to the folder, sorted and distinct. A submodule is one path; any other nested repository is one
    path that ends with `/`. `unreadable` are folders that git could not read, relative to the top of the checkout.
    """

    paths: list[str]
    unreadable: list[str]


def find_repository(folder: Path) -> Repository | None:
    """Return the repository whose checkout contains a folder; None if there is none or git is not installed.

    The checkout is the nearest folder upwards with a `.git`, whatever the repository itself says.

    Raises:
        PathError: if the folder is missing, lies in a bare repository or inside `.git`, or git refuses to work there;
            or if the repository names another folder as its checkout, or has pipes in place of files.
    """
    if not folder.is_dir():
        raise PathError(f"{folder} is not a folder", Hint("name an existing folder", "index", path=None))
    top = _top_of(folder)
    if top is None:
        return None
    _check_files(top)
    places = ["--absolute-git-dir", _SEPARATOR, "--git-common-dir", _SEPARATOR, "--show-toplevel"]
    above = Path(os.path.dirname(top))
    try:
        result = run_git(
            folder,
            ["rev-parse", "--is-bare-repository", "--is-inside-work-tree", *places],
            ceiling=None if str(above) == top else above,
        )
    except FileNotFoundError:
        return None
    if result.returncode:
        if _first_line(result.stderr).startswith("not a git repository"):
            return None
        raise _refusal(folder, result)
    try:
        _, _, answer = os.fsdecode(result.stdout).removesuffix("\n").split("\n", 2)
        git_dir, common_dir, work_tree = answer.split(f"\n{_SEPARATOR}\n")
    except ValueError as error:
        raise PathError(f"git reports no checkout around {folder}", "see: git rev-parse --show-toplevel") from error
    if git_dir == places[0]:  # it only echoes what it does not know
        raise _too_old(folder, f"it does not know {places[0]}")
    if os.path.realpath(work_tree) != top:
        raise PathError(
            f"the repository at {top} names another folder as its checkout: {work_tree}",
            f"see: git config --file {git_dir}/config core.worktree",
        )
    # git prints the common folder relative to where it ran.
    return Repository(Path(work_tree), Path(git_dir), Path(os.path.realpath(folder / common_dir)))


def is_linked(repository: Repository) -> bool:
    """Tell whether a checkout is one of the linked worktrees that a repository knows.

    A checkout can claim to belong to any repository, so only the repository's own record counts.
    """
    if repository.git_dir.parent != repository.common_dir / "worktrees":
        return False
    checkout = _read_reference(repository.git_dir / "gitdir")
    return os.path.realpath(repository.git_dir / checkout) == os.path.realpath(repository.work_tree / ".git")


def current_branch(repository: Repository) -> str | None:
    """Return the branch that is checked out, even before its first commit; None if HEAD is detached."""
    reference = _read_reference(repository.git_dir / "HEAD")
    if reference == "ref: refs/heads/.invalid":  # refs are in a reftable, which only git can read
        result = run_git(repository.work_tree, ["symbolic-ref", "--short", "--quiet", "HEAD"])
        return os.fsdecode(result.stdout).strip() or None
    match = re.fullmatch(_REFERENCE, reference)
    return match[1].removeprefix("refs/heads/") if match else None


def remote_url(folder: Path) -> str:
    """Return the URL of the remote `origin` of the repository around a folder, empty if there is none."""
    try:
        result = run_git(folder, ["config", "--get", "remote.origin.url"])
    except GitStalledError:
        return ""
    return os.fsdecode(result.stdout).strip()


def head_revision(repository: Repository) -> str | None:
    """Return the full hash of the commit that is checked out; None before the first commit."""
    reference = _read_reference(repository.git_dir / "HEAD")
    match = re.fullmatch(_REFERENCE, reference)
    if match and match[1].startswith("refs/heads/") and ".." not in match[1]:
        reference = _read_reference(repository.common_dir / match[1])
        if _has_no_commit(repository, match[1]):
            return None
    if re.fullmatch(_REVISION, reference):
        return reference
    result = run_git(repository.work_tree, ["rev-parse", "--verify", "--quiet", "HEAD"])
    return os.fsdecode(result.stdout).strip() or None


def _has_no_commit(repository: Repository, branch: str) -> bool:
    """Tell whether a branch has no commit, by its missing file; False if git keeps branches elsewhere."""
    if branch == "refs/heads/.invalid":
        return False
    return not any(os.path.lexists(repository.common_dir / name) for name in (branch, "packed-refs", "reftable"))


def list_files(
    folder: Path,
    *,
    own_repository: bool = False,
    only: Sequence[str] = (),
    meanwhile: Callable[[], None] | None = None,
) -> Listing:
    """List the files below a folder of a checkout that git tracks or would not ignore.

    Tracked files are listed even if they are gone from disk. Paths that lead out of the folder, which only a forged
    index can have, are left out.

    Args:
        folder: any folder of the checkout.
        own_repository: fail if the folder has no repository of its own, rather than use an enclosing one.
        only: list only these paths, relative to the folder, and everything below them; empty for all.
        meanwhile: as for `run_git`.

    Raises:
        PathError: if git fails; as `GitStalledError` if it does not finish.
    """
    if own_repository:
        _top_of(folder)  # a bare repository in place of a submodule
        _check_files(str(folder))
    result = run_git(
        folder,
        ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *(f":(literal){path}" for path in only)],
        _SUBMODULE_TIMEOUT_S if own_repository else _LIST_TIMEOUT_S,
        ceiling=folder.parent if own_repository else None,
        meanwhile=meanwhile,
        look=partial(refuse_stalling, folder),
    )
    if result.returncode < 0 or b"Out of memory" in result.stderr:
        refuse_stalling(folder, _LIST_TIMEOUT_S)
        raise GitStalledError(f"git cannot list {folder}: {first_complaint(result)}", "see: git status")
    if result.returncode:
        raise _refusal(folder, result)
    paths = set(os.fsdecode(result.stdout).split("\0"))  # a file in conflict is listed once per side
    # A sparse checkout may list what it leaves out as a folder.
    paths = {path for path in paths if not path.endswith("/") or os.path.isdir(os.path.join(folder, path))}
    paths.discard("")
    if re.search(_ODD, b"\0" + result.stdout):
        paths = {path for path in paths if is_below(path.removesuffix("/"))}
    unreadable = re.findall(_UNREADABLE, result.stderr) if result.stderr else []
    return Listing(sorted(paths), [os.fsdecode(path) for path in unreadable])


def is_below(path: str) -> bool:
    """Tell whether a relative path stays below its folder, judged by the path alone."""
    return not any(part in ("", ".", "..") for part in path.split("/"))


def is_ignored(folder: Path) -> bool:
    """Tell whether git ignores a whole folder of a checkout."""
    look = partial(refuse_stalling, folder)
    return run_git(folder, ["check-ignore", "--quiet", "."], look=look).returncode == 0


def find_ignored(folder: Path, paths: Sequence[str]) -> set[str]:
    """Return those paths that git ignores, relative to a checkout's folder; none if git fails or it is gone."""
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    look = partial(refuse_stalling, folder)
    try:
        result = run_git(folder, ["check-ignore", "-z", "--stdin"], given=names, look=look)
    except PathError:
        return set()
    return {os.fsdecode(path) for path in result.stdout.split(b"\0") if path}


def mark_tracked(folder: Path) -> bytes | None:
    """Return a value that changes with the set of files that git tracks below a folder; None if git fails."""
    try:
        result = run_git(folder, ["ls-files", "-z"])
    except (PathError, FileNotFoundError):
        return None
    return None if result.returncode else blake2b(result.stdout, digest_size=16).digest()


def rule_files(folder: Path, repository: Repository) -> list[str]:
    """Return the files outside of a checkout's folder that say what git ignores in it; they may not exist."""
    home = os.path.expanduser("~")
    of_user = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    common_dir = str(repository.common_dir)
    files = [os.path.join(common_dir, "info", "exclude"), os.path.join(common_dir, "config")]
    files += [os.path.join(of_user, "config"), os.path.join(of_user, "ignore"), os.path.join(home, ".gitconfig")]
    with suppress(PathError, FileNotFoundError):
        named = run_git(folder, ["config", "--get", "core.excludesFile"]).stdout
        files += [os.path.expanduser(os.fsdecode(named.rstrip(b"\n")))] if named else []
    above = folder
    while above != repository.work_tree and above != above.parent:
        above = above.parent
        files.append(str(above / ".gitignore"))
    return files


def _top_of(folder: Path) -> str | None:
    """Return the nearest folder upwards whose `.git` is a repository, as git looks for it; None if there is none.

    git accepts any folder that looks like a repository. A clone can contain such a folder with its own settings, so
    these are never used.

    Raises:
        PathError: if the way up leads through such a folder.
    """
    at = os.path.realpath(folder)
    while True:
        inner = os.path.join(at, ".git")
        if os.path.isfile(inner) or _is_git_folder(inner):
            return at
        if _is_git_folder(at):
            raise _inside_repository(folder, at)
        if (above := os.path.dirname(at)) == at:
            return None
        at = above


class _Link(str):
    """A path with a symbolic link that must not be followed."""

    __slots__ = ()


def _is_git_folder(path: str) -> bool:
    """Tell whether git might take a folder for a repository."""
    if not os.path.lexists(f"{path}/HEAD"):
        return False
    return os.path.lexists(f"{path}/commondir") or (os.path.isdir(f"{path}/objects") and os.path.isdir(f"{path}/refs"))


def _check_files(top: str) -> None:
    """Check that git can read a repository's settings without waiting forever.

    Raises:
        PathError: if a pipe or the like is in place of one of its files.
    """
    git_dir = os.path.join(top, ".git")
    if os.path.isfile(git_dir):
        link = _read_reference(git_dir)
        git_dir = os.path.join(top, link.removeprefix("gitdir: "))
    common_dir = os.path.join(git_dir, _read_reference(os.path.join(git_dir, "commondir")))
    files = [os.path.join(git_dir, name) for name in _OF_CHECKOUT]
    files += [os.path.join(common_dir, name) for name in _OF_REPOSITORY]
    config = os.path.join(common_dir, "config")
    with suppress(OSError, ValueError):  # a pipe is reported below
        for value in re.findall(_PATH_SETTING, read_small(config, _MAX_CONFIG_BYTES)):
            files.append(os.path.join(common_dir, os.path.expanduser(os.fsdecode(value).strip())))
    with suppress(OSError, ValueError):  # git reports it
        # git touches the file it reads, even through a link to a file elsewhere.
        shared = [name for name in os.listdir(git_dir) if name.startswith("sharedindex.")]
        files += [_Link(os.path.join(git_dir, name)) for name in shared]
    for file in files:
        try:
            status = os.stat(file, follow_symlinks=not isinstance(file, _Link))
        except (OSError, ValueError):
            continue
        if not stat.S_ISREG(status.st_mode):
            raise PathError(
                f"git cannot read the repository at {top}: {file} is not a regular file", "remove it, or clone again"
            )
        if not isinstance(file, _Link) and status.st_size > _LARGE_FILES.get(os.path.basename(file), _MAX_FILE_BYTES):
            raise PathError(f"{file} is {status.st_size:,} bytes, too large for git", "remove it, or clone again")


def _refusal(folder: Path, result: subprocess.CompletedProcess[bytes]) -> PathError:
    """Return an error that says why git failed, with git's own advice, if any, as the hint."""
    message = first_complaint(result)
    if message.startswith(("detected dubious ownership", "unsafe repository")):
        lines = os.fsdecode(result.stderr).split("\n")
        advice = next((line.strip() for line in lines if "--add safe.directory" in line), "see: git status")
        return PathError(f"git refuses to read {folder}: {message}", advice)
    if message.startswith(("unknown repository extension", "Expected git repo version")):
        return _too_old(folder, message)
    if message.lower().startswith(("unknown option", "error: unknown option")):
        return _too_old(folder, message)
    if message.startswith("this operation must be run in a work tree"):
        return PathError(
            f"the repository around {folder} says that its checkout is elsewhere", "see: git config --list --local"
        )
    return PathError(f"git cannot read the repository at {folder}: {message}", "see: git status")


def _too_old(folder: Path, reason: str) -> PathError:
    return PathError(f"git is too old for the repository at {folder}: {reason}", "upgrade it, see: git --version")


def _inside_repository(folder: Path, at: str) -> PathError:
    if ".git" in at.split(os.sep):
        return PathError(
            f"{folder} lies inside the .git folder of a repository", Hint("name the checkout", "index", path=None)
        )
    return PathError(f"{folder} is a bare repository: it has no files", "check it out: git worktree add ../checkout")


def first_complaint(result: subprocess.CompletedProcess[bytes]) -> str:
    """Return git's complaint on one line."""
    if result.returncode < 0 and not result.stderr:
        return f"git crashed, by signal {-result.returncode}"
    return _first_line(result.stderr)


def _first_line(stderr: bytes) -> str:
    """Return the line that says why git failed, else the first one, with anything indented below it, such as a list."""
    lines = stderr.decode("utf-8", "replace").strip().split("\n")
    at = next((number for number, line in enumerate(lines) if line.startswith("fatal: ")), 0)
    below = takewhile(lambda line: line.startswith("\t"), lines[at + 1 :])
    return " ".join([lines[at].removeprefix("fatal: "), *(line.strip() for line in below)])


def _read_reference(path: str | Path) -> str:
    """Return the content of a reference's file, empty if it is stored elsewhere."""
    try:
        return read_small(path).decode("utf-8", "surrogateescape").strip()
    except (OSError, ValueError):
        return ""


def printable_name(name: str) -> str:
    """Return a name from git or a folder as text that can be stored."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
