"""The text side of mining: what makes a question out of a comment, a name, a heading or a commit's subject."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

MIN_WORDS, MAX_WORDS = 4, 60
_SHORT_SENTENCE_WORDS = 6  # below this a paragraph says more than its first sentence

_WORD = re.compile(r"[A-Za-z0-9_]+")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LEGAL = re.compile(
    r"copyright|licen[cs]ed? under|all rights reserved|SPDX-|permission is hereby|redistribution and use"
    r"|without warrant|\(c\) \d{4}",
    re.IGNORECASE,
)
_PRAGMA = re.compile(
    r"^\W*(?:todo|fixme|xxx|hack|noqa|nolint|eslint|tslint|jshint|istanbul|c8|v8 ignore|prettier|pylint|pragma"
    r"|ifn?def\b|endif|include [<\"]"
    r"|type: ?ignore|@ts-|@flow|@format|clang-format|rubocop|shellcheck|swiftlint|sourcery|mark:|endregion"
    r"|region|!/|vim:|-\*-|go:|\+build|export\b|line \d|phpcs|phpstan|psalm|codecov|nocov|@internal"
    r"|@?inheritdoc|see also|\(?non-javadoc|auto-?generated|this file (?:is|was)|generated|\.{3}$|@?deprecated|\^)",
    re.IGNORECASE,
)
# From here on a doc comment lists its parameters, shows an example and the like.
_SECTION = re.compile(
    r"^\W*(?:\.(?:parameter|example|notes|outputs|inputs|link|component)\b.*|[@\\](?!brief|summary|description|desc\b|short|doc\b|doc\"|class\b|details)\w+"
    r"|:(?:param|type|return|rtype|raises?|arg|attr|ivar|var|yields?|keyword)\w*\b.*"
    r"|(?:args|arguments|params|parameters?|returns?|raises|throws|yields|examples?|usage|notes?|see also|references"
    r"|attributes|keyword args|todo|options|since|version|errors|safety|panics|warning|requires)\s*:?\W*$"
    r"|(?:args|arguments|parameters|returns?|example|usage|input|output)\s*:.*"
    r"|-{3,}|={3,}|~{3,}|```.*|>>>.*|\.\. [\w-]+::.*|<pre\b.*|<code>\s*|\|.*\|$|#+ .*"
    r"|/?(?:param|returns|remarks|exception|typeparam|example|value)\b(?: name=.*|\W*$).*)",
    re.IGNORECASE,
)
_BRIEF = re.compile(
    r"^\s*\.(?:synopsis|description)\s*|^\W*[@\\](?:brief|summary|description|desc|short|doc|details)\b:?\s*\"*|^/?\s*<?/?summary>?\s*",
    re.IGNORECASE,
)
_TAG_LINE = re.compile(r"/?(?:p|br|ul|ol|li|pre|div|para)\s*/?", re.IGNORECASE)  # its `<` and `>` are marks of comments
_MARKUP = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), " "),
    (re.compile(r"\[([^\]\[]+)\](?:\([^)\s]*\)|\[[^\]]*\])"), r"\1"),
    (re.compile(r"\{@(?:link|code|linkplain|literal|see|value)\s+([^}]*)\}"), r"\1"),
    (re.compile(r"<(?:see|paramref|typeparamref|seealso|c)\s+\w+=\"(?:\w:)?([^\"]*)\"\s*/?>?"), r"\1"),
    (re.compile(r"</?[A-Za-z][^<>]*(?:>|$)|^/?(?:p|li|br)/?>"), " "),
    (re.compile(r":[a-z:]+:`~?([^`<]*)(?:<[^`]*>)?`"), r"\1"),
    (re.compile(r"`+([^`]+)`+_*|'([\w.]+)'|''([^']+)''"), r"\1\2\3"),
    (re.compile(r"(?<!\w)\*{1,2}([^*]+)\*{1,2}(?!\w)"), r"\1"),
    (re.compile(r"[@\\][acpe]\s+(?=\w)|\\(?:code|ref|see|link)\b"), ""),
    (re.compile(r"https?://\S+"), " "),
    (re.compile(r"\[`?([\w.:#]+)`?\]"), r"\1"),
    (re.compile(r"\s+"), " "),
)
_SENTENCE_END = re.compile(r"(?<![A-Z])(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)(?<!cf)[.!?](?=\s+[A-Z\"'(`]|\s*$)")
_CODE_MARK = re.compile(r"[{}();=<>\[\]|\\$#@&+]")
_SUBJECT_PREFIX = re.compile(
    r"^(?:\[[^\]]{1,40}\]\s*)+|^(?:fix|feat|feature|perf|refactor|add|bugfix|hotfix|core|improve|fixes)(?:\([^)]*\))?!?:\s*"
    r"|^[\w./*,{}-]+(?:\([^)]*\))?!?:\s+",
    re.IGNORECASE,
)
_SUBJECT_NOISE = re.compile(
    r"\b(?:merge|bump|releases?|typos?|lint(?:er|ing)?|versions?|revert|changelog|readme|copyright|wip|rebase"
    r"|format(?:ting)?|whitespace|clippy|rubocop|eslint|ktlint|scalafmt|prettier|rustfmt|gofmt|spelling|dependenc(?:y|ies)"
    r"|deps|upgrade|nits?|fixup|squash|cleanups?|clean up|ci|travis|workflow|github actions|comments?|javadoc|docs?"
    r"|documentation|copyright|licen[cs]e|warnings?|tests?|specs?|unused|imports?|todo|review|feedback)\b",
    re.IGNORECASE,
)
_SUBJECT_CHORE = re.compile(r"^(?:chore|docs?|tests?|ci|build|style|release|deps|misc|lint)\b", re.IGNORECASE)
_EMOJI = re.compile(r"^(?:[^\x00-\x7f]|:[a-z_]+:|\s)+")
_PULL_REQUEST = re.compile(
    r"\s*\(?(?:closes|fixes|fix|resolves|refs?|see|issue|pr)?:?\s*(?:[\w.-]+/[\w.-]+)?(?:#|gh-)\d+\)?", re.IGNORECASE
)


def words_of_name(name: str) -> list[str]:
    """Split an identifier into lower-case words: `parseHTTPResponse2` gives parse, http, response, 2."""
    return [part.lower() for part in _NAME_PART.findall(name)]


def clean(text: str) -> str:
    """Return prose without the markup of comments and documentation, on one line."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return html.unescape(text).replace("\u2019", "'").strip(" -*#/|:;,\"'>=_")


def lead(doc: str) -> str:
    """Return the first paragraph of a doc comment as it stands there; empty for licences, pragmas and lists.

    Args:
        doc: without comment marks, as `Definition.doc` has it.
    """
    kept: list[str] = []
    for raw in doc.splitlines():
        line = _BRIEF.sub("", raw.strip())
        if _LEGAL.search(line):
            return ""
        if _SECTION.match(line) or (kept and _TAG_LINE.fullmatch(line)):
            break
        if not kept and (_PRAGMA.match(line) or _TAG_LINE.fullmatch(line) or not _WORD.search(line)):
            continue
        if not line.strip("*/#-;\"' ") or (kept and _PRAGMA.match(line)):
            break
        kept.append(raw.strip())
    return "\n".join(kept)


def question(paragraph: str) -> str:
    """Return the first sentence of a paragraph, or all of a short one; empty for what does not read as a question."""
    text = clean("\n".join(_BRIEF.sub("", line) for line in paragraph.splitlines()))
    end = _SENTENCE_END.search(text)
    first = text[: end.start()].strip() if end else text
    if len(first.split()) < _SHORT_SENTENCE_WORDS and len(text.split()) <= MAX_WORDS:
        first = text
    return first.rstrip(". ") if is_readable(first) else ""


def without_subject(query: str, name: str) -> str:
    """Return a question without the identifier that it opens with, as in Go's `Foo returns the bar`."""
    first, _, rest = query.partition(" ")
    rest = re.sub(r"^(?:is|are) (?=an? |the )", "", rest)
    return rest if first.strip("().") == name and is_readable(rest) else query


def is_readable(text: str) -> bool:
    """Tell whether a text is English-looking prose of a fitting length, rather than code, a table or a rule."""
    words = text.split()
    if not MIN_WORDS <= len(words) <= MAX_WORDS or len(text) > 12 * MAX_WORDS:
        return False
    letters = sum(char.isascii() and char.isalpha() for char in text)
    visible = sum(not char.isspace() for char in text)
    foreign = sum(char.isalpha() and not char.isascii() for char in text)
    if foreign > 2 or letters < 0.75 * visible or len(_CODE_MARK.findall(text)) > 0.06 * visible:
        return False
    plain = {word.lower() for word in words if word.isalpha()}
    return len(plain) >= max(3, len(words) // 2) and not _PRAGMA.match(text)


def without(text: str, passage: str) -> str:
    """Return `text` without `passage`, however that is broken into commented lines there."""
    words = _WORD.findall(passage)
    found = list(_WORD.finditer(text))
    said = [match[0] for match in found]
    at = 0
    kept: list[str] = []
    for start in _places(said, words):
        if found[start].start() >= at:
            kept.append(text[at : found[start].start()])
            at = found[start + len(words) - 1].end()
            at += text[at : at + 1] in (".", "!", "?")
    return "".join(kept) + text[at:]


def _places(said: list[str], words: list[str]) -> Iterator[int]:
    """Yield where `words` begin in `said`."""
    start = 0
    while words and words[0] in said[start:]:
        start = said.index(words[0], start)
        if said[start : start + len(words)] == words:
            yield start
        start += 1


def says(text: str, query: str) -> bool:
    """Tell whether the words of `query` stand in `text` in a row."""
    found = " ".join(_WORD.findall(text)).lower()
    return " ".join(_WORD.findall(query)).lower() in found


def blank_name(text: str, name: str) -> str:
    """Return `text` with every occurrence of an identifier replaced by a blank."""
    parts = text.split(name)
    kept = parts[0]
    for part in parts[1:]:
        inside = (kept[-1:].isalnum() or kept[-1:] == "_") or (part[:1].isalnum() or part[:1] == "_")
        kept += (name if inside else " ") + part
    return kept


def name_question(name: str) -> str:
    """Return an identifier as words; empty for one that says too little, such as `x1`, `__eq__` or `getName`."""
    words = words_of_name(name)
    if name.startswith("__") or not 2 <= len(words) <= 10:
        return ""
    if len(words) == 2 and words[0] in ("get", "set", "is", "has", "test", "on"):
        return ""
    if words[0] in ("test", "tests", "spec", "should", "bench", "benchmark") or words[-1] in ("test", "tests", "spec"):
        return ""
    long = [word for word in words if len(word) > 2 and word.isalpha()]
    return " ".join(words) if len(long) >= 2 and len(long) * 3 >= len(words) * 2 else ""


def subject_question(subject: str) -> str:
    """Return a commit's subject without prefix and numbers; empty for merges, releases, chores and the like."""
    if _SUBJECT_CHORE.match(subject):
        return ""
    text = _PULL_REQUEST.sub("", _SUBJECT_PREFIX.sub("", subject.strip())).strip()
    text = clean(_EMOJI.sub("", text)).rstrip(". ")
    words = text.split()
    if not MIN_WORDS <= len(words) <= 30 or _SUBJECT_NOISE.search(text) or re.search(r"\d+\.\d+|@\w", text):
        return ""
    return text if is_readable(text) else ""


def hunk_lines(header: str) -> range:
    """Return the lines of the new file that a hunk header, `@@ -1,2 +3,4 @@`, names.

    A hunk that only deletes stands for the line before the gap.
    """
    found = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", header)
    if found is None:
        return range(0)
    start, count = int(found[1]), int(found[2] or 1)
    return range(max(start, 1), max(start, 1) + max(count, 1))


def most_changed(changed: Iterable[range], spans: list[tuple[int, int]]) -> int | None:
    """Return which of the disjoint line spans (1-based, inclusive) holds most changed lines, None if none does."""
    ranges = list(changed)
    counts = [
        sum(max(0, min(last, lines.stop - 1) - max(first, lines.start) + 1) for lines in ranges)
        for first, last in spans
    ]
    best = max(range(len(spans)), key=counts.__getitem__, default=None)
    return best if best is not None and counts[best] else None
