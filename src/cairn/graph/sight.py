"""Looks at the code for resolution, and notes what was looked at as a need of the answer."""

from __future__ import annotations

from cairn.graph.code import Code
from cairn.graph.memo import Memo, content_of, namesakes_of, place_called
from cairn.graph.modules.lookup import ANY_PATH
from cairn.graph.modules.places import Place
from cairn.graph.source_file import SourceFile


class Sight:
    """One state of the code, as resolution sees it."""

    def __init__(self, code: Code, memo: Memo) -> None:
        self.code = code
        self.memo = memo

    def file(self, number: int) -> SourceFile:
        """Return one file."""
        self.memo.need(content_of(self.code.paths[number]))
        return self.code.file(number)

    def nodes_named(self, name: str) -> list[int]:
        """Return the definitions called `name`, in the order of their files."""
        self.memo.need(namesakes_of(name))
        return self.code.nodes_named(name)

    def place(self, source: SourceFile, module: str) -> Place:
        """Return the file or folder that a file means by a module's name."""
        answer = self.code.modules.look_up(module, source.path, source.rules.finder)
        self.memo.need_all(answer.needs)
        return answer.place

    def matching(self, source: SourceFile, pattern: str) -> list[int]:
        """Return the files that a file imports by a pattern of their paths."""
        self.memo.need(place_called(ANY_PATH))
        return self.code.modules.matching(pattern, source.path, source.rules.finder)

    def child(self, place: Place, name: str) -> Place:
        """Return the submodule `name` of a Python module or package."""
        answer = self.code.modules.child(place, name)
        self.memo.need_all(answer.needs)
        return answer.place
