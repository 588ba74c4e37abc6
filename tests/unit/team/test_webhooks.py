"""Announcements of GitHub and GitLab: whose grants each puts in doubt, with payloads as they document them."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest

from cairn.errors import AccessError, RequestError
from cairn.team.webhooks import Doubt, read_github, read_gitlab

SECRET = "It's a Secret to Everybody"
REPOSITORY = {
    "id": 1296269,
    "full_name": "octocat/Hello-World",
    "clone_url": "https://github.com/octocat/Hello-World.git",
}
OCTOCAT, SENDER = {"login": "octocat", "id": 583231}, {"login": "boss", "id": 1}
HELLO = "github.com/octocat/hello-world"


def from_github(event: str, body: bytes, signature: str | None = None) -> Doubt | None:
    right = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {"x-github-event": event, "x-hub-signature-256": right if signature is None else signature}
    return read_github(headers, body, SECRET)


def from_gitlab(payload: dict[str, Any], token: str = SECRET) -> Doubt | None:
    body = json.dumps(payload).encode()
    return read_gitlab({"x-gitlab-token": token}, body, SECRET, "https://git.example.org")


def test_a_signature_is_checked_as_github_computes_it() -> None:
    # The example of GitHub's page about validating deliveries.
    headers = {
        "x-github-event": "ping",
        "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    }
    with pytest.raises(RequestError, match="not JSON"):  # which is read after the signature was found right
        read_github(headers, b"Hello, World!", SECRET)
    with pytest.raises(AccessError):
        read_github(headers, b"Hello, World", SECRET)


@pytest.mark.parametrize(
    ("event", "payload", "doubt"),
    [
        ("member", {"action": "removed", "member": OCTOCAT, "repository": REPOSITORY}, Doubt(subject="583231")),
        ("membership", {"action": "removed", "scope": "team", "member": OCTOCAT, "team": {}}, Doubt(subject="583231")),
        ("organization", {"action": "member_removed", "membership": {"user": OCTOCAT}}, Doubt(subject="583231")),
        ("organization", {"action": "renamed"}, Doubt()),
        ("org_block", {"action": "blocked", "blocked_user": OCTOCAT}, Doubt(subject="583231")),
        ("github_app_authorization", {"action": "revoked", "sender": OCTOCAT}, Doubt(subject="583231")),
        ("team", {"action": "removed_from_repository", "repository": REPOSITORY, "team": {}}, Doubt(repository=HELLO)),
        ("team", {"action": "deleted", "team": {}}, Doubt()),
        ("repository", {"action": "privatized", "repository": REPOSITORY}, Doubt(repository=HELLO)),
        ("installation", {"action": "suspend", "installation": {"id": 1}}, Doubt()),
        ("installation_repositories", {"action": "removed", "repositories_removed": [{"id": 1}]}, Doubt()),
        ("member", {"action": "removed", "member": None}, Doubt()),
        ("push", {"ref": "refs/heads/main", "repository": REPOSITORY}, None),
        ("ping", {"zen": "Keep it logically awesome."}, None),
    ],
)
def test_an_event_of_github_doubts_whom_it_is_about(event: str, payload: dict[str, Any], doubt: Doubt | None) -> None:
    assert from_github(event, json.dumps({**payload, "sender": payload.get("sender", SENDER)}).encode()) == doubt


@pytest.mark.parametrize(
    ("payload", "doubt"),
    [
        ({"event_name": "user_remove_from_group", "user_id": 64, "group_path": "webhook-test"}, Doubt(subject="64")),
        ({"event_name": "user_update_for_group", "user_id": 64, "group_access": "Guest"}, Doubt(subject="64")),
        ({"event_name": "user_remove_from_team", "user_id": 41, "project_path": "shop"}, Doubt(subject="41")),
        ({"event_name": "user_destroy", "user_id": 41, "username": "js"}, Doubt(subject="41")),
        (
            {"event_name": "project_update", "path_with_namespace": "acme/Shop", "project_visibility": "private"},
            Doubt(repository="git.example.org/acme/shop"),
        ),
        (
            {
                "event_name": "project_transfer",
                "path_with_namespace": "new/shop",
                "old_path_with_namespace": "acme/shop",
            },
            Doubt(repository="git.example.org/acme/shop"),
        ),
        ({"event_name": "group_destroy", "group_id": 78, "path": "storecloud"}, Doubt()),
        ({"event_name": "subgroup_destroy", "group_id": 10, "full_path": "a/b"}, Doubt()),
        ({"event_name": "push", "user_id": 4}, None),
        ({"object_kind": "merge_request"}, None),
    ],
)
def test_an_event_of_gitlab_doubts_whom_it_is_about(payload: dict[str, Any], doubt: Doubt | None) -> None:
    assert from_gitlab(payload) == doubt


@pytest.mark.parametrize("signature", ["", "sha256=", "sha1=757107ea", "sha256=" + "0" * 64, "sha256=ü"])
def test_what_is_not_signed_is_refused(signature: str) -> None:
    with pytest.raises(AccessError):
        from_github("member", b"{}", signature)
    with pytest.raises(AccessError):
        from_gitlab({"event_name": "user_destroy", "user_id": 1}, signature)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_signed_and_makes_no_sense_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError):
        from_github("member", body)
