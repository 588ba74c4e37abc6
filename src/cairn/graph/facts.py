"""Finds what files refer to, their facts: those in the index, and those that are found by parsing and then stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from cairn import waiting
from cairn.config import Settings
from cairn.digest import blake2b
from cairn.graph.checkout import Checkout
from cairn.graph.recent import Recent, Room
from cairn.graph.source_file import weigh_facts
from cairn.graph.stored import StoredCode
from cairn.index.beside import Task, parse_beside
from cairn.index.facts import FACTS_JOB
from cairn.index.isolation import warm_up
from cairn.index.limits import limits_of
from cairn.index.reading import HASH_BYTES
from cairn.source.facts import NO_FACTS, Facts, decode
from cairn.source.languages import BY_NAME

_MANY_FILES = 48  # from so many on, starting other processes pays off
_HASTY_BYTES = 50_000  # of source with a helper where the time is limited: what it parses in some 50 ms
_STORED_BYTES = 4_000_000  # of facts that are stored at a time

Progress = Callable[[int, int], None]


class KeptFacts:
    """Facts by blob, kept from one state of the code to the next.

    Attributes:
        recent: those that were used last.
        unstored: (hash of the content, facts as bytes) of those that are not in the index yet.
    """

    def __init__(self, room: Room) -> None:
        self.recent: Recent[int, Facts] = Recent(room.facts, weigh_facts)
        self.unstored: dict[int, tuple[bytes, bytes]] = {}
        self._room = room.unstored
        self._new_bytes = 0

    def add(self, facts: Iterable[tuple[int, bytes, bytes]]) -> None:
        """Keep facts that are to be stored."""
        for blob, content_hash, encoded in facts:
            if blob not in self.unstored:
                self.unstored[blob] = (content_hash, encoded)
                self._new_bytes += len(encoded)

    @property
    def are_fresh(self) -> bool:
        """Whether any came since the last attempt to store them."""
        return self._new_bytes > 0

    @property
    def are_many(self) -> bool:
        """Whether so many came since that they are to be stored before there are more."""
        return self._new_bytes > min(self._room, _STORED_BYTES)

    def were_stored(self) -> None:
        """Drop what is in the index now."""
        self.unstored.clear()
        self._new_bytes = 0

    def were_not_stored(self) -> None:
        """Keep what there is room for until more come; the rest has to be found again."""
        kept, left = {}, self._room
        for blob, entry in self.unstored.items():
            if len(entry[1]) <= left:
                left -= len(entry[1])
                kept[blob] = entry
        self.unstored = kept
        self._new_bytes = 0


class FactFinder:
    """Finds the facts of the files of one snapshot, each once.

    Args:
        kept: facts that an earlier state of the code found; new ones are added.
    """

    def __init__(
        self, stored: StoredCode, checkout: Checkout, kept: KeptFacts, languages: Sequence[str], settings: Settings
    ) -> None:
        self._stored = stored
        self._checkout = checkout
        self._kept = kept
        self._blobs: list[int] = stored.snapshot.files.blob_ids.tolist()
        self._languages = languages
        self._settings = settings

    # -- what was found already ---------------------------------------------------------------------------------------

    def at_hand(self, blob: int, language: str) -> Facts | None:
        """Return the facts of a blob that are in memory, None if they are not."""
        if not BY_NAME[language].has_references:
            return NO_FACTS
        if (facts := self._kept.recent.get(blob)) is not None:
            return facts
        _, encoded = self._kept.unstored.get(blob, (b"", None))
        return self.decode(blob, encoded)

    def decode(self, blob: int, encoded: bytes | None) -> Facts | None:
        """Return facts from their bytes, and keep them; None for none, or for bytes of an earlier version."""
        if encoded is None or (facts := decode(encoded)) is None:
            return None
        return self._kept.recent.put(blob, facts)

    def look_up(self, blob: int, language: str) -> Facts | None:
        """Return the facts of a blob that are in memory or in the index, None if there are none."""
        facts = self.at_hand(blob, language)
        return facts if facts is not None else self.decode(blob, self._stored.facts(blob))

    def warm_up(self, language: str) -> None:
        """Have a helper load what it needs for a language, which takes up to 0.2 s, while other work is done."""
        warm_up(FACTS_JOB.name, b"x\n", language)

    # -- parsing ------------------------------------------------------------------------------------------------------

    def find(self, number: int) -> Facts:
        """Parse a file of which there are no facts yet, or for whose facts there was no room."""
        hashes = self._stored.hashes([self._blobs[number]])
        facts = NO_FACTS
        for blob, encoded in self._parse(self._tasks([number], hashes), 1):
            facts = self._kept.recent.put(blob, decode(encoded) or NO_FACTS)
            self._keep(blob, hashes[blob], encoded)
        self._store_outside_of_question()
        return facts

    def find_all(
        self, numbers: Sequence[int], progress: Progress | None, may_go_on: Callable[[], bool] | None = None
    ) -> bool:
        """Parse those of some files that have no facts yet, and store these for the next time.

        Args:
            numbers: the files.
            progress: called with (files done, files to do).
            may_go_on: while this says so, to the end without it.

        Returns:
            whether this came to the end.

        Raises:
            IndexMovedError: as `StoredCode.check_unmoved`.
        """
        blobs = sorted({self._blobs[number] for number in numbers if BY_NAME[self._languages[number]].has_references})
        done_already = self._stored.blobs_with_facts(blobs) | self._kept.unstored.keys()
        missing = [blob for blob in blobs if blob not in done_already]
        if not missing:
            return True
        if len(missing) >= _MANY_FILES:
            waiting.give_way()
        hashes = self._stored.hashes(missing)
        tasks = self._tasks([number for number in numbers if self._blobs[number] in hashes], hashes)
        in_flight_bytes = None if may_go_on is None else _HASTY_BYTES
        if may_go_on is not None:
            tasks = takewhile(lambda _: may_go_on(), tasks)
        for done, (blob, encoded) in enumerate(self._parse(tasks, len(missing), in_flight_bytes), 1):
            self._keep(blob, hashes[blob], encoded)
            waiting.check()
            if progress is not None:
                progress(done, len(missing))
        self._store_outside_of_question()
        return may_go_on is None or may_go_on()

    def _tasks(self, numbers: Iterable[int], hashes: Mapping[int, bytes]) -> Iterator[Task[int]]:
        """Read one file for each of some blobs; one that changed since it was indexed is taken as it is now."""
        done: set[int] = set()
        for number in numbers:
            blob = self._blobs[number]
            if blob in done or number in self._checkout.files:
                continue
            waiting.check()
            data = self._checkout.read(number)
            if data is None or blake2b(data, digest_size=HASH_BYTES).digest() != hashes.get(blob):
                self._checkout.add(number)
            else:
                done.add(blob)
                yield Task(data, self._languages[number], blob)

    def _parse(
        self, tasks: Iterator[Task[int]], count: int, in_flight_bytes: int | None = None
    ) -> Iterable[tuple[int, bytes]]:
        limits = limits_of(self._settings, background=False)
        if in_flight_bytes is not None:  # one is kept warm, and starting another takes longer than it would save
            return parse_beside(tasks, FACTS_JOB, n_helpers=1, in_flight_bytes=in_flight_bytes)
        n_helpers = limits.helpers if count >= _MANY_FILES else 1
        return parse_beside(tasks, FACTS_JOB, n_helpers=n_helpers, in_flight_bytes=limits.in_flight_bytes)

    # -- storing ------------------------------------------------------------------------------------------------------

    def _keep(self, blob: int, content_hash: bytes, encoded: bytes) -> None:
        """Keep facts until there are many or the question is answered, and then store them."""
        self._kept.add([(blob, content_hash, encoded)])
        if self._kept.are_many:
            self._store()

    def _store_outside_of_question(self) -> None:
        if not self._stored.is_in_question:
            self.store()

    def store(self) -> None:
        """Store the facts that are not stored yet."""
        if self._kept.are_fresh:
            self._store()

    def _store(self) -> None:
        """Store facts, unless another process is writing or nobody may: then there is another attempt with more.

        Raises:
            IndexMovedError: as `StoredCode.check_unmoved`, within a question.
        """
        in_question = self._stored.is_in_question
        if self._stored.store_facts([(blob, *entry) for blob, entry in self._kept.unstored.items()]):
            self._kept.were_stored()
        else:
            self._kept.were_not_stored()
        if in_question:
            self._stored.check_unmoved()
