"""The log of a team's processes: JSON lines for log collectors, plain lines in a terminal."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

_PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Further attributes of a record to show if set: those of an answered request.
REQUEST_FIELDS = ("request", "operation", "project", "status", "ms")


class JsonLines(logging.Formatter):
    """Formats a record as a JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        document: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        document |= {name: getattr(record, name) for name in REQUEST_FIELDS if hasattr(record, name)}
        if record.exc_info:
            document["trace"] = self.formatException(record.exc_info)
        return json.dumps(document, ensure_ascii=False)


def start_log() -> None:
    """Log to stderr, where service managers collect it."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_PLAIN) if sys.stderr.isatty() else JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for noisy in ("uvicorn", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
