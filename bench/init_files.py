"""Sets up all agents over configuration files as people write them, takes it back, and counts exact results.

python bench/init_files.py            all files, and what went wrong

Each file of the user takes the place of every file of its format that some agent has in a project; so it is met by each
change that any agent needs there. Its bytes are compared after `init`, a change of the user's, and `uninstall`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.hooks.adapter import Adapter, Block, FileEntry, Item, Place
from cairn.hooks.agents import NAMES, adapter_of
from cairn.install.apply import apply
from cairn.install.plan import FileChange, plan_install, plan_removal
from cairn.install.record import RecordFile
from merge_files import change_first, change_last, change_words, is_valid
from user_files import UserFile, user_files

ADAPTERS = [adapter_of(name) for name in NAMES if "project" in adapter_of(name).levels]
_WORDS = b"# Rules\n\n- No tabs.\n"
TEXTS = [
    UserFile(name, "text", content)
    for name, content in {
        "plain": _WORDS,
        "empty": b"",
        "no newline at the end": _WORDS.rstrip(),
        "empty lines at the end": _WORDS + b"\n\n\n",
        "CRLF": _WORDS.replace(b"\n", b"\r\n"),
        "BOM": b"\xef\xbb\xbf" + _WORDS,
        "CRLF and BOM": b"\xef\xbb\xbf" + _WORDS.replace(b"\n", b"\r\n"),
        "passage of another program": b"<!-- other:start -->\nAsk it.\n<!-- other:end -->\n",
        "one space": b" ",
        "form feeds": b"a\x0cb\x0c\n",
    }.items()
]
Change = Callable[[bytes, str], bytes]


class Result(NamedTuple):
    """What became of a file of the user's; each is empty, or what went wrong.

    Attributes:
        written: ours is in it unless it was left alone, and a second `init` changes nothing.
        restored: after `uninstall` it is what it was, byte for byte.
        edited: with a change of the user's in between, it is what it was with that change.
    """

    written: str = ""
    restored: str = ""
    edited: str = ""


class _Project:
    """A project that has a user's file in the place of each file of its format."""

    def __init__(self, folder: Path, file: UserFile) -> None:
        root = folder / "project"
        root.mkdir()
        self.place = Place("project", root, folder, {})
        self.records = RecordFile("project", root, folder / "state")
        self.adapters = [adapter for adapter in ADAPTERS if _targets(adapter, self.place, file.format)]
        self.files = sorted({path for adapter in self.adapters for path in _targets(adapter, self.place, file.format)})
        for path in self.files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)

    def init(self) -> list[FileChange]:
        known = self.records.read()
        changes = plan_install(self.adapters, self.place, known)
        apply(changes, self.records, known)
        return changes

    def uninstall(self) -> None:
        known = self.records.read()
        apply(plan_removal(self.adapters, self.place, known, every=True), self.records, known)

    def others(self) -> list[str]:
        """Return what else is in the project."""
        return [str(path) for path in self.place.root.rglob("*") if path.is_file() and path not in self.files]


def _targets(adapter: Adapter, place: Place, format: str) -> list[Path]:
    """Return the files of a format that an agent has in a project, and that it shares with the user."""
    return [change.file for change in adapter.changes(place) if _format_of(change) == format]


def _format_of(change: object) -> str:
    return change.format if isinstance(change, FileEntry | Item) else "text" if isinstance(change, Block) else ""


def check(file: UserFile) -> Result:
    """Set up all agents over a file and take it back, with and without a change in between."""
    with tempfile.TemporaryDirectory() as folder:
        project = _Project(Path(folder), file)
        changes = project.init()
        written = next(filter(None, (_unwritten(change) for change in changes if change.file in project.files)), "")
        again = [change.shown for change in project.init() if change.is_change]
        project.uninstall()
        restored = _differences(project, file.content)
    edited = next(filter(None, (_edited(file, change) for change in (change_first, change_last, change_words))), "")
    return Result(written or (f"a second init changes {again}" if again else ""), restored, edited)


def _unwritten(change: FileChange) -> str:
    if change.problem is not None:
        return f"left alone: {change.problem}"
    return "" if b"cairn" in (change.after or b"") else f"{change.shown} lacks ours"


def _edited(file: UserFile, change: Change) -> str:
    expected = _change(change, file.content, file.format)
    if expected == file.content:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        project = _Project(Path(folder), file)
        project.init()
        kept: dict[Path, bytes] = {}
        for path in project.files:
            before = path.read_bytes()
            after = _change(change, before, file.format)
            kept[path] = file.content if after == before else expected
            path.write_bytes(after)
        project.uninstall()
        wrong = [f"{path.name} is {_read(path)[-200:]!r}" for path, content in kept.items() if _read(path) != content]
    return f"{change.__name__}: {wrong[0]}" if wrong else ""


def _change(change: Change, content: bytes, format: str) -> bytes:
    if format == "text":
        return content.replace(b"No tabs", b"No tabs, please") if change is change_words else b"# Ours\n" + content
    new = change(content, format)
    return new if is_valid(new, format) else content


def _differences(project: _Project, expected: bytes) -> str:
    wrong = [f"{path.name} is {_read(path)[-200:]!r}" for path in project.files if _read(path) != expected]
    return wrong[0] if wrong else ", ".join(project.others())


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b"(no file)"


def main() -> int:
    """Check all files and print how many were exact."""
    files: Sequence[UserFile] = [*user_files(), *TEXTS]
    failures: Counter[str] = Counter()
    for file in files:
        for what, problem in check(file)._asdict().items():
            if problem:
                failures[what] += 1
                print(f"{file.name}: {what}: {problem}", flush=True)
    print(f"{len(files)} files, {len(ADAPTERS)} agents")
    for what in Result._fields:
        print(f"{what:10} {len(files) - failures[what]} of {len(files)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
