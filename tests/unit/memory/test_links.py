from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import AmbiguousError, NotFoundError, PathError
from cairn.memory.links import LinkStates, Staleness, link_to, name_of
from cairn.storage.memory.rows import CodeLink

CODE = """\
class Pool:
    def take(self):
        return self.free.pop()

    def give(self, thing):
        self.free.append(thing)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pool.py").write_text(CODE)
    return tmp_path


def state_after(root: Path, target: str, code: str) -> str:
    link = link_to(root, target)
    (root / "pool.py").write_text(code)
    return LinkStates(root).state(link)


def test_a_link_names_a_file_or_a_definition_in_full(root: Path) -> None:
    assert name_of(link_to(root, "pool.py")) == name_of(link_to(root, str(root / "pool.py"))) == "pool.py"
    assert name_of(link_to(root, "pool.py::take")) == "pool.py::Pool.take"


def test_what_is_not_there_cannot_be_linked_to(root: Path) -> None:
    with pytest.raises(NotFoundError):
        link_to(root, "gone.py")
    with pytest.raises(NotFoundError, match="defines no drop"):
        link_to(root, "pool.py::drop")
    with pytest.raises(PathError):
        link_to(root, "../elsewhere.py")
    (root / "two.py").write_text("class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\n")
    with pytest.raises(AmbiguousError):
        link_to(root, "two.py::f")


RUST = "pub struct Pool {\n    free: u8,\n}\n\nimpl Pool {\n    fn take(&self) {}\n}\n"
RUBY = "module Shop\n  class Pool\n    def take!\n      1\n    end\n  end\nend\n"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("pool.rs::Pool", "pool.rs::Pool"),
        ("pool.rs::Pool::take", "pool.rs::Pool.take"),
        ("pool.rb::Pool#take!", "pool.rb::Shop.Pool.take!"),
        ("pool.rb::Shop::Pool", "pool.rb::Shop.Pool"),
    ],
)
def test_a_definition_is_named_as_its_language_does_and_a_type_comes_before_what_adds_to_it(
    root: Path, target: str, name: str
) -> None:
    (root / "pool.rs").write_text(RUST)
    (root / "pool.rb").write_text(RUBY)
    link = link_to(root, target)
    assert name_of(link) == name
    assert LinkStates(root).state(link) == "current"
    (root / "pool.rs").write_text(RUST.replace("u8", "u16").replace("{}", "{ 1; }"))
    (root / "pool.rb").write_text(RUBY.replace("1", "2"))
    assert LinkStates(root).state(link) == "changed"


VARIANTS = """#[cfg(windows)]
fn separator() -> char {
    '|'
}

#[cfg(not(windows))]
fn separator() -> char {
    '/'
}
"""
OVERLOADS = """class Cart {
    int add(int one) {
        return one;
    }

    int add(String name) {
        return 0;
    }
}
"""


@pytest.mark.parametrize(
    ("path", "code", "name"), [("sep.rs", VARIANTS, "separator"), ("Cart.java", OVERLOADS, "Cart.add")]
)
def test_variants_of_one_definition_are_linked_to_together(root: Path, path: str, code: str, name: str) -> None:
    (root / path).write_text(code)
    link = link_to(root, f"{path}::{name.rpartition('.')[2]}")
    assert name_of(link) == f"{path}::{name}"
    states = LinkStates(root)
    assert states.state(link) == "current"
    for value in ("'|'", "'/'") if path == "sep.rs" else ("return one", "return 0"):
        (root / path).write_text(code.replace(value, "'changed'"))
        assert states.state(link) == "changed"
    (root / path).write_text("// nothing\n" + code)
    assert states.state(link) == "current"
    (root / path).write_text("// nothing\n")
    assert states.state(link) == "gone"


def test_blocks_that_add_to_a_type_of_another_file_are_linked_to_together(root: Path) -> None:
    (root / "more.rs").write_text("impl Pool {\n    fn a() {}\n}\n\nimpl Drop for Pool {\n    fn drop() {}\n}\n")
    link = link_to(root, "more.rs::Pool")
    assert (name_of(link), LinkStates(root).state(link)) == ("more.rs::Pool", "current")


@pytest.mark.parametrize(
    ("target", "code", "state"),
    [
        ("pool.py", CODE, "current"),
        ("pool.py", CODE.replace("\n", "\r\n"), "current"),
        ("pool.py", CODE + "x = 1\n", "changed"),
        ("pool.py::Pool.take", "import os\n\n" + CODE, "current"),
        ("pool.py::Pool.take", CODE.replace("append(thing)", "add(thing)"), "current"),
        ("pool.py::Pool.take", CODE.replace("pop()", "pop(0)"), "changed"),
        ("pool.py::Pool.take", CODE.replace("take", "grab"), "gone"),
        ("pool.py::Pool.take", "", "gone"),
    ],
)
def test_a_link_tells_whether_its_code_changed(root: Path, target: str, code: str, state: str) -> None:
    assert state_after(root, target, code) == state


def test_a_definition_that_moved_and_was_indented_is_current(root: Path) -> None:
    (root / "plain.py").write_text("def take():\n    return 1\n")
    link = link_to(root, "plain.py::take")
    (root / "plain.py").write_text("if True:\n    def take():\n        return 1\n")
    assert LinkStates(root).state(link) == "current"


def test_a_file_that_is_not_there_any_more_is_gone(root: Path) -> None:
    link = link_to(root, "pool.py::Pool")
    states = LinkStates(root)
    assert states.state(link) == "current"
    (root / "pool.py").unlink()
    assert states.state(link) == "gone"


def test_a_file_that_cannot_be_read_is_not_taken_for_gone(root: Path) -> None:
    link = link_to(root, "pool.py")
    (root / "pool.py").write_bytes(b"x" * 1_000_001)
    assert LinkStates(root).state(link) == "current"
    (root / "pool.py").unlink()
    (root / "pool.py").mkdir()
    assert LinkStates(root).state(link) == "current"


def test_a_link_that_was_made_to_keep_others_busy_is_given_up(root: Path) -> None:
    (root / "pool.py").write_bytes(b"\n" * 500_000)
    empty = link_to(root, "pool.py").hash
    crafted = CodeLink("pool.py", "take", f"9999999:00000000:{empty}")
    assert LinkStates(root).of([crafted] * 1_000).state == "gone"


def test_a_memory_is_gone_only_when_all_its_code_is(root: Path) -> None:
    links = [link_to(root, "pool.py::Pool.take"), link_to(root, "pool.py::Pool.give")]
    (root / "pool.py").write_text(CODE.replace("take", "grab"))
    assert LinkStates(root).of(links) == Staleness("changed", (), ("pool.py::Pool.take",))
    assert LinkStates(root).of(links).note == "check: code changed since: pool.py::Pool.take"
    (root / "pool.py").unlink()
    assert LinkStates(root).of(links).note == "its code is gone: pool.py::Pool.take, pool.py::Pool.give"
    assert LinkStates(root).of([]) == Staleness()
