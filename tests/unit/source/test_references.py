from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.source.expressions import expression_of
from cairn.source.facts import NO_FACTS, Facts, decode, encode
from cairn.source.languages import BY_NAME, LANGUAGES
from cairn.source.references import KINDS, read_facts
from cairn.source.type_names import type_name


def references(text: str, language: str = "python") -> list[tuple[str, str, int, int]]:
    facts = read_facts(text.encode(), BY_NAME[language])[1]
    columns = zip(facts.kinds, facts.expressions, facts.scopes, facts.lines, strict=True)
    return [(KINDS[kind], facts.texts[expression], scope, line) for kind, expression, scope, line in columns]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name", "name"),
        ("a.b", "a.b"),
        ("f(x)[0].g", "f()[].g"),
        ("f(g(x), 'a(b').h", "f().h"),
        ("a->b", "a.b"),
        ("A::b::<T>", "A.b"),
        ("Foo<Bar<T>>::make", "Foo.make"),
        ("a?.b!.c", "a.b.c"),
        ("$this->db", "$this.db"),
        ("await fetch(x)", "fetch()"),
        ("(await fetch).json", "fetch.json"),
        ("new Foo(1)", "Foo()"),
        ("&Foo{A: 1}", "Foo{}"),
        ("x\n  .map(f)\n  .to_list", "x.map().to_list"),
        ("'text'.join", '"".join'),
        ("[a, b].pop", "[].pop"),
        ("(a or b).run", "?.run"),
        ("(lambda: 1)", ""),
        ("this.#add", "this.#add"),
        ("f(x).#add", "f().#add"),
        ("(a || b).#add", "?.#add"),
        ("self.r#type", "self.type"),
        ("(this as any).add", "this.add"),
        ("(cart as unknown as Cart).add", "Cart{}.add"),
        ("include?", "include?"),
    ],
)
def test_expressions_have_one_form_in_all_languages(text: str, expected: str) -> None:
    assert expression_of(text.encode()) == expected


@pytest.mark.parametrize(
    ("language", "text", "decorated"),
    [
        ("kotlin", "class A {\n  @Test\n  fun a() { b() }\n\n  fun b() {}\n}\n", {"a"}),
        ("java", "interface A {\n  @Get String a();\n  String b();\n}\n", {"a"}),
        ("rust", "struct A {\n  #[arg(long)]\n  size: u8,\n}\nfn b() {}\n", {"A"}),
        ("rust", "mod m {\n  #[test]\n  fn a() {}\n  fn b() {}\n}\n", {"a"}),
        ("python", "class A:\n    @property\n    def a(self):\n        pass\n", {"a"}),
    ],
)
def test_a_decoration_is_of_the_definition_that_it_begins_or_stands_in(
    language: str, text: str, decorated: set[str]
) -> None:
    definitions, _ = read_facts(text.encode(), BY_NAME[language])
    found = references(text, language)
    assert {definitions[scope].name for kind, _, scope, _ in found if kind == "decorate"} == decorated


@given(st.binary(max_size=60))
def test_any_text_is_an_expression_or_none(raw: bytes) -> None:
    found = expression_of(raw)
    assert "\n" not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Foo", "Foo"),
        (": Foo", "Foo"),
        ("'Foo'", "Foo"),
        ("a.b.Foo", "a.b.Foo"),
        ("Foo | None", "Foo"),
        ("Foo | Bar", ""),
        ("t.Optional[Foo]", "Foo"),
        ("list[Foo]", ""),
        ("Foo[int]", "Foo"),
        ("Promise<Foo>", "Foo"),
        ("const Foo &", "Foo"),
        ("&'a mut Foo", "Foo"),
        ("*m.Purse", "m.Purse"),
        ("std::unique_ptr<Foo>", "Foo"),
        ("?Foo", "Foo"),
        ("\\A\\Foo", "A.Foo"),
        ("Foo[]", ""),
        ("any", ""),
        ("", ""),
    ],
)
def test_a_type_annotation_names_a_class_or_nothing(text: str, expected: str) -> None:
    assert type_name(text) == expected


def test_references_tell_their_kind_their_scope_and_their_line() -> None:
    text = (
        "class A(B):\n    @cached\n    def m(self):\n        return f(self.n(),\n            callback=g)\n\n\n"
        "def g():\n    A()\n"
    )
    assert references(text) == [
        ("inherit", "B", 0, 1),
        ("decorate", "cached", 1, 2),
        ("call", "f", 1, 4),
        ("call", "self.n", 1, 4),
        ("use", "g", 1, 5),
        ("call", "A", 2, 9),
    ]


def test_a_call_is_on_the_line_of_its_name() -> None:
    assert references("x = (\n    a\n    .b()\n)\n") == [("call", "a.b", -1, 3)]


def test_the_head_of_a_definition_that_reads_like_a_call_is_none() -> None:
    text = "f(x) = g(x)\nfunction h(x)::Int\n    h(f(x))\nend\n"
    facts = read_facts(text.encode(), BY_NAME["julia"])[1]
    found = [(facts.texts[number], line) for number, line in zip(facts.expressions, facts.lines, strict=True)]
    assert found == [("g", 1), ("h", 3), ("f", 3)]


def test_values_of_variables_and_results_are_kept() -> None:
    text = "def f(a):\n    x = Foo(1)\n    self.y: Bar = a\n    with open_it() as z:\n        pass\n    return x\n"
    facts = read_facts(text.encode(), BY_NAME["python"])[1]
    assert list(facts.values) == [
        (0, "x", "Foo()"),
        (0, "self.y", ":Bar"),
        (0, "self.y", "a"),
        (0, "z", "open_it()"),
        (0, "return", "x"),
    ]


def test_facts_survive_being_stored() -> None:
    text = (
        "from a import b\n\n\nclass C(b.D):\n    def m(self):\n        self.x = b.make()\n        return self.x.go()\n"
    )
    facts = read_facts(text.encode(), BY_NAME["python"])[1]
    assert decode(encode(facts)) == facts
    assert decode(encode(NO_FACTS)) == Facts([], [], [], [], [], [], [], "")


def test_facts_of_another_format_are_refused() -> None:
    assert decode(b"") is None
    assert decode(b"\x00\x01") is None


def test_a_language_without_a_query_has_no_facts() -> None:
    assert read_facts(b"# Title\n", BY_NAME["markdown"]) == ((), NO_FACTS)


@pytest.mark.parametrize("language", [language.name for language in LANGUAGES if language.has_references])
def test_broken_files_give_what_can_be_read(language: str) -> None:
    for text in (b"", b"\xff\xfe(((", b"class {{{ def ( import from\n" * 20):
        read_facts(text, BY_NAME[language])


def test_the_line_of_a_generated_file_is_right_far_down() -> None:
    text = "".join(f"def f{number}():\n    f{number + 1}()\n" for number in range(15_000))
    found = references(text)
    assert len(found) == 15_000
    assert found[-1] == ("call", "f15000", 14_999, 30_000)
