"""Tells what programs print from what people write: traces, and what compilers, linters and test runners say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cairn.source.frames import read_frames

_LINES_OF_BEGINNING = 6
_PATH = r"(?:[A-Za-z]:[\\/])?[\w./\\@+~!-]+"
_PLACE = rf"{_PATH}\.\w+:\d"
_GO_FUNCTION = r"[\w/~%-]{1,300}\.[\w./~%\[\]-]{0,300}(?:\(\*?\w[^()\n]{0,80}\)[\w.\[\]-]{1,100})?"
_SIGNAL = r"(?:Program|Thread \d.{0,200}) (?:received|terminated with) signal SIG"  # of gdb

# How a line of a trace, or one that names a place and what is wrong there, begins.
_OF_TRACES = (
    r"File \"[^\"]+\", line \d+|Traceback \(most recent|[~^]+\s*$|\.\.\. \d+ more|Caused by:",
    r"Fatal Python error: |(?:Current t|T)hread 0x[\da-f]+ ",
    # Python's groups of exceptions
    r"[+|] +(?:Exception Group Traceback|Traceback \(most recent|File \"[^\"]+\", line \d)|\+-\+-{4,} \d",
    r"at (?:[\w$.<>/\\ \[\]+|,=]|`\d)+\(|at .+:\d+|[\w$.<>/*]{0,80}@\S+:\d+:\d+$",  # Java, .NET, browsers
    r"from .+:\d+:in |# \S+:\d+:in [`'\"]",  # Ruby, RSpec
    r"#\d+ |\d+ +\S+ +0x[\da-f]+ ",  # PHP, gdb and sanitizers, Apple's crash reports
    r"==\d+==|(?:at|by) 0x[\dA-F]+: |\* thread #\d|(?:\* )?frame #\d+: 0x",  # Valgrind, lldb
    rf"{_SIGNAL}|(?:ERROR|WARNING): \w+Sanitizer: |(?i:(?:previous )?(?:read|write)) of size \d",
    r"\S+\.dart \d+:\d+ {2,}\S|\[\d+\] [^\s(]+\(|@ (?:[\w.]+ )?\S+\.jl:\d|stack traceback:$",  # Dart, Julia, Lua
    # Rust
    r"\d+: +(?:0x[\da-f]+ - )?<?\w+::|stack backtrace:|thread '[^']+'(?: \(\d+\))? panicked at |--> \S+:\d+:\d+$",
    # Go
    r"goroutine \d+|panic\(\{*0x|\[signal SIG|created by .+ in goroutine \d+$",
    rf"{_GO_FUNCTION}\((?:\.\.\.|_|\{{*0x[^()\n]*)\)$",
    r"WARNING: DATA RACE|(?:Previous )?(?:[Rr]ead|[Ww]rite) at 0x[\da-f]+ by |Goroutine \d+ \(\w+\) created at:",
    r"\*\* \((?:exit|EXIT|[A-Z][\w.]*)[^()]*\) |\([\w.-]+ \d[\w.-]*\) \S+:\d",  # Elixir
    r"(?:# +)?\(?(?:from function|in test file) .+, line \d",  # bats
    r"---> [\w.]+(?:Exception|Error)\b|--- End of .+ ---$|[\w.+-]+\.(?:dll|exe)!\w",  # .NET
    r"\[(?:error|warn)\]\s+(?:at |/|[A-Z]:\\|-- )|-- (?:\[E\d+\] )?[\w ]+: \S+:\d+:\d+ -+$",  # sbt and Scala 3
    r"[ew]: (?:file://)?/?\S+\.kts?(?::\d+:\d+ |: \(\d+, ?\d+\): )",  # Kotlin's compiler
    r"[VDIWEF]/[\w.-]+(?:\( *\d+\))?: ",  # Android's log
    r"(?:\| )?\S+ (?:\| )?@ (?:\| )?[\w.-]+\.[mc]?[jt]sx?:\d+",  # Chrome
    r"CallStack \(from HasCallStack\):$|\w+, called at \S+:\d",  # Haskell
    r"\{:?[\w.]+, ?:?[\w\"/-]+[?!]?, ?\d+,(?: ?\[|$)|Stacktrace=\[$",  # terms of Elixir and Erlang
    r"[\u251c\u2570]\u2500\u25b6 |\d+: 0x[\da-f]+ - \S",  # miette's reports; Rust's without names
    rf"{_PATH}(?:\.\w+:\d|: line \d+[:,] |\.\w+\(\d+,\d+\): \w+ )",
)
# How a line of a test runner begins that tells a test, its result or its error.
_OF_TESTS = (
    r"[=_]{5,} .+ [=_]{5,}$|E {3,}\S|FAILED \S+::|[.sxXEF]{5,}\s*\[\s*\d+%\]$",  # pytest
    r"--- FAIL:|=== (?:RUN|PAUSE|CONT|NAME) ",  # go test
    r"(?:FAIL|RUN) {1,4}\S|[\u276f\u00d7\u2713] \S|\u23af{3,}|not ok \d",  # Vitest and Jest, TAP
    r"\[xUnit\.net \d|Failed \S.{0,300} \[<? ?\d[\d.,]* ?m?s\]$|Failure/Error: ",  # .NET, RSpec
)
_LINE = re.compile("|".join((*_OF_TRACES, *_OF_TESTS)))
# A line after one of a trace that belongs to it.
_NEXT = re.compile(
    rf"\s*(?:{_GO_FUNCTION}\(\)$|(?:\d+ +)?\| |= (?:note|help): )|# [\w.-]+(?:/[\w.-]+)+(?: \[\S+\])?$"
    r"|\s*(?:in )?(?:[A-Za-z]:\\|/)\S.{0,500}:line \d+\s*$"  # the place of a frame of .NET, where lines are broken
)
# A line that a program printed, but no trace: an error of Go or Rust, a line of a log in logfmt or JSON.
_ALONE = re.compile(
    r"panic: |fatal error: |error\[E\d{4}\]: "
    r"|(?:t|ts|time|timestamp|level|lvl)=\S+ (?:.{0,1000} )?(?:msg|message|event|err|error)=\S"
    r"|\{\"(?:t|ts|time|@?timestamp|level|lvl|severity|msg|message|event|name)\": ?.{1,1000}[\",} ]$"
)
_ALONE_BEGINS = ("t", "l", '{"', "panic", "fatal", "error[")  # what `_ALONE` finds, told quickly
# What every trace has, and what test runners say of each test and of all: it does not say what went wrong.
_USUAL = re.compile(
    r"[\s|+]*(?:(?:Exception Group )?Traceback \(most recent call last\):|During handling of the above exception,"
    r"|The above exception was the direct cause of|stack (?:backtrace|traceback):|Stacktrace:$"
    rf"|#\d+ |(?:at|by) 0x[\dA-F]+: |(?:\* )?frame #\d+: |{_SIGNAL}"
    r"|note: (?:Some details are omitted, )?run with `RUST_"
    r"|\.{3} \d+ more\b|File \"[^\"\n]+\", line \d|not ok \d|# +\(?(?:from function|in test file) "
    r"|thread '[^'\n]+'(?: \(\d+\))? panicked at |--- (?:End|Ende|Fin) "
    r"|goroutine \d+ \[|created by .+ in goroutine \d|(?:Previous )?(?:[Rr]ead|[Ww]rite) at 0x|Goroutine \d+ \(\w+\) "
    r"|\d+\) \S|(?:\u25cf|FAIL|RUN) .+ [\u203a>] |Failure/Error: |Error Trace:|--- FAIL: "  # a test and its code
    r"|(?:Tests?(?: Files| Suites)?|(?:\[\w+\] )?Tests run): +\d|Test Files +\d|Tests +\d|Failed! +- Failed: "
    r"|Finished in \d|Found \d+ (?:errors?|problems?|offenses?|warnings?|issues?)\b"
    r"|collected \d+ items?|platform \w+ -- |\W{0,2}\d+ (?:(?:runs?|tests?|examples?|assertions?), |tests? completed"
    r"|files? inspected|problems? \(|passed|failed|passing|failing)"
    r"|[=_]{5,} .+ [=_]{5,}$|rspec \S+:\d|FAILURE: Build failed|\* (?:What went wrong|Try):)"
)
# How a text begins that a program printed, where a line alone does not tell.
_BEGINNING = re.compile(
    r"\s*(?:"
    r"(?:panic|fatal error): .*\n(?:\tpanic: .*\n|\[signal .*\n|\n){0,3}goroutine \d"  # Go
    r"|.+\n\s*--> \S+:\d+:\d+\n"  # Rust, Ruff
    rf"|# \S+(?: \[\S+\])?\n(?:vet: )?{_PLACE}|(?:vet|go): {_PLACE}"  # go build, go vet
    r"|running \d+ tests?\n|test \S+(?: - .+)? \.\.\. (?:ok|ignored|FAILED)\n"  # cargo test
    r"|\d+ (?:passing|failing|pending)(?: \([\d.]+ ?[a-z]+\))?\n|Failures:\n\s*1\) "  # Mocha, RSpec
    r"|1\) (?:Error|Failure):\n\S+#\w+"  # Minitest
    r"|Unhandled [Ee]xception[.:] |Exception in thread \""  # .NET, Java
    r"|\S.{0,300} > .{1,300} (?:FAILED|PASSED)\n|> Task :\S|FAILURE: Build failed"  # Gradle
    r"|\[(?:INFO|WARNING|ERROR)\] .*\n\[(?:INFO|WARNING|ERROR)\] "  # Maven
    r"|[^\s:]+\.\w+\n\s+\d+:\d+ +(?:error|warning) "  # ESLint
    r"|ERROR in \S+:\d+:\d+\n|[\u2718\u25b2] \[(?:ERROR|WARNING)\] "  # Webpack, esbuild
    r"|::(?:error|warning|notice) (?:file|line|title)="  # GitHub Actions
    r"|(?:Thread \d+ |Fatal Exception: .*\n|Exception Type: .*\n)?Crashed: .*\n|Thread \d+ Crashed:.*\n"  # Apple
    r"|(?:\d{4}[-/]\d\d[-/]\d\d[ T])?\d\d:\d\d:\d\d[\d.,]* \[?(?i:warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal)\]? "
    r")"
)


def is_printed_line(line: str) -> bool:
    """Tell whether a line is one of a trace, or of the output of a compiler, a linter or a test runner."""
    return _LINE.match(line.lstrip()) is not None


def stands_alone(line: str) -> bool:
    """Tell whether a line that is none of a trace is one that a program printed: an error, or a line of a log."""
    return line.startswith(_ALONE_BEGINS) and _ALONE.match(line) is not None


def goes_on(line: str) -> bool:
    """Tell whether a line that follows one of a trace is one, too."""
    return _NEXT.match(line) is not None


def is_usual(line: str) -> bool:
    """Tell whether a line that a program printed says nothing of what went wrong."""
    return _USUAL.match(line) is not None


def shows_trace(text: str) -> bool:
    """Tell whether a line of a text is one of a trace, or of what a tool prints, or one names a place."""
    return any(map(is_printed_line, text.split("\n"))) or bool(read_frames(text))


def begins_output(lines: Sequence[str], start: int) -> bool:
    """Tell whether what begins at a line is what a program printed."""
    beginning = "\n".join([*lines[start : start + _LINES_OF_BEGINNING], ""])
    return is_printed_line(lines[start]) or _BEGINNING.match(beginning) is not None
