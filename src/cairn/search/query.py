"""Parses a query: its mode, its terms and words, and the roles of the files it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from cairn.errors import QueryError
from cairn.hints import Hint
from cairn.search.asked_name import AskedName, is_shaped_name, parse_asked_name
from cairn.search.phrasal_verbs import join_phrasal_verbs
from cairn.search.relations import KINDS, RelationQuestion, parse_kind, parse_relation
from cairn.search.role_words import asked_roles
from cairn.source.roles import Role
from cairn.source.terms import known_hash, terms_of_word
from cairn.source.text import is_plain, names_apart, raw_words
from cairn.types import Mode

if TYPE_CHECKING:
    from cairn.search.work_item import WorkItem

EXACT_MODES = ("literal", "regex", "structural")  # these find every match, unranked
MAX_QUERY_CHARS = 10_000
MAX_TERMS = 64  # of a very long query the first ones count

_SYMBOL = re.compile(r"[A-Za-z_$@~][\w$]*(?:(?:::|\.|#|->|\\)~?[A-Za-z_$][\w$]*)*(?:\(\))?[?!]?(?:\(\))?")
_PATH = re.compile(r"[\w@.+~-]*[./\\:][\w@.+~/\\:-]*\w/?|[\w@+-][\w@.+-]*/")
# The path of a route with placeholders: `/users/{id}`.
_ROUTE = re.compile(r"(?:/(?:[\w.~-]+|:\w+|\{[\w:]+\}|<[\w:]+>|\[[\w.]+\])){2,12}/?")
# The name of a program or a file without its ending, as `git-effort`.
_DASHED = re.compile(r"[A-Za-z][\w.+]*(?:-[\w.+]+)+")
_QUOTED = re.compile(r'"([^"]+)"|`([^`]+)`|\'([^\']+)\'')
_REGEX_MARKS = re.compile(
    r"^\w+\?\w+$|\\[wdsbSWDB.(){}\[\]]|\.[*+]|\(\?|\(\w+\|\w|^\^|\$$|\w\|\w|[)\w]\{\d"
    # Brackets alone are code or text, unless one of what they hold may come several times, or is a range or excluded.
    r"|\[[^\]\s]+\](?:[*+]|\?(?![.\w\[(])|\{\d)|\[(?:\^[^\]]+|(?:[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|_)+)\]"
)
_CODE_MARKS = re.compile(
    r"^\s*(?:#|//) \w"
    r"|\w\(|\)\s*[{;:]|[{};]|=>|->|==|!=|:=|\w\.\w+\(|::\w+\(|</?\w|^\s*[@#]\w+|\w\[[^\]\s]*\]|^\[[^\]\s]+\]$"
)
# What holds marks of code in a text that is none: the scope of a change, and what a message quotes.
_SCOPE_OF_CHANGE = re.compile(r"^[a-z]{2,12}\([\w./, @-]{1,40}\)!?: ")
_QUOTED_BY_MESSAGE = re.compile(r"(?<!\w)([\"'`])[^\"'`\n]{1,200}\1(?!\w)")
_WORDS_OF_MESSAGE = re.compile(r"(?:^|(?<=\s))[A-Za-z]{2,}[,:.]?(?=\s|$)")
_LEAST_OF_MESSAGE = 3
# A regular expression as JavaScript, Ruby and Perl write it.
_SLASHED = re.compile(r"/((?:[^/\\\n]|\\.)+)/([a-z]{0,4})")
# The class of an exception or a test that failed, and the message, which may quote code.
_RAISED = re.compile(
    r"(?:[\w$]+(?:\.|::?|\\))*(?:[A-Z]\w*)?(?:Error|Exception|Warning|Panic): +\S+ |(?:FAILED|FAIL|ERROR) +\S*[/.:]\S"
)
# The metavariable for any number of nodes. `$NAME` does not count: it is a variable in shell, PHP and Perl.
_STRUCTURE_MARK = re.compile(r"\$\$\$(?![$\w])|\$\$\$[A-Z_][A-Z0-9_]*\b")
SCOPE_MARK = re.compile(r"::|\.|#|->|\\")
_SURELY_NAMED = re.compile(r"\w_\w|^[a-z]{2,}\d*[A-Z](?!S$)|^\d{3,}$")
_LOOKS_NAMED = re.compile(r"[a-z0-9][A-Z]|\w_\w|[A-Z][A-Z][a-z]")

# A word with a capital is a name if it says of what kind: `a field of the Order model`.
_KINDED = re.compile(
    r"\b(?:the|an?|our|to|of|on|for|from) ([A-Z][a-z]\w*)"
    r"(?= (?:class|component|entity|enum|interface|model|record|struct|trait|type)\b)"
)
_SPELLED = re.compile(r"[A-Za-z]+(?:[ -][A-Za-z]+){1,3}")  # it may be a name of several words
# A call, or a type with its parameters, as it is written where it is used.
_USED = re.compile(
    r"(?:new )?([A-Za-z_$@][\w$]*(?:(?:::|\.|#|->|\\)[A-Za-z_$][\w$]*)*[?!]?)(?:<[^()]*>|(?=\())(?:\([^()]*\))?;?"
)
_OWNED = re.compile(r"(?<=\w)['\u2019]s\b(?!['\u2019])")  # `Vite's plugins`
_LIST = re.compile(r"(?:where (?:is|are) )?(?P<names>.+?)(?: (?:defined|declared|implemented))?\??", re.IGNORECASE)
_BETWEEN_NAMES = re.compile(r",? (?:and|or|vs\.?|versus|&) |, ?")
_MOST_LISTED = 4

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
_JOINING, _ENDINGS = frozenset({"and", "or"}), ("ing", "er", "ers", "or", "ors", "ion", "ions")
DETAIL_WEIGHT = 0.6  # of a word that is not part of the subject
PART_WEIGHT = 0.5  # of a part of an identifier, against the whole

# Fields, keys and the like often only repeat a name; who asks for it means the type or the function.
MINOR_KINDS = frozenset({"field", "variable", "key", "property", "section", "constant", "target"})

# How the subject of a change or a report begins, or what it says, in lower case.
_MANY_WORDS = 40
_PREFIX = r"(?:[\w./-]{2,30}(?:\([^)]{0,60}\))?!?: |\[[^\]]{1,40}\]:? )?"
_CHANGE = (
    rf"{_PREFIX}(?:add|adjust|allow|apply|avoid|cache|change|check|clarify|clean|convert|correct|delete|deprecate|detect"
    r"|disable|don.?t|do not|drop|enable|ensure|expose|extend|fix|guard|handle|hide|honou?r|ignore|implement|improve"
    r"|include|increase|introduce|keep|limit|make|mark|merge|migrate|move|normali[sz]e|optimi[sz]e|pass|prefer|preserve"
    r"|prevent|properly|raise|reduce|refactor|reject|remove|rename|replace|report|require|reset|resolve|respect|restore"
    r"|restrict|return|rework|rewrite|set|show|simplify|skip|speed|split|stop|strip|support|switch|throw|treat|tweak"
    r"|unify|update|upgrade|use|validate|warn|wrap)(?:e?s|e?d|ing)?\b"
    rf"|{_PREFIX}\S.{{0,300}}\b(?:bug|broken|crash(?:es|ed)?|does(?:n.t| not)|fail(?:s|ed)?|incorrect(?:ly)?|is not"
    r"|regression|should(?:n.t)?|unexpected(?:ly)?|wrong(?:ly)?)\b"
)

# Who asks for what was done to the code.
_COMMITS = re.compile(
    r"(?i)(?:(?:find |show me )?(?:the |which |what )?(?:commits?|pull requests?|prs?|changes?) (?:that |which )?"
    r"(?:added|broke|changed|deleted|fixed|introduced|moved|removed|renamed|replaced|reverted)\b"
    r"|when (?:was|were|did)\b|(?:since|in) which (?:commit|release|version)\b"
    r"|who (?:added|broke|changed|deleted|introduced|last|removed|renamed|wrote)\b"
    r"|why (?:was|were|did) .+ (?:add|chang|delet|introduc|mov|remov|renam|replac|revert)\w*\b)"
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
        listed: the names of which the query is a list; their definitions come first, by turns.
        kinds: the kinds that these definitions may have; any if empty.
        asked: the question for one name that the query is, which may also say its kind.
        path: the file, the folder or the module that the query as a whole names.
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
    asked: AskedName | None = None
    path: str = ""
    relation: RelationQuestion | None = None
    body: tuple[str, ...] = ()
    item: WorkItem | None = None
    listed: tuple[Name, ...] = ()


def understand(text: str, mode: Mode = "auto") -> Query:
    """Classify and parse a query.

    Raises:
        QueryError: if it is empty or longer than `MAX_QUERY_CHARS`.
    """
    stripped = text.strip()
    if not stripped and not (text and mode in EXACT_MODES):
        raise QueryError("the query is empty", Hint.of("search", query="how are requests routed"))
    if len(stripped) > MAX_QUERY_CHARS:
        raise QueryError(
            f"the query has {len(stripped):,} characters; at most {MAX_QUERY_CHARS:,} are allowed",
            Hint("shorten it to what matters", "search", query=None),
        )
    resolved = classify(stripped) if mode == "auto" else mode
    pattern = ""
    if resolved in EXACT_MODES:
        pattern = text if mode != "auto" else _pattern_of(stripped, resolved)
    found = parse_asked_name(stripped) if mode == "auto" else None
    # None if the name could not be one of code, as that of a program: `where is git-effort`.
    asked, about = found if found and _SYMBOL.fullmatch(found.name.replace("/", ".")) else None, stripped
    if asked is not None and (asked.is_sure or not (asked.kinds or asked.place)):
        about = " ".join([asked.name, *asked.scope])
    raws, verbs = join_phrasal_verbs(
        raw_words(names_apart(about if resolved in EXACT_MODES else _OWNED.sub("", about)))
    )
    wants = asked_roles(stripped)
    subject = _subject(raws, wants)
    symbols = _symbols(stripped, raws, resolved)
    named, kinds = (symbols[0] if resolved == "symbol" and symbols else None), frozenset[str]()
    if mode == "auto" and (kind := parse_kind(stripped)) and _SYMBOL.fullmatch(kind[1]):
        named, kinds = _name(kind[1]), KINDS[kind[0]]
    elif asked is not None:
        named, kinds = _asked_definition(asked), asked.kinds
        symbols = (named,) if asked.is_sure else ()
    elif mode == "auto" and resolved == "literal" and (used := _USED.fullmatch(stripped)):
        named = _name(used[1])
    listed = _listed(stripped) if mode == "auto" and named is None else ()
    return Query(
        text=stripped,
        mode=resolved,
        terms=_terms(raws, frozenset(subject), verbs),
        words=_words(raws),
        subject=_words(subject),
        symbols=symbols,
        wants=wants,
        pattern=pattern,
        named=named,
        kinds=kinds,
        asked=asked,
        path=_path_in((about, stripped, found.name if found and not asked else "")) if mode == "auto" else "",
        relation=parse_relation(stripped) if mode == "auto" else None,
        listed=listed,
    )


def _path_in(texts: Iterable[str]) -> str:
    """Return the first of some texts that may be the path of a file, empty for none."""
    return next((one for one in texts if _PATH.fullmatch(one) or _DASHED.fullmatch(one)), "")


def _listed(text: str) -> tuple[Name, ...]:
    """Return the names of which a text is a list: `where are Store and Session defined`, `load_all, load_one`."""
    if (text.islower() and "_" not in text) or (listed := _LIST.fullmatch(text)) is None:
        return ()
    parts = _BETWEEN_NAMES.split(listed["names"])
    is_shaped: Callable[[str], bool] = is_shaped_name
    if len(parts) == 1:
        parts, is_shaped = listed["names"].split(), looks_named
    if not 1 < len(parts) <= _MOST_LISTED or not all(part and is_shaped(part) for part in parts):
        return ()
    plain = [part.strip("`\"'") for part in parts]
    return tuple(_name(part) for part in plain) if all(_SYMBOL.fullmatch(part) for part in plain) else ()


def _asked_definition(asked: AskedName) -> Name:
    """Return the name that a question is for, within the place that it says."""
    name = _name(asked.name)
    return Name(name.last, ".".join([*asked.scope, *filter(None, [name.scope])]))


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
    if (slashed := _SLASHED.fullmatch(text)) and (r"\/" in slashed[1] or _REGEX_MARKS.search(slashed[1])):
        return "regex"
    if text.endswith("?") or n_words > 8 or is_plain(text) or _ROUTE.fullmatch(text):
        return "hybrid"
    if n_words <= 4 and _REGEX_MARKS.search(text):
        return "regex"
    return "literal" if _is_code(text) and not _RAISED.match(text) else "hybrid"


def _is_code(text: str) -> bool:
    """Tell whether a text has marks of code that are its own: what a message quotes is not."""
    plain = _SCOPE_OF_CHANGE.sub("", text)
    unquoted = _QUOTED_BY_MESSAGE.sub("", plain)
    if len(_WORDS_OF_MESSAGE.findall(unquoted)) >= _LEAST_OF_MESSAGE:
        plain = unquoted
    return _CODE_MARKS.search(plain) is not None


def _pattern_of(text: str, mode: Mode) -> str:
    """Return what an exact mode that was guessed looks for: what is between quotes or slashes, if something is."""
    if mode == "regex" and (slashed := _SLASHED.fullmatch(text)):
        return f"(?i){slashed[1]}" if "i" in slashed[2] else slashed[1]
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
        if has_content and raw.lower() in _CONNECTIVES and not _joins(raws, place):
            end = place
            break
        has_content = has_content or raw.lower() not in STOP_WORDS
    return [raw for place, raw in enumerate(raws) if place < end or looks_named(raw)]


def _joins(raws: list[str], place: int) -> bool:
    """Tell whether a connective stands between two words of one kind: `saving and loading`, `encoder or decoder`."""
    if raws[place].lower() not in _JOINING or not 0 < place < len(raws) - 1:
        return False
    before, after = raws[place - 1].lower(), raws[place + 1].lower()
    return any(before.endswith(ending) and after.endswith(ending) for ending in _ENDINGS)


def _terms(raws: list[str], subject: frozenset[str], verbs: list[str]) -> tuple[Term, ...]:
    """Return the terms, each once; a query of nothing but stop words keeps them.

    Args:
        verbs: of the phrasal verbs among the words; documentation has these by themselves.
    """
    kept = [raw for raw in raws if raw.lower() not in STOP_WORDS] or raws
    terms: dict[str, Term] = {}
    for raw in kept:
        words, own = terms_of_word(raw)
        for term in own:
            weight = 1.0 if len(words) < 2 or term == own[-1] else PART_WEIGHT
            if raw not in subject:
                weight *= DETAIL_WEIGHT
            if term not in terms or terms[term].weight < weight:
                terms[term] = Term(known_hash(term), term, weight)
    for verb in verbs:
        terms.setdefault(verb, Term(known_hash(verb), verb, DETAIL_WEIGHT * PART_WEIGHT))
    return tuple(terms.values())[:MAX_TERMS]


def _words(raws: list[str]) -> tuple[str, ...]:
    words = [word for raw in raws for word in terms_of_word(raw)[0]]
    return tuple([word for word in words if word not in STOP_WORDS] or words)[:MAX_TERMS]


def _symbols(text: str, raws: list[str], mode: Mode) -> tuple[Name, ...]:
    """Return the names that may be defined somewhere: the query itself, or words shaped like names."""
    if mode == "symbol" and _SYMBOL.fullmatch(text):
        return (_name(text),)
    if len(raws) == 1 and mode != "symbol":
        return (Name(raws[0]),)
    named = [raw for raw in raws if len(raw) > 2 and looks_named(raw)]
    names = [Name(raw) for raw in dict.fromkeys([*named, *(_KINDED.findall(text) if mode == "hybrid" else ())])]
    whole = [Name(text)] if mode == "symbol" and text.isprintable() else []
    if mode == "hybrid" and _SPELLED.fullmatch(text):
        whole = [Name("".join(raws))]
    return (*whole, *names)


def _name(text: str) -> Name:
    *scope, last = SCOPE_MARK.split(text.removesuffix("()").replace("/", "."))
    return Name(last, ".".join(scope))


def looks_named(word: str) -> bool:
    """Tell whether a word has the shape of a name in code, such as `camelCase` or `snake_case`."""
    return _LOOKS_NAMED.search(word) is not None


def surely_named_among(text: str) -> Iterator[str]:
    """Yield the words of a text that have the shape of a name in code and of no product, as `GitHub` has, and codes."""
    return filter(_SURELY_NAMED.search, raw_words(names_apart(text)))


def is_of_stop_words(name: str) -> bool:
    """Tell whether a name of several words has nothing but stop words, as `AndOr`: as words, they say nothing."""
    words = terms_of_word(name)[0]
    return len(words) > 1 and STOP_WORDS.issuperset(words)


def named_among(words: Iterable[str]) -> Iterator[str]:
    """Yield the words that have the shape of a name in code, each once."""
    shaped = (word for word in dict.fromkeys(words) if "_" in word or not word[1:].islower())
    return filter(_LOOKS_NAMED.search, shaped)


@lru_cache(maxsize=16)  # several parts of one answer ask
def asks_for_change(text: str) -> bool:
    """Tell whether a text is a work item: the subject of a change or a report, or longer than a question."""
    first, _, rest = text.strip().partition("\n")
    is_long = bool(rest) or first.count(" ") >= _MANY_WORDS
    is_change = re.match(_CHANGE, first.lower()) if first.isascii() else re.match(_CHANGE, first, re.IGNORECASE)
    return is_long or is_change is not None


def asks_for_commits(text: str) -> bool:
    """Tell whether a question is for what was done to the code: which commit, when, by whom."""
    return _COMMITS.match(text) is not None


def is_work_item(query: Query) -> bool:
    """Tell whether a query is the subject of a change, a report or a long text, and no question."""
    return query.item is not None or asks_for_change(query.text)
