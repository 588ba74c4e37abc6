"""Speaks OAuth with a provider of identities: the device flow (RFC 8628), renewal, and the requests that follow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from cairn.errors import IdentityError

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_TIMEOUT = httpx.Timeout(5.0, connect=2.0)
_MAX_BYTES = 5_000_000
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_WAITING = ("authorization_pending", "slow_down", "access_denied", "expired_token")
_LONGEST_SECONDS, _DEFAULT_REST = 1_800, 5


class CredentialRefusedError(Exception):
    """A provider does not, or no longer, accept what it gave before."""


class ProviderAwayError(IdentityError):
    """A provider answers nobody at the moment."""


class DeviceError(Exception):
    """A sign-in has not come to a token: the word of RFC 8628 for the reason."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


class Credential(NamedTuple):
    """What a provider gives to a client for a person: secrets, empty where it gives none."""

    access_token: str
    refresh_token: str = ""
    id_token: str = ""


class ProviderCode(NamedTuple):
    """What a provider says at the beginning of the device flow, by the names of RFC 8628."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


class ProviderClient:
    """A client that a provider knows.

    Args:
        client_id: its name there.
        client_secret: empty for a public client.
        is_basic: send the secret in the header `Authorization` and not among the fields.
    """

    def __init__(self, client_id: str, client_secret: str = "", *, is_basic: bool = False) -> None:
        self.client_id = client_id
        self._secret = client_secret
        self.is_basic = is_basic
        self._http = httpx.Client(timeout=_TIMEOUT, follow_redirects=False, headers={"accept": "application/json"})

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def begin(self, url: str, scope: str) -> ProviderCode:
        """Begin the device flow.

        Raises:
            IdentityError: if the provider cannot be reached, or does not answer as the RFC says.
        """
        answer = self._post(url, {"scope": scope} if scope else {})
        page = _text(answer, "verification_uri") or _text(answer, "verification_url")
        code = ProviderCode(
            _text(answer, "device_code"),
            _text(answer, "user_code"),
            page,
            _text(answer, "verification_uri_complete"),
            min(_number(answer, "expires_in", _LONGEST_SECONDS), _LONGEST_SECONDS),
            _number(answer, "interval", _DEFAULT_REST),
        )
        if not (code.device_code and code.user_code and is_safe(code.verification_uri)):
            raise IdentityError(f"the provider of identities begins no sign-in: {_problem(answer)}", _SEE_CLIENT)
        return code

    def poll(self, url: str, device_code: str) -> Credential:
        """Return what the provider gives once the person has agreed.

        Raises:
            DeviceError: if they have not yet, refused, or took too long.
            IdentityError: as `begin`.
        """
        answer = self._post(url, {"grant_type": DEVICE_GRANT, "device_code": device_code})
        problem = _text(answer, "error")
        if problem in _WAITING:
            raise DeviceError(problem)
        if problem in ("invalid_grant", "incorrect_device_code"):
            raise DeviceError("expired_token")
        return self._credential(answer)

    def renew(self, url: str, credential: Credential) -> Credential:
        """Return a fresh credential for one that has expired.

        Raises:
            CredentialRefusedError: if the provider gives none any more.
            IdentityError: as `begin`.
        """
        if not credential.refresh_token:
            raise CredentialRefusedError
        fields = {"grant_type": "refresh_token", "refresh_token": credential.refresh_token}
        answer = self._post(url, fields)
        if _text(answer, "error") in ("invalid_grant", "bad_refresh_token", "unauthorized_client"):
            raise CredentialRefusedError
        fresh = self._credential(answer)
        return fresh._replace(refresh_token=fresh.refresh_token or credential.refresh_token)

    def _credential(self, answer: Mapping[str, Any]) -> Credential:
        credential = Credential(*(_text(answer, name) for name in Credential._fields))
        if not credential.access_token:
            raise IdentityError(f"the provider of identities gives no token: {_problem(answer)}", _SEE_CLIENT)
        return credential

    def get(self, url: str, access_token: str = "") -> Any:  # noqa: ANN401 - JSON
        """Return a JSON document.

        Raises:
            CredentialRefusedError: if the provider does not accept the token.
            IdentityError: as `begin`.
        """
        return self._get(url, access_token)[0]

    def get_pages(self, url: str, access_token: str, most: int) -> list[Any]:
        """Return all pages of a list, as their header `Link` connects them.

        Raises:
            CredentialRefusedError, IdentityError: as `get`; also for more pages than `most`.
        """
        pages: list[Any] = []
        origin = urlsplit(url)[:2]
        while url:
            document, url = self._get(url, access_token)
            pages.append(document)
            if url and (urlsplit(url)[:2] != origin or len(pages) == most):
                raise IdentityError("the provider of identities lists more than can be read", _SEE_CLIENT)
        return pages

    def _get(self, url: str, access_token: str) -> tuple[Any, str]:
        headers = {"authorization": f"Bearer {access_token}"} if access_token else {}
        response, body = self._send(self._http.build_request("GET", url, headers=headers))
        if access_token and response.status_code in (401, 403):
            if response.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in response.headers:
                raise IdentityError("the provider of identities wants fewer requests", _LATER)
            raise CredentialRefusedError
        if response.status_code != 200:
            raise _unexpected(response)
        return _json(body), response.links.get("next", {}).get("url", "")

    def _post(self, url: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """Return the answer to a form; GitHub tells errors with the status 200, others with 400 or 401."""
        form, auth = {"client_id": self.client_id, **fields}, None
        if self._secret and self.is_basic:
            auth = (self.client_id, self._secret)
        elif self._secret:
            form["client_secret"] = self._secret
        request = self._http.build_request("POST", url, data=form)
        if auth is not None:
            request = next(httpx.BasicAuth(*auth).sync_auth_flow(request))
        response, body = self._send(request)
        if response.status_code not in (200, 400, 401, 403):
            raise _unexpected(response)
        answer = _json(body)
        return answer if isinstance(answer, dict) else {}

    def _send(self, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        if not is_safe(str(request.url)):
            raise IdentityError(f"{_SENSELESS}: {request.url.scheme} is not safe", _LATER)
        body = b""
        try:
            response = self._http.send(request, stream=True)
            try:
                for part in response.iter_bytes():
                    body += part
                    if len(body) > _MAX_BYTES:
                        raise IdentityError(f"{_SENSELESS}: its answer is too large", _LATER)
            finally:
                response.close()
        except httpx.HTTPError as error:
            raise ProviderAwayError(f"{_SENSELESS}: {type(error).__name__}", _LATER) from error
        return response, body


_SEE_CLIENT = "see how the client is registered there, and what CAIRN_TEAM_SIGN_IN says"
_LATER = "ask again in a moment"
_SENSELESS = "the provider of identities does not answer as it should"


def is_safe(url: str) -> bool:
    """Return whether secrets may go to an address: over https, or to this machine."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    except ValueError:
        return False


def _unexpected(response: httpx.Response) -> IdentityError:
    """Return an error for a status; another answer than that of a broken server may be about one person alone."""
    kind = ProviderAwayError if response.is_server_error else IdentityError
    return kind(f"{_SENSELESS}: it answers {response.status_code}", _LATER)


def _json(body: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise IdentityError(f"{_SENSELESS}: that is not JSON", _LATER) from error


def _text(answer: Mapping[str, Any], name: str) -> str:
    value = answer.get(name)
    return value if isinstance(value, str) else ""


def _number(answer: Mapping[str, Any], name: str, default: int) -> int:
    value = answer.get(name)
    return value if isinstance(value, int) and value > 0 else default


def _problem(answer: Mapping[str, Any]) -> str:
    return _text(answer, "error")[:100] or "the answer lacks what it needs"


def rows(pages: Sequence[Any], name: str = "") -> list[dict[str, Any]]:
    """Return the objects in pages of lists, or of objects that have such a list under a name."""
    lists = [page.get(name) if name and isinstance(page, dict) else page for page in pages]
    return [row for page in lists if isinstance(page, list) for row in page if isinstance(row, dict)]
