"""Chooses the embedding models: the user's own, and those a project's file asks for once the user allows them.

A project's file comes with a clone. So it may ask for another model, but only the user decides where code is sent, what
runs, and which key is read: in the user's file, in the environment, or in answer to a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cairn.consent import Consents
from cairn.digest import blake2b
from cairn.errors import ConfigError
from cairn.hints import Hint
from cairn.model_detection import with_detected
from cairn.model_providers import PROVIDERS
from cairn.model_settings import EmbeddingSettings, ModelSettings
from cairn.setting import Entry, PlacedValue, milder, names_shared, read_settings, rule_of, settings_of
from cairn.yaml_files import read_value

_SECTION = "embedding."
_MAX_FALLBACKS = 8
_HINT = "see docs/configuration.md#embedding"
_ASKS = names_shared(EmbeddingSettings, "asks")
_KEYS = frozenset({"api_key_env", "keyring_service"})
# The name of a model in a library's register, as opposed to a directory.
_MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_SHOWABLE = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class EmbeddingSection:
    """The parsed section `embedding` of one place. `fallbacks` are None if the section does not set them."""

    values: dict[str, PlacedValue]
    fallbacks: tuple[dict[str, PlacedValue], ...] | None
    place: str


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """The models that a project's file asks for and the user has not answered yet."""

    file: str
    models: tuple[ModelSettings, ...]
    consents: Consents

    @property
    def lines(self) -> list[str]:
        """A description of each model, in a line."""
        return list(map(describe, self.models))

    @property
    def words(self) -> str:
        """A description of all models, in one line."""
        return "; ".join(self.lines)

    @property
    def note(self) -> str:
        """The sentence for the reader of an answer."""
        return Hint(f"{self.file} asks for {self.words}; it is not used until you allow it, in a terminal", "index")

    def settle(self, *, allowed: bool) -> None:
        """Record the user's answer.

        Raises:
            StoreError: if it cannot be written.
        """
        self.consents.record({digest_of(model): describe(model) for model in self.models}, allowed=allowed)


def describe(model: ModelSettings) -> str:
    """Describe a model: where texts go, what runs, and which key is read."""
    if PROVIDERS[model.provider].is_local:
        return f"{model.name}, which its library may download and runs here"
    key = f", with the key in {model.key_variable}" if model.key_variable else ""
    return f"{model.name} at {model.base_url}{key}"


def digest_of(model: ModelSettings) -> str:
    """Return a hash of everything that a consent to a model is about; see `Consents.answer`."""
    settings = {name: getattr(model, name) for name in sorted(names_shared(ModelSettings, "asks"))}
    parts = {**settings, "url": model.base_url, "key": model.key_variable, "keyring": model.keyring_service}
    return blake2b(json.dumps(parts, sort_keys=True).encode("ascii"), digest_size=16).hexdigest()


def read_section(entry: Entry | None, environment: Mapping[str, str]) -> EmbeddingSection:
    """Return the section `embedding` of a file, with what `environment` tells of providers in the place of `auto`.

    Raises:
        ConfigError: for an unknown name or a value that cannot be used.
    """
    if entry is None or entry.value is None:
        return EmbeddingSection({}, None, "" if entry is None else entry.place)
    if not isinstance(entry.value, dict):
        raise ConfigError(f"{entry.place}: embedding must be `name: value` lines", _HINT)
    values = {name: value for name, value in entry.value.items() if name != "fallbacks"}
    return EmbeddingSection(
        with_detected(read_settings(EmbeddingSettings, values, _SECTION), environment),
        _read_fallbacks(entry.value.get("fallbacks"), environment),
        entry.place,
    )


def read_variables(environment: Mapping[str, str], prefix: str) -> EmbeddingSection:
    """Return the section as the environment sets it.

    Args:
        environment: all variables.
        prefix: the beginning of the names of the section's.

    Raises:
        ConfigError: as `read_section`.
    """
    entries = {
        name.removeprefix(prefix).lower(): Entry(text, name)
        for name, text in environment.items()
        if name.startswith(prefix)
    }
    fallbacks = entries.pop("fallbacks", None)
    return EmbeddingSection(
        with_detected(read_settings(EmbeddingSettings, entries, _SECTION), environment),
        _read_fallbacks(fallbacks, environment),
        prefix + "*",
    )


def _read_fallbacks(entry: Entry | None, environment: Mapping[str, str]) -> tuple[dict[str, PlacedValue], ...] | None:
    if entry is None:
        return None
    if isinstance(entry.value, str):  # in a variable, or quoted in a file
        entry = Entry(read_value(entry.value, entry.place).value, entry.place)
    if entry.value is None:
        return ()
    if not isinstance(entry.value, list):
        raise ConfigError(f"{entry.place}: embedding.fallbacks must be a list of models", _HINT)
    if len(entry.value) > _MAX_FALLBACKS:  # each may cost a wait, and a question has to show them all
        raise ConfigError(f"{entry.place}: embedding.fallbacks must have at most {_MAX_FALLBACKS} models", _HINT)
    return tuple(with_detected(_read_fallback(model), environment) for model in entry.value)


def _read_fallback(entry: Entry) -> dict[str, PlacedValue]:
    if not isinstance(entry.value, dict):
        raise ConfigError(f"{entry.place}: each of embedding.fallbacks must be `name: value` lines", _HINT)
    return read_settings(ModelSettings, entry.value, _SECTION)


def check_shared(section: EmbeddingSection, user_file: str) -> None:
    """Make sure that a project's file sets nothing that only the user may set.

    Raises:
        ConfigError: if it does.
    """
    never = names_shared(EmbeddingSettings, "never")
    for values in (section.values, *(section.fallbacks or ())):
        for name in sorted(never.intersection(values)):
            raise ConfigError(
                f"{values[name].place}: a project's file may not set {_SECTION}{name}", f"set it in {user_file} instead"
            )


def choose(
    user: EmbeddingSection, project: EmbeddingSection, environment: EmbeddingSection, file: str, consents: Consents
) -> tuple[EmbeddingSettings, ConsentRequest | None]:
    """Return the models to use, and those that wait for the user's answer.

    Args:
        user, project, environment: the section of each; the project's has passed `check_shared`.
        file: the project's, for messages.
        consents: the user's earlier answers.

    Raises:
        ConfigError: if a model has no name, or a project names a directory as one.
    """
    limits = _limits(project.values, {**user.values, **environment.values})
    fallbacks = user.fallbacks if environment.fallbacks is None else environment.fallbacks
    asks = not _ASKS.isdisjoint(project.values) or project.fallbacks is not None
    try:
        own = _make({**user.values, **limits, **environment.values}, fallbacks)
    except ConfigError:
        if not asks:
            raise
        own = EmbeddingSettings()  # what is missing is in the project's file
    if not asks:
        return own, None
    wanted = _with_project_models(user, project, environment, limits, own)
    own_digests = {digest_of(model) for model in own.chain}
    foreign = tuple(model for model in wanted.chain if digest_of(model) not in own_digests)
    for model in foreign:
        _check_foreign(model, project.place)
    answers = {model: consents.answer(digest_of(model)) for model in foreign}
    if all(answers.values()):
        return wanted, None
    if False in answers.values():
        return own, None
    return own, ConsentRequest(file, tuple(model for model, answer in answers.items() if answer is None), consents)


def _with_project_models(
    user: EmbeddingSection,
    project: EmbeddingSection,
    environment: EmbeddingSection,
    limits: dict[str, PlacedValue],
    own: EmbeddingSettings,
) -> EmbeddingSettings:
    """Return the models as the project wants them. The user's keys only go to the user's own server."""
    wanted = {name: value for name, value in project.values.items() if name in _ASKS}
    is_elsewhere = "url" in wanted or ("provider" in wanted and wanted["provider"].value != own.provider)
    inherited = {name: value for name, value in user.values.items() if not (is_elsewhere and name == "url")}
    values = {**inherited, **limits, **wanted, **environment.values}
    keyless = {name: value for name, value in values.items() if name not in (*_KEYS, "price_per_million_tokens")}
    first = _make(keyless, ())
    if (first.provider, first.base_url) != (own.provider, own.base_url):
        values = keyless
    fallbacks: Sequence[Mapping[str, PlacedValue]] | None = environment.fallbacks
    if fallbacks is None and project.fallbacks is not None:
        base = {**user.values, **limits, **environment.values}
        fallbacks = [{**model, **_limits(model, base, every=True)} for model in project.fallbacks]
    return _make(values, user.fallbacks if fallbacks is None else fallbacks)


def _limits(
    asked: Mapping[str, PlacedValue], own: Mapping[str, PlacedValue], *, every: bool = False
) -> dict[str, PlacedValue]:
    """Return the limits that a project's file may tighten: its values where they ask for less.

    Args:
        asked: what the project sets.
        own: what the user sets.
        every: also return the user's other limits.
    """
    result = {}
    for name, setting in settings_of(EmbeddingSettings if not every else ModelSettings).items():
        if rule_of(setting).shared not in ("lowers", "raises"):
            continue
        mine = own.get(name)
        if name in asked:
            value = milder(setting, setting.default if mine is None else mine.value, asked[name].value)
            result[name] = PlacedValue(value, asked[name].place)
        elif every and mine is not None:
            result[name] = mine
    return result


def _make(
    values: Mapping[str, PlacedValue], fallbacks: Sequence[Mapping[str, PlacedValue]] | None
) -> EmbeddingSettings:
    models = tuple(_make_settings(ModelSettings, model) for model in fallbacks or ())
    embedding: EmbeddingSettings = _make_settings(EmbeddingSettings, values, fallbacks=models)
    return embedding


def _make_settings(kind: type[Any], values: Mapping[str, PlacedValue], **others: object) -> Any:  # noqa: ANN401 - of that kind
    try:
        return kind(**{name: placed.value for name, placed in values.items()}, **others)
    except ConfigError as error:
        place = next((values[name].place for name in ("provider", *values) if name in values), "")
        raise ConfigError(f"{place}: {error}" if place else str(error), error.hint) from None


def _check_foreign(model: ModelSettings, place: str) -> None:
    """Make sure that a project asks for something that a question can show, and not for a directory of its own.

    Raises:
        ConfigError: if not.
    """
    if PROVIDERS[model.provider].is_local and not _MODEL_ID.fullmatch(model.model):
        raise ConfigError(
            f"{place}: embedding.model of a project's file must be the name of a model, not a directory", _HINT
        )
    if not _SHOWABLE.fullmatch(model.model):
        raise ConfigError(f"{place}: embedding.model of a project's file must be plain ASCII without spaces", _HINT)
