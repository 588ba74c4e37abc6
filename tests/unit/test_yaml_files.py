from __future__ import annotations

import os
import re
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cairn.errors import ConfigError
from cairn.setting import Entry
from cairn.yaml_files import MAX_BYTES, compose, read_mapping, read_project_file, read_user_file, read_value

M = 300_000
SECONDS = 20.0  # generous: the machine may be busy; each takes at most one of its own


def plain(entry: Entry) -> object:
    if isinstance(entry.value, dict):
        return {name: plain(one) for name, one in entry.value.items()}
    return [plain(one) for one in entry.value] if isinstance(entry.value, list) else entry.value


def test_values_are_texts_with_the_lines_of_their_names() -> None:
    read = read_mapping("a: 1\n\nb:\n  c: [x, ~]\n  d:\n    - {e: 'y'}\n# end\n", "f")
    assert {name: plain(one) for name, one in read.items()} == {"a": "1", "b": {"c": ["x", None], "d": [{"e": "y"}]}}
    assert (read["a"].place, read["b"].place) == ("f:1", "f:3")
    assert isinstance(read["b"].value, dict)
    assert read["b"].value["d"].place == "f:5"


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "~", "null", "\ufeff", "--- # a\n...\n"])
def test_an_empty_text_says_nothing(text: str) -> None:
    assert read_mapping(text, "f") == {}


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    assert plain(read_mapping("\ufeffa: 1\n", "f")["a"]) == "1"


def test_an_alias_may_stand_for_a_text() -> None:
    assert plain(read_value("{a: &x text, b: *x}", "f")) == {"a": "text", "b": "text"}


ODD = {
    "a list": "- a\n",
    "a text": "text\n",
    "twice": "a: 1\nb: 2\na: 3\n",
    "twice below": "a: {b: 1, b: 2}\n",
    "twice quoted": "a: 1\n'a': 2\n",
    "two documents": "a: 1\n---\nb: 2\n",
    "a list as a name": "? [a, b]\n: c\n",
    "a mapping as a name": "? {a: b}\n: c\n",
    "an alias as a name": "a: &x y\n*x : z\n",
    "nothing as a name": "[]: x\n",
    "a tag": "a: !!python/object/apply:os.system [id]\n",
    "a tag of numbers": "a: !!int 3\n",
    "binary": "a: !!binary aGk=\n",
    "a set": "a: !!set {b, c}\n",
    "a tagged mapping": "!x\na: b\n",
    "a merge": "a: &x {b: 1}\nc:\n  <<: *x\n",
    "a circle": "a: &x [*x]\n",
    "an alias of nothing": "a: *x\n",
    "an alias of what is not read to its end": "a: &x {b: *x}\n",
    "an anchor that means something else now": "a: &x y\nb: &x [z]\nc: *x\n",
    "laughs": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n",
    "brackets": "[" * 200_000,
    "closed brackets": "a: " + "[" * 200_000 + "]" * 200_000,
    "braces": "{" * 200_000,
    "braces with names": "{a: " * 100_000,
    "dashes": "- " * 300_000,
    "question marks": "? " * 300_000,
    "names on names": "".join(" " * depth + f"a{depth}:\n" for depth in range(1_000)),
    "many documents": "---\n" * 200_000,
    "many directives": "%A b\n" * 190_000 + "---\na: 1\n",
    "a version": "%YAML 1." + "1" * 100_000 + "\n---\na: 1\n",
    "another version": "%YAML 7.0\n---\na: 1\n",
    "a character that there is not": 'a: "\\UFFFFFFFF"\n',
    "a character beyond all": 'a: "\\U00110000"\n',
    "a null byte": "a: b\0c\n",
    "a control character": "a: \x1b[2J\n",
    "a tab as indent": "a:\n\tb: 1\n",
    "no end of a quote": 'a: "b\n',
    "an unknown escape": 'a: "\\q"\n',
    "an at": "a: @b\n",
    "a percent": "a: %b\n",
    "an unknown handle": "a: !h!b c\n",
    "many names": "".join(f"a{number}: 1\n" for number in range(60_000)),
    "one list of many": f"a: [{'b, ' * 300_000}]",
}  # fmt: skip


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_what_no_settings_need_is_refused_soon_with_its_line(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ConfigError) as caught:
        read_mapping(text, "file")
    assert time.process_time() - started < SECONDS
    assert re.match(r"file(:\d+)?( is not valid YAML)?: .{3,90}$", str(caught.value))
    assert caught.value.hint


LONG = {
    "a comment": "#" + "x" * 999_999,
    "comments": "#\n" * (M // 2),
    "blank lines": "\n" * M,
    "a value": "a: " + "b" * M,
    "words": "a: " + "b " * (M // 2),
    "lines": "a: b\n" + " c\n" * (M // 3),
    "escapes": 'a: "' + "\\x41" * (M // 4) + '"',
    "a block": "a: |\n" + " b\n" * (M // 3),
    "a folded block": "a: >\n" + " b\n\n" * (M // 4),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_what_is_long_and_simple_is_read(text: str) -> None:
    started = time.process_time()
    assert set(read_mapping(text, "file")) <= {"a"}
    assert time.process_time() - started < SECONDS


KEY = "sk-this-is-secret-0123456789"


@pytest.mark.parametrize(
    "text",
    [
        *("a: [{}", "{0}: 1\n{0}: 2\n", "a: *{}", "a: !{}!x y", "a: !<{} y"),
        *("%TAG !{}! x", "%{} x y\n%", 'a: "{}', "a: b: {}", "&{} &b c"),
    ],
)
def test_no_error_repeats_the_text(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_mapping(text.format(KEY), "file")
    error = caught.value
    assert KEY[3:] not in f"{error} {error.hint} {error.__cause__!r}"


PIECES = st.sampled_from(
    [
        *"ab:[]{},'\"\t\n#%~\\@`=\0\x85\u2028\ufeff\ud800",
        *(": ", "- ", "? ", ", ", "&a ", "*a", "!t ", "!!str ", "|\n", ">\n", "\n  ", "\n    ", "---\n", "...\n", "<<"),
        *("\\x4", "\\U0011FFFF", "%YAML 1.1\n", "%TAG ! x\n", "1e999", "0o7"),
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    error = error_of(lambda: read_mapping(text, "file"))
    assert error is None or (str(error).startswith("file") and error.hint)


def error_of(act: Callable[[], object]) -> ConfigError | None:
    try:
        act()
    except ConfigError as error:
        return error
    return None


@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(data)
    error = error_of(lambda: read_user_file(file))
    if error is None:
        assert read_user_file(file) == data.decode()
    else:
        assert "not valid UTF-8" in str(error)


VALUES = st.recursive(
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcäö_-", min_size=1), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abcdefghij_", min_size=1, max_size=6), VALUES, max_size=4), st.booleans())
def test_what_another_program_wrote_is_read_back(document: dict[str, object], flow: bool) -> None:
    text = yaml.safe_dump(document, allow_unicode=True, default_flow_style=flow, default_style='"')
    assert {name: plain(one) for name, one in read_mapping(text, "f").items()} == document


@given(st.lists(PIECES, max_size=30).map("".join))
def test_nodes_stand_where_another_reader_finds_them(text: str) -> None:
    try:
        ours = compose(text, "f")
    except ConfigError:
        return
    theirs = yaml.compose(text, Loader=yaml.SafeLoader)
    assert places(ours) == places(theirs)


def places(node: yaml.Node | None) -> object:
    if node is None:
        return None
    at = (node.start_mark.index, node.end_mark.index)
    if isinstance(node, yaml.ScalarNode):
        return (*at, node.value)
    if isinstance(node, yaml.MappingNode):
        return (*at, [(places(name), places(value)) for name, value in node.value])
    return (*at, [places(one) for one in node.value])


# -- files -------------------------------------------------------------------------------------------------------------


def make_link(file: Path) -> None:
    target = file.parent.parent / "elsewhere.yaml"
    target.write_text("a: 1\n")
    file.symlink_to(target)


def make_socket(file: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        at = os.getcwd()
        os.chdir(file.parent)  # the path of a socket must be short
        try:
            listener.bind(file.name)
        finally:
            os.chdir(at)


def make_sparse(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(6_000_000_000)


KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a directory": Path.mkdir,
    "a symbolic link": make_link,
    "a socket": make_socket,
    "larger than 1,000,000 bytes": make_sparse,
    "not valid UTF-8": lambda file: file.write_bytes(b"a: 1\n\xff\xfea: 1\n"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_small_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    file = tmp_path / ".cairn" / "config.yaml"
    file.parent.mkdir()
    KINDS[kind](file)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ConfigError, match=f"{file}.* is {kind}"):
        read_project_file(tmp_path, "config.yaml")
    if kind == "a symbolic link":
        assert read_user_file(file) == "a: 1\n"
    else:
        with pytest.raises(ConfigError, match=f"{file}.* (is {kind}|cannot be read)"):
            read_user_file(file)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/null", "/proc/self/environ", "/", "nowhere", "config.yaml"])
def test_no_link_of_a_project_is_followed(tmp_path: Path, target: str) -> None:
    file = tmp_path / ".cairn" / "config.yaml"
    file.parent.mkdir()
    file.symlink_to(target)
    with pytest.raises(ConfigError, match="symbolic link"):
        read_project_file(tmp_path, "config.yaml")


def test_a_state_folder_that_is_a_link_has_no_settings(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.yaml").write_text("a: 1\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".cairn").symlink_to(tmp_path / "other")
    assert read_project_file(tmp_path / "project", "config.yaml") is None
    assert read_project_file(tmp_path / "other" / "config.yaml", "config.yaml") is None
    assert read_project_file(tmp_path / "nowhere", "config.yaml") is None


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/tty", "/"])
def test_a_user_file_that_leads_to_no_file_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "config.yaml").symlink_to(target)
    with pytest.raises(ConfigError):
        read_user_file(tmp_path / "config.yaml")


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"#" * MAX_BYTES)
    assert read_user_file(tmp_path / "config.yaml") == "#" * MAX_BYTES


def test_reading_needs_no_deep_stack() -> None:
    code = "import sys; sys.setrecursionlimit(150)\nfrom cairn.yaml_files import read_value\n"
    code += "text = '[' * 20 + ']' * 20\nread_value(text, 'f')\nprint('read')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "read\n"


def test_a_text_may_be_read_in_a_thread_with_a_small_stack() -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            compose("[" * 200_000, "f")
        except BaseException as error:  # noqa: BLE001 - looked at below
            errors.append(error)

    threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(0)
    assert [type(one) for one in errors] == [ConfigError]
