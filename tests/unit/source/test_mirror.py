"""Errors of a copy of a repository: they name the address, and nobody's password."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cairn.errors import PathError, RequestError
from cairn.source.mirror import Mirror


@pytest.mark.parametrize(
    "address",
    [
        "http://ada:hunter2@git.example.org/shop.git",
        "ada:hunter2@git.example.org/shop.git",
        "https://ada:hunter2 hunter2@git.example.org/shop.git",
    ],
)
def test_an_address_that_is_refused_is_named_without_its_password(address: str) -> None:
    with pytest.raises(RequestError) as caught:
        Mirror(Path(), address, "main")
    assert "hunter2" not in str(caught.value)
    assert "git.example.org/shop.git" in str(caught.value)


@pytest.mark.parametrize("user", ["ada:hunter2", "hunter2", "ada:hunter2@hunter2", "ada:%68unter2"])
@pytest.mark.parametrize("scheme", ["https", "ssh"])
def test_a_repository_that_cannot_be_reached_is_named_without_its_password(
    scheme: str, user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "ssh"  # as ssh does: it names whom it could not log in, on the first line
    said.write_text(
        '#!/bin/sh\nfor word; do case "$word" in *@*) echo "$word: Permission denied" >&2;; esac; done\nexit 1\n'
    )
    said.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", os.fspath(said))

    with pytest.raises(PathError) as caught:
        Mirror(tmp_path / "files", f"{scheme}://{user}@127.0.0.1:1/shop.git", "main").newest()

    assert "hunter2" not in str(caught.value)
    assert "%68unter2" not in str(caught.value)
    assert f"{scheme}://127.0.0.1:1/shop.git: " in str(caught.value)
    assert caught.value.__cause__ is None
