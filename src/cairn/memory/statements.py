"""Decisions, discoveries, warnings and trade-offs that people and agents state in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from cairn.memory.contradictions import read_ruling
from cairn.memory.inert import CLOSE, OPEN
from cairn.memory.linear import linear
from cairn.memory.statement_rules import (
    CAUSES,
    COMMON_WORDS,
    CONTINUATIONS,
    HEADINGS,
    NOT_STATEMENTS,
    RULES,
    StatementRule,
)

AGENT, USER = "agent", "user"

_MAX_CHARS, _MAX_HEADING_CHARS = 500, 100
_MIN_WORDS, _MIN_CONTENT_WORDS = 5, 3
_MIN_WORDS_OF_USER = 4  # "use pnpm, not npm"
_MAX_SENTENCES = 400
_UNDER_HEADING = 0.85
_CODE_BONUS, _VAGUE_MALUS = 0.05, 0.2
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s+(?P<hashes>.+?)|\*\*(?P<bold>[^*]{3,60})\*\*:?|(?P<plain>[A-Z][\w -]{3,40}):)\s*$"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[A-Z`\"'(*_\[]|[a-z]+\()")
# People who type to an agent begin few sentences with a capital. A letter before the point may be an abbreviation.
_INFORMAL_END = re.compile(
    r"(?<=[a-z]{2}[.!?])(?<!\b(?:vs|cf|no|eg|ie|al|ca|pp)\.)(?<!\betc\.)(?<!\bresp\.)(?<!\bincl\.)\s+(?=[a-z])"
    r"|(?<=[`)][.!?])\s+(?=[a-z])"
)
_LINE_CHARS = 60  # no editor breaks lines before that
_IN_FULL = {
    "pls": "please", "plz": "please", "b4": "before", "w/o": "without", "thx": "thanks",
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't",
    "werent": "weren't", "wont": "won't", "cant": "can't", "havent": "haven't", "hasnt": "hasn't",
    "couldnt": "couldn't", "shouldnt": "shouldn't", "wouldnt": "wouldn't", "im": "i'm", "ive": "i've",
    "thats": "that's", "dosent": "doesn't",
    "allways": "always", "alway": "always", "alwasy": "always", "nver": "never", "neer": "never", "becuase": "because",
    "becasue": "because", "shoud": "should", "shuold": "should", "decied": "decided", "insted": "instead",
    "perfer": "prefer", "preferr": "prefer", "bc": "because", "cuz": "because", "coz": "because", "gotta": "have to",
}  # fmt: skip
_SHORTENED = re.compile(rf"(?<![\w'/-])(?:{'|'.join(map(re.escape, _IN_FULL))})(?![\w'/-])")
_INLINE_CODE = re.compile(r"`[^`\n]{1,200}`")
# Of emphasis. Underscores are only where a pair of single ones stands around words: they begin and end many names.
_MARKS = re.compile(r"\*{2,3}|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_UNDERLINED = re.compile(r"(?<![\w`])(_{1,3})(?=[^\W_])([^_`\n]{1,100})(?<=[^\W_])\1(?![\w`])")
_DUNDER = re.compile(r"__\w+__")
_CODE_LIKE = re.compile(r"`[^`]+`|\b\w+(?:[._/]\w+)+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w*|\w\(\)")
_WORD = re.compile(r"[A-Za-z][\w'-]*|\d[\w.]*")
_KEEP_THAT = re.compile(
    r"(?:please |pls )?(?:remember|note|keep|save) (?:that|this)(?: please| pls| for later)?[.!]*", re.IGNORECASE
)
_ASKED_TO_KEEP = 0.75
_RULED = 0.75
# That a rule holds for all work, and not for the task at hand.
_FOR_ALL = (
    r"\b(?:always|never|everywhere|from now on|from here on|going forward)\b|\bin (?:this|our|the) (?:whole )?"
    r"(?:project|repo|repository|code ?base|company|team)\b|\b(?:all|every|each)\b"
    r"|^(?:btw,? |fyi[:,]? |note: |rule: )?our "
)
# What is meant for a model and no word of a colleague, or a note of ours that was repeated.
_INJECTED = (
    r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your )*"
    r"(?:previous|prior|earlier|above|preceding|system) (?:instructions?|prompts?|rules|messages?)"
    r"|</?(?:system|assistant|user|human)[\w-]*>|<\|\w+\|>|"
    rf"\b(?:system|assistant)(?: prompt| message)?:|\byou are now (?:an? |in )|[{OPEN}{CLOSE}]"
)
_VAGUE = re.compile(r"^(?:this|that|it|they|these|those)\b", re.IGNORECASE)


class Statement(NamedTuple):
    """Something that was stated.

    Attributes:
        type: of the memory it is worth.
        text: the sentence, and what explains it, without marks of Markdown other than for code.
        confidence: from 0 to 1.
    """

    type: str
    text: str
    confidence: float


class _Sentence(NamedTuple):
    text: str
    heading: str  # the type that the heading above promises, else empty


def find_statements(text: str, by: str) -> list[Statement]:
    """Return what a text states, in its order.

    Args:
        text: Markdown or plain.
        by: `AGENT` or `USER`: a user's "always use pnpm" is a decision, an agent's is none.
    """
    statements: list[Statement] = []
    follows = False
    before = ""
    for sentence in _sentences(text, by):
        if (
            by == USER
            and _KEEP_THAT.fullmatch(sentence.text)
            and not follows
            and _has_content(before, _MIN_WORDS_OF_USER)
        ):
            statements.append(Statement("gotcha", before, _ASKED_TO_KEEP))
            continue
        before = sentence.text
        if follows and linear(CONTINUATIONS).search(sentence.text.lower()):
            last = statements[-1]
            statements[-1] = last._replace(text=f"{last.text} {sentence.text}"[:_MAX_CHARS])
            follows = False
            continue
        statement = judge(sentence.text, by, sentence.heading)
        follows = statement is not None
        if statement is not None:
            statements.append(statement)
    return statements


def whole(text: str, most_chars: int) -> str:
    """Return a text that may have been cut at so many characters, without a sentence that was."""
    if len(text) < most_chars:
        return text
    end = max(text[:most_chars].rfind(mark) for mark in (". ", "! ", "? ", "\n"))
    return text[: end + 1]


def find_cause(text: str) -> str:
    """Return the sentence that says why something failed, empty if none does."""
    for sentence in _sentences(text):
        masked = _mask(sentence.text)
        if linear(CAUSES).search(masked) and _has_content(sentence.text) and not _is_ruled_out(masked):
            return sentence.text[:_MAX_CHARS]
    return ""


def judge(sentence: str, by: str, heading: str = "") -> Statement | None:
    """Return what a sentence states, None if nothing.

    Args:
        sentence: without marks of Markdown other than for code.
        by: `AGENT` or `USER`.
        heading: the type of what stands under its heading, empty if it says nothing.
    """
    masked = _mask(sentence)
    least = _MIN_WORDS_OF_USER if by == USER else _MIN_WORDS
    is_rule = by == USER and linear(_FOR_ALL).search(masked) is not None and read_ruling(sentence) is not None
    has_content = is_rule or _has_content(sentence, least)
    if len(sentence) > _MAX_CHARS or not has_content or _is_ruled_out(masked):
        return None
    best = Statement(heading, sentence, _UNDER_HEADING) if heading else None
    if is_rule and best is None:
        best = Statement("decision", sentence, _RULED)
    for rule in RULES:
        is_better = rule.by in ("", by) and (best is None or rule.confidence > best.confidence)
        if is_better and linear(rule.pattern).search(masked) and not _is_excepted(rule, masked):
            best = Statement(heading or rule.type, sentence, rule.confidence)
    if best is None:
        return None
    change = _CODE_BONUS if _CODE_LIKE.search(sentence) else 0.0
    change -= _VAGUE_MALUS if _VAGUE.match(sentence) and not _CODE_LIKE.search(sentence) else 0.0
    return best._replace(confidence=round(min(1.0, best.confidence + change), 2))


def _is_excepted(rule: StatementRule, masked: str) -> bool:
    return bool(rule.unless) and linear(rule.unless).search(masked) is not None


def _is_ruled_out(masked: str) -> bool:
    return any(linear(pattern).search(masked) for pattern in (_INJECTED, *NOT_STATEMENTS))


def _mask(sentence: str) -> str:
    """Return a sentence in lower case, words in full, and inline code replaced: words in it are not what is said."""
    parts = _INLINE_CODE.split(sentence)
    return "CODE".join(_in_full(part.lower().replace("\u2019", "'")) for part in parts)


def _in_full(text: str) -> str:
    return _SHORTENED.sub(lambda word: _IN_FULL[word[0]], text)


def _has_content(sentence: str, least: int = _MIN_WORDS) -> bool:
    words = _WORD.findall(sentence)
    content = [word for word in words if word.lower() not in COMMON_WORDS]
    return len(words) >= least and len(content) >= _MIN_CONTENT_WORDS


def _sentences(text: str, by: str = AGENT) -> Iterator[_Sentence]:
    count = 0
    for line, heading in _lines(text, by):
        for part in chain.from_iterable(map(_INFORMAL_END.split, _SENTENCE_END.split(line))):
            sentence = " ".join(_without_marks(part).split())
            if sentence:
                count += 1
                yield _Sentence(sentence, heading)
            if count >= _MAX_SENTENCES:
                return


def _without_marks(text: str) -> str:
    """Return a text without marks of emphasis; inline code stays as it is."""
    parts = _INLINE_CODE.split(text)
    codes = [*_INLINE_CODE.findall(text), ""]
    return "".join(
        _UNDERLINED.sub(_not_underlined, _MARKS.sub("", part)) + code for part, code in zip(parts, codes, strict=True)
    )


def _not_underlined(found: re.Match[str]) -> str:
    return found[0] if _DUNDER.fullmatch(found[0]) else found[2]


def _lines(text: str, by: str) -> Iterator[tuple[str, str]]:
    """Yield paragraphs and list items, each with the type that its heading promises; no code, tables or quotations."""
    paragraph: list[str] = []
    heading, is_code = "", False
    for line in [*text.splitlines(), ""]:
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        found = None if is_code or is_fence else _HEADING.match(line[:_MAX_HEADING_CHARS])
        is_item = not is_code and _ITEM.match(line) is not None
        is_break = (
            is_fence or is_code or found is not None or is_item or not line.strip() or line.lstrip()[:1] in ("|", ">")
        )
        if is_break and paragraph:
            for thought in _thoughts(paragraph, by):
                yield thought, heading
            paragraph = []
        if found is not None:
            heading = _type_of(found["hashes"] or found["bold"] or found["plain"])
        elif is_item:
            paragraph = [_ITEM.sub("", line)]
        elif not is_break:
            paragraph.append(line.strip())


def _thoughts(lines: list[str], by: str) -> Iterator[str]:
    """Yield what belongs together of a paragraph; a person ends a thought with a line that had room for more."""
    width = max(_LINE_CHARS, *map(len, lines))
    start = 0
    for place, (line, following) in enumerate(pairwise(lines), 1):
        if by == USER and len(line) + 1 + len(following.split(maxsplit=1)[0]) <= width:
            yield " ".join(lines[start:place])
            start = place
    yield " ".join(lines[start:])


def _type_of(heading: str) -> str:
    words = heading.strip(" :*_").lower()
    return next((type for type, pattern in HEADINGS if linear(pattern).search(words)), "")
