"""Lays out the flow of one file: the signature, size, calls, blocks and variables of each function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cairn.hints import Hint, HintStyle, show
from cairn.source.definitions import parse
from cairn.source.languages import BY_NAME
from cairn.source.languages.flow_syntax import FlowSyntax
from cairn.source.text import count_tokens, on_one_line, pluralize
from cairn.structure.flow import FlowGraph, syntax_of, unit_of
from cairn.structure.locate import FileContent
from cairn.structure.outline import FileOutline
from cairn.structure.outline_text import OutlineText, heading
from cairn.structure.steps import CONTROL_ONLY, DATA_ONLY

if TYPE_CHECKING:
    import tree_sitter


def lay_out_flow_in(
    data: bytes, language: str, path: str, outline: FileOutline, max_tokens: int, hints: HintStyle
) -> OutlineText:
    """Return the flow of the functions in a file's content; see `lay_out_flow`."""
    return lay_out_flow(FileContent(path, data, BY_NAME[language]), outline, max_tokens, hints)


def lay_out_flow(file: FileContent, outline: FileOutline, max_tokens: int, hints: HintStyle) -> OutlineText:
    """Return the flow of a file's functions as text of at most about `max_tokens` tokens; the rest is counted.

    Calls are matched by name alone, with what the file itself defines.

    Raises:
        QueryError: if flow is not known for the language.
    """
    syntax = syntax_of(file)
    root = parse(file.data, file.language).root_node
    lines = [
        f"{on_one_line(outline.path)} {pluralize(outline.lines, 'line')} ~{pluralize(outline.tokens, 'token')}; "
        f"calls are matched by name, in this file"
    ]
    tokens = count_tokens(lines[0])
    names = {symbol.name: symbol.qualified_name for symbol in outline.symbols}
    shown: list[int] = []
    functions, seen = 0, set()
    full = False
    for number, symbol in enumerate(outline.symbols):
        span = outline.spans[number]
        unit = unit_of(root, span.start_byte, span.end_byte, syntax)
        if unit is None or unit.id in seen or unit.child_by_field_name("body") is None:
            continue
        seen.add(unit.id)
        functions += 1
        if full:
            continue
        text = "\n".join(_function(file, heading(symbol, outline.language), unit, symbol.qualified_name, names, syntax))
        cost = count_tokens(text)
        if tokens + cost > max_tokens:
            full = True
            continue
        tokens += cost
        lines.append(text)
        shown.append(number)
    if functions > len(shown):
        words = f"{functions - len(shown)} of {functions} functions left out; ask for one"
        lines.append(f"({show(Hint(words, 'outline', file=outline.path, mode='extract', symbol=None), hints)})")
    text = "\n".join(lines)
    return OutlineText(text, count_tokens(text), tuple(shown))


def _function(
    file: FileContent, head: str, unit: tree_sitter.Node, name: str, names: dict[str, str], syntax: FlowSyntax
) -> Iterator[str]:
    graph = FlowGraph.of(file, unit, name, syntax)
    blocks = graph.control.blocks()
    yield f"{head}; complexity {graph.control.complexity()}, {len(blocks)} blocks"
    calls: dict[str, list[int]] = {}
    for called, line in _calls(unit, syntax):
        if called in names:
            calls.setdefault(names[called], []).append(line)
    if calls:
        yield " calls " + ", ".join(f"{name} ({_numbers(lines)})" for name, lines in calls.items())
    yield " flow " + "; ".join(_blocks(graph, blocks))
    variables: dict[str, tuple[set[int], set[int]]] = {}
    for step in graph.control.steps:
        for variable in step.access.writes:
            variables.setdefault(variable, (set(), set()))[0].add(step.first_line)
        for variable in step.access.reads:
            if variable in variables:
                variables[variable][1].add(step.first_line)
    for variable, (written, read) in variables.items():
        if read or len(written) > 1:
            yield f" {variable} written {_numbers(written)}" + (f" read {_numbers(read)}" if read else "")


def _blocks(graph: FlowGraph, blocks: list[tuple[int, int]]) -> Iterator[str]:
    steps = graph.control.steps
    number_of = {first: place for place, (first, _) in enumerate(blocks)}
    for place, (first, last) in enumerate(blocks):
        following = [
            f"{number_of[target]}{f' {kind}' if kind else ''}"
            for target, kind in steps[last].successors
            if kind not in (DATA_ONLY, CONTROL_ONLY)
        ]
        lines = sorted({steps[step].first_line for step in range(first, last + 1)})
        span = str(lines[0]) if len(lines) == 1 else f"{lines[0]}-{lines[-1]}"
        yield f"{place}: {span}" + (f" to {', '.join(following)}" if following else "")


def _calls(node: tree_sitter.Node, syntax: FlowSyntax) -> Iterator[tuple[str, int]]:
    calls = syntax.calls or {}
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type in calls:
            called, name = calls[node.type]
            target = node.child_by_field_name(name or called)
            attributes = syntax.attributes or {}
            if target is not None and target.type in attributes:
                target = target.child_by_field_name(attributes[target.type][1])
            if target is not None:
                yield (target.text or b"").decode("utf-8", "replace"), node.start_point.row + 1
        waiting += reversed(node.named_children)


def _numbers(lines: set[int] | list[int]) -> str:
    return ",".join(map(str, sorted(set(lines))))
