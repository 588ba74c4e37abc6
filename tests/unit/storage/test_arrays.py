from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.errors import DerivedFileError, IndexDamagedError, StoreError
from cairn.storage.arrays import ArrayWriter, load_arrays, release, save_arrays

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
