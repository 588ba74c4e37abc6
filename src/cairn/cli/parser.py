"""The parser of the command line: words without quotes, options in front of the command, a word on what was meant."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NoReturn

from cairn.cli.flags import add_field
from cairn.cli.outcomes import EXIT_USAGE
from cairn.errors import RequestError
from cairn.fields import Rule
from cairn.loading import load

# The options of every command, which may stand in front of it, too.
_WITH_VALUE = ("-C", "--state-dir", "--color")
_ALONE = ("--json", "--no-daemon")
_HELP = "help"
_DEFAULT_COLUMNS = 80


def in_order(arguments: Sequence[str]) -> list[str]:
    """Return a command line that begins with its command: options in front of it come right behind it.

    `cairn help COMMAND` becomes `cairn COMMAND --help`.
    """
    at = 0
    while at < len(arguments) and (n_words := _words_of_option(arguments[at])):
        at += n_words
    in_front, rest = arguments[:at], arguments[at:]
    if rest and rest[0] == _HELP:
        return [*rest[1:], *in_front, "--help"]
    if not rest or rest[0].startswith("-"):
        return list(rest)
    return [rest[0], *in_front, *rest[1:]]


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; help, and what is wrong with it, is one JSON document if it asks for one."""
    as_json = "--json" in _split(arguments)[0]
    try:
        return parser.parse_args(arguments)
    except WrongCommandLineError as error:
        if as_json:
            document = {"error": RequestError(error.message, error.hint).to_dict()}
            sys.stdout.write(load("json:dumps")(document) + "\n")
        raise
    except _HelpWantedError as wanted:
        text = wanted.parser.format_help()
        sys.stdout.write(load("json:dumps")({"command": wanted.parser.prog, "text": text}) + "\n" if as_json else text)
        raise SystemExit(0) from None


def _words_of_option(word: str) -> int:
    """Return how many words the option of every command takes that begins with a word; 0 for any other word."""
    if word in _WITH_VALUE:
        return 2
    has_value = word.partition("=")[0] in _WITH_VALUE or word.startswith(_WITH_VALUE[0])
    return 1 if word in _ALONE or has_value else 0


class WrongCommandLineError(SystemExit):
    """Ends the process; what is wrong was said on stderr.

    Args:
        message: what is wrong.
        hint: what to do next.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(EXIT_USAGE)
        self.message = message
        self.hint = hint


class _HelpWantedError(Exception):
    """Ends the parsing of a command line that asks for help.

    Args:
        parser: whose help.
    """

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


class _Formatter(argparse.HelpFormatter):
    """Makes the help as wide as the terminal without importing `shutil`, as argparse does for every option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


@cache
def _columns() -> int:
    """Return the width of the terminal as `shutil.get_terminal_size` does."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        columns = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
    except (ValueError, OSError):  # closed, or no terminal
        columns = 0
    return columns or _DEFAULT_COLUMNS


class _DescribedCommands(argparse._SubParsersAction):  # type: ignore[type-arg] # generic for the checker only
    """Begins the help of a command with what the list of all says of it, unless there is more to say."""

    def add_parser(self, name: str, **options: Any) -> Any:  # noqa: ANN401 - as argparse has it
        """Add a command."""
        if about := options.get("help"):
            options.setdefault("description", f"{about[0].upper()}{about[1:]}.")
        return super().add_parser(name, **options)


_LACKS = "the following arguments are required"  # what argparse says before it looks at unknown options


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line the way every other error is reported, with what was probably meant.

    Attributes:
        words: the argument that takes all words of the command line, if the command has one; see `add_words`.
    """

    words = ""
    _given: Sequence[str] = ()

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - as argparse has it
        super().__init__(*args, **{"formatter_class": _Formatter, **options})
        self.register("action", "parsers", _DescribedCommands)

    def error(self, message: str, hint: str = "") -> NoReturn:
        """End the process."""
        if message.startswith(_LACKS) and (unknown := self._unknown_option(self._given)):
            self._given = ()
            self._refuse_option(unknown)
        hint = hint or f"{self.prog} --help"
        self._print_message(f"error: {message}\n  try: {hint}\n", sys.stderr)
        raise WrongCommandLineError(message, hint)

    def print_help(self, file: Any = None) -> NoReturn:  # noqa: ANN401 - as argparse has it
        """Leave that to `parse`, which knows how."""
        raise _HelpWantedError(self)

    def _print_message(self, message: str, file: Any = None) -> None:  # noqa: ANN401 - as argparse has it
        """Print the version or what is wrong; argparse would not tell that it could not."""
        (file or sys.stderr).write(message)

    def format_help(self) -> str:
        """Return the help, with examples."""
        examples: str = load("cairn.cli.examples:format_examples")(self.prog)
        return super().format_help() + examples

    def parse_known_args(  # type: ignore[override] # the overloads differ in the namespace only
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse a command line; words between options belong to the argument that takes all words."""
        self._given = args or ()
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            words = self._more_words(rest)
            setattr(known, self.words, " ".join(filter(None, (getattr(known, self.words), *words))))
        return known, []

    def _more_words(self, rest: Sequence[str]) -> Sequence[str]:
        """Return the words that no argument took; what looks like an option is an error."""
        options, _, behind = _split(rest)
        for word in options:
            if word.startswith("-") and word != "-":
                self._refuse_option(word)
        if not self.words:
            is_folder = "-C" in self._option_string_actions and os.path.isdir(rest[0])
            self.error(
                f"unexpected argument {rest[0]!r}",
                f"{self.prog} -C {load('shlex:quote')(rest[0])}" if is_folder else "",
            )
        return [*options, *behind]

    def _unknown_option(self, words: Sequence[str]) -> str:
        """Return the first long option among the words of a command line that this command does not have."""
        options = (word for word in _split(words)[0] if word.startswith("--"))
        own = tuple(self._option_string_actions)
        return next((word for word in options if not any(name.startswith(word.partition("=")[0]) for name in own)), "")

    def _refuse_option(self, word: str) -> NoReturn:
        """End the process; a text may begin with a dash, too, where a command takes one."""
        known = {*self._option_string_actions, *(() if " " in self.prog else (*_WITH_VALUE, *_ALONE))}
        meant = _meant(word.partition("=")[0], known)
        as_text = f"{self.prog} -- {load('shlex:quote')(word)}" if self.words and not meant else ""
        self.error(f"unknown option {word!r}{meant}", as_text)

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse has it
        """Make sure that a value is one of the choices, if there are any."""
        if action.choices is None or value in action.choices:
            return
        if isinstance(action, argparse._SubParsersAction):
            what = "command" if action.metavar == "COMMAND" else "action"
            meant = _meant(value, action.choices) or f"; there are {', '.join(action.choices)}"
            raise argparse.ArgumentError(None, f"unknown {what} {value!r}{meant}")
        words = f"must be one of {', '.join(map(str, action.choices))}, not {value!r}"
        raise argparse.ArgumentError(action, f"{words}{_meant(str(value), map(str, action.choices))}")


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """Return the words in front of `--`, it, and those behind it."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at : at + 1], words[at + 1 :]


def _meant(word: str, known: Iterable[str]) -> str:
    """Return the end of a message with what a mistyped word probably stands for; empty if nothing is near."""
    names = {name.lstrip("-"): name for name in sorted(known)}  # that two are options does not make them alike
    near = load("difflib:get_close_matches")(word.lstrip("-"), names, 1)
    return f"; did you mean {names[near[0]]!r}?" if near else ""


class _JoinWords(argparse.Action):
    """Stores words as one text."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Set the value of the argument."""
        setattr(namespace, self.dest, values if isinstance(values, str) else " ".join(map(str, values or ())))


def add_words(command: Parser, name: str, *, rule: Rule, metavar: str, required: bool = True, also: str = "") -> None:
    """Add the argument that takes all words which are not options, as one text: nobody has to quote prose.

    Args:
        also: ends the help.
    """
    count, default = ("+", None) if required else ("*", "")
    add_field(command, name, rule=rule, metavar=metavar, nargs=count, action=_JoinWords, default=default, also=also)
    command.words = name


class _StoreFolder(argparse.Action):
    """Stores the folder given with -C, `.` as `./`: so it counts as named, unlike the current folder by default.

    See `Workspace.containing`.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Set the value of the option."""
        setattr(namespace, self.dest, os.path.join(os.curdir, "") if values == os.curdir else values)


def project_option() -> Parser:
    """Return the option of a command that can be about another project than that of its folder."""
    other = Parser(add_help=False)
    other.add_argument("--project", dest="among", metavar="NAME", help="ask another project: NAME or ORG/NAME")
    return other


def common_options(suppressed: str | None = None) -> Parser:
    """Return the options of every command.

    Args:
        suppressed: `argparse.SUPPRESS` for actions below a command that takes them, too: their defaults would replace
            what stands before the action.
    """
    common = Parser(add_help=False)
    common.add_argument(
        "-C",
        dest="project",
        metavar="PATH",
        default=suppressed or ".",
        action=_StoreFolder,
        help="the project (default: this folder's)",
    )
    for flag, text in (
        ("--json", "print one JSON document and nothing else"),
        ("--no-daemon", "answer in this process even if the daemon is running"),
    ):
        common.add_argument(flag, action="store_true", default=suppressed or False, help=text)
    common.add_argument(
        "--state-dir", metavar="DIR", default=suppressed, help="keep the index in DIR instead of .cairn"
    )
    common.add_argument(
        "--color",
        metavar="WHEN",
        choices=("auto", "always", "never"),
        default=suppressed or "auto",
        help="auto (default: on a terminal, unless NO_COLOR is set), always or never",
    )
    return common
