import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from collect import is_excluded, licence_in, licence_of, names_of, repositories_named_in, unpack


def digests(*names: str) -> frozenset[str]:
    return frozenset(hashlib.sha256(name.encode()).hexdigest() for name in names)


@pytest.mark.parametrize(
    ("ecosystem", "name", "known"),
    [
        ("debian", "golang-github-spf13-cobra", "cobra"),
        ("debian", "golang-github-spf13-cobra", "spf13/cobra"),
        ("debian", "golang-github-go-chi-chi", "go-chi/chi"),
        ("debian", "golang-github-labstack-echo-v4", "echo"),
        ("debian", "libgoogle-gson-java", "google/gson"),
        ("debian", "libgoogle-gson-java", "gson"),
        ("debian", "libuv1", "libuv"),
        ("debian", "ruby-sinatra", "sinatra"),
        ("debian", "rust-clap-3", "clap"),
        ("debian", "haskell-aeson", "aeson"),
        ("debian", "php-laravel-framework", "laravel/framework"),
        ("npm", "@trpc/server", "trpc"),
        ("npm", "@trpc/server", "trpc/server"),
        ("npm", "express.js", "express"),
        ("pypi", "python-redis", "redis"),
        ("pypi", "My_Tool", "my-tool"),
        ("git", "Alamofire/Alamofire", "alamofire/alamofire"),
        ("git", "Hejsil/zig-clap", "zig-clap"),
    ],
)
def test_a_package_is_known_under_its_projects_names(ecosystem: str, name: str, known: str) -> None:
    assert known in names_of(ecosystem, name)
    assert is_excluded(names_of(ecosystem, name), digests(known))


def test_other_names_are_not_excluded() -> None:
    assert not is_excluded(names_of("debian", "golang-github-spf13-viper"), digests("cobra", "spf13/cobra"))


def test_metadata_tells_the_repository(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(
        '{"repository": {"url": "git+https://github.com/Owner/Thing.git"}, "bugs": "https://github.com/other/one"}'
    )
    assert repositories_named_in(tmp_path) == {"thing", "owner/thing"}


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("Permission is hereby granted, free of charge, to any person", "MIT"),
        ("Apache License\nVersion 2.0, January 2004", "Apache-2.0"),
        ("Redistributions of source code must retain ... Neither the name of", "BSD-3-Clause"),
        ("GNU GENERAL PUBLIC LICENSE Version 2", ""),
        ("Mozilla Public License Version 2.0", ""),
        ("MIT or GPL-2, at your choice", ""),
        ("All rights reserved.", ""),
    ],
)
def test_only_permissive_texts_count(text: str, licence: str) -> None:
    assert licence_in(text) == licence


def test_the_licence_of_all_files_counts_for_debian(tmp_path: Path) -> None:
    (tmp_path / "debian-copyright").write_text("Files: *\nCopyright: x\nLicense: Expat\n\nFiles: d/*\nLicense: GPL-3\n")
    assert licence_of(tmp_path) == "MIT"


def test_unpacking_stays_in_the_folder(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("top/in.py", "top/../../out.py", "/etc/out.py"):
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
        link = tarfile.TarInfo("top/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    folder = tmp_path / "deep" / "folder"
    folder.mkdir(parents=True)
    unpack(tmp_path / "a.tar", folder)
    assert (folder / "in.py").read_text() == "x"
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir())
    assert found == ["a.tar", "deep/folder/in.py", "deep/folder/out.py"]  # `/etc/out.py` lost its first two parts
