from __future__ import annotations

import time

import pytest

from cairn.search.file_finder import FileFinder
from cairn.search.installed import path_in_package
from cairn.search.likely_files import files_like

PATHS = [
    "src/shop/cart.py",
    "src/shop/orders/__init__.py",
    "lib/cart.py",
    "web/index.ts",
    "src/core/lexer.rs",
    "README.md",
]


SLOW = ["vendor/", "/go/src/", "a@v1", "a@", "lib/python3/", "lib/ruby/3/", "go/src/", "github.com/a/b/", "net/"]


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
        ("/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/src/core/lexer.rs", []),
    ],
)
def test_a_path_in_an_installed_package_counts_if_that_is_of_the_project(path: str, files: list[str]) -> None:
    assert found(FileFinder(PATHS).by_path(path)) == files


GO_PATHS = ["context.go", "server.go", "echo.go", "middleware/log.go", "src/errors/join.go"]


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/usr/local/go/src/context/context.go", ""),
        ("/opt/hostedtoolcache/go/1.24.1/x64/src/net/http/server.go", ""),
        ("C:/Go/src/context/context.go", ""),
        ("context/context.go", ""),
        ("net/http/server.go", ""),
        ("/usr/local/go/src/errors/join.go", "src/errors/join.go"),
        ("/app/vendor/github.com/acme/gin/context.go", ""),
        ("/home/me/go/src/gopkg.in/gin.v3/context.go", ""),
        ("github.com/acme/gin@v1.9.1/context.go", ""),
        ("/app/vendor/github.com/acme/echo/v5/context.go", "context.go"),
        ("/home/me/go/src/github.com/acme/echo/middleware/log.go", "middleware/log.go"),
        ("github.com/acme/echo/v5@v5.0.1/context.go", "context.go"),
        ("github.com/acme/echo/v5/context.go", "context.go"),
        ("/go/src/app/context.go", "context.go"),
        ("go/pkg/mod/github.com/acme/echo@v1.0.0/middleware/log.go", "middleware/log.go"),
        ("go/src/github.com/acme/echo/middleware/log.go", "middleware/log.go"),
        ("path/to/middleware/log.go", "middleware/log.go"),
        ("/app/context.go", "context.go"),
        ("/workspace/echo/middleware/log.go", "middleware/log.go"),
        ("C:/code/context.go", "context.go"),
    ],
)
def test_a_file_of_go_or_of_another_module_is_none_of_the_project(path: str, file: str) -> None:
    assert [GO_PATHS[number] for number in FileFinder(GO_PATHS).by_path(path)] == [file] * bool(file)


PYTHON_PATHS = ["src/shop/__init__.py", "src/shop/http/cookies.py", "src/shop/utils/url.py", "tool.py"]


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/usr/lib/python3.12/http/cookies.py", ""),
        ("C:/Users/me/Programs/Python/Python312/Lib/http/cookies.py", ""),
        ("/venv/lib/python3.12/site-packages/parsel/utils/url.py", ""),
        ("/usr/lib/python3/dist-packages/utils/url.py", ""),
        ("/venv/lib/python3.12/site-packages/shop/utils/url.py", "src/shop/utils/url.py"),
        ("/venv/lib/python3.8/site-packages/shop-1.0-py3.8.egg/shop/utils/url.py", "src/shop/utils/url.py"),
        ("/usr/lib/python3/dist-packages/tool.py", "tool.py"),
        ("/venv/lib/python3.12/site-packages/shop/src/utils/url.py", "src/shop/utils/url.py"),
        ("/venv/lib/python3.12/site-packages/mail/src/utils/url.py", ""),
        ("/app/shop/utils/url.py", "src/shop/utils/url.py"),
    ],
)
def test_a_module_of_python_is_the_projects_if_its_whole_path_is(path: str, file: str) -> None:
    assert [PYTHON_PATHS[number] for number in FileFinder(PYTHON_PATHS).by_path(path)] == [file] * bool(file)


def test_a_library_of_ruby_is_the_projects_if_its_whole_path_is() -> None:
    finder = FileFinder(["lib/json/common.rb", "lib/shop/optparse/uri.rb"])
    assert finder.by_path("/usr/lib/ruby/3.4.0/json/common.rb") == [0]
    assert finder.by_path("/usr/lib/ruby/3.4.0/optparse/uri.rb") == []


def test_a_folder_that_every_project_has_tells_no_file_of_another_one() -> None:
    finder = FileFinder(["packages/shop/src/index.js", "src/main.js"])
    assert finder.by_path("/home/me/app/src/index.js") == []
    assert finder.by_path("/home/me/shop/packages/shop/src/index.js") == [0]
    assert finder.by_path("shop/src/index.js") == [0]
    assert finder.by_path("/home/me/app/src/main.js") == [1]


def test_a_file_whose_whole_path_is_meant_comes_before_one_that_repeats_it_in_another_folder() -> None:
    finder = FileFinder(["lib/rules/cart.js", "tests/lib/rules/cart.js", "cart.js", "lib/cart.js"])
    assert finder.by_path("/app/node_modules/rules/lib/rules/cart.js") == [0]
    assert finder.by_path("lib/rules/cart.js") == [0]
    assert finder.by_path("tests/lib/rules/cart.js") == [1]
    assert len(finder.by_path("cart.js")) == 4


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


@pytest.mark.parametrize("part", ["pkg/mod/", "node_modules/a/", "gems/a", "registry/src/a", "-packages/", *SLOW])
def test_a_path_that_is_made_to_be_slow_is_looked_up_in_linear_time(part: str) -> None:
    started = time.process_time()
    for name in ("x.js", "x.go", "x.py", "x.rb"):
        assert FileFinder(PATHS).by_path("/" + part * (39_000 // len(part)) + name) == []
        FileFinder(PATHS).by_path(part * (39_000 // len(part)) + name)
    path_in_package("/" + part * (39_000 // len(part)))
    assert time.process_time() - started < 2  # bounded: some milliseconds; the whole path: many seconds


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("src/cart.py", ["src/shop/cart.py", "lib/cart.py"]),  # in another folder
        ("src/core/lexer.ts", ["src/core/lexer.rs"]),  # with another ending
        ("src/core/lexr.rs", ["src/core/lexer.rs"]),  # misspelt
        ("src/cor/lexer.rs", ["src/core/lexer.rs"]),
        ("lexr.rs", ["src/core/lexer.rs"]),
        ("src/shpo/orders/__init__.py", ["src/shop/orders/__init__.py"]),
        ("src/payments/api/__init__.py", []),  # a name that every folder has
        ("src/core/parser.rs", []),
        ("src/core/lexer", []),
        ("https://example.com/core/lexer.rs", []),
        ("node_modules/tokens/core/lexer.rs", []),
        ("", []),
    ],
)
def test_a_path_that_no_file_has_means_those_that_are_like_it(path: str, files: list[str]) -> None:
    assert found(files_like(FileFinder(PATHS), path)) == files
