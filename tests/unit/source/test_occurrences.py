from __future__ import annotations

import pytest

from cairn.source.occurrences import find_occurrences

# Each line of code, with what it does with `limit`: `-` for one that is local, `=` for a declaration.
SAMPLES = {
    "python": (
        ("limit = 3", "write"),
        ("def f(x, limit):", "-"),
        ("    return limit + 1", "-"),
        ("def g():", ""),
        ("    global limit", "="),
        ("    limit = 4", "write"),
        ("    cfg.limit += 1", "cfg write"),
        ("    print(limit, self.limit)", "read, self read"),
        ("def h(a: limit, b: 'limit') -> list[limit]:", "type, type, type"),
        ("    Box(limit=3)", "Box key write"),
        ("    return limit(3)", "call"),
        ("class B(limit): pass", "base"),
        ("@limit", "decorate"),
        ("def z(): 'limit'", ""),
        ("from x import limit  # limit", "import"),
        ("k = [limit for limit in y]", "-, -"),
    ),
    "go": (
        ("package a", ""),
        ("type T struct { limit int; x limit }", "=, type"),
        ("func f(a limit, b *p.limit) limit {", "type, p type, type"),
        ("  x := T{limit: limit}", "T key write, read"),
        ("  y := []T{{limit: 2}}", "T key write"),
        ("  x.limit++", "x write"),
        ("  limit := 3", "-"),
        ("  return limit", "-"),
        ("}", ""),
        ("// limit.", ""),
        ("var z limit", "type"),
    ),
    "typescript": (
        ("import { limit } from './x';", "import"),
        ("class A extends limit implements Foo<limit> {", "base, type"),
        ("  limit: number = 2;", "="),
        ("  m(a: limit): limit { this.limit = 4; new limit(); limit(2); }", "type, type, this write, construct, call"),
        ("  n(limit: string) { return limit; }", "-, -"),
        ("}", ""),
    ),
    "java": (
        ("import a.limit;", "import"),
        ("class A extends limit implements B<limit> {", "base, type"),
        ("  @Override public limit m(limit a) { limit = 4; return (limit) a; }", "type, type, write, type"),
        ("  void n(int limit) { this.limit = limit; }", "-, this write, -"),
        ("  limit x = new limit(3); int y = limit.go() + x.limit;", "type, construct, read, x read"),
        ("}", ""),
    ),
    "rust": (
        ("use crate::a::{limit, other};", "import"),
        ("struct T { limit: u32, x: limit }", "=, type"),
        ("impl limit for T { fn a(&self) -> limit {", "base, type"),
        ("  let t = T { limit: 3 }; self.limit += 1; limit::new(3);", "T key write, self write, read"),
        ("  let limit = limit + 1; use_it(limit); } }", "-, read, -"),
    ),
    "csharp": (
        ("class A : limit, IFoo<limit> {", "base, type"),
        ("  limit M(limit a) { limit = 4;", "type, type, write"),
        ("    var x = new limit(3) { limit = 5 }; }", "construct, limit key write"),
        ("  void N(int limit) { Use(limit); }", "-, -"),
        ("  void O() { Use(limit * rate, rate * limit); }", "read, read"),  # no pointers
        ("}", ""),
    ),
    "kotlin": (
        ("class A : limit(3), Foo<limit> {", "base, type"),
        ("  fun m(a: limit): limit { this.limit = 3; x.limit += 2 }", "type, type, this write, x write"),
        ("  fun n(limit: Int) { use(limit) }", "-, -"),
        ("}", ""),
    ),
    "swift": (
        ("struct A: limit {", "base"),
        ("  func m(b: [limit]) -> limit { self.limit = 3; limit(3) }", "type, type, self write, call"),
        ("  func n(limit: Int) { use(limit) }", "-, -"),
        ("}", ""),
    ),
    "ruby": (
        ("class A < limit", "base"),
        ("  def m", ""),
        ("    @limit = 3", "@ write"),
        ("    self.limit = x.limit(3)", "self write, x call"),
        ("  end", ""),
        ("  def n(limit)", "-"),
        ("    use(limit)", "-"),
        ("  end", ""),
        ("end", ""),
    ),
    "php": (
        ("<?php class A extends limit {", "base"),
        ("  function m(limit $a): limit { $this->limit = 3;", "type, type, $this write"),
        ("    self::limit; new limit(3); }", "self read, construct"),
        ("  function n($limit) { return $limit; }", "-, -"),
        ("}", ""),
    ),
    "c": (
        ("struct s { int limit; limit *p; };", "=, type"),
        ("limit *f(limit a) { x.limit = 4; p->limit++;", "type, type, x write, p write"),
        ("  limit = limit(3); }", "write, call"),
        ("int g(int limit) { return limit; }", "-, -"),
    ),
}  # fmt: skip


def described(language: str, code: str) -> list[str]:
    lines: list[list[str]] = [[] for _ in code.split("\n")]
    for found in find_occurrences(code.encode(), language, ["limit"]):
        words = [found.head, "key" if found.is_key else "", found.role]
        words = ["="] if found.role == "declaration" else words
        lines[found.line - 1].append("-" if found.is_local else " ".join(filter(None, words)))
    return [", ".join(line) for line in lines]


@pytest.mark.parametrize("language", SAMPLES)
def test_each_language_shows_what_code_does_with_a_name(language: str) -> None:
    code = "\n".join(line for line, _ in SAMPLES[language])
    assert list(zip(code.split("\n"), described(language, code), strict=True)) == list(SAMPLES[language])
