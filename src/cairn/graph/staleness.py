"""Finds which files must be resolved again after a change; all others keep their edges."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from cairn.graph.code import Code
from cairn.graph.global_usings import global_imports
from cairn.graph.interface import find_changed_names, same_interface
from cairn.graph.memo import GLOBAL_USINGS, INCLUDES, content_of, namesakes_of, place_called
from cairn.graph.modules.lookup import find_affected_needs
from cairn.graph.modules.places import is_manifest
from cairn.graph.network import Network
from cairn.source.imports import Import

_MAX_SHARE = 4  # if more than one in so many files changed, all are resolved again
_FEW = 50


def stale_files(known: Network, code: Code) -> set[int] | None:
    """Return the files, by their numbers now, for which an earlier network has no rows or may have wrong ones.

    Those are files that are new or whose content changed, and files with a need that is met differently now.

    Returns:
        None if that is unknown, or if so many are stale that all may as well be resolved again.
    """
    old_numbers = {path: number for number, path in enumerate(known.paths)}
    blobs = code.snapshot.files.blob_ids.tolist()
    gone = [number for path, number in old_numbers.items() if path not in code.numbers]
    new = [number for path, number in code.numbers.items() if path not in old_numbers]
    edited = {
        number: int(known.blobs[old_numbers[path]])
        for path, number in code.numbers.items()
        if path in old_numbers and (number in code.checkout.changed or known.blobs[old_numbers[path]] != blobs[number])
    }
    if len(gone) + len(new) + len(edited) > max(_FEW, len(code.paths) // _MAX_SHARE):
        return None
    different = _by_paths(known, code) if gone or new else set()
    if different is None or any(is_manifest(code.paths[number]) for number in edited):
        return None
    code.load([*new, *edited])
    for number in new:
        different |= {namesakes_of(definition.name) for definition in code.file(number).definitions}
        if global_imports(code.file(number)):
            different.add(GLOBAL_USINGS)
    for number in gone:
        names = code.names_in(int(known.blobs[number]))
        if names is None:
            return None
        different |= {content_of(known.paths[number]), *map(namesakes_of, names)}
    alone = len(edited) == 1 and not gone and not new
    for number, blob in edited.items():
        of_edit = _by_edit(code, number, blob, alone=alone)
        if of_edit is None:
            return None
        different |= of_edit
    needing = (code.numbers.get(known.paths[old]) for old in known.needing(different))
    return {*new, *edited, *(number for number in needing if number is not None)}


def _by_paths(known: Network, code: Code) -> set[int] | None:
    places = find_affected_needs(known.paths, code.paths)
    return None if places is None else {INCLUDES, *places}


def _by_edit(code: Code, number: int, blob: int, *, alone: bool) -> set[int] | None:
    """Return what differs for other files now that a file's content is no longer a blob's.

    Which of several definitions of a name counts depends on their lengths, over all files. With one edited file that
    can be compared; with several, any other length counts as a difference.
    """
    old, new = code.file_with_blob(number, blob), code.file(number)
    if old is None:
        return None
    same = same_interface(code, old, new)
    if same and alone:
        return set()
    found = {namesakes_of(name) for name in find_changed_names(old, new)}
    if not same:
        found.add(content_of(new.path))
    if [star.module for star in old.stars] != [star.module for star in new.stars]:
        found.add(INCLUDES)
    if _said(global_imports(old)) != _said(global_imports(new)):
        found.add(GLOBAL_USINGS)
    if old.language != new.language:
        found.add(place_called(f"{posixpath.dirname(new.path)}/"))
    return found


def _said(imports: Iterable[Import]) -> list[tuple[str, str, str]]:
    return [(imported.module, imported.name, imported.alias) for imported in imports]
