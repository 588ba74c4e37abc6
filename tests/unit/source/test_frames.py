from __future__ import annotations

import time

import pytest

from cairn.source.frames import CallFrame, TracebackFrame, file_among, file_of_frame, is_place, read_calls, read_frames


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('  File "/srv/app/net.py", line 7, in connect', "/srv/app/net.py", 7),
        ("\tat com.acme.Net.connect-ZezNO4M(Net.kt:12)", "com/acme/Net.kt", 12),
        ("\tat com.acme._NetCommonKt.connect(-NetCommon.kt:12)", "com/acme/-NetCommon.kt", 12),
        ("  at com.acme.Net.connect (Net.java:12)", "com/acme/Net.java", 12),
        ("\tat com.acme.Net.connect(Net.java:12", "com/acme/Net.java", 12),
        ("e: /srv/app/Net.kt: (12, 3): Unresolved reference: host", "/srv/app/Net.kt", 12),
        ('  {Shop.Net, :connect, 2, [file: ~c"lib/net.ex", line: 12]},', "lib/net.ex", 12),
        ("  {Shop.Net, :connect, 2,\n   [\n     file: 'lib/net.ex',\n     line: 12\n   ]},", "lib/net.ex", 12),
        ('[{net,connect,1,[{file,"src/net.erl"},{line,12}]}]', "src/net.erl", 12),
        ("    at Client.connect (/srv/app/lib/net.js:12:7)", "/srv/app/lib/net.js", 12),
        ("    at file:///srv/app/net.mjs:3:4", "/srv/app/net.mjs", 3),
        ("\tat com.acme.net.Client.connect(Client.java:42)", "com/acme/net/Client.java", 42),
        ("\tat com.acme.net.Client$Inner.<init>(Client.java:9)", "com/acme/net/Client.java", 9),
        ("\tat com.acme.NetKt.connect(Net.kt:12)", "com/acme/Net.kt", 12),
        ("main.connect(0x1)\n\t/srv/app/net.go:12 +0x1d", "/srv/app/net.go", 12),
        ("             at ./src/net.rs:3:5", "./src/net.rs", 3),
        ("thread 'main' panicked at src/net.rs:8:14:", "src/net.rs", 8),
        ("lib/net.rb:12:in `connect'", "lib/net.rb", 12),
        ("#0 /srv/app/net.php(12): connect()", "/srv/app/net.php", 12),
        ("PHP Warning:  Oh in /srv/app/net.php on line 12", "/srv/app/net.php", 12),
        ("   at Acme.Net.Connect() in C:\\src\\Net.cs:line 12", "C:/src/Net.cs", 12),
        ("    (app 0.1.0) lib/net.ex:12: Net.connect/1", "lib/net.ex", 12),
        ("\t[string \"src/app/net.lua\"]:12: in upvalue 'connect'", "src/app/net.lua", 12),
        ("\tat app.net$connect.invokeStatic(net.cljc:12)", "app/net.cljc", 12),
        ("Fatal error: Oh: file Net.swift, line 12", "Net.swift", 12),
        ("App/Net.swift:12: Fatal error: Oh", "App/Net.swift", 12),
        ('  [[app.net$connect invokeStatic "net.clj" 12]', "app/net.clj", 12),
        ("2: connect() at R/net.R#12", "R/net.R", 12),
        ("At line 12 of file src/net.f90", "src/net.f90", 12),
        ("  $000401  CONNECT,  line 12 of src/net.pas", "src/net.pas", 12),
        ("    /srv/app/net.m at line 12 column 3", "/srv/app/net.m", 12),
        ("The error appears to be in '/srv/roles/net.yml': line 12, column 3, but may", "/srv/roles/net.yml", 12),
        ("Build file '/srv/app/build.gradle' line: 12", "/srv/app/build.gradle", 12),
        ("make: *** [build/Makefile:12: all] Error 1", "build/Makefile", 12),
    ],
)
def test_the_frame_of_a_traceback_is_a_place_in_every_language(text: str, path: str, line: int) -> None:
    found = read_frames(text)
    assert [(frame.path.lstrip("/"), frame.line) for frame in found] == [(path.lstrip("/"), line)]


def test_the_deepest_call_comes_first_whichever_way_a_traceback_is_written() -> None:
    python = 'Traceback (most recent call last):\n  File "a.py", line 1, in a\n  File "b.py", line 2, in b\n'
    node = "Error: no\n    at b (b.js:2:1)\n    at a (a.js:1:1)\n"
    assert read_frames(python) == [TracebackFrame("b.py", 2), TracebackFrame("a.py", 1)]
    assert read_frames(node) == [TracebackFrame("b.js", 2), TracebackFrame("a.js", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "Crash:\n\n#0  0x1 in handle (signal=11) at crash.c:9\n#1  <signal handler called>\n"
        "#2  0x2 in draw () at screen.c:7\n",
        "goroutine 7 [running]:\nmain.Recover.func1()\n\tcrash.go:9 +0x1\npanic({0x1, 0x2})\n"
        "\truntime/panic.go:8 +0x1\nmain.draw()\n\tscreen.go:7 +0x1\n",
    ],
)
def test_what_handles_a_crash_is_not_its_deepest_call(text: str) -> None:
    own = [frame for frame in read_frames(text) if "panic" not in frame.path]
    assert [(frame.path.partition(".")[0], frame.line) for frame in own] == [("screen", 7), ("crash", 9)]


def test_where_lua_raised_an_error_first_is_deeper_than_where_it_was_raised_again() -> None:
    text = "async.lua:53: lua/net.lua:12: no host\nstack traceback:\n\tlua/app.lua:3: in function <lua/app.lua:2>\n"
    assert [frame.path for frame in read_frames(text)][:3] == ["lua/net.lua", "async.lua", "lua/app.lua"]
    assert [frame.line for frame in read_frames(text)][2:] == [3, 2]


@pytest.mark.parametrize(
    "value",
    [
        r"File \"src/net.ml\", line 12, characters 2-8: Assertion failed\nRaised at file \"src/net.ml\", line 12",
        r"no host\nstack traceback:\nnet.lua:12: in function 'connect'",
        r"panic: no host\ngoroutine 1 [running]:\nmain.connect()\n\t/srv/net.go:12 +0x1d",
        r"no host\nfrom lib/net.rb:12:in 'connect'",
        r"no host\n#0 /srv/net.php(12): connect()",
    ],
)
def test_a_trace_in_a_string_of_json_may_have_lines_without_an_indent(value: str) -> None:
    assert [frame.line for frame in read_frames(f'{{"value": "{value}"}}')] == [12]


def test_folders_in_a_path_of_windows_that_begin_as_escapes_do_are_kept() -> None:
    assert [frame.path for frame in read_frames(r"C:\work\net\release.py:7: no host")] == ["C:/work/net/release.py"]


@pytest.mark.parametrize("text", ["127.0.0.1:8080", "version 1.2.3:4", "12:30:15", "std::vector", "key: value", ""])
def test_addresses_times_and_names_are_no_places(text: str) -> None:
    assert not read_frames(text)


def test_a_place_alone_is_told_from_a_text_around_one() -> None:
    assert is_place("src/net.py:7")
    assert not is_place("src/net.py:7: error: no host")


def test_the_longest_end_of_a_path_that_exists_is_meant() -> None:
    files = {"src/net.py", "net.py"}
    assert file_of_frame("/home/ci/build/src/net.py", files.__contains__) == "src/net.py"
    assert file_of_frame("/usr/lib/socket.py", files.__contains__) is None


def test_a_frame_of_an_installed_package_means_the_file_it_was_made_from() -> None:
    files = {"src/click/utils.py", "src/click/core.py", "tests/utils.py"}
    installed = "/usr/lib/python3/site-packages/click/utils.py"
    assert file_among(installed, files) == file_of_frame(installed, files.__contains__) == "src/click/utils.py"


def test_a_frame_that_may_mean_several_files_or_one_of_another_package_means_none() -> None:
    assert file_among("utils.py", {"a/utils.py", "b/utils.py"}) is None
    assert file_among("/usr/lib/python3/json/decoder.py", {"src/decoder.py"}) is None
    assert file_among("Net.swift", {"Sources/App/Net.swift"}) == "Sources/App/Net.swift"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("src/cart.ts(12,5): error TS2345: no", "src/cart.ts"),
        ("[ERROR] /r/src/Cart.java:[12,13] cannot find symbol", "/r/src/Cart.java"),
        ("./scripts/build.sh: line 12: FOO: unbound variable", "./scripts/build.sh"),
        ("Can't locate object method at lib/Cart.pm line 12.", "lib/Cart.pm"),
        ('Called from Cart.total in file "src/cart.ml", line 12, characters 5-9', "src/cart.ml"),
        ("see https://example.com/shop/blob/main/src/cart.py#L12-L14", "//example.com/shop/blob/main/src/cart.py"),
        ("in `src/cart.py` line 12 it is", "src/cart.py"),
        ("\x1b[36m \u276f src/cart.ts:\x1b[2m12:5\x1b[22m", "src/cart.ts"),
    ],
)
def test_places_are_read_as_compilers_shells_links_and_people_write_them(text: str, path: str) -> None:
    assert read_frames(text) == [TracebackFrame(path, 12)]


def test_of_pytest_the_last_call_and_of_java_the_root_cause_comes_first() -> None:
    pytest_says = "tests/test_cart.py:60: \n_ _ _\nsrc/cart.py:12: in total\n    run()\nsrc/shop.py:4: in run\nE   No\n"
    assert [frame.line for frame in read_frames(pytest_says)] == [4, 12, 60]
    java_says = (
        "java.lang.A: x\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\nCaused by: java.lang.C: y\n"
        "\tat a.E.f(E.java:3)\n\tat a.E.g(E.java:4)\n\t... 31 more\n"
    )
    assert [frame.line for frame in read_frames(java_says)] == [3, 4, 1, 2]


def test_of_what_python_prints_at_a_fatal_error_the_first_call_comes_first() -> None:
    text = 'Current thread 0x7f (most recent call first):\n  File "a.py", line 3 in f\n  File "b.py", line 9 in g\n'
    assert [frame.line for frame in read_frames(text)] == [3, 9]


def test_a_frame_in_the_middle_of_a_long_log_is_read() -> None:
    noise = "downloading a package\n" * 400
    assert read_frames(f"{noise}\tsrc/cart.go:12 +0x1d\n{noise}") == [TracebackFrame("src/cart.go", 12)]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("::error file=lib/cart.js,line=12,col=7,title=ESLint::No", [("lib/cart.js", 12)]),
        ("::warning line=12,file=lib/cart.js::No", []),
        (
            "/r/lib/cart.js\n  12:7   error    No  no-undef\n  13:1  warning  No\n\n/r/lib/mail.js\n  3:1  error  No\n",
            [("/r/lib/cart.js", 12), ("/r/lib/cart.js", 13), ("/r/lib/mail.js", 3)],
        ),
        (
            "== lib/cart.rb ==\nC: 12:  7: [Correctable] Layout: No\nW:  3:  1: Lint: No\n",
            [("lib/cart.rb", 12), ("lib/cart.rb", 3)],
        ),
        ("at 12:30 it failed\n  12:30  it failed again\n", []),
        ("   bei Shop.Cart.Add(Item x) in C:\\src\\Cart.cs:Zeile 12.", [("C:/src/Cart.cs", 12)]),
        ("   \u00e0 Shop.Cart.Add(Item x) dans C:\\src\\Cart.cs:ligne 12", [("C:/src/Cart.cs", 12)]),
        ("at total (http://localhost:5173/src/cart.ts?t=1712:40:7)", [("5173/src/cart.ts", 40)]),
        ("at total (http://localhost/deps/cart.js?v=1f2a&t=3:40:7)", [("//localhost/deps/cart.js", 40)]),
        ("Error: a\n    at a (a.js:1:2) {\n  [cause]: Error: b\n      at b (b.js:3:4)\n}", [("b.js", 3), ("a.js", 1)]),
        (
            r'{"exc":"Traceback:\n  File \"/srv/a.py\", line 1, in a\n  File \"/srv/b.py\", line 2"}',
            [("/srv/b.py", 2), ("/srv/a.py", 1)],
        ),
        (r'{"stack":"panic: no\n\nmain.a(...)\n\t/srv/a.go:12 +0x1d\n"}', [("/srv/a.go", 12)]),
        (
            r'{"stack":"at Shop.A.B() in C:\\new\\a.cs:line 12\n   at Shop.A.C() in C:\\new\\a.cs:line 3"}',
            [("C:/new/a.cs", 12), ("C:/new/a.cs", 3)],
        ),
        (r"C:\new\test.py:12: in run", [("C:/new/test.py", 12)]),
    ],
)
def test_places_are_read_from_reports_of_linters_and_logs_and_servers(text: str, places: list[tuple[str, int]]) -> None:
    assert [(frame.path, frame.line) for frame in read_frames(text)] == places
    assert [frame[:2] for frame in read_calls(text)] == places


def test_a_place_that_stands_twice_has_the_function_of_either() -> None:
    said = "thread 'main' panicked at src/cart.rs:8:9:\nno\n   3: shop::total\n             at ./src/cart.rs:8:9\n"
    assert read_calls(said) == [TracebackFrame("src/cart.rs", 8, "total")]


@pytest.mark.parametrize(
    "block",
    [
        "a",
        "a.",
        "a.b:1 ",
        "file=a,",
        "a.b?t=",
        "  1:1 \n",
        "\\n  ",
        "a.b\n 1:1 a\n",
        "node_modules/a/",
        "a/b: line ",
        "a.exs:1\nstacktrace:\n",
        'file "',
        "a.b[",
        "$a.",
        "a:",
        "Caused by: \n",
    ],
)
def test_texts_that_are_made_to_be_slow_are_read_in_linear_time(block: str) -> None:
    started = time.process_time()
    read_frames(block * (39_000 // len(block)) + ":1")
    assert time.process_time() - started < 5  # linear: some milliseconds; a pattern that tries each letter: minutes


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("   at Shop.Carts.Cart`1.Add(Func`3 price, Item item)", ("Shop.Carts.Cart", "Add", "Func`3 price, Item item")),
        ("   at Shop.Cart..ctor(String name)", ("Shop.Cart", "", "String name")),
        ("   bei Shop.Cart.Add(Item item)", ("Shop.Cart", "Add", "Item item")),
        ("   at Shop.Cart..cctor()", ("Shop.Cart", "", "")),
        ("   at Shop.Cart+Lines.Sum[T](T one)", ("Shop.Cart.Lines", "Sum", "T one")),
        ("   at Shop.Cart.<>c__DisplayClass4_0`1.<Add>b__1(Item item)", ("Shop.Cart", "Add", "Item item")),
        ("   at Shop.Cart.<>c.<<SaveAsync>b__5_0>d.MoveNext()", ("Shop.Cart", "SaveAsync", "")),
        ("   at Shop.Cart.<SaveAsync>d__5.MoveNext()", ("Shop.Cart", "SaveAsync", "")),
        ("   at Shop.Cart.<Add>g__Check|5_0(Item item)", ("Shop.Cart", "Add", "Item item")),
        ("   at Shop.Cart.<>c.<.ctor>b__0_0()", ("Shop.Cart", "", "")),
        ("  at Shop.Cart.Add (System.String x) [0x00012] in <0f3a>:0 ", ("Shop.Cart", "Add", "System.String x")),
        ("\tat com.acme.Cart.add(Unknown Source)", ("com.acme.Cart", "add", "")),
        ("\tat com.acme.Cart.add(Unknown Source:12)", ("com.acme.Cart", "add", "")),
        ("\tat com.acme.Cart.add(Native Method)", ("com.acme.Cart", "add", "")),
        ("\tat com.acme.Cart$Line.<init>(Cart.java)", ("com.acme.Cart.Line", "", "")),
        ("\tat com.acme.Cart$1.run(Cart.java)", ("com.acme.Cart", "run", "")),
        ("\tat app//com.acme.Cart.lambda$add$0(Cart.java)", ("com.acme.Cart", "add", "")),
    ],
)
def test_a_call_without_a_place_is_read_with_its_class_and_method(line: str, call: tuple[str, str, str]) -> None:
    (found,) = read_calls(line)
    assert isinstance(found, CallFrame)
    assert (".".join(found.owners), found.method, found.parameters) == call
    assert not read_frames(line)


@pytest.mark.parametrize(
    "line",
    [
        "    at Array.map (<anonymous>)",
        "    at Array.map(<anonymous>)",
        "    at new Promise (<anonymous>)",
        "\tat com.acme.Cart$$Lambda$14/0x0000000800066840.run(Unknown Source)",
        "at noon (or later) we met",
        "at total()",
        "see at Shop.Cart.Add(Item item)",
    ],
)
def test_what_has_no_class_of_a_file_is_no_call(line: str) -> None:
    assert read_calls(line) == []


def test_calls_and_places_keep_the_order_of_the_trace() -> None:
    text = "   at Shop.A.B(C c)\n   at Shop.D.E() in C:\\src\\D.cs:line 12\n   at Shop.F.G()\n"
    assert read_calls(text) == [
        CallFrame(("Shop", "A"), "B", "C c"),
        TracebackFrame("C:/src/D.cs", 12, "E"),
        CallFrame(("Shop", "F"), "G", ""),
    ]


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("    #0 0x55a3c1b2 in cart_add (/usr/bin/shop+0x1c1b2)", ("", "cart_add")),
        ("#7  0x0000555555571234 in cart_add ()", ("", "cart_add")),
        ("#7  0x0000555555571234 in shop::Cart<int>::add(int, char const*) ()", ("shop.Cart", "add")),
        ("[ 3318.497320] RIP: 0010:cart_add+0x4f/0x120 [shop]", ("", "cart_add")),
        ("[ 3318.497336]  ? cart_add+0x2c/0x80 [shop]", ("", "cart_add")),
        ("3  Shop    0x101b472b8 Carts.Cart.add(item:to:) + 1120", ("Carts.Cart", "add")),
        ("3  Shop    0x101b472b8 closure #1 in specialized Cart.add(item:to:) + 12", ("Cart", "add")),
        ("3   Shop Kit.debug  0x0000000101b472b8 x", None),
        ("1  Shop    0x1fb2eb954 -[CartLine add:to:] + 72", ("CartLine", "add")),
        ("#0  0x00007f77174ddd5f cart_add (libshop.so.1 + 0x1cd5f)", ("", "cart_add")),
        ("  * frame #0: 0x0000000100003f50 shop`cart_add + 24", ("", "cart_add")),
        ("    frame #1: 0x0000000100003f50 shop`shop::Cart::add(int) + 24", ("shop.Cart", "add")),
        ("==4242==    at 0x10A2B4: cart_add (in /usr/bin/shop)", ("", "cart_add")),
        ("==4242==    by 0x10A2B4: Cart::add(int) (in /usr/bin/shop)", ("Cart", "add")),
        ("F DEBUG   :       #00 pc 000000000001c1b2  /data/app/lib/arm64/libshop.so (cart_add+68)", ("", "cart_add")),
        ("/usr/lib/libshop.so.1(cart_add+0x4f)[0x7f2c]", ("", "cart_add")),
        (" 2: 0xa1b70e cart_add [node]", ("", "cart_add")),
        ("#2  0x00007f7717400000 __libc_start_main (libc.so.6 + 0x24083)", None),
        ("    frame #2: 0x00007fff2035 libsystem_c.dylib`abort_message + 1", None),
        ("   4: shop::carts::Cart::add", ("shop.carts.Cart", "add")),
        ("   4: <shop::carts::Cart as shop::Adds>::add::{{closure}}", ("shop.carts.Cart", "add")),
        ("   2:     0x55d0b4da1f10 - shop::carts::add::h8f2c5b4f1d3d2d0a", ("shop.carts", "add")),
        ("3  Shop  \t0x101b472b8 $s4Shop5CartsO4CartC3add4item2toySi_tF + 1120", ("Carts.Cart", "add")),
        ("3\tShop\t0x101b472b8\t_TFC4Shop4Cart3addfTSi2toSi_T_ + 1120", ("Cart", "add")),
        ("    #0 0x55a3c1b2 in _ZNK4shop4Cart3addEi (/usr/bin/shop+0x1c1b2)", ("shop.Cart", "add")),
        ("   2:     0x55d0b4da1f10 - _ZN4shop5carts3add17h8f2c5b4f1d3d2d0aE", ("shop.carts", "add")),
        ("3  Shop  \t0x101b472b8 $s4Shop0A7WrapperV + 1120", None),
        ("github.com/acme/shop/carts.(*Cart).Add(...)", ("carts.Cart", "Add")),
        ("created by github.com/acme/shop/carts.Run in goroutine 7", ("carts", "Run")),
        ("    #3 0x7f2b1 in __libc_start_main (/lib/x86_64-linux-gnu/libc.so.6+0x29d8f)", None),
        ("#9  0x0000555555560000 in main ()", None),
        ("   2: core::panicking::panic_fmt", None),
        ("5  libdispatch.dylib   0x1fa8346c8 _dispatch_call_block_and_release + 24", None),
        ("#3 [internal function]: add()", None),
        ("#12 is about this (and that)", None),
        ("#12 cart_add (thanks to ann)", None),
        ("see example.com/carts.Add", None),
    ],
)
def test_a_call_of_native_code_without_a_place_is_read_with_what_it_is_in(
    line: str, call: tuple[str, str] | None
) -> None:
    found = [(".".join(one.owners), one.method) for one in read_calls(line) if isinstance(one, CallFrame)]
    assert found == ([call] if call else [])


def test_a_call_of_native_code_is_not_read_twice_where_its_place_is_in_the_next_line() -> None:
    for text in (
        "   4: shop::add\n          at ./src/cart.rs:7:5\n",
        "acme.com/shop.Add(0x1)\n\t/src/cart.go:7 +0x1\n",
    ):
        assert [type(one) for one in read_calls(text)] == [TracebackFrame]


@pytest.mark.parametrize(
    "block",
    [
        "a",
        "a.",
        "<",
        "<a",
        "$a",
        "#1 a",
        "1 a 0x1 ",
        "a::",
        "<a>",
        "a/",
        " in ",
        "::{{",
        "[",
        "`1",
        "at a.b(",
        "at ",
        "a.b(c)\n at ",
        "/",
    ],
)
def test_calls_of_texts_that_are_made_to_be_slow_are_read_in_linear_time(block: str) -> None:
    started = time.process_time()
    read_calls("at " + block * (39_000 // len(block)))
    read_calls("\n".join(["at " + (block * 400)[:299] + "("] * 130))
    assert time.process_time() - started < 5  # linear: some milliseconds; a pattern that tries each letter: minutes


@pytest.mark.parametrize("end", ["", " "])
def test_a_place_of_pytest_is_one_with_and_without_the_space_behind_it(end: str) -> None:
    said = f"tests/test_cart.py:60:{end}\n_ _ _\nsrc/cart.py:12: in total\n    run()\nE   No\n"
    assert [frame.line for frame in read_frames(said)] == [12, 60]


def test_of_exunit_the_place_of_the_test_comes_behind_its_trace() -> None:
    said = (
        "  1) test totals (CartTest)\n     test/cart_test.exs:20\n     ** (ArgumentError) no cart\n     stacktrace:\n"
        "       (shop 0.1.0) lib/cart.ex:12: Cart.total/1\n       test/cart_test.exs:22: (test)\n"
    )
    assert [frame.line for frame in read_frames(said)] == [12, 22, 20]


def test_a_script_without_an_ending_is_a_place_as_shells_write_it() -> None:
    assert read_frames("./libexec/shop-run: line 12: CART: unbound variable") == [
        TracebackFrame("./libexec/shop-run", 12)
    ]
    assert not read_frames("and/or: line 12 is wrong")


def test_a_repeated_frame_is_read_once_and_one_with_other_lines_around_it_again() -> None:
    frame = "   4: shop::total\n             at ./src/cart.rs:7:5\n"
    assert read_calls(frame * 3) == [TracebackFrame("./src/cart.rs", 7, "total")]
    other = "    at total (cart.js:7:5)\n    at cart.js:9:1\n"
    assert read_calls(f"    at cart.js:9:1\n{other}") == [
        TracebackFrame("cart.js", 9),
        TracebackFrame("cart.js", 7, "total"),
    ]


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("10:15:23 INFO 3 of 7 done in src/net.rs:8:14", [("src/net.rs", 8)]),
        ("at run.sh: line 3: oh, in a/b.py:4", [("run.sh", 3), ("a/b.py", 4)]),
        ("  bin/run: line 3: oh", [("bin/run", 3)]),
        ("a.py:1 and b.py:2", [("a.py", 1), ("b.py", 2)]),
        ("in\xa0C:\\src\\Net.cs:line 12", [("C:/src/Net.cs", 12)]),
        ("10:15:23 0.5:1 v1.2:x", []),
    ],
)
def test_places_are_found_wherever_they_stand_in_a_line(line: str, places: list[tuple[str, int]]) -> None:
    assert sorted((frame.path, frame.line) for frame in read_calls(line)) == sorted(places)  # type: ignore[union-attr] # none is a call


def test_a_call_that_a_debugger_shows_without_a_place_is_read() -> None:
    assert read_calls("Shop.dll!Shop.Carts.Cart.Sum(int most) Line 12\tC#\n") == [
        CallFrame(("Shop", "Carts", "Cart"), "Sum", "int most")
    ]
    shown = read_calls("Shop.dll!Shop.Carts.Cart.Sum(int most) \u884c 12 (Cart.cs:12)\n")
    assert shown == [TracebackFrame("Cart.cs", 12, "Sum")]
