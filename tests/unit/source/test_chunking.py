from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.source.chunking import FALLBACK_BYTES, TARGET_BYTES, WHOLE_BYTES, chunk_file
from cairn.source.languages import LANGUAGES, Language, detect_language
from cairn.types import Chunk, Definition, ParsedFile

SAMPLES = sorted(path.with_suffix("") for path in (Path(__file__).parent / "samples").glob("*/*.expected"))
BY_NAME = {language.name: language for language in LANGUAGES}
PYTHON = BY_NAME["python"]
TEXT = Language("text", group="prose")


def python(source: str) -> ParsedFile:
    return chunk_file(source.encode(), PYTHON)


def names(parsed: ParsedFile) -> list[str]:
    return [definition.qualified_name for definition in parsed.definitions]


def find(parsed: ParsedFile, qualified_name: str) -> Definition:
    return next(definition for definition in parsed.definitions if definition.qualified_name == qualified_name)


def chunks_of(parsed: ParsedFile, qualified_name: str) -> list[Chunk]:
    index = names(parsed).index(qualified_name)
    return [chunk for chunk in parsed.chunks if chunk.owner == index]


def text_of(source: str, chunk: Chunk) -> str:
    ((first, last),) = chunk.lines
    return "\n".join(source.split("\n")[first - 1 : last])


def function(name: str, *, n_statements: int, indent: str = "") -> str:
    body = "".join(f"{indent}    {name}_{number} = compute({number}) + offset\n" for number in range(n_statements))
    return f"{indent}def {name}(offset):\n{body}{indent}    return offset\n"


def lines_of(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n"))


def check_contract(parsed: ParsedFile, data: bytes) -> None:
    """Each line is covered once, in reading order; spans lie in the file; definitions nest."""
    n_lines = lines_of(data)
    covered = [line for chunk in parsed.chunks for first, last in chunk.lines for line in range(first, last + 1)]
    assert covered == (list(range(1, n_lines + 1)) if data.strip() else [])
    for chunk in parsed.chunks:
        span = chunk.span
        assert 1 <= span.start_line <= span.end_line <= n_lines
        assert 0 <= span.start_byte < span.end_byte <= len(data)
        assert -1 <= chunk.owner < len(parsed.definitions)
    ranges = [chunk.definitions for chunk in parsed.chunks]
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges)][: len(ranges)]
    assert not ranges or ranges[-1][1] == len(parsed.definitions)
    for index, definition in enumerate(parsed.definitions):
        span = definition.span
        assert definition.name
        assert 1 <= span.start_line <= span.end_line <= n_lines
        assert 0 <= span.start_byte <= span.end_byte <= len(data)
        assert -1 <= definition.parent < index
        if definition.parent >= 0:
            outer = parsed.definitions[definition.parent].span
            assert outer.start_byte <= span.start_byte
            assert span.end_byte <= outer.end_byte
    assert all(a.span.start_byte <= b.span.start_byte for a, b in pairwise(parsed.definitions))


# -- along definitions ------------------------------------------------------------------------------------------------


def test_methods_of_a_long_class_are_chunks_that_carry_the_header_of_the_class() -> None:
    source = "class Store(Base):\n" + "".join(
        function(name, n_statements=10, indent="    ") + "\n" for name in ("load", "save", "drop")
    )
    parsed = python(source)
    assert [find(parsed, f"Store.{name}").kind for name in ("load", "save", "drop")] == ["method"] * 3
    for name in ("load", "save", "drop"):
        (chunk,) = chunks_of(parsed, f"Store.{name}")
        assert chunk.header == "class Store(Base)"
        assert f"def {name}(offset):" in text_of(source, chunk)
    (opening,) = chunks_of(parsed, "Store")
    assert (opening.span.start_line, opening.span.end_line) == (1, lines_of(source.rstrip().encode()))


def test_a_small_class_stays_in_one_piece_with_its_methods() -> None:
    source = "class Point:\n    def x(self):\n        return 1\n\n    def y(self):\n        return 2\n"
    parsed = python(source)
    assert names(parsed) == ["Point", "Point.x", "Point.y"]
    assert [chunk.definitions for chunk in parsed.chunks] == [(0, 3)]


def test_a_long_body_is_split_on_statement_borders_under_its_header() -> None:
    body = "".join(f"    call(\n        first_{n},\n        second_{n},\n    )\n" for n in range(90))
    source = f"def long(first, second):\n{body}"
    parts = chunks_of(python(source), "long")
    assert len(parts) > 2
    assert [chunk.part for chunk in parts] == list(range(len(parts)))
    assert parts[0].header == ""
    for chunk in parts[1:]:
        assert chunk.header == "def long(first, second)"
        assert text_of(source, chunk).startswith("    call(")
    assert all(len(text_of(source, chunk)) <= WHOLE_BYTES for chunk in parts)


def test_a_later_part_of_a_long_method_names_both_its_class_and_itself() -> None:
    source = "class Store:\n" + function("load", n_statements=120, indent="    ")
    parts = chunks_of(python(source), "Store.load")
    assert len(parts) > 1
    assert parts[-1].header == "class Store\ndef load(offset)"


def test_a_function_of_moderate_length_stays_whole() -> None:
    source = function("whole", n_statements=45)
    assert TARGET_BYTES < len(source) < WHOLE_BYTES
    assert len(python(source).chunks) == 1


def test_a_run_of_small_definitions_is_one_chunk() -> None:
    source = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(6))
    parsed = python(source)
    assert len(parsed.definitions) == 6
    assert [chunk.definitions for chunk in parsed.chunks] == [(0, 6)]


def test_a_line_that_names_the_namespace_of_a_file_is_no_chunk_of_its_own() -> None:
    members = "".join(f"    public int Field{number} {{ get; set; }} = Make({number});\n" for number in range(40))
    source = f"// {'Licensed to all. ' * 30}\n\nnamespace Shop.Json;\n\npublic class Cart\n{{\n{members}}}\n"
    parsed = chunk_file(source.encode(), BY_NAME["csharp"])
    check_contract(parsed, source.encode())
    assert find(parsed, "Shop.Json").kind == "namespace"
    assert chunks_of(parsed, "Shop.Json") == []
    assert "namespace Shop.Json;" in text_of(source, parsed.chunks[0])
    assert "Licensed" in text_of(source, parsed.chunks[0])


def test_small_neighbours_are_not_merged_beyond_the_target_size() -> None:
    source = "".join(f"def function_number_{number}():\n    return {number}\n\n\n" for number in range(200))
    parsed = python(source)
    assert len(parsed.chunks) > 5
    assert max(len(text_of(source, chunk)) for chunk in parsed.chunks) <= TARGET_BYTES + 100


def test_module_level_code_before_between_and_after_definitions_is_kept() -> None:
    source = (
        "import os\n\nTABLE = make()\n\n\n" + function("one", n_statements=15) + "\n\nregister(one)\n\n\n"
        + function("two", n_statements=15) + "\n\nif __name__ == '__main__':\n    two(1)\n"
    )  # fmt: skip
    parsed = python(source)
    check_contract(parsed, source.encode())
    text = "\n".join(text_of(source, chunk) for chunk in parsed.chunks)
    for wanted in ("import os", "TABLE = make()", "register(one)", "two(1)"):
        assert wanted in text


def test_a_long_script_without_definitions_is_split_and_nothing_is_lost() -> None:
    source = "".join(f"print('step {number}', run({number}))\n" for number in range(300))
    parsed = python(source)
    assert len(parsed.chunks) > 5
    assert {chunk.kind for chunk in parsed.chunks} == {"module"}
    check_contract(parsed, source.encode())


def test_decorators_and_comments_above_a_definition_are_in_its_chunk_but_not_in_its_span() -> None:
    source = (
        function("before", n_statements=12) + "\n\n# Answers one request.\n@app.route('/')\n@cached\n"
        + function("handle", n_statements=12)
    )  # fmt: skip
    parsed = python(source)
    (chunk,) = chunks_of(parsed, "handle")
    assert text_of(source, chunk).startswith("# Answers one request.\n@app.route('/')\n@cached\ndef handle")
    handle = find(parsed, "handle")
    assert source.encode()[handle.span.start_byte :].startswith(b"def handle")
    assert "Answers one request." in handle.doc
    assert handle.signature.endswith("def handle(offset)")


def test_docstrings_are_documentation_without_their_quotes() -> None:
    parsed = python('class A:\n    """Keeps things."""\n\n    def f(self):\n        r"""Does it."""\n')
    assert find(parsed, "A").doc == "Keeps things."
    assert find(parsed, "A.f").doc == "Does it."


def test_nested_functions_and_classes_are_listed_under_what_encloses_them() -> None:
    parsed = python(
        "def outer():\n    class Local:\n        def method(self):\n            return 1\n    return Local\n"
    )
    assert names(parsed) == ["outer", "outer.Local", "outer.Local.method"]
    assert [definition.parent for definition in parsed.definitions] == [-1, 0, 1]


# -- broken and odd content -------------------------------------------------------------------------------------------


def test_a_syntax_error_costs_only_the_definition_it_is_in() -> None:
    source = function("good", n_statements=2) + "\ndef broken(:\n    return )\n\n" + function("fine", n_statements=2)
    parsed = python(source)
    assert {"good", "fine"} <= set(names(parsed))
    check_contract(parsed, source.encode())


def test_text_that_the_grammar_makes_nothing_of_is_cut_on_line_borders() -> None:
    source = b"<<<< ==== (((( not any language\n" * 100
    parsed = chunk_file(source, BY_NAME["java"])
    assert parsed.definitions == ()
    assert parsed.note == "did not parse"
    assert {chunk.kind for chunk in parsed.chunks} == {"text"}
    check_contract(parsed, source)


def test_text_without_grammar_is_cut_into_pieces_whose_spans_overlap() -> None:
    source = b"".join(b"%04d a line of plain text, long enough\n" % number for number in range(200))
    parsed = chunk_file(source, TEXT)
    check_contract(parsed, source)
    sizes = [chunk.span.end_byte - chunk.span.start_byte for chunk in parsed.chunks]
    assert len(parsed.chunks) > 5
    assert max(sizes) <= FALLBACK_BYTES + 250
    for before, after in pairwise(parsed.chunks):
        shared = before.span.end_byte - after.span.start_byte
        assert 100 <= shared <= 200


def test_one_long_line_is_one_piece() -> None:
    data = b"word " * 100_000
    for language in (TEXT, PYTHON, BY_NAME["json"], BY_NAME["markdown"]):
        check_contract(chunk_file(data, language), data)


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\n\r\n", b"\x0c"])
def test_a_blank_file_has_no_chunks(data: bytes) -> None:
    assert chunk_file(data, PYTHON).chunks == ()
    assert chunk_file(data, TEXT).chunks == ()


def test_carriage_returns_do_not_shift_lines() -> None:
    parsed = chunk_file(b"import os\r\n\r\n\r\ndef f():\r\n    return 1\r\n", PYTHON)
    assert (find(parsed, "f").span.start_line, find(parsed, "f").span.end_line) == (4, 5)


def test_letters_of_latin_1_do_not_move_spans() -> None:
    data = "# café\ndef f():\n    return 'é'\n".encode("latin-1")
    f = find(chunk_file(data, PYTHON), "f")
    assert data[f.span.start_byte : f.span.end_byte].startswith(b"def f()")
    check_contract(chunk_file(data, PYTHON), data)


def test_very_deep_nesting_does_not_overflow_the_stack() -> None:
    data = b"(" * 20_000 + b")" * 20_000 + b"\n"
    for name in ("python", "javascript", "c", "json"):
        check_contract(chunk_file(data, BY_NAME[name]), data)


# -- anything ---------------------------------------------------------------------------------------------------------

FRAGMENTS = (
    b"\n", b"\r\n", b"  ", b"\t", b"{", b"}", b"(", b")", b";", b":", b",", b"'", b'"', b"`", b"#", b"//", b"/*",
    b"*/", b"<!--", b"-->", b"--", b"@", b"\0", b"\xff", b"\xe2\x82", "é".encode(), b"def f():", b"class A",
    b"function g() {", b"fn h()", b"end", b"struct S", b"impl T for S", b"# Title", b"[section]", b"key: value",
    b"x = 1", b"<div>", b"</div>", b"public", b"static", b"int", b"module M", b"where", b"CREATE TABLE t (",
    b"FROM base", b"all:", b"\tcc -o", b"```", b"<?php", b"return",
)  # fmt: skip


@given(st.sampled_from(LANGUAGES), st.binary(max_size=600))
@settings(max_examples=150)
def test_any_bytes_in_any_language_are_covered_line_by_line(language: Language, data: bytes) -> None:
    check_contract(chunk_file(data, language), data)


@given(st.sampled_from(LANGUAGES), st.lists(st.sampled_from(FRAGMENTS), max_size=120))
@settings(max_examples=250)
def test_any_mix_of_code_fragments_is_covered_line_by_line(language: Language, fragments: list[bytes]) -> None:
    data = b"".join(fragments)
    check_contract(chunk_file(data, language), data)


@given(st.data())
@settings(max_examples=150)
def test_a_real_file_stays_covered_whatever_is_done_to_it(data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(SAMPLES))
    content = bytearray(sample.read_bytes())
    language = detect_language(sample.name, bytes(content[:8192]))
    for _ in range(data.draw(st.integers(0, 6))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 40))
        content[place : place + length] = data.draw(st.sampled_from((b"", *FRAGMENTS)))
    repeated = bytes(content) * data.draw(st.sampled_from((1, 1, 1, 4)))
    check_contract(chunk_file(repeated, language), repeated)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_every_prefix_of_lines_of_a_real_file_is_covered(sample: Path) -> None:
    lines = sample.read_bytes().splitlines(keepends=True)
    language = detect_language(sample.name, sample.read_bytes()[:8192])
    for end in range(1, len(lines) + 1, max(1, len(lines) // 8)):
        data = b"".join(lines[:end])
        check_contract(chunk_file(data, language), data)
