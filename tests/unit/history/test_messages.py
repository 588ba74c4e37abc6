from __future__ import annotations

import pytest

from cairn.history.messages import MAX_FILES, read_message, weigh
from cairn.history.past import BODY_FIELD, SUBJECT_FIELD
from cairn.source.commits import Commit, CommittedChange
from cairn.source.terms import term_hash


def said(message: str, n_files: int = 1) -> dict[int, int]:
    commit = Commit("0" * 40, 0, message, tuple(CommittedChange(f"{number}.py") for number in range(n_files)))
    return read_message(commit, lambda text: text).terms


@pytest.mark.parametrize(
    "subject",
    [
        'Revert "Add retries"',
        "Bump lodash from 4.17.20 to 4.17.21",
        "build(deps): bump actions/checkout from 3 to 4",
        "Release 2.0.1",
        "chore(release): prepare for 1.4.0",
        "Bump version to 3.1",
        "v1.2.3",
        "1.0.0-beta.2",
        "[maven-release-plugin] prepare release",
        "Prepare next development iteration 2.1",
        "",
    ],
)
def test_reverts_and_releases_weigh_nothing(subject: str) -> None:
    assert weigh(subject, 2) == 0


@pytest.mark.parametrize(
    "subject",
    [
        "Release the lock when a worker dies",
        "Merge overlapping ranges before they are drawn",
        "Update the cache when a key expires",
        "Bump the limit of open files",
        "Version negotiation falls back to HTTP/1.1",
        "fix(core): keep order of 2 handlers",
        "Tag spans with the route",
    ],
)
def test_commits_that_say_what_they_do_weigh_all(subject: str) -> None:
    assert weigh(subject, 2) == 1


@pytest.mark.parametrize(
    "subject",
    [
        *("Fix typo", "fix typos in docs", "Formatting", "Update CHANGELOG.md", "style: black"),
        *("Merge commit from fork", "Merge pull request #12 from someone/branch", "Merge branch 'main' into topic"),
    ],
)
def test_commits_about_form_and_those_that_only_say_merge_weigh_little(subject: str) -> None:
    assert 0 < weigh(subject, 2) < 1


def test_what_a_program_made_and_what_changes_very_many_files_weighs_nothing() -> None:
    assert weigh("Add retries", 1, by_program=True) == 0
    assert weigh("Add retries", MAX_FILES + 1) == 0
    assert weigh("Add retries", 0) == 0


def test_words_of_the_body_are_told_from_those_of_the_subject() -> None:
    terms = said("Retry uploads\n\nThe server drops connections.")
    assert terms[term_hash("upload")] == SUBJECT_FIELD
    assert terms[term_hash("server")] == BODY_FIELD


def test_a_merge_with_one_parent_is_known_by_what_its_body_says() -> None:
    commit = Commit(
        "0" * 40, 0, "Merge commit from fork\n\n* Check the host\n\nIt was spoofed.", (CommittedChange("a"),)
    )
    statement = read_message(commit, lambda text: text)
    assert (statement.subject, statement.weight) == ("Check the host", 1)
    assert statement.terms[term_hash("host")] == SUBJECT_FIELD
    assert statement.terms[term_hash("spoof")] == BODY_FIELD
    assert not {term_hash("merg"), term_hash("commit"), term_hash("fork")} & set(statement.terms)
    silent = read_message(commit._replace(message="Merge commit from fork"), lambda text: text)
    assert (silent.subject, silent.terms) == ("Merge commit from fork", {})


def test_a_merge_whose_body_names_a_release_or_conflicts_says_nothing_more() -> None:
    assert said("Merge pull request #1 from a/b\n\nRelease 2.0.1") == {}
    assert said("Merge branch 'a'\n\nConflicts:\n\tzebra.py") == {}


def test_trailers_links_and_numbers_of_issues_are_left_out() -> None:
    terms = said(
        "Retry uploads (#123)\n\nIt helps.\n\nSigned-off-by: Ada Lovelace <ada@example.org>\n"
        "Co-authored-by: Bob <b@x.org>\n"
        "Fixes #77\nhttps://example.org/zebra\nChange-Id: Ixyzzy\n(cherry picked from commit deadbeef)\n"
    )
    for word in ("lovelac", "bob", "zebra", "ixyzzi", "deadbeef", "123", "77"):
        assert term_hash(word) not in terms
    assert term_hash("help") in terms


def test_secrets_are_taken_out_before_anything_is_kept() -> None:
    commit = Commit("0" * 40, 0, "Use token hunter2 here\n\nand hunter2 there", (CommittedChange("a.py"),))
    statement = read_message(commit, lambda text: text.replace("hunter2", "[gone]"))
    assert statement.subject == "Use token [gone] here"
    assert term_hash("hunter2") not in statement.terms
    assert term_hash("hunter") not in statement.terms


def test_a_long_message_is_cut() -> None:
    statement = read_message(
        Commit(
            "0" * 40,
            0,
            "word " * 1_000 + "\n" + " ".join(f"w{number}x" for number in range(9_000)),
            (CommittedChange("a"),),
        ),
        lambda text: text,
    )
    assert len(statement.subject) <= 200
    assert len(statement.terms) <= 160
