from __future__ import annotations

import pytest

from cairn.graph.signatures import declared_type, read_head


@pytest.mark.parametrize(
    ("signature", "name", "side", "mark", "parameters", "result"),
    [
        (
            "def f(self, app: Flask, x: t.Optional[Foo] = None, *args: int, **kw) -> 'Response'",
            "f",
            "after",
            "->",
            {"self": "", "app": "Flask", "x": "Foo", "args": "", "kw": ""},
            "Response",
        ),
        ("func (c *Command) Run(a, b string, x ...int) (cmd *Command, err error)", "Run", "go", "",
         {"c": "Command", "a": "string", "b": "string", "x": ""}, "Command"),
        ("func New(name string) *Logger", "New", "go", "", {"name": "string"}, "Logger"),
        ("func (s Set)Has(key string)bool", "Has", "go", "", {"s": "Set", "key": "string"}, "bool"),
        ("func load() (Table, error)", "load", "go", "", {}, "Table"),
        ("func load() (Table)", "load", "go", "", {}, "Table"),
        ("func stop() ()", "stop", "go", "", {}, ""),
        ("func Func(f func(int) bool)", "Func", "go", "", {"f": ""}, ""),
        ("static Foo Create(JsonReader reader, Map<String, Foo> all)", "Create", "before", "",
         {"reader": "JsonReader", "all": "Map<String,Foo>"}, "Foo"),
        ("public function add(int|Level $l, private Foo $foo = new Foo()): static", "add", "before", ":",
         {"$l": "", "$foo": "Foo"}, "static"),
        ("int apply(int (*visit)(int, char *), void (*const table[2])(void), int n)", "apply", "before", "",
         {"visit": "", "table": "", "n": "int"}, "int"),
        ("void each(void (&visit)(int), void (^block)(void))", "each", "before", "",
         {"visit": "", "block": ""}, "void"),
        ("fn parse(&self, m: &mut Method) -> Result<Self, E>", "parse", "after", "->",
         {"self": "", "m": "Method"}, "Result<Self,E>"),
        ("start(options: { a: number, b: Foo } = {}): void", "start", "after", ":", {"options": ""}, "void"),
        ("def broken(a", "broken", "after", "->", {"a": ""}, ""),
        ("NAME = 1", "NAME", "after", "->", {}, ""),
    ],
)  # fmt: skip
def test_heads_tell_parameters_and_result(
    signature: str, name: str, side: str, mark: str, parameters: dict[str, str], result: str
) -> None:
    head = read_head(signature, name, side, mark)
    assert head.parameters == parameters
    assert head.result == result


def test_parameters_that_become_attributes_are_known() -> None:
    head = read_head("constructor(private readonly purse: Purse, other: Other)", "constructor", "after", ":")
    assert head.promoted == {"purse"}


@pytest.mark.parametrize(
    ("signature", "name", "side", "expected"),
    [
        ("private LoggerInterface $logger;", "logger", "before", "LoggerInterface"),
        ("private readonly Map<String, Foo> all = new Map()", "all", "before", "Map<String,Foo>"),
        ("val options: Options?", "options", "after", "Options"),
        ("private foo?: Foo = x", "foo", "after", "Foo"),
        ("var handler Handler", "handler", "go", "Handler"),
        ("value = 1", "value", "after", ""),
        ("value", "value", "", ""),
    ],
)
def test_declarations_tell_a_type(signature: str, name: str, side: str, expected: str) -> None:
    assert declared_type(signature, name, side) == expected
