"""Says of an empty answer what was looked at, what was not, and what to ask next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from cairn.graph.broken import error_line_in
from cairn.graph.graph import Graph
from cairn.graph.implicit import called_implicitly, ways_from_libraries
from cairn.graph.made_names import MAKING
from cairn.graph.mentions import stem_of
from cairn.graph.network import Ints
from cairn.graph.nodes import NODE_BITS, file_of, place_of
from cairn.graph.resolve import CALL, CONSTRUCT
from cairn.graph.rules import VALUE_KINDS, resolves_imports, rules_of
from cairn.graph.tally import files_with
from cairn.hints import Hint
from cairn.source.languages import BY_NAME
from cairn.source.text import pluralize

_MOST_NAMED = 5  # languages
_MOST_SHOWN = 3  # places
_IMPLICIT = "It is called implicitly, by the language or a library, which is not followed, so this says little"
_PARTS_OF_TEXTS = frozenset({"section", "table"})  # which nothing uses


def on_unread(graph: Graph, node: int) -> tuple[Hint, ...]:
    """Return what to say before an answer without anything known where nothing reads references of a language."""
    language = graph.code.languages[file_of(node)]
    return () if BY_NAME[language].has_references else (Hint(f"References in {language} are not read."),)


def on_no_callers(graph: Graph, node: int, names: Collection[str]) -> tuple[Hint, ...]:
    """Return what to say where nothing calls a definition."""
    if place_of(node) < 0:
        return (Hint("A file is imported rather than called; see by what", "importers", target=_path(graph, node)),)
    family = graph.code.file(file_of(node)).rules.family
    left_out = "comments, texts and names made while it runs" if family in MAKING else "comments and texts"
    words = f"Looked at {_mentioning(graph, names)}, without {left_out}; see whatever else refers to it"
    if place_of(node) in called_implicitly(graph, graph.code.file(file_of(node))):
        words = f"{_IMPLICIT}. {words}"
    elif ways := ways_from_libraries(graph, node):
        words = f"A library may call it: it {' and '.join(ways)}. {words}"
    return (Hint(words, "references", symbol=_place(graph, node)),)


def on_no_callees(graph: Graph, nodes: Sequence[int], inside: Collection[int]) -> tuple[Hint, ...]:
    """Return what to say where definitions call nothing of the project."""
    count = 0
    for number in {file_of(node) for node in nodes}:
        scopes = {place_of(node) for node in inside if file_of(node) == number}
        facts = graph.code.file(number).facts
        kinds = zip(facts.kinds, facts.scopes, strict=True)
        count += sum(kind in (CALL, CONSTRUCT) and scope in scopes for kind, scope in kinds)
    path = graph.code.paths[file_of(nodes[0])]
    said = f"Of {pluralize(count, 'call')} in it, none leads" if count else "There is no call in it that leads"
    words = f"{said} to a definition of this project; libraries do not count. See what is in its file"
    if line := max(_unparsed_line(graph, node) for node in nodes):
        words = f"The syntax of {path} is not understood from line {line} on, so calls there may be missing. {words}"
    return (Hint(words, "outline", file=path),)


def on_no_subclasses(graph: Graph, node: int, names: Collection[str]) -> tuple[Hint, ...]:
    """Return what to say where nothing derives from a type or overrides a method."""
    words = (
        f"Looked at {_mentioning(graph, names)}; of types that do not name what they implement, only those of Go are "
        "found. See whatever else refers to it"
    )
    if place_of(node) < 0:
        return (Hint("A file has no subclasses; see what is in it", "outline", file=_path(graph, node)),)
    return (Hint(words, "references", symbol=_place(graph, node)),)


def on_no_references(graph: Graph, names: Collection[str]) -> tuple[Hint, ...]:
    """Return what to say where nothing refers to a symbol."""
    words = f"Looked at {_mentioning(graph, names)}, without comments and texts; to list these as well"
    return (Hint(words, "search", query=min(names), mode="literal"),)


def on_no_importers(graph: Graph, number: int, files: Collection[int]) -> tuple[Hint, ...]:
    """Return what to say where no file imports one."""
    path = graph.code.paths[number]
    stem = stem_of(path)
    words = f"Looked at {pluralize(len(files), 'file')} that may name it. To see where its name stands"
    if not resolves_imports(language := graph.code.languages[number]):
        known = f"Which files import {path} is not known: imports of {language} are not resolved to files"
        words = f"{known}. {words}"
    return (Hint(words, "search", query=stem, mode="literal"),)


def on_users(path: str, users: Mapping[str, int], *, has_known: bool) -> tuple[Hint, ...]:
    """Return what to say of files that use what one defines and do not import it; each with a line that does so."""
    first = [f"{user}:{line}" for user, line in list(users.items())[:_MOST_SHOWN]]
    places = ", ".join(first) + (", …" if len(users) > len(first) else "")
    count = pluralize(len(users), "more file" if has_known else "file")
    verb = "uses" if len(users) == 1 else "use"
    begun = "" if has_known else f"No import of {path} is known, but "
    words = f"{begun}{count} {verb} what it defines without importing it: {places}; see all that depend on it"
    return (Hint(words, "impact", symbol=path),)


def on_no_effect(graph: Graph, node: int) -> tuple[Hint, ...]:
    """Return what to say where a change of a definition affects nothing."""
    n_read = sum(BY_NAME[language].has_references for language in graph.code.languages)
    words = (
        f"Looked at calls, types and imports in {pluralize(n_read, 'file')}, over any number of steps; "
        "see all that refers to it"
    )
    if place_of(node) < 0:
        return (
            Hint(words.replace("all that refers to it", "what imports it"), "importers", target=_path(graph, node)),
        )
    return (Hint(words, "references", symbol=_place(graph, node)),)


def on_no_change() -> tuple[Hint, ...]:
    """Return what to say where no indexed file differs from a revision."""
    return (Hint("Files that are not indexed are not compared; see which are skipped", "index", skipped=True),)


def on_no_tests(graph: Graph, node: int) -> tuple[Hint, ...]:
    """Return what to say where no test concerns a definition."""
    stem = stem_of(_path(graph, node))
    name = graph.code.definition(node).name if place_of(node) >= 0 else stem
    words = "Tests that reach it by calls, import its file, or share its name were looked for; to see what mentions it"
    return (Hint(words, "search", query=name, mode="literal"),)


def on_no_cycles(graph: Graph) -> tuple[Hint, ...]:
    """Return what to say where no files import each other in a cycle."""
    languages = [language for language in graph.code.languages if BY_NAME[language].group == "code"]
    blind = sorted({language for language in languages if not resolves_imports(language)})
    count = pluralize(len(graph.network.importing), "import")
    words = f"Looked at {count} between {pluralize(len(languages), 'file')} of code"
    if blind:
        words += f"; imports of {_listed(blind)} are not resolved to files"
    return (Hint(f"{words}. For the most central files", "map"),)


def on_nothing_dead(graph: Graph) -> tuple[Hint, ...]:
    """Return what to say where everything is used."""
    table = graph.code.table
    counts = _by_language(graph, table.nodes)
    judged = sum(count for language, count in counts.items() if rules_of(language).family)
    whole = _by_language(graph, table.of_kinds(set(table.kind_names) - VALUE_KINDS - _PARTS_OF_TEXTS))
    others = [language for language, _ in whole.most_common() if not rules_of(language).family]
    words = f"Looked at {pluralize(judged, 'definition')}"
    if others:
        words += f"; those of {_listed(others)} are not judged, since too little is known of what refers to them"
    return (Hint(f"{words}. To see what uses one", "references", symbol=None),)


def _by_language(graph: Graph, nodes: Ints) -> Counter[str]:
    return Counter(graph.code.languages[number] for number in (nodes >> NODE_BITS).tolist())


def _listed(languages: Sequence[str]) -> str:
    more = f" and {len(languages) - _MOST_NAMED} more" if len(languages) > _MOST_NAMED else ""
    return f"{', '.join(languages[:_MOST_NAMED])}{more}"


def _mentioning(graph: Graph, names: Collection[str]) -> str:
    said = " or ".join(f"`{name}`" for name in sorted(names)[:2])
    count = sum(1 for _ in files_with(graph, names, None))
    return f"{pluralize(count, 'file')} of code that {'mentions' if count == 1 else 'mention'} {said}"


def _unparsed_line(graph: Graph, node: int) -> int:
    """Return where a definition, or what cuts it short, is not understood; 0 for nowhere."""
    source = graph.code.file(file_of(node))
    data = graph.code.checkout.read(source.number) or b""
    if place_of(node) < 0:
        return error_line_in(data, source.language)
    own = source.definitions[place_of(node)].span
    line = error_line_in(data, source.language, own.start_line)
    following = [one.span.start_line for one in source.definitions if one.span.start_line > own.end_line]
    return line if line < min(following, default=line + 1) else 0


def _path(graph: Graph, node: int) -> str:
    return graph.code.paths[file_of(node)]


def _place(graph: Graph, node: int) -> str:
    return f"{graph.code.paths[file_of(node)]}:{graph.code.definition(node).span.start_line}"
