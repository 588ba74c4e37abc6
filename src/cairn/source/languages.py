"""The languages as data: how a file is recognised, which grammar parses it, what its comments look like."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

# Patterns here are text, which `re` compiles when it first uses them and keeps: importing this is part of every start.
_LOOKS_LIKE_CPP = rb"(?m)^[^\S\n]*(?:class|namespace|template|using|public:|private:)\b|\w::\w|\bconstexpr\b"
_QUERIES = Path(__file__).parent / "queries"
_SHEBANG = rb"^#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?([\w.+-]+)"


@dataclass(frozen=True, slots=True)
class Language:
    """One language, one row.

    `grammar` is `module:function`, empty for text that is cut on line borders. `queries` name
    files under `queries/`, which are read as one; where two patterns find the same, the earlier one counts. `members`
    names those that are read as well for an outline, where every definition is listed; `references` those under
    `queries/references/`, which find what a file refers to.
    `attributes` are the beginnings of lines that may stand between a comment and the definition it describes.
    The first group of each pattern of `noise` is what the grammar stumbles over; the parser sees spaces in its place.
    """

    name: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    grammar: str = ""
    queries: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    line_comments: tuple[str, ...] = ()
    block_comments: tuple[tuple[str, str], ...] = ()
    attributes: tuple[str, ...] = ()
    group: str = "code"  # code, prose or data
    noise: tuple[bytes, ...] = ()


_C_BLOCK = (("/*", "*/"),)
# Macros that stand where C has nothing: `X_NAMESPACE_BEGIN` or `Q_OBJECT` on a line, `class EXPORT Name {`,
# `X_API int f();`, `int f() X_NOEXCEPT {`; and `[[nodiscard]]`. A missed one can cost the definitions of the whole
# file. Each pattern begins with plain text, which makes it fast.
_C_NOISE = (
    rb"\n[ \t]*(_*[A-Z]+_[A-Z0-9_]+)(?=[ \t]*\r?\n(?!\w+ ?\())",
    rb"class ([A-Z][A-Z0-9_]*(?:\([^()\n]*\))?)(?=\s+\w+\s*(?:final\s*)?[:{])",
    rb"struct ([A-Z][A-Z0-9_]*(?:\([^()\n]*\))?)(?=\s+\w+\s*(?:final\s*)?[:{])",
    rb"\n[ \t]*([A-Z]+_[A-Z0-9_]+)\s+(?=(?:[\w:<>,]+[\s*&]+){1,6}[\w:~]+\()",
    rb"\)(?: const| noexcept| override)*\s+([A-Z]+_[A-Z0-9_]+(?:\([^()\n]*\))?)(?=\s*[{;])",
    rb"(\[\[[^\[\]\n]*\]\])",
)
# What the grammar of Kotlin doesn't know costs the rest of the file: `where` as the name of a variable, the guards of
# Kotlin 2.1 (`is Some if ready ->`, of which the condition stays), an annotation above an accessor.
_KOTLIN_NOISE = (
    rb"\n[ \t]*(where\??\.)(?=\w)",
    rb"\b(is [\w.<>?*, ]+ if)(?=[\s(])",
    rb"\n[ \t]*(@\w+(?:\([^()\n]*\))?)(?=\s+(?:\w+ )?[gs]et\()",
)
# What the grammar doesn't know costs the statements around it: function bodies, which are in any language, `OUT`
# parameters, commands to the client, and rarer kinds of objects.
_SQL_NOISE = (
    rb"(?is)\bAS\s+\$[A-Za-z_]\w*\$(.*?)\$[A-Za-z_]\w*\$",
    rb"(?is)\bAS\s+\$\$(.*?)\$\$",
    rb"(?i)[(,]\s*(OUT)\s",
    rb"(?im)^(\\\w.*|GO|DELIMITER\b.*)[ \t\r]*$",
    rb"(?im)^((?:CREATE|ALTER|DROP|COMMENT ON)\s+"
    rb"(?:OPERATOR|AGGREGATE|CAST|DOMAIN|TEXT SEARCH|FOREIGN|EXTENSION)\b[^;]*;)",
)

# All that a definition in the index may be, and what belongs to none: `module` for code outside of any, and `text`.
_KINDS = (
    "alias attribute block callback class concept constant constructor contract data delegate destructor "
    "directive element enum error event extension field fragment function impl index input instance interface "
    "key keyframes library local macro method mixin modifier module mutation namespace object operator option "
    "output policy procedure project property protocol query record resource rule scalar schema section "
    "sequence stage struct subscription table target task test text trait trigger type union variable view"
)
KINDS = frozenset(_KINDS.split())

LANGUAGES: tuple[Language, ...] = (
    Language(
        "python",
        extensions=(".py", ".pyi", ".pyw"),
        interpreters=("python", "python2", "python3", "pypy", "pypy3", "uv"),
        grammar="tree_sitter_python:language",
        queries=("python",),
        members=("python_members",),
        references=("python",),
        line_comments=("#",),
        attributes=("@",),
    ),
    Language(
        "javascript",
        extensions=(".js", ".mjs", ".cjs", ".jsx"),
        interpreters=("node", "nodejs", "bun", "deno"),
        grammar="tree_sitter_javascript:language",
        queries=("javascript", "ecmascript"),
        references=("javascript", "ecmascript"),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("@",),
    ),
    Language(
        "typescript",
        extensions=(".ts", ".mts", ".cts"),
        interpreters=("ts-node", "tsx"),
        grammar="tree_sitter_typescript:language_typescript",
        queries=("typescript", "ecmascript"),
        members=("ecmascript_members",),
        references=("typescript", "ecmascript"),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("@",),
    ),
    Language(
        "tsx",
        extensions=(".tsx",),
        grammar="tree_sitter_typescript:language_tsx",
        queries=("typescript", "ecmascript"),
        members=("ecmascript_members",),
        references=("typescript", "tsx", "ecmascript"),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("@",),
    ),
    Language(
        "go",
        extensions=(".go",),
        grammar="tree_sitter_go:language",
        queries=("go",),
        members=("go_members",),
        references=("go",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
    ),
    Language(
        "rust",
        extensions=(".rs",),
        grammar="tree_sitter_rust:language",
        queries=("rust",),
        members=("rust_members",),
        references=("rust",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("#[",),
    ),
    Language(
        "java",
        extensions=(".java",),
        grammar="tree_sitter_java:language",
        queries=("java",),
        members=("java_members",),
        references=("java",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("@",),
    ),
    Language(
        "c",
        extensions=(".c",),
        grammar="tree_sitter_c:language",
        queries=("c_family",),
        members=("c_members",),
        references=("c", "c_family"),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("__attribute__",),
        noise=_C_NOISE,
    ),
    Language(
        "cpp",
        extensions=(".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".ipp", ".inl", ".cu", ".cuh"),
        grammar="tree_sitter_cpp:language",
        queries=("cpp", "c_family"),
        members=("cpp_members",),
        references=("cpp", "c_family"),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("[[", "template"),
        noise=_C_NOISE,
    ),
    Language(
        "csharp",
        extensions=(".cs", ".csx"),
        grammar="tree_sitter_c_sharp:language",
        queries=("csharp",),
        members=("csharp_members",),
        references=("csharp",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("[",),
    ),
    Language(
        "ruby",
        extensions=(".rb", ".rake", ".gemspec", ".ru"),
        filenames=("Gemfile", "Rakefile", "Vagrantfile", "Podfile", "Guardfile"),
        interpreters=("ruby", "jruby"),
        grammar="tree_sitter_ruby:language",
        queries=("ruby",),
        references=("ruby",),
        line_comments=("#",),
        block_comments=(("=begin", "=end"),),
    ),
    Language(
        "php",
        extensions=(".php", ".phtml"),
        interpreters=("php",),
        grammar="tree_sitter_php:language_php",
        queries=("php",),
        members=("php_members",),
        references=("php",),
        line_comments=("//", "# "),  # `#[` opens an attribute, which is part of the declaration's node
        block_comments=_C_BLOCK,
    ),
    Language(
        "kotlin",
        extensions=(".kt", ".kts"),
        interpreters=("kotlin",),
        grammar="tree_sitter_kotlin:language",
        queries=("kotlin",),
        members=("kotlin_members",),
        references=("kotlin",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("@",),
        noise=_KOTLIN_NOISE,
    ),
    Language(
        "swift",
        extensions=(".swift",),
        interpreters=("swift",),
        grammar="tree_sitter_swift:language",
        queries=("swift",),
        members=("swift_members",),
        references=("swift",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("@",),
    ),
    Language(
        "scala",
        extensions=(".scala", ".sc", ".sbt"),
        interpreters=("scala",),
        grammar="tree_sitter_scala:language",
        queries=("scala",),
        references=("scala",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("@",),
    ),
    Language(
        "elixir",
        extensions=(".ex", ".exs"),
        filenames=("mix.lock",),
        interpreters=("elixir",),
        grammar="tree_sitter_elixir:language",
        queries=("elixir",),
        references=("elixir",),
        line_comments=("#",),
        attributes=("@",),
    ),
    Language(
        "haskell",
        extensions=(".hs",),
        interpreters=("runhaskell", "stack"),
        grammar="tree_sitter_haskell:language",
        queries=("haskell",),
        members=("haskell_members",),
        # The grammar reads only the first branch of a conditional.
        noise=(rb"(?m)^(#[ \t]*(?:if|ifdef|ifndef|else|elif|endif)\b.*)$",),
        references=("haskell",),
        line_comments=("--",),
        block_comments=(("{-", "-}"),),
    ),
    Language(
        "lua",
        extensions=(".lua",),
        interpreters=("lua", "luajit"),
        grammar="tree_sitter_lua:language",
        queries=("lua",),
        members=("lua_members",),
        references=("lua",),
        line_comments=("--",),
        block_comments=(("--[[", "--]]"),),
    ),
    Language(
        "bash",
        extensions=(".sh", ".bash", ".zsh", ".bats", ".ksh"),
        filenames=(".bashrc", ".zshrc", ".profile", ".bash_profile", "PKGBUILD"),
        interpreters=("sh", "bash", "zsh", "dash", "ksh", "bats"),
        grammar="tree_sitter_bash:language",
        queries=("bash",),
        references=("bash",),
        line_comments=("#",),
    ),
    Language(
        "zig",
        extensions=(".zig", ".zon"),
        grammar="tree_sitter_zig:language",
        queries=("zig",),
        members=("zig_members",),
        references=("zig",),
        line_comments=("//",),
    ),
    Language(
        "solidity",
        extensions=(".sol",),
        grammar="tree_sitter_solidity:language",
        queries=("solidity",),
        members=("solidity_members",),
        references=("solidity",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
    ),
    Language(
        "sql",
        extensions=(".sql", ".ddl", ".psql"),
        grammar="tree_sitter_sql:language",
        queries=("sql",),
        line_comments=("--",),
        block_comments=_C_BLOCK,
        noise=_SQL_NOISE,
    ),
    Language(
        "dart",
        extensions=(".dart",),
        grammar="tree_sitter_dart:language",
        queries=("dart",),
        members=("dart_members",),
        line_comments=("//",),
        block_comments=_C_BLOCK,
        attributes=("@",),
    ),
    Language(
        "powershell",
        extensions=(".ps1", ".psm1", ".psd1"),
        interpreters=("pwsh",),
        grammar="tree_sitter_powershell:language",
        queries=("powershell",),
        references=("powershell",),
        line_comments=("#",),
        block_comments=(("<#", "#>"),),
        attributes=("[",),
        noise=(rb"(=[ \t]*\{[ \t]*\})",),  # an empty block as a parameter's default value
    ),
    Language(
        "nix",
        extensions=(".nix",),
        grammar="tree_sitter_nix:language",
        queries=("nix",),
        line_comments=("#",),
        block_comments=_C_BLOCK,
    ),
    Language(
        "graphql",
        extensions=(".graphql", ".gql", ".graphqls"),
        grammar="tree_sitter_graphql:language",
        queries=("graphql",),
        members=("graphql_members",),
        line_comments=("#",),
    ),
    Language(
        "svelte",
        extensions=(".svelte",),
        grammar="tree_sitter_svelte:language",
        queries=("svelte",),
        block_comments=(("<!--", "-->"),),
    ),
    Language(
        "cmake",
        extensions=(".cmake",),
        filenames=("CMakeLists.txt",),
        grammar="tree_sitter_cmake:language",
        queries=("cmake",),
        line_comments=("#",),
        block_comments=(("#[[", "]]"),),
        group="data",
    ),
    Language(
        "make",
        extensions=(".mk", ".mak"),
        filenames=("Makefile", "GNUmakefile", "BSDmakefile"),
        interpreters=("make",),
        grammar="tree_sitter_make:language",
        queries=("make",),
        line_comments=("#",),
        group="data",
        # The grammar takes a conditional for a part of the rule above it.
        noise=(rb"(?m)^( *(?:ifn?def|ifn?eq|else|endif)\b.*)$",),
    ),
    Language(
        "dockerfile",
        extensions=(".dockerfile",),
        filenames=("Dockerfile", "Containerfile"),
        grammar="tree_sitter_dockerfile:language",
        queries=("dockerfile",),
        line_comments=("#",),
        group="data",
    ),
    Language(
        "hcl",
        extensions=(".hcl", ".tf", ".tfvars"),
        grammar="tree_sitter_hcl:language",
        queries=("hcl",),
        line_comments=("#", "//"),
        block_comments=_C_BLOCK,
        group="data",
    ),
    Language(
        "markdown",
        extensions=(".md", ".markdown", ".mdx", ".mdc"),
        filenames=("README", "CHANGELOG"),
        grammar="tree_sitter_markdown:language",
        queries=("markdown",),
        group="prose",
    ),
    Language(
        "html",
        extensions=(".html", ".htm", ".xhtml"),
        grammar="tree_sitter_html:language",
        queries=("html",),
        block_comments=(("<!--", "-->"),),
        group="data",
    ),
    Language(
        "css",
        extensions=(".css",),
        grammar="tree_sitter_css:language",
        queries=("css",),
        block_comments=_C_BLOCK,
        group="data",
    ),
    Language(
        "json",
        extensions=(".json", ".jsonc", ".json5", ".webmanifest"),
        filenames=("Pipfile.lock", "composer.lock", "flake.lock"),
        grammar="tree_sitter_json:language",
        queries=("json",),
        group="data",
    ),
    Language(
        "yaml",
        extensions=(".yaml", ".yml"),
        grammar="tree_sitter_yaml:language",
        queries=("yaml",),
        line_comments=("#",),
        group="data",
    ),
    Language(
        "toml",
        extensions=(".toml",),
        filenames=("Pipfile", "Cargo.lock", "poetry.lock", "uv.lock"),
        grammar="tree_sitter_toml:language",
        queries=("toml",),
        line_comments=("#",),
        group="data",
    ),
)
# Read and cut on line borders; the name keeps filters useful.
PLAIN: tuple[Language, ...] = (
    Language("text", extensions=(".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex"), group="prose"),
    Language("xml", extensions=(".xml", ".xsd", ".xsl", ".csproj", ".props", ".targets", ".plist"), group="data"),
    Language("ini", extensions=(".ini", ".cfg", ".conf", ".properties", ".editorconfig", ".env"), group="data"),
    Language("protobuf", extensions=(".proto",)),
    Language("r", extensions=(".r",), interpreters=("Rscript",)),
    Language("perl", extensions=(".pl", ".pm", ".t"), interpreters=("perl",)),
    Language("objective-c", extensions=(".m", ".mm")),
    Language("ocaml", extensions=(".ml", ".mli")),
    Language("erlang", extensions=(".erl", ".hrl"), interpreters=("escript",)),
    Language("clojure", extensions=(".clj", ".cljs", ".cljc", ".edn")),
    Language("fsharp", extensions=(".fs", ".fsi", ".fsx")),
    Language("julia", extensions=(".jl",), interpreters=("julia",)),
    Language("vue", extensions=(".vue",)),
    Language("scss", extensions=(".scss", ".sass"), group="data"),
    Language("less", extensions=(".less",), group="data"),
    Language("groovy", extensions=(".groovy", ".gradle"), filenames=("Jenkinsfile",), interpreters=("groovy",)),
    Language("assembly", extensions=(".s", ".asm")),
    Language("vimscript", extensions=(".vim",)),
    Language("lisp", extensions=(".lisp", ".el", ".scm", ".rkt")),
    Language("tcl", extensions=(".tcl",), interpreters=("tclsh", "wish")),
    Language("awk", extensions=(".awk",), interpreters=("awk", "gawk")),
)
TEXT = PLAIN[0]

_ALL = (*LANGUAGES, *PLAIN)
BY_NAME = {language.name: language for language in _ALL}
_BY_EXTENSION = {extension: language for language in _ALL for extension in language.extensions}
_BY_FILENAME = {name.lower(): language for language in _ALL for name in language.filenames}
_BY_INTERPRETER = {name: language for language in _ALL for name in language.interpreters}


def detect_language(path: str, head: bytes) -> Language:
    """Return the language of a file from its name, else its extension, else the interpreter its first line names.

    Args:
        path: relative path; only the last part counts.
        head: the first bytes of the file, a few kilobytes: for the `#!` line, and to tell C from C++ headers.
    """
    name = path.rsplit("/", 1)[-1].lower()
    if language := _BY_FILENAME.get(name):
        return language
    extension = name[name.rfind(".") :] if "." in name else ""
    if extension == ".h":
        return BY_NAME["cpp" if re.search(_LOOKS_LIKE_CPP, head) else "c"]
    if language := _BY_EXTENSION.get(extension) or (
        None if extension == ".lock" else _BY_FILENAME.get(name.split(".", 1)[0])
    ):
        return language
    if match := re.match(_SHEBANG, head):
        interpreter = match[1].decode("ascii", "replace")
        return _BY_INTERPRETER.get(interpreter) or _BY_INTERPRETER.get(interpreter.rstrip("0123456789."), TEXT)
    return TEXT


@cache
def load_grammar(language: Language) -> tree_sitter.Language:
    """Import the wheel that carries the grammar; only languages that occur are loaded."""
    import tree_sitter  # noqa: PLC0415 - start-up time: searching needs no parser

    module, function = language.grammar.split(":")
    with warnings.catch_warnings():
        # Wheels built before 2024 hand over the grammar's address as a plain number, which tree-sitter frowns upon.
        warnings.simplefilter("ignore", DeprecationWarning)
        return tree_sitter.Language(getattr(import_module(module), function)())


def load_query_text(language: Language, *, members: bool = False) -> str:
    """Return the query that finds the language's definitions, with `members` also those that only outlines list."""
    names = (*language.queries, *(language.members if members else ()))
    return "\n".join((_QUERIES / f"{name}.scm").read_text(encoding="utf-8") for name in names)


def load_reference_text(language: Language) -> str:
    """Return the query that finds what the language's files refer to, empty where there is none."""
    return "\n".join(
        (_QUERIES / "references" / f"{name}.scm").read_text(encoding="utf-8") for name in language.references
    )
