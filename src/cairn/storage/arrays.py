"""A file of named numpy arrays, memory-mapped when read, and refused unless it is intact.

The header holds the file's name, so another file in its place is refused like a damaged one. The header is not trusted
either: its claims are checked against the actual bytes before use.
"""

from __future__ import annotations

import errno
import json
import math
import mmap
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from cairn.errors import DerivedFileError, StoreError, UnsafeStateError
from cairn.hints import Hint
from cairn.storage.atomic import AtomicFile
from cairn.storage.own_files import open_stream

_MAGIC = b"CAIRNARR"
# Magic, format version, header size, and the CRC-32 of everything after the prefix, seeded with the header size.
_PREFIX = struct.Struct("<8sIII")
_FORMAT = 2
_NAMELESS_FORMAT = 1  # its header describes only the arrays
_ALIGN = 64
_MODE = 0o644  # whose header also has the file's name
_MAX_HEADER_BYTES, _MAX_ARRAYS, _MAX_AXES = 65_536, 64, 2
_BLOCK_BYTES = 8_000_000  # held in memory at a time while checking a file
_LARGE_BYTES = 128_000_000  # the pages of a larger file are released once it is checked
_TYPES = {
    np.dtype(name).str: np.dtype(name)
    for name in (
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "bool"),
    )
}

Arrays = dict[str, npt.NDArray[Any]]
# What a reader expects: {name: (dtype, number of axes)}.
Layout = Mapping[str, tuple[str, int]]
# The header's entries by name: dtype, shape, and offset from the end of the header.
_Entries = dict[str, tuple[str, tuple[int, ...], int]]


def save_arrays(path: Path, arrays: Mapping[str, npt.NDArray[np.generic]]) -> int:
    """Write `arrays` to `path` atomically and return the file's size in bytes.

    Raises:
        StoreError: if it cannot be written.
    """
    entries: _Entries = {}
    offset = 0
    for name, array in arrays.items():
        offset = _align(offset)
        entries[name] = (array.dtype.str, array.shape, offset)
        offset += array.nbytes
    header = _header(path, entries)
    # The arrays in place, and the padding between them, so that a large file is never copied in memory.
    parts: list[bytes | memoryview] = [header]
    end = 0
    for name, array in arrays.items():
        start = entries[name][2]
        parts += [bytes(start - end), np.ascontiguousarray(array).reshape(-1).view(np.uint8).data]
        end = start + array.nbytes
    checksum = len(header)
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    try:
        with AtomicFile(path, mode=_MODE, durable=False) as new:
            new.stream.write(_PREFIX.pack(_MAGIC, _FORMAT, len(header), checksum))
            new.stream.writelines(parts)
    except OSError as error:
        raise _unwritable(path, error) from error
    return _PREFIX.size + sum(len(part) for part in parts)


def load_arrays(path: Path, layout: Layout | None = None, *, nameless: bool = False) -> Arrays:
    """Map a file that `save_arrays` wrote to this path; return read-only views of its arrays.

    Args:
        path: the file.
        layout: the arrays that it must hold; None for any.
        nameless: also accept the first format, which does not record the file's name.

    Raises:
        DerivedFileError: if the file is missing, is another file, has another format, fails its checksum, or does not
            match `layout`.
    """
    view = _map_file(path)
    if len(view) < _PREFIX.size:
        raise _refusal(path, "is cut short")
    magic, version, header_bytes, checksum = _PREFIX.unpack(view[: _PREFIX.size])
    body = view[_PREFIX.size :]
    known = version == _FORMAT or (nameless and version == _NAMELESS_FORMAT)
    if magic != _MAGIC or not known or not 0 < header_bytes <= min(len(body), _MAX_HEADER_BYTES):
        raise _refusal(path, "is damaged or of another version")
    if _checksum(body, header_bytes) != checksum:
        raise _refusal(path, "is damaged or of another version")
    try:
        header = json.loads(bytes(body[:header_bytes]))
    except (ValueError, RecursionError) as error:
        raise _refusal(path, "has a header that cannot be read") from error
    if version == _FORMAT:
        if not isinstance(header, dict) or (header.get("kind"), header.get("name")) != (path.suffix, path.stem):
            raise _refusal(path, "is a different file in its place")
        header = header.get("arrays")
    arrays = {
        name: np.frombuffer(body, dtype=entry.type, count=entry.n_values, offset=header_bytes + entry.offset).reshape(
            entry.shape
        )
        for name, entry in _arrays_in(header, len(body) - header_bytes, path).items()
    }
    for name, (kind, axes) in (layout or {}).items():
        if (array := arrays.get(name)) is None or array.dtype != np.dtype(kind) or array.ndim != axes:
            raise _refusal(path, f"has no usable {name}")
    return arrays


def check_fits(path: Path, **conditions: bool) -> None:
    """Refuse a file with inconsistent arrays. Each condition is named after what it checks.

    Raises:
        DerivedFileError: if a condition does not hold.
    """
    for name, holds in conditions.items():
        if not holds:
            raise _refusal(path, f"has {name} that do not fit the rest")


def are_bounds(bounds: npt.NDArray[np.int64], count: int, end: int) -> bool:
    """Tell whether `bounds` split `end` items into `count` parts: start at 0, never decrease, end at `end`."""
    if len(bounds) != count + 1 or bounds[0] != 0 or bounds[-1] != end:
        return False
    return bool((bounds[1:] >= bounds[:-1]).all())


def are_below(numbers: npt.NDArray[np.integer[Any]], end: int) -> bool:
    """Tell whether all numbers are at least 0 and below `end`."""
    if not len(numbers):
        return True
    unsigned = numbers.view(
        f"u{numbers.dtype.itemsize}"
    )  # as unsigned, a negative number is large, so one pass checks both ends
    if numbers.nbytes <= _LARGE_BYTES:
        return int(unsigned.max()) < end
    step = _BLOCK_BYTES // numbers.dtype.itemsize
    for first in range(0, len(numbers), step):
        if int(unsigned[first : first + step].max()) >= end:
            return False
        release([numbers])
    return True


class _StoredArray(NamedTuple):
    type: np.dtype[Any]
    shape: tuple[int, ...]
    n_values: int
    offset: int


def _map_file(path: Path) -> memoryview:
    """Map a file of this user's own."""
    try:
        with open_stream(path, "rb") as stream:
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError, UnsafeStateError) as error:  # ValueError: an empty file cannot be mapped
        raise DerivedFileError(f"{path.name} cannot be read: {error}", Hint.of("index")) from error


def _arrays_in(arrays: object, n_bytes: int, path: Path) -> dict[str, _StoredArray]:
    """Return the arrays that a header describes, after checking that they lie within the file."""
    if not isinstance(arrays, dict) or len(arrays) > _MAX_ARRAYS:
        raise _refusal(path, "does not describe its contents")
    found = {}
    for name, entry in arrays.items():
        array = _array_of(entry)
        if array is None or array.offset + array.n_values * array.type.itemsize > n_bytes:
            raise _refusal(path, "claims more than it holds")
        found[name] = array
    return found


def _array_of(entry: object) -> _StoredArray | None:
    """Return one entry of a header, None if it is malformed. A bool does not count as a number."""
    if not isinstance(entry, list) or len(entry) != 3:
        return None
    kind, shape, offset = entry
    known = _TYPES.get(kind) if isinstance(kind, str) else None
    if known is None or not isinstance(shape, list) or len(shape) > _MAX_AXES:
        return None
    if not all(type(number) is int and 0 <= number < 1 << 48 for number in (*shape, offset)):
        return None
    return _StoredArray(known, tuple(shape), math.prod(shape), offset)


def _refusal(path: Path, what: str) -> DerivedFileError:
    return DerivedFileError(f"{path.name} {what}", Hint.of("index"))


def _unwritable(path: Path, error: OSError) -> StoreError:
    in_the_way = error.errno in (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY)
    hint = Hint.of("doctor", fix=True) if in_the_way else Hint("free some space, then run", "index")
    return StoreError(f"cannot write {path}: {error.strerror}", hint)


class ArrayWriter:
    """Writes a file like `save_arrays`, but in blocks and in any order, so that no whole array has to be in memory.

    The file appears when the `with` block ends without an error. Rows that were never put are 0.

    Args:
        path: the file.
        shapes: the dtype and shape of each array, by name.

    Raises:
        StoreError: on leaving and from `put`, if the file cannot be written.
    """

    def __init__(self, path: Path, shapes: Mapping[str, tuple[npt.DTypeLike, tuple[int, ...]]]) -> None:
        self._path = path
        self._file = AtomicFile(path, mode=_MODE, durable=False, buffering=0)
        self._entries: _Entries = {}
        end = 0
        for name, (dtype, shape) in shapes.items():
            start = _align(end)
            self._entries[name] = (np.dtype(dtype).str, shape, start)
            end = start + np.dtype(dtype).itemsize * math.prod(shape)
        self._header = _header(path, self._entries)
        self.n_bytes = _PREFIX.size + len(self._header) + end

    def __enter__(self) -> Self:
        with self._write_errors():
            self._stream = self._file.__enter__().stream
            try:
                self._stream.truncate(self.n_bytes)
                self._write(self._header, _PREFIX.size)
            except BaseException:
                self._file.__exit__(*sys.exc_info())
                raise
        return self

    def put(self, name: str, first: int, block: npt.NDArray[Any]) -> None:
        """Write rows of an array, starting at row `first`."""
        dtype, shape, start = self._entries[name]
        data = np.ascontiguousarray(block, dtype=dtype).reshape(-1).view(np.uint8).data
        row_bytes = np.dtype(dtype).itemsize * math.prod(shape[1:])
        offset = _PREFIX.size + len(self._header) + start + first * row_bytes
        with self._write_errors():
            self._write(data, offset)

    def _write(self, data: bytes | memoryview, offset: int) -> None:
        self._stream.seek(offset)
        while data:
            data = data[self._stream.write(data) :]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._write_errors():
            try:
                if error is None:
                    self._finish()
            except BaseException:
                self._file.__exit__(*sys.exc_info())
                raise
            self._file.__exit__(kind, error, trace)

    def _finish(self) -> None:
        checksum = len(self._header)
        self._stream.seek(_PREFIX.size)
        while block := self._stream.read(_BLOCK_BYTES):
            checksum = zlib.crc32(block, checksum)
        self._write(_PREFIX.pack(_MAGIC, _FORMAT, len(self._header), checksum), 0)

    @contextmanager
    def _write_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _unwritable(self._path, error) from error


def release(arrays: Iterable[npt.NDArray[Any]]) -> None:
    """Release the memory of mapped arrays. Pages that are used again come back, usually from the system's cache."""
    for array in arrays:
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        if isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap):
            _let_go(base.obj)


def _let_go(mapped: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_DONTNEED"):  # missing on Windows
        mapped.madvise(mmap.MADV_DONTNEED)


def _checksum(body: memoryview, begin: int) -> int:
    """Return the CRC-32 of mapped bytes, with one part at a time in memory."""
    checksum = begin
    for first in range(0, len(body), _BLOCK_BYTES):
        checksum = zlib.crc32(body[first : first + _BLOCK_BYTES], checksum)
        if len(body) > _LARGE_BYTES and isinstance(body.obj, mmap.mmap):
            _let_go(body.obj)
    return checksum


def _header(path: Path, entries: _Entries) -> bytes:
    """Return the header of a file, padded so that the arrays after it are aligned."""
    header = json.dumps({"kind": path.suffix, "name": path.stem, "arrays": entries}).encode()
    return header + b" " * (_align(_PREFIX.size + len(header)) - _PREFIX.size - len(header))


def _align(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN
