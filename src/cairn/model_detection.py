"""Finds the provider to use where the user's settings, or a project's with the user's consent, say `auto`.

Nothing is asked over the network: what counts is for whom a key is at hand, and whether Ollama is installed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from cairn.model_providers import PROVIDERS
from cairn.model_settings import AUTO
from cairn.setting import PlacedValue

_NONE = "bundled"


def detect_provider(environment: Mapping[str, str]) -> str:
    """Return the first provider for which a key is at hand, else Ollama if it is installed, else `bundled`."""
    candidates = (name for name, provider in PROVIDERS.items() if provider.detected_model)
    return next((name for name in candidates if _is_at_hand(name, environment)), _NONE)


def with_detected(values: Mapping[str, PlacedValue], environment: Mapping[str, str]) -> dict[str, PlacedValue]:
    """Return settings of a model with a provider, and a model if none is named, in the place of `auto`."""
    provider = values.get("provider")
    if provider is None or provider.value != AUTO:
        return dict(values)
    found = detect_provider(environment)
    model = PlacedValue(PROVIDERS[found].detected_model, provider.place)
    return {**values, "provider": PlacedValue(found, provider.place), "model": model}


def _is_at_hand(name: str, environment: Mapping[str, str]) -> bool:
    provider = PROVIDERS[name]
    if not provider.key_variable:
        return shutil.which(name, path=environment.get("PATH", "")) is not None
    if any(environment.get(variable, "").strip() for variable in (provider.key_variable, *provider.other_variables)):
        return True
    return bool(provider.key_command) and _knows_gh_a_user(environment)


def _knows_gh_a_user(environment: Mapping[str, str]) -> bool:
    """Tell whether `gh` is installed and has logged in; running it would take longer than most commands."""
    if shutil.which("gh", path=environment.get("PATH", "")) is None:
        return False
    folder = environment.get("GH_CONFIG_DIR") or os.path.join(
        environment.get("XDG_CONFIG_HOME") or os.path.join(environment.get("HOME", ""), ".config"), "gh"
    )
    try:
        return os.stat(os.path.join(folder, "hosts.yml")).st_size > 0
    except (OSError, ValueError):
        return False
