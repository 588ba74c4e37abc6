"""What speaks against one text taking the place of another, however similar their vectors are.

Vectors of short texts hardly see what matters most: another symbol, another number, a `not`. Each rule here was
measured on labelled pairs, see bench/supersede.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cairn.source.terms import terms_of
from cairn.source.text import raw_words, split_identifier

# How a text says that something changed; then other numbers and a `not` are what it is about.
_UPDATE = re.compile(
    r"\b(?:now|no longer|any ?more|from now on|changed|replaced|reverted|raised|lowered|dropped|increased|decreased|"
    r"reduced|switched|moved|migrated|renamed|bumped|actually|correction|corrected|as noted earlier|instead of)\b"
    r"|\b(?:decided|agreed|chose|going|have|had|need|needs?|let's|we'll) (?:to )?"
    r"(?:change|replace|revert|raise|lower|drop|increase|decrease|reduce|switch|move|bump|cut)\b"
    r"|(?:\bnot|n't) (?:\w+ )?\d",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,:]\d+)*(?![\w])")
# That what was named before is such a number, and not that it is so for a case that has one, such as `on Python 3.12`.
_VALUE = re.compile(
    r"\b(?:is|are) (?:set to |only |just )?(-?\d+(?:[.,:]\d+)*(?:%|[a-z]{1,3}\b|(?![.,:]?\w)))", re.IGNORECASE
)
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)+")
_CLAUSE = re.compile(r"[,;:()—]|[.!?](?=\s|$)|\b(?:but|while|although|because|since|so|unless)\b", re.IGNORECASE)
_NEGATIONS = frozenset(
    re.findall(
        r"\S+",
        "not no never cannot dont doesnt didnt isnt arent wont cant "
        "can't don't doesn't didn't won't isn't aren't wasn't without nothing none neither nor",
    )
)
_WORD = re.compile(r"[\w']+")
# What was so before, named by what says that it is not so any more.
_REPLACED = re.compile(
    r"\b(?:instead of|rather than|no longer|(?:switch|mov|migrat|chang)(?:e|ed)?(?: [\w-]+){0,4} (?:away )?from"
    r"|went (?:away )?from|replaced?)\s+"
    r"(?:the |a |an |using |use |on )?([\w./-]+)",
    re.IGNORECASE,
)
# Words that say that a value is set, or when, and not which.
_OF_VALUES = frozenset(
    re.findall(
        r"\S+",
        "now actually correction corrected changed raised lowered increased decreased dropped bumped reverted set sets "
        "default defaults value values use uses used using need needs always please anymore longer instead rather from "
        "switched moved replaced here repo project since last week today yesterday ms sec secs second seconds minute "
        "minutes min mins hour hours day days mb kb gb s m h x times per cent percent about around max at "
        "change raise lower increase decrease reduce reduced drop bump revert switch move replace decided agreed keep "
        "kept stay let happen happens every fine ok okay allowed welcome deprecated forbidden banned btw fyi hey nope "
        "never we",
    )
)
_LEAST_WORDS = 3  # of weight; fewer say too little for their vectors to mean anything
_USE = re.compile(r"\b(?:us(?:e|es|ed|ing)|prefer|stick (?:to|with)|on|with|in)\b", re.IGNORECASE)
_OF_TOOLS = frozenset(["install", "installs", "installing", "package", "packages", "dependency", "dependencies"])
_SCOPE = re.compile(
    r"\b(?:in|for|under|when|while|during|with|if|of|on)\s+(?:the |a |an |our |this |all )?([\w-]+)", re.IGNORECASE
)
_EXPLAINED = re.compile(r"\b(?:because|since|as|so|otherwise)\b", re.IGNORECASE)
# Of each of these, a project uses one.
_INSTEAD = tuple(
    frozenset(words.split())
    for words in (
        "npm yarn pnpm bun", "pip uv poetry pipenv pdm conda", "tabs spaces", "jest vitest mocha jasmine ava",
        "unittest pytest nose", "black ruff yapf autopep8", "eslint biome oxlint tslint", "webpack vite rollup esbuild",
        "make just taskfile", "moment dayjs luxon", "axios fetch ky got", "maven gradle bazel", "main master trunk",
        "squash rebase", "monday tuesday wednesday thursday friday saturday sunday",
        "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    )
)  # fmt: skip
_LEAST_OF_SUBJECT = 2  # words
_MOST_NUMBERS = 3
_REACH = 3  # how many words of weight a negation reaches
_LIGHT = frozenset(
    re.findall(
        r"\S+",
        "a an and any are as at be been by can could did do does each for from had has have in into is it its may must "
        "of on one only or own should some such than that the their them then there these they this those to too was "
        "we were what when where which who will with would you your also just more still even again if",
    )
)
# Between what comes first and what comes second.
_ORDER = ("before", "after", "then", "until", "over", "than", "to", "into", "from")
# Words that name different cases of the same thing: texts that differ by them speak of different cases.
_CASES = tuple(
    frozenset(words.split())
    for words in (
        "windows linux macos unix android ios freebsd posix darwin",
        "bash zsh fish powershell",
        "python ruby java kotlin go rust node deno bun php",
        "chrome firefox safari",
        "sqlite postgres postgresql mysql redis",
        "minimum maximum", "min max", "least most", "lower upper", "before after", "first last", "start stop",
        "open close", "read write", "reads writes", "send receive", "sent received", "sending receiving",
        "request response", "requests responses", "client server", "master replica", "parent child", "encode decode",
        "encoding decoding", "serialise deserialise", "serialize deserialize", "synchronous asynchronous", "sync async",
        "get post put patch delete", "stdin stdout stderr", "header cookie", "headers cookies", "key value",
        "success failure", "always never", "enabled disabled", "true false", "on off", "local remote", "push pull",
        "left right", "horizontal vertical", "row column", "rows columns", "input output", "commands flags options",
        "same cross", "internal external", "public private", "development production staging", "debug release",
        "unit integration",
    )
)  # fmt: skip


class _Statement(NamedTuple):
    """What is compared of a text.

    Attributes:
        words: in lower case.
        names: those of them that name code or things.
        numbers: as they are written.
        sequence: stems of the words of weight and of those in `_ORDER`, one after the other.
        heads: stems of the words that a negation stands before.
        denied: stems of the words in its reach.
        affirmed: stems of the others.
        is_update: whether it says that something changed.
    """

    words: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    sequence: tuple[str, ...]
    heads: frozenset[str]
    denied: frozenset[str]
    affirmed: frozenset[str]
    is_update: bool


def objections(old: str, new: str) -> tuple[str, ...]:
    """Return what speaks against a newer text taking the place of an older one, empty if nothing does.

    Returns:
        any of `names` (each names what the other does not), `numbers` (the same), `negation` (one denies what the other
        says), `cases` (they speak of different cases, such as Windows and Linux), `swap` (they differ in nothing but
        other words in the same places), `order` (what comes first in one comes second in the other), `brevity` (one has
        too few words).
    """
    before, after = _read(old), _read(new)
    rules = {
        "names": bool(before.names - after.words) and bool(after.names - before.words),
        "numbers": bool(before.numbers - after.numbers)
        and bool(after.numbers - before.numbers)
        and not after.is_update,
        "negation": _is_denied(before, after) and not after.is_update,
        "brevity": min(_n_words(before), _n_words(after)) < _LEAST_WORDS,
        "cases": any(_differ(before.words & cases, after.words & cases) for cases in _CASES),
        "swap": _is_swapped(before.sequence, after.sequence) and not after.is_update,
        "order": any(_is_turned(before.sequence, after.sequence, word) for word in _ORDER) and not after.is_update,
    }
    return tuple(rule for rule, applies in rules.items() if applies)


def is_correction(old: str, new: str) -> bool:
    """Tell whether a newer text says, in whatever words, that what an older one says of the same thing has changed.

    So it is if both say the same but for the value: `the port is 8080`, and later `the port is 9090`. And so it is if
    the newer one says that something changed, both speak of the same thing, one perhaps of more of it, and
    the newer gives it another number, denies what the older says, names what it replaces, or names another tool.
    """
    before, after = _read(old), _read(new)
    if _is_restated(old, new):
        return True
    if not after.is_update or {"names", "cases", "order"} & set(objections(old, new)):
        return False
    subject, other = _subject(old), _subject(new)
    is_same = subject == other or (_is_same_thing(subject, other) and _scopes(old) ^ _scopes(new) <= subject & other)
    if before.numbers and after.numbers - before.numbers:
        return is_same and len(before.numbers) <= len(after.numbers) <= _MOST_NUMBERS and bool(subject)
    if _is_taken_back(_CLAUSE.split(old, maxsplit=1)[0], new):
        return True
    replaced = {part for name in _REPLACED.findall(new) for part in _parts(name)} & subject
    if replaced and _covers(other, subject - replaced):
        return True
    return any(_is_exchanged(before, after, instead) for instead in _INSTEAD) and _USE.search(old) is not None


def _is_restated(old: str, new: str) -> bool:
    """Tell whether two texts are the same in all words but a value, or one of some things of which a project uses one.

    A value is the number or amount that they say something to be.
    """
    values, others = _VALUE.findall(old), _VALUE.findall(new)
    words, theirs = (_WORD.findall(_VALUE.sub(" ", text).lower()) for text in (old, new))
    if words == theirs:
        return len(values) == len(others) == 1 and values != others
    pairs = [{one, other} for one, other in zip(words, theirs, strict=False) if one != other]
    is_exchanged = len(words) == len(theirs) and all(any(pair <= instead for instead in _INSTEAD) for pair in pairs)
    return is_exchanged and values == others


def may_correct(text: str) -> bool:
    """Tell whether a text says that something changed, or which value something has."""
    return _UPDATE.search(text) is not None or _VALUE.search(text) is not None


def _is_taken_back(old: str, new: str) -> bool:
    """Tell whether a text denies all that another one affirms, or affirms all that it denies."""
    subject, other = _subject(old), _subject(new)
    is_all = bool(subject) and (subject == other or (len(subject) >= _LEAST_OF_SUBJECT and subject <= other))
    return is_all and _scopes(old) ^ _scopes(new) <= subject & other and _is_turned_round(_read(old), _read(new))


def _is_turned_round(one: _Statement, other: _Statement) -> bool:
    """Tell whether one statement denies, in reach of a negation, what the other affirms."""
    return bool(one.denied & (other.affirmed - other.denied)) or bool(other.denied & (one.affirmed - one.denied))


def _is_same_thing(subject: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether two subjects are the same, or one says the other more exactly."""
    return min(len(subject), len(other)) >= _LEAST_OF_SUBJECT and (subject <= other or other <= subject)


def _covers(others: frozenset[str], left: frozenset[str]) -> bool:
    return left <= others or (bool(others) and others <= left)


def _is_exchanged(before: _Statement, after: _Statement, instead: frozenset[str]) -> bool:
    """Tell whether one statement names one of some things where the other names another, and otherwise says as much."""
    old, new = before.words & instead, after.words & instead
    if len(old) != 1 or not new - old:
        return False
    dull = instead | _LIGHT | _NEGATIONS | _OF_VALUES | _OF_TOOLS
    left, others = (frozenset(map(_stem, one.words - dull)) for one in (before, after))
    return left <= others and (bool(left) or len(others) <= 1)


def _scopes(text: str) -> frozenset[str]:
    """Return the stems of where or when something holds: `in tests`, `for uploads`, without what explains it."""
    names = _SCOPE.findall(_EXPLAINED.split(text, maxsplit=1)[0])
    return frozenset(part for name in names for part in _parts(name))


def _subject(text: str) -> frozenset[str]:
    """Return the stems of what a text speaks of, without what it says of its value; names are taken apart."""
    said = _EXPLAINED.split(text, maxsplit=1)[0]
    words = (part for word in raw_words(said) for part in _parts(word))
    return frozenset(words)


def _parts(word: str) -> list[str]:
    parts = [part.lower() for part in split_identifier(word)]
    dull = _LIGHT | _NEGATIONS | _OF_VALUES
    return [_stem(part) for part in parts if part not in dull and not part[0].isdigit()]


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one - other) and bool(other - one)


def _is_swapped(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether two texts are the same but for words in the same places, which the other has nowhere."""
    if len(one) != len(other):
        return False
    pairs = [(word, instead) for word, instead in zip(one, other, strict=True) if word != instead]
    return bool(pairs) and {word for word, _ in pairs}.isdisjoint(instead for _, instead in pairs)


def _is_turned(one: Sequence[str], other: Sequence[str], word: str) -> bool:
    """Tell whether something that stands before a word in one text stands behind it in the other, and the reverse."""
    if word not in one or word not in other:
        return False
    (first, second), (first_there, second_there) = (
        (set(text[: text.index(word)]), set(text[text.index(word) + 1 :])) for text in (one, other)
    )
    return bool((first - second) & (second_there - first_there)) and bool(
        (second - first) & (first_there - second_there)
    )


def _n_words(statement: _Statement) -> int:
    """Return how many words of weight a text has, each once."""
    return len(statement.affirmed | statement.denied)


def _is_denied(one: _Statement, other: _Statement) -> bool:
    """Tell whether one statement denies something that the other only affirms."""
    return bool(one.heads & (other.affirmed - other.denied)) or bool(other.heads & (one.affirmed - one.denied))


def _read(text: str) -> _Statement:
    words = frozenset(word.lower() for word in raw_words(text))
    heads: set[str] = set()
    denied: set[str] = set()
    affirmed: set[str] = set()
    for clause in _CLAUSE.split(text):
        _read_clause([word.lower() for word in _WORD.findall(clause)], heads, denied, affirmed)
    return _Statement(
        words,
        frozenset(_iter_names(text)),
        frozenset(_NUMBER.findall(text)),
        tuple(_iter_sequence(text)),
        frozenset(heads),
        frozenset(denied),
        frozenset(affirmed),
        _UPDATE.search(text) is not None,
    )


def _iter_sequence(text: str) -> Iterator[str]:
    for word in (word.lower() for word in _WORD.findall(text)):
        if word in _ORDER:
            yield word
        elif word not in _LIGHT:
            yield _stem(word)


def _iter_names(text: str) -> Iterator[str]:
    """Yield the names in a text, in lower case: parts of dotted names, words like code, and capitalised words."""
    for match in _DOTTED.finditer(text):
        yield from (part.lower() for part in raw_words(match[0]) if not part.isdigit())
    for match in re.finditer(r"\w+", text):
        word = match[0]
        is_first = re.search(r"(?:^|[.!?:;]\s+|\n\s*)[`'\"(]*$", text[: match.start()]) is not None
        if word.isdigit():
            continue
        if "_" in word.strip("_") or len(split_identifier(word)) > 1 or (word[0].isupper() and not is_first):
            yield word.lower()


def _read_clause(words: Sequence[str], heads: set[str], denied: set[str], affirmed: set[str]) -> None:
    """Add the stems of a clause to those that are denied, at the head and in reach, and to those that are not."""
    weights = [place for place, word in enumerate(words) if word not in _LIGHT and word not in _NEGATIONS]
    reached: set[int] = set()
    for place in (place for place, word in enumerate(words) if word in _NEGATIONS):
        reach = [other for other in weights if other > place][:_REACH]
        reach = reach or [other for other in reversed(weights) if other < place][:_REACH]  # "..., the other does not"
        heads.update(_stem(words[other]) for other in reach[:1])
        reached.update(reach)
    denied.update(_stem(words[place]) for place in reached)
    affirmed.update(_stem(words[place]) for place in weights if place not in reached)


def _stem(word: str) -> str:
    return terms_of(word, (word,))[0]
