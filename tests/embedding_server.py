"""A server on this machine that speaks the protocols of Ollama, OpenAI and Google, and fails as it is told."""

from __future__ import annotations

import json
import re
import threading
import time
import zlib
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Vector = list[float]
_PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Reply:
    """What the server does instead of answering. `cut` sends only the first half of the right answer."""

    status: int = 200
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    value: float | None = None  # stands in every vector
    n_dimensions: int = 0


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: Any
    texts: list[str]


def vector_of(text: str, n_dimensions: int) -> Vector:
    """Return a vector in which texts with common words are close."""
    values = [0.01] * n_dimensions
    for word in re.findall(r"[a-z]+", text.lower()):
        values[zlib.crc32(word.encode()) % n_dimensions] += 1.0
    return values


class EmbeddingServer:
    """Use it with `with`. `replies` are taken one a request before any right answer; `max_chars` limits a text.

    While `may_answer` is not set, whoever asks has to wait.
    """

    def __init__(self, n_dimensions: int = 64) -> None:
        self.n_dimensions = n_dimensions
        self.asked: list[Asked] = []
        self.replies: deque[Reply] = deque()
        self.max_chars = 10**9
        self.max_texts = 10**9
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.right_after: int | None = None  # after so many requests every other fails
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def texts(self) -> list[str]:
        return [text for one in self.asked for text in one.texts]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """From here on nobody listens."""
        self.may_answer.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: Any, reply: Reply) -> tuple[int, str]:  # noqa: ANN401 - any JSON
        texts = texts_of(path, body)
        if len(texts) > self.max_texts:
            return 413, json.dumps({"error": {"message": "payload too large"}})
        if any(len(text) > self.max_chars for text in texts):
            return 400, json.dumps({"error": {"message": "This model's maximum context length is 8192 tokens"}})
        n_dimensions = reply.n_dimensions or body.get("dimensions") or self.n_dimensions
        vectors = [vector_of(text, n_dimensions) for text in texts]
        if reply.value is not None:
            vectors = [[reply.value] * n_dimensions for _ in texts]
        return 200, json.dumps(shaped(path, body, vectors))

    def _handler(server) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with server.lock:
                    server.at_once += 1
                    server.most_at_once = max(server.most_at_once, server.at_once)
                    server.asked.append(Asked(self.path, headers, body, texts_of(self.path, body)))
                    over = server.right_after is not None and len(server.asked) > server.right_after
                    reply = Reply(503, "busy") if over else server.replies.popleft() if server.replies else Reply()
                server.may_answer.wait(_PATIENCE_SECONDS)
                if reply.delay:
                    time.sleep(reply.delay)
                status, text = reply.status, reply.body
                if text is None:
                    status, text = server.answer(self.path, body, reply)
                if reply.cut:
                    text = text[: len(text) // 2]
                with server.lock:
                    server.at_once -= 1
                self.send_response(status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        return Handler


def texts_of(path: str, body: Any) -> list[str]:  # noqa: ANN401 - any JSON
    if path.endswith(":batchEmbedContents"):
        return [one["content"]["parts"][0]["text"] for one in body["requests"]]
    return list(body["input"])


def shaped(path: str, body: Any, vectors: list[Vector]) -> Any:  # noqa: ANN401 - any JSON
    """Return vectors in the shape that each protocol documents."""
    if path == "/api/embed":
        times = {"total_duration": 14143917, "load_duration": 1019500, "prompt_eval_count": 8}
        return {"model": body["model"], "embeddings": vectors, **times}
    if path.endswith(":batchEmbedContents"):
        return {"embeddings": [{"values": vector} for vector in vectors]}
    data = [{"object": "embedding", "embedding": vector, "index": place} for place, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}
