"""`cairn config get`, `set`, `unset` and `show`: settings with where each comes from, and the files they are in."""

from __future__ import annotations

import argparse
from pathlib import Path

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json
from cairn.errors import CairnError
from cairn.operations.model_lists import FALLBACKS, shown_model
from cairn.operations.settings import (
    ChangedSetting,
    SettingInUse,
    change_setting,
    setting_in_use,
    settings_document,
    stands_for_another,
    unset_setting,
)
from cairn.registry import enclosing_root, real_folder


def run_get(options: argparse.Namespace) -> int:
    """Print the value of a setting."""
    setting = setting_in_use(_root(options), options.name)
    if options.json:
        emit_json(setting._asdict())
    elif options.name == FALLBACKS:
        for model in setting.value:
            emit(printable(shown_model(model)))
    else:
        emit(_shown(setting.value))
    return EXIT_FOUND


def run_show(options: argparse.Namespace) -> int:
    """Print all settings, each with where its value comes from."""
    root = _root(options)
    document = settings_document(root)
    if options.json:
        emit_json(document)
        return EXIT_FOUND
    for setting in document["settings"]:
        emit(f"{setting['name']}: {_shown(setting['value'])}  # {printable(setting['source'])}")
    note(f"Yours: {document['user_file']}\nThe project's: {document['project_file']}")
    return EXIT_FOUND


def run_set(options: argparse.Namespace) -> int:
    """Change a setting in the user's file or the project's, and not a byte besides."""
    root, name = _root(options), options.name
    change = change_setting(root, name, options.values, shared=options.shared, append=options.append)
    _tell(options, change, change.value)
    if name != FALLBACKS:
        _note_what_counts(root, name, change.value)
    return EXIT_FOUND


def run_unset(options: argparse.Namespace) -> int:
    """Take a setting out of the user's file or the project's, or some values out of a list."""
    root, name = _root(options), options.name
    change = unset_setting(root, name, options.values, shared=options.shared)
    if not change.changed and not options.json:
        note(f"{change.file} does not set {name}{' to that' if options.values else ''}.")
    try:
        now = setting_in_use(root, name)
    except CairnError as error:
        note(f"Written, but the settings cannot be used like this: {error}")
        now = SettingInUse(name, None, str(change.file))
    if options.json:
        _tell(options, change, now.value)
    elif change.changed and now.value is not None:
        emit(f"{name}: {_shown(now.value)}  # {printable(now.source)}")
    return EXIT_FOUND if change.changed else EXIT_NONE


def _tell(options: argparse.Namespace, change: ChangedSetting, value: object) -> None:
    if options.json:
        emit_json({"name": options.name, "value": value, "file": str(change.file), "changed": change.changed})
    else:
        emit(f"{options.name}: {printable(_shown(value))}  # {printable(str(change.file))}")


def _note_what_counts(root: Path, name: str, value: object) -> None:
    """Say if the setting has another value all the same, or if the settings cannot be used as they are now."""
    try:
        now = setting_in_use(root, name)
    except CairnError as error:
        note(f"Written, but the settings cannot be used like this: {error}")
        return
    if stands_for_another(name, value):
        note(f"Here that is {_shown(now.value)}.")
    elif now.value != value:
        note(f"Here it is {_shown(now.value)} all the same, by {now.source}; docs/configuration.md says what counts.")


def _root(options: argparse.Namespace) -> Path:
    return Path(enclosing_root(options.project) or real_folder(options.project))


def _shown(value: object) -> str:
    """Return a value as the file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(printable(shown_model(model)) for model in value)}]"
    return printable(str(value)) if value != "" else '""'
