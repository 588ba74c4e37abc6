"""What comments and docstrings of the package name is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "cairn"
MODULES = {
    ".".join(("cairn", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in PACKAGE.rglob("*.py")
}
FACETS = tuple((PACKAGE / "facets").glob("*.py"))
NAMED = re.compile(r"`(cairn(?:\.\w+)+)`")
MEMBER = re.compile(r"`(Workspace|[A-Z]\w+Facet)\.(\w+)`")


def is_there(dotted: str) -> bool:
    """Tell whether a module, or what is in one, such as a method of a class, is there."""
    if dotted in MODULES:
        return True
    module, names = dotted, list[str]()
    while module not in MODULES:
        module, _, name = module.rpartition(".")
        names.append(name)
    *members, top = names
    text = MODULES[module].read_text(encoding="utf-8")
    is_defined = re.search(rf"^(?:class |def |async def )?{top}\b", text, re.MULTILINE) is not None
    return is_defined and all(re.search(rf"^    (?:def |async def )?{name}\b", text, re.MULTILINE) for name in members)


def members_of_classes() -> dict[str, set[str]]:
    """Return the methods and attributes of the facets and of a workspace, by class."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (PACKAGE / "workspace.py", *FACETS)]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    members = {one.name: {node.name for node in one.body if isinstance(node, ast.FunctionDef)} for one in classes}
    members["Workspace"] |= members["WorkspaceFacets"] | {"root", "settings", "state"}
    return members


def test_every_module_and_name_that_a_text_of_the_package_names_is_there() -> None:
    lost = [
        f"{module}: {named}"
        for module, file in MODULES.items()
        for named in NAMED.findall(file.read_text(encoding="utf-8"))
        if not is_there(named)
    ]
    assert lost == []


def test_every_method_of_a_workspace_that_a_text_of_the_package_names_is_there() -> None:
    members = members_of_classes()
    lost = [
        f"{module}: {class_name}.{name}"
        for module, file in MODULES.items()
        for class_name, name in MEMBER.findall(file.read_text(encoding="utf-8"))
        if name not in members.get(class_name, set())
    ]
    assert lost == []
