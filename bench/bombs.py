"""Asks everything about files made to crash, stall or bloat a parser; prints the worst time, memory and dead processes.

    python bench/bombs.py                   # every file, by the command and by the daemon
    python bench/bombs.py --only yaml       # those whose name holds a word
    python bench/bombs.py --write FOLDER    # only write the files

Each file is in a project of its own with an ordinary file beside it. The bar: every command and every daemon ends with
an answer or a message, none takes more than 3 s of processor time or 500 MB in all its processes, and the ordinary file
is found. Caches are cleared before each question, so that each meets the file for the first time.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cairn.source.languages import BY_NAME, LANGUAGES, Language, load_grammar
from processes import cpu_seconds, family, usage_of

MAX_BYTES = 1_000_000
BAR_SECONDS, BAR_MB = 3.0, 500.0
GIVE_UP_SECONDS, STEP_SECONDS = 120, 0.02
LINE_BYTES = 400
# Line breaks would make something else of these.
_LONG_LINES = frozenset(
    {
        "sum",
        "nots",
        "attributes",
        "calls",
        "name",
        "number",
        "line",
        "f-strings",
        "long-names",
        "dashes",
        "one-import",
        "headings",
        "links",
        "emphasis",
        "table",
        "pipes",
    }
)
ORDINARY = "def settle_the_account(amount):\n    return amount + 1\n"
QUESTIONS: dict[str, tuple[str, ...]] = {
    "index": ("index",),
    "outline": ("outline", "{file}"),
    "extract": ("outline", "{file}", "--mode", "extract"),
    "flow": ("flow", "{file}:<module>"),
    "slice": ("slice", "{file}:1"),
    "fetch": ("fetch", "{file}#1"),
    "similar": ("similar", "{file}:1"),
    "context": ("context", "--file", "{file}"),
    "graph": ("impact", "settle_the_account"),
    "search": ("search", "settle the account"),
}
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Bomb(NamedTuple):
    """A hostile file: a name that says what it does, its file name, and its content."""

    name: str
    file: str
    data: bytes


def bombs() -> Iterator[Bomb]:
    """Make all files, the same ones each time."""
    yield from _handmade()
    for language in LANGUAGES:
        for kind, data in _generated(language):
            # A file of a few very long lines is not indexed.
            yield Bomb(f"{language.name}-{kind}", file_of(language), _wrap(data)[:MAX_BYTES])


def file_of(language: Language) -> str:
    """Return a file name by which a file is in a language."""
    return f"bomb{language.extensions[0]}" if language.extensions else language.filenames[0]


def _generated(language: Language) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(language.name)
    tokens = _tokens(language)
    brackets = [bracket for bracket in _PAIRS if bracket in tokens] or ["("]
    mark = chance.choice(brackets)
    yield "unclosed", mark.encode() * 200_000
    yield "balanced", (mark * 300_000 + _PAIRS[mark] * 300_000).encode()
    yield "mixed", "".join(chance.choice(brackets) for _ in range(100_000)).encode()
    yield "soup", " ".join(chance.choice(tokens) for _ in range(200_000)).encode()
    few = chance.sample(tokens, min(3, len(tokens)))
    yield "refrain", (" ".join(few) + " ").encode() * 60_000
    yield "stairs", b"".join(b" " * depth + b"a:\n" for depth in range(1_300))
    yield "noise", bytes(chance.randrange(1, 256) for _ in range(200_000))
    yield "quote", b'x = "' + b"a\\" * 400_000


def _wrap(data: bytes) -> bytes:
    width = LINE_BYTES if max(map(len, data.splitlines()), default=0) > LINE_BYTES else MAX_BYTES
    return b"\n".join(data[start : start + width] for start in range(0, len(data), width))


def _tokens(language: Language) -> list[str]:
    """Return the words and marks of a grammar, and some that all languages have."""
    grammar = load_grammar(language)
    kinds = {
        kind
        for number in range(grammar.node_kind_count)
        if not grammar.node_kind_is_named(number) and (kind := grammar.node_kind_for_id(number))
    }
    return [*sorted(kind for kind in kinds if kind.isprintable() and kind.strip()), "x", "1", '"s"']


def _handmade() -> Iterator[Bomb]:
    """Yield files that are aimed at something in particular."""

    def bomb(language: str, name: str, text: str | bytes) -> Bomb:
        data = text.encode() if isinstance(text, str) else text
        data = _wrap(data) if name not in _LONG_LINES else data
        return Bomb(f"{language}-{name}", file_of(BY_NAME[language]), data[:MAX_BYTES])

    many = 100_000
    yield bomb("yaml", "dashes", "- " * 300)
    yield bomb("yaml", "more-dashes", "- " * 400_000)
    yield bomb("yaml", "maps", "? " * 200_000)
    yield bomb("yaml", "flow", "[" * 300_000)
    yield bomb("yaml", "aliases", "a: &a [" + "*a," * 200_000)
    yield bomb("yaml", "steps", "".join(" " * depth + "k:\n" for depth in range(1_200)))
    yield bomb("python", "classes-600", "".join(" " * depth + f"class A{depth}:\n" for depth in range(600)) + " " * 600)
    yield bomb("python", "functions-1300", "".join(" " * depth + f"def f{depth}():\n" for depth in range(1_300)))
    yield bomb("python", "ifs", "".join(" " * depth + "if x:\n" for depth in range(1_300)) + " " * 1_300 + "y = 1\n")
    yield bomb("python", "elifs", "if a: pass\n" + "elif a: pass\n" * 70_000)
    yield bomb("python", "sum", "x = " + "+".join(["a"] * 400_000))
    yield bomb("python", "nots", "x = " + "not " * 200_000 + "a")
    yield bomb("python", "attributes", "x = a" + ".b" * 400_000)
    yield bomb("python", "calls", "x = f" + "()" * 400_000)
    yield bomb("python", "lambdas", "x = " + "lambda: " * 100_000 + "1")
    yield bomb("python", "f-strings", 'f"{' * 200_000)
    yield bomb("python", "decorators", "@a\n" * 300_000 + "def f(): pass\n")
    yield bomb("python", "comments", "# a\ndef f(): pass\n" * 50_000)
    yield bomb("python", "definitions", "".join(f"def f{number}(): pass\n" for number in range(50_000)))
    yield bomb("python", "imports", "".join(f"import a{number}\n" for number in range(60_000)))
    yield bomb("python", "one-import", "from a import (" + ",".join(f"b{number}" for number in range(120_000)) + ")\n")
    yield bomb("python", "name", "def " + "a" * 900_000 + "(): pass\n")
    yield bomb(
        "python", "long-names", "".join(" " * d + f"class {'A' * 9_000}{d}:\n" for d in range(100)) + " " * 101 + "x=1"
    )
    yield bomb("python", "number", "x = " + "1" * 900_000)
    yield bomb("python", "line", "x = 1; " * 140_000)
    yield bomb("python", "defs-on-a-line", "class A: pass; " + "x = lambda: 1; " * 60_000)
    yield bomb(
        "python", "bases", "".join(f"class A{n + 1}(A{n}):\n    def m(self): return self.m()\n" for n in range(15_000))
    )
    yield bomb("python", "aliases", "".join(f"a{n + 1} = a{n}\n" for n in range(50_000)) + "def f():\n    a50000.b()\n")
    yield bomb("python", "call-chain", "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(30_000)))
    yield bomb(
        "python",
        "tries",
        "".join(" " * d + "try:\n" for d in range(900))
        + " " * 900
        + "return\n"
        + "".join(" " * d + "finally:\n" + " " * d + " x\n" for d in range(899, -1, -1)),
    )
    yield bomb("python", "finals", _finals(14))
    yield bomb("python", "docstring", 'def f():\n    """' + "a\n" * 400_000 + '"""\n')
    yield bomb("python", "latin", b"# \xff\n" * 200_000)
    yield bomb("python", "tabs", b"\t" * 900_000 + b"x\n")
    yield bomb("python", "empty-lines", b"\n" * 900_000)
    yield bomb("python", "brackets-in-call", "f(" + "g[" * 100_000)
    yield bomb("python", "match", "match x:\n" + " case 1: pass\n" * 60_000)
    yield bomb("javascript", "templates", "`${" * 200_000)
    yield bomb("javascript", "arrows", "x = " + "a => " * 150_000 + "1")
    yield bomb("javascript", "ternaries", "x = " + "a ? b : " * 100_000 + "c")
    yield bomb("javascript", "elses", "if (a) {} " + "else if (a) {} " * 60_000)
    yield bomb("javascript", "jsx", "x = " + "<a>" * 200_000)
    yield bomb("javascript", "regex", "x = /" + "[" * 500_000)
    yield bomb("javascript", "regex-groups", "x = /" + "(a" * 300_000 + "/")
    yield bomb("javascript", "functions", "function f(){" * 60_000)
    yield bomb("javascript", "callbacks", "f(function(){" * 60_000 + "})" * 60_000)
    yield bomb("javascript", "destructuring", "var " + "[{a:" * 100_000)
    yield bomb("javascript", "blocks", "{" * 400_000 + "}" * 400_000)
    yield bomb("javascript", "minified", "var a=function(b){return b+1};" * 33_000)
    yield bomb("javascript", "requires", "const {" + "a:b," * 100_000 + "} = require('x')\n")
    yield bomb("typescript", "generics", "let x: " + "A<" * 200_000)
    yield bomb("typescript", "types", "type A = " + "B | " * 200_000 + "C")
    yield bomb("typescript", "conditional", "type A = " + "B extends C ? D : " * 40_000 + "E")
    yield bomb("tsx", "tags", "x = " + "<a b={" * 100_000)
    yield bomb("c", "ifdefs", "#if A\n" * 150_000)
    yield bomb("c", "pointers", "int " + "*" * 900_000 + "a;")
    yield bomb("c", "declarators", "int " + "(" * 400_000 + "a")
    yield bomb("c", "casts", "int x = " + "(int)" * 180_000 + "1;")
    yield bomb("c", "macro", "#define A " + "x \\\n" * 200_000)
    yield bomb("c", "blocks", "void f(){" + "{" * 400_000 + "}" * 400_000)
    yield bomb("c", "ends", "*/\nint f(){}\n" * 70_000)
    yield bomb("cpp", "templates", "A<" * 300_000 + "int" + ">" * 300_000 + " x;")
    yield bomb("cpp", "scopes", "a::" * 300_000 + "b x;")
    yield bomb("cpp", "namespaces", "namespace a {" * 60_000)
    yield bomb("cpp", "lambdas", "auto x = " + "[](){ return " * 60_000)
    yield bomb("csharp", "interpolation", '$"{' * 200_000)
    yield bomb("csharp", "classes", "class A {" * 100_000)
    yield bomb("java", "generics", "class A { " + "B<" * 200_000)
    yield bomb("java", "classes", "class A { " * 90_000 + "}" * 90_000)
    yield bomb("java", "casts", "class A { int x = " + "(int)" * 150_000 + "1; }")
    yield bomb("go", "types", "package a\nvar x " + "[]" * 400_000 + "int\n")
    yield bomb("go", "functions", "package a\nvar x = " + "func() { return " * 50_000)
    yield bomb("rust", "generics", "type A = " + "B<" * 300_000)
    yield bomb("rust", "macro", "m!{" + "{" * 400_000)
    yield bomb("rust", "raw", "let a = r" + "#" * 900_000 + '"')
    yield bomb("rust", "comments", "/*" * 400_000)
    yield bomb("rust", "uses", "use a::{" * 100_000 + "b" + "}" * 100_000 + ";")
    yield bomb("rust", "closures", "fn f() { " + "|a| " * 200_000)
    yield bomb("ruby", "heredocs", "x = <<A\n" * 100_000)
    yield bomb("ruby", "interpolation", '"#{' * 200_000)
    yield bomb("ruby", "percent", "%w(" * 200_000)
    yield bomb("ruby", "ends", "begin\n" * 150_000)
    yield bomb("ruby", "many-heredocs", "f(" + ", ".join(f"<<A{n}" for n in range(5_000)) + ")\n")
    yield bomb("php", "tags", "<?php " + "?><?php " * 100_000)
    yield bomb("php", "heredoc", "<?php $a = <<<" + "A" * 500_000)
    yield bomb("php", "interpolation", '<?php "{$a[' * 90_000)
    yield bomb("bash", "substitutions", "$(" * 300_000)
    yield bomb("bash", "heredocs", "cat <<A\n" * 100_000)
    yield bomb("bash", "many-heredocs", "cat " + " ".join(f"<<A{n}" for n in range(20_000)) + "\n")
    yield bomb("bash", "expansions", "${a:-" * 150_000)
    yield bomb("bash", "pipes", "a | " * 200_000 + "b")
    yield bomb("haskell", "layout", "".join(" " * depth + "where\n" for depth in range(1_200)))
    yield bomb("haskell", "operators", "x = " + "a + " * 200_000 + "b")
    yield bomb("haskell", "dos", "x = " + "do " * 200_000)
    yield bomb("haskell", "comments", "{-" * 400_000)
    yield bomb("scala", "comments", "/*" * 400_000)
    yield bomb("scala", "interpolation", 's"${' * 200_000)
    yield bomb("kotlin", "interpolation", '"${' * 200_000)
    yield bomb("kotlin", "comments", "/*" * 400_000)
    yield bomb("swift", "interpolation", '"\\(' * 200_000)
    yield bomb("swift", "raw", "#" * 800_000 + '"')
    yield bomb("swift", "optionals", "let a: A" + "?" * 800_000)
    yield bomb("swift", "operators", "let a = " + "b + " * 100_000 + "c")
    yield bomb("elixir", "interpolation", '"#{' * 200_000)
    yield bomb("elixir", "dos", "a do\n" * 150_000)
    yield bomb("lua", "brackets", "x = [" + "=" * 900_000 + "[")
    yield bomb("lua", "functions", "function f() " * 70_000)
    yield bomb("markdown", "quotes", "> " * 400_000)
    yield bomb("markdown", "lists", "- " * 400_000)
    yield bomb("markdown", "numbers", "1. " * 300_000)
    yield bomb("markdown", "emphasis", "*a " * 300_000)
    yield bomb("markdown", "links", "[" * 400_000 + "]" * 400_000)
    yield bomb("markdown", "headings", "#" * 6 + " a\n" + "# a\n" * 200_000)
    yield bomb("markdown", "rising", "".join(f"{'#' * (1 + n % 6)} a\n" for n in range(100_000)))
    yield bomb("markdown", "fences", "```\n" * 200_000)
    yield bomb("markdown", "table", "|a" * 400_000 + "\n" + "|-" * 10)
    yield bomb("markdown", "steps", "".join(" " * depth + "- a\n" for depth in range(1_300)))
    yield bomb("html", "tags", "<div>" * 180_000)
    yield bomb("html", "ends", "</div>" * 150_000)
    yield bomb("html", "attributes", "<a " + "b=c " * 200_000 + ">")
    yield bomb("html", "comments", "<!--" * 200_000)
    yield bomb("html", "names", "".join(f"<a{number}>" for number in range(100_000)))
    yield bomb("html", "ids", "<a id='b'>" * 90_000)
    yield bomb("css", "nested", "a{" * 300_000)
    yield bomb("css", "selectors", "a " * 400_000 + "{}")
    yield bomb("css", "nots", ":not(" * 180_000)
    yield bomb("json", "arrays", "[" * 900_000)
    yield bomb("json", "objects", '{"a":' * 180_000)
    yield bomb("json", "nested-objects", '{"a":' * 100_000 + "1" + "}" * 100_000)
    yield bomb("json", "keys", "{" + ",".join(f'"k{number}":{number}' for number in range(60_000)) + "}")
    yield bomb("json", "string", '"' + "\\u0041" * 150_000)
    yield bomb("toml", "tables", "[" + "a." * 400_000 + "b]\n")
    yield bomb("toml", "arrays", "a = " + "[" * 800_000)
    yield bomb("toml", "strings", 'a = """' + '\\"' * 400_000)
    yield bomb("sql", "selects", "SELECT (" * 100_000)
    yield bomb("sql", "conditions", "SELECT 1 WHERE " + "a AND " * 150_000 + "b")
    yield bomb("sql", "cases", "SELECT " + "CASE WHEN a THEN " * 50_000)
    yield bomb("nix", "lets", "let a = " * 100_000)
    yield bomb("nix", "strings", '"${' * 300_000)
    yield bomb("make", "functions", "a := " + "$(b " * 200_000)
    yield bomb("make", "ifs", "ifdef A\n" * 100_000)
    yield bomb("dockerfile", "continued", "RUN a \\\n" * 120_000)
    yield bomb("dockerfile", "heredocs", "RUN <<A\n" * 100_000)
    yield bomb("dockerfile", "many-heredocs", "RUN " + " ".join(f"<<A{n}" for n in range(5_000)) + "\n")
    yield bomb("hcl", "blocks", "a {\n" * 150_000)
    yield bomb("hcl", "templates", 'a = "' + '${"' * 200_000)
    yield bomb("hcl", "heredocs", "a = <<A\n" * 100_000)
    yield bomb("cmake", "brackets", "a([" + "=" * 800_000 + "[")
    yield bomb("cmake", "ifs", "if(A)\n" * 120_000)
    yield bomb("powershell", "substitutions", "$(" * 300_000)
    yield bomb("powershell", "blocks", "{" * 300_000)
    yield bomb("solidity", "blocks", "contract A { function f() {" + "{" * 300_000)
    yield bomb("svelte", "ifs", "{#if a}" * 120_000)
    yield bomb("svelte", "tags", "<a>" * 250_000)
    yield bomb("svelte", "script", "<script>" * 100_000)
    yield bomb("graphql", "fields", "{a" * 300_000)
    yield bomb("graphql", "types", "type A { a: " + "[" * 400_000)
    yield bomb("dart", "interpolation", '"${' * 200_000)
    yield bomb("dart", "generics", "A<" * 300_000)
    yield bomb("zig", "blocks", "fn f() void {" + "{" * 300_000)
    yield bomb("zig", "pointers", "const a: " + "*" * 500_000 + "u8 = 0;")
    for name, text in (
        ("plain-line", b"word " * 190_000),
        ("plain-long", b"a" * 990_000),
        ("plain-lines", b"a\n" * 490_000),
    ):
        yield Bomb(name, "bomb.txt", text)
    yield Bomb("ini-heads", "bomb.ini", b"[" + b"]" * 900_000)
    yield Bomb("xml-tags", "bomb.xml", b"<a>" * many)


def _finals(depth: int) -> str:
    """Return `finally` in `finally`, each of which is left by a `return`."""
    text = "return 1\n"
    for _ in range(depth):
        inner = "".join(f"  {line}\n" for line in text.splitlines())
        text = f"try:\n{inner}finally:\n{inner}"
    return "def f():\n" + "".join(f"  {line}\n" for line in text.splitlines())


# -- measuring ---------------------------------------------------------------------------------------------------------


class Cost(NamedTuple):
    """What one question took, of all processes that it started."""

    seconds: float
    cpu: float
    mb: float
    code: int
    said: str


def cost_of(command: list[str], environment: dict[str, str], also: int = 0) -> Cost:
    """Run a command and return what it cost; `also` is another process to count, with those below it."""
    before = _cpu_seconds(also)
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        peak, used = 0.0, before
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        while not ended:
            peak = max(peak, usage_of(family(process.pid)).total + _memory_mb(also))
            used = max(used, _cpu_seconds(also))
            if time.monotonic() - started > GIVE_UP_SECONDS:
                process.kill()
            time.sleep(STEP_SECONDS)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    cpu = usage.ru_utime + usage.ru_stime + max(used, _cpu_seconds(also)) - before
    return Cost(time.monotonic() - started, cpu, peak, process.returncode, said)


def _memory_mb(pid: int) -> float:
    """Return what a process and those below it hold; 0 for no process."""
    return usage_of(family(pid)).total if pid else 0.0


def _cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and those below it; 0 for no process."""
    total = 0.0
    for member in family(pid) if pid else ():
        with suppress(OSError):  # it has ended
            total += cpu_seconds(member, with_children=True)
    return total


def _alive(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is None


def ask_all(bomb: Bomb, home: Path, daemon: subprocess.Popen[bytes] | None) -> Iterator[tuple[str, Cost]]:
    """Ask every question of one file, and yield what each cost."""
    root = home / "project" / bomb.name
    root.mkdir(parents=True)
    (root / "ordinary.py").write_text(ORDINARY)
    (root / bomb.file).write_bytes(bomb.data)
    environment = _environment(home)
    for name, question in QUESTIONS.items():
        shutil.rmtree(home / "cache", ignore_errors=True)
        words = [word.format(file=bomb.file) for word in question]
        route = [] if daemon is not None else ["--no-daemon"]
        command = [sys.executable, "-m", "cairn", *words, "-C", str(root), *route]
        yield name, cost_of(command, environment, daemon.pid if daemon is not None else 0)
    shutil.rmtree(root)


def _environment(home: Path) -> dict[str, str]:
    folders = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
    return {**os.environ, **folders, "CAIRN_DAEMON_PORT": "38950", "HOME": str(home)}


def wrong(name: str, cost: Cost) -> str:
    """Return what is wrong with an answer, empty if nothing is."""
    if cost.code not in (0, 1, 2) or "Traceback" in cost.said:
        return f"ended with {cost.code}"
    if name == "search" and "ordinary.py" not in cost.said:
        return "the ordinary file is not found"
    if cost.mb > BAR_MB:
        return f"{cost.mb:.0f} MB"
    return f"{cost.cpu:.1f} s" if cost.cpu > BAR_SECONDS else ""


def main() -> None:
    """Measure, and print the worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="files whose name holds this")
    parser.add_argument("--write", metavar="FOLDER", help="only write the files there")
    parser.add_argument("--route", choices=("command", "daemon", "both"), default="both")
    parser.add_argument("--part", default="0/1", help="the Nth of M parts of the files, as 0/4")
    arguments = parser.parse_args()
    place, parts = map(int, arguments.part.split("/"))
    chosen = [bomb for bomb in bombs() if arguments.only in bomb.name][place::parts]
    if arguments.write:
        for bomb in chosen:
            (folder := Path(arguments.write) / bomb.name).mkdir(parents=True)
            (folder / bomb.file).write_bytes(bomb.data)
        return
    measure(chosen, ("command", "daemon") if arguments.route == "both" else (arguments.route,))


def measure(chosen: list[Bomb], routes: tuple[str, ...]) -> None:
    """Ask everything of the files, and print what is beyond the bar at once, the worst at the end."""
    worst: list[tuple[float, str]] = []
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        for route in routes:
            home = Path(scratch) / route
            daemon = None
            if route == "daemon":
                home.mkdir()
                daemon = subprocess.Popen(
                    [sys.executable, "-m", "cairn", "daemon", "start", "--foreground"],
                    env=_environment(home),
                    stdout=subprocess.DEVNULL,
                )
                time.sleep(2)
            for bomb in chosen:
                for name, cost in ask_all(bomb, home, daemon):
                    problem = wrong(name, cost)
                    failures += bool(problem)
                    line = f"{route:8} {bomb.name:28} {name:8} {cost.cpu:6.2f} s {cost.mb:6.0f} MB {problem}"
                    worst.append((cost.cpu, line))
                    if problem:
                        print(
                            line, cost.said.strip().replace("\n", " | ")[:200] if "ended" in problem else "", flush=True
                        )
                if daemon is not None and not _alive(daemon):
                    print(f"the daemon ended over {bomb.name}")
                    sys.exit(1)
            if daemon is not None:
                daemon.terminate()
                daemon.wait()
    print(f"\n{len(chosen)} files, {len(worst)} questions, {failures} beyond the bar; the slowest:")
    for _, line in sorted(worst, reverse=True)[:25]:
        print(line)


if __name__ == "__main__":
    main()
