"""The settings of embedding models, apart from the others: most projects set none and do not import this."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from cairn.errors import ConfigError
from cairn.model_providers import PROVIDERS
from cairn.setting import NO_KEYS_HERE, SOME_LINES, UnusableError, check_all, looks_like_key, no_limit, setting

AUTO = "auto"

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_URL = re.compile(r"https?://[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]{1,2000}", re.IGNORECASE)  # the letters of RFC 3986
ANYTHING = r"(?s).*"


def check_url(url: str) -> None:
    """Make sure that a server's address can be used and holds no key; an empty one stands for the default."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        usable = bool(_URL.fullmatch(url) and parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise UnusableError("must begin with http:// or https:// and name a host", _HINT)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UnusableError("must not contain a password, query or fragment", NO_KEYS_HERE)


def check_variable(name: str) -> None:
    """Make sure that a text names a variable, and is not the key itself; an empty one stands for the default."""
    if name and (not _VARIABLE.fullmatch(name) or looks_like_key(name)):
        raise UnusableError("must be the name of a variable; this may be a key", NO_KEYS_HERE)


_HINT = "see docs/configuration.md#embedding"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One embedding model: its provider, and how it is asked. docs/configuration.md has a line for each setting."""

    provider: str = setting("bundled", "asks", choices=(*PROVIDERS, AUTO), guarded=True)
    model: str = setting("", "asks")
    url: str = setting("", "asks", pattern=ANYTHING, check=check_url, guarded=True)
    dimensions: int = setting(0, "asks", 0, 65_536)  # 0: as many as the model has
    query_prefix: str = setting(AUTO, "asks", pattern=SOME_LINES)
    document_prefix: str = setting(AUTO, "asks", pattern=SOME_LINES)
    max_input_tokens: int = setting(0, "asks", 0, 10_000_000)  # 0: what is known of the model
    batch_size: int = setting(64, "lowers", 1, 10_000)
    concurrency: int = setting(2, "lowers", 1, 256)
    requests_per_minute: int = setting(0, "lowers", 0, 1_000_000, zero=no_limit)
    timeout_seconds: float = setting(60.0, "lowers", 0.01, 86_400)
    query_timeout_seconds: float = setting(2.0, "lowers", 0.01, 86_400)
    api_key_env: str = setting("", "never", pattern=ANYTHING, check=check_variable, guarded=True)
    keyring_service: str = setting("", "never", guarded=True)
    price_per_million_tokens: float = setting(-1.0, "never", -1_000_000, 1_000_000)  # below 0: what is known of it

    def __post_init__(self) -> None:
        try:
            check_all(self)
        except UnusableError as error:
            raise ConfigError(f"embedding.{error}", error.hint) from None
        if self.provider == AUTO:  # what reads settings has put a provider in its place; see `model_detection`
            raise ConfigError("embedding.provider must name a provider: auto is for files and variables", _HINT)
        if self.provider != "bundled" and not self.model:
            raise ConfigError(f"embedding.model must name the model of {self.provider} to use; it is empty", _HINT)

    @property
    def name(self) -> str:
        """The model's name in notes and tables."""
        return f"{self.provider}:{self.model}" if self.provider != "bundled" else self.provider

    @property
    def base_url(self) -> str:
        """The provider's address, without a slash at the end; empty if it runs in this process."""
        return (self.url or PROVIDERS[self.provider].url).rstrip("/")

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key, empty when no key is sent.

        The provider's own key is only sent to the provider; another server gets the key that is configured for it.
        """
        return self.api_key_env or ("" if self.url else PROVIDERS[self.provider].key_variable)

    @property
    def at_once(self) -> int:
        """How many requests may be sent at the same time, which the provider's own address may limit."""
        most = 0 if self.url else PROVIDERS[self.provider].most_at_once
        return min(self.concurrency, most) if most else self.concurrency

    @property
    def per_minute(self) -> int:
        """How many requests a minute, 0 for any number, which the provider's own address may limit."""
        most = 0 if self.url else PROVIDERS[self.provider].requests_per_minute
        return min(filter(None, (self.requests_per_minute, most)), default=0)

    @property
    def stays_here(self) -> bool:
        """Whether texts do not leave this machine."""
        return PROVIDERS[self.provider].is_local or is_loopback(self.base_url)


@dataclass(frozen=True, slots=True)
class EmbeddingSettings(ModelSettings):
    """The configured model, its fallbacks, and whether searches may complete its vectors in the background."""

    fallbacks: tuple[ModelSettings, ...] = ()
    background: bool = setting(True, "lowers")

    @property
    def chain(self) -> tuple[ModelSettings, ...]:
        """The models in the order in which they are asked, without the bundled one, which always comes last."""
        return tuple(model for model in (self, *self.fallbacks) if model.provider != "bundled")


def is_loopback(url: str) -> bool:
    """Tell whether a URL is an address of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
