"""A file of named numpy arrays that is memory-mapped when read, and that is either whole or refused."""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cairn.errors import DerivedFileError, StoreError

_MAGIC = b"CAIRNARR"
# Magic, format version, header bytes, and the CRC-32 of all that follows the prefix, begun with the header bytes.
_PREFIX = struct.Struct("<8sIII")
_FORMAT = 1
_ALIGN = 64
_BLOCK_BYTES = 8_000_000  # of a file that is read through, held in memory at a time
_LARGE_BYTES = 128_000_000  # a file beyond this size does not stay mapped whole once it was checked

Described = dict[str, tuple[str, tuple[int, ...], int]]  # by name: type, shape, and first byte behind the header


def save_arrays(path: Path, arrays: Mapping[str, npt.NDArray[np.generic]]) -> int:
    """Write `arrays` to `path` so that a reader sees the whole file or none of it; return its size in bytes.

    Raises:
        StoreError: if it cannot be written.
    """
    described: Described = {}
    offset = 0
    for name, array in arrays.items():
        offset = _aligned(offset)
        described[name] = (array.dtype.str, array.shape, offset)
        offset += array.nbytes
    header = _header(path, described)
    # The arrays as they lie in memory, with what fills the gaps between them: a large file is never held a second time.
    parts: list[bytes | memoryview] = [header]
    end = 0
    for name, array in arrays.items():
        start = described[name][2]
        parts += [bytes(start - end), np.ascontiguousarray(array).reshape(-1).view(np.uint8).data]
        end = start + array.nbytes
    checksum = len(header)
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(_PREFIX.pack(_MAGIC, _FORMAT, len(header), checksum))
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StoreError(
                f"cannot write {path}: {error.strerror}", "free some space, then run: cairn index"
            ) from error
        raise
    return _PREFIX.size + sum(len(part) for part in parts)


def load_arrays(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    """Map a file that `save_arrays` wrote; the arrays are read-only views of it.

    Raises:
        DerivedFileError: if the file is missing, of another format, or fails its checksum.
    """
    try:
        with path.open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        raise DerivedFileError(f"{path.name} cannot be read: {error}", "cairn index") from error
    view = memoryview(mapped)
    if len(view) < _PREFIX.size:
        raise DerivedFileError(f"{path.name} is cut short", "cairn index")
    magic, version, header_bytes, checksum = _PREFIX.unpack(view[: _PREFIX.size])
    body = view[_PREFIX.size :]
    if magic != _MAGIC or version != _FORMAT or _checksum(body, header_bytes) != checksum:
        raise DerivedFileError(f"{path.name} is damaged or of another version", "cairn index")
    described = json.loads(bytes(body[:header_bytes]))
    return {
        name: np.frombuffer(
            body, dtype=np.dtype(dtype), count=int(np.prod(shape, dtype=np.int64)), offset=header_bytes + offset
        ).reshape(shape)
        for name, (dtype, shape, offset) in described.items()
    }


class ArrayWriter:
    """Writes a file as `save_arrays` does, block by block and in any order, so that no array has to be in memory whole.

    A reader sees the whole file once the `with` is left without an error, and none of it before. What is not put is 0.

    Args:
        path: the file.
        shapes: the type and the shape of each array, by name.

    Raises:
        StoreError: on leaving, and from `put`, if the file cannot be written.
    """

    def __init__(self, path: Path, shapes: Mapping[str, tuple[npt.DTypeLike, tuple[int, ...]]]) -> None:
        self._path = path
        self._temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        self._described: Described = {}
        end = 0
        for name, (dtype, shape) in shapes.items():
            start = _aligned(end)
            self._described[name] = (np.dtype(dtype).str, shape, start)
            end = start + np.dtype(dtype).itemsize * math.prod(shape)
        self._header = _header(path, self._described)
        self.n_bytes = _PREFIX.size + len(self._header) + end

    def __enter__(self) -> Self:
        with self._mapped_errors():
            self._stream = self._temporary.open("w+b", buffering=0)
            self._stream.truncate(self.n_bytes)
            os.pwrite(self._stream.fileno(), self._header, _PREFIX.size)
        return self

    def put(self, name: str, first: int, block: npt.NDArray[Any]) -> None:
        """Write some rows of an array, from row `first` on."""
        dtype, shape, start = self._described[name]
        data = np.ascontiguousarray(block, dtype=dtype).reshape(-1).view(np.uint8).data
        row_bytes = np.dtype(dtype).itemsize * math.prod(shape[1:])
        offset = _PREFIX.size + len(self._header) + start + first * row_bytes
        with self._mapped_errors():
            while data:
                written = os.pwrite(self._stream.fileno(), data, offset)
                data, offset = data[written:], offset + written

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                with self._mapped_errors():
                    self._finish()
        finally:
            self._stream.close()
            self._temporary.unlink(missing_ok=True)

    def _finish(self) -> None:
        checksum = len(self._header)
        self._stream.seek(_PREFIX.size)
        while block := self._stream.read(_BLOCK_BYTES):
            checksum = zlib.crc32(block, checksum)
        prefix = _PREFIX.pack(_MAGIC, _FORMAT, len(self._header), checksum)
        os.pwrite(self._stream.fileno(), prefix, 0)
        os.fsync(self._stream.fileno())
        self._temporary.replace(self._path)

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"cannot write {self._path}: {error.strerror}", "free some space, then run: cairn index"
            ) from error


def release(arrays: Iterable[npt.NDArray[Any]]) -> None:
    """Let go of the memory that mapped arrays take; what is used again is mapped again, without a look at the disk."""
    for array in arrays:
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        if isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap):
            _let_go(base.obj)


def _let_go(mapped: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        mapped.madvise(mmap.MADV_DONTNEED)


def _checksum(body: memoryview, begin: int) -> int:
    """Return the CRC-32 of what is mapped, of which a part at a time is held in memory."""
    checksum = begin
    for first in range(0, len(body), _BLOCK_BYTES):
        checksum = zlib.crc32(body[first : first + _BLOCK_BYTES], checksum)
        if len(body) > _LARGE_BYTES and isinstance(body.obj, mmap.mmap):
            _let_go(body.obj)
    return checksum


def _header(path: Path, described: Described) -> bytes:
    """Return the header of a file, filled up so that what follows is aligned."""
    header = json.dumps(described).encode()
    return header + b" " * (_aligned(_PREFIX.size + len(header)) - _PREFIX.size - len(header))


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN
