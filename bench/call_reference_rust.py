"""Writes what rust-analyzer says each call of a Rust workspace is to, in the form of call_reference.py.

    python bench/call_reference_rust.py FOLDER LIBRARIES SYSROOT [--analyzer COMMAND] > reference.jsonl

LIBRARIES holds the sources of other crates, each in a folder NAME-VERSION, as Debian's librust packages install them.
Nothing is compiled: the crates are described to rust-analyzer in FOLDER/rust-project.json, with all their features.
SYSROOT holds lib/rustlib/src/rust. A call is a name before `(`, `::<…>(` or `!`; where a name means several definitions
in the macros around it, each counts.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

_CALL = re.compile(r"\w+\s*(?:::\s*<[^;{}]*?>)?\s*\(|\w+!")
_CALLABLE = re.compile(r"(?:\(\)\.|!)$")
_DEFINITION = 1
_ON = ("unix", 'target_os="linux"', 'target_pointer_width="64"', 'target_has_atomic="64"', 'target_has_atomic="ptr"')
_AROUND = {"test": "tests/*.rs", "bench": "benches/*.rs", "example": "examples/*.rs"}


class Occurrence(NamedTuple):
    """Where a symbol is said; line and columns from 0, columns in bytes."""

    line: int
    start: int
    symbol: str
    is_definition: bool


# -- the project ------------------------------------------------------------------------------------------------------


def describe(folder: Path, libraries: Path) -> dict[str, Any]:
    """Return the crates of a folder, and those they depend on, as rust-project.json describes them."""
    manifests = {path.parent: tomllib.loads(path.read_text()) for path in sorted(folder.rglob("Cargo.toml"))}
    own = {found["package"]["name"]: at for at, found in manifests.items() if "package" in found}
    others = {path.name.rpartition("-")[0]: path for path in sorted(libraries.iterdir())}
    crates: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}

    def add(name: str) -> int | None:
        """Add the library of a crate and those it needs; return its number, None where it has none."""
        if name in numbers:
            return numbers[name]
        at = own.get(name) or others.get(name)
        if at is None:
            return None
        manifest = manifests.get(at) or tomllib.loads((at / "Cargo.toml").read_text())
        root = at / manifest.get("lib", {}).get("path", "src/lib.rs")
        if not root.is_file():
            return None
        number = numbers[name] = len(crates)
        crates.append({})
        crates[number] = _crate(root, manifest, at, needed(manifest, add), is_member=name in own)
        return number

    for name, at in own.items():
        add(name)
        roots = [at / "src/main.rs", *(path for pattern in _AROUND.values() for path in sorted(at.glob(pattern)))]
        for root in roots:
            if root.is_file():
                dependencies = needed(manifests[at], add)
                if name in numbers:
                    dependencies.append({"crate": numbers[name], "name": name.replace("-", "_")})
                crates.append(_crate(root, manifests[at], at, dependencies, is_member=True))
    return {"crates": crates}


def needed(manifest: dict[str, Any], add: Callable[[str], int | None]) -> list[dict[str, Any]]:
    """Return the dependencies of a crate, as rust-project.json describes them."""
    tables = [manifest, *manifest.get("target", {}).values()]
    dependencies = []
    for table in tables:
        for section in ("dependencies", "dev-dependencies"):
            for alias, how in table.get(section, {}).items():
                name = how.get("package", alias) if isinstance(how, dict) else alias
                if section == "dev-dependencies" and name == manifest["package"]["name"]:
                    continue
                if (number := add(name)) is not None:
                    dependencies.append({"crate": number, "name": alias.replace("-", "_")})
    return dependencies


def _crate(
    root: Path, manifest: dict[str, Any], at: Path, dependencies: list[Any], *, is_member: bool
) -> dict[str, Any]:
    edition = manifest["package"].get("edition", "2015")
    return {
        "display_name": manifest["package"]["name"],
        "root_module": str(root),
        "edition": edition if isinstance(edition, str) else "2021",
        "deps": dependencies,
        "is_workspace_member": is_member,
        "cfg": [
            *_ON,
            *(["test"] if is_member else []),
            *(f'feature="{name}"' for name in manifest.get("features", ())),
        ],
        "env": {"CARGO_PKG_NAME": manifest["package"]["name"], "CARGO_MANIFEST_DIR": str(at)},
        "is_proc_macro": bool(manifest.get("lib", {}).get("proc-macro")),
    }


# -- the index --------------------------------------------------------------------------------------------------------


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field of a Protocol Buffers message: an int or bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:  # SCIP has nothing but numbers and what has a length
            length = varint()
            yield key >> 3, data[at : at + length]
            at += length


def documents(index: bytes) -> Iterator[tuple[str, list[Occurrence]]]:
    """Yield the path of each file of an index, with what is said where."""
    for number, document in fields(index):
        if number != 2:
            continue
        path, occurrences = "", []
        for field, value in fields(document):
            if field == 1:
                path = value.decode()
            elif field == 2:
                occurrences.append(_occurrence(value))
        yield path, occurrences


def _occurrence(data: bytes) -> Occurrence:
    found = dict(fields(data))
    at = list(_varints(found[1]))
    return Occurrence(at[0], at[1], found.get(2, b"").decode(), bool(found.get(3, 0) & _DEFINITION))


def _varints(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def calls(folder: Path, index: bytes) -> Iterator[tuple[str, int, str, list[list[object]]]]:
    """Yield (path, line, name, targets) of each call."""
    files = dict(documents(index))
    texts = {path: (folder / path).read_bytes().split(b"\n") for path in files}
    targets: dict[str, list[list[object]]] = defaultdict(list)
    for path, occurrences in files.items():
        for line, start, symbol, is_definition in occurrences:
            if is_definition and _CALLABLE.search(symbol):
                name = re.match(rb"(?:r#)?\w*", texts[path][line][start:])
                targets[symbol].append([path, line + 1, name[0].decode() if name else ""])
    for path, occurrences in sorted(files.items()):
        sites: dict[tuple[int, str], list[list[object]]] = {}
        for line, start, symbol, is_definition in occurrences:
            text = b" ".join(texts[path][line : line + 3])[start:].decode(errors="replace")
            if is_definition or not _CALLABLE.search(symbol) or not _CALL.match(text):
                continue
            called = re.match(r"\w*", text)
            sites.setdefault((line + 1, called[0] if called else ""), []).extend(targets.get(symbol, []))
        for (line, said), found in sorted(sites.items()):
            yield path, line, said, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("libraries", type=Path)
    parser.add_argument("sysroot", type=Path)
    parser.add_argument("--analyzer", default="rust-analyzer", help="the command that starts rust-analyzer")
    options = parser.parse_args()
    folder = options.folder.resolve()
    project = {
        "sysroot_src": str(options.sysroot / "lib/rustlib/src/rust/library"),
        **describe(folder, options.libraries),
    }
    (folder / "rust-project.json").write_text(json.dumps(project))
    with tempfile.NamedTemporaryFile(suffix=".scip") as index:
        command = [*shlex.split(options.analyzer), "scip", str(folder), "--output", index.name]
        subprocess.run(command, check=True, cwd=folder, stdout=sys.stderr)
        for site in calls(folder, Path(index.name).read_bytes()):
            print(json.dumps(site))
    return 0


if __name__ == "__main__":
    sys.exit(main())
