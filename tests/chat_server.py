"""A small chat server that speaks as Ollama and as OpenAI do, for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatServer:
    """Answers every question with `text`, or as `script` or `status` and `body` say, or late; notes what it was asked.

    `script` gets the instructions and the question.
    """

    def __init__(self, text: str = "{}", script: Callable[[str, str], str] | None = None) -> None:
        self.text, self.status, self.body = text, 200, ""
        self.script = script
        self.stall = threading.Event()
        self.stalls = False
        self.requests: list[tuple[str, dict[str, Any], str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        document = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        self.requests.append((handler.path, document, handler.headers.get("authorization", "")))
        if self.stalls:
            self.stall.wait(20)
        if self.script is not None:
            self.text = self.script(*(message["content"] for message in document["messages"]))
        data = (self.body or json.dumps(self._document(handler.path))).encode()
        with suppress(ConnectionError):  # who asked no longer waits
            handler.send_response(self.status)
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)

    def _document(self, path: str) -> dict[str, Any]:
        if path == "/api/chat":
            return {"message": {"role": "assistant", "content": self.text}, "prompt_eval_count": 300, "eval_count": 40}
        usage = {"prompt_tokens": 200, "completion_tokens": 50}
        return {"choices": [{"message": {"content": self.text}}], "usage": usage}

    def close(self) -> None:
        """Stop; what stalls goes on."""
        self.stall.set()
        self._http.shutdown()
        self._http.server_close()
