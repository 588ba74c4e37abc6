"""Finds JavaScript and TypeScript modules: by relative path, by the aliases of tsconfig.json, by workspace package."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from cairn.graph.modules.places import Place, ProjectPaths

_SUFFIXES = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte")
_COMPILED = re.compile(r"\.([mc]?)jsx?$")
_BUILT = re.compile(r"^(\./)?(dist|build|out|lib|esm|cjs)/")
_SUFFIX = re.compile(r"(\.d)?\.[mc]?[jt]sx?$")
# A string or a comment; what is not closed goes to its end, so that no character is looked at twice.
_STRING_OR_COMMENT = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\"?)|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_MAX_ALIASES, _MAX_TARGETS = 1_000, 10  # more than anybody writes; each is tried for each module


class _Config(NamedTuple):
    """What a tsconfig.json says of modules: a base folder, empty for none, and (pattern, targets) of its aliases."""

    folder: str
    base: str
    aliases: list[tuple[str, list[str]]]


class _Package(NamedTuple):
    """A package of the project, with the paths that may be its entry, without suffixes."""

    name: str
    folder: str
    entries: list[str]


class EcmascriptModules:
    """The JavaScript and TypeScript modules of a project."""

    def __init__(self, paths: ProjectPaths) -> None:
        self._paths = paths

    def find(self, module: str, path: str) -> Place:
        """Return the file that a module's name means in the file at `path`."""
        folder = posixpath.dirname(path)
        if module.startswith("."):
            return self._at(posixpath.join(folder, module))
        for target in (*self._alias_targets(module, folder), *self._package_targets(module)):
            if (place := self._at(target)) is not None:
                return place
        return None

    def _alias_targets(self, module: str, folder: str) -> Iterator[str]:
        """Yield where the tsconfig.json files above a folder let a module lie."""
        for config in self._configs:
            if config.folder and not f"{folder}/".startswith(f"{config.folder}/"):
                continue
            for pattern, targets in config.aliases:
                if (rest := _match_star(pattern, module)) is not None:
                    yield from (
                        posixpath.join(config.folder, config.base, target.replace("*", rest, 1)) for target in targets
                    )
            if config.base:
                yield posixpath.join(config.folder, config.base, module)

    def _package_targets(self, module: str) -> Iterator[str]:
        """Yield where a module of one of the project's own packages may lie."""
        for package in self._packages:
            if module == package.name:
                entries = (*package.entries, "src/index", "index", "src/main", "lib/index")
                yield from (posixpath.join(package.folder, entry) for entry in entries)
            elif module.startswith(f"{package.name}/"):
                rest = module[len(package.name) + 1 :]
                yield from (posixpath.join(package.folder, inner, rest) for inner in ("src", "", "lib"))

    def _at(self, base: str) -> Place:
        base = posixpath.normpath(base)
        source = _COMPILED.sub(lambda match: f".{match[1]}ts", base)
        tries = [base, source, _COMPILED.sub(".tsx", base)] if source != base else [base]
        tries += [base + suffix for suffix in _SUFFIXES]
        tries += [posixpath.join(base, f"index{suffix}") for suffix in _SUFFIXES]
        return self._paths.first_of(tries)

    @cached_property
    def _configs(self) -> list[_Config]:
        """Each tsconfig.json that says where modules are, the longest folder first."""
        configs = []
        for path in self._paths.manifests("tsconfig.json", "jsconfig.json", "tsconfig.base.json"):
            options = _as_dict(_as_dict(_parse(self._paths.read(path))).get("compilerOptions"))
            base = options.get("baseUrl")
            aliases = [
                (pattern, [str(target) for target in targets[:_MAX_TARGETS]])
                for pattern, targets in islice(_as_dict(options.get("paths")).items(), _MAX_ALIASES)
                if isinstance(targets, list)
            ]
            if isinstance(base, str) or aliases:
                configs.append(_Config(posixpath.dirname(path), base if isinstance(base, str) else "", aliases))
        return sorted(configs, key=lambda config: -len(config.folder))

    @cached_property
    def _packages(self) -> list[_Package]:
        """Each package of the project, the longest name first."""
        packages = []
        for path in self._paths.manifests("package.json"):
            manifest = _as_dict(_parse(self._paths.read(path)))
            if isinstance(name := manifest.get("name"), str):
                packages.append(_Package(name, posixpath.dirname(path), _entries_of(manifest)))
        return sorted(packages, key=lambda package: -len(package.name))


def _entries_of(manifest: dict[str, Any]) -> list[str]:
    """Return what a package.json names as entries, the sources of what is built first."""
    exports = manifest.get("exports")
    main = _as_dict(exports).get(".", exports)
    entries = [manifest.get(key) for key in ("source", "types", "module", "main")]
    entries += [*_as_dict(main).values()] if isinstance(main, dict) else [main]
    paths = [entry for entry in entries if isinstance(entry, str)]
    sources = [_BUILT.sub("src/", path) for path in paths]
    return [_SUFFIX.sub("", path) for path in (*sources, *paths)]


def _match_star(pattern: str, module: str) -> str | None:
    """Return what the `*` of a pattern stands for, None where it does not match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == module else None
    if module.startswith(before) and module.endswith(after) and len(module) >= len(before) + len(after):
        return module[len(before) : len(module) - len(after)]
    return None


def _parse(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Read JSON with comments and trailing commas, as tsconfig.json may have; None if it is not that."""
    try:
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_TRAILING_COMMA.sub(r"\1", _STRING_OR_COMMENT.sub(r"\1", text)))
    except (ValueError, RecursionError):
        return None


def _as_dict(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return value if isinstance(value, dict) else {}
