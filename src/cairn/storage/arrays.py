"""A file of named numpy arrays that is memory-mapped when read, and that is either whole or refused."""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cairn.errors import DerivedFileError, StoreError, UnsafeStateError
from cairn.storage.own_files import create_new, open_stream

_MAGIC = b"CAIRNARR"
# Magic, format version, header bytes, and the CRC-32 of all that follows the prefix, begun with the header bytes.
_PREFIX = struct.Struct("<8sIII")
_FORMAT = 1
_ALIGN = 64


def save_arrays(path: Path, arrays: Mapping[str, npt.NDArray[np.generic]]) -> int:
    """Write `arrays` to `path` so that a reader sees the whole file or none of it; return its size in bytes.

    Raises:
        StoreError: if it cannot be written.
    """
    described: dict[str, tuple[str, tuple[int, ...], int]] = {}
    offset = 0
    for name, array in arrays.items():
        offset = _aligned(offset)
        described[name] = (array.dtype.str, array.shape, offset)
        offset += array.nbytes
    header = json.dumps(described).encode()
    header += b" " * (_aligned(_PREFIX.size + len(header)) - _PREFIX.size - len(header))
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
        with os.fdopen(create_new(temporary), "wb") as stream:
            stream.write(_PREFIX.pack(_MAGIC, _FORMAT, len(header), checksum))
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):  # the error above is the one to tell
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
        with open_stream(path, "rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError, UnsafeStateError) as error:  # ValueError: an empty file cannot be mapped
        raise DerivedFileError(f"{path.name} cannot be read: {error}", "cairn index") from error
    view = memoryview(mapped)
    if len(view) < _PREFIX.size:
        raise DerivedFileError(f"{path.name} is cut short", "cairn index")
    magic, version, header_bytes, checksum = _PREFIX.unpack(view[: _PREFIX.size])
    body = view[_PREFIX.size :]
    if magic != _MAGIC or version != _FORMAT or zlib.crc32(body, header_bytes) != checksum:
        raise DerivedFileError(f"{path.name} is damaged or of another version", "cairn index")
    described = json.loads(bytes(body[:header_bytes]))
    return {
        name: np.frombuffer(
            body, dtype=np.dtype(dtype), count=int(np.prod(shape, dtype=np.int64)), offset=header_bytes + offset
        ).reshape(shape)
        for name, (dtype, shape, offset) in described.items()
    }


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN
