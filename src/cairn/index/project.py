"""Finds which folder is the project and where its state is kept."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cairn.errors import ConfigError, PathError
from cairn.hints import Hint
from cairn.index.seal import is_sealed_index
from cairn.source.git import Repository, is_linked, remote_url

STATE_FOLDER = ".cairn"
_OF_ALL = ("/home", "/Users", "/root")


def project_root(start: Path, repository: Repository | None) -> Path:
    """Return the nearest folder upwards that this user indexed, else the top of the work tree, else the folder."""
    top = repository.work_tree if repository is not None else None
    for folder in (start, *start.parents):
        if is_sealed_index(folder / STATE_FOLDER):  # a state folder that came with a repository does not count
            return folder
        if folder == top:
            return folder
    return start


def is_everything(root: Path | str) -> bool:
    """Tell whether a folder is `/`, a home or the parent of homes, which is a project only if the user names it."""
    at = os.path.realpath(root)
    return at in (os.path.realpath(os.path.expanduser("~")), *_OF_ALL) or os.path.dirname(at) == at


def check_state(folder: Path) -> None:
    """Refuse a state folder that holds other things, since odd files in it get set aside.

    Raises:
        ConfigError: if it is `/`, this user's home, or the parent of homes.
    """
    if is_everything(folder.expanduser()):
        raise ConfigError(
            f"{folder} cannot be the state folder, for it holds much more than an index",
            f"set CAIRN_STATE_DIR to a folder of its own, such as {folder.expanduser() / STATE_FOLDER}",
        )


def resolve_root(path: Path) -> Path:
    """Return the real path of a folder that can be read.

    Raises:
        PathError: if it is missing, is not a directory, or cannot be read.
    """
    try:
        root = path.expanduser().resolve(strict=True)
        if not root.is_dir():
            raise PathError(f"{path} is not a directory", Hint("name a folder", "index", project=None))
        with os.scandir(root) as entries:
            next(entries, None)
    except FileNotFoundError as error:
        raise PathError(f"{path} does not exist", Hint("name an existing folder", "index", project=None)) from error
    except OSError as error:
        raise PathError(f"{path} cannot be read: {error.strerror}", "check its permissions with: ls -ld") from error
    except (RuntimeError, ValueError) as error:  # an unknown user after `~`, a loop of links, a null byte
        raise PathError(
            f"{path} cannot be resolved: {error}", Hint("name an existing folder", "index", project=None)
        ) from error
    return root


def default_state(root: Path, repository: Repository | None) -> Path:
    """Return `.cairn` in the main checkout if `root` is in a work tree, so that linked worktrees share it.

    Worktrees of a bare repository share one inside the repository.
    """
    if repository is None or repository.work_tree != root:
        return root / STATE_FOLDER
    common = repository.common_dir
    if common.parent == root or not is_linked(repository):
        return root / STATE_FOLDER
    if common.name == ".git":
        return common.parent / STATE_FOLDER
    return (root if (root / STATE_FOLDER).exists() else common) / STATE_FOLDER


def name_of(root: Path) -> str:
    """Return the default name of a project: the last part of its git remote, else its folder's name."""
    try:
        url = remote_url(root)
    except OSError:  # git is not installed
        url = ""
    last = re.split(r"[/:\\]", url.rstrip("/"))[-1].removesuffix(".git")
    return last or root.name or "root"
