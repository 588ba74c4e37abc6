"""Says what a slice does not follow: exceptions, changes by functions elsewhere, and variables of the scope around."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from cairn.source.languages.flow_syntax import FlowSyntax, types
from cairn.source.occurrences import find_occurrences
from cairn.structure.callees import Callees
from cairn.structure.dataflow import Dependence
from cairn.structure.names import base_of
from cairn.structure.steps import DATA_ONLY, ControlFlow, Step

if TYPE_CHECKING:
    import tree_sitter

_MOST_NAMED = 3  # lines or names in a note
# Functions of the standard libraries that change nothing they get.
_HARMLESS = types(
    "len print str int float bool repr sorted reversed range enumerate zip min max sum any all list dict tuple set"
    " frozenset isinstance issubclass hasattr getattr id hash type iter abs round bytes ord chr format callable vars"
    " map filter cap make string String Number Boolean parseInt parseFloat stringify keys values entries isArray log"
    " info warn error debug Println Printf Sprintf Errorf println printf valueOf toString equals join split"
)


def unfollowed(
    data: bytes,
    language: str,
    unit: tree_sitter.Node,
    syntax: FlowSyntax,
    flow: ControlFlow,
    dependences: Iterable[Dependence],
    chosen: Collection[int],
    *,
    forward: bool,
) -> tuple[str, ...]:
    """Return sentences on what a slice of a function leaves aside.

    Args:
        data: the file.
        language: its language's name.
        unit: the function.
        syntax: the table of the language.
        flow: the function's steps.
        dependences: what depends on what among them.
        chosen: the steps of the slice.
        forward: whether it goes to what depends on the line.
    """
    inside = [edge for edge in dependences if edge.source in chosen and edge.target in chosen and edge.variable]
    variables = {base_of(edge.variable) for edge in inside}
    read = {base_of(name) for number in chosen for name in flow.steps[number].access.reads}
    outer = {name for step in flow.steps for name in step.access.outer}
    own = {base_of(name) for step in flow.steps for name in step.access.writes} - outer
    notes = [*_exceptions(flow, chosen, forward=forward)]
    notes += _arguments(flow, chosen, (variables | read) & own, Callees(unit, syntax), forward=forward)
    if unit.parent is not None:
        notes += _captured(data, language, unit, flow.name, read - own, syntax)
    return tuple(notes)


def _exceptions(flow: ControlFlow, chosen: Collection[int], *, forward: bool) -> Iterator[str]:
    """Yield what handlers in the slice handle; forward, what handles exceptions of the slice."""
    for number, handler in enumerate(flow.steps):
        if handler.kind != "handler" or (number in chosen) == forward:
            continue
        raising = [
            step
            for place, step in enumerate(flow.steps)
            if (number, DATA_ONLY) in step.successors
            and step.access.calls
            and step.kind != "try"
            and (place in chosen) == forward
        ]
        if raising:
            what = "of which only `raise` and `throw` are followed"
            yield f"line {handler.first_line} handles what {_lines(raising)} may raise, {what}"


def _arguments(
    flow: ControlFlow, chosen: Collection[int], variables: Collection[str], callees: Callees, *, forward: bool
) -> Iterator[str]:
    """Yield which variables are passed to functions of other files, which may change them."""
    passing: dict[str, dict[str, list[Step]]] = {}
    for number, step in enumerate(flow.steps):
        if (number in chosen) != forward:
            continue
        for passed in step.access.passed:
            name = re.split(r"[.\s]|->|::", passed.callee)[-1]
            base = base_of(passed.variable)
            if base in variables and name not in _HARMLESS and not callees.knows(passed):
                passing.setdefault(base, {}).setdefault(name, []).append(step)
    for variable, by_callee in sorted(passing.items())[:_MOST_NAMED]:
        steps = list({id(step): step for steps in by_callee.values() for step in steps}.values())
        names = _named(sorted(by_callee))
        verb = "passes" if len({step.first_line for step in steps}) == 1 else "pass"
        yield f"{_lines(steps)} {verb} `{variable}` to {names}: if that changes it, it is not followed"


def _captured(
    data: bytes, language: str, unit: tree_sitter.Node, name: str, free: Collection[str], syntax: FlowSyntax
) -> Iterator[str]:
    """Yield which variables of the scope around are assigned elsewhere."""
    around = unit.parent
    while around is not None and around.parent is not None and around.type not in syntax.functions:
        around = around.parent
    plain = sorted(variable for variable in free if re.fullmatch(r"\w+", variable))
    if around is None or not plain:
        return
    written: dict[str, list[int]] = {}
    for found in find_occurrences(data, language, plain):
        is_inside = unit.start_byte <= found.start_byte < unit.end_byte
        is_around = around.parent is not None and around.start_byte <= found.start_byte < around.end_byte
        is_seen = is_around or not found.is_local
        if found.role == "write" and not found.head and not found.is_key and is_seen and not is_inside:
            written.setdefault(found.name, []).append(found.line)
    for variable, lines in sorted(written.items())[:_MOST_NAMED]:
        yield f"`{variable}` is from outside of {name}, where {_counted(lines)} may write it: that is not followed"


def _lines(steps: Iterable[Step]) -> str:
    return _counted([step.first_line for step in steps])


def _counted(numbers: Iterable[int]) -> str:
    lines = sorted(set(numbers))
    return f"{'line' if len(lines) == 1 else 'lines'} {_named(list(map(str, lines)))}"


def _named(names: list[str]) -> str:
    shown, n_more = names[:_MOST_NAMED], len(names) - _MOST_NAMED
    if n_more > 0:
        return f"{', '.join(shown)} and {n_more} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
