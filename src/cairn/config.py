"""Settings: one schema, read once and passed down; default < user file < project file < environment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.errors import ConfigError

if TYPE_CHECKING:
    from cairn.model_settings import EmbeddingSettings, ModelSettings

ENVIRONMENT_PREFIX = "CAIRN_"
_DAEMON_RANGES = {
    "daemon_port": (1_024, 65_436),
    "daemon_idle_minutes": (0.0, 100_000.0),
    "daemon_project_minutes": (0.0, 100_000.0),
    "daemon_memory_mb": (128, 1_000_000),
    "daemon_threads": (1, 64),
}
# A repository may not decide where on its reader's disk something is written, where the reader's files are sent,
# which of the reader's secrets goes there, or how the daemon runs that serves all of the reader's projects.
PERSONAL = frozenset(
    {
        "state_dir", "embedding.url", "embedding.api_key_env", "embedding.keyring_service", "daemon", "daemon_host",
        *_DAEMON_RANGES,
    }
)  # fmt: skip
_SECRET_NAMES = frozenset({"api_key", "apikey", "key", "token", "secret", "password", "bearer", "authorization"})
NO_KEYS_HERE = "put the key into an environment variable and name that: embedding.api_key_env (or keyring_service)"

_NOT_NEGATIVE = (0, "not be negative")
_LEAST: dict[str, tuple[float, str]] = {
    "max_file_bytes": (1, "be at least 1"),
    "batch_chunks": (1, "be at least 1"),
    "exact_chunks": _NOT_NEGATIVE,
    "lock_timeout_seconds": _NOT_NEGATIVE,
    "watch_poll_seconds": (0.1, "be at least 0.1"),
    "garbage_days": _NOT_NEGATIVE,
    "memory_mb": (256, "be at least 256"),
    "background_cores": _NOT_NEGATIVE,
    "background_nice": _NOT_NEGATIVE,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user can set; docs/configuration.md has a line for each."""

    max_file_bytes: int = 1_000_000
    lock_timeout_seconds: float = 120.0
    batch_chunks: int = 3_000  # what is committed at a time, and so survives an interruption
    exact_chunks: int = 500_000  # an index of more is searched by graphs, which cost time and space to build
    state_dir: str = ""
    watch_polling: bool = False  # look for changes instead of being told
    watch_poll_seconds: float = 2.0
    garbage_days: float = 14.0  # what no branch and no worktree shows is kept for so long
    memory_mb: int = 1_024  # the ceiling of a run with all its processes
    background_cores: int = 0  # of work nobody waits for; 0: half of them
    background_nice: int = 10  # its priority, as in nice(1)
    pause_on_battery: bool = False
    project_name: str = ""  # what the project is called among others; by default its git remote or its folder
    daemon: bool = True  # whether commands use the daemon when it runs
    daemon_host: str = "127.0.0.1"
    daemon_port: int = 37_800  # the next free one of a hundred is taken
    daemon_idle_minutes: float = 30.0  # then it ends
    daemon_project_minutes: float = 10.0  # then a project is closed that nobody asked anything of
    daemon_memory_mb: int = 1_024  # beyond it projects are closed, and no others opened
    daemon_threads: int = 4  # that answer; each open project has one more that watches
    embedding: EmbeddingSettings | None = None  # None: no model but the bundled one

    def __post_init__(self) -> None:
        for name, (least, words) in _LEAST.items():
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must {words}", "cairn status")
        if self.background_nice > 19:
            raise ConfigError("background_nice must be at most 19", "cairn status")
        for name, (least, most) in _DAEMON_RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise ConfigError(f"{name} must be between {least:g} and {most:g}", "see docs/configuration.md")

    @property
    def chain(self) -> tuple[ModelSettings, ...]:
        """The embedding models in the order in which they are asked, without the bundled one, which comes last."""
        return self.embedding.chain if self.embedding is not None else ()


def settings_files(project: Path, environment: Mapping[str, str] = os.environ) -> tuple[Path, Path]:
    """Return where the settings of a project may be: the user's file, then the project's."""
    folder = environment.get("XDG_CONFIG_HOME", "")
    absolute = os.path.isabs(folder)  # others are to be ignored: https://specifications.freedesktop.org/basedir-spec/
    of_user = (Path(folder) if absolute else Path.home() / ".config") / "cairn" / "config.yaml"
    return of_user, project / ".cairn" / "config.yaml"


def stamp_of(files: Sequence[Path]) -> tuple[int, ...]:
    """Return what changes when one of some files is written, made or removed."""
    stamps = []
    for file in files:
        try:
            stamps.append(file.stat().st_mtime_ns)
        except OSError:
            stamps.append(0)
    return tuple(stamps)


def load_settings(project: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings that hold for the project in the folder `project`.

    Raises:
        ConfigError: for an unknown setting, a value of the wrong kind, or a file that is no YAML mapping.
    """
    values: dict[str, Any] = {}
    embedding: dict[str, Any] = {}
    user_file, project_file = settings_files(project, environment)
    for file in (user_file, project_file):
        if not file.is_file():
            continue
        content = _read_file(file)
        section = _section(content.pop("embedding", None))
        if file == project_file:
            _check_shared(content, section, project_file, user_file)
        values.update(content)
        embedding.update(section)
    values.update(_from_environment(environment))
    embedding.update(_section_of_environment(environment))
    settings = _coerced(Settings, values, "")
    if embedding:
        settings["embedding"] = make_embedding(embedding)
    return Settings(**settings)


def make_embedding(values: Mapping[str, object]) -> EmbeddingSettings:
    """Return the section `embedding` from plain values.

    Raises:
        ConfigError: for an unknown name or a value that cannot be used; its text never repeats what may be a key.
    """
    from cairn.model_settings import EmbeddingSettings, ModelSettings  # noqa: PLC0415 - start-up time: few need them

    section = _coerced(EmbeddingSettings, {name: value for name, value in values.items() if name != "fallbacks"})
    fallbacks = values.get("fallbacks", ())
    if isinstance(fallbacks, str):
        fallbacks = _parse_list(fallbacks)
    if not isinstance(fallbacks, Sequence):
        _refuse("embedding.fallbacks must be a list of models")
    section["fallbacks"] = tuple(ModelSettings(**_coerced(ModelSettings, _section(one))) for one in fallbacks)
    return EmbeddingSettings(**section)


def _check_shared(content: Mapping[str, object], section: Mapping[str, Any], file: Path, user_file: Path) -> None:
    """Refuse what a project's file may not set; a URL of the reader's own machine is no harm."""
    from cairn.model_settings import is_loopback  # noqa: PLC0415 - start-up time, as above

    sections = [section, *(one for one in section.get("fallbacks") or () if isinstance(one, dict))]
    found = PERSONAL.intersection(content)
    for one in sections:
        names = {name for name in one if name != "url" or not is_loopback(str(one[name]))}
        found |= PERSONAL.intersection(f"embedding.{name}" for name in names)
    if found:
        raise ConfigError(f"{file} may not set {', '.join(sorted(found))}", f"set it in {user_file} instead")


def _read_file(file: Path) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - start-up time: most projects have no settings file

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}", f"mend or remove {file}") from error
    except yaml.YAMLError as error:
        # Without the excerpt that YAML shows: a line of a settings file may hold what should not be there.
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise ConfigError(f"{file} cannot be read: {where}{problem or 'no YAML'}", f"mend or remove {file}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{file} must hold `name: value` lines", f"mend or remove {file}")
    return content


def _parse_list(text: str) -> list[Any]:
    import yaml  # noqa: PLC0415 - start-up time, as above

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        content = None
    if not isinstance(content, list):
        _refuse("embedding.fallbacks must be a list of models")
    return list(content)


def _section(content: object) -> dict[str, Any]:
    if content is None:
        return {}
    if not isinstance(content, dict):
        _refuse("embedding must hold `name: value` lines, as must each of its fallbacks")
    return {str(name): value for name, value in content.items()}


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    names = (one.name for one in fields(Settings) if one.name != "embedding")
    return {name: text for name in names if (text := environment.get(ENVIRONMENT_PREFIX + name.upper())) is not None}


def _section_of_environment(environment: Mapping[str, str]) -> dict[str, str]:
    prefix = f"{ENVIRONMENT_PREFIX}EMBEDDING_"
    found = {name: text for name, text in environment.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix).lower(): text for name, text in found.items()}


def _coerced(schema: type, values: Mapping[str, object], section: str = "embedding.") -> dict[str, Any]:
    """Return the values of a section, each of the kind its default has."""
    known = {one.name: type(one.default) for one in fields(schema) if one.name not in ("embedding", "fallbacks")}
    result = {}
    for name, value in values.items():
        if name.lower() in _SECRET_NAMES:
            raise ConfigError(f"{section}{name}: a key does not belong into a settings file", NO_KEYS_HERE)
        if name not in known:
            raise ConfigError(f"unknown setting {section + name!r}", f"known settings: {', '.join(sorted(known))}")
        result[name] = _coerce(section + name, value, known[name])
    return result


def _coerce(name: str, value: object, kind: type) -> Any:  # noqa: ANN401 - one of the schema's kinds
    if kind is bool:
        words = {
            "true": True,
            "yes": True,
            "on": True,
            "1": True,
            "false": False,
            "no": False,
            "off": False,
            "0": False,
        }
        if (found := words.get(str(value).lower())) is not None:
            return kind(found)
    elif isinstance(value, str | int | float):
        with suppress(ValueError):  # told below
            return kind(value)
    from cairn.model_settings import KEY_SHAPES  # noqa: PLC0415 - start-up time, as above

    shown = f", not {value!r}" if isinstance(value, str | int | float) and not KEY_SHAPES.match(str(value)) else ""
    raise ConfigError(f"setting {name} must be {kind.__name__}{shown}", "see docs/configuration.md")


def _refuse(message: str) -> NoReturn:
    raise ConfigError(message, "see docs/configuration.md#embedding")
