"""Finds definitions that no entry point reaches, cautiously: where a line says the name, nothing is sure."""

from __future__ import annotations

import posixpath
import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cairn import waiting
from cairn.graph.code import Code
from cairn.graph.empty import on_nothing_dead
from cairn.graph.graph import Graph
from cairn.graph.implicit import called_implicitly
from cairn.graph.libraries import Libraries
from cairn.graph.made_names import MadeNames
from cairn.graph.mentions import stem_of
from cairn.graph.network import Ints
from cairn.graph.nodes import NODE_BITS, PLACE_MASK, file_of, node_of, place_of
from cairn.graph.resolve import DECORATE
from cairn.graph.rules import FUNCTION_KINDS, OPEN_KINDS, TYPE_KINDS, VALUE_KINDS
from cairn.graph.sightings import names_pattern
from cairn.graph.source_file import SourceFile, declaration_of
from cairn.graph.symbols import symbol_of
from cairn.graph.unresolved import says_name
from cairn.graph.values import DeadCode, DeadSymbol
from cairn.source.expressions import called_name
from cairn.source.roles import FOREIGN, Role
from cairn.source.text import pluralize

_SCRIPTS = re.compile(r"(?<![\w.-])[\w.-]++[\"']?\s*=\s*[\"']([\w.]+):([\w.]+)[\"']")
_MAIN = frozenset(
    {"main", "Main", "init", "__main__", "_start", "setUp", "tearDown", "wmain", "WinMain", "wWinMain", "DllMain"}
)
_PUBLIC_HEAD = re.compile(r"\b(?:pub|public|export|open|protected)\b")
_DECLARED = re.compile(rb"(?:^|[;{}])[ \t]*(?:(?:export|default|async|declare)[ \t]*)*$")  # before `function`
_ENUMERATOR = re.compile(rb"(?:[{,]|\*/)\s*([A-Za-z_]\w*)")
_GOES_ON = (b"(", b",", b"=", b":", b"?", b"&&", b"||", b"return")  # the end of a line before a value
_HOOKS_OF_HEIRS = {"ruby": "inherited", "python": "__init_subclass__"}  # by which a type learns what derives from it
_IMPLICIT = "called implicitly"
_FOREIGN = "generated or vendored"
_OTHER_ROLES = Role.EXAMPLE | Role.DOCS | Role.CONFIG | Role.DECLARATION
_HIDDEN_HEAD = re.compile(r"\b(?:private|fileprivate|static)\b")
_OPEN_LANGUAGES = frozenset(
    {"c", "cpp", "kotlin", "php", "scala"}
)  # others may use what does not say that it is hidden
# Where what stands in a function or a value may be a member of a type without a name, which overrides another.
_WITH_ANONYMOUS_TYPES = frozenset({"java", "kotlin", "php", "scala"})
# What Rust programs say of definitions without anything running them.
_INERT_ATTRIBUTES = frozenset(
    {"allow", "automatically_derived", "cfg", "cfg_attr", "cold", "default", "deny", "deprecated", "derive", "doc"}
    | {"error", "expect", "forbid", "from", "inline", "must_use", "non_exhaustive", "repr", "rustfmt", "serde", "skip"}
    | {"source", "target_feature", "track_caller", "warn"}
)
_ONLY_UNREACHED = "only unreached code uses it"
_SURE, _LIKELY, _POSSIBLE = 0.9, 0.6, 0.3


def find_dead(graph: Graph, limit: int = 0) -> DeadCode:
    """Return the functions and types that nothing seems to reach, surest first; `limit` 0 gives all.

    Methods that override another, or whose name is called on an object of unknown type, are left out. Outside of Python
    so is whatever a line names that could not be resolved: types are used in more ways than the graph knows there.
    """
    code = graph.code
    code.load_all(graph.progress)
    survey = _survey(graph)
    unreached = _find_unreached(graph, survey)
    files = unreached >> NODE_BITS
    overriding = set(np.intersect1d(graph.network.overriding, unreached).tolist())
    found: list[DeadSymbol] = []
    undecided = 0
    made = MadeNames.of(code)
    for number in np.unique(files).tolist():
        waiting.check()
        source, own = code.file(number), unreached[files == number].tolist()
        unknown = _Unknown(set(own), survey.loosely, overriding, made, survey.libraries)
        implicit = called_implicitly(graph, source)
        places = [place_of(node) for node in own if place_of(node) not in implicit]
        suspects = [place for place in places if _is_suspect(graph, source, place, unknown)]
        judged = [_judge(graph, source, place, unknown) for place in suspects]
        found += _merge_twins(source, suspects, judged)
        undecided += judged.count(None)
    found.sort(key=lambda symbol: (-symbol.confidence, symbol.symbol.path, symbol.symbol.line))
    shown = found[: limit or None]
    entry_points = dict(Counter(survey.entries.values()))
    notes = (*graph.notes, *_note_on_foreign(entry_points.get(_FOREIGN, 0)), *_note(undecided))
    if not found:
        notes = (*notes, *on_nothing_dead(graph))
    return DeadCode(tuple(shown), entry_points, len(found) - len(shown), notes, undecided)


def _note_on_foreign(count: int) -> tuple[str, ...]:
    are = "is" if count == 1 else "are"
    return (f"{pluralize(count, 'definition')} in generated or vendored files {are} left out.",) if count else ()


def _note(undecided: int) -> tuple[str, ...]:
    if not undecided:
        return ()
    is_one = undecided == 1
    count = (
        f"{pluralize(undecided, 'more definition')} that nothing is known to use {'is' if is_one else 'are'} left out"
    )
    return (f"{count}: other lines say {'its name' if is_one else 'their names'}, or make names like it.",)


class _Survey(NamedTuple):
    """What a first pass over all files finds.

    `entries` are the entry points, each with its reason; `sources` and `targets` say which definition keeps which other
    one of its file alive; `loosely` counts how often each name is the last part of a reference anywhere; `libraries`
    tells which files belong to a package that others install.
    """

    entries: dict[int, str]
    sources: array[int]
    targets: array[int]
    loosely: Counter[str]
    libraries: Libraries


def _survey(graph: Graph) -> _Survey:
    code = graph.code
    survey = _Survey({}, array("q"), array("q"), Counter(), Libraries(code))
    scripts, libraries, wanted = set(_scripts(graph)), survey.libraries, _wanted_of_types(code)
    for number in range(len(code.paths)):
        waiting.check()
        source = code.file(number)
        implicit = called_implicitly(graph, source)
        survey.entries.update(_entry_points(graph, source, scripts, libraries, wanted))
        survey.entries.update(
            (node_of(number, place), _IMPLICIT) for place in implicit if not _is_in_type(source, place)
        )
        for keeper, kept in _keeps(source, implicit):
            survey.sources.append(node_of(number, keeper))
            survey.targets.append(node_of(number, kept))
        facts = source.facts
        survey.loosely.update(_delegated(source))
        survey.loosely.update(called_name(facts.texts[expression]) for expression in facts.expressions)
    return survey


def _delegated(source: SourceFile) -> Iterator[str]:
    """Yield the names of functions of Elixir that only pass on to one of the same name in another module."""
    if source.language == "elixir":
        yield from (one.name for one in source.definitions if one.signature.startswith("defdelegate"))


def _is_in_type(source: SourceFile, place: int) -> bool:
    parent = source.definitions[place].parent
    return parent >= 0 and source.definitions[parent].kind in TYPE_KINDS


def _keeps(source: SourceFile, implicit: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield which definition keeps which alive: each its owner, a type what runs by itself, a method its overloads.

    Args:
        source: the file.
        implicit: what is called without its name; see `cairn.graph.implicit`.
    """
    for place, definition in enumerate(source.definitions):
        if definition.parent >= 0:
            yield place, definition.parent
            if place in implicit:
                yield definition.parent, place
        if definition.kind in TYPE_KINDS:
            members = source.members.get(definition.qualified_name, {})
            yield from ((place, other) for name in members if _runs_by_itself(source, name) for other in members[name])
    for owner, by_name in source.members.items():
        for places in by_name.values():
            if len(places) > 1:
                yield from _overloads(source, owner, places)


def _overloads(source: SourceFile, owner: str, places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the same for definitions that share a name, in few pairs; see `cairn.graph.code.Code.group`."""
    for are_functions in (True, False):
        same = [place for place in places if (source.definitions[place].kind in FUNCTION_KINDS) == are_functions]
        own = [place for place in same if _owner_of(source, place) == owner]
        yield from zip(own, [*own[1:], *own[:1]], strict=True)  # a cycle
        yield from ((own[0], place) for place in same if own)


def _owner_of(source: SourceFile, place: int) -> str:
    definition = source.definitions[place]
    return definition.qualified_name[: -len(definition.name) - 1]


def _find_unreached(graph: Graph, survey: _Survey) -> Ints:
    """Return the definitions that no entry point reaches, in ascending order."""
    code, network = graph.code, graph.network
    nodes = np.union1d(np.arange(len(code.paths), dtype=np.int64) << NODE_BITS, code.table.nodes)
    sources = np.searchsorted(nodes, np.concatenate([network.sources, np.array(survey.sources, np.int64)]))
    targets = np.searchsorted(nodes, np.concatenate([network.targets, np.array(survey.targets, np.int64)]))
    order = np.argsort(sources, kind="stable")
    first, targets = np.searchsorted(sources[order], np.arange(len(nodes) + 1)), targets[order]
    alive = np.zeros(len(nodes), np.bool_)
    moved = np.searchsorted(nodes, np.array(sorted(survey.entries), np.int64))
    while len(moved):
        waiting.check()
        alive[moved] = True
        counts = first[moved + 1] - first[moved]
        edges = np.arange(counts.sum()) + np.repeat(first[moved] - (np.cumsum(counts) - counts), counts)
        following = np.unique(targets[edges])
        moved = following[~alive[following]]
    return nodes[~alive & (nodes & PLACE_MASK > 0)]


def _runs_by_itself(source: SourceFile, name: str) -> bool:
    special = name.startswith("__") and name.endswith("__")
    return special or name in ("constructor", source.rules.constructor, "toString", "drop", "fmt", "initialize")


def _entry_points(
    graph: Graph,
    source: SourceFile,
    scripts: Collection[tuple[str, str]],
    libraries: Libraries,
    wanted: Collection[str],
) -> Iterator[tuple[int, str]]:
    """Yield what in a file, or among its imports, runs or is used without a call by the project's code, and why.

    Args:
        graph: the graph.
        source: the file.
        scripts: (path, name) of the functions that manifests name as commands.
        libraries: tells which files belong to a package that others install.
        wanted: see `_wanted_of_types`.
    """
    number = source.number
    roles = Role(int(graph.code.snapshot.files.roles[number]))
    yield node_of(number, -1), "the top of a file runs when it is loaded"
    for node in graph.resolver.symbols_of_imports(number):
        yield node, "imported"
    decorated = {
        scope
        for kind, scope, expression in zip(
            source.facts.kinds, source.facts.scopes, source.facts.expressions, strict=True
        )
        if kind == DECORATE and scope >= 0 and not _is_inert(source, expression)
    }
    exported = {imported.name for imported in source.facts.imports if not imported.module}
    for place, definition in enumerate(source.definitions):
        node = node_of(number, place)
        if reason := _reason(source, place, roles, place in decorated):
            yield node, reason
        elif _is_public(source, place, exported) and libraries.holds(source.path):
            yield node, "public in a library"
        elif (source.path, definition.qualified_name) in scripts:
            yield node, "console script"
        elif source.language == "go" and definition.kind == "method" and definition.name in wanted:
            yield node, "may implement an interface"
        elif source.language == "julia" and _adds_to_a_module(source, place):
            yield node, "adds to a function of a module"


def _wanted_of_types(code: Code) -> set[str]:
    """Return the names of the methods that interfaces of Go want; types do not say that they implement these."""
    wanted: set[str] = set()
    for node in code.table.of_kinds({"interface"}).tolist():
        if code.languages[file_of(node)] == "go":
            source = code.file(file_of(node))
            wanted.update(source.members.get(source.definitions[place_of(node)].qualified_name, ()))
    return wanted


def _adds_to_a_module(source: SourceFile, place: int) -> bool:
    """Tell whether a function of Julia is a method of a function elsewhere, as `Base.show(io, x)` is."""
    definition = source.definitions[place]
    outer = source.definitions[definition.parent].qualified_name if definition.parent >= 0 else ""
    return "." in definition.qualified_name.removeprefix(f"{outer}.")


def _is_inert(source: SourceFile, expression: int) -> bool:
    return source.language == "rust" and source.facts.texts[expression].partition(".")[0] in _INERT_ATTRIBUTES


def _reason(source: SourceFile, place: int, roles: Role, is_decorated: bool) -> str:
    """Return why a definition is an entry point by itself, empty where it is none."""
    definition = source.definitions[place]
    if roles & Role.TEST or definition.kind == "test":
        return "test"
    if roles & FOREIGN:
        return _FOREIGN
    if roles & _OTHER_ROLES:
        return "example, configuration or declaration"
    if definition.name in _MAIN and (definition.parent < 0 or definition.kind == "method"):
        return "main function"
    return "decorated" if is_decorated else ""


def _is_public(source: SourceFile, place: int, exported: set[str]) -> bool:
    definition = source.definitions[place]
    if definition.name in exported:
        return True
    rules = source.rules
    if rules.exports == "word":
        return bool(_PUBLIC_HEAD.search(definition.signature)) or (rules.exports_members and definition.parent >= 0)
    if rules.exports == "capital":
        return definition.name[:1].isupper()
    return not any(part.startswith("_") and not part.startswith("__") for part in definition.qualified_name.split("."))


def _scripts(graph: Graph) -> Iterable[tuple[str, str]]:
    """Yield (path, name) of the functions that manifests name as commands."""
    code = graph.code
    for path in code.paths:
        base = posixpath.basename(path)
        if base in ("pyproject.toml", "setup.cfg", "setup.py"):
            for module, name in _SCRIPTS.findall(code.checkout.read_text(path)):
                place = code.modules.resolve(module, path, "python")
                if isinstance(place, int):
                    yield code.paths[place], name


class _Unknown(NamedTuple):
    """What is known when an unreached definition is judged.

    `unreached` are those of its file, `loosely` and `libraries` are those of `_Survey`, `overriding` are the methods
    that override, and `made` the names that code makes of parts.
    """

    unreached: Collection[int]
    loosely: Counter[str]
    overriding: Collection[int]
    made: MadeNames
    libraries: Libraries


def _is_suspect(graph: Graph, source: SourceFile, place: int, unknown: _Unknown) -> bool:
    """Tell whether a definition that is not reached is one of which something can be said."""
    definition = source.definitions[place]
    node = node_of(source.number, place)
    if definition.kind not in FUNCTION_KINDS | TYPE_KINDS or not source.rules.family or not definition.name:
        return False
    if definition.kind in ("macro", "impl", "extension", "constructor") or definition.name == "default":
        return False
    if _runs_by_itself(source, definition.name) or definition.name == "subscript" or definition.name.startswith("["):
        return False  # the last two are called by brackets and by what the language does
    inheritance = graph.resolver.meaning.inheritance
    hook = _HOOKS_OF_HEIRS.get(source.rules.family) if definition.kind in TYPE_KINDS else None
    if hook is not None and inheritance.member(node, hook) is not None:
        return False
    outer = definition.parent
    if outer >= 0 and node_of(source.number, outer) in unknown.unreached:
        return False  # reported with the definition that contains it
    if outer < 0 or source.definitions[outer].kind not in TYPE_KINDS:
        return outer < 0 or source.language not in _WITH_ANONYMOUS_TYPES or not _is_in_code(source, outer)
    has_unknown_base = inheritance.has_unknown_base(node_of(source.number, outer))
    return not (node in unknown.overriding or has_unknown_base)


def _is_in_code(source: SourceFile, outer: int) -> bool:
    return source.definitions[outer].kind in FUNCTION_KINDS | VALUE_KINDS


def _merge_twins(
    source: SourceFile, places: Sequence[int], judged: Sequence[DeadSymbol | None]
) -> Iterator[DeadSymbol]:
    """Yield verdicts on definitions, one for each declaration: the branches of an `#if` may both have it."""
    merged: dict[object, list[DeadSymbol]] = {}
    for place, verdict in zip(places, judged, strict=True):
        if verdict is not None:
            merged.setdefault(declaration_of(source.definitions[place]), []).append(verdict)
    for first, *others in merged.values():
        lines = ", ".join(str(other.symbol.line) for other in others)
        yield replace(first, reason=f"{first.reason}; also declared in line {lines}") if others else first


def _judge(graph: Graph, source: SourceFile, place: int, unknown: _Unknown) -> DeadSymbol | None:
    """Return the verdict on a definition that is not reached, None where none can be given."""
    waiting.check()
    node, definition, loosely = node_of(source.number, place), source.definitions[place], unknown.loosely
    symbol = symbol_of(graph.code, node)
    if loosely[definition.name]:
        if source.language != "python" or _is_in_type(source, place):
            return None
        reason = _ONLY_UNREACHED if _has_users(graph, node) else "only names on unknown objects match it"
        return DeadSymbol(symbol, reason, _POSSIBLE)
    if source.language != "python" and any(loosely[name] for name in source.members.get(definition.qualified_name, ())):
        return None  # what calls its members may not say its own name
    if _says_enumerator(graph, source, place):
        return None
    said = says_name(graph, node)
    if said is not None:
        reason = f"nothing is known to use it, though {said.path}:{said.line} says its name"
        return DeadSymbol(symbol, reason, _POSSIBLE) if source.language == "python" else None
    if _is_used_unsaid(graph, source, place) or unknown.made.may_be(source, definition.name):
        return None
    if _has_users(graph, node):
        return DeadSymbol(symbol, _ONLY_UNREACHED, _POSSIBLE)
    if _may_be_used_elsewhere(source, place) or unknown.libraries.offers(source, place):
        return DeadSymbol(symbol, "nothing calls it here, though other projects may", _LIKELY)
    is_only = len(graph.code.nodes_named(definition.name)) == 1
    others = "no other line says its name" if is_only else "only definitions say its name"
    return DeadSymbol(symbol, f"nothing calls it, and {others}", _SURE)


def _says_enumerator(graph: Graph, source: SourceFile, place: int) -> bool:
    """Tell whether code says an enumerator of C, which is used without the name of its type."""
    definition = source.definitions[place]
    if source.rules.family != "c" or definition.kind != "enum":
        return False
    data, span = graph.code.checkout.read(source.number) or b"", definition.span
    names = set(_ENUMERATOR.findall(data[span.start_byte : span.end_byte]))
    around = data[: span.start_byte] + data[span.end_byte :]
    if names and names_pattern(frozenset(name.decode("utf-8", "replace") for name in names)).search(around):
        return True
    said = (graph.code.mentions.mentioning(name.decode("utf-8", "replace")) for name in sorted(names))
    return any(number != source.number for numbers in said for number in numbers)


def _has_users(graph: Graph, node: int) -> bool:
    """Tell whether anything beside a definition itself, and what is in it, is known to use it."""
    network, group = graph.network, {node, *graph.code.group(node)}
    users = {user for one in group for user in network.sources[network.into(one)].tolist()}
    return not all(_is_within(graph.code, user, group) for user in users)


def _is_within(code: Code, node: int, outer: Collection[int]) -> bool:
    source, place = code.file(file_of(node)), place_of(node)
    while place >= 0:
        if node_of(source.number, place) in outer:
            return True
        place = source.definitions[place].parent
    return False


def _is_used_unsaid(graph: Graph, source: SourceFile, place: int) -> bool:
    """Tell whether others may use a function of JavaScript, or a type, whatever its own name is.

    So they do with a value that something else holds, and with the default of a file that others name.
    """
    definition = source.definitions[place]
    defaults = {imported.name for imported in source.aliases.get("default", ()) if not imported.module}
    if source.rules.family == "ecmascript" and definition.name in defaults and definition.parent < 0:
        return bool(graph.code.mentions.mentioning(stem_of(source.path)) - {source.number})
    if source.rules.family != "ecmascript" or definition.kind not in ("function", "method"):
        return False
    if definition.kind == "method":  # of a literal, or assigned to an object, where it is in no class
        return definition.parent < 0 or source.definitions[definition.parent].kind not in TYPE_KINDS
    start = definition.span.start_byte
    data = (graph.code.checkout.read(source.number) or b"")[max(0, start - 200) : start]
    before = data.rpartition(b"\n")[2].strip()
    return not _DECLARED.search(before) or (not before and data.rstrip().endswith(_GOES_ON))


def _may_be_used_elsewhere(source: SourceFile, place: int) -> bool:
    """Tell whether the language lets other projects use a definition, though no manifest says that they do."""
    definition = source.definitions[place]
    if source.language in _OPEN_LANGUAGES:
        return not _HIDDEN_HEAD.search(definition.signature)
    if source.rules.exports != "word":
        return False
    owner = source.definitions[definition.parent] if definition.parent >= 0 else None
    is_shared = owner is not None and owner.kind in TYPE_KINDS
    if is_shared and source.rules.exports_members and not definition.name.startswith("#"):
        return not _HIDDEN_HEAD.search(definition.signature)
    if is_shared and owner is not None and owner.kind in OPEN_KINDS:  # whose members say nothing of it
        return bool(_PUBLIC_HEAD.search(owner.signature))
    return bool(_PUBLIC_HEAD.search(definition.signature))
