"""What the command line understands and prints, beside what it finds, in this process."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn import Workspace
from cairn.cli.main import main

Cairn = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed project with files at the top and in two folders."""
    root = tmp_path_factory.mktemp("lines") / "shop"
    for name, text in (
        (
            "src/cart.py",
            "def total(items):\n    return sum(items)  # in cents\n\n\ndef clear(items):\n    del items[:]\n",
        ),
        ("src/tax.py", "from cart import total\n\n\ndef tax(items):\n    return total(items) // 5  # in cents\n"),
        ("web/cart.ts", "export function total(items: number[]) {\n  return items.length // in cents\n}\n"),
        ("notes.txt", "".join(f"{number} in cents\n" for number in range(30))),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with Workspace.open(root) as workspace:
        workspace.index()
    return root


@pytest.fixture
def cairn(shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cairn:
    monkeypatch.chdir(shop)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["--no-daemon", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["sessions", "--file", "LONG"], 1),
        (["memories", "--file", "LONG"], 1),
        (["flow", "LONG:3"], 2),
        (["slice", "LONG:3"], 2),
        (["core", "add", "LONG"], 1),
        (["remember", "Prices carry tax.", "--file", "LONG"], 2),
        (["remember", "@LONG and more"], 0),
    ],
)
def test_a_name_that_is_too_long_for_a_file_is_of_no_file(cairn: Cairn, arguments: list[str], code: int) -> None:
    found, _, errors = cairn(*(text.replace("LONG", "x" * 300) for text in arguments))
    assert "internal" not in errors
    assert found == code


def test_where_there_is_no_file_no_other_search_is_advised(
    cairn: Cairn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cairn("search", "total") == (1, "", "Nothing relevant for 'total' in 0 files.\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tests"], "cairn tests --diff HEAD"),
        (["impact"], "cairn impact --diff HEAD"),
        (["fetch", "src/cart.py"], "cairn outline src/cart.py"),
    ],
)
def test_what_is_missing_is_told_with_a_command_that_has_it(cairn: Cairn, arguments: list[str], told: str) -> None:
    _, out, err = cairn(*arguments)
    assert out == ""
    assert err.splitlines()[-1].endswith(told)


def test_a_map_without_room_does_not_say_that_nothing_is_indexed(cairn: Cairn) -> None:
    code, _, err = cairn("map", "--max-tokens", "1")
    assert (code, err.splitlines()[0]) == (1, "Nothing fits into 1 tokens.")


def test_words_without_quotes_find_what_one_text_finds(cairn: Cairn) -> None:
    first = json.loads(cairn("--json", "search", "total of the items")[1])
    second = json.loads(cairn("search", "total", "of", "--json", "the", "items")[1])
    assert (first["query"], first["code"]) == (second["query"], second["code"])


def test_a_search_looks_below_where_one_stands(cairn: Cairn, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*arguments: str) -> set[str]:
        document = json.loads(cairn("search", "total", *arguments, "--json")[1])
        return {hit["filepath"].partition("/")[0] for hit in document["code"]}

    assert found("--in", ".") >= {"src", "web"}
    monkeypatch.chdir(shop / "web")
    assert found("--in", ".") == {"web"}
    assert found("--in", "../src") == {"src"}
    assert "web" not in found("--in", "!.")


def test_files_are_named_from_where_one_stands(cairn: Cairn, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop / "src")
    whole = cairn("fetch", "src/cart.py#total")[1]
    assert whole.startswith("src/cart.py:1  function total")
    assert cairn("fetch", "cart.py#total")[1] == whole
    assert cairn("callers", "cart.py:total")[1].startswith("tax.py:5")
    assert cairn("-C", str(shop / "src"), "fetch", "cart.py#total")[1] == whole


def test_files_and_counts_of_an_exact_search_are_complete(
    cairn: Cairn, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = cairn("search", "in cents", "--mode", "literal", "-l")
    assert (code, sorted(out.split()), err) == (0, ["notes.txt", "src/cart.py", "src/tax.py", "web/cart.ts"], "")
    counts = cairn("search", "in cents", "--mode", "literal", "-c")[1].split()
    assert {"src/cart.py:1", "src/tax.py:1", "web/cart.ts:1"} < set(counts)
    monkeypatch.chdir(shop / "src")
    assert "../web/cart.ts" in cairn("search", "in cents", "--mode", "literal", "-l")[1].split()


def test_each_hit_can_be_one_line(cairn: Cairn) -> None:
    assert cairn("search", "clear", "-n", "1", "--oneline")[1] == "src/cart.py:5:def clear(items):\n"


def test_the_json_of_a_search_is_the_same_in_every_form(cairn: Cairn) -> None:
    plain, files = (
        json.loads(cairn("search", "clear", "--mode", "symbol", "--json", *form)[1]) for form in ([], ["-l"])
    )
    assert plain | {"took_ms": 0} == files | {"took_ms": 0}


def test_ids_come_from_stdin(cairn: Cairn, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(sent: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent.encode())))
        return cairn("fetch", "-")

    code, out, _ = fetch("src/cart.py#total\n\nsrc/tax.py#tax\n")
    assert (code, "function total" in out, "function tax" in out) == (0, True, True)
    code, out, err = fetch("\n")
    assert (code, out, err.splitlines()[0]) == (2, "", "error[query]: stdin names no ids")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["zzqx", "--lang", "py", "--in", "src"],
            "Nothing relevant for 'zzqx' in 4 files, with --lang py --in src.\nTry it without these filters.\n",
        ),
        (["zzqx", "--mode", "literal"], "Try a search by meaning: --mode hybrid.\n"),
        (
            ["zzqx", "wwkk"],
            "Try other words, a name from the code, or exact text between quotes: cairn search '\"TEXT\"'.\n",
        ),
    ],
)
def test_an_empty_answer_says_what_was_searched_and_what_to_try(cairn: Cairn, arguments: list[str], told: str) -> None:
    code, out, err = cairn("search", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("Nothing relevant for 'zzqx")
    assert " in 4 files" in err
    assert err.endswith(told)


def test_colour_is_given_and_taken_by_an_option(cairn: Cairn) -> None:
    assert "\x1b[" in cairn("search", "clear", "--color", "always")[1]
    assert "\x1b[" not in cairn("search", "clear")[1]
    assert "\x1b[" not in cairn("--color", "never", "search", "clear")[1]
    assert "\x1b]8" not in cairn("search", "clear", "--color=always")[1]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["search", "x", "--json", "--limit", "abc"], "must be a whole number", "cairn search --help"),
        (["--json", "serch", "x"], "unknown command 'serch'", "cairn --help"),
        (["config", "--json"], "ACTION", "cairn config --help"),
        (["memories", "--json", "--type", "foo"], "not 'foo'", "cairn memories --help"),
        (["search", "x", "--json", "--lmit"], "unknown option '--lmit'", "cairn search --help"),
    ],
)
def test_a_wrong_command_line_is_a_json_document_if_one_is_asked_for(
    arguments: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    shown = capsys.readouterr()
    error = json.loads(shown.out)["error"]
    assert (end.value.code, error["code"], error["hint"]) == (2, "request", hint)
    assert message in error["message"]
    assert shown.err == f"error: {error['message']}\n  try: {hint}\n"


def test_a_wrong_command_line_prints_no_document_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["search", "--lmit", "--", "--json"])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("arguments", [["help", "core", "add"], ["core", "add", "--help"]])
def test_help_is_a_json_document_if_one_is_asked_for(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for in_front, behind in ([], []), (["--json"], []), ([], ["--json"]):
        with pytest.raises(SystemExit) as end:
            main([*in_front, *arguments[:-1], *behind, arguments[-1]])
        assert end.value.code == 0
        shown.append(capsys.readouterr().out)
    text, *documents = shown
    assert [json.loads(document) for document in documents] == 2 * [{"command": "cairn core add", "text": text}]


def test_the_help_of_a_command_is_that_of_its_option(cairn: Cairn, capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for arguments in (["help", "core", "add"], ["core", "add", "--help"]):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert "usage: cairn core add " in shown[0]
