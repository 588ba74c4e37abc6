"""What refers to a symbol, in the languages as people write them, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.errors import UnknownSymbolError
from cairn.graph.values import Mention, References
from cairn.workspace import Workspace

FILES = {
    "shop/conf.py": (
        "LIMIT = 3\n_cache = None\n\n\nclass Config:\n    retries = 2\n\n"
        "    def __init__(self, name):\n        self.name = name\n\n"
        "    def bump(self):\n        self.name += 'x'\n        return LIMIT\n\n\n"
        "def load():\n    global _cache\n    if _cache is None:\n        _cache = Config('a')\n    return _cache\n"
    ),
    "shop/app.py": (
        "from shop import conf\nfrom shop.conf import LIMIT, Config as Conf, load\n\n\n"
        "def run(config: Conf, most=LIMIT):\n    if isinstance(config, Conf):\n        config.name = 'b'\n"
        "    print(config.name, conf.LIMIT)\n    return load().retries\n\n\n"
        "def other(LIMIT):\n    return LIMIT\n\n\ndef third(thing):\n    return thing.name\n\n\n"
        "class Sub(Conf):\n    def show(self):\n        return self.name\n"
    ),
    "go/box.go": (
        "package box\n\n// Box has an end.\ntype Box struct {\n\t// A size has a unit.\n\tsize int\n}\n\n"
        "const most = 3\n\nvar boxes []Box\n\n"
        "func New(size int) *Box {\n\tb := &Box{size: size}\n\tb.size = most\n\tboxes = append(boxes, *b)\n"
        "\treturn b\n}\n\nfunc (b *Box) Size() int { return b.size }\n"
    ),
    "go/crate.go": (
        "package box\n\ntype Crate struct {\n\tsize int\n}\n\nfunc fill(c Crate) int { return c.size + most }\n"
    ),
    "ts/store.ts": (
        "export const DEPTH = 2;\n\nexport interface Row {\n  id: number;\n}\n\n"
        "export class Store {\n  private rows: Row[] = [];\n\n  add(row: Row): Row {\n    this.rows.push(row);\n"
        "    return row;\n  }\n}\n"
    ),
    "ts/index.ts": 'export { DEPTH as LEVELS } from "./store";\nexport * from "./store";\n',
    "ts/view.ts": (
        'import { LEVELS, type Row, Store } from "./index";\n\n'
        "export function show(store: Store, row: Row, Depth = LEVELS) {\n  const DEPTH = 1;\n"
        "  return store.add(row) ?? DEPTH;\n}\n"
    ),
    "java/shop/Purse.java": (
        "package shop;\n\npublic class Purse {\n    private int coins = 0;\n\n    public static final int MOST = 9;\n\n"
        "    void add(int coins) {\n        this.coins += coins;\n    }\n\n"
        "    int count() {\n        return coins;\n    }\n}\n"
    ),
    "java/shop/Bag.java": (
        "package shop;\n\npublic class Bag {\n    private int coins;\n\n    int all(Purse purse) {\n"
        "        return purse.coins + coins + Purse.MOST;\n    }\n}\n"
    ),
    "rust/lib.rs": (
        "pub struct Pipe {\n    depth: u32,\n}\n\npub const DEEP: u32 = 4;\n\nimpl Pipe {\n"
        "    pub fn new() -> Pipe {\n        Pipe { depth: DEEP }\n    }\n\n"
        "    pub fn dig(&mut self) -> u32 {\n        self.depth += 1;\n        self.depth\n    }\n}\n"
    ),
    "c/pool.h": "#define POOL_MAX 8\nextern int pool_used;\nstruct pool { int used; };\n",
    "c/pool.c": (
        '#include "pool.h"\n\nint pool_used = 0;\n\n'
        "int take(void) {\n  pool_used++;\n  return POOL_MAX - pool_used;\n}\n"
    ),
    "php/Cart.php": (
        "<?php\nnamespace App;\n\nclass Cart {\n    const TOP = 3;\n    public int $sum = 0;\n\n"
        "    public function add(int $sum): int {\n        $this->sum += $sum;\n        return self::TOP;\n    }\n}\n"
    ),
    "ruby/lamp.rb": (
        "class Lamp\n  WATTS = 5\n  attr_reader :glow\n\n  def on\n    @glow = WATTS\n  end\nend\n\n"
        "class Torch\n  def on\n    @glow = 1\n  end\nend\n"
    ),
    "bash/job.sh": "retry_all() {\n  echo go\n}\n",
    "bash/run.sh": "retry_all\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root: Path = tmp_path_factory.mktemp("references")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Workspace.open(root) as opened:
        opened.index()
        yield opened


def listed(answer: References) -> dict[str, list[str]]:
    """Return the places of an answer by kind, without the folder."""
    places: dict[str, list[str]] = {}
    for reference in answer.references:
        places.setdefault(reference.kind, []).append(f"{reference.path.rpartition('/')[2]}:{reference.line}")
    return places


@pytest.mark.parametrize(
    ("symbol", "places"),
    [
        ("shop/conf.py:LIMIT", {"read": ["app.py:5", "app.py:8", "conf.py:13"], "import": ["app.py:2"]}),
        ("_cache", {"read": ["conf.py:18", "conf.py:20"], "write": ["conf.py:19"]}),
        (
            "Config",
            {
                "construct": ["conf.py:19"], "read": ["app.py:6"], "type": ["app.py:5"], "import": ["app.py:2"],
                "base": ["app.py:20"],
            },
        ),
        ("load", {"call": ["app.py:9"], "import": ["app.py:2"]}),
        ("Config.retries", {"read": ["app.py:9"]}),
        ("Config.name", {"read": ["app.py:8", "app.py:22"], "write": ["app.py:7", "conf.py:9", "conf.py:12"]}),
        ("Box.size", {"read": ["box.go:20"], "write": ["box.go:14", "box.go:15"]}),
        ("Crate.size", {"read": ["crate.go:7"]}),
        ("most", {"read": ["box.go:15", "crate.go:7"]}),
        ("boxes", {"read": ["box.go:16"], "write": ["box.go:16"]}),
        ("ts/store.ts:DEPTH", {"read": ["view.ts:3"], "import": ["index.ts:1", "view.ts:1"]}),
        ("Row", {"type": ["store.ts:8", "store.ts:10", "view.ts:3"], "import": ["view.ts:1"]}),
        ("Store.rows", {"read": ["store.ts:11"]}),
        ("Purse.coins", {"read": ["Bag.java:7", "Purse.java:13"], "write": ["Purse.java:9"]}),
        ("Purse.MOST", {"read": ["Bag.java:7"]}),
        ("Pipe.depth", {"read": ["lib.rs:14"], "write": ["lib.rs:9", "lib.rs:13"]}),
        ("DEEP", {"read": ["lib.rs:9"]}),
        ("POOL_MAX", {"read": ["pool.c:7"]}),
        ("c/pool.c:pool_used", {"read": ["pool.c:7"], "write": ["pool.c:6"]}),
        ("Cart.sum", {"write": ["Cart.php:9"]}),
        ("Cart.TOP", {"read": ["Cart.php:10"]}),
        ("Lamp.glow", {"write": ["lamp.rb:6"]}),
        ("Lamp.WATTS", {"read": ["lamp.rb:6"]}),
        ("retry_all", {"call": ["run.sh:1"]}),
    ],
)  # fmt: skip
def test_references_are_found_by_what_they_do(workspace: Workspace, symbol: str, places: dict[str, list[str]]) -> None:
    assert listed(workspace.graph.references(symbol)) == places


def test_a_reference_that_may_be_a_namesake_is_counted_and_not_listed(workspace: Workspace) -> None:
    answer = workspace.graph.references("Config.name")
    assert answer.unresolved is not None
    assert answer.unresolved.first == (Mention("shop/app.py", 17, "name"),)
    assert answer.notes == (
        "1 more line says `name` and could not be resolved: shop/app.py:17; list it: "
        "cairn search '\\bname\\b' --mode regex",
    )


def test_each_reference_has_its_definition_and_its_line(workspace: Workspace) -> None:
    (reference,) = workspace.graph.references("Config.retries").references
    assert (reference.symbol.name, reference.text, reference.how) == ("run", "return load().retries", "receiver")


def test_a_language_in_which_names_alone_tell_is_named(workspace: Workspace) -> None:
    answer = workspace.graph.references("retry_all")
    assert answer.notes == ("One of these (bash) by name only: it is the only definition of that name, marked `name`",)


def test_a_limit_leaves_some_of_each_kind_and_counts_the_rest(workspace: Workspace) -> None:
    answer = workspace.graph.references("Config", limit=4)
    assert [reference.kind for reference in answer.references] == ["construct", "read", "type", "import"]
    assert (answer.omitted, answer.counts["base"]) == (1, 1)


def test_only_some_kinds_can_be_asked_for(workspace: Workspace) -> None:
    answer = workspace.graph.references("Config.name", kinds=["write"])
    assert listed(answer) == {"write": ["app.py:7", "conf.py:9", "conf.py:12"]}


def test_a_field_that_a_type_lacks_is_unknown(workspace: Workspace) -> None:
    with pytest.raises(UnknownSymbolError):
        workspace.graph.references("Config.colour")


def test_a_generic_type_of_csharp_is_used_as_a_type(tmp_path: Path) -> None:
    (tmp_path / "Box.cs").write_text(
        "interface IBox<T> { }\nclass Crate : IBox<int> { }\nclass App {\n    IBox<int> one;\n"
        "    void Run(IBox<string> box) { Open<int>(); }\n    void Open<T>() { }\n}\n"
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = workspace.graph.references("IBox").references
        assert [(one.kind, one.line) for one in found] == [("type", 4), ("type", 5), ("base", 2)]
        assert [(one.kind, one.line) for one in workspace.graph.references("App.Open").references] == [("call", 5)]


def test_a_test_with_the_name_of_a_function_in_its_title_is_no_head_of_it(tmp_path: Path) -> None:
    (tmp_path / "wobble.zig").write_text(
        'pub fn wobble(x: i32) i32 {\n    return x;\n}\n\ntest "wobble" {\n    _ = wobble(1);\n    _ = wobble(2);\n}\n'
    )
    (tmp_path / "shake_test.cc").write_text(
        "int shake(int x) { return x; }\n\nTEST(ShakeTest, shake) {\n  shake(1);\n  shake(2);\n}\n"
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert listed(workspace.graph.references("wobble.zig:wobble")) == {"call": ["wobble.zig:6", "wobble.zig:7"]}
        assert listed(workspace.graph.references("shake_test.cc:1")) == {"call": ["shake_test.cc:4", "shake_test.cc:5"]}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.rb", "class Age\n  def <=>(other)\n    years <=> other.years\n  end\nend\n\nAge.new <=> Age.new\n"),
        ("a.ex", "defmodule Age do\n  def left < right, do: {left, right}\n  def old?(a, b), do: a < b\nend\n"),
        ("a.cc", "struct Age { int years; };\nbool operator<(Age a, Age b) { return a.years < b.years; }\n"),
        ("a.swift", "struct Age {\n    static func < (a: Age, b: Age) -> Bool { return true }\n}\n"),
        (
            "a.scala",
            "class Age {\n  def <(other: Age): Boolean = true\n}\nobject Use { val old = new Age < new Age }\n",
        ),
    ],
)
def test_references_to_an_operator_are_answered(path: str, text: str, tmp_path: Path) -> None:
    (tmp_path / path).write_text(text)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = workspace.graph.references(f"{path}:2")
        assert found.symbol.path == path
        assert found.references or found.notes
