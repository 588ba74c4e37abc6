"""Finds definitions that no entry point reaches, cautiously: what is mentioned anywhere is less surely dead."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, deque
from collections.abc import Iterable

from cairn.graph.code import Code, SourceFile, file_of, node_of, place_of
from cairn.graph.graph import Graph
from cairn.graph.resolve import DECORATE
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.symbols import symbol_of
from cairn.graph.values import DeadCode, DeadSymbol
from cairn.source.roles import Role

_SCRIPTS = re.compile(r"(?<![\w.-])[\w.-]+[\"']?\s*=\s*[\"']([\w.]+):([\w.]+)[\"']")
_MAIN = frozenset({"main", "Main", "init", "__main__", "_start", "setUp", "tearDown"})
_PUBLIC_HEAD = re.compile(r"\b(?:pub|public|export|open|protected)\b")
_EXPORTING = frozenset({"javascript", "typescript", "tsx", "rust", "java", "csharp", "kotlin", "php", "scala", "swift"})
_OTHER_ROLES = Role.EXAMPLE | Role.DOCS | Role.CONFIG | Role.DECLARATION
_SURE, _LIKELY, _POSSIBLE = 0.9, 0.6, 0.3


def find_dead(graph: Graph, limit: int = 0) -> DeadCode:
    """Return the functions and types that nothing seems to reach, surest first; `limit` 0 gives all.

    A method is dead only with its type's knowledge: one that overrides, or whose name is called on anything unknown,
    is left out.
    """
    code = graph.code
    code.load_all(graph.progress)
    entries = dict(_entry_points(graph))
    alive = _reachable(graph, entries)
    loosely = _called_on_unknown(code)
    found = [
        dead
        for number in range(len(code.paths))
        for place in range(len(code.file(number).definitions))
        if node_of(number, place) not in alive
        and (dead := _judge(graph, code.file(number), place, alive, loosely)) is not None
    ]
    found.sort(key=lambda one: (-one.confidence, one.symbol.path, one.symbol.line))
    shown = found[: limit or None]
    return DeadCode(tuple(shown), dict(Counter(entries.values())), len(found) - len(shown), graph.notes)


def _reachable(graph: Graph, entries: Iterable[int]) -> set[int]:
    """Return all that entry points lead to; a type that is reached keeps its bases, a method its overloads."""
    code, network = graph.code, graph.network
    alive = set(entries)
    queue = deque(alive)
    while queue:
        node = queue.popleft()
        following = network.targets[network.out_of(node)].tolist()
        if place_of(node) >= 0:
            one = code.definition(node)
            following += code.group(node)
            source = code.file(file_of(node))
            if one.parent >= 0:
                following.append(node_of(file_of(node), one.parent))
            if one.kind in TYPE_KINDS:
                members = source.members.get(one.qualified_name, {})
                runs = [name for name in members if _runs_by_itself(source, name)]
                following += [node_of(source.number, place) for name in runs for place in members[name]]
        for other in following:
            if other not in alive:
                alive.add(other)
                queue.append(other)
    return alive


def _runs_by_itself(source: SourceFile, name: str) -> bool:
    special = name.startswith("__") and name.endswith("__")
    return special or name in ("constructor", source.rules.constructor, "toString", "drop", "fmt", "initialize")


def _entry_points(graph: Graph) -> Iterable[tuple[int, str]]:
    """Yield what runs or is used without being called by the project's code, with the reason."""
    code = graph.code
    scripts = set(_scripts(graph))
    for number in range(len(code.paths)):
        source = code.file(number)
        roles = Role(int(code.snapshot.files.roles[number]))
        yield node_of(number, -1), "the top of a file runs when it is loaded"
        for node in graph.resolver.imported_symbols(number):
            yield node, "imported"
        decorated = {
            scope
            for kind, scope in zip(source.facts.kinds, source.facts.scopes, strict=True)
            if kind == DECORATE and scope >= 0
        }
        exported = {one.name for one in source.facts.imports if not one.module}
        for place, one in enumerate(source.definitions):
            node = node_of(number, place)
            if reason := _reason(code, source, place, roles, place in decorated, exported):
                yield node, reason
            elif (source.path, one.qualified_name) in scripts:
                yield node, "console script"


def _reason(code: Code, source: SourceFile, place: int, roles: Role, decorated: bool, exported: set[str]) -> str:
    one = source.definitions[place]
    if roles & Role.TEST or one.kind == "test":
        return "test"
    if roles & _OTHER_ROLES:
        return "example, configuration or declaration"
    if one.name in _MAIN and (one.parent < 0 or one.kind == "method"):
        return "main function"
    if decorated:
        return "decorated"
    return "public in a library" if _is_public(source, place, exported) and code.is_library(source.path) else ""


def _is_public(source: SourceFile, place: int, exported: set[str]) -> bool:
    one = source.definitions[place]
    if one.name in exported:
        return True
    if source.language in _EXPORTING:
        return bool(_PUBLIC_HEAD.search(one.signature)) or (
            source.language in ("javascript", "typescript", "tsx") and one.parent >= 0
        )
    if source.language == "go":
        return one.name[:1].isupper()
    return not any(part.startswith("_") and not part.startswith("__") for part in one.qualified_name.split("."))


def _scripts(graph: Graph) -> Iterable[tuple[str, str]]:
    """Yield (path, name) of the functions that manifests name as commands."""
    code = graph.code
    for path in code.paths:
        base = posixpath.basename(path)
        if base in ("pyproject.toml", "setup.cfg", "setup.py"):
            for module, name in _SCRIPTS.findall(code.read_text(path)):
                place = code.modules.resolve(module, path, "python")
                if isinstance(place, int):
                    yield code.paths[place], name


def _called_on_unknown(code: Code) -> Counter[str]:
    """Count how often each name stands as the last part of a reference anywhere."""
    names: Counter[str] = Counter()
    for number in range(len(code.paths)):
        facts = code.file(number).facts
        names.update(facts.texts[expression].rpartition(".")[2] for expression in facts.expressions)
    return names


def _judge(graph: Graph, source: SourceFile, place: int, alive: set[int], loosely: Counter[str]) -> DeadSymbol | None:
    one = source.definitions[place]
    node = node_of(source.number, place)
    if one.kind not in FUNCTION_KINDS | TYPE_KINDS or one.kind in ("macro", "impl") or not source.rules.family:
        return None
    if _runs_by_itself(source, one.name) or one.name == "default" or not one.name:
        return None
    outer = one.parent
    if outer >= 0 and node_of(source.number, outer) not in alive:
        return None  # said of what holds it already
    method = outer >= 0 and source.definitions[outer].kind in TYPE_KINDS
    if method and (
        graph.resolver.overridden(node) or graph.resolver.meaning.inherits_outside(node_of(source.number, outer))
    ):
        return None
    if loosely[one.name]:
        return (
            DeadSymbol(symbol_of(graph.code, node), "only names on unknown objects match it", _POSSIBLE)
            if not method
            else None
        )
    said = graph.code.mentioning(one.name) - {source.number}
    if not said:
        return DeadSymbol(symbol_of(graph.code, node), "no other file mentions it, and nothing calls it", _SURE)
    reason = f"nothing calls it, though {len(said)} other file{'s' if len(said) > 1 else ''} may mention its name"
    return DeadSymbol(symbol_of(graph.code, node), reason, _LIKELY)
