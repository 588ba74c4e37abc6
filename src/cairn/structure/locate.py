"""Finds a file below the root, and a definition in it by name, id or line, as the file is on disk now."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cairn.answers import Fetched
from cairn.errors import AmbiguousError, NotFoundError, PathError, UnparsableError
from cairn.hints import Hint
from cairn.index.isolation import run_isolated
from cairn.source.content import is_lfs_pointer, normalize
from cairn.source.frames import TracebackFrame, file_of_frame, read_frames
from cairn.source.languages import Language, detect_language
from cairn.source.text import estimate_tokens, shown_text
from cairn.source.walk import read_file
from cairn.structure.outline import ID_COUNTER, ID_MARK, FileOutline
from cairn.types import MAX_DEFINITIONS, ON_REST

# Above the limit of the index: a generated file is never searched, but its outline may be wanted.
MAX_FILE_BYTES = 8_000_000
_HEAD_BYTES = 8_192
_MAX_DIGITS = 18  # of the number of a line; more are a name that nothing has
_AROUND = 10  # lines before and after one that no definition holds
_NEAREST, _CANDIDATES = 5, 10
# Names beyond these are not compared with a wrong one.
_MAX_COMPARED, _MAX_COMPARED_CHARS = 5_000, 80


class FileContent(NamedTuple):
    """One file as it is now. `path` is relative to the root, `data` its normalized bytes."""

    path: str
    data: bytes
    language: Language


ReadOutlined = Callable[[Path, str], tuple[FileContent, FileOutline]]


def read_source(root: Path, path: str | Path) -> FileContent:
    """Read one text file of a project.

    Args:
        root: the project's folder, resolved.
        path: relative to the root, or absolute.

    Raises:
        NotFoundError: if there is no such file.
        PathError: if it is outside the root, not a regular file, unreadable, too large, or not text.
    """
    relative = _below(root, path)
    try:
        data = normalize(read_file(root, relative, MAX_FILE_BYTES))
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no file {relative}", Hint("find it", "search", query=Path(relative).name)
        ) from error
    except UnicodeEncodeError as error:  # half a character, which no file name contains
        raise NotFoundError(f"there is no file {relative!r}", "name a file of the project") from error
    except OSError as error:
        if os.path.isdir(root / relative):
            raise PathError(f"{relative} is a folder", f"name a file in it: ls {relative}") from error
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise PathError(f"{relative} is behind a symbolic link", _beyond_links(root, relative)) from error
        reason = error.strerror or "unreadable"
        raise PathError(f"{relative} cannot be read: {reason}", f"look at it with: ls -l {relative}") from error
    if b"\0" in data[:_HEAD_BYTES]:
        raise PathError(f"{relative} is not a text file", "name a file of code, text or settings")
    if is_lfs_pointer(data):
        hint = f"fetch its content: git lfs pull --include {shlex.quote(relative)}"
        raise PathError(f"{relative} is a git LFS pointer, which only names its content", hint)
    return FileContent(relative, data, detect_language(relative, data[:_HEAD_BYTES]))


def _beyond_links(root: Path, relative: str) -> str:
    """Return what to do about a path through a link: the file of the project that it leads to, if it leads to one."""
    real = Path(os.path.realpath(root / relative))
    if real.is_relative_to(root) and real.is_file():
        return f"name the file it leads to: {real.relative_to(root).as_posix()}"
    return "name a file of the project; this leads to none"


def _below(root: Path, path: str | Path) -> str:
    given = Path(os.path.normpath(root / path))
    if not given.is_relative_to(root):  # the root is resolved, so a path through a link above it may yet lead into it
        with suppress(OSError, ValueError):  # a link that vanishes meanwhile, or a null byte: it is not below
            given = Path(os.path.realpath(given.parent)) / given.name
    if not given.is_relative_to(root) or given == root:
        raise PathError(
            f"{path} is not a file of the project {root}",
            Hint("name a file below it, or its project", "outline", file=None, project=None),
        )
    return given.relative_to(root).as_posix()


def outline_of(file: FileContent) -> FileOutline:
    """Return what a file defines, found by a helper process; only sections and a note if the parser gave up."""
    try:
        outline: FileOutline = run_isolated(
            "cairn.structure.outline:outline_named", file.data, file.language.name, file.path
        )
    except UnparsableError as error:
        outline = _plain_outline(file, str(error))
    return outline


def read_outlined(root: Path, path: str) -> tuple[FileContent, FileOutline]:
    """Return a file and its outline; arguments and errors as for `read_source`."""
    file = read_source(root, path)
    return file, outline_of(file)


def _plain_outline(file: FileContent, reason: str) -> FileOutline:
    language = file.language.name
    try:
        outline: FileOutline = run_isolated(
            "cairn.structure.outline:plain_outline", file.data, "text", file.path, language, reason, scope="outline"
        )
    except UnparsableError:
        tokens, n_lines = estimate_tokens(len(file.data)), file.data.count(b"\n") + 1
        outline = FileOutline(file.path, language, n_lines, tokens, (), (0, 0), (), (), (), (reason,))
    return outline


def ask_helper(job: str, file: FileContent, *arguments: object, scope: str) -> Any:  # noqa: ANN401 - of any job
    """Return what a job makes of a file; see `cairn.index.isolation.run_isolated`.

    Raises:
        UnparsableError: if the job failed on the file, now or before.
        CairnError: what the job raises.
    """
    try:
        return run_isolated(job, file.data, file.language.name, file.path, *arguments, scope=scope)
    except UnparsableError as error:
        raise UnparsableError(f"{file.path} {error}", Hint("read it as text", "outline", file=file.path)) from error


def find_symbol(outline: FileOutline, name: str) -> int:
    """Return the number of the definition that `name` means.

    Args:
        outline: the file's.
        name: a name, qualified as far as needed, with `~N` for the Nth of that name; or the number of a line, which
            means the definition that begins there, else the innermost one around it, else what is called so.

    Raises:
        NotFoundError: if there is none; the message offers the nearest names.
        AmbiguousError: if there are several.
    """
    is_line = name.isascii() and name.isdigit() and len(name) <= _MAX_DIGITS
    if is_line and (_around(outline, int(name)) or not _numbers_named(outline, name)):
        return _at_line(outline, int(name))
    plain, _, occurrence = name.rpartition(ID_COUNTER)
    if not plain or not occurrence.isdecimal():
        plain, occurrence = name, ""
    numbers = _numbers_named(outline, plain)
    if occurrence and 0 < int(occurrence) <= len(numbers):
        return numbers[int(occurrence) - 1]
    if len(numbers) == 1 and not occurrence:
        return numbers[0]
    if not numbers or occurrence:
        raise _missing(outline, name)
    options = [
        f"{_name_with_number(outline, number)} (line {outline.symbols[number].start_line})" for number in numbers
    ]
    rest = f" and {len(options) - _CANDIDATES} more" if len(options) > _CANDIDATES else ""
    raise AmbiguousError(
        f"{len(numbers)} definitions in {outline.path} are called {name}: {', '.join(options[:_CANDIDATES])}{rest}",
        "name one of them as written there, or by its line",
    )


def find_named(outline: FileOutline, name: str) -> int:
    """Return the number of the definition that stands behind the mark of an id: the one of this id, or `find_symbol`.

    Raises:
        NotFoundError, AmbiguousError: as `find_symbol`.
    """
    exact = f"{outline.path}{ID_MARK}{name}"
    number = next((number for number, symbol in enumerate(outline.symbols) if symbol.id == exact), None)
    return find_symbol(outline, name) if number is None else number


def _numbers_named(outline: FileOutline, name: str) -> list[int]:
    symbols = outline.symbols
    for wanted, key in ((name, "qualified_name"), (f".{name}", "suffix"), (name.lower(), "lower")):
        numbers = []
        for number, symbol in enumerate(symbols):
            if key == "suffix":
                matches = symbol.qualified_name.endswith(wanted)
            else:
                own = symbol.qualified_name if key == "qualified_name" else symbol.name.lower()
                matches = own == wanted
            if matches:
                numbers.append(number)
        if numbers:
            return numbers
    return []


def _name_with_number(outline: FileOutline, number: int) -> str:
    """Return a qualified name with its number among equal names, the first included."""
    symbol = outline.symbols[number]
    own = symbol.id[len(outline.path) + len(ID_MARK) :]
    shared = any(other.qualified_name == symbol.qualified_name for other in outline.symbols if other.id != symbol.id)
    return f"{own}{ID_COUNTER}1" if shared and own == symbol.qualified_name else own


def _missing(outline: FileOutline, name: str) -> NotFoundError:
    from difflib import get_close_matches  # noqa: PLC0415 - start-up time: only a wrong name needs it

    names = list(
        dict.fromkeys(
            [symbol.qualified_name for symbol in outline.symbols] + [symbol.name for symbol in outline.symbols]
        )
    )
    short = [candidate for candidate in names if len(candidate) <= _MAX_COMPARED_CHARS][:_MAX_COMPARED]
    nearest = get_close_matches(name[:_MAX_COMPARED_CHARS], short, _NEAREST, 0.5)
    meant = f"; nearest are {', '.join(nearest)}" if nearest else ""
    hint = Hint("list what it defines", "outline", file=outline.path)
    if len(outline.symbols) >= MAX_DEFINITIONS:
        return NotFoundError(f"{outline.path} may define {name}, but {ON_REST}{meant}", hint)
    return NotFoundError(f"{outline.path} defines no {name}{meant}", hint)


def _around(outline: FileOutline, line: int) -> list[int]:
    return [n for n, symbol in enumerate(outline.symbols) if outline.leads[n] <= line <= symbol.end_line]


def _at_line(outline: FileOutline, line: int) -> int:
    around = _around(outline, line)
    if not around:
        raise _missing(outline, str(line))
    starting = [number for number in around if outline.symbols[number].start_line == line]
    return starting[0] if starting else around[-1]


def find_place(root: Path, text: str) -> TracebackFrame | None:
    """Return the file below the root and the line that `PATH:LINE` or a frame of a traceback means, None if none.

    Of a whole traceback, that is the deepest call in a file of the project.
    """
    path, _, line = text.strip().rpartition(":")
    if path and line.isascii() and line.isdigit() and len(line) <= _MAX_DIGITS and _is_file(root, path):
        return TracebackFrame(path, int(line))
    for frame in read_frames(text):
        if (found := file_of_frame(frame.path, lambda path: _is_file(root, path))) is not None:
            return TracebackFrame(found, frame.line)
    return None


def _is_file(root: Path, path: str) -> bool:
    return os.path.isfile(root / path)


def fetch_line(root: Path, text_id: str, read: ReadOutlined) -> Fetched | None:
    """Return the innermost definition around the line that a text names, else the lines around it; None if none.

    Raises:
        PathError: as `read_source`.
    """
    if (frame := find_place(root, text_id)) is None:
        return None
    file, outline = read(root, frame.path)
    with suppress(NotFoundError):
        return _fetched(text_id, file, outline, _at_line(outline, frame.line))
    n_lines = file.data.count(b"\n") + 1
    if not 0 < frame.line <= n_lines:
        raise NotFoundError(
            f"{file.path} has no line {frame.line}; it has {n_lines:,}",
            Hint("list what it defines", "outline", file=file.path),
        )
    first, last = max(1, frame.line - _AROUND), min(n_lines, frame.line + _AROUND)
    text = code_lines(file.data, first, last)
    return Fetched(
        text_id, "lines", "", file.path, first, last, file.language.name, text, estimate_tokens(len(text.encode()))
    )


def fetch_symbol(root: Path, text_id: str, read: ReadOutlined = read_outlined) -> Fetched | None:
    """Return the text of the definition that an outline's id, `PATH#NAME`, or a line names, None for any other text.

    The lines include the comment and decorators above the definition. The file is read from disk, so it is never stale.

    Args:
        root, text_id: the project's folder, and the text.
        read: reads a file; whoever fetches much at once need not read a file for each.

    Raises:
        NotFoundError: if there is no such file or definition.
        PathError: as `read_source`.
    """
    places = [place for place, character in enumerate(text_id) if character == ID_MARK and 0 < place < len(text_id) - 1]
    # Both a path and a name (`Type.#field`) may hold the mark: the file that exists decides.
    place = next((place for place in places if _is_file(root, text_id[:place])), None)
    if place is None and ((fetched := fetch_line(root, text_id, read)) is not None or not places):
        return fetched
    place = places[0] if place is None else place
    file, outline = read(root, text_id[:place])
    return _fetched(text_id, file, outline, find_named(outline, text_id[place + 1 :]))


def _fetched(text_id: str, file: FileContent, outline: FileOutline, number: int) -> Fetched:
    symbol, first = outline.symbols[number], outline.leads[number]
    text = code_lines(file.data, first, symbol.end_line)
    return Fetched(
        id=text_id,
        kind=symbol.kind,
        name=symbol.name,
        path=file.path,
        start_line=first,
        end_line=symbol.end_line,
        language=file.language.name,
        text=text,
        tokens=estimate_tokens(len(text.encode())),
    )


def code_lines(data: bytes, first: int, last: int) -> str:
    """Return the lines `first` to `last`, 1-based and inclusive."""
    return shown_text(b"\n".join(data.split(b"\n", last)[first - 1 : last]))
