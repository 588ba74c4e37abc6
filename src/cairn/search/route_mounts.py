"""Follows prefixes of routes to other files: `use("/users", require("./people"))` stands before those in `people`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cairn.search.file_finder import finder_of
from cairn.search.library import Library
from cairn.search.route_templates import LEADING, MAX_LINE, SENT, RouteTemplate
from cairn.storage.index import chunk_db

if TYPE_CHECKING:
    from cairn.search.route_files import RouteFiles

MAX_MOUNTED = 24  # files that are read because something stands before their routes
MAX_DEPTH, MAX_CHAINS = 3, 4  # mounts in mounts, and how many of these for a file
MAX_MOUNTING = 100  # templates that are looked at
_MAX_IMPORTS = 500
_LINES_AROUND, _MAX_NAMES, _MAX_DEFINITIONS, _MAX_FOLDERS = 5, 12, 2, 4
# What says that a prefix stands before routes which others declare. A line with the name of a method does not.
_MOUNTS = re.compile(
    r"(?i)\b(?:include(?:_router|_urls)?|register(?:_?\w+)?|add_?\w*blueprint|mount|nest|use|forward|configure|group|scope"
    r"|draw|route\w*|path|url|\w*prefix|plug|handle(?:_?func)?|pathprefix|subrouter)\b"
)
_OPENS, _CLOSES = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")
_QUOTED = re.compile(r"[\"'`]([@~]?[\w./-]{1,120})[\"'`]")
_CHAIN = re.compile(r"(?<![\w.:@$\"'/-])[A-Za-z_]\w{0,80}(?:(?:\.|::)[A-Za-z_]\w{0,80}){0,4}")
_BETWEEN = re.compile(r"\.|::")
# A line that gives a name to what another file has, also one of Go that is but a path.
_IMPORT = re.compile(
    r"\s*(?:(?:pub |export )?(?:import|from|const|let|var|use|alias|mod)\b|\w+ *=.*\brequire|(?:\w+ )?\"[\w./-]+\"$)"
)
# `from .people import router as members`, and what an import is from, in quotes or not.
_FROM = re.compile(r"\bfrom\s+(\.*)([\w.]*)\s+import\b")
_PLAIN_IMPORT = re.compile(r"^\s*(?:pub )?(?:import|use|alias|mod)\s+(?:static )?([\w.:]+)")
_WORDS_OF_CODE = frozenset(
    """app router api server r mux e express self this new await async const let var function def return include use
    import require path url re_path Route route routes tags prefix url_prefix true false null none None True False
    if for lambda fn func middleware auth""".split()  # noqa: SIM905 - words
)


def may_mount(template: RouteTemplate) -> bool:
    """Tell whether a template may stand before the routes of another file: it names no method, and is no page's."""
    says_something = not all(map(LEADING.fullmatch, template.segments))  # else not which routes are meant
    return says_something and not template.methods and not template.is_shown and template.weight > SENT


def _statement(lines: Sequence[str], template: RouteTemplate) -> str:
    """Return the lines of the call or the entry in which a template stands."""
    start = end = template.number - 1
    before = lines[start].partition(template.text)[0]
    depth = _depth(before)
    while depth <= 0 and template.number - 1 - start < _LINES_AROUND and start and _goes_on(lines[start - 1]):
        start -= 1
        depth += _depth(lines[start])
    depth = _depth("\n".join(lines[start : end + 1]))
    while depth > 0 and end - template.number + 1 < _LINES_AROUND and end + 1 < len(lines):
        end += 1
        depth += _depth(lines[end])
    if start == end and lines[end].rstrip().endswith(","):  # an entry of an object: `path: '/people',`
        end = min(end + 1, len(lines) - 1)
    return "\n".join(line[:MAX_LINE] for line in lines[start : end + 1])


def _depth(text: str) -> int:
    return len(_OPENS.findall(text[:MAX_LINE])) - len(_CLOSES.findall(text[:MAX_LINE]))


def _goes_on(line: str) -> bool:
    return line.rstrip().endswith(("(", "[", "{", ",", "|>"))


def _is_of_frameworks(chain: str) -> bool:
    """Tell whether a name in a statement is that of what mounts, such as `app.use`."""
    return _BETWEEN.split(chain)[0] in _WORDS_OF_CODE


class Mounter:
    """Finds the files before whose routes the templates of a file stand, as far as the lines around them say.

    Args:
        library: the open index.
        of_view: the files in which routes are looked for.
        file: that of the templates.
        lines: of the file.
    """

    def __init__(self, library: Library, of_view: RouteFiles, file: int, lines: Sequence[str]) -> None:
        self._library, self._finder, self._of_view = library, finder_of(library.snapshot), of_view
        self._file, self._lines = file, lines
        self._known: dict[str, list[int]] = {}  # what statements mount, which may be many of one kind
        self._folder = library.snapshot.files.paths[file].rpartition("/")[0]

    def mounted_by(self, template: RouteTemplate) -> list[int]:
        """Return the files before whose routes a template stands."""
        statement = _statement(self._lines, template)
        if (found := self._known.get(statement)) is None:
            found = self._known[statement] = self._files_of(statement, template.text)
        return found

    def _files_of(self, statement: str, template: str) -> list[int]:
        if _MOUNTS.search(statement) is None:
            return []
        meant = dict.fromkeys(self._meant(statement, template))
        return [one for one in meant if one != self._file and self._of_view.are_code[one]][:MAX_MOUNTED]

    @cached_property
    def _imports(self) -> list[str]:
        return [line for line in self._lines if len(line) <= MAX_LINE and _IMPORT.match(line)][:_MAX_IMPORTS]

    def _meant(self, statement: str, template: str) -> Iterator[int]:
        """Yield the files that a statement means beside its template."""
        for quoted in _QUOTED.findall(statement):
            if quoted != template:
                yield from self._at(quoted)
        plain = _QUOTED.sub(" ", statement.replace(template, ""))
        chains = [one for one in dict.fromkeys(_CHAIN.findall(plain)) if not _is_of_frameworks(one)]
        for chain in chains[:_MAX_NAMES]:
            parts = [part for part in _BETWEEN.split(chain) if part]
            yield from self._imported(parts) or self._defined(parts)

    def _imported(self, parts: Sequence[str]) -> list[int]:
        """Return the files from which a name is imported, or in which a module of that name is."""
        name, word = parts[0], re.compile(rf"\b{re.escape(parts[0])}\b")
        for line in self._imports:
            if word.search(line) and (found := self._from(line, name)):
                return found
        return self._called(name) if len(parts) > 1 else []

    def _from(self, line: str, name: str) -> list[int]:
        """Return the files from which a line imports a name."""
        if found := [file for quoted in _QUOTED.findall(line) for file in self._at(quoted)]:
            return found
        if origin := _FROM.search(line):
            return self._of_python(origin[1], origin[2], line[origin.end() :], name)
        if plain := _PLAIN_IMPORT.match(line):
            module = plain[1].replace("::", ".")
            return self._finder.by_module(module) or self._called(module.rpartition(".")[2])
        return []

    def _of_python(self, dots: str, module: str, names: str, wanted: str) -> list[int]:
        """Return the files of what a line imports as a name: a module in a package, or what one defines."""
        match = re.search(rf"(\w+)\s+as\s+{re.escape(wanted)}\b", names)
        name, inside = match[1] if match else wanted, module.replace(".", "/")
        if dots:
            base = posixpath.normpath(posixpath.join(self._folder, *[".."] * (len(dots) - 1), inside))
            return self._of_base(posixpath.join(base, name)) or self._of_base(base)
        found = self._of_base(posixpath.join(inside, name)) or self._of_base(inside)
        return found or self._finder.by_module(f"{module}.{name}")

    def _defined(self, parts: Sequence[str]) -> list[int]:
        """Return the files that define the last part of a name, none if several do."""
        snapshot = self._library.snapshot
        found = chunk_db.find_definitions(self._library.connection, parts[-1], snapshot.are_shown)
        own = [one for one in found if one.name == parts[-1] and (len(parts) == 1 or parts[-2] in one.qualified_name)]
        if not 0 < len(own) <= _MAX_DEFINITIONS:
            return []
        rows = snapshot.rows_of_chunks(np.array([one.chunk_id for one in own], dtype=np.int64)).tolist()
        return [file for row in rows if row >= 0 and (file := int(snapshot.file_of_row[row])) >= 0]

    def _called(self, name: str) -> list[int]:
        """Return the files of a module by its name alone: one beside the file, or the only one of the project."""
        if found := self._of_base(posixpath.join(self._folder, name)):
            return found
        found = self._finder.by_stem(name)
        return found if len(found) == 1 else []

    def _at(self, quoted: str) -> list[int]:
        """Return the files that a path or a dotted module in quotes means."""
        if quoted.startswith("."):
            return self._of_base(posixpath.normpath(posixpath.join(self._folder, quoted)))
        plain = quoted.removeprefix("@/").removeprefix("~/").strip("/")
        if "/" not in plain:
            return self._finder.by_module(plain) if "." in plain else []
        found = self._of_base(plain) or self._finder.by_path(plain) or self._of_package(plain)
        return found or self._finder.by_module(plain.replace("/", "."))

    def _of_package(self, path: str) -> list[int]:
        """Return the files in the folder of the project in which a path ends, as that of a package of Go."""
        parts = path.split("/")
        ends = ("/".join(parts[start:]) for start in range(max(1, len(parts) - _MAX_FOLDERS), len(parts)))
        return next((found for end in ends if (found := self._directly_in(end))), [])

    def _directly_in(self, folder: str) -> list[int]:
        depth = folder.count("/") + 1
        return [file for file in self._finder.in_folder(folder) if self._finder.paths[file].count("/") == depth]

    def _of_base(self, base: str) -> list[int]:
        """Return the files with a path but for its ending, or those of the folder for which one of these stands."""
        alike, paths = (
            self._finder.files_by_module.get(base.rpartition("/")[2].partition(".")[0], []),
            self._finder.paths,
        )
        own = [file for file in alike if paths[file] == base or paths[file].startswith(f"{base}.")]
        if own or not any(paths[file].rpartition("/")[0] == base for file in alike):
            return own
        return self._directly_in(base)
