"""`cairn completions`: what a shell completes, and the manual page, from the parser of the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from cairn import __version__
from cairn.cli.examples import EXAMPLES
from cairn.cli.outcomes import EXIT_FOUND
from cairn.cli.render import emit, emit_json


class Flag(NamedTuple):
    """An option of a command: its spellings, what it is for, and the values that it takes."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    choices: tuple[str, ...]


class CompletionEntry(NamedTuple):
    """A command or an action as a shell completes it.

    Attributes:
        words: how it is called, without `cairn`: `("core", "add")`; nothing for the program itself.
        help: what it does.
        flags: its options.
        inner: the commands or actions below it, each with its help.
        usage: how it is called, in one line.
    """

    words: tuple[str, ...]
    help: str
    flags: tuple[Flag, ...]
    inner: Mapping[str, str]
    usage: str

    @property
    def key(self) -> str:
        """The words with spaces between them."""
        return " ".join(self.words)

    @property
    def valued(self) -> list[str]:
        """The options that take a value."""
        return [name for flag in self.flags if flag.takes_value for name in flag.names]


def run_completions(options: argparse.Namespace) -> int:
    """Print the script that a shell reads, or the manual page."""
    text = WRITERS[options.shell](list(read_entries(options.build_parser())))
    if options.json:
        emit_json({"shell": options.shell, "text": text})
    else:
        emit(text.rstrip("\n"))
    return EXIT_FOUND


def read_entries(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = (), about: str = ""
) -> Iterator[CompletionEntry]:
    """Yield what a parser takes, then what its commands and their actions take."""
    flags, inner, below = [], dict[str, str](), dict[str, argparse.ArgumentParser]()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            inner = {choice.dest: choice.help or "" for choice in action._choices_actions}
            below = dict(action.choices)
        elif action.option_strings and action.help != argparse.SUPPRESS:
            choices = tuple(map(str, action.choices or ()))
            help_text = (action.help or "").replace("%%", "%")
            flags.append(Flag(tuple(action.option_strings), help_text, action.nargs != 0, choices))
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    yield CompletionEntry(words, about or parser.description or "", tuple(flags), inner, usage)
    for name, child in below.items():
        yield from read_entries(child, (*words, name), inner[name])


# -- shells ------------------------------------------------------------------------------------------------------------


def write_bash(entries: list[CompletionEntry]) -> str:
    """Return the completion of bash. Where it offers nothing, bash offers files."""
    cases, values = [], []
    for entry in entries:
        offered = [*entry.inner, *(name for flag in entry.flags for name in flag.names)]
        cases.append(f'        "{entry.key}") words="{" ".join(offered)}" ;;')
        for flag in entry.flags:
            if flag.choices:
                spelled = "|".join(f'"{entry.key} {name}"' for name in flag.names)
                values.append(f'        {spelled}) words="{" ".join(flag.choices)}" ;;')
    lines = [
        "# bash completion of cairn; load it with: source <(cairn completions bash)",
        "_cairn() {",
        '    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" key="" word words="" at',
        "    for ((at = 1; at < COMP_CWORD; at++)); do",
        '        word="${COMP_WORDS[at]}"',
        '        case "$word" in',
        "            -C|--state-dir|--color) ((at++)) ;;",
        "            -*) ;;",
        '            *) case "$key" in',
        '                "") key="$word" ;;',
        f"                {'|'.join(entry.key for entry in entries if len(entry.words) == 1 and entry.inner)})",
        '                    key="$key $word"; break ;;',
        "                *) break ;;",
        "            esac ;;",
        "        esac",
        "    done",
        '    case "$key $previous" in',
        *values,
        f"        {'|'.join(f'*{name}' for name in _after_a_space(_valued_names(entries)))}) return ;;",
        "    esac",
        '    [ -n "$words" ] || case "$key" in',
        *cases,
        "    esac",
        '    [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "}",
        "complete -o default -F _cairn cairn",
        "",
    ]
    return "\n".join(lines)


def _valued_names(entries: list[CompletionEntry]) -> list[str]:
    """Return the options that take a value in every command that has them, so that a file may follow."""
    alone = {name for entry in entries for flag in entry.flags if not flag.takes_value for name in flag.names}
    return sorted({name for entry in entries for name in entry.valued} - alone)


def _after_a_space(names: list[str]) -> list[str]:
    return [f'" {name}"' for name in names]


def write_zsh(entries: list[CompletionEntry]) -> str:
    """Return the completion of zsh."""
    lines = [
        "#compdef cairn",
        "# zsh completion of cairn; put it into a folder of $fpath as _cairn: cairn completions zsh > FOLDER/_cairn",
    ]
    for entry in entries:
        lines.append(f"{_zsh_name(entry.words)}() {{")
        specs = [spec for flag in entry.flags for spec in _zsh_flags(flag)]
        if entry.inner:
            lines.append("    local -a commands; commands=(")
            lines += [f"        {_zsh_quoted(f'{name}:{about}')}" for name, about in entry.inner.items()]
            lines += ["    )", "    local context state line; typeset -A opt_args"]
            specs += ["'1: :->command'", "'*:: :->rest'"]
        else:
            specs.append("'*:: :_files'" if entry.words else "'*: :_files'")
        lines += ["    _arguments -C \\", *(f"        {spec} \\" for spec in specs[:-1]), f"        {specs[-1]}"]
        if entry.inner:
            lines += [
                "    case $state in",
                "        command) _describe command commands ;;",
                "        rest) case $line[1] in",
            ]
            lines += [f"            {name}) {_zsh_name((*entry.words, name))} ;;" for name in entry.inner]
            lines += ["        esac ;;", "    esac"]
        lines += ["}", ""]
    return "\n".join([*lines, 'if [ "$funcstack[1]" = _cairn ]; then _cairn "$@"; else compdef _cairn cairn; fi', ""])


def _zsh_name(words: tuple[str, ...]) -> str:
    return "_".join(["_cairn", *words])


def _zsh_flags(flag: Flag) -> Iterator[str]:
    about = re.sub(r"([\[\]:\\])", r"\\\1", flag.help)
    value = f":value:({' '.join(flag.choices)})" if flag.choices else ":value:_files" if flag.takes_value else ""
    for name in flag.names:
        yield _zsh_quoted(f"*{name}[{about}]{value}")


# What fish cannot tell by itself: the commands and arguments given so far, without options and their values.
_FISH_START = """\
# fish completion of cairn; load it with: cairn completions fish | source
function __cairn_words
    set -l is_value no
    for word in (commandline -opc)[2..-1]
        if test $is_value = yes
            set is_value no
            continue
        end
        switch $word
            case -C --state-dir --color
                set is_value yes
            case '-*'
            case '*'
                echo $word
        end
    end
end
function __cairn_at
    test (count (__cairn_words)) -eq (count $argv); and test "$(__cairn_words)" = "$argv"
end
function __cairn_in
    set -l words (__cairn_words)
    test (count $words) -ge (count $argv); and test "$words[1..$(count $argv)]" = "$argv"
end
"""


def write_fish(entries: list[CompletionEntry]) -> str:
    """Return the completion of fish."""
    lines = []
    for entry in entries:
        test = "__cairn_at" if entry.inner else "__cairn_in"
        condition = _fish_quoted(" ".join([test, *entry.words]))
        for name, about in entry.inner.items():
            lines.append(f"complete -c cairn -f -n {condition} -a {name} -d {_fish_quoted(about)}")
        for flag in entry.flags:
            spelled = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
            value = (
                f" -x -a {_fish_quoted(' '.join(flag.choices))}" if flag.choices else " -r" if flag.takes_value else ""
            )
            lines.append(f"complete -c cairn -n {condition} {spelled}{value} -d {_fish_quoted(flag.help)}")
    return "\n".join([_FISH_START, *lines, ""])


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# -- the manual --------------------------------------------------------------------------------------------------------


def write_manual(entries: list[CompletionEntry]) -> str:
    """Return the manual page, in the macros of man(7)."""
    program, *commands = entries
    lines = [
        f'.TH CAIRN 1 "" "cairn {__version__}" "User Commands"',
        ".SH NAME",
        "cairn \\- codebase intelligence for AI coding agents",
        ".SH SYNOPSIS",
        f".B {_roff(program.usage)}",
        ".SH DESCRIPTION",
        _roff(program.help),
        ".SH COMMANDS",
    ]
    for entry in commands:
        lines += [f".SS cairn {_roff(entry.key)}", _roff(f"{entry.help[:1].upper()}{entry.help[1:]}."), ".PP"]
        lines.append(f"\\fB{_roff(entry.usage)}\\fR")
        for flag in entry.flags:
            lines += [".TP", f"\\fB{_roff(', '.join(flag.names))}\\fR", _roff(flag.help)]
        for example in EXAMPLES.get(f"cairn {entry.key}", ()):
            lines += [".PP", ".EX", _roff(f"    {example}"), ".EE"]
    return "\n".join([*lines, ".SH EXIT STATUS", *_EXIT_STATUS, ""])


_EXIT_STATUS = (
    "0: done or found. 1: nothing found. 2: the command line, a setting or a query is invalid.",
    "3: the index cannot be used. 130: interrupted.",
)


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


WRITERS: Mapping[str, Callable[[list[CompletionEntry]], str]] = {
    "bash": write_bash, "zsh": write_zsh, "fish": write_fish, "man": write_manual,
}  # fmt: skip
