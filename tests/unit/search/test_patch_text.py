"""Tests of reading patches in texts."""

from __future__ import annotations

import pytest

from cairn.search.any_length import understand_text
from cairn.search.patch_text import MAX_HUNKS, Hunk, read_patches
from cairn.search.work_item import read_work_item

DIFF = """\
diff --git a/src/shop/cart.py b/src/shop/cart.py
index 6cc2a03..4a97c19 100644
--- a/src/shop/cart.py
+++ b/src/shop/cart.py
@@ -4,3 +4,4 @@ class Cart:
     def total(self):

-        return sum(self.items)
+        price = sum(self.items)
+        return price
\\ No newline at end of file
"""
SHOWN = f"""\
commit 4f2a1b9c7d
Author: Maria Muster <maria@example.com>
Date:   Sat Jun 13 09:15:31 2026 -0700

    Name the price of a cart

    It is read by the till.

{DIFF}"""
MAILED = f"""\
From 4f2a1b9c7d4f2a1b9c7d4f2a1b9c7d4f2a1b9c7d Mon Sep 17 00:00:00 2001
From: Maria Muster <maria@example.com>
Subject: [PATCH 1/2] Name the price of a cart

It is read by the till.
---
 src/shop/cart.py | 3 ++-
{DIFF}--
2.39.5
"""
REVIEW = """\
In `src/shop/cart.py`:
```diff
@@ -4,4 +4,5 @@ class Cart:
     def total(self):
-        return sum(self.items)
+        price = sum(self.items)
```
Why is this named price and not amount?
"""


def test_a_hunk_has_its_file_its_lines_and_what_is_around() -> None:
    (hunk,) = read_patches(DIFF.split("\n")).hunks
    assert (hunk.path, hunk.old, hunk.new, hunk.heading) == ("b/src/shop/cart.py", 4, 4, "class Cart:")
    assert hunk.changed == ["        return sum(self.items)", "        price = sum(self.items)", "        return price"]
    assert hunk.side("-") == ["    def total(self):", "", "        return sum(self.items)"]
    assert hunk.side("+") == ["    def total(self):", "", "        price = sum(self.items)", "        return price"]


def test_the_lines_of_hunks_are_code_without_marks_and_what_git_says_of_files_is_gone() -> None:
    item = read_work_item(DIFF)
    assert item.code.split("\n") == [
        "    def total(self):",
        "",
        "        return sum(self.items)",
        "        price = sum(self.items)",
        "        return price",
    ]
    assert (item.subject, item.prose) == ("class Cart:", "")


@pytest.mark.parametrize("text", [SHOWN, MAILED], ids=["shown", "mailed"])
def test_the_message_of_a_commit_is_its_subject_and_its_prose(text: str) -> None:
    item = read_work_item(text)
    assert item.subject == "Name the price of a cart"
    assert "It is read by the till." in item.prose
    assert "Maria" not in f"{item.prose}{item.code}"
    assert [hunk.path for hunk in item.hunks] == ["b/src/shop/cart.py"]


def test_a_review_names_the_file_of_its_hunk_above_and_is_about_what_it_says() -> None:
    item = read_work_item(REVIEW)
    (hunk,) = item.hunks
    assert (hunk.path, hunk.is_guessed, len(hunk.lines)) == ("src/shop/cart.py", True, 3)
    assert item.subject == "Why is this named price and not amount?"


def test_hunks_of_one_file_in_a_review_share_the_path_above_the_first() -> None:
    hunks = read_patches(["src/cart.py", "@@ -1 +1 @@", "-a = 1", "+a = 2", "@@ -9 +9 @@", "-b = 1", "+b = 2"]).hunks
    assert [hunk.path for hunk in hunks] == ["src/cart.py"] * 2


def test_what_follows_the_last_line_of_a_hunk_is_text() -> None:
    lines = ["--- a/x.py", "+++ b/x.py", "@@ -1 +1 @@", "-a = 1", "+a = 2", "- a point", "+ another one"]
    read = read_patches(lines)
    assert read.hunks[0].lines == ("-a = 1", "+a = 2")
    assert read.lines[-2:] == ["- a point", "+ another one"]


def test_a_file_that_is_taken_out_or_put_in_has_the_name_that_it_has() -> None:
    removed = read_patches(["--- a/old.py", "+++ /dev/null", "@@ -1 +0,0 @@", "-a = 1"]).hunks
    added = read_patches(["--- /dev/null", "+++ b/new.py", "@@ -0,0 +1 @@", "+a = 1"]).hunks
    assert [hunk.path for hunk in (*removed, *added)] == ["a/old.py", "b/new.py"]


def test_a_text_without_a_patch_is_as_it_was() -> None:
    lines = ["Carts are wrong", "", "+ add a test", "- remove `@@` from it", "", "commit often"]
    assert read_patches(lines) == (lines, ())


def test_a_hunk_without_a_file_is_code_and_no_place() -> None:
    read = read_patches(["Snapshot differs", "", "@@ -1,2 +1,2 @@", "  Object {", '-   "a": 1,', '+   "a": 2,'])
    assert read.hunks == ()
    assert read.lines == ["Snapshot differs", "", "```diff", " Object {", '   "a": 1,', '   "a": 2,', "```"]


def test_hunks_without_end_and_lines_without_end_are_read_in_time() -> None:
    many = read_patches(["--- a/x.py", "+++ b/x.py", *(["@@ -1,9999999 +1,9999999 @@", "-a"] * 10_000)])
    assert len(many.hunks) == MAX_HUNKS
    assert read_patches([f"{'a/' * 20_000}{'b' * 20_000}", "@@ -1 +1 @@", "-a", "+b"]).hunks == ()


def test_a_short_hunk_is_no_pattern() -> None:
    query = understand_text("@@ -3,2 +3,2 @@ impl Cart {\n-        a(b);\n+        c(b);\n")
    assert query.mode == "hybrid"


def test_a_hunk_says_nothing_else_unless_it_is_read() -> None:
    assert Hunk("x.py", 1, 1, "").changed == []


@pytest.mark.parametrize("mark", ["> ", ">> ", "    ", "\t"])
def test_a_patch_that_is_quoted_or_indented_is_read(mark: str) -> None:
    quoted = [f"{mark}{line}".rstrip() for line in DIFF.split("\n")]
    read = read_patches(["Maria wrote:", *quoted, "", "Why is that?"])
    assert [hunk.changed for hunk in read.hunks] == [hunk.changed for hunk in read_patches(DIFF.split("\n")).hunks]
    assert read.lines[-1] == "Why is that?"


def test_a_hunk_that_marks_words_is_no_place() -> None:
    lines = ["--- a/x.py", "+++ b/x.py", "@@ -1,2 +1,2 @@", "def total():", "    return [-price-]{+sum+}"]
    assert read_patches(lines).hunks == ()


def test_a_message_that_shows_a_hunk_does_not_indent_the_patch() -> None:
    text = SHOWN.replace("    It is read by the till.", "    @@ -1 +1 @@ is what it says.")
    assert [hunk.lines for hunk in read_patches(text.split("\n")).hunks][-1][0] == "     def total(self):"
