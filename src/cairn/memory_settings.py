"""The settings of the memory, apart from the others: commands that do not touch the memory do not import this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cairn.errors import ConfigError
from cairn.model_providers import PROVIDERS
from cairn.model_settings import ANYTHING, check_url, check_variable, is_loopback
from cairn.setting import (
    Entry,
    UnusableError,
    check_all,
    milder_values,
    names_shared,
    read_section,
    read_settings,
    setting,
)

SECTION = "memory."
MAX_ANSWER_TOKENS = 1_500  # that a chat model is asked for
CHARS_PER_TOKEN = 3  # of a question to it, at least
_HINT = "see docs/configuration.md#memory"
_LEAST_SIMILARITY = 0.5


def _check_similarity(value: float) -> None:
    if 0 < value < _LEAST_SIMILARITY:
        raise UnusableError(f"must be 0, or at least {_LEAST_SIMILARITY}", _HINT)


def _least_similarity() -> float:
    return _LEAST_SIMILARITY  # the least that any model is calibrated to


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What the memory may do, and at what cost; docs/configuration.md has a line for each setting.

    A chat model is named by the user alone: a project's file neither names one nor turns one on.
    """

    # How similar an older memory must be for a new one to take its place; 0: as calibrated for the embedding model.
    supersede: float = setting(0.0, "raises", 0, 1, zero=_least_similarity, check=_check_similarity)
    supersede_same_file: float = setting(0.0, "raises", 0, 1, zero=_least_similarity, check=_check_similarity)
    capture: bool = setting(True, "lowers")  # whether what agents report is kept
    # Whether it is kept what searches of the code showed and what was done then, and for how many days.
    feedback: bool = setting(True, "lowers")
    feedback_days: float = setting(180.0, "lowers", 1, 100_000)
    # Whether the daemon tunes answers to what is kept of a project, while nobody asks.
    optimize: bool = setting(True, "lowers")
    # Empty: no chat model is ever asked.
    chat_provider: str = setting("", "never", choices=("", "ollama", "openai"), guarded=True)
    chat_model: str = setting("", "never")
    chat_url: str = setting("", "never", pattern=ANYTHING, check=check_url, guarded=True)
    chat_api_key_env: str = setting("", "never", pattern=ANYTHING, check=check_variable, guarded=True)
    chat_daily_tokens: int = setting(100_000, "never", 0, 10**9)
    chat_timeout_seconds: float = setting(30.0, "never", 0.01, 3_600)
    chat_price_per_million_tokens: float = setting(0.0, "never", 0, 1_000_000)  # US dollars, for the meter
    # Whether agents are shown, unasked, what the repository or a team brought; anybody who can push there wrote that.
    inject_shared: bool = setting(False, "never")
    # How long memories of little importance are kept in sight without being recalled; 0: for ever.
    retention_days: float = setting(90.0, "never", 0, 100_000)
    # Whether agents are shown memories unasked, and how much at one moment and in a session.
    inject: bool = setting(True, "lowers")
    event_tokens: int = setting(500, "lowers", 150, 10_000)
    session_tokens: int = setting(4_000, "lowers", 0, 100_000)

    def __post_init__(self) -> None:
        try:
            check_all(self)
        except UnusableError as error:
            raise ConfigError(f"{SECTION}{error}", error.hint) from None
        if self.chat_provider and not self.chat_model:
            raise ConfigError(
                f"memory.chat_model must name the model of {self.chat_provider} to use; it is empty", _HINT
            )

    @property
    def chat_base_url(self) -> str:
        """Where the chat model is asked, without a slash at the end; empty if none is configured."""
        default = PROVIDERS[self.chat_provider].url if self.chat_provider else ""
        return (self.chat_url or default).rstrip("/") if self.chat_provider else ""

    @property
    def chat_key_variable(self) -> str:
        """The variable that holds the key, empty when no key is sent: the provider's own key goes to it alone."""
        if self.chat_api_key_env or not self.chat_provider:
            return self.chat_api_key_env
        provider = PROVIDERS[self.chat_provider]
        return provider.key_variable if self.chat_base_url == provider.url else ""

    @property
    def warnings(self) -> list[str]:
        """What the user should know before anything is sent to the chat model, in sentences."""
        if not self.chat_base_url.startswith("http://") or is_loopback(self.chat_base_url):
            return []
        what = "the key and all summaries" if self.chat_key_variable else "all summaries"
        return [f"{self.chat_base_url} is not encrypted: others can read {what} on the way; use https"]


def choose_memory(
    user: Entry | None, project: Entry | None, environment: Mapping[str, Entry], user_file: str
) -> MemorySettings:
    """Return the settings of the memory.

    Args:
        user, project: the section `memory` of each file.
        environment: what variables set, by the name of the setting.
        user_file: for messages.

    Raises:
        ConfigError: for an unknown name, an unusable value, or what a project may not set.
    """
    own, shared = (read_section(MemorySettings, entry, SECTION, _HINT) for entry in (user, project))
    if refused := sorted(names_shared(MemorySettings, "never").intersection(shared)):
        name = refused[0]
        raise ConfigError(
            f"{shared[name].place}: a project's file may not set {SECTION}{name}", f"set it in {user_file} instead"
        )
    values = {
        **own,
        **milder_values(MemorySettings, shared, own),
        **read_settings(MemorySettings, environment, SECTION),
    }
    return MemorySettings(**{name: placed.value for name, placed in values.items()})
