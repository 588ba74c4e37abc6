from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.answers import Answer, CodeHit
from cairn.index.views import Stamp
from cairn.protocol.requests import SearchRequest
from cairn.search.hits import FileReader, FileText
from cairn.search.pasted import BUDGET_SECONDS, _declares, find_pasted
from cairn.search.pasted_text import Pasted, read_pasted
from cairn.source.roles import Role
from cairn.workspace import Workspace

FILES = {
    "net.py": "class ConnectError(Exception):\n    pass\n\n\n"
    "def connect(host, port):\n"
    "    if not host:\n"
    '        raise ConnectError(f"Cannot connect to host {host}:{port} over ssl")\n'
    "    return open_socket(host, port)\n",
    "limits.c": "int check(int first, int last) {\n"
    '    log_error("start number %d is greater than end number %d", first, last);\n'
    "    return -1;\n}\n",
    "config.c": 'static const struct entry entries[] = {\n    {"hash-max-listpack-entries", 512},\n};\n',
    "listpack.c": "/* The entries of a listpack hash, at most max. */\n"
    "int hash_max(struct listpack *entries) { return 0; }\n",
    "todo.py": "def later():\n    # TODO: do it\n    return None\n",
    "view.tsx": 'export const View = () => <div data-testid="view-root" />;\n',
    "slots.py": "def index_of(items):\n    return items[1:]\n",
    "tests/test_net.py": "def test_no_host():\n"
    '    assert str(error) == "Cannot connect to host example.com:443 over ssl"\n',
    "docs/net.md": "# Hosts\n\nHow to connect to a host that cannot be reached.\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("pasted")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def first(answer: Answer) -> CodeHit:
    assert answer.code, answer.notes
    return answer.code[0]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("hash-max-listpack-entries", "config.c:2"),
        ("data-testid", "view.tsx:1"),
        ("TODO", "todo.py:2"),
        ("where is `data-testid` set", "view.tsx:1"),
        ("items[1:]", "slots.py:2"),
    ],
)
def test_a_token_with_odd_characters_is_found_where_it_stands(workspace: Workspace, query: str, place: str) -> None:
    hit = first(workspace.search(query))
    assert f"{hit.path}:{hit.start_line}" == place


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("Cannot connect to host db.internal:5432 over ssl", "net.py:7"),
        ("net.ConnectError: Cannot connect to host db.internal:5432 over ssl", "net.py:7"),
        ("ERR start number 9 is greater than end number 4", "limits.c:2"),
    ],
)
def test_an_error_text_is_found_where_it_is_formatted_whatever_its_values(
    workspace: Workspace, query: str, place: str
) -> None:
    hit = first(workspace.search(query))
    assert (f"{hit.path}:{hit.start_line}", hit.match) == (place, "edited")


def test_the_code_that_makes_a_message_comes_before_the_test_that_repeats_it(workspace: Workspace) -> None:
    assert first(workspace.search("Cannot connect to host example.com:443 over ssl")).path == "net.py"


def test_the_message_at_the_end_of_a_trace_is_looked_for(workspace: Workspace) -> None:
    trace = 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in main\n'
    assert first(workspace.search(f"{trace}ConnectError: Cannot connect to host a.b:1 over ssl")).path == "net.py"


def test_a_hit_says_how_much_of_what_was_pasted_it_holds(workspace: Workspace) -> None:
    whole, part = workspace.search("data-testid"), workspace.search("Cannot connect to host db.internal:5432 over ssl")
    assert (first(whole).match, first(whole).confidence) == ("exact", "high")
    assert "'data-testid'" in " ".join(whole.notes)
    assert "'Cannot connect to host'" in " ".join(part.notes)
    assert 0 < (first(part).similarity or 0) < 1


def test_hits_below_the_lines_that_hold_a_part_are_no_surer_than_these(workspace: Workspace) -> None:
    hits = workspace.search("Cannot connect to host db.internal:5432 over ssl").code
    relevances = [hit.relevance for hit in hits]
    assert relevances == sorted(relevances, reverse=True)


def test_nothing_is_sure_where_no_line_holds_any_of_a_message(workspace: Workspace) -> None:
    hits = workspace.search("error: index_of range overflow is not supported").code
    assert hits
    assert "high" not in {hit.confidence for hit in hits if hit.match is None}


def test_no_part_of_a_message_of_the_language_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "tls.py").write_text('def check(cert):\n    fail("the certificate has no attribute with this host")\n')
    (tmp_path / "cart.py").write_text("def total(items):\n    return sum(items)\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for made, is_found in (("Cart", True), ("NoneType", False)):
            hits = workspace.search(f"AttributeError: '{made}' object has no attribute 'with_host'").code
            assert any(hit.match is not None for hit in hits) == is_found


def test_filters_hold_for_what_was_pasted_too(workspace: Workspace) -> None:
    hit = first(workspace.search("Cannot connect to host example.com:443 over ssl", globs=["tests/**"]))
    assert hit.path == "tests/test_net.py"


def test_lines_with_what_a_question_quotes_come_behind_what_it_is_about(workspace: Workspace) -> None:
    answer = workspace.search('how does connect work with "over ssl"')
    assert first(answer).match is None
    lines = [hit for hit in answer.code if hit.match == "exact"]
    assert lines
    assert {hit.confidence for hit in lines} == {"medium"}
    assert any("come among the hits" in note for note in answer.notes)


def test_a_definition_of_the_name_comes_before_the_lines_that_hold_it(workspace: Workspace) -> None:
    assert first(workspace.search("index_of")).kind == "function"


def test_a_word_comes_before_names_that_hold_it_however_many_these_are(tmp_path: Path) -> None:
    (tmp_path / "flags.h").write_text("".join(f"#define AT_{n}_TODO {n}\n#define TODO_{n} {n}\n" for n in range(90)))
    for number in range(3):
        (tmp_path / f"work{number}.c").write_text(f"/* TODO: work {number} */\nint work{number};\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        paths = [hit.path for hit in workspace.search("TODO", limit=5).code]
    assert paths[:3] == ["work0.c", "work1.c", "work2.c"]


def test_a_changed_file_is_searched_as_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('FLAG = "--max-tokens"\n')
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        (tmp_path / "a.py").write_text('\n\nFLAG = "--max-tokens"\n')
        assert first(workspace.search("--max-tokens")).start_line == 3


@pytest.mark.parametrize(
    "query",
    [
        "how are requests routed",
        "error handling and exit codes",
        "reflection-based field serialization",
        "IntoResponse",
        "how Ecto.Schema defines structs",
        "retry",
    ],
)
def test_prose_and_plain_names_do_not_look_pasted(query: str) -> None:
    # Several words count when all of them stand in one place, as they are in the query.
    expected = [Pasted(query, False)] if query.count(" ") > 2 and not query.startswith("how") else []
    assert read_pasted(query) == expected


@pytest.mark.parametrize(
    "query",
    ["net.py:7", "/srv/build/net.py:7", '  File "/srv/app/net.py", line 7, in connect', "at connect (/srv/net.py:7:9)"],
)
def test_a_place_or_a_frame_finds_its_line(workspace: Workspace, query: str) -> None:
    hit = first(workspace.search(query))
    assert (hit.path, hit.start_line, hit.name) == ("net.py", 7, "connect")


@pytest.mark.parametrize("query", ["lib/net.py:7", "/srv/net.py:7"])
def test_a_place_in_another_file_that_ends_alike_is_said_to_be_one(
    workspace: Workspace, tmp_path: Path, query: str
) -> None:
    missing = query.partition(":")[0]
    assert (
        f"No file {missing} is indexed; what comes first is in net.py, which ends like it."
        in workspace.search(query).notes
    )
    root = workspace.root
    (tmp_path / "link").symlink_to(root)
    for own in ("net.py:7", "./net.py:7", f"{root}/net.py:7", f"{tmp_path}/link/net.py:7"):
        assert not any("which ends like it" in note for note in workspace.search(own).notes)


def test_of_a_trace_the_deepest_call_in_the_project_comes_first(workspace: Workspace) -> None:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/srv/slots.py", line 2, in index_of\n'
        '  File "/srv/net.py", line 8, in connect\n'
        '  File "/usr/lib/python3/socket.py", line 99, in create\n'
        "OSError: no route\n"
    )
    answer = workspace.search(trace)
    assert [(hit.path, hit.start_line) for hit in answer.code[:2]] == [("net.py", 8), ("slots.py", 2)]


class _SlowReader(FileReader):
    """Waits before each file, as on a busy machine."""

    def read(self, path: str, stamp: Stamp | None) -> FileText:
        time.sleep(1.2 * BUDGET_SECONDS)
        return super().read(path, stamp)


def test_what_was_pasted_is_found_on_a_busy_machine_as_well(workspace: Workspace) -> None:
    text = "Cannot connect to host shop.example:80 over ssl"
    with workspace._index.reading(workspace._index.views.find(None)) as library:
        busy = library._replace(reader=_SlowReader(library.reader.view), texts=None)
        found = find_pasted(busy, [Pasted(text, True)], Role(0), SearchRequest(query=text), 5)
        assert library.snapshot.files.paths[found.places[0].line.file] == "net.py"
    assert not found.is_cut


def test_a_disk_that_is_too_slow_ends_the_search_and_is_told(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cairn.search.pasted.PATIENCE_SECONDS", 0.0)
    text = "Cannot connect to host shop.example:80 over ssl"
    with workspace._index.reading(workspace._index.views.find(None)) as library:
        assert find_pasted(library, [Pasted(text, True)], Role(0), SearchRequest(query=text), 5).is_cut


def test_a_long_line_before_a_name_is_not_read_for_what_registers_it() -> None:
    before = b"flag" * 250_000 + b'((((("'
    assert not _declares(before, b"name", b'", 1)')
    assert _declares(b'x = Setting.new("', b"name", b'", 1)')
