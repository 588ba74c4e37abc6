"""Ranks the files of an opened project for a query, by the weights that its kind and the project's tuning give."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cairn.embedding.static import StaticModel
from cairn.loading import load
from cairn.search.filters import Filtered
from cairn.search.habits import tuned_features
from cairn.search.library import Library
from cairn.search.past import file_history
from cairn.search.query import DETAIL_WEIGHT, Query
from cairn.search.rank import Ranking, rank
from cairn.search.score import Floats, Ints, Weights

if TYPE_CHECKING:
    from cairn.search.evidence import TextEvidence

WEIGHTS = Weights()
# What counts when only the meaning is asked for, not the words.
MEANING_WEIGHTS = WEIGHTS._replace(
    lexical=0.0, name=0.0, doc=0.0, symbol=0.0, file_lexical=0.0, path=0.0, stem=0.0, learned=0.0
)
# What counts for a long text, fitted on texts of issues and commits; see bench/README.md.
LONG_WEIGHTS = WEIGHTS._replace(
    named=0.3,
    pointed=0.4,
    framed=0.4,
    raised=0.3,
    referred=0.6,
    symbol=0.0,
    stem=0.05,
    docs=-0.7,
    config=-0.5,
    file_lexical=0.6,
    test=-0.5,
    depth=-0.2,
    words=0.3,
    telling=0.3,
)


def rank_files(
    library: Library,
    query: Query,
    filters: Filtered,
    limit: int,
    gather: Callable[[Ints], TextEvidence] | None = None,
    notes: list[str] | None = None,
) -> Ranking:
    """Return the best rows for a query that the tuning has expanded, by its weights; see `rank`.

    Args:
        notes: gets what is to be said of the meaning.
    """
    snapshot, connection, tuning = library.snapshot, library.connection, library.tuning
    vector = query_vector(library.model, query)
    dense = None
    if library.meanings is not None:
        meaning = library.meanings.find(connection, snapshot, query.text, vector)
        dense = meaning.dense
        if notes is not None:
            notes.extend(meaning.notes)
    if query.mode == "semantic" or query.item is not None or not tuning.number:
        weights = MEANING_WEIGHTS if query.mode == "semantic" else WEIGHTS if query.item is None else LONG_WEIGHTS
        history = file_history(snapshot, library.past, query)
    else:
        weights = tuning.weights_for(query.text)
        history = file_history(snapshot, library.past, query, tuning.share_for(query.text))
    more = tuned_features(snapshot, library.past, query, weights)
    return rank(snapshot, connection, query, vector, filters, limit, weights, dense, gather, history, more)


def query_vector(model: StaticModel, query: Query) -> Floats | None:
    """Return the unit vector of the query's words, shape (dimensions,); None when the model knows none of them.

    Words that do not belong to the query's subject count `DETAIL_WEIGHT`.
    """
    if query.item is not None:
        vector: Floats | None = load("cairn.search.long_answer:vector_of_item")(model, query)
        return vector
    if not query.words:
        return None
    if query.subject == query.words:
        pooled = model.pool(query.words)
    else:
        weights = [DETAIL_WEIGHT] * len(query.words) + [1 - DETAIL_WEIGHT] * len(query.subject)
        pooled = model.pool([*query.words, *query.subject], weights)
    norm = math.sqrt(pooled.dot(pooled))
    return pooled / np.float32(norm) if norm > 0 else None
