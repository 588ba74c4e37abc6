"""What part a file plays in a project, judged by its path: implementation, test, example, documentation."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from enum import IntFlag


class Role(IntFlag):
    """Roles other than plain implementation; a file can have several."""

    TEST = 1
    EXAMPLE = 2
    DOCS = 4
    CONFIG = 8
    REEXPORT = 16
    LEGACY = 32
    DECLARATION = 64
    OTHER_PLATFORM = 128
    OLD_VERSION = 256


_TEST = re.compile(
    r"(^|/)(tests?|testing|specs?|__tests__|__mocks__|testdata|fixtures?|e2e|testutils?)/"
    r"|(^|/)(test_[^/]*|[^/]*_test|[^/]*_tests|[^/]*[.-](test|spec|stories|bench)|conftest|[^/]*_spec)\.[^/]+$"
    r"|(^|/)[^/]*[a-z](Test|Tests|Spec|Specs|TestCase|IT)\.(java|kt|kts|scala|cs|swift|php|groovy)$",
)
_EXAMPLE = re.compile(r"(^|/)(examples?|samples?|demos?|benchmarks?|bench|playground|tutorials?|docs?_src|cookbook)/")
_DOCS = re.compile(
    r"(^|/)(docs?|documentation|man)/|\.(md|mdx|markdown|rst|adoc|txt)$|(^|/)(readme|changelog|license)", re.I
)
_REEXPORT = re.compile(r"(^|/)(__init__\.py|index\.(ts|js|tsx|jsx|mjs)|mod\.rs|package-info\.java|module-info\.java)$")
_LEGACY = re.compile(r"(^|/|_)(compat|legacy|deprecated|old|backports?)(/|\.|_|$)")
_DECLARATION = re.compile(r"\.d\.[mc]?ts$|\.pyi$")
_CONFIG = re.compile(
    r"(^|/)(requirements[^/]*\.(txt|in)|constraints[^/]*\.txt|CMakeLists\.txt|MANIFEST\.in|\.[a-z]+(rc|ignore))$"
)
_CONFIG_LANGUAGES = frozenset({"json", "yaml", "toml", "ini", "xml", "make", "cmake", "dockerfile", "hcl"})


def role_of(path: str, language: str) -> Role:
    """Return the roles of the file at the relative `path`."""
    role = Role(0)
    if _TEST.search(path):
        role |= Role.TEST
    if _EXAMPLE.search(path):
        role |= Role.EXAMPLE
    if language in _CONFIG_LANGUAGES or _CONFIG.search(path):
        role |= Role.CONFIG
    elif _DOCS.search(path):
        role |= Role.DOCS
    if _REEXPORT.search(path):
        role |= Role.REEXPORT
    if _LEGACY.search(path):
        role |= Role.LEGACY
    if _DECLARATION.search(path):
        role |= Role.DECLARATION
    return role


_PLATFORMS = {
    "win32": re.compile(r"(^|[/_.-])(win|win32|win64|windows|msvc|mingw)([/_.-]|$)", re.I),
    "darwin": re.compile(r"(^|[/_.-])(darwin|macos|osx|mac|ios|fsevents)([/_.-]|$)", re.I),
    "linux": re.compile(r"(^|[/_.-])(linux|posix|unix|epoll|inotify)([/_.-]|$)", re.I),
}
_VERSION = re.compile(r"(?:^|/)v(\d+)/")


def roles_of(files: Sequence[tuple[str, str]]) -> list[Role]:
    """Return the roles of all files of a project, given as (path, language).

    Seen together, files tell more: of twins for several platforms those of this machine's are meant unless the query
    says otherwise, and of twins for several versions (`v3/`, `v4/`) the newest.
    """
    roles = [role_of(path, language) for path, language in files]
    platform = sys.platform if sys.platform in _PLATFORMS else "linux"
    newest: dict[str, int] = {}
    for path, _ in files:
        if match := _VERSION.search(path):
            newest[path[: match.start()]] = max(newest.get(path[: match.start()], 0), int(match[1]))
    for number, (path, _) in enumerate(files):
        here = _PLATFORMS[platform].search(path)
        if not here and any(pattern.search(path) for pattern in _PLATFORMS.values()):
            roles[number] |= Role.OTHER_PLATFORM
        if (match := _VERSION.search(path)) and int(match[1]) < newest[path[: match.start()]]:
            roles[number] |= Role.OLD_VERSION
    return roles
