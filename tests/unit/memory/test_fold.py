from __future__ import annotations

import random
from itertools import permutations

from cairn.memory.clock import text_of
from cairn.memory.events import Event
from cairn.memory.fold import fold
from memory_histories import CREATED, START

A, B, C = (f"01990000-0000-7000-8000-00000000000{digit}" for digit in "abc")


def event(id: str, second: int, kind: str, authority: str = "agent", **value: object) -> Event:
    time = text_of(int((START + second) * 1000))
    return Event(id, "project", time, f"{authority}:x", authority, kind, CREATED if kind == "created" else value)


def superseded(id: str, second: int, other: str, authority: str = "agent") -> Event:
    return event(id, second, "status", authority, status="superseded", superseded_by=other)


def test_the_order_in_which_events_arrive_does_not_matter() -> None:
    events = [
        event(A, 0, "created"),
        event(A, 1, "set", importance=9),
        event(A, 2, "link", path="a.py", symbol="", hash="1"),
        event(A, 3, "status", status="resolved"),
        event(A, 4, "unlink", path="a.py", symbol=""),
    ]
    outcomes = {tuple(fold(order).items()) for order in permutations(events)}
    ((_, observation),) = outcomes.pop()
    assert not outcomes
    assert (observation.importance, observation.status, observation.links) == (9, "resolved", ())


def test_events_at_the_same_time_count_in_the_order_of_their_ids() -> None:
    first, second = event(A, 1, "set", text="one"), event(A, 1, "set", text="two")
    last = max(first, second, key=lambda event: event.id)
    assert fold([event(A, 0, "created"), second, first])[A].text == last.value["text"]


def test_what_was_never_created_is_not_there() -> None:
    assert fold([event(A, 1, "set", importance=9), event(A, 2, "status", status="resolved")]) == {}


def test_a_rule_does_not_undo_what_a_person_decided() -> None:
    events = [
        event(A, 0, "created"),
        event(A, 1, "status", "person", status="active"),
        event(A, 2, "status", "rule", status="archived"),
        event(A, 3, "status", "agent", status="resolved"),
    ]
    assert fold(events)[A].status == "active"
    assert fold([*events, event(A, 4, "status", "person", status="archived")])[A].status == "archived"


def test_a_redaction_leaves_nothing_of_what_came_before_or_after() -> None:
    events = [event(A, 0, "created"), event(A, 2, "redact"), event(A, 3, "set", text="again")]
    observation = fold(events)[A]
    assert observation.is_redacted
    assert (observation.text, observation.tags, observation.links) == ("", (), ())
    assert fold([events[1]]) == fold(events)


def test_the_oldest_edge_of_a_circle_does_not_count() -> None:
    created = [event(id, 0, "created") for id in (A, B, C)]
    circle = [superseded(A, 1, B), superseded(B, 2, C), superseded(C, 3, A)]
    for order in permutations(circle):
        folded = fold([*created, *order])
        assert [folded[id].status for id in (A, B, C)] == ["active", "superseded", "superseded"]


def test_a_rule_does_not_take_a_persons_edge_out_by_closing_a_circle() -> None:
    created = [event(id, 0, "created") for id in (A, B)]
    folded = fold([*created, superseded(A, 1, B, "person"), superseded(B, 2, A, "rule")])
    assert (folded[A].status, folded[B].status) == ("superseded", "active")


def test_an_edge_of_a_broken_circle_counts_again_once_the_circle_is_gone() -> None:
    created = [event(id, 0, "created") for id in (A, B)]
    circle = [superseded(A, 1, B), superseded(B, 2, A)]
    assert fold([*created, *circle])[A].status == "active"
    assert fold([*created, *circle, event(B, 3, "status", status="active")])[A].status == "superseded"


def test_what_supersedes_itself_does_not() -> None:
    assert fold([event(A, 0, "created"), superseded(A, 1, A)])[A].status == "active"


def test_circles_behind_circles_are_opened_in_any_order() -> None:
    ids = [f"01990000-0000-7000-8000-0000000000{number:02x}" for number in range(12)]
    randomly = random.Random(5)
    for _ in range(200):
        events = [event(id, 0, "created") for id in ids]
        for second in range(1, 40):
            authority = randomly.choice(["rule", "agent", "person"])
            events.append(superseded(randomly.choice(ids), second, randomly.choice(ids), authority))
        outcome = fold(events)
        randomly.shuffle(events)
        assert fold(events) == outcome
        for id in ids:
            seen = set()
            while outcome[id].status == "superseded":
                assert id not in seen
                seen.add(id)
                id = outcome[id].superseded_by
