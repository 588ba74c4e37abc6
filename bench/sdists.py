"""Fetches pinned source distributions from the index pip or uv is set up to use; runs no code of theirs."""

from __future__ import annotations

import configparser
import hashlib
import html.parser
import json
import os
import re
import ssl
import sys
import tarfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

DEFAULT_INDEX = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_ATTEMPTS = 3
_TIMEOUT_SECONDS = 60.0


class FetchError(Exception):
    """A source distribution could not be had; the message says why, index by index."""


@dataclass(frozen=True, slots=True)
class Sdist:
    """One source distribution, pinned: the project's name on the index, the file's name and its SHA-256."""

    project: str
    file: str
    sha256: str


def default_cache(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder where archives are kept between runs."""
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cairn-golden"


def fetch(sdist: Sdist, cache: Path, *, offline: bool = False) -> Path:
    """Return the archive in `cache`, downloaded there if it is missing or not the pinned one.

    Raises:
        FetchError: if no index gives it, or it would have to be downloaded although `offline`.
    """
    archive = cache / sdist.file
    if archive.is_file() and _sha256(archive.read_bytes()) == sdist.sha256:
        return archive
    if offline:
        raise FetchError(f"{archive} is missing and may not be downloaded")
    data = _download(sdist)
    cache.mkdir(parents=True, exist_ok=True)
    partial = cache / f".{sdist.file}.{os.getpid()}"
    partial.write_bytes(data)
    partial.replace(archive)
    return archive


def newest(project: str, version: str, cache: Path) -> Sdist:
    """Download the source distribution of one version to `cache`, whatever its hash, and return it pinned.

    Raises:
        FetchError: if no index has one.
    """
    spelling = re.compile(
        rf"{re.sub(r'[-_.]+', '[-_.]+', project)}-{re.escape(version)}\.(?:tar\.(?:gz|bz2)|tgz)", re.IGNORECASE
    )
    for index in indexes():
        opener, bare = _opener(index)
        try:
            links = _links(opener, f"{bare}/{re.sub(r'[-_.]+', '-', project).lower()}/")
            name, url = next(((name, url) for name, url in links if spelling.fullmatch(name)), ("", ""))
            data = _read(opener, url)[0] if url else b""
        except (OSError, HTTPException, ValueError):
            continue
        if data:
            cache.mkdir(parents=True, exist_ok=True)
            (cache / name).write_bytes(data)
            return Sdist(project, name, _sha256(data))
    raise FetchError(f"no index has a source distribution of {project} {version}")


def extract(archive: Path, folder: Path) -> Path:
    """Unpack `archive` below `folder` and return the one folder it holds."""
    with tarfile.open(archive) as opened:
        # The first releases of 3.11 have no filters; https://docs.python.org/3/library/tarfile.html gives this form.
        opened.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        opened.extractall(folder)
    (root,) = folder.iterdir()
    return root


def indexes(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the package indexes to ask, in order: what uv's and pip's variables and files name, else PyPI.

    The pinned hash decides what is accepted, so the order matters to speed only.
    """
    pip = _pip_settings(environment)
    first = [environment.get("UV_DEFAULT_INDEX"), environment.get("UV_INDEX_URL"), environment.get("PIP_INDEX_URL")]
    main = [url for url in [*first, *_uv_indexes(environment), pip.get("index-url")] if url]
    more = [environment.get(name) for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL")]
    extra = [url for listed in [*more, pip.get("extra-index-url")] for url in (listed or "").split()]
    named = (
        re.sub(r"^[\w.-]+=", "", url).rstrip("/") for url in [*(main or [DEFAULT_INDEX]), *extra]
    )  # name=url is uv's
    return list(dict.fromkeys(named))


def _pip_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return pip's settings for downloads, the nearest file last: system, user, virtual environment, variable."""
    home, prefix = Path.home(), Path(sys.prefix)
    user = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    files = [
        Path("/etc/xdg/pip/pip.conf"),
        Path("/etc/pip.conf"),
        home / ".pip" / "pip.conf",
        home / "Library" / "Application Support" / "pip" / "pip.conf",
        user / "pip" / "pip.conf",
        *([Path(environment["APPDATA"]) / "pip" / "pip.ini"] if "APPDATA" in environment else []),
        prefix / "pip.conf",
        prefix / "pip.ini",
    ]
    chosen = environment.get("PIP_CONFIG_FILE")
    files = [] if chosen == os.devnull else [*files, *([Path(chosen)] if chosen else [])]
    parser = configparser.RawConfigParser()
    parser.read(files, encoding="utf-8")
    found: dict[str, str] = {}
    for section in ("global", "download"):
        if parser.has_section(section):
            found.update(parser.items(section))
    return found


def _uv_indexes(environment: Mapping[str, str]) -> list[str]:
    user = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    found: list[str] = []
    for file in (user / "uv" / "uv.toml", Path("/etc/uv/uv.toml")):
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        found += [entry["url"] for entry in table.get("index", []) if "url" in entry]
        found += [url for url in (table.get("index-url"), table.get("pip", {}).get("index-url")) if url]
    return found


def _download(sdist: Sdist) -> bytes:
    reasons = []
    for index in indexes():
        opener, bare = _opener(index)
        page = f"{bare}/{re.sub(r'[-_.]+', '-', sdist.project).lower()}/"
        try:
            location = next((url for name, url in _links(opener, page) if name == sdist.file), None)
            if location is None:
                reasons.append(f"{bare} does not list it")
                continue
            data = _read(opener, location)[0]
        except (OSError, HTTPException, ValueError) as error:
            reasons.append(f"{bare}: {error}")
            continue
        if _sha256(data) == sdist.sha256:
            return data
        reasons.append(f"{location} has the SHA-256 {_sha256(data)}, not {sdist.sha256}")
    raise FetchError(f"{sdist.file} could not be downloaded: {'; '.join(reasons)}")


def _opener(index: str) -> tuple[urllib.request.OpenerDirector, str]:
    """Return what opens the URLs of `index`, with its proxies and certificates, and its URL without a password."""
    context = ssl.create_default_context()  # knows SSL_CERT_FILE and SSL_CERT_DIR
    settings = _pip_settings(os.environ)
    certificates = os.environ.get("PIP_CERT") or settings.get("cert") or os.environ.get("REQUESTS_CA_BUNDLE")
    if certificates:
        path = Path(certificates)
        context.load_verify_locations(*((None, certificates) if path.is_dir() else (certificates, None)))
    parts = urlsplit(index)
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    passwords = urllib.request.HTTPPasswordMgrWithPriorAuth()
    if parts.username is not None:
        site = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], "/", "", ""))
        passwords.add_password(
            None, site, unquote(parts.username), unquote(parts.password or ""), is_authenticated=True
        )
    return (
        urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=context), urllib.request.HTTPBasicAuthHandler(passwords)
        ),
        bare,
    )


def _links(opener: urllib.request.OpenerDirector, page: str) -> Iterator[tuple[str, str]]:
    """Yield (file name, URL) of what an index lists for a project, in either form of the simple API (PEP 503, 691)."""
    data, kind = _read(opener, page if urlsplit(page).scheme != "file" else f"{page}index.html")
    if kind.endswith("+json"):
        for entry in json.loads(data)["files"]:
            yield entry["filename"], urljoin(page, entry["url"])
        return
    anchors = _Anchors()
    anchors.feed(data.decode("utf-8", "replace"))
    for reference in anchors.references:
        url = urldefrag(urljoin(page, reference)).url
        yield unquote(urlsplit(url).path.rpartition("/")[2]), url


class _Anchors(html.parser.HTMLParser):
    """Collects the targets of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one link."""
        if tag == "a":
            self.references += [value for name, value in attrs if name == "href" and value]


def _read(opener: urllib.request.OpenerDirector, url: str) -> tuple[bytes, str]:
    """Return a resource and its content type, trying again when the connection fails or the server is at fault."""
    request = urllib.request.Request(url, headers={"Accept": f"{_ACCEPT}, */*;q=0.05"})
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with opener.open(request, timeout=_TIMEOUT_SECONDS) as response:
                return response.read(), response.headers.get_content_type()
        except (OSError, HTTPException) as error:
            final = isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429
            if final or attempt == _ATTEMPTS or urlsplit(url).scheme == "file":
                raise
            time.sleep(attempt)
    raise AssertionError("unreachable")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
