"""Measures what commands hold in memory on large projects, all processes together.

    python bench/memory.py make PROJECT --sources FOLDER... --megabytes 80 --copies 4
    python bench/memory.py run PROJECT --state FOLDER --commands index map search edit

`make` writes a project from real source files: each copy after the first has a third of its longer words renamed, in
contents and in paths, so that contents, definitions and imports differ from copy to copy and still fit each other.
`run` adds up the memory of all processes of a command every 20 ms; see `processes.py` for how. Pages of files that the
system may drop at any time are counted separately (`files_mb`, at the time of the peak).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from processes import measure

SUFFIXES = frozenset({".py", ".js", ".ts", ".go", ".c", ".h", ".java", ".rb", ".rs", ".cc", ".sh", ".md"})
MAX_FILE_BYTES = 60_000
_LONG_WORD = re.compile(rb"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]{5,}(?![A-Za-z0-9_])")
_RENAMED_OF = 3  # one word in so many gets another name in a copy

# -- projects ---------------------------------------------------------------------------------------------------------


def make_project(target: Path, sources: Sequence[Path], megabytes: int, copies: int) -> None:
    """Write copies of a random choice of source files, each copy in a folder of its own."""
    chosen = list(_choose(sources, megabytes * 1_000_000))
    for number in range(copies):
        if (folder := target / f"copy{number}").exists():
            continue
        for name, file in chosen:
            data = file.read_bytes()
            copied = folder / os.fsdecode(_rename_words(os.fsencode(name), number))
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(_rename_words(data, number))
        print(f"{folder}: {len(chosen):,} files", flush=True)


def _choose(sources: Sequence[Path], n_bytes: int) -> Iterator[tuple[str, Path]]:
    """Yield (path in the project, file) in random order, the same one every time, until there are enough bytes."""
    found: dict[bytes, tuple[str, Path]] = {}
    for number, source in enumerate(sources):
        for file in sorted(source.rglob("*")):
            if file.suffix in SUFFIXES and file.is_file() and 200 < file.stat().st_size < MAX_FILE_BYTES:
                name = "/".join(_plain(part) for part in file.relative_to(source).parts)
                data = file.read_bytes()
                found.setdefault(zlib.crc32(data).to_bytes(4, "big") + data[:64], (f"part{number}/{name}", file))
    files = list(found.values())
    random.Random(1).shuffle(files)
    for name, file in files:
        if n_bytes <= 0:
            return
        n_bytes -= file.stat().st_size
        yield name, file


def _plain(part: str) -> str:
    """Return a part of a path under which a walk does not take its files for vendored ones."""
    return {"site-packages": "packages", "third_party": "others", "node_modules": "modules", "vendor": "sold"}.get(
        part, part.replace("dist", "given").replace("build", "made")
    )


def _rename_words(text: bytes, copy: int) -> bytes:
    if not copy:
        return text
    mark = b"_%s" % bytes([ord("a") + copy]) * 2
    return _LONG_WORD.sub(
        lambda match: match[0] + mark if zlib.crc32(match[0]) % _RENAMED_OF == copy % _RENAMED_OF else match[0], text
    )


# -- measuring --------------------------------------------------------------------------------------------------------


def run(project: Path, state: Path, names: Sequence[str], symbol: str) -> None:
    """Run some commands on a project and print a line of JSON for each."""
    environment = os.environ | {"CAIRN_STATE_DIR": str(state), "CAIRN_DAEMON": "off"}
    questions = {
        "index": ["index", "--full"],
        "update": ["index"],
        "search": ["search", "parse the command line arguments"],
        "symbol": ["search", "--mode", "symbol", symbol],
        "callers": ["callers", symbol],
        "impact": ["impact", symbol],
        "map": ["map"],
        "dead": ["dead"],
        "cycles": ["cycles"],
        "doctor": ["doctor"],
        "gc": ["gc"],
        "edit": ["index"],
    }
    for name in names:
        if name == "edit":
            _edit(project)
        document = measure([sys.executable, "-m", "cairn", *questions[name], "-C", str(project)], environment)
        print(json.dumps({"project": project.name, "command": name, **document}), flush=True)


def _edit(project: Path) -> None:
    """Add a function to a file."""
    file = next(file for file in sorted(project.rglob("*.py")) if file.stat().st_size > 2_000)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"\n\ndef added_{time.time_ns()}(value):\n    return value\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="action", required=True)
    make = commands.add_parser("make")
    make.add_argument("project", type=Path)
    make.add_argument("--sources", type=Path, nargs="+", required=True)
    make.add_argument("--megabytes", type=int, default=80, help="of source in each copy")
    make.add_argument("--copies", type=int, default=1)
    running = commands.add_parser("run")
    running.add_argument("project", type=Path)
    running.add_argument("--state", type=Path, required=True)
    running.add_argument("--commands", nargs="+", default=["index", "search", "map", "impact", "edit"])
    running.add_argument("--symbol", default="main")
    options = parser.parse_args()
    if options.action == "make":
        make_project(options.project, options.sources, options.megabytes, options.copies)
    else:
        run(options.project, options.state, options.commands, options.symbol)


if __name__ == "__main__":
    main()
