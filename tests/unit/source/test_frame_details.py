"""What a trace says of a frame besides its place."""

from __future__ import annotations

import time

import pytest

from cairn.source.frames import TracebackFrame, read_calls


def only(text: str) -> TracebackFrame:
    (frame,) = (frame for frame in read_calls(text) if isinstance(frame, TracebackFrame))
    return frame


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ('  File "/srv/shop/cart.py", line 7, in total', "total"),
        ('  File "/srv/shop/cart.py", line 7, in <module>', ""),
        ("src/shop/cart.py:7: in total\n", "total"),
        ("    at total (/srv/cart.js:7:3)", "total"),
        ("    at async Object.total [as sum] (/srv/cart.js:7:3)", "total"),
        ("    at new Cart (file:///srv/cart.js:7:3)", "Cart"),
        ("    at Object.<anonymous> (/srv/cart.js:7:3)", ""),
        ("    at /srv/cart.js:7:3", ""),
        ("total@http://localhost/src/cart.js:7:3", "total"),
        (" \u276f total src/cart.ts:7:3", "total"),
        ("lib/cart.rb:7:in `total'", "total"),
        ("\tfrom lib/cart.rb:7:in 'Shop::Cart#total'", "total"),
        ("lib/cart.rb:7:in `block (2 levels) in total'", "total"),
        ("lib/cart.rb:7:in `<main>'", ""),
        ("    (shop 0.1.0) lib/cart.ex:7: Shop.Cart.total/1", "total"),
        ("\tat com.acme.Cart.total(Cart.java:7)", "total"),
        ("\tat com.acme.Cart.lambda$total$0(Cart.java:7)", "total"),
        ("  at com.acme.Cart.total (Cart.java:7)", "total"),
        ("\tat com.acme.Cart.total-ZezNO4M(Cart.kt:7)", "total"),
        ("\tat com.acme.Cart.total-Zbe2FdA$cart_release(Cart.kt:7)", "total"),
        ("File ~/shop/cart.py:7, in Cart.total(self, most)", "total"),
        ('  {Shop.Cart, :total, 1, [file: ~c"lib/cart.ex", line: 7]},', "total"),
        ("  {Shop.Cart, :total, 1,\n   [file: 'lib/cart.ex', line: 7]},", "total"),
        ('[{cart,total,1,[{file,"src/cart.erl"},{line,7}]}]', "total"),
        ("Shop.dll!Shop.Cart.Total(int most) \u884c 7 (Cart.cs:7)", "Total"),
        ("total @ cart.js:7", "total"),
        ("  | ./node_modules/shop/cart.js.Cart.total | @ | cart.js:7", "total"),
        ("\tat app//com.acme.Cart$Line.<init>(Cart.java:7)", "Line"),
        ("\tat shop.cart$total_of_BANG_.invokeStatic(cart.clj:7)", "total-of!"),
        ("\tat shop.cart$full_QMARK_$iter__3215__3225$fn__3226.invoke(cart.cljc:7)", "full?"),
        ("\tat shop.cart$eval1234.invoke(cart.clj:7)", ""),
        ("   at Shop.Cart.Total(Item item) in /_/src/Cart.cs:line 7", "Total"),
        ("   bei Shop.Cart.<Total>b__1(Item item) in C:\\src\\Cart.cs:Zeile 7.", "Total"),
        ("acme.com/shop.(*Cart).Total(0xc000, {0x0, 0x0})\n\t/srv/cart.go:7 +0x1d", "Total"),
        ("acme.com/shop/cart.Total.func1.2(...)\n\t/srv/cart.go:7 +0x1d", "Total"),
        ("created by acme.com/shop.Total in goroutine 1\n\t/srv/cart.go:7 +0x1d", "Total"),
        ("   3: shop::cart::total::{{closure}}\n             at ./src/cart.rs:7:5", "total"),
        ("   4: <shop::Cart as core::fmt::Display>::fmt::h0123456789abcdef\n             at ./src/cart.rs:7:5", "fmt"),
        ("I looked at something in src/cart.py:7", ""),
        ("#0 /srv/cart.php(7): total()", ""),
        ("#1  0x00007f in total (cart=0x1, at=...) at ../src/cart.c:7", "total"),
        ("#0  total (cart=0x1) at src/cart.c:7", "total"),
        ("#2  shop::Cart<int, std::pair<int, int>>::total (this=0x7ffe) at src/cart.cc:7", "total"),
        ("    #0 0x55 in total /build/src/cart.c:7:9", "total"),
        ("    #1 0x55 in shop::Cart::total(int, char const*) const /build/src/cart.cc:7:9", "total"),
        ("    #0 void shop::total<int>(int) /build/src/cart.cc:7 (shop.so+0x1)", "total"),
        ("    #0 0x55 in shop::(anonymous namespace)::total(int) /build/src/cart.cc:7:9", "total"),
        ("#3  0x1 in main.(*Cart).Total (c=0xc0, x=1) at /app/cart.go:7", "Total"),
        ("==99==    by 0x4F1C: total (cart.c:7)", "total"),
        ("  * frame #0: 0x0000 libshop.1.dylib`shop::total(cart=0x00) at cart.cc:7:9", "total"),
        ("    total (shop/cart.py:7)", "total"),
        ("    10    1.200    0.000    2.900    0.000 /srv/shop/cart.py:7(total)", "total"),
        ('  File "/srv/shop/cart.py", line 7 in total', "total"),
        ("src/cart.c: In function 'total':\nsrc/cart.c:7:7: warning: unused variable 'r'", "total"),
        ("cart.cc: In member function \u2018int shop::Cart::total(int) const\u2019:\ncart.cc:7:7: error: no", "total"),
        ("/usr/bin/ld: cart.o: in function `total':\n/b/src/cart.c:7: undefined reference to `sum'", "total"),
        ("> /app/src/cart.py(7)total()\n-> return x", "total"),
        ("\tsrc/cart.lua:7: in function 'total'", "total"),
        ("\tsrc/cart.lua:7: in method 'Cart:total'", "total"),
        ("\tsrc/cart.lua:7: in main chunk", ""),
        ("/home/u/src/cart.zig:7:3: 0x2345 in total (main)", "total"),
        ("#0      Cart.total (package:shop/cart.dart:7:3)", "total"),
        ("#1      Cart.total.<anonymous closure> (file:///app/lib/cart.dart:7:3)", "total"),
        ("package:shop/cart.dart 7:3    Cart.total", "total"),
        ("test/cart_test.dart 7:3       main.<fn>", "main"),
        (" [1] total(x::Int64)\n   @ Shop ~/src/cart.jl:7", "total"),
        ("3   MyApp      0x0000000104a1 Cart.total() + 44 (Cart.swift:7)", "total"),
        ("4   MyApp      0x0000000104a1 closure #1 in Cart.total() + 20 (Cart.swift:7)", "total"),
        ("2 [ra] 0x00005581 Cart.total() + 44 in MyApp at /app/Sources/Cart.swift:7:3", "total"),
        ("The prices (src/cart.py:7) are wrong", ""),
        ("Look there (in src/cart.py:7)", ""),
    ],
)
def test_the_function_of_a_frame_is_read_as_its_source_has_it(text: str, function: str) -> None:
    frame = only(text)
    assert (frame.line, frame.function) == (7, function)


@pytest.mark.parametrize(
    "text",
    [
        '  File "/srv/cart.py", line 7, in total\n    return sum(items)\n           ~~~^^^^^^^\n',
        "src/cart.py:7: in total\n    return sum(items)\n",
        "    def total():\n>       return sum(items)\nE       No: no\nE         and more\n\nsrc/cart.py:7: No\n",
        "    def total():\n>       return sum(items)\n\nsrc/cart.py:7: \n_ _ _ _\n",
        "error[E0382]: no\n  --> src/cart.rs:7:9\n   |\n6  |     let a = 1;\n7  |     return sum(items)\n   |   ^^^\n",
        "src/cart.go:7:5: not checked (errcheck)\n\treturn sum(items)\n\t^\n",
        "/r/src/Cart.java:7: error: no\n        return sum(items)\n               ^\n",
        " \u276f src/cart.ts:7:31\n      6|  a()\n      7|     return sum(items)\n       |     ^\n",
        "    > 7 |   return sum(items)\n        |     ^\n\n      at total (src/cart.js:7:7)\n",
        "src/cart.ts:7:21:\n      7 \u2502 return sum(items)\n        \u2575     ~~~\n",
    ],
)
def test_the_line_of_source_that_a_text_shows_belongs_to_its_frame(text: str) -> None:
    assert only(text).code == "return sum(items)"


def test_what_stands_below_a_frame_without_a_mark_is_no_source() -> None:
    assert only(">   somebody said so\nand more\nsrc/cart.py:7: TypeError\n").code == ""
    assert only("src/cart.py:7: error: no such name\n    Did you mean `total`?\n").code == ""
    assert only('  File "/srv/cart.py", line 7, in total\nValueError: no\n').code == ""


@pytest.mark.parametrize(
    "block",
    ["a", "a.", "at a", "(*a).", " 7 |", "1: a::", "::{{", "\u276f a ", "#1 ", "<", "f(", "#1 f (", ": in function `"],
)
def test_details_of_texts_that_are_made_to_be_slow_are_read_in_linear_time(block: str) -> None:
    started = time.process_time()
    read_calls(f"{block * (20_000 // len(block))}\n\tsrc/cart.go:7 +0x1d\n" * 2)
    read_calls(f"{block * 100} src/cart.go:7\n" * 100)
    assert time.process_time() - started < 5  # linear: some milliseconds
