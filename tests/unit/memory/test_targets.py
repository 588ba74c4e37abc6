from __future__ import annotations

from pathlib import Path

from cairn.memory.targets import parse_target, target_below


def test_a_file_and_a_definition_in_it_are_told_apart_at_the_first_mark() -> None:
    assert parse_target("a.py") == ("a.py", "")
    assert parse_target("a.cpp::Foo::bar") == ("a.cpp", "Foo::bar")


def test_a_target_that_is_gone_is_named_relative_to_the_root_all_the_same(tmp_path: Path) -> None:
    assert target_below(tmp_path, str(tmp_path / "src" / "gone.py")) == ("src/gone.py", "")
    assert target_below(tmp_path, "./src/gone.py::f") == ("src/gone.py", "f")
