"""Tells whether the functions of a file change what is passed to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cairn.source.languages.flow_syntax import FlowSyntax
from cairn.structure.names import NameReader, Passed, base_of

if TYPE_CHECKING:
    import tree_sitter

_LAST_NAME = re.compile(r"(\w+)$")
_OWN_PARAMETERS = frozenset({"self", "cls"})
_MAX_STEPS = 4  # from one function to the next that gets the same
_MAX_NODES = 200_000  # of a file, looked through for its functions
# By value: what a function of Go does to it, only that function sees.
_SHARED_IN_GO = re.compile(r"\s(?:\*|\[\]|map\[|\.\.\.)")


class Callees:
    """The functions of the file around a function."""

    def __init__(self, unit: tree_sitter.Node, syntax: FlowSyntax) -> None:
        self._unit = unit
        self._syntax = syntax
        self._functions: dict[str, list[tree_sitter.Node]] | None = None
        self._known: dict[tuple[int, int | str], bool] = {}

    def knows(self, passed: Passed) -> bool:
        """Tell whether the file has the function that gets a variable, and no other of its name."""
        return self._function(passed.callee) is not None

    def changes(self, passed: Passed) -> bool:
        """Tell whether what a variable is passed to surely may change it; false where that function is elsewhere."""
        function = self._function(passed.callee)
        return function is not None and self._changes(function, passed, _MAX_STEPS)

    def _changes(self, function: tree_sitter.Node, passed: Passed, steps: int) -> bool:
        key = (function.start_byte, passed.argument)
        if key not in self._known:
            self._known[key] = False  # as long as it is being found out
            self._known[key] = steps > 0 and self._find_out(function, passed, steps)
        return self._known[key]

    def _find_out(self, function: tree_sitter.Node, passed: Passed, steps: int) -> bool:
        names = NameReader(self._syntax)
        name = self._parameter(function, passed, names)
        if not name:
            return False
        access = names.access(function.child_by_field_name("body"))
        if any(base_of(written) == name and (written != name or not sure) for written, sure in access.writes.items()):
            return True
        if any(base_of(called) == name for called in access.called):
            return True
        on = [other for other in access.passed if base_of(other.variable) == name]
        return any(
            (inner := self._function(other.callee)) is not None and self._changes(inner, other, steps - 1)
            for other in on
        )

    def _parameter(self, function: tree_sitter.Node, passed: Passed, names: NameReader) -> str:
        """Return the parameter that an argument becomes, empty for none that is shared with the caller."""
        parameters = function.child_by_field_name("parameters")
        found: list[tuple[str, str]] = []
        for child in parameters.named_children if parameters is not None else ():
            text = (child.text or b"").decode("utf-8", "replace")
            found += [(name, text) for name in names.binding(child).writes]
        if found and found[0][0] in _OWN_PARAMETERS and "." in passed.callee:
            del found[0]
        if isinstance(passed.argument, str):
            return next((name for name, _ in found if name == passed.argument), "")
        if passed.argument >= len(found):
            return ""
        name, text = found[passed.argument]
        is_go = function.type in ("function_declaration", "method_declaration") and "func " in _beginning(function)
        return "" if is_go and not _SHARED_IN_GO.search(text) else name

    def _function(self, callee: str) -> tree_sitter.Node | None:
        match = _LAST_NAME.search(callee)
        if match is None:
            return None
        if self._functions is None:
            self._functions = self._find_functions()
        functions = self._functions.get(match[1], ())
        return functions[0] if len(functions) == 1 else None

    def _find_functions(self) -> dict[str, list[tree_sitter.Node]]:
        root = self._unit
        while root.parent is not None:
            root = root.parent
        functions: dict[str, list[tree_sitter.Node]] = {}
        waiting, n_seen = [root], 0
        while waiting and n_seen < _MAX_NODES:
            node = waiting.pop()
            n_seen += 1
            if node.type in self._syntax.functions and (name := node.child_by_field_name("name")) is not None:
                functions.setdefault((name.text or b"").decode("utf-8", "replace"), []).append(node)
            waiting += node.named_children
        return functions


def _beginning(node: tree_sitter.Node) -> str:
    return (node.text or b"")[:10].decode("utf-8", "replace")
