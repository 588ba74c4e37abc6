"""Scripts and templates of Vue and Svelte are part of the symbol graph: what they import, call, and what uses them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "tsconfig.json": '{"compilerOptions": {"paths": {"#lib/*": ["./src/lib/*"]}}}',
    "vite.config.ts": "import path from 'path'\nexport default { resolve: { alias: {\n"
    "  '@parts': path.resolve(__dirname, './src/components'),\n  api: '/src/api' } } }\n",
    "src/lib/money.ts": "export function fee(x: number) {\n  return x\n}\n\nexport function unused() {}\n",
    "src/api/carts.ts": "export const load = () => 1\n",
    "src/router.ts": "export const routes = [{ component: () => import('./views/Home.vue') }]\n",
    "src/main.ts": "import App from './App.vue'\nimport './router'\ncreateApp(App)\n",
    "src/App.vue": "<script setup lang='ts'>\nimport Row from '@parts/CartRow.vue'\n</script>\n"
    '<template>\n  <Row />\n  <base-button @click="go" />\n  <user-menu />\n  <UserCardRow />\n</template>\n',
    "src/components/user/card/CardRow.client.vue": "<template><p /></template>\n",
    "src/components/CartRow.vue": "<template><p @click='remove'>{{ fee(1) }}</p></template>\n"
    "<script setup lang='ts'>\nimport { fee } from '#lib/money'\nimport { load } from 'api/carts'\n\n"
    "function remove() {\n  return load()\n}\n</script>\n",
    "src/components/BaseButton.vue": "<template><button>{{ label() }}</button></template>\n<script>\nexport default {\n"
    "  methods: {\n    label() {\n      return this.text()\n    },\n"
    "    text() {\n      return 1\n    },\n  },\n}\n</script>\n",
    "src/components/user/Menu.vue": "<template><nav /></template>\n",
    "app/nuxt.config.ts": "export default {}\n",
    "app/composables/dialog.ts": "export function openDialog() {}\n",
    "app/composables/other.ts": "export function runOnce(openDialog) {\n  openDialog()\n}\n",
    "app/pages/index.vue": "<template><a @click='openDialog()' /></template>\n<script>\nopenDialog()\n</script>\n",
    "src/views/Home.vue": "<template><main /></template>\n",
    "kit/src/lib/Card.svelte": "<script>\n  export let title\n  function open() {}\n</script>\n"
    "<a on:click={open}>{title}</a>\n",
    "kit/src/routes/+page.svelte": "<script>\n  import Card from '$lib/Card.svelte'\n</script>\n<Card title=\"a\" />\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("templates")
    write_files(folder, FILES)
    with Workspace.open(folder) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("src/App.vue", [("src/main.ts", 1)]),
        ("src/lib/money.ts", [("src/components/CartRow.vue", 3)]),  # an alias of tsconfig.json
        ("src/components/CartRow.vue", [("src/App.vue", 2)]),  # one of vite.config.ts
        ("src/api/carts.ts", [("src/components/CartRow.vue", 4)]),
        ("src/components/BaseButton.vue", [("src/App.vue", 6)]),  # that nobody imports
        ("src/components/user/Menu.vue", [("src/App.vue", 7)]),  # in a folder of which it has the name
        ("src/components/user/card/CardRow.client.vue", [("src/App.vue", 8)]),
        ("src/views/Home.vue", [("src/router.ts", 1)]),  # when it is asked for
        ("kit/src/lib/Card.svelte", [("kit/src/routes/+page.svelte", 2)]),
    ],
)
def test_files_that_import_a_component_or_are_imported_by_one_are_known(
    workspace: Workspace, target: str, expected: list[tuple[str, int]]
) -> None:
    found = workspace.graph.importers(target)
    assert [(each.path, each.line) for each in found.importers] == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("fee", [("src/components/CartRow.vue", 1)]),
        ("openDialog", [("app/pages/index.vue", 1), ("app/pages/index.vue", 3)]),  # which Nuxt imports
        ("remove", [("src/components/CartRow.vue", 1)]),
        ("load", [("src/components/CartRow.vue", 7)]),
        ("label", [("src/components/BaseButton.vue", 1)]),
        ("text", [("src/components/BaseButton.vue", 6)]),
        ("open", [("kit/src/lib/Card.svelte", 5)]),
    ],
)
def test_calls_in_scripts_and_templates_are_known(
    workspace: Workspace, target: str, expected: list[tuple[str, int]]
) -> None:
    assert [(link.path, link.line) for link in workspace.graph.callers(target).links] == expected


def test_what_a_template_or_a_library_uses_is_not_dead(workspace: Workspace) -> None:
    assert {dead.symbol.name for dead in workspace.graph.dead_code().dead} == {"unused", "runOnce"}


@pytest.mark.parametrize(
    ("pattern", "imported"),
    [
        ("'./Pages/**/*.vue'", {"js/Pages/Home.vue", "js/Pages/Till/Open.vue"}),
        ("'./Pages/*.vue'", {"js/Pages/Home.vue"}),
        ("['/js/Pages/*.vue', '!./Pages/Other.vue'], { eager: true }", {"js/Pages/Home.vue"}),
        ('"@/Pages/*.{vue,ts}"', {"js/Pages/Home.vue", "js/Pages/plain.ts"}),
        ("`../lang/*.json`", {"lang/en.json"}),
        ("'./*/*/*/*/*/*/*.vue'", set()),
    ],
)
def test_what_a_pattern_of_vite_fits_is_imported(tmp_path: Path, pattern: str, imported: set[str]) -> None:
    files = {
        "js/app.ts": f"const pages = import.meta.glob({pattern});\n",
        "js/Pages/Home.vue": "<template><p>x</p></template>\n",
        "js/Pages/Till/Open.vue": "<template><p>x</p></template>\n",
        "js/Pages/plain.ts": "export const a = 1;\n",
        "lang/en.json": '{"a": 1}\n',
        "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./js/*"]}}}\n',
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = {path for path in files if workspace.graph.importers(path).importers}
        assert found == imported
        added = "js/Pages/Till/New.vue"
        write_files(tmp_path, {added: "<template><p>y</p></template>\n"})
        workspace.index()
        assert bool(workspace.graph.importers(added).importers) == ("js/Pages/Till/Open.vue" in imported)


@pytest.mark.parametrize("aliases", ["{}", "[]", "{ ...own }", "[...own]"])
def test_a_bundler_whose_aliases_are_not_written_out_has_none(aliases: str, tmp_path: Path) -> None:
    config = f"export default {{ resolve: {{ alias: {aliases} }} }}\n"
    files = {"vite.config.ts": config, "src/money.ts": "export const fee = 1\n"}
    write_files(tmp_path, {**files, "src/cart.ts": "import { fee } from './money'\n\nfee\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert [each.path for each in workspace.graph.importers("src/money.ts").importers] == ["src/cart.ts"]
