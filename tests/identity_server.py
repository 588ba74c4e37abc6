"""A server on this machine that speaks as GitHub, GitLab and OpenID Connect do, for tests of signing in."""

from __future__ import annotations

import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

CLIENT, SECRET = "cairn-client", "cairn-secret"


@cache
def _key_of_all() -> RSAPrivateKey:
    """Return a key; it takes a second, so there is one for all tests."""
    return generate_private_key(65537, 2048)


@dataclass
class Someone:
    """A person there: their id, their name, and the repositories they may read, True where they may also write."""

    number: int
    name: str
    repositories: dict[str, bool] = field(default_factory=dict)
    is_active: bool = True


class IdentityServer:
    """Use it with `with`. Its people agree to a sign-in when `agree` says so."""

    def __init__(self) -> None:
        self.is_away = False
        self.interval_seconds = 5
        self.at_once: Someone | None = None  # who agrees to whatever begins
        self.agreed: dict[str, Someone | str] = {}  # by device code: who agreed, or the error to tell
        self.codes: list[str] = []
        self.tokens: dict[str, Someone] = {}
        self.refreshes: dict[str, Someone] = {}
        self.asked: list[str] = []
        self.claims: dict[str, Any] = {}  # of the next ID tokens, instead of the right ones
        self.headers: dict[str, Any] = {}
        self.gives_refresh_tokens = True
        self.failing: dict[int, int] = {}  # by the number of a person, the status of what is asked with their token
        self.per_page = 2
        self.key = _key_of_all()
        self.key_name = "one"
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def agree(self, who: Someone | str) -> None:
        """Let somebody agree to the newest sign-in, or end it with an error."""
        self.agreed[self.codes[-1]] = who

    def forget(self, who: Someone) -> None:
        """Accept nothing any more that was given for somebody."""
        for given in (self.tokens, self.refreshes):
            for token in [token for token, person in given.items() if person is who]:
                del given[token]

    def expire(self) -> None:
        """Let all access tokens expire."""
        self.tokens.clear()

    # -- answers ------------------------------------------------------------------------------------------------------

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self, {})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                server.answer(self, dict(parse_qsl(body)))

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        return Handler

    def answer(self, handler: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        """Answer one request."""
        parts = urlsplit(handler.path)
        self.asked.append(parts.path)
        query = dict(parse_qsl(parts.query))
        status, link = 503, ""
        document: Any = {}
        if not self.is_away:
            status, document, link = self._document(parts.path, query, form, handler.headers.get("authorization", ""))
        data = json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(data)))
        if link:
            handler.send_header("link", f'<{self.url}{link}>; rel="next"')
        handler.end_headers()
        handler.wfile.write(data)

    def _document(self, path: str, query: dict[str, str], form: dict[str, str], shown: str) -> tuple[int, Any, str]:
        if path == "/.well-known/openid-configuration":
            return 200, self._configuration(), ""
        if path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return 200, {"keys": [{**public, "kid": self.key_name, "use": "sig", "alg": "RS256"}]}, ""
        if path in ("/login/device/code", "/oauth/authorize_device", "/device"):
            return self._begin(form)
        if path in ("/login/oauth/access_token", "/oauth/token", "/token"):
            status, document = self._give(form)
            # GitHub tells errors with the status 200.
            return (200 if path.startswith("/login") else status), document, ""
        return self._resource(path, query, self.tokens.get(shown.removeprefix("Bearer ")))

    def _configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "device_authorization_endpoint": f"{self.url}/device",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def _begin(self, form: dict[str, str]) -> tuple[int, Any, str]:
        if form.get("client_id") != CLIENT:
            return 401, {"error": "invalid_client"}, ""
        self.codes.append(secrets.token_hex(20))
        if self.at_once is not None:
            self.agree(self.at_once)
        begun = {
            "device_code": self.codes[-1],
            "user_code": "WDJB-MJHT",
            "verification_uri": f"{self.url}/activate",
            "verification_uri_complete": f"{self.url}/activate?user_code=WDJB-MJHT",
            "expires_in": 900,
            "interval": self.interval_seconds,
        }
        return 200, begun, ""

    def _give(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if form.get("client_id") != CLIENT or form.get("client_secret") != SECRET:
            return 401, {"error": "invalid_client"}
        if form["grant_type"] == "refresh_token":
            someone = self.refreshes.pop(form["refresh_token"], None)
            return (400, {"error": "invalid_grant"}) if someone is None else (200, self._tokens(someone))
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code"
        found = self.agreed.get(form["device_code"], "authorization_pending")
        return (400, {"error": found}) if isinstance(found, str) else (200, self._tokens(found))

    def _tokens(self, someone: Someone) -> dict[str, Any]:
        access, refresh = secrets.token_hex(20), secrets.token_hex(20)
        self.tokens[access] = someone
        given = {"access_token": access, "token_type": "bearer", "expires_in": 7200, "id_token": self.id_token(someone)}
        if self.gives_refresh_tokens:
            self.refreshes[refresh] = someone
            given["refresh_token"] = refresh
        return given

    def id_token(self, someone: Someone) -> str:
        """Return an ID token, signed with the key that is shown now."""
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": CLIENT, "sub": str(someone.number), "preferred_username": someone.name,
            "iat": now, "exp": now + 300, **self.claims,
        }  # fmt: skip
        kept = {name: value for name, value in claims.items() if value is not None}
        headers = {"kid": self.key_name, **self.headers}
        if headers.get("alg", "RS256") != "RS256":
            return jwt.encode(
                kept, "x" * 32 if headers["alg"] == "HS256" else "", algorithm=headers["alg"], headers=headers
            )
        return jwt.encode(kept, self.key, algorithm="RS256", headers=headers)

    def _resource(self, path: str, query: dict[str, str], who: Someone | None) -> tuple[int, Any, str]:
        if who is None:
            return 401, {"message": "Bad credentials"}, ""
        if status := self.failing.get(who.number):
            return status, {}, ""
        if path == "/api/v3/user":
            return 200, {"id": who.number, "login": who.name}, ""
        if path == "/api/v4/user":
            return 200, {"id": who.number, "username": who.name, "state": "active" if who.is_active else "blocked"}, ""
        if path == "/api/v3/user/installations":
            return 200, {"total_count": 1, "installations": [{"id": 77}]}, ""
        if path == "/api/v3/user/installations/77/repositories":
            found, link = self._page(sorted(who.repositories), path, query)
            return 200, {"repositories": [self._at_github(who, name) for name in found]}, link
        if path == "/api/v4/projects":
            level = int(query["min_access_level"])
            names = sorted(name for name, writes in who.repositories.items() if level <= (30 if writes else 20))
            found, link = self._page(names, f"{path}?min_access_level={level}&membership=true", query)
            return (
                200,
                [{"path_with_namespace": name, "http_url_to_repo": f"{self.url}/{name}.git"} for name in found],
                link,
            )
        return 404, {"message": "Not Found"}, ""

    def _at_github(self, who: Someone, name: str) -> dict[str, Any]:
        permissions = {"admin": False, "push": who.repositories[name], "pull": True}
        return {"full_name": name, "clone_url": f"{self.url}/{name}.git", "permissions": permissions}

    def _page(self, names: list[str], path: str, query: dict[str, str]) -> tuple[list[str], str]:
        page = int(query.get("page", "1"))
        more = len(names) > page * self.per_page
        joint = "&" if "?" in path else "?"
        found = names[(page - 1) * self.per_page : page * self.per_page]
        return found, f"{path}{joint}page={page + 1}" if more else ""
