"""An embedding model behind HTTP: parallel batches, pacing, retries, and cutting texts to what fits."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cairn.embedding.keys import key_hint
from cairn.embedding.parallel import run_all
from cairn.embedding.protocol import RETRY_HINT, Floats, to_unit_vectors
from cairn.embedding.wire import Wire
from cairn.errors import ProviderError, ProviderKeyError
from cairn.hints import Hint
from cairn.model_providers import PROVIDERS
from cairn.model_settings import ModelSettings, is_loopback

if TYPE_CHECKING:
    import httpx

MAX_ATTEMPTS = 6
MAX_INVALID_ANSWERS = 2  # a third try rarely helps
FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.5, 60.0
MAX_RETRY_AFTER_SECONDS = 180.0  # if a server asks for a longer wait, the run stops
MAX_BATCH_CHARS = 300_000  # OpenAI accepts 300,000 tokens per request; a character is at most about one token
MIN_TEXT_CHARS = 64
MAX_ANSWER_BYTES = 256_000_000

_REPEATED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_TOO_LONG = re.compile(
    r"too (long|large|many tokens)|context (length|size|window)|maximum (context|input|number of tokens)"
    r"|token (limit|count)|exceed|input length|batch size",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Clock, sleep and random numbers, replaceable in tests. `sleep` ends early when its event is set."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float, threading.Event], object] = lambda seconds, stop: stop.wait(seconds)
    random: Callable[[], float] = random.random


class _TooLargeError(Exception):
    """The request was too large for the server."""


class _RetryError(Exception):
    """The request may succeed later: after `seconds`, if the server says so."""

    def __init__(self, reason: str, seconds: float | None = None, *, invalid: bool = False) -> None:
        super().__init__(reason)
        self.seconds = seconds
        self.invalid = invalid


class Pace:
    """A token bucket that lets `per_minute` requests through, evenly after an initial burst; 0 for no limit."""

    def __init__(self, per_minute: int, burst: int, waiting: Waiting) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._burst = min(burst, max(1, per_minute))
        self._waiting = waiting
        self._lock = threading.Lock()
        self._next = waiting.now() - self._interval * (self._burst - 1)

    def take(self, stop: threading.Event) -> None:
        """Wait for a turn."""
        if not self._interval:
            return
        with self._lock:
            now = self._waiting.now()
            turn = max(self._next, now - self._interval * (self._burst - 1))
            self._next = turn + self._interval
        if turn > now:
            self._waiting.sleep(turn - now, stop)


class RemoteEmbedder:
    """Asks a server for vectors; threads may share it.

    Args:
        settings: the server, the model, and batch sizes.
        wire: the server's protocol.
        fingerprint: see `Embedder`.
        prefixes: those of queries and of documents.
        max_input_chars: longer texts are cut to this.
        key: called at the first request; returns the secret, and its errors propagate.
    """

    def __init__(
        self,
        settings: ModelSettings,
        wire: Wire,
        fingerprint: str,
        prefixes: tuple[str, str],
        max_input_chars: int,
        key: Callable[[], str],
        waiting: Waiting | None = None,
    ) -> None:
        self.name = settings.name
        self.fingerprint = fingerprint
        self.max_input_chars = max_input_chars
        self._settings = settings
        self._wire = wire
        self._query_prefix, self._document_prefix = prefixes
        self._find_key = key
        self._waiting = waiting or Waiting()
        self._pace = Pace(settings.per_minute, settings.at_once, self._waiting)
        self._dimensions = 0

    @property
    def dimensions(self) -> int:
        """The length of a vector, 0 before anything was embedded."""
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return a unit vector for each text, shape (n_texts, dimensions)."""
        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        inputs = [self._with_prefix(self._document_prefix, text) for text in texts]

        def embed(batch: Sequence[str], stop: threading.Event) -> Floats:
            return self._embed_batch(batch, stop)

        parts = run_all(embed, list(self._batches(inputs)), self._settings.at_once)
        return np.concatenate(parts)

    def embed_query(self, text: str) -> Floats:
        """Return the unit vector of a query, shape (dimensions,); tried once, within the query's timeout."""
        texts = [self._with_prefix(self._query_prefix, text)]
        try:
            vectors = self._ask(texts, self._settings.query_timeout_seconds, query=True)
        except _RetryError as error:
            raise ProviderError(f"{self.name}: {error}", RETRY_HINT) from error
        except _TooLargeError as error:
            raise ProviderError(f"{self.name}: the query is too long for the model", "shorten the query") from error
        query: Floats = vectors[0]
        return query

    def close(self) -> None:
        """Close the connections."""
        if "_client" in self.__dict__:
            self._client.close()
            del self.__dict__["_client"]

    # -- batches ------------------------------------------------------------------------------------------------------

    def _with_prefix(self, prefix: str, text: str) -> str:
        return prefix + text[: max(MIN_TEXT_CHARS, self.max_input_chars - len(prefix))]

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        limit = min(self._settings.batch_size, self._wire.max_texts)
        batch: list[str] = []
        n_chars = 0
        for text in texts:
            if batch and (len(batch) >= limit or n_chars + len(text) > MAX_BATCH_CHARS):
                yield batch
                batch, n_chars = [], 0
            batch.append(text)
            n_chars += len(text)
        if batch:
            yield batch

    def _embed_batch(self, texts: Sequence[str], stop: threading.Event) -> Floats:
        """Embed one batch; if it is too large for the server, split it in halves, and cut a single text in half."""
        try:
            return self._ask_until_answered(texts, stop)
        except _TooLargeError as error:
            if len(texts) > 1:
                middle = len(texts) // 2
                halves = [self._embed_batch(half, stop) for half in (texts[:middle], texts[middle:])]
                return np.concatenate(halves)
            if len(texts[0]) <= MIN_TEXT_CHARS:
                raise ProviderError(
                    f"{self.name} does not even accept {MIN_TEXT_CHARS} characters", RETRY_HINT
                ) from error
            return self._embed_batch([texts[0][: len(texts[0]) // 2]], stop)

    def _ask_until_answered(self, texts: Sequence[str], stop: threading.Event) -> Floats:
        """Ask until there is an answer, with exponential back-off and full jitter, or the server's own wait.

        https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
        """
        invalid = 0
        for attempt in range(1, MAX_ATTEMPTS + 1):
            if stop.is_set():
                break
            self._pace.take(stop)
            try:
                return self._ask(texts, self._settings.timeout_seconds, query=False)
            except _RetryError as error:
                invalid += error.invalid
                wait = error.seconds
                last = attempt == MAX_ATTEMPTS or invalid > MAX_INVALID_ANSWERS
                if last or (wait is not None and wait > MAX_RETRY_AFTER_SECONDS):
                    retry_after = f"; it asks to wait {wait:.0f} s" if wait is not None else ""
                    message = f"{self.name}: {error} (asked {attempt} times{retry_after})"
                    raise ProviderError(message, RETRY_HINT) from error
                if wait is None:
                    longest = min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (attempt - 1))
                    wait = self._waiting.random() * longest
                self._waiting.sleep(wait, stop)
        raise ProviderError(f"{self.name}: interrupted", RETRY_HINT)

    # -- one request --------------------------------------------------------------------------------------------------

    def _ask(self, texts: Sequence[str], timeout: float, *, query: bool) -> Floats:
        """Send one request and return its unit vectors."""
        import httpx  # noqa: PLC0415 - start-up time: only a remote model needs it

        body = self._wire.body(self._settings.model, texts, self._settings.dimensions, query=query)
        # Invalid UTF-8 in a file or a path must not stop a batch.
        content = json.dumps(body).encode("ascii")
        url = self._wire.url(self._settings.base_url, self._settings.model)
        headers = {"Content-Type": "application/json", **self._wire.headers(self._key)}
        try:
            status, reply_headers, data = self._post(url, content, headers, timeout)
        except httpx.TimeoutException as error:
            raise _RetryError(f"no answer within {timeout:g} s") from error
        except httpx.ConnectError as error:
            if is_loopback(self._settings.base_url):  # nothing listens there, so retrying is useless
                raise ProviderError(
                    f"{self.name}: nothing answers at {self._settings.base_url}", _start_hint(self._settings)
                ) from error
            raise _RetryError(f"cannot connect to {self._settings.base_url}") from error
        except httpx.HTTPError as error:
            raise _RetryError(f"the connection failed ({type(error).__name__})") from error
        except httpx.InvalidURL as error:
            raise ProviderError(
                f"{self.name}: {self._settings.base_url} is not a usable URL", "correct embedding.url"
            ) from error
        if status != 200:
            raise self._failure(status, reply_headers, data, len(texts))
        return self._vectors(data, len(texts))

    def _post(
        self, url: str, content: bytes, headers: Mapping[str, str], timeout: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and body; the whole exchange takes hardly more than `timeout` seconds."""
        import httpx  # noqa: PLC0415 - start-up time, as above

        deadline = time.monotonic() + timeout
        parts: list[bytes] = []
        n_bytes = 0
        with self._client.stream("POST", url, content=content, headers=dict(headers), timeout=timeout) as answer:
            for part in answer.iter_bytes():
                parts.append(part)
                n_bytes += len(part)
                # A server that trickles bytes would never exceed the timeout of a single read.
                if time.monotonic() > deadline or n_bytes > MAX_ANSWER_BYTES:
                    raise httpx.ReadTimeout("the answer takes too long")
            return answer.status_code, answer.headers, b"".join(parts)

    def _vectors(self, data: bytes, n_texts: int) -> Floats:
        try:
            rows = self._wire.vectors(json.loads(data))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _RetryError("its answer is incomplete or not as documented", invalid=True) from error
        try:
            vectors = to_unit_vectors(rows, n_texts, self._settings.dimensions, "it")
        except ProviderError as error:
            raise _RetryError(str(error), invalid=True) from error
        self._dimensions = self._dimensions or vectors.shape[1]
        if vectors.shape[1] != self._dimensions:
            message = f"it returned {vectors.shape[1]} dimensions where it returned {self._dimensions} before"
            raise _RetryError(message, invalid=True)
        return vectors

    def _failure(self, status: int, headers: Mapping[str, str], data: bytes, n_texts: int) -> Exception:
        """Return the error for a status other than 200."""
        message = self._without_key(_message_of(data))
        reply = f"{status}{': ' + message if message else ''}"
        if status in (401, 403) or (status == 400 and "api key" in message.lower()):
            return ProviderKeyError(f"{self.name} refuses the key ({reply})", key_hint(self._settings))
        if status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(message)):
            return _TooLargeError(reply)
        if status == 404:
            return ProviderError(f"{self.name}: not found ({reply})", _start_hint(self._settings))
        if status in _REPEATED and "insufficient_quota" not in data.decode("utf-8", "replace"):
            return _RetryError(f"it answers {reply}", retry_after_seconds(headers, data))
        return ProviderError(f"{self.name} refuses {n_texts} texts ({reply})", RETRY_HINT)

    def _without_key(self, message: str) -> str:
        """Return a server's message, shortened and without the key, which it may echo."""
        key = self._key
        return (message.replace(key, "***") if key else message)[:200]

    @cached_property
    def _key(self) -> str:
        return self._find_key()

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx  # noqa: PLC0415 - start-up time, as above

        # A proxy in the environment is for other machines. Redirects are not followed, because they could leak the key.
        return httpx.Client(trust_env=not is_loopback(self._settings.base_url), follow_redirects=False)


def retry_after_seconds(headers: Mapping[str, str], data: bytes = b"") -> float | None:
    """Return how many seconds a server asks to wait, None if it does not say.

    That may be in `retry-after-ms` (OpenAI), in `Retry-After` as seconds or a date (RFC 9110), or in `retryDelay` in
    the body (Google).
    """
    text = headers.get("retry-after-ms", "")
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text) / 1000
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if text:
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
        except ValueError:
            return None
    delay = re.search(rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"', data)
    return float(delay[1]) if delay else None


def _start_hint(settings: ModelSettings) -> str:
    if hint := PROVIDERS[settings.provider].start_hint:
        return hint.format(model=settings.model)
    return Hint("check embedding.url and embedding.model, then run", "index")


def _message_of(data: bytes) -> str:
    """Return a server's error message: `{"error": {"message"}}`, `{"error"}`, `{"message"}`, or the text."""
    text = data.decode("utf-8", "replace").strip()
    try:
        document: Any = json.loads(text)
    except ValueError:
        return " ".join(text.split()) if not text.startswith("<") else ""
    if isinstance(document, list) and document:
        document = document[0]
    if isinstance(document, dict):
        inner = document.get("error", document.get("message", document.get("detail", "")))
        document = inner.get("message", "") if isinstance(inner, dict) else inner
    return " ".join(str(document).split())
