"""What questions to the symbol graph are answered with: frozen values without I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cairn.types import ReferenceKind as ReferenceKind

Way = Literal["exact", "import", "receiver", "name"]
LEFT_OUT = {"left_out": True}  # of a field that JSON has only where it is not None
Form = Literal["call", "name", "import", "callee", "base", "reference"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition, or, with the kind `file` and an empty name, a file as a whole.

    `name` is qualified. `origin` is empty for what people of the project wrote. `stale` says that the file changed
    since it was indexed, and was read as it is now.
    """

    path: str
    line: int
    end_line: int
    kind: str
    name: str
    stale: bool = False
    origin: Literal["", "generated", "vendored"] = ""


@dataclass(frozen=True, slots=True)
class Link:
    """One symbol that refers to another, or is referred to: of what kind, resolved how, on which line of which file.

    In an answer about several symbols, `namesake` says of which of its `namesakes` this is, from 0.
    """

    symbol: Symbol
    kind: str
    how: Way
    path: str
    line: int
    namesake: int | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """A line that mentions a name."""

    path: str
    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Lines that an answer leaves out because nothing tells which definition they mean: how many, and the first few.

    `form` says what they look like: a `call` of one of the names; just a `name`, where no line looks like a call; an
    `import`; a `base` of a type; any `reference`; or, in an answer about callees, a `callee` that has the name of a
    definition. With `is_least`, not all files were read.
    """

    form: Form
    names: tuple[str, ...]
    lines: int
    first: tuple[Mention, ...]
    is_least: bool = False


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """What an answer does not know since its time was up before all was resolved.

    `definitions` counts those whose users, or in an answer about callees what they call, were not all looked for, and
    `names` are the names of the first of them, the surest way first. `files` counts what was still to be read for the
    first of them and for imports. With `lines`, those that cannot be resolved were not all counted. Asked again, a
    process that goes on running continues from there.
    """

    definitions: int
    names: tuple[str, ...]
    files: int
    lines: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class BaseCalls:
    """The calls of a method that another overrides or implements, each of which may run that one."""

    symbol: Symbol
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Links:
    """The callers or callees of a symbol. `omitted` counts those beyond the limit.

    With `unfollowed`, there may be more. If several symbols have the name, `namesakes` are these, and `symbol` is the
    first; the links are in their order. `above` are the calls of what the symbol overrides, in an answer about callers.
    """

    symbol: Symbol
    links: tuple[Link, ...]
    omitted: int = 0
    notes: tuple[str, ...] = ()
    unresolved: Unresolved | None = None
    unfollowed: Unfollowed | None = field(default=None, metadata=LEFT_OUT)
    namesakes: tuple[Symbol, ...] | None = field(default=None, metadata=LEFT_OUT)
    above: tuple[BaseCalls, ...] | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class SymbolReference:
    """A place that refers to a symbol: what it does there, resolved how, in which definition, and the line's text."""

    kind: ReferenceKind
    how: Way
    path: str
    line: int
    symbol: Symbol
    text: str


@dataclass(frozen=True, slots=True)
class References:
    """All that refers to a symbol, by kind, then file and line.

    `counts` says how many there are of each kind, those beyond the limit, which `omitted` counts, included. With
    `unfollowed`, there may be more. `namesakes` are as for `Links`.
    """

    symbol: Symbol
    references: tuple[SymbolReference, ...]
    counts: dict[str, int] = field(default_factory=dict)
    omitted: int = 0
    notes: tuple[str, ...] = ()
    unresolved: Unresolved | None = None
    unfollowed: Unfollowed | None = field(default=None, metadata=LEFT_OUT)
    namesakes: tuple[Symbol, ...] | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class CallPath:
    """The shortest path of calls from one symbol to another, both included; without steps if there is none.

    `steps[0]` has the kind `start`; each later one says on which line of the one before it is called. `unresolved` are
    calls of the target, where no path was found. If several symbols have the name of an end, `sources` or `targets` are
    these; the path is the shortest between any of them.
    """

    source: Symbol
    target: Symbol
    steps: tuple[Link, ...]
    notes: tuple[str, ...] = ()
    unresolved: Unresolved | None = None
    sources: tuple[Symbol, ...] | None = field(default=None, metadata=LEFT_OUT)
    targets: tuple[Symbol, ...] | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Importer:
    """A file that imports another. `typing_only`: gone at run time; `deferred`: when a function runs."""

    path: str
    line: int
    typing_only: bool = False
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Importers:
    """The files that import a file; with `unfollowed`, there may be more."""

    path: str
    importers: tuple[Importer, ...]
    notes: tuple[str, ...] = ()
    unresolved: Unresolved | None = None
    unfollowed: Unfollowed | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Affected:
    """A symbol that a change may break: over how many steps, by way of what, and how sure that is, from 0 to 1."""

    symbol: Symbol
    depth: int
    confidence: float
    via: str


@dataclass(frozen=True, slots=True)
class RankedTest:
    """A file of tests worth running, with the sum of evidence for it and the strongest reason."""

    path: str
    score: float
    reason: str
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deleted:
    """A deleted file: what it defined at its top, and where that, or the file, is still mentioned.

    Its definitions are no longer in the graph, so mentions are found by name. `omitted` counts the mentions that are
    left out.
    """

    path: str
    definitions: tuple[str, ...]
    mentions: tuple[Mention, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change of some symbols may break: their callers over any number of steps, importing files, and tests.

    What mentions a deleted file is in `deleted`; what that affects in turn is in `affected`. With `unfollowed`, there
    may be more.
    """

    changed: tuple[Symbol, ...]
    affected: tuple[Affected, ...]
    importers: tuple[str, ...]
    tests: tuple[RankedTest, ...]
    omitted: int = 0
    notes: tuple[str, ...] = ()
    deleted: tuple[Deleted, ...] = ()
    unresolved: Unresolved | None = None
    unfollowed: Unfollowed | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class TestChoice:
    """The tests worth running for a change, best first; `total` counts the test files of the project.

    With `unfollowed`, there may be more.
    """

    __test__ = False  # pytest takes the name for a class of tests

    changed: tuple[Symbol, ...]
    tests: tuple[RankedTest, ...]
    total: int
    omitted: int = 0
    notes: tuple[str, ...] = ()
    deleted: tuple[Deleted, ...] = ()
    unresolved: Unresolved | None = None
    unfollowed: Unfollowed | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class DeadSymbol:
    """A definition that nothing seems to reach, with the reason, and how sure that is, from 0 to 1."""

    symbol: Symbol
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class DeadCode:
    """What no entry point reaches, surest first; `entry_points` counts the entry points by reason.

    `undecided` counts what nothing is known to use, and lines that could not be resolved say the name of.
    """

    dead: tuple[DeadSymbol, ...]
    entry_points: dict[str, int] = field(default_factory=dict)
    omitted: int = 0
    notes: tuple[str, ...] = ()
    undecided: int = 0


@dataclass(frozen=True, slots=True)
class Cycle:
    """Files that import each other in a cycle; the last imports the first.

    `others` are the rest of the `size` files that all reach each other, those that this shortest cycle does not pass.
    `kind`: `runtime` when all of these imports run on loading, `deferred` when one waits for a call, `typing` when one
    is gone at run time.
    """

    steps: tuple[Importer, ...]
    size: int
    kind: Literal["runtime", "deferred", "typing"]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cycles:
    """The import cycles of a project: one for each set of files that all reach each other, largest first."""

    cycles: tuple[Cycle, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MapEntry:
    """A file of the map, with its most central definitions as (line, head) in reading order."""

    path: str
    rank: float
    symbols: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class RepositoryMap:
    """The most central files and definitions that fit a budget; `omitted_files` counts those that do not fit."""

    entries: tuple[MapEntry, ...]
    tokens: int
    omitted_files: int
    notes: tuple[str, ...] = ()


GraphAnswer = Links | References | CallPath | Importers | Impact | TestChoice | DeadCode | Cycles | RepositoryMap
