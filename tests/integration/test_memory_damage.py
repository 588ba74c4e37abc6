from __future__ import annotations

import os
import shutil

import pytest

import memory_damage


@pytest.mark.parametrize(
    "number", range(len(memory_damage.KINDS)), ids=lambda number: memory_damage.KINDS[number].__name__
)
def test_after_damage_memories_are_right_or_refused_with_a_hint(number: int) -> None:
    if memory_damage.KINDS[number] is memory_damage.forbid and os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("root reads every file, and nothing here takes that right away")
    what, how, wrong = memory_damage.one_damage(number, seed=3)
    assert wrong == "", (what, how)
