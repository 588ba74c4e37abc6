"""The findings of `cairn doctor` on the hook program: waiting events, and recent failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from cairn.folders import unwritable
from cairn.hints import Hint
from cairn.hooks.errors import recent_lines
from cairn.hooks.plain_files import LOG
from cairn.hooks.raw_spool import RawSpool
from cairn.index.health import Finding
from cairn.source.text import pluralize

_CHECK = "hooks"
_MAX_LINE_CHARS = 300
_EVENT_BYTES = 10_000


def examine_hook_program(state: Path, now: float | None = None) -> list[Finding]:
    """Return the findings; none if all is well.

    Args:
        state: the user's state folder.
        now: the time, in seconds since the epoch.
    """
    spool = RawSpool(state)
    findings = [*_examine_folder(state)]
    if names := spool.names():
        words = pluralize(len(names), "event waits", "events wait")
        findings.append(Finding(_CHECK, "ok", f"{words} for the daemon", hint=Hint.of("daemon ensure")))
    if bad := spool.bad_files():
        words = pluralize(len(bad), "file holds", "files hold")
        hint = f"remove what ends in {bad[0].suffix} there"
        findings.append(Finding(_CHECK, "warning", f"{words} no event: {spool.folder}", hint=hint))
    log = state / LOG
    if lines := recent_lines(state, now):
        message = f"{pluralize(len(lines), 'line')} in a day in {log}, the last: {lines[-1][:_MAX_LINE_CHARS]}"
        findings.append(Finding(_CHECK, "warning" if len(lines) > 1 else "ok", message, hint=Hint.of("daemon logs")))
    return findings


def _examine_folder(state: Path) -> Iterator[Finding]:
    """Report a state folder that cannot be written: hooks are then silent, and cannot even write a log."""
    folder = next(folder for folder in (state, *state.parents) if folder.exists())
    try:
        with TemporaryFile(dir=folder) as stream:
            stream.write(b"0" * _EVENT_BYTES)
            stream.flush()
    except OSError as error:
        found = unwritable(state, error)
        message = f"{found}, so events of agents are lost without a word in a log"
        yield Finding(_CHECK, "warning", message, hint=found.hint)
