"""The files of a view as the graph needs them: their definitions and facts, read when first asked for, never stale."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.config import Settings
from cairn.errors import IndexMovedError, StoreError, UnparsableError
from cairn.graph.modules import Modules
from cairn.graph.recent import Recent, Room
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, Rules, rules_of
from cairn.graph.table import DefinitionTable
from cairn.index.beside import Task, parse_beside
from cairn.index.facts import FACTS_JOB
from cairn.index.isolation import isolated
from cairn.index.limits import limits_of
from cairn.index.reading import HASH_BYTES, HEAD_BYTES
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.source.content import check_content, normalize
from cairn.source.imports import Import
from cairn.source.languages import BY_NAME, detect_language
from cairn.source.references import FACTS_FORMAT, KINDS, NO_FACTS, Facts, decode
from cairn.source.roles import Role
from cairn.source.text import split_identifier, term_hash, terms_of
from cairn.source.walk import read_file
from cairn.storage.connection import reading, store_errors, transaction
from cairn.storage.index import blob_db, chunk_db, meta_db, view_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.types import Definition

# A node is a definition, or a file as a whole: the file's number shifted left, plus the definition's place plus one.
NODE_BITS = 20
PLACE_MASK = (1 << NODE_BITS) - 1
MAX_REREAD = 200  # files changed since they were indexed that are parsed on the spot; more are left as indexed
_MANY_FILES = 48  # from so many on, other processes are worth starting
_MANIFEST_BYTES = 1_000_000
_STORED_BYTES = 4_000_000  # of facts that are stored at a time
_LOOK_EVERY = 1_024  # small steps, after which it is asked whether anybody still waits

_LIBRARY_MANIFESTS = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml", "composer.json", "go.mod", "pom.xml")

Progress = Callable[[int, int], None]
_T = TypeVar("_T")


def node_of(file: int, place: int) -> int:
    """Return the node of a definition, of the file itself for place -1."""
    return file << NODE_BITS | (place + 1)


def file_of(node: int) -> int:
    """Return the number of the file a node is in."""
    return node >> NODE_BITS


def place_of(node: int) -> int:
    """Return a node's place among the definitions of its file, -1 for the file itself."""
    return (node & PLACE_MASK) - 1


@dataclass(slots=True)
class SourceFile:
    """One file: what it defines and what it refers to.

    Attributes:
        members: {qualified name of what encloses: {name: places}}, with an empty key for the file's top level.
        stale: whether what is here was read from a file that changed since it was indexed.
    """

    number: int
    path: str
    language: str
    definitions: Sequence[Definition]
    facts: Facts
    rules: Rules
    stale: bool = False
    members: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    aliases: dict[str, list[Import]] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    values: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    attributes: dict[tuple[int, str], list[tuple[int, str]]] = field(default_factory=dict)
    bases: dict[int, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._take_definitions()
        for one in self.facts.imports:
            if one.name == "*":
                self.stars.append(one)
            if one.alias:
                self.aliases.setdefault(one.alias, []).append(one)
        self._take_values()
        facts = self.facts
        for kind, expression, scope in zip(facts.kinds, facts.expressions, facts.scopes, strict=True):
            if kind in _BASE_KINDS:
                self.bases.setdefault(scope, []).append(facts.texts[expression])

    def _take_definitions(self) -> None:
        spaces = {""}
        for place, one in enumerate(self.definitions):
            owner = one.qualified_name[: -len(one.name) - 1]
            self.members.setdefault(owner, {}).setdefault(one.name, []).append(place)
            if one.kind in NAMESPACE_KINDS and self.rules.open_namespaces:
                spaces.add(one.qualified_name)
        if len(spaces) > 1:
            top: dict[str, list[int]] = {}
            for space in sorted(spaces):
                for name, places in self.members.get(space, {}).items():
                    top.setdefault(name, []).extend(places)
            self.members[""] = top

    def _take_values(self) -> None:
        prefixes = tuple(f"{word}." for word in self.rules.this)
        for scope, variable, value in self.facts.values:
            if self.rules.prefix and variable.startswith(self.rules.prefix):
                attribute = variable.lstrip(self.rules.prefix)
            elif prefixes and variable.startswith(prefixes):
                attribute = variable.partition(".")[2]
            else:
                self.values.setdefault((scope, variable), []).append(value)
                continue
            if "." not in attribute:
                self.attributes.setdefault((self.enclosing_type(scope), attribute), []).append((scope, value))

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes."""
        return 2_000 + 900 * len(self.definitions) + weigh_facts(self.facts)

    def enclosing_type(self, scope: int) -> int:
        """Return the innermost type around a scope, the scope itself included; -1 for none."""
        while scope >= 0 and self.definitions[scope].kind not in _SELF_KINDS:
            scope = self.definitions[scope].parent
        return scope

    def at_line(self, line: int) -> int:
        """Return the innermost definition that holds a line, -1 for none."""
        best = -1
        for place, one in enumerate(self.definitions):
            inside = one.span.start_line <= line <= one.span.end_line
            if inside and (best < 0 or one.span.start_line >= self.definitions[best].span.start_line):
                best = place
        return best


_BASE_KINDS = frozenset({KINDS.index("inherit"), KINDS.index("implement")})
_SELF_KINDS = frozenset({"class", "interface", "struct", "trait", "impl", "enum", "record", "object", "extension"}) | {
    "union",
    "protocol",
    "contract",
    "module",
}


def weigh_facts(facts: Facts) -> int:
    """Return about how many bytes of memory facts take with what `SourceFile` makes of them."""
    return 1_000 + 90 * len(facts.texts) + 20 * len(facts.kinds) + 500 * len(facts.imports) + 400 * len(facts.values)


class KeptFacts:
    """Facts by blob, for one state of the code after the other.

    Attributes:
        recent: those that were used last.
        unstored: (hash of the content, facts as bytes), those that are not in the index yet.
    """

    def __init__(self, room: Room) -> None:
        self.recent: Recent[int, Facts] = Recent(room.facts, weigh_facts)
        self.unstored: dict[int, tuple[bytes, bytes]] = {}
        self._room = room.unstored
        self._new_bytes = 0

    def add(self, found: Iterable[tuple[int, bytes, bytes]]) -> None:
        """Keep facts to be stored."""
        for blob, content_hash, encoded in found:
            if blob not in self.unstored:
                self.unstored[blob] = (content_hash, encoded)
                self._new_bytes += len(encoded)

    @property
    def fresh(self) -> bool:
        """Whether any came since it was last tried to store them."""
        return self._new_bytes > 0

    @property
    def are_many(self) -> bool:
        """Whether so many came since that they are to be stored before there are more."""
        return self._new_bytes > min(self._room, _STORED_BYTES)

    def were_stored(self) -> None:
        """Drop what is in the index now."""
        self.unstored.clear()
        self._new_bytes = 0

    def were_not_stored(self) -> None:
        """Keep what there is room for until there are more; the rest has to be found again."""
        kept, left = {}, self._room
        for blob, one in self.unstored.items():
            if len(one[1]) <= left:
                left -= len(one[1])
                kept[blob] = one
        self.unstored = kept
        self._new_bytes = 0


class Code:
    """All files of one state of a view, and where names are defined.

    Files that were not used for long are dropped, and read again from the index when they are asked for: a project is
    larger than what may be in memory.

    Args:
        kept: facts that an earlier state read; what is read now is added.
        room: how much is kept.
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
        self.snapshot = snapshot
        self.room = room
        self.root = root
        self.paths = snapshot.files.paths
        self._connection = connection
        self._state = state
        self._view_name = view_name
        self._settings = settings
        self._kept = kept
        self._blobs: list[int] = snapshot.files.blob_ids.tolist()
        names = snapshot.files.language_names
        self.languages = [names[number] for number in snapshot.files.languages.tolist()]
        self._files: Recent[int, SourceFile] = Recent(room.files, lambda file: file.n_bytes)
        self._from_disks: dict[int, SourceFile] = {}  # those of which the index has not what is there now
        self._found: set[int] = set()  # the files of which the facts are known
        self._named: Recent[str, list[int]] = Recent(room.names, lambda nodes: len(nodes) + 8)
        self._libraries: dict[str, bool] = {}
        self._table: DefinitionTable | None = None
        self._all_loaded = False
        self.changed: dict[int, tuple[int, int]] = {}
        self.unread = 0
        self.numbers = {path: number for number, path in enumerate(self.paths)}
        self.modules = Modules(self.paths, self.read_text, room.places)
        self._stamps = self._read_stamps()

    def read_through(self, connection: sqlite3.Connection) -> None:
        """Read the index through this connection from now on."""
        self._connection = connection

    # -- what is on disk now ------------------------------------------------------------------------------------------

    def _read_stamps(self) -> list[tuple[int, int]]:
        view = view_db.find_view(self._connection, self._view_name)
        self.view_id = view.id if view is not None else -1
        self.identity = self.snapshot.state.identity
        # A file that shows another blob by now was committed, and not shown yet: it is not what the snapshot has.
        rows = view_db.iter_files(self._connection, self.view_id)
        stamps = {(row.path, row.blob_id): (row.size, row.mtime_ns) for row in rows}
        return [stamps.get(shown, (-1, -1)) for shown in zip(self.paths, self._blobs, strict=True)]

    def find_changed(self) -> dict[int, tuple[int, int]]:
        """Return the files that are not as they were indexed, with their size and time now, (-1, -1) for gone."""
        changed = {}
        lstat, root = os.lstat, str(self.root)
        for number, path in enumerate(self.paths):
            if not number % _LOOK_EVERY:
                waiting.check()
            try:
                status = lstat(f"{root}/{path}")
            except OSError:
                changed[number] = (-1, -1)
                continue
            now = (status.st_size, status.st_mtime_ns)
            if now != self._stamps[number]:
                changed[number] = now
        # A file that was read again, and found to be what it was, has other times since, in the same generation.
        blobs = {self.paths[number]: self._blobs[number] for number in changed}
        stamps = view_db.file_stamps(self._connection, self._view_name, blobs)
        for number in changed:
            self._stamps[number] = stamps.get(self.paths[number], (-1, -1))
        return {number: now for number, now in changed.items() if now == (-1, -1) or now != self._stamps[number]}

    def reread(self, changed: dict[int, tuple[int, int]]) -> None:
        """Take changed files from disk instead of from the index; forgets what was derived from them."""
        self.changed = changed
        self.unread = max(0, len(changed) - MAX_REREAD)
        self._files.clear()
        self._named.clear()
        self._found.clear()
        self._table = None
        self._all_loaded = False
        self._from_disks = {number: self._from_disk(number) for number in sorted(changed)[:MAX_REREAD]}
        self._found.update(self._from_disks)

    def _from_disk(self, number: int) -> SourceFile:
        waiting.check()
        path = self.paths[number]
        definitions: tuple[Definition, ...] = ()
        facts, language = NO_FACTS, self.languages[number]
        data = self._read(path)
        if data is not None and not check_content(data, path):
            detected = detect_language(path, data[:HEAD_BYTES])
            language = detected.name
            with suppress(UnparsableError):
                definitions, encoded = isolated("cairn.index.facts:definitions_and_facts", data, language)
                facts = decode(encoded) or NO_FACTS
        return SourceFile(number, path, language, definitions, facts, rules_of(language), stale=True)

    def _read(self, path: str) -> bytes | None:
        try:
            return normalize(read_file(self.root, path, self._settings.max_file_bytes))
        except OSError:
            return None

    def read_text(self, path: str) -> str:
        """Return the text of a small file of the project as it is now, empty when it cannot be read."""
        try:
            return read_file(self.root, path, _MANIFEST_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    # -- files --------------------------------------------------------------------------------------------------------

    def file(self, number: int) -> SourceFile:
        """Return one file, read when it is asked for first, or again after a while."""
        return self._files.get(number) or self._files.put(number, self._open(number))

    def _open(self, number: int) -> SourceFile:
        waiting.check()
        if (changed := self._from_disks.get(number)) is not None:
            return changed
        blob, language = self._blobs[number], self.languages[number]
        definitions, facts = self._read_blob(blob, language)
        if facts is None:
            facts = self._find(number)
            if (changed := self._from_disks.get(number)) is not None:
                return changed
        self._found.add(number)
        return SourceFile(number, self.paths[number], language, definitions, facts, rules_of(language))

    def _read_blob(self, blob: int, language: str) -> tuple[Sequence[Definition], Facts | None]:
        """Return what a blob of the view defines, and what it refers to, None if that was not kept.

        Raises:
            IndexMovedError: if the index does not hold it any more.
        """
        with store_errors(self._state.database, INDEX), reading(self._connection):
            hashes = blob_db.read_blob_hashes(self._connection, [blob])
            if not hashes or meta_db.identity(self._connection) != self.identity:
                raise _moved()
            definitions = chunk_db.read_definitions(self._connection, [blob]).get(blob, ())
            facts = self._facts_of(blob, language)
        return definitions, facts

    def _find(self, number: int) -> Facts:
        """Return the facts of a file of which there are none yet, or for which there was no room."""
        hashes = blob_db.read_blob_hashes(self._connection, [self._blobs[number]])
        facts = NO_FACTS
        for blob, encoded in self._run(self._tasks([number], hashes), 1):
            facts = self._kept.recent.put(blob, decode(encoded) or NO_FACTS)
            self._keep(blob, hashes[blob], encoded)
        self._store_outside()
        return facts

    def _facts_of(self, blob: int, language: str) -> Facts | None:
        """Return what a blob refers to, None if that was not found out yet, or not kept."""
        if not BY_NAME[language].has_references:
            return NO_FACTS
        if (facts := self._kept.recent.get(blob)) is not None:
            return facts
        _, data = self._kept.unstored.get(blob, (b"", None))
        if data is None:
            data = blob_db.read_facts(self._connection, [blob]).get(blob)
        if data is None or (facts := decode(data)) is None:
            return None
        return self._kept.recent.put(blob, facts)

    def load(self, numbers: Iterable[int], progress: Progress | None = None) -> None:
        """Find the facts of several files at once, as far as they are not stored yet, and keep them."""
        missing = [number for number in numbers if number not in self._found]
        if missing:
            self._extract(missing, progress)
            self._found.update(missing)

    def indexed(self, number: int, blob: int) -> SourceFile | None:
        """Return a file as it was when it showed a blob, None if that is not known any more."""
        language = self.languages[number]
        facts = self._facts_of(blob, language)
        if facts is None or not blob_db.read_blob_hashes(self._connection, [blob]):
            return None
        definitions = chunk_db.read_definitions(self._connection, [blob]).get(blob, [])
        return SourceFile(number, self.paths[number], language, definitions, facts, rules_of(language))

    def names_in(self, blob: int) -> set[str] | None:
        """Return what a blob defines, None if that is not known any more."""
        if not blob_db.read_blob_hashes(self._connection, [blob]):
            return None
        return {one.name for one in chunk_db.read_definitions(self._connection, [blob]).get(blob, ())}

    def _extract(self, numbers: Sequence[int], progress: Progress | None) -> None:
        """Find the facts of files that have none yet, and store them for the next time.

        Raises:
            IndexMovedError: as `_store`.
        """
        blobs = sorted({self._blobs[number] for number in numbers if BY_NAME[self.languages[number]].has_references})
        known = blob_db.blobs_with_facts(self._connection, blobs, FACTS_FORMAT) | self._kept.unstored.keys()
        wanted = [blob for blob in blobs if blob not in known]
        if not wanted:
            return
        if len(wanted) >= _MANY_FILES:
            waiting.give_way()
        hashes = blob_db.read_blob_hashes(self._connection, wanted)
        tasks = self._tasks([number for number in numbers if self._blobs[number] in hashes], hashes)
        for done, (blob, encoded) in enumerate(self._run(tasks, len(wanted)), 1):
            self._keep(blob, hashes[blob], encoded)
            waiting.check()
            if progress is not None:
                progress(done, len(wanted))
        self._store_outside()

    def _tasks(self, numbers: Iterable[int], hashes: Mapping[int, bytes]) -> Iterator[Task[int]]:
        """Read the files of some blobs, one for each; one that changed since the index was made is taken as it is."""
        done: set[int] = set()
        for number in numbers:
            blob = self._blobs[number]
            if blob in done or number in self._from_disks:
                continue
            waiting.check()
            data = self._read(self.paths[number])
            if data is None or blake2b(data, digest_size=HASH_BYTES).digest() != hashes.get(blob):
                self._from_disks[number] = self._from_disk(number)  # since the changed files were looked for
            else:
                done.add(blob)
                yield Task(data, self.languages[number], blob)

    def _run(self, tasks: Iterator[Task[int]], count: int) -> Iterable[tuple[int, bytes]]:
        limits = limits_of(self._settings, background=False)
        n_helpers = limits.helpers if count >= _MANY_FILES else 1
        return parse_beside(tasks, FACTS_JOB, n_helpers=n_helpers, in_flight_bytes=limits.in_flight_bytes)

    def _keep(self, blob: int, content_hash: bytes, encoded: bytes) -> None:
        """Keep facts until they are many or the question is answered, and then store them."""
        self._kept.add([(blob, content_hash, encoded)])
        if self._kept.are_many:
            self._store()

    def _store_outside(self) -> None:
        """Store what was found outside of a question."""
        if not self._connection.in_transaction:
            self.keep_found()

    def keep_found(self) -> None:
        """Store the facts that were found, as far as they are not stored yet."""
        if self._kept.fresh:
            self._store()

    def _store(self) -> None:
        """Store facts, unless another process writes or nobody may: then it is tried again when there are more.

        A question reads one state of the index in one transaction. That ends before facts are written, and another
        begins after, which reads the same unless another process wrote meanwhile.

        Raises:
            IndexMovedError: if one did.
        """
        found = [(blob, *one) for blob, one in self._kept.unstored.items()]
        asked = self._connection.in_transaction
        try:
            with (
                store_errors(self._state.database, INDEX),
                write_lock(self._state.lock, 0, INDEX),
                self._interrupted(),
                transaction(self._connection),
            ):
                blob_db.put_facts(self._connection, found)
            self._kept.were_stored()
        except StoreError:
            self._kept.were_not_stored()
        if asked and meta_db.state(self._connection) != self.snapshot.state:
            raise _moved()

    @contextmanager
    def _interrupted(self) -> Iterator[None]:
        """Read nothing during the block, so that it can write."""
        if not self._connection.in_transaction:
            yield
            return
        self._connection.execute("COMMIT")
        try:
            yield
        finally:
            self._connection.execute("BEGIN")

    def load_all(self, progress: Progress | None = None) -> None:
        """Find the facts of every file."""
        if not self._all_loaded:
            self.load(range(len(self.paths)), progress)
            self._all_loaded = True

    @property
    def table(self) -> DefinitionTable:
        """All definitions as arrays."""
        if self._table is None:
            others = {
                number: [(one.kind, one.name) for one in file.definitions] for number, file in self._from_disks.items()
            }
            with store_errors(self._state.database, INDEX), reading(self._connection):
                if meta_db.identity(self._connection) != self.identity:
                    raise _moved()
                rows = _while_waited_for(chunk_db.iter_definitions(self._connection))
                self._table = DefinitionTable.of(rows, self._blobs, others, NODE_BITS)
        return self._table

    # -- definitions --------------------------------------------------------------------------------------------------

    def definition(self, node: int) -> Definition:
        """Return the definition of a node that is one."""
        return self.file(file_of(node)).definitions[place_of(node)]

    def named(self, name: str) -> list[int]:
        """Return the definitions called `name`, in the order of their files."""
        if (found := self._named.get(name)) is not None:
            return found
        return self._named.put(name, self.table.called(name) if self._all_loaded else self._find_named(name))

    def _find_named(self, name: str) -> list[int]:
        nodes: list[int] = []
        if not name.isprintable():  # no definition's name; SQLite takes no text that is no UTF-8
            return nodes
        for blob, ordinal in chunk_db.exact_definitions(self._connection, name):
            files = self._files_of_blob.get(blob, ())
            nodes += [node_of(number, ordinal) for number in files if number not in self._from_disks]
        for number, file in self._from_disks.items():
            nodes += [node_of(number, place) for place, one in enumerate(file.definitions) if one.name == name]
        return sorted(nodes)

    @cached_property
    def _files_of_blob(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for number, blob in enumerate(self._blobs):
            found[blob].append(number)
        return found

    def group(self, node: int) -> list[int]:
        """Return the definitions that share a node's file and qualified name, such as overloads, itself included."""
        place = place_of(node)
        if place < 0:
            return [node]
        source = self.file(file_of(node))
        one = source.definitions[place]
        owner = one.qualified_name[: -len(one.name) - 1]
        places = source.members[owner][one.name]
        same = [
            other
            for other in places
            if (source.definitions[other].kind in FUNCTION_KINDS) == (one.kind in FUNCTION_KINDS)
        ]
        return [node_of(file_of(node), other) for other in same]

    def main_of(self, nodes: Sequence[int]) -> int:
        """Return the one of several definitions of a name that stands for all: the longest, which has the body."""
        return max(nodes, key=lambda node: (self._length(node), -node))

    def _length(self, node: int) -> int:
        if place_of(node) < 0:
            return 0
        span = self.definition(node).span
        return span.end_byte - span.start_byte

    # -- files by what they mention -----------------------------------------------------------------------------------

    def mentioning(self, name: str, among: Collection[int] | None = None) -> set[int]:
        """Return the files, all or those of some, whose text has an identifier; perhaps some more that are at hand."""
        found = self.may_mention(name) if among is None else among
        raw = name.encode("utf-8", "surrogateescape")
        return {number for number in found if number in self._found or self._says(number, raw)}

    def may_mention(self, name: str) -> set[int]:
        """Return the files that the index knows to have the stem of an identifier, as `filter` is that of `filters`."""
        terms = terms_of(name, split_identifier(name))
        if not terms or len(name) > 60:
            return set(range(len(self.paths)))
        rows = self.snapshot.term_rows([term_hash(terms[-1])]).rows
        blobs = np.unique(self.snapshot.blob_of_row[rows])
        found = (self._files_of_blob.get(blob, ()) for blob in self.snapshot.blob_ids[blobs].tolist())
        return {number for numbers in found for number in numbers} | self._from_disks.keys()

    def _says(self, number: int, raw: bytes) -> bool:
        waiting.check()
        data = self._read(self.paths[number])
        return data is not None and raw in data

    def is_library(self, path: str) -> bool:
        """Tell whether a file belongs to a package that others install: its manifest gives it a name to publish."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            for name in _LIBRARY_MANIFESTS:
                manifest = f"{folder}/{name}" if folder else name
                if manifest in self.numbers:
                    if manifest not in self._libraries:
                        self._libraries[manifest] = _publishes(self.read_text(manifest), name)
                    return self._libraries[manifest]
        return False

    def is_test(self, number: int) -> bool:
        """Tell whether a file holds tests or what tests need."""
        return bool(self.tests[number])

    @cached_property
    def tests(self) -> npt.NDArray[np.bool_]:
        """Which files hold tests or what tests need. Shape (n_files,)."""
        return (self.snapshot.files.roles & np.uint16(Role.TEST)).astype(np.bool_)


def _moved() -> IndexMovedError:
    return IndexMovedError("the index was changed by another process meanwhile", "run the command again")


def _while_waited_for(rows: Iterable[_T]) -> Iterator[_T]:
    """Yield rows as long as anybody waits for what is made of them."""
    for number, row in enumerate(rows):
        if not number % _LOOK_EVERY:
            waiting.check()
        yield row


def _publishes(text: str, name: str) -> bool:
    if name == "package.json":
        return '"private": true' not in text and ('"main"' in text or '"exports"' in text or '"module"' in text)
    if name == "pyproject.toml":
        return "[project]" in text or "[tool.poetry]" in text
    if name == "Cargo.toml":
        return "[package]" in text
    return True
