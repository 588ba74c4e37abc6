"""What `cairn dead` says of code whose name nothing spells out: it is made of parts, or a package offers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files


def dead(root: Path, files: dict[str, str]) -> dict[str, float]:
    """Return what is dead in a small project, with how sure that is."""
    write_files(root, files)
    with Workspace.open(root) as workspace:
        workspace.index()
        return {each.symbol.name.rpartition(".")[2]: each.confidence for each in workspace.graph.dead_code().dead}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.rb", 'class Till\n  def on_ring; end\n  def go(kind); send("on_#{kind}"); end\nend\nTill.new.go(1)\n'),
        (
            "a.py",
            "class _Till:\n    def ring_bell(self): ...\n\n    def go(self, kind):\n"
            "        return getattr(self, f'ring_{kind}')\n\n\n_Till().go(1)\n",
        ),
        ("a.js", "class Till {\n  ringBell() {}\n  go(kind) { return this[`ring${kind}`](); }\n}\nnew Till().go();\n"),
        (
            "a.php",
            "<?php\nclass Till {\n  private function ringBell() {}\n"
            "  function go($kind) { return $this->{'ring' . $kind}(); }\n}\n(new Till())->go(1);\n",
        ),
        (
            "a.c",
            "#define DEFINE(name) \\\n  static int name##_get(void) { return name##_ring(); }\n"
            "static int till_ring(void) { return 1; }\nDEFINE(till)\nint main(void) { return till_get(); }\n",
        ),
        (
            "a.c",
            "G_DEFINE_TYPE(ShopTill, shop_till, G_TYPE_OBJECT)\nstatic void shop_till_init(ShopTill *self) {}\n"
            "int main(void) { return 0; }\n",
        ),
    ],
    ids=["ruby", "python", "javascript", "php", "c", "glib"],
)
def test_what_has_a_name_that_code_makes_of_parts_is_not_surely_dead(path: str, text: str, tmp_path: Path) -> None:
    assert not [name for name, confidence in dead(tmp_path, {path: text}).items() if confidence >= 0.6]


def test_a_name_that_only_begins_like_one_that_is_made_may_be_dead(tmp_path: Path) -> None:
    text = 'class Till\n  def only_ring; end\n  def go(kind); send("on_#{kind}"); end\nend\nTill.new.go(1)\n'
    assert dead(tmp_path, {"a.rb": text}) == {"only_ring": 0.9}


def test_a_name_in_a_pattern_of_ruby_is_no_comment(tmp_path: Path) -> None:
    text = (
        "class Cop\n  matcher :found?, <<~PATTERN\n    (send _ #settled? [!#paid? _])\n  PATTERN\n"
        "  def settled?(x); x; end\n  def paid?(x); x; end\n  def lost?(x); x; end # lost?\nend\nCop.new\n"
    )
    assert dead(tmp_path, {"a.rb": text}) == {"lost?": 0.9}


@pytest.mark.parametrize(
    ("manifest", "text", "path", "extra"),
    [
        ("package.json", '{"name": "kit", "exports": "./src/kit.js"}', "src/kit.js", "export function offered() {}\n"),
        ("package.json", '{"name": "kit", "main": "kit.ts"}', "src/kit.ts", "export type offered = string;\n"),
        ("pubspec.yaml", "name: kit\n", "lib/src/kit.dart", "void offered() {}\n"),
        ("kit.gemspec", "Gem::Specification.new\n", "lib/kit.rb", "class Kit\n  def offered; end\nend\nKit.new\n"),
    ],
    ids=["javascript", "typescript", "dart", "ruby"],
)
def test_what_a_package_offers_is_not_surely_dead(
    manifest: str, text: str, path: str, extra: str, tmp_path: Path
) -> None:
    assert dead(tmp_path, {manifest: text, path: extra})["offered"] == 0.6


@pytest.mark.parametrize(
    ("manifest", "text", "path", "extra"),
    [
        ("package.json", '{"private": true, "main": "a.js"}', "src/kit.js", "export function lost() {}\n"),
        ("package.json", '{"name": "kit", "main": "a.js"}', "src/kit.js", "function lost() {}\n"),
        ("pubspec.yaml", "name: kit\npublish_to: none\n", "lib/src/kit.dart", "void lost() {}\n"),
        ("pubspec.yaml", "name: kit\n", "lib/src/kit.dart", "void _lost() {}\n"),
    ],
    ids=["private", "not exported", "not published", "hidden"],
)
def test_what_no_package_offers_is_dead(manifest: str, text: str, path: str, extra: str, tmp_path: Path) -> None:
    assert set(dead(tmp_path, {manifest: text, path: extra}).values()) == {0.9}


def test_the_default_of_a_file_that_others_name_is_not_dead(tmp_path: Path) -> None:
    files = {
        "scripts/weigh-all.mjs": "export default async function checkWeight() {}\n",
        "scripts/weigh-none.mjs": "export default async function checkNothing() {}\n",
        "ci.yml": "run: const { default: check } = await import('./scripts/weigh-all.mjs')\n",
    }
    assert dead(tmp_path, files) == {"checkNothing": 0.9}


def test_what_a_hook_of_its_base_finds_is_not_dead(tmp_path: Path) -> None:
    files = {
        "a.rb": "class Base\n  def self.inherited(x)\n    all << x\n  end\nend\nclass Heir < Base; end\nBase.new\n",
        "b.py": "class _Base:\n    def __init_subclass__(cls): ...\n\n\nclass _Heir(_Base): ...\n\n\nprint(_Base())\n",
    }
    assert dead(tmp_path, files) == {}


def test_what_an_editor_or_a_router_calls_is_not_dead(tmp_path: Path) -> None:
    files = {
        "client.ts": "import * as vscode from 'vscode';\nexport function activate() { vscode.go(); }\n"
        "export async function deactivate() {}\n",
        "src/pages/till.tsx": "export async function getServerSideProps() {}\nexport function lostHere() {}\n",
    }
    assert set(dead(tmp_path, files)) == {"lostHere"}


def test_lines_of_routes_and_of_variables_that_change_are_told(tmp_path: Path) -> None:
    files = {
        "app/controllers/Shop.scala": "package controllers\n\nclass Shop {\n  def listAll() = 1\n}\n",
        "conf/routes": "# all\nGET  /all  controllers.Shop.listAll()\n",
        "a.js": "export function go(it) {\n  var weigh = () => 1;\n  it.done = () => {\n    weigh = () => 2;\n"
        "  };\n  return weigh();\n}\n",
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for symbol, place in (("Shop.listAll", "conf/routes:2"), ("a.js:4", "a.js:6")):
            unresolved = workspace.graph.callers(symbol).unresolved
            assert unresolved is not None
            assert [f"{line.path}:{line.line}" for line in unresolved.first] == [place]
