"""Writes what clang says each call of a C or C++ project is to; run with a Python that has libclang, not with Cairn's.

    python bench/call_reference_c.py FOLDER [FLAG...] > reference.jsonl

The form is that of call_reference.py. Every folder with a header is searched for includes, so that no build is needed;
what does not compile is read as far as clang gets. FLAGs are for clang, such as -DNAME.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_SOURCES = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
_KEEP_GOING = 0x200  # after an include that is missing
_CALLABLE = frozenset(
    {"FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "FUNCTION_TEMPLATE", "CONVERSION_FUNCTION"}
)
Cursor = Any  # of libclang, which has no types


class Place(NamedTuple):
    """Where something is written."""

    path: str
    line: int
    column: int


class Reader:
    """Collects the calls of a project, and where what clang has one name for is declared and defined.

    Args:
        root: the folder.
        cindex: libclang's module.
    """

    def __init__(self, root: Path, cindex: Any) -> None:  # noqa: ANN401 - it has no types
        self._root = root
        self._cindex = cindex
        self._places: dict[str, dict[tuple[str, int], str]] = {}
        self._sites: dict[Place, tuple[str, str]] = {}

    def read(self, cursor: Cursor) -> None:
        """Collect what is under a node."""
        for child in cursor.get_children():
            file = child.location.file
            if file is not None and relative(file.name, self._root) is None:
                continue
            if child.kind.name in _CALLABLE and (where := self._written(child.location)) is not None:
                self._places.setdefault(child.get_usr(), {})[where[:2]] = child.spelling.partition("<")[0]
            if child.kind.name == "CALL_EXPR" and child.spelling:
                self._add(child)
            self.read(child)

    def rows(self) -> Iterator[list[object]]:
        """Yield each call with what it leads to."""
        for site, (name, target) in self._sites.items():
            ends = [[*where, called] for where, called in self._places.get(target, {}).items()]
            yield [site.path, site.line, name, ends if target else None]

    def _written(self, location: Any) -> Place | None:  # noqa: ANN401 - see above
        """Return where something is written, be it in the arguments of a macro."""
        file, line, column = self._cindex.c_object_p(), ctypes.c_uint(), ctypes.c_uint()
        ask = self._cindex.conf.lib.clang_getFileLocation
        ask(location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), None)
        path = relative(self._cindex.File(file).name, self._root) if file else None
        return None if path is None else Place(path, line.value, column.value)

    def _is_said(self, name: str, where: Place) -> bool:
        """Tell whether a name stands at a place, and does not come from the body of a macro."""
        lines = lines_of(self._root / where.path)
        return where.line <= len(lines) and lines[where.line - 1][where.column - 1 :].startswith(name)

    def _add(self, call: Cursor) -> None:
        name = call.spelling.partition("<")[0]
        callee: Cursor = next(iter(call.get_children()), None)
        while callee is not None and callee.kind.name == "UNEXPOSED_EXPR":
            callee = next(iter(callee.get_children()), None)
        has_name = callee is not None and callee.kind.name in ("MEMBER_REF_EXPR", "DECL_REF_EXPR")
        own = self._written(callee.location if has_name and callee.spelling == call.spelling else call.location)
        if own is None or own in self._sites or not self._is_said(name, own):
            return
        target = call.referenced
        if target is None or target.kind.name not in _CALLABLE:
            self._sites[own] = (name, "")
            return
        template = self._cindex.conf.lib.clang_getSpecializedCursorTemplate(target)
        is_instance = template is not None and template.kind.name in _CALLABLE
        self._sites[own] = (name, (template if is_instance else target).get_usr())


@cache
def relative(name: str, root: Path) -> str | None:
    """Return the path of a file within a folder, None outside of it."""
    path = Path(name).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


@cache
def lines_of(path: Path) -> list[str]:
    """Return the lines of a file."""
    return path.read_text(encoding="latin-1").splitlines()


def system_includes() -> list[str]:
    """Return where the compiler of this machine looks for headers."""
    said = subprocess.run(["gcc", "-E", "-v", "-xc++", "/dev/null"], capture_output=True, text=True, check=True).stderr
    folders = [line.strip() for line in said.splitlines() if line.startswith(" /")]
    return [flag for folder in folders for flag in ("-isystem", folder)]


def main() -> int:
    from clang import cindex  # type: ignore[import-not-found]  # noqa: PLC0415 - only in the environment this runs in

    root = Path(sys.argv[1]).resolve()
    headers = [path for ending in ("*.h", "*.hpp") for path in root.rglob(ending)]
    folders = sorted({path.parent for path in headers} | {path.parent.parent for path in headers})
    includes = [f"-I{folder}" for folder in folders if folder.is_relative_to(root)]
    common = ["-ferror-limit=0", "-w", *sys.argv[2:], *includes, *system_includes()]
    reader = Reader(root, cindex)
    index: Any = cindex.Index.create()
    for path in sorted(path for path in root.rglob("*") if path.suffix in _SOURCES):
        standard = "gnu11" if path.suffix == ".c" else "c++17"
        flags = [f"-x{_SOURCES[path.suffix]}", f"-std={standard}", *common]
        try:
            reader.read(index.parse(str(path), flags, options=_KEEP_GOING).cursor)
        except cindex.TranslationUnitLoadError:
            continue
    for row in reader.rows():
        print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
