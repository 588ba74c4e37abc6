#!/usr/bin/env python3
"""Show where the processor time of a warm query goes, piece by piece; see README.md beside this file."""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from statistics import median
from typing import Any

from cairn.workspace import Workspace
from dataset import load_repositories
from metrics import percentile
from systems import key_of

# What belongs to each piece; what a function spends in another one's pieces does not count for it.
PIECES = {
    "parse the query": ("search.query:understand", "search.long_query:understand_long"),
    "parts of a long text": (
        "search.mentions:read_mentions",
        "search.reported:messages_of",
    ),
    "routes of requests": ("search.routed:find_routes",),
    "frames": ("search.reported:_calls_of", "search.moved:line_of_frame"),
    "evidence of a long text": ("search.evidence:gather",),
    "the query's vector": ("search.rank_files:query_vector",),
    "history": ("search.past:file_history",),
    "open the state": ("search.opened:OpenIndex.reading", "facets.project_index:ProjectIndex.open_index"),
    "postings": ("search.score:_match_terms",),
    "lexical features": ("search.score:_lexical",),
    "cosines of rows": ("index.vectors:Vectors.similarities", "search.near:compare"),
    "settled cosines": ("search.near:Nearness.settle",),
    "what is known of files": ("search.score:_priors",),
    "definitions of names": ("search.rank:_rows_defining_names", "search.named:named_rows"),
    "the rest of the first stage": ("search.rank:first_stage",),
    "features of the best files": ("search.learned:file_features",),
    "trees": ("search.learned:Forest.predict", "search.learned:correct"),
    "one chunk of each file first": ("search.rank:_diversify",),
    "confidence": ("search.confidence:relevances", "search.confidence:is_hopeless"),
    "chunks from SQLite": ("search.shown:ShownCode.read_chunks",),
    "files from the disk": ("search.library:read_files",),
    "what to show of a chunk": ("search.hits:focus_on",),
    "hits": ("search.hits:make_hit",),
    "what was pasted": ("search.pasted_answer:with_pasted", "search.pasted:find_pasted"),
}


class Pieces:
    """Adds up the time of functions, in milliseconds of processor time of this thread, each without its callees'."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = dict.fromkeys(PIECES, 0.0)
        self.counted = False
        self._inner = [0.0]

    def watch(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, counted for a piece."""

        @wraps(function)
        def timed(*args: object, **kwargs: object) -> object:
            self._inner.append(0.0)
            started = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                taken = time.thread_time() - started
                inner = self._inner.pop()
                self._inner[-1] += taken
                self.taken[name] += 1000 * (taken - inner) if self.counted else 0

        return timed


def watch_all(pieces: Pieces) -> None:
    """Count every function that belongs to a piece, wherever it was imported to."""
    modules = {name: importlib.import_module(f"cairn.{name}") for name in _modules()}
    for piece, places in PIECES.items():
        for place in places:
            module, _, path = place.partition(":")
            owner: Any = modules[module]
            *outer, name = path.split(".")
            for part in outer:
                owner = getattr(owner, part)
            function = getattr(owner, name)
            watched = pieces.watch(piece, function)
            setattr(owner, name, watched)
            for other in modules.values():
                if getattr(other, name, None) is function:
                    setattr(other, name, watched)


def _modules() -> set[str]:
    places = {place.partition(":")[0] for group in PIECES.values() for place in group}
    return places | {"search.answer", "search.rank", "search.score", "search.long_answer", "search.any_length"}


def measure(pieces: Pieces, workspace: Workspace, questions: list[str]) -> list[float]:
    """Ask all questions twice and return what the second time took."""
    for counted in (False, True):
        taken, pieces.counted = [], counted
        for question in questions:
            started = time.thread_time()
            workspace.search(question)
            taken.append(1000 * (time.thread_time() - started))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, metavar="FOLDER", help="holds repos.json and annotations/")
    parser.add_argument("--repos", type=Path, metavar="FOLDER", help="what checkout.py laid out")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these repositories")
    parser.add_argument("--project", type=Path, metavar="FOLDER", help="one project in place of the repositories")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="for it, one on each line")
    parser.add_argument("--texts", type=Path, nargs="+", default=[], metavar="FILE", help="for it, one in each file")
    parser.add_argument("--state", type=Path, required=True, metavar="FOLDER", help="where the indexes are, or will be")
    parser.add_argument("--whole", action="store_true", help="measure queries as a whole only, which costs less itself")
    options = parser.parse_args()
    pieces, taken = Pieces(), list[float]()
    if not options.whole:
        watch_all(pieces)
    if options.project:
        questions = [text.read_text(encoding="utf-8") for text in options.texts]
        questions += options.questions.read_text(encoding="utf-8").splitlines() if options.questions else []
        projects = [(options.project, options.state, questions)]
    else:
        projects = [
            (one.folder, options.state / "cairn" / key_of(one.folder), [question.query for question in one.questions])
            for one in load_repositories(options.bench, options.repos, options.only)
        ]
    for folder, state, questions in projects:
        with Workspace.open(folder, state_dir=state) as workspace:
            if not workspace.is_indexed:
                workspace.index()
            taken += measure(pieces, workspace, questions)
    print(f"{len(taken)} questions: p50 {median(taken):.2f} ms, p95 {percentile(taken, 95):.2f} ms of processor time")
    for name, total in sorted(pieces.taken.items(), key=lambda piece: -piece[1]):
        print(f"{name:<32}{total / len(taken):>8.3f} ms")
    print(f"{'all else':<32}{(sum(taken) - sum(pieces.taken.values())) / len(taken):>8.3f} ms")


if __name__ == "__main__":
    main()
