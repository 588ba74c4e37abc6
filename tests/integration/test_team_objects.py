"""Objects in a real S3 store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="needs the extra `team`")

from cairn.errors import ConfigError, ObjectStoreError
from cairn.team.objects import Objects, hash_of
from s3 import BUCKET, KEYS, S3, s3_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with s3_store(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
def objects(store: S3, monkeypatch: pytest.MonkeyPatch) -> Objects:
    for name, value in store.variables.items():
        monkeypatch.setenv(name, value)
    return Objects(f"s3://{BUCKET}/team")


@pytest.mark.parametrize("n_bytes", [0, 1, 20_000_000])
def test_an_object_comes_back_as_it_was(objects: Objects, tmp_path: Path, n_bytes: int) -> None:
    (tmp_path / "file").write_bytes(bytes(index % 251 for index in range(n_bytes % 1_000)) + b"x" * (n_bytes // 2))

    name = objects.put(tmp_path / "file")
    assert objects.put(tmp_path / "file") == name  # once more changes nothing
    objects.get(name, tmp_path / "copy")

    assert hash_of(tmp_path / "copy") == name == hash_of(tmp_path / "file")


def test_old_objects_are_listed_and_deleted_and_an_object_that_is_gone_is_an_error(
    objects: Objects, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"to be deleted")
    name = objects.put(tmp_path / "file")
    assert name not in set(objects.older_than(timedelta(hours=1)))
    assert name in set(objects.older_than(timedelta(seconds=-60)))

    objects.delete([name, name])

    assert name not in set(objects.older_than(timedelta(seconds=-60)))
    with pytest.raises(ObjectStoreError):
        objects.get(name, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_store_that_is_away_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_ENDPOINT": "http://127.0.0.1:9", **KEYS}.items():
        monkeypatch.setenv(name, value)
    nobody = Objects(f"s3://{BUCKET}")
    with pytest.raises(ObjectStoreError, match="does not answer"):
        nobody.get("0" * 64, tmp_path / "copy")


def test_what_is_no_place_for_objects_is_an_error() -> None:
    with pytest.raises(ConfigError, match="not a place for objects"):
        Objects("ftp://example.org/objects")
