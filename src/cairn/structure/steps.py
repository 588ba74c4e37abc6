"""The control flow of one function: its statements as steps, and which may follow which."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from cairn.structure.names import Access

StepKind = Literal["entry", "statement", "branch", "loop", "case", "try", "handler", "jump", "exit"]
# An edge is one of control (with a word to show), or only carries values when something is raised, or only says where
# a jump would go if it did not jump: what it skips depends on it.
EdgeKind = Literal["", "true", "false", "case", "raise", "exception", "skipped"]
DATA_ONLY: Final = "exception"
CONTROL_ONLY: Final = "skipped"


@dataclass(slots=True)
class Step:
    """One statement, or the head of one that holds others; its lines are 1-based and inclusive."""

    kind: StepKind
    first_line: int
    last_line: int
    text: str
    access: Access
    successors: list[tuple[int, EdgeKind]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """The steps of one function: the first is the entry, the last the exit."""

    name: str
    first_line: int
    last_line: int
    steps: tuple[Step, ...]

    def complexity(self) -> int:
        """Return the cyclomatic complexity: one, and one for each further way out of a step."""
        ways = (len({target for target, kind in step.successors if _is_control(kind)}) for step in self.steps)
        return 1 + sum(max(0, count - 1) for count in ways)

    def blocks(self) -> list[tuple[int, int]]:
        """Return the basic blocks: the first and last step of each run that is entered and left only at its ends."""
        ways_in: dict[int, int] = {}
        for step in self.steps:
            for target in {target for target, kind in step.successors if _is_control(kind)}:
                ways_in[target] = ways_in.get(target, 0) + 1
        found: list[tuple[int, int]] = []
        for number in range(len(self.steps)):
            ahead = (
                {target for target, kind in self.steps[number - 1].successors if _is_control(kind)} if number else ()
            )
            if ahead == {number} and ways_in[number] == 1:
                found[-1] = found[-1][0], number
            else:
                found.append((number, number))
        return found


def _is_control(kind: EdgeKind) -> bool:
    return kind not in (DATA_ONLY, CONTROL_ONLY)
