"""Learns which words in the code a project's own terms stand for, from questions with known right files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from cairn.optimize.asking import understand_example
from cairn.optimize.examples import Example
from cairn.search.query import STOP_WORDS
from cairn.search.tuning import MAX_EXPANSIONS, MAX_WORDS, Expansions
from cairn.source.terms import terms_of
from cairn.source.text import split_identifier

# A pair counts if at least this many questions and groups support it, and this share of the questions with the term,
# and if it is this many times more frequent with the term than without.
FEWEST_QUESTIONS, FEWEST_GROUPS = 3, 2
_LEAST_SHARE, _LEAST_LIFT = 0.5, 2.5
_LEAST_CHARS = 3


def learn_expansions(examples: Sequence[Example]) -> Expansions:
    """Return, for terms of questions, the words of names in the code that they stand for.

    Args:
        examples: questions; repeated ones count once.
    """
    questions: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    groups: dict[tuple[str, str], set[str]] = defaultdict(set)
    asked: dict[str, set[tuple[str, str]]] = defaultdict(set)
    named: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for example in examples:
        query = understand_example(example)
        key = example.text.lower(), example.wanted[0].path
        if query is None or key in seen:
            continue
        seen.add(key)
        words = _words_of(example)
        named.update(words)
        known = {term for word in words for term in terms_of(word, (word,))}
        for term in query.terms:
            asked[term.text].add(key)
            if term.text in known or len(term.text) < _LEAST_CHARS or not term.text.isidentifier():
                continue
            for word in words:
                questions[term.text, word].add(key)
                groups[term.text, word].add(example.group)
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for (text, word), supporting in questions.items():
        share = len(supporting) / len(asked[text])
        lift = share * len(seen) / named[word]
        if (
            len({question for question, _ in supporting}) >= FEWEST_QUESTIONS
            and len(groups[text, word]) >= FEWEST_GROUPS
            and share >= _LEAST_SHARE
            and lift >= _LEAST_LIFT
        ):
            found[text].append((-share * min(lift, 10.0), word))
    strongest = sorted(found, key=lambda text: (min(found[text]), text))[:MAX_EXPANSIONS]
    return {
        text: tuple((word, round(min(1.0, len(questions[text, word]) / len(asked[text])), 3)) for _, word in chosen)
        for text, chosen in ((text, sorted(found[text])[:MAX_WORDS]) for text in sorted(strongest))
    }


def _words_of(example: Example) -> set[str]:
    """Return the words in the names of files and definitions that an example wants."""
    names = (name for one in example.wanted for name in (_stem_of(one.path), one.symbol))
    return set(_own_words(names))


def _own_words(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        for word in split_identifier(name.replace(".", "_").replace("-", "_")):
            if len(word) >= _LEAST_CHARS and word.isidentifier() and word not in STOP_WORDS:
                yield word


def _stem_of(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
