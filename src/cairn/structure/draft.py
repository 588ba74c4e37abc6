"""The control-flow graph of one function while it is being built: its steps so far, and what is around the next one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cairn.source.languages.flow_syntax import FlowSyntax
from cairn.structure.names import Access, NameReader
from cairn.structure.steps import EdgeKind, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Callable

    import tree_sitter

MAX_STEPS = 5_000  # of one function; more are data written as code
_MAX_TEXT_CHARS, _MAX_TEXT_BYTES = 120, 2_000
_MAX_DEPTH = 48  # of statements in statements; more is data written as code

Ends = list[tuple[int, EdgeKind]]  # steps that the next one follows, and how


class TooManySteps(Exception):
    """A function has more than `MAX_STEPS` statements."""


@dataclass(slots=True, eq=False)
class JumpFrame:
    """Something around the current statement that a jump may go to or through."""

    kind: Literal["loop", "switch", "label", "try", "finally"]
    label: str = ""
    breaks: Ends = field(default_factory=list)
    continues: Ends = field(default_factory=list)
    raised: Ends = field(default_factory=list)
    steps: list[int] = field(default_factory=list)  # in a try, where something may be raised
    catches: bool = False
    final: tree_sitter.Node | None = None


class Draft:
    """A control-flow graph that statements are added to.

    To add a statement is to give the ends that lead to it, and to get those that lead on.

    Args:
        add: adds a statement of any kind; see `cairn.structure.control`.

    Attributes:
        frames: what is around the current statement, the innermost last.
        returns: the ends that leave the function.
    """

    def __init__(self, syntax: FlowSyntax, add: Callable[[Draft, tree_sitter.Node, Ends], Ends]) -> None:
        self.syntax = syntax
        self.names = NameReader(syntax)
        self.steps: list[Step] = []
        self.frames: list[JumpFrame] = []
        self.returns: Ends = []
        self._add = add
        self._label = ""
        self._depth = 0

    # -- steps --------------------------------------------------------------------------------------------------------

    def step(
        self,
        kind: StepKind,
        node: tree_sitter.Node,
        access: Access,
        ends: Ends,
        *,
        last_line: int = 0,
        text: str = "",
    ) -> int:
        """Add a step behind some ends, and return its number.

        Raises:
            TooManySteps: if there are more than `MAX_STEPS`.
        """
        number = len(self.steps)
        if number > MAX_STEPS:
            raise TooManySteps
        first, last = first_line(node), last_line or last_line_of(node)
        beginning = (node.text or b"")[:_MAX_TEXT_BYTES].decode("utf-8", "replace")
        shown = text or " ".join(beginning.split("\n")[: last - first + 1])
        shown = " ".join(shown.split())[:_MAX_TEXT_CHARS]
        self.steps.append(Step(kind, first, max(first, last), shown, access))
        self.link(ends, number)
        for frame in self.frames:
            if frame.kind == "try":
                frame.steps.append(number)
        return number

    def link(self, ends: Ends, target: int) -> None:
        """Let a step follow some ends."""
        for number, kind in ends:
            if (target, kind) not in self.steps[number].successors:
                self.steps[number].successors.append((target, kind))

    # -- statements ---------------------------------------------------------------------------------------------------

    def plain(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        """Add a statement or expression as one step."""
        return [(self.step("statement", node, self.names.access(node), ends), "")]

    def statement(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        """Add a statement; one that is nested too deeply as one step, whatever it holds."""
        if self._depth >= _MAX_DEPTH:
            return [(self.step("statement", node, self.access(node), ends), "")]
        self._depth += 1
        ends = self._add(self, node, ends)
        self._depth -= 1
        return ends

    def body(self, node: tree_sitter.Node | None, ends: Ends) -> Ends:
        """Add the body of a statement, if it has one."""
        return ends if node is None else self.statement(node, ends)

    def block(self, node: tree_sitter.Node, ends: Ends, without: tree_sitter.Node | None = None) -> Ends:
        """Add the statements of a block, except `without`."""
        statements = node.named_children
        if self.syntax.hoists:
            functions = self.syntax.named_functions
            statements = sorted(statements, key=lambda statement: statement.type not in functions)
        for statement in statements:
            if statement != without:
                ends = self.statement(statement, ends)
        return ends

    def else_(self, node: tree_sitter.Node, ends: Ends) -> Ends:
        """Add what stands behind an `else`."""
        if node.type not in self.syntax.elses:
            return self.statement(node, ends)
        body = node.child_by_field_name("body")
        if body is None and (parts := self.parts(node)):
            body = parts[-1]
        return self.body(body, ends)

    def access(self, node: tree_sitter.Node) -> Access:
        """Return what a statement reads and writes; the body of a class is part of the statement."""
        wrapped = node.named_child(node.named_child_count - 1) if node.type in self.syntax.wrappers else node
        if wrapped is None or wrapped.type not in self.syntax.classes:
            return self.names.access(node)
        inner = self.names.access(wrapped.child_by_field_name("body"))
        access = Access(reads=inner.reads - set(inner.writes))
        if (name := wrapped.child_by_field_name("name")) is not None:
            access.write((name.text or b"").decode("utf-8", "replace"))
        return access

    def parts(self, node: tree_sitter.Node) -> list[tree_sitter.Node]:
        """Return what a node holds, without comments."""
        return [child for child in node.named_children if child.type not in self.syntax.ignored]

    # -- frames and labels --------------------------------------------------------------------------------------------

    def enter(self, frame: JumpFrame) -> JumpFrame:
        """Put a frame around the statements to come."""
        self.frames.append(frame)
        return frame

    def leave(self) -> None:
        """Take the innermost frame away."""
        self.frames.pop()

    def take_label(self) -> str:
        """Return the label of the statement to come, which has none after that."""
        label, self._label = self._label, ""
        return label

    def add_labelled(self, label: str, node: tree_sitter.Node, ends: Ends) -> Ends:
        """Add a statement that has a label."""
        self._label = label
        ends = self.statement(node, ends)
        self._label = ""
        return ends


def first_line(node: tree_sitter.Node) -> int:
    """Return the line that a node begins on."""
    return node.start_point.row + 1


def last_line_of(node: tree_sitter.Node) -> int:
    """Return the line that a node ends on; a line break at its end is not another line."""
    return node.end_point.row + (1 if node.end_point.column or node.end_point.row == node.start_point.row else 0)


def last_head_line(node: tree_sitter.Node, body: tree_sitter.Node | None) -> int:
    """Return the last line of what stands before the body of a compound statement."""
    before = [child for child in node.children if body is None or child.end_byte <= body.start_byte]
    return last_line_of(before[-1]) if before else first_line(node)


def first_field(node: tree_sitter.Node, *names: str) -> tree_sitter.Node | None:
    """Return the child in the first of some fields that a node has."""
    for name in names:
        if (child := node.child_by_field_name(name)) is not None:
            return child
    return None
