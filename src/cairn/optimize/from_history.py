"""Makes examples from commits: each says in words what was wanted, and shows where it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from cairn.history.past import Past
from cairn.optimize.examples import Example, WantedFile
from cairn.search.habits import scope_of
from cairn.search.query import asks_for_change
from cairn.search.tuning import MAX_OPENINGS, MAX_SCOPES, base_form, is_scope, opening_of

MAX_FILES = 10
MOST_COMMITS = 1_500
_FEWEST_WORDS = 3
_ISSUE = re.compile(r"\s*\(?#\d+\)?")
_WORD = re.compile(r"\w+")
# An opening is the first word of at least this many subjects, and of this share of the subjects with that word.
_FEWEST_SUBJECTS, _LEAST_SHARE = 3, 0.4
_QUESTION = re.compile(
    r"how|what|where|which|who|why|when|is|are|does|do|can|should|the|a|an|all|any|for|if|in|no|not|of|on|to|with|\d.*"
)


def examples_from_history(past: Past, folder: str = "", most: int = MOST_COMMITS) -> list[Example]:
    """Return the subjects of commits with the files they changed, oldest first.

    Commits that say nothing, were made by programs, or changed more than `MAX_FILES` files are left out.

    Args:
        past: the history of the checkout, with the files' present names.
        folder: the project's path in its repository, with a trailing `/` unless it is the top.
        most: how many, the newest.
    """
    found: list[Example] = []
    for commit in range(len(past)):
        if len(found) >= most:
            break
        subject = _ISSUE.sub("", past.subject_of(commit)).strip()
        paths = [past.path_of(path) for path in past.paths_of(commit).tolist()]
        if past.weights[commit] < 1 or not 0 < len(paths) <= MAX_FILES or len(subject.split()) < _FEWEST_WORDS:
            continue
        wanted = tuple(WantedFile(path.removeprefix(folder)) for path in paths if path.startswith(folder))
        if wanted:
            name = past.hash_of(commit)
            found.append(Example(subject, wanted, (), name, float(past.seconds[commit]), "history", name))
    return found[::-1]


class Wordings(NamedTuple):
    """A project's wording of changes: the base forms of first words, and the scopes before them."""

    openings: frozenset[str]
    scopes: frozenset[str]


def learn_wordings(subjects: Iterable[str]) -> Wordings:
    """Return first words that are typical of this project's subjects, and the scopes that they name."""
    first: Counter[str] = Counter()
    anywhere: Counter[str] = Counter()
    scopes: Counter[str] = Counter()
    for subject in subjects:
        scopes[scope_of(subject)] += 1
        words = _WORD.findall(subject.lower())
        forms = {word: base_form(word) for word in words}
        anywhere.update(set(forms.values()))
        opening = opening_of(subject)
        if opening and not any(form == opening and _says_little(word) for word, form in forms.items()):
            first[opening] += 1
    openings = [
        form
        for form, count in first.most_common()
        if count >= _FEWEST_SUBJECTS and count >= _LEAST_SHARE * anywhere[form]
    ]
    named = [scope for scope, count in scopes.most_common() if count >= _FEWEST_SUBJECTS and is_scope(scope)]
    return Wordings(frozenset(openings[:MAX_OPENINGS]), frozenset(named[:MAX_SCOPES]))


def _says_little(word: str) -> bool:
    """Tell whether a first word also begins questions, or is known to open changes in any project."""
    return _QUESTION.fullmatch(word) is not None or asks_for_change(f"{word} it")
