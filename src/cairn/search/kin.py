"""What files may be called instead of what a question says: a parser where it asks about parsing, or a synonym."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import IMPACT_SCALE
from cairn.index.snapshot import Snapshot
from cairn.index.view import STEM_FIELD
from cairn.kernels.plain import TermRows
from cairn.search.query import Query, is_work_item
from cairn.search.synonyms import Synonym
from cairn.source.terms import known_hash, stemmer, terms_of_word

_LEAST_CHARS, _LEAST_AGENT = 3, 5
_AGENTS = ("er", "or")
# Endings of what is done, the longest first; `ion` only after a t, as in `extraction`.
_ACTS = ("ions", "ing", "ion", "ed", "es", "e", "s", "")
# Words that the stemmer leaves apart from the forms of them that follow.
_IRREGULAR_FORMS = """
    analysis analyses; appendix appendices; axis axes; begin begun began; bend bent; bind bound; blow blew blown;
    break broke broken; bring brought; build built; buy bought; catch caught; child children;
    choose chose chosen; criterion criteria; deal dealt; dig dug; draw drew drawn; drive drove driven;
    fall fell fallen; feed fed; flee fled; fly flew flown; focus foci; forbid forbade forbidden;
    forget forgot forgotten; freeze froze frozen; grandchild grandchildren; grow grew grown; half halves;
    hang hung; hide hid hidden; hold held; hypothesis hypotheses; index indices; keep kept; lay laid; lead led;
    leaf leaves; lend lent; lose lost; matrix matrices; medium media; meet met; mouse mice;
    override overrode overridden overriden; overrun overran; overwrite overwrote overwritten;
    parenthesis parentheses; pay paid; person people; prove proven; radius radii; rebind rebound;
    rebuild rebuilt; redo redid redone; redraw redrawn redrew; rerun reran; resend resent;
    rethrow rethrown rethrew; rewind rewound; rewrite rewrote rewritten; run ran; schema schemata; seek sought;
    sell sold; send sent; shake shook shaken; show showed shown; shrink shrank shrunk; sleep slept; slide slid;
    speak spoke spoken; spend spent; spin spun; spring sprang sprung; steal stole stolen; stick stuck;
    strike struck; swear swore sworn; sweep swept; take took taken; teach taught; tell told; throw threw thrown;
    unbind unbound; understand understood; undo undid undone; unfreeze unfrozen; unwind unwound; vertex vertices;
    wake woke woken awoken; wear wore worn; weave wove woven; wind wound; withdraw withdrew withdrawn;
    withhold withheld; write wrote written
"""
_REGULAR = {form: base for base, *forms in (words.split() for words in _IRREGULAR_FORMS.split(";")) for form in forms}
_OF_SYNONYM = 1.6  # what it counts in a path, where the term itself would count 1
_VOWELS, _NEVER_DOUBLED = frozenset("aeiou"), frozenset("aeiouwxy")


@lru_cache(maxsize=4_096)
def kin_of_word(word: str) -> tuple[str, ...]:
    """Return the stems of who does what a lower-case word says, or of what such a one does: `parsing` has `parser`.

    An irregular form also has the word that it is of. Some stems are of no word at all, and stand in no index.
    """
    if (regular := _REGULAR.get(word)) is not None:
        return (stemmer().stemWord(regular), *kin_of_word(regular))
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
    snapshot: Snapshot,
    query: Query,
    rarity: npt.NDArray[np.float64],
    paths: TermRows,
    synonyms: Sequence[Synonym] = (),
) -> dict[str, npt.NDArray[np.float32]]:
    """Return how well kin and synonyms of a question's words fit each file's path, as the feature `kin` of (n_files,).

    There is none where they fit no path, and for work items, whose weights were chosen without it.

    Args:
        rarity: of each of the query's terms.
        paths: where the terms themselves stand; what is there already counts no second time.
    """
    if is_work_item(query):
        return {}
    share = (rarity / (rarity.sum() + 1e-6)).tolist()
    others = {form: (term, _OF_SYNONYM * share[term], _OF_SYNONYM * share[term]) for form, term in synonyms}
    others |= {form: (term, share[term], 1.0) for form, term in _kin_of_terms(query).items()}
    found = snapshot.term_paths(list(others))
    if not len(found.rows):
        return {}
    n_files = len(snapshot.files.paths)
    terms, in_paths, in_stems = (np.array(column) for column in zip(*others.values(), strict=True))
    new = _not_among(terms[found.terms] * n_files + found.rows, paths.terms * n_files + paths.rows).nonzero()[0]
    files, number = found.rows[new], found.terms[new]
    of_path = in_paths[number] * found.impacts[new] / IMPACT_SCALE
    is_stem = (found.fields[new] & STEM_FIELD) > 0
    of_stem = in_stems[number] * is_stem / np.maximum(1, snapshot.files.stem_terms[files])
    fits: npt.NDArray[np.float32] = np.bincount(files, (of_path + of_stem) / 2, n_files).astype(np.float32)
    return {"kin": np.minimum(1, fits)}


def _kin_of_terms(query: Query) -> dict[int, int]:
    """Return {hash of a kin: the term that it is of}."""
    place = {term.text: number for number, term in enumerate(query.terms)}
    kin: dict[int, int] = {}
    for word in dict.fromkeys(query.words):
        number = place.get(terms_of_word(word)[1][-1])
        if number is not None:
            for form in kin_of_word(word):
                if form not in place:
                    kin.setdefault(known_hash(form), number)
    return kin


def _not_among(values: npt.NDArray[np.int64], ordered: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Tell which values are not among some that are in order; `np.isin` takes longer, and imports more of numpy."""
    if not len(ordered):
        return np.ones(len(values), dtype=np.bool_)
    is_other: npt.NDArray[np.bool_] = ordered[np.minimum(ordered.searchsorted(values), len(ordered) - 1)] != values
    return is_other
