"""What a shell command does, as far as memory asks: which programs run, on what, and whether two do the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple
from zlib import crc32

from cairn.memory.command_rules import (
    ALIASES,
    FILTERS,
    MEAN_OTHERWISE,
    PICKERS,
    QUIET_OPTION,
    QUIET_OPTIONS_WITH_VALUES,
    READERS,
    READING_SUBCOMMANDS,
    REMEDIES,
    REVERTS,
    RUNNER_OPTIONS_WITH_VALUES,
    RUNNERS,
    SELECTOR_WITH_VALUE,
    SELECTORS,
    TAKE_NAMES_OF_TESTS,
    TAKE_PATHS,
    TAKE_PATHS_AFTER_A_VERB,
    TARGET,
    WRAPPERS,
    WRITE_TARGET,
    WRITES,
)
from cairn.memory.linear import linear

_MAX_CHARS = 4_000
_MAX_STEPS = 20


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = frozenset({"&&", "||", ";", "|", "&", "|&", "(", ")", ";;", "\n"})
_SEPARATORS = re.compile(r"\n+(?=\S)")
_HEREDOC = re.compile(r"<<-?\s*['\"\\]?\w+['\"]?")


class CommandStep(NamedTuple):
    """One program that a command runs.

    Attributes:
        program: its name, however it is reached: `pytest` for `uv run python -m pytest`.
        base: the words that say what is done, without what only changes the output.
        targets: the paths and names of tests that it is done to; empty for all.
        raw: the words as they were written, without those behind a pipe.
    """

    program: str
    base: tuple[str, ...]
    targets: tuple[str, ...]
    raw: tuple[str, ...]

    @property
    def way(self) -> tuple[str, ...]:
        """How it is done: all words but those that only change the output, and the targets."""
        return tuple(word for word in self.raw if word not in self.targets and not QUIET_OPTION.fullmatch(word))

    @property
    def is_reading(self) -> bool:
        """Whether it only looks at things, or asks a question by its exit code."""
        if self.program in READERS:
            return True
        reading = READING_SUBCOMMANDS.get(self.program, frozenset())
        return len(self.base) > 1 and (
            self.base[1] in reading or self.base[1] in ("--version", "--help", "-h", "version")
        )

    @property
    def is_inline(self) -> bool:
        """Whether the program is written in the command itself: a probe rather than a thing that is done again."""
        return bool({"-c", "-e", "-", "--eval", "-r"} & set(self.raw[1:4])) and self.program in (
            "python", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "deno", "bun", "lua", "Rscript",
        )  # fmt: skip


class Command(NamedTuple):
    """A shell command, taken apart.

    Attributes:
        steps: the programs that do the work.
        is_masked: its exit code may be that of something else: of what stands behind a pipe, `||` or `;`.
        is_filtered: only some lines of its output are shown, so that it shows no error means little.
        folders: that it enters.
    """

    steps: tuple[CommandStep, ...]
    is_masked: bool
    is_filtered: bool
    folders: tuple[str, ...]

    @property
    def work(self) -> tuple[CommandStep, ...]:
        """The steps that do more than look at things."""
        return tuple(step for step in self.steps if not step.is_reading)


@lru_cache(maxsize=256)
def parse_command(text: str) -> Command:
    """Return what a command runs; what cannot be parsed is split at spaces."""
    tokens = _tokens(text)
    steps: list[CommandStep] = []
    is_masked = is_filtered = False
    before = ""
    for operator, words in _parts(tokens):
        is_filter = operator in ("|", "|&") and bool(words) and words[0] in FILTERS
        is_filtered = is_filtered or (is_filter and words[0] in PICKERS)
        is_masked = is_masked or operator == "||" or (operator in ("|", "|&") and bool(steps))
        is_masked = is_masked or (operator in (";", "\n") and bool(steps) and before not in ("cd", "export", "set"))
        if not is_filter and words and (step := _step(words)) is not None:
            steps.append(step)
            before = step.program
    folders = tuple(
        step.raw[1] for step in steps if step.program == "cd" and len(step.raw) > 1 and step.raw[1][:1] != "/"
    )
    return Command(tuple(steps[:_MAX_STEPS]), is_masked, is_filtered, folders)


def _tokens(text: str) -> list[str]:
    text = text[:_MAX_CHARS]
    if here := _HEREDOC.search(text):
        first_line_end = text.find("\n", here.end())
        body = text[here.end() :]
        text = text[: here.start()] + (text[here.end() : first_line_end] if first_line_end >= 0 else "")
        text += f" :heredoc{crc32(body.encode()):x}"
    text = _SEPARATORS.sub(" ; ", text.replace("\\\n", " ").strip())
    lexer = shlex.shlex(text, posix=True, punctuation_chars="&|;<>()")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote that is not closed
        return text.split()


def _parts(tokens: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the operator before each command, and its words without redirections."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    skip = False
    for token in tokens:
        if skip:
            skip = False
        elif token in _OPERATORS:
            parts.append((token, []))
        elif token and set(token) <= set("<>&|"):
            if parts[-1][1] and parts[-1][1][-1] in ("1", "2"):
                parts[-1][1].pop()
            skip = True
        else:
            parts[-1][1].append(token)
    return parts


def _step(words: list[str]) -> CommandStep | None:
    raw = list(words)
    rest = _unwrap(words)
    if not rest:
        return None
    program = PurePosixPath(rest[0]).name
    program = ALIASES.get(program, program)
    arguments = rest[1:]
    if program == "python" and arguments and arguments[0].endswith("manage.py"):
        program, arguments = "manage.py", arguments[1:]
    if program in ("npm", "pnpm", "yarn", "bun") and arguments[:1] in (["run"], ["run-script"]):
        arguments = arguments[1:]
    if program == "npm" and arguments[:1] == ["t"]:
        arguments = ["test", *arguments[1:]]
    if program == "git" and arguments[:1] == ["commit"]:  # its message says nothing of what it does
        arguments = ["commit"]
    base, targets = _sort(program, arguments)
    return CommandStep(program, (program, *base), targets, tuple(raw))


def _unwrap(words: list[str]) -> list[str]:
    """Take off what only starts another program: assignments, `sudo`, `timeout 60`, `uv run`, `python -m`."""
    rest = list(words)
    for _ in range(8):
        while rest and (_ASSIGNMENT.match(rest[0]) or rest[0] in WRAPPERS):
            rest = rest[1:]
        if not rest:
            return rest
        head = ALIASES.get(PurePosixPath(rest[0]).name, PurePosixPath(rest[0]).name)
        if head == "timeout":
            rest = rest[1:]
            while rest and (rest[0].startswith("-") or re.fullmatch(r"[0-9.]+[smhd]?", rest[0])):
                rest = rest[1:]
            continue
        runner = next((names for names in RUNNERS if (head, *rest[1 : len(names)]) == names), None)
        if runner is None:
            return rest
        inner = _without_options(rest[len(runner) :])
        if not inner:
            return rest
        rest = inner
    return rest


def _without_options(words: list[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in RUNNER_OPTIONS_WITH_VALUES else rest[1:]
    return rest


def _sort(program: str, arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the words that say what is done, and those that say to what."""
    base: list[str] = []
    targets: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in SELECTORS and not (word == "-m" and program in ("git", "python")):
            targets += [value for value in [next(words, "")] if value]
        elif selector := SELECTOR_WITH_VALUE.fullmatch(word):
            targets.append(selector["value"])
        elif word in QUIET_OPTIONS_WITH_VALUES and program not in MEAN_OTHERWISE:
            next(words, "")
        elif QUIET_OPTION.fullmatch(word):
            continue
        else:
            (targets if _is_target(program, word, base) else base).append(word)
    return base, tuple(sorted(set(targets)))


def _is_target(program: str, word: str, base: Sequence[str]) -> bool:
    if word.startswith("-"):
        return False
    if program in TAKE_PATHS or (program in TAKE_PATHS_AFTER_A_VERB and base):
        return True
    is_test_name = program in TAKE_NAMES_OF_TESTS and base[:1] in (["test"], ["nextest"])
    return is_test_name or linear(TARGET).fullmatch(word) is not None


def covers(success: CommandStep, failure: CommandStep, *, file: str = "", test: str = "") -> bool:
    """Tell whether a step that succeeded did what another failed at.

    Args:
        success, failure: the steps.
        file, test: what failed, so that a narrower run that includes it counts.
    """
    if success.base != failure.base:
        return False
    if not success.targets:
        return True
    if failure.targets and set(failure.targets) <= set(success.targets):
        return True
    if any(target in (".", "./...", "...") for target in success.targets):
        return True
    if failure.targets and all(_is_within(target, success.targets) for target in failure.targets):
        return True
    return any(_is_hit(target, file, test) for target in success.targets)


def _is_within(target: str, wider: Sequence[str]) -> bool:
    path = target.removeprefix("./")
    return any(path.startswith(root.removeprefix("./").removesuffix("...").rstrip("/")) for root in wider)


def _is_hit(target: str, file: str, test: str) -> bool:
    path, _, name = target.partition("::")
    path = path.removeprefix("./").removesuffix("/...").rstrip("/")
    if name and test:
        return name.split("[")[0].split("::")[-1] in test
    if file and path and (file.endswith(path) or f"{path}/" in f"{file}/"):
        return True
    return bool(test) and len(target) > 3 and (target in test or test in target)


def is_revert(command: str) -> bool:
    """Tell whether a command takes edits back."""
    return linear(REVERTS).search(command[:_MAX_CHARS]) is not None


def is_remedy(command: str) -> bool:
    """Tell whether a command changes what others run in: installs, generates, starts, migrates, cleans."""
    return linear(REMEDIES).search(" ".join(command[:_MAX_CHARS].split())) is not None


def files_written(command: str, root: str = "") -> tuple[str, ...]:
    """Return the files that a command writes by itself, as far as its words tell: `sed -i`, `cat > file`.

    Args:
        command: as it was run.
        root: of the project; paths below it become relative, also where it is in a folder for what is not kept.
    """
    text = command[:_MAX_CHARS]
    if not linear(WRITES).search(text):
        return ()
    below = f"{root.rstrip('/')}/"
    paths = (path.removeprefix(below) if root else path for path in linear(WRITE_TARGET).findall(text))
    return tuple(dict.fromkeys(path for path in paths if not path.startswith(("/tmp", "/dev"))))


def are_alike(failed: CommandStep, success: CommandStep) -> bool:
    """Tell whether two steps try to do the same in two ways, as `npm test` and `pnpm test`."""
    if failed.raw == success.raw:
        return False
    if failed.base == success.base:
        return not (failed.targets and success.targets) or bool(set(failed.targets) & set(success.targets))
    mine, theirs = set(failed.base) | set(failed.targets), set(success.base) | set(success.targets)
    common = {word for word in mine & theirs if len(word) > 1}
    return len(common) >= 1 and len(common) * 2 >= min(len(mine), len(theirs))
