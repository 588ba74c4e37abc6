from __future__ import annotations

from pathlib import Path

import pytest

from cairn.structure.flow import flow_of

# A function `f` each, with a loop as its first statement.
LOOPS = {
    "while.go": "package a\n\nfunc f(n, m int) {\n\tfor n > 0 {\n\t\tm--\n\t}\n}\n",
    "for.go": "package a\n\nfunc f(n, m int) {\n\tfor i := 0; i < n; i++ {\n\t\tm--\n\t}\n}\n",
    "range.go": "package a\n\nfunc f(n []int, m int) {\n\tfor _, i := range n {\n\t\tm--\n\t}\n}\n",
    "endless.go": "package a\n\nfunc f(n, m int) {\n\tfor {\n\t\tm--\n\t}\n}\n",
    "while.py": "def f(n, m):\n    while n > 0:\n        m -= 1\n",
    "for.py": "def f(n, m):\n    for i in n:\n        m -= 1\n",
    "true.py": "def f(n, m):\n    while True:\n        m -= 1\n",
    "one.py": "def f(n, m):\n    while 1:\n        m -= 1\n",
    "while.ts": "function f(n: number, m: number) {\n  while (n > 0) {\n    m--;\n  }\n}\n",
    "for.ts": "function f(n: number, m: number) {\n  for (let i = 0; i < n; i++) {\n    m--;\n  }\n}\n",
    "of.ts": "function f(n: number[], m: number) {\n  for (const i of n) {\n    m--;\n  }\n}\n",
    "endless.ts": "function f(n: number, m: number) {\n  for (;;) {\n    m--;\n  }\n}\n",
    "true.ts": "function f(n: number, m: number) {\n  while (true) {\n    m--;\n  }\n}\n",
}


@pytest.mark.parametrize("file", LOOPS)
def test_the_head_of_a_loop_reads_what_decides_how_often_it_runs_and_nothing_of_its_body(
    tmp_path: Path, file: str
) -> None:
    (tmp_path / file).write_text(LOOPS[file])
    control = flow_of(tmp_path.resolve(), file, "f").control
    (head,) = (step for step in control.steps if step.kind == "loop")
    is_endless = file.startswith(("endless", "true", "one"))
    counted = {"i"} if file in ("for.go", "for.ts") else set()
    assert head.access.reads == (set() if is_endless else {"n"} | counted)
    ends = {label for _, label in head.successors} - {"true"}
    assert ends == ({"skipped"} if is_endless else {"false"})
    assert len(head.successors) == 2
