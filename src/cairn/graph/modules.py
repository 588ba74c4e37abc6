"""Finds the file or package that an import names: each ecosystem's own way from a text to a path.

What a look-up needs is told by the last part of every path that was tried, there or not: one that comes or goes can
change the answer only if it ends in such a part. `index.ts`, `__init__.py` and their like go by the folder that they
stand for.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from cairn.graph.memo import place_called
from cairn.graph.recent import Recent

PYTHON_SUFFIXES = (".py", ".pyi")
_ECMASCRIPT_SUFFIXES = (
    ".ts",
    ".tsx",
    ".d.ts",
    ".mts",
    ".cts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".json",
    ".vue",
    ".svelte",
)
_COMPILED = re.compile(r"\.([mc]?)jsx?$")
# A text or a comment; what is not closed goes to its end, so that no character is looked at twice.
_TEXT_OR_COMMENT = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\"?)|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_MANIFESTS = frozenset({"package.json", "tsconfig.json", "jsconfig.json", "go.mod", "Cargo.toml", "tsconfig.base.json"})

# More than anybody writes: what is looked for in every leading part of a name, and by every alias, takes its time.
_MAX_MODULE_CHARS, _MAX_ALIASES, _MAX_TARGETS = 500, 1_000, 10
_MAX_KEPT = 40_000

_STANDS_FOR_FOLDER = frozenset({"__init__", "index", "mod", "lib", "main"})

# A place: a file's number, a folder's path for what has no file of its own, None for what lies outside the project.
Place = int | str | None


class Found(NamedTuple):
    """Where a module is, and what that needs, as in `cairn.graph.memo`."""

    place: Place
    needs: frozenset[int]


class Modules:
    """Looks modules up among the paths of a view.

    Args:
        paths: the files, by number.
        read: returns the text of a manifest, empty when it cannot be read.
        limit: how many look-ups are remembered.
    """

    def __init__(self, paths: Sequence[str], read: Callable[[str], str], limit: int = _MAX_KEPT) -> None:
        self.paths = paths
        self._read = read
        self._number = {path: number for number, path in enumerate(paths)}
        self._kept: Recent[tuple[str, str, str], Found] = Recent(limit, lambda _: 1)
        self._tried: set[int] = set()

    def resolve(self, module: str, path: str, finder: str) -> Place:
        """Return what `module` means in the file at `path`; a leading `/` of the text means the project's root."""
        return self.look_up(module, path, finder).place

    def look_up(self, module: str, path: str, finder: str) -> Found:
        """Return the same with what it needs; a name that nobody would write lies outside the project."""
        if len(module) > _MAX_MODULE_CHARS:
            return Found(None, frozenset())
        key = (module, path if finder == "python" else posixpath.dirname(path), finder)
        if (found := self._kept.get(key)) is None:
            find = _FINDERS.get(finder)
            self._tried = set()
            place = find(self, module, path) if find is not None else None
            found = self._kept.put(key, Found(place, frozenset(self._tried)))
        return found

    def child(self, place: Place, name: str) -> Found:
        """Return the submodule `name` of a Python module or package."""
        if place is None:
            return Found(None, frozenset())
        folder = place if isinstance(place, str) else posixpath.dirname(self.paths[place])
        if isinstance(place, int) and posixpath.basename(self.paths[place]).partition(".")[0] != "__init__":
            return Found(None, frozenset())
        self._tried = set()
        return Found(self._python_at(posixpath.join(folder, name)), frozenset(self._tried))

    def _at(self, path: str) -> int | None:
        """Return the file at a path."""
        self._tried.add(place_called(_last_part(path)))
        return self._number.get(path)

    def _is_folder(self, folder: str) -> bool:
        self._tried.add(place_called(_last_part(folder)))
        return folder in self._folders

    def _is_package(self, folder: str) -> bool:
        path = f"{folder}/__init__.py"
        self._tried.add(place_called(f"={path}"))
        return path in self._number

    # -- Python -------------------------------------------------------------------------------------------------------

    @cached_property
    def _folders(self) -> frozenset[str]:
        folders: set[str] = set()
        for path in self.paths:
            folder = posixpath.dirname(path)
            while folder and folder not in folders:
                folders.add(folder)
                folder = posixpath.dirname(folder)
        return frozenset(folders)

    @cached_property
    def _python_roots(self) -> list[str]:
        """The folders that packages lie in, those of packages with `__init__.py` and those with the common names."""
        packages = {
            posixpath.dirname(path)
            for path in self.paths
            if posixpath.basename(path) in ("__init__.py", "__init__.pyi") and "/" in path
        }
        roots = {posixpath.dirname(package) for package in packages if posixpath.dirname(package) not in packages}
        roots |= {"", *(folder for folder in ("src", "lib", "python") if folder in self._folders)}
        return sorted(roots, key=lambda root: (root.count("/") + bool(root), root))

    def _python_at(self, base: str) -> Place:
        for candidate in (
            *(base + suffix for suffix in PYTHON_SUFFIXES),
            f"{base}/__init__.py",
            f"{base}/__init__.pyi",
        ):
            if (number := self._at(candidate)) is not None:
                return number
        return base if self._is_folder(base) else None

    def _python(self, module: str, path: str) -> Place:
        dots = len(module) - len(module.lstrip("."))
        parts = module[dots:].replace(".", "/")
        if dots:
            folder = posixpath.dirname(path)
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            return self._python_at(posixpath.join(folder, parts) if parts else folder)
        here = posixpath.dirname(path)
        first = parts.partition("/")[0]
        # A script finds its neighbours; a module of a package only what its root holds.
        own_root = here
        while self._is_package(own_root):
            own_root = posixpath.dirname(own_root)
        roots = [own_root, *self._python_roots]
        found: Place = None
        for root in roots:
            place = self._python_at(posixpath.join(root, parts))
            if isinstance(place, int):
                if first in sys.stdlib_module_names and root not in (own_root, "", "src"):
                    continue
                return place
            if found is None and place is not None and self._holds_python(place):
                found = place
        return found if first not in sys.stdlib_module_names else None

    def _holds_python(self, folder: str) -> bool:
        return folder in self._python_folders

    @cached_property
    def _python_folders(self) -> frozenset[str]:
        folders: set[str] = set()
        for path in self.paths:
            if path.endswith(PYTHON_SUFFIXES):
                folder = posixpath.dirname(path)
                while folder and folder not in folders:
                    folders.add(folder)
                    folder = posixpath.dirname(folder)
        return frozenset(folders)

    # -- JavaScript and TypeScript ------------------------------------------------------------------------------------

    def _ecmascript(self, module: str, path: str) -> Place:
        folder = posixpath.dirname(path)
        if module.startswith("."):
            return self._script_at(posixpath.join(folder, module))
        for aim in (*self._aliased(module, folder), *self._of_workspaces(module)):
            if (place := self._script_at(aim)) is not None:
                return place
        return None

    def _aliased(self, module: str, folder: str) -> Iterator[str]:
        """Yield where the tsconfig.json files above a folder let a module lie."""
        for config, base, aliases in self._configs:
            if config and not f"{folder}/".startswith(f"{config}/"):
                continue
            for pattern, targets in aliases:
                if (rest := _matched(pattern, module)) is not None:
                    yield from (posixpath.join(config, base, target.replace("*", rest, 1)) for target in targets)
            if base:
                yield posixpath.join(config, base, module)

    def _of_workspaces(self, module: str) -> Iterator[str]:
        """Yield where a module of one of the project's own packages may lie."""
        for name, where, entries in self._workspaces:
            if module == name:
                tries = (*entries, "src/index", "index", "src/main", "lib/index")
                yield from (posixpath.join(where, entry) for entry in tries)
            elif module.startswith(f"{name}/"):
                rest = module[len(name) + 1 :]
                yield from (posixpath.join(where, inner, rest) for inner in ("src", "", "lib"))

    def _script_at(self, base: str) -> Place:
        base = posixpath.normpath(base)
        stem = _COMPILED.sub(lambda match: f".{match[1]}ts", base)
        tries = [base, stem, _COMPILED.sub(".tsx", base)] if stem != base else [base]
        tries += [base + suffix for suffix in _ECMASCRIPT_SUFFIXES]
        tries += [posixpath.join(base, f"index{suffix}") for suffix in _ECMASCRIPT_SUFFIXES]
        return next((number for one in tries if (number := self._at(one)) is not None), None)

    @cached_property
    def _configs(self) -> list[tuple[str, str, list[tuple[str, list[str]]]]]:
        """The (folder, base, aliases) of each tsconfig, the deepest first."""
        found = []
        for path in self._manifests("tsconfig.json", "jsconfig.json", "tsconfig.base.json"):
            options = _dict(_dict(_loads(self._read(path))).get("compilerOptions"))
            base = options.get("baseUrl")
            aliases = [
                (pattern, [str(target) for target in targets[:_MAX_TARGETS]])
                for pattern, targets in islice(_dict(options.get("paths")).items(), _MAX_ALIASES)
                if isinstance(targets, list)
            ]
            if isinstance(base, str) or aliases:
                found.append((posixpath.dirname(path), base if isinstance(base, str) else "", aliases))
        return sorted(found, key=lambda one: -len(one[0]))

    @cached_property
    def _workspaces(self) -> list[tuple[str, str, list[str]]]:
        """The (name, folder, entries) of each package of the project."""
        found = []
        for path in self._manifests("package.json"):
            manifest = _dict(_loads(self._read(path)))
            if isinstance(name := manifest.get("name"), str):
                exports = manifest.get("exports")
                main = _dict(exports).get(".", exports)
                entries = [manifest.get(key) for key in ("source", "types", "module", "main")]
                entries += [*_dict(main).values()] if isinstance(main, dict) else [main]
                texts = [one for one in entries if isinstance(one, str)]
                built = [re.sub(r"^(\./)?(dist|build|out|lib|esm|cjs)/", "src/", one) for one in texts]
                stems = [re.sub(r"(\.d)?\.[mc]?[jt]sx?$", "", one) for one in (*built, *texts)]
                found.append((name, posixpath.dirname(path), stems))
        return sorted(found, key=lambda one: -len(one[0]))

    def _manifests(self, *names: str) -> list[str]:
        return [path for name in names for path in self._by_basename.get(name, ())]

    @cached_property
    def _by_basename(self) -> dict[str, list[str]]:
        found = defaultdict(list)
        for path in self.paths:
            name = posixpath.basename(path)
            if name in _MANIFESTS:
                found[name].append(path)
        return found

    # -- Go -----------------------------------------------------------------------------------------------------------

    @cached_property
    def _go_modules(self) -> list[tuple[str, str]]:
        """The (module path, folder) of each go.mod, the longest path first."""
        declared = [
            (re.search(r"^module\s+\"?([^\s\"]+)", self._read(path), re.MULTILINE), posixpath.dirname(path))
            for path in self._manifests("go.mod")
        ]
        found = [(match[1], folder) for match, folder in declared if match is not None]
        return sorted(found, key=lambda one: -len(one[0]))

    def _go(self, module: str, path: str) -> Place:
        for name, folder in self._go_modules:
            if module == name or module.startswith(f"{name}/"):
                aim = posixpath.join(folder, module[len(name) + 1 :]).rstrip("/")
                return aim if self._is_folder(aim) or not aim else None
        return None

    # -- Rust ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _crates(self) -> dict[str, str]:
        """The source folder of each crate of the project, by its name in code."""
        found = {}
        for path in self._manifests("Cargo.toml"):
            folder = posixpath.dirname(path)
            declared = re.search(
                r"^\[package\][^\[]*?^name\s*=\s*\"([^\"]+)\"", self._read(path), re.MULTILINE | re.DOTALL
            )
            name = declared[1] if declared else posixpath.basename(folder)
            found[name.replace("-", "_")] = posixpath.join(folder, "src")
        return found

    def _rust(self, module: str, path: str) -> Place:
        parts = module.split("::")
        folder, stem = posixpath.dirname(path), posixpath.basename(path).removesuffix(".rs")
        inner = folder if stem in ("mod", "lib", "main") else posixpath.join(folder, stem)
        if parts[0] == "crate":
            own = [root for root in self._crates.values() if f"{path}".startswith(f"{root}/")]
            base = max(own, key=len, default=folder)
            return self._rust_at(base, parts[1:])
        if parts[0] in ("self", "super"):
            base = inner
            while parts and parts[0] in ("self", "super"):
                base = posixpath.dirname(base) if parts[0] == "super" else base
                parts = parts[1:]
            return self._rust_at(base, parts)
        if parts[0] in self._crates:
            return self._rust_at(self._crates[parts[0]], parts[1:])
        found = self._rust_at(inner, parts)
        return found if parts and found != self._rust_at(inner, []) else None

    def _rust_at(self, base: str, parts: Sequence[str]) -> Place:
        """Return the file of the longest part of a path that is one."""
        for length in range(len(parts), -1, -1):
            aim = posixpath.join(base, *parts[:length])
            tries = [f"{aim}.rs", f"{aim}/mod.rs"] + ([f"{aim}/lib.rs", f"{aim}/main.rs"] if not length else [])
            for one in tries:
                if (number := self._at(one)) is not None:
                    return number
        return None

    # -- files by name ------------------------------------------------------------------------------------------------

    @cached_property
    def _by_ending(self) -> dict[str, list[int]]:
        """The files by their last part, for languages that search several folders for what is named."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(self.paths):
            found[posixpath.basename(path)].append(number)
        return found

    def _by_suffix(self, tries: Iterable[str], path: str) -> Place:
        """Return the file whose path ends in one of `tries`, the nearest to `path` of several."""
        for one in tries:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), one))
            if (number := self._at(beside)) is not None:
                return number
            one = one.lstrip("./")
            self._tried.add(place_called(f"={posixpath.basename(one)}"))
            found = [
                number
                for number in self._by_ending.get(posixpath.basename(one), ())
                if f"/{self.paths[number]}".endswith(f"/{one}")
            ]
            if found:
                return min(found, key=lambda number: (-_common(self.paths[number], path), len(self.paths[number])))
        return None

    def _c(self, module: str, path: str) -> Place:
        return self._by_suffix([module], path)

    def _ruby(self, module: str, path: str) -> Place:
        return self._by_suffix([module if module.endswith(".rb") else f"{module}.rb"], path)

    def _julia(self, module: str, path: str) -> Place:
        return self._by_suffix([module if module.endswith(".jl") else f"{module.replace('.', '/')}.jl"], path)

    def _lua(self, module: str, path: str) -> Place:
        aim = module.replace(".", "/")
        return self._by_suffix([f"{aim}.lua", f"{aim}/init.lua"], path)

    def _php(self, module: str, path: str) -> Place:
        return self._by_suffix([module], path) if module.endswith(".php") else None

    def _plain(self, module: str, path: str) -> Place:
        return self._by_suffix([module.rpartition(":")[2]], path)


_FINDERS: dict[str, Callable[[Modules, str, str], Place]] = {
    "python": Modules._python,
    "ecmascript": Modules._ecmascript,
    "go": Modules._go,
    "rust": Modules._rust,
    "c": Modules._c,
    "ruby": Modules._ruby,
    "julia": Modules._julia,
    "lua": Modules._lua,
    "php": Modules._php,
    "file": Modules._plain,
}


def _last_part(path: str) -> str:
    """Return what a path is looked up by: the stem of the file, or the name of the folder that it stands for."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2].partition(".")[0] if stem in _STANDS_FOR_FOLDER else stem


def changed_places(old: Sequence[str], new: Sequence[str]) -> frozenset[int] | None:
    """Return the needs that files which come or go concern, None where they concern every look-up.

    That is so of manifests, and of the first and last package of a folder from which Python imports.
    """
    before, after = Modules(old, lambda _: ""), Modules(new, lambda _: "")
    moved = set(old) ^ set(new)
    if any(posixpath.basename(path) in _MANIFESTS for path in moved) or before._python_roots != after._python_roots:
        return None
    texts = {_last_part(path) for path in moved}
    texts |= {_last_part(folder) for folder in before._folders ^ after._folders}
    texts |= {_last_part(folder) for folder in before._python_folders ^ after._python_folders}
    texts |= {f"={posixpath.basename(path)}" for path in moved}
    texts |= {f"={path}" for path in moved if posixpath.basename(path) == "__init__.py"}
    texts |= {f"{posixpath.dirname(path)}/" for path in moved}
    return frozenset(map(place_called, texts))


def is_manifest(path: str) -> bool:
    """Tell whether the content of a file says where modules are."""
    return posixpath.basename(path) in _MANIFESTS


def _matched(pattern: str, module: str) -> str | None:
    """Return what the `*` of a pattern stands for, None where it does not match."""
    before, found, after = pattern.partition("*")
    if not found:
        return "" if pattern == module else None
    if module.startswith(before) and module.endswith(after) and len(module) >= len(before) + len(after):
        return module[len(before) : len(module) - len(after)]
    return None


def _loads(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Read JSON with comments and trailing commas, as tsconfig.json may have; None where it is none."""
    try:
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_TRAILING_COMMA.sub(r"\1", _TEXT_OR_COMMENT.sub(r"\1", text)))
    except (ValueError, RecursionError):
        return None


def _dict(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return value if isinstance(value, dict) else {}


def _common(one: str, other: str) -> int:
    """Return how many leading folders two paths share."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
