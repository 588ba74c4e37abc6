"""Tests of reading issues as trackers and mail programs export them."""

from __future__ import annotations

import json

import pytest

from cairn.search.any_length import understand_text
from cairn.search.exported import plain_issue

TITLE = "Carts cost too much when they are empty"
BODY = "The till says 7.\n\nIt should say 0, see `Cart.total`."
PLAIN = f"{TITLE}\n\n{BODY}"
GITHUB = {"title": TITLE, "body": BODY.replace("\n", "\r\n"), "number": 7, "author": {"login": "maria"}, "labels": []}
PARAGRAPHS = [
    {"type": "paragraph", "content": [{"type": "text", "text": "The till "}, {"type": "text", "text": "says 7."}]},
    {"type": "codeBlock", "content": [{"type": "text", "text": "Cart().total()"}]},
]


def test_a_record_of_github_is_its_title_and_its_text() -> None:
    assert plain_issue(json.dumps(GITHUB)) == PLAIN
    assert plain_issue(json.dumps(GITHUB, indent=2)) == PLAIN
    assert plain_issue(json.dumps([GITHUB])) == PLAIN


def test_comments_and_reviews_follow_wherever_a_record_has_them() -> None:
    comments = [{"body": "I saw that, too", "author": {"login": "joe"}}]
    assert plain_issue(json.dumps({**GITHUB, "comments": comments})) == f"{PLAIN}\n\nI saw that, too"
    nodes = {"data": {"repository": {"issue": {**GITHUB, "comments": {"nodes": comments}}}}}
    assert plain_issue(json.dumps(nodes)) == f"{PLAIN}\n\nI saw that, too"


def test_a_comment_of_a_review_has_its_hunk_below_its_file() -> None:
    comment = {"id": 1, "path": "src/cart.py", "diff_hunk": "@@ -1 +1 @@\n-a = 1\n+a = 2", "body": "Why two of these?"}
    item = understand_text(json.dumps(comment)).item
    assert item is not None
    assert [(hunk.path, hunk.changed) for hunk in item.hunks] == [("src/cart.py", ["a = 1", "a = 2"])]
    assert item.subject == "Why two of these?"


def test_records_of_jira_and_gitlab_are_read() -> None:
    jira = {"key": "PAY-7", "fields": {"summary": TITLE, "description": {"type": "doc", "content": PARAGRAPHS}}}
    assert plain_issue(json.dumps(jira)) == f"{TITLE}\n\nThe till says 7.\nCart().total()"
    assert plain_issue(json.dumps({"iid": 7, "title": TITLE, "description": BODY})) == PLAIN


def test_what_gh_prints_where_nobody_looks_is_its_title_and_its_text() -> None:
    text = f"title:\t{TITLE}\nstate:\tOPEN\nauthor:\tmaria\nlabels:\t\nnumber:\t7\n--\n{BODY}"
    assert plain_issue(text) == PLAIN


@pytest.mark.parametrize(
    "subject", [TITLE, f"Re: [shop-dev] {TITLE}", f"AW: Fwd: {TITLE}", TITLE.replace(" when", "\n when")]
)
def test_a_mail_is_its_subject_and_what_it_says(subject: str) -> None:
    head = f"From: Maria <m@example.com>\nDate: Mon, 3 Mar 2025 10:00:00 +0100\nSubject: {subject}\n"
    for wrote in (
        "",
        "On Sun, 2 Mar 2025, Joe wrote:\n",
        "On Sun, 2 Mar 2025 at 10:00 Joe Doe <joe@example.com>\nwrote:\n",
    ):
        assert plain_issue(f"{head}\n{wrote}{BODY}") == PLAIN


def test_a_mail_as_a_file_has_other_line_ends() -> None:
    mail = f"From: Maria <m@example.com>\nDate: today\nSubject: {TITLE}\n\n{BODY}"
    assert plain_issue(mail.replace("\n", "\r\n")) == PLAIN


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "shop", "version": "1.0.0", "description": "Sells things to people on the web"}',
        '{"title": "Config", "description": "What a shop may set, by name", "type": "object", "properties": {}}',
        '{"level": "error", "msg": "cannot open the till of the shop", "time": "2025-03-03T10:00:00Z"}',
        '{"id": 7, "title": "Empty carts"}',
        '{"title": "not closed, and so no record at all"',
        "[a-z]+ may be a pattern of four words",
        "[" * 100_000,
        '{"data": ' * 5_000 + "1" + "}" * 5_000,
        "Subject: a line that is no head of a mail\nand more",
        "title:\tno fields and no line of dashes",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert plain_issue(text) == text


def test_a_record_is_looked_for_as_it_stands_where_that_is_asked_for() -> None:
    text = json.dumps({"id": 7, "body": "four words or more"})
    assert understand_text(text, "literal").pattern == text
    assert understand_text(text).text == "four words or more"


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (
            [{"filePath": "/src/cart.ts", "messages": [{"ruleId": "no-var", "message": "Use let.", "line": 7}]}],
            "/src/cart.ts:7: Use let.",
        ),
        (
            [{"filename": "src/cart.py", "location": {"row": 7, "column": 1}, "message": "Not used"}],
            "src/cart.py:7: Not used",
        ),
        ({"file": "src/cart.py", "line": 7, "message": "Not used"}, "src/cart.py:7: Not used"),
        (
            {"files": [{"path": "cart.rb", "offenses": [{"message": "Too long", "location": {"start_line": 7}}]}]},
            "cart.rb:7: Too long",
        ),
        ({"Issues": [{"Text": "not checked", "Pos": {"Filename": "cart.go", "Line": 7}}]}, "cart.go:7: not checked"),
        (
            {"message": {"message": "not used", "spans": [{"file_name": "src/cart.rs", "line_start": 7}]}},
            "src/cart.rs:7: not used",
        ),
        (
            {
                "runs": [
                    {
                        "results": [
                            {
                                "message": {"text": "not used"},
                                "locations": [
                                    {
                                        "physicalLocation": {
                                            "artifactLocation": {"uri": "file:///src/cart.c"},
                                            "region": {"startLine": 7},
                                        }
                                    }
                                ],
                            }
                        ]
                    }
                ]
            },
            "/src/cart.c:7: not used",
        ),
        (
            {
                "values": [
                    {
                        "type": "CartError",
                        "value": "no cart",
                        "stacktrace": {
                            "frames": [
                                {"filename": "run.py", "function": "main", "lineno": 3},
                                {"filename": "cart.py", "abs_path": "/src/cart.py", "function": "add", "lineno": 7},
                            ]
                        },
                    }
                ]
            },
            '  File "run.py", line 3, in main\n  File "/src/cart.py", line 7, in add\nCartError: no cart',
        ),
    ],
)
def test_what_tools_report_in_json_is_read_as_places_and_frames(report: object, said: str) -> None:
    assert plain_issue(json.dumps(report)) == said
    assert plain_issue(json.dumps(report, indent=2)) == said


def test_reports_in_lines_of_json_are_read_each_and_no_more_than_some() -> None:
    lines = [json.dumps({"file": "cart.py", "line": number, "message": "no"}) for number in range(1, 10_000)]
    assert plain_issue("\n".join(["{not JSON", *lines])).split("\n")[:2] == ["cart.py:1: no", "cart.py:2: no"]
    assert plain_issue("\n".join(lines)).count("\n") < 60
