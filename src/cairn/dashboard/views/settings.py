"""Settings from the schema, each with its source; all but guarded ones can be changed here."""

from __future__ import annotations

import asyncio
import math
from dataclasses import Field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from starlette.responses import Response

from cairn.config import settings_files
from cairn.daemon.http import status_of
from cairn.dashboard.remarks import Remark
from cairn.dashboard.visit import Visit
from cairn.errors import ConfigError, RequestError
from cairn.operations.model_lists import shown_model
from cairn.operations.settings import (
    SettingInUse,
    all_fields,
    change_setting,
    check_free,
    settings_in_use,
    unset_setting,
)
from cairn.setting import rule_of, word_for

_UNKNOWN = "unknown"
_AT_START = ("daemon_", "background_", "memory_mb")  # name prefixes of settings that the daemon reads once


class SettingForm(NamedTuple):
    """What a form needs to know of a setting.

    Attributes:
        rule: what a value must be, in words.
        choices: the possible values, if there are few.
        default: as written in a file.
        is_guarded: whether it is read-only here.
        may_be_shared: whether a project's file may set it.
        is_read_at_start: whether the running daemon keeps its present value.
    """

    name: str
    value: str
    source: str
    rule: str
    choices: tuple[str, ...]
    default: str
    is_guarded: bool
    may_be_shared: bool
    is_read_at_start: bool


async def show(visit: Visit) -> Response:
    """List the settings, and show the form of one."""
    return await _page(visit, visit.query.get("name", ""))


async def _page(
    visit: Visit, name: str, written: str | None = None, scope: str = "user", status: int = 200
) -> Response:
    """Return the page with the form of one setting; if it could not be saved, with what was typed."""
    root = visit.root
    settings = await _read(visit, root)
    text, is_set = visit.query.get("text", "").strip().lower(), bool(visit.query.get("set"))
    shown = [item for item in settings if text in item.name and (item.source != "default" or not is_set)]
    chosen = next((item for item in settings if item.name == name), None)
    user, project = settings_files(root)
    return visit.page(
        "settings.html",
        status,
        written=written,
        scope=scope,
        settings=[item._replace(value=typed(item.value)) for item in shown],
        n_settings=len(settings),
        form=None if chosen is None else _form_of(chosen),
        user_file=str(user),
        project_file=str(project),
    )


async def act(visit: Visit) -> Response:
    """Set a setting, or remove it from a file."""
    form, root = await visit.form(), visit.root
    action, name, value, scope = (form.get(field, [""])[-1] for field in ("action", "name", "value", "scope"))
    if action not in ("set", "unset"):
        raise RequestError("there is nothing to do", "press one of the buttons")
    check_free(name)
    do = partial(change_setting, root, name, [value]) if action == "set" else partial(unset_setting, root, name)
    try:
        await asyncio.to_thread(do, shared=scope == "project")
    except (ConfigError, RequestError) as error:
        visit.note(str(error), is_error=True, hint=str(error.hint))
        return await _page(visit, name, value if action == "set" else None, scope, status_of(error))
    return visit.back("/settings", await _remark_on(visit, root, name), name=name)


async def _remark_on(visit: Visit, root: Path, name: str) -> Remark | None:
    """Return a setting's new value as a remark; None if the settings are unusable, which the page reports."""
    now = next((item for item in await _read(visit, root) if item.name == name), None)
    if now is None or now.source == _UNKNOWN:
        return None
    return Remark(f"{name} is {typed(now.value) or 'empty'} now, by {now.source}.")


def typed(value: object) -> str:
    """Return a value as one would type it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(shown_model, value))
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


async def _read(visit: Visit, root: Path) -> list[SettingInUse]:
    """Return the settings; if a file is unusable, report that and return the defaults, so that it can be fixed."""
    try:
        return await asyncio.to_thread(settings_in_use, root)
    except ConfigError as error:
        visit.note(f"the settings cannot be used like this: {error}", is_error=True, hint=str(error.hint))
        return [SettingInUse(name, field.default, _UNKNOWN) for name, field in all_fields().items()]


def _form_of(setting: SettingInUse) -> SettingForm:
    field = all_fields().get(setting.name)
    if field is None:  # the list of fallbacks
        value = typed(setting.value)
        return SettingForm(setting.name, value, setting.source, "a list of models", (), "", True, False, False)
    rule = rule_of(field)
    return SettingForm(
        setting.name,
        typed(setting.value),
        setting.source,
        _words(field),
        ("true", "false") if isinstance(field.default, bool) else rule.choices,
        typed(field.default),
        rule.is_guarded,
        rule.shared != "never",
        setting.name.startswith(_AT_START),
    )


def _words(field: Field[Any]) -> str:
    """Describe the valid values of a setting."""
    rule, words = rule_of(field), word_for(field)
    least = "" if math.isinf(rule.least) else f" from {rule.least:,g}"
    most = "" if math.isinf(rule.most) else f" to {_bound(rule.most)}"
    return words if isinstance(field.default, bool | str) else f"{words}{least}{most}"


def _bound(number: float) -> str:
    return f"{number:,.0f}" if number < 1e15 and float(number).is_integer() else f"{number:g}"
