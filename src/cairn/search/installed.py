"""Tells from the path of a file in which installed package or library of a language it lies."""

from __future__ import annotations

import re

MAX_PATH_CHARS = 1_000  # of a path from another machine its end counts

# No pattern is compiled before a text has a path: most questions have none.

# Where the path of a Go module begins: in `vendor`, in a workspace of old, or in a build that leaves out folders.
_GO_MODULE = (
    r"(?:(?:github|gitlab)\.com/[^/]+|bitbucket\.org/[^/]+|codeberg\.org/[^/]+|golang\.org/x|[\w-]+(?:\.[\w-]+)+)"
    r"/([^/.]+)[^/]*/"
)
_GO_VENDORED = rf"(?:(?:^|.*/)vendor/|(?:^|.*/)go/src/|^){_GO_MODULE}.*\.go"
# The name of a package, where those of crates.io, npm, RubyGems and Go lie when they are installed, and Rust's own.
_PACKAGE = (
    r"(?:^|/)(?:registry/src/[^/]+/([^/]+?)-\d[^/]*/|node_modules/(?:@[^/]+/)?([^/@.][^/]*)/(?!.*/node_modules/)"
    r"|gems/([^/]+?)-\d[^/]*/|pkg/mod/(?:[^/@]+/)*?([^/@]+)(?:/v\d+)?@[^/]+/|(rustc)/[0-9a-f]{40}/"
    r"|(rustlib)/src/rust/)|^(?:[^/@]+/)*?([^/@]+)(?:/v\d+)?@v\d[^/]*/"
)
# The same, and those of Python, of which a path says by itself what it is of. `.*` finds the last one.
_IN_PACKAGE = (
    r".*(?:/registry/src/[^/]+/[^/]+-\d[^/]*/|(?:^|/)node_modules/(?:@[^/]+/)?[^/@.][^/]*/|/gems/[^/]+-\d[^/]*/"
    r"|/pkg/mod/[^@]+@[^/]+/|(?:site|dist)-packages/(?=[^/]+/))(.+)"
)
_PACKAGE_FOLDERS = ("registry/src/", "node_modules/", "gems/", "pkg/mod/", "-packages/")

_GO_FOLDERS = (
    "archive|bufio|bytes|cmp|compress|container|context|crypto|database|debug|embed|encoding|errors|expvar|flag|fmt"
    "|hash|html|image|index|io|iter|log|maps|math|mime|net|os|plugin|reflect|regexp|runtime|slices|sort|strconv"
    "|strings|structs|sync|syscall|testing|text|time|unicode|unique|unsafe|weak"
)
_GO_FOLDERS_BELOW_SRC = rf"{_GO_FOLDERS}|go|internal|path|vendor"  # what people write of a path may begin with these
# Python's installed modules and its own, and what Go and Ruby bring.
_LIBRARIES = (
    (
        (".py", ".pyi", ".pyx"),
        "",
        r".*(?:(?:site|dist)-packages|(?i:lib/python\d[\d.]*|python\d+/lib))/(?:[^/]+\.egg/)?(.+\.py[ix]?)",
    ),
    (
        (".go",),
        "src/",
        rf".*(?:(?:^|/)(?:[Gg]o|go-?\d[\d.]*|go/\d[\d.]*/\w+|libexec)/src)/((?:{_GO_FOLDERS_BELOW_SRC})/.+\.go)",
    ),
    ((".go",), "", rf"((?:{_GO_FOLDERS})/.+\.go)"),
    ((".rb",), "lib/", r".*/lib/ruby/(?:(?:site|vendor)_ruby/)?\d[^/]*/(?!gems/)(.+\.rb)"),
)


def package_of(path: str) -> str:
    """Return the plain name of the installed package in which a path lies, empty if it does not lie in one.

    Below `site-packages` a path says by itself what it is of.
    """
    found = re.search(_PACKAGE, path) or (re.fullmatch(_GO_VENDORED, path) if path.endswith(".go") else None)
    return plain_name(next(filter(None, found.groups()))) if found else ""


def path_in_package(path: str) -> str:
    """Return the path of a file in the installed package in which it lies, empty if it does not lie in one."""
    path = path[-MAX_PATH_CHARS:]
    found = re.fullmatch(_IN_PACKAGE, path) if any(folder in path for folder in _PACKAGE_FOLDERS) else None
    return found[1] if found else ""


def path_in_library(path: str) -> str:
    """Return the end that the path of a project's file has if it is installed at a path among a language's modules.

    It is empty if the path does not lie among them.
    """
    for endings, folder, pattern in _LIBRARIES:
        if path.endswith(endings) and (found := re.fullmatch(pattern, path)) is not None:
            return folder + found[1]
    return ""


def plain_name(name: str) -> str:
    """Return the name of a package as it is compared."""
    return name.lower().replace("_", "-")
