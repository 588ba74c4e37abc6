"""What an expression may stand for, and how sure that is."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class How(IntEnum):
    """By what a reference was resolved, the surest first."""

    EXACT = 0  # a definition in scope, in the same file
    IMPORT = 1  # an import, or the package that both belong to
    RECEIVER = 2  # the class of what stands before the dot
    NAME = 3  # the one definition of that name in the project


class Entity(NamedTuple):
    """What an expression stands for.

    `tag` says what: `module` (a file), `package` (a folder or a package's name), `class`, `instance` of one,
    `function`, `value` (a variable of unknown content), `outside` (of the project).
    """

    tag: str
    node: int = -1
    how: How = How.EXACT
    text: str = ""

    def by(self, how: How) -> Entity:
        """Return the same, known at most as surely as `how`."""
        return self if how <= self.how else self._replace(how=how)


OUTSIDE = Entity("outside")
SHADOWED = Entity("value")  # a name that is taken, by nobody knows what
