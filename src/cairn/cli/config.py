"""`cairn config get`, `set`, `unset` and `show`: settings with where each comes from, and the files they are in."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from cairn.cli.config_lists import FALLBACKS, MOST, model_of, read_models, shown_model
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json
from cairn.config import ENVIRONMENT_PREFIX, Settings, load_settings, settings_files
from cairn.documents.document import Document, parse_document
from cairn.documents.files import read_file, write_file
from cairn.errors import CairnError, ConfigError, StoreError
from cairn.hints import Hint
from cairn.hooks_settings import HooksSettings
from cairn.memory_settings import MemorySettings
from cairn.model_settings import AUTO, EmbeddingSettings, ModelSettings
from cairn.registry import enclosing_root
from cairn.setting import Entry, UnusableError, parse, printable_name, rule_of, settings_of, word_for
from cairn.yaml_files import read_mapping, read_project_file, read_user_file, write_project_file

_SECTIONS: Mapping[str, type] = {"embedding": EmbeddingSettings, "memory": MemorySettings, "hooks": HooksSettings}
_DEFAULT = "default"
_PROVIDER = "embedding.provider"  # the one setting of which a value, `auto`, stands for others


class SettingInUse(NamedTuple):
    """A setting as it counts now, and where its value comes from: `FILE:LINE`, a variable, or `default`."""

    name: str
    value: Any
    source: str


def run_get(options: argparse.Namespace) -> int:
    """Print the value of a setting."""
    if options.name != FALLBACKS:
        _field_called(options.name)
    (found,) = (setting for setting in _in_use(_root(options)) if setting.name == options.name)
    if options.json:
        emit_json(found._asdict())
    elif options.name == FALLBACKS:
        for model in found.value:
            emit(printable(shown_model(model)))
    else:
        emit(_shown(found.value))
    return EXIT_FOUND


def run_show(options: argparse.Namespace) -> int:
    """Print all settings, each with where its value comes from."""
    root = _root(options)
    user, project = settings_files(root)
    settings = _in_use(root)
    if options.json:
        rows = [setting._asdict() for setting in settings]
        emit_json({"user_file": str(user), "project_file": str(project), "settings": rows})
        return EXIT_FOUND
    for setting in settings:
        emit(f"{setting.name}: {_shown(setting.value)}  # {printable(setting.source)}")
    note(f"Yours: {user}\nThe project's: {project}")
    return EXIT_FOUND


def run_set(options: argparse.Namespace) -> int:
    """Change a setting in the user's file or the project's, and not a byte besides."""
    root, name = _root(options), options.name
    if name == FALLBACKS:
        return _set_list(options, root)
    field = _field_called(name)
    if options.append or len(options.values) > 1:
        raise ConfigError(f"{name} is not a list: it must be {word_for(field)}", Hint("see what it is", "config show"))
    text = options.values[0]
    if options.shared and rule_of(field).shared == "never":
        raise ConfigError(
            f"a project's file may not set {name}", Hint("set it for yourself", "config set", name=name, values=[text])
        )
    try:
        value = parse(field, text)
    except UnusableError as error:
        raise ConfigError(f"{name} {error}", error.hint) from None
    file, changed = _change(options, root, lambda document: document.set(name.split("."), value))
    _tell(options, file, value, _shown(value), changed)
    _note_what_counts(root, name, value)
    return EXIT_FOUND


def _set_list(options: argparse.Namespace, root: Path) -> int:
    """Change the list of fallbacks, or add to its end."""
    path, models = FALLBACKS.split("."), read_models(options.values)

    def change(document: Document) -> Document:
        before = document.get(path, [])
        longer = [*before, *models] if options.append and isinstance(before, list) else models
        if len(longer) > MOST:
            raise ConfigError(f"{FALLBACKS} must have at most {MOST} models", "leave out some of them")
        if not options.append:
            return document.set(path, models)
        for model in models:
            document = document.append(path, model)
        return document

    file, changed = _change(options, root, change)
    _tell(options, file, models, _shown(models), changed)
    return EXIT_FOUND


def run_unset(options: argparse.Namespace) -> int:
    """Take a setting out of the user's file or the project's, or some values out of a list."""
    root, name = _root(options), options.name
    path = name.split(".")
    if name != FALLBACKS:
        _field_called(name)
        if options.values:
            raise ConfigError(f"{name} is not a list", Hint("take it out", "config unset", name=name))
    gone = read_models(options.values)

    def change(document: Document) -> Document:
        kept = document.get(path, [])
        if not gone or not isinstance(kept, list) or all(model in gone for model in kept):
            return _without(document, path)
        for place in reversed([place for place, model in enumerate(kept) if model in gone]):
            document = document.remove([*path, place])
        return document

    file, changed = _change(options, root, change)
    if not changed and not options.json:
        note(f"{file} does not set {name}{' to that' if gone else ''}.")
    try:
        now = next(setting for setting in _in_use(root) if setting.name == name)
    except CairnError as error:
        note(f"Written, but the settings cannot be used like this: {error}")
        now = SettingInUse(name, None, str(file))
    if options.json:
        _tell(options, file, now.value, "", changed)
    elif changed and now.value is not None:
        emit(f"{name}: {_shown(now.value)}  # {printable(now.source)}")
    return EXIT_FOUND if changed else EXIT_NONE


def _without(document: Document, path: list[str]) -> Document:
    """Return a document without a value, and without its section if that says nothing more, not even in a comment."""
    shorter = document.remove(path, len(path))
    return document.remove(path) if shorter.content.count(b"#") < document.remove(path).content.count(b"#") else shorter


def _tell(options: argparse.Namespace, file: Path, value: object, shown: str, changed: bool) -> None:
    if options.json:
        emit_json({"name": options.name, "value": value, "file": str(file), "changed": changed})
    else:
        emit(f"{options.name}: {printable(shown)}  # {printable(str(file))}")


def _change(options: argparse.Namespace, root: Path, change: Callable[[Document], Document]) -> tuple[Path, bool]:
    """Change the user's file or the project's; return it, and whether that made a difference."""
    user, project = settings_files(root)
    if options.shared:
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
        raise StoreError(f"cannot write {file}: {error.strerror}", "make its folder writable") from error
    return new != old


def _note_what_counts(root: Path, name: str, value: object) -> None:
    """Say if the setting has another value all the same, or if the settings cannot be used as they are now."""
    try:
        (now,) = (setting for setting in _in_use(root) if setting.name == name)
    except CairnError as error:
        note(f"Written, but the settings cannot be used like this: {error}")
        return
    if value == AUTO and name == _PROVIDER:
        note(f"Here that is {_shown(now.value)}.")
    elif now.value != value:
        note(f"Here it is {_shown(now.value)} all the same, by {now.source}; docs/configuration.md says what counts.")


def _root(options: argparse.Namespace) -> Path:
    return Path(enclosing_root(options.project) or os.path.realpath(os.path.expanduser(options.project)))


def _fields() -> dict[str, Field[Any]]:
    """Return all settings that are single values, by name."""
    named = settings_of(Settings)
    for section, kind in _SECTIONS.items():
        named |= {f"{section}.{name}": field for name, field in settings_of(kind).items()}
    return named


def _field_called(name: str) -> Field[Any]:
    known = _fields()
    if name in known:
        return known[name]
    near = get_close_matches(name[:100], [*known, FALLBACKS], 1)
    label = repr(shown) if (shown := printable_name(name)) else "whose name is not repeated here"
    meant = f"did you mean {near[0]}? it lists all" if near else "it lists all"
    raise ConfigError(f"unknown setting {label}", Hint(meant, "config show"))


def _in_use(root: Path) -> list[SettingInUse]:
    """Return all settings as they count in a project."""
    settings = load_settings(root)
    user, project = settings_files(root)
    layers = [
        read_mapping(text or "", str(file))
        for file, text in ((project, read_project_file(root, project.name)), (user, read_user_file(user)))
    ]
    result = []
    for name, field in _fields().items():
        section, _, inner = name.rpartition(".")
        holder = (getattr(settings, section) or _SECTIONS[section]()) if section else settings
        value = getattr(holder, inner)
        result.append(SettingInUse(name, value, _source(name, field, value, layers)))
    fallbacks = settings.embedding.fallbacks if settings.embedding is not None else ()
    result.append(SettingInUse(FALLBACKS, [model_of(model) for model in fallbacks], _source_of_list(layers, fallbacks)))
    return result


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
        if written == value or (name == _PROVIDER and written == AUTO):
            return entry.place
    return _DEFAULT


def _entry(layer: Mapping[str, Entry], name: str) -> Entry | None:
    first, _, rest = name.partition(".")
    entry = layer.get(first)
    if entry is None or not rest:
        return entry
    return _entry(entry.value, rest) if isinstance(entry.value, dict) else None


def _shown(value: object) -> str:
    """Return a value as the file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(printable(shown_model(model)) for model in value)}]"
    return printable(str(value)) if value != "" else '""'
