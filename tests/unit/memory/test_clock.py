from __future__ import annotations

import pytest

from cairn.memory.clock import HybridClock, is_time, seconds_of, text_of

NOON = 1_767_182_400.0


def test_times_rise_while_the_clock_stands_still_or_goes_back() -> None:
    moments = iter([NOON, NOON, NOON - 60, NOON + 0.001])
    clock = HybridClock(lambda: next(moments))
    times = [""]
    for _ in range(4):
        times.append(clock.tick(times[-1]))
    assert times == sorted(set(times))
    assert times[1] == "2025-12-31T12:00:00.000Z-0000"
    assert times[4] == "2025-12-31T12:00:00.001Z-0000"


def test_a_time_is_after_the_one_it_must_follow() -> None:
    assert HybridClock(lambda: NOON).tick("2026-06-01T00:00:00.000Z-0007") == "2026-06-01T00:00:00.000Z-0008"


def test_a_count_that_is_full_goes_on_in_the_next_millisecond() -> None:
    assert HybridClock(lambda: NOON).tick("2026-06-01T00:00:00.999Z-ffff") == "2026-06-01T00:00:01.000Z-0000"


def test_a_time_and_its_seconds_say_the_same() -> None:
    assert seconds_of(text_of(1_767_182_400_123, 5)) == pytest.approx(NOON + 0.123)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-01",
        "2026-02-31T00:00:00.000Z-0000",
        "2026-01-01T00:00:00.000Z-00000",
        "\uff12026-01-01T00:00:00.000Z-0000",
    ],
)
def test_what_is_no_time_is_recognised(text: str) -> None:
    assert not is_time(text)
