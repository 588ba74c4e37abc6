"""Finds the lines that a long text reports: the frames of its tracebacks, and where its messages are made."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from itertools import chain, compress, islice, tee
from typing import NamedTuple

from cairn.search.diagnosed import diagnosed_path, is_hidden, makes_diagnosis
from cairn.search.exact import LineMatch
from cairn.search.file_finder import FileFinder
from cairn.search.filters import Filtered
from cairn.search.framed import lines_of_frames
from cairn.search.library import Library
from cairn.search.linked_places import with_places
from cairn.search.moved import OF_FUNCTION
from cairn.search.pasted import PastedPlace, find_pasted
from cairn.search.pasted_text import LOG_PREFIX, Pasted, read_message, without_prefix, without_values
from cairn.search.patched import changed_lines
from cairn.search.printed_lines import is_usual
from cairn.search.query import STOP_WORDS
from cairn.search.request_text import read_requests
from cairn.search.routed import MAX_FILES_OF_REPORT, MAX_FILES_OF_TEXT, find_routes
from cairn.search.work_item import WorkItem
from cairn.source.frames import CallFrame, TracebackFrame, read_calls
from cairn.source.roles import Role

_SHORT_REPORT = 3_000  # characters
RAISED_PART, CHANGED_PART, ROUTED_PART = "raised here", "changed here", "route of the request"
MAX_FRAMES = 10
MAX_MESSAGES, MAX_MESSAGES_OF_OUTPUT = 1, 4  # looking for a message takes longer than all else
MAX_PLACES_OF_MESSAGES = 2
_MAX_MESSAGE_CHARS = 400
_MAX_PREFIX_CHARS = 120  # in which a level stands
_FEW_LINES, _FEW_LINES_ALONE = 8, 3
_PROSE_SHARE = 0.5
_OTHER_SHARE = 0.4  # of the lines of a log, that are none of it
_ASIDE = Role.TEST | Role.EXAMPLE | Role.DOCS  # no message is made there
_LEAST_WORDS = 3  # of a message, and that stand together in the code where less than half of it does
_LEAST_SHARE, _HALF = 0.25, 0.5  # of a message's rarity
SURE_SHARE = 0.8  # of a message that stands in a line, from which on that is where it is made
# So it is if so many words of the message stand in a row there, and so many of them that are not common, or a few in a
# row and so many in all near them. What a wrapped error says behind them, and values, may be most of it.
_SURE_WORDS, _SURE_RARE_WORDS, _SURE_WORDS_NEAR = 4, 3, 6
_MAX_RIVALS = 3  # places that are compared
_RIVALLED = 0.7  # the most that a message says of a place where another file has the same words
_FEW_WORDS = 12
_FURTHER_FRAME = 0.85  # of each frame against the one that is deeper

_ERROR = re.compile(
    r"(?:E\s+|\[\w+\]\s*|[\w.-]{1,40}+: (?=(?:fatal )?error: )|[\w./\\-]+:\d+(?::\d+)?:?\s*|[>|]\s*|\*\* \(){0,4}"
    r"(?:(?:Caused by|Uncaught|Unhandled|thread '[^']*' panicked at|panic:|fatal:|error(?:\[\w+\])?:|ERROR|FATAL)(?!\w)"
    r"|\[[\w-]{1,40} (?:error|warning)\]:|[\w.$\\:]{0,120}(?:Error|Exception|Warning|Failure|Panic)\b)"
)
# What follows the words that `_ERROR` finds where they say which error it was, and do not just begin a sentence.
_TELLS = re.compile(
    r"(?<=:)|(?: in thread \"[^\"\n]{0,80}\")?\s?(?:\[[\w-]{1,40}\]|[\w.$\\:]{0,120}(?:Error|Exception|Warning|Panic))?"
    r"\s?(?:[:)]|[-\u2013] |\([\"'])"
)
# The levels of logs that say that something went wrong.
_LEVELS = ("warn", "err", "crit", "fatal", "severe", "emerg", "panic")
_LEVEL = re.compile(r"(?i)\b(?:warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|severe|emerg|panic)\b")
# A panic of Rust: its message stood in it, and stands on the next line since 1.73.
_PANIC = re.compile(
    r"panicked at (?:(?:'(.{1,400})', )?\S{1,400}:\d+:\d+|\S{1,400}:\d+:\d+:\n(.{1,400}))$", re.MULTILINE
)
_UNWRAPPED = re.compile(r"called `Result::\w+\(\)` on an `Err` value: |called `Option::\w+\(\)` on a `None` value")
_SAYS_IN_LOWER = re.compile(  # for text in lower case: where case does not count, `re` takes three times as long
    r"\b(can ?not|can't|could ?n[o']t|unable to|fail(ed|s) to|must (not )?be|(is|are|was|were|does|do|did) not"
    r"|not (found|allowed|supported|a valid)|no such|already (exists|in use|defined|registered|been)"
    r"|exceeded|denied|refused|(is|are) required|unexpected|invalid|unknown|unrecogni[sz]ed|missing)\b"
)
_SAYS = re.compile(_SAYS_IN_LOWER.pattern, re.IGNORECASE)
# What `_SAYS` finds has one of these, in lower case: they are told quickly, and most lines have none.
_SAID = (
    *("not", "n't", "unable", "fail", "must", "no such", "already", "exceeded", "denied", "refused", "required"),
    *("unexpected", "invalid", "unknown", "unrecogni", "missing"),
)
_BRACKETED = re.compile(r"\s*\[[\w\\]*(?:Error|Exception|Warning)\]\s*$")
# How people write: in the first person, with questions, links and code spans.
_PERSON = re.compile(
    r"(?i)\b(I|we|my|our|you|please|when|should|expected|want|instead|however|according|why|how)\b|\?|https?:|`\w[^`\n]*`"
)
# It begins with one set of characters, for which re looks quickly.
_SOMEBODY = re.compile(r"[IWwMmOoPp](?<!\w.)(?:(?<=I)|(?<=[Ww])e|(?<=[Mm])y|(?<=[Oo])ur|(?<=[Pp])lease)(?!\w)")
_ACCESS = re.compile(r"\b[A-Z]{3,7} /\S{0,500} HTTP/\d")
_LOGGED = re.compile(r"\d\d:\d\d:\d\d|\b(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")
# A command that was run, a call of a trace, and code that a trace or a report shows: none is a message.
_SOURCE = re.compile(
    r"(?:[$>%] |##\[|//|/\*|\* |(?:at|bei|\u00e0) (?:async |new )?[^\s(]+ ?\("
    r"|(?:raise|throw|return|import|from|assert|expect|describe|it|test|if|for|while|const|let|var|def|fn|func|class)\b(?!\s*:))"
)
_CODE_ENDS = (";", "{", "}", "(", "[", ",", "=>", "->")
_CALL_ALONE = re.compile(r"(?:await |return )?[\w$]+(?:\.[\w$]+)*\(.*\)$")  # a statement that is a call
_PROMPT = re.compile(r"\s*(?:```\w*\n)?[$>%] \w")
_WORD = re.compile(r"[^\W\d_]\w*")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*[.,:;!?]?")
_FENCE = r"[ \t>]{0,20}(?:`{3,}|~{3,})"
_GOES_ON = re.compile(r"[a-z]")  # a line, after another one
_BEGINS_BLOCK, _ENDS_BLOCK = re.compile(rf"{_FENCE}[^`]*$"), re.compile(rf"{_FENCE}[ \t]*$")
_ANY_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(r"\w*\d\w*")
_IMPORT = re.compile(rb"\s*(?:import|from|use|require|using|#\s*include)\b")
_COMMENT = re.compile(rb"\s*(?:#(?![{!]|\s*(?:define|error|warning|pragma))|//|/?\*\s|--\s|;;)")
_REMARK = re.compile(rb"[\s;{}),](?://|#|--)\s")  # behind code
# What people put behind a message in a title.
_WHEN = re.compile(r" (?:when(?:ever)?|while|after|during|since|if|on|in|with|using|for|from) ")
# What stands before a printed message: marks of Python's groups of exceptions, what pytest puts there.
_BEFORE_MESSAGE = re.compile(r"[\s|]*(?:E {3,}|(?:FAILED|ERROR) \S+::.{1,200}? - )?")
_QUOTED = re.compile(r"`([^`\n]{12,200})`|\"([^\"\n]{12,200})\"|\u201c([^\u201d\n]{12,200})\u201d")


class Reported(NamedTuple):
    """A line of the project that a text reports.

    `frame` is the number among the traceback's frames in the project, the deepest being 1, or among the hunks of
    patches, and 0 for the place of a message and the route of a request. `share` is how much of the message stands
    there, or how sure the line is. `is_printed`: the message or the frame stands in what a program printed, and not in
    somebody's sentence. `is_sure`: so much of the message stands there that it is made there. `label` is the part of
    the text that a hunk or a route answers.
    """

    line: LineMatch
    frame: int
    share: float
    is_printed: bool = False
    is_sure: bool = False
    label: str = ""

    @property
    def part(self) -> str:
        """Which part of the text this answers."""
        return self.label or (f"frame {self.frame}" if self.frame else RAISED_PART)


def find_reported(
    library: Library, item: WorkItem, wants: Role, filters: Filtered, finder: FileFinder
) -> list[Reported]:
    """Return the lines that patches change, those of frames, the deepest first, of routes, and those of messages.

    Args:
        wants: the roles of files that the text asks for.
        finder: of the files of the library's snapshot.
    """
    printed = f"{item.code}\n{item.trace}"
    with_slashes = printed.replace("\\", "/")  # as the paths of frames have them
    hunks = islice(changed_lines(library, item.hunks, filters, finder), MAX_FRAMES) if item.hunks else ()
    found = [Reported(one.line, number, one.share, label=CHANGED_PART) for number, one in enumerate(hunks, start=1)]
    lines = islice(lines_of_frames(library, _calls_of(item.raw), filters, finder), MAX_FRAMES)
    found += [
        Reported(
            one.line, number, one.share, not isinstance(one.frame, TracebackFrame) or one.frame.path in with_slashes
        )
        for number, one in enumerate(lines, start=1)
    ]
    found += [
        Reported(one.line, 0, one.share, label=ROUTED_PART)
        for one in find_routes(library, read_requests(item.raw), filters, _n_files_for(item.raw))
    ]
    made = _places_of_messages(library, item, wants, filters, finder)
    title = item.subject if _tells_error(item.subject) else ""
    printed = "\n".join([printed, title, *map(" ".join, _quotes(item.raw))]) if made else printed
    for message, (best, is_rivalled) in made:
        has_own = _has_own_words(best, message)
        if has_own or message not in _lines_alone(item.raw):
            share = max(best.share, SURE_SHARE) if has_own else best.share
            shown = min(share, _RIVALLED) if is_rivalled else share
            found.append(Reported(best.line, 0, shown, message in printed, share >= SURE_SHARE))
    return found


def _n_files_for(text: str) -> int:
    """Return how many files are read for a request in a text: fewer if that is long, and other parts cost time, too."""
    return MAX_FILES_OF_REPORT if len(text) < _SHORT_REPORT else MAX_FILES_OF_TEXT


class _MessagePlace(NamedTuple):
    """Where a message is most probably made, and whether another file has the same words."""

    place: PastedPlace
    is_rivalled: bool


def _places_of_messages(
    library: Library, item: WorkItem, wants: Role, filters: Filtered, finder: FileFinder
) -> list[tuple[str, _MessagePlace]]:
    """Return the messages of a text that are most surely made in the project, each with where that is."""
    made: list[tuple[str, _MessagePlace]] = []
    for message in messages_of(item):
        at = _place_of(library, message, wants, filters)
        if at and not _is_of_tool(library, message, at.place, finder):
            made.append((message, at))
            if sum(one.place.share >= 1.0 for _, one in made) == MAX_PLACES_OF_MESSAGES:
                break  # no other comes before those that stand there whole
    made.sort(key=lambda one: (one[1].place.share < 1.0, -one[1].place.weight))
    return made[:MAX_PLACES_OF_MESSAGES]


def _place_of(library: Library, message: str, wants: Role, filters: Filtered) -> _MessagePlace | None:
    """Return the place where a message is most probably made, None if too little of it stands anywhere."""
    places = find_pasted(library, [Pasted(message, True)], wants, filters, _MAX_RIVALS).places
    if not places or not (_has_enough(places[0], message) and _is_code_at(library, places[0], wants)):
        return None
    first, *others = places
    rivals = (other for other in others if other.part == first.part and other.line.file != first.line.file)
    return _MessagePlace(first, any(_is_code_at(library, other, wants) for other in rivals))


def _is_of_tool(library: Library, message: str, place: PastedPlace, finder: FileFinder) -> bool:
    """Tell whether a compiler or a linter says a message of a file of the project, and the project does not make it."""
    path = diagnosed_path(message)
    own = library.snapshot.files.paths[place.line.file]
    return bool(path and finder.by_path(path)) and not makes_diagnosis(place, own, message)


def _has_enough(place: PastedPlace, message: str) -> bool:
    """Tell whether enough of a message stands at a place for that to make it."""
    least = _LEAST_SHARE if len(place.part.split()) >= _LEAST_WORDS else _HALF
    return place.share >= least or _has_own_words(place, message)


def _is_code_at(library: Library, place: PastedPlace, wants: Role) -> bool:
    """Tell whether a place is in code that may make a message: not in what a hidden folder says of the project."""
    file, text = place.line.file, place.line.text
    is_aside = int(library.snapshot.files.roles[file]) & int(_ASIDE & ~wants)
    before = text[: max(0, text.find(place.part.encode("utf-8", "surrogatepass")))]
    is_said = _COMMENT.match(text) or any(not _is_in_string(before[: at.start()]) for at in _REMARK.finditer(before))
    return not (is_aside or is_said or _IMPORT.match(text) or is_hidden(library.snapshot.files.paths[file]))


def _is_in_string(before: bytes) -> bool:
    return any(before.count(quote) % 2 for quote in (b'"', b"'", b"`"))


def _has_own_words(place: PastedPlace, message: str) -> bool:
    """Tell whether words enough of a message, beside values, stand at a place, most of them in a row."""
    parts, start = read_message(message), message.find(place.part)
    found = _ANY_WORD.finditer(message, start, start + len(place.part)) if start >= 0 else ()
    words = [word[0].lower() for word in found if not parts.is_value(word.start())]
    n_rare = sum(word not in STOP_WORDS for word in words)
    return (len(words) >= _SURE_WORDS and n_rare >= _SURE_RARE_WORDS) or (
        len(words) >= _LEAST_WORDS and place.n_words >= _SURE_WORDS_NEAR
    )


@lru_cache(maxsize=4)  # asked for twice
def is_output(item: WorkItem) -> bool:
    """Tell whether a text is what a program printed, with hardly a word about it."""
    looks_printed = bool(item.trace) or _PROMPT.match(item.raw) is not None
    if (looks_printed and len(item.prose.split()) <= _FEW_WORDS) or (
        item.is_printed and not _SOMEBODY.search(item.prose)
    ):
        return True
    lines = item.raw.strip().split("\n")
    written = list(filter(str.strip, lines))
    # It is a log unless there is one more of other lines than a log has; no further ones are looked at.
    others = list(islice((line for line in written if not _is_logged(line)), int(_OTHER_SHARE * len(written)) + 1))
    if len(others) <= _OTHER_SHARE * len(written):
        return not _SOMEBODY.search("\n".join(others))
    return _is_paragraph(lines) and not _PERSON.search(item.raw) and any(map(_says_what_failed, lines))


def is_report(item: WorkItem) -> bool:
    """Tell whether somebody says in a line of his own what a text is about."""
    return bool(item.subject) and not item.is_printed and _PROMPT.match(item.raw) is None


def _is_paragraph(lines: Sequence[str]) -> bool:
    """Tell whether some lines are one paragraph, and no block."""
    return len(lines) <= _FEW_LINES and all(line.strip() and not line.startswith(("```", "~~~")) for line in lines)


def _says_what_failed(line: str) -> bool:
    return any(found is not None for found in (_ERROR.match(line), _BRACKETED.match(line))) or _says(line, line.lower())


def _is_logged(line: str) -> bool:
    """Tell whether a line begins as those of logs do, with a time or a level, or is that of a request to a server."""
    if _is_access(line):
        return True
    prefix = LOG_PREFIX.match(line)
    return prefix is not None and _LOGGED.search(prefix[0]) is not None


def _is_access(line: str) -> bool:
    """Tell whether a line of a log is that of a request to a server, which names no message but that of a status."""
    return " HTTP/" in line and _ACCESS.search(line) is not None


def worth_of(reported: Sequence[Reported]) -> dict[str, dict[int, float]]:
    """Return the features of files: {`framed` or `raised`: {file: how much that says}}."""
    worth: dict[str, dict[int, float]] = {"framed": {}, "raised": {}}
    n_framed = 0
    for one in reported:
        values = worth["framed" if one.frame else "raised"]
        if one.line.file not in values:
            of_file = 1.0 if one.share >= OF_FUNCTION else one.share
            values[one.line.file] = of_file * _FURTHER_FRAME**n_framed if one.frame else one.share
            n_framed += one.frame > 0
    return worth


def messages_of(item: WorkItem) -> list[str]:
    """Return the messages of a text that are looked for, those that are most likely to be made by the project first.

    Of those that differ in times, numbers and the like alone, it is the first. What a report has for its title is one
    beside the others.
    """
    is_printed = is_output(item)
    most = MAX_MESSAGES_OF_OUTPUT if is_printed else MAX_MESSAGES
    found: dict[str, str] = {}
    if not is_printed and _tells_error(item.subject):
        title = _WHEN.split(item.subject, 1)[0]
        if len(title.split()) > _LEAST_WORDS:  # the first one says which error it was
            found[_NUMBERED.sub("0", title)] = title
            most += 1
    for message in _messages(item, is_printed=is_printed):
        found.setdefault(_NUMBERED.sub("0", message), message)
        if len(found) == most:
            break
    return list(found.values())


def _messages(item: WorkItem, *, is_printed: bool) -> Iterator[str]:
    """Yield the messages of a text as they are asked for: most texts have enough in their first lines."""
    yield from _of_panics(item.raw)
    shown = {frame.code for frame in _calls_of(item.raw) if isinstance(frame, TracebackFrame)}
    shown.update(_stripped(line[1:]) for hunk in item.hunks for line in hunk.lines)
    lines_of_errors, all_lines = tee(_printed_lines(item, shown))
    yield from filter(_tells_error, lines_of_errors)
    last_first = list(all_lines)
    yield from filter(_tells_level, last_first)
    spans = (next(filter(None, match.groups())) for match in _QUOTED.finditer(f"{item.subject}\n{item.prose}"))
    yield from (
        span
        for span in spans
        if len(span.split()) >= _LEAST_WORDS and (_tells_error(span) or _tells_level(span) or _SAYS.search(span))
    )
    lines = [line.strip() for line in item.prose.split("\n") if len(line) <= _MAX_MESSAGE_CHARS]
    yield from (line for line in (*lines, item.subject) if " " in line and _tells_error(line))
    yield from (line for line in reversed(lines) if _tells_level(line) and _is_logged(line))
    yield from (line for line in _saying(last_first[::-1]) if not (_SOURCE.match(line) or _is_code(line)))
    yield from filter(_ERROR.match, last_first)
    yield from _lines_alone(item.raw)
    if is_printed:
        lines = list(_lines_of_output("\n".join((item.subject, item.prose, item.code, item.trace))))
        if any(map(_tells_level, lines)):  # then those of a lower level say what went well
            lines = [line for line in lines if not _is_logged(line)]
        yield from (line for line in lines if _has_words(line) and line not in shown)


def _printed_lines(item: WorkItem, shown: Container[str]) -> Iterator[str]:
    """Yield the printed lines of a text that may be messages, the last one first.

    Args:
        item: the text.
        shown: source that its traces show.
    """
    for printed in reversed(f"{item.code}\n{item.trace}".split("\n")):
        line = _stripped(printed)
        if len(line) > _MAX_MESSAGE_CHARS or len(line.split()) < _LEAST_WORDS:
            continue
        if not ("panicked at" in line or line in shown or is_usual(line)):
            yield line


def _of_panics(text: str) -> Iterator[str]:
    """Yield the messages of Rust's panics, without what the standard library says before them."""
    found = _PANIC.finditer(text) if "panicked at" in text else ()
    messages = (_UNWRAPPED.sub("", match[1] or match[2] or "").strip() for match in found)
    return (message for message in messages if len(message.split()) >= _LEAST_WORDS)


def _tells_error(line: str) -> bool:
    """Tell whether a line says which error it was, as programs print it."""
    match = _ERROR.match(line)
    return match is not None and _TELLS.match(line, match.end()) is not None


def _tells_level(line: str) -> bool:
    """Tell whether a line is one of a log and has the level of a warning or an error."""
    lower = line[:_MAX_PREFIX_CHARS].lower()
    if not any(map(lower.__contains__, _LEVELS)) or (prefix := LOG_PREFIX.match(line)) is None:
        return False
    has_level = _LEVEL.search(prefix[0]) or _LEVEL.match(line, prefix.end())
    return bool(has_level) and len(without_prefix(line).split()) >= _LEAST_WORDS


def _lines_of_output(text: str) -> Iterator[str]:
    """Yield the lines of what a program printed that may be messages, those that say what went wrong first."""
    lines = [_stripped(line) for line in text.split("\n") if len(line.split()) >= _LEAST_WORDS]
    lines = [line for line in lines if len(line) <= _MAX_MESSAGE_CHARS and not _is_access(line)]
    lines = [line for line in lines if not (_SOMEBODY.search(line) or _SOURCE.match(line) or is_usual(line))]
    says = dict.fromkeys(_saying(lines))
    yield from says
    yield from (line for line in lines if line not in says and not _is_code(line))


def _lines_alone(text: str) -> Iterator[str]:
    """Yield the lines of short blocks and quotes that are but words: they may be messages, though they do not say that.

    Those of a quote are one.
    """
    for block in chain(_blocks(text), ([" ".join(quote)] for quote in _quotes(text))):
        lines = [line.strip() for line in block if line.strip()]
        if len(lines) <= _FEW_LINES_ALONE and all(map(_is_prose, lines)):
            yield from (line for line in lines if not (_ERROR.match(line) or _SAYS.search(line) or _tells_level(line)))


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each block of code."""
    block: list[str] | None = None
    for line in text.split("\n") if "```" in text or "~~~" in text else ():
        if block is None:
            block = [] if _BEGINS_BLOCK.match(line) else None
        elif _ENDS_BLOCK.match(line):
            yield block
            block = None
        else:
            block.append(line)
    if block:
        yield block


def _quotes(text: str) -> Iterator[list[str]]:
    """Yield the lines of each short quote, without their marks; the last ones may have none where lines are wrapped."""
    quote = list[str]()
    for line in [*text.split("\n"), ""] if "\n>" in text else ():
        if line.startswith(">") or (quote and _GOES_ON.match(line)):
            quote.append(line.lstrip("> ").rstrip())
        elif quote:
            if len(quote) <= _FEW_LINES_ALONE:
                yield quote
            quote = []


def _is_prose(line: str) -> bool:
    """Tell whether a line of a block has words enough, and hardly anything else."""
    parts = line.split()
    is_command = any(part.startswith("-") for part in parts)
    if len(line) > _MAX_MESSAGE_CHARS or is_command or _SOURCE.match(line) or _is_code(line) or not _has_words(line):
        return False
    return sum(_PLAIN_WORD.fullmatch(part) is not None for part in parts) >= max(
        _LEAST_WORDS, len(parts) * _PROSE_SHARE
    )


def _stripped(line: str) -> str:
    """Return a printed line without what stands around it."""
    before = _BEFORE_MESSAGE.match(line)
    return line[before.end() :].strip() if before else line


def _is_code(line: str) -> bool:
    """Tell whether a line that says nothing of what went wrong is a statement, or a part of one."""
    return line.endswith(_CODE_ENDS) or (line.endswith(")") and _CALL_ALONE.match(line) is not None)


def _has_words(line: str) -> bool:
    """Tell whether a line has words enough without what a log put before it, and without values."""
    return len(_WORD.findall(without_values(without_prefix(line)))) >= _LEAST_WORDS


def _saying(lines: Sequence[str]) -> list[str]:
    """Return those of some lines that say what went wrong, as messages do."""
    lowered = [line.lower() for line in lines]
    text = "\n".join(lowered)
    said = [words for words in _SAID if words in text]
    # Beyond ASCII, `re` knows more of case.
    may_say = [not line.isascii() or any(words in line for words in said) for line in lowered]
    return [line for line, lower in compress(zip(lines, lowered, strict=True), may_say) if _says(line, lower)]


def _says(line: str, lower: str) -> bool:
    """Tell whether a line, which is also given in lower case, says what went wrong."""
    return (_SAYS_IN_LOWER.search(lower) if line.isascii() else _SAYS.search(line)) is not None


@lru_cache(maxsize=4)  # asked for twice
def _calls_of(text: str) -> tuple[TracebackFrame | CallFrame, ...]:
    return tuple(read_calls(with_places(text)))
