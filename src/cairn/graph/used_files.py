"""Finds the files whose part of a package a file uses, where an import names the package alone, as `using Shop;`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cairn.graph.code import Code
from cairn.graph.memo import content_of
from cairn.graph.namesakes import MAX_NAMESAKES, are_kin
from cairn.graph.nodes import file_of, place_of
from cairn.graph.rules import NAMESPACE_KINDS, TYPE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile

_NO_CODE = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_TYPE_WORD = re.compile(rb"\b[A-Z]\w*(?=\W)", re.ASCII)


def files_used(sight: Sight, source: SourceFile, targets: Iterable[int]) -> dict[str, set[int]]:
    """Return, by packages, the files whose part of one a file uses.

    Args:
        sight: what files see of each other.
        source: the file.
        targets: the definitions that its references lead to.
    """
    files = _files_of_types_said(sight, source)
    for node in targets:
        files.setdefault(_package_of(sight.code, node), set()).add(file_of(node))
    return files


def _files_of_types_said(sight: Sight, source: SourceFile) -> dict[str, set[int]]:
    """Return the files with types that a file says the names of, outside of comments and texts, by packages."""
    sight.memo.need(content_of(source.path))
    code = sight.code
    text = _NO_CODE.sub(b" ", code.checkout.read(source.number) or b"")
    files: dict[str, set[int]] = {}
    for name in set(_TYPE_WORD.findall(text)):
        for node in sight.nodes_named(name.decode())[:MAX_NAMESAKES]:
            is_type = code.definition(node).kind in TYPE_KINDS and are_kin(source, code.file(file_of(node)))
            if is_type and not _is_within_type(code, node):
                files.setdefault(_package_of(code, node), set()).add(file_of(node))
    return files


def _package_of(code: Code, node: int) -> str:
    """Return the package, or namespace, in which a definition is at the top or within something else."""
    other, place = code.file(file_of(node)), place_of(node)
    if place < 0:
        return ""
    while (outer := other.definitions[place].parent) >= 0 and other.definitions[outer].kind not in NAMESPACE_KINDS:
        place = outer
    return other.full_name(place).rpartition(".")[0]


def _is_within_type(code: Code, node: int) -> bool:
    outer = code.definition(node).parent
    return outer >= 0 and code.file(file_of(node)).definitions[outer].kind not in NAMESPACE_KINDS
