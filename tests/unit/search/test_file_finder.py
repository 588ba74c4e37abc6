from __future__ import annotations

import time

import pytest

from cairn.search.file_finder import FileFinder, path_in_package

PATHS = [
    "src/shop/cart.py",
    "src/shop/orders/__init__.py",
    "lib/cart.py",
    "web/index.ts",
    "src/core/lexer.rs",
    "README.md",
]


def found(numbers: list[int]) -> list[str]:
    return [PATHS[number] for number in numbers]


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("src/shop/cart.py", ["src/shop/cart.py"]),
        ("/home/me/project/src/shop/cart.py", ["src/shop/cart.py"]),
        ("C:\\work\\shop\\cart.py", ["src/shop/cart.py"]),
        ("cart.py", ["src/shop/cart.py", "lib/cart.py"]),
        ("README.md", ["README.md"]),
        ("/usr/lib/python3/site-packages/other/cart.py", []),
        ("nowhere.py", []),
        ("", []),
    ],
)
def test_a_path_means_the_files_with_the_longest_common_end(path: str, files: list[str]) -> None:
    assert found(FileFinder(PATHS).by_path(path)) == files


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("/home/me/.cargo/registry/src/index.crates.io-1/syntect-5.2.0/src/core/lexer.rs", []),
        ("/home/me/.cargo/registry/src/index.crates.io-1/shop-5.2.0/src/core/lexer.rs", ["src/core/lexer.rs"]),
        ("node_modules/other-lib/src/shop/cart.py", []),
        ("node_modules/@acme/shop/src/shop/cart.py", ["src/shop/cart.py"]),
        ("/usr/lib/gems/other-1.0.0/lib/cart.py", []),
        ("/go/pkg/mod/github.com/acme/tool@v1.2.3/src/core/lexer.rs", []),
        ("/go/pkg/mod/github.com/acme/shop/v2@v2.2.3/src/core/lexer.rs", ["src/core/lexer.rs"]),
        ("/rustc/0123456789012345678901234567890123456789/src/core/lexer.rs", []),
    ],
)
def test_a_path_in_an_installed_package_counts_if_that_is_of_the_project(path: str, files: list[str]) -> None:
    assert found(FileFinder(PATHS).by_path(path)) == files


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("shop.cart", ["src/shop/cart.py"]),
        ("shop.cart.Cart.total", ["src/shop/cart.py"]),
        ("shop.orders", ["src/shop/orders/__init__.py"]),
        ("core::lexer::next", ["src/core/lexer.rs"]),
        ("cart.total", []),
    ],
)
def test_a_dotted_name_means_the_module_that_it_begins_with(name: str, files: list[str]) -> None:
    assert found(FileFinder(PATHS).by_module(name)) == files


def test_a_name_that_many_files_have_means_none() -> None:
    assert FileFinder([f"a{number}/cart.py" for number in range(20)]).by_path("cart.py") == []


def test_of_several_crates_with_a_path_the_one_that_is_called_like_the_package_is_meant() -> None:
    finder = FileFinder(["shop/src/cart/mod.rs", "shop-extra/src/cart/mod.rs", "shop_core/src/cart/mod.rs"])
    registry = "/home/me/.cargo/registry/src/index.crates.io-1"
    assert finder.by_path(f"{registry}/shop-0.7.2/src/cart/mod.rs") == [0]
    assert finder.by_path(f"{registry}/shop-core-0.7.2/src/cart/mod.rs") == [2]
    assert finder.by_path("src/cart/mod.rs") == [0, 1, 2]


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/app/node_modules/shop/lib/cart.js", "lib/cart.js"),
        ("node_modules/a/node_modules/@acme/shop/lib/cart.js", "lib/cart.js"),
        ("/usr/lib/python3/site-packages/shop/cart.py", "shop/cart.py"),
        ("/usr/lib/python3/site-packages/six.py", ""),
        ("/usr/lib/gems/3.2.0/gems/shop-1.0.0/lib/cart.rb", "lib/cart.rb"),
        ("/go/pkg/mod/github.com/acme/shop/v2@v2.2.3/cart/cart.go", "cart/cart.go"),
        ("/home/me/.cargo/registry/src/index.crates.io-1/shop-5.2.0/src/lib.rs", "src/lib.rs"),
        ("/home/me/shop/lib/cart.js", ""),
    ],
)
def test_a_path_in_an_installed_package_is_told(path: str, inside: str) -> None:
    assert path_in_package(path) == inside


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("src/shop", ["src/shop/cart.py", "src/shop/orders/__init__.py"]),
        ("./src/shop/", ["src/shop/cart.py", "src/shop/orders/__init__.py"]),
        ("shop", []),
        ("src/sho", []),
        ("", []),
    ],
)
def test_a_folder_is_meant_by_its_path_in_the_project(path: str, files: list[str]) -> None:
    assert found(FileFinder(PATHS).in_folder(path)) == files


@pytest.mark.parametrize("part", ["pkg/mod/", "node_modules/a/", "gems/a", "registry/src/a", "-packages/"])
def test_a_path_that_is_made_to_be_slow_is_looked_up_in_linear_time(part: str) -> None:
    started = time.process_time()
    assert FileFinder(PATHS).by_path("/" + part * (39_000 // len(part)) + "x.js") == []
    path_in_package("/" + part * (39_000 // len(part)))
    assert time.process_time() - started < 2  # bounded: some milliseconds; the whole path: many seconds
