from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

from cairn.errors import AmbiguousError, NotFoundError, PathError
from cairn.memory.anchors import anchor
from cairn.memory.targets import parse_target, target_below

CODE = "class Cart:\n    def total(self):\n        return 1\n\n\nclass Order:\n    def total(self):\n        return 2\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "cart.py").write_text(CODE)
    return tmp_path


def test_a_file_is_linked_with_the_hash_that_the_index_has_of_it(root: Path) -> None:
    link = anchor(root, "src/cart.py")
    assert (link.path, link.symbol) == ("src/cart.py", "")
    assert link.hash == blake2b(CODE.encode(), digest_size=16).hexdigest()
    assert anchor(root, str(root / "src" / "cart.py")) == link


def test_a_definition_is_linked_by_its_qualified_name_and_its_lines_alone(root: Path) -> None:
    link = anchor(root, "src/cart.py::Cart.total")
    assert link.symbol == "Cart.total"
    (root / "src" / "cart.py").write_text("import os\n\n" + CODE.replace("return 2", "return 3"))
    assert anchor(root, "src/cart.py::Cart.total") == link
    (root / "src" / "cart.py").write_text(CODE.replace("return 1", "return 3"))
    assert anchor(root, "src/cart.py::Cart.total").hash != link.hash


def test_what_is_not_there_is_not_linked(root: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no file"):
        anchor(root, "src/none.py")
    with pytest.raises(NotFoundError, match=r"defines no totl; nearest are .*total"):
        anchor(root, "src/cart.py::totl")
    with pytest.raises(AmbiguousError, match="2 definitions"):
        anchor(root, "src/cart.py::total")
    with pytest.raises(PathError):
        anchor(root, "../secret")


def test_what_is_written_for_a_link_is_read_back(root: Path) -> None:
    assert parse_target("a.cpp::Foo::bar") == ("a.cpp", "Foo::bar")
    assert str(parse_target("a.cpp::Foo::bar")) == "a.cpp::Foo::bar"
    assert target_below(root, str(root / "src" / "gone.py")) == ("src/gone.py", "")
    assert target_below(root, "./src/gone.py::f") == ("src/gone.py", "f")
