"""Finds methods of traits of Rust that are implemented for all types of a kind, where a file imports the trait."""

from __future__ import annotations

from cairn.graph.entities import Entity, How
from cairn.graph.exports import Exports
from cairn.graph.inheritance import Inheritance
from cairn.graph.nodes import file_of, node_of
from cairn.graph.rules import COMMON_NAMES
from cairn.graph.sight import Sight
from cairn.graph.signatures import type_parameters
from cairn.graph.source_file import SourceFile


class Traits:
    """The traits of one state of the code that extend other types, as in `impl<R: Read> ReadExt for R`."""

    def __init__(self, sight: Sight, exports: Exports, inheritance: Inheritance) -> None:
        self._sight = sight
        self._exports = exports
        self._inheritance = inheritance

    def find(self, source: SourceFile, head: Entity | None, name: str) -> Entity | None:
        """Return the method that `.name` means after something without such a member; `head` may be unknown."""
        is_known = head is not None and head.tag == "instance"
        if not is_known and (name in COMMON_NAMES or (head is not None and head.tag != "outside")):
            return None
        for trait in self._imported(source):
            member = self._inheritance.member(trait, name)
            if member is not None and member.tag == "function":
                return member.by(How.RECEIVER if is_known else How.NAME)
        return None

    def _imported(self, source: SourceFile) -> list[int]:
        return self._sight.memo.recall(("traits", source.number), [], lambda: self._find_imported(source))

    def _find_imported(self, source: SourceFile) -> list[int]:
        names = [imported for imported in source.facts.imports if imported.name not in ("", "*")]
        entities = (self._exports.of_import(source, imported) for imported in names)
        nodes = (entity.node for entity in entities if entity is not None and entity.tag == "class")
        return [node for node in dict.fromkeys(nodes) if self._is_for_all(node)]

    def _is_for_all(self, trait: int) -> bool:
        """Tell whether a trait is implemented for a type parameter in its own file."""
        if self._sight.code.definition(trait).kind != "trait":
            return False
        source = self._sight.file(file_of(trait))
        return any(
            definition.kind == "impl"
            and definition.name in type_parameters(definition.signature)
            and trait in self._inheritance.bases_of(node_of(source.number, place))
            for place, definition in enumerate(source.definitions)
        )
