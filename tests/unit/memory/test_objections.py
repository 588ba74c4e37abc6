from __future__ import annotations

import pytest

from cairn.memory.objections import objections


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Session.send follows redirects by default.", "By default, Session.send follows redirects."),
        ("The pool has 4 threads.", "The pool has 8 threads now."),
        ("The cache is thread-safe.", "The cache is no longer thread-safe."),
        ("It works on Windows and Linux", "It works on Windows and Linux, but slowly"),
        ("`flask run` ignores FLASK_APP", "FLASK_APP is ignored by `flask run`"),
        ("Clear the cache before deploying", "Before deploying, clear the cache"),
        ("The default branch is main here", "The default branch is trunk here now"),
    ],
)
def test_the_same_statement_and_a_change_of_it_meet_no_objection(old: str, new: str) -> None:
    assert objections(old, new) == ()


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("IntRange clamps open bounds.", "FloatRange clamps open bounds.", "names"),
        ("requests.get opens a connection", "requests.post opens a connection", "names"),
        ("it fails on Windows with ReadConsoleW", "it fails on Darwin with ReadConsoleW", "names"),
        ("tests fail with Node 18", "tests fail with Node 12", "numbers"),
        ("limited to 108 bytes", "limited to 104 bytes", "numbers"),
        ("min(5) counts units", "min(-5) counts units", "numbers"),
        ("the cache is thread-safe", "the cache is not thread-safe", "negation"),
        ("A replica doesn't serve stale data", "A replica serves stale data", "negation"),
        ("dependencies are handled, background tasks are not", "background tasks are handled", "negation"),
        ("completion works in zsh", "completion works in fish", "cases"),
        ("test", "tests", "brevity"),
        ("use WAL", "use WAL or the index locks", "brevity"),
        ("it runs before the request", "it runs after the request", "cases"),
        ("The users table has an index on email", "The orders table has an index on email", "swap"),
        ("The old exporter writes UTF-8 with BOM", "The new exporter writes UTF-8 with BOM", "swap"),
        ("The parser accepts trailing commas in lists", "The parser rejects trailing commas in lists", "swap"),
        ("Increase the limit before a sale", "Decrease the limit before a sale", "swap"),
        ("Enable strict mode in development", "Disable strict mode in development", "swap"),
        ("The index is on the email address", "The index is on a phone number", "swap"),
        ("Import first validates and then commits", "Import first commits and then validates", "order"),
        ("Always lock stock before orders", "Always lock orders before stock", "order"),
    ],
)
def test_another_symbol_number_case_or_the_contrary_is_an_objection(old: str, new: str, rule: str) -> None:
    assert rule in objections(old, new)
    assert rule in objections(new, old)


def test_a_name_that_only_one_of_both_has_is_no_objection() -> None:
    assert objections("send_file needs a path", "send_file needs a path, send_from_directory too") == ()


def test_texts_without_end_are_compared_in_time_that_grows_no_faster_than_they_do() -> None:
    text = "a.b_c1 not (one two three " * 2_000
    assert objections(text, text) == ()
