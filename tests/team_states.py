"""What a team's server says of itself to an operator, for tests of the page that shows it."""

from __future__ import annotations

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{7*7}}\u202e"
_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_THEN = "2026-01-31T12:00:00+00:00"


def _branch(project: str, **fields: object) -> dict[str, object]:
    return {
        "project": project,
        "branch": "main",
        "state": "published",
        "wanted": _COMMIT,
        "published": _COMMIT,
        "again": False,
        "generation": 4,
        "worker": "",
        "is_leased": False,
        "problem": "",
        "failures": 0,
        "look_problem": "",
        "wanted_at": _THEN,
        "published_at": _THEN,
        "seen_at": _THEN,
        "fresh_at": _THEN,
        **fields,
    }


def _part(name: str, **figures: object) -> dict[str, object]:
    problem = {"code": "catalog", "message": f"the database does not answer {EVIL}", "times": 2, "last_at": _THEN}
    return {
        "name": name,
        "version": "0.1.0",
        "started_at": _THEN,
        "heard_at": _THEN,
        "is_silent": name.startswith("worker"),
        "figures": {"failed": 2, "problems": [problem], **figures},
    }


_NEVER = {"published": None, "published_at": None, "seen_at": None, "fresh_at": None, "generation": 0}
STATE: dict[str, object] = {
    "at": _THEN,
    "queue": {"published": 1_200, "waiting": 2, "leased": 1, "failed": 1, "oldest_seconds": 75.5},
    "freshness": {
        "branches": 1_204,
        "within_5_minutes": 1_100,
        "within_an_hour": 60,
        "within_a_day": 30,
        "older": 12,
        "never_published": 2,
        "unreachable": 1,
    },
    "branches": [
        _branch("acme/broken", state="failed", problem=f"git cannot fetch {EVIL}", failures=3, **_NEVER),
        _branch("acme/away", state="waiting", look_problem="git cannot ls-remote", worker="worker-7", is_leased=True),
        _branch("acme/shop"),
    ],
    "nodes": [_part("node-1:37700", answered=2_345, waiting=1, open_projects=12)],
    "workers": [_part("worker-7", published=80)],
}
EMPTY: dict[str, object] = {
    "at": _THEN,
    "queue": {"published": 0, "waiting": 0, "leased": 0, "failed": 0, "oldest_seconds": 0},
    "freshness": dict.fromkeys(
        (
            *("branches", "within_5_minutes", "within_an_hour", "within_a_day", "older", "never_published"),
            "unreachable",
        ),
        0,
    ),
    "branches": [],
    "nodes": [],
    "workers": [],
}
