from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.embedding.static import StaticModel
from cairn.errors import DerivedFileError
from cairn.index.state_dir import StateDir
from cairn.index.view import STEM_FIELD, UNKNOWN_SIZE, ViewArrays, ViewFile, ViewFiles, build_view, load_view
from cairn.source.attributes import GitAttributes
from cairn.source.terms import term_hash, terms_of
from cairn.storage.arrays import save_arrays
from cairn.storage.index.view_db import Published, ViewRow

MODEL = StaticModel.load()
PARTS = st.sampled_from(("api", "v1", "v2", "win32", "linux", "store_test", "HTTPServer", "__init__", "läden"))
PATHS = st.tuples(PARTS, PARTS, st.sampled_from((".py", ".md", ".d.ts"))).map(lambda one: f"{one[0]}/{one[1]}{one[2]}")
FILES = st.dictionaries(PATHS, st.sampled_from(("python", "markdown", "text")), max_size=12)


def build(files: dict[str, str], last: ViewArrays | None = None) -> ViewArrays:
    shown = [
        ViewFile(path, number, language, size=10 + number, mtime_ns=20 + number)
        for number, (path, language) in enumerate(sorted(files.items()))
    ]
    return build_view(shown, MODEL.word_vectors, MODEL.dimensions, last)


def check_equal(one: ViewArrays, other: ViewArrays) -> None:
    assert (one.paths, one.language_names) == (other.paths, other.language_names)
    for name in ("blob_ids", "roles", "languages", "stem_terms", "stems", "vectors", "stamps"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    for name, array in one.postings.to_arrays().items():
        np.testing.assert_array_equal(array, other.postings.to_arrays()[name], strict=True)


@given(FILES, FILES)
def test_arrays_made_from_the_last_ones_are_those_made_anew(before: dict[str, str], after: dict[str, str]) -> None:
    check_equal(build(after, build(before)), build(after))


PLACES = list(enumerate((".gitattributes", "api/v1/a.py", "api/v2/a.py", "b.gen.py", "c.pb.go")))
STATES = st.dictionaries(
    st.sampled_from([path for _, path in PLACES]),
    st.sampled_from((1, 2, 3)),
    min_size=1,
)


@given(STATES, STATES)
def test_roles_follow_contents_and_attributes_that_change(before: dict[str, int], after: dict[str, int]) -> None:
    def state(versions: dict[str, int], last: ViewArrays | None = None) -> ViewArrays:
        """Return a view in which the second version of a file is generated, and that of attributes says so of b."""
        files = [
            ViewFile(path, 10 * number + version, "text", version == 2)
            for number, path in PLACES
            if (version := versions.get(path)) is not None
        ]
        text = b"b.* linguist-generated=false\n" if versions.get(".gitattributes") == 2 else b""
        attributes = GitAttributes([(".gitattributes", text)])
        return build_view(files, MODEL.word_vectors, MODEL.dimensions, last, lambda: attributes)

    check_equal(state(after, state(before)), state(after))


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("handler/mod.rs", "handler"),
        ("parser/src/lib.rs", "parser"),
        ("web/router/index.ts", "router"),
        ("pkg/store.py", "store"),
        ("src/main.rs", "main"),
        ("index.js", "index"),
    ],
)
def test_a_file_whose_name_says_nothing_is_named_by_its_folder(path: str, word: str) -> None:
    view = build({path: "text"})
    postings, stem = view.postings, term_hash(terms_of(word, (word,))[0])
    fields = dict(zip(postings.hashes.tolist(), postings.fields.tolist(), strict=True))
    assert [hashed for hashed, field in fields.items() if field & STEM_FIELD] == [stem]
    assert (view.stem_terms.tolist(), view.stems.tolist()) == ([1], [stem])


def view_row(published: Published, number: int) -> ViewRow:
    return ViewRow(
        number, "", "", "", 7, published.n_bytes, published.layout, published.layout_bytes, 0, published.arrays
    )


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    state = StateDir(tmp_path / "state")
    state.create()
    return state


def test_views_with_the_same_paths_share_a_file(state: StateDir) -> None:
    files = ViewFiles(state, "one")
    first = build({"a.py": "python", "b.md": "markdown"})
    published = [files.save(first) for number in (1, 2)]
    other = files.save(build({"a.py": "python", "b.md": "text"}))
    assert published[0].layout == published[1].layout
    assert published[0].arrays != published[1].arrays
    assert other.layout != published[0].layout
    assert len(list(state.derived.iterdir())) == 5
    for number in (1, 2):
        check_equal(load_view(state, view_row(published[number - 1], number)), first)


def test_a_view_that_an_older_version_wrote_knows_no_sizes_and_times(state: StateDir) -> None:
    published = ViewFiles(state, "one").save(build({"a.py": "python", "b.md": "markdown"}))
    save_arrays(state.view(published.arrays), {"blob_ids": np.array([0, 1], dtype=np.int32)})
    assert load_view(state, view_row(published, 1)).stamps.tolist() == [[UNKNOWN_SIZE, UNKNOWN_SIZE]] * 2


def test_what_another_model_made_is_another_file(state: StateDir) -> None:
    view = build({"a.py": "python"})
    assert ViewFiles(state, "one").save(view).layout != ViewFiles(state, "other").save(view).layout


def test_a_damaged_shared_file_is_refused_and_written_anew(state: StateDir) -> None:
    view = build({"a.py": "python"})
    published = ViewFiles(state, "one").save(view)
    file = state.layout(published.layout)
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    with pytest.raises(DerivedFileError):
        load_view(state, view_row(published, 1))
    assert ViewFiles(state, "one").save(view).layout == published.layout
    check_equal(load_view(state, view_row(published, 1)), view)
