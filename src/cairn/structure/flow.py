"""Answers questions about control and data flow in one file: the graph of a function, and slices from a line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.errors import NotFoundError, PathError, QueryError
from cairn.hints import Hint
from cairn.source.definitions import parse
from cairn.source.languages import BY_NAME, LANGUAGES, load_part
from cairn.source.languages.flow_syntax import FlowSyntax
from cairn.source.text import on_one_line, shown_text
from cairn.structure.control import build_control_flow
from cairn.structure.dataflow import Dependence, closure, dependences
from cairn.structure.draft import MAX_STEPS, TooManySteps
from cairn.structure.locate import FileContent, ask_helper, find_symbol, read_source
from cairn.structure.names import affects, base_of
from cairn.structure.outline import outline_file
from cairn.structure.steps import CONTROL_ONLY, DATA_ONLY, ControlFlow
from cairn.structure.unfollowed import unfollowed

if TYPE_CHECKING:
    import tree_sitter

MODULE = "<module>"
_MOST_VARIABLES = 12  # of a line, in an error


@dataclass(frozen=True, slots=True)
class FlowGraph:
    """The flow of one function: its steps, and what depends on what between them."""

    path: str
    language: str
    control: ControlFlow
    dependences: tuple[Dependence, ...]

    @classmethod
    def of(cls, file: FileContent, unit: tree_sitter.Node, name: str, syntax: FlowSyntax) -> FlowGraph:
        """Build the flow of a function's node, or of the root of a file.

        Raises:
            PathError: if it is too long.
        """
        try:
            control = build_control_flow(unit, name, syntax)
        except TooManySteps as error:
            raise PathError(
                f"{name} in {file.path} has more than {MAX_STEPS:,} statements, the limit for flow",
                Hint("name a smaller function of it", "outline", file=file.path),
            ) from error
        return cls(file.path, file.language.name, control, tuple(dependences(control)))


@dataclass(frozen=True, slots=True)
class Slice:
    """The lines of one function that a line depends on, or that depend on it, with their text.

    `notes` say what was not followed.
    """

    path: str
    language: str
    function: str
    line: int
    variable: str
    forward: bool
    lines: tuple[tuple[int, str], ...]
    notes: tuple[str, ...] = ()


def flow_of(root: Path, path: str | Path, function: str) -> FlowGraph:
    """Return the flow of one function.

    Raises:
        NotFoundError, AmbiguousError, PathError: as `CodeFacet.outline`.
        QueryError: if flow is not supported for the language, or the symbol is not a function.
        UnparsableError: if the parser gave up on the file, or the flow takes too long to find.
    """
    graph: FlowGraph = ask_helper("cairn.structure.flow:flow_in", read_source(root, path), function, scope="flow")
    return graph


def flow_in(data: bytes, language: str, path: str, function: str) -> FlowGraph:
    """Return the flow of one function in a file's content; see `flow_of`."""
    file = FileContent(path, data, BY_NAME[language])
    syntax = syntax_of(file)
    tree = parse(file.data, file.language).root_node
    if function == MODULE:
        return FlowGraph.of(file, tree, MODULE, syntax)
    outline = outline_file(file.data, file.path, file.language)
    number = find_symbol(outline, function)
    span, symbol = outline.spans[number], outline.symbols[number]
    unit = unit_of(tree, span.start_byte, span.end_byte, syntax)
    if unit is None:
        raise QueryError(f"{symbol.kind} {symbol.qualified_name} is not a function", Hint.of("outline", file=file.path))
    return FlowGraph.of(file, unit, symbol.qualified_name, syntax)


def slice_from(root: Path, path: str | Path, line: int, variable: str, *, forward: bool) -> Slice:
    """Return the slice of the function around a line.

    Args:
        root: the project's folder.
        path: the file.
        line: 1-based.
        variable: only this variable of the line, empty for all.
        forward: what depends on the line, instead of what it depends on.

    Raises:
        NotFoundError: if no statement is on the line, or that has no such variable.
        NotFoundError, PathError, QueryError, UnparsableError: as `flow_of`.
    """
    file = read_source(root, path)
    answer: Slice = ask_helper("cairn.structure.flow:slice_in", file, line, variable, forward, scope="slice")
    return answer


def slice_in(data: bytes, language: str, path: str, line: int, variable: str, forward: bool) -> Slice:
    """Return the slice of the function around a line of a file's content; see `slice_from`."""
    file = FileContent(path, data, BY_NAME[language])
    syntax = syntax_of(file)
    unit = _innermost(parse(file.data, file.language).root_node, line, syntax)
    name = unit.child_by_field_name("name") if unit.type in syntax.functions else None
    shown = MODULE if unit.parent is None else _text(name) if name is not None else "<function>"
    graph = FlowGraph.of(file, unit, shown, syntax)
    steps = graph.control.steps
    start = 0 if unit.parent is not None else 1  # a file has no head
    here = [
        number for number in range(start, len(steps) - 1) if steps[number].first_line <= line <= steps[number].last_line
    ]
    if not here:
        raise _no_statement(graph, line)
    if variable:
        _check_variable(graph, here, line, variable)
    chosen = _find_slice(graph, here, variable, forward=forward)
    source = shown_text(file.data).split("\n")
    numbers = set(range(steps[0].first_line, steps[0].last_line + 1)) if unit.parent is not None else set()
    for number in chosen - {0}:
        numbers |= set(range(steps[number].first_line, steps[number].last_line + 1))
    lines = tuple((number, source[number - 1].rstrip("\r")) for number in sorted(numbers) if number <= len(source))
    notes = unfollowed(data, language, unit, syntax, graph.control, graph.dependences, chosen, forward=forward)
    if not chosen - set(here):
        alone = f"nothing else in {shown} depends on line {line}"
        notes = (*notes, alone if forward else f"line {line} depends on nothing else in {shown}")
    return Slice(file.path, file.language.name, shown, line, variable, forward, lines, notes)


def _find_slice(graph: FlowGraph, here: list[int], variable: str, *, forward: bool) -> set[int]:
    """Return the steps of a slice from the steps `here`, the exit never."""
    steps, edges = graph.control.steps, graph.dependences
    if not variable:
        numbers = closure(edges, here, forward=forward)
    elif forward:
        first = {
            edge.target for edge in edges if edge.source in here and edge.variable and _same(edge.variable, variable)
        }
        numbers = closure(edges, first, forward=True) | set(here)
    else:
        first = set()
        for number in here:
            access = steps[number].access
            if any(_same(name, variable) for name in access.writes) and variable not in access.reads:
                first |= closure(edges, [number], forward=False)
                continue
            for edge in edges:
                if edge.target == number and (not edge.variable or affects(edge.variable, variable)):
                    first.add(edge.source)
        numbers = closure(edges, first, forward=False) | set(here)
    return numbers - {len(steps) - 1}


def _same(written: str, asked: str) -> bool:
    return written == asked or base_of(written) == asked


def syntax_of(file: FileContent) -> FlowSyntax:
    """Return the table of a file's language.

    Raises:
        QueryError: if there is none.
    """
    part = load_part(file.language.name, "flow")
    if part is None:
        known = ", ".join(sorted(language.name for language in LANGUAGES if load_part(language.name, "flow")))
        raise QueryError(
            f"flow is not supported for {file.language.name}, only for {known}", Hint.of("outline", file=file.path)
        )
    syntax: FlowSyntax = part.FLOW
    return syntax


def unit_of(root: tree_sitter.Node, start: int, end: int, syntax: FlowSyntax) -> tree_sitter.Node | None:
    """Return the outermost function between two bytes; a definition may begin before it, as in `name = function`."""
    node = root.descendant_for_byte_range(start, end)
    while (
        node is not None
        and node.parent is not None
        and (node.parent.start_byte, node.parent.end_byte)
        == (
            node.start_byte,
            node.end_byte,
        )
    ):
        node = node.parent
    waiting = [node] if node is not None else []
    while waiting:
        inner = waiting.pop(0)
        if inner.type in syntax.functions and start <= inner.start_byte and inner.end_byte <= end:
            return inner
        if inner.type not in syntax.classes:
            waiting += inner.named_children
    return None


def _innermost(root: tree_sitter.Node, line: int, syntax: FlowSyntax) -> tree_sitter.Node:
    """Return the innermost function with a body of statements around a line, else the root."""
    innermost, node = root, root
    while True:
        inner = next(
            (child for child in node.named_children if child.start_point.row < line <= child.end_point.row + 1), None
        )
        if inner is None:
            return innermost
        body = inner.child_by_field_name("body") if inner.type in syntax.functions else None
        if body is not None and body.type in syntax.blocks and inner.end_point.row > inner.start_point.row:
            innermost = inner
        node = inner


def _no_statement(graph: FlowGraph, line: int) -> NotFoundError:
    steps = graph.control.steps[:-1]
    nearest = sorted({step.first_line for step in steps}, key=lambda first: abs(first - line))[:2]
    hint = f"the nearest are on lines {' and '.join(map(str, sorted(nearest)))}"
    return NotFoundError(f"no statement of {graph.control.name} is on line {line} of {graph.path}", hint)


def _check_variable(graph: FlowGraph, here: list[int], line: int, variable: str) -> None:
    """Make sure that a variable is read or written on a line.

    Raises:
        NotFoundError: if it is not; the message names those that are.
    """
    accesses = [graph.control.steps[number].access for number in here]
    names = {name.lstrip("*") for access in accesses for name in (*access.reads, *access.writes)}
    if variable in names | {base_of(name) for name in names}:
        return
    known = sorted({name.removesuffix("[]") for name in names})
    shown = ", ".join(known[:_MOST_VARIABLES]) + (", …" if len(known) > _MOST_VARIABLES else "")
    raise NotFoundError(
        f"line {line} of {graph.path} has no variable {variable}; it has {shown or 'none'}",
        Hint.of("flow", place=f"{graph.path}:{graph.control.name}", dfg=True),
    )


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def flow_lines(graph: FlowGraph, *, control: bool, data: bool) -> list[str]:
    """Return a function's flow as text: its steps with what follows each, and which lines read what it writes."""
    flow = graph.control
    lines = [
        f"{on_one_line(graph.path)}:{flow.first_line} {flow.name} {flow.first_line}-{flow.last_line}"
        f" complexity {flow.complexity()}"
    ]
    if control:
        for number, step in enumerate(flow.steps):
            following = ", ".join(
                f"{target} {kind}".rstrip() for target, kind in step.successors if kind not in (DATA_ONLY, CONTROL_ONLY)
            )
            lines.append(f"{number:>3} {step.first_line}: {step.text}" + (f"  -> {following}" if following else ""))
    if data:
        readers: dict[tuple[str, int], list[int]] = {}
        for edge in graph.dependences:
            if edge.variable:
                readers.setdefault((edge.variable, flow.steps[edge.source].first_line), []).append(edge.target)
        for (variable, line), targets in readers.items():
            where = ", ".join(map(str, sorted({flow.steps[target].first_line for target in targets})))
            lines.append(f"{variable} written {line}, read {where}")
    return lines


def mermaid(graph: FlowGraph, *, data: bool) -> str:
    """Return a flow chart: of control, or with `data` of what is written where it is read."""
    lines = ["flowchart TD"]
    for number, step in enumerate(graph.control.steps):
        text = step.text if step.kind in ("entry", "exit") else f"{step.first_line}: {step.text}"
        escaped = text[:60].replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
        opening, closing = ("{", "}") if step.kind in ("branch", "loop") else ("[", "]")
        lines.append(f'    s{number}{opening}"{escaped}"{closing}')
    if data:
        edges = [(edge.source, edge.variable, edge.target) for edge in graph.dependences if edge.variable]
    else:
        edges = [
            (number, kind, target)
            for number, step in enumerate(graph.control.steps)
            for target, kind in step.successors
            if kind not in (DATA_ONLY, CONTROL_ONLY)
        ]
    for source, label, target in edges:
        arrow = f'-->|"{label}"|' if label else "-->"
        lines.append(f"    s{source} {arrow} s{target}")
    return "\n".join(lines)
