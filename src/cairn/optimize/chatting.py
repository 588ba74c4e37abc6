"""Asks a chat model within a budget, and caches replies, so that no question is paid for twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from cairn import waiting
from cairn.digest import blake2b
from cairn.errors import CairnError, ProviderKeyError
from cairn.memory_settings import CHARS_PER_TOKEN, MAX_ANSWER_TOKENS

if TYPE_CHECKING:
    from cairn.memory.chat import ChatReply

_MOST_FAILURES = 4  # failures in a row
_BUDGET = "the budget of"


class TextBudget(NamedTuple):
    """The budget of a run: questions, total tokens, and seconds."""

    calls: int = 200
    tokens: int = 50_000
    seconds: float = 600.0


class MeteredChat:
    """A chat model that is only asked within a budget.

    Args:
        ask: asks the model, given instructions and data; raises CairnError.
        budget: the limits.
        replies: earlier replies by question, from an interrupted run; new replies are added.
        note: called for each question with its tokens and whether it failed.
        clock: in seconds, with any origin.

    Attributes:
        calls, tokens: how many were used.
        problem: why nothing more is asked; empty while the model is.
    """

    def __init__(
        self,
        ask: Callable[[str, str], ChatReply],
        budget: TextBudget,
        replies: MutableMapping[str, str] | None = None,
        note: Callable[[int, int, bool], object] = lambda input_tokens, output_tokens, failed: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask, self.budget, self._note, self._clock = ask, budget, note, clock
        self._replies: MutableMapping[str, str] = {} if replies is None else replies
        self._until = clock() + budget.seconds
        self._in_a_row = 0
        self.calls = self.tokens = 0
        self.problem = ""

    def ask(self, system: str, question: str) -> str | None:
        """Return the model's reply; None if there was none, or the budget is spent."""
        waiting.check()
        key = blake2b(f"{len(system)} {system}{question}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        if key in self._replies:
            return self._replies[key]
        expected = (len(system) + len(question)) // CHARS_PER_TOKEN
        if not self.problem:
            self.problem = self._what_is_spent(expected)
        if self.problem:
            return None
        self.calls += 1
        try:
            reply = self._ask(system, question)
        except ProviderKeyError as error:
            self.problem = str(error)
            return None
        except CairnError as error:  # the server's count is unknown
            self._count(expected, MAX_ANSWER_TOKENS, failed=True)
            self._in_a_row += 1
            if self._in_a_row >= _MOST_FAILURES:
                self.problem = f"the chat model failed {_MOST_FAILURES} times in a row: {error}"
            return None
        self._in_a_row = 0
        self._count(
            reply.input_tokens or expected, reply.output_tokens or len(reply.text) // CHARS_PER_TOKEN, failed=False
        )
        self._replies[key] = reply.text
        return reply.text

    @contextmanager
    def reserving(self, calls: int) -> Iterator[None]:
        """Reserve some questions of the budget for after the block."""
        whole = self.budget
        share = max(0, whole.calls - self.calls - calls) / max(1, whole.calls - self.calls)
        tokens = self.tokens + round(share * (whole.tokens - self.tokens))
        self.budget = whole._replace(calls=whole.calls - calls, tokens=tokens)
        try:
            yield
        finally:
            if self.problem.startswith(_BUDGET):
                self.problem = ""
            self.budget = whole

    def _what_is_spent(self, expected: int) -> str:
        if self.calls >= self.budget.calls:
            return f"{_BUDGET} {self.budget.calls} questions is spent"
        if self.tokens + expected + MAX_ANSWER_TOKENS > self.budget.tokens:
            return f"{_BUDGET} {self.budget.tokens:,} tokens is spent"
        if self._clock() > self._until:
            return f"the {self.budget.seconds:g} seconds are over"
        return ""

    def _count(self, input_tokens: int, output_tokens: int, *, failed: bool) -> None:
        self.tokens += input_tokens + output_tokens
        self._note(input_tokens, output_tokens, failed)
