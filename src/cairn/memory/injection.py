"""Shows an agent what earlier sessions learned, unasked, at the moment it may need it: little, once, and as data.

At each moment, memories that matter to it are chosen, and as many of them shown as the budgets of the moment and of the
session allow. What was shown, why, and at what cost is kept, so that no session is shown the same twice, unless its
context was compacted in between: then the agent no longer has it.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.hints import Hint
from cairn.memory.choosing import EDITED, Choice, Chooser, is_rule, is_slight
from cairn.memory.digest import ending_of, repeats
from cairn.memory.framing import ShownNote, frame
from cairn.memory.fresh import FRESH, begins, take_wish
from cairn.memory.handles import handle_of
from cairn.memory.inert import inert_line
from cairn.memory.intake import fit_to_keep
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.origin import is_read
from cairn.memory.recall import Recall
from cairn.memory.sessions import Sessions
from cairn.memory.store import MemoryStore
from cairn.memory.targets import parse_target
from cairn.memory.uses import ledger_of
from cairn.memory_settings import MemorySettings
from cairn.source.recent_files import RecentFiles
from cairn.source.text import estimate_tokens
from cairn.storage.memory import session_db, usage_db
from cairn.storage.memory.rows import InjectedMemory, Session

OVERVIEW = "overview"  # what was shown that is not a memory, and the frame
_FILE_TOOLS = ("read", "edit", "write")
_MOST_NOTES = {"session-start": 3, "subagent-start": 2, "prompt": 3, "before-tool": 3, "after-tool": 3}
_MOST_RULES = {"session-start": 5, "subagent-start": 2}  # that are tied to no code, beside these
_MOST_SLIGHT = 1
_TEXT_CHARS, _TEXT_LINES = 600, 8
_SHORT_CHARS, _SHORT_LINES = 200, 2  # where there is no more room
_DIGEST_CHARS, _DIGEST_LINES = 300, 3
_CORE_FILES = {"session-start": 8, "subagent-start": 4}
_CORE_CHARS = 120
_MOST_WORDS = 30  # of a command that may be paths
_MOST_KNOWN = 200  # moments that were answered, and sessions that are owed something
_OWED = ("session-start", "prompt")  # what is shown at these comes with a later moment if nobody heard it
_OWED_SECONDS = 600.0  # after which it is not


class Overview(NamedTuple):
    """What an agent is told of the project at a start.

    Attributes:
        status: one line of our own.
        core_files: the files to know first, and what each is for.
    """

    status: str = ""
    core_files: Sequence[tuple[str, str]] = ()


class Injection(NamedTuple):
    """What an agent is shown.

    Attributes:
        text: empty for nothing.
        tokens: of the text, by estimate.
        choices: the memories in it.
    """

    text: str = ""
    tokens: int = 0
    choices: tuple[Choice, ...] = ()


class _Piece(NamedTuple):
    """A note in two lengths, and the memory that it shows; None for the overview."""

    choice: Choice | None
    long: str
    short: str


NOTHING = Injection()


class Injector:
    """Composes what the agents of a project are shown. Threads may share it; so may processes.

    Args:
        store: the memory.
        sessions: of the agents.
        recall: that searches the memory.
        recent: which files changed lately.
        root: of the project.
        settings: whether anything is shown, and how much.
        overview: what is told of the project at a start.
        now: the machine's clock, in seconds since the epoch.
        is_wanted: whether anything is to be shown at a moment.
        prompt_bar: see `Chooser`.
    """

    def __init__(
        self,
        store: MemoryStore,
        sessions: Sessions,
        recall: Recall,
        recent: RecentFiles,
        root: Path,
        settings: MemorySettings,
        overview: Callable[[], Overview] = Overview,
        now: Callable[[], float] = time.time,
        is_wanted: Callable[[Moment], bool] = lambda _: True,
        prompt_bar: Callable[[str], float] = lambda text: 1.0,
    ) -> None:
        self._store, self._sessions, self._root, self._now = store, sessions, root, now
        self._is_wanted = is_wanted
        self._settings, self._overview = settings, overview
        self._chooser = Chooser(
            store, recall, recent, takes_shared=settings.inject_shared, now=now, prompt_bar=prompt_bar
        )
        self._answered: deque[tuple[str, str, str]] = deque(maxlen=_MOST_KNOWN)
        self._owed: OrderedDict[str, tuple[Moment, ...]] = OrderedDict()

    def owe(self, moment: Moment) -> None:
        """Show at the next moment of a session what its agent did not wait for at this one.

        What was composed for it in vain counts as not shown.

        Raises:
            StoreError: if the memory cannot be written.
        """
        moment = _fit(moment, self._root, self._now())
        if moment.event not in _OWED or self._now() - moment.seconds > _OWED_SECONDS or not self._settings.inject:
            return
        ledger = ledger_of(moment)
        if self._store.exists:
            with self._store.writing() as connection:
                usage_db.take_back(connection, ledger, moment.event, moment.seconds)
        others = [one for one in self._owed.pop(ledger, ()) if one.event != moment.event]
        self._owed[ledger] = (moment, *others)
        while len(self._owed) > _MOST_KNOWN:
            self._owed.popitem(last=False)

    def compose(self, moment: Moment) -> Injection:
        """Return what to show at a moment that was taken in, and keep that it was shown.

        Nothing is shown twice in a session before its context is compacted, and nothing at a moment that arrives again.

        Raises:
            StoreError: if the memory cannot be used.
        """
        if not self._settings.inject or moment.event not in _MOST_NOTES or self._is_repeated(moment):
            return NOTHING
        moment = _fit(moment, self._root, self._now())
        session = self._sessions.find(moment.session)
        if (session is not None and (session.is_muted or session.is_fresh)) or self._becomes_fresh(moment, session):
            return NOTHING
        moments = (moment, *self._owed.pop(ledger_of(moment), ()))
        wanted = [one for one in moments if self._is_wanted(one)]
        pieces = [piece for one in wanted for piece in self._pieces(one, session)]
        most = next((one.event for one in wanted if one.event in _CORE_FILES), moment.event)
        return self._show(moment, _without_repeats(pieces), most) if pieces else NOTHING

    def _is_repeated(self, moment: Moment) -> bool:
        key = moment.session, moment.event, moment.id
        if moment.id and key in self._answered:
            return True
        self._answered.append(key)
        return False

    def _becomes_fresh(self, moment: Moment, session: Session | None) -> bool:
        """Tell whether a session that begins is to be shown nothing, and keep that."""
        is_asked = moment.details.get(FRESH) == "1"
        if not begins(moment, session) or not (is_asked or self._store.exists):
            return False
        is_wished = self._store.exists and take_wish(self._store, moment.seconds)
        if is_asked or is_wished:
            self._sessions.freshen(moment.session)
        return is_asked or is_wished

    # -- what is chosen -----------------------------------------------------------------------------------------------

    def _pieces(self, moment: Moment, session: Session | None) -> list[_Piece]:
        """Return what may be shown at a moment, the most useful first."""
        if moment.event in _CORE_FILES:
            return self._at_start(moment)
        if not self._store.exists:
            return []
        if moment.event == "prompt":
            return [_piece(choice) for choice in self._at_prompt(moment, session)]
        return [_piece(choice) for choice in self._at_tool(moment)]

    def _at_start(self, moment: Moment) -> list[_Piece]:
        if moment.details.get("source") == "resume":  # the agent still has what it was shown
            return []
        pieces = _overview_pieces(self._overview(), _CORE_FILES[moment.event])
        if not self._store.exists:
            return pieces
        choices = self._chooser.for_start(moment.branch)
        pieces += map(_piece, choices)
        if moment.event == "session-start" and (digest := self._chooser.last_digest(moment.session)) is not None:
            most = _MOST_NOTES[moment.event] + _MOST_RULES[moment.event]
            told = [choice.observation.text for choice in choices[:most]]
            if not repeats(digest.observation.text, told):
                pieces.append(_digest_piece(digest, told))
        return pieces

    def _at_prompt(self, moment: Moment, session: Session | None) -> list[Choice]:
        return [] if session is not None and self._is_notice(session) else self._chooser.for_prompt(moment.text)

    def _is_notice(self, session: Session) -> bool:
        """Tell whether no person wrote the last prompt of a session."""
        with self._store.reading() as connection:
            batch = session_db.last_batch(connection, session)
        return batch is not None and batch.kind == "notice"

    def _at_tool(self, moment: Moment) -> list[Choice]:
        call = moment.call
        if call is None or call.outcome == "denied":
            return []
        path, symbol = parse_target(call.target)
        if call.tool in _FILE_TOOLS:
            choices = self._chooser.for_files([path], symbol)
            is_edited = moment.event == "after-tool" and call.is_edit and not call.is_failure
            return list(map(_to_check, choices)) if is_edited else choices
        if call.tool == "shell" and is_read(call._replace(exit_code=None, outcome="")):
            return self._chooser.for_files(_words_of(call))
        return []

    # -- what is shown ------------------------------------------------------------------------------------------------

    def _show(self, moment: Moment, pieces: Sequence[_Piece], most: str) -> Injection:
        """Return as much of some pieces as may be shown, and keep it; other threads and processes wait meanwhile.

        Args:
            moment: at which they are shown.
            pieces: the most useful first.
            most: the event whose limits hold.
        """
        session = ledger_of(moment)
        if not self._store.exists:
            return _fit_pieces(pieces, most, self._settings.event_tokens)[0]
        with self._store.writing() as connection:
            shown: dict[str | None, Collection[str]] = {
                None: usage_db.ids_known(connection, session),
                EDITED: usage_db.ids_known(connection, session, EDITED),
            }
            left = self._settings.session_tokens - usage_db.tokens_known(connection, session)
            fresh = [piece for piece in pieces if piece.choice is None or _is_news(piece.choice, moment, shown)]
            known = shown[None]  # of what the agent has already, a short piece is a reminder
            fresh = [piece._replace(long=piece.short) if _id_of(piece) in known else piece for piece in fresh]
            max_tokens = min(self._settings.event_tokens, left)
            injection, tokens = _fit_pieces(fresh, most, max_tokens)
            _keep(connection, session, moment, injection, tokens)
        return injection


def _without_repeats(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Return pieces, of those that show one memory the first."""
    first: dict[str, _Piece] = {}
    for number, piece in enumerate(pieces):
        first.setdefault(_id_of(piece) or str(number), piece)
    return list(first.values())


def _id_of(piece: _Piece) -> str:
    return "" if piece.choice is None else piece.choice.observation.id


def _is_news(choice: Choice, moment: Moment, shown: Mapping[str | None, Collection[str]]) -> bool:
    """Tell whether an agent may not know a memory: it was neither shown nor learned in this session.

    A sub-agent knows nothing of its session, and an agent whose context was compacted starts again. That an edit made
    a memory doubtful is news even of one that was shown.

    Args:
        choice: the memory.
        moment: at which it would be shown.
        shown: the ids of those that were shown, for some reasons and, under None, for any.
    """
    is_own = choice.observation.session == moment.session and ledger_of(moment) == moment.session
    known = shown.get(choice.reason, shown[None])
    return choice.observation.id not in known and (not is_own or moment.event in _CORE_FILES)


def _to_check(choice: Choice) -> Choice:
    """Return a memory of a file that was edited with the remark that it may be true no more."""
    if choice.staleness.state != "changed":
        return choice
    return choice._replace(reason=EDITED, why=f"{choice.why}, which was just edited; resolve it if it is settled")


def _fit(moment: Moment, root: Path, now: float) -> Moment:
    """Return a moment as it was kept, but for what a tool printed, which is not looked at here."""
    call = moment.call
    return fit_to_keep(moment._replace(call=None if call is None else call._replace(output="")), root, now)


def _words_of(call: ToolCall) -> list[str]:
    words = call.target.split()[:_MOST_WORDS]
    return [word.strip("'\"").removeprefix("./") for word in words if "." in word or "/" in word]


# -- pieces ------------------------------------------------------------------------------------------------------------


def _piece(choice: Choice) -> _Piece:
    note = _note(choice)
    return _Piece(choice, note.lay_out(_TEXT_CHARS, _TEXT_LINES), note.lay_out(_SHORT_CHARS, _SHORT_LINES))


def _digest_piece(choice: Choice, told: Iterable[str]) -> _Piece:
    ending = _note(choice)._replace(text=ending_of(choice.observation.text, told))
    return _Piece(choice, ending.lay_out(_DIGEST_CHARS, _DIGEST_LINES), ending.lay_out(_SHORT_CHARS, _SHORT_LINES))


def _note(choice: Choice) -> ShownNote:
    memory = choice.observation
    title = f"{handle_of(memory.id)} {memory.type.replace('_', ' ')}"
    return ShownNote(title, (choice.why, choice.staleness.note), memory.text)


def _overview_pieces(overview: Overview, most_files: int) -> list[_Piece]:
    notes = [ShownNote("project", (overview.status,), "")] if overview.status else []
    files = overview.core_files[:most_files]
    lines = [inert_line(f"{path}: {summary}" if summary else path, _CORE_CHARS) for path, summary in files]
    if lines:
        more = len(overview.core_files) - len(files)
        notes.append(ShownNote("core files", (Hint(f"{more} more", "core list") if more else "",), "\n".join(lines)))
    return [_Piece(None, note.lay_out(2_000, most_files), note.lay_out(_SHORT_CHARS, most_files)) for note in notes]


def _fit_pieces(pieces: Iterable[_Piece], event: str, max_tokens: int) -> tuple[Injection, list[int]]:
    """Return as many pieces, from the first on, as there is room for, and the tokens of each memory among them."""
    taken: list[str] = []
    choices: list[Choice] = []
    tokens: list[int] = []
    room = Counter({"note": _MOST_NOTES[event], "rule": _MOST_RULES.get(event, 0), "slight": _MOST_SLIGHT})
    for piece in pieces:
        kinds = [] if piece.choice is None else _kinds_of(piece.choice)
        if any(not room[kind] for kind in kinds):
            continue
        text = next((text for text in (piece.long, piece.short) if _tokens_of([*taken, text]) <= max_tokens), None)
        if text is None:
            continue
        taken.append(text)
        room.subtract(kinds)
        if piece.choice is not None:
            choices.append(piece.choice)
            tokens.append(estimate_tokens(len(text.encode())))
    if not taken:
        return NOTHING, []
    return Injection(frame(taken), _tokens_of(taken), tuple(choices)), tokens


def _kinds_of(choice: Choice) -> list[str]:
    """Return which kinds of notes a memory counts as, of each of which there is only so much room."""
    if choice.reason == "last session":
        return []
    return ["rule" if is_rule(choice) else "note", *(["slight"] if is_slight(choice.observation) else [])]


def _tokens_of(notes: Sequence[str]) -> int:
    return estimate_tokens(len(frame(notes).encode()))


def _keep(
    connection: sqlite3.Connection, session: str, moment: Moment, injection: Injection, tokens: Sequence[int]
) -> None:
    """Keep what was shown: each memory with its tokens, and what is left of them for the rest."""
    rest = max(0, injection.tokens - sum(tokens))
    rows = [
        InjectedMemory(session, moment.seconds, moment.event, choice.observation.id, choice.reason, cost)
        for choice, cost in zip(injection.choices, tokens, strict=True)
    ]
    if rest:
        rows.append(InjectedMemory(session, moment.seconds, moment.event, "", OVERVIEW, rest))
    usage_db.add_injections(connection, rows)
