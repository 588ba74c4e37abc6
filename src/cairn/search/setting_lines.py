"""Finds the lines that read a variable of the environment, and those of settings that a dotted key means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cairn import waiting
from cairn.answers import CodeHit
from cairn.search.confidence import GUESSED, HIGH, confidence_word
from cairn.search.exact import LineMatch
from cairn.search.exact_answer import Effort, hits_of_lines, lines_saying
from cairn.search.filters import filter_files
from cairn.search.library import Library, read_files
from cairn.search.query import EXACT_MODES, Query
from cairn.search.word_files import files_with_words, line_in_text
from cairn.source.languages import BY_NAME
from cairn.source.roles import ASIDE, Role, role_of
from cairn.source.terms import terms_of_word

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest

_MAX_WORDS, _SECONDS, _MAX_LINES = 10, 0.2, 200
_MAX_READ, _SHORTEST = 5, 3
# A variable of the environment, as a word; without underscores only in a question that says what it is.
_VARIABLE = re.compile(r"(?<![\w$.:/#-])\$?\{?([A-Z][A-Z\d]*(_[A-Z\d]+)*)\}?(?![\w.:/#-]*\w)")
_SAYS_ENVIRONMENT = re.compile(r"(?i)\benv(?:ironment)?\b")
# `os.Getenv("NAME")`, `process.env.NAME`, `ENV.fetch("NAME")`, `#[arg(env = "NAME")]`, `@Value("${NAME:1}")`.
_READS_VARIABLE = r"(?i:env)\w*\W{1,4}(?:\w+\W{1,4})?NAME(?:\W|$)|[:\"'] *\$\{NAME[:}]"
_NO_READING = re.compile(
    r"(?i)\b(?:set|put|unset|remove|delete|clear)_?(?:env|var)|^\s*ENV\s|^\s*(?:#(?!\[)|//|/?\*|--|;|<!--)"
)
_SCRIPTS = frozenset({"bash", "powershell", "dockerfile", "make"})

_KEY = re.compile(r"(?<![\w@/.:-])[a-z][\w-]*(?:\.[a-z][\w-]*)+(?![\w(/.:-])")
_NESTING = frozenset({"yaml", "json", "toml", "ini"})
_TELLING = 3  # parts that say enough where a file has more before them
_MAX_FILES, _MAX_BYTES, _MAX_SET = 32, 1_000_000, 3
_ENGLISH = re.compile(r"(?:^|[/._-])en(?:[-_](?:US|GB))?[/.]")  # a file of texts that others translate
# Lines of code that say a key as it is asked for, and hits that come before settings of tests, examples and documents.
_MAX_BEFORE, _BEFORE_OTHERS = 3, 2
# A key of YAML or JSON with its indentation; a section, and a key in one, of TOML and the like.
_KEY_LINE = re.compile(r"( *)(- +)?[\"']?([\w.$/-]+)[\"']? *:(?:\s|$)")
_SECTION, _ASSIGNED = re.compile(r"\s*\[+([^\[\]]+)\]+"), re.compile(r"\s*[\"']?([\w.-]+)[\"']?\s*[=:]")
_MARKS = re.compile(r"[-_\"' ]")


def with_settings(
    library: Library, query: Query, request: SearchRequest, hits: Sequence[CodeHit], notes: list[str]
) -> list[CodeHit]:
    """Return the hits with the lines that read the variable, or set the key, which a short question names."""
    if query.item is not None or query.mode in EXACT_MODES[1:] or query.text.count(" ") >= _MAX_WORDS:
        return list(hits)
    if query.mode != "literal" and (read := _lines_reading(library, query, request)):
        notes.append(f"What comes first reads {_variable_in(query.text)!r} from the environment.")
        return _in_front(read, hits)[: request.limit or None]
    keys = _KEY.findall(query.text)
    is_one = len(keys) == 1 and not _is_defined(keys[0], hits)
    if not is_one or not (nested := _lines_nesting(library, keys[0], request)):
        return list(hits)
    of_code = next((place for place, hit in enumerate(hits) if not _says_in_code(hit)), len(hits))
    is_own = nested[0].relevance >= HIGH
    end = min(of_code if is_own else max(of_code, _BEFORE_OTHERS), _MAX_BEFORE, len(hits))
    place = "then" if is_own and end else "among the hits" if end else "first"
    notes.append(f"Lines that set {keys[0]!r} below the keys that it names come {place}.")
    return [*hits[:end], *_in_front(nested, hits[end:])][: request.limit or None]


def is_script(hit: CodeHit) -> bool:
    """Tell whether a hit is in a script that sets variables of the environment for other programs."""
    return hit.language in _SCRIPTS


def _in_front(lines: Sequence[CodeHit], hits: Sequence[CodeHit]) -> list[CodeHit]:
    places = {(hit.path, hit.start_line) for hit in lines}
    return [*lines, *(hit for hit in hits if (hit.path, hit.start_line) not in places)]


# -- variables of the environment --------------------------------------------------------------------------------------


def _variable_in(text: str) -> str:
    """Return the one variable of the environment that a question names, empty for none."""
    found = dict(_VARIABLE.findall(text))
    name, parts = next(iter(found.items()), ("", ""))
    is_variable = len(found) == 1 and (bool(parts) or _SAYS_ENVIRONMENT.search(text.replace(name, "")) is not None)
    return name if is_variable and len(name) >= _SHORTEST else ""


def _lines_reading(library: Library, query: Query, request: SearchRequest) -> list[CodeHit]:
    """Return the lines of the project's own code and settings that read the variable of a question, code first."""
    if not (name := _variable_in(query.text)):
        return []
    of_all = replace(request, limit=_MAX_LINES)
    said, _ = lines_saying(library, query, of_all, name, Effort(_SECONDS), _READS_VARIABLE)
    own = [hit for hit in said if not role_of(hit.path, hit.language) & (ASIDE & ~Role.CONFIG)]
    own = [hit for hit in own if not _NO_READING.search(hit.preview)]
    own.sort(key=lambda hit: (is_script(hit), BY_NAME[hit.language].group != "code"))
    return own[:_MAX_READ]


# -- nested keys -------------------------------------------------------------------------------------------------------


def _is_defined(key: str, hits: Sequence[CodeHit]) -> bool:
    """Tell whether the first hit surely defines what a key names."""
    if not hits or hits[0].match is not None or hits[0].relevance < HIGH:
        return False
    return f".{hits[0].qualified_name or hits[0].name}".lower().endswith(f".{key}".lower())


def _says_in_code(hit: CodeHit) -> bool:
    """Tell whether a hit is a line of code that has a key as it is asked for."""
    return hit.match == "exact" and not role_of(hit.path, hit.language) & ASIDE


def _lines_nesting(library: Library, key: str, request: SearchRequest) -> list[CodeHit]:
    """Return the lines of settings that have the last part of a key below its other parts, as hits.

    Those of tests, examples and documents are no sure answer, nor are two parts of a longer key. They are not looked
    for where the project's own settings have all of it.
    """
    snapshot, parts = library.snapshot, tuple(_folded(part) for part in key.split("."))
    words = " ".join(terms_of_word(key.rpartition(".")[2].replace("-", "_"))[0])
    chosen, names = filter_files(snapshot.files, request), snapshot.files.language_names
    roles, paths = snapshot.files.roles, snapshot.files.paths
    files = [
        file
        for file in files_with_words(snapshot, words).tolist()
        if names[snapshot.files.languages[file]] in _NESTING and (chosen is None or file in chosen)
    ]
    aside = int(ASIDE & ~Role.CONFIG)
    files.sort(
        key=lambda file: (bool(int(roles[file]) & aside), not _ENGLISH.search(paths[file]), paths[file].count("/"))
    )
    found: list[tuple[bool, LineMatch]] = []
    for file, text in read_files(library, files[:_MAX_FILES]).items():
        waiting.check()
        is_aside = bool(int(roles[file]) & aside)
        n_sure = sum(not is_guess for is_guess, _ in found)
        if n_sure >= _MAX_SET or (n_sure and is_aside):
            break
        lines = text.data[:_MAX_BYTES].decode("utf-8", "replace").split("\n")
        is_indented = names[snapshot.files.languages[file]] in ("yaml", "json")
        for number, own in _indented_keys(lines) if is_indented else _keys_of_sections(lines):
            if own[-len(parts) :] == parts and own[-1]:
                is_guess = is_aside or (len(own) > len(parts) and len(parts) < _TELLING)
                found.append((is_guess, line_in_text(file, lines, number, number)))
    found.sort(key=lambda one: one[0])
    hits = hits_of_lines(library, [line for _, line in found[:_MAX_SET]], request)
    chance = GUESSED if found and found[0][0] else 1.0
    return [hit._replace(relevance=chance, confidence=confidence_word(chance)) for hit in hits]


def _indented_keys(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the lines of YAML or JSON that have a key, by number, with the parts of all keys that they are below."""
    above: list[tuple[int, tuple[str, ...]]] = []
    for number, line in enumerate(lines, start=1):
        if (match := _KEY_LINE.match(line)) is None:
            continue
        indent = len(match[1]) + len(match[2] or "")
        while above and above[-1][0] >= indent:
            above.pop()
        own = (*(above[-1][1] if above else ()), *map(_folded, match[3].split(".")))
        above.append((indent, own))
        yield number, own


def _keys_of_sections(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the lines of TOML and the like that have a key, by number, with the parts of their section and key."""
    section: tuple[str, ...] = ()
    for number, line in enumerate(lines, start=1):
        if match := _SECTION.match(line):
            section = tuple(map(_folded, match[1].split(".")))
        elif match := _ASSIGNED.match(line):
            yield number, (*section, *map(_folded, match[1].split(".")))


def _folded(part: str) -> str:
    """Return a part of a key as it is compared: `max-size`, `max_size` and `maxSize` are one."""
    return _MARKS.sub("", part).lower()
