"""Recognises shell commands that do nothing but search or read one file; all others are left alone.

A command is parsed, but never altered or run. Anything that cannot be told from its text is left alone: substitutions,
variables, here-documents, loops, background commands, output to files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from cairn.hooks.shell_programs import FileRead, Search, Word, is_filter, understand_program
from cairn.source.languages import BY_NAME, load_grammar

MAX_CHARS = 4_000  # characters of a command; a longer one is a script
_MAX_DEPTH = 12  # nesting of lists
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_SCRIPTED = re.compile(r"[`$](?=[\w({'\"`!@#?*-])|<|\(\(|`")  # outside of quotes
_ESCAPED_SPACE = re.compile(r"(?:^|\s)\\[ \t]")  # begins a comment or word for a shell, but not for the grammar
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"})
_SEPARATORS = frozenset({"&&", "||", ";", "\n"})
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_STRING = re.compile(r'\\([$`"\\\n])')
_GLOB = re.compile(r"(?<!\\)[*?\[]|(?<!\\)\{[^{}]*(?:,|\.\.)[^{}]*\}")


class _LeftAloneError(Exception):
    """The command is more than a search or a read, or cannot be understood."""


class _Step(NamedTuple):
    """One program with its words, the operator before it, and whether a filter shortens its output."""

    operator: str
    words: tuple[Word, ...]
    is_piped: bool


def understand_command(text: str) -> Search | FileRead | None:
    """Return the search or read that a POSIX shell command does, None if it is left alone.

    `cd FOLDER &&` may come before it, and `|| true` after it. A search may be piped into filters such as `head`, since
    it is only commented on; but a read may not, since its answer may be replaced.
    """
    if not _is_plain(text):
        return None
    try:
        steps = list(_steps(text))
        if len(steps) == 1 and (script := _inner_script(steps[0])) is not None:
            return understand_command(script) if _inner_script_is_plain(script) else None
        return _understand(steps)
    except _LeftAloneError:
        return None


def _is_plain(text: str) -> bool:
    """Tell by its characters, without parsing, whether a command may be recognised."""
    if len(text) > MAX_CHARS or _CONTROL.search(text) or _ESCAPED_SPACE.search(text) or not text.strip():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return not _SCRIPTED.search(_QUOTED.sub("_", text))


def _inner_script(step: _Step) -> str | None:
    """Return the script in `bash -lc '...'`."""
    words = [word.text for word in step.words]
    if len(words) == 3 and words[0] in _SHELLS and words[1] in ("-c", "-lc", "-l -c") and not step.is_piped:
        return words[2]
    return None


def _inner_script_is_plain(script: str) -> bool:
    return not any(script.lstrip().startswith(shell) for shell in _SHELLS)


def _understand(steps: list[_Step]) -> Search | FileRead | None:
    folder = ""
    while steps and len(steps) > 1 and steps[0].words[0].text == "cd" and steps[1].operator != "||":
        folder = posixpath.join(folder, _entered(steps.pop(0)))
    has_more = len(steps) > 1
    while len(steps) > 1 and _says_nothing(steps[-1]):
        steps.pop()
    if len(steps) != 1 or steps[0].operator == "||":
        return None
    found = understand_program(steps[0].words)
    if isinstance(found, FileRead):
        return None if has_more or steps[0].is_piped else found._replace(folder=folder)
    if isinstance(found, Search):
        return found._replace(
            folder=posixpath.join(folder, found.folder) if found.folder else folder, is_piped=steps[0].is_piped
        )
    return None


def _entered(step: _Step) -> str:
    """Return the folder that a `cd` enters."""
    words = [word for word in step.words[1:] if word.text != "--"]
    if len(words) != 1 or step.is_piped or words[0].is_glob or words[0].text.startswith("-") or not words[0].text:
        raise _LeftAloneError
    return words[0].text


def _says_nothing(step: _Step) -> bool:
    """Tell whether a command only sets the exit code or prints a word after the answer."""
    return step.words[0].text in ("true", ":", "echo") and not step.is_piped


# -- from a syntax tree to words ---------------------------------------------------------------------------------------


def _steps(text: str) -> Iterator[_Step]:
    # Each call has its own parser, since threads must not share one.
    tree = tree_sitter.Parser(load_grammar(BY_NAME["bash"])).parse(text.encode())
    if tree.root_node.has_error:
        raise _LeftAloneError
    yield from _steps_of(tree.root_node, "", 0)


def _steps_of(node: tree_sitter.Node, operator: str, depth: int) -> Iterator[_Step]:
    """Yield the programs of a node in execution order; `operator` precedes the first."""
    if depth > _MAX_DEPTH:
        raise _LeftAloneError
    if node.type in ("program", "list"):
        for child in node.children:
            if child.type == "comment":
                continue
            if child.is_named:
                yield from _steps_of(child, operator, depth + 1)
            elif child.type not in _SEPARATORS:
                raise _LeftAloneError  # such as `&`
            operator = child.type if not child.is_named else ";"
    elif node.type == "redirected_statement":
        body, *redirects = node.named_children
        behind = [word for redirect in redirects for word in _words_behind(redirect)]
        *before, last = _steps_of(body, operator, depth + 1)
        yield from before
        yield last._replace(words=(*last.words, *behind))
    elif node.type == "pipeline":
        yield from _filtered(node, operator, depth)
    elif node.type == "command":
        yield _Step(operator, _words(node), is_piped=False)
    else:
        raise _LeftAloneError


def _words_behind(redirect: tree_sitter.Node) -> list[Word]:
    """Return the words after `2>/dev/null` or `2>&1`, which the grammar makes part of the redirection.

    Raises:
        _LeftAloneError: if it is any other redirection.
    """
    parts = [_text(part) for part in redirect.children[:3]]
    if parts not in (["2", ">", "/dev/null"], ["2", ">&", "1"]):
        raise _LeftAloneError
    return [_word(part) for part in redirect.children[3:]]


def _filtered(node: tree_sitter.Node, operator: str, depth: int) -> Iterator[_Step]:
    """Yield the programs before the pipes, if only filters follow."""
    first, *filters = node.named_children
    for part in filters:
        for step in _steps_of(part, "|", depth + 1):
            if step.operator != "|" or not is_filter(step.words):
                raise _LeftAloneError
    *before, last = _steps_of(first, operator, depth + 1)
    yield from before
    yield last._replace(is_piped=True)


def _words(command: tree_sitter.Node) -> tuple[Word, ...]:
    words = []
    end = -1
    for child in command.children:
        if child.start_byte == end:
            raise _LeftAloneError  # part of the previous word, though the grammar makes it a word of its own
        end = child.end_byte
        is_name = child.type == "command_name" and child.named_child_count == 1
        words.append(_word(child.named_children[0] if is_name else child))
    if not words or words[0].is_glob or not words[0].text:
        raise _LeftAloneError
    return tuple(words)


def _word(node: tree_sitter.Node) -> Word:
    """Return a word without its quotes.

    Raises:
        _LeftAloneError: if only the shell knows its value.
    """
    if node.type == "concatenation":
        parts = [_word(part) if part.is_named else Word(_text(part)) for part in node.children]
        bare = "".join(
            _text(part) if part.type in ("word", "number") or not part.is_named else "_" for part in node.children
        )
        is_glob = any(part.is_glob for part in parts) or _GLOB.search(bare) is not None
        return Word("".join(part.text for part in parts), is_glob)
    text = _text(node)
    if node.type == "raw_string":
        return Word(text[1:-1])
    if node.type == "string" and all(part.type == "string_content" or not part.is_named for part in node.children):
        return Word(_ESCAPE_IN_STRING.sub(_unescape, text[1:-1]))
    if node.type in ("word", "number") and not text.startswith("~") and not node.named_child_count:
        return Word(_ESCAPE.sub(_unescape, text), _GLOB.search(text) is not None)
    raise _LeftAloneError


def _unescape(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode()
