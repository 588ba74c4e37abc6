"""Patches in long texts: what they change comes first, at its line, applied or not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.answers import CodeHit
from cairn.cli.main import main
from cairn.workspace import Workspace
from small_projects import write_files

CART = (
    '"""Carts."""\n\nimport tax\n\n\n'
    "class Cart:\n"
    "    def total(self, discount):\n"
    "        price = sum(self.items)\n"
    "        return price * (1 - discount)\n\n"
    "    def is_empty(self):\n"
    "        return not self.items\n"
)
FILES = {
    "src/shop/cart.py": CART,
    "src/shop/mail.py": (
        '"""Sends letters about the total price of a cart."""\n\n\ndef send(cart):\n    return deliver(cart)\n'
    ),
    "tests/test_cart.py": "import cart\n\n\ndef test_total():\n    assert cart.Cart([1, 2]).total(0) == 3\n",
}
TOTAL = """\
@@ -7,4 +7,4 @@ class Cart:
     def total(self, discount):
-        return sum(self.items) * (1 - discount)
+        price = sum(self.items)
+        return price * (1 - discount)

     def is_empty(self):
"""
DIFF = f"""\
diff --git a/tests/test_cart.py b/tests/test_cart.py
--- a/tests/test_cart.py
+++ b/tests/test_cart.py
@@ -3,2 +3,3 @@

 def test_total():
+    assert cart.Cart([1, 2]).total(0) == 3
diff --git a/src/shop/cart.py b/src/shop/cart.py
--- a/src/shop/cart.py
+++ b/src/shop/cart.py
@@ -1,3 +1,3 @@
 \"\"\"Carts.\"\"\"

+import tax
{TOTAL}"""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workspace]:
    write_files(tmp_path / "shop", FILES)
    with Workspace.open(tmp_path / "shop") as workspace:
        workspace.index()
        yield workspace


def changed(workspace: Workspace, text: str) -> list[tuple[str, int, str]]:
    """Return the hits that a patch changes: each with its file, its line and its definition."""
    return [
        (hit.path, hit.start_line, hit.qualified_name) for hit in hits(workspace, text) if hit.part == "changed here"
    ]


def hits(workspace: Workspace, text: str) -> list[CodeHit]:
    return list(workspace.search(text).code)


def test_what_a_patch_changes_most_comes_first_and_tests_behind_code(shop: Workspace) -> None:
    found = hits(shop, DIFF)
    assert [(hit.path, hit.part, hit.confidence) for hit in found[:2]] == [
        ("src/shop/cart.py", "changed here", "high"),
        ("tests/test_cart.py", "changed here", "high"),
    ]
    assert changed(shop, DIFF) == [("src/shop/cart.py", 8, "Cart.total"), ("tests/test_cart.py", 5, "test_total")]


def test_a_patch_that_is_not_applied_leads_to_what_it_takes_out(shop: Workspace) -> None:
    undone = DIFF.replace("\n-", "\n~").replace("\n+  ", "\n-  ").replace("\n~  ", "\n+  ")
    assert changed(shop, undone)[0] == ("src/shop/cart.py", 8, "Cart.total")


def test_a_file_that_has_changed_since_is_met_where_its_lines_are_now(shop: Workspace) -> None:
    moved = CART.replace("import tax\n", "import tax\n" + "import more\n" * 40)
    write_files(shop.root, {"src/shop/cart.py": moved})
    assert changed(shop, DIFF)[0] == ("src/shop/cart.py", 48, "Cart.total")


def test_the_patch_of_a_commit_leads_to_what_it_changes_whatever_its_message_says(shop: Workspace) -> None:
    text = f"commit 4f2a1b9c7d\nAuthor: M <m@example.com>\n\n    Mail: send letters about carts\n\n{DIFF}"
    assert changed(shop, text)[0] == ("src/shop/cart.py", 8, "Cart.total")
    assert shop.search(text).query == "Mail: send letters about carts"


def test_a_review_leads_to_its_hunk(shop: Workspace) -> None:
    review = f"src/shop/cart.py\n```diff\n{TOTAL}```\nDo we send letters about this price?"
    assert changed(shop, review) == [("src/shop/cart.py", 8, "Cart.total")]


def test_a_difference_of_values_below_the_name_of_a_file_is_no_change_of_it(shop: Workspace) -> None:
    snapshot = 'FAIL tests/test_cart.py\n\n@@ -1,3 +1,3 @@\n  Object {\n-   "price": 1,\n+   "price": 2,\n  }\n'
    assert changed(shop, snapshot) == []
    assert hits(shop, snapshot) != []


@pytest.mark.parametrize("path", ["src/shop/till.py", "../../etc/passwd", "/dev/null", ""])
def test_a_file_that_the_project_lacks_is_no_place(shop: Workspace, path: str) -> None:
    assert changed(shop, DIFF.replace("src/shop/cart.py", path)) == [("tests/test_cart.py", 5, "test_total")]


def test_a_patch_beyond_the_end_of_its_file_leads_into_it(shop: Workspace) -> None:
    beyond = (
        "--- a/src/shop/mail.py\n+++ b/src/shop/mail.py\n@@ -9000 +9000 @@\n-every line differs\n+as does this one\n"
    )
    ((path, line, _),) = changed(shop, beyond)
    assert (path, line <= 6) == ("src/shop/mail.py", True)


def test_filters_hold_for_what_a_patch_changes(shop: Workspace) -> None:
    found = shop.search(DIFF, globs=["tests/**"]).code
    assert {hit.path for hit in found} == {"tests/test_cart.py"}


def test_the_command_line_says_what_a_patch_changes(
    shop: Workspace, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "change.diff").write_text(DIFF)
    main(["search", f"@{tmp_path / 'change.diff'}", "--json", "-C", str(shop.root)])
    first = json.loads(capsysbinary.readouterr().out)["code"][0]
    assert (first["filepath"], first["part"]) == ("src/shop/cart.py", "changed here")


def test_a_trace_before_a_patch_is_shown_behind_it(shop: Workspace) -> None:
    trace = 'Traceback (most recent call last):\n  File "/srv/src/shop/mail.py", line 5, in send\nValueError: no\n'
    found = hits(shop, f"{trace}\nI mended it with this:\n\n{DIFF}")
    assert [hit.part for hit in found[:3]] == ["changed here", "changed here", "frame 1"]


def test_lines_that_stand_everywhere_do_not_vote(tmp_path: Path) -> None:
    write_files(tmp_path, {"data.py": "x = [\n" + "0, 0,\n" * 30_000 + "]\nprint(x, 1)\n"})
    changed_data = "\n".join(f"-{line}" for line in ["0, 0,"] * 4_000)
    patch = f"--- a/data.py\n+++ b/data.py\n@@ -30002,4001 +1,1 @@\n print(x, 1)\n{changed_data}\n"
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        started = time.process_time()
        found = hits(workspace, patch)
    assert found[0].path == "data.py"
    assert time.process_time() - started < 5  # each with each would take a minute
