"""Traces that come from a project as it is installed elsewhere, or in folders of another layout."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

PACKAGE = "package com.acme.shop.carts\n\n"
FILES = {
    "core/src/carts/sums/Total.kt": f"{PACKAGE}fun total() {{\n    sum()\n}}\n",
    "core/src/carts/Other.kt": f"{PACKAGE}fun other() {{\n    sum()\n}}\n",
    "core/src/mail/Other.kt": "package com.acme.shop.mail\n\nfun other() {\n    send()\n}\n",
    "core/src/main/java/com/acme/shop/carts/sums/Sums.java": "package com.acme.shop.carts.sums;\n\nclass Sums {\n"
    "    int sum() {\n        return 1;\n    }\n}\n",
    "clj/src/shop/impl/clojure/core.clj": "(ns shop.impl.clojure.core)\n\n(defn apply-all [f]\n  (f))\n",
    "clj/src/shop/impl/line_items.clj": "(ns ^:no-doc shop.impl.line-items\n  (:require [shop.mail]))\n\n"
    "(defn full? [items]\n  (> (count items) 7))\n",
    "index.js": "module.exports = require('./lib/shop')\n\nrun()\n",
    "lib/shop.js": "exports.sell = function () {\n  throw new Error()\n}\n",
    "src/shop/cart.py": "def total():\n    return sum()\n",
    "src/shop/deep/web/http.py": "def get():\n    return send()\n",
    "src/web/orders/index.ts": "export function sum(): number {\n  return 1\n}\n\n"
    "export class Orders {\n  place(): void {\n    throw new Error('no')\n  }\n}\n",
    "src/web/orders.ts": "export const order = () => {\n  throw new Error(`An order of ${1} is too small`)\n}\n",
    "tests/test_http.py": "def test_get():\n    get()\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("packages")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def framed(workspace: Workspace, trace: str) -> list[str]:
    """Return the files of a trace's frames, in their order."""
    hits = [hit for hit in workspace.search(trace).code if hit.part.startswith("frame")]
    return [hit.path for hit in sorted(hits, key=lambda hit: hit.part)]


def test_a_kotlin_file_is_found_by_its_package_where_folders_leave_some_of_it_out(workspace: Workspace) -> None:
    trace = (
        "java.lang.IllegalStateException: no\n\tat com.acme.shop.carts.TotalKt.total(Total.kt:4)\n"
        "\tat com.acme.shop.mail.OtherKt.other(Other.kt:4)\n\tat org.other.carts.TotalKt.total(Total.kt:3)\n"
    )
    assert framed(workspace, trace) == ["core/src/carts/sums/Total.kt", "core/src/mail/Other.kt"]


def test_a_file_of_the_jvm_is_found_though_the_packages_around_its_own_got_another_name(workspace: Workspace) -> None:
    trace = (
        "java.lang.IllegalStateException: no\n\tat org.old.shop.carts.sums.Sums.sum(Sums.java:5)\n"
        "\tat org.other.sums.Sums.sum(Sums.java:5)\n"
    )
    assert framed(workspace, trace) == ["core/src/main/java/com/acme/shop/carts/sums/Sums.java"]


def test_a_frame_of_clojure_is_of_the_file_with_its_namespace(workspace: Workspace) -> None:
    trace = (
        "java.lang.NullPointerException\n\tat clojure.lang.Numbers.gt(Numbers.java:259)\n"
        "\tat shop.impl.line_items$full_QMARK_.invokeStatic(line_items.clj:5)\n"
        "\tat clojure.core$apply.invokeStatic(core.clj:3)\n"
    )
    assert framed(workspace, trace) == ["clj/src/shop/impl/line_items.clj"]


@pytest.mark.parametrize(
    ("trace", "files"),
    [
        (
            "Error: no\n    at sell (/app/node_modules/shop/lib/shop.js:2:9)\n    at main (/app/index.js:3:1)\n",
            ["lib/shop.js"],
        ),
        (
            'Traceback (most recent call last):\n  File "/home/me/app/tests/test_http.py", line 2, in test_get\n'
            '  File "/home/me/app/vendored/shop/deep/web/http.py", line 2, in get\n'
            '  File "/venv/lib/python3/site-packages/shop/cart.py", line 2, in total\nValueError: no\n',
            ["src/shop/cart.py", "src/shop/deep/web/http.py"],
        ),
        (
            "Error: no\n    at sell (/app/node_modules/aside/lib/shop.js:2:9)\n    at main (/srv/shop/index.js:3:1)\n",
            ["index.js"],
        ),
        (
            'Traceback (most recent call last):\n  File "/home/me/shop/tests/test_http.py", line 2, in test_get\n'
            '  File "/home/me/shop/src/shop/cart.py", line 2, in total\nValueError: no\n',
            ["src/shop/cart.py", "tests/test_http.py"],
        ),
    ],
    ids=["npm", "python", "another package", "the project itself"],
)
def test_frames_of_an_application_that_has_the_project_installed_are_its_own(
    workspace: Workspace, trace: str, files: list[str]
) -> None:
    assert framed(workspace, trace) == files


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("place (/srv/app/dist/web/orders/index.js:90:9)", 6),
        ("Orders.place (file:///srv/app/node_modules/shop/dist/esm/web/orders/index.mjs:90:9)", 6),
        ("async Orders.place (/srv/app/node_modules/shop/web/orders/index.js:90:9)", 6),
        ("sum (C:\\srv\\build\\web\\orders\\index.js:90:9)", 1),
        ("order (/srv/app/dist/web/orders.js:90:9)", 1),
    ],
)
def test_a_frame_in_compiled_javascript_is_the_function_of_its_typescript(
    workspace: Workspace, place: str, line: int
) -> None:
    hit = next(hit for hit in workspace.search(f"Error: no\n    at {place}\n").code if hit.part == "frame 1")
    assert hit.path.startswith("src/web/orders")
    assert hit.start_line == line


@pytest.mark.parametrize(
    "place",
    [
        "place (/srv/app/node_modules/payments/dist/web/orders/index.js:90:9)",  # another package
        "place (/srv/app/pages/web/orders/index.js:90:9)",  # not compiled
        "cancel (/srv/app/dist/web/orders/index.js:90:9)",  # a line of it says nothing
    ],
)
def test_a_frame_in_other_javascript_is_none_of_typescript(workspace: Workspace, place: str) -> None:
    assert framed(workspace, f"Error: no\n    at {place}\n") == []


def test_where_a_message_is_made_is_shown_rather_than_the_function_around_it(workspace: Workspace) -> None:
    trace = "Error: An order of 7 is too small\n    at order (/srv/app/dist/web/orders.js:90:9)\n"
    hit = workspace.search(trace).code[0]
    assert (hit.path, hit.start_line, hit.part) == ("src/web/orders.ts", 2, "raised here")
