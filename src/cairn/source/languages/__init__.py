"""The languages: how to recognise a file's, and where to find everything else about it.

A parsed language has a folder of its name beside this file, with `SUPPORT` in `__init__.py`, the queries, and if needed
`resolution.py` and `flow.py`. docs/adding-a-language.md explains each.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

    from cairn.source.languages.support import Support

_HERE = Path(__file__).parent
# Kept as bytes, which `re` compiles and caches on first use, because every start imports this module.
_LOOKS_LIKE_CPP = rb"(?m)^[^\S\n]*(?:class|namespace|template|using|public:|private:)\b|\w::\w|\bconstexpr\b"
_SHEBANG = rb"^#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?([\w.+-]+)"


@dataclass(frozen=True)
class Language:
    """One language: its name, and how its files are recognised.

    `group` is code, prose or data; `configures` marks data formats of configuration files.
    """

    name: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    group: str = "code"
    configures: bool = False

    @cached_property
    def support(self) -> Support:
        """The `SUPPORT` of its folder; empty for a language without a grammar."""
        if self.name in _WITH_FOLDER:
            support: Support = import_module(f"{__name__}.{self.name}").SUPPORT
        else:
            support = import_module(f"{__name__}.support").NO_SUPPORT
        return support

    @cached_property
    def has_references(self) -> bool:
        """Whether it has a query for references."""
        return bool(_query_files(self, "references"))


# The kinds of definitions in the index, plus `module` and `text` for chunks outside of definitions.
_KINDS = (
    "alias attribute block callback class concept constant constructor contract data delegate destructor "
    "directive element enum error event extension field fragment function impl index input instance interface "
    "key keyframes library local macro method mixin modifier module mutation namespace object operator option "
    "output policy procedure project property protocol query record resource rule scalar schema section "
    "sequence stage struct subscription table target task test text trait trigger type union variable view"
)
KINDS = frozenset(_KINDS.split())

# Each has a folder with its name.
LANGUAGES: tuple[Language, ...] = (
    Language(
        "python",
        extensions=(".py", ".pyi", ".pyw"),
        interpreters=("python", "python2", "python3", "pypy", "pypy3", "uv"),
    ),
    Language("javascript", extensions=(".js", ".mjs", ".cjs", ".jsx"), interpreters=("node", "nodejs", "bun", "deno")),
    Language("typescript", extensions=(".ts", ".mts", ".cts"), interpreters=("ts-node", "tsx")),
    Language("tsx", extensions=(".tsx",)),
    Language("go", extensions=(".go",)),
    Language("rust", extensions=(".rs",)),
    Language("java", extensions=(".java",)),
    Language("c", extensions=(".c",)),
    Language("cpp", extensions=(".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".ipp", ".inl", ".cu", ".cuh")),
    Language("csharp", extensions=(".cs", ".csx")),
    Language(
        "ruby",
        extensions=(".rb", ".rake", ".gemspec", ".ru", ".jbuilder", ".builder", ".podspec", ".thor"),
        filenames=("Gemfile", "Rakefile", "Vagrantfile", "Podfile", "Guardfile", "Capfile", "Fastfile", "Dangerfile"),
        interpreters=("ruby", "jruby"),
    ),
    Language("php", extensions=(".php", ".phtml"), interpreters=("php",)),
    Language("kotlin", extensions=(".kt", ".kts"), interpreters=("kotlin",)),
    Language("swift", extensions=(".swift",), interpreters=("swift",)),
    Language("scala", extensions=(".scala", ".sc", ".sbt"), interpreters=("scala",)),
    Language("elixir", extensions=(".ex", ".exs"), filenames=("mix.lock",), interpreters=("elixir",)),
    Language("haskell", extensions=(".hs",), interpreters=("runhaskell", "stack")),
    Language("lua", extensions=(".lua",), interpreters=("lua", "luajit")),
    Language("julia", extensions=(".jl",), interpreters=("julia",)),
    Language(
        "bash",
        extensions=(".sh", ".bash", ".zsh", ".bats", ".ksh"),
        filenames=(".bashrc", ".zshrc", ".profile", ".bash_profile", "PKGBUILD"),
        interpreters=("sh", "bash", "zsh", "dash", "ksh", "bats"),
    ),
    Language("zig", extensions=(".zig", ".zon")),
    Language("solidity", extensions=(".sol",)),
    Language("sql", extensions=(".sql", ".ddl", ".psql")),
    Language("dart", extensions=(".dart",)),
    Language("powershell", extensions=(".ps1", ".psm1", ".psd1"), interpreters=("pwsh",)),
    Language("nix", extensions=(".nix",)),
    Language("graphql", extensions=(".graphql", ".gql", ".graphqls")),
    Language("svelte", extensions=(".svelte",)),
    Language("vue", extensions=(".vue",)),
    Language("cmake", extensions=(".cmake",), filenames=("CMakeLists.txt",), group="data", configures=True),
    Language(
        "make",
        extensions=(".mk", ".mak"),
        filenames=("Makefile", "GNUmakefile", "BSDmakefile"),
        interpreters=("make",),
        group="data",
        configures=True,
    ),
    Language(
        "dockerfile",
        extensions=(".dockerfile",),
        filenames=("Dockerfile", "Containerfile"),
        group="data",
        configures=True,
    ),
    Language("hcl", extensions=(".hcl", ".tf", ".tfvars"), group="data", configures=True),
    Language(
        "markdown", extensions=(".md", ".markdown", ".mdx", ".mdc"), filenames=("README", "CHANGELOG"), group="prose"
    ),
    Language("html", extensions=(".html", ".htm", ".xhtml"), group="data"),
    Language("css", extensions=(".css",), group="data"),
    Language(
        "json",
        extensions=(".json", ".jsonc", ".json5", ".webmanifest"),
        filenames=("Pipfile.lock", "composer.lock", "flake.lock"),
        group="data",
        configures=True,
    ),
    Language("yaml", extensions=(".yaml", ".yml"), group="data", configures=True),
    Language(
        "toml",
        extensions=(".toml",),
        filenames=("Pipfile", "Cargo.lock", "poetry.lock", "uv.lock"),
        group="data",
        configures=True,
    ),
)
# Not parsed, only cut between lines; they are listed so that filters know them.
PLAIN: tuple[Language, ...] = (
    Language("text", extensions=(".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex"), group="prose"),
    Language(
        "xml",
        extensions=(".xml", ".xsd", ".xsl", ".csproj", ".props", ".targets", ".plist"),
        group="data",
        configures=True,
    ),
    Language(
        "ini",
        extensions=(".ini", ".cfg", ".conf", ".properties", ".editorconfig", ".env"),
        group="data",
        configures=True,
    ),
    Language("protobuf", extensions=(".proto",)),
    Language("r", extensions=(".r",), interpreters=("Rscript",)),
    Language("perl", extensions=(".pl", ".pm", ".t"), interpreters=("perl",)),
    Language("objective-c", extensions=(".m", ".mm")),
    Language("ocaml", extensions=(".ml", ".mli")),
    Language("erlang", extensions=(".erl", ".hrl"), interpreters=("escript",)),
    Language("clojure", extensions=(".clj", ".cljs", ".cljc", ".edn")),
    Language("fsharp", extensions=(".fs", ".fsi", ".fsx")),
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
_WITH_FOLDER = frozenset(language.name for language in LANGUAGES)
BY_NAME = {language.name: language for language in _ALL}
CODE = frozenset(language.name for language in _ALL if language.group == "code")
CONFIGURING = frozenset(language.name for language in _ALL if language.configures)
_BY_EXTENSION = {extension: language for language in _ALL for extension in language.extensions}
EXTENSIONS = frozenset({*_BY_EXTENSION, ".h"})  # a header's language depends on its content
_BY_FILENAME = {name.lower(): language for language in _ALL for name in language.filenames}
_BY_INTERPRETER = {name: language for language in _ALL for name in language.interpreters}
# Other names of languages, besides their extensions and interpreters.
_NICKNAMES = {
    "c#": "csharp", "c++": "cpp", "f#": "fsharp", "golang": "go", "objc": "objective-c", "shell": "bash",
    "terraform": "hcl", "vim": "vimscript",
}  # fmt: skip


def language_called(name: str) -> str | None:
    """Return the language that a name stands for: `rb`, `.rb` and `Ruby` are `ruby`; None if there is none."""
    word = name.strip().lower()
    if word in BY_NAME:
        return word
    if word in _NICKNAMES:
        return _NICKNAMES[word]
    language = _BY_EXTENSION.get(f".{word.removeprefix('.')}") or _BY_INTERPRETER.get(word)
    return language.name if language else None


def detect_language(path: str, head: bytes) -> Language:
    """Return the language of a file by its name, else its extension, else the interpreter in its first line.

    Args:
        path: relative path; only the last part counts.
        head: its first few kilobytes, for the `#!` line, and to tell C from C++ headers.
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
    """Import the wheel with the grammar, when a language is first needed."""
    import tree_sitter  # noqa: PLC0415 - start-up time: searching needs no parser

    module, function = language.support.grammar.split(":")
    with warnings.catch_warnings():
        # Wheels built before 2024 pass the grammar's address as a plain number, for which tree-sitter warns.
        warnings.simplefilter("ignore", DeprecationWarning)
        return tree_sitter.Language(getattr(import_module(module), function)())


def load_part(language: str, part: str) -> ModuleType | None:
    """Import a module of a language's folder, such as `resolution` or `flow`; None if it has none."""
    if language not in _WITH_FOLDER or not (_HERE / language / f"{part}.py").exists():
        return None
    return import_module(f"{__name__}.{language}.{part}")


def load_query_text(language: Language, *, members: bool = False) -> str:
    """Return the query for the language's definitions; with `members`, including those that only outlines list."""
    files = _query_files(language, "definitions") + (_query_files(language, "members") if members else [])
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def load_reference_text(language: Language) -> str:
    """Return the query for the language's references, empty if there is none."""
    return "\n".join(file.read_text(encoding="utf-8") for file in _query_files(language, "references"))


def _query_files(language: Language, name: str) -> list[Path]:
    """Return the files of a query, in the order to read them."""
    folders = language.support.folders or (language.name,)
    return [file for folder in folders if (file := _HERE / folder / f"{name}.scm").exists()]
