from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.errors import DerivedFileError, IndexDamagedError, StoreError
from cairn.storage.arrays import ArrayWriter, are_below, load_arrays, release, save_arrays

ARRAYS: dict[str, npt.NDArray[np.generic]] = {
    "numbers": np.arange(5, dtype=np.int64),
    "grid": np.arange(12, dtype=np.int8).reshape(3, 4),
    "none": np.zeros((0, 7), dtype=np.float32),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The content of a well-formed file."""
    file = tmp_path_factory.mktemp("arrays") / "good.arr"
    save_arrays(file, ARRAYS)
    return file.read_bytes()


def test_arrays_come_back_with_their_types_and_shapes(tmp_path: Path) -> None:
    file = tmp_path / "a.arr"
    size = save_arrays(file, ARRAYS)
    loaded = load_arrays(file)
    assert size == file.stat().st_size
    assert list(loaded) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)


def test_loaded_arrays_cannot_be_written_to(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.arr", ARRAYS)
    with pytest.raises(ValueError, match="read-only"):
        load_arrays(tmp_path / "a.arr")["numbers"][0] = 7


def test_a_file_that_is_being_read_can_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.arr"
    save_arrays(file, ARRAYS)
    before = load_arrays(file)["numbers"]
    save_arrays(file, {"numbers": np.zeros(9)})
    np.testing.assert_array_equal(before, ARRAYS["numbers"])
    np.testing.assert_array_equal(load_arrays(file)["numbers"], np.zeros(9))


def test_nothing_is_left_behind_when_a_file_cannot_be_put_in_place(tmp_path: Path) -> None:
    (tmp_path / "a.arr").mkdir()
    with pytest.raises(StoreError, match="cannot write"):
        save_arrays(tmp_path / "a.arr", ARRAYS)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.arr"]


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DerivedFileError, match=r"no\.arr cannot be read"):
        load_arrays(tmp_path / "no.arr")


def test_the_refusal_is_an_error_of_the_index_with_the_command_that_mends_it(tmp_path: Path) -> None:
    with pytest.raises(IndexDamagedError) as caught:
        load_arrays(tmp_path / "no.arr")
    assert caught.value.hint == "cairn index"


@given(data=st.data())
def test_a_file_cut_short_anywhere_is_refused(
    saved: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / "short.arr"
    file.write_bytes(saved[: data.draw(st.integers(0, len(saved) - 1))])
    with pytest.raises(DerivedFileError):
        load_arrays(file)


@given(data=st.data())
def test_a_file_with_any_byte_altered_is_refused(
    saved: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    altered = bytearray(saved)
    altered[data.draw(st.integers(0, len(saved) - 1))] ^= data.draw(st.integers(1, 255))
    file = tmp_path_factory.getbasetemp() / "altered.arr"
    file.write_bytes(altered)
    with pytest.raises(DerivedFileError):
        load_arrays(file)


@given(st.binary(max_size=200))
def test_any_other_file_is_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "other.arr"
    file.write_bytes(content)
    with pytest.raises(DerivedFileError):
        load_arrays(file)


# -- what is not to be believed ---------------------------------------------------------------------------------------


def test_a_file_in_the_place_of_another_is_refused(tmp_path: Path) -> None:
    for name in ("a.seg", "b.seg", "a.arr"):
        save_arrays(tmp_path / name, ARRAYS)
    for name in ("b.seg", "a.arr"):
        data = (tmp_path / name).read_bytes()
        (tmp_path / "a.seg").write_bytes(data)
        with pytest.raises(DerivedFileError, match="a different file in its place"):
            load_arrays(tmp_path / "a.seg")


def crafted(path: Path, header: bytes, body: bytes = bytes(640), version: int = 2) -> Path:
    """Write a file whose checksum fits, whatever its header says."""
    header += b" " * (-(20 + len(header)) % 64)
    checksum = zlib.crc32(header + body, len(header))
    path.write_bytes(struct.pack("<8sIII", b"CAIRNARR", version, len(header), checksum) + header + body)
    return path


@pytest.mark.parametrize(
    "entry",
    [
        ["<i8", [1 << 60], 0],
        ["<i8", [1 << 32, 1 << 32], 0],
        ["<i8", [-1], 0],
        ["<i8", [1 << 80], 0],
        ["<i8", [4], -64],
        ["<i8", [4], 640],
        ["<i8", [4], 1 << 70],
        ["<i8", [1, 1, 1], 0],
        ["<i8", [1.0], 0],
        ["<i8", [True], 0],
        ["<i8", "12", 0],
        ["|O", [4], 0],
        ["O", [4], 0],
        ["i4,(1000000000,)f8", [1], 0],
        ["<V1000000000000", [1], 0],
        ["<U1000000000", [1], 0],
        [["<i8"], [4], 0],
        ["<i8", [4]],
        {"0": "<i8"},
        None,
    ],
)
def test_a_header_that_claims_what_is_not_there_is_refused(entry: object, tmp_path: Path) -> None:
    header = {"kind": ".arr", "name": "a", "arrays": {"numbers": entry}}
    with pytest.raises(DerivedFileError, match="claims more than it holds"):
        load_arrays(crafted(tmp_path / "a.arr", json.dumps(header).encode()))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[" * 60_000,
        b'{"arrays": ' * 5_000,
        b"\xff\xfe",
        b"12",
        b"{}",
        json.dumps({"kind": ".arr", "name": "a", "arrays": [["<i8", [1], 0]]}).encode(),
        json.dumps(
            {"kind": ".arr", "name": "a", "arrays": {str(number): ["<i8", [1], 0] for number in range(65)}}
        ).encode(),
        json.dumps({"kind": ".arr", "name": "a", "arrays": {"x" * 70_000: ["<i8", [1], 0]}}).encode(),
    ],
    ids=["none", "deep list", "deep mapping", "no text", "a number", "no name", "no arrays", "many", "long"],
)
def test_a_header_that_is_none_is_refused(header: bytes, tmp_path: Path) -> None:
    with pytest.raises(DerivedFileError):
        load_arrays(crafted(tmp_path / "a.arr", header))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), st.lists))
def test_no_entry_of_a_header_reads_beyond_the_file(tmp_path_factory: pytest.TempPathFactory, entry: object) -> None:
    header = {"kind": ".arr", "name": "crafted", "arrays": {"numbers": entry}}
    file = crafted(tmp_path_factory.getbasetemp() / "crafted.arr", json.dumps(header).encode())
    with pytest.raises(DerivedFileError):
        load_arrays(file)


def test_arrays_of_another_kind_than_the_reader_needs_are_refused(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.arr", ARRAYS)
    assert load_arrays(tmp_path / "a.arr", {"numbers": ("i8", 1), "grid": ("i1", 2)})
    for name, kind, axes in (("other", "i8", 1), ("numbers", "i4", 1), ("numbers", "i8", 2)):
        with pytest.raises(DerivedFileError, match=f"has no usable {name}"):
            load_arrays(tmp_path / "a.arr", {name: (kind, axes)})


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_refused_and_not_waited_for(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "a.arr")
    with pytest.raises(DerivedFileError):
        load_arrays(tmp_path / "a.arr")


def test_a_file_of_the_first_format_is_taken_where_it_is_asked_for_only(tmp_path: Path) -> None:
    header = json.dumps({"numbers": ["<i8", [3], 0]}).encode()
    file = crafted(tmp_path / "a.vec", header, np.arange(3, dtype=np.int64).tobytes(), version=1)
    assert load_arrays(file, nameless=True)["numbers"].tolist() == [0, 1, 2]
    with pytest.raises(DerivedFileError):
        load_arrays(file)


def test_where_a_folder_is_in_the_way_the_hint_is_the_doctor(tmp_path: Path) -> None:
    (tmp_path / "a.arr").mkdir()
    with pytest.raises(StoreError) as caught:
        save_arrays(tmp_path / "a.arr", ARRAYS)
    assert caught.value.hint == "cairn doctor --fix"


def test_a_file_written_block_by_block_is_the_one_written_at_once(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.arr", ARRAYS)
    wanted = (tmp_path / "a.arr").read_bytes()
    shapes = {name: (array.dtype, array.shape) for name, array in ARRAYS.items()}
    with ArrayWriter(tmp_path / "a.arr", shapes) as writer:
        writer.put("grid", 1, ARRAYS["grid"][1:])
        writer.put("numbers", 0, ARRAYS["numbers"])
        writer.put("grid", 0, ARRAYS["grid"][:1])
    assert (tmp_path / "a.arr").read_bytes() == wanted
    assert writer.n_bytes == len(wanted)


def test_a_file_whose_writing_fails_half_way_leaves_the_old_one(saved: bytes, tmp_path: Path) -> None:
    file = tmp_path / "good.arr"
    file.write_bytes(saved)
    with pytest.raises(ZeroDivisionError), ArrayWriter(file, {"numbers": (np.int64, (2,))}) as writer:
        writer.put("numbers", 1 // 0, np.zeros(1))
    assert [entry.name for entry in tmp_path.iterdir()] == ["good.arr"]
    assert file.read_bytes() == saved


def test_blocks_cannot_be_written_where_a_folder_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a.arr").mkdir()
    with pytest.raises(StoreError, match="cannot write"), ArrayWriter(tmp_path / "a.arr", {"a": (np.int8, (1,))}):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.arr"]


def test_arrays_whose_memory_was_released_can_be_read_again(saved: bytes, tmp_path: Path) -> None:
    file = tmp_path / "good.arr"
    file.write_bytes(saved)
    loaded = load_arrays(file)
    release([*loaded.values(), np.zeros(3)])
    np.testing.assert_array_equal(loaded["numbers"], ARRAYS["numbers"])


def test_a_large_file_is_checked_to_the_last_byte(tmp_path: Path) -> None:
    file = tmp_path / "a.arr"
    save_arrays(file, {"bytes": np.arange(17_000_000, dtype=np.int64).view(np.uint8)})
    load_arrays(file)
    with file.open("r+b") as stream:
        stream.seek(-1, 2)
        stream.write(b"x")
    with pytest.raises(DerivedFileError):
        load_arrays(file)


def test_blocks_are_not_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / "a.arr").symlink_to(victim)
    with ArrayWriter(tmp_path / "a.arr", {"a": (np.int8, (1,))}) as writer:
        writer.put("a", 0, np.ones(1))
    assert victim.read_bytes() == b"mine"
    assert load_arrays(tmp_path / "a.arr")["a"].tolist() == [1]


def test_a_file_for_which_there_is_no_room_leaves_nothing(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))  # some file systems make room for any file
    try:
        with (
            pytest.raises(StoreError, match="cannot write"),
            ArrayWriter(tmp_path / "a.arr", {"a": (np.int8, (2_000_000,))}),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_of_a_large_array_every_number_is_compared() -> None:
    numbers = np.zeros(33_000_000, dtype=np.int32)
    assert are_below(numbers, 1)
    for wrong in (1, -1):
        numbers[-1] = wrong
        assert not are_below(numbers, 1)
