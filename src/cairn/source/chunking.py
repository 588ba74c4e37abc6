"""Cuts a file into chunks along its definitions; a file without a grammar is cut between lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.source.definitions import TYPE_KINDS, Lines, ParsedDefinition, find_definitions, parse
from cairn.source.languages import Language
from cairn.types import MAX_DEFINITIONS, ON_REST, Chunk, ParsedFile, Span

if TYPE_CHECKING:
    import tree_sitter

# Sizes in bytes. Retrieval quality is flat between 400 and 1,500 and falls outside.
TARGET_BYTES = 1_000  # target when merging neighbours and cutting long bodies
WHOLE_BYTES = 2_000  # a function up to this size stays in one piece
WHOLE_TYPE_BYTES = 1_000  # a type up to this size stays in one piece with its methods
SMALL_BYTES = 300  # only units below this are merged with a neighbour
FALLBACK_BYTES = 1_000
FALLBACK_OVERLAP_BYTES = 200
MAX_HEADER_CHARS = 160


@dataclass(slots=True)
class _Unit:
    """Lines `first` to `last` (0-based, inclusive) on the way to becoming a chunk."""

    first: int
    last: int
    size: int
    owner: int
    container: int
    part: int = 0
    whole: bool = False  # covers all of its owner
    opens: bool = False  # the head of a definition whose members are chunks of their own


def chunk_file(data: bytes, language: Language) -> ParsedFile:
    """Parse `data` and cut it into chunks whose `lines` cover each line of it exactly once.

    Never raises for bad content: a file without a grammar, or one that does not parse, is cut between lines.
    """
    lines = Lines.of(data)
    if not data.strip():
        return ParsedFile(language.name, (), ())
    if not language.support.grammar:
        return ParsedFile(language.name, (), _cut_lines(data, lines), "no grammar for this language")
    tree = parse(data, language)
    parsed = find_definitions(tree, data, lines, language)
    if not parsed and tree.root_node.has_error:
        return ParsedFile(language.name, (), _cut_lines(data, lines), "did not parse")
    chunks = _Layout(data, lines, parsed, tree.root_node).chunks()
    note = ON_REST if len(parsed) >= MAX_DEFINITIONS else ""
    return ParsedFile(language.name, tuple(item.definition for item in parsed), chunks, note)


class _Layout:
    """Lays out the definitions of one file as chunks."""

    def __init__(self, data: bytes, lines: Lines, parsed: list[ParsedDefinition], root: tree_sitter.Node) -> None:
        self.data = data
        self.lines = lines
        self.parsed = parsed
        self.root = root
        self.children: dict[int, list[int]] = {}
        for index, item in enumerate(parsed):
            self.children.setdefault(item.definition.parent, []).append(index)

    def chunks(self) -> tuple[Chunk, ...]:
        units = self._region(0, len(self.lines) - 1, -1)
        first_definition = 0
        result: list[Chunk] = []
        for unit in self._absorb_blank(units):
            end = first_definition
            while end < len(self.parsed) and self._begins_by(end, unit.last):
                end += 1
            result.append(self._chunk(unit, (first_definition, end)))
            first_definition = end
        return tuple(result)

    def _begins_by(self, index: int, line: int) -> bool:
        return self.parsed[index].definition.span.start_line - 1 <= line

    def _region(self, first: int, last: int, container: int) -> list[_Unit]:
        """Return the units of lines `first` to `last`, whose definitions are the children of `container`."""
        units: list[_Unit] = []
        cursor = first
        for index in self.children.get(container, []):
            item = self.parsed[index]
            end = min(item.last_line, last)
            if end < cursor or self._is_heading(index):
                continue  # shares a line with the definition before it, or is part of the gap between definitions
            start = max(cursor, item.lead_line)
            if start > cursor:
                units.extend(self._gap(cursor, start - 1, container))
            units.extend(self._definition(index, start, end))
            cursor = end + 1
        if cursor <= last:
            units.extend(self._gap(cursor, last, container))
        return self._merge(units, container)

    def _is_heading(self, index: int) -> bool:
        """Tell whether a definition is only a heading for the file, like `namespace Shop;`."""
        definition = self.parsed[index].definition
        is_line = definition.span.start_line == definition.span.end_line
        return definition.kind == "namespace" and is_line and index not in self.children

    def _definition(self, index: int, first: int, last: int) -> list[_Unit]:
        size = self.lines.bytes_between(first, last)
        members = self.children.get(index, [])
        is_type = self.parsed[index].definition.kind in TYPE_KINDS
        limit = WHOLE_TYPE_BYTES if is_type and members else WHOLE_BYTES
        if size <= limit:
            return [_Unit(first, last, size, index, self.parsed[index].definition.parent, whole=True)]
        units = self._region(first, last, index) if members else self._split(first, last, index)
        units[0].owner, units[0].opens, units[0].part = index, True, 0
        own = [unit for unit in units if unit.owner == index]
        for part, unit in enumerate(own):
            unit.part = part
        return units

    def _gap(self, first: int, last: int, container: int) -> list[_Unit]:
        if self.lines.bytes_between(first, last) > WHOLE_BYTES:
            return self._split(first, last, container)
        return [_Unit(first, last, self.lines.bytes_between(first, last), container, container)]

    def _split(self, first: int, last: int, owner: int) -> list[_Unit]:
        """Cut between statements, else between lines, into pieces of about the target size."""
        node = self.parsed[owner].node if owner >= 0 else self.root
        borders = self._with_line_borders(sorted(self._borders(node, first, last) | {first}), last)
        units: list[_Unit] = []
        start = first
        for index, border in enumerate(borders):
            next_border = borders[index + 1] if index + 1 < len(borders) else last + 1
            too_long = self.lines.bytes_between(start, next_border - 1) > TARGET_BYTES
            if border > start and too_long and self.lines.bytes_between(start, border - 1) >= SMALL_BYTES:
                units.append(self._piece(start, border - 1, owner))
                start = border
        units.append(self._piece(start, last, owner))
        return units

    def _piece(self, first: int, last: int, owner: int) -> _Unit:
        return _Unit(first, last, self.lines.bytes_between(first, last), owner, owner)

    def _borders(self, node: tree_sitter.Node, first: int, last: int) -> set[int]:
        """Return the lines at which parts of `node` begin, descending into parts that are too long for a chunk."""
        borders: set[int] = set()
        first_byte, end_byte = self.lines.starts[first], self.lines.end_byte(last)
        pending = [node]
        while pending:
            for child in pending.pop().children:
                start, end = child.start_byte, child.end_byte
                if max(end - 1, 0) < first_byte or start >= end_byte:
                    continue
                if (line := self.lines.at(start)) > first:
                    borders.add(line)
                if end - start > TARGET_BYTES:
                    pending.append(child)
        return borders

    def _with_line_borders(self, borders: list[int], last: int) -> list[int]:
        """Add borders at about the target size inside anything without parts, such as a long string."""
        result: list[int] = []
        for border, next_border in zip(borders, [*borders[1:], last + 1], strict=True):
            result.append(border)
            for line in range(border + 1, next_border):
                if self.lines.bytes_between(result[-1], line) > TARGET_BYTES:
                    result.append(line)
        return result

    def _merge(self, units: list[_Unit], container: int) -> list[_Unit]:
        """Merge small neighbours, so that a run of one-line definitions becomes one chunk."""
        merged: list[_Unit] = []
        for unit in units:
            previous = merged[-1] if merged else None
            if previous is not None and self._joinable(previous, unit, container):
                primary = max((previous, unit), key=lambda side: (side.whole, side.size if side.whole else 0))
                previous.owner, previous.whole = primary.owner, primary.whole
                previous.last = unit.last
                previous.size += unit.size
            else:
                merged.append(unit)
        return merged

    def _joinable(self, previous: _Unit, unit: _Unit, container: int) -> bool:
        if previous.opens or unit.opens or previous.size + unit.size > TARGET_BYTES:
            return False
        if previous.container != container or unit.container != container:
            return False
        return (previous.size < SMALL_BYTES and unit.size < SMALL_BYTES) or self._is_blank(unit)

    def _is_blank(self, unit: _Unit) -> bool:
        return not self.data[self.lines.starts[unit.first] : self.lines.end_byte(unit.last)].strip()

    def _absorb_blank(self, units: list[_Unit]) -> list[_Unit]:
        """Give blank lines to the unit before them, or at the start of the file to the unit after."""
        kept: list[_Unit] = []
        blank_from: int | None = None
        for unit in units:
            if not self._is_blank(unit):
                if blank_from is not None:
                    unit.first = blank_from
                kept.append(unit)
                blank_from = None
            elif kept:
                kept[-1].last = unit.last
            else:
                blank_from = unit.first if blank_from is None else blank_from
        return kept

    def _chunk(self, unit: _Unit, definitions: tuple[int, int]) -> Chunk:
        owner = self.parsed[unit.owner].definition if unit.owner >= 0 else None
        last = self.parsed[unit.owner].last_line if owner is not None and unit.opens else unit.last
        first, last = self._trim(unit.first, last)
        return Chunk(
            kind=owner.kind if owner is not None else "module",
            owner=unit.owner,
            part=unit.part,
            definitions=definitions,
            header=self._header(unit),
            span=Span(first + 1, last + 1, self.lines.starts[first], self.lines.end_byte(last)),
            lines=((unit.first + 1, unit.last + 1),),
        )

    def _trim(self, first: int, last: int) -> tuple[int, int]:
        """Drop blank lines at both ends."""
        while first < last and not self.data[self.lines.starts[first] : self.lines.end_byte(first)].strip():
            first += 1
        while last > first and not self.data[self.lines.starts[last] : self.lines.end_byte(last)].strip():
            last -= 1
        return first, last

    def _header(self, unit: _Unit) -> str:
        """Return the signature that introduces a piece: its type's for a method, its own for a later part."""
        if unit.owner < 0:
            return ""
        owner = self.parsed[unit.owner].definition
        context = owner.signature if unit.part else ""
        if owner.parent >= 0:
            outer = self.parsed[owner.parent].definition.signature[:MAX_HEADER_CHARS]
            context = f"{outer}\n{context}" if context else outer
        return context


def _cut_lines(data: bytes, lines: Lines) -> tuple[Chunk, ...]:
    """Cut between lines; each piece's span overlaps the end of the previous one, for context."""
    chunks: list[Chunk] = []
    start = 0
    for line in range(len(lines)):
        at_end = line + 1 == len(lines)
        if not at_end and lines.bytes_between(start, line + 1) <= FALLBACK_BYTES:
            continue
        if data[lines.starts[start] : lines.end_byte(line)].strip():
            chunks.append(_chunk_of_lines(lines, start, line))
            start = line + 1
        elif at_end and chunks:
            ((first, _),) = chunks[-1].lines
            chunks[-1] = chunks[-1]._replace(lines=((first, line + 1),))
    return tuple(chunks)


def _chunk_of_lines(lines: Lines, first: int, last: int) -> Chunk:
    context = first
    while context > 0 and lines.bytes_between(context - 1, first) - lines.bytes_between(first, first) <= (
        FALLBACK_OVERLAP_BYTES
    ):
        context -= 1
    span = Span(context + 1, last + 1, lines.starts[context], lines.end_byte(last))
    return Chunk("text", -1, 0, (0, 0), "", span, ((first + 1, last + 1),))
