"""Examples: questions with known right files, from any source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

Source = Literal["feedback", "history", "given"]


class WantedFile(NamedTuple):
    """A file that an answer should show.

    Attributes:
        path: relative to the root, with `/`.
        symbol: the wanted definition, empty for the whole file.
        gain: how much it is wanted, above 0 and at most 1.
    """

    path: str
    symbol: str = ""
    gain: float = 1.0


class Example(NamedTuple):
    """A question with what its answer should and should not show.

    Attributes:
        text: the question.
        wanted: at least one file, most wanted first.
        unwanted: paths of files that were shown and passed over.
        group: must not be split between tuning and judging: a session's id, or a commit.
        seconds: when it was asked or committed, since the epoch; 0 if unknown.
        source: of the example.
        before: a commit; evidence from it or later must not help to answer.
    """

    text: str
    wanted: tuple[WantedFile, ...]
    unwanted: tuple[str, ...] = ()
    group: str = ""
    seconds: float = 0.0
    source: Source = "given"
    before: str = ""


def limit_groups(examples: Iterable[Example], most: int) -> list[Example]:
    """Return examples by time, but only the `most` newest of each group.

    All examples without a group are returned.
    """
    ordered = sorted(examples, key=lambda example: example.seconds)
    seen: dict[str, int] = defaultdict(int)
    kept = []
    for example in reversed(ordered):
        seen[example.group] += 1
        if not example.group or seen[example.group] <= most:
            kept.append(example)
    return kept[::-1]
