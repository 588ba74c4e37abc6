from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import AmbiguousError, NotFoundError, PathError, QueryError
from cairn.structure.answer import make_outline
from cairn.structure.flow import flow_of, mermaid, slice_from
from cairn.structure.locate import fetch_symbol, read_source

CODE = """class Store:
    # keeps values
    @cached
    def load(self, key):
        return self.get(key)

    def get(self, key):
        return key


class Cache:
    def load(self):
        return 1


def save(value):
    return value


def save(value, twice):
    return value
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    (folder / "store.py").write_text(CODE)
    return folder


def test_a_fetched_definition_includes_what_stands_above_it(root: Path) -> None:
    fetched = fetch_symbol(root, "store.py#Store.load")
    assert fetched is not None
    assert (fetched.start_line, fetched.end_line, fetched.kind) == (2, 5, "method")
    assert fetched.text.startswith("    # keeps values\n    @cached\n")


def test_every_id_of_an_outline_fetches_its_definition(root: Path) -> None:
    for symbol in make_outline(root, "store.py", "structure", None, None).symbols:
        fetched = fetch_symbol(root, symbol.id)
        assert fetched is not None
        assert (fetched.name, fetched.end_line) == (symbol.name, symbol.end_line)


def test_a_line_stands_for_the_definition_on_it(root: Path) -> None:
    for line, name in ((4, "load"), (8, "get"), (20, "save")):
        fetched = fetch_symbol(root, f"store.py#{line}")
        assert fetched is not None
        assert fetched.name == name


def test_an_edit_is_seen_at_once(root: Path) -> None:
    before = make_outline(root, "store.py", "structure", "Cache", None).symbols[0].start_line
    (root / "store.py").write_text("import os\n\n" + CODE)
    assert make_outline(root, "store.py", "structure", "Cache", None).symbols[0].start_line == before + 2


def test_a_path_and_a_name_may_both_hold_the_mark(root: Path) -> None:
    (root / "a#b.ts").write_text("class C {\n  #x = 1;\n}\n")
    fetched = fetch_symbol(root, "a#b.ts#C.#x")
    assert fetched is not None
    assert fetched.name == "#x"


def test_an_id_of_a_search_is_left_to_the_search(root: Path) -> None:
    assert fetch_symbol(root, "c_kw7qwcmzcaz") is None


def test_the_nearest_names_are_offered_for_one_that_does_not_exist(root: Path) -> None:
    with pytest.raises(NotFoundError, match="nearest are save"):
        make_outline(root, "store.py", "structure", "svae", None)


def test_definitions_beyond_the_limit_of_one_file_are_not_denied(root: Path) -> None:
    (root / "data.js").write_text("".join(f"var v{number};" for number in range(20_000)) + "function last() {}\n")
    outline = make_outline(root, "data.js", "structure", None, 1_000)
    said = "only its first 20,000 definitions are known"
    assert outline.notes == (f"{said}: there may be more from line 1 on",)
    assert said in outline.text
    for ask in (
        lambda: make_outline(root, "data.js", "structure", "last", None),
        lambda: fetch_symbol(root, "data.js#last"),
        lambda: flow_of(root, "data.js", "last"),
    ):
        with pytest.raises(NotFoundError, match=f"data.js may define last, but {said}"):
            ask()


def test_candidates_are_listed_for_a_name_of_several(root: Path) -> None:
    with pytest.raises(AmbiguousError, match=r"Store\.load \(line 4\), Cache\.load \(line 12\)"):
        make_outline(root, "store.py", "structure", "load", None)
    with pytest.raises(AmbiguousError, match=r"save~1 \(line 16\), save~2 \(line 20\)"):
        make_outline(root, "store.py", "structure", "save", None)
    assert make_outline(root, "store.py", "structure", "save~1", None).symbols[0].start_line == 16
    assert make_outline(root, "store.py", "structure", "Cache.load", None).symbols[0].start_line == 12


def test_files_that_have_no_outline_are_refused_with_the_reason(root: Path) -> None:
    (root / "data.bin").write_bytes(b"a\0b")
    (root / "big.json").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    (root / "folder").mkdir()
    (root / "link.py").symlink_to(root / "store.py")
    (root.parent / "outside.py").write_text("x = 1\n")
    for path, reason in (
        ("data.bin", "is not a text file"),
        ("big.json", "is a git LFS pointer"),
        ("folder", "is a folder"),
        ("link.py", "symbolic link"),
        ("../outside.py", "not a file of the project"),
        (".", "not a file of the project"),
    ):
        with pytest.raises(PathError, match=reason) as caught:
            read_source(root, path)
        assert caught.value.hint
    with pytest.raises(NotFoundError, match=r"no file gone\.py"):
        read_source(root, "gone.py")


def test_a_path_through_a_link_is_refused_with_the_file_it_leads_to(root: Path) -> None:
    (root / "link.py").symlink_to("store.py")
    (root / "chain.py").symlink_to("link.py")
    (root / "outside.py").symlink_to("/etc/hosts")
    (root / "loop.py").symlink_to("loop.py")
    (root / "nothing.py").symlink_to("gone.py")
    for path, hint in (
        ("link.py", "name the file it leads to: store.py"),
        ("chain.py", "name the file it leads to: store.py"),
        ("outside.py", "name a file of the project; this leads to none"),
        ("loop.py", "name a file of the project; this leads to none"),
        ("nothing.py", "name a file of the project; this leads to none"),
    ):
        with pytest.raises(PathError, match="symbolic link") as caught:
            read_source(root, path)
        assert caught.value.hint == hint


def test_an_absolute_path_through_a_link_above_the_root_is_found(root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    assert read_source(root, root.parent / "alias" / "store.py").path == "store.py"


def test_a_context_has_the_code_the_class_and_the_neighbours(root: Path) -> None:
    outline = make_outline(root, "store.py", "context", "Store.load", None)
    assert "class Store" in outline.text
    assert "        return self.get(key)" in outline.text
    assert "7-8 get(key)" in outline.text
    assert {one.qualified_name for one in outline.symbols} == {"Store", "Store.load", "Store.get"}


def test_a_context_keeps_to_its_budget_and_says_what_is_missing(root: Path) -> None:
    (root / "long.py").write_text("def long():\n" + "    x = 1\n" * 500)
    outline = make_outline(root, "long.py", "context", "long", 200)
    assert outline.text_tokens <= 200
    assert "lines: cairn fetch 'long.py#long')" in outline.text


def test_code_that_does_not_fit_is_cut_around_the_line_that_was_asked_for(root: Path) -> None:
    body = "".join(f"    x = {number}\n" for number in range(2, 501))
    (root / "long.py").write_text(f"def long():\n{body}")
    text = make_outline(root, "long.py", "context", "400", 200).text
    assert text.index("def long():") < text.index("(lines 6-396 are left out)") < text.index("    x = 400\n")
    assert "    x = 397\n    x = 398\n    x = 399\n    x = 400\n" in text
    assert "lines: cairn fetch 'long.py#long')" in text
    assert "are left out" not in make_outline(root, "long.py", "context", "8", 200).text
    assert "    x = 500" in make_outline(root, "long.py", "context", "500", 200).text


NESTED = """def before():
    return 0


class Outer:
    def first(self):
        return 1

    class Inner:
        def second(self):
            return 2

        def third(self):
            return 3

    def last(self):
        return 4


def after():
    return 5
"""


@pytest.mark.parametrize(
    ("name", "around"),
    [
        ("before", []),
        ("Outer", []),
        ("Outer.first", ["Outer"]),
        ("Outer.Inner", ["Outer"]),
        ("Outer.Inner.second", ["Outer", "Outer.Inner"]),
        ("Outer.Inner.third", ["Outer", "Outer.Inner"]),
        ("Outer.last", ["Outer"]),
        ("after", []),
    ],
)
def test_a_context_begins_with_what_encloses_the_definition(root: Path, name: str, around: list[str]) -> None:
    (root / "nested.py").write_text(NESTED)
    above, _, _ = make_outline(root, "nested.py", "context", name, None).text.partition(f" {name} ")
    classes = {"5-17 class Outer": "Outer", "9-14 class Inner": "Outer.Inner"}
    assert [classes[line] for line in above.splitlines()[1:-1]] == around


@pytest.mark.parametrize(("line", "gap"), [(7, ""), (8, ""), (9, ""), (10, "6-6"), (30, "6-26")])
def test_a_gap_is_told_only_where_lines_are_left_out(root: Path, line: int, gap: str) -> None:
    call = "combine(alpha_value, beta_value, gamma_value, delta_value)"
    body = "".join(f"    first, second = {call}, {number}  # of many\n" for number in range(2, 41))
    (root / "wide.py").write_text(f"def wide():\n{body}")
    text = make_outline(root, "wide.py", "context", str(line), 262).text
    assert [part.partition(" are")[0] for part in text.split("(lines ")[1:]] == ([gap] if gap else [])
    assert f", {line}  # of many" in text


def test_a_context_shows_the_nearest_of_many_neighbours_and_counts_the_rest(root: Path) -> None:
    (root / "many.py").write_text("".join(f"def f{number}(): ...\n" for number in range(40)))
    outline = make_outline(root, "many.py", "context", "f20", None)
    assert outline.text.endswith("(+27 more)")
    assert {one.name for one in outline.symbols} == {f"f{number}" for number in range(14, 27)}
    assert outline.omitted == 27
    assert outline.focus is not None
    assert outline.focus.name == "f20"


def test_a_context_needs_a_symbol(root: Path) -> None:
    with pytest.raises(QueryError, match="needs a symbol"):
        make_outline(root, "store.py", "context", None, None)


def test_an_extract_tells_of_complexity_calls_blocks_and_variables(root: Path) -> None:
    (root / "flow.py").write_text(
        "def twice(n):\n    return n * 2\n\n\ndef total(items):\n    result = 0\n    for item in items:\n"
        "        result += twice(item)\n    return result\n"
    )
    text = make_outline(root, "flow.py", "extract", None, None).text
    assert "5-9 total(items); complexity 2, 4 blocks" in text
    assert " calls twice (8)" in text
    assert " flow 0: 5-6 to 1; 1: 7 to 2 true, 3 false; 2: 8 to 1; 3: 9" in text
    assert " result written 6,8 read 8,9" in text
    assert "(2 of 2 functions left out" in make_outline(root, "flow.py", "extract", None, 10).text


def test_flow_of_what_is_no_function_or_has_no_table_is_refused(root: Path) -> None:
    (root / "a.rb").write_text("def f\n  1\nend\n")
    (root / "value.py").write_text("VALUE = 1\n")
    with pytest.raises(QueryError, match="constant VALUE is not a function"):
        flow_of(root, "value.py", "VALUE")
    with pytest.raises(QueryError, match="flow is not supported for ruby"):
        slice_from(root, "a.rb", 2, "", forward=False)


def test_a_slice_needs_a_statement_and_a_variable_of_the_line(root: Path) -> None:
    with pytest.raises(NotFoundError, match="no statement of <module> is on line 9") as caught:
        slice_from(root, "store.py", 9, "", forward=False)
    assert "lines" in caught.value.hint
    with pytest.raises(NotFoundError, match="has no variable keys; it has "):
        slice_from(root, "store.py", 5, "keys", forward=False)


def test_a_comment_on_the_first_line_is_no_statement(root: Path) -> None:
    (root / "script.py").write_text("# a\nx = 1\n")
    with pytest.raises(NotFoundError, match="no statement"):
        slice_from(root, "script.py", 1, "", forward=False)


@pytest.mark.parametrize(
    ("line", "name"), [(1, "<module>"), (3, "f"), (4, "f"), (5, "g"), (6, "g"), (7, "f"), (8, "<module>"), (10, "h")]
)
def test_a_slice_is_taken_in_the_innermost_function_around_a_line(root: Path, line: int, name: str) -> None:
    inner = "    def g():\n        return a\n"
    (root / "inner.py").write_text(
        f"x = 1\n\ndef f():\n    a = 1\n{inner}    return g\ny = x\n\ndef h():\n    return y\n"
    )
    assert slice_from(root, "inner.py", line, "", forward=False).function == name


def test_a_docstring_is_not_a_step_and_another_string_is(root: Path) -> None:
    lines = ("def f(a):", "    # a", '    """Say a', '    twice."""', '    "again"', '    f"{a}"', "    return a")
    (root / "documented.py").write_text("\n".join(lines) + "\n")
    assert [step.first_line for step in flow_of(root, "documented.py", "f").control.steps] == [1, 5, 6, 7, 7]
    with pytest.raises(NotFoundError, match="no statement of f is on line 3"):
        slice_from(root, "documented.py", 3, "", forward=False)
    (root / "formatted.py").write_text('def f(a):\n    f"{a}"\n    return a\n')
    assert [step.first_line for step in flow_of(root, "formatted.py", "f").control.steps] == [1, 2, 3, 3]


def test_printing_does_not_change_the_printer(root: Path) -> None:
    (root / "print.js").write_text("function f(a, b) {\n  console.log(a);\n  console.log(b);\n}\n")
    assert [number for number, _ in slice_from(root, "print.js", 3, "", forward=False).lines] == [1, 3]


def test_the_statements_outside_of_functions_can_be_cut_too(root: Path) -> None:
    (root / "script.py").write_text("a = 1\nb = 2\nc = a + 1\nprint(b)\nprint(c)\n")
    found = slice_from(root, "script.py", 5, "", forward=False)
    assert (found.function, [number for number, _ in found.lines]) == ("<module>", [1, 3, 5])


def test_a_chart_has_a_node_for_each_step_and_escapes_what_mermaid_reads(root: Path) -> None:
    (root / "chart.py").write_text('def f(a):\n    if a < "x":\n        return a\n    return 1\n')
    graph = flow_of(root, "chart.py", "f")
    chart = mermaid(graph, data=False)
    assert chart.startswith("flowchart TD\n")
    assert '    s1{"2: if a &lt; &quot;x&quot;:"}' in chart
    assert '    s1 -->|"true"| s2' in chart
    assert '-->|"a"|' in mermaid(graph, data=True)
    assert graph.control.complexity() == 2


@pytest.mark.parametrize(
    "text",
    [
        "store.py:5",
        'File "/srv/ci/project/store.py", line 5, in load',
        "at load (/srv/ci/store.py:5:9)",
        "store.py:5:in 'Store#load'",
    ],
)
def test_a_line_or_the_frame_of_a_traceback_fetches_the_definition_around_it(root: Path, text: str) -> None:
    fetched = fetch_symbol(root, text)
    assert fetched is not None
    assert (fetched.id, fetched.path, fetched.name, fetched.start_line, fetched.end_line) == (
        text, "store.py", "load", 2, 5
    )  # fmt: skip


def test_a_line_outside_all_definitions_fetches_the_lines_around_it(root: Path) -> None:
    (root / "steps.py").write_text("".join(f"print({number})\n" for number in range(1, 41)))
    fetched = fetch_symbol(root, "steps.py:20")
    assert fetched is not None
    assert (fetched.kind, fetched.start_line, fetched.end_line) == ("lines", 10, 30)


def test_a_line_beyond_the_end_is_refused_with_the_number_of_lines(root: Path) -> None:
    with pytest.raises(NotFoundError, match="has no line 999"):
        fetch_symbol(root, "store.py:999")


def test_an_outline_of_a_line_is_that_of_the_definition_around_it(root: Path) -> None:
    outline = make_outline(root, "store.py:5", "structure", None, None)
    assert [symbol.name for symbol in outline.symbols] == ["load"]
