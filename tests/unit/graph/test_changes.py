from __future__ import annotations

from cairn.graph.changes import parse_diff

DIFF = """\
diff --git a.py a.py
index 1..2 100644
--- a.py
+++ a.py
@@ -1,0 +2,3 @@ def f():
+x
@@ -10 +13 @@
-a
+b
@@ -20,4 +22,0 @@
-gone
diff --git old.py old.py
deleted file mode 100644
--- old.py
+++ /dev/null
@@ -1,2 +0,0 @@
-x
diff --git with space.py with space.py
--- with space.py\t
+++ with space.py\t
@@ -0,0 +1 @@
+x
new fresh.py
""".splitlines()


def test_hunks_are_lines_as_they_are_after_the_change() -> None:
    assert parse_diff(DIFF) == {"a.py": [(2, 4), (13, 13), (22, 22)], "with space.py": [(1, 1)], "fresh.py": []}


def test_no_difference_changes_nothing() -> None:
    assert parse_diff([""]) == {}
