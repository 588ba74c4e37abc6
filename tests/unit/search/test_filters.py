from __future__ import annotations

import time

import pytest

from cairn.embedding.static import StaticModel
from cairn.errors import QueryError
from cairn.index.view import ViewArrays, ViewFile, build_view
from cairn.protocol.requests import SearchRequest
from cairn.search.filters import canonical_kinds, canonical_languages, compile_globs, filter_files

PATHS = ["README.md", "src/app.py", "src/app/routes.py", "src/app/test_routes.py", "web/src/app.ts", "web/a b/[x].ts"]


@pytest.fixture(scope="module")
def files() -> ViewArrays:
    """A view of `PATHS`."""
    languages = {"md": "markdown", "py": "python", "ts": "typescript"}
    model = StaticModel.load()
    shown = [ViewFile(path, number, languages[path.rsplit(".", 1)[1]]) for number, path in enumerate(PATHS)]
    return build_view(shown, model.word_vectors, model.dimensions)


@pytest.mark.parametrize(
    ("globs", "paths"),
    [
        (["*.py"], ["src/app.py", "src/app/routes.py", "src/app/test_routes.py"]),
        (["src/*"], ["src/app.py", "src/app/routes.py", "src/app/test_routes.py"]),
        (["src"], ["src/app.py", "src/app/routes.py", "src/app/test_routes.py", "web/src/app.ts"]),
        (["./src/app/"], ["src/app/routes.py", "src/app/test_routes.py"]),
        (["app.py"], ["src/app.py"]),
        (["src/app.py"], ["src/app.py"]),
        (["README.*", "*.ts"], ["README.md", "web/src/app.ts", "web/a b/[x].ts"]),
        (["*.py", "!test_*"], ["src/app.py", "src/app/routes.py"]),
        (["!web", "!README.md"], ["src/app.py", "src/app/routes.py", "src/app/test_routes.py"]),
        (["a b"], ["web/a b/[x].ts"]),
        (["src/**/routes.py"], ["src/app/routes.py"]),
        (["app.?s"], ["web/src/app.ts"]),
        (["nothing"], []),
        (["SRC"], []),
    ],
)
def test_globs_choose_paths(globs: list[str], paths: list[str]) -> None:
    assert [path for path in PATHS if compile_globs(globs)(path)] == paths


@pytest.mark.parametrize(
    ("globs", "paths"),
    [
        (["web/a b/[x].ts"], ["web/a b/[x].ts"]),
        (["./web/a b/[x].ts"], ["web/a b/[x].ts"]),
        ([r"web/a b/\[x\].ts"], ["web/a b/[x].ts"]),
        (["web/*", "!web/a b/[x].ts"], ["web/src/app.ts"]),
        (["src/[a]pp.py"], ["src/app.py"]),
    ],
)
def test_brackets_of_a_path_that_exists_mean_themselves(files: ViewArrays, globs: list[str], paths: list[str]) -> None:
    found = filter_files(files, SearchRequest(query="q", globs=tuple(globs)))
    assert found is not None
    assert [files.paths[number] for number in found.tolist()] == paths


def test_a_folder_with_brackets_is_one_too() -> None:
    model = StaticModel.load()
    shown = [ViewFile(path, number, "tsx") for number, path in enumerate(["app/[slug]/page.tsx", "app/s/page.tsx"])]
    files = build_view(shown, model.word_vectors, model.dimensions)
    for glob in ("app/[slug]", "app/[slug]/", "app/[slug]/*", "app/[slug]/**/*.tsx"):
        found = filter_files(files, SearchRequest(query="q", globs=(glob,)))
        assert found is not None
        assert [files.paths[number] for number in found.tolist()] == ["app/[slug]/page.tsx"]


def test_two_stars_match_no_folder_at_all_too() -> None:
    assert compile_globs(["src/**/app.py"])("src/app.py")


def test_without_filters_every_file_passes(files: ViewArrays) -> None:
    assert filter_files(files, SearchRequest(query="")) is None
    assert filter_files(files, SearchRequest(query="", kinds=("class",))) is None


def test_a_file_must_pass_both_language_and_glob(files: ViewArrays) -> None:
    chosen = filter_files(files, SearchRequest(query="", languages=("typescript", "markdown"), globs=("web",)))
    assert chosen is not None
    assert [PATHS[number] for number in chosen] == ["web/src/app.ts", "web/a b/[x].ts"]


def test_a_language_that_no_file_has_leaves_nothing(files: ViewArrays) -> None:
    chosen = filter_files(files, SearchRequest(query="", languages=("cobol",)))
    assert chosen is not None
    assert len(chosen) == 0


@pytest.mark.parametrize(
    "glob", ["**/a/" * 190 + "b", "*a" * 480 + "b", "**/*a*/" * 120 + "b", "[a/]*" * 190 + "b", "a*/" * 300 + "b"]
)
def test_a_glob_with_many_stars_takes_no_longer_than_its_length_says(glob: str) -> None:
    matches = compile_globs([glob])
    started = time.thread_time()
    assert not any(matches(path) for path in ("a/" * 2_000 + "a", "a" * 4_000, "/".join(["aa"] * 1_000)))
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    ("glob", "path", "is_matched"),
    [
        ("a/**/b/**/c", "a/x/b/y/b/c", True),
        ("a/**/b*c/d", "a/bxc/e/bc/d", True),
        ("*a*b", "aab", True),
        ("*ab*ab", "abxab", True),
        ("*ab*ab", "xab", False),
        ("**/x/**", "a/x/b", True),
        ("a/**", "b/a", False),
        ("[*]/*", "*/a", True),
    ],
)
def test_stars_match_whatever_lets_the_rest_match(glob: str, path: str, is_matched: bool) -> None:
    assert compile_globs([glob])(path) is is_matched


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("ruby", "ruby"), ("Ruby", "ruby"), ("rb", "ruby"), (".rb", "ruby"), ("js", "javascript"), ("C++", "cpp"),
        ("c#", "csharp"), ("golang", "go"), ("sh", "bash"), ("node", "javascript"), ("yml", "yaml"),
    ],
)  # fmt: skip
def test_a_language_has_the_names_that_people_give_it(name: str, language: str) -> None:
    assert canonical_languages([name]) == (language,)


def test_an_unknown_language_or_kind_names_what_was_probably_meant() -> None:
    with pytest.raises(QueryError, match="no language is called pyton") as error:
        canonical_languages(["pyton"])
    assert error.value.hint.startswith("did you mean python? known: assembly, ")
    with pytest.raises(QueryError, match="no kind is called functon") as error:
        canonical_kinds(["Class", "functon"])
    assert error.value.hint.startswith("did you mean function")


def test_an_unknown_language_that_resembles_none_gets_the_list() -> None:
    with pytest.raises(QueryError) as error:
        canonical_languages(["qqqq"])
    assert error.value.hint.startswith("known: assembly, ")
