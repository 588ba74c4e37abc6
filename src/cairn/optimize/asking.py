"""Runs the questions of examples as searches of a project, as of the time of each example."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cairn.errors import CairnError
from cairn.history.past import Past
from cairn.optimize.examples import Example
from cairn.optimize.metrics import LIMIT, file_match, function_match, ndcg
from cairn.protocol.requests import SearchRequest
from cairn.search.confidence import sureness
from cairn.search.hits import PREVIEW_CHARS, PREVIEW_LINES
from cairn.search.library import Library
from cairn.search.past import PastOfView
from cairn.search.query import Query, understand
from cairn.search.rank_files import rank_files
from cairn.search.tuning import Tuning
from cairn.source.roles import Role
from cairn.source.text import estimate_tokens
from cairn.storage.index import chunk_db
from cairn.types import Span

ASIDE = int(Role.TEST | Role.DOCS | Role.CONFIG | Role.EXAMPLE)
_ROWS = 60  # rows of a ranking; the first of each file counts
EVERYTHING = SearchRequest(query="")


class AskedExample(NamedTuple):
    """The answer to an example.

    Attributes:
        paths: those of the best files.
        seconds: of processor time.
        tokens: those of the first hits, as shown.
        names: those that the first hits define.
        sureness: see `cairn.search.confidence.sureness`.
    """

    paths: tuple[str, ...]
    seconds: float
    tokens: int = 0
    names: tuple[str, ...] = ()
    sureness: float = 0.0


class Score(NamedTuple):
    """The scores of an answer: over all files, over code files, for a right file near the top, and for wanted names.

    None means that the example does not ask for it.
    """

    ndcg: float
    code: float | None
    match: float
    function: float | None = None


def at_time_of(library: Library, example: Example) -> Library:
    """Return a library with only the commits from before an example."""
    if not example.before or library.past is None:
        return library
    past = library.past.past
    number = past.number_of(example.before)
    older = past.behind(number) if number >= 0 else past
    return library._replace(past=PastOfView(older, library.past.folder))


def understand_example(example: Example) -> Query | None:
    """Return the query of an example, None if it is not one to rank."""
    try:
        return understand(example.text, "hybrid")
    except CairnError:
        return None


def ask(library: Library, tuning: Tuning, example: Example) -> AskedExample:
    """Answer an example with a tuning."""
    query = understand_example(example)
    if query is None:
        return AskedExample((), 0.0)
    tuning = tuning._replace(before=None)
    library = at_time_of(library, example)._replace(tuning=tuning)
    started = time.process_time()
    ranking = rank_files(library, tuning.expand(query), EVERYTHING, _ROWS)
    seconds = time.process_time() - started
    files = dict.fromkeys(row.file for row in ranking.rows)
    paths = tuple(library.snapshot.files.paths[file] for file in files)[:LIMIT]
    ids = library.snapshot.chunk_ids([row.row for row in ranking.rows[:LIMIT]])
    chunks = chunk_db.read_chunks(library.connection, ids).values()
    tokens = sum(_tokens_shown(one.chunk.span) for one in chunks)
    names = tuple(definition.qualified_name for one in chunks for definition in one.definitions)
    return AskedExample(paths, seconds, tokens, names, sureness(ranking))


def _tokens_shown(span: Span) -> int:
    """Return how many tokens of a hit are shown: those of its first lines, assuming equal lengths."""
    n_lines = span.end_line - span.start_line + 1
    n_bytes = (span.end_byte - span.start_byte) * min(1.0, PREVIEW_LINES / n_lines)
    return estimate_tokens(min(round(n_bytes), PREVIEW_LINES * PREVIEW_CHARS))


def score_of(asked: AskedExample, example: Example, is_code: Callable[[str], bool]) -> Score:
    """Return the scores of an answer."""
    wanted = gains_of(example)
    code = {path: gain for path, gain in wanted.items() if is_code(path)}
    symbols = {one.symbol for one in example.wanted if one.symbol}
    return Score(
        ndcg(asked.paths, wanted),
        ndcg(asked.paths, code) if code else None,
        file_match(asked.paths, wanted),
        function_match(asked.names, symbols) if symbols else None,
    )


def gains_of(example: Example) -> dict[str, float]:
    """Return the gain of each file that an example wants."""
    gains: dict[str, float] = {}
    for one in example.wanted:
        gains[one.path] = max(one.gain, gains.get(one.path, 0.0))
    return gains


def code_files(library: Library) -> frozenset[str]:
    """Return the paths of the files that are neither tests, nor documentation, configuration or examples."""
    files = library.snapshot.files
    own = np.flatnonzero((files.roles & ASIDE) == 0)
    return frozenset(files.paths[file] for file in own.tolist())


def known_examples(library: Library, examples: Sequence[Example]) -> Iterator[Example]:
    """Yield examples with only those files that the project has; examples without any are left out."""
    paths = frozenset(library.snapshot.files.paths)
    for example in examples:
        wanted = tuple(one for one in example.wanted if one.path in paths)
        if wanted:
            yield example._replace(wanted=wanted)


def has_past(past: Past | None) -> bool:
    """Tell whether there is a history from which to make examples."""
    return past is not None and len(past) > 0
