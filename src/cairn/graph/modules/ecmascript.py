"""Finds JavaScript and TypeScript modules: by relative path, by the aliases of tsconfig.json, by workspace package."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple

from cairn.graph.modules.places import Place, ProjectPaths

_SUFFIXES = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte")
_COMPONENTS = (".vue", ".svelte", ".client.vue", ".server.vue")
_COMPILED = re.compile(r"\.([mc]?)jsx?$")
# Folders of what is built, the last of which may be one of several forms of it.
_BUILT = re.compile(r"^(?:\./)?(?:dist|build|out|lib|esm|cjs)/")
_BUILT_FORM = re.compile(r"^src/(?:[cem]js|esm|es|legacy|modern|types|node|browser)/")
_SUFFIX = re.compile(r"(\.d)?\.[mc]?[jt]sx?$")
# A string or a comment; what is not closed goes to its end, so that no character is looked at twice.
_STRING_OR_COMMENT = re.compile(r"(\"(?:[^\"\\\n]|\\.)*\"?)|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_MAX_ALIASES, _MAX_TARGETS = 1_000, 10  # more than anybody writes; each is tried for each module
_ROOT = re.compile(
    r"(?:@@?|~~?|\$lib)/"
)  # what settings of bundlers, which are code, tend to call the folder of the sources
_ROOTS = ("src", "app", "", "resources/js")
_ROOTS_OF_SVELTE = ("src/lib",)
_MAX_CONDITIONS = 6  # of an export within each other
_ALIASES = re.compile(r"\balias\b[\"']?\s*[:=]\s*[{\[]")
_ALIAS_KEY = re.compile(r"([\"']?)([@~$#\w][\w@~$#/.-]*)\1\s*:")
_ALIAS_STRING = re.compile(r"[\"'`]([^\"'`\n]*)[\"'`]")
_INSERTED = re.compile(r"\$\{[^}]*\}")
_BRACKET = re.compile(r"[{}\[\]]")
_MAX_ALIAS_CHARS = 10_000
_WORD = re.compile(r"[A-Z][a-z0-9]*|[a-z0-9]+")
_MAX_WORDS = 5  # of the name of a component that may be those of its folders
_OF_PATTERN = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
_IN_PATTERN = re.compile(r"(\*\*/|\*\*|\*|\{[^{}*]*\})")
_MAX_STARS = 6  # in a pattern; more would take long to compare
_INDEX = re.compile(r"(?:^|/)index$")


class _Config(NamedTuple):
    """What a tsconfig.json says of modules: a base folder, empty for none, and (pattern, targets) of its aliases.

    The `imports` of a package.json are such aliases, too.
    """

    folder: str
    base: str
    aliases: list[tuple[str, list[str]]]


class _Package(NamedTuple):
    """A package of the project.

    Its exports are its entry, whose name is empty, and (name, paths) of what lies below it, in both of which a `*` may
    stand for more; the paths have no suffixes.
    """

    name: str
    folder: str
    exports: list[tuple[str, list[str]]]


class EcmascriptModules:
    """The JavaScript and TypeScript modules of a project."""

    def __init__(self, paths: ProjectPaths) -> None:
        self._paths = paths

    def find(self, module: str, path: str) -> Place:
        """Return the file that a module's name means in the file at `path`."""
        folder = posixpath.dirname(path)
        if module.startswith("<"):
            return self._paths.nearest_ending_in(_files_of_component(module.strip("<>")), path)
        if module.startswith("."):
            return self._at(posixpath.join(folder, module))
        targets = (self._alias_targets(module, folder), self._package_targets(module), _below_a_root(module, folder))
        return next((place for target in chain(*targets) if (place := self._at(target)) is not None), None)

    def matching(self, pattern: str, path: str) -> list[int]:
        """Return the files that a pattern fits which the file at `path` gives to Vite."""
        folder = posixpath.dirname(path)
        if pattern.count("*") > _MAX_STARS:
            return []
        if pattern.startswith("."):
            targets: Iterable[str] = [posixpath.join(folder, pattern)]
        elif pattern.startswith("/"):  # the folder of the settings of Vite
            targets = (posixpath.join(root, pattern[1:]) for root in _and_around(folder))
        else:
            targets = chain(self._alias_targets(pattern, folder), _below_a_root(pattern, folder))
        for target in targets:
            whole = _as_regex(posixpath.normpath(target))
            if found := [number for number, each in enumerate(self._paths.paths) if whole.fullmatch(each)]:
                return found
        return []

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
            if module != package.name and not module.startswith(f"{package.name}/"):
                continue
            inner = module[len(package.name) + 1 :]
            for pattern, paths in package.exports:
                if (rest := _match_star(pattern, inner)) is not None:
                    yield from (posixpath.join(package.folder, path.replace("*", rest)) for path in paths)
            others = _INNER if inner else _ENTRIES
            yield from (posixpath.join(package.folder, other, inner) for other in others)

    def names_of(self, number: int) -> frozenset[str]:
        """Return what imports may call a file beside its path: by a package, or by an alias of a tsconfig.json."""
        path = self._paths.paths[number]
        plain = _SUFFIX.sub("", path)
        forms = {path, plain, _INDEX.sub("", plain)}
        names = {
            pattern.replace("*", rest, 1)
            for config in self._configs
            for pattern, targets in config.aliases
            for target in targets
            for rest in _stars(posixpath.normpath(posixpath.join(config.folder, config.base, target)), forms)
        }
        if path.endswith(_COMPONENTS):
            names |= _names_of_component(path[: path.index(".", path.rfind("/") + 1)])
        return frozenset(names | self._names_by_file.get(number, set()))

    @cached_property
    def _names_by_file(self) -> dict[int, set[str]]:
        """By which names the packages of the project offer each file."""
        names: dict[int, set[str]] = {}
        for package in self._packages:
            for pattern, paths in (*package.exports, ("", list(_ENTRIES))):
                places = {self._at(posixpath.join(package.folder, path)) for path in paths if "*" not in path}
                for number in places:
                    if isinstance(number, int):
                        names.setdefault(number, set()).add(f"{package.name}/{pattern}".rstrip("/"))
        return names

    def _at(self, base: str) -> Place:
        base = posixpath.normpath(base)
        source = _COMPILED.sub(lambda match: f".{match[1]}ts", base)
        declared = _COMPILED.sub(lambda match: f".d.{match[1]}ts", base)
        tries = [base, source, _COMPILED.sub(".tsx", base), declared] if source != base else [base]
        tries += [base + suffix for suffix in _SUFFIXES]
        tries += [posixpath.join(base, f"index{suffix}") for suffix in _SUFFIXES]
        return self._paths.first_of(tries)

    @cached_property
    def _configs(self) -> list[_Config]:
        """Each tsconfig.json, or part of one, that says where modules are, the longest folder first."""
        configs = []
        for path in self._paths.manifests("tsconfig.json", "jsconfig.json"):
            options = _as_dict(_as_dict(_parse(self._paths.read(path))).get("compilerOptions"))
            base = options.get("baseUrl")
            aliases = [
                (pattern, [str(target) for target in targets[:_MAX_TARGETS]])
                for pattern, targets in islice(_as_dict(options.get("paths")).items(), _MAX_ALIASES)
                if isinstance(targets, list)
            ]
            if isinstance(base, str) or aliases:
                configs.append(_Config(posixpath.dirname(path), base if isinstance(base, str) else "", aliases))
        bundlers = ((path, self._paths.read(path)) for path in self._paths.manifests("bundler"))
        configs += [_Config(posixpath.dirname(path), "", list(_aliases_of_bundler(text))) for path, text in bundlers]
        for path, manifest in self._manifests:
            aliases = [(name, paths) for name, paths in _exports_of(manifest.get("imports")) if name.startswith("#")]
            if aliases:
                configs.append(_Config(posixpath.dirname(path), "", aliases))
        return sorted(configs, key=lambda config: -len(config.folder))

    @cached_property
    def _manifests(self) -> list[tuple[str, dict[str, Any]]]:
        """Each package.json, with its path."""
        return [(path, _as_dict(_parse(self._paths.read(path)))) for path in self._paths.manifests("package.json")]

    @cached_property
    def _packages(self) -> list[_Package]:
        """Each package of the project, the longest name first."""
        packages = []
        for path, manifest in self._manifests:
            if isinstance(name := manifest.get("name"), str) and name:
                exports = [("", _entries_of(manifest)), *_exports_of(manifest.get("exports"))]
                packages.append(_Package(name, posixpath.dirname(path), exports))
        return sorted(packages, key=lambda package: -len(package.name))


def _aliases_of_bundler(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the aliases of modules in the settings of a bundler, which are code, as far as they are written out there.

    That is each name before a colon in what `alias` is, or behind `find:`, with the strings that follow joined as parts
    of a path.
    """
    for begin in islice(_ALIASES.finditer(text), _MAX_TARGETS):
        part = _until_closed(text[begin.end() - 1 : begin.end() + _MAX_ALIAS_CHARS])
        keys = list(islice(_ALIAS_KEY.finditer(part), _MAX_ALIASES))
        found = ""
        ends = [*(key.start() for key in keys[1:]), len(part)][: len(keys)]
        for key, following in zip(keys, ends, strict=True):
            strings = _ALIAS_STRING.findall(part, key.end(), following)
            if key[2] == "find":
                found = strings[0] if strings else ""
                continue
            name = (found if key[2] == "replacement" else key[2]).removesuffix("$").removesuffix("/")
            target = posixpath.join("", *(_INSERTED.sub("", string).lstrip("/") for string in strings))
            if name and target:
                yield name, [target]
                yield f"{name}/*", [f"{target}/*"]


def _until_closed(text: str) -> str:
    """Return a text that begins with a bracket up to the one that closes it."""
    depth = 0
    for found in _BRACKET.finditer(text):
        depth += 1 if found[0] in "{[" else -1
        if not depth:
            return text[: found.start()]
    return text


def _files_of_component(name: str) -> list[str]:
    """Return how the paths of components may end that templates use by a name alone.

    `UserCard` may be in `UserCard.vue`, `user-card.vue`, or, as Nuxt has it, `user/Card.vue`; `UserCardRow` also in
    `user/card/CardRow.vue`.
    """
    words = [word.lower() for word in _WORD.findall(name)]
    starts = [sum(map(len, words[:count])) for count in range(len(words))]
    stems = [name, "-".join(words), f"{name}/index"]
    for count in range(1, min(len(words), _MAX_WORDS)):
        for folder in dict.fromkeys(("/".join(words[:count]), "-".join(words[:count]))):
            for first in range(count, 0, -1):
                rest = name[starts[first] :]
                stems += [f"{folder}/{rest}", f"{folder}/{'-'.join(words[first:])}"]
    return [f"{stem}{suffix}" for stem in dict.fromkeys(stems) for suffix in _COMPONENTS]


def _names_of_component(path: str) -> set[str]:
    """Return what templates may call a component by its path without a suffix; see `_files_of_component`."""
    parts = path.removesuffix("/index").split("/")[-_MAX_WORDS:]
    names: set[str] = set()
    words: list[str] = []
    for part in reversed(parts):
        own = [word.lower() for word in _WORD.findall(part[:1].upper() + part[1:])]
        words = words if words[: len(own)] == own else own + words
        names |= {"-".join(words), "".join(word.capitalize() for word in words)}
    return names


def _and_around(folder: str) -> Iterator[str]:
    """Yield a folder and those around it, the root included."""
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _as_regex(pattern: str) -> re.Pattern[str]:
    """Return what a pattern of paths fits: `**` any folders, `*` a part of a name, `{a,b}` either."""
    return re.compile("".join(map(_part_as_regex, _IN_PATTERN.split(pattern))))


def _part_as_regex(part: str) -> str:
    if part.startswith("{") and part.endswith("}"):
        return f"(?:{'|'.join(map(re.escape, part[1:-1].split(',')))})"
    return _OF_PATTERN.get(part) or re.escape(part)


def _below_a_root(module: str, folder: str) -> Iterator[str]:
    """Yield where a module lies whose name begins with a mark for the folder of the sources, the nearest one first."""
    if mark := _ROOT.match(module):
        roots = _ROOTS_OF_SVELTE if module.startswith("$") else _ROOTS
        while True:
            yield from (posixpath.join(folder, root, module[mark.end() :]) for root in roots)
            if not folder:
                return
            folder = posixpath.dirname(folder)


# Where the entry of a package, and what is below it, often lies without the manifest's saying so.
_ENTRIES, _INNER = ("src/index", "index", "src/main", "lib/index"), ("src", "", "lib")


def _entries_of(manifest: dict[str, Any]) -> list[str]:
    """Return what a package.json names as entries, the sources of what is built first."""
    exports = manifest.get("exports")
    named = [manifest.get(key) for key in ("source", "types", "typings", "module", "main")]
    return _sources_of([*filter(None, named), _as_dict(exports).get(".", exports)])


def _exports_of(exports: Any) -> list[tuple[str, list[str]]]:  # noqa: ANN401 - any JSON
    """Return what a package.json offers or names besides its entry: names without `./`, each with the paths it has."""
    named = islice(_as_dict(exports).items(), _MAX_ALIASES)
    parts = [(name.removeprefix("./"), _sources_of([value])) for name, value in named if name.startswith(("./", "#"))]
    return sorted(parts, key=lambda part: -len(part[0].partition("*")[0]))


def _sources_of(values: list[Any]) -> list[str]:
    """Return the paths in the values of a package.json, which may depend on conditions, without suffixes.

    The sources of what is built come first.
    """
    paths = [path for value in values for path in _texts_in(value, _MAX_CONDITIONS)][: 2 * _MAX_TARGETS]
    sources = [_BUILT.sub("src/", path) for path in paths]
    sources += [_BUILT_FORM.sub("src/", path) for path in sources]
    return list(dict.fromkeys(_SUFFIX.sub("", path) for path in (*sources, *paths)))


def _texts_in(value: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        yield value
    elif depth:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for part in inner:
            yield from _texts_in(part, depth - 1)


def _stars(pattern: str, texts: Iterable[str]) -> set[str]:
    """Return what the `*` of a pattern stands for in those of some texts that it matches."""
    return {rest for text in texts if (rest := _match_star(pattern, text)) is not None}


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
