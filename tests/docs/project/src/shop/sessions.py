"""Sessions of customers, kept in memory."""

import secrets
import time
from dataclasses import dataclass

from shop.errors import SessionExpired


@dataclass
class Session:
    """One customer, signed in."""

    key: str
    customer: str
    opened_at: float


class SessionStore:
    """Opens sessions and finds them again by the key in the cookie."""

    def __init__(self, minutes: int) -> None:
        self._seconds = minutes * 60
        self._sessions: dict[str, Session] = {}

    def open(self, customer: str) -> Session:
        """Start a session for a customer who has just signed in."""
        session = Session(secrets.token_hex(16), customer, time.time())
        self._sessions[session.key] = session
        return session

    def verify(self, cookie: str) -> Session:
        """Return the session that a cookie names.

        Raises:
            SessionExpired: if there is no such session, or it is too old.
        """
        session = self._sessions.get(cookie)
        if session is None or time.time() - session.opened_at > self._seconds:
            raise SessionExpired("session expired")
        return session

    def close(self, cookie: str) -> None:
        """Forget a session, when the customer signs out."""
        self._sessions.pop(cookie, None)
