"""Interprets the arguments of programs that search or print files; unknown options mean that it is left alone."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

_PROGRAM_FOLDERS = (
    "",
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
)  # elsewhere the name may be a script's

Syntax = Literal["regex", "basic", "fixed", "glob"]


class Word(NamedTuple):
    """A word of a command without quotes; `is_glob` says that a shell may expand it to several."""

    text: str
    is_glob: bool = False


class Search(NamedTuple):
    """A search in files.

    Attributes:
        pattern: to search for.
        syntax: its syntax: a regular expression, a POSIX basic one, plain text, or a glob.
        paths: files and folders to search, relative to `folder`; everything below that if empty.
        globs: the files that it is limited to.
        folder: in which it runs, relative to the agent's working folder, empty for that itself.
        ignores_case, is_word: as with the options of `grep`.
        is_for_names: whether it searches the names of files, not their content.
        lists_files, counts: whether it shows only file names, or counts, and no lines.
        is_piped: whether a filter shortens its output.
    """

    pattern: str
    syntax: Syntax = "regex"
    paths: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    folder: str = ""
    ignores_case: bool = False
    is_word: bool = False
    is_for_names: bool = False
    lists_files: bool = False
    counts: bool = False
    is_piped: bool = False


class FileRead(NamedTuple):
    """The printing of one file: `limit` lines from line `offset`; both are 0 for the whole file."""

    path: str
    offset: int = 0
    limit: int = 0
    folder: str = ""


class _Options(NamedTuple):
    """A program's options: those without a value, and those with one."""

    flags: frozenset[str]
    valued: frozenset[str]


class _Line(NamedTuple):
    """A program's parsed arguments: values by option, empty for flags, and the operands."""

    options: Mapping[str, list[str]]
    operands: list[Word]

    def has(self, *names: str) -> bool:
        return any(name in self.options for name in names)

    def values(self, *names: str) -> list[str]:
        return [value for name in names for value in self.options.get(name, ())]


def understand_program(words: Sequence[Word]) -> Search | FileRead | None:
    """Return the search or read that a program with its arguments does; None for anything else."""
    folder, name = posixpath.split(words[0].text)
    program = _PROGRAMS.get(name) if folder in _PROGRAM_FOLDERS else None
    return None if program is None else program(words[1:])


def is_filter(words: Sequence[Word]) -> bool:
    """Tell whether a program only passes on part of its input, without side effects."""
    name, rest = words[0].text, [word.text for word in words[1:]]
    if name in ("head", "tail", "wc", "cut", "tr", "nl", "cat", "column"):
        return True
    if name == "sort":
        return not any(word.startswith(("-o", "--o", "--compress", "-T")) for word in rest)
    if name == "uniq":
        return all(word.startswith("-") for word in rest)
    return name in ("grep", "egrep", "fgrep", "rg") and not any(
        word.startswith(("--pre", "--hostname")) for word in rest
    )


def _options(flags: str, valued: str) -> _Options:
    return _Options(_names(flags), _names(valued))


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _sorted(words: Sequence[Word], known: _Options) -> _Line | None:
    """Parse the arguments like `getopt`; None if an option is unknown or lacks its value."""
    options: dict[str, list[str]] = {}
    operands: list[Word] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        text = word.text
        if text == "--":
            operands += rest
            break
        if text == "-" or not text.startswith("-"):
            operands.append(word)
        elif text.startswith("--"):
            name, has_value, value = text.partition("=")
            if name in known.flags and not has_value:
                options.setdefault(name, []).append("")
            elif name in known.valued and (has_value or rest):
                options.setdefault(name, []).append(value if has_value else rest.pop(0).text)
            else:
                return None
        elif not _take_short(text[1:], rest, known, options):
            return None
    return _Line(options, operands)


def _take_short(letters: str, rest: list[Word], known: _Options, options: dict[str, list[str]]) -> bool:
    """Parse one-letter options that share a word; return whether all are known."""
    for place, letter in enumerate(letters):
        name = f"-{letter}"
        if name in known.flags:
            options.setdefault(name, []).append("")
        elif name in known.valued:
            value = letters[place + 1 :]
            if not value and not rest:
                return False
            options.setdefault(name, []).append(value or rest.pop(0).text)
            return True
        else:
            return False
    return True


# -- searches in contents ----------------------------------------------------------------------------------------------

_GREP = _options(
    "-r -R -n -i -y -w -x -F -E -P -G -l -L -c -o -h -H -s -q -I -a -b -T -Z -z -U --recursive"
    " --dereference-recursive --line-number --ignore-case --no-ignore-case --word-regexp --line-regexp"
    " --fixed-strings --extended-regexp --perl-regexp --basic-regexp --files-with-matches --files-without-match"
    " --count --only-matching --no-filename --with-filename --no-messages --quiet --silent --text --byte-offset"
    " --initial-tab --null --color --colour --line-buffered",
    "-A -B -C -m -e -d -D --after-context --before-context --context --max-count --regexp --include --exclude"
    " --exclude-dir --color --colour --binary-files --directories --devices",
)
_RG = _options(
    "-n -N -i -s -S -w -x -F -P -U -l -c -o -h -H -I -q -a -z -u -L -p -b -0 --line-number --no-line-number"
    " --ignore-case --case-sensitive --smart-case --word-regexp --line-regexp --fixed-strings --no-fixed-strings"
    " --pcre2 --multiline --multiline-dotall --files-with-matches --files-without-match --count --count-matches"
    " --only-matching --with-filename --no-filename --quiet --text --unrestricted --hidden --no-hidden --no-ignore"
    " --no-ignore-vcs --no-ignore-parent --follow --pretty --heading --no-heading --column --no-column --vimgrep"
    " --json --trim --stats --no-messages --null --crlf --no-config --byte-offset --passthru --files"
    " --one-file-system --no-require-git --glob-case-insensitive --binary --include-zero --no-unicode"
    " --max-columns-preview --sort-files --block-buffered --line-buffered -.",
    "-A -B -C -m -e -g -t -T -j -M -d -r -E --after-context --before-context --context --max-count --regexp"
    " --glob --iglob --type --type-not --type-add --threads --max-columns --max-depth --maxdepth --replace --sort"
    " --sortr --color --colors --context-separator --field-match-separator --field-context-separator --encoding"
    " --engine --max-filesize --dfa-size-limit --regex-size-limit --path-separator --ignore-file",
)
_GIT_GREP = _options(
    "-n -i -w -F -E -P -G -l -L -c -o -h -H -q -a -I -p -W -r -z --line-number --ignore-case --word-regexp"
    " --fixed-strings --extended-regexp --perl-regexp --basic-regexp --files-with-matches --name-only"
    " --files-without-match --count --only-matching --quiet --text --show-function --function-context --cached"
    " --untracked --no-index --recurse-submodules --heading --break --column --full-name --color --no-color"
    " --all-match --and --or --null --exclude-standard",
    "-A -B -C -m -e --after-context --before-context --context --max-count --max-depth --threads --color",
)
_AG = _options(
    "-i -s -S -w -l -L -c -Q -F -o -H -a -u -U -n -r -R -f -v -0 --ignore-case --case-sensitive --smart-case"
    " --word-regexp --files-with-matches --files-without-matches --count --literal --fixed-strings --only-matching"
    " --filename --nofilename --heading --noheading --nogroup --group --nocolor --color --numbers --nonumbers"
    " --column --hidden --all-types --all-text --unrestricted --follow --recurse --vimgrep --nobreak --break"
    " --python --js --ts --ruby --go --rust --java --cpp --cc --csharp --php --html --css --json --yaml --swift"
    " --kotlin --scala --elixir --perl --shell --haskell --lua --sql --xml --make --cmake --markdown --vim --proto"
    " --coffee --dart --clojure --erlang --ocaml --typescript --jsx",
    "-A -B -C -m -G -g -p --after --before --context --max-count --file-search-regex --ignore --ignore-dir"
    " --depth --path-to-ignore --type -t --type-add --known-types --after-context --before-context",
)
_FIXED = ("-F", "-Q", "--fixed-strings", "--literal")
_CASE = ("-i", "-y", "-S", "--ignore-case", "--smart-case")
_WORD = ("-w", "--word-regexp")
_FILES = ("-l", "-L", "--files-with-matches", "--files-without-match", "--name-only", "-q", "--quiet")
_COUNT = ("-c", "--count", "--count-matches")
_CONTENT_GLOBS = ("-g", "--glob", "--iglob", "--include")


def _content_search(line: _Line | None, syntax: Syntax) -> Search | None:
    """Return the search for parsed arguments: patterns by option or the first operand, then paths."""
    if line is None:
        return None
    patterns, operands = line.values("-e", "--regexp"), list(line.operands)
    if not patterns and operands:
        patterns = [operands.pop(0).text]
    if not patterns or not patterns[0]:
        return None
    if line.has(*_FIXED):
        syntax = "fixed"
    elif syntax == "basic" and line.has("-E", "-P", "--extended-regexp", "--perl-regexp"):
        syntax = "regex"
    globs = [glob for glob in line.values(*_CONTENT_GLOBS) if not glob.startswith("!")]
    return Search(
        ("\\|" if syntax == "basic" else "|").join(patterns) if syntax != "fixed" else patterns[0],
        syntax,
        tuple(operand.text for operand in operands if not operand.is_glob),
        (*globs, *(operand.text for operand in operands if operand.is_glob)),
        ignores_case=line.has(*_CASE),
        is_word=line.has(*_WORD),
        lists_files=line.has(*_FILES),
        counts=line.has(*_COUNT),
    )


def _grep(words: Sequence[Word], syntax: Syntax = "basic") -> Search | None:
    line = _sorted(words, _GREP)
    found = _content_search(line, syntax)
    if found is None or line is None:
        return None
    is_recursive = line.has("-r", "-R", "--recursive", "--dereference-recursive")
    reads_input = not is_recursive and not found.paths and not found.globs
    return None if reads_input or "-" in found.paths else found


def _egrep(words: Sequence[Word]) -> Search | None:
    return _grep(words, "regex")


def _fgrep(words: Sequence[Word]) -> Search | None:
    return _grep((Word("-F"), *words))


def _rg(words: Sequence[Word]) -> Search | None:
    line = _sorted(words, _RG)
    if line is None or not line.has("--files"):
        return _content_search(line, "regex")
    globs = [glob for glob in line.values("-g", "--glob", "--iglob") if not glob.startswith("!")]
    paths = tuple(operand.text for operand in line.operands)
    return Search(globs[0], "glob", paths, tuple(globs), is_for_names=True) if globs else None


def _git(words: Sequence[Word]) -> Search | None:
    folder, rest = "", list(words)
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option == "-C" and rest and not rest[0].is_glob:
            folder = posixpath.join(folder, rest.pop(0).text)
        elif option not in ("--no-pager", "-P"):
            return None
    if not rest or rest.pop(0).text != "grep":
        return None
    places = [place for place, word in enumerate(rest) if word.text == "--"]
    end = places[0] if places else len(rest)
    found = _content_search(_sorted(rest[:end], _GIT_GREP), "basic")
    if found is None or (found.paths and places):
        return None  # it searches a revision, not the checkout
    behind = rest[end + 1 :]
    is_pattern = [word.is_glob or "*" in word.text for word in behind]
    return found._replace(
        folder=folder,
        paths=(*found.paths, *(word.text for word, glob in zip(behind, is_pattern, strict=True) if not glob)),
        globs=(*found.globs, *(word.text for word, glob in zip(behind, is_pattern, strict=True) if glob)),
    )


def _ag(words: Sequence[Word]) -> Search | None:
    line = _sorted(words, _AG)
    if line is None or line.has("-v"):
        return None
    if not line.has("-g"):
        return _content_search(line, "regex")
    return Search(line.values("-g")[0], "regex", tuple(word.text for word in line.operands), is_for_names=True)


# -- searches for names of files ---------------------------------------------------------------------------------------

_FIND_TESTS = _names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -maxdepth -mindepth -newer"
    " -anewer -cnewer -mtime -mmin -ctime -cmin -atime -amin -size -perm -user -group -printf -regextype -links"
    " -inum -newermt"
)
_FIND_FLAGS = _names(
    "-print -print0 -o -or -a -and -not ! ( ) , -prune -ls -empty -true -false -depth -xdev -mount -follow"
    " -daystart -readable -executable -writable -quit -noleaf -nouser -nogroup -warn -nowarn"
)
_FIND_NAMES = {"-name": False, "-iname": True, "-path": False, "-ipath": True, "-wholename": False, "-regex": False}
_FD = _options(
    "-H -I -u -s -i -g -F -a -l -L -p -0 -1 -q --hidden --no-ignore --unrestricted --case-sensitive --ignore-case"
    " --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path --print0 --no-ignore-vcs"
    " --quiet --strip-cwd-prefix --prune --one-file-system --show-errors",
    "-d -t -e -E -S -c -j -o --max-depth --min-depth --exact-depth --type --extension --exclude --size"
    " --changed-within --changed-before --color --threads --max-results --base-directory --search-path --owner"
    " --format",
)
_LS = _options(
    "-l -a -A -1 -R -h -t -r -S -d -F -p -s -i -n -g -o -G -U -X -v -c -u -L -k -x -m --all --almost-all"
    " --recursive --human-readable --reverse --directory --classify --color --group-directories-first --full-time",
    "--color --sort --time --format --time-style -I --ignore",
)


def _find(words: Sequence[Word]) -> Search | None:
    rest = list(words)
    while rest and rest[0].text in ("-H", "-L", "-P", "-E"):
        rest.pop(0)
    paths: list[str] = []
    while rest and not rest[0].text.startswith("-") and rest[0].text not in ("!", "("):
        paths.append(rest.pop(0).text)
    pattern, syntax, ignores_case, is_negated = "", "glob", False, False
    while rest:
        test = rest.pop(0).text
        if test in _FIND_FLAGS:
            is_negated = test in ("!", "-not")
            continue
        if test not in _FIND_TESTS or not rest:
            return None  # such as `-exec` and `-delete`
        value = rest.pop(0).text
        if test in _FIND_NAMES and not pattern and not is_negated:
            pattern, ignores_case = value, _FIND_NAMES[test]
            syntax = "regex" if test == "-regex" else "glob"
        is_negated = False
    if not pattern:
        return None
    kind: Syntax = "regex" if syntax == "regex" else "glob"
    return Search(pattern, kind, tuple(paths), ignores_case=ignores_case, is_for_names=True)


def _fd(words: Sequence[Word]) -> Search | None:
    line = _sorted(words, _FD)
    if line is None or not line.operands or line.has("-o", "--format"):
        return None
    pattern, *paths = (word.text for word in line.operands)
    syntax: Syntax = "glob" if line.has("-g", "--glob") else "fixed" if line.has("-F", "--fixed-strings") else "regex"
    globs = tuple(f"*.{extension}" for extension in line.values("-e", "--extension"))
    return Search(pattern, syntax, tuple(paths), globs, ignores_case=line.has("-i", "--ignore-case"), is_for_names=True)


def _ls(words: Sequence[Word]) -> Search | None:
    line = _sorted(words, _LS)
    globs = [] if line is None else [word.text for word in line.operands if word.is_glob]
    return Search(globs[0], "glob", globs=tuple(globs), is_for_names=True) if globs else None


# -- reads of one file -------------------------------------------------------------------------------------------------

_CAT = _options(
    "-n -A -b -e -E -s -t -T -u -v --number --number-nonblank --show-all --squeeze-blank --show-ends --show-tabs", ""
)
_NL = _options("-p --no-renumber", "-b -w -s -n -v -i --body-numbering --number-width --number-separator")
_BAT = _options(
    "-p -pp -P -n -A --plain --number --no-pager --show-all",
    "-r --line-range --style --paging --color -l --language --theme --decorations --tabs --wrap -H --highlight-line",
)
_LESS = _options("-N -S -R -X -F -M -i -r -E -e -m", "")
_HEAD = _options("-q -v --quiet --silent --verbose", "-n --lines")
_SED = _options("-n --quiet --silent -E -r", "-e --expression")
_SED_RANGE = re.compile(r"(\d+)(?:,(\d+|\$))?p;?")
_BAT_RANGE = re.compile(r"(\d*):(\d*)")


def _whole(words: Sequence[Word], known: _Options) -> FileRead | None:
    line = _sorted(words, known)
    return None if line is None else _read(line.operands)


def _read(operands: Sequence[Word], offset: int = 0, limit: int = 0) -> FileRead | None:
    """Return the read of the only operand, None if there is not exactly one."""
    if len(operands) != 1 or operands[0].is_glob or operands[0].text in ("", "-"):
        return None
    return FileRead(operands[0].text, offset, limit)


def _cat(words: Sequence[Word]) -> FileRead | None:
    return _whole(words, _CAT)


def _nl(words: Sequence[Word]) -> FileRead | None:
    return _whole(words, _NL)


def _less(words: Sequence[Word]) -> FileRead | None:
    return _whole(words, _LESS)


def _head(words: Sequence[Word]) -> FileRead | None:
    short = [Word(f"-n{word.text[1:]}") if re.fullmatch(r"-\d+", word.text) else word for word in words]
    line = _sorted(short, _HEAD)
    if line is None:
        return None
    count = _number((line.values("-n", "--lines") or ["10"])[-1])
    return _read(line.operands, 1, count) if count else None


def _tail(words: Sequence[Word]) -> FileRead | None:
    """Return a read from a line to the end; counting lines from the end is left alone."""
    if words and re.fullmatch(r"\+\d+", words[0].text):
        words = [Word(f"-n{words[0].text}"), *words[1:]]
    line = _sorted(words, _HEAD)
    if line is None:
        return None
    start = (line.values("-n", "--lines") or [""])[-1]
    first = _number(start.removeprefix("+")) if start.startswith("+") else 0
    return _read(line.operands, first, 0) if first else None


def _sed(words: Sequence[Word]) -> FileRead | None:
    line = _sorted(words, _SED)
    if line is None or not line.has("-n", "--quiet", "--silent"):
        return None
    scripts, operands = line.values("-e", "--expression"), list(line.operands)
    if not scripts and operands:
        scripts = [operands.pop(0).text]
    if len(scripts) != 1 or not (asked := _SED_RANGE.fullmatch(scripts[0].replace(" ", ""))):
        return None
    first = _number(asked[1])
    if asked[2] == "$":
        return _read(operands, first) if first else None
    last = _number(asked[2] or asked[1])
    return _read(operands, first, last - first + 1) if first and last >= first else None


def _bat(words: Sequence[Word]) -> FileRead | None:
    line = _sorted(words, _BAT)
    if line is None:
        return None
    ranges = line.values("-r", "--line-range")
    if not ranges:
        return _read(line.operands)
    asked = _BAT_RANGE.fullmatch(ranges[0])
    if len(ranges) > 1 or not asked:
        return None
    first = _number(asked[1]) or 1
    if not asked[2]:
        return _read(line.operands, first)
    last = _number(asked[2])
    return _read(line.operands, first, last - first + 1) if last >= first else None


def _number(text: str) -> int:
    """Return a number of lines, 0 if it is not a number."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


_PROGRAMS: Mapping[str, Callable[[Sequence[Word]], Search | FileRead | None]] = {
    "grep": _grep, "egrep": _egrep, "fgrep": _fgrep, "rg": _rg, "git": _git, "ag": _ag, "ack": _ag, "find": _find,
    "fd": _fd, "fdfind": _fd, "ls": _ls, "cat": _cat, "nl": _nl, "less": _less, "more": _less, "head": _head,
    "tail": _tail, "sed": _sed, "bat": _bat, "batcat": _bat,
}  # fmt: skip
