"""Settings: one schema, read once and passed down; default < user file < project file < environment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cairn import loading
from cairn.consent import Consents
from cairn.errors import ConfigError
from cairn.folders import settings_folder, state_folder
from cairn.setting import (
    A_PATH,
    Entry,
    PlacedValue,
    UnusableError,
    check_all,
    milder,
    names_shared,
    read_settings,
    rule_of,
    setting,
    settings_of,
)
from cairn.yaml_files import read_mapping, read_project_file, read_user_file

if TYPE_CHECKING:
    from cairn.hooks_settings import HooksSettings
    from cairn.memory_settings import MemorySettings
    from cairn.model_choice import ConsentRequest
    from cairn.model_settings import EmbeddingSettings, ModelSettings

ENVIRONMENT_PREFIX = "CAIRN_"
_EMBEDDING_PREFIX = f"{ENVIRONMENT_PREFIX}EMBEDDING_"
_MEMORY_PREFIX = f"{ENVIRONMENT_PREFIX}MEMORY_"
_HOOKS_PREFIX = f"{ENVIRONMENT_PREFIX}HOOKS_"
_FILE_NAME = "config.yaml"
EDITORS = (
    "none",
    "cursor",
    "goland",
    "idea",
    "pycharm",
    "rustrover",
    "vscode",
    "vscodium",
    "webstorm",
    "windsurf",
    "zed",
)


def _half_the_cores() -> float:
    return max(1, (os.cpu_count() or 1) // 2)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user can set; docs/configuration.md has a line for each setting.

    The second argument says what a project's file may do with it, see `cairn.setting.Share`; then come its least and
    its greatest value. Only the user decides where on the disk something is written, and how the daemon runs, which
    serves all of their projects.
    """

    max_file_bytes: int = setting(1_000_000, "lowers", 1, 10**15)
    lock_timeout_seconds: float = setting(120.0, "lowers", 0, 1_000_000)
    # How much is committed at a time, and so survives an interruption.
    batch_chunks: int = setting(3_000, "lowers", 1, 10**9)
    # A larger index is searched by graphs, which cost time and space to build.
    exact_chunks: int = setting(500_000, "never", 0, 10**12)
    state_dir: str = setting("", "never", pattern=A_PATH, guarded=True)
    watch_polling: bool = setting(False, "free")  # look for changes instead of waiting for events
    watch_poll_seconds: float = setting(2.0, "raises", 0.1, 3_600)
    garbage_days: float = setting(14.0, "lowers", 0, 100_000)  # how long to keep what no branch or worktree has
    memory_mb: int = setting(1_024, "lowers", 256, 10**9)  # for a run with all its processes
    background_cores: int = setting(0, "lowers", 0, 4_096, zero=_half_the_cores)  # for work that nobody is waiting for
    background_nice: int = setting(10, "raises", 0, 19)  # its priority, as in nice(1)
    pause_on_battery: bool = setting(False, "raises")
    history: bool = setting(True, "lowers")  # whether commits are read, as evidence for searches and to answer from
    history_commits: int = setting(20_000, "lowers", 1, 200_000)  # how many, the newest
    # The project's name among others; by default that of its git remote or its folder.
    project_name: str = setting("", "free")
    daemon: bool = setting(True, "never")  # whether commands use the daemon when it runs
    daemon_host: str = setting("127.0.0.1", "never", guarded=True)
    daemon_port: int = setting(37_800, "never", 1_024, 65_436)  # the next free one of a hundred is taken
    daemon_idle_minutes: float = setting(30.0, "never", 0, 100_000)  # after which the idle daemon ends
    # After which the daemon closes an idle project.
    daemon_project_minutes: float = setting(10.0, "never", 0, 100_000)
    daemon_memory_mb: int = setting(1_024, "never", 128, 1_000_000)  # beyond which projects are closed, and none opened
    daemon_threads: int = setting(4, "never", 1, 64)  # for answers; slow work, events and watches have others
    editor: str = setting("vscode", "never", choices=EDITORS)  # which links of the pages open
    embedding: EmbeddingSettings | None = None  # None: only the bundled model
    memory: MemorySettings | None = None  # None: the defaults
    hooks: HooksSettings | None = None  # None: the defaults

    def __post_init__(self) -> None:
        try:
            check_all(self)
        except UnusableError as error:
            raise ConfigError(str(error), error.hint) from None

    @property
    def chain(self) -> tuple[ModelSettings, ...]:
        """The embedding models in the order in which they are asked, without the bundled one, which comes last."""
        return self.embedding.chain if self.embedding is not None else ()


class Loaded(NamedTuple):
    """The settings of a project, and what its file asks for and the user has not answered yet."""

    settings: Settings
    consent_request: ConsentRequest | None


class _Layer(NamedTuple):
    """The settings in a file. The sections, such as `memory`, are not read yet; None if there is none."""

    values: dict[str, PlacedValue]
    embedding: Entry | None
    memory: Entry | None
    hooks: Entry | None


def settings_files(project: Path, environment: Mapping[str, str] = os.environ) -> tuple[Path, Path]:
    """Return where the settings of a project may be: the user's file, then the project's."""
    return settings_folder(environment) / _FILE_NAME, project / ".cairn" / _FILE_NAME


class Deciding(NamedTuple):
    """A file that affects a project's settings. `follow`: if it is a link, its target counts."""

    path: str
    follow: bool


def deciding_files(project: Path, environment: Mapping[str, str] = os.environ) -> tuple[Deciding, ...]:
    """Return the files that affect a project's settings, for `stamp_of`."""
    user_file, project_file = settings_files(project, environment)
    consents = Consents(state_folder(environment), project)
    # The user's own file may be a link, for example into a folder of dotfiles. A link in a project is never followed.
    return (
        Deciding(str(user_file), follow=True),
        Deciding(str(project_file), follow=False),
        Deciding(str(consents.file), follow=False),
    )


def stamp_of(files: Sequence[Deciding]) -> tuple[tuple[int, ...], ...]:
    """Return a value that changes when one of the files is written, created or removed. No file is opened."""
    return tuple(map(_stamp, files))


def _stamp(file: Deciding) -> tuple[int, ...]:
    try:
        facts = os.stat(file.path, follow_symlinks=file.follow)
    except (OSError, ValueError):
        return ()
    return (facts.st_mode, facts.st_mtime_ns, facts.st_ino, facts.st_size)


def load_settings(project: Path | None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings of the project in the folder `project`; without a folder, the user's own.

    Raises:
        ConfigError: as `load`.
    """
    return load(project, environment).settings


def load(project: Path | None, environment: Mapping[str, str] = os.environ) -> Loaded:
    """Return the settings of a project, and what its file asks for. The user is not asked here.

    Raises:
        ConfigError: for an unknown setting, an unusable value or an unusable file; it names the file, the line and the
            setting, and never repeats what may be a key.
    """
    user_file = settings_folder(environment) / _FILE_NAME
    user = _layer(read_user_file(user_file), str(user_file))
    shared, file = _Layer({}, None, None, None), ""
    if project is not None:
        file = str(project / ".cairn" / _FILE_NAME)
        shared = _layer(read_project_file(project, _FILE_NAME), file)
    own = _from_environment(environment)
    has_variables = any(name.startswith(_EMBEDDING_PREFIX) for name in environment)
    values = {**user.values, **_of_project(shared.values, user.values, str(user_file)), **own}
    embedding, consent_request = None, None
    if user.embedding or shared.embedding or has_variables:
        from cairn import model_choice  # noqa: PLC0415 - start-up time: few need it

        section = model_choice.read_section(shared.embedding, environment)
        model_choice.check_shared(section, str(user_file))
        own_section = model_choice.read_variables(environment, _EMBEDDING_PREFIX)
        consents = Consents(state_folder(environment), project or Path())
        embedding, consent_request = model_choice.choose(
            model_choice.read_section(user.embedding, environment), section, own_section, file, consents
        )
    choose_memory = ("cairn.memory_settings:choose_memory", user.memory, shared.memory, _MEMORY_PREFIX)
    choose_hooks = ("cairn.hooks_settings:choose_hooks", user.hooks, shared.hooks, _HOOKS_PREFIX)
    settings = Settings(
        **{name: placed.value for name, placed in values.items()},
        embedding=embedding,
        memory=_section(*choose_memory, environment, str(user_file)),
        hooks=_section(*choose_hooks, environment, str(user_file)),
    )
    return Loaded(settings, consent_request)


def _section(
    choose: str, user: Entry | None, shared: Entry | None, prefix: str, environment: Mapping[str, str], user_file: str
) -> Any:  # noqa: ANN401 - of the class that `choose` returns
    """Return the settings of a section; None if nobody sets one, which is how it is nearly always."""
    own_names = {ENVIRONMENT_PREFIX + name.upper() for name in settings_of(Settings)}
    variables = {
        name.removeprefix(prefix).lower(): Entry(text, name)
        for name, text in environment.items()
        if name.startswith(prefix) and name not in own_names
    }
    if not (user or shared or variables):
        return None
    return loading.load(choose)(user, shared, variables, user_file)


def _layer(text: str | None, file: str) -> _Layer:
    """Return the settings in a file; none if there is no file."""
    entries = read_mapping(text, file) if text is not None and text.strip() else {}
    embedding, memory, hooks = (entries.pop(name, None) for name in ("embedding", "memory", "hooks"))
    return _Layer(read_settings(Settings, entries), embedding, memory, hooks)


def _from_environment(environment: Mapping[str, str]) -> dict[str, PlacedValue]:
    entries = {}
    for name in settings_of(Settings):
        variable = ENVIRONMENT_PREFIX + name.upper()
        if (text := environment.get(variable)) is not None:
            entries[name] = Entry(text, variable)
    return read_settings(Settings, entries)


def _of_project(
    values: Mapping[str, PlacedValue], own: Mapping[str, PlacedValue], user_file: str
) -> dict[str, PlacedValue]:
    """Return the settings that a project's file may set; of limits, those that ask for less than the user's own.

    Raises:
        ConfigError: if it sets what only the user may set.
    """
    if refused := sorted(names_shared(Settings, "never").intersection(values)):
        name = refused[0]
        raise ConfigError(
            f"{values[name].place}: a project's file may not set {name}", f"set it in {user_file} instead"
        )
    result = {}
    known = settings_of(Settings)
    for name, placed in values.items():
        value = placed.value
        if rule_of(known[name]).shared in ("lowers", "raises"):
            value = milder(known[name], own[name].value if name in own else known[name].default, value)
        result[name] = PlacedValue(value, placed.place)
    return result
