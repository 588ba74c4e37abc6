"""What is learned from people who have words of their own: sessions that ask with synonyms, and then open and edit.

    python bench/simulated_sessions.py FOLDER --repository REPOS/laravel-framework
    python bench/simulated_sessions.py FOLDER --repository REPOS/laravel-framework --poison one-file

The repository is copied to FOLDER and indexed there. Questions are the first sentences of its documentation comments,
each of one file alone, with the words of data/own_words.tsv in the place of the project's: none of these stands
anywhere in the project, which is checked. Each session asks a few, through `perform` as the daemon does, and reports
what it does then as hooks do. Of the sessions, three of ten open a wrong file first, and one of ten opens the first
hit whatever it is; where the right file is not shown, it is opened after some other tools. `--poison` lets all open
and edit one file, or the first hit.

Printed is what that leaves in the memory, what it costs, and how often the examples made of it are right.
`--questions FILE` writes more questions, which no session asked, as JSON Lines for `cairn eval run`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from cairn.config import Settings
from cairn.memory.moments import Moment, ToolCall
from cairn.memory_settings import MemorySettings
from cairn.operations import perform
from cairn.operations.asked import note_answer
from cairn.optimize.examples import Example
from cairn.optimize.from_feedback import from_feedback
from cairn.protocol.requests import SearchRequest
from cairn.workspace import Workspace

DATA = Path(__file__).resolve().parent / "data"
SESSIONS, OF_A_SESSION = 50, 6
AGENT = "claude-code"
WRONG_FIRST, FIRST_HIT, EDITS = 0.3, 0.1, 0.8  # shares of sessions, and of files that are edited once they are found
_COMMENT = re.compile(
    r"/\*\*\s*\n\s*\* ([A-Z][^\n]{20,110})\.\n(?:(?!\*/).)*?\*/\s*\n\s*(?:#\[[^\n]*\]\s*\n\s*)*"
    r"(?:(?:abstract|final|static|public|protected|private) )+function \w+",
    re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z]+")
_EMPTY_WORDS = (
    "a an and are as at be been by can for from given has have if in into is it its of on onto or set get should that "
    "the their this to was when whether will with"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
_ENDS = ("", "s", "es")
_LEAST_OWN, _LEAST_SHARE = 2, 0.4  # of the words of a question that are the user's own

Poison = Literal["", "one-file", "first-hit"]


class Asked(NamedTuple):
    """A question in the words of a user, and the file that it is about."""

    text: str
    path: str


class Cost(NamedTuple):
    """What noting took, in seconds of the processor: for each question, and for each report of a tool."""

    question: float
    report: float


def load_words() -> dict[str, str]:
    """Return the words of the project, with the user's own for each."""
    lines = (DATA / "own_words.tsv").read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def questions_of(root: Path, words: dict[str, str], seed: int) -> list[Asked]:
    """Return all questions about a project, in an order by chance.

    Raises:
        SystemExit: if one of the user's own words stands in the project.
    """
    texts = _texts(root)
    known = {own for own in words.values() if any(own in text.lower() for text in texts.values())}
    if known:
        raise SystemExit(f"these words stand in the project: {', '.join(sorted(known))}")
    asked = (Asked(said, path) for sentence, path in _sentences_in(texts) if (said := say(sentence, words)))
    found = list({question.text: question for question in asked}.values())
    random.Random(seed).shuffle(found)
    return found


def sentences_of(root: Path) -> list[tuple[str, str]]:
    """Return the first sentences of documentation comments that are of one file alone, each with its file."""
    found = _sentences_in(_texts(root))
    random.Random(1).shuffle(found)
    return found


def _texts(root: Path) -> dict[str, str]:
    return {file.relative_to(root).as_posix(): file.read_text("utf-8", "replace") for file in _files(root)}


def _sentences_in(texts: dict[str, str]) -> list[tuple[str, str]]:
    places: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        for match in _COMMENT.finditer(text):
            places[match[1]].add(path)
    return [(sentence, min(paths)) for sentence, paths in sorted(places.items()) if len(paths) == 1]


def say(sentence: str, words: dict[str, str]) -> str:
    """Return a sentence with the user's own words; empty if too few of its words have one."""
    n_own = n_other = 0
    parts = []
    for word in _WORD.findall(sentence):
        plain = word.lower()
        stem = next(
            (form for form in (plain, plain[:-1], plain[:-2]) if form in words and plain[len(form) :] in _ENDS), ""
        )
        n_own += bool(stem)
        n_other += not stem and plain not in _EMPTY
        parts.append(f"{words[stem]}{'s' if plain != stem else ''}" if stem else plain)
    enough = n_own >= _LEAST_OWN and n_own / (n_own + n_other) >= _LEAST_SHARE
    return " ".join(parts) if enough else ""


def _files(root: Path) -> Iterator[Path]:
    for file in sorted(root.rglob("*.php")):
        if file.is_file() and "tests" not in file.relative_to(root).parts:
            yield file


class Person:
    """Somebody who asks, opens and edits through an agent, in one session.

    Args:
        workspace: the project.
        session: its id, as hooks report it.
        chance: what they do by chance.
        poison: what they do in the place of looking.
    """

    def __init__(self, workspace: Workspace, session: str, chance: random.Random, poison: Poison = "") -> None:
        self._workspace, self._session, self._chance, self._poison = workspace, session, chance, poison
        self._n_reported = 0
        self.noting = self.reporting = 0.0
        roll = chance.random()
        self._kind = "wrong" if roll < WRONG_FIRST else "first" if roll < WRONG_FIRST + FIRST_HIT else "careful"
        self._report("session-start")

    @property
    def n_reported(self) -> int:
        """How many events were reported."""
        return self._n_reported

    def ask(self, asked: Asked, others: Sequence[str]) -> None:
        """Ask a question, and do what follows.

        Args:
            asked: the question.
            others: files of the project.
        """
        shown = self._search(asked.text)
        if self._poison:
            self._open_blindly(shown, others)
        else:
            self._look(asked.path, shown, others)

    def ask_in_vain(self, text: str, opens: float) -> None:
        """Ask what no file answers, and open the first hit, or give up.

        Args:
            text: the question.
            opens: the chance of the former.
        """
        shown = self._search(text)
        if shown and self._chance.random() < opens:
            self._use("read", shown[0])

    def _search(self, text: str) -> list[str]:
        """Ask a question, and return the files that are shown."""
        request = SearchRequest(query=text, session=self._session, type="code")
        document = perform(self._workspace, "search", request)
        began = time.process_time()
        note_answer(self._workspace, "search", request, document, "http")
        self.noting += time.process_time() - began
        return list(dict.fromkeys(hit["filepath"] for hit in document["code"]))

    def _open_blindly(self, shown: Sequence[str], others: Sequence[str]) -> None:
        path = others[0] if self._poison == "one-file" else next(iter(shown), "")
        if path:
            self._use("read", path)
            self._use("edit", path)

    def _look(self, right: str, shown: Sequence[str], others: Sequence[str]) -> None:
        if self._kind == "first" and shown:
            self._use("read", shown[0])
            if self._chance.random() < 0.5 and shown[0] != right:
                return  # they give up
        elif self._kind == "wrong":
            self._use("read", self._chance.choice([path for path in (*shown, *others) if path != right][:20]))
        if right not in shown:
            for _ in range(self._chance.randint(1, 4)):
                self._use("search", "something else")
        self._use("read", right)
        if self._chance.random() < EDITS:
            self._use("edit", right)

    def end(self) -> None:
        """End the session."""
        self._report("session-end")

    def _use(self, tool: str, target: str) -> None:
        self._report("after-tool", ToolCall(tool, tool.title(), target, "ok"))

    def _report(self, event: str, call: ToolCall | None = None) -> None:
        self._n_reported += 1
        id = f"{self._session}-{self._n_reported}"
        moment = Moment(id, event, self._session, AGENT, time.time(), call=call)
        began = time.process_time()
        self._workspace.memory.take(moment, shows=False)
        self.reporting += time.process_time() - began


def simulate(
    workspace: Workspace,
    asked: Sequence[Asked],
    others: Sequence[str],
    *,
    seed: int,
    n_sessions: int = SESSIONS,
    of_a_session: int = OF_A_SESSION,
    poison: Poison = "",
) -> Cost:
    """Let people ask questions, a few in each session, and return what noting it took.

    Args:
        workspace: the project, indexed.
        asked: at least as many questions as are asked.
        others: files of the project, of which the first one is that of the poison `one-file`.
        seed: of what is done by chance.
        n_sessions, of_a_session: how many.
        poison: what all do in the place of looking.
    """
    chance = random.Random(seed)
    people = []
    for number in range(n_sessions):
        person = Person(workspace, f"{AGENT}:simulated-{seed}-{number}", chance, poison)
        for question in asked[number * of_a_session : (number + 1) * of_a_session]:
            person.ask(question, others)
        person.end()
        people.append(person)
    n_reported = sum(person.n_reported for person in people)
    noting, reporting = sum(person.noting for person in people), sum(person.reporting for person in people)
    return Cost(noting / (n_sessions * of_a_session), reporting / n_reported)


def prepare(folder: Path, repository: Path) -> Path:
    """Copy a repository to a folder, unless it is there, and return where it is: in git, and without a memory."""
    root = folder / repository.name
    if not root.exists():
        shutil.copytree(repository, root, ignore=shutil.ignore_patterns(".git", ".cairn"))
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for command in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "all"]):
            subprocess.run(["git", "-C", root, *command], check=True)
    for file in (root / ".cairn").glob("memory.db*"):
        file.unlink()
    return root


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--poison", choices=("one-file", "first-hit"), default="")
    parser.add_argument("--without", action="store_true", help="with memory.feedback off, to compare what it costs")
    parser.add_argument("--questions", type=Path, help="write questions that no session asked")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    root = prepare(options.folder, options.repository)
    asked = questions_of(root, load_words(), options.seed)
    n_asked = options.sessions * OF_A_SESSION
    if options.questions is not None:
        rest = ({"query": question.text, "files": [question.path]} for question in asked[n_asked : 2 * n_asked])
        options.questions.write_text("".join(f"{json.dumps(row)}\n" for row in rest), "utf-8")
    settings = Settings(memory=MemorySettings(feedback=not options.without))
    others = sorted(path.relative_to(root).as_posix() for path in _files(root))
    with Workspace.open(root, settings=settings) as workspace:
        workspace.index()
        file = workspace.state.path / "memory.db"
        before = file.stat().st_size if file.exists() else 0
        cost = simulate(workspace, asked, others, seed=options.seed, n_sessions=options.sessions, poison=options.poison)
        print(f"{len(asked)} questions, {n_asked} asked in {options.sessions} sessions of {root.name}")
        _print_kept(workspace, file, before, n_asked, cost)
        _print_examples(workspace, asked, n_asked)


def _print_kept(workspace: Workspace, file: Path, before: int, n_asked: int, cost: Cost) -> None:
    with workspace.memory.store.reading() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        rows = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("question", "shown", "outcome")
        }
        tables = "'question', 'question_session', 'shown', 'outcome'"
        sizes = f"SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name IN ({tables})"
        (own_bytes,) = connection.execute(sizes).fetchone()
    grown = file.stat().st_size - before
    print(f"rows: {', '.join(f'{number} {table}' for table, number in rows.items())}")
    print(f"bytes for each question: {own_bytes / n_asked:,.0f}; the whole memory grew by {grown / n_asked:,.0f}")
    print(f"CPU: noting a question {1000 * cost.question:.2f} ms, taking in a report {1000 * cost.report:.2f} ms")


def _print_examples(workspace: Workspace, asked: Sequence[Asked], n_asked: int) -> None:
    began = time.process_time()
    found = from_feedback(workspace.memory.feedback.answered())
    took = time.process_time() - began
    right = {question.text: question.path for question in asked}
    n_first = sum(_is_first(example, right) for example in found.examples)
    n_wanted = sum(len(example.wanted) for example in found.examples)
    n_right = sum(right[example.text] in {file.path for file in example.wanted} for example in found.examples)
    n_against = sum(right[example.text] in example.unwanted for example in found.examples)
    n_unwanted = sum(len(example.unwanted) for example in found.examples)
    print(f"{len(found.examples)} examples of {n_asked} questions in {1000 * took:.0f} ms; left out: {found.left_out}")
    print(f"the right file is the most wanted one in {n_first}, among the {n_wanted} wanted ones in {n_right}")
    print(f"the right file is among the {n_unwanted} unwanted ones in {n_against}")


def _is_first(example: Example, right: dict[str, str]) -> bool:
    return example.wanted[0].path == right[example.text]


if __name__ == "__main__":
    main()
