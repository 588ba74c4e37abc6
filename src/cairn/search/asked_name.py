"""Recognises questions for what one name stands for: "where is X defined", "definition of X", "show me the class X"."""

from __future__ import annotations

import re
from typing import NamedTuple

from cairn.search.relations import KINDS

_MAX_CHARS, _MAX_WORDS = 200, 12

_NAME = r"(?P<name>[`\"']?[A-Za-z_$@~.][\w$@.:#/\\>~-]*(?:\(\))?[?!]?[`\"']?)"
_KIND_WORDS = (
    r"(?:class|type|struct|interface|trait|protocol|enum|record|function|func|fn|method|def|module|macro|constant|constructor"
    r"|variable|helper|decorator|hook|component|namespace|object|package|file|union|typedef|attribute|annotation|filter"
    r"|command|option|setting|field|property)"
)
_THING = re.compile(
    rf"(?:(?:the|our|its|an?) )?(?:(?P<kind>{_KIND_WORDS})s? )?{_NAME}(?: (?P<after>{_KIND_WORDS}))*", re.IGNORECASE
)
_WHAT = "(?P<what>.+?)"  # looked at by `_THING`, which takes long to compile, once instead of in each form
_ABOUT = r"(?:definition|declaration|implementation|source(?: code)?|code|location|body|signature)"
_PLACE = r"(?:source |header )?(?:file|module|class|package|header|crate|namespace|folder|directory)"
_TO_DEFINE, _DEFINES = r"(?:define|declare|implement)", r"(?:defines|declares|implements|contains|holds)"
_DONE = r"(?:defined|declared|implemented|located|written|created|introduced|found|defined at|coded|living|stored)"

# Questions for a definition, and others that may just as well be about a thing.
_SURE = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"where(?:'s|s| is) {_WHAT} {_DONE}",
        rf"where {_WHAT} is {_DONE}",
        rf"where(?:'s|s| is) {_WHAT}",
        rf"where (?:does|do) {_WHAT} (?:live|come from|reside|sit|get defined)",
        rf"where (?:can|do|could|would|should|did) (?:i|we|you|one|they) (?:find|see|{_TO_DEFINE}|locate) {_WHAT}",
        rf"(?:in )?(?:which|what) {_PLACE} (?:is|has|{_DEFINES}) {_WHAT}(?: (?:{_DONE}|in))?",
        rf"(?:which|what|the) {_PLACE} (?:that|which) {_DEFINES} {_WHAT}",
        rf"{_PLACE} (?:defining|declaring|implementing|containing) {_WHAT}",
        rf"(?:who|what) (?:defines|declares) {_WHAT}",
        rf"(?:the )?(?:definition|declaration|signature) (?:of|for) {_WHAT}",
    )
)
_UNSURE = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?:find|locate|look up|look for|open|view|see|get|go to|jump to|search for|display|read) {_WHAT}",
        rf"what(?:'s|s| is| are) {_WHAT}(?: for)?",
        rf"what does {_WHAT} do",
        rf"how does {_WHAT} work",
        rf"(?:explain|describe|tell me about) {_WHAT}",
        rf"how is {_WHAT} (?:implemented|defined)",
        rf"(?:the )?{_ABOUT} (?:of|for) {_WHAT}",
    )
)
_NAMED_BEFORE = (re.compile(rf"{_WHAT} {_ABOUT}", re.IGNORECASE),)
_ALONE = (re.compile(_WHAT),)  # after `show me`, or a name in backticks
_OPENING = re.compile(
    r"^(?:please |can you |could you |i (?:want|need) to |help me |let me |(?P<show>show(?: me)? |give me ))+", re.I
)
_PRONOUNS = frozenset({"it", "this", "that", "they", "these", "those", "me", "there", "everything", "something"})
_SHAPED = re.compile(r"[_.:$#/\\()\d]|[a-z][A-Z]|^[A-Z]|[?!]$")


class AskedName(NamedTuple):
    """A name that a question is for.

    Attributes:
        name: as it is written, without quotes.
        kinds: the kinds of definition that the question says; any if empty.
        is_sure: whether nothing but a definition can be meant, else a plain word may be meant as prose.
    """

    name: str
    kinds: frozenset[str]
    is_sure: bool


def parse_asked_name(text: str) -> AskedName | None:
    """Return the one name that a question is for, None for any other query."""
    if len(text) > _MAX_CHARS or len(words := text.split()) > _MAX_WORDS:
        return None
    plain = " ".join(words).rstrip("?.! ")
    opening = _OPENING.match(plain)
    rest = plain[opening.end() :] if opening else plain
    if thing := _thing(_SURE, rest):
        return _asked(thing, is_sure=True)
    if thing := _thing(_NAMED_BEFORE, rest):
        return _asked(thing, is_sure=True) if _is_shaped(thing["name"]) else None
    may_be_alone = rest.startswith("`") or (opening is not None and opening["show"])
    thing = _thing(_UNSURE, rest) or (_thing(_ALONE, rest) if may_be_alone else None)
    return None if thing is None else _asked(thing, is_sure=_is_shaped(thing["name"]))


def _thing(forms: tuple[re.Pattern[str], ...], text: str) -> re.Match[str] | None:
    matches = (match for form in forms if (match := form.fullmatch(text)))
    return next((thing for match in matches if (thing := _THING.fullmatch(match["what"]))), None)


def _is_shaped(name: str) -> bool:
    """Tell whether a word is written as a name is: quoted, or with capitals or marks inside."""
    return name[0] in "`\"'" or _SHAPED.search(name) is not None


def _asked(match: re.Match[str], *, is_sure: bool) -> AskedName | None:
    name = match["name"].strip("`\"'").rstrip(".:/\\").removesuffix("()")
    kind = (match["kind"] or match["after"] or "").lower()
    if name.lower() in _PRONOUNS or not name:
        return None
    return AskedName(name, KINDS.get(kind, frozenset()), is_sure)
