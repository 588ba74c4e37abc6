import subprocess
from pathlib import Path

from mine import changed_files, doc_pair, mine, name_pair, sections, targets_in

SOURCE = b'''
def read_header(stream, limit):
    """Read one header from a stream and check its length.

    Stops at the first blank line.
    """
    line = stream.readline(limit)
    return line.decode("latin-1").partition(":")
'''


def test_the_question_is_nowhere_in_the_chunk() -> None:
    (target,) = targets_in(SOURCE, "http/headers.py")
    found = doc_pair(target)
    assert found is not None
    assert found.query == "Read one header from a stream and check its length"
    assert "check its length" not in found.doc + found.body
    assert "first blank line" in found.doc
    assert "first blank line" in found.body
    assert found.name.split() == ["read_header"]
    assert (found.path, found.language) == ("http/headers.py", "python")


def test_the_name_is_nowhere_in_the_chunk() -> None:
    (target,) = targets_in(SOURCE, "http/headers.py")
    found = name_pair(target)
    assert found is not None
    assert found.query == "read header"
    assert found.name == ""
    assert "read_header" not in found.signature + found.body


def test_examples_and_documents_are_no_targets() -> None:
    assert not list(targets_in(SOURCE, "examples/headers.py"))
    assert not list(targets_in(b"# Title\n\ntext\n", "README.md"))


def test_sections_have_their_path_of_headings() -> None:
    text = "# Guide\nintro\n## Reading\nfirst\n## Writing\nsecond\n"
    assert list(sections(text)) == [
        ("Guide", "\nintro\n"),
        ("Guide Reading", "\nfirst\n"),
        ("Guide Writing", "\nsecond\n"),
    ]


def test_a_section_asks_for_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "headers.py").write_bytes(SOURCE)
    (tmp_path / "README.md").write_text("# Headers\n\nA header is read line by line. Call `read_header()` for that.\n")
    found = [pair for pair in mine(tmp_path, None, "") if pair.kind == "section"]
    assert [(pair.query, pair.path) for pair in found] == [("Headers: A header is read line by line", "headers.py")]


def test_a_commit_that_writes_control_characters_is_one_commit(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(["git", *identity, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    git("init", "-q")
    (tmp_path / "escapes.py").write_text('ESCAPES = "\x01\x02"\n\x01\n\x01not a commit\n')
    git("add", ".")
    git("commit", "-q", "-m", "Write escapes")
    commit = git("rev-parse", "HEAD").strip()
    assert list(changed_files(tmp_path, [commit])) == [(commit, "escapes.py", [range(1, 4)])]
