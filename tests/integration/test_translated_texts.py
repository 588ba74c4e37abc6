"""What a project says in many languages is found in English, and in another where that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace

TEXTS = {
    "en-US": ("The asset is not available for checkout", "The asset was checked out"),
    "am-ET": ("The asset is not available for checkout", "The asset was checked out"),
    "de-DE": ("Das Asset kann nicht ausgegeben werden", "Das Asset wurde ausgegeben"),
    "en-GB": ("The asset is not available for checkout", "The asset was checked out"),
}
GUIDES = {
    "docs/guide.md": "# Checkout\n\nHow assets are checked out.\n",
    "docs/zh/guide.md": "# Checkout\n\nassets 资产\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("project")
    files = {
        f"lang/{language}/message.php": f"<?php\nreturn [\n    'no' => '{no}',\n    'success' => '{yes}.',\n];\n"
        for language, (no, yes) in TEXTS.items()
    }
    for path, text in (files | GUIDES).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def paths(project: Workspace, query: str, globs: tuple[str, ...] = ()) -> list[str]:
    return list(dict.fromkeys(hit.path for hit in project.search(query, globs=globs).code))


def test_a_question_finds_the_text_in_english(project: Workspace) -> None:
    assert paths(project, "message that an asset was checked out")[0] == "lang/en-US/message.php"
    assert paths(project, "guide to checkout of assets in the documentation")[0] == "docs/guide.md"


def test_a_message_that_nobody_has_translated_is_shown_in_english_alone(project: Workspace) -> None:
    hits = project.search("The asset is not available for checkout").code
    assert [hit.path for hit in hits if hit.match == "exact"] == ["lang/en-US/message.php"]


def test_a_message_in_another_language_is_found_there(project: Workspace) -> None:
    assert paths(project, "Das Asset kann nicht ausgegeben werden")[0] == "lang/de-DE/message.php"


def test_a_filter_finds_the_other_languages(project: Workspace) -> None:
    assert paths(project, "an asset was checked out", globs=("lang/am-ET",)) == ["lang/am-ET/message.php"]


def test_an_exact_search_lists_all_languages_that_in_english_first(project: Workspace) -> None:
    found = paths(project, '"not available for checkout"')
    assert found == ["lang/en-US/message.php", "lang/am-ET/message.php", "lang/en-GB/message.php"]
