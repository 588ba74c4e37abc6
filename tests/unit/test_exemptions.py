"""Whatever is exempt from a check says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(file for name in ("src", "tests", "bench", "training") for file in (ROOT / name).rglob("*.py"))
_EXEMPT = re.compile(r"#\s*(?:noqa(?::\s*[A-Z0-9, ]+?)?|type:\s*ignore(?:\[[\w, -]+\])?)\s*$")


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("x = 1  # noqa: E501", True),
        ("x = 1  # noqa", True),
        ("x = y  # type: ignore[misc]", True),
        ("x = 1  # noqa: E501 - as it is written", False),
        ("x = y  # type: ignore[misc] # for once", False),
    ],
)
def test_a_line_without_a_reason_is_recognised(line: str, *, lacks: bool) -> None:
    assert (_EXEMPT.search(line) is not None) is lacks


def test_every_exemption_from_a_check_has_a_reason() -> None:
    without = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in FILES
        if "samples" not in file.parts and file != Path(__file__)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if _EXEMPT.search(line)
    ]
    assert without == []
