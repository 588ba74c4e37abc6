from __future__ import annotations

from collections.abc import Mapping

import pytest

from cairn.graph.modules.lookup import Modules, find_affected_needs


def modules(files: Mapping[str, str]) -> Modules:
    return Modules(sorted(files), lambda path: files[path])


def found(files: Mapping[str, str], module: str, path: str, family: str) -> str | None:
    """Return the path that a module is resolved to, a folder with a slash."""
    opened = modules(files)
    place = opened.resolve(module, path, family)
    return opened.paths[place] if isinstance(place, int) else f"{place}/" if place is not None else None


PYTHON = dict.fromkeys(
    (
        "src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/sub/__init__.py", "src/pkg/sub/b.py", "src/pkg/json.py",
        "spaces/one/x.py", "scripts/tool.py", "scripts/helper.py", "tests/test_a.py", "stubs.pyi",
    ), "",
)  # fmt: skip


@pytest.mark.parametrize(
    ("module", "path", "expected"),
    [
        ("pkg", "tests/test_a.py", "src/pkg/__init__.py"),
        ("pkg.sub.b", "tests/test_a.py", "src/pkg/sub/b.py"),
        (".a", "src/pkg/json.py", "src/pkg/a.py"),
        ("..a", "src/pkg/sub/b.py", "src/pkg/a.py"),
        (".", "src/pkg/sub/b.py", "src/pkg/sub/__init__.py"),
        ("spaces.one.x", "tests/test_a.py", "spaces/one/x.py"),
        ("spaces.one", "tests/test_a.py", "spaces/one/"),
        ("helper", "scripts/tool.py", "scripts/helper.py"),
        ("helper", "src/pkg/a.py", None),
        ("stubs", "src/pkg/a.py", "stubs.pyi"),
        ("json", "src/pkg/a.py", None),
        ("numpy", "src/pkg/a.py", None),
    ],
)
def test_python_modules_are_found_from_the_roots_of_packages(module: str, path: str, expected: str | None) -> None:
    assert found(PYTHON, module, path, "python") == expected


SCRIPTS = {
    "tsconfig.json": (
        '{"compilerOptions": {"baseUrl": "./src", /* c */ "paths": {"~/*": ["app/*"], "exact": ["one"]},}}'
    ),
    "packages/core/package.json": '{"name": "@x/core", "exports": {".": {"import": "./dist/main.mjs"}}}',
    "packages/core/src/main.ts": "",
    "packages/core/src/deep/util.ts": "",
    "broken/package.json": "{",
    "src/one.ts": "",
    "src/app/two.tsx": "",
    "src/app/index.ts": "",
    "src/types.d.ts": "",
}


@pytest.mark.parametrize(
    ("module", "path", "expected"),
    [
        ("./one", "src/main.ts", "src/one.ts"),
        ("./one.js", "src/main.ts", "src/one.ts"),
        ("./app", "src/main.ts", "src/app/index.ts"),
        ("..", "src/app/deep/x.ts", "src/app/index.ts"),
        ("./types", "src/main.ts", "src/types.d.ts"),
        ("~/two", "src/main.ts", "src/app/two.tsx"),
        ("exact", "src/main.ts", "src/one.ts"),
        ("app/two", "src/main.ts", "src/app/two.tsx"),
        ("@x/core", "src/main.ts", "packages/core/src/main.ts"),
        ("@x/core/deep/util", "src/main.ts", "packages/core/src/deep/util.ts"),
        ("react", "src/main.ts", None),
        ("./missing", "src/main.ts", None),
    ],
)
def test_scripts_are_found_by_path_alias_and_workspace(module: str, path: str, expected: str | None) -> None:
    assert found(SCRIPTS, module, path, "ecmascript") == expected


def test_go_packages_are_folders_below_their_module() -> None:
    files = {
        "go.mod": "module example.org/a\n",
        "money/x.go": "",
        "sub/go.mod": 'module "example.org/a/sub"',
        "sub/y/z.go": "",
    }
    assert found(files, "example.org/a/money", "main.go", "go") == "money/"
    assert found(files, "example.org/a/sub/y", "main.go", "go") == "sub/y/"
    assert found(files, "example.org/b", "main.go", "go") is None
    assert found(files, "example.org/a/none", "main.go", "go") is None


def test_rust_paths_lead_to_the_file_of_their_longest_part() -> None:
    files = dict.fromkeys(("src/lib.rs", "src/a.rs", "src/a/b.rs", "src/c/mod.rs", "other/src/lib.rs"), "")
    files |= {"Cargo.toml": '[package]\nname = "my-crate"\n', "other/Cargo.toml": '[package]\nname = "other"\n'}
    assert found(files, "crate::a::b::Thing", "src/c/mod.rs", "rust") == "src/a/b.rs"
    assert found(files, "crate::c", "src/a.rs", "rust") == "src/c/mod.rs"
    assert found(files, "super", "src/a/b.rs", "rust") == "src/a.rs"
    assert found(files, "self::b", "src/a.rs", "rust") == "src/a/b.rs"
    assert found(files, "my_crate::a", "other/src/lib.rs", "rust") == "src/a.rs"
    assert found(files, "serde::de", "src/a.rs", "rust") is None


def test_headers_are_found_by_the_end_of_their_path_and_nearest_first() -> None:
    files = dict.fromkeys(("include/lib/x.h", "src/x.h", "src/a.c", "other/x.h", "lib/y.rb"), "")
    assert found(files, "lib/x.h", "src/a.c", "c") == "include/lib/x.h"
    assert found(files, "x.h", "src/a.c", "c") == "src/x.h"
    assert found(files, "stdio.h", "src/a.c", "c") is None
    assert found(files, "y", "spec/a.rb", "ruby") == "lib/y.rb"


def test_a_module_of_julia_is_the_file_of_its_name_or_the_one_that_is_included() -> None:
    files = dict.fromkeys(("src/Shop.jl", "src/money/fees.jl", "test/runtests.jl"), "")
    assert found(files, "Shop", "test/runtests.jl", "julia") == "src/Shop.jl"
    assert found(files, "money/fees.jl", "src/Shop.jl", "julia") == "src/money/fees.jl"
    assert found(files, "LinearAlgebra", "src/Shop.jl", "julia") is None


def test_a_family_without_modules_finds_none() -> None:
    assert found({"a.hs": ""}, "A", "b.hs", "") is None


@pytest.mark.parametrize(
    ("added", "module", "path", "family"),
    [
        ("src/pkg/late.py", ".late", "src/pkg/a.py", "python"),
        ("src/pkg/late/__init__.py", "pkg.late", "tests/test_a.py", "python"),
        ("src/pkg/late/deep.py", "pkg.late", "tests/test_a.py", "python"),
        ("web/late/index.ts", "./late", "web/app.ts", "ecmascript"),
        ("include/late.h", "late.h", "src/main.c", "c"),
        ("src/late/mod.rs", "crate::late::Thing", "src/lib.rs", "rust"),
    ],
)
def test_a_look_up_needs_the_place_of_a_file_that_would_change_it(
    added: str, module: str, path: str, family: str
) -> None:
    files = {**PYTHON, "web/app.ts": "", "src/main.c": "", "src/lib.rs": ""}
    needs = modules(files).look_up(module, path, family).needs
    assert found(files, module, path, family) != found({**files, added: ""}, module, path, family)
    changed = find_affected_needs(sorted(files), sorted({*files, added}))
    assert changed is not None
    assert changed & needs
    unrelated = find_affected_needs(sorted(files), sorted({*files, "src/pkg/unrelated.py"}))
    assert unrelated is not None
    assert not unrelated & needs


@pytest.mark.parametrize("added", ["other/package/__init__.py", "web/package.json", "go.mod"])
def test_another_folder_to_import_from_and_manifests_concern_every_look_up(added: str) -> None:
    assert find_affected_needs(sorted(PYTHON), sorted({*PYTHON, added})) is None


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, '{"a": ' * 100_000, "/*" * 500_000, '"' + '\\"' * 400_000, "," * 1_000_000, "9" * 1_000_000],
    ids=["brackets", "braces", "comments", "quotes", "commas", "digits"],
)
def test_a_manifest_that_is_made_to_take_long_is_no_manifest(text: str) -> None:
    files = {"tsconfig.json": text, "package.json": text, "a.ts": "", "b.ts": ""}
    assert found(files, "./b", "a.ts", "ecmascript") == "b.ts"
    assert found(files, "b", "a.ts", "ecmascript") is None


def test_what_looks_like_a_comment_in_a_text_of_a_manifest_stays() -> None:
    files = {"tsconfig.json": '{"compilerOptions": {"paths": {"x//*": ["src/*"]}}, /* c */ }', "src/b.ts": ""}
    assert found(files, "x//b", "a.ts", "ecmascript") == "src/b.ts"


@pytest.mark.parametrize("family", ["python", "ecmascript", "go", "rust", "c", "ruby", "lua", "php", "julia"])
def test_a_module_with_endless_parts_is_nowhere(family: str) -> None:
    assert found({"a.py": "", "a.rs": ""}, "a::a.a/" * 100_000, "a.rs", family) is None
