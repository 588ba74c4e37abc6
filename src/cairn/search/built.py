"""Finds the source file from which a script was built, by the path of the script."""

from __future__ import annotations

from cairn.search.file_finder import MAX_ALIKE, FileFinder, parts_of_path
from cairn.search.installed import package_of, path_in_package, plain_name

# The endings of the files that TypeScript and bundlers turn into a script, by the script's own.
_SOURCES = {
    "js": ("ts", "tsx", "jsx"),
    "jsx": ("tsx",),
    "mjs": ("mts", "ts", "tsx", "js", "jsx"),
    "cjs": ("cts", "ts", "tsx", "js", "jsx"),
}
_OUTPUT_FOLDERS = frozenset({"dist", "build", "out", "lib", "esm", "cjs", "es"})  # where tools put what they build


def is_script(path: str) -> bool:
    """Tell whether a path ends as scripts do that are built."""
    return path.rpartition(".")[2] in _SOURCES


def is_source_of(source: str, script: str) -> bool:
    """Tell whether a script can be built from a source, going by the endings of their paths."""
    return source.rpartition(".")[2] in _SOURCES.get(script.rpartition(".")[2], ())


def sources_of(finder: FileFinder, script: str) -> list[int]:
    """Return the numbers of the files from which a script may have been built, none for a package of another project.

    A source has the script's path in its package or below the output folder. A script that lies in neither was built
    beside its source, whose whole path is then the end of the script's.
    """
    if not is_script(script) or ((package := package_of(script)) and not finder.has_package(package)):
        return []
    stem, _, ending = script.rpartition(".")
    parts = parts_of_path(path_in_package(script).rpartition(".")[0] if package else stem)
    below_output = max((place + 1 for place, part in enumerate(parts[:-1]) if part in _OUTPUT_FOLDERS), default=0)
    found: list[int] = []
    for path in (f"{'/'.join(parts[below_output:])}.{source}" for source in _SOURCES[ending]):
        is_moved = below_output or package
        found += [file for file in finder.by_path(path) if is_moved or f"/{path}".endswith(f"/{finder.paths[file]}")]
    return found[:MAX_ALIKE]


def package_of_script(script: str) -> str:
    """Return the plain name of the package that holds a script, empty if none does.

    That is the installed package around it, else the folder around its output folder.
    """
    if package := package_of(script):
        return package
    *folders, _ = script.split("/")
    at = next((place for place, folder in enumerate(folders) if folder in _OUTPUT_FOLDERS), 0)
    return plain_name(folders[at - 1]) if at else ""
