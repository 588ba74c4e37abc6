from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.errors import NotFoundError, QueryError
from cairn.mcp.text import search_text
from cairn.operations.search import merge_searches
from cairn.protocol.documents import answer_to_dict
from cairn.protocol.requests import SearchRequest
from cairn.search.answer import respond
from cairn.search.exact_answer import Effort
from cairn.search.query import understand
from cairn.types import Mode
from cairn.workspace import Workspace
from small_projects import write_files

SOURCE = Path(__file__).parents[2] / "src"
RAW_NAME = os.fsdecode(b"caf\xe9.py")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A copy of this project's own source, indexed."""
    root = tmp_path_factory.mktemp("own")
    shutil.copytree(SOURCE / "cairn", root / "cairn", ignore=shutil.ignore_patterns("__pycache__", "data", "texts"))
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Workspace]:
    """A small project in several languages, with odd names."""
    files = {
        "store.py": 'class Store:\n    """Keeps records."""\n\n'
        "    def load(self, key):\n        return self.rows[key]\n\n\n"
        "class Cache(Store):\n    def load(self, key):\n        return self.cached.get(key)\n\n\n"
        "def load_all(store):\n    return [store.load(key) for key in store.rows]\n",
        "use.py": "from store import Store\n\n\ndef main():\n    store = Store()\n"
        "    store.load('x')\n    store.load('y')\n",
        "tests/test_store.py": "from store import Store\n\n\ndef test_store_loads():\n    assert Store().load('x')\n",
        "web/view.ts": "export class View {\n  load(key: string) {\n    return fetch(key);\n  }\n}\n",
        "docs/guide.md": "# Loading\n\nHow records are loaded from the store.\n",
        "naïve name.py": "def größe(wert):\n    return 'ümlaut' + wert\n",
        "line\nbreak.py": "def broken_name():\n    return 1\n",
        RAW_NAME: "def raw_name():\n    return 2\n",
        "latin.py": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "latin.py").write_bytes("def latin():\n    return 'Caf\xe9'\n".encode("latin-1"))
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


def lines_that_match(workspace: Workspace, pattern: str) -> set[tuple[str, int]]:
    found = set()
    for file in workspace.root.rglob("*"):
        # Neither minified code nor what was compiled is indexed.
        if file.is_file() and ".cairn" not in file.parts and ".min." not in file.name and file.suffix != ".so":
            for number, line in enumerate(file.read_text().split("\n"), 1):
                if re.search(pattern, line):
                    found.add((file.relative_to(workspace.root).as_posix(), number))
    return found


# -- exact search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["self", "Raises:", "def ", "import numpy as np", "  return", "é", "(", "\\", "no such text"]
)
def test_a_literal_search_finds_every_line_that_holds_the_text(own: Workspace, text: str) -> None:
    answer = own.search(text, mode="literal", limit=0)
    assert {(hit.path, hit.start_line) for hit in answer.code} == lines_that_match(own, re.escape(text))
    assert answer.omitted == 0


@pytest.mark.parametrize(
    "pattern", [r"^class \w+", r"\bdef _\w+\(", r"[A-Z_]{8,} =", r"# .*$", r"(?i)STORE", r"x{3}", "^$"]
)
def test_a_regex_search_finds_every_line_that_matches(own: Workspace, pattern: str) -> None:
    answer = own.search(pattern, mode="regex", limit=0)
    covered = {(hit.path, line) for hit in answer.code for line in range(hit.start_line, hit.end_line + 1)}
    wanted = lines_that_match(own, pattern)
    if pattern == "^$":  # what stands behind the last line feed is no line
        wanted = {(path, line) for path, line in wanted if line <= (own.root / path).read_text().count("\n")}
    assert covered == wanted


def test_more_matches_than_the_limit_are_counted(own: Workspace) -> None:
    everything = own.search("self", mode="literal", limit=0)
    answer = own.search("self", mode="literal", limit=5)
    assert len(answer.code) == 5
    assert answer.omitted == len(everything.code) - 5
    assert answer.code == everything.code[:5]


def test_a_kind_restricts_an_exact_search_before_the_limit_does(own: Workspace) -> None:
    everything = own.search("self", mode="literal", limit=0)
    wanted = [hit.id for hit in everything.code if hit.kind == "method"]
    answer = own.search("self", mode="literal", kinds=["method"], limit=3)
    assert [hit.id for hit in answer.code] == wanted[:3]
    assert answer.omitted == len(wanted) - 3


def test_a_matching_line_is_named_after_the_definition_around_it(small: Workspace) -> None:
    (hit,) = small.search("self.cached", mode="literal").code
    assert (hit.path, hit.start_line, hit.kind, hit.name) == ("store.py", 10, "method", "load")


@pytest.mark.parametrize(("query", "mode"), [("load(", "literal"), ("lo+ad", "regex"), ("load($A)", "structural")])
def test_an_exact_search_that_runs_out_of_time_says_what_it_did_not_look_at(
    small: Workspace, query: str, mode: Mode
) -> None:
    request = SearchRequest(query=query, mode=mode)
    with small._index.reading(small._index.views.checkout, None) as library:
        answer = respond(library, understand(query, mode), request, effort=Effort(seconds=-1.0))
    assert (answer.code, answer.searched) == ((), 0)
    assert "The time was up after 0 of " in answer.notes[0]
    document = answer_to_dict(answer)
    assert document["searched"] == 0
    assert "in the 0 files looked at." in search_text(document)
    merged = merge_searches([("small", document)], SearchRequest(query=query))
    assert merged["searched"] == 0


def test_a_guessed_search_that_runs_out_of_time_does_not_say_that_no_line_matches(small: Workspace) -> None:
    with small._index.reading(small._index.views.checkout, None) as library:
        answer = respond(library, understand("lo.*ad"), SearchRequest(query="lo.*ad"), effort=Effort(seconds=-1.0))
    assert answer.searched == 0
    assert "No line of the 0 files looked at matches 'lo.*ad' exactly." in answer.notes


def test_an_exact_search_reads_only_files_that_hold_some_words(small: Workspace) -> None:
    request = SearchRequest(query="def", mode="literal", limit=0)
    with small._index.reading(small._index.views.checkout, None) as library:
        every, few, none = (
            {
                hit.path
                for hit in respond(library, understand("def", "literal"), request, effort=Effort(words=words)).code
            }
            for words in ((), ("cached",), ("cached", "nowhere"))
        )
    assert few == {"store.py"}
    assert few < every
    assert not none


def test_all_matches_are_counted_though_few_are_kept(small: Workspace) -> None:
    every = small.search(".", mode="regex", limit=0)
    few = small.search(".", mode="regex", limit=3)
    assert few.code == every.code[:3]
    assert few.omitted == len(every.code) - 3


def test_an_exact_search_is_guessed_and_falls_back_to_ranking_with_a_note(small: Workspace) -> None:
    assert small.search("store.load('x')").mode == "literal"
    answer = small.search('"loads the records of a store"')
    assert answer.mode == "hybrid"
    assert answer.notes
    assert answer.code
    assert small.search('"loads the records of a store"', mode="literal").code == ()


@pytest.mark.parametrize("pattern", [r"(\w+)\.\1", r"load(?=_all)", r"(?<=store\.)load"])
def test_a_guessed_pattern_that_cannot_be_run_is_not_said_to_match_nothing(small: Workspace, pattern: str) -> None:
    notes = [str(note) for note in small.search(pattern).notes]
    assert notes[0].startswith("Not searched as a regular expression: ")
    assert not any(note.startswith("No line matches") for note in notes)


def test_quoted_text_is_found_where_the_index_does_not_know_it_yet(small: Workspace) -> None:
    with (small.root / "use.py").open("a") as file:
        file.write("# zebra crossing now\n")
    assert [hit.start_line for hit in small.search('"zebra crossing now"').code] == [8]


def test_white_space_is_a_text_too(small: Workspace) -> None:
    assert small.search("    ", mode="literal").code


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "*a"])
def test_an_invalid_pattern_is_an_error_and_no_empty_answer(small: Workspace, pattern: str) -> None:
    with pytest.raises(QueryError, match="invalid regular expression"):
        small.search(pattern, mode="regex")


CATASTROPHE = """
import sys, cairn
with cairn.Workspace.open(sys.argv[1]) as workspace:
    workspace.index()
    print(len(workspace.search("(a+)+$", mode="regex").code), len(workspace.search("(x+x+)+y", mode="regex").code))
"""


def test_a_catastrophic_pattern_on_a_long_line_is_answered(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("a" * 100_000 + "!\n" + "x" * 100_000 + "\n")
    done = subprocess.run(
        [sys.executable, "-c", CATASTROPHE, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["0", "0"], done.stderr


def test_ten_megabytes_on_one_line_are_indexed_and_searched(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("needle " + "hay " * 2_500_000 + "haystack's end")
    with Workspace.open(tmp_path, settings=Settings(max_file_bytes=20_000_000)) as workspace:
        assert workspace.index().files == 1
        (hit,) = workspace.search("haystack's end", mode="literal").code
        assert hit.start_line == 1
        assert len(hit.preview) < 1_000


def test_nul_bytes_beyond_the_beginning_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_bytes(b"# words\n" * 1_100 + b"def odd_one():\n    return 'a\0b'\n")
    with Workspace.open(tmp_path) as workspace:
        assert workspace.index().files == 1
        assert workspace.search("odd_one").code[0].name == "odd_one"
        assert workspace.search("a\0b", mode="literal").code


# -- symbols ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("Store", "store.py", 1),
        ("Store.load", "store.py", 4),
        ("Cache.load", "store.py", 9),
        ("View.load", "web/view.ts", 2),
        ("load_all", "store.py", 13),
        ("load_all()", "store.py", 13),
        ("test_store_loads", "tests/test_store.py", 4),
        ("größe", "naïve name.py", 1),
    ],
)
def test_a_name_gives_its_definition_first(small: Workspace, query: str, path: str, line: int) -> None:
    best = small.search(query).code[0]
    assert (best.path, best.start_line) == (path, line)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Store and Cache", ["Store", "Cache"]),
        ("Cache, load_all", ["Cache", "load_all"]),
        ("loadAll", ["load_all"]),
        ("load all", ["load_all"]),
        ("broken-name", ["broken_name"]),
        ("the Cache class", ["Cache"]),
        ("load method of Cache", ["Cache.load"]),
        ("store.py#Cache.load", ["Cache.load"]),
        ("load in web/view.ts", ["View.load"]),
        ("Cache(rows, limit)", ["Cache"]),
    ],
)
def test_names_are_found_however_they_are_asked_for(small: Workspace, query: str, first: list[str]) -> None:
    assert [hit.qualified_name for hit in small.search(query).code][: len(first)] == first


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("StoreManager", "The index has no definition called 'StoreManager'"),
        ("where is StoreKeeper defined", "The index has no definition called 'StoreKeeper'"),
        ("load_alll", "The index has no definition called 'load_alll'; like it are load_all"),
        ("Store.bogus", "The index has no definition called 'bogus'"),
        ("Cache.load_all", "No 'load_all' is defined in Cache; these are elsewhere."),
    ],
)
def test_what_nothing_is_called_is_said_and_is_never_sure(small: Workspace, query: str, note: str) -> None:
    answer = small.search(query)
    assert any(str(one).startswith(note) for one in answer.notes)
    assert all(hit.confidence != "high" for hit in answer.code)


@pytest.mark.parametrize("query", ["load_alll", "laod_all", "where is load_alll defined"])
def test_the_definitions_that_a_misspelt_name_means_come_first(small: Workspace, query: str) -> None:
    answer = small.search(query)
    assert (answer.code[0].name, answer.code[0].confidence) == ("load_all", "medium")
    relevances = [hit.relevance for hit in answer.code]
    assert relevances == sorted(relevances, reverse=True)
    assert len({hit.id for hit in answer.code}) == len(answer.code)


def test_what_a_filter_may_have_left_out_is_not_said_to_be_missing(small: Workspace) -> None:
    for query in ("Store.load", "View.render", "StoreManager"):
        assert not [note for note in small.search(query, globs=["use.py"]).notes if "defin" in str(note)]


def test_a_constant_of_an_enum_is_found_where_it_stands(tmp_path: Path) -> None:
    write_files(tmp_path, {"color.ts": "export enum Color {\n  DeepRed,\n  PaleBlue,\n}\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for query in ("PaleBlue", "where is PaleBlue defined"):
            hit = workspace.search(query).code[0]
            assert (hit.path, hit.start_line, hit.match) == ("color.ts", 3, "exact")
        assert workspace.search("Color.PaleBlue").code[0].confidence == "high"
        bogus = workspace.search("Color.Bogus")
        assert all(hit.confidence != "high" for hit in bogus.code)
        assert "The index has no definition called 'Bogus'." in bogus.notes


def test_a_function_comes_before_one_of_its_own_name_inside_it(tmp_path: Path) -> None:
    text = (
        "export const cors = (options: Options) => {\n  return async function cors(c: Context) {\n    await c.next()\n"
    )
    write_files(tmp_path, {"cors.ts": f"{text}  }}\n}}\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for query in ("cors", "where is cors", "where is cors defined"):
            assert workspace.search(query).code[0].qualified_name == "cors"


def test_a_method_of_a_variable_is_not_hidden_by_a_test_that_has_the_variable(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"src/server.ts": "export class Server {\n  route(path: string) {\n    return path\n  }\n}\n"}
    )
    write_files(tmp_path, {"tests/server.test.ts": "export const app = new Server()\n\napp.route('/')\n"})
    write_files(tmp_path, {"samples.ts": "export const shop = new Server()\n\nweb.shop.route('/')\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for query in ("app.route", "what does app.route do", "web.shop.route"):
            hit = workspace.search(query).code[0]
            assert (hit.qualified_name, hit.confidence) == ("Server.route", "medium")


def test_code_that_says_a_key_comes_before_comments_that_do(tmp_path: Path) -> None:
    write_files(tmp_path, {"a_cart.py": "# Sells what cart-of-shop holds.\ndef sell():\n    return 1\n"})
    write_files(tmp_path, {"b_cart.py": "def register():\n    add('cart-of-shop')\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert [hit.path for hit in workspace.search("cart-of-shop").code[:2]] == ["b_cart.py", "a_cart.py"]


def test_a_log_in_json_is_said_to_be_missing_only_where_its_message_is(tmp_path: Path) -> None:
    write_files(tmp_path, {"cart.py": "def sell():\n    log('the cart was sold at once')\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        found = workspace.search('{"level":"info","ts":1.5,"msg":"the cart was sold at once"}')
        assert found.code[0].start_line == 2
        assert [note for note in map(str, found.notes) if "No line" in note] == []
        missing = workspace.search('{"level":"info","ts":1.5,"msg":"all of it is gone"}')
        assert [note for note in map(str, missing.notes) if "No line" in note]


def test_a_kind_is_told_from_a_name_in_lower_case(tmp_path: Path) -> None:
    write_files(tmp_path, {"plugin.ts": "export interface Plugin {\n  name: string\n}\n"})
    write_files(tmp_path, {"use.ts": "export const plugin = make()\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search("where is the plugin interface").code[0].name == "Plugin"
        assert workspace.search("where is the plugin constant").code[0].name == "plugin"
        assert workspace.search("where is the plugin class").code[0].name == "Plugin"


def test_a_file_is_found_by_its_name_without_the_ending(tmp_path: Path) -> None:
    files = {"src/write_log.py": "import os\n", "src/use.py": "import write_log\n\nwrite_log.start()\n"}
    write_files(tmp_path, {**files, "build.config.js": "export default {};\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search("write_log").code[0].path == "src/write_log.py"
        assert workspace.search("build.config").code[0].path == "build.config.js"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("src/store.py", "store.py"),
        ("web/vew.ts", "web/view.ts"),
        ("web/view.js", "web/view.ts"),
        ("vieww.ts", "web/view.ts"),
        ("where is web/pages/view.ts", "web/view.ts"),
    ],
)
def test_a_file_like_a_path_that_none_has_comes_first_and_a_note_says_so(
    small: Workspace, query: str, path: str
) -> None:
    answer = small.search(query)
    assert (answer.code[0].path, answer.code[0].confidence) == (path, "medium")
    assert f"No file {query.split()[-1]} is indexed; what comes first is like it." in answer.notes


def test_a_path_that_no_file_is_like_is_said_to_be_missing(small: Workspace) -> None:
    assert "No file web/router/matching.ts is indexed." in small.search("web/router/matching.ts").notes
    for query in ("/other/machine/web/view.ts", "web/view.ts", "https://example.com/web/view.ts"):
        assert not [note for note in small.search(query).notes if "No file" in str(note)]
    assert small.search("/other/machine/web/view.ts").code[0].confidence == "high"


def test_a_method_says_what_class_it_is_of(small: Workspace) -> None:
    answer = small.search("load", mode="symbol", limit=20)
    assert {"Store.load", "Cache.load", "View.load"} <= {hit.qualified_name for hit in answer.code}
    rows = {row["filepath"]: row for row in answer_to_dict(small.search("load_all", mode="symbol", limit=1))["code"]}
    assert "qualified_name" not in rows["store.py"]
    assert answer_to_dict(answer)["code"][0]["qualified_name"].endswith(".load")


@pytest.mark.parametrize(
    ("query", "name"),
    [("Workspace", "Workspace"), ("chunk_file", "chunk_file"), ("StateDir.set_aside", "set_aside"), ("top_k", None)],
)
def test_names_in_a_larger_project(own: Workspace, query: str, name: str | None) -> None:
    answer = own.search(query)
    if name is None:
        assert all(hit.name != query for hit in answer.code)
    else:
        assert answer.code[0].name == name


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("total of a cart", "cart_total"),
        ("where are taxes added", "cart_total"),
        ("what discount is there", "discount_of"),
        ("the price", "discount_of"),
    ],
)
def test_of_small_definitions_that_share_a_chunk_the_one_that_is_asked_for_is_shown(
    tmp_path: Path, query: str, name: str
) -> None:
    (tmp_path / "shop.py").write_text(
        "def discount_of(price, rate):\n    less = round(price * rate)\n    return price - less\n\n\n"
        "def cart_total(prices, taxes):\n    return sum(prices) + taxes\n"
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        hits = workspace.code.search(SearchRequest(query=query)).code
    assert [hit.name for hit in hits] == [name]


def test_a_class_ranks_above_the_methods_of_other_classes_that_mention_it(own: Workspace) -> None:
    assert own.search("Snapshot").code[0].kind == "class"


# -- ranked search ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "hybrid", "symbol", "semantic"])
def test_every_mode_answers(small: Workspace, mode: Mode) -> None:
    answer = small.search("load", mode=mode)
    assert answer.code
    assert answer.mode == ("symbol" if mode == "auto" else mode)


def test_tests_are_found_when_asked_for(small: Workspace) -> None:
    assert small.search("how is a record loaded from the store").code[0].path != "tests/test_store.py"
    assert small.search("test that the store loads").code[0].path == "tests/test_store.py"


def test_documentation_is_found_when_asked_for(small: Workspace) -> None:
    assert small.search("guide to loading records").code[0].path == "docs/guide.md"


@pytest.mark.parametrize("query", ["zqxjkv wvutzq", "xylophone_quantum_banana_qq", "%%%%"])
def test_nothing_relevant_gives_an_empty_answer(small: Workspace, query: str) -> None:
    assert small.search(query).code == ()


@pytest.mark.parametrize(
    "query",
    [
        "почему команда никогда не показывает значение user_visible_rows на экране",
        "¿por qué la pantalla nunca muestra el valor de user_visible_rows?",
        "为什么屏幕上没有显示行数。\n请检查 user_visible_rows 的处理。",
    ],
)
def test_a_name_of_the_code_is_found_in_a_text_of_any_language(small: Workspace, query: str) -> None:
    (small.root / "table.py").write_text("def draw(user_visible_rows):\n    return user_visible_rows + 1\n")
    small.index()
    assert small.search(query).code[0].path == "table.py"
    assert small.search(query.replace("user_visible_rows", "xylophone_quantum_qq")).code == ()


KEYS = {
    "store.py": "class Path:\n    def timeout(self):\n        return 1\n\n    def close(self):\n        return 2\n",
    "settings.py": 'def read(settings):\n    return settings.get("http.server.timeout", 3)\n',
    "app.properties": "http.server.timeout = 5\n",
    "use.py": "def use(server):\n    server.close()\n",
}


@pytest.mark.parametrize(
    ("name", "path"),
    [("http.server.timeout", "app.properties"), ("server.timeout", "settings.py"), ("server.close", "store.py")],
)
def test_a_dotted_key_leads_to_lines_with_it_and_a_method_to_its_definition(
    tmp_path: Path, name: str, path: str
) -> None:
    write_files(tmp_path, KEYS)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search(name).code[0].path == path


def test_an_answer_says_what_it_stands_on(small: Workspace) -> None:
    answer = small.search("load")
    assert (answer.coverage.indexed, answer.coverage.pending) == (9, 0)
    assert answer.generation > 0
    assert answer.branch == ""
    assert answer.total_tokens_available == sum(hit.tokens for hit in answer.code)


def test_equal_searches_give_equal_answers(own: Workspace) -> None:
    first, second = (replace(own.search("how are segments merged"), took_ms=0) for _ in range(2))
    assert first == second


# -- filters ----------------------------------------------------------------------------------------------------------


def test_filters_by_kind_language_and_path(small: Workspace) -> None:
    assert {hit.kind for hit in small.search("load", kinds=["method"], limit=50).code} == {"method"}
    assert {hit.language for hit in small.search("load", languages=["typescript"], limit=50).code} == {"typescript"}
    assert {hit.path for hit in small.search("load", globs=["*.py", "!tests"], limit=50).code} <= {
        "store.py", "use.py", "latin.py", "naïve name.py", "line\nbreak.py", RAW_NAME,
    }  # fmt: skip
    assert {hit.path for hit in small.search("store", mode="literal", globs=["use.py"], limit=0).code} == {"use.py"}


def test_filters_that_nothing_passes_give_an_empty_answer(small: Workspace) -> None:
    for options in ({"kinds": ["macro"]}, {"languages": ["haskell"]}, {"globs": ["nowhere/*"]}):
        assert small.search("load", **options).code == ()  # type: ignore[arg-type] # any filter
        assert small.search("load", mode="literal", **options).code == ()  # type: ignore[arg-type] # any filter


# -- budget and disclosure --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "literal"])
def test_an_answer_keeps_within_its_budget_and_counts_what_it_leaves_out(own: Workspace, mode: Mode) -> None:
    everything = own.search("segment", mode=mode, limit=20)
    for budget in (0, 1, 150, 600, 100_000):
        answer = own.search("segment", mode=mode, limit=20, max_tokens=budget)
        assert len(answer.code) + answer.omitted == len(everything.code) + everything.omitted
        assert [hit.id for hit in answer.code] == [hit.id for hit in everything.code[: len(answer.code)]]
        assert answer.code[:-1] == everything.code[: len(answer.code)][:-1]  # the last may be shortened


def test_context_shows_the_lines_around_a_hit(small: Workspace) -> None:
    (hit,) = small.search("self.cached", mode="literal", context=1).code
    lines = [line.rstrip() for line in (small.root / "store.py").read_text().split("\n")]
    assert hit.preview.split("\n") == lines[8:11]


def test_every_hit_can_be_fetched_and_is_the_text_on_disk(own: Workspace) -> None:
    for query in ("how are segments merged", "Workspace", "walk the folders", "import numpy"):
        answer = own.search(query, limit=20)
        texts = own.fetch([hit.id for hit in answer.code])
        for hit, text in zip(answer.code, texts, strict=True):
            lines = (own.root / text.path).read_text().split("\n")
            assert text.text == "\n".join(lines[text.start_line - 1 : text.end_line])
            assert text.path == hit.path
            # What stands around a definition in its chunk, such as a decorator, is fetched with it.
            assert text.start_line <= hit.start_line <= hit.end_line <= text.end_line
            assert answer.mode == "literal" or text.name == hit.name


@pytest.mark.parametrize("text_id", ["", "nonsense", "c_00000000000", "c_zzzzzzzzzzz.5"])
def test_an_id_that_names_nothing_is_not_found(small: Workspace, text_id: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        small.fetch([text_id])
    assert "cairn search" in caught.value.hint


def test_an_id_outlives_edits_elsewhere_in_its_file(small: Workspace) -> None:
    (hit,) = small.search("main", kinds=["function"], globs=["use.py"]).code
    (small.root / "use.py").write_text("# A new first line.\n\n" + (small.root / "use.py").read_text() + "\n\nmain()\n")
    before = small.fetch([hit.id])[0]
    assert before.text.endswith("\n\n\nmain()")
    assert not before.stale
    small.index()
    after = small.search("main", kinds=["function"], globs=["use.py"]).code[0]
    assert after.start_line == hit.start_line + 2


@pytest.mark.parametrize("query", ["load_all", '"def load_all"'])
def test_a_hit_in_a_file_that_changed_since_has_the_lines_of_now(small: Workspace, query: str) -> None:
    (before,) = [hit for hit in small.search(query, limit=20).code if hit.name == "load_all"]
    store = small.root / "store.py"
    store.write_text(
        "# One line more.\n# And another.\n" + store.read_text().replace("def load_all(", "def load_all(more, ")
    )
    (after,) = [hit for hit in small.search(query, limit=20).code if hit.name == "load_all"]
    assert after.start_line == before.start_line + 2
    assert "def load_all(more, " in after.preview
    assert "more" in after.signature
    assert not after.stale


def test_a_hit_whose_definition_is_gone_is_flagged(small: Workspace) -> None:
    assert not any(hit.stale for hit in small.search("load_all", limit=20).code)
    store = small.root / "store.py"
    store.write_text(store.read_text().replace("load_all", "fetch_everything"))
    (gone,) = [hit for hit in small.search("load_all", limit=20).code if hit.name == "load_all"]
    assert gone.stale
    assert small.fetch([gone.id])[0].stale
    small.index()
    assert not any(hit.stale for hit in small.search("load_all", limit=20).code)


def test_a_file_that_was_only_touched_since_is_not_flagged(small: Workspace) -> None:
    os.utime(small.root / "store.py")
    assert not any(hit.stale for hit in small.search("load_all", limit=20).code)


def test_a_file_that_is_gone_is_no_obstacle(small: Workspace) -> None:
    (small.root / "store.py").unlink()
    hits = small.search("load_all", limit=20).code
    assert all(hit.stale for hit in hits if hit.path == "store.py")
    assert any("cannot be read" in note for note in small.search("store", mode="literal").notes)


# -- odd names and queries --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "path"),
    [("broken_name", "line\nbreak.py"), ("raw_name", RAW_NAME), ("größe", "naïve name.py"), ("latin", "latin.py")],
)
def test_files_with_odd_names_are_found_and_fetched(small: Workspace, query: str, path: str) -> None:
    best = small.search(query).code[0]
    assert best.path == path
    assert small.fetch([best.id])[0].path == path


def test_text_in_any_encoding_is_found_by_its_bytes(small: Workspace) -> None:
    assert [hit.path for hit in small.search("ümlaut", mode="literal").code] == ["naïve name.py"]
    assert [hit.path for hit in small.search("Caf\udce9", mode="literal").code] == ["latin.py"]
    assert small.search("Caf", mode="literal").code[0].preview.endswith("'Café'")


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_query_is_refused(small: Workspace, query: str) -> None:
    with pytest.raises(QueryError):
        small.search(query)


@pytest.mark.parametrize("mode", ["auto", "hybrid", "literal", "symbol", "semantic"])
@pytest.mark.parametrize("query", ["\0", "\udcff", "🦀", "مرحبا", "a" * 10_000, "'; DROP TABLE file; --", "../../etc"])
def test_no_query_breaks_a_search(small: Workspace, query: str, mode: Mode) -> None:
    small.search(query, mode=mode)


@pytest.mark.parametrize("mode", ["auto", "hybrid", "literal", "symbol", "semantic"])
def test_half_a_surrogate_pair_breaks_no_search(small: Workspace, mode: Mode) -> None:
    small.search("\ud800", mode=mode)


# -- structural patterns ----------------------------------------------------------------------------------------------


def test_a_structural_search_names_the_innermost_definition_and_captures(small: Workspace) -> None:
    answer = small.search("$OBJECT.load($KEY)", mode="structural")
    found = [(hit.path, hit.name, hit.start_line, hit.captures) for hit in answer.code]
    assert ("use.py", "main", 6, ({"OBJECT": "store", "KEY": "'x'"},)) in found
    assert ("store.py", "load_all", 14, ({"OBJECT": "store", "KEY": "key"},)) in found
    assert found[-1][0] == "tests/test_store.py"
    assert answer.mode == "structural"


def test_a_structural_search_is_complete_and_counts_what_it_leaves_out(own: Workspace) -> None:
    expected = set()
    for file in (*own.root.rglob("*.py"), *own.root.rglob("*.pyi")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                expected.add((file.relative_to(own.root).as_posix(), node.lineno))
    answer = own.search("def $F($$$)", limit=0)
    assert {(hit.path, hit.start_line) for hit in answer.code} == expected
    assert own.search("def $F($$$)", limit=7).omitted == len(expected) - 7


def test_filters_narrow_a_structural_search(small: Workspace) -> None:
    assert {hit.path for hit in small.search("load($$$)", mode="structural", languages=["typescript"]).code} == set()
    assert {hit.path for hit in small.search("fetch($$$)", languages=["typescript"]).code} == {"web/view.ts"}
    answer = small.search("$A.load($$$)", mode="structural", globs=["tests"])
    assert {hit.path for hit in answer.code} == {"tests/test_store.py"}
    assert all(hit.kind == "method" for hit in small.search("return $X", mode="structural", kinds=["method"]).code)


def test_a_structural_search_reads_the_files_as_they_are_now(small: Workspace) -> None:
    (small.root / "use.py").write_text("\n\nstore.load('z')\n")
    (hit,) = small.search("store.load($KEY)", mode="structural", globs=["use.py"]).code
    assert (hit.start_line, hit.stale, hit.captures) == (3, False, ({"KEY": "'z'"},))


def test_a_bad_structural_pattern_is_an_error_when_asked_for_and_a_note_when_guessed(small: Workspace) -> None:
    with pytest.raises(QueryError, match="unbalanced"):
        small.search("load($$$", mode="structural")
    with pytest.raises(QueryError, match="does not support markdown"):
        small.search("load($$$)", mode="structural", languages=["markdown"])
    guessed = small.search("load($$$ records")
    assert guessed.mode == "hybrid"
    assert "unbalanced" in guessed.notes[0]


def test_without_ast_grep_a_structural_search_says_how_to_install_it(small: Workspace) -> None:
    script = (
        "import sys; sys.modules['ast_grep_py'] = None; from cairn.cli.main import main; "
        f"sys.exit(main(['search', '-C', {str(small.root)!r}, '--mode', 'structural', 'load($$$)']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "codecairn[structural]" in done.stderr


def test_what_closes_a_long_class_stands_for_the_class_and_is_shown_once(tmp_path: Path) -> None:
    methods = "\n".join(
        f"  method{number}() {{\n" + f"    this.add({number}, 'one more line of it');\n" * 40 + "  }"
        for number in range(3)
    )
    text = f"class Drawer {{\n{methods}\n}}\n"
    write_files(tmp_path, {"drawer.js": text, "other.js": "// A drawer is closed at night.\n"})
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        hits = workspace.search("Drawer").code
        n_lines = len(text.splitlines())
        assert (hits[0].start_line, hits[0].end_line) == (1, n_lines)
        spans = [(hit.path, hit.start_line, hit.end_line) for hit in hits]
        assert len(set(spans)) == len(spans)
        assert ("drawer.js", n_lines, n_lines) not in spans
        for hit in hits:
            assert workspace.code.fetch([hit.id])[0].start_line == hit.start_line


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("set test now", "src/clock.py"),
        ("how is test now set", "src/clock.py"),
        ("tests for set test now", "tests/test_clock.py"),
        ("test of the hour", "tests/test_clock.py"),
    ],
)
def test_test_is_a_word_like_others_where_a_name_of_the_project_has_it(query: str, first: str, tmp_path: Path) -> None:
    files = {
        "src/clock.py": "def set_test_now(moment):\n    return moment\n",
        "src/hour.py": "def hour_of(moment):\n    return moment.hour\n",
        "tests/test_clock.py": "def test_set_test_now():\n    assert set_test_now(1) == 1\n\n\n"
        "def test_hour_of():\n    assert hour_of(now) == 1\n",
    }
    write_files(tmp_path, files)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert workspace.search(query).code[0].path == first


def test_files_with_the_same_content_are_listed_once_and_a_note_names_the_others(tmp_path: Path) -> None:
    code = 'def alpha_beta():\n    """Return the beta of alpha."""\n    return 1\n'
    write_files(
        tmp_path, {**{f"m{number}/a.py": code for number in range(1, 6)}, "odd\nname/a.py": code, "b.py": "x = 1\n"}
    )
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for query in ("alpha_beta", "what returns beta for alpha"):
            answer = workspace.search(query)
            assert answer.code[0].path == "m1/a.py"
            assert answer.notes == (
                "m1/a.py has the same content as m2/a.py, m3/a.py, m4/a.py and 2 other files, and is listed once.",
            )
        chosen = workspace.search("alpha_beta", globs=("m4/*", "odd*"))
        assert [hit.path for hit in chosen.code] == ["m4/a.py"]
        assert search_text(answer_to_dict(chosen)).endswith(
            "m4/a.py has the same content as odd\\x0aname/a.py, and is listed once."
        )
        assert not workspace.search("alpha_beta", globs=("m4/*",)).notes
        assert not workspace.search("x", globs=("b.py",)).notes
