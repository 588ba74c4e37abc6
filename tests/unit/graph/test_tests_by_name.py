"""Which tests are named after a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cairn.workspace import Workspace

TEST = "def test_it():\n    assert True\n"


@pytest.mark.parametrize(
    ("path", "named", "others"),
    [
        ("shop/utils.py", "shop/test_utils.py", ["bank/test_utils.py", "test_utils.py"]),
        ("shop/utils.py", "shop/tests/test_utils.py", ["bank/tests/test_utils.py"]),
        ("src/shop/cart/helpers.py", "tests/unit/cart/test_helpers.py", ["tests/unit/test_helpers.py"]),
        ("src/shop/main.py", "tests/shop/test_main.py", ["tests/bank/shop/test_main.py"]),
        ("src/lib.py", "tests/test_lib.py", ["tests/shop/test_lib.py"]),
        ("shop/cart.py", "tests/anywhere/test_cart.py", ["tests/test_carts.py"]),
    ],
)
def test_a_test_is_named_after_a_file_where_its_name_or_its_folder_says_so(
    path: str, named: str, others: Sequence[str], tmp_path: Path
) -> None:
    for file in (path, named, *others):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("def it():\n    return 1\n" if file == path else TEST)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        assert [graph.code.paths[number] for number in graph.tests.twins(path)] == [named]
