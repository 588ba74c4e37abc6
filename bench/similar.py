#!/usr/bin/env python3
"""Plant copies of functions in copies of repositories, look for them with `similar`, and look for real copies."""

from __future__ import annotations

import argparse
import random
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

from cairn import Workspace
from cairn.answers import CodeHit
from cairn.source.chunking import chunk_file
from cairn.source.clones import keywords
from cairn.source.git import find_repository
from cairn.source.languages import BY_NAME, Language, detect_language
from cairn.source.walk import walk
from cairn.types import Definition

FUNCTIONS = ("function", "method")
MIN_LINES, MAX_LINES = 6, 120
KINDS = ("exact", "renamed", "edited")
PLANTED = "planted"
# Real copies: definitions of one name in two files whose lines agree to this extent, but not all of them.
LEAST_ALIKE = 0.5
# What a repository has of its own that agrees to this extent is a copy no worse than the planted one.
COPY = 0.8
# In these a function stands in a class.
CLASSES = {"java": "class Planted {{\n{}\n}}\n", "csharp": "class Planted {{\n{}\n}}\n", "php": "<?php\n{}\n"}
_WORD = re.compile(r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|([^\W\d]\w*)")


@dataclass(frozen=True)
class Function:
    """A function of a repository, with its lines."""

    path: str
    language: Language
    definition: Definition
    lines: tuple[str, ...]


def functions_of(root: Path, languages: Sequence[str] = ()) -> Iterator[Function]:
    """Yield the functions of a folder that are neither trivial nor endless."""
    for file in walk(root, repository=find_repository(root)).files:
        language = detect_language(file.path, b"")
        if language.group != "code" or not language.support.grammar or (languages and language.name not in languages):
            continue
        data = (root / file.path).read_bytes()
        lines = data.decode("utf-8", "replace").split("\n")
        for definition in chunk_file(data, language).definitions:
            if (
                definition.kind in FUNCTIONS
                and MIN_LINES <= definition.span.end_line - definition.span.start_line + 1 <= MAX_LINES
            ):
                own = tuple(lines[definition.span.start_line - 1 : definition.span.end_line])
                yield Function(file.path, language, definition, own)


def plant(function: Function, kind: str, chance: random.Random) -> str:
    """Return a copy of a function as text: of type 1 (exact), 2 (renamed) or 3 (edited)."""
    indent = min(len(line) - len(line.lstrip()) for line in function.lines if line.strip())
    lines = [line[indent:] if line[:indent].isspace() or not indent else line for line in function.lines]
    if kind == "exact":
        comment = (function.language.support.line_comments or ("",))[0]
        place = len(lines) - 1
        lines[place:place] = [
            "",
            *([f"{' ' * (len(lines[-1]) - len(lines[-1].lstrip()))}{comment} kept"] if comment else []),
        ]
    else:
        share = 1.0 if kind == "renamed" else 0.5
        lines = _rename("\n".join(lines), function.language, share, chance).split("\n")
    if kind == "edited":
        for _ in range(max(1, len(lines) // 6)):  # a sixth of the lines goes, or is said twice
            place = chance.randrange(1, len(lines) - 1)
            if chance.random() < 0.5 and len(lines) > MIN_LINES:
                del lines[place]
            else:
                lines.insert(place, lines[place])
    return CLASSES.get(function.language.name, "{}\n").format("\n".join(lines))


def _rename(text: str, language: Language, share: float, chance: random.Random) -> str:
    """Return code with a share of its names replaced, each by the same name everywhere."""
    renamed: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        name = match[2]
        if name is None or name in keywords(language):
            return match[0]
        if name not in renamed:
            renamed[name] = f"q{len(renamed)}x" if chance.random() < share else name
        return renamed[name]

    return _WORD.sub(replace, text)


def measure_planted(repository: Path, count: int, seed: int, misses: int) -> list[tuple[str, int | None, str]]:
    """Plant `count` copies of each kind, and return (kind, rank of the copy, mark it has) of each."""
    chance = random.Random(seed)
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "copy"
        shutil.copytree(repository, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cairn"))
        found = sorted(functions_of(root), key=lambda function: (function.path, function.definition.span))
        chosen = chance.sample(found, min(3 * count, len(found)))
        (root / PLANTED).mkdir()
        places = []
        for number, function in enumerate(chosen):
            kind = KINDS[number % 3]
            path = f"{PLANTED}/p{number}{Path(function.path).suffix}"
            (root / path).write_text(plant(function, kind, chance))
            places.append((function, kind, path))
        with Workspace.open(root) as workspace:
            workspace.index()
            for function, kind, path in places:
                started = time.perf_counter()
                hits = workspace.similar(function.path, function.definition.span.start_line, limit=10).code
                TIMES.append(time.perf_counter() - started)
                others = [hit for hit in hits if hit.path == path or _agreement(root, function, hit) < COPY]
                rank, mark = _rank(others, {path})
                outcomes.append((kind, rank, mark))
                if misses and (rank is None or rank > 1):
                    _show(function, kind, rank, hits)
    return outcomes


TIMES: list[float] = []


def measure_controls(repository: Path, count: int, seed: int) -> tuple[int, int]:
    """Return how many of some functions have a duplicate by their mark, and how many of these marks are wrong.

    A mark is wrong when the lines of the two, their names folded, agree to less than `COPY`, or to less than
    `LEAST_ALIKE` where it says edited.
    """
    chance = random.Random(seed)
    marked = wrong = 0
    with tempfile.TemporaryDirectory() as folder, Workspace.open(repository, state_dir=folder) as workspace:
        workspace.index()
        found = sorted(functions_of(repository), key=lambda function: (function.path, function.definition.span))
        for function in chance.sample(found, min(count, len(found))):
            for hit in workspace.similar(function.path, function.definition.span.start_line, limit=5).code:
                if hit.match not in KINDS:
                    continue
                marked += 1
                wrong += _agreement(repository, function, hit) < (LEAST_ALIKE if hit.match == "edited" else COPY)
    return marked, wrong


def _agreement(root: Path, function: Function, hit: CodeHit) -> float:
    """Return the share of lines that a function and a hit have in common, their names folded."""
    lines = (root / hit.path).read_text(errors="replace").split("\n")
    own = _fold(function.lines, function.language)
    its = _fold(lines[hit.start_line - 1 : hit.end_line], BY_NAME[hit.language])
    return SequenceMatcher(None, own, its, autojunk=False).ratio()


def _fold(lines: Sequence[str], language: Language) -> list[str]:
    words = keywords(language)
    fold = [_WORD.sub(lambda m: m[0] if m[2] in words else "i" if m[2] else '"', line) for line in lines]
    return [stripped for line in fold if (stripped := line.strip())]


def measure_real(folder: Path, count: int, seed: int, misses: int) -> list[tuple[float, int | None, str]]:
    """Return (how much their lines agree, rank, mark) of real copies: functions of one name in two files."""
    by_name: dict[tuple[str, str], list[Function]] = defaultdict(list)
    for function in functions_of(folder):
        by_name[function.language.name, function.definition.name].append(function)
    pairs = []
    for group in by_name.values():
        for function, twin in pairwise(group):
            own, its = ([line.strip() for line in each.lines] for each in (function, twin))
            matcher = SequenceMatcher(None, own, its, autojunk=False)
            if function.path != twin.path and matcher.real_quick_ratio() >= LEAST_ALIKE:
                alike = matcher.ratio()
                if LEAST_ALIKE <= alike < 1:
                    pairs.append((alike, function, twin))
    outcomes = []
    with tempfile.TemporaryDirectory() as state, Workspace.open(folder, state_dir=state) as workspace:
        workspace.index()
        for alike, function, twin in random.Random(seed).sample(pairs, min(count, len(pairs))):
            hits = workspace.similar(function.path, function.definition.span.start_line, limit=10).code
            # Others of this name are copies as well, as far as is known.
            right = {each.path for each in by_name[function.language.name, function.definition.name]} - {function.path}
            rank, mark = _rank(hits, right, twin.definition.name)
            outcomes.append((alike, rank, mark))
            if misses and rank is None:
                _show(function, f"real {alike:.2f} {twin.path}", rank, hits)
    return outcomes


def _rank(hits: Sequence[CodeHit], paths: set[str], name: str = "") -> tuple[int | None, str]:
    for place, hit in enumerate(hits, 1):
        if hit.path in paths and (not name or hit.name == name):
            return place, str(hit.match)
    return None, ""


def _show(function: Function, kind: str, rank: int | None, hits: Sequence[CodeHit]) -> None:
    print(f"  {kind}: rank {rank}: {function.path}:{function.definition.span.start_line} {function.definition.name}")
    for hit in hits[:3]:
        print(f"      {hit.similarity} {hit.match} {hit.path}:{hit.start_line} {hit.name}")


def _row(name: str, ranks: Sequence[int | None], marks: Sequence[str], wanted: str) -> str:
    first = sum(rank == 1 for rank in ranks) / len(ranks)
    five = sum(rank is not None and rank <= 5 for rank in ranks) / len(ranks)
    marked = f"{sum(mark == wanted for mark in marks) / len(marks):.3f}" if wanted else "-"
    return f"| {name} | {len(ranks)} | {first:.3f} | {five:.3f} | {marked} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=20, help="copies of each kind in each repository")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--real", type=int, default=40, help="real copies looked for in each repository")
    parser.add_argument("--controls", type=int, default=20, help="functions asked for whose marks are checked")
    options = parser.parse_args()
    planted: list[tuple[str, int | None, str]] = []
    real: list[tuple[float, int | None, str]] = []
    marked = wrong = 0
    for repository in options.repositories:
        print(repository.name, flush=True)
        planted += measure_planted(repository, options.count, options.seed, options.misses)
        if options.real:
            real += measure_real(repository, options.real, options.seed, options.misses)
        if options.controls:
            found = measure_controls(repository, options.controls, options.seed)
            marked, wrong = marked + found[0], wrong + found[1]
    print("| copies | asked | first@1 | in first 5 | marked as such |\n|---|---:|---:|---:|---:|")
    for kind in KINDS:
        own = [copy for copy in planted if copy[0] == kind]
        print(_row(f"planted, {kind}", [rank for _, rank, _ in own], [mark for _, _, mark in own], kind))
    for least, most in ((0.5, 0.65), (0.65, 0.8), (0.8, 1.0)):
        some = [copy for copy in real if least <= copy[0] < most]
        if some:
            print(_row(f"real, {least:.0%} to {most:.0%} of lines", [rank for _, rank, _ in some], [""], ""))
    print(f"marks among the first 5 of controls: {marked}, wrong: {wrong}")
    print(f"seconds a query, median {sorted(TIMES)[len(TIMES) // 2]:.3f}, most {max(TIMES):.3f}")


if __name__ == "__main__":
    main()
