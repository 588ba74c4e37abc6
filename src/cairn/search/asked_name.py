"""Recognises questions for what one name stands for: "where is X defined", "the class X", "X in FILE", "FILE#X"."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import NamedTuple

from cairn.search.file_finder import module_parts
from cairn.search.relations import KINDS
from cairn.source.languages import EXTENSIONS

_MAX_CHARS, _MAX_WORDS = 200, 12

_NAME = r"(?P<name>[`\"']?[A-Za-z_$@~.][\w$@.:#/\\>~-]*(?:\(\))?[?!]?[`\"']?)"
_KIND_WORDS = (
    r"(?:class|type(?: ?alias)?|struct|interface|trait|protocol|enum|record|model|entity|function|func|fn|method|def"
    r"|module|mod|macro(?:_rules!)?|constant|const|constructor"
    r"|variable|helper|decorator|hook|component|namespace|object|package|file|union|typedef|attribute|annotation|filter"
    r"|command|option|setting|field|property)"
)
_THING = rf"(?:(?:the|our|its|an?) )?(?:(?P<kind>{_KIND_WORDS})s? )?{_NAME}(?: (?P<after>{_KIND_WORDS}))*"
_WHAT = "(?P<what>.+?)"  # looked at by `_THING`, which takes long to compile, once instead of in each form
_ABOUTS = ("definition", "declaration", "implementation", "source", "code", "location", "body", "signature")
_DEFINED_BY = re.compile(r" (?:definition|declaration|implementation|signature)$", re.IGNORECASE)
_ABOUT = rf"(?:source code|{'|'.join(_ABOUTS)})"
_PLACES = ("file", "module", "class", "package", "header", "crate", "namespace", "folder", "directory")
_PLACE = rf"(?:source |header )?(?:{'|'.join(_PLACES)})"
_TO_DEFINE, _DEFINES = r"(?:define|declare|implement)", r"(?:defines|declares|implements|contains|holds)"
_DONE = r"(?:defined|declared|implemented|located|written|created|introduced|found|defined at|coded|living|stored)"
# What a program does with a thing at run time, unless the thing is written as a name: `where is a survey created`.
_DONE_WITH_THINGS = re.compile(
    r" (?:written|created|stored)$|^where(?:'s|s| is) an? (?!.* (?:defined|declared)$)", re.IGNORECASE
)


def _by_first_word(*forms: tuple[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the patterns of forms of question by the word with which a question begins; each form names its words."""
    found: dict[str, tuple[str, ...]] = {}
    for words, pattern in forms:
        for word in words.split():
            found[word] = (*found.get(word, ()), pattern)
    return found


# Questions for a definition, and others that may just as well be about a thing.
_SURE = _by_first_word(
    ("where where's wheres", rf"where(?:'s|s| is) {_WHAT} {_DONE}"),
    ("where", rf"where {_WHAT} is {_DONE}"),
    ("where where's wheres", rf"where(?:'s|s| is) {_WHAT}"),
    ("where", rf"where (?:does|do) {_WHAT} (?:live|come from|reside|sit|get defined)"),
    (
        "where",
        rf"where (?:can|do|could|would|should|did) (?:i|we|you|one|they) (?:find|see|{_TO_DEFINE}|locate) {_WHAT}",
    ),
    ("in which what", rf"(?:in )?(?:which|what) {_PLACE} (?:is|has|{_DEFINES}) {_WHAT}(?: (?:{_DONE}|in))?"),
    ("which what the", rf"(?:which|what|the) {_PLACE} (?:that|which) {_DEFINES} {_WHAT}"),
    (
        "source header file module class package crate namespace folder directory",
        rf"{_PLACE} (?:defining|declaring|implementing|containing) {_WHAT}",
    ),
    ("who what", rf"(?:who|what) (?:defines|declares) {_WHAT}"),
    ("the definition declaration signature", rf"(?:the )?(?:definition|declaration|signature) (?:of|for) {_WHAT}"),
)
_UNSURE = _by_first_word(
    (
        "find locate look open view see get go jump search display read",
        rf"(?:find|locate|look up|look for|open|view|see|get|go to|jump to|search for|display|read) {_WHAT}",
    ),
    ("what what's whats", rf"what(?:'s|s| is| are) {_WHAT}(?: for)?"),
    ("what", rf"what does {_WHAT} do"),
    ("how", rf"how does {_WHAT} work"),
    ("explain describe tell", rf"(?:explain|describe|tell me about) {_WHAT}"),
    ("how", rf"how is {_WHAT} (?:implemented|defined)"),
    (
        "the definition declaration implementation source code location body signature",
        rf"(?:the )?{_ABOUT} (?:of|for) {_WHAT}",
    ),
)
# Work on one name, if it is written as one.
_CHANGED = _by_first_word(
    ("rename", rf"rename {_WHAT}(?: (?:to|into|as) [`\"']?[\w$.-]+[`\"']?)?"),
    ("remove delete deprecate", rf"(?:remove|delete|deprecate) {_WHAT}"),
)
_NAMED_BEFORE = rf"{_WHAT} {_ABOUT}"
# Who finds a definition asks for it.
_VERB = re.compile(
    r"^(?:find|locate|look (?:up|for)|open|view|see|get|go to|jump to|search for|display|read|list) ", re.IGNORECASE
)
_WHERE = re.compile(r"[`\"']?[\w@.:/\\#$+~-]*\w/?[`\"']?")
_PREPOSITIONS = frozenset({"in", "inside", "within", "of", "from"})
_MOST_KINDED = 3  # spaces in what may be a name with its kind: `the Store class`
# `FILE#NAME`, `FILE:NAME` and `FOLDER/MODULE.NAME`.
_AT_PLACE = re.compile(
    r"(?P<file>[\w@./+~-]*[\w-](?P<ending>\.[A-Za-z]\w{0,9}))(?:#|::?)(?P<name>[A-Za-z_$][\w$.:#]*[!?]?)(?:\(\))?"
    r"|(?P<module>(?:[\w@+~-][\w@.+~-]*/)+[\w@+~-]+)(?P<last>\.[A-Za-z_$][\w$]+)(?:\(\))?"
)
_SCOPE_MARK = re.compile(r"::|\.|#|->|\\")
_compile = cache(partial(re.compile, flags=re.IGNORECASE))  # most questions begin as no form does
_OPENING = re.compile(
    r"^(?:please |can you |could you |i (?:want|need) to |help me |let me |(?P<show>show(?: me)? |give me ))+", re.I
)
# One of these behind a single word makes a name of that: `installer interface`.
_KINDS_OF_TYPES = frozenset({"interface", "trait", "protocol", "struct", "enum", "model", "entity"})
_PRONOUNS = frozenset({"it", "this", "that", "they", "these", "those", "me", "there", "everything", "something"})
_MARKED = re.compile(r"[_.:$#/\\()\d]|[a-z][A-Z]|[A-Z]{2}[a-z]|[?!]$")
_SHAPED = re.compile(rf"{_MARKED.pattern}|^[A-Z]")


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
        if thing := _asked_thing(_SURE, one):
            is_prose = _DONE_WITH_THINGS.search(one) and not is_shaped_name(thing["name"])
            return None if is_prose else _asked(thing, is_sure=True)
        if one.rpartition(" ")[2].lower() in _ABOUTS and (thing := _thing_in(_NAMED_BEFORE, one)):
            is_name = is_shaped_name if _DEFINED_BY.search(one) else is_marked_name  # `Reformat code`
            return _asked(thing, is_sure=True) if is_name(thing["name"]) else None
    if (thing := _asked_thing(_CHANGED, text)) and is_marked_name(thing["name"]):
        return _asked(thing, is_sure=True)
    alone = _thing(told)
    if alone is not None and _kind_of(alone) in KINDS:
        has_article, is_shaped = told[:4].lower() == "the ", is_shaped_name(alone["name"])
        is_kinded = told.count(" ") == 1 and not alone["kind"] and _kind_of(alone) in _KINDS_OF_TYPES
        if has_article or is_shaped or is_kinded:  # a capital may also begin a sentence: `Rename method`
            is_sure = is_marked_name(alone["name"]) or (is_shaped and (has_article or bool(alone["kind"])))
            return _asked(alone, is_sure=is_sure)
    thing = _asked_thing(_UNSURE, text) or (alone if may_be_alone else None)
    return thing and _asked(thing, is_sure=is_shaped_name(thing["name"]))


def _in_place(text: str) -> AskedName | None:
    """Return the name that a question gives a place: `X in FILE`, `where is X defined in the Y class`, `Y's X`."""
    split = _split_place(text.split(" "))
    if split is None or not _WHERE.fullmatch(split[1]):
        return None
    rest, place = split[0], split[1].strip("`\"'").rstrip("/")
    if (asked := _without_place(rest)) and asked.is_sure:
        return asked._replace(place=place)
    if (thing := _thing(rest)) is None or (alone := _asked(thing, is_sure=False)) is None:
        return asked and asked._replace(place=place)
    # A title has capitals, too: `Handlers in Django`.
    name, is_path = thing["name"], _is_path(place)
    is_capital = is_shaped_name(name) and not is_marked_name(name)
    has_owner = is_marked_name(place) or (bool(alone.kinds) and is_shaped_name(place) and not is_capital)
    if not (is_path or is_marked_name(name) or has_owner):
        return None
    may_be_verb = is_capital and bool(thing["after"])  # `Remove class from test_views`
    is_sure = is_marked_name(name) or (is_path and is_shaped_name(name)) or (has_owner and bool(alone.kinds))
    return alone._replace(is_sure=is_sure and not may_be_verb, place=place)


def _split_place(words: list[str]) -> tuple[str, str] | None:
    """Return what comes before the last preposition and the one name behind it; None if there is more than a name."""
    if words[0].endswith("'s"):
        return " ".join(words[1:]), words[0].removesuffix("'s")
    at = next((at for at in range(len(words) - 2, 0, -1) if words[at].lower() in _PREPOSITIONS), 0)
    if not at:
        return None
    place = words[at + 1 :]
    if len(place) > 1 and place[0].lower() == "the":
        del place[0]
    if len(place) > 1 and (place[0].lower() in KINDS or place[0].lower() in _PLACES):
        del place[0]
    if len(place) > 1 and place[-1].lower() in _PLACES:
        del place[-1]
    return (" ".join(words[:at]).rstrip(","), place[0]) if len(place) == 1 else None


def _at_place(text: str) -> AskedName | None:
    """Return the name in a query such as `src/store.py#Store`, None if all of it is a path."""
    match = _AT_PLACE.fullmatch(text)
    if match is None:
        return None
    if match["file"]:
        return AskedName(match["name"], frozenset(), True, match["file"]) if match["ending"] in EXTENSIONS else None
    if match["last"] in EXTENSIONS:
        return None
    return AskedName(match["last"][1:], frozenset(), True, match["module"])


def _is_path(place: str) -> bool:
    return "/" in place or place[place.rfind(".") :] in EXTENSIONS


def _asked_thing(forms: dict[str, tuple[str, ...]], text: str) -> re.Match[str] | None:
    """Return the thing that a text asks for in one of some forms."""
    patterns = forms.get(text.partition(" ")[0].lower(), ())
    return next((thing for pattern in patterns if (thing := _thing_in(pattern, text))), None)


def _thing_in(pattern: str, text: str) -> re.Match[str] | None:
    match = _compile(pattern).fullmatch(text)
    return _compile(_THING).fullmatch(match["what"]) if match else None


def _thing(text: str) -> re.Match[str] | None:
    """Return a name alone, or with its kind."""
    return _compile(_THING).fullmatch(text) if text.count(" ") <= _MOST_KINDED else None


def is_shaped_name(name: str) -> bool:
    """Tell whether a word is written as a name is: quoted, or with capitals or marks inside."""
    return name[0] in "`\"'" or _SHAPED.search(name) is not None


def is_marked_name(name: str) -> bool:
    """Tell whether a word is written as no word of prose is: a capital at its beginning is not enough."""
    return name[0] in "`\"'" or _MARKED.search(name) is not None


def _kind_of(match: re.Match[str]) -> str:
    return (match["kind"] or match["after"] or "").lower()


def _asked(match: re.Match[str], *, is_sure: bool) -> AskedName | None:
    name, kind = match["name"].strip("`\"'").rstrip(".:/\\").removesuffix("()"), _kind_of(match)
    if name.lower() in KINDS and match["kind"]:  # `the Type class` has the name first
        name, kind = match["kind"], name.lower()
    if name.lower() in _PRONOUNS or not name:
        return None
    return AskedName(name, KINDS.get(kind, frozenset()), is_sure)
