"""Writes what the Swift compiler says each call of a module is to, in the form of call_reference.py.

    swiftc -frontend -dump-ast -module-name NAME -primary-file A.swift -o A.ast B.swift C.swift …   # for each file
    python bench/call_reference_swift.py FOLDER AS_COMPILED DUMPS > reference.jsonl

AS_COMPILED is the path of FOLDER when it was compiled, which the dumps (all `*.ast` in DUMPS) hold. A call is a name
before `(`, `<…>(` or `{`; a call that makes something leads to its `init` or to its type. Operators, subscripts and
calls of what a variable holds are left out, and so are cases of enumerations.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

_REFERENCE = re.compile(
    r"\((?:declref|other_constructor_ref)_expr .*?location=(.+?):(\d+):(\d+) range.* decl=\"([^\"]*)"
)
_DECLARED = re.compile(r"\A(.*?)(?:@(/[^\"]*?):(\d+):(\d+))?(?: \[with .*)?\Z", re.DOTALL)
_TYPE = re.compile(r"\b(?:struct|class|enum|protocol|actor) (\w+)")
_CALL = re.compile(r"(?:\w+|`\w+`)(?:<[^(){}]*>)?[ ]?[({]")
_FUNCTION = re.compile(r"\.(\w+)\([^()]*\)\Z")

Target = list[object]


def calls(folder: Path, compiled: str, dumps: Path) -> Iterator[tuple[str, int, str, list[Target]]]:
    """Yield (path, line, name, targets) of each call."""
    lines = [line for dump in sorted(dumps.glob("*.ast")) for line in dump.read_text(errors="replace").split("\n")]
    texts = Texts(folder)
    types = declared_types(folder)
    sites: dict[tuple[str, int, str], list[Target]] = {}
    for line in lines:
        reference = _REFERENCE.search(line)
        if reference is None or not reference[1].startswith(f"{compiled}/"):
            continue
        path, number = reference[1].removeprefix(f"{compiled}/"), int(reference[2])
        text = texts.line(path, number)[int(reference[3]) - 1 :].decode(errors="replace")
        if not _CALL.match(text):
            continue
        name = re.match(r"`?(\w+)", text)
        if name is not None and (targets := targets_of(reference[4], compiled, types)) is not None:
            if name[1] == "init" and targets and not texts.has_initializer(targets[0]):
                continue  # the compiler wrote it
            if not targets or any(texts.has_function(target) for target in targets):
                sites.setdefault((path, number, name[1]), []).extend(targets)
    for (path, number, called), found_targets in sorted(sites.items()):
        yield path, number, called, found_targets


def declared_types(folder: Path) -> dict[str, list[Target]]:
    """Return where types are declared, by name."""
    types: dict[str, list[Target]] = defaultdict(list)
    for path in sorted(folder.rglob("*.swift")):
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
            if (found := _TYPE.search(line)) and not line.strip().startswith("//"):
                types[found[1]].append([path.relative_to(folder).as_posix(), number, found[1]])
    return types


class Texts:
    """The lines of the files of a folder, in bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[str, list[bytes]] = {}

    def line(self, path: str, number: int) -> bytes:
        """Return one line; lines count from 1."""
        if path not in self._lines:
            self._lines[path] = (self._folder / path).read_bytes().split(b"\n")
        return self._lines[path][number - 1]

    def has_function(self, target: Target) -> bool:
        """Tell whether a function or a type is declared in a line, and not a case of an enumeration."""
        return re.search(rb"\bcase\b", self.line(str(target[0]), int(str(target[1])))) is None

    def has_initializer(self, target: Target) -> bool:
        """Tell whether an initializer is written in a line."""
        return re.search(rb"\binit\b", self.line(str(target[0]), int(str(target[1])))) is not None


def targets_of(declaration: str, compiled: str, types: dict[str, list[Target]]) -> list[Target] | None:
    """Return what a declaration, as the compiler prints it, is in the folder; None if it is not a function."""
    found = _DECLARED.match(declaration)
    function = _FUNCTION.search(found[1]) if found is not None else None
    if found is None or function is None:
        return None
    targets: list[Target] = []
    if found[2] and found[2].startswith(f"{compiled}/"):
        targets.append([found[2].removeprefix(f"{compiled}/"), int(found[3]), function[1]])
    if function[1] == "init":
        owner = found[1][: function.start()].rpartition(".")[2].removesuffix(" extension")
        targets += types.get(owner, []) if targets or not found[2] else []
    return targets


def main() -> int:
    for site in calls(Path(sys.argv[1]), sys.argv[2].rstrip("/"), Path(sys.argv[3])):
        print(json.dumps(site))
    return 0


if __name__ == "__main__":
    sys.exit(main())
