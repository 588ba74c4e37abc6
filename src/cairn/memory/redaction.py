"""Takes secrets and private spans out of a text, before it is stored."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from cairn.memory.assigned_secrets import iter_assigned
from cairn.memory.private_keys import private_keys
from cairn.memory.redaction_rules import RULES, SecretRule
from cairn.memory.said_passwords import iter_said, iter_said_abroad
from cairn.memory.secret_values import looks_random


class Redaction(NamedTuple):
    """A text without its secrets.

    Args:
        text: with `[redacted: KIND]` in the place of each secret, and `[private]` in that of each private span.
        kinds: how many of each kind were taken out.
    """

    text: str
    kinds: Mapping[str, int]


class _Secret(NamedTuple):
    start: int
    end: int
    kind: str


_REPEATED = 20  # secrets that are looked for once more: a fixed number, so that the time stays linear
_HOLE = re.compile(r"\[redacted: [a-z0-9-]{1,40}\]|\[private\]")
_PRIVATE = re.compile(
    r"(?:<|&lt;|\\u003[cC])(?P<close>/)?private(?:[ \t\r\n][^<>]{0,500}?)?(?:>|&gt;|\\u003[eE])", re.IGNORECASE
)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
# What people write for quotes, spaces and colons, and "password" in other scripts: each as long as what it becomes.
_ALIKE = {
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u00a0\u202f\u3000", " "),
    **{"\uff1a": ":", "\uff1d": "="},
    **{
        "\u5bc6\u7801\u662f": "pw:",
        "\u5bc6\u7801\u4e3a": "pw:",
        "\u5bc6\u78bc\u662f": "pw:",
        "\u5bc6\u78bc\u70ba": "pw:",
        "\u5bc6\u7801": "pw",
        "\u5bc6\u78bc": "pw",
        "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f": "passw:",
        "\u30d1\u30b9\u30ef\u30fc\u30c9": "passw",
        "\u043f\u0430\u0440\u043e\u043b\u044c": "passwd",
    },
}
# Letters of other scripts that look like those of ours, and ours in full width; they stand for these within our words.
_LOOK_ALIKE = str.maketrans(
    {
        **{chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)},
        **dict(
            zip(
                "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u04bb\u0501\u051b\u051d\u0410\u0412\u0415\u041a\u041c\u041d\u041e"
                "\u0420\u0421\u0422\u0425\u0406\u0405\u0408\u03bf\u03bd\u03c1\u03b9\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
                "aeopcyxisjhdqwABEKMHOPCTXISJovpiABEZHIKMNOPTYX",
                strict=True,
            )
        ),
    }
)
_WORD, _OUR_LETTER = re.compile(r"[\w-]+"), re.compile(r"[A-Za-z0-9\uff01-\uff5e]")
_PLAIN = bytes(byte if byte in b"\t\n\r" or 31 < byte < 127 else 32 for byte in range(256))


def redact(text: str) -> Redaction:
    """Return the text with what is secret or private replaced; redacting that again changes nothing.

    Time grows linearly with the length. Any string will do, lone surrogates included.
    """
    kinds: Counter[str] = Counter()
    text = _without_private(text, kinds)
    while secrets := _secrets(text):
        text = _without(text, secrets)
        kinds.update(secret.kind for secret in secrets)
    return Redaction(text, MappingProxyType(dict(kinds)))


def _without_private(text: str, kinds: Counter[str]) -> str:
    """Replace `<private>…</private>`, nested as they may be; one that is not closed hides all that follows."""
    if "private" not in text and "private" not in text.lower():
        return text
    parts, depth, kept = [], 0, 0
    for tag in _PRIVATE.finditer(text):
        if tag["close"] is None:
            if depth == 0:
                parts += [text[kept : tag.start()], "[private]"]
                kinds["private"] += 1
                kept = len(text)
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                kept = tag.end()
    return "".join([*parts, text[kept:]])


def mask(text: str) -> bytes:
    """Return one byte for each character: ASCII as it is, `?` for the rest, NUL where a secret was taken out.

    An escaped line break becomes two spaces, since keys stand behind one in logs and JSON.
    """
    if not text.isascii():
        for sign, plain_sign in _ALIKE.items():
            text = text.replace(sign, plain_sign)
        text = _WORD.sub(_without_look_alikes, text)
    if "\x1b" in text:
        text = _COLOUR.sub(lambda colour: " " * len(colour.group()), text)
    plain = text.encode("ascii", "replace").translate(_PLAIN)
    for escape in (b"\\r\\n", b"\\n", b"\\t"):
        plain = plain.replace(escape, b" " * len(escape))
    if b"[" not in plain:
        return plain
    holes = bytearray(plain)
    for hole in _HOLE.finditer(text):
        holes[hole.start() : hole.end()] = bytes(hole.end() - hole.start())
    return bytes(holes)


def _without_holes(text: str) -> str:
    return _HOLE.sub(lambda hole: "[" * len(hole[0]), text) if "[" in text else text


def _without_look_alikes(word: re.Match[str]) -> str:
    return word[0].translate(_LOOK_ALIKE) if not word[0].isascii() and _OUR_LETTER.search(word[0]) else word[0]


def _secrets(text: str) -> list[_Secret]:
    """Return the secrets in their order; none overlaps another."""
    plain = mask(text)
    found = [*_by_rules(plain), *_by_names(plain), *_private_keys(plain)]
    found += [_Secret(*said) for said in iter_said_abroad(_without_holes(text))]
    found += _again(plain, found)
    return _merge(sorted(found, key=lambda secret: (secret.start, -secret.end)))


def _merge(found: list[_Secret]) -> list[_Secret]:
    merged: list[_Secret] = []
    for secret in found:
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = last._replace(end=max(last.end, secret.end))
        else:
            merged.append(secret)
    return merged


def _private_keys(plain: bytes) -> Iterator[_Secret]:
    return (_Secret(start, end, "private-key") for start, end in private_keys(plain))


def _by_names(plain: bytes) -> Iterator[_Secret]:
    return (_Secret(*found) for found in (*iter_assigned(plain), *iter_said(plain)))


def _again(plain: bytes, found: list[_Secret]) -> Iterator[_Secret]:
    """Yield where a secret stands once more, with nothing around it that tells."""
    kinds = {
        plain[secret.start : secret.end]: secret.kind
        for secret in found[:_REPEATED]
        if 12 <= secret.end - secret.start <= 400
    }
    for value, kind in kinds.items():
        if looks_random(value.decode()):
            yield from (_Secret(*match.span(), kind) for match in re.finditer(re.escape(value), plain))


def _by_rules(plain: bytes) -> Iterator[_Secret]:
    words, rules_needing = _needs()
    found = words.Match(plain.lower()) or ()
    for number in sorted({number for word in found for number in rules_needing[word]}):
        yield from _by_rule(RULES[number], plain)


def _by_rule(rule: SecretRule, plain: bytes) -> Iterator[_Secret]:
    pattern = _compile(rule.pattern)
    for match in pattern.finditer(plain):
        group = 1 if pattern.groups else 0
        if rule.check(match.group(group).decode()):
            start, end = match.span(group)
            yield _Secret(start, end, rule.kind)


@cache
def _needs() -> tuple[Any, list[list[int]]]:
    """Return what finds the words that rules need, all in one pass, and by the number of a word those rules."""
    needing: dict[str, list[int]] = {}
    for number, rule in enumerate(RULES):
        for word in rule.needs.split(" "):
            needing.setdefault(word, []).append(number)
    words = _re2().Set.SearchSet()
    for word in needing:
        words.Add(_re2().escape(word))
    words.Compile()
    return words, list(needing.values())


@cache
def _compile(pattern: str) -> Any:  # noqa: ANN401 - re2 ships no types
    return _re2().compile(pattern.encode())


def _re2() -> Any:  # noqa: ANN401 - as above
    import re2  # noqa: PLC0415 - start-up time: only texts need it

    return re2


def _without(text: str, secrets: list[_Secret]) -> str:
    parts, kept = [], 0
    for secret in secrets:
        parts += [text[kept : secret.start], f"[redacted: {secret.kind}]"]
        kept = secret.end
    return "".join([*parts, text[kept:]])
