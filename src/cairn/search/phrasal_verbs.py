"""Verbs of two words that code writes as one: what a question calls `log in` is `login`, `LogIn` or `log_in` there."""

from __future__ import annotations

from typing import NamedTuple

from cairn.source.terms import stemmer

# The particles with which a verb, given by its stem, means something else than by itself.
_PARTICLES = {
    "back": ("off", "up"),
    "call": ("back",),
    "check": ("in", "out"),
    "fall": ("back",),
    "log": ("in", "off", "on", "out"),
    "look": ("up",),
    "opt": ("in", "out"),
    "plug": ("in",),
    "pop": ("up",),
    "roll": ("back", "out"),
    "set": ("up",),
    "shut": ("down",),
    "sign": ("in", "off", "on", "out", "up"),
    "tear": ("down",),
    "time": ("out",),
}
_ALL_PARTICLES = frozenset(particle for particles in _PARTICLES.values() for particle in particles)


class JoinedWords(NamedTuple):
    """The words of a question in which each phrasal verb is one word, and the verbs without their particles."""

    words: list[str]
    verbs: list[str]


def join_phrasal_verbs(words: list[str]) -> JoinedWords:
    """Write the phrasal verbs of a question as code does, in any form: `signs in`, `rolled back`."""
    if _ALL_PARTICLES.isdisjoint(words):
        return JoinedWords(words, [])
    joined, verbs = [words[0]], []
    for word in words[1:]:
        if word in _ALL_PARTICLES and word in _PARTICLES.get(verb := stemmer().stemWord(joined[-1].lower()), ()):
            joined[-1] = verb + word
            verbs.append(verb)
        else:
            joined.append(word)
    return JoinedWords(joined, verbs)
