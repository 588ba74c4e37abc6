"""What hostile repositories are made of: harmless code to begin with, and what must not be reached from it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

CODE = '''"""Keeps sessions."""

import json


class Session:
    """One session of a user."""

    def open(self, path):
        """Open the file at `path`."""
        return load_settings(path)


def load_settings(path):
    """Read settings from a file."""
    with open(path) as stream:
        return json.load(stream)


def run(path):
    total = 0
    for name in Session().open(path):
        total += len(name)
    return total
'''
LAUGHS = "b0: &b0 [x, x]\n" + "".join(f"b{n}: &b{n} [{f'*b{n - 1}, ' * 9}]\n" for n in range(1, 12))
SECRETS = ("AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GITHUB_TOKEN")


class Outside(NamedTuple):
    """What a plant tries to reach.

    `victims` is a folder of files that must not change, `program` a program that must not run, `url` that of a server
    that must not be contacted, and `theirs` a state folder with an index that somebody else made.
    """

    victims: Path
    program: Path
    url: str
    theirs: Path


class Plant(NamedTuple):
    """A hostile repository. `later` is done to it after the user has indexed it once, as a `git pull` would."""

    name: str
    make: Callable[[Path, Outside], None]
    later: Callable[[Path, Outside], None] | None = None


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, without anyone's settings."""
    settings = ("user.name=A", "user.email=a@example.org", "init.defaultBranch=main", "protocol.file.allow=always")
    options = [part for setting in settings for part in ("-c", setting)]
    no_settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *options, *arguments], cwd=folder, env=os.environ | no_settings, check=True, capture_output=True
    )


def make_checkout(folder: Path) -> None:
    """Make a repository with two commits."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "session.py").write_text(CODE)
    (folder / "README.md").write_text("# Sessions\n\nHow settings are read.\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Keep sessions")
    (folder / "src" / "more.py").write_text(
        "from session import load_settings\n\n\ndef more():\n    load_settings('x')\n"
    )
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Keep more")


def commit(folder: Path) -> None:
    """Commit everything, the state folder included, as the repository's owner would."""
    git(folder, "add", "--force", "--all", ".")
    git(folder, "commit", "-qm", "Plant", "--allow-empty")


def remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        for inner in place.iterdir():
            remove(inner)
        place.rmdir()
    else:
        place.unlink(missing_ok=True)


def write(root: Path, name: str, text: str | bytes) -> None:
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())


def pipe(name: str, root: Path, _outside: Outside) -> None:
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)


def link_to(name: str, target: str, root: Path, _outside: Outside) -> None:
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
