"""What the parts of a long text name: identifiers, paths and modules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, filterfalse
from typing import NamedTuple

from cairn.search.query import SCOPE_MARK, STOP_WORDS, looks_named, named_among
from cairn.search.work_item import WorkItem, words_of
from cairn.source.text import names_apart

MAX_NAMES, MAX_PLACES = 24, 40
_LEAST_CHARS = 3
# How much a name says by the way it is written; one in the subject counts more.
_IN_SUBJECT = 1.5
_SPAN, _IN_SPAN, _CALL, _DOTTED, _SHAPED = 1.0, 0.5, 0.6, 0.7, 0.6
_OWNER = 0.8  # of the class before a method
_IN_CODE = 0.25

_SPANS = re.compile(r"``([^`\n]{1,200})``|`([^`\n]{1,200})`")
# The program of a command with an option.
_COMMAND = re.compile(r"^\s*(?:[$>%] )?[a-z][a-z-]{0,40}(?= +(?:-|[a-z]+ +-))")
_CALLS = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]{0,80}[?!]?)\(")
_DOTTED_NAMES = re.compile(r"(?<![\w./\\-])[A-Za-z_]\w{0,80}(?:(?:\.|::|#)[A-Za-z_]\w{0,80}){1,12}")
_IDENTIFIERS = re.compile(r"[A-Za-z_$][\w$]{0,80}")
# Names of rules, commands and the like, by which files are called: in a code span, and in a subject also without one.
_STEM = re.compile(r"[A-Za-z]\w{0,80}(?:[-/]\w{1,80}){1,6}")
_STEM_ALONE = re.compile(
    r"(?<![\w`./-])(?:[A-Za-z][^\W_]{0,80}(?:[-_][^\W_]{1,80}){1,6}|(?:[A-Z]\w{1,80}/){1,3}[A-Z]\w{1,80})(?![\w`./-])"
)
# The class of what an error says to lack a method or an attribute, and the module.
_LACKING = re.compile(
    r"undefined (?:local variable or )?method [`'\u2018][^\s'\u2019]{1,80}['\u2019] for "
    r"(?:an instance of |#<|class |module )?([A-Z]\w*(?:::\w+){0,9})"  # Ruby
    r"|(?:type object |module )?['\u2018](\w{1,80}(?:\.\w{1,80}){0,9})['\u2019] (?:object )?has no attribute ['\u2018]"
    r"|Call to (?:undefined|private|protected) method ([\w\\]{1,300})::"  # PHP
    r"|function ([A-Z]\w*(?:\.[A-Z]\w*){0,9})\.\w+[?!]?/\d+ is (?:undefined|private)"  # Elixir
)
_LACKS = ("undefined ", "has no attribute", "Call to ", " is private")  # what `_LACKING` finds, told quickly
# Names of products and addresses, which look like dotted names.
_PRODUCT = re.compile(r"(?i)[\w-]+\.(?:js|io|net|com|org|dev|app|ai)")
_HAS_ENDING = re.compile(r"\.[A-Za-z]")  # quickly told
_PATHS = re.compile(r"(?<![\w@])(?:[\w.@+-]{1,80}[/\\]){0,20}[\w@+-][\w.@+-]{0,80}\.[A-Za-z]\w{0,9}\b")


class Mentions(NamedTuple):
    """What a text names, with how much each name says.

    Attributes:
        names: the names of definitions, those that say most first.
        paths: files, as they stand in the text.
        modules: dotted names, which may be those of modules.
        stems: names of several words with hyphens, such as those of rules and commands, which files may have.
    """

    names: dict[str, float]
    paths: tuple[str, ...]
    modules: tuple[str, ...]
    stems: tuple[str, ...] = ()


def read_mentions(item: WorkItem) -> Mentions:
    """Return what a work item names."""
    names: dict[str, float] = {}
    written = [item.subject, item.prose, item.code]  # a path may have letters of any script
    item = item._replace(subject=names_apart(item.subject), prose=names_apart(item.prose), code=names_apart(item.code))
    for text, factor in ((item.subject, _IN_SUBJECT), (item.prose, 1.0)):
        for name, weight in _names_in_prose(text):
            names[name] = max(names.get(name, 0.0), weight * factor)
    for name, weight in _lacking(item):
        names[name] = max(names.get(name, 0.0), weight)
    kept = [name for name, weight in names.items() if _may_count(name, weight)]
    kept.sort(key=lambda name: -names[name])
    for name in _names_in_code(item.code, item.trace):  # these say least, so no more are read than there is room for
        if len(kept) >= MAX_NAMES:
            break
        if name not in names and _may_count(name, _IN_CODE):
            names[name] = _IN_CODE
            kept.append(name)
    apart = [item.subject, item.prose, item.code]
    texts = [written] if written == apart else [written, apart]
    return Mentions(
        {name: names[name] for name in kept[:MAX_NAMES]},
        _first(chain(item.links, *map(_paths_in, texts))),
        _first(filterfalse(_PRODUCT.fullmatch, (*_dotted_names(item.subject), *_dotted_names(item.prose)))),
        _first((*_STEM_ALONE.findall(item.subject), *_stems_in(item.subject), *_stems_in(item.prose))),
    )


def _first(places: Iterable[str]) -> tuple[str, ...]:
    """Return the first places, each once, as many as are looked at."""
    found: dict[str, None] = {}
    for place in places:
        found[place] = None
        if len(found) == MAX_PLACES:
            break
    return tuple(found)


def _paths_in(texts: Sequence[str]) -> Iterator[str]:
    words = [word for word in _with(".", *texts).split("\n") if _HAS_ENDING.search(word)]
    yield from (match[0] for match in _PATHS.finditer("\n".join(words)))


def _may_count(name: str, weight: float) -> bool:
    return len(name) >= _LEAST_CHARS and (weight >= 1 or name.lower() not in STOP_WORDS)


def _stems_in(text: str) -> list[str]:
    """Return the code spans of a text that are names with hyphens, or below a folder: `no-var`, `Style/NoVar`."""
    spans = (match[1] or match[2] for match in _SPANS.finditer(text)) if "`" in text else ()
    return [span for span in spans if _STEM.fullmatch(span)]


def _lacking(item: WorkItem) -> Iterator[tuple[str, float]]:
    """Yield the names of the classes of which errors say that they lack something, with how much each says."""
    for text in (item.subject, item.prose, item.code, item.trace):
        for match in _LACKING.finditer(text) if any(part in text for part in _LACKS) else ():
            *owners, last = re.split(r"::|[.\\]", next(filter(None, match.groups())))
            yield last, _SPAN
            yield from ((owner, _DOTTED * _OWNER) for owner in owners if owner[:1].isupper())


def _names_in_code(*texts: str) -> Iterator[str]:
    """Yield what is shaped like a name in some texts, and what is called there."""
    for text in texts:
        yield from named_among(words_of(text))
        yield from (match[1] for match in _CALLS.finditer(_with("(", text)))


def _names_in_prose(text: str) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for match in _SPANS.finditer(text):
        span = _COMMAND.sub("", match[1] or match[2])
        whole = span.strip("()")
        found += [
            (name, _SPAN if name == whole or looks_named(name) else _IN_SPAN) for name in _IDENTIFIERS.findall(span)
        ]
    found += [(name, _CALL) for name in _CALLS.findall(_with("(", text))]
    for dotted in filterfalse(_PRODUCT.fullmatch, _dotted_names(text)):
        *owners, last = SCOPE_MARK.split(dotted)
        found += [(last, _DOTTED), *((owner, _DOTTED * _OWNER) for owner in owners if owner[:1].isupper())]
    found += [(word, _SHAPED) for word in named_among(words_of(text))]
    return found


@lru_cache(maxsize=4)  # asked for twice
def _dotted_names(text: str) -> list[str]:
    dotted = [word for word in _split(text) if "." in word or "::" in word or "#" in word]
    return _DOTTED_NAMES.findall("\n".join(dotted))


def _with(mark: str, *texts: str) -> str:
    """Return what stands between spaces and has a mark, in lines: a pattern that needs the mark has less to try."""
    return "\n".join([word for text in texts if mark in text for word in _split(text) if mark in word])


_split = lru_cache(maxsize=4)(str.split)  # what stands between spaces in the parts of a text
