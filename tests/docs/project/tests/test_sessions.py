"""Tests of sessions."""

import pytest

from shop.errors import SessionExpired
from shop.sessions import SessionStore


def test_a_cookie_leads_to_its_session() -> None:
    store = SessionStore(minutes=30)
    assert store.verify(store.open("ann").key).customer == "ann"


def test_an_old_session_expires() -> None:
    store = SessionStore(minutes=0)
    with pytest.raises(SessionExpired, match="session expired"):
        store.verify(store.open("ann").key)
