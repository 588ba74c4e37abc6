#!/usr/bin/env python3
"""Mine pairs of a question and a piece of code from unpacked sources; see README.md beside this file.

Each folder that `collect.py` made gives one `OUT/<folder>.jsonl.gz`; what is there already is kept. The code side of a
pair is exactly what Cairn indexes for the chunk, less the text that became the question.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from cairn.errors import CairnError
from cairn.index.parsing import own_texts, row_of
from cairn.index.words import Row
from cairn.source.chunking import chunk_file
from cairn.source.content import check_content, normalize
from cairn.source.definitions import FUNCTION_KINDS, TYPE_KINDS
from cairn.source.languages import Language, detect_language
from cairn.source.roles import Role, role_of
from cairn.source.walk import read_file, walk
from cairn.types import Chunk, Definition, ParsedFile
from collect import blobs
from pairs import (
    blank_name,
    clean,
    hunk_lines,
    is_readable,
    lead,
    most_changed,
    name_question,
    question,
    says,
    subject_question,
    without,
    without_subject,
    words_of_name,
)

WORKERS = 2
SEED = 20_250
MAX_PAIRS = 3_000  # of one package
MAX_DOCUMENTED = 4_000  # definitions with a comment looked at
MAX_DEFINITIONS = 15_000
MAX_BODY_CHARS = 3_000
MIN_BODY_CHARS = 60
MAX_SECTIONS = 300
MAX_SUBJECTS = 300
COMMITS = 3_000  # looked at, newest first
COMMIT_FILES = 3
COMMIT_LINES = 200  # changed; more is more than one concern
TEST_SHARE = 0.1
NAME_SHARE = 1 / 3
HEAD_BYTES = 8_192
NAMED_KINDS = (FUNCTION_KINDS | TYPE_KINDS) - {"test"}
_LEFT_OUT = Role.EXAMPLE | Role.DOCS | Role.CONFIG | Role.DECLARATION
_BUILT = re.compile(r"(^|/)(?:dist|build|umd|_?cjs|_?esm|es5?|bundles?|fesm\d*|commonjs|lib\.\w+|out)/.*\.[mc]?js$")
_SYMBOL = re.compile(r"`+([A-Za-z_][\w.:#]*?)(?:\(\)?[^`]*)?`+|\b([A-Za-z_]\w{3,})\(")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$", re.MULTILINE)
_UNDERLINED = re.compile(r"^(\S[^\n]{2,80})\n([=\-~^\"'`*+#])\2{2,}[ \t]*$", re.MULTILINE)
_NEWS = re.compile(
    r"\b(?:chang(?:es|elog|ed)|bug ?fix(?:es)?|fixed|new features|release|news|migrat\w+|upgrad\w+|breaking|deprecat\w+"
    r"|licen[cs]e|contribut\w+|install\w*|sponsor\w*|v?\d+\.\d+)\b",
    re.IGNORECASE,
)
_DOCUMENTS = (".md", ".markdown", ".mdx", ".rst")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the chunk that answers it; `path` is relative to the package."""

    kind: str
    query: str
    path: str
    name: str
    signature: str
    doc: str
    body: str
    language: str
    is_test: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """One definition with the chunk that opens it."""

    path: str
    language: str
    definition: Definition
    row: Row
    is_test: bool


def parse_file(data: bytes, path: str) -> tuple[ParsedFile, Language, list[tuple[Chunk, bytes]]] | None:
    """Parse a file as Cairn would index it, None for one that it would not index or that is not code."""
    data = normalize(data)
    language = detect_language(path, data[:HEAD_BYTES])
    if not language.support.grammar or language.group != "code" or check_content(data, path):
        return None
    parsed = chunk_file(data, language)
    return parsed, language, list(own_texts(parsed, data))


def targets_in(data: bytes, path: str) -> Iterator[Target]:
    """Yield the functions and types that a file defines."""
    if (result := parse_file(data, path)) is None:
        return
    parsed, language, chunks = result
    role = role_of(path, language.name)
    if role & _LEFT_OUT:
        return
    for chunk, own in chunks:
        row = row_of(chunk, parsed, own)
        for definition in parsed.definitions[slice(*chunk.definitions)]:
            yield Target(path, language.name, definition, row, bool(role & Role.TEST))


def chosen_files(root: Path) -> list[str]:
    """Return the paths of eligible files of code, in random but repeatable order, with few of the tests."""
    pick = random.Random(SEED)
    found: list[str] = []
    is_npm = (root / "package.json").exists()
    for file in walk(root, repository=None).files:
        language = detect_language(file.path, b"")
        role = role_of(file.path, language.name)
        if not language.support.grammar or language.group != "code" or role & _LEFT_OUT:
            continue
        if is_npm and _BUILT.search(file.path):
            continue
        if not role & Role.TEST or pick.random() < TEST_SHARE:
            found.append(file.path)
    pick.shuffle(found)
    return found


def targets_below(root: Path) -> list[Target]:
    """Return the definitions of the files of a package, of a large one enough to choose from."""
    found: list[Target] = []
    documented = 0
    for path in chosen_files(root):
        if documented > MAX_DOCUMENTED or len(found) > MAX_DEFINITIONS:
            break
        try:
            data = read_file(root, path)
        except OSError:
            continue
        new = list(targets_in(data, path))
        documented += sum(bool(target.definition.doc) for target in new)
        found.extend(new)
    return found


def pair(kind: str, query: str, target: Target, row: Row) -> Pair:
    """Put a question and the texts of a chunk together."""
    name, signature, doc, body = row
    return Pair(kind, query, target.path, name, signature, doc, body[:MAX_BODY_CHARS], target.language, target.is_test)


def doc_pair(target: Target) -> Pair | None:
    """Ask with the first sentence of the definition's documentation, which is taken out of the chunk."""
    paragraph = lead(target.definition.doc)
    query = without_subject(question(paragraph), target.definition.name)
    if not query or (len(query.split()) < 8 and set(query.lower().split()) <= {target.definition.name.lower()}):
        return None
    name, signature, doc, body = target.row
    doc, body = without(doc, query), without(body, query)
    if says(doc, query) or says(body, query) or doc == target.row[2]:
        doc, body = without(target.row[2], paragraph), without(target.row[3], paragraph)
    if says(doc, query) or says(body, query) or says(signature, query) or doc == target.row[2]:
        return None
    if len(re.sub(r"\W", "", body)) < MIN_BODY_CHARS // 2:
        return None
    return pair("doc", query, target, (name, signature, doc.strip(), body))


def name_pair(target: Target) -> Pair | None:
    """Ask with the definition's name as words; the name is taken out of the chunk."""
    name = target.definition.name
    query = name_question(name)
    if not query or target.definition.kind not in NAMED_KINDS or target.is_test:
        return None
    _, signature, doc, body = (blank_name(text, name) for text in target.row)
    if len(re.sub(r"\W", "", body)) < MIN_BODY_CHARS:
        return None
    return pair("name", query, target, ("", signature, doc, body))


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield (heading path, text) of each section of a Markdown or reStructuredText document."""
    marks = [(m.start(), m.end(), len(m[1]), m[2]) for m in _HEADING.finditer(text)]
    if not marks:
        order: dict[str, int] = {}
        marks = [(m.start(), m.end(), order.setdefault(m[2], len(order) + 1), m[1]) for m in _UNDERLINED.finditer(text)]
    path: dict[int, str] = {}
    for number, (_, end, level, title) in enumerate(marks):
        path = {depth: heading for depth, heading in path.items() if depth < level} | {level: clean(title)}
        stop = marks[number + 1][0] if number + 1 < len(marks) else len(text)
        yield " ".join(path[depth] for depth in sorted(path)[-2:]), text[end:stop]


def section_pairs(root: Path, targets: list[Target]) -> Iterator[Pair]:
    """Ask with the heading and first sentence of a section that names a definition of the package in its text."""
    named: dict[str, list[Target]] = {}
    for target in targets:
        if not target.is_test and target.definition.kind in FUNCTION_KINDS | TYPE_KINDS:
            named.setdefault(target.definition.name, []).append(target)
    for file in walk(root, repository=None).files:
        if not file.path.lower().endswith(_DOCUMENTS) or re.search(r"change|history|news|release", file.path, re.I):
            continue
        for heading, text in sections(read_file(root, file.path).decode("utf-8", "replace")):
            query = section_question(heading, text)
            about = definition_mentioned(text, query, named) if query else None
            if about is not None:
                yield pair("section", query, about, about.row)


def section_question(heading: str, text: str) -> str:
    """Return a heading path with the first sentence under it, empty where no prose or only news stands there."""
    if _NEWS.search(heading):
        return ""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    first = question(lead(paragraphs[0])) if paragraphs else ""
    query = f"{heading}: {first}" if heading else first
    return query if first and is_readable(query) else ""


def definition_mentioned(text: str, query: str, named: dict[str, list[Target]]) -> Target | None:
    """Return the definition that a section is about, None where that is not clear.

    It is the first that the text shows as code, whose name only one definition has and shares a word with the query.
    """
    said = {word[:5] for word in words_of_name(query)}
    for match in _SYMBOL.finditer(text):
        name = re.split(r"[.:#]+", match[1] or match[2])[-1]
        found = named.get(name, [])
        if len(found) == 1 and len(name) > 3 and said & {word[:5] for word in words_of_name(name) if len(word) > 3}:
            return found[0]
    return None


def candidate_commits(repository: Path, revision: str) -> list[tuple[str, str]]:
    """Return (revision, question) of the newest commits that touch few files of code and whose subject says what."""
    log = ["git", "log", "--no-merges", f"-{COMMITS}", "--name-only", "--format=%x01%H %s", revision]
    done = subprocess.run(log, cwd=repository, capture_output=True, check=False)
    found: list[tuple[str, str]] = []
    for entry in done.stdout.decode("utf-8", "replace").split("\x01")[1:]:
        head, *paths = [line for line in entry.splitlines() if line]
        commit, _, subject = head.partition(" ")
        query = subject_question(subject)
        code = [path for path in paths if is_code(path)]
        if query and 1 <= len(code) <= COMMIT_FILES:
            found.append((commit, query))
    return found


def is_code(path: str) -> bool:
    """Tell whether a path names a file of code that is neither a test nor an example."""
    language = detect_language(path, b"")
    return (
        language.group == "code"
        and bool(language.support.grammar)
        and not role_of(path, language.name) & (_LEFT_OUT | Role.TEST)
    )


def subject_pairs(repository: Path, revision: str) -> Iterator[Pair]:
    """Ask with the subjects of commits for the chunk that each changed most."""
    commits = candidate_commits(repository, revision)
    random.Random(SEED).shuffle(commits)
    commits = commits[: MAX_SUBJECTS * 3 // 2]
    questions = dict(commits)
    changes = [
        (questions[commit], commit, path, hunks) for commit, path, hunks in changed_files(repository, list(questions))
    ]
    with tempfile.TemporaryDirectory() as scratch:
        contents = list(blobs(repository, [f"{commit}:{path}" for _, commit, path, _ in changes], Path(scratch)))
    best: dict[str, tuple[int, Pair]] = {}
    for (query, commit, path, hunks), data in zip(changes, contents, strict=True):
        found = most_changed_pair(query, path, hunks, data) if data else None
        size = sum(map(len, hunks))
        if found is not None and size > best.get(commit, (0, found))[0]:
            best[commit] = size, found
    yield from [found for _, found in best.values()][:MAX_SUBJECTS]


def changed_files(repository: Path, commits: list[str]) -> Iterator[tuple[str, str, list[range]]]:
    """Yield each file of code that each commit changed, as (commit, path, lines it wrote)."""
    show = ["git", "show", "--no-renames", "-U0", "--format=%x01%H", "--diff-filter=AM", *commits]
    done = subprocess.run(show, cwd=repository, capture_output=True, check=False) if commits else None
    text = done.stdout.decode("utf-8", "replace") if done is not None else ""
    for entry in re.split(r"^\x01(?=[0-9a-f]{40}$)", text, flags=re.MULTILINE)[1:]:
        for part in re.split(r"^diff --git ", entry, flags=re.MULTILINE)[1:]:
            name = re.search(r"^\+\+\+ b/(.*?)\t?$", part, re.MULTILINE)
            hunks = [hunk_lines(line) for line in part.splitlines() if line.startswith("@@ ")]
            if name and is_code(name[1]) and 0 < sum(map(len, hunks)) <= COMMIT_LINES:
                yield entry[:40], name[1], hunks


def most_changed_pair(query: str, path: str, hunks: list[range], data: bytes) -> Pair | None:
    """Return the question with the chunk of a definition that holds most of the changed lines."""
    if (result := parse_file(data, path)) is None:
        return None
    parsed, language, chunks = result
    owned = [
        (chunk, own)
        for chunk, own in chunks
        if chunk.owner >= 0 and parsed.definitions[chunk.owner].kind in FUNCTION_KINDS | TYPE_KINDS
    ]
    number = most_changed(hunks, [chunk.lines[0] for chunk, _ in owned])
    if number is None:
        return None
    chunk, own = owned[number]
    row = row_of(chunk, parsed, own)
    target = Target(path, language.name, parsed.definitions[chunk.owner], row, is_test=False)
    return pair("subject", query, target, row)


def unique(pairs: list[Pair]) -> list[Pair]:
    """Drop pairs that repeat a question of their kind: what is said of two pieces of code distinguishes neither."""
    found: dict[tuple[str, str], Pair] = {}
    for pair in pairs:
        found.setdefault((pair.kind, pair.query.lower()), pair)
    return list(found.values())


def balance(pairs: list[Pair]) -> list[Pair]:
    """Return at most `MAX_PAIRS`, with shares of names and tests as the constants above say."""
    pick = random.Random(SEED)
    pairs = unique(pairs)
    pick.shuffle(pairs)
    tests = [pair for pair in pairs if pair.is_test]
    rest = [pair for pair in pairs if not pair.is_test and pair.kind in ("section", "subject")]
    docs = [pair for pair in pairs if not pair.is_test and pair.kind == "doc"]
    docs += tests[: int(len(docs) * TEST_SHARE)]
    pick.shuffle(docs)
    docs = docs[: int(MAX_PAIRS * (1 - NAME_SHARE)) - len(rest)]
    kept = rest + docs
    names = [pair for pair in pairs if pair.kind == "name"]
    kept += names[: min(int(len(kept) * NAME_SHARE / (1 - NAME_SHARE)), MAX_PAIRS - len(kept))]
    pick.shuffle(kept)
    return kept


def mine(root: Path, repository: Path | None, revision: str) -> list[Pair]:
    """Return the pairs of one package.

    Raises:
        CairnError: if its folder cannot be read.
    """
    targets = targets_below(root)
    made = (make(target) for target in targets for make in (doc_pair, name_pair))
    pairs = [pair for pair in made if pair is not None]
    pairs += list(section_pairs(root, targets))[:MAX_SECTIONS]
    if repository is not None:
        pairs += subject_pairs(repository, revision)
    return balance(pairs)


def write(pairs: list[Pair], path: Path) -> None:
    """Write pairs as lines of JSON, all or nothing."""
    partial = path.with_suffix(".partial")
    with gzip.open(partial, "wt", encoding="utf-8", compresslevel=6) as file:
        for pair in pairs:
            entry = asdict(pair)
            del entry["is_test"]
            file.write(json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n")
    partial.replace(path)


def statistics(out: Path, manifest: list[dict[str, str]]) -> dict[str, object]:
    """Count what lies in `out`: pairs by language and kind, and packages by licence."""
    pairs: dict[str, Counter[str]] = {}
    packages: Counter[str] = Counter()
    licences: Counter[str] = Counter()
    for entry in manifest:
        path = out / f"{entry['folder']}.jsonl.gz"
        if not path.exists():
            continue
        licences[entry["licence"]] += 1
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                one = json.loads(line)
                pairs.setdefault(one["language"], Counter())[one["kind"]] += 1
                packages[entry["folder"]] += 1
    kinds = sum(pairs.values(), Counter[str]())
    by_size = sorted(pairs, key=lambda language: -pairs[language].total())
    return {
        "pairs": kinds.total(),
        "kinds": dict(kinds),
        "languages": {language: {"all": pairs[language].total(), **pairs[language]} for language in by_size},
        "licences": dict(licences),
        "packages": dict(packages.most_common()),
    }


def main() -> int:
    """Mine every package of the manifest, each in a process of its own: a grammar may bring that down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, help="folder that collect.py filled")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", help="mine this one folder, in this process")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    manifest: list[dict[str, str]] = json.loads((arguments.sources / "manifest.json").read_text())
    if arguments.only:
        (entry,) = [entry for entry in manifest if entry["folder"] == arguments.only]
        repository = Path(entry["repository"]) if entry["repository"] else None
        try:
            pairs = mine(arguments.sources / entry["folder"], repository, entry["version"])
        except CairnError as error:
            raise SystemExit(str(error)) from error
        write(pairs, arguments.out / f"{entry['folder']}.jsonl.gz")
        return 0

    def beside(entry: dict[str, str]) -> str:
        folder = entry["folder"]
        if (arguments.out / f"{folder}.jsonl.gz").exists():
            return ""
        command = [sys.executable, __file__, str(arguments.sources), str(arguments.out), "--only", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return f"{folder}: {done.stderr.strip()[-300:] or done.returncode}" if done.returncode else ""

    with ThreadPoolExecutor(WORKERS) as pool:
        for problem in pool.map(beside, manifest):
            if problem:
                print(f"failed: {problem}", flush=True)
    about = statistics(arguments.out, manifest)
    (arguments.out / "stats.json").write_text(json.dumps(about, indent=1) + "\n")
    print(json.dumps({"pairs": about["pairs"], "kinds": about["kinds"]}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
