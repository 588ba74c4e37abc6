"""pyproject.toml declares what the code imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "cairn").rglob("*.py"))
INSTALLED = packages_distributions()
# Parts of others that promise nothing about the next version, without an underscore to say so.
PRIVATE = ("uvicorn.protocols",)


def declared() -> dict[str, str]:
    """Return what stands behind the name of each dependency, those of extras among them."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    found = (re.fullmatch(r"([\w.-]+)(.*)", line) for line in lines)
    return {match[1].lower().replace("_", "-"): match[2] for match in found if match is not None}


def imported(text: str) -> Iterator[str]:
    """Yield the modules that a source imports wherever it does, each with what is imported from it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{one.name}" for one in node.names)


def third_party() -> set[str]:
    found = {name for file in SOURCES for name in imported(file.read_text(encoding="utf-8"))}
    return {one for one in found if one.partition(".")[0] not in {*sys.stdlib_module_names, "cairn"}}


def distribution_of(module: str) -> str:
    """Return the name under which a module is installed; of an extra that is not here, its own."""
    top = module.partition(".")[0]
    return INSTALLED.get(top, [top])[0].lower().replace("_", "-")


def test_every_module_that_is_imported_is_declared() -> None:
    found = {distribution_of(one) for one in third_party()}
    assert {"h11", "numpy", "uvicorn"} <= found  # the search for imports finds some
    assert found <= set(declared())


@pytest.mark.parametrize("module", sorted(one for one in third_party() if "._" in one or one.startswith(PRIVATE)))
def test_a_dependency_whose_private_parts_are_used_has_an_upper_bound(module: str) -> None:
    assert "<" in declared()[distribution_of(module)]
