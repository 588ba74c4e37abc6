"""Remembers what each session was sent, so that nothing is sent twice."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Any

from cairn.digest import blake2b

MAX_SESSIONS = 1_000
MAX_ENTRIES = 20_000  # pieces of one session
_ID_BYTES = 12
_LEAST_CHARS = len('"sent": true, ')  # shorter pieces are just sent again, so that no answer outgrows its budget


class Ledger:
    """What one session was sent: a hash of each piece, so that changed pieces are sent again."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str, str], bytes] = {}

    def shorten(self, operation: str, root: str, document: Any) -> None:  # noqa: ANN401 - JSON
        """Replace pieces that the session was already sent by a short row, and record the rest as sent.

        Args:
            operation: the operation that was performed.
            root: of the project, since projects may share ids.
            document: the answer, changed in place.
        """
        if operation == "search":
            for hit in document["code"]:
                preview = hit.get("preview", "")
                if len(preview) < _LEAST_CHARS:
                    continue  # it did not fit, or the row would be just as long
                if self._is_sent("row", hit.get("project", root), hit["id"], preview):
                    hit.update(signature="", preview="", sent=True)
                    hit.pop("neighbours", None)
            self._shorten_memories(root, document)
        elif operation == "recall":
            self._shorten_memories(root, document)
        elif operation == "fetch":
            for item in document:
                self._shorten_text("text", root, item)
        elif operation == "context":
            for item in document["items"]:
                self._shorten_text("context", root, item)
            self._shorten_memories(root, document)

    def _shorten_memories(self, root: str, document: Any) -> None:  # noqa: ANN401 - JSON
        for row in document.get("memory", ()):
            text = row.get("text", row["summary"])
            if len(text) >= _LEAST_CHARS and self._is_sent("memory", row.get("project", root), row["id"], text):
                row.update(summary="", sent=True)
                row.pop("text", None)

    def _shorten_text(self, layer: str, root: str, item: dict[str, Any]) -> None:
        text = item["text"]
        if len(text) >= _LEAST_CHARS and self._is_sent(layer, root, item["id"] or item["filepath"], text):
            item.update(text="", tokens=0, sent=True)

    def _is_sent(self, layer: str, root: str, text_id: str, text: str) -> bool:
        key = layer, root, text_id
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if self._sent.get(key) == digest:
            return True
        if len(self._sent) < MAX_ENTRIES:
            self._sent[key] = digest
        return False


class Ledgers:
    """What the open sessions were sent. Kept in memory only; whatever it forgets is sent again."""

    def __init__(self) -> None:
        self._ledgers: OrderedDict[str, Ledger] = OrderedDict()

    def __len__(self) -> int:
        return len(self._ledgers)

    def start(self, session: str = "") -> str:
        """Begin a session with nothing sent; return its id, a new one unless given."""
        session = session or f"s_{secrets.token_urlsafe(_ID_BYTES)}"
        self._ledgers.pop(session, None)
        self.ledger(session)
        return session

    def end(self, session: str) -> bool:
        """Forget a session; return whether it was known."""
        return self._ledgers.pop(session, None) is not None

    def ledger(self, session: str) -> Ledger:
        """Return the ledger of a session, a new one if the session is unknown, as after a restart."""
        ledger = self._ledgers.setdefault(session, Ledger())
        self._ledgers.move_to_end(session)
        while len(self._ledgers) > MAX_SESSIONS:
            self._ledgers.popitem(last=False)
        return ledger
