"""The settings of embedding models; apart from the others, for most projects set none and need not import this."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NoReturn
from urllib.parse import urlsplit

from cairn.errors import ConfigError

PROVIDERS = ("bundled", "ollama", "openai", "google", "fastembed", "sentence-transformers")
LOCAL_PROVIDERS = frozenset({"bundled", "fastembed", "sentence-transformers"})  # these run in this process
AUTO = "auto"
NO_KEYS_HERE = "put the key into an environment variable and name that: embedding.api_key_env (or keyring_service)"

_DEFAULT_URLS = {
    "ollama": "http://localhost:11434",
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta",
}
_DEFAULT_KEYS = {"openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY"}
_LEAST = {
    "batch_size": 1,
    "concurrency": 1,
    "dimensions": 0,
    "max_input_tokens": 0,
    "requests_per_minute": 0,
    "timeout_seconds": 0.01,
    "query_timeout_seconds": 0.01,
}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
KEY_SHAPES = re.compile(r"(sk|pk|rk|hf|gsk|xai|voyage)[-_]|AIza|Bearer ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One embedding model: who serves it, and how it is asked. Docs/configuration.md has a line for each."""

    provider: str = "bundled"
    model: str = ""
    url: str = ""
    dimensions: int = 0  # 0: as many as the model has
    query_prefix: str = AUTO
    document_prefix: str = AUTO
    max_input_tokens: int = 0  # 0: what is known of the model
    batch_size: int = 64
    concurrency: int = 2
    requests_per_minute: int = 0  # 0: no limit
    timeout_seconds: float = 60.0
    query_timeout_seconds: float = 2.0
    api_key_env: str = ""
    keyring_service: str = ""
    price_per_million_tokens: float = -1.0  # below 0: what is known of the model

    def __post_init__(self) -> None:
        if self.provider not in PROVIDERS:
            _refuse(f"embedding.provider must be one of {', '.join(PROVIDERS)}, not {self.provider!r}")
        if self.provider != "bundled" and not self.model:
            _refuse(f"embedding.model says which model of {self.provider} to use, and is empty")
        if self.api_key_env and (not _VARIABLE.fullmatch(self.api_key_env) or KEY_SHAPES.match(self.api_key_env)):
            raise ConfigError("embedding.api_key_env holds no name of a variable, but what may be a key", NO_KEYS_HERE)
        if self.url:
            _check_url(self.url)
        for name, least in _LEAST.items():
            if not getattr(self, name) >= least:
                _refuse(f"embedding.{name} must be at least {least}")

    @property
    def name(self) -> str:
        """What the model is called in notes and tables."""
        return f"{self.provider}:{self.model}" if self.provider != "bundled" else self.provider

    @property
    def base_url(self) -> str:
        """Where the provider is asked, without a slash at the end; empty for one that runs in this process."""
        return (self.url or _DEFAULT_URLS.get(self.provider, "")).rstrip("/")

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key, empty when none is sent.

        A key of the provider itself goes to the provider only: a server of one's own gets the one that is named for it.
        """
        return self.api_key_env or ("" if self.url else _DEFAULT_KEYS.get(self.provider, ""))

    @property
    def stays_here(self) -> bool:
        """Whether texts do not leave this machine."""
        return self.provider in LOCAL_PROVIDERS or is_loopback(self.base_url)


@dataclass(frozen=True, slots=True)
class EmbeddingSettings(ModelSettings):
    """The model that is wanted, those to fall back to, and whether searches may complete it in the background."""

    fallbacks: tuple[ModelSettings, ...] = ()
    background: bool = True

    @property
    def chain(self) -> tuple[ModelSettings, ...]:
        """The models in the order in which they are asked, without the bundled one, which always comes last."""
        return tuple(one for one in (self, *self.fallbacks) if one.provider != "bundled")


def is_loopback(url: str) -> bool:
    """Tell whether a URL leads to this machine itself."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        _refuse("embedding.url must begin with http:// or https:// and name a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError("embedding.url must hold no password, query or fragment", NO_KEYS_HERE)


def _refuse(message: str) -> NoReturn:
    raise ConfigError(message, "see docs/configuration.md#embedding")
