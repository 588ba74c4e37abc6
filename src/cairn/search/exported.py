"""Reads issues as trackers and mail programs export them: their title and text, without the rest of the record."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, cast

_MAX_DEPTH = 6  # of records in records
_MAX_REPORTS = 50
# What says in JSON where a place is, and what of it, with the longer one of two paths first.
_LINES = ("lineno", "lineNo", "line", "Line", "row", "line_start", "start_line", "startLine", "startLineNumber")
_OF_PLACES = {
    "path": (
        *("abs_path", "absPath", "filePath", "file_path", "file_name", "fileName", "filename", "Filename"),
        *("file", "path", "uri", "resource"),
    ),
    "said": ("message", "msg", "Text", "text", "description"),
    "function": ("function",),
}
_MERGED = ("message", "artifactLocation")  # records that say more of the one that they are in
_LEAST_WORDS = 4  # of what a record says; with fewer it is looked for as it stands
_TITLES, _TEXTS = ("title", "summary", "subject"), ("body", "description", "text")
# What belongs to an issue besides: Jira's fields, comments and reviews, and what GraphQL puts around each.
_INSIDE = (
    "fields",
    "data",
    "repository",
    "issue",
    "pullRequest",
    "comments",
    "comment",
    "reviews",
    "nodes",
    "edges",
    "node",
)
# One of these is in the record of an issue or a comment, and in no other file with a title.
_OF_TRACKER = frozenset(
    (
        "number",
        "id",
        "iid",
        "key",
        "url",
        "html_url",
        "web_url",
        "state",
        "author",
        "user",
        "labels",
        "comments",
        "body",
        "fields",
        "data",
    )
)
# What `gh issue view` prints where nobody looks: fields, each on a line, a line of dashes, the text.
_VIEWED = re.compile(r"title:\t(.*)\n(?:[a-z]+:\t.*\n)+--\n")
# The head of a mail; the subject may be an answer in a list.
_HEADER = re.compile(r"(?:[A-Z][A-Za-z-]{1,40}: .*\n(?:[ \t].*\n)*){2,40}\n")
_SUBJECT = re.compile(r"^Subject: (?:(?:Re|Fwd?|AW|WG): ?|\[[^\]\n]{1,60}\] ?){0,6}(.*(?:\n[ \t].*)*)", re.MULTILINE)
_WROTE = re.compile(r"^(?:On|Am|Le) .{1,200}(?:\n.{1,100})?\s(?:wrote|schrieb.{0,60}|a \u00e9crit ?):\n", re.MULTILINE)


class _ReportedPlace(NamedTuple):
    """What records around one say of a place: its path, what is said of it, and the function that it is in."""

    path: str
    said: str
    function: str


def plain_issue(text: str) -> str:
    """Return the title and the text of an issue, a review or a mail that was exported; any other text as it is."""
    if text.startswith(("{", "[")):
        return _of_json(text) or "\n".join(dict.fromkeys(islice(_reports(text), _MAX_REPORTS))) or text
    text = text.replace("\r\n", "\n")
    if (viewed := _VIEWED.match(text)) is not None:
        return f"{viewed[1]}\n\n{text[viewed.end() :]}"
    head = _HEADER.match(text) if text[:1].isupper() else None
    if head is not None and (subject := _SUBJECT.search(head[0])) is not None:
        return f"{' '.join(subject[1].split())}\n\n{_WROTE.sub('', text[head.end() :])}"
    return text


def _of_json(text: str) -> str:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    parts = "\n\n".join(_parts(record, _MAX_DEPTH))
    return parts if len(parts.split()) >= _LEAST_WORDS else ""


def _reports(text: str) -> Iterator[str]:
    """Yield what linters, compilers and trackers of errors report in JSON, or in lines of it: places and frames."""
    for part in [text] if "\n" not in text else [text, *islice(text.split("\n"), _MAX_REPORTS)]:
        try:
            record = json.loads(part)
        except (ValueError, RecursionError):
            continue
        yield from _places(record, _ReportedPlace("", "", ""), 2 * _MAX_DEPTH)
        if part is text:
            return


def _places(record: object, around: _ReportedPlace, depth: int) -> Iterator[str]:
    """Yield the places in a record and in those inside, each with what is said of it, or the function that it is in."""
    if isinstance(record, list):
        for one in cast("list[object]", record):
            yield from _places(one, around, depth)
    elif isinstance(record, dict) and depth:
        fields = cast("dict[str, object]", record)
        for key in _MERGED:
            if isinstance(inner := fields.get(key), dict):
                fields = {**fields, **cast("dict[str, object]", inner)}
        place = _ReportedPlace(
            *(_first_of(fields, _OF_PLACES[kind]) or getattr(around, kind) for kind in _ReportedPlace._fields)
        )
        line = next((fields[key] for key in _LINES if isinstance(fields.get(key), int)), 0)
        if line and place.path:
            path = place.path.removeprefix("file://")
            yield (
                f'  File "{path}", line {line}, in {place.function}'
                if place.function
                else f"{path}:{line}: {place.said}"
            )
            return
        for value in fields.values():
            yield from _places(value, place, depth - 1)
        if "stacktrace" in fields and fields.get("value"):
            yield f"{fields.get('type')}: {fields.get('value')}"


def _first_of(fields: Mapping[str, object], keys: Collection[str]) -> str:
    """Return the first text that fields have under some keys, empty if they have none."""
    return next((value for value in map(fields.get, keys) if isinstance(value, str) and value), "")


def _parts(record: object, depth: int) -> Iterator[str]:
    """Yield the texts of a record and of those inside: titles, hunks of reviews, descriptions and comments."""
    if isinstance(record, list):
        for one in cast("list[object]", record):
            yield from _parts(one, depth)
    elif isinstance(record, dict) and depth:
        fields = cast("dict[str, object]", record)
        if depth < _MAX_DEPTH or not _OF_TRACKER.isdisjoint(fields):
            yield from filter(None, [*_texts(fields, _TITLES), _hunk_of(fields), *_texts(fields, _TEXTS)])
        for name in _INSIDE:
            yield from _parts(fields.get(name), depth - 1)


def _hunk_of(fields: Mapping[str, object]) -> str:
    """Return the hunk to which a comment of a review belongs, below the path of its file."""
    hunk, path = fields.get("diff_hunk", fields.get("diffHunk")), fields.get("path")
    return f"{path}\n```diff\n{hunk}\n```" if isinstance(hunk, str) and isinstance(path, str) else ""


def _texts(fields: Mapping[str, object], names: Sequence[str]) -> list[str]:
    return [_document(fields.get(name), 3 * _MAX_DEPTH).replace("\r\n", "\n").strip() for name in names]


def _document(value: object, depth: int) -> str:
    """Return a text, or those in a document as Jira has them: paragraphs of texts, and what holds them."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict) or not depth:
        return ""
    node = cast("dict[str, object]", value)
    if isinstance(node.get("text"), str):
        return str(node["text"])
    content = node.get("content")
    parts = [_document(one, depth - 1) for one in content] if isinstance(content, list) else []
    return ("" if node.get("type") == "paragraph" else "\n").join(parts)
