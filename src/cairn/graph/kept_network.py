"""The last edges of a project that were all resolved, in memory and beside the index: what they still tell."""

from __future__ import annotations

from pathlib import Path

from cairn.graph.code import Code
from cairn.graph.connections import KnownEdges
from cairn.graph.facts import Progress
from cairn.graph.network import Network
from cairn.graph.staleness import stale_files
from cairn.graph.stored import Stamp

STORED_FROM_SECONDS = 0.3  # a network that takes longer to make is kept beside the index


class KeptNetwork:
    """The last network of an index without changed files.

    Args:
        file: where it is stored.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._last: Network | None = None
        self._seen: Stamp | None = None  # of the file when it was last read

    def find_known(self, code: Code, progress: Progress | None) -> KnownEdges | None:
        """Return what the last network, or the stored one, has of the files that no change affects."""
        found = _known_of(self._last, code, progress) if self._last is not None else None
        stamp = _stamp_of(self._file)
        if (found is None or found.stale) and stamp != self._seen:
            self._seen = stamp
            stored = Network.load(self._file, code.identity) if stamp is not None else None
            of_stored = _known_of(stored, code, progress) if stored is not None else None
            if of_stored is not None and (found is None or len(of_stored.stale) < len(found.stale)):
                self._last, found = stored, of_stored
        return found

    def has_news(self, known: KnownEdges | None) -> bool:
        """Tell whether another process stored a network since the last look, where it may know more."""
        return (known is None or bool(known.stale)) and _stamp_of(self._file) not in (None, self._seen)

    def keep(self, network: Network) -> None:
        """Keep a network, and store it if it took long to make."""
        if network is not self._last:
            self._last = network
            if network.seconds > STORED_FROM_SECONDS:
                network.save(self._file)


def _known_of(network: Network, code: Code, progress: Progress | None) -> KnownEdges | None:
    """Return what an earlier network has of the files that no change affects, None if that is not known."""
    stale = stale_files(network, code)
    if stale is None:
        return None
    if not stale and network.paths == code.paths:
        return KnownEdges(network, ())
    code.load(stale, progress)
    kept = network.without(code, stale)
    return KnownEdges(kept, stale) if kept is not None else None


def _stamp_of(file: Path) -> Stamp | None:
    """Return the size and time of a file, None if there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
