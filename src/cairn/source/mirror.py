"""Cairn's own copies of repositories: fetches a branch and writes its files, without running anything from it.

Everywhere else git only reads. Here it also fetches, and writes objects, references and an index, in a folder that
Cairn made. Cairn itself writes the files as git stores them, so no filter, hook or link of the repository has any
effect.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from cairn.errors import PathError, RequestError
from cairn.source.git import first_complaint
from cairn.source.objects import ObjectReader, TreeEntry, list_tree
from cairn.source.origins import user_of, without_user
from cairn.source.plumbing import environment_for
from cairn.storage.atomic import write_file

_REGULAR = ("100644", "100755")
# Turns off everything that a repository could configure; the rest is the operator's own configuration.
_OPTIONS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor="),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "fetch.recurseSubmodules=false"),
    *("-c", "protocol.allow=never"),
    *("-c", "protocol.https.allow=always"),
    *("-c", "protocol.ssh.allow=always"),
    *("-c", "protocol.file.allow=always"),
)
_PROTOCOLS = "https:ssh:file"
_URL = re.compile(r"(?:https|ssh|file)://[^\s\0]+|[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s\0]+")
_BRANCH = re.compile(r"(?!-)(?!.*\.\.)(?!.*@\{)[^\0-\x20\x7f~^:?*\[\\]+(?<![/.])")
_WRITTEN = "cairn-written"  # in `.git`, names the commit whose files are in the folder
_FETCH_SECONDS = 1_800.0
_QUICK_SECONDS = 60.0


class Mirror:
    """A checkout of one branch.

    Args:
        folder: its folder, which may not exist yet; only Cairn writes to it.
        url: to fetch the branch from.
        branch: the branch's name.

    Raises:
        RequestError: if the URL or the name is invalid.
    """

    def __init__(self, folder: Path, url: str, branch: str) -> None:
        if not _URL.fullmatch(url):
            shown = url.rpartition("@")[2][:200]  # the text before it may be a password
            raise RequestError(f"{shown!r} is not an address of a repository", "use https://, ssh:// or file:///")
        if not _BRANCH.fullmatch(branch):
            raise RequestError(f"{branch[:200]!r} is not the name of a branch", "see: git help check-ref-format")
        self._folder = folder
        self._url = url
        self._branch = branch

    def newest(self) -> str:
        """Return the commit that the branch is at in the remote.

        Raises:
            PathError: if the repository cannot be reached, or has no such branch.
        """
        reference = f"refs/heads/{self._branch}"
        result = self._git(["ls-remote", "--exit-code", "--", self._url, reference], _QUICK_SECONDS, Path("/"))
        return os.fsdecode(result.stdout).split()[0]

    def check_out(self, commit: str, max_file_bytes: int) -> None:
        """Fetch the branch and write the files of one of its commits.

        Args:
            commit: full hash.
            max_file_bytes: larger files are left out.

        Raises:
            PathError: if the repository cannot be reached, or the branch has no such commit.
            OSError: if the files cannot be written.
        """
        self._fetch()
        self._git(["update-ref", f"refs/heads/{self._branch}", commit], _QUICK_SECONDS)
        self._write(commit, max_file_bytes)
        self._git(["read-tree", commit], _QUICK_SECONDS)  # writes the index alone

    def _fetch(self) -> None:
        if not (self._folder / ".git" / "HEAD").exists():
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            self._git(["init", "--quiet", "--template=", f"--initial-branch={self._branch}"], _QUICK_SECONDS)
        reference = f"+refs/heads/{self._branch}:refs/remotes/origin/{self._branch}"
        fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--force"]
        self._git([*fetch, "--", self._url, reference], _FETCH_SECONDS)

    def _write(self, commit: str, max_file_bytes: int) -> None:
        wanted = {entry.path: entry for entry in _writable(list_tree(self._folder, commit), max_file_bytes)}
        note = self._folder / ".git" / _WRITTEN
        there: dict[str, TreeEntry] = {}
        with suppress(OSError, PathError):
            last = note.read_text("ascii").strip()
            there = {entry.path: entry for entry in _writable(list_tree(self._folder, last), max_file_bytes)}
        note.unlink(missing_ok=True)
        if not there:
            self._clear()
        for path in there.keys() - wanted.keys():
            _remove(self._folder, path)
        with ObjectReader(self._folder) as reader:
            for path, entry in wanted.items():
                if path not in there or there[path].object_id != entry.object_id:
                    target = self._folder / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(reader.read(entry.object_id, max_file_bytes))
        write_file(note, f"{commit}\n".encode("ascii"), mode=0o644)

    def _clear(self) -> None:
        for child in self._folder.iterdir():
            if child.name == ".git":
                continue
            if child.is_dir() and not child.is_symlink():
                shutil.rmtree(child)
            else:
                child.unlink()

    def _git(
        self, arguments: list[str], seconds: float, folder: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        environment = environment_for(self._folder)
        environment["GIT_ALLOW_PROTOCOL"] = _PROTOCOLS
        environment.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
        try:
            result = subprocess.run(
                ["git", *_OPTIONS, *arguments],
                cwd=folder or self._folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:  # it contains the URL
            raise PathError(f"git takes more than {seconds:g} s to {arguments[0]}", "try again later") from None
        if result.returncode:
            what = self._without_secrets(first_complaint(result)) or "it has no such branch"
            where = without_user(self._url)
            raise PathError(f"git cannot {arguments[0]} {where}: {what}", "see whether git can: git ls-remote URL")
        return result

    def _without_secrets(self, complaint: str) -> str:
        """Return git's output without the URL's user name and password, which ssh prints decoded."""
        if user := user_of(self._url):
            for said in (user, unquote(user)):
                complaint = complaint.replace(f"{said}@", "")
        return without_user(complaint)


def _writable(entries: Iterable[TreeEntry], max_file_bytes: int) -> Iterable[TreeEntry]:
    """Yield a commit's regular files that may be written: none into git's own folder, however spelled."""
    for entry in entries:
        parts = [part.rstrip(". ").casefold() for part in entry.path.split("/")]
        is_of_git = any(part in (".git", "git~1") or "\u200c" in part or not part for part in parts)
        if entry.mode in _REGULAR and 0 <= entry.size <= max_file_bytes and not is_of_git:
            yield entry


def _remove(folder: Path, path: str) -> None:
    """Remove a file, and folders that this leaves empty."""
    target = folder / path
    target.unlink(missing_ok=True)
    for parent in target.parents:
        if parent == folder:
            return
        try:
            parent.rmdir()
        except OSError:  # the folder is not empty
            return
