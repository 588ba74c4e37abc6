"""What do searches of agents get beside their own result, is it right, and what does it cost?

    python bench/searches.py CHECKOUTS                      # the 30 repositories of the retrieval benchmark
    python bench/searches.py CHECKOUTS --only click redis --show

CHECKOUTS holds a folder for each repository, as for bench/retrieval.py. In each, commands are derived from what is
there, as agents type them: for names of definitions (is the definition shown, with its lines?), for texts of the
code (is the place shown?), the benchmark's questions (is a file that answers shown?), and patterns of which nothing
useful can be said (is nothing said?). The symbol graph is warm; each search is of a session of its own.
"""

from __future__ import annotations

import argparse
import random
import re
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from cairn.errors import CairnError
from cairn.hooks.occasion import Occasion
from cairn.hooks.report import ToolUse
from cairn.hooks.search_answers import Patience
from cairn.hooks.searches import Searches
from cairn.hooks.session_state import SessionState
from cairn.hooks_settings import HooksSettings
from cairn.source.roles import Role, role_of
from cairn.source.text import count_tokens
from cairn.workspace import Workspace
from dataset import read_questions
from metrics import Hit, Target, matches, percentile

Kind = Literal["name", "text", "question", "nothing"]

_KINDS: tuple[Kind, ...] = ("name", "text", "question", "nothing")
_NAMES, _TEXTS = 20, 8  # of each repository
_MOST_NAMESAKES = 3  # of a name that is asked for
_ASKED_KINDS = frozenset(
    [
        *("function", "method", "constructor", "macro", "class", "struct", "interface", "trait", "enum", "type"),
        *("object", "record", "protocol", "module"),
    ]
)
_NAME = re.compile(r"[A-Za-z_]\w{3,}")
_TEXT = re.compile(r'"([A-Za-z][a-z]+(?: [A-Za-z][a-z]+){2,6})[^"\n]{0,20}"')
_SHOWN = re.compile(r"^\| (.+?):(\d+)-(\d+) ", re.MULTILINE)
_UNANSWERABLE = (
    "rg -n 'return'", "grep -rn 'import' .", r"rg '\d+\.\d+'", "rg '^$'", "find . -name '*.py'", "rg xqzzyk",
    "rg 'xqz yqk zzx'", "ls src/*", "rg -c '='", "grep -rn 'true' . | head", "rg 'how are submarines painted yellow'",
)  # fmt: skip
_FORMS = (
    "rg {}", "rg -n {} | head -20", "grep -rn {} .", "grep -rnw {} .", "git grep -n {}", "rg -l {}", "rg -n '{}\\('",
    "grep -rnE '(def|class|function|func|fn|struct|interface) {}' .", "rg -n '\\b{}\\b'", "rg -i {}",
)  # fmt: skip
PATIENT = Patience(60.0, 60.0)


class Case(NamedTuple):
    """A search, and what answers it; nothing should be said if nothing does."""

    kind: Kind
    command: str
    targets: tuple[Target, ...]


class Outcome(NamedTuple):
    """What a search got, and the time that took, of the processor and by the clock."""

    case: Case
    text: str
    cpu_ms: float
    wall_ms: float

    @property
    def is_right(self) -> bool:
        """Whether one of the places that are shown answers the search; if nothing does, whether nothing is said."""
        if not self.case.targets:
            return not self.text
        shown = [Hit(path, int(first), int(last)) for path, first, last in _SHOWN.findall(self.text)]
        return any(matches(hit, target) for hit in shown for target in self.case.targets)


def derive_cases(
    workspace: Workspace, chance: random.Random, questions: Iterable[tuple[str, tuple[Target, ...]]]
) -> list[Case]:
    """Return searches for what a project holds.

    Args:
        workspace: the project, indexed.
        chance: chooses.
        questions: to ask as well, each with what answers it.
    """
    paths = sorted(path for path in _code_files(workspace.root))
    chance.shuffle(paths)
    cases = [Case("question", f"rg -n {shlex.quote(text)}", targets) for text, targets in questions]
    cases += [Case("nothing", command, ()) for command in _UNANSWERABLE if not _occurs(workspace.root, paths, command)]
    cases += _names(workspace, chance, paths)
    return cases + _texts(workspace.root, paths)


def _code_files(root: Path) -> Iterator[str]:
    for file in root.rglob("*"):
        path = file.relative_to(root).as_posix()
        if (
            file.is_file()
            and not path.startswith(".")
            and not role_of(path, "") & (Role.TEST | Role.DOCS | Role.EXAMPLE)
        ):
            yield path


def _occurs(root: Path, paths: Sequence[str], command: str) -> bool:
    """Tell whether a text that should occur nowhere does."""
    text = shlex.split(command)[1]
    return "xqz" in text and any(text in _read(root / path) for path in paths)


def _read(file: Path) -> str:
    return file.read_text("utf-8", "replace") if file.stat().st_size < 500_000 else ""


def _names(workspace: Workspace, chance: random.Random, paths: Sequence[str]) -> list[Case]:
    """Return searches for names of which there are only a few; a definition that is one of them answers."""
    found: dict[str, list[Target]] = {}
    for path in paths[:400]:
        try:
            outline = workspace.code.outline(path, max_tokens=100_000)
        except CairnError:
            continue
        for symbol in outline.symbols:
            if symbol.kind in _ASKED_KINDS and _NAME.fullmatch(symbol.name):
                found.setdefault(symbol.name, []).append(Target(path, symbol.start_line, symbol.end_line))
    names = [name for name, targets in found.items() if len(targets) <= _MOST_NAMESAKES]
    chosen = chance.sample(names, min(_NAMES, len(names)))
    return [Case("name", chance.choice(_FORMS).replace("{}", name), tuple(found[name])) for name in chosen]


def _texts(root: Path, paths: Sequence[str]) -> list[Case]:
    """Return searches for texts between quotes, such as messages of errors, that stand in one place."""
    places: dict[str, list[Target]] = {}
    for path in paths:
        for number, line in enumerate(_read(root / path).split("\n"), 1):
            for match in _TEXT.finditer(line):
                places.setdefault(match[1], []).append(Target(path, number, number))
    return [
        Case("text", f"grep -rn {shlex.quote(text)} .", tuple(targets))
        for text, targets in list(places.items())[: 10 * _TEXTS]
        if len(targets) == 1
    ][:_TEXTS]


def ask(searches: Searches, case: Case) -> Outcome:
    """Return what a search gets in a session of its own."""
    use = ToolUse("shell", "Bash", command=case.command)
    occasion = Occasion(use, use, "", "claude-code", "bench:1", "bench:1", "", 1_000.0, can_see=True)
    cpu, wall = time.process_time(), time.perf_counter()
    offer = searches.answer(occasion, SessionState())
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Outcome(case, "" if offer is None else offer.reply.context, cpu * 1000, wall * 1000)


def measure(workspace: Workspace, cases: Sequence[Case], patience: Patience | None = None) -> list[Outcome]:
    """Return what searches get once the symbol graph is warm."""
    patient = Searches(workspace, HooksSettings(), PATIENT)
    for case in cases:
        ask(patient, case)
    searches = Searches(workspace, HooksSettings(), patience)
    return [ask(searches, case) for case in cases]


def report(outcomes: Sequence[Outcome]) -> str:
    """Return a table of the outcomes."""
    lines = [
        "| a search for | searches | answered | right, of all | right, of answered | with callers | tokens | most |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in _KINDS:
        own = [outcome for outcome in outcomes if outcome.case.kind == kind]
        answered = [outcome for outcome in own if outcome.text]
        if not own:
            continue
        tokens = [count_tokens(outcome.text) for outcome in answered] or [0]
        shares = (
            _share([bool(outcome.text) for outcome in own]),
            _share([outcome.is_right for outcome in own]),
            _share([outcome.is_right for outcome in answered]),
            _share([" call" in outcome.text for outcome in answered]),
        )
        lines.append(
            f"| {kind} | {len(own)} | {' | '.join(shares)} | {statistics.median(tokens):.0f} | {max(tokens)} |"
        )
    for what, values in (("processor", [one.cpu_ms for one in outcomes]), ("clock", [one.wall_ms for one in outcomes])):
        middle, late = percentile(values, 50), percentile(values, 95)
        lines.append(f"{what}: {middle:.1f} ms at the median, {late:.1f} ms at the 95th percentile")

    return "\n".join(lines)


def _share(values: Sequence[bool]) -> str:
    return f"{sum(values) / len(values):.3f}" if values else "-"


def main() -> None:
    """Measure what the arguments ask for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--bench", type=Path, help="the folder of the retrieval benchmark, for its questions")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    folders = [folder for folder in sorted(options.checkouts.iterdir()) if folder.is_dir()]
    for folder in folders:
        if options.only and folder.name not in options.only:
            continue
        found = _measure_folder(folder, _questions(options.bench, folder.name) if options.bench else [])
        outcomes += found
        counts = Counter(outcome.case.kind for outcome in found if outcome.is_right)
        print(folder.name, dict(counts), file=sys.stderr)
        for outcome in found:
            if options.show and not outcome.is_right:
                print(f"--- {outcome.case}\n{outcome.text}")
    print(report(outcomes))


def _measure_folder(folder: Path, questions: list[tuple[str, tuple[Target, ...]]]) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / folder.name
        shutil.copytree(folder, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cairn"))
        with Workspace.open(root, state_dir=Path(temporary) / "state") as workspace:
            workspace.index()
            return measure(workspace, derive_cases(workspace, random.Random(folder.name), questions))


def _questions(bench: Path, name: str) -> list[tuple[str, tuple[Target, ...]]]:
    found = read_questions(bench, name) if (bench / "annotations" / f"{name}.json").exists() else ()
    return [(question.query, question.targets) for question in found if question.category != "symbol"]


if __name__ == "__main__":
    main()
