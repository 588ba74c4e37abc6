import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

import sdists
from sdists import FetchError, Sdist


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "simple"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nothing"))
    monkeypatch.setenv("PIP_INDEX_URL", folder.as_uri())
    return folder


@pytest.fixture
def pinned(index: Path) -> Sdist:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        member = tarfile.TarInfo("My_Tool-1.0/README")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"hello"))
    page = index / "my-tool" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text('<a href="../../files/My_Tool-1.0.tar.gz#sha256=0">My_Tool-1.0.tar.gz</a>', encoding="utf-8")
    file = index.parent / "files" / "My_Tool-1.0.tar.gz"
    file.parent.mkdir()
    file.write_bytes(content.getvalue())
    return Sdist("My_Tool", file.name, hashlib.sha256(content.getvalue()).hexdigest())


def test_sdist_is_fetched_once_and_unpacked(pinned: Sdist, tmp_path: Path) -> None:
    archive = sdists.fetch(pinned, tmp_path / "cache")
    (tmp_path / "files" / pinned.file).unlink()
    assert sdists.fetch(pinned, tmp_path / "cache") == archive
    assert (sdists.extract(archive, tmp_path / "out") / "README").read_bytes() == b"hello"
    assert [file.name for file in archive.parent.iterdir()] == [pinned.file]


def test_other_content_is_refused_by_its_hash(pinned: Sdist, tmp_path: Path) -> None:
    (tmp_path / "files" / pinned.file).write_bytes(b"something else")
    with pytest.raises(FetchError, match="SHA-256"):
        sdists.fetch(pinned, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_damaged_archive_in_the_cache_is_fetched_again(pinned: Sdist, tmp_path: Path) -> None:
    archive = sdists.fetch(pinned, tmp_path / "cache")
    archive.write_bytes(b"half")
    assert hashlib.sha256(sdists.fetch(pinned, tmp_path / "cache").read_bytes()).hexdigest() == pinned.sha256


def test_unlisted_file_and_missing_index_are_told_apart(pinned: Sdist, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="does not list it"):
        sdists.fetch(Sdist("My_Tool", "My_Tool-2.0.tar.gz", "0"), tmp_path / "cache")
    with pytest.raises(FetchError, match="No such file"):
        sdists.fetch(Sdist("other", "other-1.0.tar.gz", "0"), tmp_path / "cache")


def test_offline_never_asks_an_index(pinned: Sdist, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="may not be downloaded"):
        sdists.fetch(pinned, tmp_path / "cache", offline=True)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, ["https://pypi.org/simple"]),
        ({"PIP_INDEX_URL": "https://a/simple/"}, ["https://a/simple"]),
        (
            {"UV_DEFAULT_INDEX": "main=https://a/simple", "UV_INDEX": "https://b x=https://c"},
            ["https://a/simple", "https://b", "https://c"],
        ),
        ({"PIP_EXTRA_INDEX_URL": "https://b"}, ["https://pypi.org/simple", "https://b"]),
    ],
)
def test_indexes_follow_the_variables_of_uv_and_pip(
    variables: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    quiet = {"PIP_CONFIG_FILE": os.devnull, "XDG_CONFIG_HOME": str(tmp_path)}
    assert sdists.indexes({**quiet, **variables}) == expected


def test_indexes_follow_the_files_of_pip_and_uv(tmp_path: Path) -> None:
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "pip.conf").write_text(
        "[global]\nindex-url = https://a\nextra-index-url = https://b\n    https://c\n"
    )
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv" / "uv.toml").write_text('[[index]]\nurl = "https://d"\n')
    found = sdists.indexes({"XDG_CONFIG_HOME": str(tmp_path)})
    assert {"https://a", "https://b", "https://c", "https://d"} <= set(found)
