from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from in_process import cairn, check_error, document
from small_projects import write_files

Git = Callable[..., str]

FILES = {
    "shop/__init__.py": "",
    "shop/money.py": "def fee(amount):\n    return amount\n",
    "shop/cart.py": "from shop.money import fee\n\n\nclass Cart:\n    def total(self):\n        return fee(1)\n",
    "shop/other.py": "def total():\n    return 1\n\n\ndef _unused():\n    return 2\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 1\n",
}


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    """A repository with one commit, not indexed yet."""
    write_files(checkout, FILES)
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "all")
    return checkout


def test_callers_index_what_is_needed_and_print_a_line_for_each_call(project: Path) -> None:
    done = cairn("callers", "fee", cwd=project)
    assert done.returncode == 0
    assert done.stdout == "shop/cart.py:6  method Cart.total  (call, import)\n"


def test_callees_tell_where_the_callee_is(project: Path) -> None:
    done = cairn("callees", "Cart.total", cwd=project)
    assert done.stdout == "shop/cart.py:6  function fee  (call, import)  shop/money.py:1\n"


def test_json_has_one_document_with_every_field(project: Path) -> None:
    found = document(cairn("callers", "fee", "--json", cwd=project))
    assert found["symbol"] == {
        "filepath": "shop/money.py", "line": 1, "end_line": 2, "kind": "function", "name": "fee", "stale": False,
        "origin": "",
    }  # fmt: skip
    (link,) = found["links"]
    assert (link["filepath"], link["line"], link["how"], link["symbol"]["name"]) == (
        "shop/cart.py", 6, "import", "Cart.total",
    )  # fmt: skip


def test_references_are_printed_by_kind_with_their_lines(project: Path) -> None:
    done = cairn("references", "fee", cwd=project)
    assert done.stdout == (
        "calls: 1\n  shop/cart.py:6  return fee(1)  (in Cart.total)\n"
        "imports: 1\n  shop/cart.py:1  from shop.money import fee\n"
    )
    assert document(cairn("references", "fee", "--json", cwd=project))["counts"] == {"call": 1, "import": 1}


def test_a_graph_command_takes_paths_from_where_one_stands(project: Path) -> None:
    assert cairn("references", "./money.py:fee", cwd=project / "shop").stdout.startswith("calls: 1\n")
    assert cairn("subclasses", "cart.py:Cart", cwd=project / "shop").returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="a backslash separates folders on Windows")
def test_a_file_with_a_backslash_in_its_name_is_found_and_so_is_a_path_of_windows(project: Path) -> None:
    (project / "back\\slash.py").write_text("def turn():\n    return 1\n\n\ndef twice():\n    return turn() + turn()\n")
    for place in ("back\\slash.py:1", "./back\\slash.py:turn"):
        assert "function twice" in cairn("callers", place, cwd=project).stdout, place
    assert "method Cart.total" in cairn("callers", ".\\shop\\money.py:1", cwd=project).stdout


def test_a_graph_command_prints_paths_from_where_one_stands_and_json_from_the_top(project: Path) -> None:
    here = project / "shop"
    assert cairn("callers", "fee", cwd=here).stdout == "cart.py:6  method Cart.total  (call, import)\n"
    impact = cairn("impact", "fee", cwd=here).stdout
    assert "importer  cart.py\n" in impact
    assert "test      ../tests/test_cart.py" in impact
    assert "other.py:5  function _unused" in cairn("dead", cwd=here).stdout
    assert document(cairn("callers", "fee", "--json", cwd=here))["links"][0]["filepath"] == "shop/cart.py"


def test_an_unknown_kind_of_reference_names_those_there_are(project: Path) -> None:
    check_error(cairn("references", "fee", "--kind", "reads", cwd=project), 2, "call, construct, read, write, type")


def test_nothing_found_is_exit_code_one_with_a_note(project: Path) -> None:
    for command in (
        ("callers", "_unused"),
        ("callees", "fee"),
        ("path", "fee", "_unused"),
        ("importers", "shop/other.py"),
        ("cycles",),
    ):
        done = cairn(*command, cwd=project)
        assert (done.returncode, done.stdout) == (1, ""), command
        assert done.stderr
        assert cairn(*command, "--json", cwd=project).returncode == 1


def test_a_change_that_only_deletes_is_not_called_no_change(project: Path) -> None:
    (project / "shop/other.py").unlink()
    done = cairn("impact", "--diff", cwd=project)
    assert (done.returncode, done.stdout) == (1, "deleted   shop/other.py: total, _unused\n")
    assert done.stderr.startswith("Nothing else is affected, as far as can be resolved.\n")
    (project / "shop/money.py").unlink()
    done = cairn("impact", "--diff", cwd=project)
    assert done.returncode == 0
    assert "deleted   shop/money.py: fee\nnames it  shop/cart.py:1  fee\nnames it  shop/cart.py:6  fee\n" in done.stdout
    done = cairn("tests", "--diff", cwd=project)
    assert done.stdout.startswith("tests/test_cart.py  ")
    assert "Deleted: shop/money.py, shop/other.py; what still names them: cairn impact --diff HEAD" in done.stderr


def test_a_way_is_printed_step_by_step(project: Path) -> None:
    done = cairn("path", "test_total", "fee", cwd=project)
    assert [line.split("  ")[1] for line in done.stdout.splitlines()] == [
        "function test_total",
        "method Cart.total",
        "function fee",
    ]


def test_importers_impact_tests_dead_and_map_answer(project: Path) -> None:
    assert cairn("importers", "shop.money", cwd=project).stdout == "shop/cart.py:1\n"
    impact = cairn("impact", "fee", cwd=project).stdout
    assert "depth 1   shop/cart.py:5  method Cart.total" in impact
    assert "importer  shop/cart.py" in impact
    assert "test      tests/test_cart.py" in impact
    assert cairn("tests", "fee", cwd=project).stdout.startswith("tests/test_cart.py  (calls it over 2 steps, ")
    assert "shop/other.py:5  function _unused" in cairn("dead", cwd=project).stdout
    assert "shop/cart.py" in cairn("map", cwd=project).stdout
    assert "shop/cart.py" in cairn("map", "--focus", "cart.py", "--json", cwd=project).stdout


def test_the_current_change_is_what_differs_from_a_revision(project: Path) -> None:
    assert cairn("impact", "--diff", cwd=project).returncode == 1
    (project / "shop/money.py").write_text("def fee(amount):\n    return amount + 1\n")
    done = cairn("tests", "--diff", cwd=project)
    assert done.stdout.startswith("tests/test_cart.py")
    impact = cairn("impact", "--diff", "HEAD", cwd=project).stdout
    assert impact.startswith("changed   shop/money.py:1  function fee\n")


def test_bad_input_is_refused_with_the_next_command(project: Path, tmp_path: Path) -> None:
    check_error(cairn("callers", "fees", cwd=project), 1, "symbol-unknown", "did you mean fee?")
    check_error(cairn("impact", "--diff", "nowhere", cwd=project), 2, "diff", "git log")
    check_error(cairn("impact", cwd=project), 2, "--diff")
    check_error(cairn("impact", "fee", "--diff", "HEAD", cwd=project), 2, "either a symbol or a revision")
    check_error(cairn("map", "--focus", "missing.py", cwd=project), 1, "missing.py")
    check_error(cairn("callers", "fee", "--no-update", cwd=tmp_path), 3, "cairn index")
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text("def f():\n    pass\n")
    check_error(cairn("impact", "--diff", cwd=folder), 2, "not in a git repository")


def test_text_of_any_bytes_names_nothing(project: Path) -> None:
    done = cairn("callers", b"\xff\xfe", cwd=project)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_a_search_for_callers_prints_the_calls_and_how_it_was_understood(project: Path) -> None:
    done = cairn("search", "callers of fee", cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith("shop/cart.py:6  method Cart.total  6-6")
    assert "Understood as a question for calls of function fee (shop/money.py:1)" in done.stderr
    found = document(cairn("search", "callers of fee", "--json", cwd=project))
    assert (found["mode"], [hit["start_line"] for hit in found["code"]]) == ("graph", [6])


def test_an_expanded_search_prints_neighbours_below_each_hit(project: Path) -> None:
    done = cairn("search", "fee", "--expand", "-n", "1", cwd=project)
    assert "    caller shop/cart.py:6  method Cart.total" in done.stdout.splitlines()
    (hit,) = document(cairn("search", "fee", "--expand", "-n", "1", "--json", cwd=project))["code"]
    assert [neighbour["name"] for neighbour in hit["neighbours"]] == ["Cart.total"]


def test_a_context_names_callers_once_there_is_an_index(project: Path) -> None:
    asked = ("outline", "shop/money.py", "--mode", "context", "--symbol", "fee")
    before = cairn(*asked, cwd=project)
    assert before.returncode == 0
    assert "cairn index" in before.stdout
    assert cairn("index", cwd=project).returncode == 0
    assert "called by:\nshop/cart.py:6 method Cart.total" in cairn(*asked, cwd=project).stdout
