"""Finds the project of an event by the agent's working folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from cairn.hooks.report import Happening
from cairn.memory.moments import Moment
from cairn.source.plumbing import read_small

# Variables in which hosts give their working folder, in addition to the payload.
_VARIABLES = (
    "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR", "DEVIN_PROJECT_DIR", "COPILOT_PROJECT_DIR", "QWEN_PROJECT_DIR",
    "FACTORY_PROJECT_DIR", "CLAUDE_PROJECT_DIR",
)  # fmt: skip


class Whereabouts(NamedTuple):
    """Where an agent works.

    Attributes:
        root: of the project.
        worktree: the top of the linked worktree in which the agent works, empty if it works in the project itself.
        branch: the one checked out in that worktree.
    """

    root: str
    worktree: str = ""
    branch: str = ""


def folders_of(happening: Happening, folder: str, environment: Mapping[str, str]) -> list[str]:
    """Return the folders that may tell the project, best first."""
    folders = [happening.folder, *(environment.get(name, "") for name in _VARIABLES), folder]
    return list(dict.fromkeys(folder for folder in folders if os.path.isabs(folder) and "\0" not in folder))


def find_whereabouts(folders: Iterable[str], roots: Collection[str]) -> Whereabouts | None:
    """Return the whereabouts for the first folder in a project, None if there is none.

    A folder belongs to the nearest project upwards within its git checkout; a linked worktree belongs to the project of
    its main checkout.

    Args:
        folders: absolute.
        roots: of the projects that the user allowed.
    """
    return next((place for folder in folders if (place := _place_of(folder, roots)) is not None), None)


def _place_of(folder: str, roots: Collection[str]) -> Whereabouts | None:
    at = os.path.realpath(folder)
    while at not in roots:
        inner = os.path.join(at, ".git")
        if os.path.lexists(inner):
            return _main_checkout(at, inner, roots)
        above = os.path.dirname(at)
        if above == at:
            return None
        at = above
    return Whereabouts(at)


def _main_checkout(top: str, link: str, roots: Collection[str]) -> Whereabouts | None:
    """Return the project of a linked worktree, which the repository must know, whatever the worktree claims."""
    try:
        text = os.fsdecode(read_small(link)).strip()
        git_dir = os.path.realpath(os.path.join(top, text.removeprefix("gitdir: ")))
        common = os.path.dirname(os.path.dirname(git_dir))
        root = os.path.dirname(common)
        if not text.startswith("gitdir: ") or os.path.basename(common) != ".git" or root not in roots:
            return None
        known = os.fsdecode(read_small(os.path.join(git_dir, "gitdir"))).strip()
        if os.path.realpath(os.path.join(git_dir, known)) != os.path.realpath(link):
            return None
        head = os.fsdecode(read_small(os.path.join(git_dir, "HEAD"))).strip()
    except (OSError, ValueError):
        return None
    branch = head.removeprefix("ref: refs/heads/")
    return Whereabouts(root, top, branch if branch != head else "")


def settle(happening: Happening, place: Whereabouts) -> Happening:
    """Return a happening in a linked worktree as one of its project, with paths relative to the worktree."""
    if not place.worktree:
        return happening
    moments = tuple(_settle(moment, place) for moment in happening.moments)
    return happening._replace(moments=moments)


def _settle(moment: Moment, place: Whereabouts) -> Moment:
    call = moment.call
    if call is not None and os.path.isabs(call.target):
        tops = (place.worktree, os.path.realpath(place.worktree))
        target = next((call.target[len(top) + 1 :] for top in tops if call.target.startswith(top + os.sep)), "")
        call = call._replace(target=Path(target).as_posix() if target else call.target)
    return moment._replace(call=call, branch=moment.branch or place.branch)
