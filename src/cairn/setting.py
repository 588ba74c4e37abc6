"""The rules of a setting: its type and its bounds, and what a project's file may do with it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, field, fields
from typing import Any, Literal, NamedTuple

from cairn.errors import ConfigError

# What a project's file may do with a setting. It comes with a clone, so it may never cost the user more than they
# allowed: "lowers" and "raises" name the direction in which a value asks less of the machine.
Share = Literal["free", "asks", "lowers", "raises", "never"]

_KEY_SHAPES = r"(?i:(sk|pk|rk|hf|gsk|xai|voyage|ghp|github_pat|AKIA)[-_A]|AIza|eyJ|Bearer )"
# Patterns are compiled at their first use, to save start-up time.
ONE_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]{0,300}"
SOME_LINES = r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]{0,1000}"
A_PATH = r"[^\x00]{0,4096}"

_MAX_SHOWN = 16  # characters; keys are longer
_INT = r"[+-]?(0|[1-9][0-9_]{0,18})"
_FLOAT = r"[+-]?([0-9][0-9_]{0,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})(e[+-]?[0-9]{1,2})?"
_BOOL = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
_SECRET_NAMES = r"(?i:(.*_)?(api_?)?(key|token|secret|password|passwd|bearer|authorization))"
NO_KEYS_HERE = "put the key into an environment variable and name it in embedding.api_key_env (or use keyring_service)"


class Entry(NamedTuple):
    """A value as it was written, and where: `FILE:LINE`, or the name of a variable. None means no value at all."""

    value: str | list[Entry] | dict[str, Entry] | None
    place: str


class PlacedValue(NamedTuple):
    """A value of the setting's type, and where it was written."""

    value: Any
    place: str


class UnusableError(ValueError):
    """A value that a setting cannot have. Its text continues after the setting's name: `must be a number`."""

    def __init__(self, words: str, hint: str = "see docs/configuration.md") -> None:
        super().__init__(words)
        self.hint = hint


class SettingRule(NamedTuple):
    """The rules of one setting.

    `zero` is what 0 stands for if it has a special meaning, such as no limit. Of `choices`, those that ask for less
    come first. `check` raises UnusableError for what neither bounds nor pattern can express. `is_guarded`: it decides
    where data goes, so that pages show it and do not change it.
    """

    shared: Share
    least: float
    most: float
    zero: Callable[[], float] | None
    pattern: str
    choices: tuple[str, ...]
    check: Callable[[Any], None] | None
    is_guarded: bool = False


def setting(
    default: object,
    shared: Share,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    zero: Callable[[], float] | None = None,
    pattern: str = ONE_LINE,
    choices: tuple[str, ...] = (),
    check: Callable[[Any], None] | None = None,
    guarded: bool = False,
) -> Any:  # noqa: ANN401 - as `dataclasses.field`
    """Return a field for a class of settings; see `SettingRule`."""
    rule = SettingRule(shared, least, most, zero, pattern, choices, check, guarded)
    return field(default=default, metadata={"rule": rule})


def no_limit() -> float:
    """Return what 0 stands for if it means `as many as there are`."""
    return math.inf


def settings_of(schema: type) -> dict[str, Field[Any]]:
    """Return the settings of a class by name; a field that is not a single value has no rule and is left out."""
    return {setting.name: setting for setting in fields(schema) if "rule" in setting.metadata}


def rule_of(setting: Field[Any]) -> SettingRule:
    """Return the rules of a setting."""
    rule: SettingRule = setting.metadata["rule"]
    return rule


def names_shared(schema: type, shared: Share) -> frozenset[str]:
    """Return the names of the settings with which a project's file may do what `shared` says."""
    return frozenset(name for name, setting in settings_of(schema).items() if rule_of(setting).shared == shared)


def word_for(setting: Field[Any]) -> str:
    """Return what a value of a setting is: `true or false`, `a whole number`."""
    choices = rule_of(setting).choices
    return f"one of {', '.join(choices)}" if choices else _WORDS[type(setting.default)]


def parse(setting: Field[Any], text: str) -> Any:  # noqa: ANN401 - of the type of its default
    """Return the value of a text.

    Numbers are decimal and finite. `010`, `1:30` and `0x10`, which YAML 1.1 reads in ways that surprise people, are
    refused.

    Raises:
        UnusableError: if the text is not a value of the setting's type, or not within the bounds.
    """
    kind: type = type(setting.default)
    value: object = text
    stripped = text.strip().lower() if len(text) < 100 else ""
    if kind is bool:
        value = _BOOL.get(stripped)
    elif kind is int:
        value = int(stripped) if re.fullmatch(_INT, stripped) else None
    elif kind is float:
        value = float(stripped) if re.fullmatch(_FLOAT, stripped) else None
    if value is None:
        raise UnusableError(f"must be {_WORDS[kind]}{not_this(text)}")
    check(setting, value)
    return value


def read_settings(schema: type, entries: Mapping[str, Entry], section: str = "") -> dict[str, PlacedValue]:
    """Return the values of a class of settings, each of the right type and within its bounds.

    Args:
        schema: the class.
        entries: what was written, by name.
        section: the prefix of names in messages.

    Raises:
        ConfigError: for an unknown name or an unusable value. It names the place and the setting, and never repeats
            what may be a key.
    """
    known = settings_of(schema)
    result = {}
    for name, entry in entries.items():
        if name not in known and re.fullmatch(_SECRET_NAMES, name):
            message = f"{entry.place}: {section}{printable_name(name)}: a settings file must not contain keys"
            raise ConfigError(message, NO_KEYS_HERE)
        if name not in known:
            label = repr(section + printable_name(name)) if printable_name(name) else "whose name is not repeated here"
            hint = f"correct it, or upgrade Cairn if a newer one set it; known settings: {', '.join(sorted(known))}"
            raise ConfigError(f"{entry.place}: unknown setting {label}", hint)
        try:
            if entry.value is None:
                raise UnusableError("has no value")
            if not isinstance(entry.value, str):
                raise UnusableError(f"must be {_WORDS[type(known[name].default)]}")
            result[name] = PlacedValue(parse(known[name], entry.value), entry.place)
        except UnusableError as error:
            raise ConfigError(f"{entry.place}: {section}{name} {error}", error.hint) from None
    return result


def check_all(values: object) -> None:
    """Make sure that all settings of an object have values that they may have.

    Raises:
        UnusableError: if not; its text begins with the setting's name.
    """
    for name, setting in settings_of(type(values)).items():
        value = getattr(values, name)
        if value is setting.default:
            continue
        try:
            check(setting, value)
        except UnusableError as error:
            raise UnusableError(f"{name} {error}", error.hint) from None


def check(setting: Field[Any], value: object) -> None:
    """Make sure that a setting may have a value.

    Raises:
        UnusableError: if not.
    """
    rule = rule_of(setting)
    kind: type = type(setting.default)
    if not isinstance(value, (int, float) if kind is float else kind) or (isinstance(value, bool) and kind is not bool):
        raise UnusableError(f"must be {_WORDS[kind]}")
    if isinstance(value, str):
        if not re.fullmatch(rule.pattern, value):
            what = "text" if rule.pattern != ONE_LINE else "one line"
            raise UnusableError(f"must be {what}, without control characters and not too long")
        if rule.choices and value not in rule.choices:
            raise UnusableError(f"must be one of {', '.join(rule.choices)}{not_this(value)}")
    elif isinstance(value, int | float) and kind is not bool:
        if math.isnan(value):
            raise UnusableError("must be a number")
        if value < rule.least:
            raise UnusableError(f"must be at least {rule.least:,}, {_WORDS[kind]}")
        if value > rule.most:
            raise UnusableError(f"must be at most {rule.most:,}, {_WORDS[kind]}")
    if rule.check is not None:
        rule.check(value)


def milder(setting: Field[Any], own: Any, asked: Any) -> Any:  # noqa: ANN401 - of the type of its default
    """Return the user's own value of a setting or the project's, whichever asks less of the machine."""
    rule = rule_of(setting)

    def size(value: Any) -> float:  # noqa: ANN401 - as above
        if rule.choices:
            return rule.choices.index(value)
        size: float = rule.zero() if rule.zero is not None and not value else value
        return size

    return (min if rule.shared == "lowers" else max)(own, asked, key=size)


def looks_like_key(text: str) -> bool:
    """Tell whether a text begins like a provider's key."""
    return re.match(_KEY_SHAPES, text) is not None


def not_this(text: str) -> str:
    """Return the end of a message about a wrong value; empty if the value may be a key."""
    return f", not {text!r}" if len(text) <= _MAX_SHOWN and not looks_like_key(text.strip()) else ""


def printable_name(name: str) -> str:
    """Return a name as a message may repeat it; empty if it may be a key in the wrong place."""
    is_word = len(name) <= 40 and re.fullmatch(r"[A-Za-z_.-]+", name) is not None
    if looks_like_key(name) or not (is_word or (len(name) <= _MAX_SHOWN and name.isprintable())):
        return ""
    return name


def read_section(kind: type, entry: Entry | None, section: str, hint: str) -> dict[str, PlacedValue]:
    """Return the settings of one section of a file; none for a file without it.

    Args:
        kind: the class of the settings.
        entry: the section.
        section: its name with a dot behind it.
        hint: where to look a setting up.

    Raises:
        ConfigError: if it is not a section, or has an unknown name or an unusable value.
    """
    if entry is None or entry.value is None:
        return {}
    if not isinstance(entry.value, dict):
        raise ConfigError(f"{entry.place}: {section.rstrip('.')} must be `name: value` lines", hint)
    return read_settings(kind, entry.value, section)


def milder_values(
    kind: type, shared: Mapping[str, PlacedValue], own: Mapping[str, PlacedValue]
) -> dict[str, PlacedValue]:
    """Return what a project's file sets, each value no further than the rule of its setting lets a project go."""
    known = settings_of(kind)
    result = {}
    for name, placed in shared.items():
        value: Any = placed.value
        if rule_of(known[name]).shared in ("lowers", "raises"):
            value = milder(known[name], own[name].value if name in own else known[name].default, value)
        result[name] = PlacedValue(value, placed.place)
    return result
