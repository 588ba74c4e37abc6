"""What answers have shown is kept for one generation, and never hides a change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cairn.search import shown as module
from cairn.search.shown import ShownCode
from cairn.storage.index import chunk_db
from cairn.workspace import Workspace

SOURCE = "def parse(text):\n    return text.split()\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "cookie.py").write_text(SOURCE)
    (tmp_path / "jar.py").write_text("def keep(jar):\n    return jar\n")
    with Workspace.open(tmp_path) as opened:
        opened.index()
        yield opened


def touch(file: Path, seconds: int) -> None:
    os.utime(file, (seconds, seconds))


def test_a_chunk_is_read_once(workspace: Workspace) -> None:
    shown = ShownCode()
    with closing(workspace.state.open_for_reading()) as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM chunk ORDER BY id")]
        first = shown.read_chunks(connection, ids)
    assert shown.read_chunks(connection, ids) == first  # the connection is closed
    assert list(first) == ids


def test_where_a_chunk_is_may_be_known_already(workspace: Workspace) -> None:
    shown = ShownCode()
    with closing(workspace.state.open_for_reading()) as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM chunk ORDER BY id")]
        spans = shown.read_spans(connection, [*ids, 1 << 40])
        rows = shown.read_chunks(connection, ids)
    assert spans == {chunk_id: row.chunk.span for chunk_id, row in rows.items()}
    assert shown.read_spans(connection, ids) == spans  # the connection is closed


def test_where_the_chunks_of_a_file_are_is_read_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = ShownCode()
    with closing(workspace.state.open_for_reading()) as connection:
        blobs = [row[0] for row in connection.execute("SELECT blob_id FROM entry ORDER BY blob_id")]
        found = {blob: shown.chunks_of_blob(connection, blob) for blob in blobs}
        assert found == {blob: chunk_db.chunks_of_blob(connection, blob) for blob in blobs}
    assert {blob: shown.chunks_of_blob(connection, blob) for blob in blobs} == found  # the connection is closed
    monkeypatch.setattr(module, "MAX_SPANS", 1)
    shown = ShownCode()
    with closing(workspace.state.open_for_reading()) as connection:
        assert {blob: shown.chunks_of_blob(connection, blob) for blob in blobs} == found
        assert len(shown._of_blobs) == 1


def test_a_chunk_that_is_not_there_is_left_out(workspace: Workspace) -> None:
    with closing(workspace.state.open_for_reading()) as connection:
        assert ShownCode().read_chunks(connection, [1 << 40]) == {}


def test_no_more_chunks_are_kept_than_are_allowed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CHUNKS", 1)
    shown = ShownCode()
    with closing(workspace.state.open_for_reading()) as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM chunk ORDER BY id")]
        for chunk_id in ids:
            assert list(shown.read_chunks(connection, [chunk_id])) == [chunk_id]
        assert len(shown._chunks) == 1


def test_the_next_generation_is_shown_as_it_is(workspace: Workspace) -> None:
    before = workspace.search("parse").code[0]
    (workspace.root / "cookie.py").write_text(SOURCE.replace("(text)", "(text, sep)"))
    workspace.index()
    after = workspace.search("parse").code[0]
    assert (before.signature, after.signature) == ("def parse(text)", "def parse(text, sep)")
    assert not after.stale


def test_an_edit_is_noticed_though_the_file_was_shown_before(workspace: Workspace) -> None:
    assert not workspace.search("parse").code[0].stale
    (workspace.root / "cookie.py").write_text("nothing = 1\n")
    assert workspace.search("parse").code[0].stale


def test_a_file_that_was_touched_and_indexed_is_as_indexed(workspace: Workspace) -> None:
    file = workspace.root / "cookie.py"
    touch(file, 1_000_000_000)
    workspace.index()
    first = workspace.search("parse").code[0]
    touch(file, 1_100_000_000)
    workspace.index()
    assert workspace.search("parse").code[0] == first


def test_a_file_that_is_gone_is_noticed_though_it_was_shown_before(workspace: Workspace) -> None:
    assert not workspace.search("parse").code[0].stale
    (workspace.root / "cookie.py").unlink()
    assert workspace.search("parse").code[0].stale
