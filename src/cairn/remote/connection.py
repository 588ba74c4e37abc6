"""The connection to one team server over HTTP, within limits of time and size; the token goes nowhere else."""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import httpx

from cairn import __version__
from cairn.errors import CairnError, ServerAwayError, SignInError, UnreachableError, error_from
from cairn.hints import Hint
from cairn.model_settings import is_loopback
from cairn.remote.conforming import clean
from cairn.remote.servers import TeamServer

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 10.0
MAX_ANSWER_BYTES = 16_000_000
_MAX_MESSAGE_CHARS, _MAX_REASON_CHARS = 500, 100
_ERRNO = re.compile(r"^\[Errno -?\d+\]")
# Errors about the question itself, which mean the same on any machine.
_OF_QUESTION = (
    *("ambiguous", "diff", "not-available", "not-found", "path", "query", "request", "revision"),
    *("symbol-unknown", "unparsable"),
    *("authority", "scope", "too-large"),
)
_FORM = "application/x-www-form-urlencoded"


class TeamConnection:
    """Sends requests to a server; any number of threads may share it.

    Args:
        server: its URL, and the token for each request.
        connect_seconds: how long it may take to connect.
        answer_seconds: how long a whole request may take, once the host's name is resolved.
    """

    def __init__(
        self, server: TeamServer, connect_seconds: float = CONNECT_SECONDS, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._server = server
        self._connect_seconds = connect_seconds
        self._answer_seconds = answer_seconds

    def close(self) -> None:
        """Close all connections."""
        if "_http" in self.__dict__:
            self._http.close()

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to a GET request; errors as for `post`."""
        return self._document_of(*self._send("GET", path, None, ""))

    def post(self, path: str, document: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """Send a document and return the answer.

        Raises:
            SignInError: if the server does not accept the token.
            UnreachableError: if it cannot be reached.
            ServerAwayError: if it takes too long, or its answer makes no sense.
            CairnError: its error about the question.
        """
        return self._document_of(*self._send("POST", path, json.dumps(document).encode("ascii"), "application/json"))

    def post_form(self, path: str, fields: Mapping[str, str]) -> tuple[int, Any]:
        """Send a form and return the status and the answer, None if that is not JSON.

        Raises:
            ServerAwayError: as `post`.
        """
        status, data = self._send("POST", path, urlencode(fields).encode("ascii"), _FORM)
        return status, _json_of(data)

    def _send(self, method: str, path: str, content: bytes | None, media_type: str) -> tuple[int, bytes]:
        server = self._server
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": f"cairn/{__version__}"}
        if server.token:
            headers["Authorization"] = f"Bearer {server.token}"
        if content is not None:
            headers["Content-Type"] = media_type
        deadline = time.monotonic() + self._answer_seconds
        try:
            try:
                status, data = self._read(method, path, content, headers, deadline)
            except httpx.RemoteProtocolError:  # it stopped while answering; another node may be there by now
                status, data = self._read(method, path, content, headers, deadline)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._failure_of(error) from error
        if 300 <= status < 400:
            raise ServerAwayError(
                f"{server.host} sends requests elsewhere, and a token is not sent after them",
                Hint("sign in to the address that it has now", "login", url=None),
            )
        return status, data

    def _read(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str], deadline: float
    ) -> tuple[int, bytes]:
        timeout = httpx.Timeout(self._answer_seconds, connect=self._connect_seconds)
        data = bytearray()
        with self._opened().stream(
            method, f"{self._server.url}{path}", content=content, headers=headers, timeout=timeout
        ) as answer:
            for part in answer.iter_raw():
                data += part
                # A server that trickles bytes would never exceed the timeout of a single read.
                if time.monotonic() > deadline:
                    raise self._slow()
                if len(data) > MAX_ANSWER_BYTES:
                    raise self._away(f"its answer is larger than {MAX_ANSWER_BYTES:,} bytes")
            return answer.status_code, bytes(data)

    def _failure_of(self, error: httpx.HTTPError | httpx.InvalidURL) -> ServerAwayError:
        if isinstance(error, httpx.ConnectTimeout):
            return self._unreachable(f"no connection within {self._connect_seconds:g} s")
        if isinstance(error, httpx.TimeoutException):
            return self._slow()
        if refused := _refusal_of_certificate(error):
            return self._unreachable(
                f"its certificate is not to be trusted ({refused})",
                Hint(
                    "if your organisation signs its own, name its certificate in SSL_CERT_FILE and sign in",
                    "login",
                    url=self._server.url,
                ),
            )
        why = f"the connection failed ({_words_of(error)})"
        return self._unreachable(why) if isinstance(error, httpx.ConnectError | httpx.ProxyError) else self._away(why)

    def _document_of(self, status: int, data: bytes) -> Any:  # noqa: ANN401 - JSON
        """Return the document in an answer, or raise the error in it."""
        if status == 401:
            raise SignInError(
                f"{self._server.host} does not accept the token: it has expired, was revoked, or is wrong",
                Hint.of("login", url=self._server.url),
            )
        document = _json_of(data)
        if status >= 400:
            raise self._error_of(status, document)
        if status != 200 or document is None:
            raise self._away("its answer cannot be read")
        return document

    def _error_of(self, status: int, document: Any) -> CairnError:  # noqa: ANN401 - JSON
        fields = document if isinstance(document, dict) else {}
        code, message, hint = (str(fields.get(name, "")) for name in ("code", "message", "hint"))
        if not code or not message:
            why = f"it answers with status {status}"
            return self._unreachable(why) if status >= 500 else self._away(why)  # what stands before it has no server
        message, hint = (clean(text)[:_MAX_MESSAGE_CHARS] for text in (message, hint))
        if code == "scope":
            return SignInError(f"{self._server.host}: {message}", Hint.of("login", url=self._server.url))
        return error_from(code, message, hint) if code in _OF_QUESTION else self._away(message)

    def _slow(self) -> ServerAwayError:
        return self._away(f"no answer within {self._answer_seconds:g} s")

    def _unreachable(self, why: str, hint: Hint | None = None) -> UnreachableError:
        return UnreachableError(f"{self._server.host} does not answer: {why}", hint or SEE_SERVERS)

    def _away(self, why: str) -> ServerAwayError:
        return ServerAwayError(f"{self._server.host} does not answer: {why}", SEE_SERVERS)

    def _opened(self) -> httpx.Client:
        try:
            return self._http
        except (ImportError, ValueError, OSError) as error:  # httpx raises this for a bad ALL_PROXY or SSL_CERT_FILE
            why = f"the proxy or the certificates that the environment names cannot be used ({type(error).__name__})"
            raise self._unreachable(why) from error

    @cached_property
    def _http(self) -> httpx.Client:
        # A proxy in the environment is for other machines. Redirects are not followed: they could leak the token.
        # Certificates in the environment are for this one, too.
        trusted = httpx.create_ssl_context() if self._server.url.startswith("https:") else True
        return httpx.Client(verify=trusted, trust_env=not is_loopback(self._server.url), follow_redirects=False)


SEE_SERVERS = Hint("this shows which servers answer", "login")


def _refusal_of_certificate(error: BaseException) -> str:
    """Return why a server's certificate was refused, empty if something else went wrong."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    return "" if cause is None else str(cause.verify_message)


def _words_of(error: Exception) -> str:
    """Return the system's message for an error, such as "Connection refused", or its class if there is none."""
    said = _ERRNO.sub("", clean(str(error))).strip()
    return said[:_MAX_REASON_CHARS] or type(error).__name__


def _json_of(data: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
