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
    "index.js": "module.exports = require('./lib/shop')\n\nrun()\n",
    "lib/shop.js": "exports.sell = function () {\n  throw new Error()\n}\n",
    "src/shop/cart.py": "def total():\n    return sum()\n",
    "src/shop/deep/web/http.py": "def get():\n    return send()\n",
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
