"""Finds definitions by names as traces, documents and IDEs write them: with packages or modules, arguments and types.

Such names are `celery.app.task.Task.retry`, `org.mockito.Mockito.verify(Object)`, `(*Server).ServeHTTP`,
`Twig/Environment::render()` with either slash, `term::Term::<T>::resize` and `Oban.Worker.perform/1`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cairn.graph.code import Code
from cairn.graph.nodes import file_of, place_of

_SEPARATOR = re.compile(r"::|->|(?<=\w)#|[.:\\/]")
_RECEIVER = re.compile(r"\(\*?([\w.]+)\)(?=\.)")  # of Go
_ARGUMENTS = re.compile(r"(?:\([^()]*\)|/\d+)$")
_TYPES = re.compile(r"(?:::)?<[^<>]*>|\[[^][]*\]")
_GO_PACKAGE = re.compile(rb"^package[ \t]+([a-zA-Z0-9_]+)", re.MULTILINE)
_VERSION = re.compile(r"v\d+")
_MOST_NESTED = 8  # types in each other
_MOST_READ = 60  # files of namesakes whose package is looked at


def without_signature(text: str) -> str:
    """Return a name without arguments, types of generics and the marks around a receiver."""
    text = _ARGUMENTS.sub("", _RECEIVER.sub(r"\1", text.strip().lstrip("&*@\\")))
    for _ in range(_MOST_NESTED):
        text = _TYPES.sub("", text)
    return text


def find_by_full_name(code: Code, text: str) -> list[int]:
    """Return the definitions that a name means of which a part may be a package, a module or folders.

    Of several, those count whose file and package have most of these parts, the last one in any case.
    """
    parts = [part for part in _SEPARATOR.split(without_signature(text)) if part]
    if len(parts) < 2:
        return []
    fitting: dict[int, list[str]] = {}
    for node in code.nodes_named(parts[-1]):
        own = _split(code.definition(node).qualified_name)
        if len(own) < len(parts) and parts[-len(own) :] == own:
            fitting[node] = [part for part in parts[: -len(own)] if not _VERSION.fullmatch(part)]
    shares = {node: _share(code, node, around) for node, around in list(fitting.items())[:_MOST_READ]}
    best = max(shares.values(), default=0)
    return [node for node, share in shares.items() if share == best > 0]


def _split(name: str) -> list[str]:
    return [part for part in _SEPARATOR.split(name) if part]


def _share(code: Code, node: int, around: Sequence[str]) -> int:
    """Return how many parts of a name, from the last on, the path or the package of a definition has in their order."""
    number = file_of(node)
    path, _, ending = code.paths[number].rpartition(".")
    by_path = _common(around, (path or ending).replace("-", "_").split("/"))
    if by_path == len(around) or place_of(node) < 0:
        return by_path
    return max(by_path, _common(around, _split(_package_of(code, number))))


def _package_of(code: Code, number: int) -> str:
    """Return the package that a file says it is of; Go needs it for nothing else, so that it is no fact of the file."""
    if code.languages[number] != "go":
        return code.file(number).package
    clause = _GO_PACKAGE.search(code.checkout.read(number) or b"")
    return clause[1].decode() if clause else ""


def _common(around: Sequence[str], home: Sequence[str]) -> int:
    """Return how many parts, from the last on, stand in another sequence in the same order."""
    count, rest = 0, list(home)
    for part in reversed(around):
        while rest and rest[-1] != part:
            rest.pop()
        if not rest:
            break
        rest.pop()
        count += 1
    return count
