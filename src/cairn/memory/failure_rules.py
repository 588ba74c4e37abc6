# ruff: noqa: E501, RUF001 - a shape is a row, and programs print such signs
"""How programs say that something failed: one row for each way of compilers, test runners, linters and other tools.

Patterns are RE2's, so none can take more than linear time. The first row that matches tells; so rows that say more come first.
"""

from __future__ import annotations

from typing import NamedTuple


class FailureShape(NamedTuple):
    """How an error looks.

    Attributes:
        name: of the tool, and of the shape where it has several.
        kind: what went wrong: see `KINDS`.
        needs: texts, divided by `|`; where none of them is in the output, the pattern is not tried.
        programs: that print it, divided by spaces; empty where any may.
        pattern: its named groups are `file`, `line`, `message`, `code` and `test`, those that it has.
        is_last: the last match tells, not the first.
    """

    name: str
    kind: str
    needs: str
    programs: str
    pattern: str
    is_last: bool = False


KINDS = (
    "test", "compile", "type", "lint", "format", "runtime", "command", "module", "path", "package", "network",
    "permission", "database", "git", "container", "cloud", "build", "other",
)  # fmt: skip

_F = r"(?P<file>(?:[A-Za-z]:[\\/])?[\w@.~+\\/\[\]()$-]*[\w@.~+\\/\[\]$-]+)"
_L = r"(?P<line>[0-9]+)"
_M = r"(?P<message>[^\n]+)"
_PYTEST = "pytest python unittest coverage manage.py django-admin tox nox uv poetry hatch pdm make just"
_JS = "npm npx pnpm yarn bun node vitest jest mocha make just nx turbo deno playwright cypress esbuild next tsx ts-node wrangler lerna gulp"
_JVM = "gradle gradlew mvn mvnw java javac kotlinc make sbt ant"
_C = "make gcc g++ cc c++ clang clang++ cmake ninja meson ctest bazel just zig swift swiftc xcodebuild"
_RUST = "cargo rustc make just cross"
_GO = "go make just gotestsum golangci-lint"
_RUBY = "rspec ruby bundle rake rails make bin/rspec bin/rails"
_PHP = "php phpunit composer artisan make pest vendor/bin/phpunit vendor/bin/pest"
_NET = "dotnet msbuild make nuke"

SHAPES = tuple(
    FailureShape(*row)
    for row in (
        # -- test runners -------------------------------------------------------------------------------------------------
        ("pytest", "test", "FAILED ", _PYTEST, rf"(?m)^FAILED {_F}::(?P<test>[^\n]+?) - {_M}$"),
        ("pytest-error", "test", "ERROR ", _PYTEST, rf"(?m)^ERROR {_F}(?:::(?P<test>[^\n ]+))? - {_M}$"),
        ("pytest-import", "test", "ImportError while importing", _PYTEST, rf"(?m)^ImportError while importing test module '{_F}'\.\n(?:[^\n]*\n)*?E +{_M}$"),
        ("pytest-lines", "test", "\nE  ", _PYTEST, rf"(?m)^E +{_M}\n(?:E [^\n]*\n)*\n?{_F}:{_L}: "),
        ("pytest-bare", "test", "FAILED ", _PYTEST, rf"(?m)^(?P<message>FAILED {_F}::(?P<test>\S+))$"),
        ("pytest-none", "test", "not found: |file or directory not found", _PYTEST, r"(?m)^ERROR: (?P<message>(?:file or directory )?not found: [^\n]+)$"),
        ("doctest", "test", "***Test Failed***|Failed example:", _PYTEST, rf'(?m)^File "{_F}", line {_L}, in (?P<test>\S+)\n(?P<message>Failed example:)'),
        ("unittest", "test", "\nFAIL: |\nERROR: |FAIL: |ERROR: ", _PYTEST, r'(?m)^(?:FAIL|ERROR): (?P<test>\w+ \([\w.]+\)|\w+)[^\n]*\n(?:[^\n]*\n)?-{20,}\n(?:[^\n]*\n)*?  File "(?P<file>[^"]+)", line (?P<line>[0-9]+)[^\n]*\n(?:    [^\n]*\n)+(?P<message>[A-Za-z_][\w.]*(?:Error|Exception|DoesNotExist|Failure)\b[^\n]*)$'),
        ("vitest", "test", " FAIL ", _JS, rf"(?m)^ *(?:❌|×)? *FAIL +(?:\|[^|\n]*\| +)?{_F} > (?P<test>[^\n]+)\n{_M}$"),
        ("jest-suite", "test", "Test suite failed to run", _JS, rf"(?m)^ *FAIL +{_F}[^\n]*\n(?:[^\n]*\n){{0,3}}? *● Test suite failed to run\n\s*\n *{_M}$"),
        ("jest", "test", "● ", _JS, rf"(?m)^ *FAIL +{_F}[^\n]*\n(?:[^\n]*\n){{0,40}}? *● (?P<test>[^\n]+)\n\s*\n *{_M}$"),
        ("jest-test", "test", "● ", _JS, rf"(?m)^ *● (?P<test>[^\n]+ › [^\n]+)\n\s*\n *{_M}$"),
        ("playwright", "test", "] › ", _JS, rf"(?m)^ *[0-9]+\) \[[^\]\n]+\] › {_F}:{_L}:[0-9]+ › (?P<test>[^\n─]+?)[ ─]*\n\s*\n *{_M}$"),
        ("mocha", "test", " failing", _JS, rf"(?m)^ +[0-9]+ failing\n\s*\n +1\) (?P<test>[^\n]+(?:\n +[^\n]+)?:)\n\s*\n? *{_M}$"),
        ("node-test", "test", "not ok ", _JS, rf"(?m)^ *not ok [0-9]+ - (?P<test>[^\n]+)\n(?:[^\n]*\n){{0,8}}?(?: +location: '(?P<file>[^':\n]+):[0-9:]+'\n(?:[^\n]*\n){{0,4}}?)? +error: (?:\|-\n +)?'?{_M}"),
        ("node-test-spec", "test", "✖ failing tests", _JS, rf"(?m)^✖ failing tests:\n\s*\ntest at {_F}:{_L}:[0-9]+\n✖ (?P<test>[^\n(]+) \([0-9.]+ms\)\n +{_M}$"),
        ("tap", "test", "not ok ", "", r"(?m)^not ok [0-9]+ (?:- )?(?P<message>[^\n]+)$"),
        ("bun-test", "test", "(fail) ", "bun npm make", r"(?m)^error: (?P<message>[^\n]+)\n(?:[^\n]*\n)*?\(fail\) (?P<test>[^\n\[]+)"),
        ("deno-test", "test", " FAILURES", "deno make", rf"(?m)^(?P<test>[^\n]+?) => {_F}:{_L}:[0-9]+\nerror: {_M}$"),
        ("go-test-panic", "test", "panic: ", _GO, rf"(?m)^--- FAIL: (?P<test>\S+) [^\n]*\npanic: {_M}\n(?:[^\n]*\n)*?\t(?P<file>[^\s:]+_test\.go):{_L}"),
        ("go-test", "test", "--- FAIL: ", _GO, rf"(?m)^ *--- FAIL: (?P<test>\S+) \([^)\n]*\)\n(?: *--- FAIL: [^\n]*\n)? +{_F}:{_L}: \s*(?:Error Trace:[^\n]*\n\s+Error: +\t?)?{_M}$"),
        ("go-test-bare", "test", "--- FAIL: ", _GO, r"(?m)^ *--- FAIL: (?P<message>(?P<test>\S+))"),
        ("cargo-test", "test", "panicked at", _RUST, rf"(?m)^thread '(?P<test>[^'\n]+)'(?: \([0-9]+\))? panicked at {_F}:{_L}:[0-9]+:\n{_M}$"),
        ("cargo-test-old", "test", "panicked at", _RUST, rf"(?m)^thread '(?P<test>[^'\n]+)' panicked at '{_M}', {_F}:{_L}:[0-9]+"),
        ("gradle-test", "test", " FAILED", _JVM, rf"(?m)^(?P<test>[\w.$]+ > [^\n]+?) FAILED\n +{_M}\n(?: +at (?:app//)?(?:org|java|jdk|kotlin|sun|groovy)[^\n]*\n)*(?: +at [\w.$/<>]*\(?(?P<file>[\w$]+\.(?:java|kt|scala|groovy)):{_L}\)?)?"),
        ("surefire", "test", "[ERROR]", _JVM, rf"(?m)^\[ERROR\] (?:Failures|Errors): *\n\[ERROR\] +(?P<test>[\w.$]+)(?:>[\w.$]+)?:{_L} (?:» )?{_M}$"),
        ("surefire-line", "test", "<<< FAILURE!|<<< ERROR!", _JVM, rf"(?m)^\[ERROR\] (?P<test>[\w.$()]+)[^\n]* <<< (?:FAILURE|ERROR)!\n{_M}$"),
        ("junit-console", "test", "JUnit Jupiter:|MethodSource", _JVM, rf"(?m)^ +JUnit Jupiter:(?P<test>[^\n]+)\n +MethodSource [^\n]*\n +=> {_M}$"),
        ("scalatest", "test", "*** FAILED ***", "sbt mill make", rf"(?m)^\[info\] - (?P<test>[^\n]+) \*\*\* FAILED \*\*\*(?: \([^)\n]*\))?\n\[info\] +{_M} \({_F}:{_L}\)"),
        ("rspec", "test", "Failure/Error:", _RUBY, rf"(?m)^ +1\) (?P<test>[^\n]+)\n +Failure/Error: [^\n]*\n(?:\s*\n)?(?: {{8,}}[^\n]*\n)?\s*{_M}\n(?:[^\n]*\n){{0,12}}? +# (?P<file>\./[^\s:]+):{_L}"),
        ("rspec-list", "test", "\nrspec ./", _RUBY, rf"(?m)^rspec {_F}:{_L} # {_M}$"),
        ("minitest", "test", "Failure:\n|Error:\n", _RUBY, rf"(?m)^ *(?:[0-9]+\) )?(?:Failure|Error):\n(?P<test>[^\n]+?) \[(?P<file>[^\]:\n]+):{_L}\]:?\n{_M}$"),
        ("phpunit", "test", "::test|There w", _PHP, rf"(?m)^1\) (?P<test>[\w\\]+::\w+)[^\n]*\n{_M}\n(?:[^\n]*\n)*?\n?{_F}:{_L}$"),
        ("pest", "test", "⨯ |FAILED  ", _PHP, rf"(?m)^ +FAILED +(?P<test>[^\n]+?) *\n +{_M}\n(?:[^\n]*\n)*? +at (?P<file>[^\s:]+):{_L}"),
        ("dotnet-test", "test", "Error Message:", _NET, rf"(?m)^ +(?:Failed|\[FAIL\]) (?P<test>\S+)(?: \[[^\]]*\])?\n +Error Message:\n +{_M}\n(?:(?:[^\n]*\n){{0,12}}?[^\n]* in (?P<file>[^\n:]+):line {_L})?"),
        ("gtest", "test", ": Failure\n", "", rf"(?m)^{_F}:{_L}: Failure\n{_M}$"),
        ("catch2", "test", "FAILED:\n", "", rf"(?m)^{_F}:{_L}: FAILED:\n +{_M}$"),
        ("ctest", "test", "The following tests FAILED", _C, r"(?m)^The following tests FAILED:\n\s*[0-9]+ - (?P<message>(?P<test>\S+) \([^)\n]+\))"),
        ("exunit", "test", "1) test ", "mix make", rf"(?m)^ +1\) (?P<test>test [^\n]+)\n +{_F}:{_L}\n +{_M}$"),
        ("xctest", "test", "error: -[|: error: ", "swift xcodebuild make", rf"(?m)^{_F}:{_L}: error: (?:-\[)?(?P<test>\w+[. ]\w+)\]? : {_M}$"),
        ("dart-test", "test", " [E]\n", "dart flutter", rf"(?m)^[0-9:]+ (?:\+[0-9]+ )?-[0-9]+: (?:{_F}: )?(?P<test>[^\n]+) \[E\]\n +{_M}$"),
        ("busted", "test", "Failure → ", "busted make", rf"(?m)^Failure → {_F} @ {_L}\n(?P<test>[^\n]+)\n{_M}$"),
        ("bats", "test", "not ok ", "bats make", rf"(?m)^not ok [0-9]+ (?P<message>[^\n]+)\n# \(in test file {_F}, line {_L}\)"),
        ("prove", "test", "Failed test", "prove perl make", rf"(?m)^# +Failed test '(?P<message>[^\n]+)'\n# +at {_F} line {_L}\."),
        # -- compilers ----------------------------------------------------------------------------------------------------
        ("rustc", "compile", "error[E", _RUST, rf"(?m)^error\[(?P<code>E[0-9]+)\]: {_M}\n +--> {_F}:{_L}:"),
        ("rustc-plain", "compile", " --> ", _RUST, rf"(?m)^error: {_M}\n +--> {_F}:{_L}:"),
        ("tsc", "type", "error TS", f"tsc {_JS}", rf"(?m)^{_F}\({_L},[0-9]+\): error (?P<code>TS[0-9]+): {_M}$"),
        ("tsc-pretty", "type", "error TS", f"tsc {_JS}", rf"(?m)^{_F}:{_L}:[0-9]+ - error (?P<code>TS[0-9]+): {_M}$"),
        ("next-type", "type", "Type error: ", _JS, rf"(?m)^{_F}:{_L}:[0-9]+\nType error: {_M}$"),
        ("tsc-config", "type", "error TS", f"tsc {_JS}", rf"(?m)^error (?P<code>TS[0-9]+): {_M}$"),
        ("csc", "compile", ": error ", _NET, rf"(?m)^ *{_F}\({_L},[0-9]+\): error (?P<code>[A-Z]{{2,8}}[0-9]+): (?P<message>[^\n\[]+)"),
        ("msbuild", "build", ": error ", _NET, rf"(?m)^ *{_F} : error (?P<code>[A-Z]{{2,8}}[0-9]+): (?P<message>[^\n\[]+)"),
        ("kotlinc", "compile", "e: ", _JVM, rf"(?m)^e: (?:file://)?{_F}:(?: \()?{_L}[:,] ?[0-9]+\)?:? {_M}$"),
        ("maven-compiler", "compile", "[ERROR]", _JVM, rf"(?m)^\[ERROR\] {_F}:\[{_L},[0-9]+\] {_M}$"),
        ("javac", "compile", ".java:", f"{_JVM} bazel", rf"(?m)^(?P<file>[^\s:]+\.java):{_L}: error: {_M}$"),
        ("scalac", "compile", "[error] ", "sbt mill scala", rf"(?m)^\[error\] {_F}:{_L}:[0-9]+: {_M}$"),
        ("scala3", "compile", "-- [E", "sbt mill scala scala-cli", rf"(?m)^(?:\[error\] )?-- \[(?P<code>E[0-9]+)\] [^:\n]+: {_F}:{_L}:[0-9]+[^\n]*\n(?:[^\n]*\n){{2}}[^\n|]*\| +{_M}$"),
        ("ghc", "compile", ": error:", "ghc cabal stack make", rf"(?m)^{_F}:{_L}:[0-9-]+: error:(?: \[(?P<code>GHC-[0-9]+)\])?\n +(?:• )?{_M}$"),
        ("clang-tidy", "lint", "error: ", f"clang-tidy {_C}", rf"(?m)^{_F}:{_L}:[0-9]+: error: (?P<message>[^\n]+?) \[(?P<code>[a-z]+-[\w.,-]+)\]$"),
        ("gcc", "compile", "error: ", f"{_C} rustc protoc", rf"(?m)^{_F}:{_L}:(?:[0-9]+:)? (?:fatal )?error: {_M}$"),
        ("ld", "compile", "undefined reference|ld: |Undefined symbols", f"{_C} {_RUST}", r"(?m)^(?:/\S*ld: )?(?:(?P<file>[\w./-]+\.(?:c|cc|cpp|cxx|m|rs)):[^\n]*?: )?(?P<message>undefined reference to [^\n]+|cannot find -l[^\n]+|multiple definition of [^\n]+)$"),
        ("ld-mac", "compile", "Undefined symbols", _C, r'(?m)^Undefined symbols for architecture \w+:\n +(?P<message>"[^\n]+)'),
        ("go-module", "package", "no required module|missing go.sum|cannot find module|is not in std", _GO, rf"(?m)^(?:{_F}:{_L}:[0-9]+: |go: )?(?P<message>[^\n]*(?:no required module provides package|missing go\.sum entry|cannot find module providing|is not in std)[^\n]*)$"),
        ("golangci", "lint", ".go:", "golangci-lint make", rf"(?m)^{_F}:{_L}:[0-9]+: (?P<message>[^\n]+) \((?P<code>[a-z]\w+)\)$"),
        ("go-build", "compile", ".go:", _GO, rf"(?m)^(?:vet: )?(?P<file>[^\s:]+\.go):{_L}:[0-9]+: {_M}$"),
        ("ocaml", "compile", "characters ", "dune ocaml ocamlfind make opam", rf'(?m)^File "{_F}", lines? {_L}[^\n]*\n(?:[^\n]*\n){{0,6}}?Error(?: \([^)\n]*\))?: {_M}$'),
        ("dart", "compile", ": Error: ", "dart flutter", rf"(?m)^{_F}:{_L}:[0-9]+: Error: {_M}$"),
        ("dart-analyze", "lint", "error • |error - ", "dart flutter", rf"(?m)^ *error (?:•|-) (?:{_F}:{_L}:[0-9]+ - )?(?P<message>[^\n•]+)"),
        ("elixir", "compile", "CompileError|** (", "mix elixir iex make", rf"(?m)^(?:\*\* )?\((?P<code>\w+(?:\.\w+)*Error)\) (?:{_F}:{_L}:(?:[0-9]+:)? )?{_M}$"),
        ("elixir-diagnostic", "compile", "└─ ", "mix elixir", rf"(?m)^ +error: {_M}\n(?:[^\n]*\n){{0,8}}? *└─ {_F}:{_L}"),
        ("erlang", "compile", ".erl:", "rebar3 erlc make", rf"(?m)^(?P<file>\S+\.erl):{_L}:(?:[0-9]+:)? {_M}$"),
        ("clojure", "compile", "Syntax error ", "clojure clj lein", r"(?m)^Syntax error (?P<message>[^\n]+) at \((?P<file>[^:\n]+):(?P<line>[0-9]+)"),
        ("solc", "compile", "Error: ", "forge hardhat solc npx", rf"(?m)^(?:[A-Za-z]*Error)(?: \((?P<code>[0-9]+)\))?: {_M}\n +--> {_F}:{_L}:"),
        ("latex", "compile", "\nl.", "pdflatex latexmk xelatex lualatex make", rf"(?m)^! {_M}\n(?:[^\n]*\n){{0,4}}?l\.{_L}"),
        ("nix", "build", "error: ", "nix nix-build nix-shell nixos-rebuild", rf"(?m)^ *error: {_M}\n(?:[^\n]*\n){{0,6}}? +at {_F}:{_L}:"),
        ("svelte", "type", "Error: ", f"svelte-check {_JS}", rf"(?m)^{_F}:{_L}:[0-9]+\nError: {_M}$"),
        ("protoc", "compile", ".proto:", "protoc buf make go", rf"(?m)^(?P<file>\S+\.proto):{_L}:[0-9]+:{_M}$"),
        # -- types, linters, formatters -----------------------------------------------------------------------------------
        ("mypy", "type", ": error: ", f"mypy dmypy pre-commit {_PYTEST}", rf"(?m)^{_F}:{_L}:(?:[0-9]+:)? error: (?P<message>[^\n]+?)(?:  \[(?P<code>[a-z-]+)\])?$"),
        ("pyright", "type", " - error: ", f"pyright basedpyright npx {_PYTEST}", rf"(?m)^ *{_F}:{_L}:[0-9]+ - error: (?P<message>[^\n]+?)(?: \((?P<code>report\w+)\))?$"),
        ("ty", "type", "error[", f"ty uvx {_PYTEST}", rf"(?m)^error\[(?P<code>[a-z-]+)\]: {_M}\n +--> {_F}:{_L}:"),
        ("ruff", "lint", " --> ", f"ruff pre-commit uvx {_PYTEST}", rf"(?m)^(?P<code>[A-Z]{{1,5}}[0-9]{{2,4}}|invalid-syntax):? (?:\[\*\] )?{_M}\n +--> {_F}:{_L}:"),
        ("ruff-line", "lint", ".py:", f"ruff flake8 pycodestyle pre-commit uvx {_PYTEST}", rf"(?m)^(?P<file>\S+\.pyi?):{_L}:[0-9]+: (?P<code>[A-Z]{{1,5}}[0-9]{{2,4}}|SyntaxError):? (?:\[\*\] )?{_M}$"),
        ("pylint", "lint", ".py:", f"pylint pre-commit {_PYTEST}", rf"(?m)^(?P<file>\S+\.py):{_L}:[0-9]+: (?P<code>[EFWCR][0-9]{{4}}): {_M}$"),
        ("bandit", "lint", ">> Issue:", "bandit pre-commit", rf"(?m)^>> Issue: \[(?P<code>B[0-9]+)[^\]]*\] {_M}\n(?:[^\n]*\n){{0,4}}? +Location: {_F}:{_L}"),
        ("eslint", "lint", "  error  ", f"eslint {_JS} pre-commit", rf"(?m)^{_F}\n(?: +[0-9]+:[0-9]+ +warning [^\n]*\n)* +{_L}:[0-9]+ +error +(?P<message>[^\n]+?)(?:  +(?P<code>[\w@/-]+))?$"),
        ("next-lint", "lint", "Error: ", _JS, rf"(?m)^(?P<file>\./\S+)\n(?:{_L}:[0-9]+  Warning: [^\n]*\n)*[0-9]+:[0-9]+  Error: (?P<message>[^\n]+?)(?:  (?P<code>[\w@/-]+))?$"),
        ("biome", "lint", " lint/|parse ━", f"biome {_JS}", rf"(?m)^{_F}:{_L}:[0-9]+ (?P<code>lint/\S+|parse)[^\n]*\n\s*\n +(?:×|✖) {_M}$"),
        ("oxlint", "lint", "╭─[", f"oxlint {_JS}", rf"(?m)^ +× (?:(?P<code>[\w-]+\([\w/-]+\)): )?{_M}\n +╭─\[{_F}:{_L}:"),
        ("stylelint", "lint", "✖  ", f"stylelint {_JS}", rf"(?m)^{_F}\n +{_L}:[0-9]+ +✖ +(?P<message>[^\n]+?)  +(?P<code>[\w/-]+)$"),
        ("rubocop", "lint", ": C: |: W: |: E: |: F: ", "rubocop bundle rake", rf"(?m)^{_F}:{_L}:[0-9]+: [CWEF]: (?:\[Correctable\] )?(?P<code>[\w/]+): {_M}$"),
        ("shellcheck", "lint", "SC", "shellcheck pre-commit make", rf"(?m)^In {_F} line {_L}:\n(?:[^\n]*\n){{1,3}}? *\^[-^]* (?P<code>SC[0-9]+) \((?:error|warning|info|style)\): {_M}$"),
        ("shellcheck-line", "lint", "[SC", "shellcheck pre-commit make", rf"(?m)^{_F}:{_L}:[0-9]+: (?:error|warning|note): (?P<message>[^\n]+) \[(?P<code>SC[0-9]+)\]$"),
        ("hadolint", "lint", " DL|SC", "hadolint make docker", rf"(?m)^{_F}:{_L} (?P<code>(?:DL|SC)[0-9]+)(?: \w+)?: {_M}$"),
        ("yamllint", "lint", "[error]|  error  ", "yamllint pre-commit", rf"(?m)^{_F}:{_L}:[0-9]+: \[error\] (?P<message>[^\n(]+?)(?: \((?P<code>[\w-]+)\))?$"),
        ("actionlint", "lint", ".yml:|.yaml:", "actionlint make", rf"(?m)^(?P<file>\S+\.ya?ml):{_L}:[0-9]+: (?P<message>[^\n]+) \[(?P<code>[\w-]+)\]$"),
        ("markdownlint", "lint", " MD", "markdownlint markdownlint-cli2 npx", rf"(?m)^{_F}:{_L}(?::[0-9]+)? (?:error )?(?P<code>MD[0-9]+)(?:/[\w-]+)* {_M}$"),
        ("phpstan", "lint", "  Line   ", f"phpstan {_PHP} vendor/bin/phpstan", rf"(?m)^  Line   {_F} *\n -[- ]+\n +{_L} +{_M}$"),
        ("psalm", "lint", "ERROR: ", f"psalm {_PHP} vendor/bin/psalm", rf"(?m)^ERROR: (?P<code>\w+) - {_F}:{_L}:[0-9]+ - {_M}$"),
        ("ktlint", "lint", ".kt:", "ktlint gradle gradlew", rf"(?m)^(?P<file>\S+\.kts?):{_L}:[0-9]+:? {_M}$"),
        ("swiftlint", "lint", ": error: ", "swiftlint", rf"(?m)^{_F}:{_L}:[0-9]+: error: (?P<message>[^\n]+) \((?P<code>\w+)\)$"),
        ("checkstyle", "lint", "[ERROR]", _JVM, rf"(?m)^\[ERROR\] {_F}:{_L}(?::[0-9]+)?: (?P<message>[^\n\[]+) \[(?P<code>\w+)\]"),
        ("credo", "lint", "┃ ", "mix", rf"(?m)^┃ \[[A-Z]\] \S+ {_M}\n┃ +{_F}:{_L}"),
        ("sqlfluff", "lint", "L:  ", "sqlfluff", rf"(?m)^== \[{_F}\] FAIL\nL: +{_L} \| P: +[0-9]+ \| (?P<code>\w+) \| {_M}$"),
        ("codespell", "lint", " ==> ", "codespell pre-commit", rf"(?m)^{_F}:{_L}: (?P<message>\S+ ==> [^\n]+)$"),
        ("black", "format", "would reformat ", f"black ruff pre-commit {_PYTEST}", r"(?m)^(?P<message>[Ww]ould reformat:? (?P<file>\S+))$"),
        ("prettier", "format", "[warn] ", f"prettier {_JS}", r"(?m)^\[warn\] (?P<message>(?P<file>[^\s]+\.\w+))$"),
        ("prettier-syntax", "lint", "[error] ", f"prettier {_JS}", rf"(?m)^\[error\] {_F}: (?P<message>[^\n]+?) \({_L}:[0-9]+\)$"),
        ("rustfmt", "format", "Diff in ", _RUST, r"(?m)^(?P<message>Diff in (?P<file>[^\s:]+)(?: at line |:)(?P<line>[0-9]+):?)"),
        ("terraform-fmt", "format", "terraform fmt", "terraform tofu", r"(?m)^(?P<message>\S+\.tf is not formatted)"),
        ("spotless", "format", "Run './gradlew :spotlessApply", _JVM, r"(?m)^ +(?P<message>(?P<file>src/\S+))$"),
        # -- bundlers and builds ------------------------------------------------------------------------------------------
        ("esbuild", "build", "[ERROR]", _JS, rf"(?m)^(?:✘|X) \[ERROR\] {_M}\n\s*\n +{_F}:{_L}:"),
        ("vite", "build", "error during build", f"vite {_JS}", rf"(?m)^error during build:\n(?:\[[^\]]*\] )?{_M}(?:\n(?:[^\n]*\n)*?file: {_F}:{_L})?"),
        ("webpack", "build", "ERROR in ", f"webpack {_JS}", rf"(?m)^ERROR in {_F}(?:[ :]{_L}:[^\n]*)?\n{_M}$"),
        ("next-build", "build", "Failed to compile", _JS, rf"(?m)^Failed to compile\.?\n\s*\n(?:{_F}(?::{_L}:[0-9]+)?\n)?{_M}$"),
        ("rollup", "build", "RollupError|rollup", f"rollup {_JS}", rf"(?m)^(?:\[!\] )?(?:\([^)\n]*\) )?RollupError: (?:{_F} \({_L}:[0-9]+\): )?{_M}$"),
        ("babel", "build", "SyntaxError: ", _JS, rf"(?m)^SyntaxError: {_F}: (?P<message>[^\n]+?) \({_L}:[0-9]+\)$"),
        ("cmake", "build", "CMake Error", _C, rf"(?m)^CMake Error(?: at {_F}:{_L}(?: \([^)\n]*\))?)?:(?:\n\s*)?\s*{_M}$"),
        ("meson", "build", "ERROR: ", "meson ninja", rf"(?m)^{_F}:{_L}:[0-9]+: ERROR: {_M}$"),
        ("bazel", "build", "ERROR: ", "bazel bazelisk", rf"(?m)^ERROR: {_F}:{_L}:[0-9]+: {_M}$"),
        ("gradle", "build", "* What went wrong:", _JVM, rf"(?m)^\* What went wrong:\n(?:Execution failed for task [^\n]*\n> )?{_M}$"),
        ("gradle-script", "build", "* Where:", _JVM, rf"(?m)^\* Where:\n(?:Build|Settings) file '{_F}' line: {_L}\n\s*\n\* What went wrong:\n{_M}$"),
        ("maven", "build", "[ERROR]", _JVM, r"(?m)^\[ERROR\] Failed to execute goal (?P<message>[^\n]+)$"),
        ("make-rule", "build", "No rule to make target", "make gmake", r"(?m)^g?make(?:\[[0-9]+\])?: \*\*\* (?P<message>No rule to make target [^\n]+)$"),
        ("make-syntax", "build", "*** ", "make gmake", rf"(?m)^{_F}:{_L}: \*\*\* (?P<message>[^\n]+?)\.  Stop\.$"),
        ("just", "build", "Justfile does not contain", "just", r"(?m)^error: (?P<message>Justfile does not contain recipe[^\n]+)$"),
        ("terraform", "cloud", "│ Error: |Error: ", "terraform tofu terragrunt", rf"(?m)^(?:│ )?Error: {_M}\n(?:[^\n]*\n){{0,4}}?(?:│ )? +on {_F} line {_L}"),
        ("ansible", "cloud", "fatal: [", "ansible-playbook ansible", r'(?m)^fatal: \[[^\]\n]+\]: [A-Z]+! => \{[^\n]*?"msg": "(?P<message>[^"\n]+)'),
        ("pre-commit", "lint", "- hook id: ", "pre-commit git", r"(?m)^(?P<message>[^\n.]+?)\.{3,}Failed\n- hook id: (?P<code>\S+)$"),
        # -- what is missing ----------------------------------------------------------------------------------------------
        ("command", "command", "command not found|: not found|not recognized as", "", r"(?m)^(?:[\w./-]*(?:ba|z|da|k|fi)?sh[^\n:]*: )?(?:line [0-9]+: |[0-9]+: )*(?P<message>(?P<code>[\w./+@-]+): (?:command )?not found)$"),
        ("command-zsh", "command", "command not found: ", "", r"(?m)^(?:zsh[^\n:]*: (?:[0-9]+: )?)?(?P<message>command not found: (?P<code>\S+))$"),
        ("command-fish", "command", "Unknown command", "", r"(?m)^fish: (?P<message>Unknown command:? (?P<code>\S+))"),
        ("command-windows", "command", "is not recognized as", "", r"(?m)(?P<message>'?(?P<code>[\w./+-]+)'? ?: ?(?:The term )?[^\n]*is not recognized as[^\n.]+)"),
        ("spawn", "command", "ENOENT|Failed to spawn", "", r"(?m)(?P<message>(?:spawn (?P<code>\S+) ENOENT|error: Failed to spawn: [^\n]+))"),
        ("npm-script", "command", "issing script", _JS, r'(?m)^(?:npm (?:ERR!|error) )?(?P<message>[Mm]issing script: "?(?P<code>[\w:.-]+)"?)'),
        ("pnpm-script", "command", "None of the selected|ERR_PNPM_NO_SCRIPT|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL|Couldn't find a script|Command \"", _JS, r'(?m)^ ?(?:ERR_PNPM_\w+ +|error |Usage Error: )?(?P<message>(?:Missing script: [^\n]+|Command "[^"\n]+" not found[^\n]*|Couldn\'t find a script named "[^"\n]+"))'),
        ("cargo-command", "command", "no such command|no such subcommand", _RUST, r"(?m)^error: (?P<message>no such (?:sub)?command: `(?P<code>[\w-]+)`)"),
        ("python-module", "module", "No module named", "", r"(?m)^(?P<message>(?:\S*python[\w.]*|[\w.]*): No module named (?P<code>[\w.]+))"),
        ("python-import", "module", "ModuleNotFoundError", "", r"(?m)^(?:E +)?(?P<message>ModuleNotFoundError: No module named '(?P<code>[\w.]+)')"),
        ("node-module", "module", "Cannot find module|ERR_MODULE_NOT_FOUND|Cannot find package", "", r"(?m)(?P<message>Cannot find (?:module|package) '(?P<code>[^'\n]+)'[^\n]*)"),
        ("ruby-gem", "module", "cannot load such file", "", r"(?m)(?P<message>cannot load such file -- (?P<code>\S+))"),
        ("shared-library", "module", "error while loading shared libraries", "", r"(?m)(?P<message>error while loading shared libraries: [^\n]+)"),
        # -- packages -----------------------------------------------------------------------------------------------------
        ("npm", "package", "npm ERR! code|npm error code", _JS, r"(?m)^npm (?:ERR!|error) code (?P<code>\w+)\n(?:npm (?:ERR!|error) (?:syscall|path|errno|dest)[^\n]*\n)*npm (?:ERR!|error) (?P<message>[^\n]+)$"),
        ("pnpm", "package", "ERR_PNPM_", _JS, r"(?m)^ ?(?P<code>ERR_PNPM_\w+) +(?P<message>[^\n]+)$"),
        ("yarn", "package", "YN00", _JS, r"(?m)^➤ (?P<code>YN00(?:[13-9][0-9]|0[1-9]|2[0-9])): [^\n]*?(?P<message>The lockfile [^\n]+|[^\n│]*(?:No candidates|not found|doesn't resolve|couldn't)[^\n]+)$"),
        ("yarn-classic", "package", "error Couldn't|error Your lockfile|error An unexpected", _JS, r"(?m)^error (?P<message>(?:Couldn't find|Your lockfile|An unexpected error)[^\n]+)$"),
        ("pip", "package", "ERROR: ", "pip pip3 python python3 make tox", r"(?m)^ERROR: (?P<message>(?:Could not|No matching|Cannot install|ResolutionImpossible|Failed building|Package|Ignored|Invalid requirement)[^\n]+)$"),
        ("uv", "package", "No solution found|× ", "uv uvx make", r"(?m)^ *× (?P<message>(?:No solution found|Failed to|Distribution)[^\n]+(?:\n +╰─▶ [^\n]+)?)"),
        ("poetry", "package", "poetry.lock|version solving failed|SolverProblemError", "poetry make", r"(?m)^(?P<message>[^\n]*(?:changed significantly since poetry\.lock|version solving failed)[^\n]*)$"),
        ("cargo", "package", "error: ", _RUST, r"(?m)^error: (?P<message>(?:failed to select a version|no matching package|failed to get|the lock file|package `[^`\n]+` cannot be|failed to parse manifest|could not find `Cargo)[^\n]*)$"),
        ("bundler", "package", "Could not find|Bundler", _RUBY, r"(?m)^(?P<message>(?:Could not find (?:gem )?[^\n]+ in [^\n]+|Bundler could not find compatible versions[^\n]*|Bundler::\w+: [^\n]+))$"),
        ("composer", "package", "Your requirements could not be resolved", _PHP, r"(?m)^(?P<message>Your requirements could not be resolved[^\n]*)(?:\n\s*\n +Problem 1\n +- [^\n]+)?"),
        ("maven-package", "package", "Could not resolve dependencies|Could not find artifact", _JVM, r"(?m)(?P<message>(?:Could not resolve dependencies|Could not find artifact) [^\n]+)$"),
        ("gradle-package", "package", "Could not resolve |Could not find ", _JVM, r"(?m)^ +> (?P<message>Could not (?:resolve|find) [^\n]+)$"),
        ("apt", "package", "E: ", "apt apt-get sudo docker", r"(?m)^E: (?P<message>[^\n]+)$"),
        ("nuget", "package", "error NU", _NET, r"(?m)error (?P<code>NU[0-9]+): (?P<message>[^\n\[]+)"),
        ("brew", "package", "Error: No available|No formulae", "brew", r"(?m)^(?:Error|Warning): (?P<message>No (?:available|formulae)[^\n]+)$"),
        ("mix-package", "package", "Unchecked dependencies|Hex dependency resolution", "mix", r"(?m)^(?P<message>(?:Unchecked dependencies|Hex dependency resolution failed)[^\n]*(?:\n\* [^\n]+\n +[^\n]+)?)"),
        ("pod", "package", "[!] ", "pod", r"(?m)^\[!\] (?P<message>[^\n]+)$"),
        # -- databases ----------------------------------------------------------------------------------------------------
        ("psql-file", "database", "ERROR:  ", "psql pg_restore make", rf"(?m)^psql:{_F}:{_L}: ERROR:  {_M}$"),
        ("psql", "database", "ERROR:  |FATAL:  ", "psql pg_restore docker make", r"(?m)^(?:psql: )?(?:ERROR|FATAL):  (?P<message>[^\n]+)$"),
        ("psql-connect", "database", "psql: error:", "psql make docker", r"(?m)^psql: error: (?P<message>[^\n]+)$"),
        ("mysql", "database", "ERROR ", "mysql mariadb docker make", r"(?m)^ERROR (?P<code>[0-9]{4}) \(\w+\)(?: at line [0-9]+)?: (?P<message>[^\n]+)$"),
        ("sqlite", "database", "in prepare, |near line", "sqlite3", r"(?m)^(?:Error: in prepare, |Parse error(?: near line [0-9]+)?: |Error: near line [0-9]+: )(?P<message>[^\n]+)$"),
        ("mongo", "database", "Mongo", "mongosh mongo", r"(?m)^(?P<message>Mongo\w*Error(?:\[\w+\])?: [^\n]+)$"),
        ("prisma", "database", "Error: P|Error code: P", f"prisma {_JS}", r"(?m)^(?:Error(?: code)?: )(?P<code>P[0-9]{4})[: ]*\n*\s*(?P<message>[^\n]+)$"),
        ("alembic", "database", "FAILED: ", f"alembic flask {_PYTEST}", r"(?m)^(?:FAILED|ERROR \[[\w.]+\]): (?P<message>(?:Target database|Can't locate revision|Multiple head|No such revision)[^\n]+)$"),
        ("rails-migration", "database", "ActiveRecord::", _RUBY, r"(?m)^(?P<message>ActiveRecord::\w+(?:::\w+)*: ?[^\n]+)$"),
        ("oracle", "database", "ORA-", "sqlplus", r"(?m)^(?P<code>ORA-[0-9]{5}): (?P<message>[^\n]+)$"),
        ("sql-server", "database", "Msg ", "sqlcmd", r"(?m)^Msg (?P<code>[0-9]+), Level [0-9]+[^\n]*\n(?P<message>[^\n]+)$"),
        ("dbt", "database", "Database Error|Compilation Error", "dbt", rf"(?m)^[0-9:]* *(?:Database|Compilation|Runtime) Error in \w+ \S+ \({_F}\)\n[0-9:]* *{_M}$"),
        ("redis", "database", "(error) ", "redis-cli", r"(?m)^\(error\) (?P<message>[^\n]+)$"),
        # -- git, containers, clouds --------------------------------------------------------------------------------------
        ("git-conflict", "git", "CONFLICT (", "git", r"(?m)^CONFLICT \([^)\n]+\): (?P<message>[^\n]*?(?:in (?P<file>\S+))?)$"),
        ("git-push", "git", "! [re", "git", r"(?m)^ ! \[(?:remote )?rejected\] +(?P<message>[^\n]+)$"),
        ("git", "git", "fatal: |error: ", "git gh", r"(?m)^(?:fatal|error): (?P<message>[^\n]+)$"),
        ("docker-build", "container", "failed to solve", "docker docker-compose podman buildah make", r"(?m)failed to solve: (?P<message>[^\n]+)$"),
        ("docker", "container", "Error response from daemon|Cannot connect to the Docker", "docker docker-compose podman make", r"(?m)(?:Error response from daemon: )?(?P<message>(?:Cannot connect to the Docker daemon[^\n]*)|(?:[^\n]+))$"),
        ("kubectl", "container", "Error from server|error: ", "kubectl oc", r"(?m)^(?:Error from server(?: \((?P<code>\w+)\))?|error): (?P<message>[^\n]+)$"),
        ("helm", "container", "Error: ", "helm helmfile", r"(?m)^Error: (?P<message>[^\n]+)$"),
        ("aws", "cloud", "An error occurred (", "", r"(?m)An error occurred \((?P<code>\w+)\) when calling the (?P<message>[^\n]+)$"),
        ("gcloud", "cloud", "ERROR: (gcloud", "gcloud gsutil", r"(?m)^ERROR: \(gcloud[\w.-]*\) (?P<message>[^\n]+)$"),
        # -- programs that ran --------------------------------------------------------------------------------------------
        ("sanitizer", "runtime", "Sanitizer: ", "", rf"(?m)^=+[0-9]+=+ ?ERROR: (?P<message>\w+Sanitizer: [^\n]+?)(?: on address [^\n]*)?\n(?:(?:[^\n]*\n){{0,30}}? +#[0-9]+ 0x\w+ in [^\n]*? {_F}:{_L})?"),
        ("panic-go", "runtime", "panic: ", "", rf"(?m)^panic: {_M}\n(?:[^\n]*\n){{0,12}}?\t{_F}:{_L} \+0x"),
        ("panic-rust", "runtime", "panicked at", "", rf"(?m)^thread '[^'\n]+'(?: \([0-9]+\))? panicked at {_F}:{_L}:[0-9]+:\n{_M}$"),
        ("python-syntax", "runtime", "SyntaxError: |IndentationError: |TabError: ", "", rf'(?m)^ *File "{_F}", line {_L}\n(?:[^\n]*\n){{1,3}}?(?P<message>(?:Syntax|Indentation|Tab)Error: [^\n]+)$'),
        ("python", "runtime", "Traceback (most recent call last)", "", r'(?m)^  File "(?P<file>[^"\n<]+)", line (?P<line>[0-9]+)[^\n]*\n(?: {4,}[^\n]*\n)*(?:  File "[^\n]*(?:site-packages|lib/python|<frozen)[^\n]*\n(?: {4,}[^\n]*\n)*)*(?P<message>[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|DoesNotExist|Failure|Timeout|Refused|NotFound|Denied|Invalid\w*|Undefined\w*|Missing\w*|Conflict|Violation)\b(?::[^\n]*)?)$', True),
        ("node-syntax", "runtime", "SyntaxError: ", "", rf"(?m)^{_F}:{_L}\n(?:[^\n]*\n){{1,4}}?\s*\n?(?P<message>SyntaxError: [^\n]+)$"),
        ("node", "runtime", "\n    at ", "", rf"(?m)^(?:Uncaught )?(?P<message>[A-Za-z]*(?:Error|Exception)(?: \[\w+\])?: [^\n]+)\n(?:[^\n]*\n){{0,4}}?(?: +at [^\n]*(?:node:|node_modules)[^\n]*\n)* +at (?:[^\n(]*\()?(?:file://)?{_F}:{_L}:[0-9]+\)?"),
        ("java", "runtime", "\tat ", "", rf"(?m)^(?:Exception in thread \"[^\"\n]*\" |Caused by: )?(?P<message>(?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b[^\n]*)\n(?:\s+at (?:java|jdk|sun|org\.junit|org\.spring)[^\n]*\n)*\s+at [\w.$/<>]+\({_F}:{_L}\)"),
        ("dotnet", "runtime", "   at ", "dotnet", rf"(?m)^(?:Unhandled exception\. )?(?P<message>(?:[\w]+\.)+\w*Exception[^\n]*)\n(?: +at [^\n]* in {_F}:line {_L})?"),
        ("ruby", "runtime", ".rb:", "", r"(?m)^(?P<file>[^\s:]+\.rb):(?P<line>[0-9]+):(?:in [`'][^'\n]*': )?(?P<message>[^\n]+ \((?:\w+::)*\w*(?:Error|Exception|Interrupt)\))$"),
        ("ruby-syntax", "runtime", "syntax error", "", r"(?m)^(?P<file>[^\s:]+\.rb):(?P<line>[0-9]+): (?P<message>syntax errors?[^\n]*)$"),
        ("php", "runtime", "PHP |Fatal error: |Parse error: ", "", rf"(?m)^(?:PHP )?(?P<message>(?:Fatal|Parse) error:  ?[^\n]+?) in {_F}(?: on line |:){_L}"),
        ("perl", "runtime", " line ", "perl prove", r"(?m)^(?P<message>[^\n]+) at (?P<file>\S+\.p[lm]) line (?P<line>[0-9]+)\.$"),
        ("lua", "runtime", ".lua:", "lua luajit nvim", r"(?m)^(?:lua\S*: )?(?P<file>\S+\.lua):(?P<line>[0-9]+): (?P<message>[^\n]+)$"),
        ("bash-syntax", "runtime", "syntax error|unbound variable", "", r"(?m)^(?P<file>[^\s:]+): line (?P<line>[0-9]+): (?P<message>(?:syntax error[^\n]+|\w+: unbound variable))$"),
        ("r", "runtime", "Error in ", "Rscript R", r"(?m)^(?P<message>Error in [^\n]+(?:\n +[^\n]+)?)$"),
        ("julia", "runtime", "ERROR: LoadError|ERROR: ", "julia", r"(?m)^ERROR: (?:LoadError: )?(?P<message>[^\n]+)$"),
        ("jq", "runtime", "jq: error", "jq", r"(?m)^jq: error[^:\n]*: (?P<message>[^\n]+)$"),
        ("segfault", "runtime", "Segmentation fault|core dumped|Bus error", "", r"(?m)(?P<message>(?:Segmentation fault|Bus error|Aborted|Illegal instruction)[^\n]*)$"),
        # -- the machine --------------------------------------------------------------------------------------------------
        ("port", "network", "ddress already in use|EADDRINUSE", "", r"(?m)(?P<message>[^\n]*(?:[Aa]ddress already in use|EADDRINUSE)[^\n]*)$"),
        ("network", "network", "onnection refused|ECONNREFUSED|Could not resolve host|Name or service not known|ENOTFOUND|ETIMEDOUT", "", r"(?m)(?P<message>[^\n]*(?:[Cc]onnection refused|ECONNREFUSED|Could not resolve host|Name or service not known|ENOTFOUND|ETIMEDOUT)[^\n]*)$"),
        ("certificate", "network", "ertificate verify failed|SELF_SIGNED|self-signed certificate", "", r"(?m)(?P<message>[^\n]*(?:[Cc]ertificate verify failed|SELF_SIGNED|self-signed certificate)[^\n]*)$"),
        ("disk", "other", "No space left on device|ENOSPC", "", r"(?m)(?P<message>[^\n]*(?:No space left on device|ENOSPC)[^\n]*)$"),
        ("memory", "other", "out of memory|OutOfMemory|Out of memory|Cannot allocate memory", "", r"(?m)(?P<message>[^\n]*(?:out of memory|OutOfMemory|Out of memory|Cannot allocate memory)[^\n]*)$"),
        ("permission", "permission", "ermission denied|EACCES|Operation not permitted|read-only file system", "", r"(?m)(?P<message>[^\n]*(?:[Pp]ermission denied|EACCES|Operation not permitted|[Rr]ead-only file system)[^\n]*)$"),
        ("path", "path", "No such file or directory|ENOENT|cannot find the path|no such file or directory", "", r"(?m)(?P<message>[^\n]*(?:[Nn]o such file or directory|ENOENT|cannot find the path)[^\n]*)$"),
        ("usage", "other", "nrecognized arg|nrecognized option|nknown option|nvalid option|unexpected argument|no such option|No such option|nknown flag|unknown shorthand", "", r"(?m)(?P<message>[^\n]*(?:nrecognized (?:arg|option)|nknown option|nvalid option|unexpected argument|[Nn]o such option|nknown flag|unknown shorthand)[^\n]*)$"),
        # -- anything else ------------------------------------------------------------------------------------------------
        ("make", "build", "*** [", "make gmake", r"(?m)^g?make(?:\[[0-9]+\])?: \*\*\* (?P<message>\[[^\n]+\] [^\n]+)$"),
        ("go-fail", "test", "\nFAIL\t|FAIL\t", _GO, r"(?m)^(?P<message>FAIL\t[^\n]+)$"),
        ("exception", "runtime", "Error: |Exception: ", "", r"(?m)^(?P<message>(?:[\w$]+(?:\.|::))*[A-Z][\w$]*(?:Error|Exception): [^\n]+)$"),
        ("error", "other", "rror: |RROR: |rror ", "", r"(?m)^(?:[\w./ -]{1,40}: )?(?:[Ee]rror|ERROR|FATAL|[Ff]atal)(?: \[[^\]\n]*\])?: (?P<message>[^\n]{4,})$"),
    )
)  # fmt: skip
