"""Traces of scripts that were built from the project: their lines are those of the built file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "packages/shop/src/node/pages.ts": "export async function loadPageModule(url: string) {\n  throw Error(url)\n}\n",
    "packages/shop/src/node/other.ts": "export function other() {\n  return 1\n}\n",
    "packages/shop/src/core/Cart.ts": "export class Cart {\n  addUp(items) {\n    return items\n  }\n}\n",
    "packages/shop/src/core/money.js": "import a from 'a'\n\nexport function addTax(sum) {\n  return sum\n}\n",
    "packages/shop/test/pages.test.ts": "function loadPageModule() {}\n",
    "setup.ts": "export const a = 1\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("built")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def framed(workspace: Workspace, trace: str) -> list[tuple[str, int]]:
    return [(hit.path, hit.start_line) for hit in workspace.search(trace).code if hit.part.startswith("frame")]


@pytest.mark.parametrize(
    ("frame", "place"),
    [
        ("    at Cart.addUp (/app/node_modules/@acme/shop/core/Cart.js:533:2)", ("packages/shop/src/core/Cart.ts", 2)),
        ("    at loadPageModule (/ci/shop/dist/dep-a71c.js:6766:15)", ("packages/shop/src/node/pages.ts", 1)),
        ("    at loadPageModule (/app/node_modules/shop/bin.cjs:6766:15)", ("packages/shop/src/node/pages.ts", 1)),
        ("    at addTax (/ci/x/dist/core/money.mjs:5:3)", ("packages/shop/src/core/money.js", 3)),
        ("    at Cart.addUp (/x/packages/shop/src/core/Cart.js:533:2)", ("packages/shop/src/core/Cart.ts", 2)),
    ],
)
def test_a_frame_of_a_built_script_means_the_function_in_its_source(
    workspace: Workspace, frame: str, place: tuple[str, int]
) -> None:
    assert framed(workspace, f"Error: no page\n{frame}\n") == [place]


@pytest.mark.parametrize(
    "frame",
    [
        "    at loadPageModule (/app/node_modules/react/dist/chunk.js:1:3)",
        "    at other (/app/node_modules/shop/dist/chunk.js:1:3)",
        "    at /app/node_modules/shop/core/Cart.js:533:2",
        "    at loadPageModule (/srv/bundle.js:1:3)",
    ],
)
def test_a_frame_outside_the_package_or_of_a_plain_or_no_name_means_no_source(workspace: Workspace, frame: str) -> None:
    assert not framed(workspace, f"Error: no page\n{frame}\n")
