#!/usr/bin/env python3
"""Measure the outline: is every definition that another tool lists in it, with its lines, and how much shorter is it?

Definitions are checked against Python's own `ast`, the TypeScript compiler (`--typescript`), and Universal Ctags. For
languages that these do not know, regular expressions find the definitions that begin a line.

Tokens are those of cl100k where `tiktoken` and its table are installed, else bytes / 4 for the file and the
repository's own count for the outline.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from cairn.errors import AmbiguousError, NotFoundError
from cairn.fields import DEFAULT_ANSWER_TOKENS
from cairn.source.content import check_content, normalize
from cairn.source.git import find_repository
from cairn.source.languages import BY_NAME, Language, detect_language
from cairn.source.text import count_tokens, estimate_tokens
from cairn.source.walk import walk
from cairn.structure.locate import find_named
from cairn.structure.outline import FileOutline, outline_file
from cairn.structure.outline_text import lay_out

LONG_FILE_LINES = 300
TYPESCRIPT = ("javascript", "typescript", "tsx")
CTAGS = {
    "go": "Go", "java": "Java", "rust": "Rust", "c": "C", "cpp": "C++", "csharp": "C#", "ruby": "Ruby", "php": "PHP",
    "bash": "Sh", "elixir": "Elixir",
}  # fmt: skip
# What ctags lists although it is not a definition of its own: files, packages, imports, parameters, locals, text.
NOT_DEFINITIONS = frozenset(
    {"package", "packageName", "local", "header", "heredoc", "script", "library", "unknown", "anonMember", "accessor"}
    | {"alias", "receiver", "macroparam", "label", "parameter", "namespace"}
)
# Where ctags counts what opens and closes a block, and often miscounts; only the first lines are compared.
NO_ENDS = frozenset({"Elixir", "Ruby"})
# For languages without a tool here: a name after a keyword at the beginning of a line.
KEYWORDS = {
    "kotlin": r"^\s*(?:(?:public|private|internal|protected|override|abstract|open|suspend|inline|operator|infix|data"
    r"|sealed|enum|inner|companion|tailrec|external|actual|expect|annotation|value|fun|lateinit|const)\s+)*"
    r"(?:fun\s+(?:<.*?>\s+)?(?:(?:[\w<>?.,* ]+|\(.*?\))\.)?|class\s+|interface\s+|object\s+)(\w+)",
    "swift": r"^\s*(?:(?:public|private|fileprivate|internal|open|static|class|final|override|mutating|convenience"
    r"|required|@\w+)\s+)*(?:func|class|struct|enum|protocol)\s+(\w+)",
    "scala": r"^\s*(?:(?:private|protected|override|final|implicit|sealed|abstract|case|lazy|inline)(?:\[\w+\])?\s+)*"
    r"(?:def|class|trait|object|type)\s+(\w+)",
    "haskell": r"^(?:data|newtype|class|type)\s+(?:\(?[\w., ]+\)?\s*=>\s*)?([A-Z]\w*)|^([a-z]\w*'?)\s+::",
    "lua": r"^\s*(?:local\s+)?function\s+([\w.:]+)|^\s*(?:local\s+)?([\w.]+)\s*=\s*function\b",
    "zig": r"^\s*(?:pub\s+)?(?:inline\s+|export\s+)?fn\s+(\w+)",
}


class Listed(NamedTuple):
    """A definition as another tool lists it. `last` is 0 where the tool does not say; `named` is the name's line."""

    name: str
    named: int
    first: int
    last: int
    kind: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--files", type=int, default=60, help="of a language in a repository at most (default 60)")
    parser.add_argument("--typescript", type=Path, help="the folder of the npm package `typescript`")
    parser.add_argument("--misses", type=int, default=0, help="show so many missing definitions a language")
    parser.add_argument("--language", action="append", help="only this one")
    parser.add_argument("--names", action="store_true", help="only check that names are whole and can be fetched")
    options = parser.parse_args()
    if options.names:
        check_names(options.folders, options.files, options.language)
        return
    count_file, count_text = find_tokenizer()
    scores: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    misses: dict[str, list[str]] = defaultdict(list)
    shares: dict[str, list[float]] = defaultdict(list)
    left_out: dict[str, list[tuple[int, int]]] = defaultdict(list)
    counted, counted_really, spent, megabytes = 0, 0, 0.0, 0.0
    for folder in options.folders:
        for language, files in sample(folder, options.files, options.language).items():
            for path, listed in zip(files, ground_truth(language, files, options.typescript), strict=True):
                data = normalize(path.read_bytes())
                relative = path.relative_to(folder).as_posix()
                started = time.process_time()
                outline = outline_file(data, relative, BY_NAME[language])
                text = lay_out(outline, DEFAULT_ANSWER_TOKENS)
                spent, megabytes = spent + time.process_time() - started, megabytes + len(data) / 1e6
                if listed is not None:
                    compare(outline, listed, scores[language], misses[language], str(path))
                left_out[language].append((len(outline.symbols), len(outline.symbols) - len(text.shown)))
                if outline.lines > LONG_FILE_LINES:
                    of_file, of_text = count_file(data.decode("utf-8", "replace")), count_text(text.text)
                    shares[language].append(1 - of_text / of_file)
                    counted, counted_really = counted + text.tokens, counted_really + of_text
    report(scores, shares, misses, options.misses)
    for language, numbers in left_out.items():
        if hidden := sum(number for _, number in numbers):
            cut, total = sum(1 for _, number in numbers if number), sum(number for number, _ in numbers)
            print(f"{language}: the default budget leaves out {hidden} of {total} definitions, in {cut} files")
    print(f"{megabytes:.1f} MB in {spent:.1f} s: {1000 * spent / megabytes:.0f} ms a MB")
    print(f"the budget's own count is {counted / max(1, counted_really):.3f} of the tokenizer's")


def check_names(folders: Sequence[Path], limit: int, only: Sequence[str] | None) -> None:
    """Print how many names outlines cut, at a small and at the default budget, and how many cannot be fetched."""
    total = cut = lost = 0
    for folder in folders:
        for language, files in sample(folder, limit, only).items():
            for path in files:
                outline = outline_file(normalize(path.read_bytes()), path.name, BY_NAME[language])
                total += len(outline.symbols)
                for budget in (300, DEFAULT_ANSWER_TOKENS):
                    text = lay_out(outline, budget)
                    lines = text.text.split("\n")
                    shown = (outline.symbols[number] for number in text.shown)
                    cut += sum(
                        not any(one.name in line and str(one.start_line) in line for line in lines) for one in shown
                    )
                for number, symbol in enumerate(outline.symbols):
                    lost += find_named(outline, symbol.id.removeprefix(f"{path.name}#")) != number
                    try:
                        find_named(outline, symbol.name)
                    except AmbiguousError:  # it lists them with the names that tell them apart
                        continue
                    except NotFoundError:
                        lost += 1
    print(f"of {total:,} names {cut:,} are cut, and {lost:,} cannot be fetched")


def sample(folder: Path, limit: int, only: Sequence[str] | None) -> dict[str, list[Path]]:
    """Return code files of a repository by language, the same ones in every run."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file in walk(folder, repository=find_repository(folder)).files:
        path = folder / file.path
        data = path.read_bytes()
        language: Language = detect_language(file.path, data[:8192])
        wanted = language.group == "code" and language.support.grammar and (not only or language.name in only)
        if wanted and check_content(data, file.path) is None:
            found[language.name].append(path)
    for files in found.values():
        random.Random(7).shuffle(files)
        del files[limit:]
    return found


def ground_truth(language: str, files: list[Path], typescript: Path | None) -> Iterator[list[Listed] | None]:
    """Return what another tool lists in each file, None where none can tell."""
    if language == "python":
        return map(from_ast, files)
    if language in TYPESCRIPT and typescript is not None:
        return from_typescript(files, typescript)
    if language in CTAGS:
        return (from_ctags(file, CTAGS[language]) for file in files)
    if language in KEYWORDS:
        return (from_lines(file, KEYWORDS[language]) for file in files)
    return (None for _ in files)


def from_ast(file: Path) -> list[Listed] | None:
    """Return functions and classes at any depth, and names assigned in modules and classes, also under `if`."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return None
    found: list[Listed] = []

    def visit(node: ast.AST, local: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                last = child.end_lineno or 0
                found.append(Listed(child.name, child.lineno, child.lineno, last, type(child).__name__))
                visit(child, not isinstance(child, ast.ClassDef))
                continue
            if not local and isinstance(child, ast.Assign | ast.AnnAssign):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                names = (name for target in targets for name in _names(target))
                last = child.end_lineno or 0
                found.extend(Listed(name.id, name.lineno, child.lineno, last, "Assign") for name in names)
            visit(child, local)

    visit(tree, False)
    return found


def _names(target: ast.expr) -> Iterator[ast.Name]:
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _names(element)


def from_typescript(files: list[Path], package: Path) -> Iterator[list[Listed]]:
    """Return what the TypeScript compiler finds defined."""
    script = Path(__file__).with_name("outline_typescript.js")
    done = subprocess.run(
        ["node", script, package.resolve()],
        input="\n".join(map(str, files)),
        capture_output=True,
        text=True,
        check=True,
    )
    return ([Listed(*entry) for entry in json.loads(line)] for line in done.stdout.splitlines())


def from_ctags(file: Path, language: str) -> list[Listed]:
    """Return what Universal Ctags lists."""
    command = ["ctags", f"--languages={language}", f"--language-force={language}", "--fields=+ne", "-f", "-"]
    done = subprocess.run([*command, "--output-format=json", file], capture_output=True, text=True, check=True)
    found = []
    quoted = _quoted_lines(file) if language == "Elixir" else frozenset()
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        mistaken = language == "Sh" and tag["name"].endswith("=")  # taken for a function
        mistaken |= language == "C++" and tag["name"].isupper() and "TEST" in tag["name"]  # a macro, not its name
        mistaken |= tag["line"] in quoted
        if tag["kind"] not in NOT_DEFINITIONS and not tag["name"].startswith("__anon") and not mistaken:
            last = 0 if language in NO_ENDS else tag.get("end", 0)
            found.append(Listed(tag["name"], tag["line"], 0, last, tag["kind"]))
    return found


def _quoted_lines(file: Path) -> frozenset[int]:
    """Return the lines within triple quotes: ctags takes the examples in there for code."""
    within, found = False, set()
    for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
        if line.count('"""') % 2:
            within = not within
        elif within:
            found.add(number)
    return frozenset(found)


def from_lines(file: Path, pattern: str) -> list[Listed]:
    """Return what a regular expression finds on each line that is not in a comment."""
    found = []
    for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
        if (match := re.match(pattern, line)) and not line.lstrip().startswith(("*", "//", "--")):
            found.append(Listed(next(name for name in match.groups() if name), number, 0, 0, "line"))
    return found


def compare(outline: FileOutline, listed: list[Listed], score: list[int], misses: list[str], path: str) -> None:
    """Add to `score` how many are listed, how many of these the outline has, and how many with the right lines."""
    by_name: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for symbol, lead in zip(outline.symbols, outline.leads, strict=False):
        name = symbol.name.rpartition(".")[2] if symbol.kind != "section" else symbol.name
        by_name[name].append((lead, symbol.start_line, symbol.end_line))
    for entry in dict.fromkeys(listed):
        name = re.split(r"[.:#]", entry.name)[-1] or entry.name
        name = re.sub(r"^operator ", "operator", name)
        there = [span for span in by_name[name] if span[0] <= entry.named <= span[2]]
        right = [span for span in there if _same_lines(span, entry)]
        score[0] += 1
        score[1] += bool(there)
        score[2] += bool(right)
        if not right:
            misses.append(
                f"{path}:{entry.named} {entry.kind} {entry.name} {entry.first}-{entry.last} ours {by_name[name][:3]}"
            )


def _same_lines(span: tuple[int, int, int], one: Listed) -> bool:
    lead, first, last = span
    if one.kind == "line":
        return True
    starts = lead <= one.first <= first or first == one.first if one.first else first <= one.named
    return starts and (not one.last or abs(last - one.last) == 0)


def find_tokenizer() -> tuple[Callable[[str], int], Callable[[str], int]]:
    """Return what counts the tokens of a file and those of an outline, and say what it is."""
    try:
        import tiktoken  # noqa: PLC0415 - optional

        encoding = tiktoken.get_encoding("cl100k_base")
    except Exception as error:  # noqa: BLE001 - not installed, or its table is not there and cannot be fetched
        print(f"tokens are estimated: {error}", file=sys.stderr)
        return lambda text: estimate_tokens(len(text.encode())), count_tokens
    print("tokens are those of cl100k", file=sys.stderr)

    def count(text: str) -> int:
        return len(encoding.encode(text, disallowed_special=()))

    return count, count


def report(
    scores: dict[str, list[int]], shares: dict[str, list[float]], misses: dict[str, list[str]], show: int
) -> None:
    print("| language | listed | in the outline | with the right lines | long files | median saved | worst decile |")
    print("|---|---|---|---|---|---|---|")
    everything = [share for values in shares.values() for share in values]
    for name in [*sorted({*scores, *shares}), "all"]:
        own = sorted(everything if name == "all" else shares.get(name, []))
        row = scores.get(name) or [sum(column) for column in zip(*scores.values(), strict=True)]
        row = row if name in scores or name == "all" else [0, 0, 0]
        saved = [f"{median(own):.1%}", f"{own[len(own) // 10]:.1%}"] if own else ["", ""]
        found = [f"{row[1] / row[0]:.2%}", f"{row[2] / row[0]:.2%}"] if row[0] else ["", ""]
        print(f"| {name} | {row[0]:,} | {found[0]} | {found[1]} | {len(own)} | {saved[0]} | {saved[1]} |")
    for name, lines in misses.items():
        random.Random(3).shuffle(lines)
        for line in lines[:show]:
            print(name, line)


if __name__ == "__main__":
    main()
