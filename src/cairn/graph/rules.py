"""What differs between languages when names are resolved, as data; a new language is a row."""

from __future__ import annotations

from dataclasses import dataclass

FUNCTION_KINDS = frozenset({"function", "method", "constructor", "destructor", "test", "macro", "alias", "task"})
TYPE_KINDS = frozenset(
    {"class", "interface", "struct", "trait", "impl", "enum", "contract", "record", "object", "extension", "instance"}
    | {"protocol", "union", "type", "delegate", "concept"}
)
NAMESPACE_KINDS = frozenset({"namespace", "module", "package", "library"})
VALUE_KINDS = frozenset({"variable", "constant", "field", "property", "event", "key"})


@dataclass(frozen=True, slots=True)
class Rules:
    """How one language finds what a name means.

    Attributes:
        family: languages of one family see each other's definitions.
        this: the words for the object whose method runs; `types` for its class; `parents` for what it inherits.
        prefix: what an attribute of that object begins with where no word stands before it, such as Ruby's `@`.
        implicit: whether a method calls another of its object without such a word.
        package: what shares its names without an import: `file`, `directory`, `package` (as the files say), or `all`.
        open_types: whether methods of a type may stand outside of it, even in other files.
        type_side: where a type stands: `after` (`x: T`), `before` (`T x`), `go` (`x T`), or empty for none.
        result: the mark before the type a function returns, empty where it stands before the name.
        maker: the method of a class that gives an instance, such as Ruby's `new`.
        constructor: the method that runs then.
    """

    family: str
    this: frozenset[str] = frozenset({"this"})
    types: frozenset[str] = frozenset()
    parents: frozenset[str] = frozenset({"super"})
    prefix: str = ""
    implicit: bool = False
    package: str = "file"
    open_types: bool = False
    type_side: str = ""
    result: str = ""
    maker: str = ""
    constructor: str = "constructor"


def _words(*words: str) -> frozenset[str]:
    return frozenset(words)


_ECMASCRIPT = Rules("ecmascript", type_side="after", result=":")
_JVM = Rules("jvm", implicit=True, package="package", type_side="before", constructor="")
_C = Rules("c", implicit=True, package="all", open_types=True, type_side="before", constructor="")
_RULES = {
    "python": Rules(
        "python",
        this=_words("self"),
        types=_words("cls"),
        parents=_words("super()"),
        type_side="after",
        result="->",
        constructor="__init__",
    ),
    "javascript": _ECMASCRIPT,
    "typescript": _ECMASCRIPT,
    "tsx": _ECMASCRIPT,
    "go": Rules("go", this=_words(), parents=_words(), package="directory", open_types=True, type_side="go"),
    "rust": Rules(
        "rust",
        this=_words("self"),
        types=_words("Self"),
        parents=_words(),
        open_types=True,
        type_side="after",
        result="->",
    ),
    "java": _JVM,
    "kotlin": Rules(
        "jvm", implicit=True, package="package", open_types=True, type_side="after", result=":", constructor=""
    ),
    "scala": Rules("jvm", implicit=True, package="package", type_side="after", result=":", constructor=""),
    "csharp": Rules(
        "csharp",
        parents=_words("base"),
        implicit=True,
        package="package",
        open_types=True,
        type_side="before",
        constructor="",
    ),
    "php": Rules(
        "php",
        this=_words("$this"),
        types=_words("self", "static"),
        parents=_words("parent"),
        package="package",
        type_side="before",
        result=":",
        constructor="__construct",
    ),
    "ruby": Rules(
        "ruby",
        this=_words("self"),
        prefix="@",
        implicit=True,
        package="all",
        open_types=True,
        maker="new",
        constructor="initialize",
    ),
    "c": _C,
    "cpp": _C,
    "swift": Rules(
        "swift",
        this=_words("self"),
        types=_words("Self"),
        implicit=True,
        package="all",
        open_types=True,
        type_side="after",
        result="->",
        constructor="init",
    ),
}
BY_NAME_ONLY = Rules("", package="all")


def rules_of(language: str) -> Rules:
    """Return the rules of a language; one without rules of its own is resolved by name only."""
    return _RULES.get(language) or BY_NAME_ONLY


# Methods that the standard libraries' types have, so that one definition of the name in a project proves nothing.
_COMMON = """
    add addeventlistener append apply at bind call capitalize catch clear clone close cmp collect concat connect
    contains copy count create data decode default delete dict display done drop dump dumps dup each emit empty
    encode end endswith entries eq equals error exec execute exists exit expect extend fetch fileno fill filter
    finally find first flat flatten flush fmt fold foreach format freeze from fromkeys get getname getvalue group
    groups handle has hash hashcode head id include index indexof info init insert inspect into invoke is_empty
    is_none is_some isempty item items iter join json key keys kill last len length lines list listen load loads
    lock log lower main map match matches max merge message method_missing min name new next nil normalize notify
    now ok on open options or_else order parse peek pop popitem post prepend print println process public_send push
    put query race raise read readline readlines recv reduce register reject release remove removeeventlistener
    render replace request reset resolve respond_to rest result resume return reverse rows run save search seek
    select send set setdefault setup setvalue shape shift size sleep slice some sort sorted source splice split
    splitlines start startswith state status stop str string strip sub sum symmetric synchronize tail take teardown
    tell test text then throw title to_s to_string to_vec toarray tojson tolist tolowercase tostring touppercase
    trim truncate try type union unlock unwrap update upper url use validate value valueof values view wait warn
    with wrap write writelines zip
"""
# Methods that the standard libraries' types have, so that one definition of the name in a project proves nothing.
# In lower case.
COMMON_NAMES = frozenset(_COMMON.split())
