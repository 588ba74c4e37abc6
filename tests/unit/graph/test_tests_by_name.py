"""Which tests are named after a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

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
        ("store/feed.go", "store/feed_test.go", ["model/feed_test.go"]),
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


FILES = {
    "api/pet_controller.py": "def put():\n    return 1\n",
    "api/test_crash_controller.py": TEST,
    "api/test_pet_formatter.py": TEST,
    "api/test_pet_controller_errors.py": TEST,
    "api/test_health.py": TEST,
}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {},
            {"api/test_pet_controller_errors.py", "api/test_crash_controller.py", "api/test_pet_formatter.py"},
        ),
        ({"api/test_pet_controller.py": TEST}, {"api/test_pet_controller_errors.py"}),
        (
            {"api/test_all.py": "from api.pet_controller import put\n\n\ndef test_it():\n    put()\n"},
            {"api/test_pet_controller_errors.py"},
        ),
    ],
)
def test_tests_whose_names_share_words_are_chosen_where_no_better_ones_are_known(
    more: dict[str, str], expected: set[str], tmp_path: Path
) -> None:
    (tmp_path / "api").mkdir()
    for file, text in {**FILES, **more}.items():
        (tmp_path / file).write_text(text)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        tests = workspace.graph.choose_tests("put").tests
    assert {test.path for test in tests if test.reason == "has a name like it"} == expected
    assert {test.path for test in tests} == expected | more.keys()


def test_a_file_that_is_called_as_many_are_has_no_tests_with_names_like_it(tmp_path: Path) -> None:
    for folder in ("shop", "bank"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "utils.py").write_text(f"def {folder}():\n    return 1\n")
    (tmp_path / "bank" / "test_utils.py").write_text(TEST)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.graph.choose_tests("shop").tests == ()


CONTROLLER = "def put():\n    return 1\n"


def test_a_test_in_another_language_has_no_name_like_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"api/pet_shop.py": CONTROLLER, "web/pet-list.test.ts": "test('it', () => {});\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.graph.choose_tests("put").tests == ()


def test_of_tests_with_names_like_it_those_with_the_rarest_words_are_chosen(tmp_path: Path) -> None:
    others = {f"api/test_{word}_controller.py": TEST for word in (f"w{chr(97 + number)}" for number in range(25))}
    files = {"api/pet_controller.py": CONTROLLER, "api/test_pet_formatter.py": TEST}
    write_files(tmp_path, files | others)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        chosen = [test.path for test in workspace.graph.choose_tests("put").tests]
    assert len(chosen) == 20
    assert "api/test_pet_formatter.py" in chosen


def test_a_test_that_calls_it_far_away_comes_before_tests_with_words_of_its_name(tmp_path: Path) -> None:
    names = ["pet", "first", "second", "third", "fourth"]
    chain = {
        f"api/{name}_controller.py": f"from api.{below}_controller import put_{below}\n\n\ndef put_{name}():\n"
        f"    put_{below}()\n"
        for below, name in pairwise(names)
    }
    last = "from api.fourth_controller import put_fourth\n\n\ndef test_it():\n    put_fourth()\n"
    files = {
        "api/pet_controller.py": "def put_pet():\n    return 1\n",
        "api/test_pet.py": TEST,
        "api/test_all.py": last,
    }
    write_files(tmp_path, files | chain)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        chosen = workspace.graph.choose_tests("put_pet").tests
    assert [(test.path, test.reason) for test in chosen] == [
        ("api/test_all.py", "calls it over 5 steps"),
        ("api/test_pet.py", "has a name like it"),
    ]


def test_a_module_of_tests_beside_the_code_is_no_name_that_tests_mention(tmp_path: Path) -> None:
    code = "pub fn step() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n"
    files = {"Cargo.toml": "[package]\nname = 'own'\n", "src/walk.rs": code, "src/lib.rs": "mod walk;\n"}
    write_files(tmp_path, files | {"tests/run.rs": "// All tests.\n#[test]\nfn runs() {}\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        chosen = workspace.graph.choose_tests("src/walk.rs").tests
    assert "tests/run.rs" not in {test.path for test in chosen}
