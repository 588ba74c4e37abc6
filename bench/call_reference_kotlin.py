"""Writes what compiled Kotlin says each call is to, in the form of call_reference.py.

    kotlinc -Xno-inline -d CLASSES SOURCES
    python bench/call_reference_kotlin.py FOLDER CLASSES > reference.jsonl

CLASSES is a folder or a jar. The calls are read from `javap`, which says the line of each, and matched to the text of
that line: a name before `(`, `<…>(` or `{`. What the compiler makes of other syntax, such as operators and properties,
is left out. Inlined calls are unknown unless they were compiled as above.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_HEAD = re.compile(
    r"^(?!Compiled)(?:[\w-]+ )*(?:class|interface) ([\w.$-]+)(?:<.*>)?(?: extends ([\w.$,<> ?&-]+?))?"
    r"(?: implements (.+?))? ?\{$"
)
_METHOD = re.compile(r"^  (?:[\w.$<>\[\], ?&-]+ )?([\w.$<>-]+)\(.*\)(?: throws .*)?;$")
_DESCRIPTOR = re.compile(r"^    descriptor: (\S+)$")
_CALL = re.compile(r"^ *(\d+): invoke\w+ .*// (?:Interface)?Method (?:([\w/$-]+)\.)?\"?([\w$<>-]+)\"?:(\S+)$")
_LINE = re.compile(r"^      line (\d+): (\d+)$")
_PACKAGE = re.compile(r"^package +([\w.`]+)", re.MULTILINE)
_GENERIC = re.compile(r"<[^<>]*>")
_MOST_LINES = 12  # of a chain of calls, from the line that the compiler gives to that of the name

Target = list[object]


@dataclass
class Method:
    """One method of a class: where its code begins, and the (line, class, name, descriptor) of what it calls."""

    first_line: int = 0
    calls: list[tuple[int, str, str, str]] = field(default_factory=list)


@dataclass
class Class:
    """One class: the file it was compiled from, what it inherits from, and its methods by name and descriptor."""

    name: str
    file: str = ""
    bases: list[str] = field(default_factory=list)
    methods: dict[tuple[str, str], Method] = field(default_factory=dict)


# -- what was compiled ------------------------------------------------------------------------------------------------


def read_classes(folder: Path) -> dict[str, Class]:
    """Return the classes of a folder by name."""
    classes: dict[str, Class] = {}
    files = sorted(str(path) for path in folder.rglob("*.class"))
    for at in range(0, len(files), 400):
        command = ["javap", "-p", "-c", "-l", "-s", *files[at : at + 400]]
        for found in _parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")):
            classes[found.name] = found
    return classes


def _parse(lines: Sequence[str]) -> Iterator[Class]:
    reading = _Reading()
    for line in lines:
        if line == "}":
            reading.close_method()
            yield reading.current
        else:
            reading.read(line)


def _without_generics(text: str) -> str:
    while (plain := _GENERIC.sub("", text)) != text:
        text = plain
    return text


class _Reading:
    """What was read of a class so far: `calls` with their bytes, and `table` with the lines of bytes, of one method."""

    def __init__(self) -> None:
        self.current, self.method, self.name, self.file = Class(""), Method(), "", ""
        self.calls: list[tuple[int, str, str, str]] = []
        self.table: list[tuple[int, int]] = []

    def read(self, line: str) -> None:
        """Take in one line of what `javap` prints."""
        if line.startswith("Compiled from"):
            self.file = line.split('"')[1]
        elif line.endswith("{") and (found := _HEAD.match(_without_generics(line))):
            self._open_class(found)
        elif found := _METHOD.match(line):
            self.close_method()
            self.name, self.method = found[1].rpartition(".")[2], Method()
        elif found := _DESCRIPTOR.match(line):
            last = re.split(r"[/.]", self.current.name)[-1]
            self.current.methods["<init>" if self.name == last else self.name, found[1]] = self.method
        elif found := _CALL.match(line):
            self.calls.append((int(found[1]), found[2] or self.current.name, found[3], found[4]))
        elif found := _LINE.match(line):
            self.table.append((int(found[1]), int(found[2])))

    def _open_class(self, found: re.Match[str]) -> None:
        self.current = Class(found[1].replace(".", "/"), self.file)
        bases = ",".join(part for part in found.groups()[1:] if part)
        self.current.bases = [base.strip().replace(".", "/") for base in bases.split(",") if base.strip()]
        self.file = ""

    def close_method(self) -> None:
        """Give the calls of a method their lines."""
        if self.table:
            self.method.first_line = self.table[0][0]
        for byte, owner, called, descriptor in self.calls:
            before = [line for line, start in self.table if start <= byte]
            if before:
                self.method.calls.append((before[-1], owner, called, descriptor))
        self.calls.clear()
        self.table.clear()


# -- what was written -------------------------------------------------------------------------------------------------


class Sources:
    """The Kotlin files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.texts: dict[str, list[str]] = {}
        self._places: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path in sorted(folder.rglob("*.kt")):
            text = path.read_text(errors="replace")
            package = _PACKAGE.search(text)
            name = path.relative_to(folder).as_posix()
            self.texts[name] = text.split("\n")
            self._places[package[1].replace("`", "") if package else "", path.name].append(name)

    def path(self, compiled: Class) -> str:
        """Return the path of the file a class was compiled from, empty where it is not known or not the only one."""
        package = compiled.name.rpartition("/")[0].replace("/", ".")
        paths = self._places.get((package, compiled.file), [])
        return paths[0] if len(paths) == 1 else ""

    def line_of_call(self, path: str, line: int, name: str) -> int:
        """Return the line of a call, from the line on that the compiler gives; 0 where no such name is called."""
        call = re.compile(rf"(?<![\w$`]){re.escape(name)}`?\s?(?:<[^()]*>)?\s?[({{]")
        texts = self.texts[path]
        for number in range(line, min(line + _MOST_LINES, len(texts) + 1)):
            text = texts[number - 1]
            found = call.search(text)
            if found and not re.search(r"\bfun\b[^=]*$|\bclass\s+$|:\s*$", text[: found.start()]):
                is_own = number == line or text.strip().startswith((f".{name}", f"?.{name}"))
                return number if is_own else 0
        return 0

    def heads(self, path: str, name: str, *, is_type: bool) -> list[int]:
        """Return the lines on which something is declared."""
        word = r"(?:class|object|interface)\s+" if is_type else r"fun\b[^=({]*?(?:\([^()]*\)\.)?"
        head = re.compile(rf"\b{word}`?{re.escape(name)}`?(?![\w$])")
        return [number for number, text in enumerate(self.texts[path], 1) if head.search(text)]


def plain_name(name: str) -> str:
    """Return a method's name as it was written."""
    return re.sub(r"(?<=\w)[$-].*", "", name)


def targets_of(
    classes: dict[str, Class], sources: Sources, owner: str, name: str, descriptor: str
) -> list[Target] | None:
    """Return the definitions that a call leads to; None for one that was not written as a function."""
    if name == "<init>":
        compiled = classes.get(owner)
        called = re.split(r"[/$]", owner)[-1]
        if compiled is None or not (path := sources.path(compiled)):
            return []
        heads = sources.heads(path, called, is_type=True)
        return [[path, line, called] for line in heads] or None
    found = _declaring(classes, owner, name, descriptor)
    if found is None:
        return []
    compiled, method = found
    path = sources.path(compiled)
    heads = sources.heads(path, plain_name(name), is_type=False) if path else []
    before = [line for line in heads if line <= method.first_line]
    return [[path, line, plain_name(name)] for line in (before[-1:] or heads)] or None


def _declaring(classes: dict[str, Class], owner: str, name: str, descriptor: str) -> tuple[Class, Method] | None:
    """Return the class that declares a method, the owner itself or the nearest one above, and the method."""
    seen, queue = set(), [owner.removesuffix("$DefaultImpls")]
    for current in queue:
        compiled = classes.get(current)
        if compiled is None or current in seen:
            continue
        seen.add(current)
        plain = [
            (key, method) for key, method in compiled.methods.items() if key[0] == plain_name(name) or key[0] == name
        ]
        exact = [method for key, method in plain if key == (name, descriptor)]
        if name.endswith("$default"):  # its code stands in the method of that name
            exact = [method for key, method in plain if not key[0].endswith("$default")] or exact
        if compiled.file and exact:
            return compiled, max(exact, key=lambda method: method.first_line)
        parts = [part for part in classes.values() if part.name.startswith(f"{current}__")]
        queue += [*(part.name for part in parts), *compiled.bases]
    return None


def calls(sources: Sources, classes: dict[str, Class]) -> dict[tuple[str, int, str], list[Target]]:
    """Return the targets of each call by (path, line, name)."""
    sites: dict[tuple[str, int, str], list[Target]] = {}
    for compiled in classes.values():
        path = sources.path(compiled)
        for method in compiled.methods.values() if path else ():
            for line, owner, name, descriptor in method.calls:
                called = re.split(r"[/$]", owner)[-1] if name == "<init>" else plain_name(name)
                if line > len(sources.texts[path]) or not (at := sources.line_of_call(path, line, called)):
                    continue
                targets = targets_of(classes, sources, owner, name, descriptor)
                if targets is not None:
                    kept = sites.setdefault((path, at, called), [])
                    kept += [target for target in targets if target not in kept]
    return sites


def main() -> int:
    sources = Sources(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as unpacked:
        compiled = Path(sys.argv[2])
        if compiled.is_file():
            zipfile.ZipFile(compiled).extractall(unpacked)
            compiled = Path(unpacked)
        classes = read_classes(compiled)
    for site, targets in sorted(calls(sources, classes).items()):
        print(json.dumps([*site, targets]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
