from __future__ import annotations

from typing import Any

from cairn.daemon.sessions import MAX_SESSIONS, Ledger, Ledgers


def found(preview: str = "def f():\n    return 1") -> dict[str, Any]:
    hit = {"id": "c_1", "signature": "def f()", "preview": preview, "neighbours": [], "filepath": "a.py"}
    return {"code": [hit]}


def test_a_row_that_was_sent_becomes_a_short_one() -> None:
    ledger = Ledger()
    first, second = found(), found()
    ledger.shorten("search", "/p", first)
    ledger.shorten("search", "/p", second)
    assert first == found()
    assert second["code"] == [{"id": "c_1", "signature": "", "preview": "", "filepath": "a.py", "sent": True}]


def test_what_is_shorter_than_saying_that_it_was_sent_is_sent_again() -> None:
    ledger = Ledger()
    for _ in range(2):
        row = found("}")
        ledger.shorten("search", "/p", row)
        assert row == found("}")


def test_a_row_without_room_for_its_preview_was_not_sent() -> None:
    ledger = Ledger()
    for preview in ("", found()["code"][0]["preview"]):
        row = found(preview)
        ledger.shorten("search", "/p", row)
        assert "sent" not in row["code"][0]


def test_what_changed_since_is_sent_again() -> None:
    ledger = Ledger()
    ledger.shorten("search", "/p", found())
    changed = found("def f(a):\n    return 1")
    ledger.shorten("search", "/p", changed)
    assert "sent" not in changed["code"][0]


def test_the_same_id_in_another_project_is_something_else() -> None:
    ledger = Ledger()
    ledger.shorten("search", "/p", found())
    other = found()
    ledger.shorten("search", "/q", other)
    assert "sent" not in other["code"][0]


def test_a_text_is_sent_though_its_row_was() -> None:
    ledger = Ledger()
    ledger.shorten("search", "/p", found())
    for expected in ("the whole of the body", ""):
        texts = [{"id": "c_1", "filepath": "a.py", "text": "the whole of the body", "tokens": 2}]
        ledger.shorten("fetch", "/p", texts)
        assert texts[0]["text"] == expected
        assert texts[0].get("sent", False) is not bool(expected)


def test_the_context_of_a_file_is_known_by_its_path() -> None:
    ledger = Ledger()
    for sent in (False, True):
        document: dict[str, Any] = {"items": [{"id": "", "filepath": "a.py", "text": "its whole outline", "tokens": 2}]}
        ledger.shorten("context", "/p", document)
        assert document["items"][0].get("sent", False) is sent


def test_other_answers_stay_as_they_are() -> None:
    document: dict[str, Any] = {"links": []}
    Ledger().shorten("graph/callers", "/p", document)
    assert document == {"links": []}


def test_sessions_begin_and_end() -> None:
    sessions = Ledgers()
    session = sessions.start()
    assert len(session) > 10
    assert session != sessions.start()
    ledger = sessions.ledger(session)
    assert sessions.ledger(session) is ledger
    sessions.start(session)
    assert sessions.ledger(session) is not ledger  # it began again
    assert sessions.end(session)
    assert not sessions.end(session)


def test_the_oldest_sessions_are_forgotten() -> None:
    sessions = Ledgers()
    sessions.start("oldest")
    for _ in range(MAX_SESSIONS):
        sessions.start()
    assert len(sessions) == MAX_SESSIONS
    assert not sessions.end("oldest")
