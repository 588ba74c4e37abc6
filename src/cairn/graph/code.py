"""The code of one state of a view: its files, read when first asked for and never stale, and its definitions."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.config import Settings
from cairn.graph.checkout import Checkout
from cairn.graph.facts import FactFinder, KeptFacts, Progress
from cairn.graph.mentions import FileMentions
from cairn.graph.modules.lookup import Modules
from cairn.graph.nodes import NODE_BITS, file_of, node_of, place_of
from cairn.graph.recent import Recent, Room
from cairn.graph.rules import FUNCTION_KINDS, rules_of
from cairn.graph.source_file import SourceFile, weigh_facts
from cairn.graph.stored import Stamp, StoredCode
from cairn.graph.table import DefinitionTable
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.source.facts import Facts
from cairn.source.languages import BY_NAME
from cairn.source.roles import Role
from cairn.types import Definition


class Code:
    """All files of one state of a view, and where names are defined.

    Files that have not been used for a while are dropped, and read from the index again when they are asked for: a
    project is larger than what may be in memory.

    Args:
        kept: facts that an earlier state read; what is read now is added.
        room: how much is kept in memory.

    Attributes:
        checkout: the files as they are on disk.
        mentions: which files mention a name.
        numbers: of the files, by path.
        called: the numbers of the files by the last part of their paths.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        connection: sqlite3.Connection,
        state: StateDir,
        root: Path,
        view_name: str,
        settings: Settings,
        kept: KeptFacts,
        room: Room,
    ) -> None:
        files = snapshot.files
        self.snapshot = snapshot
        self.room = room
        self.paths = files.paths
        self.languages = [files.language_names[number] for number in files.languages.tolist()]
        self.numbers = {path: number for number, path in enumerate(self.paths)}
        self.called: defaultdict[str, list[int]] = defaultdict(list)
        for path, number in self.numbers.items():
            self.called[path.rpartition("/")[2]].append(number)
        self._stored = StoredCode(snapshot, connection, state, view_name)
        self.view_id = self._stored.view_id
        self.identity = self._stored.identity
        self.checkout = Checkout(self._stored, root, self.languages, settings, room)
        self.mentions = FileMentions(snapshot, self.checkout, lambda blob: self._files_of_blob.get(blob, ()), room)
        self.modules = Modules(self.paths, self.checkout.read_text, room.places)
        self._facts = FactFinder(self._stored, self.checkout, kept, self.languages, settings)
        self._blobs: list[int] = files.blob_ids.tolist()
        self._files: Recent[int, SourceFile] = Recent(room.files, lambda file: file.n_bytes)
        self._with_facts: set[int] = set()  # the files whose facts were found
        self._nodes_by_name: Recent[str, list[int]] = Recent(room.names, lambda nodes: len(nodes) + 8)
        self._table: DefinitionTable | None = None
        self._all_loaded = False

    def read_through(self, connection: sqlite3.Connection) -> None:
        """Read the index through this connection from now on."""
        self._stored.connection = connection

    def reread(self, changed: dict[int, Stamp]) -> None:
        """Read changed files from disk instead of from the index, and forget what was derived from them."""
        self._files.clear()
        self._nodes_by_name.clear()
        self.mentions.forget()
        self._with_facts.clear()
        self._table = None
        self._all_loaded = False
        self.checkout.read_changed(changed)
        self._with_facts.update(self.checkout.files)

    # -- files --------------------------------------------------------------------------------------------------------

    def file(self, number: int) -> SourceFile:
        """Return one file, read when it is first asked for, or again after a while."""
        return self._files.get(number) or self._files.put(number, self._open(number))

    def _open(self, number: int) -> SourceFile:
        """Read a file from the index, or take it from disk if it changed.

        Raises:
            IndexMovedError: if the index no longer holds it.
        """
        waiting.check()
        if (changed := self.checkout.files.get(number)) is not None:
            return changed
        blob, language = self._blobs[number], self.languages[number]
        definitions = self._stored.read_blob(blob)
        return SourceFile(number, self.paths[number], language, definitions, self._find_facts, rules_of(language))

    def _find_facts(self, source: SourceFile) -> Facts:
        """Return what an open file refers to, read from the index or found by parsing the file."""
        waiting.check()
        number = source.number
        if (changed := self.checkout.files.get(number)) is not None:
            return source.take_over(changed)
        facts = self._facts.look_up(self._blobs[number], self.languages[number])
        if facts is None:
            facts = self._facts.find(number)
            if (changed := self.checkout.files.get(number)) is not None:
                return source.take_over(changed)
        self._files.add_weight(weigh_facts(facts))
        self._with_facts.add(number)
        return facts

    def load(
        self,
        numbers: Iterable[int],
        progress: Progress | None = None,
        may_go_on: Callable[[], bool] | None = None,
    ) -> None:
        """Find the facts of several files at once, as far as they are not stored yet, and keep them.

        Args:
            numbers: the files.
            progress: called with (files done, files to do).
            may_go_on: while this says so; the rest is found when it is asked for. To the end without it.
        """
        missing = [number for number in numbers if number not in self._with_facts]
        if missing and self._facts.find_all(missing, progress, may_go_on):
            self._with_facts.update(missing)

    def load_all(self, progress: Progress | None = None) -> None:
        """Find the facts of every file."""
        if not self._all_loaded:
            self.load(range(len(self.paths)), progress)
            self._all_loaded = True

    def warm_up(self) -> None:
        """Have a helper get ready for the language of most files, while other work is done."""
        counts = Counter(language for language in self.languages if BY_NAME[language].has_references)
        if counts:
            self._facts.warm_up(max(counts, key=counts.__getitem__))

    def store_facts(self) -> None:
        """Store the facts that were found, as far as they are not stored yet."""
        self._facts.store()

    def file_with_blob(self, number: int, blob: int) -> SourceFile | None:
        """Return a file as it was when its content was another blob, None if that is not known any more."""
        language = self.languages[number]
        facts = self._facts.look_up(blob, language)
        if facts is None or (definitions := self._stored.read_definitions(blob)) is None:
            return None
        return SourceFile(number, self.paths[number], language, definitions, facts, rules_of(language))

    def names_in(self, blob: int) -> set[str] | None:
        """Return what a blob defines, None if that is not known any more."""
        definitions = self._stored.read_definitions(blob)
        return None if definitions is None else {definition.name for definition in definitions}

    # -- definitions --------------------------------------------------------------------------------------------------

    @property
    def table(self) -> DefinitionTable:
        """All definitions as arrays."""
        if self._table is None:
            changed = {
                number: [(definition.kind, definition.name) for definition in file.definitions]
                for number, file in self.checkout.files.items()
            }
            with self._stored.all_definitions() as rows:
                self._table = DefinitionTable.of(rows, self._blobs, changed, NODE_BITS)
        return self._table

    def definition(self, node: int) -> Definition:
        """Return the definition of a node that is one."""
        return self.file(file_of(node)).definitions[place_of(node)]

    def nodes_named(self, name: str, *, are_tests: bool = False) -> list[int]:
        """Return the definitions called `name`, in the order of their files.

        Tests that have a name or label of their own are apart from all others: nothing calls them by it.
        """
        if are_tests:
            return self._find_nodes_named(name, are_tests=True)
        if (nodes := self._nodes_by_name.get(name)) is not None:
            return nodes
        nodes = self.table.nodes_named(name) if self._all_loaded else self._find_nodes_named(name, are_tests=False)
        return self._nodes_by_name.put(name, nodes)

    def _find_nodes_named(self, name: str, *, are_tests: bool) -> list[int]:
        nodes: list[int] = []
        if not name.isprintable():  # no definition's name; SQLite takes only text that is UTF-8
            return nodes
        changed = self.checkout.files
        for blob, ordinal in self._stored.places_of(name, are_tests=are_tests):
            files = self._files_of_blob.get(blob, ())
            nodes += [node_of(number, ordinal) for number in files if number not in changed]
        for number, file in changed.items():
            nodes += [
                node_of(number, place)
                for place, definition in enumerate(file.definitions)
                if definition.name == name and (definition.kind == "test") == are_tests
            ]
        return sorted(nodes)

    @cached_property
    def _files_of_blob(self) -> dict[int, list[int]]:
        files: dict[int, list[int]] = defaultdict(list)
        for number, blob in enumerate(self._blobs):
            files[blob].append(number)
        return files

    def group(self, node: int) -> list[int]:
        """Return the definitions that share a node's file and qualified name, such as overloads, itself included."""
        place = place_of(node)
        if place < 0:
            return [node]
        source = self.file(file_of(node))
        definition = source.definitions[place]
        if definition.kind == "test":
            return [node]
        is_function = definition.kind in FUNCTION_KINDS
        owner = definition.qualified_name[: -len(definition.name) - 1]
        return [
            node_of(file_of(node), other)
            for other in source.members[owner][definition.name]
            if (source.definitions[other].kind in FUNCTION_KINDS) == is_function
        ]

    def main_of(self, nodes: Sequence[int]) -> int:
        """Return which of several definitions of a name stands for all of them: the longest, which has the body."""

        def length(node: int) -> int:
            if place_of(node) < 0:
                return 0
            span = self.definition(node).span
            return span.end_byte - span.start_byte

        return max(nodes, key=lambda node: (length(node), -node))

    @cached_property
    def tests(self) -> npt.NDArray[np.bool_]:
        """Which files hold tests or what tests need. Shape (n_files,)."""
        return (self.snapshot.files.roles & np.uint16(Role.TEST)).astype(np.bool_)
