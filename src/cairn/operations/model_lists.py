"""The setting that is a list, `embedding.fallbacks`: how its values are typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from cairn.errors import ConfigError
from cairn.model_settings import AUTO, ModelSettings
from cairn.setting import Entry, read_settings
from cairn.yaml_files import read_value

FALLBACKS = "embedding.fallbacks"
MOST = 8
_FORM = "write each as PROVIDER:MODEL, such as ollama:nomic-embed-text, or as {provider: ollama, model: all-minilm}"

Model = dict[str, Any]


def read_models(texts: Sequence[str]) -> list[Model]:
    """Return the models that texts name, as a file has them.

    Raises:
        ConfigError: if one is not a model.
    """
    return [_read_model(text) for text in texts]


def _read_model(text: str) -> Model:
    if text.lstrip().startswith("{"):
        entry = read_value(text, FALLBACKS)
    else:
        provider, _, model = text.partition(":")
        named = {"model": Entry(model, FALLBACKS)} if model else {}
        entry = Entry({"provider": Entry(provider, FALLBACKS), **named}, FALLBACKS)
    if not isinstance(entry.value, dict):
        raise ConfigError(f"{FALLBACKS} must be a list of models", _FORM)
    values = {name: placed.value for name, placed in read_settings(ModelSettings, entry.value).items()}
    if values.get("provider") != AUTO:
        try:
            ModelSettings(**values)
        except ConfigError as error:
            raise ConfigError(f"{FALLBACKS} must be a list of models: {error}", _FORM) from None
    return values


def model_of(settings: ModelSettings) -> Model:
    """Return a model as a file would have it, with what differs from the defaults."""
    return {
        field.name: value
        for field in fields(ModelSettings)
        if (value := getattr(settings, field.name)) != field.default or field.name == "provider"
    }


def shown_model(model: Model) -> str:
    """Return a model as `config set` takes it."""
    if model.keys() <= {"provider", "model"} and isinstance(model.get("model", ""), str):
        return f"{model.get('provider', '')}:{model.get('model', '')}".rstrip(":")
    return "{" + ", ".join(f"{name}: {value}" for name, value in model.items()) + "}"
