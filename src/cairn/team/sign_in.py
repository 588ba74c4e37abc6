"""Signing in: a provider says who somebody is and what they may read, at once and as long as they use their token."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from cryptography.fernet import Fernet

from cairn.errors import BusyError, CatalogError, IdentityError
from cairn.team.catalog import Catalog
from cairn.team.oauth import Credential, CredentialRefusedError, DeviceError, ProviderAwayError
from cairn.team.providers import IdentityProvider, ReadableRepository
from cairn.team.tokens import new_token, token_hash

_log = logging.getLogger("cairn.team")
_LIFE = timedelta(days=30)  # of a token
_SCOPES = ["read", "write"]
_CHECK_SECONDS = 60.0  # between two questions to the database whether the provider is to be asked about a token
_AWAY_SECONDS = 10.0  # for so long, a provider that did not answer is not asked
_WAIT_SECONDS, _MAX_WAITS = 0.1, 60  # for another thread that asks about the same person
_MAX_CHECKED = 100_000


class SignIn:
    """Lets people in, and asks again what they may read.

    Args:
        catalog: with the role of sign-ins.
        provider: who knows them.
        clock: the seconds of a clock that is never set.
    """

    def __init__(
        self, catalog: Catalog, provider: IdentityProvider, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._catalog = catalog
        self.provider = provider
        self._clock = clock
        self._checked: OrderedDict[bytes, float] = OrderedDict()
        self._away_until = float("-inf")

    def begin(self) -> dict[str, object]:
        """Begin the device flow, and return what RFC 8628 has in the answer.

        Raises:
            IdentityError: if the provider does not take part.
            BusyError: if too many have begun.
            CatalogError: if the database cannot be reached.
        """
        theirs = self.provider.begin()
        code = secrets.token_urlsafe(32)
        row = self._call(
            "SELECT begin_sign_in(%s, %s, %s, %s)",
            token_hash(code),
            _seal(code, theirs.device_code),
            timedelta(seconds=theirs.interval),
            timedelta(seconds=theirs.expires_in),
        )
        if not row[0]:
            raise BusyError("too many people are signing in", "try again in a moment")
        answer: dict[str, object] = {
            "device_code": code,
            "user_code": theirs.user_code,
            "verification_uri": theirs.verification_uri,
            "expires_in": theirs.expires_in,
            "interval": theirs.interval,
        }
        if theirs.verification_uri_complete:
            answer["verification_uri_complete"] = theirs.verification_uri_complete
        return answer

    def poll(self, code: str) -> dict[str, object]:
        """Return a token once the person has agreed, as RFC 6749 has it; it is given once.

        Raises:
            DeviceError: before that, or if it will not happen.
            IdentityError, CatalogError: as `begin`.
        """
        hashed = token_hash(code)
        state, sealed, age = self._call("SELECT * FROM poll_sign_in(%s)", hashed)
        if state != "ask":
            raise DeviceError(state)
        try:
            credential = self.provider.poll(json.loads(_unseal(code, sealed)))
        except DeviceError as error:
            if error.word == "slow_down":
                self._call("SELECT slow_sign_in(%s)", hashed)
            elif error.word != "authorization_pending":
                self._call("SELECT drop_sign_in(%s)", hashed)
            raise
        return self._let_in(hashed, credential, age.total_seconds())

    def _let_in(self, code: bytes, credential: Credential, age_seconds: float) -> dict[str, object]:
        try:
            identity = self.provider.identify(credential, age_seconds)
            credential, repositories = self._first_grants(credential)
        except CredentialRefusedError as error:
            raise DeviceError("access_denied") from error
        token = new_token()
        life = _LIFE if credential.refresh_token or repositories is not None else timedelta(days=1)
        name = f"{identity.name}@{urlsplit(self.provider.address).hostname}"
        row = self._call(
            "SELECT let_in(%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            code,
            self.provider.address,
            identity.subject,
            name[:200],
            token_hash(token),
            _SCOPES,
            _seal(token, credential),
            life,
            _as_json(repositories),
        )
        if row[0] is None:
            raise DeviceError("access_denied")
        _log.info("somebody signed in")
        return {"access_token": token, "token_type": "Bearer", "expires_in": int(life.total_seconds())}

    def _first_grants(self, credential: Credential) -> tuple[Credential, list[ReadableRepository] | None]:
        if self.provider.kind == "oidc":
            return credential, None
        newest = [credential]
        repositories = self.provider.ask(credential, newest.append)
        return newest[-1], repositories

    def renew(self, token: str, *, was_refused: bool = False) -> bool:
        """Ask the provider again what the bearer of a token may read, if it is time; return whether that was done.

        Args:
            token: as it came with a request.
            was_refused: that the database has just refused it, perhaps because it is time.

        A database that cannot be reached is no reason to fail here: what it allowed before may still hold.
        """
        try:
            return self._renew(token, was_refused=was_refused)
        except CatalogError as error:
            _log.warning("%s", error)
            return False

    def _renew(self, token: str, *, was_refused: bool) -> bool:
        hashed, now = token_hash(token), self._clock()
        if not was_refused and now - self._checked.get(hashed, float("-inf")) < _CHECK_SECONDS:
            return False
        if now < self._away_until:
            return False
        self._checked[hashed] = now
        self._checked.move_to_end(hashed)
        while len(self._checked) > _MAX_CHECKED:
            self._checked.popitem(last=False)
        for n_waits in range(_MAX_WAITS):
            state, sealed, known = self._call("SELECT * FROM due_grants(%s)", hashed)
            if state == "ask":
                return self._ask(token, hashed, sealed, known)
            if state == "no" or not was_refused:
                return n_waits > 0  # then another thread, perhaps of another node, has asked
            time.sleep(_WAIT_SECONDS)
        return False

    def _ask(self, token: str, hashed: bytes, sealed: bytes, known: int) -> bool:
        try:
            repositories = self.provider.ask(
                Credential(*json.loads(_unseal(token, sealed))),
                lambda fresh: self._keep(token, hashed, fresh),
            )
        except (IdentityError, CredentialRefusedError) as error:
            is_refused = isinstance(error, CredentialRefusedError)
            if not is_refused:
                _log.warning("%s", error)
            if isinstance(error, ProviderAwayError):
                self._away_until = self._clock() + _AWAY_SECONDS
            self._call("SELECT fail_grants(%s, %s)", hashed, is_refused)
            return False
        self._call("SELECT renew_grants(%s, %s, %s)", hashed, known, _as_json(repositories))
        return True

    def _keep(self, token: str, hashed: bytes, fresh: Credential) -> None:
        self._call("SELECT keep_credential(%s, %s)", hashed, _seal(token, fresh))

    def doubt(self, subject: str | None, repository: str | None) -> int:
        """Ask the provider again before anything else is answered, because it announced a change.

        Args:
            subject: of whom; None for anybody.
            repository: of what, as `repository_identity` has it; None for anything.

        Returns:
            how many people it may concern.

        Raises:
            CatalogError: if the database cannot be reached.
        """
        n_people: int = self._call("SELECT doubt_grants(%s, %s, %s)", self.provider.address, subject, repository)[0]
        return n_people

    def _call(self, statement: Any, *values: object) -> tuple[Any, ...]:  # noqa: ANN401 - a literal
        with self._catalog.transaction() as connection:
            row = connection.execute(statement, values).fetchone()
        return row or (None,)


def _as_json(repositories: Sequence[ReadableRepository] | None) -> str | None:
    return None if repositories is None else json.dumps([found._asdict() for found in repositories])


def _seal(secret: str, value: object) -> bytes:
    """Return a value that nobody can read who does not have the secret, which is stored nowhere."""
    return _box(secret).encrypt(json.dumps(value).encode())


def _unseal(secret: str, sealed: bytes) -> bytes:
    return _box(secret).decrypt(sealed)


def _box(secret: str) -> Fernet:
    # Not the hash by which the secret is known in the database.
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"cairn seal " + secret.encode()).digest()))
