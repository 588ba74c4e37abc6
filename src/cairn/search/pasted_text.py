"""Reads text that was pasted into a query: what of it is a message, and which words were filled in."""

from __future__ import annotations

import re
from typing import NamedTuple

from cairn.source.text import is_plain

_FEW_WORDS = 3  # of which not every text is looked for
_WORD = re.compile(r"\w+")
_ODD = re.compile(r"[^\w\s]")
_QUESTION = re.compile(
    r"(?i)^(how|where|what|which|who|why|when|does|do|is|are|can|show|find|list|explain|describe)\b(?!'|n't| ?not\b)"
)
_WANTS = re.compile(r"(?i)^(?:add|change|extend|implement|make|remove|rename|support|test|document|deprecate|use)\b")
_WHERE = re.compile(
    r"(?i)^(where|which|find|show|list|what (prints|raises|throws|logs|outputs|says|sets|uses|writes))\b"
)
_CLOSING_CHARS = 250  # of the end of a text, in which that question stands
# A question with which a message ends that says before it what is wrong: `Did you mean "name"?`
_CLOSING = re.compile(
    r"(?i)[\w\"'`.,;:!)\]}>-] \(?(?:are|did|do|does|forgot|has|have|is|maybe|perhaps|was|were)\b[^?]{0,200}\?\)?$"
)
_TALKS = re.compile(r"\b(I|[Ww]e|[Yy]ou|[Mm]y|[Oo]ur|LGTM|WDYT|nit)\b")  # which a message does not, beside code
# Parts of a question that are meant as they stand: quoted text that is no name, flags, keys with two dashes or more.
_PART = re.compile(r"\"([^\"]+)\"|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)|(?<!\S)(--\w\S*|\w+(?:-\w+){2,})")
_SAYS_ERROR = (
    r"(?i:(error|exception|fatal|warning|failed|failure|panic|uncaught|invalid|unknown|unexpected|unrecogni[sz]ed"
    r"|unsupported|unhandled|undefined|undeclared|illegal|malformed|duplicate|missing|deprecated)[\w ]{0,30}\)?: )"
)
# What prose seldom has: values, placeholders, a full stop at the end, what messages say about what went wrong.
_MARKS = re.compile(
    r"[\"`]|(?<!\w)'|'(?!\w)|%[sdrvq]|%\(|\$?\{|\(s\)|(?<!\S)--?\w|\d[.:]\d|[\[\]<>=$]|[.!]$|^-?ERR "
    rf"|{_SAYS_ERROR}"
)
_MESSAGE = re.compile(
    r"(?i)\b(can ?not|can't|could ?n[o']t|unable to|fail(ed|s) to|must (not )?be|(is|are|was|were|does|do|did) not"
    r"|not (found|allowed|supported|a valid)|no such|already (exists|in use|defined|registered|been)"
    r"|exceeded|denied|refused|(is|are) required)\b"
)
# What messages of two or three words say, as `unknown option`, and hardly any name of a thing.
_SHORT_MESSAGE = re.compile(
    r"(?i)\b(?:can ?not|can't|could ?n[o']t|wo(?:n't|uld not)|(?:does|is|are|was|has|do)n't|not?|unable"
    r"|fail(?:ed|s|ure)|invalid|unknown|unexpected(?:ly)?|unrecogni[sz]ed|unsupported|unhandled|undefined|undeclared|unauthori[sz]ed"
    r"|unavailable|unreachable|illegal|malformed|duplicate|missing|denied|refused|forbidden|exceeded|expired|lost"
    r"|bad|broken|corrupt(?:ed)?|already|nothing|wrong|too|must|out of|timed out|mismatch|aborted|rejected|incompatible"
    r"|insufficient|required|empty|closed)\b"
)
# A command that the project declares, as somebody types it: `php artisan shop:restock`.
_COMMAND = re.compile(
    r"(?:php artisan|(?:bundle exec |bin/)?(?:rake|rails)|(?:python3? )?(?:\./)?manage\.py) (\w+(?:[:_-]\w+)+)"
)
_ENDS_WITH_VALUE = re.compile(r"\s#?(?:0x[\da-fA-F]+|[\w-]*\d[\w-]*)$")  # `no user found for handle 0xab`
# Before words of a message: it says which things are meant, as in `a file that is not found`.
_DESCRIBES = re.compile(r"(?i)\b(that|which|who|whose|when|whether|while|where|unless)\b(?: \w+){0,4} ?$")
# What is probably a value: quoted, with a digit, a dot or a slash inside; the class of an exception before its message.
_VALUES = re.compile(
    r"<[^<>\n]*>|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`|\[[^\]]*\]|\S*\d\S*|\S*\w[./\\:]+\w\S*"
    r"|^[*(]* ?\(?[\w.:\\]+\)?:? (?<=[:)] )"
)
_TEMPLATE = re.compile(r"<%.*?%>")
# A field of a line of a log, as logfmt and JSON write it; those whose values are messages, those that say most first.
_FIELD_NAME = r"(?:[\w.@-]{1,40}=|\"[\w.@ -]{1,40}\": ?)"
_FIELD_VALUE = r"(?:\"(?:[^\"\\\n]|\\.){0,1000}\"|[^\s,\"]{0,300})"
_MESSAGE_FIELDS = ("msg", "message", "event", "error", "err")
_OF_MESSAGE = rf"\"?(?:{'|'.join(_MESSAGE_FIELDS)})\"?[=:]"
_STRING_FIELD = re.compile(r"(?<![\w.@-])(?:(\w+)=|\"(\w+)\": ?)\"((?:[^\"\\\n]|\\.){1,1000})\"")
# What a log puts before a message: fields, or times, levels, names of loggers.
LOG_PREFIX = re.compile(
    rf"\s*\{{?(?:(?!{_OF_MESSAGE}){_FIELD_NAME}{_FIELD_VALUE}[\s,]{{1,5}}){{1,30}}(?={_OF_MESSAGE})"
    r"|(?:\s*(?:\[?\d{2,4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d[\d:.,]*(?: ?[+-]\d\d:?\d\d|Z)?[\],]?|\d\d:\d\d:\d\d[\d.,]*"
    r"|\[[^\]\n]{1,80}\]|(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)(?:/\w+)?\b|[\w.]{1,60}\[\w+:\d+\]|[-$>|])"
    r"\s*[:\]-]?)+\s*"
)
_FIELDS = re.compile(rf"\s*\{{?\s*{_FIELD_NAME}")
_CLASS_NAME = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning|Failure|Fault|Panic)\b")
_PATH_VALUE = re.compile(r"(?<!\S)(?:/[\w.-]+){2,}")
# The class of an exception before its message.
_CLASS_PREFIX = re.compile(r"[\w.:\\$]*[A-Z]\w*(?:Error|Exception|Warning|Failure|Fault|Panic): +")

# What a language says of itself, whatever the code does: no project makes such a message.
_OF_LANGUAGES = (
    r"(?:E +)?(?:Uncaught (?:\(in promise\) )?)?(?:[\w.:\\$]*(?:Error|Exception|Panic)(?: ?: +|: ))?(?:panic: )?(?:"
    r"'(?:NoneType|bool|bytes|dict|float|function|int|list|set|str|tuple)' object (?:has no attribute|is not|does not)"
    r"|(?:list|tuple|string) (?:assignment )?index out of range|(?:too many|not enough) values to unpack"
    r"|unsupported operand type\(s\) for |unhashable type: '|maximum recursion depth exceeded|No module named '"
    r"|cannot access local variable '|\w+\(\) (?:missing \d+ required|got an unexpected keyword|takes \d+) "  # Python
    r"|Cannot (?:read|set) propert(?:y|ies) .{0,80}of (?:undefined|null)|Maximum call stack size exceeded"
    r"|Cannot access '\w+' before initialization|(?:undefined|null) is not (?:an object|iterable)"  # JavaScript
    r"|undefined (?:local variable or )?method [`'].{1,80}' for |wrong number of arguments \(given \d"  # Ruby
    r"|runtime error: |assignment to entry in nil map|all goroutines are asleep|concurrent map "  # Go
    r"|Cannot (?:invoke|read|load|store) .{1,200} because .{1,200} is null|Index -?\d+ out of bounds for length"  # Java
    r"|Object reference not set to an instance|Index was outside the bounds of the array"  # .NET
    r"|attempt to \w+ with overflow|attempt to divide by zero|index out of bounds: the len is )"  # Rust
)


class Pasted(NamedTuple):
    """A text that looks pasted. `is_loose` means that a part of it is enough, else all must stand in one place.

    `is_quoted` means that a question quotes it, which does not ask where it stands. `is_short` means that it has so few
    words that only a message of the code which is no more than these counts.
    """

    text: str
    is_loose: bool = False
    is_quoted: bool = False
    is_short: bool = False


class MessageParts(NamedTuple):
    """What the parts of a message are.

    Attributes:
        values: where values stand that were probably filled in, as (start, end).
        raised: the classes of exceptions that it names.
        body: the message without what a log put before it and without the class of the exception.
    """

    values: list[tuple[int, int]]
    raised: list[str]
    body: str

    def is_value(self, place: int) -> bool:
        """Tell whether a word at a place in the text is not part of the message as the code has it."""
        return any(start <= place < end for start, end in self.values)


def read_message(text: str) -> MessageParts:
    """Return the parts of a message."""
    values = [match.span() for match in _VALUES.finditer(_TEMPLATE.sub(_blank, text))]
    plain = without_prefix(text)
    named = _CLASS_PREFIX.match(plain)
    return MessageParts(values, _CLASS_NAME.findall(text), plain[named.end() if named else 0 :].strip())


def without_values(text: str) -> str:
    """Return a message without the values that were probably filled in."""
    return _VALUES.sub(" ", _TEMPLATE.sub(_blank, text))


def without_prefix(text: str) -> str:
    """Return a message without what a log put around it; all of a text that is nothing else."""
    if messages := _messages_of_fields(text):
        return messages[0]
    match = LOG_PREFIX.match(text)
    return text[match.end() :].strip() or text if match else text


def is_of_language(text: str) -> bool:
    """Tell whether a message is one of the language, such as that something is null, and not of the code."""
    return re.match(_OF_LANGUAGES, without_prefix(text)) is not None


def _messages_of_fields(text: str) -> list[str]:
    """Return the messages of a line of a log that is fields, such as `level=error msg="The cart is closed"`."""
    if not _FIELDS.match(text):
        return []
    fields = {logfmt or json: value for logfmt, json, value in _STRING_FIELD.findall(text)}
    return [fields[name] for name in _MESSAGE_FIELDS if " " in fields.get(name, "").strip()]


def _blank(match: re.Match[str]) -> str:
    """Return as many digits as a match has characters: a value."""
    return "0" * len(match[0])


def read_pasted(text: str) -> list[Pasted]:
    """Return what of a query looks pasted: all of it, or the quoted and odd parts of a question."""
    first, *rest = [line.strip() for line in text.strip().splitlines() if line.strip()] or [""]
    if rest:  # of a trace, the message stands first or last
        return [pasted for line in (rest[-1], first) for pasted in read_pasted(line)]
    if messages := _messages_of_fields(first):
        return [Pasted(message, True) for message in messages]
    if " " not in first:
        is_token = _ODD.search(first) or "_" in first or (first.isupper() and len(first) > 2)
        return [Pasted(_unquoted(first), False)] if is_token and _WORD.search(first) else []
    if command := _COMMAND.fullmatch(first):
        return [Pasted(command[1])]
    is_closed = _closes_with_question(first)
    is_question = bool(_QUESTION.match(first)) or (first.endswith("?") and not is_closed)
    if is_question or ("`" in first and not is_closed and _TALKS.search(first)):
        parts = [next(filter(None, match.groups())).rstrip("?.,;:!") for match in _PART.finditer(first)]
        is_quoted = is_question and not _WHERE.match(first)
        return [Pasted(part, is_quoted=is_quoted) for part in parts if not _WORD.fullmatch(part)]
    n_words = len(first.split())
    has_marks = not is_plain(first) and (_MARKS.search(first) or _PATH_VALUE.search(first))
    if has_marks or _tells_what_failed(first) or LOG_PREFIX.match(first):
        return [Pasted(_unquoted(first), n_words > 2)]
    if n_words > _FEW_WORDS:
        return [Pasted(first, bool(_SHORT_MESSAGE.search(first) and _ENDS_WITH_VALUE.search(first)))]
    return [Pasted(first, is_short=True)] if _SHORT_MESSAGE.search(first) else []


def asks(text: str) -> bool:
    """Tell whether a short text asks for something or wants it done, or is no more than a word."""
    if " " not in text.strip() or _QUESTION.match(text) or _WANTS.match(text):
        return True
    return text.rstrip().endswith("?") and not _closes_with_question(text.strip())


def _closes_with_question(text: str) -> bool:
    """Tell whether a text is a message that only ends with a question to its reader."""
    if not text.endswith(("?", "?)")):
        return False
    closing = _CLOSING.search(text, max(0, len(text) - _CLOSING_CHARS))
    said = text[: closing.start() + 1] if closing else ""
    is_message = _tells_what_failed(said) or re.search(_SAYS_ERROR, said) is not None
    return is_message and not _TALKS.search(said)


def _tells_what_failed(text: str) -> bool:
    """Tell whether a text has words of a message that do not describe the things that somebody looks for."""
    return any(not _DESCRIBES.search(text[: match.start()]) for match in _MESSAGE.finditer(text))


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`"
    return text[1:-1] if is_quoted and text[0] not in text[1:-1] else text
