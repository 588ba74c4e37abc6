"""Calls of PHP: what comments, traits, qualified names and new objects let a receiver mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_projects import callers

STORE = """<?php
namespace Shop\\Data;

interface Keeps { public function keep($what); }

trait Counts
{
    public function countAll() { return 1; }
    public function keep($what) {}
}

class Store implements Keeps
{
    use Counts;
    public static $shared;
    public static function open() { return new static; }
    /** @return static */
    public function fresh() { return clone $this; }
    public function close() { return $this; }
}

class BigStore extends Store
{
    public function grow() {}
}
"""


@pytest.mark.parametrize(
    ("member", "parameter", "statement"),
    [
        ("/** @var \\Shop\\Data\\Store */\n    protected $store;", "$x", "$this->store->close();"),
        ("/** The store. @var Store|null */ private static $store;", "$x", "self::$store->close();"),
        ("private ?Store $store;", "$x", "$this->store?->close();"),
        ("protected $store = null;", "Store $x", "$x->close();"),
        ("protected $store = null;", "$x", "(new Store($x))->close();"),
        ("protected $store = null;", "$x", "/** @var Store $kept */ $kept = $x; $kept->close();"),
        ("protected $store = null;", "$x", "array_map(fn (Store $each) => $each->close(), $x);"),
        ("protected $store = null;", "$x", "Store::open()->close();"),
        ("protected $store = null;", "$x", "(new BigStore)->fresh()->close();"),
        ("protected $store = null;", "$x", "\\Shop\\Data\\Store::open()->close();"),
        ("protected $store = null;", "$x", "Data\\Store::open()->close();"),
    ],
)
def test_a_receiver_is_known_by_declaration_comment_or_value(
    member: str, parameter: str, statement: str, tmp_path: Path
) -> None:
    text = (
        "<?php\nnamespace Shop;\nuse Shop\\Data\\Store;\nuse Shop\\Data\\BigStore;\n\n"
        f"class App {{ {member}\n    function run({parameter})\n    {{\n        {statement}\n    }}\n}}\n"
    )
    door = "<?php\nnamespace Shop;\nclass Door { public function close() {} }\n"
    files = {"src/Store.php": STORE, "src/Door.php": door, "src/App.php": text}
    line = text[: text.index("close()")].count("\n") + 1
    assert callers(tmp_path, "Store.close", files) == {("src/App.php", line)}
    assert callers(tmp_path, "Door.close", files) == set()


def test_the_comment_of_a_parameter_tells_its_type(tmp_path: Path) -> None:
    text = (
        "<?php\nclass App\n{\n    /**\n     * @param  \\Shop\\Data\\Store  $store\n     */\n"
        "    function run($store) { $store->close(); }\n}\n"
    )
    assert callers(tmp_path, "Store.close", {"Store.php": STORE, "App.php": text}) == {("App.php", 7)}


def test_a_method_that_returns_its_object_gives_the_class_it_is_called_on(tmp_path: Path) -> None:
    text = "<?php\nuse Shop\\Data\\BigStore;\n(new BigStore)->fresh()->close()->grow();\n"
    assert callers(tmp_path, "grow", {"Store.php": STORE, "App.php": text}) == {("App.php", 3)}


def test_a_method_of_a_trait_comes_before_its_declaration_in_an_interface(tmp_path: Path) -> None:
    text = "<?php\nuse Shop\\Data\\BigStore;\nfunction run(BigStore $store)\n{\n    $store->keep(1);\n}\n"
    files = {"Store.php": STORE, "App.php": text}
    assert callers(tmp_path, "Counts.keep", files) == {("App.php", 5)}


def test_a_class_from_elsewhere_has_no_methods_of_the_project(tmp_path: Path) -> None:
    text = (
        "<?php\nnamespace Shop;\nclass App\n{\n    /** @var \\PDO */\n    private $pdo;\n"
        "    function run() { $this->pdo->quoteAll('x'); \\Other\\Facade::quoteAll(); }\n}\n"
    )
    own = "<?php\nclass Quoter { public function quoteAll($x) {} }\n"
    assert callers(tmp_path, "quoteAll", {"Quoter.php": own, "App.php": text}) == set()


def test_a_type_may_begin_with_the_name_of_a_built_in_one(tmp_path: Path) -> None:
    text = (
        "<?php\ninterface CallableFinder { function resolve(); }\ninterface Other { function resolve(); }\n"
        "class App {\n    private CallableFinder $finder;\n"
        "    function run() { $this->finder->resolve(); }\n}\n"
    )
    assert callers(tmp_path, "CallableFinder.resolve", {"app.php": text}) == {("app.php", 6)}
