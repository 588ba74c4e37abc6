from __future__ import annotations

import pytest

from cairn.source.content import check_content, is_generated, normalize
from cairn.source.eligible import check_folder, check_name


def nothing(path: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("main.py", ""),
        ("Makefile", ""),
        (".env", ""),
        ("package.json", ""),
        ("flock", ""),
        ("admin.js", ""),
        ("package-lock.json", "lock file"),
        ("uv.lock", "lock file"),
        ("go.sum", "lock file"),
        ("jquery.min.js", "minified"),
        ("site-min.css", "minified"),
        ("app.bundle.js", "minified"),
        ("app.js.map", "minified"),
        ("logo.PNG", "binary (extension)"),
        ("x.tar.gz", "binary (extension)"),
        (".DS_Store", "binary (extension)"),
        ("icon.svg", "image"),
        ("App.test.js.snap", "snapshot"),
    ],
)
def test_name_gives_the_reason(name: str, reason: str) -> None:
    assert check_name(name) == reason


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("src", ""),
        ("src/build", ""),
        ("node_modules", "vendored"),
        ("packages/a/node_modules", "vendored"),
        ("lib/third_party", "vendored"),
        ("vendor", "vendored"),
        ("app/assets/vendor", "vendored"),
        ("src/__pycache__", "cache"),
        ("ui/__snapshots__", "snapshot"),
    ],
)
def test_folder_name_gives_the_reason(path: str, reason: str) -> None:
    assert check_folder(path, nothing) == reason


def test_inner_vendor_folder_is_code_unless_a_package_manager_fills_it() -> None:
    assert check_folder("apps/vendor", nothing) == ""
    assert check_folder("services/a/vendor", {"services/a/go.mod"}.__contains__) == "vendored"
    assert check_folder("k8s/Pods", nothing) == ""
    assert check_folder("ios/Pods", {"ios/Podfile"}.__contains__) == "vendored"


def test_environment_and_cache_are_known_by_the_marker_they_hold() -> None:
    assert check_folder("env", {"env/pyvenv.cfg"}.__contains__) == "virtual environment"
    assert check_folder("target", {"target/CACHEDIR.TAG"}.__contains__) == "cache"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_marked_wide_text_becomes_utf8_and_is_not_binary(encoding: str) -> None:
    mark = "" if encoding in ("utf-16", "utf-32") else "\ufeff"
    data = (mark + "naïve = 1\n").encode(encoding)
    assert normalize(data) == "naïve = 1\n".encode()
    assert check_content(data, "a.py") is None


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_text_in_a_western_encoding_becomes_utf8(encoding: str) -> None:
    text = "# Größe, élève, Señor, à côté: “MENÜ”\n" if encoding == "cp1252" else "naïve = 'Größe'\n"
    assert normalize(text.encode(encoding)) == text.encode()


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("# Это комментарий\n", "koi8-r"),
        ("# Это комментарий\n", "cp1251"),
        ("# 这是一个注释\n", "gbk"),
        ("# これはコメントです\n", "shift-jis"),
        ("# これはコメントです\n", "euc-jp"),
        ("# 이것은 주석입니다\n", "euc-kr"),
    ],
)
def test_text_in_another_encoding_is_not_taken_for_a_western_one(text: str, encoding: str) -> None:
    assert normalize(text.encode(encoding)) == text.encode(encoding)


def test_utf8_that_is_damaged_somewhere_stays_utf8() -> None:
    data = "Größe, élève".encode() + b"\xff\n"
    assert normalize(data) == data


@pytest.mark.parametrize(
    "data", [b"", b"x\n", b"\xef\xbb\xbfx\n", b"\x81x", b"\0\xff", b"\xff\xfe\x00", b"\xff\xfe\x00\xd8\x00\xd8"]
)
def test_other_bytes_stay_as_they_are(data: bytes) -> None:
    assert normalize(data) == data


@pytest.mark.parametrize("data", [b"\0", b"text\0more", b"\xff\xfe\x00", b"\xff\xfea\0\0\0"])
def test_null_bytes_make_a_file_binary(data: bytes) -> None:
    assert check_content(data, "a.py") == "binary"


def test_null_byte_far_into_a_file_is_ignored() -> None:
    assert check_content(b"x = 1\n" * 2000 + b"\0", "a.py") is None


@pytest.mark.parametrize("path", ["a.js", "a.css", "a.html", "a.json"])
def test_web_code_on_few_long_lines_is_minified(path: str) -> None:
    assert check_content(b"/*! licence */\n" + b"a{b:c}" * 1000 + b"\n", path) == "minified"


def test_short_file_on_one_line_is_not_minified() -> None:
    assert check_content(b'{"name": "x"}' * 50, "a.json") is None


def test_lines_that_end_in_carriage_returns_are_lines() -> None:
    assert check_content(b"let a = 1;\r" * 1000, "a.js") is None


@pytest.mark.parametrize("path", ["a.csv", "a.md", "a.txt", "notes", "a.ipynb"])
def test_prose_and_tables_may_have_long_lines(path: str) -> None:
    assert check_content(b"word " * 40_000, path) is None


def test_code_with_one_huge_line_is_minified() -> None:
    data = b"x = 1\n" * 20_000 + b"DATA = '" + b"a" * 60_000 + b"'\n"
    assert check_content(data, "a.py") == "minified"
    assert check_content(data, "a.md") is None


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("a.go", "// Code generated by protoc-gen-go. DO NOT EDIT.\n"),
        ("a.rs", "// @generated by prost-build\n"),
        ("a.rs", "// This file is @generated by prost-build.\n"),
        ("a.js", "/**\n * @generated SignedSource<<abc>>\n */\n"),
        ("a.php", "<?php\n/* @generated */\n"),
        ("a.cs", "// <auto-generated>\n//     This code was generated by a tool.\n"),
        ("a.py", "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n"),
        ("a.py", "#\n# Autogenerated by Thrift Compiler (0.9.1)\n#\n# DO NOT EDIT UNLESS YOU ARE SURE\n"),
        ("a.ts", "// This file was automatically generated by a script.\n// Do not modify it by hand.\n"),
        (
            "a.java",
            "/*\n * NOTE: This class is auto generated by OpenAPI.\n * Do not edit the class manually.\n */\n",
        ),
        ("a.c", "/* AUTO-GENERATED FILE, DO NOT EDIT */\n"),
        ("a.yaml", "# Code generated by controller-gen. DO NOT EDIT.\n"),
        ("a.sql", "-- DO NOT EDIT: generated by tool\n"),
        ("a.java", "// Generated from Expr.g4 by ANTLR 4.9.2\n"),
        ("a.c", "/* A Bison parser, made by GNU Bison 3.8.2.  */\n"),
        ("a.c", "/* Generated by Cython 3.0.0 */\n"),
    ],
)
def test_generated_code_is_known_by_its_header(path: str, head: str) -> None:
    assert is_generated((head + "x = 1\n").encode(), path)
    assert check_content((head + "x = 1\n").encode(), path) is None


def test_generated_code_is_left_out_only_when_it_is_long() -> None:
    assert check_content(b"// Code generated by x. DO NOT EDIT.\n" + b"var a = 1\n" * 30_000, "a.go") == "generated"


def test_scripts_on_lines_that_no_one_writes_are_generated() -> None:
    line = b"function a(){return 1};" * 6 + b"\n"
    assert is_generated(line * 40, "a.js")
    assert not is_generated(line * 40, "a.py")
    assert not is_generated(b"const a = 1;\n" * 400, "a.js")


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("a.py", '"""Skips files with the marker @generated, or Code generated by X. DO NOT EDIT."""\n'),
        ("a.py", "# Files with an @generated marker are left out.\n# DO NOT EDIT is another marker.\n"),
        ("a.py", "# @generated files are left out\n"),
        ("a.py", "# The code generated by this module must not be edited.\n"),
        ("a.py", "# Generated files are removed first.\n"),
        ("a.py", "# Generated by Django 4.2 on 2024-01-01\n"),
        ("a.py", 'MARK = "// Code generated by x. DO NOT EDIT."\n'),
        ("a.go", "package a\n" * 25 + "// Code generated by x. DO NOT EDIT.\n"),
        ("a.md", "<!-- @generated -->\n"),
    ],
)
def test_code_that_talks_about_generated_code_is_not_generated(path: str, head: str) -> None:
    assert not is_generated((head + "x = 1\n").encode(), path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("lib/a.js", "export const a = 1;\n//# sourceMappingURL=a.js.map\n"),
        ("lib/a.css", "a { color: red }\n/*# sourceMappingURL=a.css.map */"),
        ("lib/a.d.ts", "export declare const a = 1;\n//# sourceMappingURL=a.d.ts.map"),
        ("core/api/core.api", "public final class a/B {\n}\n"),
        ("core/api/core.klib.api", "// Klib ABI Dump\n// Targets: [js]\n"),
        ("docs/javadoc/Cart.html", "<!DOCTYPE HTML>\n<html>\n<head>\n<!-- Generated by javadoc (1.7.0) on Sun -->\n"),
        ("docs/api/cart.html", '<html><head><meta name="generator" content="rustdoc"></head>'),
        (
            "docs/Cart.html",
            '<html lang="en"><head><title>Cart</title><link rel="stylesheet" href="../css/jazzy.css" />',
        ),
        ("docs/-cart/index.html", '<script>const storage = localStorage.getItem("dokka-dark-mode")</script>'),
        ("docs/navigation.html", '<div class="toc--part" pageid="shop::////PointingToDeclaration//-14358371">'),
        ("doc/Cart.html", "<head><title>\n  Class: Cart\n  &mdash; Documentation by YARD 0.9.36\n</title>"),
        ("doc/Cart.html", '<script type="text/javascript">\n  var rdoc_rel_prefix = "./";\n</script>'),
        ("doc/Data-Cart.html", '<script src="haddock-bundle.min.js" async type="text/javascript"></script>'),
        ("doc/Shop.Cart.html", '<meta charset="utf-8"><meta name="generator" content="ExDoc v0.29.4">'),
        ("docs/_build/cart.html", "<title>Carts &#8212; Shop 1.0 documentation</title>"),
    ],
)
def test_what_a_compiler_or_a_dump_of_an_interface_wrote_is_generated(path: str, text: str) -> None:
    assert check_content(text.encode(), path) == "generated"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", 'const LINK = "//# sourceMappingURL=";\nexport default LINK;\n'),
        ("docs/index.html", '<html><head><meta name="generator" content="Hugo 0.1"></head>'),
        ("docs/tools.html", "<p>Our pages are generated by javadoc.</p>"),
        ("a.js", "//# sourceMappingURL=a.js.map\nexport const a = 1;\n"),
        ("a.ts", "export const a = 1;\n//# sourceMappingURL=a.js.map\n"),
        ("docs/users.api", "GET /users\n"),
        ("themes/layout.html", "<title>{{ title }} &mdash; {{ docstitle }} documentation</title>"),
        ("docs/rdoc.html", "<p>Pages of RDoc set rdoc_rel_prefix and load their style sheet.</p>"),
    ],
)
def test_code_that_mentions_a_source_map_or_an_interface_is_not_generated(path: str, text: str) -> None:
    assert check_content(text.encode(), path) is None


@pytest.mark.parametrize(
    "text", ["%PDF-1.6\n1 0 obj\n<</Metadata 2 0 R>>\n", "%!PS-Adobe-3.0 EPSF-3.0\n%%Title: logo\n"]
)
def test_what_is_ready_to_print_is_no_text_whatever_its_name(text: str) -> None:
    assert check_content(text.encode(), "logo/Logo.ai") == "binary"


def test_long_ruler_in_a_header_is_harmless() -> None:
    assert not is_generated(b"// " + b"-!:., " * 700 + b"\n// generated\n", "a.c")
