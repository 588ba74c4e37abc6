"""Tells a file's role in a project, mostly by its path: implementation, test, example, generated."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from enum import IntFlag
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, Protocol

from cairn.source.languages import CODE, CONFIGURING
from cairn.source.translations import translated_files


class Role(IntFlag):
    """Roles other than plain implementation; a file may have several."""

    TEST = 1
    EXAMPLE = 2
    DOCS = 4
    CONFIG = 8
    REEXPORT = 16
    LEGACY = 32
    DECLARATION = 64
    OTHER_PLATFORM = 128
    OLD_VERSION = 256
    GENERATED = 512
    VENDORED = 1024
    TRANSLATION = 2048


# Not written by people of the project; comes last in every list.
FOREIGN = Role.GENERATED | Role.VENDORED
# Seldom meant if another file matches as well.
ASIDE = FOREIGN | Role.TRANSLATION | Role.TEST | Role.EXAMPLE | Role.DOCS | Role.CONFIG | Role.LEGACY
ASIDE |= Role.OTHER_PLATFORM | Role.OLD_VERSION


@lru_cache(maxsize=256)  # there are few combinations, and every hit asks
def foreign_word(role: int) -> Literal["", "generated", "vendored"]:
    """Return the word for a file that people of the project did not write, empty for one that they wrote."""
    if role & Role.VENDORED:
        return "vendored"
    return "generated" if role & Role.GENERATED else ""


# In RE2 syntax, which matches all of them in one pass. Compiled on first use, since most runs know all roles already.
_TEST = (
    r"(^|/)(tests?|testing|regress|specs?|__tests__|__mocks__|test[-_]?(?:data|dts|utils?)|fixtures?|e2e)/"
    r"|(^|/)(test_[^/]*|[^/]*_test|[^/]*_tests|[^/]*[.-](test|test-d|spec|stories|bench)|conftest|[^/]*_spec)\.[^/]+$"
    r"|(^|/)[^/]*[a-z](Test|Tests|Spec|Specs|TestCase|IT)\.(java|kt|kts|scala|cs|swift|php|groovy)$"
)
_EXAMPLE = r"(^|/)(examples?|samples?|demos?|benchmarks?|bench|playground|tutorials?|docs?_src|cookbook)/"
# Changelogs in any format.
_CHANGELOG = (
    r"(?i)(^|/)(changes|changelog|release[-_]?notes)(\.(xml|html?|ya?ml))?$|(^|/)(news|history)$|(^|/)release[-_]notes/"
)
# Changelogs in prose formats, and the words of a task about them.
_LISTS_CHANGES = (
    r"(^|/)((changes|change[-_]?log|release[-_]?notes|what[-_]?s[-_]?new)([-_.][^/]*)?"
    r"\.(md|mdx|markdown|rst|adoc|asciidoc|txt|rdoc|textile|org|xml|html?|ya?ml)"
    r"|(history|news)([-_.]?\d[^/]*)?\.(md|markdown|rst|adoc|asciidoc|txt|rdoc|textile)"
    r"|(change[-_]?log[^/]*|changes|newsfragments|release[-_]?notes)/([^/]+/)*[^/]+\.(md|markdown|rst|adoc|asciidoc|txt)"
    r"|(changes|change[-_]?log|release[-_]?notes|news|history))$"
)
_ABOUT_CHANGES_MADE = (
    r"\b(change ?logs?|(changes|history|news)\.\w+|released?|release notes?|what changed|what'?s new"
    r"|versions?|upgrad\w+)\b"
)
_DOCS = (
    r"(?i)(^|/)(docs?|documentation|man)/|\.(md|mdx|markdown|rst|adoc|asciidoc|txt|rdoc|textile"
    r"|org|pod|texi|texinfo|ronn|cheatmd|aml|topic)$"
    r"|(^|/)(unlicense|copying(\.(lesser|lgpl|lib))?|copyright|notice|authors|contributors|credits|thanks|todo|hacking|install"
    r"|maintainers|usage)$|(^|/)[a-z][\w-]*\.[1-8](\.(in|prebuilt|html))?$|\.[1-8]\.(in|prebuilt)$"
)
# Only for files that are not code: `license.py` is about something else.
_ABOUT = r"(?i)(^|/)(readme|changelog|(mit-|apache-)?licen[cs]e)[^/]*$"
_REEXPORT = r"(^|/)(__init__\.py|index\.(ts|js|tsx|jsx|mjs)|mod\.rs|package-info\.java|module-info\.java)$"
_LEGACY = r"(^|/|_)(compat|legacy|deprecated|old|backports?)(/|\.|_|$)"
_DECLARATION = r"\.d\.[mc]?ts$|\.pyi$"
_CONFIG = (
    r"(^|/)(requirements[^/]*\.(txt|in)|constraints[^/]*\.txt|CMakeLists\.txt|MANIFEST\.in"
    r"|configure\.ac|CODEOWNERS|BUILD|WORKSPACE|Earthfile|Jenkinsfile|Procfile|Vagrantfile|go\.(mod|work)"
    r"|\.([a-z]+(rc|ignore|-format|-versions)|mailmap|gitattributes|git-blame-ignore-revs|htaccess|jvmopts|rspec|yardopts))$"
    r"|(^|/)[^/]*\.env([._-][^/]*)?$"
    r"|\.(bazel|bzl|cabal|cff|config|csv|haskell-ci|neon|nuspec|pbxproj|pc|podspec|sln|slnx|tsv|xcprivacy|xcscheme"
    r"|xctestplan|xcworkspacedata|xlf|xliff)(\.(dist|in))?$"
)


# Names from https://github.com/github-linguist/linguist, generated.rb and vendor.yml. Folders such as `node_modules`
# are not indexed at all, see eligible.py; they are listed for projects that re-include them.
_GENERATED = (
    r"(^|/)(__generated__|__snapshots__|single[_-]include|generated([_-]?(src|sources|code))?)/"
    r"|(^|/)(dist|_site)/.*\.([cm]?[jt]s|css|html)$"
    r"|(_pb2(_grpc)?\.pyi?|[_.]pb\.(go|rb|js|ts|swift|dart|cc|h|d\.ts)|\.pb(enum|json|server)\.dart|\.pb\.gw\.go"
    r"|\.pb(objc|rpc)\.[hm]|_grpc_pb(\.d)?\.[jt]s|_pb_service(\.d)?\.[jt]s|_grpc\.pb\.(go|cc|h)|\.grpc\.swift)$"
    r"|\.(freezed|gr|mocks|g)\.dart$|\.(designer|Designer)\.(cs|vb)$|\.(g|g\.i|feature)\.cs$"
    r"|\.generated\.[a-z]+$|\.gen\.(go|rs|[jt]sx?|cs|kt|java|swift|h|c|cc|cpp)$"
    r"|(^|[/_.-])amalgamat(ed|ion)\.([ch]|cc|hh|[ch]pp)$"
    r"|(^|/)zz_generated[._]|(^|[^t]|(^|[^s])t|(^|[^e])st|(^|[^t])est)_generated\.[a-z]+$"
    r"|(^|/)(y\.tab|lex\.yy|[^/]+\.tab)\.(c|h|cc|hh|cpp|hpp)$|\.(snap|map|klib\.api)$"
    r"|(^|/)schemas/[a-z]\w*(\.\w+){2,}/\d+\.json$"  # database schemas of Android, one for each version
    r"|(^|/)((phpstan|psalm|detekt|lint)-baseline\.(neon|xml|php)|\.rubocop_todo\.yml)$"
    r"|[.-](bundle|min|chunk)\.([cm]?js|css)$|(^|/)([^/]+\.lock|package-lock\.json|pnpm-lock\.yaml|go\.sum)$"
)
_VENDORED = (
    r"(^|(^|/)(src|libs?|pkg|internal|assets|static|public|js|css|scripts)/)vendor/"
    r"|(^|/)(vendored|_vendor|third[_-]?party|3rd[_-]?party|node_modules|bower_components|site-packages|Godeps|Pods"
    r"|Carthage)/|^(deps|extern|externals?)/"
    r"|(^|/)(libs?|contrib|test)/(gtest|gmock|googletest|googlemock)/"
    r"|(^|/)(gradlew(\.bat)?|mvnw(\.cmd)?|config\.(guess|sub)|aclocal\.m4|ltmain\.sh|install-sh|depcomp|libtool\.m4"
    r"|lt[a-z~]+\.m4|ylwrap)$"
    r"|(^|/)[a-z.-]+[.-]v?\d+(\.\d+)+([.-][a-z]+)*\.(js|css)$"
    r"|(^|/)(js|javascripts|css)/(jquery|modernizr|underscore|backbone|angular|d3)\.(js|css)$"
    r"|(^|/)(static|assets|public|wwwroot|webroot)/([^/]+/)*"
    r"(jquery([.-][a-z0-9.-]+)?|jqueryui|bootstrap[345]?(-(colou?r|date|dialog|editable|grid|multi|reboot|select|slide|switch"
    r"|table|tags|theme|time|toggle|wysi)[a-z0-9-]*)?|backbone|Chart|ckeditor|codemirror|d3|data[tT]ables|daterangepicker"
    r"|dropzone|flatpickr|font-?awesome|fullcalendar|handlebars|highcharts|html5shiv|katex|knockout|leaflet|lodash|mathjax"
    r"|modernizr|moment|owl\.carousel|photoswipe|plotly|popper|raphael|select2|summernote|swagger-ui(-[a-z-]+)?"
    r"|sweetalert2?|tinymce|toastr|typeahead|underscore)"
    r"([.-](full|all|slim|core|bundle|pkgd|esm|umd|standalone))*\.(js|css)$"
    r"|(^|/)(includes?|libs?|inc|ext|tests?)/(catch\.hpp|catch_amalgamated\.[ch]pp|doctest\.h|json\.hpp|sqlite3(ext)?\.[ch]"
    r"|miniz\.[ch]|uthash\.h|cJSON\.[ch]|stb_[a-z_]+\.h)$"
)

_PLATFORMS: dict[str | Role, str] = {
    "win32": r"(?i)(^|[/_.-])(win|win32|win64|windows|msvc|mingw)([/_.-]|$)",
    "darwin": r"(?i)(^|[/_.-])(darwin|macos|osx|mac|ios|fsevents)([/_.-]|$)",
    "linux": r"(?i)(^|[/_.-])(linux|posix|unix|epoll|inotify)([/_.-]|$)",
}
_PLATFORM = sys.platform if sys.platform in _PLATFORMS else "linux"
_PATTERNS: dict[str | Role, str] = {
    Role.TEST: _TEST,
    Role.EXAMPLE: _EXAMPLE,
    Role.REEXPORT: _REEXPORT,
    Role.LEGACY: _LEGACY,
    Role.DECLARATION: _DECLARATION,
    Role.GENERATED: _GENERATED,
    Role.VENDORED: _VENDORED,
    "changelog": _CHANGELOG,
    "config": _CONFIG,
    "docs": _DOCS,
    "about": _ABOUT,
    **_PLATFORMS,
}
_VERSION = re.compile(r"(?:^|/)v(\d+)/")
_OLD_DOCS = "versioned_docs/"  # the newest are in `docs/`: https://docusaurus.io/docs/versioning
_TWINS, _TWIN_SHARE = 2, 1 / 3  # least number of a version's files that also exist without the version


@cache
def _patterns() -> tuple[Any, list[str | Role]]:
    """Return the compiled set of patterns, and the role of each by its number."""
    import re2  # noqa: PLC0415 - start-up time: see above

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # file names are bytes
    found = re2.Set.SearchSet(options)
    for pattern in _PATTERNS.values():
        found.Add(pattern)
    found.Compile()
    return found, list(_PATTERNS)


def is_changelog(path: str) -> bool:
    """Tell whether a file is a changelog; `changes.py` is not."""
    return re.search(_LISTS_CHANGES, path.lower()) is not None


def asks_for_changes_made(text: str) -> bool:
    """Tell whether a task is about changelogs or earlier versions."""
    return re.search(_ABOUT_CHANGES_MADE, text.lower()) is not None


class RoledFile(NamedTuple):
    """What a file's roles depend on. `is_generated`: judged by its content, see content.py."""

    path: str
    language: str
    is_generated: bool = False


def role_of(path: str, language: str) -> Role:
    """Return the roles of a file by its relative path, apart from those that depend on other files."""
    patterns, names = _patterns()
    found = {names[number] for number in patterns.Match(path.encode("utf-8", "surrogatepass")) or ()}
    role = Role(sum(one for one in found if isinstance(one, Role)))
    if "changelog" in found:
        role |= Role.DOCS
    elif language in CONFIGURING or "config" in found:
        role |= Role.CONFIG
    elif "docs" in found or ("about" in found and language not in CODE):
        role |= Role.DOCS
    if _PLATFORM not in found and found & _PLATFORMS.keys():
        role |= Role.OTHER_PLATFORM
    return role


class PathAttributes(Protocol):
    """A project's own declarations about its files."""

    def of(self, path: str) -> Mapping[Role, bool]:
        """Return the roles that a file is declared to have, and not to have."""


def own_role(file: RoledFile, attributes: PathAttributes | None = None) -> Role:
    """Return the roles of a file that do not depend on other files; `.gitattributes` take precedence."""
    role = role_of(file.path, file.language)
    if file.is_generated:
        role |= Role.GENERATED
    if attributes is not None:
        for foreign, verdict in attributes.of(file.path).items():
            role = role | foreign if verdict else role & ~foreign
    return role


def roles_of(
    files: Sequence[RoledFile], attributes: PathAttributes | None = None, known: Mapping[RoledFile, Role] | None = None
) -> list[Role]:
    """Return the roles of all files of a project.

    Some roles depend on other files: of variants for several versions (`v3/`, `v4/`) all but the newest are old, and so
    is one beside the same files without a version (`v1/models.py` beside `models.py`). A C header beside a file with
    the bodies only declares them. A German text beside the same in English is a translation.

    Args:
        files: all of them.
        attributes: of the files, from `.gitattributes`.
        known: roles that this function returned earlier for some of them, perhaps among other files.
    """
    known = known or {}
    roles = [
        own_role(file, attributes) if (role := known.get(file)) is None else role & ~by_others(file.path)
        for file in files
    ]
    for number in translated_files([file.path for file in files]):
        roles[number] |= Role.TRANSLATION
    bodies = {_stem(file.path) for file in files if file.path.endswith(".c")}
    for number, file in enumerate(files):
        if file.path.endswith(".h") and _stem(file.path) in bodies:
            roles[number] |= Role.DECLARATION
    versions = [(number, match) for number, file in enumerate(files) if (match := _VERSION.search(file.path))]
    newest: dict[str, int] = {}
    for _, match in versions:
        above = match.string[: match.start()]
        newest[above] = max(newest.get(above, 0), int(match[1]))
    twinned = _twinned(files, [match for _, match in versions])
    for number, match in versions:
        above = match.string[: match.start()]
        if int(match[1]) < newest[above] or (above, match[1]) in twinned:
            roles[number] |= Role.OLD_VERSION
    for number, file in enumerate(files):
        if _OLD_DOCS in file.path:
            roles[number] |= Role.OLD_VERSION
    return roles


def by_others(path: str) -> Role:
    """Return the roles that depend on other files."""
    return Role.OLD_VERSION | Role.TRANSLATION | (Role.DECLARATION if path.endswith(".h") else Role(0))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _twinned(files: Sequence[RoledFile], versions: Sequence[re.Match[str]]) -> set[tuple[str, str]]:
    """Return the versions, as (folder above, number), many of whose files also exist without a version."""
    paths = {file.path for file in files} if versions else set[str]()
    counts: dict[tuple[str, str], list[int]] = {}
    for match in versions:
        above, rest = match.string[: match.start()], match.string[match.end() :]
        count = counts.setdefault((above, match[1]), [0, 0])
        count[0] += 1
        count[1] += (f"{above}/{rest}" if above else rest) in paths
    return {
        version
        for version, (n_files, n_twins) in counts.items()
        if n_twins >= _TWINS and n_twins >= n_files * _TWIN_SHARE
    }
