from __future__ import annotations

import time

import pytest

from cairn.search.printed_lines import is_printed_line
from cairn.search.reported import is_output
from cairn.search.work_item import read_work_item

GO_PANIC = """panic: runtime error: index out of range [3] with length 3

goroutine 34 [running]:
example.com/shop/cart.(*Cart[...]).Total(0xc000124680, {0x0, 0x0})
\t/home/ci/go/pkg/mod/example.com/shop@v1.2.3/cart/cart.go:81 +0x1d
example.com/shop/cart.sum(...)
\t/app/cart/cart.go:20
main.main()
\t/app/main.go:12 +0x1d
created by net/http.(*Server).Serve in goroutine 1
\t/usr/local/go/src/net/http/server.go:3285 +0x4b4
exit status 2
"""
PRINTED = {
    "go panic": GO_PANIC,
    "go fatal error": GO_PANIC.replace("panic: runtime error", "fatal error"),
    "go test": f"=== RUN   TestTotal\n--- FAIL: TestTotal (0.00s)\n{GO_PANIC}FAIL\texample.com/shop/cart\t0.015s\n",
    "go race": "==================\nWARNING: DATA RACE\nWrite at 0x00c0001a2010 by goroutine 9:\n"
    "  example.com/shop.Add()\n"
    "      /app/cart.go:12 +0x44\n\nPrevious read at 0x00c0001a2010 by goroutine 8:\n  runtime.mapaccess2()\n"
    "      /usr/local/go/src/runtime/map.go:120 +0x0\n\nGoroutine 9 (running) created at:\n"
    "  example.com/shop.TestAdd()\n",
    "go build": "# example.com/shop/internal/runtime\n./cart.go:12:5: undefined: fooBar\n"
    "./cart.go:14:3: too many arguments\n",
    "go test build": "# example.com/shop [example.com/shop.test]\ncart/cart.go:12:5: undefined: fooBar\n",
    "go vet": "vet: cart/cart.go:12:5: declared and not used: x\n",
    "golangci-lint": "cart/cart.go:12:5: Error return value of `w.Close` is not checked (errcheck)\n"
    "\tw.Close()\n\t^\n1 issues:\n",
    "cargo test": "running 188 tests\ntest sums ... ok\ntest totals ... FAILED\n\nfailures:\n\n"
    "---- totals stdout ----\n\n"
    "thread 'totals' (235) panicked at src/cart.rs:105:9:\nassertion `left == right` failed\n  left: 1\n right: 2\n"
    "note: run with `RUST_BACKTRACE=1`\n\ntest result: FAILED. 187 passed; 1 failed; 0 ignored\n",
    "rustc": "error[E0382]: borrow of moved value: `input`\n  --> src/cart.rs:12:23\n   |\n"
    "12 |     total(input)\n   |     ^^^\n",
    "rustc warning": "warning: unused variable: `foo`\n   --> src/cart.rs:12:9\n    |\n"
    "12  |         let foo = 1;\n    |     ^^^\n",
    "ruff": "F841 Local variable `x` is assigned to but never used\n  --> shop/cart.py:12:9\n   |\n12 |     x = 1\n",
    "dotnet test": "  Failed Shop.Tests.CartTests.Adds [12 ms]\n  Error Message:\n"
    "   System.NullReferenceException : Object reference"
    " not set to an instance of an object.\n  Stack Trace:\n"
    "     at Shop.Cart.Add(Item i) in /src/Shop/Cart.cs:line 12\n",
    "xunit": "[xUnit.net 00:00:01.23]     Shop.Tests.CartTests.Adds [FAIL]\n"
    "  Failed Shop.Tests.CartTests.Adds [< 1 ms]\n",
    "gradle": "org.shop.CartTest > addsUp() FAILED\n    java.lang.NullPointerException: x is null\n"
    "        at org.shop.Cart.total(Cart.java:12)\n\n2411 tests completed, 1 failed, 12 skipped\n\n"
    "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':shop:test'.\n",
    "surefire": "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! -- in org.shop.CartTest\n"
    "[ERROR] org.shop.CartTest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n"
    "\tat org.shop.CartTest.adds(CartTest.java:12)\n",
    "mocha": "  1523 passing (12s)\n  1 failing\n\n  1) Cart\n       adds up:\n     TypeError: x is undefined\n"
    "      at total (lib/cart.js:12:18)\n      at Context.<anonymous> (test/cart.spec.js:31:13)\n",
    "rspec": "Failures:\n\n  1) Cart adds up\n     Failure/Error: items.sum\n\n     NoMethodError:\n"
    "       undefined method 'sum' for nil\n     # ./lib/cart.rb:12:in 'Cart#total'\n\nFinished in 0.5 seconds\n",
    "eslint": "/app/lib/cart.js\n"
    "  12:7   error    'foo' is assigned a value but never used  no-unused-vars\n\n1 problem\n",
    "eslint unix": "/app/lib/cart.js: line 12, col 7, Error - 'foo' is never used. (no-unused-vars)\n\n1 problem\n",
    "minitest": "  1) Error:\nCartTest#test_total:\nNoMethodError: undefined method `sum' for nil:NilClass\n"
    "    lib/cart.rb:12:in `total'\n    test/cart_test.rb:12:in `test_total'\n\n1 runs, 0 assertions, 1 errors\n",
    "kotlinc": "e: /srv/src/Cart.kt: (12, 3): Unresolved reference: sum\n"
    "e: file:///srv/src/Cart.kt:14:5 Unresolved reference\n",
    "scala 3": "-- [E007] Type Mismatch Error: src/main/scala/shop/Cart.scala:12:3 ----\n12 |  sum\n   |  ^^^\n",
    "sbt": "[error] /srv/src/Cart.scala:12:3: value sum is not a member of Int\n"
    "[error] \tat shop.Cart.total(Cart.scala:12)\n",
    "logcat": "E/AndroidRuntime: FATAL EXCEPTION: main\nE/AndroidRuntime:     at shop.Cart.total(Cart.kt:12)\n",
    "visual studio": "Shop.dll!Shop.Cart.Total(int most) Line 12\tC#\n",
    "chrome": "total @ cart.js:12\n(anonymous) @ cart.js:14\n",
    "haskell": "CallStack (from HasCallStack):\n  error, called at src/Shop/Cart.hs:12:3 in shop-1.5:Shop.Cart\n",
    "terms of elixir": 'Stacktrace=[\n  {Shop.Cart, :total, 1, [file: ~c"lib/cart.ex", line: 12]},\n',
    "unhandled": "Unhandled exception. System.AggregateException: One or more errors occurred.\n"
    " ---> System.NullReferenceException: Object reference not set to an instance of an object.\n"
    "   at Shop.Cart.Add(Item i) in /src/Shop/Cart.cs:line 12\n   --- End of inner exception stack trace ---\n",
    "csc": "/src/Shop/Cart.cs(12,13): error CS0103: The name 'foo' does not exist in the current context\n"
    "    0 Warning(s)\n    1 Error(s)\n",
    "tsc": "src/cart.ts(12,5): error TS2345: Argument of type 'string' is not assignable to 'number'.\n"
    "src/cart.ts(13,5): error TS7006: Parameter 'x' implicitly has an 'any' type.\n",
    "webpack": "ERROR in ./src/cart.ts:12:5\nTS2304: Cannot find name 'foo'.\n  > 12 | const total = foo();\n",
    "esbuild": '\u2718 [ERROR] Could not resolve "./foo"\n\n    src/cart.ts:12:21:\n      12 \u2502 import "./foo"\n',
    "github annotation": "::error file=lib/cart.js,line=12,col=7,title=ESLint::'foo' is not defined\n",
    "firefox": "total@webpack:///src/cart.ts:12:7\nsetup@http://localhost/src/App.vue:3:1\n"
    "TypeError: null is not an object\n",
}


@pytest.mark.parametrize("name", PRINTED)
def test_what_a_program_printed_is_output_whatever_its_first_line_is(name: str) -> None:
    item = read_work_item(PRINTED[name])
    assert item.is_printed
    assert is_output(item)


@pytest.mark.parametrize("name", PRINTED)
def test_a_report_that_shows_what_was_printed_is_a_report(name: str) -> None:
    said = "Since the update our nightly build is red on every branch, and I do not know why that may be so.\n"
    item = read_work_item(f"The build is red\n\n{said}\n```\n{PRINTED[name]}```\n")
    assert item.subject == "The build is red"
    assert not is_output(item)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("go fatal error", "fatal error: index out of range [3] with length 3"),
        ("go race", "WARNING: DATA RACE"),
        ("gradle", "java.lang.NullPointerException: x is null"),
        ("mocha", "TypeError: x is undefined"),
        ("unhandled", "Unhandled exception. System.AggregateException: One or more errors occurred."),
        ("rustc", "error[E0382]: borrow of moved value: `input`"),
        ("rustc warning", "warning: unused variable: `foo`"),
        ("go build", "./cart.go:14:3: too many arguments"),
    ],
)
def test_the_subject_of_output_is_the_line_that_says_what_went_wrong(name: str, subject: str) -> None:
    assert read_work_item(PRINTED[name]).subject == subject


@pytest.mark.parametrize(
    "text",
    [
        "Failures: what to do\n\n1. Look at the log.\n",
        "# docs/usage.md\n\nThe cart is described here.\n",
        "# Cart and orders\n\nThe cart is described here.\n",
        "running tests takes long\n\nIt takes an hour.\n",
        "Total > 100 is wrong\n\nThe sum is more than it was.\n",
        "warning: the cart is closed\n\nThis is shown twice.\n",
        "12 passing tests are skipped\n\nThey should run.\n",
        "[ERROR] Cannot install\n\nNothing happens.\n",
        "Panic when the cart is empty\n\nIt should be zero.\n",
    ],
)
def test_a_title_that_is_like_output_is_a_subject(text: str) -> None:
    item = read_work_item(text)
    assert item.subject == text.partition("\n")[0].removeprefix("# ")
    assert not item.is_printed


def test_the_functions_of_a_go_trace_are_no_prose() -> None:
    item = read_work_item(f"Totals are lost\n\n{GO_PANIC}")
    assert item.prose == "exit status 2"
    assert "main.main()" in item.trace


@pytest.mark.parametrize("block", ["a.", "a/b.", "aa@", "(*", "0x", "a > ", "# a/", "Failed a ", "C:\\", "thread '"])
def test_lines_that_are_made_to_be_slow_take_linear_time(block: str) -> None:
    started = time.process_time()
    is_printed_line(block * (40_000 // len(block)))
    read_work_item(block * (40_000 // len(block)))
    assert time.process_time() - started < 1  # linear: some milliseconds


@pytest.mark.parametrize(
    "error", ["panic: cart is empty", "fatal error: all goroutines are asleep", "error[E0382]: borrow of moved value"]
)
def test_an_error_alone_makes_a_report_of_few_words_no_output(error: str) -> None:
    item = read_work_item(f"The sum of two carts is lost\n\n```\n{error}\n```\n\nOne cart works.\n")
    assert (item.prose, item.code, item.trace) == ("One cart works.", error, "")
    assert read_work_item(f"Totals\n\n{error}\n").code == error


def test_an_error_that_is_a_title_is_a_subject() -> None:
    item = read_work_item("panic: cart is empty\n\nWhen somebody adds up an empty cart, this is all that there is.\n")
    assert item.subject == "panic: cart is empty"
    assert not item.is_printed
