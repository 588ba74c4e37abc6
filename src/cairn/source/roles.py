"""The part that a file plays in a project, judged by its path: implementation, test, example, documentation."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from enum import IntFlag
from functools import cache

from cairn.source.languages import CONFIGURING


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


# Patterns are kept as text and compiled on first use: most runs know the roles of all files already.
_TEST = (
    r"(^|/)(tests?|testing|specs?|__tests__|__mocks__|testdata|fixtures?|e2e|testutils?)/"
    r"|(^|/)(test_[^/]*|[^/]*_test|[^/]*_tests|[^/]*[.-](test|spec|stories|bench)|conftest|[^/]*_spec)\.[^/]+$"
    r"|(^|/)[^/]*[a-z](Test|Tests|Spec|Specs|TestCase|IT)\.(java|kt|kts|scala|cs|swift|php|groovy)$"
)
_EXAMPLE = r"(^|/)(examples?|samples?|demos?|benchmarks?|bench|playground|tutorials?|docs?_src|cookbook)/"
_DOCS = r"(?i)(^|/)(docs?|documentation|man)/|\.(md|mdx|markdown|rst|adoc|txt)$|(^|/)(readme|changelog|license)"
_REEXPORT = r"(^|/)(__init__\.py|index\.(ts|js|tsx|jsx|mjs)|mod\.rs|package-info\.java|module-info\.java)$"
_LEGACY = r"(^|/|_)(compat|legacy|deprecated|old|backports?)(/|\.|_|$)"
_DECLARATION = r"\.d\.[mc]?ts$|\.pyi$"
_CONFIG = r"(^|/)(requirements[^/]*\.(txt|in)|constraints[^/]*\.txt|CMakeLists\.txt|MANIFEST\.in|\.[a-z]+(rc|ignore))$"


_PLATFORMS = {
    "win32": r"(?i)(^|[/_.-])(win|win32|win64|windows|msvc|mingw)([/_.-]|$)",
    "darwin": r"(?i)(^|[/_.-])(darwin|macos|osx|mac|ios|fsevents)([/_.-]|$)",
    "linux": r"(?i)(^|[/_.-])(linux|posix|unix|epoll|inotify)([/_.-]|$)",
}
_PLATFORM = sys.platform if sys.platform in _PLATFORMS else "linux"
_VERSION = r"(?:^|/)v(\d+)/"


_compile = cache(re.compile)


def role_of(path: str, language: str) -> Role:
    """Return the roles of the file at the relative `path`, as far as they do not depend on other files."""
    role = Role(0)
    if _compile(_TEST).search(path):
        role |= Role.TEST
    if _compile(_EXAMPLE).search(path):
        role |= Role.EXAMPLE
    if language in CONFIGURING or _compile(_CONFIG).search(path):
        role |= Role.CONFIG
    elif _compile(_DOCS).search(path):
        role |= Role.DOCS
    if _compile(_REEXPORT).search(path):
        role |= Role.REEXPORT
    if _compile(_LEGACY).search(path):
        role |= Role.LEGACY
    if _compile(_DECLARATION).search(path):
        role |= Role.DECLARATION
    here = _compile(_PLATFORMS[_PLATFORM]).search(path)
    if not here and any(_compile(pattern).search(path) for pattern in _PLATFORMS.values()):
        role |= Role.OTHER_PLATFORM
    return role


def roles_of(files: Sequence[tuple[str, str]], known: Mapping[tuple[str, str], Role] | None = None) -> list[Role]:
    """Return the roles of all files of a project, given as (path, language).

    Together, files reveal more: of variants for several versions (`v3/`, `v4/`) all but the newest are old.

    Args:
        files: all of them.
        known: roles that this function returned for some of them before, perhaps among other files.
    """
    known = known or {}
    roles = [role_of(*file) if (role := known.get(file)) is None else role & ~Role.OLD_VERSION for file in files]
    versions = [(number, match) for number, (path, _) in enumerate(files) if (match := _compile(_VERSION).search(path))]
    newest: dict[str, int] = {}
    for _, match in versions:
        above = match.string[: match.start()]
        newest[above] = max(newest.get(above, 0), int(match[1]))
    for number, match in versions:
        if int(match[1]) < newest[match.string[: match.start()]]:
            roles[number] |= Role.OLD_VERSION
    return roles
