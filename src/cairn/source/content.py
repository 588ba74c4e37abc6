"""Which files are worth indexing, by what they hold: text, written by people, on lines that can be read."""

from __future__ import annotations

import codecs
import re

from cairn.source.eligible import GENERATED, MINIFIED
from cairn.source.languages import detect_language

_HEAD_BYTES = 8192
_SMALL_BYTES = 2000  # a short file on one line does no harm
_LONG_AVERAGE_BYTES = 500
_LONG_LINE_BYTES = 50_000
# https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
_LFS_POINTER, _LFS_POINTER_BYTES = b"version https://git-lfs.github.com/spec/v", 1024
_EXPORT_OF_MEMORIES = b'{"format":"cairn-memory"'  # how it begins; see cairn/memory/exchange.py
_HEADER_LINES = 20
_HEADER_BYTES = 4096
_OFTEN_MINIFIED = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".css", ".html", ".htm", ".json", ".xml", ".vue", ".svelte")

# A compiler or bundler ends what it writes with a link to its source map.
_COMPILED = (".js", ".mjs", ".cjs", ".css", ".d.ts", ".d.mts", ".d.cts")
_LINKS_TO_MAP = (b"//# sourceMappingURL=", b"//@ sourceMappingURL=", b"/*# sourceMappingURL=")
_LINK_BYTES = 1024
# https://github.com/Kotlin/binary-compatibility-validator: lists of what a library declares
_API_DUMP, _API_DUMP_PATH = b"// Klib ABI Dump", r"(^|/)api/([^/]+/)?[^/]+\.api$"

# Patterns are kept as bytes, which `re` compiles and caches on first use: few files need them.
_COMMENT = rb"(?i)^\s*(?://[/!]?|/\*[*!]?|\*|#+|--|;+|%+|<!--|\(\*|\{-|'|@?rem\b|\"\"\")\s*(\S.*)$"
_STANDARD_MARK = (
    rb"(?i)(?:this (?:file|code) (?:is|was) )?(?:automatically |auto-?)?"
    rb"@generated(?: (?:by|from|with|using|signedsource)\b|\s*[<({:.;*-]|\s*$)"
    rb"|code generated .*\bdo not edit\b[.!]?\s*(?:\*/|-->)?\s*$"
    rb"|<auto-?generated\b"
)
_WARNING = rb"(?i)\b(?:do not|don't) (?:edit|modify|change|make changes)\b"
_STATEMENT = (
    rb"(?i)(?:\W|warning|note|notice|attention|do not (?:edit|modify))*"
    rb"(?:(?:this|the) (?:\w+ )?(?:file|code|class|module|header|source|document) (?:is|was|has been) )?(?:an? )?"
    rb"(?:auto(?:matically|matic|-)?[ -]?|machine[ -])?generated"
    rb"(?: (?:by|from|with|using|on|at|via|automatically)\b|(?: (?:file|code))?\s*(?:[.,:;!(*-]|$))"
)


def check_content(data: bytes, path: str) -> str | None:
    """Return why a file is not indexed although its name gave no reason; None when there is no reason.

    Args:
        data: the whole file, normalized or not.
        path: distinguishes code, whose lines are short, from prose and tables, whose lines may be long.
    """
    data = normalize(data)
    if data.startswith(_LFS_POINTER) and len(data) < _LFS_POINTER_BYTES:
        return "git LFS pointer"
    if data.startswith(_EXPORT_OF_MEMORIES):
        return "export of memories"
    if b"\0" in data[:_HEAD_BYTES]:
        return "binary"
    if _is_minified(data, path):
        return MINIFIED
    if _is_generated(data, path):
        return GENERATED
    return None


def normalize(data: bytes) -> bytes:
    """Return UTF-16 and UTF-32 text that begins with a byte order mark as UTF-8, and anything else unchanged.

    All offsets into a file are offsets into its normalized bytes. The byte order mark of UTF-8 stays.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        encoding = "utf-32"
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        return data
    try:
        return data.decode(encoding).encode("utf-8")
    except UnicodeDecodeError:
        return data


def _is_minified(data: bytes, path: str) -> bool:
    if len(data) < _SMALL_BYTES:
        return False
    if path.lower().endswith(_OFTEN_MINIFIED):
        lines = max(data.count(b"\n"), data.count(b"\r")) + 1
        if len(data) > _LONG_AVERAGE_BYTES * lines:
            return True
    if len(data) <= _LONG_LINE_BYTES or max(map(len, data.splitlines())) <= _LONG_LINE_BYTES:
        return False
    return _is_code(data, path)


def _is_generated(data: bytes, path: str) -> bool:
    if path.endswith(_COMPILED) and _last_line(data).startswith(_LINKS_TO_MAP):
        return True
    if path.endswith(".api") and (data.startswith(_API_DUMP) or re.search(_API_DUMP_PATH, path)):
        return True
    head = data[:_HEADER_BYTES]
    if b"generated" not in head.lower():
        return False
    comments = [match[1] for line in head.splitlines()[:_HEADER_LINES] if (match := re.match(_COMMENT, line))]
    marked = any(re.match(_STANDARD_MARK, comment) for comment in comments) or (
        any(re.search(_WARNING, comment) for comment in comments)
        and any(re.match(_STATEMENT, comment) for comment in comments)
    )
    return marked and _is_code(data, path)


def _last_line(data: bytes) -> bytes:
    return data[-_LINK_BYTES:].rstrip().rpartition(b"\n")[2].lstrip()


def _is_code(data: bytes, path: str) -> bool:
    return detect_language(path, data[:_HEAD_BYTES]).group != "prose"
