from __future__ import annotations

import pytest

from cairn.graph.alike import names_like


@pytest.mark.parametrize("wrong", ["redirct", "rediretc", "REDIRCT", "rdirect"])
@pytest.mark.parametrize("n_others", [10, 30_000])
def test_a_misspelt_name_is_found_among_few_and_many(wrong: str, n_others: int) -> None:
    names = [*(f"handler{number}" for number in range(n_others)), "redirect", "Redirects"]
    assert names_like(names, wrong, 2)[0] == "redirect"


def test_what_is_not_like_a_name_is_left_out() -> None:
    assert names_like(["redirect", "handler"], "colour", 5) == []
    assert names_like(["redirect", "direct"], "redirct", 5, 0.9) == ["redirect"]
