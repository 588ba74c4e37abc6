"""What part a file plays in a project, judged by its path: implementation, test, example, documentation…"""

from __future__ import annotations

import re
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
_CONFIG_LANGUAGES = frozenset({"json", "yaml", "toml", "ini", "xml", "make", "cmake", "dockerfile", "hcl"})


def role_of(path: str, language: str) -> Role:
    """Return the roles of the file at the relative `path`."""
    role = Role(0)
    if _TEST.search(path):
        role |= Role.TEST
    if _EXAMPLE.search(path):
        role |= Role.EXAMPLE
    if _DOCS.search(path):
        role |= Role.DOCS
    if language in _CONFIG_LANGUAGES:
        role |= Role.CONFIG
    if _REEXPORT.search(path):
        role |= Role.REEXPORT
    if _LEGACY.search(path):
        role |= Role.LEGACY
    if _DECLARATION.search(path):
        role |= Role.DECLARATION
    return role
