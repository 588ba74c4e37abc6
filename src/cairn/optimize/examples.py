"""Examples: questions whose right files are known, whatever told so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

Source = Literal["feedback", "history", "given"]


class WantedFile(NamedTuple):
    """A file that an answer should show.

    Attributes:
        path: from the root of the project, with `/`.
        symbol: what is wanted in it, empty for the file.
        gain: how much it is wanted, above 0 and at most 1.
    """

    path: str
    symbol: str = ""
    gain: float = 1.0


class Example(NamedTuple):
    """A question with what its answer should show, and what it should not.

    Attributes:
        text: the question.
        wanted: at least one file, the most wanted first.
        unwanted: paths of files that were shown and passed over.
        group: what must not be divided between tuning and judging: a session's id, or a commit.
        seconds: when it was asked or committed, since the epoch; 0 if nobody says.
        source: what told so.
        before: a commit; evidence from it and from what came later may not help to answer.
    """

    text: str
    wanted: tuple[WantedFile, ...]
    unwanted: tuple[str, ...] = ()
    group: str = ""
    seconds: float = 0.0
    source: Source = "given"
    before: str = ""


def limit_groups(examples: Iterable[Example], most: int) -> list[Example]:
    """Return examples in their order of time, and of each group the `most` newest alone.

    Examples without a group are all returned.
    """
    ordered = sorted(examples, key=lambda example: example.seconds)
    seen: dict[str, int] = defaultdict(int)
    kept = []
    for example in reversed(ordered):
        seen[example.group] += 1
        if not example.group or seen[example.group] <= most:
            kept.append(example)
    return kept[::-1]
