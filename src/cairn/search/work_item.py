"""Reads a long text in parts: an issue, a bug report, a trace, a failing test's output, the message of a commit.

The first line is the subject. What follows is prose, code and output. What says nothing of the code is dropped:
comments and headings of templates, boxes to tick, links, separators, what is installed where.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cairn.source.text import raw_words

HEAD_CHARS, TAIL_CHARS = 30_000, 10_000  # of a longer text only its beginning and its end are read
MAX_CHARS = HEAD_CHARS + TAIL_CHARS
_SUBJECT_WORDS = 40
_MAX_HEADING_WORDS = 6
_MAX_LINE = 2_000  # characters; a longer line of a block is data, and only its beginning is read

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"^\s*(?:>\s*)*(`{3,}|~{3,})")
_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^>]*>")
_LINK = re.compile(r"\[([^\]\n]*)\]\(\s*<?(\w+://[^)\s>]*)[^)\n]*\)")
_URL = re.compile(r"\b\w{2,8}://[^\s)>\]\"'`]+")
# A link to a file in a repository on the web.
_LINKED = re.compile(r"/(?:blob|tree|raw)/[^/\s]+/([^\s#?)>\]\"']{1,300}\.\w+)")
_TAG = re.compile(
    r"</?(?:details|summary|br|p|b|i|em|strong|code|pre|sub|sup|kbd|a|ul|ol|li|hr|div|span)\b[^>]*>", re.I
)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s*(.*?)\s*#*|\*\*(.+?)\*\*:?|__(.+?)__:?)\s*$")
_BOX = re.compile(r"^\s*[-*+]\s*\[[ xX]?\]")
_SEPARATOR = re.compile(r"^\W*$")
_ESCAPE = re.compile(r"(?<![\w:\\])?\\[nrt](?=[A-Z\s\"'\\]|$)")
_TRAILER = re.compile(
    r"(?i)^\s*(?:(?:signed-off|co-authored|reviewed|acked|reported|tested|suggested)-by|change-id|cc"
    r"|(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?|refs?|references|see|related(?: to)?|part of)\b[^\w#]{0,10}"
    r"(?:[\w./-]{0,80}#\d+|https?:\S+))"
)
# The words of headings in templates, and one under which an environment is described.
_TEMPLATE_WORDS = frozenset(
    """a actual additional and any applicable behavior behaviour bug case changes checklist clear code command concise
    context current describe description details did do error example expect expected feature fix for happen happened
    happens how if in info information instead is issue it log logs message minimal motivation observed of or output
    overview please possible problem proposal proposed related relevant repro reproduce reproducible reproducing
    reproduction request result results screenshot screenshots see solution stack stacktrace steps summary test testcase
    the this to trace traceback want what when why with would you your""".split()  # noqa: SIM905 - a list of words
)
_ENVIRONMENT = re.compile(
    r"(?i)\b(environment|versions?|platform|operating system|system info\w*|your setup|desktop|smartphone|installed|os"
    r"|runtime|dependencies)\b"
)
_SETTING = re.compile(
    r"(?i)^[\s>*+|-]*[\w .()/+-]{0,40}\b(?:os|versions?|platform|system|browser|node|npm|yarn|python|java|jdk|jvm|ruby"
    r"|php|go|rust|rustc|cargo|kernel|shell|terminal|device|architecture|locale|compiler|docker|environment)\b"
    r"[\w ()/+]{0,30}(?:\*\*)?\s*[:=|].{0,100}$"
)
_VERSIONED = re.compile(r"^[\s>*+|-]*[\w@/.-]+(?:\s+version)?\s*[:=|@ ]\s*v?\d+(?:\.\d+)+\S*\s*\|?$")
_OUTPUT = re.compile(
    r"^\s*(?:File \"[^\"]+\", line \d+|at [\w$.<>/\\ \[\]]+\(|at .+:\d+|#\d+ |\d+: +\w+::|from .+:\d+:in "
    r"|\.\.\. \d+ more|Traceback \(most recent|goroutine \d+|\s+[~^]+\s*$|stack backtrace:|Caused by:"
    r"|[\w./\\-]+\.\w+:\d+)"
)
_SENTENCE = re.compile(r".{20,}?[.!?](?=\s)")
_MESSAGE = re.compile(r"^[\w.:$\\]*(?:Error|Exception|Warning|Panic|panic|error|fatal|FAILED)\b")


class WorkItem(NamedTuple):
    """The parts of a long text.

    Attributes:
        subject: what it is about in a line: the first line, or the first sentence of a text that is one line.
        prose: what people wrote.
        code: code blocks, commands and what they print.
        trace: the lines of tracebacks.
        links: the paths of files in repositories on the web to which it links.
        raw: all that was read.
        n_chars: the length of the text.
    """

    subject: str
    prose: str
    code: str
    trace: str
    links: tuple[str, ...]
    raw: str
    n_chars: int

    @property
    def is_cut(self) -> bool:
        """Whether the text was too long for all of it to be read."""
        return self.n_chars > MAX_CHARS


def shorten(text: str) -> str:
    """Return a text, or the beginning and the end of one that is too long."""
    if len(text) <= MAX_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"


def read_work_item(text: str) -> WorkItem:
    """Return the parts of a text."""
    plain = _COMMENT.sub("\n", shorten(text).replace("\r\n", "\n").replace("\r", "\n"))
    subject, rest = _split_subject(plain.split("\n"))
    sorter = _Sorter()
    for line in rest:
        sorter.add(line)
    prose, code, trace = ("\n".join(lines) for lines in (sorter.prose, sorter.code, sorter.trace))
    subject = subject or _message_of(sorter.trace or sorter.code)
    links = tuple(dict.fromkeys(_LINKED.findall(plain)))
    return WorkItem(_tidy(subject), _tidy(prose), code, trace, links, plain, len(text))


class _Sorter:
    """Puts the lines of a text, one after the other, into its parts."""

    def __init__(self) -> None:
        self.prose: list[str] = []
        self.code: list[str] = []
        self.trace: list[str] = []
        self._last = self.prose  # where the last line went
        self._fence = ""
        self._is_environment = False
        self._after_blank = True

    def add(self, line: str) -> None:
        """Take the next line."""
        if self._is_fence(line) or (not self._fence and self._is_dropped(line)):
            self._after_blank = True
            return
        if not self._is_environment:
            self._last = self._part_of(line)
            line = line[:_MAX_LINE]
            self._last.append(_ESCAPE.sub(" ", line) if "\\" in line else line)
        self._after_blank = False

    def _is_fence(self, line: str) -> bool:
        match = _FENCE.match(line)
        if match is None or (self._fence and not match[1].startswith(self._fence)):
            return False
        self._fence = "" if self._fence else match[1]
        return True

    def _is_dropped(self, line: str) -> bool:
        """Tell whether a line outside of code is left out; a heading tells what becomes of those below it."""
        if title := _title(line):
            self._is_environment = bool(_ENVIRONMENT.search(title)) and len(title.split()) <= _MAX_HEADING_WORDS
            return self._is_environment or _is_template(title)
        return _is_noise(line)

    def _part_of(self, line: str) -> list[str]:
        is_indented = line.startswith(("    ", "\t"))
        if _OUTPUT.match(line) or (self._last is self.trace and (is_indented or _MESSAGE.match(line))):
            return self.trace
        if self._fence or (is_indented and (self._after_blank or self._last is self.code)):
            return self.code
        return self.prose


def _split_subject(lines: list[str]) -> tuple[str, list[str]]:
    """Return the subject, empty if the text begins with code or a traceback, and the other lines."""
    start = next((place for place, line in enumerate(lines) if not _is_noise(line) and not _heads_template(line)), None)
    if start is None or _FENCE.match(lines[start]) or _OUTPUT.match(lines[start]):
        return "", lines[start or 0 :]
    first = _title(lines[start]) or lines[start].strip()
    if len(first.split()) <= _SUBJECT_WORDS:
        return first, lines[start + 1 :]
    sentence = _SENTENCE.match(first)
    subject = sentence[0] if sentence else " ".join(first.split()[:_SUBJECT_WORDS])
    return subject, [first[len(subject) :], *lines[start + 1 :]]


def _title(line: str) -> str:
    """Return the text of a heading, empty if the line is none."""
    heading = _HEADING.match(line)
    return next((group for group in heading.groups() if group), "") if heading else ""


def _heads_template(line: str) -> bool:
    return bool(title := _title(line)) and _is_template(title)


def _is_template(title: str) -> bool:
    """Tell whether a heading says only what a template would."""
    return all(word.lower() in _TEMPLATE_WORDS for word in raw_words(title))


def _message_of(lines: Sequence[str]) -> str:
    """Return the line of a trace that says what went wrong, or the last one."""
    said = [line.strip() for line in lines if line.strip()]
    return next((line for line in reversed(said) if _MESSAGE.match(line)), said[-1] if said else "")


def _is_noise(line: str) -> bool:
    """Tell whether a line outside of code says nothing of the code."""
    return bool(
        _SEPARATOR.match(line)
        or _BOX.match(line)
        or _TRAILER.match(line)
        or (len(line) < 160 and (_SETTING.match(line) or ("." in line and _VERSIONED.match(line))))
    )


def _tidy(text: str) -> str:
    text = _LINK.sub(r"\1", _IMAGE.sub(" ", text))
    return _TAG.sub(" ", _URL.sub(" ", text)).strip()
