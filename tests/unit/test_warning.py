from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.warning import listen, warn


@pytest.fixture(autouse=True)
def _nobody_listens() -> Iterator[None]:
    listen(None)
    yield
    listen(None)


def test_a_warning_of_a_kind_is_told_once_to_each_listener() -> None:
    for _ in range(2):
        told: list[str] = []
        listen(told.append)
        assert all([warn("unwritable", "one"), warn("unwritable", "two"), warn("other", "three")])
        assert told == ["one", "three"]


def test_without_a_listener_a_warning_is_left_to_the_answer() -> None:
    assert not warn("unwritable", "one")
