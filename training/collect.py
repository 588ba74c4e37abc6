#!/usr/bin/env python3
"""Download and unpack the sources that training pairs are mined from; see README.md beside this file.

Each source of `sources.json` becomes a folder `OUT/<ecosystem>-<name>/`, and a line of `OUT/manifest.json`. Names whose
hash `--exclude` lists, and whatever is not under a permissive licence, are left out. One that fails is reported and
the rest goes on. The ordinary clients do the downloads: npm, apt-get (with `deb-src` lines) and git.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from sdists import FetchError, Sdist, fetch, newest

SOURCES = Path(__file__).with_name("sources.json")
WORKERS = 2
ATTEMPTS = 3
MAX_FILE_BYTES = 1_000_000
PERMISSIVE = frozenset(
    {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "PSF-2.0", "Zlib", "BSL-1.0", "Unlicense", "0BSD"}
)
# What the text of each licence says and no other one's does, in the order they are tried.
_PHRASES = (
    ("Apache-2.0", r"Apache License,?\s+Version 2\.0|www\.apache\.org/licenses/LICENSE-2\.0|apache-2\.0"),
    ("BSL-1.0", r"Boost Software License|\bBSL-1\.0"),
    ("MIT", r"Permission is hereby granted, free of charge|\bMIT License\b|License: (?:MIT|Expat)\b|\"MIT\""),
    ("ISC", r"Permission to use, copy, modify, and/?(?:or)? distribute this software for any|\bISC License\b"),
    ("BSD-3-Clause", r"Neither the names?\s+of|may not be used to endorse|\bBSD-3-Clause\b|License: BSD-3"),
    ("BSD-2-Clause", r"Redistributions? of source code must retain|\bBSD-2-Clause\b|License: BSD\b"),
    ("Zlib", r"This software is provided 'as-is', without any express or implied|License: Zlib"),
    ("Unlicense", r"free and unencumbered software released into the public domain"),
    ("PSF-2.0", r"PSF LICENSE AGREEMENT|Python Software Foundation License"),
)
_COPYLEFT = re.compile(
    r"GNU (?:LESSER |AFFERO |LIBRARY )?GENERAL PUBLIC LICEN|\b[AL]?GPL[v-]?\d|Mozilla Public License|Eclipse Public"
    r"|Business Source License|Server Side Public|Elastic License|Commons Clause|Creative Commons",
    re.IGNORECASE,
)
_LICENCE_FILE = re.compile(r"(?:(?:mit-)?licen[cs]e|copying|unlicense)(?:[._-][\w.-]*)?", re.IGNORECASE)
_REPOSITORY = re.compile(r"(?:github|gitlab)\.com[/:]([\w.-]+)/([\w.-]+)")
_METADATA = ("package.json", "PKG-INFO", "pyproject.toml", "setup.cfg", "setup.py", "Cargo.toml", "debian-copyright")
_PREFIXES = ("golang-github-", "golang-", "ruby-", "php-", "haskell-", "rust-", "node-", "python-", "python3-", "lua-")
_PREFIX = re.compile(r"^(?:python3?-?|py-?|node-?|lib)")
_SUFFIX = re.compile(r"[._-]?(?:js|rb|py|cpp|rs|go|php|hs|ts|core|java)$")


class SourceError(Exception):
    """A source could not be had, or may not be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source. `version` is a git source's revision; `file` and `sha256` pin the archive of PyPI's."""

    ecosystem: str
    name: str
    version: str = ""
    licence: str = ""
    language: str = ""
    file: str = ""
    sha256: str = ""

    @property
    def folder(self) -> str:
        """The name of the folder it is unpacked to."""
        return f"{self.ecosystem}-{self.name.removeprefix('@').replace('/', '+')}"


def names_of(ecosystem: str, name: str) -> set[str]:
    """Return, in lower case, every name under which the project of a package may be known.

    These are the package's name, its parts, `owner/name` forms, and both without what an ecosystem adds to names.
    """
    whole = name.lower().removeprefix("@")
    found = {whole, *whole.split("/")}
    if ecosystem == "debian":
        bare = re.sub(r"^lib(.+)-java$", r"\1", whole)
        for prefix in _PREFIXES:
            bare = bare.removeprefix(prefix)
        parts = bare.split("-")
        for cut in range(1, len(parts)):
            owner, rest = "-".join(parts[:cut]), "-".join(parts[cut:])
            found |= {rest, f"{owner}/{rest}"}
        found |= {bare, parts[0]}
    for known in list(found):
        base = known.rpartition("/")[2]
        unversioned = {re.sub(pattern, "", base) for pattern in (r"[._-]?v\d+$", r"[._-]?\d+(?:\.\d+)*$")}
        for text in {base, *unversioned}:
            forms = {text, _PREFIX.sub("", text), _SUFFIX.sub("", text), _SUFFIX.sub("", _PREFIX.sub("", text))}
            found |= {re.sub(r"[._-]+", mark, form) for form in forms for mark in ("-", ".", "_", "")}
    return {form for form in found if form}


def is_excluded(names: Iterable[str], digests: frozenset[str]) -> bool:
    """Tell whether one of the names has its SHA-256 among `digests`."""
    return any(hashlib.sha256(name.encode()).hexdigest() in digests for name in names)


def licence_of(folder: Path) -> str:
    """Return the SPDX name of the permissive licence that a package comes under, empty where that is not clear."""
    stated = folder / "debian-copyright"
    files = [stated] if stated.exists() else []
    files += sorted(path for path in folder.iterdir() if path.is_file() and _LICENCE_FILE.fullmatch(path.name))
    files += [path for name in ("package.json", "PKG-INFO", "Cargo.toml") if (path := folder / name).exists()]
    found = [licence_in(_licence_text(path)) for path in files]
    return next((licence for licence in found if licence), "")


def _licence_text(path: Path) -> str:
    """Return what a file says about the licence of the whole: only one paragraph of Debian's, one field of others'."""
    text = path.read_text("utf-8", "replace")
    if path.name == "debian-copyright":
        main = re.search(r"^Files:\s*\*\s*$.*?^License: *([^\n]*)", text, re.MULTILINE | re.DOTALL)
        return f"License: {main[1]}" if main else "unclear"
    if path.name == "package.json":
        named = re.search(r'"license":\s*("[^"]*")', text)
        return named[1] if named else ""
    if path.name in ("PKG-INFO", "Cargo.toml"):
        return "\n".join(re.findall(r"^(?:License|license|Classifier: License|License-Expression)\b.*$", text, re.M))
    return text


def licence_in(text: str) -> str:
    """Return the SPDX name of the first permissive licence that `text` is or names; empty for any with copyleft."""
    if _COPYLEFT.search(text) and not re.search(r"\bMIT\b.{0,40}\bor\b|\bor\b.{0,40}\bMIT\b|Apache-2", text[:300]):
        return ""
    return next((name for name, phrase in _PHRASES if re.search(phrase, text, re.IGNORECASE)), "")


def repositories_named_in(folder: Path) -> set[str]:
    """Return `owner/name` and `name`, in lower case, of the repositories that a package's metadata points to."""
    found: set[str] = set()
    for name in _METADATA:
        if (path := folder / name).is_file():
            text = path.read_text("utf-8", "replace")
            text = _own_links(name, text)
            for owner, repository in _REPOSITORY.findall(text):
                repository = repository.removesuffix(".git").lower()
                found |= {repository, f"{owner.lower()}/{repository}"}
    return found


def _own_links(name: str, text: str) -> str:
    """Return the lines of a metadata file that tell where the project itself lives."""
    if name == "package.json":
        try:
            given = json.loads(text)
        except ValueError:
            return ""
        return json.dumps([given.get("repository"), given.get("homepage")])
    wanted = re.compile(r"home-?page|repository|source|project-url|\burl\b", re.IGNORECASE)
    head = text[:6000] if name == "PKG-INFO" else text
    return "\n".join(line for line in head.splitlines() if wanted.search(line))


def run(command: list[str], folder: Path) -> str:
    """Run a client in `folder`, again if it fails, and return what it prints.

    Raises:
        SourceError: with its last words, if it keeps failing.
    """
    for _ in range(ATTEMPTS):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
    raise SourceError(f"{command[0]}: {done.stderr.strip()[-200:]}")


def unpack(archive: Path, folder: Path, only: str = "") -> None:
    """Unpack an archive below `folder`; members that would lie elsewhere, or are no plain files, are left out.

    A single top folder, which every archive has, is dropped. With `only`, just the member that ends so is taken.
    """

    def plain(member: tarfile.TarInfo, where: str) -> tarfile.TarInfo | None:
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if not member.isfile() or len(parts) < 2 or (only and not member.name.endswith(only)):
            return None
        try:
            return tarfile.data_filter(member.replace(name="/".join(parts[1:]), deep=False), where)
        except tarfile.FilterError:
            return None

    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter=plain)


def get_pypi(source: Source, folder: Path, scratch: Path, mirrors: Path | None) -> Source:
    """Unpack a source distribution; pins one that is not pinned yet."""
    try:
        if source.file:
            archive = fetch(Sdist(source.name, source.file, source.sha256), scratch)
        else:
            pinned = newest(source.name, source.version, scratch)
            source = replace(source, file=pinned.file, sha256=pinned.sha256)
            archive = scratch / pinned.file
    except FetchError as error:
        raise SourceError(str(error)) from error
    unpack(archive, folder)
    return source


def get_npm(source: Source, folder: Path, scratch: Path, mirrors: Path | None) -> Source:
    """Unpack a package as npm packs it."""
    run(["npm", "pack", "--ignore-scripts", "--silent", f"{source.name}@{source.version}"], scratch)
    (archive,) = scratch.glob("*.tgz")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if source.sha256 and digest != source.sha256:
        raise SourceError(f"has the SHA-256 {digest}, not {source.sha256}")
    unpack(archive, folder)
    return replace(source, sha256=digest)


def get_debian(source: Source, folder: Path, scratch: Path, mirrors: Path | None) -> Source:
    """Unpack a source package as its authors made it, with Debian's record of its licence as `debian-copyright`.

    apt-get checks the signed hashes.
    """
    run(["apt-get", "source", "-qq", "--download-only", "--only-source", f"{source.name}={source.version}"], scratch)
    archives = [path for path in scratch.iterdir() if ".tar." in path.name and path.suffix != ".asc"]
    main = next((path for path in archives if ".orig.tar." in path.name), None)
    main = main or next(path for path in archives if ".debian.tar." not in path.name)
    unpack(main, folder)
    for archive in archives:
        if ".debian.tar." in archive.name:
            with tarfile.open(archive) as opened:
                names = [name for name in opened.getnames() if name.endswith("debian/copyright")]
                stated = opened.extractfile(names[0]) if names else None
                (folder / "debian-copyright").write_bytes(stated.read() if stated else b"")
    return source


def get_git(source: Source, folder: Path, scratch: Path, mirrors: Path | None) -> Source:
    """Unpack the files of one revision, those apart that a partial clone lacks."""
    bare = bare_repository(source, folder.parent, mirrors)
    listed = run(["git", "ls-tree", "-r", "-z", source.version], bare).split("\0")
    wanted = [line.partition("\t") for line in listed if line.startswith("100")]  # plain files: no link, no submodule
    for (_, _, path), data in zip(
        wanted, blobs(bare, [head.split()[2] for head, _, _ in wanted], scratch), strict=True
    ):
        target = folder / path
        if data is not None and len(data) <= MAX_FILE_BYTES and target.resolve().is_relative_to(folder.resolve()):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    return source


def blobs(bare: Path, names: list[str], scratch: Path) -> Iterator[bytes | None]:
    """Yield the content of each object of a repository, None for one that a partial clone lacks."""
    (scratch / "wanted").write_text("".join(f"{name}\n" for name in names))
    with (scratch / "wanted").open("rb") as wanted, (scratch / "content").open("w+b") as content:
        subprocess.run(["git", "cat-file", "--batch"], cwd=bare, stdin=wanted, stdout=content, check=True)
        content.seek(0)
        for line in iter(content.readline, b""):
            if line.endswith(b"missing\n"):
                yield None
                continue
            yield content.read(int(line.split()[2]))
            content.read(1)


def bare_repository(source: Source, out: Path, mirrors: Path | None) -> Path:
    """Return a bare clone with the history of a git source: a mirror's, else one made now."""
    if mirrors is not None and (mirror := mirrors / source.name.replace("/", "+") / "repo").is_dir():
        return mirror
    clone = out / ".clones" / source.name.replace("/", "+")
    if not clone.is_dir():
        clone.parent.mkdir(parents=True, exist_ok=True)
        run(["git", "clone", "--quiet", "--bare", f"https://github.com/{source.name}", str(clone)], clone.parent)
    return clone


GETTERS: dict[str, Callable[[Source, Path, Path, Path | None], Source]] = {
    "pypi": get_pypi,
    "npm": get_npm,
    "debian": get_debian,
    "git": get_git,
}


def collect(source: Source, out: Path, digests: frozenset[str], mirrors: Path | None) -> Source:
    """Bring one source to its folder below `out`, unless it is there, and return it pinned and with its licence.

    Raises:
        SourceError: if it is excluded, not permissively licensed, or cannot be had.
    """
    if is_excluded(names_of(source.ecosystem, source.name), digests):
        raise SourceError("excluded by name")
    if source.ecosystem == "git" and not source.version:
        bare = bare_repository(source, out, mirrors)
        source = replace(source, version=run(["git", "rev-parse", "HEAD"], bare).strip())
    folder = out / source.folder
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=out) as scratch, tempfile.TemporaryDirectory(dir=out) as unpacked:
            source = GETTERS[source.ecosystem](source, Path(unpacked), Path(scratch), mirrors)
            _check(source, Path(unpacked), digests)
            shutil.copytree(unpacked, folder)
    return replace(source, licence=_check(source, folder, digests))


def _check(source: Source, folder: Path, digests: frozenset[str]) -> str:
    if is_excluded(repositories_named_in(folder), digests):
        raise SourceError("its repository is excluded")
    licence = licence_of(folder)
    if source.licence and source.licence not in PERMISSIVE:
        raise SourceError(f"{source.licence} is not permissive")
    if not licence:
        raise SourceError("no permissive licence found in it")
    return source.licence or licence


def manifest_entry(source: Source, out: Path, mirrors: Path | None) -> dict[str, str]:
    """Return what mining needs to know of a source; `repository` is where a git source's history lies."""
    history = str(bare_repository(source, out, mirrors)) if source.ecosystem == "git" else ""
    return {**asdict(source), "folder": source.folder, "repository": history}


def main() -> int:
    """Collect all sources and report those that fell out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder that receives one folder per source")
    parser.add_argument("--exclude", type=Path, required=True, help="JSON list of SHA-256 of lower-case names")
    parser.add_argument("--mirrors", type=Path, help="folder of bare clones, OWNER+NAME/repo")
    parser.add_argument("--sources", type=Path, default=SOURCES)
    parser.add_argument("--pin", action="store_true", help="write versions, hashes and licences back to the list")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    digests = frozenset(json.loads(arguments.exclude.read_text()))
    sources = [Source(**entry) for entry in json.loads(arguments.sources.read_text())]

    def attempt(source: Source) -> Source | str:
        try:
            return collect(source, out, digests, arguments.mirrors)
        except (SourceError, OSError, tarfile.TarError, ValueError, StopIteration) as error:
            return f"{source.ecosystem} {source.name}: {error}"

    done: list[Source] = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for result in pool.map(attempt, sources):
            if isinstance(result, Source):
                done.append(result)
            else:
                print(f"left out: {result}", flush=True)
    manifest = [manifest_entry(source, out, arguments.mirrors) for source in done]
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    if arguments.pin:
        lines = ",\n".join(json.dumps({k: v for k, v in asdict(source).items() if v}) for source in done)
        arguments.sources.write_text(f"[\n{lines}\n]\n")
    print(f"{len(done)} of {len(sources)} sources in {out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
