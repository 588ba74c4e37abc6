"""From which files of the project a script may have been built."""

from __future__ import annotations

import pytest

from cairn.search.built import is_source_of, package_of_script, sources_of
from cairn.search.file_finder import FileFinder

PATHS = ["src/web/orders.ts", "src/web/money.js", "packages/shop/src/core/cart.tsx", "setup.ts"]


@pytest.mark.parametrize(
    ("script", "source"),
    [
        ("/srv/x/dist/web/orders.js", "src/web/orders.ts"),
        ("C:\\ci\\build\\web\\orders.mjs", "src/web/orders.ts"),
        ("/srv/x/dist/web/money.cjs", "src/web/money.js"),
        ("/app/node_modules/@acme/shop/dist/core/cart.js", "packages/shop/src/core/cart.tsx"),
        ("/home/me/shop/src/web/orders.js", "src/web/orders.ts"),
    ],
)
def test_a_script_has_the_path_of_its_source_below_the_output_folder_or_lies_beside_it(
    script: str, source: str
) -> None:
    assert [PATHS[file] for file in sources_of(FileFinder(PATHS), script)] == [source]
    assert is_source_of(source, script)


@pytest.mark.parametrize(
    "script",
    [
        "/app/node_modules/react/dist/web/orders.js",
        "/srv/x/pages/web/orders.js",
        "/srv/x/dist/web/orders.py",
        "/srv/x/dist/web/money.js",
        "orders",
        "",
    ],
)
def test_a_script_of_another_package_or_folder_or_that_needs_no_build_has_no_source(script: str) -> None:
    assert not sources_of(FileFinder(PATHS), script)


@pytest.mark.parametrize(
    ("script", "package"),
    [
        ("/app/node_modules/@acme/shop/bin.cjs", "shop"),
        ("/ci/My_Shop/dist/chunk.js", "my-shop"),
        ("/srv/chunk.js", ""),
        ("dist/chunk.js", ""),
        ("", ""),
    ],
)
def test_a_script_is_of_the_package_installed_around_it_or_that_has_its_output_folder(
    script: str, package: str
) -> None:
    assert package_of_script(script) == package
