"""The size and the names of classes and modules: what fits in a head, and stands for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "cairn"
MOST_METHODS, MOST_LINES = 20, 500


def _classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield str(file.relative_to(PACKAGE)), node


def test_no_class_name_stands_for_two_classes() -> None:
    places = defaultdict(list)
    for place, node in _classes():
        places[node.name].append(place)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_class_has_more_methods_than_fit_in_a_head() -> None:
    methods = {
        f"{place}: {node.name}": sum(isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) for part in node.body)
        for place, node in _classes()
    }
    assert {name: number for name, number in methods.items() if number > MOST_METHODS} == {}


def test_no_module_is_longer_than_one_reads_at_once() -> None:
    lines = {str(file.relative_to(PACKAGE)): file.read_bytes().count(b"\n") for file in PACKAGE.rglob("*.py")}
    assert {name: number for name, number in lines.items() if number > MOST_LINES} == {}
