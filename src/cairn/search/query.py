"""Parses a query: its mode, its terms and words, and the roles of the files it asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from cairn.errors import QueryError
from cairn.hints import Hint
from cairn.search.relations import KINDS, RelationQuestion, parse_kind, parse_relation
from cairn.source.roles import Role
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import raw_words, split_identifier
from cairn.types import Mode

if TYPE_CHECKING:
    from cairn.search.work_item import WorkItem

EXACT_MODES = ("literal", "regex", "structural")  # these find every match, unranked
MAX_QUERY_CHARS = 10_000
MAX_TERMS = 64  # of a very long query the first ones count

_SYMBOL = re.compile(r"[A-Za-z_$@~][\w$]*(?:(?:::|\.|#|->|\\)~?[A-Za-z_$][\w$]*)*(?:\(\))?[?!]?")
_QUOTED = re.compile(r'"([^"]+)"|`([^`]+)`|\'([^\']+)\'')
_REGEX_MARKS = re.compile(r"\\[wdsbSWDB.(){}\[\]]|\.[*+]|\[[^\]]+\][*+?{]?|\(\?|\(\w+\|\w|^\^|\$$|\w\|\w|[)\w]\{\d")
_CODE_MARKS = re.compile(r"\w\(|\)\s*[{;:]|[{};]|=>|->|==|!=|:=|\w\.\w+\(|::\w+\(|</?\w|^\s*[@#]\w+|\w+\[\w*\]")
# The metavariable for any number of nodes. `$NAME` does not count: it is a variable in shell, PHP and Perl.
_STRUCTURE_MARK = re.compile(r"\$\$\$(?![$\w])|\$\$\$[A-Z_][A-Z0-9_]*\b")
SCOPE_MARK = re.compile(r"::|\.|#|->|\\")
_LOOKS_NAMED = re.compile(r"[a-z0-9][A-Z]|\w_\w|[A-Z][A-Z][a-z]")

# Words that belong to the form of a question, not to what it is about.
STOP_WORDS = frozenset(
    """a about after all also an and any are as at be been being between by can could did do does doing done each every
    find for from get gets getting give given had happen happened happens has have having how i if in into is it its
    let like look looking made make makes many me more most my need no not of on once one only or other our out over
    own place places see should show so some such than that the their them then there these they thing things this
    those through to under up use used uses using very via want was way we were what when where whether which while who
    whose why will with within without work works would you your code implement implementation implemented implements
    """.split()  # noqa: SIM905 - a list of words reads best as text
)

# After the first of these come the details of what was named before: `retries of uploads with backoff`.
_CONNECTIVES = frozenset(
    "after and as at before between by for from in into of on or over through to using via with without".split()  # noqa: SIM905 - as above
)
DETAIL_WEIGHT = 0.6  # of a word that is not part of the subject

# Fields, keys and the like often only repeat a name; who asks for it means the type or the function.
MINOR_KINDS = frozenset({"field", "variable", "key", "property", "section", "constant", "target"})

_ROLE_WORDS = (
    (Role.TEST, re.compile(r"\b(tests?|testing|tested|specs?|fixtures?|mock(s|ed)?|assert\w*)\b", re.I)),
    (Role.EXAMPLE, re.compile(r"\b(examples?|samples?|demos?|benchmarks?|tutorials?)\b", re.I)),
    (
        Role.DOCS,
        re.compile(
            r"\b(docs?|documentation|documented|readme|changelog|guides?|licen[cs]e|release notes?|instructions?|steps"
            r"|tutorial|quick ?start|getting started|contribut\w*|troubleshoot\w*|explanation|notice|what changed"
            r"|how (do|can|should|to) (i|we|you)|what (do|should|to) (i|we|do)|how to)\b",
            re.I,
        ),
    ),
    (
        Role.CONFIG,
        re.compile(
            r"\b(config(uration)?s?|settings?|yaml|json|toml|dockerfile|makefile|docker|ci|continuous integration"
            r"|workflows?|pipeline|dependenc(y|ies)|requirements|packag(es?|ing)|manifest|build|linters?|lint|tox|npm"
            r"|compiler options|matrix|environments?|distribution)\b",
            re.I,
        ),
    ),
    (
        Role.OTHER_PLATFORM,
        re.compile(r"\b(windows|win32|win64|macos|mac|darwin|osx|ios|linux|posix|unix|kqueue|fsevents|epoll)\b", re.I),
    ),
    (Role.OLD_VERSION, re.compile(r"\bv\d+\b|\bversion \d", re.I)),
    (
        Role.GENERATED,
        re.compile(
            r"^generated\b|\b(generated (code|files?|class(es)?|clients?|sources?|types?)|auto-?generated|stubs?"
            r"|protobufs?|lock ?files?|minified|bundles?|snapshots?)\b|\.pb\.|_pb2?\b",
            re.I,
        ),
    ),
    (Role.VENDORED, re.compile(r"\b(vendored|vendor|third[- ]part(y|ies)|3rd[- ]party|bundled cop(y|ies))\b", re.I)),
    (Role.LEGACY, re.compile(r"\b(compat\w*|legacy|deprecated|backports?)\b", re.I)),
)
# In a question for these, the first words say where to look, not what for: `tests for uploads`.
_PLACES = Role.TEST | Role.EXAMPLE | Role.DOCS


class Term(NamedTuple):
    """One index term of a query: its hash, its text, and a weight that multiplies its rarity."""

    hashed: int
    text: str
    weight: float


class Name(NamedTuple):
    """A name that may be defined somewhere: `last` is the definition's own name, `scope` what encloses it."""

    last: str
    scope: str = ""


class Query(NamedTuple):
    """A parsed query.

    Attributes:
        terms: stems and folded identifiers, without stop words.
        words: the lower-case words to embed.
        subject: those of the words that say what the query is about; the others are details.
        symbols: names that may be definitions, most specific first.
        wants: the roles of files that the query asks for.
        pattern: what an exact mode looks for.
        named: the name that the query as a whole is; its definitions come first.
        kinds: the kinds that these definitions may have; any if empty.
        relation: the question for a relation to a symbol that the query is; answered by it, the mode is `graph`.
        body: of a text that is read in parts, the words to embed beside those of the subject.
        item: the parts of such a text.
    """

    text: str
    mode: Mode | Literal["graph"]
    terms: tuple[Term, ...]
    words: tuple[str, ...]
    subject: tuple[str, ...]
    symbols: tuple[Name, ...]
    wants: Role
    pattern: str = ""
    named: Name | None = None
    kinds: frozenset[str] = frozenset()
    relation: RelationQuestion | None = None
    body: tuple[str, ...] = ()
    item: WorkItem | None = None


def understand(text: str, mode: Mode = "auto") -> Query:
    """Classify and parse a query.

    Raises:
        QueryError: if it is empty or longer than `MAX_QUERY_CHARS`.
    """
    stripped = text.strip()
    if not stripped:
        raise QueryError("the query is empty", Hint.of("search", query="how are requests routed"))
    if len(stripped) > MAX_QUERY_CHARS:
        raise QueryError(
            f"the query has {len(stripped):,} characters; at most {MAX_QUERY_CHARS:,} are allowed",
            Hint("shorten it to what matters", "search", query=None),
        )
    resolved = classify(stripped) if mode == "auto" else mode
    pattern = ""
    if resolved in EXACT_MODES:
        pattern = text if mode != "auto" else _strip_quotes(stripped)
    raws = raw_words(stripped)
    wants = asked_roles(stripped)
    subject = _subject(raws, wants)
    symbols = _symbols(stripped, raws, resolved)
    named, kinds = (symbols[0] if resolved == "symbol" and symbols else None), frozenset[str]()
    if mode == "auto" and (kind := parse_kind(stripped)) and _SYMBOL.fullmatch(kind[1]):
        named, kinds = _name(kind[1]), KINDS[kind[0]]
    return Query(
        text=stripped,
        mode=resolved,
        terms=_terms(raws, frozenset(subject)),
        words=_words(raws),
        subject=_words(subject),
        symbols=symbols,
        wants=wants,
        pattern=pattern,
        named=named,
        kinds=kinds,
        relation=parse_relation(stripped) if mode == "auto" else None,
    )


def classify(text: str) -> Mode:
    """Return the mode that the form of a text suggests."""
    quoted = _QUOTED.fullmatch(text)
    if quoted and " " not in text.strip("\"'`"):
        return "literal"
    if _SYMBOL.fullmatch(text):
        return "symbol"
    if quoted:
        return "literal"
    if _STRUCTURE_MARK.search(text):
        return "structural"
    n_words = len(text.split())
    if _REGEX_MARKS.search(text) and n_words <= 4 and "?" not in text[-1:]:
        return "regex"
    if _CODE_MARKS.search(text) and n_words <= 8 and "?" not in text[-1:]:
        return "literal"
    return "hybrid"


def _strip_quotes(text: str) -> str:
    match = _QUOTED.fullmatch(text)
    return next(group for group in match.groups() if group) if match else text


def _subject(raws: list[str], wants: Role) -> list[str]:
    """Return the words before the first connective that follows a word of content, and names wherever they are.

    When the query says in which files to look, every word is subject: that of `tests for uploads` is not `tests`.
    """
    if wants & _PLACES:
        return raws
    end = len(raws)
    has_content = False
    for place, raw in enumerate(raws):
        if has_content and raw.lower() in _CONNECTIVES:
            end = place
            break
        has_content = has_content or raw.lower() not in STOP_WORDS
    return [raw for place, raw in enumerate(raws) if place < end or looks_named(raw)]


def _terms(raws: list[str], subject: frozenset[str]) -> tuple[Term, ...]:
    """Return the terms, each once; a query of nothing but stop words keeps them."""
    kept = [raw for raw in raws if raw.lower() not in STOP_WORDS] or raws
    terms: dict[str, Term] = {}
    for raw in kept:
        words = split_identifier(raw)
        terms_of_word = terms_of(raw, words)
        for term in terms_of_word:
            # The parts of an identifier matter less than the whole.
            weight = 1.0 if len(words) < 2 or term == terms_of_word[-1] else 0.5
            if raw not in subject:
                weight *= DETAIL_WEIGHT
            if term not in terms or terms[term].weight < weight:
                terms[term] = Term(term_hash(term), term, weight)
    return tuple(terms.values())[:MAX_TERMS]


def _words(raws: list[str]) -> tuple[str, ...]:
    words = [word for raw in raws for word in split_identifier(raw)]
    return tuple([word for word in words if word not in STOP_WORDS] or words)[:MAX_TERMS]


def _symbols(text: str, raws: list[str], mode: Mode) -> tuple[Name, ...]:
    """Return the names that may be defined somewhere: the query itself, or words shaped like names."""
    if mode == "symbol" and _SYMBOL.fullmatch(text):
        return (_name(text),)
    if len(raws) == 1 and mode != "symbol":
        return (Name(raws[0]),)
    names = [Name(raw) for raw in dict.fromkeys(raws) if len(raw) > 2 and looks_named(raw)]
    whole = [Name(text)] if mode == "symbol" and text.isprintable() else []
    return (*whole, *names)


def _name(text: str) -> Name:
    *scope, last = SCOPE_MARK.split(text.removesuffix("()"))
    return Name(last, ".".join(scope))


def looks_named(word: str) -> bool:
    """Tell whether a word has the shape of a name in code, such as `camelCase` or `snake_case`."""
    return _LOOKS_NAMED.search(word) is not None


def asked_roles(text: str) -> Role:
    """Return the roles of files that a question asks for."""
    return Role(sum(int(role) for role, pattern in _ROLE_WORDS if pattern.search(text)))
