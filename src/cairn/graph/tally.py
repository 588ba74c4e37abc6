"""Counts the lines that an answer leaves out, and keeps the first of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from cairn.graph.graph import Graph
from cairn.graph.sightings import is_template
from cairn.graph.values import Form, Mention, Unresolved
from cairn.source.languages import BY_NAME

MOST_SHOWN = 3  # lines


class LineTally:
    """Counts lines of one form, and keeps the first of them, those that are surely code before all others."""

    def __init__(self, form: Form, names: Iterable[str]) -> None:
        self.lines = 0
        self.is_least = False
        self._form: Form = form
        self._names = tuple(sorted(names))
        self._sure: list[Mention] = []
        self._likely: list[Mention] = []

    def add(self, path: str, line: int, *, is_confirmed: bool) -> None:
        """Count a line."""
        self.lines += 1
        kept = self._sure if is_confirmed else self._likely
        if len(kept) < MOST_SHOWN:
            kept.append(Mention(path, line, self._names[0] if len(self._names) == 1 else ""))

    def result(self) -> Unresolved | None:
        """Return what was counted, None if that is nothing."""
        first = tuple([*self._sure, *self._likely][:MOST_SHOWN])
        return Unresolved(self._form, self._names, self.lines, first, self.is_least) if self.lines else None


def files_with(
    graph: Graph, names: Iterable[str], among: Collection[int] | None, languages: Collection[str] = ()
) -> Iterator[int]:
    """Yield the files of code, templates and files of some languages in which one of some names stands, in order."""
    names = list(names)
    return graph.code.mentions.iter_mentioning(names, files_for(graph, names, among, languages))


def files_for(
    graph: Graph,
    names: Iterable[str],
    among: Collection[int] | None = None,
    languages: Collection[str] = (),
) -> list[int]:
    """Return the files of code, templates and of some languages that the index knows to have a name or its like."""
    code = graph.code
    files = {number for name in names for number in code.mentions.may_mention(name)}
    wanted = files if among is None else files.intersection(among)

    def is_read(number: int) -> bool:
        language = code.languages[number]
        return BY_NAME[language].group == "code" or language in languages or is_template(code.paths[number])

    return sorted(filter(is_read, wanted))
