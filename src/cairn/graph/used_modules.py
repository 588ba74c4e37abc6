"""Tells what modules of Elixir leave where they are used: what they import, alias and define there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cairn.graph.memo import content_of
from cairn.graph.nodes import file_of
from cairn.graph.rules import FUNCTION_KINDS
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile
from cairn.source.imports import Import, ImportFlag

_USING = re.compile(rb"([ \t]*)using\b.*\bdo[ \t]*$")


class UsedModules:
    """Looks into the modules that files use.

    Args:
        sight: what is seen of the project.
        module_called: returns the node of the module with a full name, None if there is none.
    """

    def __init__(self, sight: Sight, module_called: Callable[[SourceFile, str], int | None]) -> None:
        self._sight = sight
        self._module_called = module_called

    def spaces(self, source: SourceFile) -> list[str]:
        """Return the modules whose functions a file calls by their names alone, each once."""
        return list(dict.fromkeys((*self._defined_by_use(source), *self._imported_modules(source))))

    def _imported_modules(self, source: SourceFile) -> Iterator[str]:
        """Yield the modules of Elixir that a file imports itself, or has imported by one that it uses."""
        for imported in source.stars:
            if not imported.flags & ImportFlag.REEXPORT:
                yield imported.module
            elif (used := self._used_module(source, imported.module)) is not None:
                yield from self._imports_of_users(*used)

    def _used_module(self, source: SourceFile, module: str) -> tuple[int, str] | None:
        """Return a module that is used, as its node and full name."""
        first, _, rest = module.partition(".")
        names = [f"{alias.module}.{alias.name}.{rest}".strip(".") for alias in source.aliases.get(first, ())]
        for name in (*names, module):
            if (node := self._module_called(source, name)) is not None:
                return node, name
        return None

    def _imports_of_users(self, node: int, name: str) -> Iterator[str]:
        """Yield what a module imports where it is used."""
        source = self._sight.file(file_of(node))
        lines = self._lines_for_users(source)
        for imported in source.stars:
            if imported.line in lines and not imported.flags & ImportFlag.REEXPORT:
                yield name if imported.module == "__MODULE__" else imported.module

    def aliases(self, source: SourceFile, name: str) -> Iterator[Import]:
        """Yield what a name stands for by an alias of the modules that a file uses."""
        for imported in source.stars if source.rules.family == "elixir" else ():
            is_used = imported.flags & ImportFlag.REEXPORT
            if is_used and (used := self._used_module(source, imported.module)) is not None:
                other = self._sight.file(file_of(used[0]))
                lines = self._lines_for_users(other)
                yield from (alias for alias in other.aliases.get(name, ()) if alias.line in lines)

    def _defined_by_use(self, source: SourceFile) -> Iterator[str]:
        """Yield the scopes of functions that the modules of Elixir that a file uses define there."""
        for imported in source.stars:
            is_used = imported.flags & ImportFlag.REEXPORT
            if is_used and (used := self._used_module(source, imported.module)) is not None:
                yield from self._scopes_for_users(self._sight.file(file_of(used[0])))

    def _scopes_for_users(self, source: SourceFile) -> tuple[str, ...]:
        """Return the full names of what holds functions that a module defines where it is used."""

        def find() -> tuple[str, ...]:
            lines = self._lines_for_users(source)
            in_using = _lines_of_using(self._sight.code.checkout.read(source.number) or b"")
            scopes = []
            for definition in source.definitions:
                line, parent = definition.span.start_line, definition.parent
                if definition.kind not in FUNCTION_KINDS or line not in lines or parent < 0:
                    continue
                if line in in_using or source.definitions[parent].kind in FUNCTION_KINDS:
                    scopes.append(source.full_name(parent))
            return tuple(dict.fromkeys(scopes))

        return self._sight.memo.recall(("scopes for users", source.number), (), find)

    def _lines_for_users(self, source: SourceFile) -> frozenset[int]:
        """Return the lines of a module of Elixir that go to where it is used.

        These are in `__using__`, in all functions if that applies one of them as in Phoenix, or in `using` of ExUnit.
        """

        def find() -> frozenset[int]:
            self._sight.memo.need(content_of(source.path))
            data = self._sight.code.checkout.read(source.number) or b""
            functions = [definition for definition in source.definitions if definition.kind in FUNCTION_KINDS]
            applies = any(function.name == "__using__" for function in functions) and b"apply(__MODULE__" in data
            spans = [function.span for function in functions if applies or function.name == "__using__"]
            lines = {line for span in spans for line in range(span.start_line, span.end_line + 1)}
            return frozenset(lines | _lines_of_using(data))

        return self._sight.memo.recall(("lines for users", source.number), frozenset(), find)


def _lines_of_using(data: bytes) -> set[int]:
    """Return the lines of the blocks `using do` in a text of Elixir, by their indentation."""
    lines: set[int] = set()
    indent, first = None, 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if indent is None:
            if begins := _USING.match(line):
                indent, first = begins[1], number
        elif line.rstrip() == indent + b"end":
            lines.update(range(first, number + 1))
            indent = None
    return lines
