"""Tells what the language or a library calls without saying its name, such as operators, destructors and hooks."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from cairn.graph.graph import Graph
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.resolve import DECORATE
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, TYPE_KINDS
from cairn.graph.source_file import SourceFile
from cairn.source.expressions import called_name

_NEVER = r"(?!)"


class _Signs(NamedTuple):
    """What shows that a definition is called implicitly.

    Attributes:
        names: of functions, in full.
        heads: in the signature of any definition.
        leads: at the end of what stands before it.
        decorators: of the type that a method is in.
        siblings: definitions beside which `names` count; anywhere without any.
    """

    names: str = _NEVER
    heads: str = _NEVER
    leads: str = _NEVER
    decorators: frozenset[str] = frozenset()
    siblings: frozenset[str] = frozenset()


_OPERATORS = r"[^\w\s]+"
_OF_OBJECTS = "toString|equals|hashCode|compareTo|clone|finalize"
_OF_SERIALIZATION = "readResolve|writeReplace|readObject|writeObject|readObjectNoData|readExternal|writeExternal"
_RUBY_HOOKS = (
    "(?:included|extended|prepended|inherited|method_added|method_removed|method_undefined|singleton_method_added"
    r"|const_added|const_missing|method_missing|respond_to_missing\?|initialize_copy|initialize_dup|initialize_clone"
    r"|to_s|to_str|to_a|to_ary|to_h|to_hash|to_proc|inspect|hash|eql\?|coerce|marshal_dump|marshal_load)"
)
_HOOKS_OF_VUE = (
    "setup|data|render|validator|handler|default|get|set|serverPrefetch|errorCaptured|renderT(?:racked|riggered)"
    "|beforeCreate|created|beforeMount|mounted|beforeUpdate|updated|(?:de)?activated|beforeUnmount|beforeDestroy"
    "|unmounted|destroyed|beforeRoute(?:Enter|Update|Leave)|asyncData|head"
)
_AFTER_IMPL = r"(?m)^[ \t]*@impl\b(?! +false)[^\n]*\n(?:[ \t]*(?:[@#][^\n]*)?\n)*[ \t]*\Z"
_BY_LANGUAGE = {
    "cpp": _Signs(names=r"~.*|operator\b.*"),
    "csharp": _Signs(
        names="ToString|Equals|GetHashCode|CompareTo|Dispose|DisposeAsync|Deconstruct|Get(?:Async)?Enumerator|GetAwaiter",
        heads=r"\boperator\b|^~",
    ),
    "dart": _Signs(names=r"toString|hashCode|compareTo|noSuchMethod|toJson|call|operator\b.*"),
    "elixir": _Signs(
        names="message|exception", siblings=frozenset({"defexception"}), heads=r"^defexception\b", leads=_AFTER_IMPL
    ),
    "go": _Signs(names="String|GoString|Error|(?:M|Unm)arshal(?:JSON|Text|Binary|YAML|XML)"),
    "java": _Signs(names=f"{_OF_OBJECTS}|{_OF_SERIALIZATION}"),
    "javascript": _Signs(names=r"toString|valueOf|toJSON|\[Symbol\..*"),
    "kotlin": _Signs(names=f"{_OF_OBJECTS}|{_OF_SERIALIZATION}", heads=r"\boperator\s+(?:\w+\s+)*fun\b"),
    "lua": _Signs(names=r"__\w+"),
    "php": _Signs(names=r"__\w+|offset(?:Get|Set|Exists|Unset)|jsonSerialize|getIterator"),
    "python": _Signs(
        names=r"__\w+__|pytest_\w+|clean_\w+|to_python|to_url",
        decorators=frozenset({"implementer", "implementer_only"}),
    ),
    "ruby": _Signs(names=f"{_RUBY_HOOKS}|{_OPERATORS}"),
    "scala": _Signs(
        names=f"{_OF_OBJECTS}|{_OF_SERIALIZATION}|unapply|unapplySeq",
        heads=r"\bimplicit\s+(?:\w+\s+)*(?:def|val|var|class|object)\b|^(?:\w+\s+)*given\b",
    ),
    "swift": _Signs(names=f"deinit|subscript|callAsFunction|dynamicallyCall|{_OPERATORS}", heads=r"\boverride\b"),
}
_BY_LANGUAGE["typescript"] = _BY_LANGUAGE["tsx"] = _BY_LANGUAGE["svelte"] = _BY_LANGUAGE["javascript"]
_BY_LANGUAGE["vue"] = _Signs(names=f"{_BY_LANGUAGE['javascript'].names}|{_HOOKS_OF_VUE}")
_MAX_LEAD_BYTES = 500
# What frameworks find by its name in files at some places: how the path ends, and what has such a name.
_FOUND_IN = tuple(
    (re.compile(path), re.compile(names))
    for path, names in (
        (r"(?:^|/)db/\w*migrat\w*/.*\.rb$|(?:^|/)app/(?:[\w-]+/)+\w+\.rb$", r"[A-Z]\w*"),  # types of Rails
        (r"\.(?:rake|thor)$|(?:^|/)(?:Rakefile|Thorfile)$", r".*"),
        (r"(?:^|/)(?:migrations|versions)/.*\.py$", r"Migration|upgrade|downgrade"),
        (r"(?:^|/)management/commands/.*\.py$", r"Command|handle|add_arguments"),
        (r"(?:^|/)apps\.py$", r"\w+Config|ready"),
        (r"(?:^|/)(?:conftest|pytest\w*)\.py$", r"pytest_\w+"),
        (
            r"(?:^|/)(?:pages|app|routes)/.*\.[jt]sx?$",  # of Next.js, Remix and Astro
            r"getStatic(?:Props|Paths)|getServerSideProps|generate(?:Metadata|StaticParams|Viewport|Sitemaps)"
            r"|(?:client)?[lL]oader|(?:client)?[aA]ction|shouldRevalidate|ErrorBoundary|HydrateFallback|middleware|[A-Z]+",
        ),
        (
            r"(?:^|/)(?:\+[\w.@-]+|hooks(?:\.\w+)?)\.[jt]s$",  # of SvelteKit
            r"load|actions|entries|fallback|handle\w*|reroute|init|match|[A-Z]+",
        ),
    )
)
_OF_EXTENSIONS = re.compile("activate|deactivate")  # what VS Code calls of those who use its module
_MOST_WAYS = 3
# By these decorators and bases, which most libraries only read, nothing is called.
_INERT_WORDS = (
    "Override override staticmethod classmethod property abstractmethod overload final dataclass lru_cache cache wraps"
    " SuppressWarnings Deprecated deprecated FunctionalInterface JvmStatic JvmField JvmOverloads Throws Nullable"
    " Obsolete derive cfg allow must_use inline doc setter getter contextmanager cached_property NonNull"
)
_BASE_WORDS = (
    "object Object Exception Error RuntimeException Enum IntEnum StrEnum NamedTuple Protocol ABC Generic TypedDict"
    " str int dict list tuple set Serializable Comparable Iterable IEnumerable Equatable Hashable Codable StandardError"
)
_INERT, _OFTEN_BASES = frozenset(_INERT_WORDS.split()), frozenset(_BASE_WORDS.split())
_OF_TYPES = TYPE_KINDS | NAMESPACE_KINDS


def called_implicitly(graph: Graph, source: SourceFile) -> Collection[int]:
    """Return the definitions of a file that the language, or a library, calls without saying their names."""
    if source.language == "rust":
        return _in_foreign_traits(graph, source)
    return {*_by_signs(graph, source), *_found_by_name(source)}


def _found_by_name(source: SourceFile) -> Collection[int]:
    """Return the functions and types of a file that a framework finds by their names, because of its path."""
    found = [names for path, names in _FOUND_IN if path.search(source.path)]
    if any(imported.module == "vscode" for imported in source.facts.imports):
        found.append(_OF_EXTENSIONS)
    return {
        place
        for names in found
        for place, definition in enumerate(source.definitions)
        if definition.kind in FUNCTION_KINDS | _OF_TYPES | {"task"} and names.fullmatch(definition.name)
    }


def _by_signs(graph: Graph, source: SourceFile) -> Collection[int]:
    """Return the definitions of a file that are called implicitly by the signs of its language."""
    signs = _BY_LANGUAGE.get(source.language)
    if signs is None:
        return ()
    data = graph.code.checkout.read(source.number) or b"" if signs.leads != _NEVER else b""
    decorated, beside = _decorated(source, signs), _owners_of(source, signs.siblings)
    names, heads, leads = re.compile(signs.names), re.compile(signs.heads), re.compile(signs.leads.encode())
    found: set[int] = set()
    for place, definition in enumerate(source.definitions):
        if definition.kind in FUNCTION_KINDS:
            start = definition.span.start_byte
            is_named = names.fullmatch(definition.name) and (not signs.siblings or definition.parent in beside)
            if (
                is_named
                or definition.parent in decorated
                or leads.search(data[max(0, start - _MAX_LEAD_BYTES) : start])
            ):
                found.add(place)
        if heads.search(definition.signature):
            found.add(place)
    return found


def ways_from_libraries(graph: Graph, node: int) -> list[str]:
    """Return, as what the definition does, by what a library may call it: a decorator, a base that it defines."""
    source, place = graph.code.file(file_of(node)), place_of(node)
    definition = source.definitions[place]
    is_member = definition.kind in FUNCTION_KINDS and definition.parent >= 0
    owner = definition.parent if is_member else place
    facts = source.facts
    rows = zip(facts.kinds, facts.scopes, facts.expressions, strict=True)
    names = [
        called_name(facts.texts[text].partition("(")[0])
        for kind, scope, text in rows
        if kind == DECORATE and scope in (place, owner)
    ]
    bases = [called_name(text) for text in source.bases.get(owner, ()) if called_name(text) not in _OFTEN_BASES]
    return [
        *(f"is decorated with {name}" for name in dict.fromkeys(names) if name and name not in _INERT),
        *(f"is of a type that derives from {base}" for base in bases if is_member and not graph.code.nodes_named(base)),
    ][:_MOST_WAYS]


def _in_foreign_traits(graph: Graph, source: SourceFile) -> Collection[int]:
    """Return the methods of Rust in an `impl Trait for Type` whose trait the project does not define."""
    inheritance = graph.resolver.meaning.inheritance
    foreign = {
        place
        for place, definition in enumerate(source.definitions)
        if definition.kind == "impl"
        and re.search(r"\bfor\b", definition.signature)
        and inheritance.has_unknown_base(node_of(source.number, place))
    }
    return {
        place
        for place, definition in enumerate(source.definitions)
        if definition.kind in FUNCTION_KINDS and definition.parent in foreign
    }


def _decorated(source: SourceFile, signs: _Signs) -> Collection[int]:
    """Return the types that are decorated as what a library calls."""
    if not signs.decorators:
        return ()
    facts = source.facts
    return {
        scope
        for kind, scope, expression in zip(facts.kinds, facts.scopes, facts.expressions, strict=True)
        if kind == DECORATE and scope >= 0 and called_name(facts.texts[expression]) in signs.decorators
    }


def _owners_of(source: SourceFile, names: Collection[str]) -> Collection[int]:
    return {definition.parent for definition in source.definitions if definition.name in names}
