"""What slices follow beyond plain assignments, and what they say that they did not."""

from __future__ import annotations

import pytest

from cairn.errors import NotFoundError
from cairn.structure.flow import Slice, slice_in

PYTHON = """\
import shop

seen = 0

def clean(rows, most):
    rows.append(most)

def wash(rows):
    clean(rows, 2)

def look(rows):
    return len(rows)

def direct(rows):
    rows = []
    wash(rows)
    look(rows)
    return rows

def by_name(counter):
    counter = []
    clean(most=1, rows=counter)
    return counter

def elsewhere(path):
    rows = []
    shop.fill(rows)
    print(rows)
    return rows

def handled(path):
    state = 1
    try:
        shop.load(path)
    except OSError:
        state = 2
    return state

def next_id():
    global seen
    seen += 1
    return seen

def reset():
    global seen
    seen = 0

def around():
    count = 0
    def inner():
        return count
    count = 5
    return inner

def local():
    seen = 3
    return seen
"""
GO = """\
package a

type T struct{ n int }

func grow(t *T) { t.n++ }

func copied(t T) { t.n++ }

func run() int {
	t := T{}
	grow(&t)
	u := T{}
	copied(u)
	return t.n + u.n
}
"""
TYPESCRIPT = """\
let cache = [];

function fill(list) {
  list.push(1);
}

function run(input) {
  const list = [];
  fill(list);
  send(list);
  return list.length + cache.length;
}

function reset() {
  cache = [];
}
"""


def cut(text: str, language: str, mark: str, variable: str = "", *, forward: bool = False) -> Slice:
    """Return the slice from the only line that says `mark`."""
    (line,) = [number for number, code in enumerate(text.split("\n"), 1) if mark in code]
    return slice_in(text.encode(), language, "file", line, variable, forward)


def within(text: str, function: str, line: str) -> str:
    """Return a text in which a line of a function ends with a mark."""
    at = text.index(line, text.index(function))
    return f"{text[: at + len(line)]}  # <{text[at + len(line) :]}"


def code(found: Slice) -> list[str]:
    return [text.strip() for _, text in found.lines]


def test_a_function_of_the_file_that_changes_its_argument_is_followed() -> None:
    found = cut(within(PYTHON, "def direct", "return rows"), "python", "# <")
    assert "wash(rows)" in code(found)
    assert "look(rows)" not in code(found)
    assert found.notes == ()


def test_an_argument_that_is_named_is_followed() -> None:
    found = cut(within(PYTHON, "def by_name", "return counter"), "python", "# <")
    assert "clean(most=1, rows=counter)" in code(found)


def test_a_pointer_is_followed_and_a_copy_is_not() -> None:
    found = cut(GO, "go", "return t.n + u.n")
    assert "grow(&t)" in code(found)
    assert "copied(u)" not in code(found)


def test_a_function_of_another_file_that_may_change_its_argument_is_named() -> None:
    found = cut(within(PYTHON, "def elsewhere", "return rows"), "python", "# <")
    assert found.notes == ("line 27 passes `rows` to fill: if that changes it, it is not followed",)


def test_an_exception_that_a_handler_in_the_slice_handles_is_named() -> None:
    found = cut(within(PYTHON, "def handled", "return state"), "python", "# <")
    assert found.notes == ("line 35 handles what line 34 may raise, of which only `raise` and `throw` are followed",)


def test_a_handler_of_what_a_slice_forward_may_raise_is_named() -> None:
    found = cut(PYTHON, "python", "shop.load(path)", forward=True)
    assert "line 35 handles what line 34 may raise, of which only `raise` and `throw` are followed" in found.notes


@pytest.mark.parametrize(
    ("function", "line", "note"),
    [
        ("def next_id", "return seen", "`seen` is from outside of next_id, where lines 3 and 46 may write it"),
        ("def inner", "return count", "`count` is from outside of inner, where lines 49 and 52 may write it"),
    ],
)
def test_a_variable_of_the_scope_around_is_named_with_where_it_is_written(function: str, line: str, note: str) -> None:
    found = cut(within(PYTHON, function, line), "python", "# <")
    assert found.notes[0] == f"{note}: that is not followed"


def test_a_local_variable_with_the_name_of_a_global_one_needs_no_note() -> None:
    assert cut(within(PYTHON, "def local", "return seen"), "python", "# <").notes == ()


def test_typescript_follows_its_own_functions_and_names_the_rest() -> None:
    found = cut(TYPESCRIPT, "typescript", "return list.length")
    assert "fill(list);" in code(found)
    assert found.notes == (
        "line 10 passes `list` to send: if that changes it, it is not followed",
        "`cache` is from outside of run, where line 15 may write it: that is not followed",
    )


@pytest.mark.parametrize(
    ("forward", "note"),
    [(False, "line 40 depends on nothing else in next_id"), (True, "nothing else in next_id depends on line 42")],
)
def test_a_slice_of_one_line_says_so(forward: bool, note: str) -> None:
    mark = within(PYTHON, "def next_id", "return seen" if forward else "global seen")
    assert note in cut(mark, "python", "# <", forward=forward).notes


def test_a_variable_that_is_not_on_the_line_is_refused_with_those_that_are() -> None:
    with pytest.raises(NotFoundError, match=r"^line 34 of file has no variable state; it has path, shop"):
        cut(PYTHON, "python", "shop.load(path)", "state")
