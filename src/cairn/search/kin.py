"""Words of one family that the stemmer keeps apart: a question about parsing is also about what is called a parser."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import IMPACT_SCALE
from cairn.index.snapshot import Snapshot
from cairn.index.view import STEM_FIELD
from cairn.kernels.plain import TermRows
from cairn.search.query import Query, is_work_item
from cairn.source.terms import known_hash, stemmer, terms_of_word

_LEAST_CHARS, _LEAST_AGENT = 3, 5
_AGENTS = ("er", "or")
# Endings of what is done, the longest first; `ion` only after a t, as in `extraction`.
_ACTS = ("ions", "ing", "ion", "ed", "es", "e", "s", "")
_VOWELS, _NEVER_DOUBLED = frozenset("aeiou"), frozenset("aeiouwxy")


@lru_cache(maxsize=4_096)
def kin_of_word(word: str) -> tuple[str, ...]:
    """Return the stems of who does what a lower-case word says, or of what such a one does: `parsing` has `parser`.

    Some of them are of no word at all, and stand in no index.
    """
    if len(word) < _LEAST_CHARS or not word.isalpha():
        return ()
    one = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    stem = stemmer().stemWord
    forms = _acts(one) if one.endswith(_AGENTS) and len(one) >= _LEAST_AGENT else _agents(word, stem(word))
    found = dict.fromkeys(stemmer().stemWords(forms))
    found.pop(stem(word), None)
    return tuple(form for form in found if len(form) >= _LEAST_CHARS)


def _acts(agent: str) -> list[str]:
    """Return what one does who is called so: `parse` of `parser`, `log` of `logger`, `copy` of `copier`."""
    root = agent[:-2]
    forms = [root, f"{root}e"]
    if len(root) > _LEAST_CHARS and root[-1] == root[-2]:
        forms.append(root[:-1])
    if agent.endswith("ier"):
        forms.append(f"{agent[:-3]}y")
    return forms


def _agents(word: str, stem: str) -> list[str]:
    """Return who does what a word says."""
    ending = next(end for end in _ACTS if word.endswith(end) and (end[:3] != "ion" or word[: -len(end)].endswith("t")))
    forms = []
    for root in dict.fromkeys((word.removesuffix(ending), stem)):
        if len(root) < _LEAST_CHARS:
            continue
        forms += [f"{root}{ending}" for ending in _AGENTS]
        if root.endswith("i"):
            forms.append(f"{root}er")
        if root[-1] not in _NEVER_DOUBLED and root[-2] in _VOWELS:
            forms.append(f"{root}{root[-1]}er")
    return forms


def kin_features(
    snapshot: Snapshot, query: Query, rarity: npt.NDArray[np.float64], paths: TermRows
) -> dict[str, npt.NDArray[np.float32]]:
    """Return how well the kin of a question's words fit each file's path, as the feature `kin` of shape (n_files,).

    There is none where they fit no path, and for work items, whose weights were chosen without it.

    Args:
        rarity: of each of the query's terms.
        paths: where the terms themselves stand; what is there already counts no second time.
    """
    if is_work_item(query):
        return {}
    place = {term.text: number for number, term in enumerate(query.terms)}
    kin: dict[int, int] = {}
    for word in dict.fromkeys(query.words):
        number = place.get(terms_of_word(word)[1][-1])
        if number is not None:
            for form in kin_of_word(word):
                if form not in place:
                    kin.setdefault(known_hash(form), number)
    found = snapshot.term_paths(list(kin))
    if not len(found.rows):
        return {}
    n_files = len(snapshot.files.paths)
    own = np.array(list(kin.values()))[found.terms]
    new = _not_among(own * n_files + found.rows, paths.terms * n_files + paths.rows).nonzero()[0]
    files, own = found.rows[new], own[new]
    share = (rarity / (rarity.sum() + 1e-6))[own]
    of_path = share * found.impacts[new] / IMPACT_SCALE
    of_stem = ((found.fields[new] & STEM_FIELD) > 0) / np.maximum(1, snapshot.files.stem_terms[files])
    fits: npt.NDArray[np.float32] = np.bincount(files, (of_path + of_stem) / 2, n_files).astype(np.float32)
    return {"kin": np.minimum(1, fits)}


def _not_among(values: npt.NDArray[np.int64], ordered: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Tell which values are not among some that are in order; `np.isin` takes longer, and imports more of numpy."""
    if not len(ordered):
        return np.ones(len(values), dtype=np.bool_)
    is_other: npt.NDArray[np.bool_] = ordered[np.minimum(ordered.searchsorted(values), len(ordered) - 1)] != values
    return is_other
