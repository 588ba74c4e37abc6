"""Answers a full read of a large code file, once, with its outline and how to read the relevant parts.

Everything else passes: repeated reads, reads of some lines, files that the session edited, tests, settings and prose,
small or generated files, files without a good outline, and files outside of the project.
"""

from __future__ import annotations

from os import stat
from stat import S_ISREG
from typing import TYPE_CHECKING, NamedTuple

from cairn.digest import blake2b
from cairn.errors import CairnError
from cairn.hints import HintStyle
from cairn.hooks.occasion import Occasion, Offer
from cairn.hooks.outline_hint import Shown, adapter_or_any, example_of, hint_text
from cairn.hooks.report import Reply
from cairn.hooks.searched import lay_out_places, places_of
from cairn.hooks.session_state import Known, SessionState
from cairn.hooks_settings import HooksSettings, ReadMode
from cairn.source.content import check_content, is_generated
from cairn.source.eligible import check_name
from cairn.source.roles import Role, role_of
from cairn.source.text import count_tokens_of_samples, estimate_tokens
from cairn.storage.memory.rows import ServedAnswer
from cairn.structure.context import lay_out_context
from cairn.structure.locate import FileContent, find_symbol, outline_of, read_source
from cairn.structure.outline import FileOutline
from cairn.structure.outline_text import lay_out
from cairn.waiting import GiveWay

if TYPE_CHECKING:
    from cairn.structure.context import ContextSection
    from cairn.workspace import Workspace

MAX_BYTES = 1_000_000
MOST_SHARE = 0.4  # share of the file's tokens above which an outline is not worth it
LEAST_COVERED = 0.5  # least share of the file's lines in definitions
MOST_IN_ONE = 0.5  # largest share of lines in one definition without parts, since the outline does not show its content
_CONTEXT_TOKENS = 1_500
_CHARS_PER_TOKEN = 3
_FRAME_CHARS = 1_200  # tokens of the text around an outline
_KEPT_OUTLINES = 32
_HASH_BYTES = 8


class _LargeFile(NamedTuple):
    """A file, in its current state, whose read may be answered."""

    content: FileContent
    hash: str


class Reads:
    """The part of the interceptor for reads. Threads may share it.

    Args:
        workspace: the project, open.
        settings: which reads to answer, and how.
    """

    def __init__(self, workspace: Workspace, settings: HooksSettings) -> None:
        self._workspace, self._settings = workspace, settings
        self._root = workspace.root
        self._outlines: Known[FileOutline] = Known(_KEPT_OUTLINES)

    def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
        """Return the outline of a file at its first full read; None lets the read pass."""
        for path in occasion.edited:
            state.edited.put(path, value=True)
        if occasion.use.tool != "read" or occasion.has_failed:
            return None
        path = occasion.path
        if (candidate := self._candidate(path)) is None:
            return None
        passes = _passes(occasion, state, candidate)
        wanted = self._settings.reads_by(occasion.agent)
        mode = _mode(wanted, occasion)
        if not passes and mode == "off" and wanted != "off" and not (occasion.is_over or occasion.can_see):
            return None  # it may be answered once the tool has run
        if passes or mode == "off":
            if not _is_ranged(occasion, candidate):
                state.read.put(path, candidate.hash)
            state.waiting.put(path, value=False)
            return None
        offer = self._offer(occasion, state, candidate, mode)
        if offer is None or not offer.reply.denial:
            state.read.put(path, candidate.hash)
        return offer

    # -- which reads --------------------------------------------------------------------------------------------------

    def is_large_code(self, path: str) -> bool:
        """Tell whether reads of a file, relative to the root, may be answered."""
        return self._candidate(path) is not None

    def _candidate(self, path: str) -> _LargeFile | None:
        """Return a file of the project if it is large, hand-written code; None otherwise."""
        if not path or check_name(path.rpartition("/")[2]) or _is_of_agents(path):
            return None
        try:
            status = stat(self._root / path, follow_symlinks=False)
        except (OSError, ValueError):
            return None
        if not S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        if estimate_tokens(status.st_size) < self._settings.read_tokens:
            return None
        try:
            content = read_source(self._root, path)
        except CairnError:  # behind a link, or not text
            return None
        return _LargeFile(content, hash_of(content.data)) if _is_code(content) else None

    # -- what is said -------------------------------------------------------------------------------------------------

    def _offer(self, occasion: Occasion, state: SessionState, candidate: _LargeFile, mode: ReadMode) -> Offer | None:
        outline = self._outline(candidate)
        if not is_good(outline):
            return None
        shown = self._shown(occasion, state, candidate, outline)
        if shown is None:
            return None
        is_replacing = mode == "replace"

        def settle() -> None:
            state.shown.put(occasion.path, candidate.hash)
            if is_replacing:
                state.replaced.put(occasion.path, candidate.hash)
                state.waiting.put(occasion.path, value=True)

        most = adapter_or_any(occasion.agent).max_read_tokens
        row = ServedAnswer(
            session=occasion.ledger,
            seconds=occasion.seconds,
            agent=occasion.agent,
            kind="context" if shown.around else "outline",
            is_replacing=is_replacing,
            path=occasion.path,
            hash=candidate.hash,
            tokens=0,
            replaced_tokens=min(shown.file_tokens, most) if is_replacing else 0,
        )
        text = hint_text(self._root, occasion, shown, is_replacing=is_replacing)
        return Offer(Reply(denial=text) if is_replacing else Reply(text), row, settle)

    def _shown(
        self, occasion: Occasion, state: SessionState, candidate: _LargeFile, outline: FileOutline
    ) -> Shown | None:
        """Return what to show of a file; None if it is not much shorter than the file, or too long for the agent."""
        file_tokens = count_tokens_of_samples(candidate.content.data.decode("utf-8", "replace"))
        max_chars = adapter_or_any(occasion.agent).max_context_chars - _FRAME_CHARS
        worthwhile = int(file_tokens * MOST_SHARE)
        max_tokens = min(worthwhile, max_chars // _CHARS_PER_TOKEN)
        hints: HintStyle = "commands" if occasion.is_shell else "tools"
        laid = lay_out(outline, max_tokens, hints)
        if len(laid.text) > max_chars:
            laid = lay_out(outline, laid.tokens * max_chars // len(laid.text) * 9 // 10, hints)
        is_cut = len(laid.shown) < len(outline.symbols)
        if laid.tokens > max_tokens or len(laid.text) > max_chars or (is_cut and max_tokens == worthwhile):
            return None
        target = self._target(occasion, state, outline)
        around = "" if target is None else self._context(candidate, outline, target, max_tokens - laid.tokens)
        if len(around) + len(laid.text) > max_chars:
            around = ""
        places = places_of(outline, candidate.content.data, list(state.patterns))
        found = lay_out_places(outline, places)
        if len(found) + len(around) + len(laid.text) > max_chars:
            found = ""
        example = target if around or not found else places[0].symbol
        return Shown(outline, file_tokens, example_of(outline, example), around, found, laid.text)

    def _outline(self, candidate: _LargeFile) -> FileOutline:
        name = f"{candidate.hash} {candidate.content.path}"
        outline = self._outlines.get(name)
        if outline is None:
            outline = outline_of(candidate.content)
            self._outlines.put(name, outline)
        return outline

    def _target(self, occasion: Occasion, state: SessionState, outline: FileOutline) -> int | None:
        """Return the target of the last search, if it is in this file."""
        search = state.last_search(occasion.seconds)
        for target in search.targets if search is not None else ():
            if target.path == occasion.path and (target.symbol or target.line):
                try:
                    return find_symbol(outline, str(target.line) if target.line else target.symbol)
                except CairnError:  # the file has changed since
                    continue
        return None

    def _context(self, candidate: _LargeFile, outline: FileOutline, number: int, max_tokens: int) -> str:
        """Return a definition with its surroundings, empty if there is no room for it."""
        max_tokens = min(max_tokens, _CONTEXT_TOKENS)
        symbol = outline.symbols[number]
        if max_tokens < 200:
            return ""
        around: list[ContextSection] = []
        try:
            around, _ = self._workspace.graph.surroundings(candidate.content.path, symbol)
        except (CairnError, GiveWay):  # no index, or no immediate answer; the outline alone is enough
            around = []
        return lay_out_context(candidate.content, outline, number, max_tokens, around, hints="tools").text


def is_good(outline: FileOutline) -> bool:
    """Tell whether an outline is informative: the file was parsed, and most of it is in definitions."""
    if outline.notes or not outline.symbols:
        return False
    covered = [False] * (outline.lines + 2)
    for number, symbol in enumerate(outline.symbols):
        is_leaf = number + 1 == len(outline.symbols) or outline.symbols[number + 1].depth <= symbol.depth
        if is_leaf and symbol.end_line - symbol.start_line + 1 > MOST_IN_ONE * outline.lines:
            return False
        if symbol.depth == 0:
            first = outline.leads[number]
            covered[first : symbol.end_line + 1] = [True] * (symbol.end_line + 1 - first)
    first, last = outline.import_lines
    n_imports = last - first + 1 if first else 0
    return sum(covered) >= LEAST_COVERED * max(1, outline.lines - n_imports)


# -- rules -------------------------------------------------------------------------------------------------------------


def _mode(mode: ReadMode, occasion: Occasion) -> ReadMode:
    """Resolve the mode: `auto` means what saves tokens, which only an outline instead of the file does."""
    if mode == "auto":
        mode = "replace" if occasion.can_deny else "off"
    if mode == "replace" and not occasion.can_deny:
        mode = "off" if occasion.is_over else "suggest"
    if mode == "suggest" and (not occasion.can_see or occasion.was_asked):
        mode = "off"
    return mode


def _passes(occasion: Occasion, state: SessionState, candidate: _LargeFile) -> bool:
    """Tell whether to let a read of a large code file pass, because of its kind or of what the session did before."""
    path = occasion.path
    return (
        _is_ranged(occasion, candidate)
        or bool(state.waiting.get(path))
        or path in state.edited
        or candidate.hash in (state.shown.get(path), state.read.get(path))
    )


def _is_ranged(occasion: Occasion, candidate: _LargeFile) -> bool:
    """Tell whether only some lines are read; `head -n 400` of a file with 300 lines reads all of it."""
    use = occasion.use
    if not occasion.is_shell:
        return bool(use.offset or use.limit)
    n_lines = candidate.content.data.count(b"\n")
    return use.offset > 1 or 0 < use.limit < n_lines


def _is_of_agents(path: str) -> bool:
    """Tell whether a file is in a dot folder, where agents, editors and tools keep their files."""
    return any(part.startswith(".") for part in path.split("/"))


def _is_code(content: FileContent) -> bool:
    role = role_of(content.path, content.language.name)
    if content.language.group != "code" or role & (Role.TEST | Role.DOCS | Role.CONFIG | Role.GENERATED):
        return False
    return check_content(content.data, content.path) is None and not is_generated(content.data, content.path)


def hash_of(data: bytes) -> str:
    """Return a hash that identifies a version of a file."""
    return blake2b(data, digest_size=_HASH_BYTES).hexdigest()
