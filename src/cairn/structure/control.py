"""Builds the control-flow graph of one function, statement by statement, from the table of its language.

A `finally` stands in the graph once for each way through it, as compilers lay it out. Exceptions are taken to be
possible at every statement in a `try`, and nowhere else but at `raise` and `throw`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cairn.source.languages.flow_syntax import FlowSyntax
from cairn.structure.names import Access, NameReader, base_of
from cairn.structure.steps import CONTROL_ONLY, DATA_ONLY, ControlFlow, EdgeKind, Step, StepKind

if TYPE_CHECKING:
    import tree_sitter

MAX_STEPS = 5_000  # of one function; more are data written as code
_MAX_TEXT_CHARS, _MAX_TEXT_BYTES = 120, 2_000
_MAX_DEPTH = 48  # of statements in statements; more is data written as code
_MAX_PATTERN_DEPTH = 20
_CONDITION_FIELDS = ("condition", "value", "subject", "alias")


Ends = list[tuple[int, EdgeKind]]


@dataclass(slots=True, eq=False)
class _Frame:
    """Something around the current statement that a jump may go to or through."""

    kind: Literal["loop", "switch", "label", "try", "finally"]
    label: str = ""
    breaks: Ends = field(default_factory=list)
    continues: Ends = field(default_factory=list)
    raised: Ends = field(default_factory=list)
    steps: list[int] = field(default_factory=list)  # in a try, where something may be raised
    catches: bool = False
    final: tree_sitter.Node | None = None


def build_control_flow(unit: tree_sitter.Node, name: str, syntax: FlowSyntax) -> ControlFlow:
    """Return the control flow of a function, or of a file's outermost statements when `unit` is its root.

    Raises:
        TooManySteps: if it is too long.
    """
    return _Builder(unit, name, syntax).build()


def _line(node: tree_sitter.Node) -> int:
    return node.start_point.row + 1


def _last_line(node: tree_sitter.Node) -> int:
    return node.end_point.row + (1 if node.end_point.column or node.end_point.row == node.start_point.row else 0)


def _first_field(node: tree_sitter.Node, *names: str) -> tree_sitter.Node | None:
    for name in names:
        if (child := node.child_by_field_name(name)) is not None:
            return child
    return None


class TooManySteps(Exception):
    """A function has more than `MAX_STEPS` statements."""


class _Builder:
    def __init__(self, unit: tree_sitter.Node, name: str, syntax: FlowSyntax) -> None:
        self._unit = unit
        self._name = name
        self._syntax = syntax
        self._names = NameReader(syntax)
        self._steps: list[Step] = []
        self._frames: list[_Frame] = []
        self._returns: Ends = []
        self._label = ""
        self._depth = 0

    def build(self) -> ControlFlow:
        unit, syntax = self._unit, self._syntax
        body = unit.child_by_field_name("body") if unit.type in syntax.functions else unit
        self._find_captures(body if body is not None else unit)
        entry = Access()
        for part in ("receiver", "parameters", "parameter"):
            if unit.type in syntax.functions and (parameters := unit.child_by_field_name(part)) is not None:
                entry.add(self._names.bound(parameters))
        if syntax.own_name:
            entry.write(syntax.own_name)
        head = max(_line(unit), self._head_end(unit, body)) if unit is not body else _line(unit)
        ends: Ends = [(self._new("entry", unit, entry, [], last_line=head), "")]
        if body is not None and (body.type in syntax.blocks or body is unit):
            ends = self._block(body, ends)
        elif body is not None:  # a lambda
            ends = [(self._new("statement", body, self._names.access(body), ends), "")]
        exit_step = self._new("exit", unit, Access(), [*ends, *self._returns], last_line=_line(unit), text="exit")
        self._steps[exit_step].first_line = self._steps[exit_step].last_line = _last_line(unit)
        bound = {name for step in self._steps for name, certain in step.access.writes.items() if certain}
        for step in self._steps:
            for name in step.access.called:
                if base_of(name) in bound or name in bound:
                    step.access.write(name, certain=False)
        return ControlFlow(self._name, _line(unit), _last_line(unit), tuple(self._steps))

    def _find_captures(self, node: tree_sitter.Node) -> None:
        waiting = list(reversed(node.named_children))
        while waiting:
            child = waiting.pop()
            if child.type in self._syntax.functions:
                name = child.child_by_field_name("name")
                if child.type in self._syntax.named_functions and name is not None:
                    self._names.captures[(name.text or b"").decode("utf-8", "replace")] = self._names.captured(child)
            elif child.type not in self._syntax.classes:
                if (bound := self._names.function_bound_by(child)) is not None:
                    self._names.captures[bound[0]] = self._names.captured(bound[1])
                waiting += reversed(child.named_children)

    def _new(
        self,
        kind: StepKind,
        node: tree_sitter.Node,
        access: Access,
        ends: Ends,
        *,
        last_line: int = 0,
        text: str = "",
    ) -> int:
        number = len(self._steps)
        if number > MAX_STEPS:
            raise TooManySteps
        first, last = _line(node), last_line or _last_line(node)
        beginning = (node.text or b"")[:_MAX_TEXT_BYTES].decode("utf-8", "replace")
        shown = text or " ".join(beginning.split("\n")[: last - first + 1])
        shown = " ".join(shown.split())[:_MAX_TEXT_CHARS]
        self._steps.append(Step(kind, first, max(first, last), shown, access))
        self._link(ends, number)
        for frame in self._frames:
            if frame.kind == "try":
                frame.steps.append(number)
        return number

    def _link(self, ends: Ends, target: int) -> None:
        for number, kind in ends:
            if (target, kind) not in self._steps[number].successors:
                self._steps[number].successors.append((target, kind))

    @staticmethod
    def _head_end(node: tree_sitter.Node, body: tree_sitter.Node | None) -> int:
        """Return the last line of what stands before the body of a compound statement."""
        before = [child for child in node.children if body is None or child.end_byte <= body.start_byte]
        return _last_line(before[-1]) if before else _line(node)

    # -- statements ---------------------------------------------------------------------------------------------------

    def _block(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        statements = node.named_children
        if self._syntax.hoists:
            statements = sorted(statements, key=lambda one: one.type not in self._syntax.named_functions)
        for statement in statements:
            ends = self._statement(statement, ends)
        return ends

    def _statement(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        """Add a statement; one that is nested too deeply as a whole, whatever it holds."""
        if self._depth >= _MAX_DEPTH:
            return [(self._new("statement", node, self._plain(node), ends), "")]
        self._depth += 1
        ends = self._statement_of_kind(node, ends)
        self._depth -= 1
        return ends

    def _statement_of_kind(self, node: tree_sitter.Node, ends: Ends) -> Ends:  # noqa: C901 - one line a statement
        syntax, kind = self._syntax, node.type
        if kind in syntax.ignored:
            return ends
        if kind in syntax.blocks or (kind in syntax.wrappers and not self._is_definition(node)):
            return self._labelled_block(node, ends)
        if kind in syntax.ifs:
            return self._if(node, ends)
        if kind in syntax.loops:
            return self._loop(node, ends)
        if kind in syntax.do_loops:
            return self._do_loop(node, ends)
        if kind in syntax.switches:
            return self._switch(node, ends)
        if kind in syntax.tries:
            return self._try(node, ends)
        if kind in syntax.withs:
            return self._with(node, ends)
        if kind in syntax.labels:
            return self._labelled(node, ends)
        if kind in syntax.returns | syntax.raises | syntax.breaks | syntax.continues:
            return self._jump(node, ends)
        inner = held[0] if len(held := self._parts(node)) == 1 else None
        if kind == "expression_statement" and inner is not None and inner.type in syntax.switches:
            return self._switch(inner, ends)
        return [(self._new("statement", node, self._plain(node), ends), "")]

    def _is_definition(self, node: tree_sitter.Node) -> bool:
        held = node.named_child(node.named_child_count - 1)
        return held is not None and (held.type in self._syntax.functions or held.type in self._syntax.classes)

    def _plain(self, node: tree_sitter.Node) -> Access:
        held = node.named_child(node.named_child_count - 1) if node.type in self._syntax.wrappers else node
        if held is None or held.type not in self._syntax.classes:
            return self._names.access(node)
        inner = self._names.access(held.child_by_field_name("body"))
        access = Access(reads=inner.reads - set(inner.writes))
        if (name := held.child_by_field_name("name")) is not None:
            access.write((name.text or b"").decode("utf-8", "replace"))
        return access

    def _body(self, node: tree_sitter.Node | None, ends: Ends) -> Ends:
        return ends if node is None else self._statement(node, ends)

    def _labelled_block(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        label, self._label = self._label, ""
        if not label:
            return self._block(node, ends)
        frame = self._enter(_Frame("label", label))
        ends = self._block(node, ends)
        self._frames.pop()
        return ends + frame.breaks

    def _enter(self, frame: _Frame) -> _Frame:
        self._frames.append(frame)
        return frame

    def _take_label(self) -> str:
        label, self._label = self._label, ""
        return label

    def _labelled(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        label, body = self._parts(node)[:1], self._parts(node)[1:]
        if not label or not body:  # a syntax error
            return ends
        self._label = (label[0].text or b"").decode("utf-8", "replace")
        ends = self._statement(body[-1], ends)
        self._label = ""
        return ends

    def _if(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        done: Ends = []
        following: tree_sitter.Node | None = node
        while following is not None:  # a chain of `else if` may be long
            following, ends = self._one_if(following, ends, done)
        return done + ends

    def _one_if(self, node: tree_sitter.Node, ends: Ends, done: Ends) -> tuple[tree_sitter.Node | None, Ends]:
        """Add a condition and its body, where that ends to `done`; return the `if` behind `else`, and the ends left."""
        if (initializer := node.child_by_field_name("initializer")) is not None:
            ends = self._statement(initializer, ends)
        condition = node.child_by_field_name("condition")
        body = _first_field(node, "consequence")
        test = self._new(
            "branch", node, self._names.access(condition), ends, last_line=self._condition_end(node, condition)
        )
        done += self._body(body, [(test, "true")])
        otherwise: Ends = [(test, "false")]
        for alternative in node.children_by_field_name("alternative"):
            if alternative.type in self._syntax.else_ifs:
                condition = alternative.child_by_field_name("condition")
                last = self._condition_end(alternative, condition)
                test = self._new("branch", alternative, self._names.access(condition), otherwise, last_line=last)
                done += self._body(alternative.child_by_field_name("consequence"), [(test, "true")])
                otherwise = [(test, "false")]
            elif (inner := self._lone_if(alternative)) is not None:
                return inner, otherwise
            else:
                otherwise = self._else(alternative, otherwise)
        return None, otherwise

    def _lone_if(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return the `if` that is all there is behind an `else`."""
        if node.type in self._syntax.elses:
            body = node.child_by_field_name("body")
            held = [body] if body is not None else self._parts(node)[-1:]
            return held[0] if held and held[0].type in self._syntax.ifs else None
        return node if node.type in self._syntax.ifs else None

    @staticmethod
    def _condition_end(node: tree_sitter.Node, condition: tree_sitter.Node | None) -> int:
        return _last_line(condition) if condition is not None else _line(node)

    def _else(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        if node.type not in self._syntax.elses:
            return self._statement(node, ends)
        body = node.child_by_field_name("body")
        if body is None and (held := self._parts(node)):
            body = held[-1]
        return self._body(body, ends)

    def _loop(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        label = self._take_label()
        body = node.child_by_field_name("body")
        clause = next((child for child in node.named_children if child.type in ("for_clause", "range_clause")), node)
        first = _first_field(clause, "initializer", "init")
        if first is not None and first.type not in self._syntax.ignored:
            ends = [(self._new("statement", first, self._names.access(first), ends), "")]
        access, endless = self._loop_access(node, clause, body)
        head = self._new("loop", node, access, ends, last_line=self._head_end(node, body))
        frame = self._enter(_Frame("loop", label))
        after = self._body(body, [(head, "true")])
        self._frames.pop()
        update = _first_field(clause, "update", "increment")
        after += frame.continues
        if update is not None:
            after = [(self._new("statement", update, self._names.access(update), after), "")]
        self._link(after, head)
        done: Ends = [(head, CONTROL_ONLY if endless else "false")]
        if (otherwise := node.child_by_field_name("alternative")) is not None:
            done = self._else(otherwise, done)
        return done + frame.breaks

    def _loop_access(
        self, node: tree_sitter.Node, clause: tree_sitter.Node, body: tree_sitter.Node | None
    ) -> tuple[Access, bool]:
        """Return what the head of a loop reads and writes, and whether it never ends by itself."""
        names = self._names
        each = _first_field(clause, "right", "value")
        if each is not None and clause.child_by_field_name("condition") is None:
            access = names.access(each)
            if (target := _first_field(clause, "left", "name")) is not None:
                access.add(names.bound(target))
            return access, False
        condition = clause.child_by_field_name("condition")
        if condition is None and clause is node and not node.type.startswith(("for_in", "while")):
            plain = [child for child in node.named_children if child != body and child.type not in self._syntax.ignored]
            condition = plain[0] if plain and node.child_by_field_name("init") is None else None
        if condition is None or condition.type in self._syntax.ignored:
            return Access(), True
        text = (condition.text or b"").decode("utf-8", "replace").strip("();")
        return names.access(condition), text in ("true", "True", "1")

    def _do_loop(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        frame = self._enter(_Frame("loop", self._take_label()))
        start = len(self._steps)
        after = self._body(node.child_by_field_name("body"), ends)
        self._frames.pop()
        condition = node.child_by_field_name("condition")
        head = self._new("loop", condition or node, self._names.access(condition), after + frame.continues)
        self._link([(head, "true")], start)
        return [(head, "false"), *frame.breaks]

    def _switch(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        syntax = self._syntax
        if (initializer := node.child_by_field_name("initializer")) is not None:
            ends = self._statement(initializer, ends)
        value = _first_field(node, *_CONDITION_FIELDS)
        access = self._names.access(_first_field(node, "condition", "value", "subject"))
        if (alias := node.child_by_field_name("alias")) is not None:
            access.add(self._names.bound(alias))
        last = _last_line(value) if value is not None else _line(node)
        head = self._new("branch", node, access, ends, last_line=last)
        frame = self._enter(_Frame("switch", self._take_label()))
        done: Ends = []
        falling: Ends = []
        complete = False
        holder = node.child_by_field_name("body")
        for case in (holder or node).named_children:
            if case.type not in syntax.cases:
                continue
            complete |= self._is_default(case)
            labels, statements = self._parts_of(case)
            inner = Access()
            for label in labels:
                inner.add(self._case_access(label))
            start = self._new("case", case, inner, [(head, "case")], last_line=self._labels_end(case, labels))
            case_ends: Ends = [(start, ""), *falling]
            for statement in statements:
                case_ends = self._statement(statement, case_ends)
            if statements and self._last_of(statements[-1]).type in syntax.fall_statements:
                falling = [(number, "") for number, _ in case_ends]  # the jump goes on, the next case depends on it
                done += [(number, CONTROL_ONLY) for number, _ in case_ends]
            elif case.type in syntax.falls_through:
                falling = case_ends
            else:
                falling, done = [], done + case_ends
        self._frames.pop()
        return done + falling + frame.breaks + ([] if complete else [(head, "false")])

    def _last_of(self, node: tree_sitter.Node) -> tree_sitter.Node:
        while node.type in self._syntax.blocks and (held := self._parts(node)):
            node = held[-1]
        return node

    def _parts(self, node: tree_sitter.Node) -> list[tree_sitter.Node]:
        """Return what a node holds, without comments."""
        return [child for child in node.named_children if child.type not in self._syntax.ignored]

    def _labels_end(self, case: tree_sitter.Node, labels: list[tree_sitter.Node]) -> int:
        return max((_last_line(label) for label in labels), default=_line(case))

    def _is_default(self, case: tree_sitter.Node) -> bool:
        head = (case.text or b"").decode("utf-8", "replace").lstrip()
        wild = head.startswith(("default", "case _:")) and case.child_by_field_name("guard") is None
        return case.type in self._syntax.defaults or wild

    def _parts_of(self, case: tree_sitter.Node) -> tuple[list[tree_sitter.Node], list[tree_sitter.Node]]:
        labels: list[tree_sitter.Node] = []
        statements: list[tree_sitter.Node] = []
        for index, child in enumerate(case.children):
            name = case.field_name_for_child(index) or ""
            if not child.is_named:
                continue
            is_label = child.type in self._syntax.case_labels or name in self._syntax.case_label_fields
            (labels if is_label else statements).append(child)
        return labels, statements

    def _case_access(self, label: tree_sitter.Node) -> Access:
        if label.type == "case_pattern":  # a lower-case name is bound, a dotted one compared
            return self._pattern_access(label)
        return self._names.access(label)

    def _pattern_access(self, label: tree_sitter.Node, depth: int = 0) -> Access:
        access = Access()
        for child in label.named_children if depth < _MAX_PATTERN_DEPTH else ():
            if child.type == "dotted_name" and child.named_child_count == 1:
                access.add(self._names.bound(child))
            elif child.type in ("class_pattern", "keyword_pattern"):
                for inner in child.named_children[1:]:
                    access.add(self._pattern_access(inner, depth + 1))
            elif child.type != "dotted_name":
                access.add(self._pattern_access(child, depth + 1))
                if child.type == "identifier":
                    access.add(self._names.bound(child))
        return access

    def _with(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        body = node.child_by_field_name("body")
        access = Access()
        for child in node.named_children:
            if child != body:
                access.add(self._names.access(child))
        head = self._new("statement", node, access, ends, last_line=self._head_end(node, body))
        return self._body(body, [(head, "")])

    # -- exceptions and jumps -----------------------------------------------------------------------------------------

    def _try(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        syntax = self._syntax
        resources = node.child_by_field_name("resources")
        handlers = [child for child in node.named_children if child.type in syntax.handlers]
        final = next((child for child in node.named_children if child.type in syntax.finals), None)
        head = self._new(
            "try",
            node,
            self._names.access(resources),
            ends,
            last_line=_last_line(resources) if resources is not None else _line(node),
        )
        final_frame = self._enter(_Frame("finally", final=final)) if final is not None else None
        frame = self._enter(_Frame("try", catches=bool(handlers)))
        after = self._body(node.child_by_field_name("body"), [(head, "")])
        self._frames.pop()
        otherwise = next((child for child in node.named_children if child.type in syntax.elses), None)
        if otherwise is not None:
            after = self._else(otherwise, after)
        thrown: Ends = [(step, DATA_ONLY) for step in frame.steps]
        for handler in handlers:
            body = handler.child_by_field_name("body") or [handler, *self._parts(handler)][-1]
            last = self._head_end(handler, body)
            access = self._handler_access(handler, body)
            start = self._new("handler", handler, access, [(head, "raise"), *frame.raised, *thrown], last_line=last)
            after = after + self._body(body, [(start, "")])
        if final_frame is not None and final is not None:
            self._frames.pop()
            after = self._block_of(final, after + ([] if handlers else thrown))
        return after

    def _handler_access(self, handler: tree_sitter.Node, body: tree_sitter.Node) -> Access:
        access = Access()
        for child in handler.named_children:
            if child == body:
                continue
            if child.type == "catch_formal_parameter" or handler.child_by_field_name("parameter") == child:
                access.add(self._names.bound(child))
            else:
                access.add(self._names.access(child))
        return access

    def _block_of(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        return self._body(node.child_by_field_name("body") or [node, *self._parts(node)][-1], ends)

    def _jump(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        syntax = self._syntax
        leaves_loop = node.type in syntax.breaks | syntax.continues
        step = self._new("jump", node, self._names.access(None if leaves_loop else node), ends)
        label = ""
        if leaves_loop and node.named_child_count:
            label = (node.named_children[0].text or b"").decode("utf-8", "replace")
        out: Ends = [(step, "raise" if node.type in syntax.raises else "")]
        frames = self._frames
        for depth in range(len(frames) - 1, -1, -1):
            frame = frames[depth]
            if frame.kind == "finally" and frame.final is not None:
                self._frames = frames[:depth]
                out = self._block_of(frame.final, out)
                self._frames = frames
            elif (goal := self._goal(frame, node.type, label)) is not None:
                goal.extend(out)
                return [(step, CONTROL_ONLY)]
        self._returns.extend(out)
        return [(step, CONTROL_ONLY)]

    def _goal(self, frame: _Frame, kind: str, label: str) -> Ends | None:
        """Return where a jump of this kind goes in a frame, None when it goes past it."""
        syntax = self._syntax
        if kind in syntax.raises:
            return frame.raised if frame.kind == "try" and frame.catches else None
        if label and frame.label != label:
            return None
        if kind in syntax.breaks and (frame.kind in ("loop", "switch") or (frame.kind == "label" and label)):
            return frame.breaks if frame.kind != "switch" or syntax.breaks_switches else None
        if kind in syntax.continues and frame.kind == "loop":
            return frame.continues
        return None
