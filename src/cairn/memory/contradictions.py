# ruff: noqa: E501 - a pattern is a row
"""Whether two rules decide the same thing differently, in whatever words: `use tabs` and `indent with spaces`.

Only rules about what a project has one of are compared (`contradiction_rules`), and only if all their other words are
the same: `retry twice` says nothing about `retry webhooks five times`. What is not plainly a rule is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from cairn.memory.contradiction_rules import TOPICS, Topic
from cairn.source.terms import terms_of
from cairn.source.text import raw_words

MAX_CHARS = 400  # of a text that may be a rule
_FIRST = (
    "zero",
    "one once",
    "two twice",
    "three thrice",
    *["four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
)
_NUMBERS = {name: number for number, names in enumerate(_FIRST) for name in names.split()}
_NUMBERS |= {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
    "hundred": 100,
}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_BYTES = {"b": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_WORDS = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_NUMBER = rf"\d[\d_]*(?:,\d{{3}})*(?:\.\d+)*|{_WORDS}"
_UNIT = (
    r"(?P<ms>ms|milliseconds?|millis)|(?P<s>s|secs?|seconds?)|(?P<m>m|mins?|minutes?)|(?P<h>h|hrs?|hours?)"
    r"|(?P<d>days?)|(?P<w>weeks?)|(?P<kb>kb|kib|kilobytes?)|(?P<mb>mb|mib|megabytes?)|(?P<gb>gb|gib|gigabytes?)"
    r"|(?P<b>bytes?)|(?P<percent>%|percent|per cent)"
)
_AMOUNT = re.compile(
    rf"(?<![\w.<-])(?:(?P<half>half an? )(?=minute|hour)|(?P<number>{_NUMBER}|an?(?= (?:second|minute|hour|day|week)\b)))"
    rf"(?:[ -]?(?:{_UNIT})(?!\w)|(?![\w]))"
)
_SENTENCE = re.compile(r"[.!](?=\s|$)|[;\n]")
_EXPLANATION = re.compile(r",? (?:because|since|so that|otherwise|as (?:we|it|the)|in order)\b|,? - |: ")
# It holds in a case only, is past or a guess, or says what was found.
_NO_RULE = re.compile(
    r"\?|\b(?:if|when|whenever|unless|except|until|while|during|only (?:in|for)|was|were|took|had|has been|have been|fails?"
    r"|(?<!retry )failed(?! (?:requests|calls|jobs|downloads|tests|uploads))"
    r"|timed|saw|measured|seems?|looks?|sometimes|often|usually|maybe|perhaps|could|would|might|try|tried|trying"
    r"|temporarily|for now|today|tomorrow|this time|yet|i think|bug|error|broken|this (?!project|repo|code)|these|following|exceptions? (?:is|are)|but|or)\b"
)
_OR_NEWER = re.compile(r"\bor (?:newer|later|higher|above|more|less|fewer)\b|\bat least or\b")
_AT_MOST = re.compile(r"\b(?:at most|maximum|max|up to|no more than|not more than|below|under)\b")
_AT_LEAST = re.compile(r"\b(?:at least|minimum|min|no less than|more than)\b(?<!no more than)(?<!not more than)")
_AS_LIMIT = re.compile(
    r"\b(?:no(?: [\w-]+ (?:may|must|should|can)(?: be| take| have)?)?|not(?: be| take| have| run| drop| fall)*"
    r"|never(?: be| take| drop| fall)*)"
    r" (?:longer|more|larger|bigger|greater|less|fewer|exceed|below|under)(?: than)?\b"
)
_OF_LEAST_VERSION = re.compile(
    r"\b(?:minimum|min|at least|or|and|oldest|lowest|requires?|required|needs?|msrv)\b(?: (?:newer|later|higher|above)\b)?"
)
_AND_NEWER = re.compile(r"\band (?:newer|later|higher|above|up)\b")
_NEGATION = r"(?:no|not(?: use| with| in)?|never(?: use)?|n't(?: use)?|without|omit|avoid|instead of|rather than|over|stop using|leave out)"
_DENIED = re.compile(rf"(?:\b|(?<=n't))(?:{_NEGATION}) (?:(?:the|any|a|using) )?$|n't (?:use |add )?$")
_NEGATED = re.compile(r"\b(?:no|not|never|cannot|nothing|none|nobody|without)\b|n't\b")
# Words that name no subject, beside those of a topic.
_DULL = frozenset(
    re.findall(
        r"\S+",
        "a an and any are as at be been by can do does each every for from has have in into is it its may must of on "
        "one only our own should some such than that the their them then there these they this those to too we who "
        "will with you your also just always never not no please more less most least max maximum now use uses used "
        "using prefer prefers set default project projects repo repository here code base codebase everywhere "
        "remember note rule convention need needs must shall allowed keep make sure up want i let all agreed decided "
        "decision from going forward on stick newer later higher under below above exceed than long after or",
    )
) - {"default"}


class Ruling(NamedTuple):
    """What a rule decides.

    Attributes:
        topic: the name of what is decided.
        subject: stems of what it is decided for, empty if for all.
        value: an amount in the topic's smallest unit, a version, or one of its options.
    """

    topic: str
    subject: frozenset[str]
    value: tuple[float, ...] | str


class _Amount(NamedTuple):
    unit: str
    value: tuple[float, ...]


def contradicts(old: str, new: str) -> bool:
    """Tell whether two texts are rules that decide the same thing differently."""
    before, after = read_ruling(old), read_ruling(new)
    if before is None or after is None:
        return False
    return before._replace(value="") == after._replace(value="") and before.value != after.value


@lru_cache(maxsize=4_096)
def read_ruling(text: str) -> Ruling | None:
    """Return what a text rules, None unless that is plain and one thing."""
    if len(text) > MAX_CHARS:
        return None
    sentence = _SENTENCE.split(_without_points(text), maxsplit=1)[0].lower().replace("\u2019", "'").strip()
    sentence = _EXPLANATION.split(sentence, maxsplit=1)[0]
    if _NO_RULE.search(_OR_NEWER.sub("", sentence)):
        return None
    masked, amounts = _mask(sentence)
    rulings = [ruling for topic in TOPICS if (ruling := _rule_on(topic, masked, amounts)) is not None]
    return rulings[0] if rulings else None


def _without_points(text: str) -> str:
    return text.replace("`", "").replace("*", "")


def _mask(sentence: str) -> tuple[str, list[_Amount]]:
    """Return a sentence with marks in the place of its amounts, and these."""
    amounts: list[_Amount] = []

    def mark(match: re.Match[str]) -> str:
        amount = _amount_of(match)
        amounts.append(amount)
        return f"<{amount.unit}>"

    return _AMOUNT.sub(mark, sentence), amounts


def _amount_of(match: re.Match[str]) -> _Amount:
    unit = next((name for name in ("ms", "s", "m", "h", "d", "w", "kb", "mb", "gb", "b", "percent") if match[name]), "")
    number = match["number"] or ""
    parts = (0.5,) if match["half"] else _parts_of(number, is_version=not unit)
    if unit in _SECONDS:
        return _Amount("time", (round(parts[0] * _SECONDS[unit], 3),))
    if unit in ("kb", "mb", "gb", "b"):
        return _Amount("size", (parts[0] * _BYTES[unit[0]],))
    return _Amount(unit or "n", parts)


def _parts_of(number: str, *, is_version: bool) -> tuple[float, ...]:
    if number in ("a", "an"):
        return (1.0,)
    if number in _NUMBERS:
        return (float(_NUMBERS[number]),)
    digits = number.replace("_", "").replace(",", "")
    if is_version:
        return tuple(float(part) for part in digits.removesuffix(".0").split(".")[:3])
    whole, _, rest = digits.partition(".")
    return (float(f"{whole}.{rest.replace('.', '')}" if rest else whole),)


def _rule_on(topic: Topic, masked: str, amounts: list[_Amount]) -> Ruling | None:
    """Return what a sentence rules on a topic, None if nothing or more than one thing."""
    if not _compiled(topic.pattern).search(masked):
        return None
    if topic.options:
        value = _option_of(topic, masked)
        if value and topic.name == "indentation" and amounts:
            value = f"{value} {amounts[0].value[0]:g}" if len(amounts) == 1 and value == "spaces" else ""
        elif amounts:
            return None
        return Ruling(topic.name, _subject_of(topic, masked), value) if value else None
    unit = "n" if topic.unit == "version" else topic.unit
    if len(amounts) == 1 and topic.unit == "n" and len(amounts[0].value) > 1:
        return None  # a version
    if len(amounts) != 1 or amounts[0].unit != unit or not _is_bound_right(topic, masked):
        return None
    return Ruling(topic.name, _subject_of(topic, masked), amounts[0].value)


def _is_bound_right(topic: Topic, masked: str) -> bool:
    """Tell whether a sentence sets the limit that a topic is about, and denies nothing else."""
    plain = _AS_LIMIT.sub("at most" if topic.bound == "max" else "at least", masked)
    if topic.unit == "version" and not (_OF_LEAST_VERSION.search(plain) or _AND_NEWER.search(plain)):
        return False
    other = {"max": _AT_LEAST, "min": _AT_MOST}.get(topic.bound)
    return not _NEGATED.search(plain) and (other is None or not other.search(plain))


def _option_of(topic: Topic, masked: str) -> str:
    """Return the value that a sentence is for, empty if for none or several."""
    named = [
        (name, _DENIED.search(masked[: match.start()]) is not None)
        for name, pattern in topic.options
        for match in _compiled(rf"(?<![\w-])(?:{pattern})").finditer(masked)
    ]
    affirmed = {name for name, is_denied in named if not is_denied}
    denied = {name for name, is_denied in named if is_denied}
    names = {name for name, _ in topic.options}
    if len(names) < 3 and denied and not affirmed:
        affirmed = (names - denied) or {f"no {name}" for name in denied}
    return affirmed.pop() if len(affirmed) == 1 else ""


def _subject_of(topic: Topic, masked: str) -> frozenset[str]:
    """Return stems of the words of a sentence that belong neither to its topic nor to all rules."""
    own = _stems(topic.own)
    for _, pattern in topic.options:
        masked = _compiled(rf"(?<![\w-])(?:{pattern})").sub(" ", masked)
    return frozenset(stem for word, stem in _stemmed(masked) if word not in _DULL and stem not in own)


def _stemmed(masked: str) -> Iterator[tuple[str, str]]:
    for word in raw_words(re.sub(r"<\w+>", " ", masked)):
        yield word, terms_of(word, (word,))[0]


@cache
def _stems(words: str) -> frozenset[str]:
    options = {part for word in words.split() for part in (word, *re.split(r"[_-]", word))}
    return frozenset(terms_of(word, (word,))[0] for word in options if word)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
