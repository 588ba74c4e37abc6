"""Settings: one schema, read once and passed down; default < user file < project file < environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cairn.errors import ConfigError

ENVIRONMENT_PREFIX = "CAIRN_"
# A repository may not decide where on its reader's disk something is written.
PERSONAL = frozenset({"state_dir"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user can set; docs/configuration.md has a line for each."""

    max_file_bytes: int = 1_000_000
    lock_timeout_seconds: float = 120.0
    batch_chunks: int = 3_000  # what is committed at a time, and so survives an interruption
    state_dir: str = ""

    def __post_init__(self) -> None:
        if self.max_file_bytes < 1:
            raise ConfigError("max_file_bytes must be at least 1", "cairn status")
        if self.batch_chunks < 1:
            raise ConfigError("batch_chunks must be at least 1", "cairn status")
        if self.lock_timeout_seconds < 0:
            raise ConfigError("lock_timeout_seconds must not be negative", "cairn status")


def load_settings(project: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings that hold for the project in the folder `project`.

    Raises:
        ConfigError: for an unknown setting, a value of the wrong kind, or a file that is no YAML mapping.
    """
    values: dict[str, Any] = {}
    user_file, project_file = _user_file(environment), project / ".cairn" / "config.yaml"
    if user_file.is_file():
        values.update(_read_file(user_file))
    if project_file.is_file():
        shared = _read_file(project_file)
        if not PERSONAL.isdisjoint(shared):
            raise ConfigError(f"{project_file} may not set {', '.join(PERSONAL)}", f"set it in {user_file} instead")
        values.update(shared)
    known = {field.name: type(field.default) for field in fields(Settings)}
    for name in known:
        if (text := environment.get(ENVIRONMENT_PREFIX + name.upper())) is not None:
            values[name] = text
    return Settings(**{name: _coerce(name, value, known) for name, value in values.items()})


def _user_file(environment: Mapping[str, str]) -> Path:
    folder = environment.get("XDG_CONFIG_HOME")  # https://specifications.freedesktop.org/basedir-spec/
    return (Path(folder) if folder else Path.home() / ".config") / "cairn" / "config.yaml"


def _read_file(file: Path) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - start-up time: most projects have no settings file

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{file} cannot be read: {error}", f"mend or remove {file}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{file} must hold `name: value` lines", f"mend or remove {file}")
    return content


def _coerce(name: str, value: object, known: Mapping[str, type]) -> Any:  # noqa: ANN401 - one of the schema's kinds
    if name not in known:
        raise ConfigError(f"unknown setting {name!r}", f"known settings: {', '.join(sorted(known))}")
    kind = known[name]
    try:
        return kind(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"setting {name} must be {kind.__name__}, not {value!r}", "see docs/configuration.md"
        ) from error
