"""Plans the changes of all files before the first one is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.errors import CairnError, PathError
from cairn.hooks.adapter import Adapter, Block, Change, FileEntry, Format, Item, Place, Whole
from cairn.install import block, structured, whole
from cairn.install.files import check_writable, folders_of_ours, missing_folders, read_content, real_path, shown_path
from cairn.install.record import FileRecord, Piece, Records, digest_of
from cairn.install.wanted import Edited, Wanted


class FileChange(NamedTuple):
    """The planned change of one file.

    Attributes:
        file: its real path.
        shown: its path for people.
        agents: the agents concerned.
        before, after: its content, None for no file.
        record: of what is ours in it afterwards, None for nothing.
        folders: to create for it, or to remove with it if they are empty.
        notes: what is left alone although it is not as wanted.
        problem: why the file is left alone.
    """

    file: Path
    shown: str
    agents: tuple[str, ...]
    before: bytes | None = None
    after: bytes | None = None
    record: FileRecord | None = None
    folders: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: CairnError | None = None

    @property
    def is_change(self) -> bool:
        """Whether there is anything to write."""
        return self.problem is None and self.before != self.after


class _File(NamedTuple):
    """A shared file, with everything that agents want in it."""

    named: Path  # the path as given by the first agent
    real: Path
    format: Format | None  # None for plain text
    wanted: list[Wanted]

    @property
    def pieces(self) -> list[Piece]:
        return [wanted.piece() for wanted in self.wanted]

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(agent for wanted in self.wanted for agent in wanted.agents))


def plan_install(adapters: Sequence[Adapter], place: Place, records: Records) -> list[FileChange]:
    """Return the changes that install Cairn for these agents and keep it for those that have it."""
    files, problems = _wanted_files(adapters, place)
    return [*problems, *(_install(file, place, records.get(str(file.real))) for file in files)]


def plan_removal(
    adapters: Sequence[Adapter], place: Place, records: Records, *, every: bool = False
) -> list[FileChange]:
    """Return the changes that remove Cairn from the files of these agents.

    Args:
        adapters: the agents.
        place: where.
        records: of what was written.
        every: whether these are all agents, so that what was written for agents unknown to this version goes too.
    """
    files, problems = _wanted_files(adapters, place)
    names = {adapter.name for adapter in adapters}
    known = {str(file.real) for file in files}
    for old in records.values():
        if old.file not in known and (every or names & set(old.agents)):
            files.append(_File(Path(old.file), Path(old.file), old.format, []))
    changes = []
    for file in files:
        record = records.get(str(file.real))
        leaving = names | set(record.agents) if every and record is not None else names
        changes.append(_remove(file, place, record, leaving))
    return [*problems, *changes]


def _wanted_files(adapters: Sequence[Adapter], place: Place) -> tuple[list[_File], list[FileChange]]:
    """Return the distinct files in which agents want something, and those that are unusable."""
    files: dict[Path, _File] = {}
    problems: dict[Path, FileChange] = {}
    for adapter in adapters:
        for change in adapter.changes(place):
            change = _with_mark(change)
            try:
                real = real_path(change.file, place)
            except PathError as error:
                shown = shown_path(change.file, place)
                problems.setdefault(change.file, FileChange(change.file, shown, (adapter.name,), problem=error))
                continue
            format_ = change.format if isinstance(change, FileEntry | Item) else None
            _merge(files.setdefault(real, _File(change.file, real, format_, [])).wanted, change, adapter.name)
    return list(files.values()), list(problems.values())


def _with_mark(change: Change) -> Change:
    return change._replace(text=whole.with_mark(change.text, change.file.name)) if isinstance(change, Whole) else change


def _merge(wanted: list[Wanted], change: Change, agent: str) -> None:
    """Add what an agent wants in a file, unless another one wants the same."""
    for index, there in enumerate(wanted):
        if _is_same(there.change, change):
            wanted[index] = Wanted(tuple(dict.fromkeys((*there.agents, agent))), there.change)
            return
    wanted.append(Wanted((agent,), change))


def _is_same(one: Change, other: Change) -> bool:
    if isinstance(one, FileEntry) and isinstance(other, FileEntry):
        return one.path == other.path
    if isinstance(one, Item) and isinstance(other, Item):
        return (one.path, one.value) == (other.path, other.value)
    return isinstance(one, Block | Whole) and type(one) is type(other)


def _install(file: _File, place: Place, record: FileRecord | None) -> FileChange:
    start = FileChange(file.real, shown_path(file.named, place), file.agents)
    try:
        before = read_content(file.real)
        folders = missing_folders(file.real)
        edited = _put(file, start.shown, before, _with_others(file, record), record)
        if edited.content != before:
            check_writable(file.real)
    except CairnError as error:
        return start._replace(problem=error)
    conflicts = "; ".join(edited.conflicts)
    if conflicts and edited.content == before:
        problem = PathError(f"{start.shown}: {conflicts}", f"rename or remove it in {start.shown}")
        return start._replace(problem=problem)
    notes = (*edited.notes, *edited.conflicts)
    if edited.content == before:
        kept = _record_of_found(file, place, before, edited, record)
        return start._replace(before=before, after=before, record=kept, notes=notes)
    folders = tuple(dict.fromkeys((*(record.folders if record is not None else ()), *folders)))
    new = FileRecord(
        file=str(file.real),
        format=file.format,
        is_new=edited.base is None,
        folders=folders,
        before=digest_of(edited.base),
        after=digest_of(edited.content),
        pieces=edited.pieces,
        earlier=None if record is None else record._replace(earlier=None),
    )
    return start._replace(before=before, after=edited.content, record=new, folders=folders, notes=notes)


def _with_others(file: _File, record: FileRecord | None) -> list[Piece]:
    """Return what is wanted in a file, including by installed agents that are not part of this plan."""
    pieces = file.pieces
    asked = set(file.agents)
    for piece in record.pieces if record is not None else ():
        others = tuple(agent for agent in piece.agents if agent not in asked)
        if not others or piece.is_theirs:
            continue
        same = [index for index, new in enumerate(pieces) if _is_one(new, piece)]
        if same:
            agents = tuple(dict.fromkeys((*pieces[same[0]].agents, *others)))
            pieces[same[0]] = pieces[same[0]]._replace(agents=agents)
        else:
            pieces.append(piece._replace(agents=others, edit=None))
    return pieces


def _is_one(new: Piece, old: Piece) -> bool:
    if new.kind != old.kind:
        return False
    return new.path == old.path and (new.kind != "item" or new.value == old.value)


def _record_of_found(
    file: _File, place: Place, content: bytes | None, edited: Edited, record: FileRecord | None
) -> FileRecord | None:
    """Return the record of a file that is already as wanted, such as in a colleague's clone."""
    if record is not None:
        return record._replace(pieces=edited.pieces, earlier=None)
    if content is None or not edited.pieces:
        return None
    digest = digest_of(content)
    is_new = _take(file, str(file.named), content, None).content is None
    folders = folders_of_ours(file.real, place) if is_new else ()
    return FileRecord(str(file.real), file.format, is_new, folders, digest, digest, edited.pieces)


def _remove(file: _File, place: Place, record: FileRecord | None, leaving: Collection[str]) -> FileChange:
    agents = tuple(name for name in (record.agents if record is not None else file.agents) if name in leaving)
    start = FileChange(file.real, shown_path(file.named, place), agents)
    staying = _staying(record, leaving)
    before: bytes | None = None
    try:
        before = read_content(file.real)
        edited = _take(file, start.shown, before, record)
        left = _put(file, start.shown, edited.content, staying, None) if staying else edited
        if left.content != before:
            check_writable(file.real)
    except CairnError as error:
        if before is not None and b"cairn" not in before.lower():  # whatever it is, nothing in it is ours
            return start._replace(before=before, after=before)
        return start._replace(problem=error)
    if staying and record is not None:
        new = record._replace(
            is_new=edited.content is None,
            before=digest_of(edited.content),
            after=digest_of(left.content),
            pieces=left.pieces,
            earlier=record._replace(earlier=None),
        )
        return start._replace(before=before, after=left.content, record=new)
    folders: tuple[str, ...] = ()
    if left.content is None:
        folders = record.folders if record is not None else folders_of_ours(file.real, place)
    return start._replace(before=before, after=left.content, folders=folders, notes=edited.notes)


def _staying(record: FileRecord | None, leaving: Collection[str]) -> list[Piece]:
    """Return what was written for agents that are not part of this plan."""
    pieces = []
    for piece in record.pieces if record is not None else ():
        agents = tuple(agent for agent in piece.agents if agent not in leaving)
        if agents:
            pieces.append(piece._replace(agents=agents, edit=None))
    return pieces


def _put(file: _File, name: str, content: bytes | None, pieces: Sequence[Piece], record: FileRecord | None) -> Edited:
    if file.format is not None:
        return structured.put(structured.Source(file.format, name), content, pieces, record)
    piece = pieces[0]
    if piece.kind == "block":
        return block.put(name, content, piece, record)
    return whole.put(file.real.name, content, piece, record)


def _take(file: _File, name: str, content: bytes | None, record: FileRecord | None) -> Edited:
    pieces = file.pieces
    if file.format is not None:
        return structured.take(structured.Source(file.format, name), content, pieces, record)
    kinds = {piece.kind for piece in (*pieces, *(record.pieces if record is not None else ()))}
    if "block" in kinds:
        return block.take(name, content, record)
    return whole.take(file.real.name, content, record, pieces[0].value if pieces else None)


def agents_of(changes: Iterable[FileChange]) -> tuple[str, ...]:
    """Return the agents that changes concern."""
    return tuple(dict.fromkeys(agent for change in changes for agent in change.agents))
