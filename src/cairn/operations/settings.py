"""Settings as they count in a project, each with where its value comes from, and changes of the files they are in."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from cairn.config import ENVIRONMENT_PREFIX, Settings, load_settings, settings_files
from cairn.documents.document import Document, parse_document
from cairn.documents.files import read_file, write_file
from cairn.errors import ConfigError, RequestError, StoreError
from cairn.hints import Hint
from cairn.hooks_settings import HooksSettings
from cairn.memory_settings import MemorySettings
from cairn.model_settings import AUTO, EmbeddingSettings, ModelSettings
from cairn.operations.model_lists import FALLBACKS, MOST, model_of, read_models
from cairn.setting import Entry, UnusableError, parse, printable_name, rule_of, settings_of, word_for
from cairn.yaml_files import not_written, read_mapping, read_project_file, read_user_file, write_project_file

_SECTIONS: Mapping[str, type] = {"embedding": EmbeddingSettings, "memory": MemorySettings, "hooks": HooksSettings}
_DEFAULT = "default"
_PROVIDER = "embedding.provider"  # the one setting of which a value, `auto`, stands for others


class SettingInUse(NamedTuple):
    """A setting as it counts now, and where its value comes from: `FILE:LINE`, a variable, or `default`."""

    name: str
    value: Any
    source: str


class SettingDocument(TypedDict):
    """A setting in use, as JSON."""

    name: str
    value: Any
    source: str


class SettingsDocument(TypedDict):
    """All settings in use, and the files that may set them: the user's and the project's."""

    user_file: str
    project_file: str
    settings: list[SettingDocument]


class ChangedSetting(NamedTuple):
    """What a change of a setting came to: the file it is in, what was written there, and whether that differs."""

    file: Path
    value: Any
    changed: bool


def all_fields() -> dict[str, Field[Any]]:
    """Return all settings that are single values, by name."""
    named = settings_of(Settings)
    for section, kind in _SECTIONS.items():
        named |= {f"{section}.{name}": field for name, field in settings_of(kind).items()}
    return named


def field_called(name: str) -> Field[Any]:
    """Return a setting that is a single value.

    Raises:
        ConfigError: if there is none of this name.
    """
    known = all_fields()
    if name in known:
        return known[name]
    near = get_close_matches(name[:100], [*known, FALLBACKS], 1)
    label = repr(shown) if (shown := printable_name(name)) else "whose name is not repeated here"
    meant = f"did you mean {near[0]}? list them all" if near else "list them all"
    raise ConfigError(f"unknown setting {label}", Hint(meant, "config show"))


def settings_in_use(root: Path) -> list[SettingInUse]:
    """Return all settings as they count in a project.

    Raises:
        ConfigError: if they cannot be read.
    """
    settings = load_settings(root)
    user, project = settings_files(root)
    layers = [
        read_mapping(text or "", str(file))
        for file, text in ((project, read_project_file(root, project.name)), (user, read_user_file(user)))
    ]
    result = []
    for name, field in all_fields().items():
        section, _, inner = name.rpartition(".")
        holder = (getattr(settings, section) or _SECTIONS[section]()) if section else settings
        value = getattr(holder, inner)
        result.append(SettingInUse(name, value, _source(name, field, value, layers)))
    fallbacks = settings.embedding.fallbacks if settings.embedding is not None else ()
    result.append(SettingInUse(FALLBACKS, [model_of(model) for model in fallbacks], _source_of_list(layers, fallbacks)))
    return result


def settings_document(root: Path) -> SettingsDocument:
    """Return all settings as they count in a project, as JSON; errors as for `settings_in_use`."""
    user, project = settings_files(root)
    rows: list[SettingDocument] = [
        {"name": setting.name, "value": setting.value, "source": setting.source} for setting in settings_in_use(root)
    ]
    return {"user_file": str(user), "project_file": str(project), "settings": rows}


def setting_in_use(root: Path, name: str) -> SettingInUse:
    """Return one setting as it counts in a project.

    Raises:
        ConfigError: if there is none of this name, or they cannot be read.
    """
    if name != FALLBACKS:
        field_called(name)
    (found,) = (setting for setting in settings_in_use(root) if setting.name == name)
    return found


def check_free(name: str) -> None:
    """Refuse what decides where data goes: only somebody at a terminal changes that.

    Raises:
        RequestError: if it is such a setting, or none.
    """
    known = all_fields()
    if name not in known or rule_of(known[name]).is_guarded:
        label = printable_name(name) or "this"
        raise RequestError(f"{label} is not set from here", Hint("set it in a terminal", "config set", name=label))


def stands_for_another(name: str, value: object) -> bool:
    """Tell whether a value is a word for what is found out at each use, so that another one counts."""
    return value == AUTO and name == _PROVIDER


def change_setting(
    root: Path, name: str, texts: Sequence[str], *, shared: bool = False, append: bool = False
) -> ChangedSetting:
    """Write a setting into the user's file or the project's, and not a byte besides.

    Args:
        root: the project's folder.
        name: of the setting.
        texts: its value as it is typed; several for the list.
        shared: in the project's file.
        append: add to the end of the list.

    Raises:
        ConfigError: if there is no such setting, it cannot have this value, or a project's file may not set it.
        StoreError: if the file cannot be written.
    """
    if name == FALLBACKS:
        return _change_list(root, read_models(texts), shared=shared, append=append)
    field = field_called(name)
    if append or len(texts) > 1:
        raise ConfigError(f"{name} is not a list: it must be {word_for(field)}", Hint("see what it is", "config show"))
    if shared and rule_of(field).shared == "never":
        hint = Hint("set it for yourself", "config set", name=name, values=list(texts))
        raise ConfigError(f"a project's file may not set {name}", hint)
    try:
        value = parse(field, texts[0])
    except UnusableError as error:
        raise ConfigError(f"{name} {error}", error.hint) from None
    file, changed = _change(root, lambda document: document.set(name.split("."), value), shared=shared)
    return ChangedSetting(file, value, changed)


def _change_list(root: Path, models: list[dict[str, Any]], *, shared: bool, append: bool) -> ChangedSetting:
    """Change the list of fallbacks, or add to its end."""
    path = FALLBACKS.split(".")

    def change(document: Document) -> Document:
        before = document.get(path, [])
        longer = [*before, *models] if append and isinstance(before, list) else models
        if len(longer) > MOST:
            raise ConfigError(f"{FALLBACKS} must have at most {MOST} models", "leave out some of them")
        if not append:
            return document.set(path, models)
        for model in models:
            document = document.append(path, model)
        return document

    file, changed = _change(root, change, shared=shared)
    return ChangedSetting(file, models, changed)


def unset_setting(root: Path, name: str, texts: Sequence[str] = (), *, shared: bool = False) -> ChangedSetting:
    """Take a setting out of the user's file or the project's, or some values out of the list.

    Raises:
        ConfigError: if there is no such setting, or it is no list and values are given.
        StoreError: if the file cannot be written.
    """
    path = name.split(".")
    if name != FALLBACKS:
        field_called(name)
        if texts:
            raise ConfigError(f"{name} is not a list", Hint("take it out", "config unset", name=name))
    gone = read_models(texts)

    def change(document: Document) -> Document:
        kept = document.get(path, [])
        if not gone or not isinstance(kept, list) or all(model in gone for model in kept):
            return _without(document, path)
        for place in reversed([place for place, model in enumerate(kept) if model in gone]):
            document = document.remove([*path, place])
        return document

    file, changed = _change(root, change, shared=shared)
    return ChangedSetting(file, None, changed)


def _without(document: Document, path: list[str]) -> Document:
    """Return a document without a value, and without its section if that says nothing more, not even in a comment."""
    shorter = document.remove(path, len(path))
    return document.remove(path) if shorter.content.count(b"#") < document.remove(path).content.count(b"#") else shorter


def _change(root: Path, change: Callable[[Document], Document], *, shared: bool) -> tuple[Path, bool]:
    """Change the user's file or the project's; return it, and whether that made a difference."""
    user, project = settings_files(root)
    if shared:
        return project, _change_in_project(root, project, change)
    old = read_file(user)
    new = change(parse_document(old or b"", "yaml", str(user))).content
    if new != (old or b""):  # the user's file may be a link
        write_file(user, old, new)
    return user, new != (old or b"")


def _change_in_project(root: Path, file: Path, change: Callable[[Document], Document]) -> bool:
    """Change the project's file, without following links; return whether that made a difference."""
    try:
        file.parent.mkdir(exist_ok=True)
        if not stat.S_ISDIR(os.lstat(file.parent).st_mode):
            raise StoreError(f"{file.parent} is not a directory", f"move or remove {file.parent}")
        old = read_project_file(root, file.name) or ""
        new = change(parse_document(old.encode(), "yaml", str(file))).content.decode()
        if new != old:
            write_project_file(root, file.name, new)
    except OSError as error:
        raise not_written(file, error) from error
    return new != old


def _source_of_list(layers: list[dict[str, Entry]], fallbacks: Sequence[ModelSettings]) -> str:
    variable = ENVIRONMENT_PREFIX + FALLBACKS.replace(".", "_").upper()
    if variable in os.environ:
        return variable
    entries = [entry for layer in layers if (entry := _entry(layer, FALLBACKS)) is not None]
    return entries[-1].place if entries and fallbacks else _DEFAULT


def _source(name: str, field: Field[Any], value: object, layers: list[dict[str, Entry]]) -> str:
    """Return the first place that gives a setting the value it has."""
    variable = ENVIRONMENT_PREFIX + name.replace(".", "_").upper()
    text = os.environ.get(variable)
    entries = [None if text is None else Entry(text, variable), *(_entry(layer, name) for layer in layers)]
    for entry in entries:
        if entry is None or not isinstance(entry.value, str):
            continue
        written = parse(field, entry.value)
        if written == value or stands_for_another(name, written):
            return entry.place
    return _DEFAULT


def _entry(layer: Mapping[str, Entry], name: str) -> Entry | None:
    first, _, rest = name.partition(".")
    entry = layer.get(first)
    if entry is None or not rest:
        return entry
    return _entry(entry.value, rest) if isinstance(entry.value, dict) else None
