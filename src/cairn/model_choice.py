"""Which embedding models hold: the user's own, and what a project's file asks for once the user allows it.

A project's file comes with a clone. So it may ask for another model, but where code is sent, what runs, and which key
is read is the user's to say: in the user's file, in the environment, or when asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from cairn.consent import Consents
from cairn.errors import ConfigError
from cairn.hints import Hint
from cairn.model_settings import LOCAL_PROVIDERS, EmbeddingSettings, ModelSettings
from cairn.setting import Entry, PlacedValue, milder, names_shared, read_settings, rule_of, settings_of
from cairn.yaml_files import read_value

_SECTION = "embedding."
_MAX_FALLBACKS = 8
_HINT = "see docs/configuration.md#embedding"
_ASKS = names_shared(EmbeddingSettings, "asks")
_KEYS = frozenset({"api_key_env", "keyring_service"})
# The name of a model in a library's register, which is no folder.
_MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_SHOWABLE = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class EmbeddingSection:
    """The section `embedding` of one place, parsed. `fallbacks` are None where it says nothing about them."""

    values: dict[str, PlacedValue]
    fallbacks: tuple[dict[str, PlacedValue], ...] | None
    place: str


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """What a project's file asks for, and the user did not answer yet."""

    file: str
    models: tuple[ModelSettings, ...]
    consents: Consents

    @property
    def lines(self) -> list[str]:
        """What it is, a line for each model."""
        return list(map(describe, self.models))

    @property
    def words(self) -> str:
        """What it is, in one line."""
        return "; ".join(self.lines)

    @property
    def note(self) -> str:
        """What a reader of an answer should know, in a sentence."""
        return Hint(f"{self.file} asks for {self.words}; it is not used until you allow it, in a terminal", "index")

    def settle(self, *, allowed: bool) -> None:
        """Keep the user's answer.

        Raises:
            StoreError: if it cannot be written.
        """
        self.consents.record({digest_of(one): describe(one) for one in self.models}, allowed=allowed)


def describe(model: ModelSettings) -> str:
    """Return a model in words that tell where texts go, what runs, and which key is read."""
    if model.provider in LOCAL_PROVIDERS:
        return f"{model.name}, which its library may download and runs here"
    key = f", with the key in {model.key_variable}" if model.key_variable else ""
    return f"{model.name} at {model.base_url}{key}"


def digest_of(model: ModelSettings) -> str:
    """Return what names all that a consent to a model is about; see `Consents.answer`."""
    asked = {name: getattr(model, name) for name in sorted(names_shared(ModelSettings, "asks"))}
    parts = {**asked, "url": model.base_url, "key": model.key_variable, "keyring": model.keyring_service}
    return blake2b(json.dumps(parts, sort_keys=True).encode("ascii"), digest_size=16).hexdigest()


def read_section(entry: Entry | None) -> EmbeddingSection:
    """Return the section `embedding` as it stands in a file.

    Raises:
        ConfigError: for an unknown name or a value that cannot be used.
    """
    if entry is None or entry.value is None:
        return EmbeddingSection({}, None, "" if entry is None else entry.place)
    if not isinstance(entry.value, dict):
        raise ConfigError(f"{entry.place}: embedding must hold `name: value` lines", _HINT)
    values = {name: one for name, one in entry.value.items() if name != "fallbacks"}
    return EmbeddingSection(
        read_settings(EmbeddingSettings, values, _SECTION), _read_fallbacks(entry.value.get("fallbacks")), entry.place
    )


def read_variables(variables: Mapping[str, str], prefix: str) -> EmbeddingSection:
    """Return what the environment says of the section.

    Args:
        variables: those of the section.
        prefix: what their names begin with.

    Raises:
        ConfigError: as `read_section`.
    """
    entries = {name.removeprefix(prefix).lower(): Entry(text, name) for name, text in variables.items()}
    fallbacks = entries.pop("fallbacks", None)
    return EmbeddingSection(
        read_settings(EmbeddingSettings, entries, _SECTION), _read_fallbacks(fallbacks), prefix + "*"
    )


def _read_fallbacks(entry: Entry | None) -> tuple[dict[str, PlacedValue], ...] | None:
    if entry is None:
        return None
    if isinstance(entry.value, str):  # in a variable, and in a file that quotes it
        entry = Entry(read_value(entry.value, entry.place).value, entry.place)
    if entry.value is None:
        return ()
    if not isinstance(entry.value, list):
        raise ConfigError(f"{entry.place}: embedding.fallbacks must be a list of models", _HINT)
    if len(entry.value) > _MAX_FALLBACKS:  # each may be waited for, and a question has to show them all
        raise ConfigError(f"{entry.place}: embedding.fallbacks must be at most {_MAX_FALLBACKS} models", _HINT)
    return tuple(_read_fallback(one) for one in entry.value)


def _read_fallback(entry: Entry) -> dict[str, PlacedValue]:
    if not isinstance(entry.value, dict):
        raise ConfigError(f"{entry.place}: each of embedding.fallbacks must hold `name: value` lines", _HINT)
    return read_settings(ModelSettings, entry.value, _SECTION)


def check_shared(section: EmbeddingSection, user_file: str) -> None:
    """Make sure that a project's file sets nothing that is the user's alone.

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
    """Return the models that hold, and what the project asks for in vain until the user answers.

    Args:
        user, project, environment: what each says; `check_shared` was asked about the project's.
        file: the project's, for messages.
        consents: what the user answered before.

    Raises:
        ConfigError: if a model has no name, or a project names a folder as one.
    """
    limits = _limits(project.values, {**user.values, **environment.values})
    fallbacks = user.fallbacks if environment.fallbacks is None else environment.fallbacks
    wanted = {name: one for name, one in project.values.items() if name in _ASKS}
    asks = bool(wanted) or project.fallbacks is not None
    try:
        own = _make({**user.values, **limits, **environment.values}, fallbacks)
    except ConfigError:
        if not asks:
            raise
        own = EmbeddingSettings()  # the rest is in what the project asks for
    if not asks:
        return own, None
    asked = _with_project_models(user, project, environment, limits, own)
    known = {digest_of(one) for one in own.chain}
    foreign = tuple(one for one in asked.chain if digest_of(one) not in known)
    for one in foreign:
        _check_foreign(one, project.place)
    answers = {one: consents.answer(digest_of(one)) for one in foreign}
    if all(answers.values()):
        return asked, None
    if False in answers.values():
        return own, None
    return own, ConsentRequest(file, tuple(one for one, answer in answers.items() if answer is None), consents)


def _with_project_models(
    user: EmbeddingSection,
    project: EmbeddingSection,
    environment: EmbeddingSection,
    limits: dict[str, PlacedValue],
    own: EmbeddingSettings,
) -> EmbeddingSettings:
    """Return the models as the project would have them. The user's keys go to the user's server alone."""
    wanted = {name: one for name, one in project.values.items() if name in _ASKS}
    elsewhere = "url" in wanted or ("provider" in wanted and wanted["provider"].value != own.provider)
    inherited = {name: one for name, one in user.values.items() if not (elsewhere and name == "url")}
    values = {**inherited, **limits, **wanted, **environment.values}
    keyless = {name: one for name, one in values.items() if name not in (*_KEYS, "price_per_million_tokens")}
    first = _make(keyless, ())
    if (first.provider, first.base_url) != (own.provider, own.base_url):
        values = keyless
    fallbacks: Sequence[Mapping[str, PlacedValue]] | None = environment.fallbacks
    if fallbacks is None and project.fallbacks is not None:
        base = {**user.values, **limits, **environment.values}
        fallbacks = [{**one, **_limits(one, base, every=True)} for one in project.fallbacks]
    return _make(values, user.fallbacks if fallbacks is None else fallbacks)


def _limits(
    asked: Mapping[str, PlacedValue], own: Mapping[str, PlacedValue], *, every: bool = False
) -> dict[str, PlacedValue]:
    """Return the limits of which a project's file has a say: its values where they ask for less.

    Args:
        asked: what the project says.
        own: what the user says.
        every: return the user's other limits, too.
    """
    result = {}
    for name, one in settings_of(EmbeddingSettings if not every else ModelSettings).items():
        if rule_of(one).shared not in ("lowers", "raises"):
            continue
        mine = own.get(name)
        if name in asked:
            value = milder(one, one.default if mine is None else mine.value, asked[name].value)
            result[name] = PlacedValue(value, asked[name].place)
        elif every and mine is not None:
            result[name] = mine
    return result


def _make(
    values: Mapping[str, PlacedValue], fallbacks: Sequence[Mapping[str, PlacedValue]] | None
) -> EmbeddingSettings:
    made = tuple(_make_one(ModelSettings, one) for one in fallbacks or ())
    embedding: EmbeddingSettings = _make_one(EmbeddingSettings, values, fallbacks=made)
    return embedding


def _make_one(kind: type[Any], values: Mapping[str, PlacedValue], **others: object) -> Any:  # noqa: ANN401 - of that kind
    try:
        return kind(**{name: one.value for name, one in values.items()}, **others)
    except ConfigError as error:
        place = next((values[name].place for name in ("provider", *values) if name in values), "")
        raise ConfigError(f"{place}: {error}" if place else str(error), error.hint) from None


def _check_foreign(model: ModelSettings, place: str) -> None:
    """Make sure that a project asks for what a question to the user can show, and for no folder of its own.

    Raises:
        ConfigError: if not.
    """
    if model.provider in LOCAL_PROVIDERS and not _MODEL_ID.fullmatch(model.model):
        raise ConfigError(
            f"{place}: embedding.model of a project's file must be the name of a model, and no folder", _HINT
        )
    if not _SHOWABLE.fullmatch(model.model):
        raise ConfigError(f"{place}: embedding.model of a project's file must be plain ASCII without spaces", _HINT)
