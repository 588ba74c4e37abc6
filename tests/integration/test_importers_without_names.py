"""Which files import one whose name their imports do not say: by a package, by an alias, or as the folder around."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "packages/server/package.json": (
        '{"name": "@shop/server", "exports": {".": {"import": {"types": "./dist/index.d.mts"}},'
        ' "./http": {"default": "./dist/adapters/web.mjs"}, "./parts/*": "./dist/pieces/*.mjs"},'
        ' "imports": {"#clock": "./src/time/clock.ts"}}'
    ),
    "packages/server/src/index.ts": "export const serve = 1\n",
    "packages/server/src/adapters/web.ts": "export const listen = 1\n",
    "packages/server/src/pieces/cart.ts": "export const cart = 1\n",
    "packages/server/src/time/clock.ts": "export const now = 1\n",
    "packages/server/src/time/index.ts": "export * from './clock'\n",
    "packages/server/src/time/deep/zone.ts": "import { now } from '..'\n",
    "packages/server/src/boot.ts": "import { now } from '#clock'\n",
    "apps/web/main.ts": (
        "import { serve } from '@shop/server'\nimport { listen } from '@shop/server/http'\n"
        "import { cart } from '@shop/server/parts/cart'\n"
    ),
    "libs/money/src/public.ts": "export const fee = 1\n",
    "tsconfig.paths.json": '{"compilerOptions": {"paths": {"@money": ["libs/money/src/public.ts"]}}}',
    "apps/web/pay.ts": "import { fee } from '@money'\n",
    "apps/vue/src/stores/user.ts": "export const user = 1\n",
    "apps/vue/src/views/home.ts": "import { user } from '@/stores/user'\n",
    "desk/__init__.py": "VERSION = 1\n",
    "desk/drawer.py": "from . import VERSION\n",
    "desk/inner/__init__.py": "",
    "desk/inner/lock.py": "from .. import VERSION\n",
    "desk/inner/text.py": "# from here: import nothing\n",
    "crates/my-core/Cargo.toml": '[package]\nname = "my-core"\n',
    "crates/my-core/src/lib.rs": "pub fn run() {}\n",
    "crates/my-core/tests/runs.rs": "use my_core::run;\n",
    "crates/odd/Cargo.toml": '[package]\nname = "odd"\n\n[lib]\nname = "even"\npath = "src/entry.rs"\n',
    "crates/odd/src/entry.rs": "pub mod part;\npub fn go() {}\n",
    "crates/odd/src/part.rs": "use crate::go;\n",
    "crates/user/Cargo.toml": (
        '[package]\nname = "user"\n\n[dependencies]\nbase = { package = "my-core", path = "../my-core" }\n'
        'even = { package = "odd", path = "../odd" }\n'
    ),
    "crates/user/src/lib.rs": "use base::run;\nuse even::go;\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("importers")
    write_files(root, FILES)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("packages/server/src/index.ts", {"apps/web/main.ts"}),
        ("packages/server/src/adapters/web.ts", {"apps/web/main.ts"}),
        ("packages/server/src/pieces/cart.ts", {"apps/web/main.ts"}),
        ("packages/server/src/time/clock.ts", {"packages/server/src/boot.ts", "packages/server/src/time/index.ts"}),
        ("packages/server/src/time/index.ts", {"packages/server/src/time/deep/zone.ts"}),
        ("libs/money/src/public.ts", {"apps/web/pay.ts"}),
        ("apps/vue/src/stores/user.ts", {"apps/vue/src/views/home.ts"}),
        ("desk/__init__.py", {"desk/drawer.py", "desk/inner/lock.py"}),
        ("crates/my-core/src/lib.rs", {"crates/my-core/tests/runs.rs", "crates/user/src/lib.rs"}),
        ("crates/odd/src/entry.rs", {"crates/odd/src/part.rs", "crates/user/src/lib.rs"}),
    ],
)
def test_importers_are_found_whose_imports_say_another_name(
    workspace: Workspace, path: str, expected: set[str]
) -> None:
    assert {importer.path for importer in workspace.graph.importers(path).importers} == expected


def test_an_entry_of_a_package_that_nothing_imports_has_no_importers(tmp_path: Path) -> None:
    files = {"package.json": '{"name": "alone"}', "src/index.ts": "export const a = 1\n", "src/b.ts": "import 'src'\n"}
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as opened:
        opened.index()
        answer = opened.graph.importers("src/index.ts")
    assert (answer.importers, answer.unresolved) == ((), None)
