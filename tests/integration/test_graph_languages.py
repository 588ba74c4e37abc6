"""What each language's references are resolved to, on small projects as people write them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from cairn.graph.code import file_of, place_of
from cairn.graph.graph import Graph
from cairn.source.references import KINDS
from cairn.workspace import Workspace


class Project(NamedTuple):
    """Files, and the edges they must have at least, and must not: (from, to, kind, how)."""

    files: dict[str, str]
    edges: set[tuple[str, str, str, str]]
    absent: tuple[tuple[str, str], ...] = ()


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def name_of(graph: Graph, node: int) -> str:
    path = graph.code.paths[file_of(node)]
    return f"{path}:{graph.code.definition(node).qualified_name}" if place_of(node) >= 0 else path


def edges_of(graph: Graph) -> set[tuple[str, str, str, str]]:
    """Return all edges of a project as (from, to, kind, how)."""
    return {
        (name_of(graph, edge.source), name_of(graph, edge.target), KINDS[edge.kind], edge.how.name.lower())
        for number in range(len(graph.code.paths))
        for edge in graph.resolver.edges(number)
    }


PROJECTS = {
    "python": Project(
        {
            "src/shop/__init__.py": "from .cart import Cart as Basket\n",
            "src/shop/base.py": "class Base:\n    def save(self):\n        self.check()\n\n    def check(self):\n        pass\n",
            "src/shop/cart.py": (
                "from shop.base import Base\nfrom . import money\n\n\nclass Cart(Base):\n"
                "    def __init__(self, purse: money.Purse):\n        self.purse = purse\n\n"
                "    def check(self):\n        super().check()\n        self.purse.pay(1)\n        money.fee()\n"
            ),
            "src/shop/money.py": (
                "class Purse:\n    def pay(self, sum):\n        return fee()\n\n\n"
                "def fee():\n    return round(1)\n\n\ndef make() -> Purse:\n    return Purse()\n"
            ),
            "app.py": (
                "import shop.money as m\nfrom shop import Basket\n\n\ndef run(thing):\n    basket = Basket(m.make())\n"
                "    basket.save()\n    m.make().pay(2)\n    thing.get()\n\n\nclass Other:\n    def get(self):\n        pass\n"
            ),
        },
        {
            ("src/shop/cart.py:Cart", "src/shop/base.py:Base", "inherit", "import"),
            ("src/shop/base.py:Base.save", "src/shop/base.py:Base.check", "call", "receiver"),
            ("src/shop/cart.py:Cart.check", "src/shop/base.py:Base.check", "call", "receiver"),
            ("src/shop/cart.py:Cart.check", "src/shop/money.py:Purse.pay", "call", "receiver"),
            ("src/shop/cart.py:Cart.check", "src/shop/money.py:fee", "call", "import"),
            ("src/shop/money.py:Purse.pay", "src/shop/money.py:fee", "call", "exact"),
            ("app.py:run", "src/shop/cart.py:Cart", "construct", "import"),
            ("app.py:run", "src/shop/money.py:make", "call", "import"),
            ("app.py:run", "src/shop/base.py:Base.save", "call", "receiver"),
            ("app.py:run", "src/shop/money.py:Purse.pay", "call", "receiver"),
        },
        absent=(("app.py:run", "app.py:Other.get"),),  # one definition of so common a name proves nothing
    ),
    "typescript": Project(
        {
            "package.json": '{"name": "root", "private": true}',
            "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["lib/*"],},}} // comment\n',
            "packages/core/package.json": '{"name": "@acme/core", "main": "dist/index.js"}',
            "packages/core/src/index.ts": "export * from './purse';\nexport { open as openPurse } from './open.js';\n",
            "packages/core/src/purse.ts": "export class Purse {\n  pay(sum: number) { return fee(sum); }\n}\nfunction fee(n: number) { return n; }\n",
            "packages/core/src/open.ts": "import { Purse } from './purse';\nexport function open(): Purse { return new Purse(); }\n",
            "lib/log.ts": "export default function log(text: string) {}\nexport const warn = (t: string) => log(t);\n",
            "lib/base.ts": "export abstract class Base { start() { this.stop(); } stop() {} }\nexport interface Closing { close(): void }\n",
            "app/main.ts": (
                "import write, { warn } from '@lib/log';\nimport * as base from '@lib/base';\n"
                "import { Purse, openPurse } from '@acme/core';\nimport type { Closing } from '../lib/base';\n"
                "export class App extends base.Base implements Closing {\n  constructor(private readonly purse: Purse) { super(); }\n"
                "  close() { this.purse.pay(1); write('x'); this.start(); }\n  run() { openPurse().pay(2); items.map(warn); }\n}\n"
            ),
        },
        {
            ("app/main.ts:App", "lib/base.ts:Base", "inherit", "import"),
            ("app/main.ts:App", "lib/base.ts:Closing", "implement", "import"),
            ("app/main.ts:App.close", "packages/core/src/purse.ts:Purse.pay", "call", "receiver"),
            ("app/main.ts:App.close", "lib/log.ts:log", "call", "import"),
            ("app/main.ts:App.close", "lib/base.ts:Base.start", "call", "receiver"),
            ("app/main.ts:App.run", "packages/core/src/open.ts:open", "call", "import"),
            ("app/main.ts:App.run", "packages/core/src/purse.ts:Purse.pay", "call", "receiver"),
            ("app/main.ts:App.run", "lib/log.ts:warn", "use", "import"),
            ("packages/core/src/open.ts:open", "packages/core/src/purse.ts:Purse", "construct", "import"),
            ("lib/log.ts:warn", "lib/log.ts:log", "call", "exact"),
        },
    ),
    "javascript": Project(
        {
            "lib/util.js": "function trim(s) { return s; }\nmodule.exports = { trim, pad };\nfunction pad(s) { return trim(s); }\n",
            "lib/store.js": "class Store { load() {} }\nmodule.exports = Store;\n",
            "index.js": (
                "const Store = require('./lib/store');\nconst { pad } = require('./lib/util');\nconst util = require('./lib/util');\n"
                "function main() { const s = new Store(); s.load(); pad('x'); util.trim('y'); }\n"
            ),
            "view.jsx": "import Card from './card';\nexport const View = () => <Card title='x' />;\n",
            "card.jsx": "const Card = () => null;\nexport default Card;\n",
        },
        {
            ("index.js:main", "lib/store.js:Store", "construct", "import"),
            ("index.js:main", "lib/store.js:Store.load", "call", "receiver"),
            ("index.js:main", "lib/util.js:pad", "call", "import"),
            ("index.js:main", "lib/util.js:trim", "call", "import"),
            ("lib/util.js:pad", "lib/util.js:trim", "call", "exact"),
            ("view.jsx:View", "card.jsx:Card", "call", "import"),
        },
    ),
    "go": Project(
        {
            "go.mod": "module example.org/shop\n\ngo 1.22\n",
            "money/purse.go": "package money\n\ntype Purse struct{ sum int }\n\nfunc (p *Purse) Pay(n int) { p.check(n) }\n",
            "money/check.go": "package money\n\nfunc (p *Purse) check(n int) { fee(n) }\n\nfunc fee(n int) int { return n }\n\nfunc Open() *Purse { return &Purse{} }\n",
            "cmd/main.go": (
                'package main\n\nimport (\n\t"fmt"\n\tm "example.org/shop/money"\n)\n\ntype app struct {\n\tpurse *m.Purse\n}\n\n'
                "func (a *app) run() { a.purse.Pay(1) }\n\nfunc main() {\n\tx := &app{purse: m.Open()}\n\tx.run()\n\tfmt.Println(x)\n}\n"
            ),
        },
        {
            ("money/purse.go:Purse.Pay", "money/check.go:Purse.check", "call", "receiver"),
            ("money/check.go:Purse.check", "money/check.go:fee", "call", "exact"),
            ("money/check.go:Open", "money/purse.go:Purse", "construct", "import"),
            ("cmd/main.go:app.run", "money/purse.go:Purse.Pay", "call", "receiver"),
            ("cmd/main.go:main", "money/check.go:Open", "call", "import"),
            ("cmd/main.go:main", "cmd/main.go:app.run", "call", "receiver"),
        },
    ),
    "java": Project(
        {
            "src/org/shop/Base.java": "package org.shop;\npublic abstract class Base {\n  void start() { stop(); }\n  void stop() {}\n}\n",
            "src/org/shop/money/Purse.java": (
                "package org.shop.money;\npublic class Purse {\n  public static Purse open() { return new Purse(); }\n"
                "  public int pay(int n) { return n; }\n}\n"
            ),
            "src/org/shop/App.java": (
                "package org.shop;\nimport org.shop.money.Purse;\npublic class App extends Base implements Runnable {\n"
                "  private final Purse purse = new Purse();\n  public void run() { purse.pay(1); start(); Purse.open().pay(2); }\n"
                "  void stop() { super.stop(); Purse other = Purse.open(); other.pay(3); }\n}\n"
            ),
        },
        {
            ("src/org/shop/App.java:App", "src/org/shop/Base.java:Base", "inherit", "import"),
            ("src/org/shop/App.java:App.run", "src/org/shop/money/Purse.java:Purse.pay", "call", "receiver"),
            ("src/org/shop/App.java:App.run", "src/org/shop/Base.java:Base.start", "call", "receiver"),
            ("src/org/shop/App.java:App.run", "src/org/shop/money/Purse.java:Purse.open", "call", "import"),
            ("src/org/shop/App.java:App.stop", "src/org/shop/Base.java:Base.stop", "call", "receiver"),
            ("src/org/shop/Base.java:Base.start", "src/org/shop/Base.java:Base.stop", "call", "exact"),
        },
    ),
    "kotlin": Project(
        {
            "src/money/Purse.kt": "package money\n\nclass Purse(val sum: Int) {\n    fun pay(n: Int): Int = fee(n)\n}\n\nfun fee(n: Int) = n\n",
            "src/app/App.kt": (
                "package app\n\nimport money.Purse\nimport money.fee as cost\n\nopen class Base { fun start() {} }\n\n"
                "class App(private val purse: Purse) : Base() {\n    fun run() {\n        purse.pay(1)\n        start()\n        cost(2)\n"
                "        val other = Purse(3)\n        other.pay(4)\n    }\n}\n"
            ),
        },
        {
            ("src/money/Purse.kt:Purse.pay", "src/money/Purse.kt:fee", "call", "exact"),
            ("src/app/App.kt:App", "src/app/App.kt:Base", "inherit", "exact"),
            ("src/app/App.kt:App.run", "src/money/Purse.kt:Purse.pay", "call", "receiver"),
            ("src/app/App.kt:App.run", "src/money/Purse.kt:fee", "call", "import"),
            ("src/app/App.kt:App.run", "src/money/Purse.kt:Purse", "construct", "import"),
        },
    ),
    "csharp": Project(
        {
            "Money/Purse.cs": "namespace Shop.Money;\n\npublic class Purse\n{\n    public int Pay(int n) => Fee(n);\n    static int Fee(int n) => n;\n}\n",
            "App.cs": (
                "using Shop.Money;\n\nnamespace Shop\n{\n    public class Base { protected void Begin() {} }\n\n"
                "    public class App : Base\n    {\n        private readonly Purse _purse = new Purse();\n"
                "        public void Go(Purse other) { _purse.Pay(1); other.Pay(2); Begin(); base.Begin(); }\n    }\n}\n"
            ),
        },
        {
            ("Money/Purse.cs:Purse.Pay", "Money/Purse.cs:Purse.Fee", "call", "exact"),
            ("App.cs:Shop.App", "App.cs:Shop.Base", "inherit", "exact"),
            ("App.cs:Shop.App.Go", "Money/Purse.cs:Purse.Pay", "call", "receiver"),
            ("App.cs:Shop.App.Go", "App.cs:Shop.Base.Begin", "call", "receiver"),
        },
    ),
    "php": Project(
        {
            "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}}',
            "src/Money/Purse.php": "<?php\nnamespace Shop\\Money;\n\nclass Purse {\n    public static function open(): self { return new self(); }\n    public function pay(int $n) { return fee($n); }\n}\n\nfunction fee(int $n) { return $n; }\n",
            "src/App.php": (
                "<?php\nnamespace Shop;\n\nuse Shop\\Money\\Purse as Wallet;\n\nclass App extends Base implements Closing {\n"
                "    public function __construct(private Wallet $purse) {}\n"
                "    public function run() { $this->purse->pay(1); $this->begin(); parent::begin(); Wallet::open()->pay(2); }\n}\n"
            ),
            "src/Base.php": "<?php\nnamespace Shop;\n\nabstract class Base { protected function begin() {} }\ninterface Closing {}\n",
        },
        {
            ("src/App.php:App", "src/Base.php:Base", "inherit", "import"),
            ("src/App.php:App", "src/Base.php:Closing", "implement", "import"),
            ("src/App.php:App.run", "src/Money/Purse.php:Purse.pay", "call", "receiver"),
            ("src/App.php:App.run", "src/Base.php:Base.begin", "call", "receiver"),
            ("src/App.php:App.run", "src/Money/Purse.php:Purse.open", "call", "import"),
            ("src/Money/Purse.php:Purse.pay", "src/Money/Purse.php:fee", "call", "exact"),
        },
    ),
    "ruby": Project(
        {
            "lib/shop/purse.rb": "module Shop\n  class Purse\n    def initialize(sum)\n      @sum = sum\n    end\n\n    def pay(amount)\n      check_funds amount\n    end\n\n    def check_funds(amount); end\n  end\nend\n",
            "lib/shop/app.rb": (
                "require_relative 'purse'\n\nmodule Shop\n  module Loud\n    def shout_it; end\n  end\n\n  class App\n    include Loud\n\n"
                "    def initialize\n      @purse = Purse.new(1)\n    end\n\n    def run_all\n      @purse.pay(2)\n      shout_it\n    end\n  end\nend\n"
            ),
        },
        {
            ("lib/shop/purse.rb:Shop.Purse.pay", "lib/shop/purse.rb:Shop.Purse.check_funds", "call", "exact"),
            ("lib/shop/app.rb:Shop.App", "lib/shop/app.rb:Shop.Loud", "implement", "exact"),
            ("lib/shop/app.rb:Shop.App.run_all", "lib/shop/purse.rb:Shop.Purse.pay", "call", "receiver"),
            ("lib/shop/app.rb:Shop.App.run_all", "lib/shop/app.rb:Shop.Loud.shout_it", "call", "exact"),
        },
    ),
    "rust": Project(
        {
            "Cargo.toml": '[package]\nname = "my-shop"\nversion = "0.1.0"\n',
            "src/lib.rs": "pub mod money;\nmod app;\n\npub use money::Purse;\n",
            "src/money.rs": "pub struct Purse { sum: u32 }\n\nimpl Purse {\n    pub fn open() -> Self { Purse { sum: 0 } }\n    pub fn pay(&self, n: u32) -> u32 { self.fee_of(n) }\n    fn fee_of(&self, n: u32) -> u32 { fee(n) }\n}\n\npub fn fee(n: u32) -> u32 { n }\n",
            "src/app.rs": (
                "use crate::money::{self, Purse};\n\npub trait Closing { fn close(&self); }\n\npub struct App { purse: Purse }\n\n"
                "impl Closing for App {\n    fn close(&self) { self.purse.pay(1); }\n}\n\n"
                "fn run(app: &App) { let p = Purse::open(); p.pay(2); money::fee(3); app.close(); }\n"
            ),
        },
        {
            ("src/money.rs:Purse.pay", "src/money.rs:Purse.fee_of", "call", "receiver"),
            ("src/money.rs:Purse.fee_of", "src/money.rs:fee", "call", "exact"),
            ("src/app.rs:App", "src/app.rs:Closing", "implement", "exact"),
            ("src/app.rs:App.close", "src/money.rs:Purse.pay", "call", "receiver"),
            ("src/app.rs:run", "src/money.rs:Purse.open", "call", "import"),
            ("src/app.rs:run", "src/money.rs:Purse.pay", "call", "receiver"),
            ("src/app.rs:run", "src/money.rs:fee", "call", "import"),
            ("src/app.rs:run", "src/app.rs:App.close", "call", "receiver"),
        },
    ),
    "cpp": Project(
        {
            "include/purse.h": "#pragma once\nclass Purse {\n public:\n  int pay(int n);\n  int fee_of(int n);\n};\nint round_up(int n);\n",
            "src/purse.cc": '#include "purse.h"\n\nint Purse::pay(int n) { return fee_of(n); }\nint Purse::fee_of(int n) { return round_up(n); }\nint round_up(int n) { return n; }\n',
            "src/app.cc": (
                '#include "purse.h"\n\nclass App : public Purse {\n  Purse* purse_;\n  void run() { purse_->pay(1); }\n};\n\n'
                "void use_all() {\n  Purse p;\n  p.pay(2);\n  round_up(3);\n}\n"
            ),
        },
        {
            ("src/purse.cc:Purse.pay", "src/purse.cc:Purse.fee_of", "call", "receiver"),
            ("src/app.cc:App", "include/purse.h:Purse", "inherit", "import"),
            ("src/app.cc:App.run", "src/purse.cc:Purse.pay", "call", "receiver"),
            ("src/app.cc:use_all", "src/purse.cc:Purse.pay", "call", "receiver"),
        },
    ),
    "c": Project(
        {
            "list.h": "struct list { int n; };\nint list_push(struct list *l, int n);\n",
            "list.c": '#include "list.h"\n\nstatic int grow(struct list *l) { return l->n; }\nint list_push(struct list *l, int n) { return grow(l); }\n',
            "main.c": '#include "list.h"\n\nstatic void on_done(int n) {}\nint main(void) { struct list l; list_push(&l, 1); each(&l, on_done); return 0; }\n',
        },
        {
            ("list.c:list_push", "list.c:grow", "call", "exact"),
            ("main.c:main", "list.c:list_push", "call", "import"),
            ("main.c:main", "main.c:on_done", "use", "exact"),
        },
    ),
    "lua": Project(
        {"a.lua": "function greet_all(x)\n  say_hello(x)\nend\n\nfunction say_hello(x) end\n", "b.lua": "greet_all(1)\n"},
        {("a.lua:greet_all", "a.lua:say_hello", "call", "exact"), ("b.lua", "a.lua:greet_all", "call", "name")},
    ),
}


@pytest.mark.parametrize("language", PROJECTS)
def test_references_lead_to_what_they_mean(language: str, tmp_path: Path) -> None:
    project = PROJECTS[language]
    write(tmp_path, project.files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = edges_of(workspace.graph())
    missing = project.edges - found
    assert not missing, sorted(found)
    assert not {(source, target) for source, target, _, _ in found} & set(project.absent)
