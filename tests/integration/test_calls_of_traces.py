"""Traces whose frames say neither file nor line: of .NET, of Java, and of native code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

CART = """namespace Shop.Carts
{
    public class Cart<T>
    {
        public event Action<T> Added;

        public Cart(string name)
        {
        }

        public void Add(Func<T, bool> allowed, Action done)
        {
        }

        public void Add(Func<T, Order, bool> allowed, Action done)
        {
        }

        public async Task SaveAsync()
        {
        }

        public class Line
        {
            public int Sum()
            {
                return 0;
            }
        }
    }
}
"""
ORDER = """namespace Shop;

public class Order
{
    public void Add(Func<int, Order, bool> allowed, Action done)
    {
    }
}
"""
MAIL = """package com.acme.mail;

public class Mail {
    public Mail() {
    }

    public void send() {
        run(() -> deliver());
    }

    static class Letter {
        void fold() {
        }
    }
}
"""
FILES = {
    "src/Carts/Cart.cs": CART,
    "src/Order.cs": ORDER,
    "src/main/java/com/acme/mail/Mail.java": MAIL,
    "src/main/java/com/acme/List.java": "package com.acme;\n\nclass List {\n    void get() {\n    }\n}\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("calls")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def framed(workspace: Workspace, frame: str) -> list[tuple[str, int, str]]:
    """Return the places of the frames of a trace that has one frame of another program, and this one."""
    text = f"System.InvalidOperationException: no\n   at System.Linq.Enumerable.First(Object o)\n{frame}\n"
    return [
        (Path(hit.path).name, hit.start_line, hit.part)
        for hit in workspace.search(text).code
        if hit.part[:5] == "frame"
    ]


def line_of(source: str, part: str) -> int:
    return source[: source.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        ("   at Shop.Carts.Cart`1.Add(Func`2 allowed, Action done)", "public void Add(Func<T, bool>"),
        ("   at Shop.Carts.Cart`1.Add(Func`3 allowed, Action done)", "public void Add(Func<T, Order, bool>"),
        ("   at Shop.Carts.Cart`1..ctor(String name)", "public Cart("),
        ("   at Shop.Carts.Cart`1.add_Added(Action`1 value)", "public event"),
        ("   at Shop.Carts.Cart`1.<>c__DisplayClass4_0.<Add>b__1(Order order)", "public void Add(Func<T, bool>"),
        ("   at Shop.Carts.Cart`1.<SaveAsync>d__5.MoveNext()", "public async"),
        ("   at Shop.Carts.Cart`1+Line.Sum()", "public int Sum"),
        ("   at Shop.Carts.Cart`1.Line.Sum()", "public int Sum"),
        ("   at Shop.Carts.Cart`1.Removed()", "public class Cart"),
    ],
)
def test_a_frame_of_dotnet_without_a_file_is_the_method_of_its_class(
    workspace: Workspace, frame: str, part: str
) -> None:
    assert framed(workspace, frame) == [("Cart.cs", line_of(CART, part), "frame 1")]


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        ("\tat com.acme.mail.Mail.send(Unknown Source)", "public void send"),
        ("\tat com.acme.mail.Mail.send(Mail.java)", "public void send"),
        ("\tat com.acme.mail.Mail.lambda$send$0(Native Method)", "public void send"),
        ("\tat com.acme.mail.Mail.<init>(Unknown Source)", "public Mail()"),
        ("\tat com.acme.mail.Mail$Letter.fold(Unknown Source)", "void fold"),
        ("\tat com.acme.mail.Mail$Letter.<init>(Unknown Source)", "static class Letter"),
    ],
)
def test_a_frame_of_java_without_a_line_is_the_method_of_its_class(workspace: Workspace, frame: str, part: str) -> None:
    assert framed(workspace, frame) == [("Mail.java", line_of(MAIL, part), "frame 1")]


def test_a_namespace_of_its_own_line_belongs_to_the_names_of_its_classes(workspace: Workspace) -> None:
    assert framed(workspace, "   at Shop.Order.Add(Func`3 allowed, Action done)") == [("Order.cs", 5, "frame 1")]


@pytest.mark.parametrize(
    "frame",
    [
        "   at Other.Carts.Cart`1.Add(Func`2 allowed, Action done)",
        "   at Cart.Add(Func`2 allowed, Action done)",
        "   at More.Shop.Order.Add(Func`3 allowed, Action done)",
        "\tat java.util.List.get(Unknown Source)",
        "\tat org.acme.mail.Mail.send(Unknown Source)",
        "\tat mail.Post.send(Unknown Source)",
    ],
)
def test_a_frame_of_a_class_that_the_project_does_not_define_is_of_none_of_its_files(
    workspace: Workspace, frame: str
) -> None:
    assert framed(workspace, frame) == []
    assert all(hit.part != "raised here" for hit in workspace.search(f"Boom\n{frame}\n").code)


def test_a_filter_of_paths_leaves_out_frames(workspace: Workspace) -> None:
    text = "Boom\n   at Shop.Order.Add(Func`3 allowed, Action done)\n"
    assert all(hit.path != "src/Order.cs" for hit in workspace.search(text, globs=["src/Carts/**"]).code)


NATIVE = {
    "src/order_total.h": "int order_total(int *lines);\n",
    "src/order_total.c": '#include "order_total.h"\n\nint order_total(int *lines)\n{\n    return lines[0];\n}\n',
    "src/main.c": '#include "order_total.h"\n\nint main(void)\n{\n    return order_total(0);\n}\n',
    "bill/src/taxes.rs": "pub struct Rate;\n\nimpl Rate {\n    pub fn of_order(&self) -> u32 {\n        1\n    }\n}\n",
    "Sources/Carts/Cart.swift": (
        "public struct Cart {\n    class Lines {\n        func add(item: Int) {\n        }\n    }\n}\n"
    ),
    "mail/send.go": "package mail\n\ntype Box struct{}\n\nfunc (b *Box) Send() {\n}\n",
}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x55a3 bp 0x7ffd sp 0x7ffd T0)\n"
            "    #0 0x55a3c1b2 in order_total (/usr/bin/bill+0x1c1b2)\n    #1 0x55a3c2d4 in main (/usr/bin/bill)\n",
            ("src/order_total.c", 3),
        ),
        (
            "stack backtrace:\n   0: core::panicking::panic_fmt\n   1: <bill::taxes::Rate as bill::Of>::of_order\n"
            "   2: bill::main\n",
            ("bill/src/taxes.rs", 4),
        ),
        (
            "Crashed: com.acme.queue\n0  libsystem_kernel.dylib  0x1e6b7a1dc __pthread_kill + 8\n"
            "1  Carts   0x101b472b8 specialized Cart.Lines.add(item:) + 1120\n",
            ("Sources/Carts/Cart.swift", 3),
        ),
        ("goroutine 20 [chan send]:\nacme.com/shop/mail.(*Box).Send(...)\n", ("mail/send.go", 5)),
    ],
)
def test_a_frame_of_native_code_without_a_place_is_the_function_of_what_it_is_in(
    tmp_path: Path, text: str, place: tuple[str, int]
) -> None:
    write_files(tmp_path, NATIVE)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        first, *_ = workspace.search(text).code
    assert (first.path, first.start_line, first.part) == (*place, "frame 1")
