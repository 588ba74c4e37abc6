from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cairn.structure.flow import slice_from

FOLDER = Path(__file__).parent / "slices"
LEAST = 20  # functions a language
_MARK = re.compile(r"(?:#|//)([*<>])(\S*)$")
_FUNCTION = re.compile(r"(?:def|function|func|function\*) (\w+)")
_JAVA_METHOD = re.compile(r"  \w[\w<>\[\], ]* (\w+)\(")


class Case(NamedTuple):
    """A function of a sample file: where to cut it, and the lines that this must give."""

    file: str
    name: str
    line: int
    variable: str
    forward: bool
    expected: list[int]


def cases(file: Path) -> Iterator[Case]:
    """Read the marks in a sample; a marked line with a head on the outermost level begins a function."""
    case: Case | None = None
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        begins = _JAVA_METHOD.match(text) if file.suffix == ".java" else _FUNCTION.match(text)
        if begins and _MARK.search(text):
            if case is not None:
                yield case
            case = Case(file.name, begins[1], 0, "", False, [])
        if case is not None and (mark := _MARK.search(text)):
            case.expected.append(number)
            if mark[1] != "*":
                assert not case.line, f"{case.name} is cut twice"
                case = case._replace(line=number, variable=mark[2], forward=mark[1] == ">")
    assert case is not None
    yield case


SAMPLES = sorted(one for one in FOLDER.iterdir() if one.is_file())
CASES = [case for sample in SAMPLES for case in cases(sample)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}:{case.name}")
def test_a_slice_has_exactly_the_marked_lines(case: Case) -> None:
    found = slice_from(FOLDER, case.file, case.line, case.variable, forward=case.forward)
    assert found.function == case.name
    assert [number for number, _ in found.lines] == case.expected


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_there_are_enough_functions_of_each_language(sample: Path) -> None:
    assert len(list(cases(sample))) >= LEAST
