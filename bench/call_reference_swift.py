"""Writes what the Swift compiler says each call of a module is to, in the form of call_reference.py.

    swiftc -frontend -dump-ast -module-name NAME -primary-file A.swift -o A.ast B.swift C.swift …   # for each file
    python bench/call_reference_swift.py FOLDER AS_COMPILED DUMPS > reference.jsonl

AS_COMPILED is the path of FOLDER when it was compiled, which the dumps (all `*.ast` in DUMPS) hold. A call is a name
before `(`, `<…>(` or `{`; a call that makes something leads to its `init` or to its type. Operators, subscripts and
calls of what a variable holds are left out.
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
_TYPE = re.compile(r"\((?:struct|class|enum|protocol)_decl range=\[(.+?):(\d+):\d+ - [^\]]*\] \"(\w+)\"")
_CALL = re.compile(r"(?:\w+|`\w+`)(?:<[^(){}]*>)?[ ]?[({]")
_FUNCTION = re.compile(r"\.(\w+)\([^()]*\)\Z")

Target = list[object]


def calls(folder: Path, compiled: str, dumps: Path) -> Iterator[tuple[str, int, str, list[Target]]]:
    """Yield (path, line, name, targets) of each call."""
    lines = [line for dump in sorted(dumps.glob("*.ast")) for line in dump.read_text(errors="replace").split("\n")]
    types: dict[str, list[Target]] = defaultdict(list)
    for line in lines:
        for found in _TYPE.finditer(line):
            target: Target = [found[1].removeprefix(f"{compiled}/"), int(found[2]), found[3]]
            if target not in types[found[3]]:
                types[found[3]].append(target)
    texts: dict[str, list[bytes]] = {}
    sites: dict[tuple[str, int, str], list[Target]] = {}
    for line in lines:
        reference = _REFERENCE.search(line)
        if reference is None or not reference[1].startswith(f"{compiled}/"):
            continue
        path, number = reference[1].removeprefix(f"{compiled}/"), int(reference[2])
        if path not in texts:
            texts[path] = (folder / path).read_bytes().split(b"\n")
        text = texts[path][number - 1][int(reference[3]) - 1 :].decode(errors="replace")
        if not _CALL.match(text):
            continue
        name = re.match(r"`?(\w+)", text)
        if name is not None and (targets := targets_of(reference[4], compiled, types)) is not None:
            sites.setdefault((path, number, name[1]), []).extend(targets)
    for (path, number, called), found_targets in sorted(sites.items()):
        yield path, number, called, found_targets


def targets_of(declaration: str, compiled: str, types: dict[str, list[Target]]) -> list[Target] | None:
    """Return what a declaration, as the compiler prints it, is in the folder; None if it is no function."""
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
