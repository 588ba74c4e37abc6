"""Writes what clang says each call of a C or C++ project is to; run with a Python that has libclang, apart from Cairn's own.

    python bench/call_reference_c.py FOLDER [FLAG...] > reference.jsonl

The form is that of call_reference.py. Every folder with a header is searched for includes, so that no build is needed;
what does not compile is read as far as clang gets. FLAGs are for clang, such as -DNAME.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

_SOURCES = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
_MACROS = 1  # CXTranslationUnit_DetailedPreprocessingRecord


def system_includes() -> list[str]:
    """Return where the compiler of this machine looks for headers."""
    said = subprocess.run(["gcc", "-E", "-v", "-xc++", "/dev/null"], capture_output=True, text=True, check=True).stderr
    lines = said.partition("search starts here:\n#include <...> search starts here:")[2] or said
    folders = [line.strip() for line in lines.splitlines() if line.startswith(" /")]
    return [flag for folder in folders for flag in ("-isystem", folder)]


def main() -> int:
    from clang import cindex  # type: ignore[import-not-found]  # noqa: PLC0415 - only in the environment this runs in

    root = Path(sys.argv[1]).resolve()
    headers = [path for ending in ("*.h", "*.hpp") for path in root.rglob(ending)]
    folders = sorted({path.parent for path in headers} | {path.parent.parent for path in headers})
    flags = [f"-I{folder}" for folder in folders if folder.is_relative_to(root)]
    # Headers of the standard library that gcc and clang disagree about would end the reading.
    common = ["-ferror-limit=0", "-w", *sys.argv[2:], *flags, *system_includes()]
    index: Any = cindex.Index.create()
    kinds = cindex.CursorKind
    callable_kinds = {
        *(kinds.FUNCTION_DECL, kinds.CXX_METHOD, kinds.CONSTRUCTOR, kinds.DESTRUCTOR, kinds.FUNCTION_TEMPLATE),
        kinds.CONVERSION_FUNCTION,
    }
    seen: set[tuple[str, int, int]] = set()

    texts: dict[str, list[str]] = {}
    bodies: dict[str, dict[tuple[str, int], str]] = {}  # of what clang gives one name for all files: where it stands
    sites: list[tuple[str, int, str, str]] = []

    @cache
    def relative(name: str) -> str | None:
        path = Path(name).resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else None

    def written(location: Any) -> tuple[str, int, int] | None:
        """Return the path, line and column at which something is written, be it the argument of a macro."""
        file, line, column = cindex.c_object_p(), ctypes.c_uint(), ctypes.c_uint()
        ask = cindex.conf.lib.clang_getFileLocation
        ask(location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), None)
        path = relative(cindex.File(file).name) if file else None
        return None if path is None else (path, line.value, column.value)

    def is_said(name: str, where: tuple[str, int, int]) -> bool:
        """Tell whether a name stands at a place, and does not come from the body of a macro."""
        path, line, column = where
        lines = texts.setdefault(path, (root / path).read_text(encoding="latin-1").splitlines())
        return line <= len(lines) and lines[line - 1][column - 1 :].startswith(name)

    def visit(cursor: Any) -> None:
        for child in cursor.get_children():
            file = child.location.file
            if file is not None and relative(file.name) is None:
                continue
            if child.kind in callable_kinds and (where := written(child.location)) is not None:
                bodies.setdefault(child.get_usr(), {})[where[:2]] = child.spelling.partition("<")[0]
            if child.kind == kinds.CALL_EXPR and child.spelling:
                write(child)
            visit(child)

    def write(call: Any) -> None:
        name = call.spelling.partition("<")[0]
        callee = next(iter(call.get_children()), None)
        while callee is not None and callee.kind == kinds.UNEXPOSED_EXPR:
            callee = next(iter(callee.get_children()), None)
        has_name = callee is not None and callee.kind in (kinds.MEMBER_REF_EXPR, kinds.DECL_REF_EXPR)
        own = written(callee.location if has_name and callee.spelling == call.spelling else call.location)
        if own is None or own in seen or not is_said(name, own):
            return
        seen.add(own)
        target = call.referenced
        is_known = target is not None and target.kind in callable_kinds
        sites.append((*own[:2], name, target.get_usr() if is_known else ""))
        template = cindex.conf.lib.clang_getSpecializedCursorTemplate(target) if is_known else None
        if template is not None and template.kind in callable_kinds:
            sites[-1] = (*own[:2], name, template.get_usr())

    for path in sorted(path for path in root.rglob("*") if path.suffix in _SOURCES):
        standard = "gnu11" if path.suffix == ".c" else "c++17"
        language = _SOURCES[path.suffix]
        try:
            unit = index.parse(str(path), [f"-x{language}", f"-std={standard}", *common])
        except cindex.TranslationUnitLoadError:
            continue
        visit(unit.cursor)
    for file, line, name, target in sites:
        ends = [[*where, called] for where, called in bodies.get(target, {}).items()]
        print(json.dumps([file, line, name, ends if target else None]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
