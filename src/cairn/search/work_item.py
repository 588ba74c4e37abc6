"""Reads a long text in parts: an issue, a bug report, a trace, a failing test's output, the message of a commit.

The first line is the subject. What follows is prose, code and output. What says nothing of the code is dropped:
comments and headings of templates, boxes to tick, links, separators, what is installed where.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from cairn.search.patch_text import Hunk, read_patches
from cairn.search.printed_lines import begins_output, goes_on, is_printed_line, stands_alone
from cairn.source.frames import is_place
from cairn.source.text import names_apart, raw_words, without_colours

HEAD_CHARS, TAIL_CHARS = 30_000, 10_000  # of a longer text only its beginning and its end are read
MAX_CHARS = HEAD_CHARS + TAIL_CHARS
_SUBJECT_WORDS = 40
_MAX_HEADING_WORDS = 6
_FEW_WORDS = 3  # of a line that names the file of a review: `In src/cart.py:`
_BOLD_LEVEL = 3.5  # of a heading in bold: templates have them in place of three marks, with four below
_MAX_SETTING = 160  # characters
_MAX_LINE = 2_000  # characters; a longer line of a block is data, and only its beginning is read

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCES = ("```", "~~~")
_FENCE = re.compile(r"^\s*(?:>\s*)*(`{3,}|~{3,})")
# Each part has a limit, and none can end in several places: time must stay linear for texts of marks alone.
_IMAGE = re.compile(r"!\[[^\]\n]{0,1000}\]\([^)\n]{0,2000}\)|<img\b[^>]{0,2000}>")
_LINK = re.compile(r"\[([^\]\n]{0,1000})\]\(\s{0,20}<?(\w{1,20}://[^)\s>]{0,2000})(?:(?=[\s>])[^)\n]{0,1000})?\)")
_URL = re.compile(r"\b\w{2,8}://[^\s)>\]\"'`]+")
# A link to a file in a repository on the web.
_LINKED = re.compile(r"/(?:blob|tree|raw)/[^/\s]+/([^\s#?)>\]\"']{1,300}\.\w+)")
_TAG = re.compile(
    r"</?(?:details|summary|br|p|b|i|em|strong|code|pre|sub|sup|kbd|a|ul|ol|li|hr|div|span)\b[^>]{0,1000}>", re.I
)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s*(.*?)\s*#*|\*\*(.+?)\*\*:?|__(.+?)__:?)\s*$")
_HEADING_MARKS = ("#", "**", "__")
# What go build and go test say before the errors of a package; it is no heading.
_PACKAGE = re.compile(r"# [\w-]+(?:\.[\w-]+)+/\S+(?: \[\S+\])?$")
_ESCAPE = re.compile(r"(?<![\w:\\])?\\[nrt](?=[A-Z\s\"'\\]|$)")
# What refers to an issue, a change or a page, but not to a file in a repository.
_REFERENCE = r"(?:(?:[\w-][\w./-]{0,80})?#\d+|https?:(?!\S*(?:/(?:blob|tree|raw)/|#L\d))[^\s,;]*[^\s,;.])"
_REFERS = r"(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?|refs?|references|see|related(?: to)?|part of)\b[^\w#]{0,10}"
_MORE_REFERENCES = rf"(?:(?:[,;]|[.,;]?\s{{1,3}}(?:(?:and|&)\s)?)(?:{_REFERS})?{_REFERENCE}){{0,20}}"
# What says nothing of the code: a separator, a box to tick, a trailer, a form where nothing was filled in, a greeting,
# who said something in a chat and when.
_NOISE = re.compile(
    r"(?i)\W*+$|\s*+(?:[-*+]\s*\[[ x]?\]"
    r"|(?:signed-off|co-authored|reviewed|acked|reported|tested|suggested)-by|change-id|cc"
    rf"|{_REFERS}{_REFERENCE}{_MORE_REFERENCES}(?: for .{{0,60}}| \(.{{0,60}}\))?\W*$"
    r"|(?:_?no response_?|n/?a|none|yes|no"
    r"|(?:[\w.'-]{1,40} ){0,4} ?\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\]?"
    r"|(?:hello|hi|hey|dear|good (?:morning|day|evening))\b(?:(?: \w+){0,2}\s*[,!]|))[\s.]*$)"
)
# The words of headings in templates, and one under which an environment is described.
_TEMPLATE_WORDS = frozenset(
    """a actual additional affected and any anything applicable areas asking be before behavior behaviour brief bug
    case cause changes checklist clear code command comments concise condition conduct context contributing
    current describe description details did do else encountered error example existing expect expected feature
    first fix for guidelines happen happened happens has have how if impact in info information instead
    instructions is issue issues it kind link log logs message minimal motivation observed of often or our
    output overview please possible pr preconditions preflight prerequisites problem proposal proposed provide
    read related relevant report repro reproduce reproducible reproducing reproduction request required result
    results root screenshot screenshots see severity solution solve stack stacktrace steps submit submitting
    suggested summary tell test testcase the there this to trace traceback us validations videos want what when
    which why will willing with would you your""".split()  # noqa: SIM905 - a list of words
)
_TEMPLATE_QUESTION = re.compile(r"(?i)\b(you|this|there|steps|affected)\b")
_ENVIRONMENT = re.compile(
    r"(?i)\b(how did you install|environment|versions?|platform|operating system|system info\w*|your setup|desktop"
    r"|smartphone|installed|os|runtime|dependencies)\b"
)
# What may be installed: one of these stands before the first sign of a setting behind the marks of a list or a table.
_INSTALLED = frozenset(
    """architecture browser cargo compiler device docker environment go java jdk jvm kernel locale node npm os php
    platform python ruby rust rustc shell system terminal version versions yarn""".split()  # noqa: SIM905 - words
)
_BEFORE_SIGN = re.compile(r"[\s>*+|-]*+([^:=|]*+)[:=|]")
# For a line in lower case: where case does not count, `re` tries each of the words wherever one may begin.
_SETTING = re.compile(
    rf"[\s>*+|-]*+[\w .()/+-]{{0,40}}(?<!\.)\b(?:{'|'.join(sorted(_INSTALLED))})\b"
    r"[\w ()/+]{0,30}(?:\*\*)?\s*[:=|].{0,100}$"
)
# A step of a list: `1. python=3 is ignored`, but not `1. OS: Linux`.
_STEP = re.compile(
    rf"\s{{0,20}}\d{{1,2}}[.)]\s{{1,4}}(?!(?:\w{{1,30}} )?(?:{'|'.join(sorted(_INSTALLED))})(?: version)?\s?:)",
    re.IGNORECASE,
)
_VERSIONED = re.compile(r"^[\s>*+|-]*[\w@/.-]+(?:\s+version)?\s*[:=|@ ]\s*v?\d+(?:\.\d+)+\S*\s*\|?$")
# A command that asks for a version, and a line that says one.
_NUMBERS = re.compile(r"\d\.\d")  # which a version has, quickly told
_ASKS_VERSION = re.compile(r"\s*(?:[$>%] +)?[\w./-]+(?: \w+){0,2} (?:-[vV]|--?version|version)\s*$")
_VERSIONS = re.compile(rf"\D*\d+\.\d|{_ASKS_VERSION.pattern}")
# A row of a table. A table with some such settings says what is installed in its other rows as well.
_ROW = re.compile(r"^\s*\|[^|]*\|")
_LEAST_SETTINGS, _SETTINGS_SHARE = 2, 0.25
_INDENTED, _IN_GROUP = ("    ", "\t"), "  | "  # lines of code; those of Python's groups of exceptions
_SENTENCE = re.compile(r".{20,}?[.!?](?=\s)")
# A box to tick that is so long that what follows in small letters may be the rest of it, in another line.
_LONG_BOX = re.compile(r"\s*[-*+]\s*\[[ xX]?\].{45}")
_REST_OF_LINE = re.compile(r"\s*[a-z(`]")
_MESSAGE = re.compile(
    r"^(?:==\d+==)?(?:ERROR|WARNING): \w+Sanitizer: |^(?:Fatal Python error: |Program received signal )"
    r"|^(?:E {3,}|\*\* \(|##\[error\]|Unhandled [Ee]xception[.:] |Exception in thread \"[^\"]*\" )?"
    r"[\w.:$\\]*(?:Error|Exception|Warning|Panic|panic|error|fatal)\b(?!\()"
    r"|^FAILED\b|^(?:warning|WARNING): "
)
# What is put before each line of a log: by a CI service the job and the step, if it says them, and the time, by kubectl
# the pod, by Compose the container, by Valgrind the process.
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.,]*Z? ?"
_STAMP = re.compile(
    rf"(?:[^\t\n]{{1,80}}\t){{0,2}}{_TIME}|\[pod/[^\]\s]{{1,200}}\] (?:{_TIME})?|[\w.-]{{1,80}}[-_]\d{{1,3}} +\| ?"
    r"|==\d{1,7}== ?"
)
# A line of a box around a trace or an error, as rich draws it: its top, with a title; one inside, some with a number.
_BOXED = re.compile(
    r"\s*(?:\u256d\u2500+ (.+?) \u2500+\u256e|\u2570\u2500+\u256f"
    r"|\u2502 (?:[\u2771 ]*\d+ \u2502 )?(.*?)\s*\u2502)\s*$"
)
_LEAST_STAMPED, _STAMPED_SHARE = 4, 0.6


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
        is_printed: whether it begins with what a program printed.
        hunks: of the patches that it shows; their lines are code as well.
    """

    subject: str
    prose: str
    code: str
    trace: str
    links: tuple[str, ...]
    raw: str
    n_chars: int
    is_printed: bool
    hunks: tuple[Hunk, ...] = ()

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
    plain = without_colours(shorten(text)).replace("\r\n", "\n").replace("\r", "\n")
    lines, hunks = read_patches(_COMMENT.sub("\n", plain).split("\n"))
    lines, is_log = _without_stamps(lines)
    lines = _without_boxes(lines) if "\u256d" in plain else lines
    may_have_blocks = any(marks in plain for marks in _FENCES)
    lines = lines if is_log or not may_have_blocks else _without_versions(lines)
    lines = _without_rests_of_boxes(lines) if "[" in plain and not is_log else lines
    subject, rest = ("", lines) if is_log else _split_subject(lines, {hunk.path for hunk in hunks})
    is_printed = is_log or (not subject and not _fence(next(filter(None, map(str.strip, rest)), "")))
    sorter = _Sorter(is_log=is_log)
    for line in rest if is_log or "|" not in plain else _without_settings(rest):
        sorter.add(line)
    prose, code, trace = ("\n".join(lines) for lines in (sorter.prose, sorter.code, sorter.trace))
    links = tuple(dict.fromkeys(_LINKED.findall(f"{subject}\n{prose}\n{code}")))
    if not subject and hunks and not trace:
        subject, is_printed = _heading_of(hunks), True
    subject = subject or _message_of([*sorter.code, *sorter.trace] if is_log else sorter.trace or sorter.code, rest)
    return WorkItem(_tidy(subject), _tidy(prose), code, trace, links, "\n".join(lines), len(text), is_printed, hunks)


@lru_cache(maxsize=4)
def words_of(text: str) -> list[str]:
    """Return the words of a part, for reading alone, names apart: several who read a text ask for them."""
    return raw_words(names_apart(text))


def _without_stamps(lines: list[str]) -> tuple[list[str], bool]:
    """Return the lines of a log without what is put before each, and whether they are such a log."""
    stamps = [
        _STAMP.match(line) if "T" in line or "|" in line or line.startswith(("[pod/", "==")) else None for line in lines
    ]
    n_stamped = len(stamps) - stamps.count(None)
    if n_stamped < max(_LEAST_STAMPED, _STAMPED_SHARE * sum(map(bool, lines))):
        return lines, False
    return [line[stamp.end() :] if stamp else line for line, stamp in zip(lines, stamps, strict=True)], True


def _without_boxes(lines: Sequence[str]) -> list[str]:
    """Return the lines without the boxes drawn around some; a title ends in a colon, as it does without a box."""
    boxed = map(_BOXED.match, lines)
    return [
        f"{box[1]}:" if box and box[1] else (box[2] or "") if box else line
        for line, box in zip(lines, boxed, strict=True)
    ]


def _without_versions(lines: list[str]) -> list[str]:
    """Return the lines without the blocks that ask for versions and show nothing else."""
    fences = [number for number, line in enumerate(lines) if _fence(line)]
    dropped = set[int]()
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        first, *others = list(filter(str.strip, lines[start + 1 : end])) or [""]
        if _ASKS_VERSION.match(first) and all(map(_VERSIONS.match, others)):
            dropped.update(range(start, end + 1))
    return [line for number, line in enumerate(lines) if number not in dropped] if dropped else lines


def _without_rests_of_boxes(lines: Sequence[str]) -> list[str]:
    """Return the lines without those that go on with what stands behind a box to tick: templates are wrapped, too."""
    kept, is_behind = list[str](), False
    for line in lines:
        is_behind = _LONG_BOX.match(line) is not None or (is_behind and _REST_OF_LINE.match(line) is not None)
        if not is_behind or _LONG_BOX.match(line):
            kept.append(line)
    return kept


def _without_settings(lines: Sequence[str]) -> Iterator[str]:
    """Yield all lines but those of tables that say what is installed; a table in a code block is kept."""
    n_fences = 0
    for is_row, group in groupby(lines, lambda line: "|" in line and _ROW.match(line) is not None):
        rows = list(group)
        n_fences += 0 if is_row else sum(_fence(line) != "" for line in rows)
        is_table = is_row and n_fences % 2 == 0
        n_settings = sum(_is_setting(row.replace("_", " ")) for row in rows) if is_table else 0
        if n_settings < max(_LEAST_SETTINGS, _SETTINGS_SHARE * len(rows)):
            yield from rows


class _Sorter:
    """Puts the lines of a text, one after the other, into its parts.

    Args:
        is_log: whether a program printed all of it, so that nothing is prose.
    """

    def __init__(self, *, is_log: bool) -> None:
        self.prose: list[str] = []
        self.code: list[str] = []
        self.trace: list[str] = []
        self._rest = self.code if is_log else self.prose
        self._is_log = is_log
        self._last = self._rest  # where the last line went
        self._fence = ""
        self._environment = 0.0  # the level of the heading over the lines that are left out
        self._after_blank = True

    def add(self, line: str) -> None:
        """Take the next line."""
        if not self._is_log and self._is_fence(line):
            self._last, self._after_blank = self._rest, True
            return
        if not self._is_log and not self._fence and self._is_dropped(line):
            self._after_blank = True
            return
        if not self._environment:
            self._last = self._part_of(line)
            line = line[:_MAX_LINE]
            self._last.append(_ESCAPE.sub(" ", line) if "\\" in line else line)
        self._after_blank = False

    def _is_fence(self, line: str) -> bool:
        marks = _fence(line)
        if not marks or not marks.startswith(self._fence):
            return False
        self._fence = "" if self._fence else marks
        return True

    def _is_dropped(self, line: str) -> bool:
        """Tell whether a line outside of code is left out; a heading tells what becomes of those below it."""
        if not line:
            return True
        if title := _title(line):
            level = _level(line)
            if not self._environment or level <= self._environment:
                is_environment = bool(_ENVIRONMENT.search(title)) and len(title.split()) <= _MAX_HEADING_WORDS
                self._environment = level if is_environment else 0.0
            return self._environment > 0 or _is_template(title)
        return _is_noise(line)

    def _part_of(self, line: str) -> list[str]:
        is_indented = line.startswith(_INDENTED)
        if is_printed_line(line) or (self._last is self.trace and _belongs(line)):
            return self.trace
        if self._fence or stands_alone(line) or (is_indented and (self._after_blank or self._last is self.code)):
            return self.code
        return self._rest


def _belongs(line: str) -> bool:
    """Tell whether a line after one of a trace is a part of it."""
    return line.startswith((*_INDENTED, _IN_GROUP)) or _MESSAGE.match(line) is not None or goes_on(line)


def _split_subject(lines: list[str], patched: Collection[str] = ()) -> tuple[str, list[str]]:
    """Return the subject, empty if the text begins with code or a traceback, and the other lines.

    Args:
        lines: of the text.
        patched: the paths of its hunks.
    """
    begin = start = _first_said(lines, 0)
    if start < len(lines) and (
        is_place(lines[start]) or _names_file(lines[start], patched)
    ):  # a review: the place and what stands there, then what is said
        start = _first_said(lines, start + 1, outside=True)
    if start == len(lines) or _fence(lines[start]) or begins_output(lines, start):
        return "", lines[begin:]
    # It may be the line of a log that says what went wrong.
    before, behind = lines[begin:start], lines[start if stands_alone(lines[start]) else start + 1 :]
    first = _title(lines[start]) or lines[start].strip()
    if len(first.split()) <= _SUBJECT_WORDS:
        return first, [*before, *behind]
    sentence = _SENTENCE.match(first)
    subject = sentence[0] if sentence else " ".join(first.split()[:_SUBJECT_WORDS])
    return subject, [*before, first[len(subject) :], *behind]


def _names_file(line: str, paths: Collection[str]) -> bool:
    """Tell whether a line says hardly more than one of some paths."""
    return len(line.split()) <= _FEW_WORDS and any(path in line for path in paths)


def _first_said(lines: Sequence[str], start: int, *, outside: bool = False) -> int:
    """Return the number of the first line from `start` on that says something, perhaps only `outside` of blocks.

    It is that of no line, behind the last one, if there is none.
    """
    is_inside = False
    for number in range(start, len(lines)):
        line = lines[number]
        if outside and _fence(line):
            is_inside = not is_inside
        elif not is_inside and not _is_noise(line) and not _heads_template(line):
            return number
    return len(lines)


def _fence(line: str) -> str:
    """Return the marks with which a line begins or ends a block of code, empty if it does not."""
    match = _FENCE.match(line) if "```" in line or "~~~" in line else None
    return match[1] if match else ""


def _level(heading: str) -> float:
    """Return how deep a heading is: the number of its marks."""
    marks = heading.lstrip()
    return len(marks) - len(marks.lstrip("#")) or _BOLD_LEVEL


def _title(line: str) -> str:
    """Return the text of a heading, empty if the line is none."""
    heading = _HEADING.match(line) if line.lstrip().startswith(_HEADING_MARKS) else None
    return next(filter(None, heading.groups()), "") if heading and not _PACKAGE.match(line) else ""


def _heads_template(line: str) -> bool:
    return bool(title := _title(line)) and _is_template(title)


def _is_template(title: str) -> bool:
    """Tell whether a heading says only what a template would, or asks what one asks."""
    asks = title.endswith("?") and _TEMPLATE_QUESTION.search(title) is not None and "`" not in title
    return asks or all(word.lower() in _TEMPLATE_WORDS for word in raw_words(title))


def _heading_of(hunks: Sequence[Hunk]) -> str:
    """Return what a patch without a message is about: the functions that it changes, or else its files."""
    return " ".join(dict.fromkeys(filter(None, [hunk.heading for hunk in hunks]))) or " ".join(
        dict.fromkeys(hunk.path for hunk in hunks)
    )


def _message_of(trace: Sequence[str], lines: Sequence[str]) -> str:
    """Return the line of a trace that says what went wrong, one of all `lines` if it has none, or its last one."""
    said, others = (list(filter(None, map(str.strip, some))) for some in (trace, lines))
    messages = filter(_MESSAGE.match, (*reversed(said), *others))
    return next(messages, (said[-1:] or others[:1] or [""])[0])


def _is_noise(line: str) -> bool:
    """Tell whether a line outside of code says nothing of the code."""
    return _NOISE.match(line) is not None or _is_setting(line)


def _is_setting(line: str) -> bool:
    """Tell whether a line says what is installed, or in which version."""
    if len(line) >= _MAX_SETTING:
        return False
    if _may_be_setting(line) and _SETTING.match(line.lower()) and not (_MESSAGE.match(line) or _STEP.match(line)):
        return True
    return "." in line and _NUMBERS.search(line) is not None and _VERSIONED.match(line) is not None


def _may_be_setting(line: str) -> bool:
    """Tell whether a line names something that may be installed before a sign of a setting."""
    before = _BEFORE_SIGN.match(line) if ":" in line or "=" in line or "|" in line else None
    return before is not None and not _INSTALLED.isdisjoint(raw_words(before[1].lower()))


def _tidy(text: str) -> str:
    text = _LINK.sub(r"\1", _IMAGE.sub(" ", text))
    if "://" in text:
        text = "\n".join([_URL.sub(" ", line) if "://" in line else line for line in text.split("\n")])
    return _TAG.sub(" ", text).strip()
