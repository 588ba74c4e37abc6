"""Adds entries and items to JSON, TOML and YAML files that belong to others, and removes exactly these again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from cairn.documents.document import Document, parse_document
from cairn.documents.undo import undo
from cairn.hooks.adapter import Format
from cairn.hooks.commands import is_ours, iter_commands, iter_ours, mentions_cairn
from cairn.install.record import FileRecord, Piece, digest_of
from cairn.install.wanted import Edited

_MISSING = object()


class Source(NamedTuple):
    """A shared file: its format, and its name for errors."""

    format: Format
    name: str

    def parse(self, content: bytes | None) -> Document:
        """Parse the document; a missing file is an empty one.

        Raises:
            ConfigError: if it cannot be parsed.
        """
        return parse_document(content or b"", self.format, self.name)


# -- putting in --------------------------------------------------------------------------------------------------------


def put(file: Source, content: bytes | None, pieces: Sequence[Piece], record: FileRecord | None) -> Edited:
    """Return the content with pieces added. Everything else stays byte for byte the same.

    Args:
        file: how to read it.
        content: the present one, None if there is no file.
        pieces: the wanted ones.
        record: of what was written before.

    Raises:
        ConfigError: if it cannot be parsed or edited.
    """
    document = file.parse(content)
    known = record.pieces if record is not None else ()
    looks = [_look(document, piece, pieces, known) for piece in pieces]
    notes = tuple(dict.fromkeys(look.note for look in looks if look.note))
    conflicts = tuple(dict.fromkeys(look.conflict for look in looks if look.conflict))
    if all(
        look.conflict or look.piece.is_default for look in looks
    ):  # defaults are only added along with something else
        return Edited(content, (), notes, conflicts, base=content)
    if all(look.is_settled for look in looks) and not _leftovers(document, pieces, known):
        settled = tuple(_recorded(look.piece, known) for look in looks if not look.conflict)
        return Edited(content, settled, notes, conflicts, base=content)
    base = take(file, content, pieces, record, spare=[look.piece for look in looks if look.is_theirs]).content
    document = file.parse(base)
    made: list[Piece] = []
    for look in looks:
        if look.conflict:
            continue
        piece = look.piece
        if not (look.is_theirs or _is_there(document, piece)):
            document = (
                document.append(piece.path, piece.value)
                if piece.kind == "item"
                else document.set(piece.path, piece.value)
            )
            piece = piece._replace(edit=document.edits[-1])
        made.append(piece)
    return Edited(document.content, tuple(made), notes, conflicts, base=base)


class _Look(NamedTuple):
    """What is in the place of a piece."""

    piece: Piece
    is_settled: bool = True
    is_theirs: bool = False
    note: str = ""
    conflict: str = ""


def _look(document: Document, piece: Piece, wanted: Sequence[Piece], known: Sequence[Piece]) -> _Look:
    blocked = _blocked(document, piece)
    if blocked:
        return _Look(piece, conflict=blocked)
    return (_look_at_item if piece.kind == "item" else _look_at_entry)(document, piece, wanted, known)


def _look_at_entry(document: Document, piece: Piece, _wanted: Sequence[Piece], known: Sequence[Piece]) -> _Look:
    there = document.get(piece.path, _MISSING)
    if there is _MISSING:
        return _Look(piece, is_settled=False)
    if there == piece.value or piece.is_default:
        return _Look(piece)
    name = ".".join(piece.path)
    recorded = [entry for entry in known if entry.kind == "entry" and entry.path == piece.path]
    if any(entry.value == there and not entry.is_theirs for entry in recorded):
        return _Look(piece, is_settled=False)
    if mentions_cairn(there):
        theirs = piece._replace(value=there, is_theirs=True)
        return _Look(theirs, is_theirs=True, note=f"`{name}` starts Cairn in its own way and stays as it is")
    return _Look(piece, conflict=f"`{name}` is something else, and stays as it is")


def _look_at_item(document: Document, piece: Piece, wanted: Sequence[Piece], known: Sequence[Piece]) -> _Look:
    ours = [value for value in document.get(piece.path, ()) if _has_ours(value)]
    recorded = [item.value for item in known if item.kind == "item" and item.path == piece.path]
    right = [item.value for item in wanted if item.kind == "item" and item.path == piece.path]
    is_changed = recorded and any(value not in recorded and value not in right for value in ours)
    if is_changed or any(not is_ours(value) and _runs_all_of(value, piece.value) for value in ours):
        note = f"`{'.'.join(piece.path)}` stays as you changed it"
        return _Look(piece._replace(is_theirs=True), is_theirs=True, note=note)
    is_settled = piece.value in ours and all(value in right for value in ours)
    return _Look(piece, is_settled=is_settled)


def _has_ours(value: object) -> bool:
    """Tell whether an item is ours or contains something of ours."""
    return any(True for _ in iter_ours(value))


def _runs_all_of(value: object, wanted: object) -> bool:
    return set(iter_commands(wanted)) <= set(iter_commands(value))


def _blocked(document: Document, piece: Piece) -> str:
    """Return what blocks a piece: a key on its path that is not a mapping, or not a list."""
    depth = len(piece.path) - (piece.kind == "entry")
    for end in range(depth + 1):
        there = document.get(piece.path[:end], _MISSING)
        if there is _MISSING or (there is None and document.format == "yaml"):  # a key without a value
            return ""
        is_list = piece.kind == "item" and end == len(piece.path)
        if not isinstance(there, list if is_list else dict):
            name = f"`{'.'.join(piece.path[:end])}`" if end else "the whole file"
            return f"{name} is not {'a list' if is_list else 'an object'}, so nothing can be added"
    return ""


def _recorded(piece: Piece, known: Sequence[Piece]) -> Piece:
    """Return the record of an existing piece."""
    for old in known:
        if (old.kind, old.path, old.value) == (piece.kind, piece.path, piece.value):
            return old._replace(agents=piece.agents)
    return piece


def _leftovers(document: Document, wanted: Iterable[Piece], known: Sequence[Piece]) -> bool:
    """Tell whether another list has items of ours, such as for an event of an older version."""
    paths = {piece.path for piece in wanted if piece.kind == "item"}
    recorded = {piece.path for piece in known if piece.kind == "item"}
    for path in _lists(document, [*paths, *recorded]):
        if path not in paths and any(map(_has_ours, document.get(path, ()))) and (path in recorded or not known):
            return True
    return False


def _is_there(document: Document, piece: Piece) -> bool:
    there = document.get(piece.path, _MISSING)
    return piece.value in there if piece.kind == "item" and there is not _MISSING else there is not _MISSING


# -- taking out --------------------------------------------------------------------------------------------------------


def take(
    file: Source,
    content: bytes | None,
    pieces: Sequence[Piece],
    record: FileRecord | None,
    spare: Sequence[Piece] = (),
) -> Edited:
    """Return the content without our parts: recorded ones are removed byte for byte, others by their meaning.

    Args:
        file: how to read it.
        content: the present one.
        pieces: what this version would add, and other versions may have added.
        record: of what was written.
        spare: what stays although it starts Cairn.

    Raises:
        ConfigError: if it cannot be parsed or edited.
    """
    if content is None:
        return Edited(None)
    known = record.pieces if record is not None else ()
    document = file.parse(content)
    written = {piece.path for piece in known if not piece.is_theirs}
    spared = [
        *spare,
        *(piece for piece in known if piece.is_theirs and piece.kind == "entry"),
        *(piece for piece in pieces if piece.path not in written and _is_of_user(document, piece)),
    ]
    paths = {piece.path for piece in spared}
    if record is not None and digest_of(content) != record.before:
        if digest_of(content) in _digests(record) and record.is_new:
            return Edited(None)
        document = _without_pieces(document, record, paths)
    document = _without_ours(document, [*known, *pieces], paths)
    made = pieces if record is None else [piece for piece in known if piece.edit is not None or record.is_new]
    document = _without_defaults(document, [piece for piece in made if piece.is_default], content)
    notes = () if spare else tuple(f"`{name}` is yours and stays" for name in sorted(map(".".join, paths)))
    is_empty = document.body.strip() in (b"", b"{}") and document.content != content
    if is_empty and (record is None or record.is_new):
        return Edited(None, notes=notes)
    return Edited(document.content, notes=notes)


def _is_of_user(document: Document, piece: Piece) -> bool:
    """Tell whether an unrecorded server has settings that we never write, such as those of `claude mcp add`."""
    there = document.get(piece.path, None) if piece.kind == "entry" else None
    if not is_ours(there) or not isinstance(there, dict) or not isinstance(piece.value, dict):
        return False
    return _settings(there) != _settings(piece.value)


def _settings(server: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's settings other than its program."""
    return {name: value for name, value in server.items() if name not in ("command", "cmd", "args")}


def _digests(record: FileRecord) -> list[str]:
    """Return the digests of the written contents."""
    return [state.after for state in (record, record.earlier) if state is not None]


def _without_pieces(document: Document, record: FileRecord, spared: Set[tuple[str, ...]]) -> Document:
    """Remove recorded pieces, byte for byte if they are unchanged."""
    digest = digest_of(document.content)
    earlier = record.earlier
    state = earlier if earlier is not None and digest == earlier.after else record
    is_untouched = digest == state.after
    edits = [
        piece.edit
        for piece in state.pieces
        if piece.edit is not None
        and piece.path not in spared
        # Whatever was added to a file that was created for Cairn may need the default.
        and (is_untouched or not piece.is_default or not state.is_new)
    ]
    return undo(document, edits, is_ours)


def _removed(document: Document, path: tuple[str | int, ...], pieces: Iterable[Piece]) -> Document:
    """Remove a value, and any parents that this leaves empty unless they existed before."""
    created = [
        piece.edit.created for piece in pieces if piece.edit is not None and path[: len(piece.path)] == piece.path
    ]
    return document.remove(path, 1 + max(created, default=len(path)))


def _without_ours(document: Document, pieces: Sequence[Piece], spared: Set[tuple[str, ...]]) -> Document:
    """Remove anything else that starts Cairn where we write such entries, except at some paths."""
    for path in dict.fromkeys(piece.path for piece in pieces if piece.kind == "entry"):
        if path not in spared and is_ours(document.get(path, None)):
            document = _removed(document, path, pieces)
    for path in _lists(document, [piece.path for piece in pieces if piece.kind == "item"]):
        if path in spared:
            continue
        values = document.get(path, [])
        for index in reversed(range(len(values))):
            for inner in reversed(list(iter_ours(values[index]))):
                document = _removed(document, (*path, index, *inner), pieces)
    return document


def _without_defaults(document: Document, defaults: Sequence[Piece], before: bytes) -> Document:
    """Remove what only Cairn needed, once nothing else is left."""
    root = document.get((), None)
    names = {piece.path[0] for piece in defaults}
    if not names or document.content == before or not isinstance(root, dict) or set(root) - names:
        return document
    for piece in defaults:
        if document.get(piece.path, _MISSING) == piece.value:
            document = _removed(document, piece.path, defaults)
    return document


def _lists(document: Document, paths: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the paths of some lists and of all their siblings."""
    found: dict[tuple[str, ...], None] = {}
    for parent in dict.fromkeys(path[:-1] for path in paths):
        values = document.get(parent, None)
        for name in values if isinstance(values, dict) else ():
            if isinstance(values[name], list):
                found[(*parent, name)] = None
    return list(found)
