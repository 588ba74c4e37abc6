"""Hides the git command line: finding a repository, its branch, and the files git would consider."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.errors import DiffError, PathError

# Patterns that most runs need not are text, which `re` compiles when it first uses them and keeps.
_REVISION = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_UNREADABLE = rb"(?m)^warning: could not open directory '(.*)/': "
_LOCATE_TIMEOUT_S = 20.0
_LIST_TIMEOUT_S = 300.0
_SEPARATOR = "--cairn"  # rev-parse echoes an option it does not know: a folder's name may hold line breaks
# Set by git around hooks and aliases: they point at another repository or change how arguments and output read.
_FOREIGN_VARIABLE = (
    r"GIT_(?:ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|DIR|GRAFT_FILE|IMPLICIT_WORK_TREE|INDEX_FILE|INTERNAL_SUPER_PREFIX"
    r"|NAMESPACE|OBJECT_DIRECTORY|PREFIX|QUARANTINE_PATH|SHALLOW_FILE|WORK_TREE|(?:GLOB|ICASE|LITERAL|NOGLOB)_PATHSPECS"
    r"|TRACE.*)"
)


class Repository(NamedTuple):
    """Where a checkout keeps its parts, all absolute.

    `git_dir` differs from `common_dir` in a linked worktree only: there it holds that worktree's HEAD and index.
    """

    work_tree: Path
    git_dir: Path
    common_dir: Path


class Listing(NamedTuple):
    """What git lists below a folder.

    `paths` are relative to the folder, each once, sorted. A submodule is one path; a repository that is no submodule
    one path that ends with `/`. `unreadable` are folders git could not look into, relative to the top of the checkout.
    """

    paths: list[str]
    unreadable: list[str]


def find_repository(folder: Path) -> Repository | None:
    """Return the repository whose checkout contains a folder; None if there is none, or git is not installed.

    Raises:
        PathError: if the folder is missing, lies in a bare repository or inside `.git`, or git refuses to work there.
    """
    if not folder.is_dir():
        raise PathError(f"{folder} is not a folder", "name an existing folder: cairn index PATH")
    places = ["--absolute-git-dir", _SEPARATOR, "--git-common-dir", _SEPARATOR, "--show-toplevel"]
    try:
        done = run_git(
            folder, ["rev-parse", "--is-bare-repository", "--is-inside-work-tree", *places], _LOCATE_TIMEOUT_S
        )
    except FileNotFoundError:
        return None
    if done.returncode:
        if _first_line(done.stderr).startswith("not a git repository"):
            return None
        raise _refusal(folder, done)
    _, _, answer = os.fsdecode(done.stdout).removesuffix("\n").split("\n", 2)
    git_dir, common_dir, work_tree = answer.split(f"\n{_SEPARATOR}\n")
    # git names the common folder relative to where it ran.
    return Repository(Path(work_tree), Path(git_dir), Path(os.path.realpath(folder / common_dir)))


def current_branch(repository: Repository) -> str | None:
    """Return the name of the branch checked out, also before its first commit; None when HEAD is detached."""
    reference = _read_reference(repository.git_dir / "HEAD")
    if reference == "ref: refs/heads/.invalid":  # refs are kept in a reftable, which only git reads
        done = run_git(repository.work_tree, ["symbolic-ref", "--short", "--quiet", "HEAD"], _LOCATE_TIMEOUT_S)
        return os.fsdecode(done.stdout).strip() or None
    if not reference.startswith("ref: "):
        return None
    return reference.removeprefix("ref: ").strip().removeprefix("refs/heads/")


def remote_url(folder: Path) -> str:
    """Return where the repository around a folder was cloned from: the remote `origin`, empty when there is none."""
    done = run_git(folder, ["config", "--get", "remote.origin.url"], _LOCATE_TIMEOUT_S)
    return os.fsdecode(done.stdout).strip()


def head_revision(repository: Repository) -> str | None:
    """Return the full hash of the commit checked out; None before the first commit."""
    reference = _read_reference(repository.git_dir / "HEAD")
    if reference.startswith("ref: refs/heads/"):
        reference = _read_reference(repository.common_dir / reference.removeprefix("ref: "))
    if re.fullmatch(_REVISION, reference):
        return reference
    done = run_git(repository.work_tree, ["rev-parse", "--verify", "--quiet", "HEAD"], _LOCATE_TIMEOUT_S)
    return os.fsdecode(done.stdout).strip() or None


def list_files(folder: Path, *, own_repository: bool = False, meanwhile: Callable[[], None] | None = None) -> Listing:
    """List what git tracks below a folder of a checkout, and what it does not track but would not ignore either.

    Tracked files are listed whether or not they are still on disk.

    Args:
        folder: any folder of the checkout.
        own_repository: fail rather than answer for the enclosing repository when the folder has none of its own.
        meanwhile: as for `run_git`.

    Raises:
        PathError: if git fails.
    """
    arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = run_git(
        folder, arguments, _LIST_TIMEOUT_S, ceiling=folder.parent if own_repository else None, meanwhile=meanwhile
    )
    if done.returncode:
        raise _refusal(folder, done)
    paths = set(os.fsdecode(done.stdout).split("\0"))  # a file in conflict is listed once for each side
    paths.discard("")
    unreadable = re.findall(_UNREADABLE, done.stderr) if done.stderr else []
    return Listing(sorted(paths), [os.fsdecode(path) for path in unreadable])


def diff_lines(folder: Path, revision: str) -> list[str]:
    """Return what differs below a folder between a revision and the files on disk, as `git diff --unified=0` says it.

    Paths are relative to the folder, without prefixes. For each untracked file there is a line `new PATH`.

    Raises:
        DiffError: if git does not know the revision.
    """
    if revision.startswith("-"):
        raise DiffError(f"{revision!r} is no revision", "name one as git does, such as HEAD~1")
    options = ["--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-prefix", "--no-renames"]
    done = run_git(
        folder, ["-c", "core.quotePath=false", "diff", *options, "--relative", revision, "--", "."], _LIST_TIMEOUT_S
    )
    if done.returncode:
        raise DiffError(
            f"git cannot compare with {revision!r}: {_first_line(done.stderr)}", "see the revisions with: git log"
        )
    others = run_git(folder, ["ls-files", "-z", "--others", "--exclude-standard"], _LIST_TIMEOUT_S)
    new = [f"new {path}" for path in os.fsdecode(others.stdout).split("\0") if path]
    return [*os.fsdecode(done.stdout).split("\n"), *new]


def is_ignored(folder: Path) -> bool:
    """Tell whether git ignores a whole folder of a checkout."""
    return run_git(folder, ["check-ignore", "--quiet", "."], _LOCATE_TIMEOUT_S).returncode == 0


def ignored_among(folder: Path, paths: Sequence[str]) -> set[str]:
    """Return those of some paths that git ignores; they are relative to a folder of a checkout. None if git fails."""
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    done = run_git(folder, ["check-ignore", "-z", "--stdin"], _LOCATE_TIMEOUT_S, given=names)
    return {os.fsdecode(path) for path in done.stdout.split(b"\0") if path}


def run_git(
    folder: Path,
    arguments: list[str],
    timeout_s: float = _LOCATE_TIMEOUT_S,
    *,
    ceiling: Path | None = None,
    given: bytes = b"",
    meanwhile: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, free of the variables of a surrounding git.

    Args:
        folder: where.
        arguments: for git.
        timeout_s: how long to wait for it.
        ceiling: git looks for a repository in folders below this one only.
        given: what git reads.
        meanwhile: what to do while git starts working.

    Raises:
        FileNotFoundError: if git is not installed.
        PathError: if the folder cannot be entered, or git does not end in time.
    """
    environment = environment_for(ceiling)
    command = ["git", "-c", "core.fsmonitor=false", *arguments]  # start no daemon and no program the repository names
    try:
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            try:
                if meanwhile is not None:
                    meanwhile()
                output, complaints = process.communicate(given, timeout_s)
            except BaseException:
                process.kill()
                raise
            return subprocess.CompletedProcess(command, process.returncode, output, complaints)
    except subprocess.TimeoutExpired as error:
        raise PathError(f"git needed more than {timeout_s:.0f} s in {folder}", "try: git status") from error
    except (PermissionError, NotADirectoryError) as error:
        raise PathError(
            f"git cannot run in {folder}: {error.strerror}", "check the permissions of the folder"
        ) from error


def environment_for(ceiling: Path | None) -> dict[str, str]:
    """Return the variables git runs with: it takes no lock, fetches nothing, and speaks English."""
    environment = {name: value for name, value in os.environ.items() if not _is_foreign(name)}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    if ceiling is not None:
        environment["GIT_CEILING_DIRECTORIES"] = os.path.abspath(ceiling)
    return environment


def _is_foreign(name: str) -> bool:
    return name.startswith("GIT_") and re.fullmatch(_FOREIGN_VARIABLE, name) is not None


def _refusal(folder: Path, done: subprocess.CompletedProcess[bytes]) -> PathError:
    """Say why git failed, with its own advice as the hint where it gives one."""
    message = _first_line(done.stderr)
    if message.startswith(("detected dubious ownership", "unsafe repository")):
        lines = os.fsdecode(done.stderr).split("\n")
        advice = next((line.strip() for line in lines if "--add safe.directory" in line), "see: git status")
        return PathError(f"git refuses to read {folder}: {message}", advice)
    if not message.startswith("this operation must be run in a work tree"):
        return PathError(f"git cannot read the repository at {folder}: {message}", "see: git status")
    if done.stdout.startswith(b"true"):
        return PathError(
            f"{folder} is a bare repository: it has no files", "check it out: git worktree add ../checkout"
        )
    return PathError(f"{folder} lies inside the .git folder of a repository", "name the checkout: cairn index PATH")


def _first_line(stderr: bytes) -> str:
    return os.fsdecode(stderr).strip().split("\n", 1)[0].removeprefix("fatal: ")


def _read_reference(path: Path) -> str:
    """Return the content of a reference kept as a file, empty when it is kept elsewhere."""
    try:
        with open(path, "rb", buffering=0) as stream:  # every answer asks for it; as text it takes twice as long
            return stream.readall().decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""
