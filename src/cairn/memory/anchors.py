"""What memories are tied to: files and definitions in them, with a hash of what they say now."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from cairn.memory.targets import parse_target
from cairn.storage.memory.rows import CodeLink
from cairn.structure.locate import code_lines, find_symbol, outline_of, read_source

_HASH_BYTES = 16  # as the index has them of whole files


def anchor(root: Path, text: str) -> CodeLink:
    """Return a link to what `FILE` or `FILE::SYMBOL` names, as it is on disk now.

    Args:
        root: the project's folder, resolved.
        text: a path relative to the root, or absolute; a name as far qualified as needed.

    Raises:
        NotFoundError: if there is no such file or definition.
        AmbiguousError: if several definitions have this name.
        PathError: if the file is outside the root, or not text.
    """
    path, symbol = parse_target(text)
    file = read_source(root, path)
    if not symbol:
        return CodeLink(file.path, "", hash_content(file.data))
    outline = outline_of(file)
    found = outline.symbols[find_symbol(outline, symbol)]
    return CodeLink(file.path, found.qualified_name, hash_lines(file.data, found.start_line, found.end_line))


def hash_content(data: bytes) -> str:
    """Return the hash of a file's normalized bytes, in hexadecimal: that of its blob in the index."""
    return blake2b(data, digest_size=_HASH_BYTES).hexdigest()


def hash_lines(data: bytes, first: int, last: int) -> str:
    """Return the hash of some lines of a file's normalized bytes, 1-based and inclusive."""
    return hash_content(code_lines(data, first, last).encode("utf-8", "surrogateescape"))
