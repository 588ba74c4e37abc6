from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.graph.call_shapes import count_arguments
from cairn.graph.signatures import Arity, arity_of


@pytest.mark.parametrize(
    ("text", "family", "count"),
    [
        ("()", "python", 0),
        ("(a, b)", "python", 2),
        ("(a, f(b, c), [d, e])", "python", 3),
        ("(a, b,)", "python", 2),
        ("(\n    a,  # one, two\n    b,\n)", "python", 2),
        ("('a, b', \"c)\")", "python", 2),
        ("(*many)", "python", -1),
        ("(lambda a, b: a)", "python", -1),
        ("(a, b", "python", -1),
        (" = a", "python", -1),
        ("(x, y)", "go", 2),
        ("(pair())", "go", -1),
        ("(many...)", "go", -1),
        ("(new Map<A, B>())", "jvm", -1),
        ("((a, b) -> c, d)", "jvm", 2),
        ("(a) { it }", "jvm", -1),
        ("(a * b, *c)", "c", 2),
    ],
)
def test_arguments_are_counted_where_they_are_plain_to_see(text: str, family: str, count: int) -> None:
    assert count_arguments(text.encode(), 0, family) == count


@given(st.binary(max_size=40), st.sampled_from(["python", "go", "jvm", "ecmascript", "c"]))
def test_any_text_has_a_count_or_none(data: bytes, family: str) -> None:
    assert count_arguments(b"(" + data, 0, family) >= -1


@pytest.mark.parametrize(
    ("signature", "language", "arity"),
    [
        ("def get(self, key, default=None)", "python", Arity(1, 2)),
        ('def get(self, key="(")', "python", None),
        ("get = <T = () => any>(a: T)", "typescript", None),
        ("def get(a, /, b, *, c=1, **rest) -> int", "python", Arity(2, -1)),
        ("def get(*all)", "python", Arity(0, -1)),
        ("func (c *Cart) get(a, b int, rest ...string) error", "go", Arity(2, -1)),
        ("func get(a, b int)", "go", Arity(2, 2)),
        ("static Map<String, Integer> get(Map<String, Integer> a, int b)", "java", Arity(2, 2)),
        ("void get(int a, String... rest)", "java", Arity(1, -1)),
        ("get(this: Cart, a: string, b?: number)", "typescript", Arity(0, 2)),
        ("int get(void)", "c", Arity(0, 0)),
        ("int get()", "c", None),
        ("int get(int a, ...)", "c", Arity(1, -1)),
        ("int get(int a, int b = 1)", "c", Arity(1, 2)),
        ("get", "python", None),
        ('fun get(a: Int, by: String = ", ", then: (Int, Int) -> Unit)', "kotlin", Arity(2, 3)),
        ("inline fun <T> get(vararg all: T, then: () -> Unit)", "kotlin", Arity(1, -1)),
        ("override fun get(a: Int, b: Int)", "kotlin", Arity(0, 2)),
        ("T get<T, U>(Func<T, U> a, int b = 3)", "csharp", Arity(1, 2)),
        ("void get(int a, params string[] rest)", "csharp", Arity(1, -1)),
        ("static int get(this Cart cart, int a)", "csharp", Arity(1, 2)),
        ("func get<T>(_ a: Int, at b: [String: Int] = [:], then: (Int) -> Void) -> T", "swift", Arity(2, 3)),
        ("func get(_ all: Int...)", "swift", Arity(0, -1)),
        ("def get[A, B](a: A, f: A => B)(c: Int): B", "scala", Arity(2, 2)),
        ("def get(a: (Int, Int))", "scala", Arity(0, -1)),
        ("def get: Map[(Int, Int), Int]", "scala", None),
        ("def get = (1, 2)", "scala", None),
        ("void get()", "cpp", Arity(0, 0)),
        ("void get(int a, int b = 1 << 2)", "cpp", None),
        ("template <typename... A> void get(A... a)", "cpp", Arity(0, -1)),
        ("int get(char c = '(', const char* s = \"a, b)\")", "cpp", Arity(0, 2)),
        ("int get(Cart this, int a)", "java", Arity(1, 1)),
    ],
)
def test_a_head_says_how_many_arguments_a_function_takes(signature: str, language: str, arity: Arity | None) -> None:
    assert arity_of(signature, "get", language) == arity


def test_the_object_may_be_the_first_argument_behind_the_name_of_its_type() -> None:
    assert Arity(1, 1).takes(2, is_dotted=True)
    assert not Arity(1, 1).takes(2, is_dotted=False)
    assert not Arity(1, 1).takes(0, is_dotted=True)
