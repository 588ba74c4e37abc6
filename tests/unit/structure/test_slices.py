from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cairn.source.languages import detect_language
from cairn.source.text import count_tokens
from cairn.structure.extract import lay_out_flow_in
from cairn.structure.flow import Slice, flow_in, slice_from, slice_in
from cairn.structure.outline import outline_file

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


def cut(case: Case) -> Slice:
    data = (FOLDER / case.file).read_bytes()
    return slice_in(data, detect_language(case.file, b"").name, case.file, case.line, case.variable, case.forward)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}:{case.name}")
def test_a_slice_has_exactly_the_marked_lines(case: Case) -> None:
    found = cut(case)
    assert found.function == case.name
    assert [number for number, _ in found.lines] == case.expected


@pytest.mark.parametrize("case", [next(cases(sample)) for sample in SAMPLES], ids=lambda case: case.file)
def test_a_slice_that_a_helper_cuts_is_the_same(case: Case) -> None:
    assert slice_from(FOLDER, case.file, case.line, case.variable, forward=case.forward) == cut(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}:{case.name}")
def test_each_step_of_a_function_lies_in_it_and_leads_on_to_another(case: Case) -> None:
    flow = flow_in(
        (FOLDER / case.file).read_bytes(), detect_language(case.file, b"").name, case.file, case.name
    ).control
    assert flow.steps[-1].kind == "exit"
    assert not flow.steps[-1].successors
    for step in flow.steps[:-1]:
        assert flow.first_line <= step.first_line <= step.last_line <= flow.last_line
        assert step.successors
        assert all(0 < target < len(flow.steps) for target, _ in step.successors)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_the_flow_of_a_file_names_its_functions_and_what_has_no_room_is_counted(sample: Path) -> None:
    data, language = sample.read_bytes(), detect_language(sample.name, b"")
    outline = outline_file(data, sample.name, language)
    whole = lay_out_flow_in(data, language.name, sample.name, outline, 100_000, "commands")
    for case in cases(sample):
        assert case.name in whole.text
    assert whole.tokens == count_tokens(whole.text)
    part = lay_out_flow_in(data, language.name, sample.name, outline, 600, "commands")
    assert 0 < len(part.shown) < len(whole.shown)
    assert f"({len(whole.shown) - len(part.shown)} of {len(whole.shown)} functions left out" in part.text


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_there_are_enough_functions_of_each_language(sample: Path) -> None:
    assert len(list(cases(sample))) >= LEAST
