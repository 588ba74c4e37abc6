"""The contract of each language: the known definitions of a real-looking file, with exact kinds, names and lines.

A sample is `samples/LANGUAGE/FILE` beside `samples/LANGUAGE/FILE.expected`, whose lines read
`kind qualified_name start-end`; a definition that must carry a docstring has ` "first words"` behind that.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cairn.source import languages
from cairn.source.chunking import chunk_file
from cairn.source.definitions import parse
from cairn.source.languages import (
    KINDS,
    LANGUAGES,
    PLAIN,
    Language,
    detect_language,
    load_part,
    load_query_text,
    load_reference_text,
)

SAMPLES = Path(__file__).parent / "samples"
FOLDERS = Path(languages.__file__).parent
PAGE = (Path(__file__).parents[3] / "docs" / "adding-a-language.md").read_text(encoding="utf-8")
PARTS = {
    needed: {
        name for name, word in re.findall(r"^\| `([\w.]+)` \|.*\| (\w+) \|$", PAGE, re.MULTILINE) if word == needed
    }
    for needed in ("always", "no")
}
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
    rules = (re.sub(r"^\s*;.*$", "", load_query_text(language), flags=re.MULTILINE) for language in LANGUAGES)
    found = {kind for text in rules for kind in re.findall(r"@definition\.(\w+)", text)}
    assert found | {"method", "module", "text"} == KINDS


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_language_has_a_grammar_a_query_that_compiles_and_a_sample(language: Language) -> None:
    parse(b"", language)
    own = [path.with_suffix("") for path in EXPECTED if path.parent.name == language.name]
    assert {detect_language(path.name, path.read_bytes()[:8192]) for path in own} == {language}


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_folder_of_a_language_holds_what_the_page_names(language: Language) -> None:
    files = {path.name for path in (FOLDERS / language.name).iterdir() if path.is_file()}
    assert PARTS["always"] - {"definitions.scm"} <= files <= PARTS["always"] | PARTS["no"]
    assert language.support.grammar
    assert "@name" in load_query_text(language)


def test_every_folder_and_every_sample_belongs_to_a_language() -> None:
    named = {language.name for language in LANGUAGES} | {
        name for language in LANGUAGES for name in language.support.folders
    }
    assert {path.name for path in FOLDERS.iterdir() if path.is_dir() and path.name != "__pycache__"} == named
    assert {path.name for path in SAMPLES.iterdir() if path.is_dir()} == {language.name for language in LANGUAGES}


@pytest.mark.parametrize(
    "language", [language for language in LANGUAGES if language.has_references], ids=lambda language: language.name
)
def test_a_language_whose_query_finds_imports_can_read_them(language: Language) -> None:
    resolution = load_part(language.name, "resolution")
    assert "@import" not in load_reference_text(language) or callable(getattr(resolution, "read_import", None))


def test_a_language_without_a_folder_has_no_support() -> None:
    assert [
        (language.support.grammar, language.has_references, load_part(language.name, "flow")) for language in PLAIN
    ] == [("", False, None)] * len(PLAIN)
