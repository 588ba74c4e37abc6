"""How many arguments calls give, counted in the tree and in the text of an expression."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.source.arguments import OVERLOADING, UNKNOWN, count_in_text
from cairn.source.expressions import expression_of
from cairn.source.facts import decode, encode
from cairn.source.languages import BY_NAME
from cairn.source.references import KINDS, read_facts

CALLS = {
    "java": (
        "class A { void f() { none(); one(g(1, 2)); two(a, /* b, */ c); two(a, (x, y) -> x); one(new B<C, D>()); } }",
        {"none": {0}, "one": {1}, "two": {2}, "g": {2}},
    ),
    "kotlin": (
        "fun f() { none(); one { it }; two(1) { it }; two(a, b,); many(*xs); one(x = 1); a.two(1, 2) }",
        {"none": {0}, "one": {1}, "two": {2}, "many": {UNKNOWN}},
    ),
    "csharp": (
        'class A { void F() { none(); one(x: g(1, 2)); a?.two(out var b, 3); one<int, int>("a, b"); } }',
        {"none": {0}, "one": {1}, "two": {2}, "g": {2}},
    ),
    "scala": (
        "object A { def f = { none(); one { x => x }; two(a, b); two(1, 2)(3); many(xs: _*) } }",
        {"none": {0}, "one": {1}, "two": {2}, "many": {UNKNOWN}},
    ),
    "swift": (
        "func f() { none(); one { 1 }; two(a, b: 2); two(1) { 2 }; three(1) { 2 } onError: { 3 }; x.one(&y) }",
        {"none": {0}, "one": {1}, "two": {2}, "three": {3}},
    ),
    "cpp": (
        "void f() { none(); one(g(1, 2)); a->two(b, c); many(xs...); many(ALL); two(/* a, */ b, c); one(xs); }",
        {"none": {0}, "one": {1}, "two": {2}, "g": {2}, "many": {UNKNOWN}},
    ),
}


@pytest.mark.parametrize("language", sorted(OVERLOADING))
def test_a_call_keeps_how_many_arguments_it_gives(language: str) -> None:
    text, expected = CALLS[language]
    facts = read_facts(text.encode(), BY_NAME[language])[1]
    found: dict[str, set[int]] = {}
    for kind, expression, count in zip(facts.kinds, facts.expressions, facts.counts, strict=True):
        name = facts.texts[expression].rpartition(".")[2]
        if KINDS[kind] == "call" and name in expected:
            found.setdefault(name, set()).add(count)
    assert found == expected
    assert decode(encode(facts)) == facts._replace(counts=tuple(facts.counts))


def test_other_languages_keep_no_counts() -> None:
    facts = read_facts(b"def f():\n    g(1, 2).h()\n", BY_NAME["python"])[1]
    assert facts.kinds
    assert not facts.counts
    assert "g().h" in facts.texts


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("a.b(1, 2).c", "java", "a.b(2).c"),
        ("a.b().c", "java", "a.b(0).c"),
        ("a.b('x, y').c", "java", "a.b(1).c"),
        ("a.b(c(1, 2), d[3, 4]).e", "java", "a.b(2).e"),
        ("a.b(new C<D>(), e).f", "java", "a.b(2).f"),
        ("a.b(new C<D, E>(), f).g", "java", "a.b().g"),
        ("a.b(/* c, */ d).e", "java", "a.b().e"),
        ("new A(1).b(2)", "java", "A(1).b(1)"),
        ("a.b(1, 2,).c", "kotlin", "a.b(2).c"),
        ("a.b(1) { it }.c", "kotlin", "a.b(1){}.c"),
        ("a.b(*c).d", "kotlin", "a.b().d"),
        ("a.b(c * d).e", "kotlin", "a.b(1).e"),
        ("a.b(xs: _*).c", "scala", "a.b().c"),
        ("a.b(c...).d", "cpp", "a.b().d"),
        ("a.b(ALL).c", "cpp", "a.b().c"),
        ("a->b(c, *d)->e", "cpp", "a.b(2).e"),
        ("f(" + "g(x, y), " * 60 + "z).h", "java", "f().h"),
        ("a.b(1, 2).c", "", "a.b().c"),
    ],
)
def test_an_expression_says_what_is_plain_to_see(text: str, language: str, expected: str) -> None:
    assert expression_of(text.encode(), language) == expected


@given(st.text("ab, <>*.#/(A", max_size=30), st.sampled_from(sorted(OVERLOADING)))
def test_any_text_has_a_number_of_arguments_or_an_unknown_one(text: str, language: str) -> None:
    assert count_in_text(text, language) >= UNKNOWN
    expression_of(f"x.f({text}).g".encode(), language)
