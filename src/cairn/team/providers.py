"""Providers of identities: any with OpenID Connect, and GitHub and GitLab, which also say who may read what."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

import jwt

from cairn.errors import ConfigError, IdentityError
from cairn.source.origins import repository_identity
from cairn.team.oauth import Credential, CredentialRefusedError, ProviderClient, ProviderCode, is_safe, rows

_PER_PAGE, _MAX_PAGES = 100, 200
_KEY_SECONDS = 600.0  # between two looks for the keys of a provider
_LEEWAY_SECONDS = 60
# No symmetric one: whoever can check such a signature can make it.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


class Identity(NamedTuple):
    """Who somebody is at a provider: an id that never changes, and the name they are known by now."""

    subject: str
    name: str


class ReadableRepository(NamedTuple):
    """A repository that somebody may read: what all its addresses have in common."""

    repository: str
    may_write: bool


Keep = Callable[[Credential], None]


class IdentityProvider(Protocol):
    """What signing in needs of a provider.

    Its methods raise `IdentityError` if it cannot be reached, and `CredentialRefusedError` if it does not accept what
    it gave before.

    Attributes:
        address: which one it is.
        kind: what it speaks.
    """

    address: str
    kind: str

    def begin(self) -> ProviderCode:
        """Begin a sign-in."""
        ...

    def poll(self, device_code: str) -> Credential:
        """Return what ends a sign-in; raises `DeviceError` before."""
        ...

    def identify(self, credential: Credential, age_seconds: float) -> Identity:
        """Return whose credential it is, for a sign-in that began so long ago."""
        ...

    def ask(self, credential: Credential, keep: Keep) -> list[ReadableRepository] | None:
        """Return what a person may read; None if that is not said here.

        Args:
            credential: of theirs.
            keep: is given a renewed credential before anything else is asked, for the one before may be worth nothing.
        """
        ...


class GitHub:
    """GitHub with a GitHub App that has the device flow on; its users see what it is installed in.

    Args:
        address: `https://github.com`, or of a GitHub Enterprise Server.
        client: of the App.
    """

    kind = "github"

    def __init__(self, address: str, client: ProviderClient) -> None:
        self.address = address
        self._client = client
        self._api = "https://api.github.com" if address == "https://github.com" else f"{address}/api/v3"

    def begin(self) -> ProviderCode:
        """Begin a sign-in."""
        return self._client.begin(f"{self.address}/login/device/code", "")

    def poll(self, device_code: str) -> Credential:
        """Return what ends a sign-in."""
        return self._client.poll(f"{self.address}/login/oauth/access_token", device_code)

    def identify(self, credential: Credential, age_seconds: float) -> Identity:
        """Return whose credential it is."""
        user = self._client.get(f"{self._api}/user", credential.access_token)
        return _identity(user, "login")

    def ask(self, credential: Credential, keep: Keep) -> list[ReadableRepository] | None:
        """Return what a person may read."""
        renew_at = f"{self.address}/login/oauth/access_token"
        return _ask_renewed(self._client, renew_at, credential, keep, self._repositories)

    def _repositories(self, token: str) -> list[ReadableRepository]:
        pages = self._client.get_pages(f"{self._api}/user/installations?per_page={_PER_PAGE}", token, _MAX_PAGES)
        found = []
        for installation in rows(pages, "installations"):
            url = f"{self._api}/user/installations/{int(installation['id'])}/repositories?per_page={_PER_PAGE}"
            for row in rows(self._client.get_pages(url, token, _MAX_PAGES), "repositories"):
                allowed = row.get("permissions") or {}
                if allowed.get("pull") is True:
                    found.append(_repository(self.address, row.get("clone_url"), may_write=allowed.get("push") is True))
        return found


class GitLab:
    """GitLab 17.2 or later with an application that may `read_api`.

    Args:
        address: such as `https://gitlab.com`.
        client: of the application.
    """

    kind = "gitlab"
    _READS, _WRITES = 20, 30  # the access levels of reporters and developers

    def __init__(self, address: str, client: ProviderClient) -> None:
        self.address = address
        self._client = client

    def begin(self) -> ProviderCode:
        """Begin a sign-in."""
        return self._client.begin(f"{self.address}/oauth/authorize_device", "read_api")

    def poll(self, device_code: str) -> Credential:
        """Return what ends a sign-in."""
        return self._client.poll(f"{self.address}/oauth/token", device_code)

    def identify(self, credential: Credential, age_seconds: float) -> Identity:
        """Return whose credential it is."""
        user = self._client.get(f"{self.address}/api/v4/user", credential.access_token)
        if isinstance(user, dict) and user.get("state", "active") != "active":
            raise CredentialRefusedError
        return _identity(user, "username")

    def ask(self, credential: Credential, keep: Keep) -> list[ReadableRepository] | None:
        """Return what a person may read."""
        return _ask_renewed(self._client, f"{self.address}/oauth/token", credential, keep, self._repositories)

    def _repositories(self, token: str) -> list[ReadableRepository]:
        addresses = {level: self._projects(token, level) for level in (self._READS, self._WRITES)}
        writable = set(addresses[self._WRITES])
        return [_repository(self.address, url, may_write=url in writable) for url in addresses[self._READS]]

    def _projects(self, token: str, level: int) -> list[str]:
        url = (
            f"{self.address}/api/v4/projects?membership=true&min_access_level={level}&simple=true"
            f"&order_by=id&sort=asc&pagination=keyset&per_page={_PER_PAGE}"
        )
        return [str(row.get("http_url_to_repo")) for row in rows(self._client.get_pages(url, token, _MAX_PAGES))]


class OpenIdConnect:
    """Any provider with OpenID Connect Discovery and the device flow; it says who somebody is, and nothing else.

    Args:
        address: of the issuer.
        client: as registered there.
        clock: seconds since 1970.
    """

    kind = "oidc"

    def __init__(self, address: str, client: ProviderClient, clock: Callable[[], float] = time.time) -> None:
        self.address = address
        self._client = client
        self._clock = clock
        self._known: dict[str, Any] = {}
        self._keys: jwt.PyJWKSet | None = None
        self._keys_at = 0.0

    def begin(self) -> ProviderCode:
        """Begin a sign-in."""
        offered = self._endpoints().get("scopes_supported") or []
        wanted = ["openid", "profile", "email", *(["offline_access"] if "offline_access" in offered else [])]
        return self._client.begin(self._endpoint("device_authorization_endpoint"), " ".join(wanted))

    def poll(self, device_code: str) -> Credential:
        """Return what ends a sign-in."""
        return self._client.poll(self._endpoint("token_endpoint"), device_code)

    def identify(self, credential: Credential, age_seconds: float) -> Identity:
        """Return whose credential it is."""
        claims = self._claims(credential.id_token)
        if claims["iat"] < self._clock() - age_seconds - _LEEWAY_SECONDS:
            raise IdentityError("an ID token is older than the sign-in that it is for", "sign in again")
        email = claims.get("email") if claims.get("email_verified") is True else None
        return Identity(claims["sub"], str(claims.get("preferred_username") or email or claims["sub"]))

    def ask(self, credential: Credential, keep: Keep) -> list[ReadableRepository] | None:
        """Renew the credential; that it is given shows that its person is still there."""
        if not credential.refresh_token:
            raise IdentityError("the provider of identities gives no refresh tokens", "sign in again once a day")
        fresh = self._client.renew(self._endpoint("token_endpoint"), credential)
        keep(fresh._replace(id_token=credential.id_token))
        if fresh.id_token:
            before = jwt.decode(credential.id_token, options={"verify_signature": False})  # it was checked at the time
            if self._claims(fresh.id_token)["sub"] != before["sub"]:
                raise CredentialRefusedError
        return None

    def _claims(self, id_token: str) -> dict[str, Any]:
        """Return what an ID token says, after its signature, issuer, audience and times were checked.

        No nonce: the device flow sends none, and the token comes from the provider itself.
        """
        try:
            header = jwt.get_unverified_header(id_token)
            claims: dict[str, Any] = jwt.decode(
                id_token,
                self._key(str(header.get("kid", ""))),
                algorithms=[name for name in _ALGORITHMS if name == header.get("alg")],
                audience=self._client.client_id,
                issuer=self.address,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["iss", "aud", "sub", "iat", "exp"]},
            )
        except (jwt.PyJWTError, ValueError) as error:
            raise IdentityError(f"an ID token is not valid: {error}", "sign in again") from error
        is_for_many = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", "" if is_for_many else self._client.client_id) != self._client.client_id:
            raise IdentityError("an ID token is for somebody else", "sign in again")
        return claims

    def _key(self, name: str) -> jwt.PyJWK:
        """Return the key of the provider that has a name; its keys are read again when it is new, but not too often."""
        now = self._clock()
        keys = {} if self._keys is None else {str(key.key_id or ""): key for key in self._keys.keys}
        if self._keys is None or now - self._keys_at > _KEY_SECONDS or (name not in keys and now - self._keys_at > 10):
            document = self._client.get(self._endpoint("jwks_uri"))
            self._keys = jwt.PyJWKSet.from_dict(document if isinstance(document, dict) else {})
            self._keys_at = now
            keys = {str(key.key_id or ""): key for key in self._keys.keys}
        if name not in keys:
            raise IdentityError("an ID token is signed with a key that its provider does not show", "sign in again")
        return keys[name]

    def _endpoint(self, name: str) -> str:
        url = self._endpoints().get(name)
        if not isinstance(url, str) or not is_safe(url):
            raise IdentityError(f"the provider of identities names no {name}", "take one with the device flow")
        return url

    def _endpoints(self) -> dict[str, Any]:
        if not self._known:
            found = self._client.get(f"{self.address.rstrip('/')}/.well-known/openid-configuration")
            if not isinstance(found, dict) or found.get("issuer") != self.address:
                raise IdentityError(
                    "the provider of identities says that it is another one", "name its issuer as it does"
                )
            methods = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
            self._client.is_basic = "client_secret_basic" in methods
            self._known = found
        return self._known


def _ask_renewed(
    client: ProviderClient,
    renew_at: str,
    credential: Credential,
    keep: Keep,
    ask: Callable[[str], list[ReadableRepository]],
) -> list[ReadableRepository]:
    """Ask with a credential, and once more with a fresh one if it has expired."""
    try:
        return ask(credential.access_token)
    except CredentialRefusedError:
        fresh = client.renew(renew_at, credential)
        keep(fresh)
        return ask(fresh.access_token)


def _identity(user: Any, name: str) -> Identity:  # noqa: ANN401 - JSON
    if not isinstance(user, dict) or not isinstance(user.get("id"), int) or not isinstance(user.get(name), str):
        raise IdentityError("the provider of identities does not say who signed in", "sign in again")
    return Identity(str(user["id"]), user[name])


def _repository(address: str, url: object, *, may_write: bool) -> ReadableRepository:
    """Return a repository of a provider; one of another host is none of its business, and matches no project."""
    text = str(url)
    is_theirs = urlsplit(text).hostname == urlsplit(address).hostname
    return ReadableRepository(repository_identity(text) if is_theirs else "", may_write)


def provider_of(kind: str, address: str, client_id: str, client_secret: str) -> IdentityProvider:
    """Return a provider.

    Raises:
        ConfigError: if there is none of this kind, or it may not be asked at this address.
    """
    address = address or {"github": "https://github.com", "gitlab": "https://gitlab.com"}.get(kind, "")
    if kind != "oidc":  # whose issuer is compared as it is
        address = address.rstrip("/")
    if not is_safe(address):
        raise ConfigError(
            f"{address or 'no address'} is not where people can sign in", "set CAIRN_TEAM_SIGN_IN_URL to https://HOST"
        )
    if not client_id:
        raise ConfigError("signing in needs a client", "set CAIRN_TEAM_SIGN_IN_CLIENT to its id at the provider")
    client = ProviderClient(client_id, client_secret)
    if kind == "github":
        return GitHub(address, client)
    if kind == "gitlab":
        return GitLab(address, client)
    if kind == "oidc":
        return OpenIdConnect(address, client)
    raise ConfigError(f"nobody can sign in with {kind!r}", "set CAIRN_TEAM_SIGN_IN to github, gitlab or oidc")
