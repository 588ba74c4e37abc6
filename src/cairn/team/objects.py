"""Immutable objects in an S3 bucket or a folder, each named by the SHA-256 of its content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError
from obstore.store import from_url

from cairn.errors import ConfigError, ObjectDamagedError, ObjectStoreError
from cairn.hints import Hint

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

PUBLISH_AGAIN = Hint("publish the project again", "team publish", team_project=None)
_FOLDER = "sha256"
_BLOCK_BYTES = 4_000_000
_ENDPOINTS = ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")
_ATTEMPTS = 2  # to read an object whose content is wrong
# A store that is away must be noticed within 2 seconds.
_CLIENT: ClientConfig = {"connect_timeout": "1s", "timeout": "60s"}
_RETRY: RetryConfig = {"max_retries": 2, "retry_timeout": timedelta(seconds=1.5)}


class Objects:
    """Keeps objects. What is in one never changes, so a copy of it is as good wherever it is.

    Args:
        url: `s3://BUCKET/PREFIX` or `file:///FOLDER`; an S3 store is described by the variables `AWS_*`.

    Raises:
        ConfigError: if the place cannot be used.
    """

    def __init__(self, url: str) -> None:
        try:
            if url.startswith("file://"):
                self._store: ObjectStore = from_url(url, mkdir=True)
            else:
                endpoint = next(filter(None, map(os.environ.get, _ENDPOINTS)), "")
                client: ClientConfig = {**_CLIENT, "allow_http": True} if endpoint.startswith("http:") else _CLIENT
                self._store = from_url(url, client_options=client, retry_config=_RETRY)
        except (BaseError, ValueError) as error:
            raise ConfigError(
                f"{url} is not a place for objects: {error}", "name one like s3://BUCKET/PREFIX"
            ) from error

    def put(self, file: Path, *, again: bool = False) -> str:
        """Store the content of a file, and return its name.

        Args:
            file: which.
            again: store it even if there is an object of this name, which may have been altered.

        Raises:
            ObjectStoreError: if the store cannot be reached, or refuses.
        """
        name = hash_of(file)
        try:
            if again or not self._is_there(name):
                obstore.put(self._store, _path(name), file)
        except BaseError as error:
            raise _unreachable(error) from error
        return name

    def get(self, name: str, target: Path) -> None:
        """Write an object to a file, which then is there as a whole or not at all.

        Raises:
            ObjectStoreError: if the store cannot be reached, or lacks the object.
            ObjectDamagedError: if its content does not have this hash, even when it is read again.
        """
        for _ in range(_ATTEMPTS):
            if self._write(name, target):
                return
        raise ObjectDamagedError(f"the object {name} was altered", PUBLISH_AGAIN)

    def _write(self, name: str, target: Path) -> bool:
        """Write an object, without waiting for the disk; return whether its content has the hash."""
        digest = hashlib.sha256()
        new = target.with_name(f"{target.name}.{os.urandom(8).hex()}.new")
        try:
            with new.open("xb") as stream:
                for block in obstore.get(self._store, _path(name)).stream(min_chunk_size=_BLOCK_BYTES):
                    digest.update(block)
                    stream.write(block)
            if digest.hexdigest() == name:
                os.replace(new, target)
                return True
        except FileNotFoundError as error:
            raise ObjectStoreError(f"the object store lacks {name}", PUBLISH_AGAIN) from error
        except BaseError as error:
            raise _unreachable(error) from error
        finally:
            new.unlink(missing_ok=True)
        return False

    def has(self, name: str) -> bool:
        """Return whether there is an object of a name.

        Raises:
            ObjectStoreError: if the store cannot be reached.
        """
        try:
            return self._is_there(name)
        except BaseError as error:
            raise _unreachable(error) from error

    def _is_there(self, name: str) -> bool:
        try:
            obstore.head(self._store, _path(name))
        except FileNotFoundError:
            return False
        return True

    def older_than(self, age: timedelta) -> Iterator[str]:
        """Yield the names of objects that were stored so long ago.

        Raises:
            ObjectStoreError: if the store cannot be reached.
        """
        before = datetime.now(UTC) - age
        try:
            for page in obstore.list(self._store, _FOLDER):
                yield from (str(row["path"]).rpartition("/")[2] for row in page if row["last_modified"] < before)
        except BaseError as error:
            raise _unreachable(error) from error

    def delete(self, names: list[str]) -> None:
        """Delete objects; one that is not there is no error.

        Raises:
            ObjectStoreError: if the store cannot be reached.
        """
        for name in names:
            try:
                obstore.delete(self._store, _path(name))
            except FileNotFoundError:
                continue
            except BaseError as error:
                raise _unreachable(error) from error


def hash_of(file: Path) -> str:
    """Return the name that the content of a file has as an object."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _path(name: str) -> str:
    return f"{_FOLDER}/{name[:2]}/{name}"


def _unreachable(error: Exception) -> ObjectStoreError:
    first = next(iter(str(error).splitlines()), "")
    return ObjectStoreError(f"the object store does not answer as it should: {first[:300]}", "ask again in a moment")
