"""Finds what the graph does not know: lines that call something by a name, and that no edge explains."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, Self

from cairn import waiting
from cairn.graph.broken import lines_of_broken_calls
from cairn.graph.call_shapes import CallShapes
from cairn.graph.graph import Graph
from cairn.graph.implementations import SAYS_ALL, names_of_types_above
from cairn.graph.linkage import SOURCES_OF_C, keeps_to_itself
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.reader import FOR_LINES, Reader
from cairn.graph.resolve import CALL, Edge
from cairn.graph.rules import FUNCTION_KINDS, OPEN_KINDS, TYPE_KINDS, VALUE_KINDS
from cairn.graph.sightings import (
    BARE_CALLS,
    Sighting,
    find_in_template,
    find_sightings,
    is_only_template,
    names_pattern,
    words_in,
)
from cairn.graph.source_file import SourceFile, is_of_platform, runs_when_made
from cairn.graph.tally import MOST_SHOWN, LineTally, files_for, files_with
from cairn.graph.values import Mention, Unresolved
from cairn.hints import Hint
from cairn.source.expressions import called_name
from cairn.source.languages import BY_NAME, CONFIGURING
from cairn.source.text import pluralize
from cairn.types import Definition

_TELLING_CHARS = 10  # of a name that hardly means anything else
_ENOUGH_FILES = 400  # read for the names that thousands of files say; more are read only while there is no such line
_MOST_NAMES = 20  # of a change
_MADE = re.compile(rb"\bnew\b[^{}]*\{")


def unresolved_calls(
    graph: Graph,
    nodes: Sequence[int],
    known: Collection[Edge],
    among: Collection[int] | None = None,
    enough_files: int = _ENOUGH_FILES,
    reader: Reader | None = None,
) -> Unresolved | None:
    """Return the lines that may call some definitions, beside the known calls; None if there are none.

    Without a known call, any line that says the name will do, unless one stands where something is called. A call with
    more or fewer arguments than they take, of something that is none of them, or in a script of another language, only
    says the name.

    Args:
        known: the edges that are known to call them.
        among: the files to look at, all by default.
        enough_files: after so many, others are read only while there is no such line.
        reader: says how long there is time, and which files were not read; all are without one.
    """
    names = _names_called(graph, nodes)
    if not names:
        return None
    calls, others = LineTally("call", names), LineTally("name", names)
    reader = reader or graph.reader(is_patient=True)
    general = reader.look_up(lambda: _General.of(graph, nodes, is_uncalled=not known))
    if general is None:
        return None
    shapes = CallShapes.of(graph, nodes)
    lines_known: dict[int, set[int]] = {}
    for edge in known:
        lines_known.setdefault(file_of(edge.source), set()).add(edge.line)
    says = partial(graph.code.mentions.mentions, names=names)
    languages = {graph.code.languages[file_of(node)] for node in nodes} | (
        _naming_code(names) if not known else frozenset()
    )
    for n_files, number in enumerate(reader.look_at(files_for(graph, names, among, languages), says)):
        waiting.check()
        if n_files >= enough_files and calls.lines:
            calls.is_least = others.is_least = True
            break
        data = graph.code.checkout.read(number)
        if data is None or not names_pattern(words_in(graph.code.paths[number], names)).search(data):
            continue
        source, explained = graph.code.file(number), lines_known.get(number, ())
        if not general.may_be_called_in(graph, source, nodes):
            continue
        look = partial(_confirmed_and_unexplained, graph, source, data, names, explained, general, shapes)
        confirmed, sightings = reader.look_up(look) or ((), ())
        may_call = (
            source.language not in BARE_CALLS or source.language in languages
        )  # a word of a script is any command
        for sighting in sightings:
            tally = calls if sighting.is_call and may_call else others
            tally.add(source.path, sighting.line, is_confirmed=sighting.line in confirmed)
    calls.is_least = others.is_least = calls.is_least or reader.lines_left
    return calls.result() if calls.lines or known else others.result()


def _confirmed_and_unexplained(
    graph: Graph,
    source: SourceFile,
    data: bytes,
    names: frozenset[str],
    known: Collection[int],
    general: _General,
    shapes: CallShapes | None,
) -> tuple[Collection[int], Sequence[Sighting]]:
    """Return the lines of a file that are code and say one of some names, and those that no edge explains."""
    confirmed = _lines_of_code(source, names)
    confirmed |= lines_of_broken_calls(source, data, names, confirmed)
    return confirmed, list(_unexplained(graph, source, data, names, confirmed, known, general, shapes))


def says_name(graph: Graph, node: int) -> Mention | None:
    """Return a line that says the name of a definition and that no edge explains, None if there is none."""
    names = frozenset({_name_said(graph.code.file(file_of(node)), graph.code.definition(node))})
    general = _General.of(graph, [node], is_uncalled=True)
    for number in files_with(graph, names, None, _naming_code(names)):
        waiting.check()
        data = graph.code.checkout.read(number)
        if data is None or not names_pattern(words_in(graph.code.paths[number], names)).search(data):
            continue
        source = graph.code.file(number)
        for sighting in _unexplained(graph, source, data, names, _lines_of_code(source, names), (), general):
            return Mention(source.path, sighting.line, min(names))
    return None


def _names_called(graph: Graph, nodes: Sequence[int]) -> frozenset[str]:
    """Return what calls of some definitions say: for a constructor, the name of its type."""
    names: list[str] = []
    for node in nodes:
        source, place = graph.code.file(file_of(node)), place_of(node)
        if place < 0:
            continue
        definition = source.definitions[place]
        if runs_when_made(source, place):
            names.append(source.definitions[definition.parent].name)
        else:
            names.append(_name_in_full(graph, source, definition) or _name_said(source, definition))
    return frozenset(list(dict.fromkeys(filter(None, names)))[:_MOST_NAMES])


def _naming_code(names: Collection[str]) -> frozenset[str]:
    """Return the languages of settings, which may name code to run, if no name is too short to mean that there."""
    return CONFIGURING if min(map(len, names)) >= _TELLING_CHARS else frozenset()


def _name_said(source: SourceFile, definition: Definition) -> str:
    """Return what lines say that mean a definition: of `price=` in Ruby `price`, as in `item.price = 1`."""
    is_setter = source.language == "ruby" and definition.name[:-1].isidentifier()
    return definition.name.removesuffix("=") if is_setter else definition.name


def _name_in_full(graph: Graph, source: SourceFile, definition: Definition) -> str:
    """Return the qualified name of a definition of a format, such as a block of Terraform, if anything says it."""
    name = definition.qualified_name
    if BY_NAME[source.language].group == "code" or name == definition.name:
        return ""
    return name if graph.code.mentions.mentioning(name) else ""


class _General(NamedTuple):
    """What a line may mean that in effect means one of some definitions, which override or implement it.

    Attributes:
        nodes: methods they override; the type that a constructor makes.
        types: the names of all types above theirs, since parts of a type may be in files that do not say its bases.
        twins: the qualified names of those that other files see without an import: one may be declared in a header, or
            have another body for another platform.
        is_any: whether it may be anything, since one of them says that it overrides what nobody found.
        is_held: whether all are functions, which a value of their name may hold.
        variables: functions beside them that a variable of JavaScript holds, as it may hold them after an assignment.
        is_static: whether all are static methods, which are not called by way of an interface.
        is_uncalled: whether no call of them is known. Then a method of Rust may be the one of another file beside its
            own: which of both is compiled can depend on the system.
    """

    nodes: frozenset[int]
    types: frozenset[str]
    twins: frozenset[str]
    is_any: bool
    is_held: bool
    variables: frozenset[int]
    is_static: bool
    is_uncalled: bool

    @classmethod
    def of(cls, graph: Graph, nodes: Sequence[int], *, is_uncalled: bool) -> Self:
        """Find it for some definitions."""
        found = {other for other in graph.call_targets(nodes)[0] if other not in nodes}
        is_any = False
        for node in nodes:
            bases = graph.connections.overridden(node)
            is_any = is_any or (not bases and (_says_override(graph, node) or _is_in_nameless_type(graph, node)))
            found.update(bases)
        twins = frozenset(filter(None, (_shared_name(graph, node, is_uncalled=is_uncalled) for node in nodes)))
        is_held = all(place_of(node) >= 0 and graph.code.definition(node).kind in FUNCTION_KINDS for node in nodes)
        is_static = all(_is_static(graph, node) for node in nodes)
        types = frozenset(names_of_types_above(graph, nodes))
        variables = frozenset(other for node in nodes for other in _held_beside(graph, node))
        return cls(frozenset(found), types, twins, is_any, is_held, variables, is_static, is_uncalled)

    def has(self, graph: Graph, target: int) -> bool:
        """Tell whether a definition is one, or belongs to an interface, which types of many languages fit unsaid."""
        if self.is_any or target in self.nodes:
            return True
        if self.is_held and place_of(target) >= 0 and graph.code.definition(target).kind in VALUE_KINDS:
            return True
        if target in self.variables:
            return True
        if _shared_name(graph, target, is_uncalled=self.is_uncalled) in self.twins:
            return True
        if self.is_static:
            return False
        source, place = graph.code.file(file_of(target)), place_of(target)
        parent = source.definitions[place].parent if place >= 0 else -1
        owner = source.definitions[parent] if parent >= 0 else None
        return owner is not None and (_is_open(source, parent) or owner.name in self.types)

    def may_be_called_in(self, graph: Graph, source: SourceFile, nodes: Sequence[int]) -> bool:
        """Tell whether a file may call one of the definitions.

        Another one may call what a file of C keeps to itself by way of a base, and a header by way of a template.
        """
        if self.types or self.is_any or not source.path.endswith(SOURCES_OF_C):
            return True
        return any(graph.resolver.meaning.namesakes.may_see(source, node) for node in nodes)


def _shared_name(graph: Graph, node: int, *, is_uncalled: bool) -> str:
    """Return the qualified name of a definition that files share without an import, empty for any other."""
    source, place = graph.code.file(file_of(node)), place_of(node)
    if is_uncalled and source.language == "rust" and place >= 0 and source.definitions[place].parent >= 0:
        return f"{posixpath.dirname(source.path)}/{source.definitions[place].qualified_name}"
    if place < 0 or keeps_to_itself(source, place):
        return ""
    is_shared = source.rules.package in ("all", "directory") or is_of_platform(source, place)
    return source.definitions[place].qualified_name if is_shared else ""


def _held_beside(graph: Graph, node: int) -> Iterator[int]:
    """Yield the functions of a file of JavaScript that have the name of one which is assigned to a variable there."""
    source, place = graph.code.file(file_of(node)), place_of(node)
    if place < 0 or source.rules.family != "ecmascript" or source.definitions[place].kind != "function":
        return
    name = source.definitions[place].name
    if source.definitions[place].signature.startswith(f"{name} ="):
        for other, definition in enumerate(source.definitions):
            if other != place and definition.name == name and definition.kind == "function":
                yield node_of(source.number, other)


def _is_static(graph: Graph, node: int) -> bool:
    """Tell whether a definition is a method of a type itself, which no object stands for.

    In JavaScript a class is an object, too, and may be taken for one that has such a method.
    """
    head = graph.code.definition(node).signature.partition("(")[0] if _owner_of(graph, node) else ""
    return "static" in head.split() and graph.code.file(file_of(node)).rules.family != "ecmascript"


def _is_open(source: SourceFile, place: int) -> bool:
    """Tell whether types fit a type that need not say so: an interface of many languages, a protocol of Python."""
    is_protocol = any(called_name(base) == "Protocol" for base in source.bases.get(place, ()))
    return is_protocol or (source.definitions[place].kind in OPEN_KINDS and source.language not in SAYS_ALL)


def _says_override(graph: Graph, node: int) -> bool:
    return place_of(node) >= 0 and "override" in graph.code.definition(node).signature.split()


def _is_in_nameless_type(graph: Graph, node: int) -> bool:
    """Tell whether a method is one of a type without a name: of `new Task() { … }`, say, or `class extends Task`."""
    source, place = graph.code.file(file_of(node)), place_of(node)
    definition = source.definitions[place] if place >= 0 else None
    is_one = definition is not None and definition.kind in ("method", "function") and definition.parent >= 0
    if definition is None or not is_one or (definition.kind == "function" and not _is_made_around(graph, source, node)):
        return False
    outer = source.definitions[definition.parent]
    is_class = source.rules.family != "ecmascript" or re.search(r"\bclass\b", outer.signature) is not None
    return is_class and outer.kind in FUNCTION_KINDS | VALUE_KINDS


def _is_made_around(graph: Graph, source: SourceFile, node: int) -> bool:
    """Tell whether an object of a type without a name seems to be made around a function of Scala."""
    definition = graph.code.definition(node)
    data = graph.code.checkout.read(source.number) or b""
    begin = source.definitions[definition.parent].span.start_byte
    return source.language == "scala" and _MADE.search(data, begin, definition.span.start_byte) is not None


def _owner_of(graph: Graph, node: int) -> str:
    """Return the name of the type in which a definition is, empty if it is in none."""
    source, place = graph.code.file(file_of(node)), place_of(node)
    parent = source.definitions[place].parent if place >= 0 else -1
    return source.definitions[parent].name if parent >= 0 and source.definitions[parent].kind in TYPE_KINDS else ""


def _lines_of_code(source: SourceFile, names: Collection[str]) -> set[int]:
    """Return the lines on which the parser found one of some names where something is referred to."""
    facts = source.facts
    likely = {place for place, text in enumerate(facts.texts) if called_name(text) in names}
    return (
        {line for line, text in zip(facts.lines, facts.expressions, strict=True) if text in likely} if likely else set()
    )


def _unexplained(
    graph: Graph,
    source: SourceFile,
    data: bytes,
    names: frozenset[str],
    confirmed: Collection[int],
    known: Collection[int],
    general: _General,
    shapes: CallShapes | None = None,
) -> Iterator[Sighting]:
    """Yield the lines of a file that say one of some names, without those that are known to mean some definition.

    Args:
        graph: the graph.
        source: the file.
        data: its text.
        names: what the lines say.
        confirmed: lines that are code.
        known: lines with a known call.
        general: lines that mean one of these may mean what is asked for.
        shapes: what looks like a call and does not fit these is none.
    """
    if is_only_template(source.path, source.language):
        fits = partial(shapes.fits_in_template, source) if shapes is not None else lambda _before: True
        found = find_in_template(data, names, source.path, fits)
        yield from (sighting for sighting in found if sighting.line not in known)
        return
    heads = list(_heads(source, data, names))
    if shapes is None:
        sightings = list(find_sightings(data, names, source.language, heads, confirmed))
    else:
        may_mean = partial(shapes.fits, source, data)
        sightings = list(find_sightings(data, names, source.language, heads, confirmed, may_mean))
    if not sightings:
        return
    unknown = {sighting.line for sighting in sightings}.difference(known)
    edges = graph.connections.edges_on(source.number, unknown, names, spelling="itself")
    explained = {
        edge.line for edge in edges if called_name(edge.called) in names and not general.has(graph, edge.target)
    }
    yield from (sighting for sighting in sightings if sighting.line in unknown and sighting.line not in explained)


def _heads(source: SourceFile, data: bytes, names: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where the definitions of some names begin, up to the end of the name."""
    pattern = names_pattern(names)
    for definition in source.definitions:
        if definition.name in names:
            span = definition.span
            if match := pattern.search(data, span.start_byte, span.end_byte):
                yield span.start_byte, match.end()


def unresolved_callees(
    graph: Graph, inside: Collection[int], edges: Iterable[Edge], reader: Reader
) -> Unresolved | None:
    """Return the calls in some definitions that may lead to one of the project, whose name it is; None without any.

    Args:
        graph: the graph.
        inside: the definitions, with all that they contain.
        edges: what is known to lead out of them.
        reader: says how long there is time, and in which of them not all was resolved.
    """
    lines: dict[tuple[int, int], Mention] = {}
    names: set[str] = set()
    resolved = {(file_of(edge.source), edge.line, called_name(edge.called)) for edge in edges}
    looked_at = set(inside) - reader.unresolved
    reader.lines_left = bool(reader.unresolved)
    for number in sorted({file_of(node) for node in looked_at}):
        source = graph.code.file(number)
        scopes = {place_of(node) for node in looked_at if file_of(node) == number}
        facts = source.facts
        for kind, text, scope, line in zip(facts.kinds, facts.expressions, facts.scopes, facts.lines, strict=True):
            name = called_name(facts.texts[text])
            if kind != CALL or scope not in scopes or (number, line, name) in resolved or (number, line) in lines:
                continue
            if not reader.lasts(FOR_LINES):
                reader.lines_left = True
                break
            if name and graph.code.nodes_named(name):
                lines[number, line] = Mention(source.path, line, name)
                names.add(name)
    if not lines:
        return None
    first = tuple(lines.values())[:MOST_SHOWN]
    return Unresolved("callee", tuple(sorted(names)), len(lines), first, reader.lines_left)


# -- in words ----------------------------------------------------------------------------------------------------------


def note_on(unresolved: Unresolved | None, what: str, *, has_known: bool) -> tuple[Hint, ...]:
    """Return what a reader has to know of lines that were left out, with the search that lists them.

    Args:
        unresolved: these lines.
        what: what the answer is about, such as `call of X`.
        has_known: whether the answer names any that is known.
    """
    if unresolved is None:
        return ()
    places = ", ".join(f"{mention.path}:{mention.line}" for mention in unresolved.first)
    more = ", …" if unresolved.lines > len(unresolved.first) else ""
    count = pluralize(unresolved.lines, "line" if not has_known or unresolved.form == "callee" else "more line")
    is_one = unresolved.lines == 1
    if unresolved.form == "callee":
        verb = "calls" if is_one else "call"
        least = "At least " if unresolved.is_least else ""
        words = (
            f"{least}{count} of it {verb} names that this project defines, and it is not known which: {places}{more}"
        )
        return (Hint(words),)
    least = "at least " if unresolved.is_least else ""
    said = f"{least}{count} {'says' if is_one else 'say'} {_quoted(unresolved)}"
    words = f"{said} and could not be resolved" if has_known else f"no {what} is known; {said}"
    words = f"{words[0].upper()}{words[1:]}: {places}{more}; list {'it' if is_one else 'them'}"
    return (Hint(words, "search", query=query_of(unresolved), mode="regex"),)


def on_nothing_in_time(names: Collection[str]) -> tuple[Hint, ...]:
    """Return what to say where nothing was found before the time was up, with the search that lists what says names."""
    if not names:
        return ()
    query = query_of(Unresolved("call", tuple(sorted(names)[:_MOST_NAMES]), 0, ()))
    words = "Time was up before an answer was found; list the lines that say the name"
    return (Hint(words, "search", query=query, mode="regex"),)


_WHERE = {"import": " in an import", "base": " as a base"}


def _quoted(unresolved: Unresolved) -> str:
    names = [f"`{name}(`" if unresolved.form == "call" else f"`{name}`" for name in unresolved.names]
    rest = " or others" if len(names) > MOST_SHOWN else ""
    said = ", ".join(names[:MOST_SHOWN]) + rest
    return said + _WHERE.get(unresolved.form, "")


def query_of(unresolved: Unresolved) -> str:
    """Return the regular expression that lists such lines, and perhaps some that were resolved."""
    words = "|".join(re.escape(name) for name in unresolved.names)
    word = words if len(unresolved.names) == 1 else f"(?:{words})"
    begin, end = (r"\b" if mark.isalnum() else "" for mark in (words[:1], words[-1:]))
    if unresolved.form == "import":
        return rf"(?:import|from|use|require|include|mod|source|load|^\s*\.).*{begin}{word}{end}"
    return f"{begin}{word}{end}"
