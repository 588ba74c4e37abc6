"""How the modules of the package import each other: without a circle, and within functions only where it pays."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import cairn

SOURCE = Path(cairn.__file__).parent
MOST_LOCAL = 31  # imports of our own modules within functions; each is a measured gain of start-up time
_PLACE = re.compile(r"cairn(?:\.\w+)+(?=:\w+$|$)")  # of a module, or of a function in it, as text


class Import(NamedTuple):
    """An import of a module of ours, at run time."""

    importer: str
    imported: str
    line: int
    is_local: bool  # within a function, or by its name as text


def name_of(file: Path) -> str:
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def trees() -> dict[str, ast.Module]:
    return {name_of(file): ast.parse(file.read_bytes()) for file in sorted(SOURCE.rglob("*.py"))}


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements(node: ast.AST, *, in_function: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Yield all nodes that matter at run time, and whether each is in a function."""
    for child in ast.iter_child_nodes(node):
        if is_for_types(child):
            continue
        yield child, in_function
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from statements(child, in_function=in_function or is_function)


def imported_by(node: ast.AST) -> list[str]:
    """Return the modules of ours that a statement imports."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names if one.name in trees()]
    if isinstance(node, ast.ImportFrom) and node.module in trees():
        inner = [f"{node.module}.{one.name}" for one in node.names]
        return [one if one in trees() else node.module for one in inner]
    return []


@cache
def imports() -> tuple[Import, ...]:
    found: list[Import] = []
    for module, tree in trees().items():
        for node, in_function in statements(tree):
            line = getattr(node, "lineno", 0)
            found += [Import(module, name, line, in_function) for name in dict.fromkeys(imported_by(node))]
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                place = _PLACE.match(node.value)
                if place is not None and place[0] in trees():
                    found.append(Import(module, place[0], line, True))
    return tuple(found)


def local_imports() -> list[str]:
    """Return the import statements within functions, as `module:line`."""
    return sorted(
        {
            f"{module}:{getattr(node, 'lineno', 0)}"
            for module, tree in trees().items()
            for node, in_function in statements(tree)
            if in_function and imported_by(node)
        }
    )


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the modules that reach each other, a list for each set of them (Tarjan's strong components)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for other in sorted(edges.get(module, ())):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == order[module]:
            component = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(component) > 1:
                found.append(sorted(component))

    for module in sorted(edges):
        if module not in order:
            visit(module)
    return found


def edges_of(known: tuple[Import, ...]) -> dict[str, set[str]]:
    """Return what each module imports. The package itself, which has the version, comes before all of them."""
    edges: dict[str, set[str]] = {}
    for one in known:
        if one.importer not in ("cairn", one.imported) and one.imported != "cairn":
            edges.setdefault(one.importer, set()).add(one.imported)
    return edges


def test_no_module_imports_itself_in_a_circle_not_even_within_functions_or_by_name() -> None:
    assert circles(edges_of(imports())) == []


def test_few_imports_stand_within_functions() -> None:
    found = local_imports()
    assert len(found) <= MOST_LOCAL, "\n".join(found)


def test_the_graph_of_modules_sees_all_kinds_of_imports() -> None:
    known = {(one.importer, one.imported, one.is_local) for one in imports()}
    assert ("cairn.workspace", "cairn.facets.project_index", False) in known
    assert ("cairn.workspace", "cairn.facets.code", True) in known
    assert ("cairn.cli.commands", "cairn.cli.search", True) in known  # by its name, in a table
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
