"""What a hit must be: its kind, its language, its path."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.errors import QueryError
from cairn.index.view import ViewArrays
from cairn.loading import load
from cairn.source.languages import BY_NAME, KINDS, language_called

_MAX_COMPARED_CHARS = 100  # of a name that is not known

# The parts of a glob: two stars for any number of folders, stars for anything, and runs that match letter by letter.
_PARTS = re.compile(
    r"(?P<folders>(?:(?<=/)|^)\*\*/)|(?P<any>\*+)|(?P<letters>(?:\[!?\]?[^\]]*\]|[^*])+?(?=\*|$))", re.DOTALL
)


class Filtered(Protocol):
    """A request that limits which hits may appear; an empty field allows everything.

    `globs` match the relative path, `*` crossing folders; `!glob` leaves out.
    """

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that definitions may have: function, class..."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that files may be in."""

    @property
    def globs(self) -> tuple[str, ...]:
        """The paths that files may have."""


def canonical_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """Return kinds as the index has them, which is in lower case.

    Raises:
        QueryError: if one is unknown.
    """
    return tuple(_known("kind", name, name.lower() if name.lower() in KINDS else None, KINDS) for name in names)


def canonical_languages(names: Sequence[str]) -> tuple[str, ...]:
    """Return languages as the index has them, for names, extensions and nicknames in any case: `Ruby`, `rb`, `c++`.

    Raises:
        QueryError: if one is unknown.
    """
    return tuple(_known("language", name, language_called(name), BY_NAME.keys()) for name in names)


def _known(what: str, name: str, canonical: str | None, known: Collection[str]) -> str:
    if canonical is not None:
        return canonical
    near = load("difflib:get_close_matches")(name[:_MAX_COMPARED_CHARS].lower(), known, 3)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    raise QueryError(f"no {what} is called {name}", f"{meant}known: {', '.join(sorted(known))}")


def filter_files(files: ViewArrays, request: Filtered) -> npt.NDArray[np.int64] | None:
    """Return the numbers of the files that pass, None when all do."""
    if not request.languages and not request.globs:
        return None
    keep = np.ones(len(files.paths), dtype=np.bool_)
    if request.languages:
        wanted = [number for number, name in enumerate(files.language_names) if name in request.languages]
        keep &= np.isin(files.languages, wanted)
    if request.globs:
        match = compile_globs([_as_pattern(glob, files.paths) for glob in request.globs])
        keep &= np.array([match(path) for path in files.paths], dtype=np.bool_)
    return np.flatnonzero(keep)


def _as_pattern(glob: str, paths: Sequence[str]) -> str:
    """Return a glob in which brackets of an existing path mean themselves: `app/[slug]/page.tsx`, `app/[slug]/*`."""
    negation, whole = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    whole = whole.removeprefix("./").rstrip("/")
    wildcard = re.search(r"[*?]", whole)
    path = whole[: whole.rfind("/", 0, wildcard.start()) + 1].rstrip("/") if wildcard else whole
    if "[" not in path:
        return glob
    is_folder = any(own.startswith(f"{path}/") for own in paths)
    if not is_folder and path not in paths:
        return glob
    rest = whole[len(path) :] or ("/**" if is_folder else "")
    return negation + path.replace("[", "[[]") + rest


def compile_globs(globs: Sequence[str]) -> Callable[[str], bool]:
    """Return a test for paths: a positive glob matches (or there is none), and no glob after a `!` does."""
    positive = [_glob(pattern) for pattern in globs if not pattern.startswith("!")]
    negative = [_glob(pattern[1:]) for pattern in globs if pattern.startswith("!")]

    def matches(path: str) -> bool:
        waiting.check()
        wanted = not positive or any(pattern.match(path) for pattern in positive)
        return wanted and not any(pattern.match(path) for pattern in negative)

    return matches


def _glob(pattern: str) -> re.Pattern[str]:
    """Translate a glob; the plain name of a folder or file matches at any depth, as in a .gitignore.

    What stands between two gaps is looked for at its first occurrence only (an atomic group): whatever could follow a
    later occurrence can follow the first one. So the time is at most the product of the two lengths.
    """
    pattern = re.sub(r"\\([*?\[\]])", r"[\1]", pattern.removeprefix("./").rstrip("/"))
    if not any(mark in pattern for mark in "*?["):
        return re.compile(rf"(?:^|.*/){re.escape(pattern)}(?:/.*)?$", re.DOTALL)
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    gap, translated = "", []
    for part in _PARTS.finditer(pattern):
        if part.lastgroup != "letters":
            gap = "any" if gap == "any" else str(part.lastgroup)  # of several gaps in a row, the widest
            continue
        letters = fnmatch.translate(part[0])[:-2]  # which ends with the mark for the end of the text
        is_last = part.end() == len(pattern)
        between = {"": "", "any": ".*" if is_last else ".*?", "folders": "(?:.*/)?" if is_last else "(?:.*?/)??"}[gap]
        translated.append(between + letters if is_last or not gap else f"(?>{between}{letters})")
        gap = ""
    return re.compile("".join(translated) + (".*" if gap else "") + r"\Z", re.DOTALL)
