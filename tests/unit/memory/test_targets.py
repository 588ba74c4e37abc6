from __future__ import annotations

from pathlib import Path

from cairn.memory.links import link_to
from cairn.memory.targets import parse_target, target_below


def test_a_file_and_a_definition_in_it_are_told_apart_at_the_first_mark() -> None:
    assert parse_target("a.py") == ("a.py", "")
    assert parse_target("a.cpp::Foo::bar") == ("a.cpp", "Foo::bar")


def test_of_several_ways_to_read_a_target_the_one_counts_whose_file_is_there(tmp_path: Path) -> None:
    for name in ("a.py", "odd::name.py", "b.cpp"):
        (tmp_path / name).write_text("x = 1\n")
    for text, target in (
        ("a.py", ("a.py", "")),
        ("a.py::f", ("a.py", "f")),
        ("b.cpp::Foo::bar", ("b.cpp", "Foo::bar")),
        ("odd::name.py", ("odd::name.py", "")),
        ("odd::name.py::f", ("odd::name.py", "f")),
        (str(tmp_path / "odd::name.py::f"), ("odd::name.py", "f")),
        ("gone.py::f::g", ("gone.py", "f::g")),
    ):
        assert target_below(tmp_path, text) == target
    assert link_to(tmp_path, "odd::name.py").path == "odd::name.py"


def test_a_target_that_is_gone_is_named_relative_to_the_root_all_the_same(tmp_path: Path) -> None:
    assert target_below(tmp_path, str(tmp_path / "src" / "gone.py")) == ("src/gone.py", "")
    assert target_below(tmp_path, "./src/gone.py::f") == ("src/gone.py", "f")
