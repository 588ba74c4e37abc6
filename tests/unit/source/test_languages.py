"""The contract of each language: the known definitions of a real-looking file, with exact kinds, names and lines.

A sample is `samples/NAME.EXT` (or a bare file name) beside `samples/NAME.EXT.expected`, whose lines read
`kind qualified_name start-end`; a definition that must carry a docstring has ` "first words"` behind that.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cairn.source.chunking import chunk_file
from cairn.source.definitions import parse
from cairn.source.languages import KINDS, LANGUAGES, detect_language, load_query_text

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = sorted(SAMPLES.glob("*/*.expected"))


@pytest.mark.parametrize("expected_file", EXPECTED, ids=lambda path: path.stem)
def test_sample_yields_exactly_the_known_definitions(expected_file: Path) -> None:
    source = expected_file.with_suffix("")
    data = source.read_bytes()
    parsed = chunk_file(data, detect_language(source.name, data[:8192]))
    assert parsed.note == ""
    wanted = [line for line in expected_file.read_text("utf-8").splitlines() if line and not line.startswith("//")]
    actual = []
    for line, definition in zip(wanted, parsed.definitions, strict=False):
        text = f"{definition.kind} {definition.qualified_name} {definition.span.start_line}-{definition.span.end_line}"
        if ' "' in line:
            words = line.rsplit(' "', 1)[1].rstrip('"')
            text += f' "{words}"' if words in definition.doc else f' "{definition.doc}"'
        actual.append(text)
    actual += [f"unexpected {d.kind} {d.qualified_name} {d.span}" for d in parsed.definitions[len(wanted) :]]
    assert actual == wanted


def test_the_kinds_that_are_known_are_those_the_queries_find() -> None:
    rules = (re.sub(r"^\s*;.*$", "", load_query_text(one), flags=re.MULTILINE) for one in LANGUAGES)
    found = {kind for text in rules for kind in re.findall(r"@definition\.(\w+)", text)}
    assert found | {"method", "module", "text"} == KINDS


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_language_has_a_grammar_a_query_that_compiles_and_a_sample(language: object) -> None:
    from cairn.source.languages import Language  # noqa: PLC0415 - kept out of collection

    assert isinstance(language, Language)
    parse(b"", language)
    detected = {detect_language(path.stem, path.with_suffix("").read_bytes()[:8192]).name for path in EXPECTED}
    assert language.name in detected
