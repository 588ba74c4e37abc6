"""Traces of a version other than the one that is here, and which of their frames are counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.answers import CodeHit
from cairn.workspace import Workspace
from small_projects import write_files

CART = '''"""Carts of a shop.

What they hold, what it costs,
and who may see it.
"""

class Cart:
    def __init__(self):
        self.items_seen: set[str] = set()

    def total(self):
        return sum(self.items)

    def close(self):
        pass


class Order:
    def total(self):
        lines = self.lines
        return sum(self.lines) + self.fee

    def close(self):
        pass
'''
MAIL = """package shop

func Send(to string) error {
	if to == "" {
		return nil
	}
	return deliver(to)
}

func deliver(to string) error {
	return nil
}
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("moved")
    write_files(root, {"src/shop/cart.py": CART, "mail/mail.go": MAIL})
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def first(workspace: Workspace, frame: str) -> CodeHit:
    return workspace.search(f"Traceback (most recent call last):\n{frame}\nAttributeError: no\n").code[0]


@pytest.mark.parametrize(
    ("frame", "line", "sureness"),
    [
        ("line 4, in __init__\n    self.items_seen: set[str] = set()", 9, "high"),
        ("line 900, in __init__\n    self.items_seen: set[str] = set()", 9, "high"),
        ("line 9, in __init__\n    self.items_seen: set[str] = set()", 9, "high"),
        ("line 2, in close\n    pass", 15, "high"),
        ("line 40, in close\n    pass", 24, "high"),
        ("line 4, in total\n    return sum(self.prices)", 11, "medium"),
        ("line 26, in total", 19, "medium"),
        ("line 12, in total", 12, "high"),
        ("line 4, in refund", 4, "medium"),
        ("line 4, in <module>", 4, "high"),
    ],
)
def test_a_line_that_moved_is_found_by_its_source_or_its_function(
    workspace: Workspace, frame: str, line: int, sureness: str
) -> None:
    hit = first(workspace, f'  File "/venv/lib/python3.12/site-packages/shop/cart.py", {frame}')
    assert (hit.path, hit.start_line, hit.part, hit.confidence) == ("src/shop/cart.py", line, "frame 1", sureness)


def test_a_frame_of_go_that_moved_is_found_by_the_function_above_it(workspace: Workspace) -> None:
    called = "main.main()\n\t/srv/app/run.go:31 +0x1d\n" * 4
    trace = "goroutine 1 [running]:\nacme.com/shop/mail.deliver({0x1})\n\t/srv/shop/mail/mail.go:5 +0x1d\n"
    hit = workspace.search(f"panic: no\n\n{trace}{called}").code[0]
    assert (hit.path, hit.start_line, hit.name, hit.confidence) == ("mail/mail.go", 10, "deliver", "medium")


def test_a_frame_that_is_asked_alone_is_found_where_its_line_moved(workspace: Workspace) -> None:
    hit = workspace.search('File "/srv/src/shop/cart.py", line 4, in __init__').code[0]
    assert (hit.path, hit.start_line) == ("src/shop/cart.py", 8)


def test_frames_are_counted_from_the_deepest_one_of_the_project(workspace: Workspace) -> None:
    own = '  File "/srv/src/shop/cart.py", line 12, in total\n    return sum(self.items)\n'
    foreign = '  File "/usr/lib/python3.12/ssl.py", line 1104, in _create\n    self.do_handshake()\n'
    hit = first(workspace, f"{own}{foreign * 2}")
    assert (hit.start_line, hit.part) == (12, "frame 1")


def test_source_that_a_trace_shows_is_not_looked_for_as_a_message(workspace: Workspace) -> None:
    foreign = (
        '  File "/usr/lib/python3.12/x.py", line 1, in run\n    return sum(self.lines) + self.fee  # total of lines\n'
    )
    found = workspace.search(f"Traceback (most recent call last):\n{foreign}KeyError: 'no'\n").code
    assert all(hit.part != "raised here" for hit in found)


NATIVE = {
    "lib/till.c": "/* A till. */\n\n"
    + "int tax;\n" * 40
    + "int till_open(struct till *t) {\n  t->n = 0;\n  return 1;\n}\n",
    "lib/unix/core.c": "\n" * 9 + "void pay_unix(void) {\n  till_open(0);\n}\n",
    "lib/win/core.c": "\n" * 9 + "void pay_win(void) {\n  till_open(0);\n}\n",
}


@pytest.mark.parametrize(
    "trace",
    [
        "Program received signal SIGSEGV, Segmentation fault.\n"
        "#0  0x00007f in till_open (t=0x0) at ../lib/till.c:3\n#1  0x00007e in pay_unix () at ../lib/unix/core.c:99\n",
        "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x6\nREAD of size 8 at 0x6 thread T0\n"
        "    #0 0x55 in till_open /b/lib/till.c:3:9\n    #1 0x56 in pay_unix /b/lib/unix/core.c:99:3\n",
        "WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 8 at 0x7 by thread T1:\n"
        "    #0 till_open /b/lib/till.c:3 (a.so+0x1)\n    #1 pay_unix /b/lib/unix/core.c:99 (a.so+0x2)\n",
        "==7== Invalid read of size 8\n"
        "==7==    at 0x4C: till_open (till.c:3)\n==7==    by 0x4D: pay_unix (core.c:99)\n",
        "* thread #1, stop reason = EXC_BAD_ACCESS\n  * frame #0: 0x01 a.dylib`till_open(t=0x0) at till.c:3:9\n"
        "    frame #1: 0x02 a.dylib`pay_unix at core.c:99:3\n",
    ],
    ids=["gdb", "AddressSanitizer", "ThreadSanitizer", "Valgrind", "lldb"],
)
def test_native_frames_of_another_version_are_shown_in_their_functions(tmp_path: Path, trace: str) -> None:
    write_files(tmp_path, NATIVE)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        first, second = workspace.search(trace).code[:2]
    assert (first.path, first.name, first.part) == ("lib/till.c", "till_open", "frame 1")
    assert (second.path, second.name, second.part) == ("lib/unix/core.c", "pay_unix", "frame 2")
