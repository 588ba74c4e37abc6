from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from cairn.errors import RequestError, StoreError, UnsafeStateError
from cairn.remote.servers import SignIns, TeamServer, check_token, check_url
from cairn.runtime import StateFolder


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "state")


def test_a_token_is_kept_for_its_owner_alone(folder: StateFolder) -> None:
    signed_in = SignIns(folder)
    assert signed_in.servers() == ()
    signed_in.keep(TeamServer("https://a.example.org", "one"))
    signed_in.keep(TeamServer("https://b.example.org", "two"))
    signed_in.keep(TeamServer("https://a.example.org", "three"))

    assert signed_in.servers() == (
        TeamServer("https://b.example.org", "two"),
        TeamServer("https://a.example.org", "three"),
    )
    assert stat.S_IMODE(folder.servers.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_a_forgotten_server_leaves_no_token(folder: StateFolder) -> None:
    signed_in = SignIns(folder)
    signed_in.keep(TeamServer("https://a.example.org", "one"))
    signed_in.keep(TeamServer("https://b.example.org", "two"))

    assert signed_in.forget("https://a.example.org")
    assert not signed_in.forget("https://a.example.org")
    assert "one" not in folder.servers.read_text()
    assert signed_in.forget("https://b.example.org")
    assert not folder.servers.exists()


def test_no_token_shows_where_a_server_is_printed() -> None:
    assert "secret" not in repr(TeamServer("https://a.example.org", "secret"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"servers": 1}', "null"])
def test_a_damaged_file_counts_as_none_and_is_not_replaced(folder: StateFolder, text: str) -> None:
    folder.create()
    folder.servers.write_text(text)
    assert SignIns(folder).servers() == ()
    with pytest.raises(StoreError, match="is damaged"):
        SignIns(folder).keep(TeamServer("https://a.example.org", "one"))
    assert folder.servers.read_text() == text


@pytest.mark.parametrize("row", [1, None, [], {"url": "https://a"}, {"url": "http://a", "token": "x"}, {"token": "x"}])
def test_a_damaged_server_costs_none_of_the_others(folder: StateFolder, row: object) -> None:
    folder.create()
    good = {"url": "https://b.example.org", "token": "two"}
    folder.servers.write_text(json.dumps({"servers": [row, good]}))
    SignIns(folder).keep(TeamServer("https://a.example.org", "one"))
    assert [server.token for server in SignIns(folder).servers()] == ["two", "one"]


def test_a_server_that_others_could_have_written_is_not_sent_anything(folder: StateFolder) -> None:
    folder.create()
    rows = [{"url": "https://a.example.org", "token": "x"}]
    folder.servers.write_text(json.dumps({"servers": rows}))
    folder.servers.chmod(0o666)
    with pytest.raises(UnsafeStateError):
        SignIns(folder).servers()
    folder.servers.unlink()
    (folder.path / "elsewhere").write_text(json.dumps({"servers": rows}))
    os.symlink("elsewhere", folder.servers)
    with pytest.raises(UnsafeStateError):
        SignIns(folder).servers()


def test_an_address_in_the_file_is_checked_as_one_that_is_typed(folder: StateFolder) -> None:
    folder.create()
    folder.servers.write_text(json.dumps({"servers": [{"url": "http://a.example.org", "token": "x"}]}))
    assert SignIns(folder).servers() == ()


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://cairn.example.org", "https://cairn.example.org"),
        ("cairn.example.org", "https://cairn.example.org"),
        (" https://Cairn.Example.org/ ", "https://cairn.example.org"),
        ("https://example.org:8443/cairn/", "https://example.org:8443/cairn"),
        ("http://127.0.0.1:37700", "http://127.0.0.1:37700"),
        ("http://localhost:37700", "http://localhost:37700"),
        ("http://[::1]:37700/", "http://[::1]:37700"),
    ],
)
def test_an_address_has_one_form(given: str, url: str) -> None:
    assert check_url(given) == url


@pytest.mark.parametrize(
    "given",
    ["", "http://cairn.example.org", "http://127.0.0.1.example.org", "ftp://example.org", "https://a:b@example.org",
     "https://example.org/?x=1", "https://example.org#x", "https://", "https://exa mple.org", "https://[::1",
     "https://example.org:port", "https://ex\x1bample.org", "http://localhost@example.org", "https://exämple.org"],
)  # fmt: skip
def test_a_token_is_sent_over_https_or_to_this_machine_only(given: str) -> None:
    with pytest.raises(RequestError):
        check_url(given)


@pytest.mark.parametrize("text", ["", " \n", "two words", "line\nline", "x" * 5_000, "gl\u00fcck", "a\x00b"])
def test_what_is_no_token_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(RequestError) as raised:
        check_token(text)
    assert not text.strip() or text.strip() not in f"{raised.value}{raised.value.hint}"
    assert check_token(" cairn_abc\n") == "cairn_abc"
