"""Reads `linguist-generated` and `linguist-vendored` from `.gitattributes`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from operator import itemgetter

from cairn.source.ignore import IgnoreRules
from cairn.source.roles import Role

GITATTRIBUTES = ".gitattributes"
# https://github.com/github-linguist/linguist/blob/main/docs/overrides.md
_ROLES = {b"linguist-generated": Role.GENERATED, b"linguist-vendored": Role.VENDORED}
_VERDICTS = {b"": True, b"true": True, b"1": True, b"false": False, b"0": False}


class GitAttributes:
    """A project's `.gitattributes` rules for generated and vendored files.

    Args:
        files: the path, relative to the root, and content of each `.gitattributes`.
    """

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        scopes = ((path.removesuffix(GITATTRIBUTES), _read(text)) for path, text in files if b"linguist-" in text)
        # Inner folders take precedence, so they come first.
        self._scopes = sorted(((len(base), base, rules) for base, rules in scopes), key=itemgetter(0), reverse=True)

    def of(self, path: str) -> dict[Role, bool]:
        """Return the roles that a file is declared to have or not to have."""
        said: dict[Role, bool] = {}
        for length, base, rules in self._scopes:
            if path.startswith(base):
                inner = os.fsencode(path[length:])
                for role, patterns in rules.items():
                    if role not in said and (verdict := patterns.match(inner, is_folder=False)) is not None:
                        said[role] = verdict
        return said


def _read(text: bytes) -> dict[Role, IgnoreRules]:
    """Return the rules as those of a `.gitignore`, which has the same patterns; "ignored" means "set" there."""
    lines: dict[Role, list[bytes]] = {role: [] for role in _ROLES.values()}
    for pattern, *attributes in filter(None, map(bytes.split, text.splitlines())):
        for attribute in attributes:
            name, _, value = attribute.lstrip(b"-!").partition(b"=")
            verdict = _VERDICTS.get(value.lower())
            if name in _ROLES and verdict is not None:
                is_set = verdict and not attribute.startswith((b"-", b"!"))
                lines[_ROLES[name]].append((b"" if is_set else b"!") + pattern + b"**" * pattern.endswith(b"/"))
    return {role: IgnoreRules(b"\n".join(patterns)) for role, patterns in lines.items()}
