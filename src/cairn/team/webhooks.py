"""What GitHub and GitLab announce: whose grants are to be asked for again. An announcement never grants anything."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cairn.errors import AccessError, RequestError
from cairn.source.origins import repository_identity


class Doubt(NamedTuple):
    """Whose grants may have changed: of one person, of one repository, or of anybody."""

    subject: str | None = None
    repository: str | None = None


# Where each event of GitHub names the person that it is about. Those without one are about a repository, or anybody.
_PEOPLE: Mapping[str, tuple[str, ...]] = {
    "member": ("member",),
    "membership": ("member",),
    "organization": ("membership", "user"),
    "org_block": ("blocked_user",),
    "github_app_authorization": ("sender",),
}
_OTHERS = ("team", "team_add", "repository", "installation", "installation_repositories", "installation_target")


_IS_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}").fullmatch


def check_sender(kind: str, headers: Mapping[str, str], secret: str) -> None:
    """Refuse what cannot come from a provider of some kind, before its body is read.

    Raises:
        AccessError: if no announcements are expected, or this one has no signature, or not the secret token.
    """
    if not secret or kind not in ("github", "gitlab"):
        raise AccessError("announcements are not expected here", "set CAIRN_TEAM_WEBHOOK_SECRET")
    if kind == "gitlab":
        _check_token(headers, secret)
    elif not _IS_SIGNATURE(headers.get("x-hub-signature-256", "")):
        raise _unsigned()


def _check_token(headers: Mapping[str, str], secret: str) -> None:
    if not hmac.compare_digest(secret.encode(), headers.get("x-gitlab-token", "").encode()):
        raise _unsigned()


def read_github(headers: Mapping[str, str], body: bytes | bytearray, secret: str) -> Doubt | None:
    """Return what an announcement of GitHub is about; None if it concerns nobody's grants.

    Raises:
        AccessError: if its signature is not right.
        RequestError: if it makes no sense.
    """
    wanted = "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex()
    if not hmac.compare_digest(wanted.encode(), headers.get("x-hub-signature-256", "").encode()):
        raise _unsigned()
    event, payload = headers.get("x-github-event", ""), _payload(body)
    if event in _PEOPLE:
        person: Any = payload
        for name in _PEOPLE[event]:
            person = person.get(name) if isinstance(person, dict) else None
        return Doubt(subject=_id(person))
    if event not in _OTHERS:
        return None
    repository = payload.get("repository")
    return Doubt(repository=_repository(repository.get("clone_url")) if isinstance(repository, dict) else None)


def read_gitlab(headers: Mapping[str, str], body: bytes | bytearray, secret: str, address: str) -> Doubt | None:
    """Return what an announcement of GitLab, of a group or of the system, is about; None as `read_github`.

    Raises:
        AccessError: if it comes without the secret token.
        RequestError: if it makes no sense.
    """
    _check_token(headers, secret)
    payload = _payload(body)
    event = str(payload.get("event_name", ""))
    if event.startswith("user_"):
        number = payload.get("user_id")
        return Doubt(subject=str(number) if isinstance(number, int) else None)
    if event.startswith("project_"):
        # A project that moved is known by its old place.
        path = payload.get("old_path_with_namespace") or payload.get("path_with_namespace")
        return Doubt(repository=_repository(f"https://{urlsplit(address).hostname}/{path}" if path else None))
    return Doubt() if event.startswith(("group_", "subgroup_")) else None


def _payload(body: bytes | bytearray) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError("the body is not JSON", "let the webhook send JSON") from error
    if not isinstance(payload, dict):
        raise RequestError("the body is not a JSON object", "let the webhook send JSON")
    return payload


def _id(person: object) -> str | None:
    """Return the id of a person; None, which stands for anybody, if an announcement does not tell it."""
    number = person.get("id") if isinstance(person, dict) else None
    return str(number) if isinstance(number, int) else None


def _repository(url: object) -> str | None:
    return (repository_identity(url) or None) if isinstance(url, str) else None


def _unsigned() -> AccessError:
    return AccessError("this does not come from the provider", "give the webhook and the server the same secret")
