"""Recognises questions for what one name stands for: "where is X defined", "the class X", "X in FILE", "FILE#X"."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import NamedTuple

from cairn.search.file_finder import module_parts
from cairn.search.relations import KINDS
from cairn.source.languages import LANGUAGES

_MAX_CHARS, _MAX_WORDS = 200, 12

_NAME = r"(?P<name>[`\"']?[A-Za-z_$@~.][\w$@.:#/\\>~-]*(?:\(\))?[?!]?[`\"']?)"
_KIND_WORDS = (
    r"(?:class|type(?: ?alias)?|struct|interface|trait|protocol|enum|record|function|func|fn|method|def|module|mod"
    r"|macro(?:_rules!)?|constant|const|constructor"
    r"|variable|helper|decorator|hook|component|namespace|object|package|file|union|typedef|attribute|annotation|filter"
    r"|command|option|setting|field|property)"
)
_THING = rf"(?:(?:the|our|its|an?) )?(?:(?P<kind>{_KIND_WORDS})s? )?{_NAME}(?: (?P<after>{_KIND_WORDS}))*"
_WHAT = "(?P<what>.+?)"  # looked at by `_THING`, which takes long to compile, once instead of in each form
_ABOUT = r"(?:definition|declaration|implementation|source(?: code)?|code|location|body|signature)"
_PLACE = r"(?:source |header )?(?:file|module|class|package|header|crate|namespace|folder|directory)"
_TO_DEFINE, _DEFINES = r"(?:define|declare|implement)", r"(?:defines|declares|implements|contains|holds)"
_DONE = r"(?:defined|declared|implemented|located|written|created|introduced|found|defined at|coded|living|stored)"


class _Form(NamedTuple):
    """A form of question: the words with which it may begin, any if empty, and the pattern of all of it."""

    begins: frozenset[str]
    pattern: str

    @classmethod
    def of(cls, begins: str, pattern: str) -> _Form:
        """Take the words as they stand in one text."""
        return cls(frozenset(begins.split()), pattern)


# Questions for a definition, and others that may just as well be about a thing.
_SURE = (
    _Form.of("where where's wheres", rf"where(?:'s|s| is) {_WHAT} {_DONE}"),
    _Form.of("where", rf"where {_WHAT} is {_DONE}"),
    _Form.of("where where's wheres", rf"where(?:'s|s| is) {_WHAT}"),
    _Form.of("where", rf"where (?:does|do) {_WHAT} (?:live|come from|reside|sit|get defined)"),
    _Form.of(
        "where",
        rf"where (?:can|do|could|would|should|did) (?:i|we|you|one|they) (?:find|see|{_TO_DEFINE}|locate) {_WHAT}",
    ),
    _Form.of("in which what", rf"(?:in )?(?:which|what) {_PLACE} (?:is|has|{_DEFINES}) {_WHAT}(?: (?:{_DONE}|in))?"),
    _Form.of("which what the", rf"(?:which|what|the) {_PLACE} (?:that|which) {_DEFINES} {_WHAT}"),
    _Form.of(
        "source header file module class package crate namespace folder directory",
        rf"{_PLACE} (?:defining|declaring|implementing|containing) {_WHAT}",
    ),
    _Form.of("who what", rf"(?:who|what) (?:defines|declares) {_WHAT}"),
    _Form.of(
        "the definition declaration signature", rf"(?:the )?(?:definition|declaration|signature) (?:of|for) {_WHAT}"
    ),
)
_UNSURE = (
    _Form.of(
        "find locate look open view see get go jump search display read",
        rf"(?:find|locate|look up|look for|open|view|see|get|go to|jump to|search for|display|read) {_WHAT}",
    ),
    _Form.of("what what's whats", rf"what(?:'s|s| is| are) {_WHAT}(?: for)?"),
    _Form.of("what", rf"what does {_WHAT} do"),
    _Form.of("how", rf"how does {_WHAT} work"),
    _Form.of("explain describe tell", rf"(?:explain|describe|tell me about) {_WHAT}"),
    _Form.of("how", rf"how is {_WHAT} (?:implemented|defined)"),
    _Form.of(
        "the definition declaration implementation source code location body signature",
        rf"(?:the )?{_ABOUT} (?:of|for) {_WHAT}",
    ),
)
_NAMED_BEFORE = (_Form.of("", rf"{_WHAT} {_ABOUT}"),)
_ALONE = (_Form.of("", _WHAT),)  # after `show me`, or a name in backticks, with a kind, or with its place
# Who finds a definition asks for it.
_VERB = re.compile(
    r"^(?:find|locate|look (?:up|for)|open|view|see|get|go to|jump to|search for|display|read|list) ", re.IGNORECASE
)
_WHERE = r"[`\"']?[\w@.:/\\#$+~-]*\w/?[`\"']?"
_IN_PLACE = re.compile(
    rf"(?P<rest>.+?),? (?:in|inside|within|of|from) (?:the )?(?:{_PLACE} |{_KIND_WORDS} )?(?P<place>{_WHERE})"
    rf"(?: {_PLACE})?|(?P<owner>{_WHERE})'s (?P<own>.+)",
    re.I,
)
# `FILE#NAME`, `FILE:NAME` and `FOLDER/MODULE.NAME`.
_AT_PLACE = re.compile(
    r"(?P<file>[\w@./+~-]*[\w-](?P<ending>\.[A-Za-z]\w{0,9}))(?:#|::?)(?P<name>[A-Za-z_$][\w$.:#]*[!?]?)(?:\(\))?"
    r"|(?P<module>(?:[\w@+~-][\w@.+~-]*/)+[\w@+~-]+)(?P<last>\.[A-Za-z_$][\w$]*)(?:\(\))?"
)
_SCOPE_MARK = re.compile(r"::|\.|#|->|\\")
_ENDINGS = frozenset(ending for language in LANGUAGES for ending in language.extensions)
_compile = cache(partial(re.compile, flags=re.IGNORECASE))  # most questions begin as no form does
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
        place: the file, the folder, the module or the type in which it is, as far as the question says.
    """

    name: str
    kinds: frozenset[str]
    is_sure: bool
    place: str = ""

    @property
    def scope(self) -> list[str]:
        """The parts of the place."""
        if _is_path(self.place):
            return module_parts(self.place)
        return [part for part in _SCOPE_MARK.split(self.place) if part]


def parse_asked_name(text: str) -> AskedName | None:
    """Return the one name that a question is for, None for any other query."""
    if len(text) > _MAX_CHARS or len(words := text.split()) > _MAX_WORDS:
        return None
    if len(words) == 1 and (asked := _at_place(words[0])):
        return asked
    plain = " ".join(words).rstrip("?. ")
    opening = _OPENING.match(plain)
    rest = plain[opening.end() :] if opening else plain
    may_be_alone = rest.startswith("`") or (opening is not None and opening["show"])
    return _without_place(rest, may_be_alone=bool(may_be_alone)) or _in_place(_VERB.sub("", rest, count=1))


def _without_place(text: str, *, may_be_alone: bool = False) -> AskedName | None:
    """Return the name that a question is for: `where is X defined`, `the class X`, `how does X work`."""
    told = _VERB.sub("", text, count=1)
    for one in dict.fromkeys((text, told)):
        if thing := _thing(_SURE, one):
            return _asked(thing, is_sure=True)
        if thing := _thing(_NAMED_BEFORE, one):
            return _asked(thing, is_sure=True) if is_shaped_name(thing["name"]) else None
    alone = _thing(_ALONE, told)
    has_kind = alone is not None and _kind_of(alone) in KINDS
    is_meant = alone is not None and has_kind and (is_shaped_name(alone["name"]) or told[:4].lower() == "the ")
    thing = alone if is_meant else _thing(_UNSURE, text) or (alone if may_be_alone else None)
    return thing and _asked(thing, is_sure=is_shaped_name(thing["name"]))


def _in_place(text: str) -> AskedName | None:
    """Return the name that a question gives a place: `X in FILE`, `where is X defined in the Y class`."""
    placed = _IN_PLACE.fullmatch(text)
    if placed is None:
        return None
    place = (placed["place"] or placed["owner"]).strip("`\"'").rstrip("/")
    rest = placed["rest"] or placed["own"]
    asked, is_path, is_shaped = _without_place(rest), _is_path(place), is_shaped_name(place)
    if asked is None and (thing := _thing(_ALONE, rest)) and (is_path or is_shaped or is_shaped_name(thing["name"])):
        asked = _asked(thing, is_sure=is_shaped_name(thing["name"]))
    if asked is None:
        return None
    return asked._replace(is_sure=asked.is_sure or is_path or (is_shaped and bool(asked.kinds)), place=place)


def _at_place(text: str) -> AskedName | None:
    """Return the name in a query such as `src/store.py#Store`, None if all of it is a path."""
    match = _AT_PLACE.fullmatch(text)
    if match is None:
        return None
    if match["file"]:
        return AskedName(match["name"], frozenset(), True, match["file"]) if match["ending"] in _ENDINGS else None
    if match["last"] in _ENDINGS:
        return None
    return AskedName(match["last"][1:], frozenset(), True, match["module"])


def _is_path(place: str) -> bool:
    return "/" in place or place[place.rfind(".") :] in _ENDINGS


def _thing(forms: tuple[_Form, ...], text: str) -> re.Match[str] | None:
    first = text.partition(" ")[0].lower()
    own = [form for form in forms if first in form.begins or not form.begins]
    matches = (match for form in own if (match := _compile(form.pattern).fullmatch(text)))
    return next((thing for match in matches if (thing := _compile(_THING).fullmatch(match["what"]))), None)


def is_shaped_name(name: str) -> bool:
    """Tell whether a word is written as a name is: quoted, or with capitals or marks inside."""
    return name[0] in "`\"'" or _SHAPED.search(name) is not None


def _kind_of(match: re.Match[str]) -> str:
    return (match["kind"] or match["after"] or "").lower()


def _asked(match: re.Match[str], *, is_sure: bool) -> AskedName | None:
    name = match["name"].strip("`\"'").rstrip(".:/\\").removesuffix("()")
    if name.lower() in _PRONOUNS or not name:
        return None
    return AskedName(name, KINDS.get(_kind_of(match), frozenset()), is_sure)
