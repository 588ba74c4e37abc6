"""Where the text of a file says a name."""

from __future__ import annotations

import pytest

from cairn.graph.sightings import find_sightings, lines_with, looks_called, looks_derived, looks_imported
from cairn.source.languages import BY_NAME


def sightings(
    text: str, language: str, *, name: str = "spawn", code_lines: tuple[int, ...] = ()
) -> list[tuple[int, bool]]:
    found = find_sightings(text.encode(), frozenset({name}), language, (), code_lines)
    return [(sighting.line, sighting.is_call) for sighting in found]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("rust", "cfg_rt! { handle.spawn(task) }"),
        ("rust", "spawn::<Task>(task);"),
        ("rust", "spawn![task];"),
        ("c", "#define START(x) spawn(x)"),
        ("c", "    *spawn(x) = 1;"),
        ("kotlin", "scope.spawn<Int>(task)"),
        ("kotlin", "scope.spawn { task }"),
        ("php", "return \\spawn($task);"),
        ("typescript", "const x = spawn<Task>(task)"),
        ("tsx", "return <spawn task={task} />"),
        ("javascript", "spawn`task`"),
        ("csharp", "using var x = spawn(task);"),
        ("java", "return new spawn <Task>();"),
        ("java", "@spawn"),
        ("go", "spawn[int](task)"),
        ("haskell", "main = spawn task"),
        ("bash", "spawn task"),
        ("elixir", "task |> spawn()"),
        ("lua", 'spawn "task"'),
    ],
)
def test_a_line_that_calls_a_name_is_a_call(language: str, line: str) -> None:
    assert sightings(line, language) == [(1, True)]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("rust", "pub fn spawn(task: Task) {}"),
        ("rust", "macro_rules! spawn {"),
        ("rust", "use crate::spawn;"),
        ("go", "func (p *Pool) spawn(task Task) {"),
        ("kotlin", "fun <T> Scope.spawn(task: T) {}"),
        ("elixir", "  @spec spawn(task) :: pid"),
        ("elixir", "  defp spawn(task) do"),
        ("ruby", "def self.spawn(task)"),
        ("python", "from pool import spawn"),
        ("c", "#define spawn(x) start(x)"),
        ("typescript", 'import { spawn } from "./pool";'),
        ("c", "// spawn(x) starts it"),
        ("c", "start(x);  // not spawn(x)"),
        ("c", " * spawn(x) starts it"),
        ("python", "# spawn(x) starts it"),
        ("php", "$spawn($task);"),
        ("rust", "respawn(task); spawn_all(task);"),
        ("elixir", "spawn!(task)"),
        ("elixir", "spawned in @spawn"),
        ("ruby", "start @spawn"),
        ("ruby", "spawn! task if spawn?"),
    ],
)
def test_definitions_imports_and_comments_are_left_out(language: str, line: str) -> None:
    assert sightings(line, language) == []


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "pool.run(spawn)"),
        ("python", '"""Use spawn(task)."""'),
        ("rust", "run(spawn)"),
        ("elixir", "Set `:spawn`."),
    ],
)
def test_another_line_that_says_the_name_is_no_call(language: str, line: str) -> None:
    assert sightings(line, language) == [(1, False)]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("java", 'fail("no spawn(task) here");'),
        ("typescript", "it('spawn() starts it', run)"),
        ("typescript", "log(`no spawn(task)`)"),
        ("php", "fail('no spawn($task)');"),
        ("ruby", 'fail "no spawn here"'),
    ],
)
def test_a_text_calls_nothing_unless_the_parser_found_code_in_it(language: str, line: str) -> None:
    assert sightings(line, language) == [(1, False)]
    assert sightings(line, language, code_lines=(1,)) == [(1, True)]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("rust", "cfg! { fn run<'a>(x: &'a str) { spawn(x) } }"),
        ("vue", '<b @click="spawn(task)">'),
        ("bash", 'x="$(spawn "$1")"'),
    ],
)
def test_what_only_looks_like_a_text_may_be_a_call(language: str, line: str) -> None:
    assert sightings(line, language) == [(1, True)]


def test_ruby_has_no_macros_that_hide_a_call_from_the_parser() -> None:
    assert sightings("server.spawn task", "ruby", code_lines=(1,)) == [(1, True)]
    assert sightings("server.spawn task", "ruby") == [(1, False)]


def test_what_the_parser_takes_for_code_is_no_comment() -> None:
    text = "x = a\n  * spawn(b);\n"
    assert sightings(text, "c") == []
    assert sightings(text, "c", code_lines=(2,)) == [(2, True)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("go", "/*\nspawn(x) starts it,\n    as spawn(y) does\n*/\n"),
        ("go", "start(x) /* not spawn(x) */\n"),
        ("lua", "--[[\nspawn(x) starts it\n--]]\n"),
        ("haskell", "{- Like\nspawn x\n-}\n"),
        ("ruby", "=begin\nspawn x\n=end\n"),
        ("julia", "#=\nspawn(x)\n=#\n"),
    ],
)
def test_a_comment_over_lines_calls_nothing(language: str, text: str) -> None:
    assert sightings(text, language) == []
    assert sightings(f"{text}spawn(z)\n", language)[0][0] == text.count("\n") + 1


@pytest.mark.parametrize(
    "line",
    [
        'match("src/*", spawn(x), "*/")',
        "open() // src/*\nspawn(x) // */",
        "/* all */ spawn(x) /* done */",
        "/* never closed\nspawn(x)",
    ],
)
def test_what_only_looks_like_the_begin_of_a_comment_hides_no_call(line: str) -> None:
    assert [is_call for _, is_call in sightings(line, "go")] == [True]


def test_a_url_does_not_begin_a_comment() -> None:
    assert sightings("open(http://x, spawn(y))", "go") == [(1, True)]


def test_each_line_is_given_once_and_a_call_outweighs_a_name() -> None:
    assert sightings("spawn, spawn(spawn)\n\nspawn\n", "rust") == [(1, True), (3, False)]


def test_every_language_has_what_tells_its_comments() -> None:
    for language in BY_NAME:
        assert sightings("spawn", language) in ([(1, False)], [(1, True)])


SPAWN = frozenset({"spawn"})
TASK = frozenset({"Task"})


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("python", "def run():\n    spawn(task)\n", SPAWN),
        ("python", "@spawn\ndef run(): ...\n", SPAWN),
        ("ruby", "  spawn task\n", SPAWN),
        ("ruby", "  Task.new(1)\n", TASK),
        ("kotlin", "val task = Task { run() }\n", TASK),
        ("java", "return new Task<>(run);\n", TASK),
        ("rust", "let task = Task::new();\n", TASK),
        ("go", "task := Task{name}\n", TASK),
    ],
)
def test_a_file_looks_as_if_it_calls_something(language: str, text: str, names: frozenset[str]) -> None:
    assert looks_called(text.encode(), names, language)


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("python", "def spawn(task): ...\n", SPAWN),
        ("python", "def run(task: Task) -> None: ...\n", TASK),
        ("ruby", "  Task.find(1)\n", TASK),
        ("ruby", "  respawn task\n", SPAWN),
        ("kotlin", "import a.Task\n\nfun run(task: Task) = 1\n", TASK),
        ("rust", "use a::spawn;\n", SPAWN),
    ],
)
def test_a_file_that_says_a_name_otherwise_does_not_look_like_that(
    language: str, text: str, names: frozenset[str]
) -> None:
    assert not looks_called(text.encode(), names, language)


def test_a_file_looks_as_if_it_derives_from_a_type_or_imports_it() -> None:
    assert looks_derived(b"class Own(Task):\n    pass\n", TASK, "python")
    assert not looks_derived(b"def run(task: Task): ...\n", TASK, "python")
    assert looks_imported(b"import a.b.Task\n", TASK)
    assert not looks_imported(b"def run(task: Task): ...\n", TASK)


def test_lines_that_say_a_name_are_found() -> None:
    assert lines_with(b"spawn\n\nrespawn\n a.spawn(spawn)\n", SPAWN) == {1, 4}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("struct spawn *next;", [1]),
        ("size = sizeof(struct spawn);", [1]),
        ("static struct spawn *\nfind(void)", [1]),
        ("static enum spawn\nkind_of(int c)", [1]),
        ("struct spawn\n{", []),
        ("struct spawn {", []),
        ("enum spawn;", []),
    ],
)
def test_the_tag_of_a_structure_of_c_is_used_unless_it_is_defined(line: str, expected: list[int]) -> None:
    assert [found for found, _ in sightings(line, "c")] == expected
