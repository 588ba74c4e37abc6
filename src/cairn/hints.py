"""What to do next, as data: words, and an action with its arguments, which each surface shows in its own way."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

# How a hint is shown: as the command of a terminal, or as the call of a tool, which an agent reads.
HintStyle = Literal["commands", "tools"]
# Where a field of a request is at fault; on the command line, its help says more.
FIELDS_PAGE = "docs/http-api.md names the fields of every request"
# Arguments that a command takes without a flag, in order; all others are `--name value`.
_POSITIONAL: Mapping[str, tuple[str, ...]] = {
    "callees": ("symbol",),
    "callers": ("symbol",),
    "config set": ("name", "values"),
    "config unset": ("name",),
    "context": ("task",),
    "fetch": ("ids",),
    "forget": ("ids",),
    "flow": ("place",),
    "history": ("query",),
    "impact": ("symbol",),
    "importers": ("target",),
    "index": ("path",),
    "login": ("url",),
    "logout": ("url",),
    "memories change": ("action",),
    "memories join": ("team_project",),
    "memories show": ("ids",),
    "outline": ("file",),
    "recall": ("query",),
    "related": ("file",),
    "remember": ("text",),
    "resolve": ("ids",),
    "search": ("query",),
    "sessions forget": ("ids",),
    "sessions mute": ("ids",),
    "similar": ("place",),
    "references": ("symbol",),
    "subclasses": ("symbol",),
    "team publish": ("team_project",),
    "team remove": ("team_project",),
    "team token": ("person",),
    "tests": ("symbol",),
    "why": ("place",),
}
_FLAGS: Mapping[str, str] = {"project": "-C", "languages": "--lang", "globs": "--in", "kinds": "--kind"}
_PLACEHOLDERS: Mapping[str, str] = {
    "globs": "GLOB", "ids": "ID", "languages": "LANG", "place": "FILE:LINE", "project": "FOLDER",
    "team_project": "ORGANISATION/NAME",
}  # fmt: skip
_WORDS = frozenset({"action", "mode", "relation"})  # their values are words of ours


class _Tool(NamedTuple):
    """A tool of MCP that does what an action does, or what comes next to it.

    Attributes:
        name: its name.
        names: what arguments are called there.
        fixed: arguments that it takes besides; None for one that the reader has to choose.
    """

    name: str
    names: Mapping[str, str]
    fixed: Mapping[str, str | None]


_TOOLS: Mapping[str, _Tool] = {
    "context": _Tool("context", {}, {}),
    "fetch": _Tool("fetch", {}, {}),
    "outline": _Tool("outline", {}, {}),
    "search": _Tool("search", {}, {}),
    "callees": _Tool("graph", {}, {"relation": "callees"}),
    "callers": _Tool("graph", {}, {"relation": "callers"}),
    "references": _Tool("graph", {}, {"relation": "references"}),
    "subclasses": _Tool("graph", {}, {"relation": "subclasses"}),
    "importers": _Tool("graph", {"target": "symbol"}, {"relation": "importers"}),
    "impact": _Tool("graph", {}, {"relation": "impact"}),
    "tests": _Tool("graph", {}, {"relation": "tests"}),
    "history": _Tool("graph", {"query": "symbol"}, {"relation": "history"}),
    "related": _Tool("graph", {"file": "symbol"}, {"relation": "related"}),
    "why": _Tool("graph", {"place": "symbol"}, {"relation": "why"}),
    "map": _Tool("core_files", {}, {"action": "suggest"}),
    "memories": _Tool("recall", {}, {"query": None}),
    "recall": _Tool("recall", {}, {}),
    "remember": _Tool("remember", {}, {}),
    "resolve": _Tool("resolve", {}, {}),
}


class Hint(str):
    """What to do next. As text it names a command, which a terminal shows; `for_tools` is what an agent reads.

    Args:
        words: what it is good for, or all there is to say where no action of Cairn's does it.
        action: the command, such as `index` or `daemon status`.
        arguments: by name; None for one that the reader has to choose.
    """

    words: str
    action: str
    arguments: Mapping[str, Any]

    def __new__(cls, words: str, action: str = "", /, **arguments: Any) -> Self:  # noqa: ANN401 - of any kind that JSON has
        """Make the text of the command."""
        command = _command(action, arguments) if action else ""
        hint = super().__new__(cls, _join(words, command))
        hint.words, hint.action, hint.arguments = words, action, arguments
        return hint

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_hint, (self.words, self.action, dict(self.arguments))

    @classmethod
    def of(cls, action: str, /, **arguments: Any) -> Self:  # noqa: ANN401 - as above
        """Return the hint that an action is, without words."""
        return cls("", action, **arguments)

    def after(self, words: str) -> Self:
        """Return the hint with what happened before it."""
        return type(self)("; ".join(filter(None, (words, self.words))), self.action, **self.arguments)

    def with_prefix(self, words: str) -> Self:
        """Return the hint with words right before its own, such as whom it is for."""
        return type(self)(f"{words}{self.words}", self.action, **self.arguments)

    @property
    def for_tools(self) -> str:
        """The hint with a call of a tool in the place of the command, where there is a tool for it."""
        return _join(self.words, _call(self.action, self.arguments)) if self.action in _TOOLS else str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the hint as JSON has it."""
        return {"words": self.words, "action": self.action, "arguments": dict(self.arguments)}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the hint that `to_dict` gave."""
        return cls(document["words"], document["action"], **document["arguments"])


def show(text: str, style: HintStyle) -> str:
    """Return a text as a surface shows it. Only here does a hint become a command or the call of a tool."""
    return text.for_tools if style == "tools" and isinstance(text, Hint) else str(text)


def show_notes(document: Any, style: HintStyle) -> Any:  # noqa: ANN401 - JSON
    """Return an answer with its notes, if it has any, as a surface shows them."""
    if isinstance(document, dict) and "notes" in document:
        return {**document, "notes": [show(note, style) for note in document["notes"]]}
    return document


def with_note(document: Any, note: str) -> Any:  # noqa: ANN401 - JSON
    """Return an answer with one more note, if there is one and the answer is of a kind that has notes."""
    if not note or not isinstance(document, dict):
        return document
    return {**document, "notes": [*document.get("notes", ()), note]}


def hint_of(text: str) -> Hint:
    """Return a text as a hint, without an action unless it is one already."""
    return text if isinstance(text, Hint) else Hint(text)


def _make_hint(words: str, action: str, arguments: Mapping[str, Any]) -> Hint:
    return Hint(words, action, **arguments)


def _join(words: str, action: str) -> str:
    return f"{words}: {action}" if words and action else words or action


def _command(action: str, arguments: Mapping[str, Any]) -> str:
    positional = _POSITIONAL.get(action, ())
    plain: list[str] = []
    flags: list[str] = []
    for name, value in arguments.items():
        if name in positional:
            plain += _values(name, value)
        elif value is not False:
            flags.append(_FLAGS.get(name, f"--{name.replace('_', '-')}"))
            flags += _values(name, value) if value is not True else ()
    is_like_flag = any(value.startswith("-") for value in plain)
    return " ".join(["cairn", action, *([*flags, "--", *plain] if is_like_flag else [*plain, *flags])])


def _values(name: str, value: Any) -> list[str]:  # noqa: ANN401 - of any kind that JSON has
    if value is None:
        return [_PLACEHOLDERS.get(name, name.upper())]
    return [shlex.quote(str(item)) for item in (value if isinstance(value, list | tuple) else [value])]


def _call(action: str, arguments: Mapping[str, Any]) -> str:
    tool = _TOOLS[action]
    given = {**tool.fixed, **{tool.names.get(name, name): value for name, value in arguments.items()}}
    known = [f"{name}={_literal(name, value)}" for name, value in given.items() if value is not None]
    chosen = [f"a `{name}`" for name, value in given.items() if value is None]
    taken = " and ".join([*([", ".join(known)] if known else []), *chosen])
    return f"`{tool.name}` with {taken}" if taken else f"`{tool.name}`"


def _literal(name: str, value: Any) -> str:  # noqa: ANN401 - as above
    return str(value) if name in _WORDS else repr(list(value) if isinstance(value, tuple) else value)
