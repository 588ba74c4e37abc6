from __future__ import annotations

import pytest

from cairn.source.imports import ImportFlag, read_import

REEXPORT, TYPE_ONLY = ImportFlag.REEXPORT, ImportFlag.TYPE_ONLY


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "import a.b.c", [("a.b.c", "", "a", 0)]),
        ("python", "import a.b as c, d", [("a.b", "", "c", 0), ("d", "", "d", 0)]),
        ("python", "from . import x", [(".", "x", "x", 0)]),
        ("python", "from ..a import (  # why\n    b as c,\n    d,\n)", [("..a", "b", "c", 0), ("..a", "d", "d", 0)]),
        ("python", "from a import *", [("a", "*", "", 0)]),
        ("python", "from a import b as b", [("a", "b", "b", REEXPORT)]),
        ("python", "from a import b, \\\n    c", [("a", "b", "b", 0), ("a", "c", "c", 0)]),
        ("typescript", "import './x';", [("./x", "", "", 0)]),
        (
            "typescript",
            "import A, { b as c, type D } from './x';",
            [("./x", "b", "c", 0), ("./x", "D", "D", TYPE_ONLY), ("./x", "default", "A", 0)],
        ),
        ("typescript", "import type { A } from './x'", [("./x", "A", "A", TYPE_ONLY)]),
        ("typescript", 'import * as ns from "./x"', [("./x", "", "ns", 0)]),
        ("typescript", "import fs = require('fs')", [("fs", "=", "fs", 0)]),
        ("typescript", "export * from './x'", [("./x", "*", "", REEXPORT)]),
        ("typescript", "export * as ns from './x'", [("./x", "", "ns", REEXPORT)]),
        ("typescript", "export { a as b }", [("", "a", "b", REEXPORT)]),
        ("typescript", "export { default } from './x'", [("./x", "default", "default", REEXPORT)]),
        ("javascript", "const x = require('./x')", [("./x", "=", "x", 0)]),
        ("javascript", "{ a, b: c, ...d } = require('./x')", [("./x", "a", "a", 0), ("./x", "b", "c", 0)]),
        ("javascript", "x.y = require('./x')", [("./x", "", "", 0)]),
        ("go", '"fmt"', [("fmt", "", "fmt", 0)]),
        ("go", 'x "a/b/go-kit/v2"', [("a/b/go-kit/v2", "", "x", 0)]),
        ("go", '"a/b/go-kit/v2"', [("a/b/go-kit/v2", "", "kit", 0)]),
        ("go", '. "a/b"', [("a/b", "*", "", 0)]),
        ("go", '_ "a/b"', [("a/b", "", "", 0)]),
        ("java", "import static a.b.C.d;", [("a.b.C", "d", "d", 0)]),
        ("java", "import a.b.*;", [("a.b", "*", "", 0)]),
        ("kotlin", "import a.b.C as D", [("a.b", "C", "D", 0)]),
        ("scala", "import a.b.{C, D => E, _}", [("a.b", "C", "C", 0), ("a.b", "D", "E", 0), ("a.b", "*", "", 0)]),
        ("rust", "mod x;", [("self::x", "", "x", 0)]),
        (
            "rust",
            "pub use crate::a::{self, b::{c, d as e}, f::*};",
            [
                ("crate::a", "", "a", REEXPORT),
                ("crate::a::b", "c", "c", REEXPORT),
                ("crate::a::b", "d", "e", REEXPORT),
                ("crate::a::f", "*", "", REEXPORT),
            ],
        ),
        ("php", "use A\\B\\{C, D as E};", [("A\\B", "C", "C", 0), ("A\\B", "D", "E", 0)]),
        ("php", "use function A\\f;", [("A", "f", "f", 0)]),
        ("php", "require __DIR__ . '/x.php'", [("/x.php", "", "", 0)]),
        ("csharp", "using A.B;", [("A.B", "*", "", 0)]),
        ("csharp", "using X = A.B.C;", [("A.B", "C", "X", 0)]),
        ("c", '#include "a/b.h"', [("a/b.h", "*", "", 0)]),
        ("cpp", "#include <vector>", [("vector", "*", "", 0)]),
        ("ruby", "require_relative 'x'", [("./x", "*", "", 0)]),
        ("julia", "using A, B.C", [("A", "", "A", 0), ("B.C", "", "C", 0)]),
        ("julia", "import A: b as c,\n    @d # why", [("A", "b", "c", 0), ("A", "@d", "@d", 0)]),
        ("julia", "import A as B", [("A", "", "B", 0)]),
        ("julia", "using .Inner: a", []),
        ("julia", "using ..Outer", []),
        ("julia", 'include("a/b.jl")', [("a/b.jl", "*", "", 0)]),
    ],
)
def test_an_import_binds_names(language: str, text: str, expected: list[tuple[str, str, str, int]]) -> None:
    found = read_import(text, language, 7, ImportFlag(0))
    assert [(imported.module, imported.name, imported.alias, int(imported.flags)) for imported in found] == expected
    assert all(imported.line == 7 for imported in found)


def test_flags_from_around_the_statement_are_added() -> None:
    (found,) = read_import("from a import b", "python", 1, ImportFlag.DEFERRED)
    assert found.flags == ImportFlag.DEFERRED


@pytest.mark.parametrize("text", ["import", "from", "from . import (", "import {", "export {} from", ""])
@pytest.mark.parametrize("language", ["python", "typescript", "rust", "php", "go", "java", "csharp", "c", "julia"])
def test_broken_statements_bind_what_they_can(language: str, text: str) -> None:
    read_import(text, language, 1, ImportFlag(0))
