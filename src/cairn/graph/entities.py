"""What an expression may stand for, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple, Protocol

from cairn.graph.source_file import SourceFile


class How(IntEnum):
    """By what a reference was resolved, the surest first."""

    EXACT = 0  # a definition in scope, in the same file
    IMPORT = 1  # an import, or the package that both belong to
    RECEIVER = 2  # the class of what stands before the dot
    NAME = 3  # the only definition of that name in the project


class Entity(NamedTuple):
    """What an expression stands for.

    `tag` says what: `module` (a file), `package` (a folder or a package's name), `class`, `instance` of one,
    `function`, `value` (a variable of unknown content), `outside` (of the project), `container` (of what `text` says in
    the scope `node`). `holder` is the variable at the top of a file that holds it and is named by the expression.
    """

    tag: str
    node: int = -1
    how: How = How.EXACT
    text: str = ""
    holder: int = -1

    def by(self, how: How) -> Entity:
        """Return the same, known at most as surely as `how`."""
        return self if how <= self.how else self._replace(how=how)

    def unheld(self) -> Entity:
        """Return the same where the expression goes on, and so no longer names the variable that holds it."""
        return self if self.holder < 0 else self._replace(holder=-1)


OUTSIDE = Entity("outside")
SHADOWED = Entity("value")  # a name that is taken by something unknown


class Expressions(Protocol):
    """What evaluates expressions, as the rules for names, members and calls need it."""

    def evaluate(self, source: SourceFile, scope: int, expression: str) -> Entity | None:
        """Return what an expression stands for where `scope` is the definition around it, None if that is unknown."""

    def called(self, source: SourceFile, scope: int, expression: str) -> Entity | None:
        """Return what an expression stands for where it is called."""

    def type_of(self, source: SourceFile, scope: int, text: str) -> Entity:
        """Return an instance of the class that a type annotation names, something outside if it names no class here."""

    def first_value(self, source: SourceFile, scope: int, values: Iterable[str]) -> Entity | None:
        """Return what the first of several values stands for that is known to be more than a value."""
