"""Finds models' keys, and what the user should know before they are sent."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from cairn.errors import ProviderKeyError
from cairn.hints import Hint
from cairn.model_providers import PROVIDERS, Provider
from cairn.model_settings import ModelSettings, is_loopback

_COMMAND_SECONDS = 10.0


def key_hint(settings: ModelSettings) -> str:
    """Return where a model's key belongs."""
    if settings.keyring_service:
        return f"store it with: keyring set {settings.keyring_service} {settings.provider}"
    if settings.key_variable:
        return Hint(f"export {settings.key_variable}=… and run", "index")
    return "name the variable that holds the key with embedding.api_key_env"


def find_key(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> str:
    """Return a model's key from the environment, else from the keyring; empty if none is configured or needed.

    Raises:
        ProviderKeyError: if a key is configured or needed but missing.
    """
    for variable in filter(None, (settings.key_variable, *_own_provider(settings).other_variables)):
        if key := environment.get(variable, "").strip():
            return key
    if settings.keyring_service:
        return _from_keyring(settings)
    if (command := _own_provider(settings).key_command) and (key := _printed_by(command, environment)):
        return key
    if settings.key_variable:
        raise ProviderKeyError(
            f"{settings.name} needs a key, but {settings.key_variable} is not set", key_hint(settings)
        )
    return ""


def _own_provider(settings: ModelSettings) -> Provider:
    """Return the provider if its own key is to be used: not for another server or with another variable."""
    return Provider() if settings.url or settings.api_key_env else PROVIDERS[settings.provider]


def _printed_by(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the output of a program, empty if it is not installed or fails. It runs outside of any project."""
    program = shutil.which(command[0], path=environment.get("PATH", ""))
    if program is None or not os.path.isabs(program):
        return ""
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=os.path.dirname(program),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except (OSError, UnicodeDecodeError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _from_keyring(settings: ModelSettings) -> str:
    try:
        import keyring  # noqa: PLC0415 - an extra
        from keyring.errors import KeyringError  # noqa: PLC0415 - as above
    except ImportError as error:
        raise ProviderKeyError(
            "embedding.keyring_service is set, but the package keyring is not installed",
            "uv tool install 'codecairn[keyring]'",
        ) from error
    try:
        key: str | None = keyring.get_password(settings.keyring_service, settings.provider)
    except KeyringError as error:
        raise ProviderKeyError(f"the keyring cannot be read: {type(error).__name__}", key_hint(settings)) from error
    if not key:
        raise ProviderKeyError(f"the keyring has no key for {settings.keyring_service}", key_hint(settings))
    return key


def warnings_of(settings: ModelSettings, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return what the user should know before texts are sent, in sentences."""
    is_plain = settings.base_url.startswith("http://") and not is_loopback(settings.base_url)
    if not is_plain:
        return []
    has_key = bool(settings.keyring_service or environment.get(settings.key_variable or "-"))
    what = "the key and all texts" if has_key else "all texts"
    return [f"{settings.base_url} is not encrypted: others can read {what} on the way; use https"]
