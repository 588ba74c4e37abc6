from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cairn.config import Settings, load_settings, settings_files
from cairn.embedding.chain import price_of
from cairn.embedding.keys import find_key, warnings_of
from cairn.errors import ConfigError, ProviderKeyError
from cairn.hooks_settings import HooksSettings
from cairn.index.limits import background_cores
from cairn.memory_settings import MemorySettings
from cairn.model_settings import EmbeddingSettings, ModelSettings
from cairn.setting import names_shared, settings_of

KEY = "sk-this-is-secret-0123456789"


def load(tmp_path: Path, project: str = "", user: str = "", **environment: str) -> Settings:
    (tmp_path / "project" / ".cairn").mkdir(parents=True, exist_ok=True)
    (tmp_path / "user" / "cairn").mkdir(parents=True, exist_ok=True)
    (tmp_path / "project" / ".cairn" / "config.yaml").write_text(project)
    (tmp_path / "user" / "cairn" / "config.yaml").write_text(user)
    return load_settings(tmp_path / "project", {**places(tmp_path), **environment})


def places(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "user"), "XDG_STATE_HOME": str(tmp_path / "state")}


def refused(tmp_path: Path, project: str = "", user: str = "", **environment: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, project, user, **environment)
    assert caught.value.hint
    return caught.value


def test_nothing_set_means_the_bundled_model(tmp_path: Path) -> None:
    assert load(tmp_path) == Settings()
    assert Settings().chain == ()


def test_a_folder_of_settings_that_is_not_absolute_is_ignored(tmp_path: Path) -> None:
    of_user, _ = settings_files(tmp_path, {"XDG_CONFIG_HOME": "here"})
    assert of_user == settings_files(tmp_path, {})[0]


def test_later_places_win_setting_by_setting(tmp_path: Path) -> None:
    user = (
        "max_file_bytes: 7\nembedding:\n  provider: ollama\n  model: a\n  batch_size: 3\n  url: https://own.example\n"
    )
    settings = load(tmp_path, "", user, CAIRN_EMBEDDING_DIMENSIONS="128", CAIRN_EMBEDDING_BACKGROUND="no")
    assert settings.max_file_bytes == 7
    assert settings.embedding == EmbeddingSettings(
        "ollama", "a", "https://own.example", dimensions=128, batch_size=3, background=False
    )
    assert load(tmp_path, "max_file_bytes: 6", "max_file_bytes: 7").max_file_bytes == 6
    assert load(tmp_path, "max_file_bytes: 6", "max_file_bytes: 7", CAIRN_MAX_FILE_BYTES="9").max_file_bytes == 9


def test_fallbacks_are_models_of_the_same_kind(tmp_path: Path) -> None:
    user = "embedding:\n  provider: ollama\n  model: a\n  fallbacks:\n    - {provider: fastembed, model: b}\n"
    chain = load(tmp_path, user=user).chain
    assert [one.name for one in chain] == ["ollama:a", "fastembed:b"]
    chain = load(tmp_path, user=user, CAIRN_EMBEDDING_FALLBACKS="[{provider: ollama, model: c}]").chain
    assert [one.name for one in chain] == ["ollama:a", "ollama:c"]


@pytest.mark.parametrize("place", ["project", "user"])
@pytest.mark.parametrize(
    ("section", "line", "said"),
    [
        ("provider: nobody", 2, "embedding.provider must be one of bundled, github"),
        ("provider: ollama", 2, "embedding.model must name the model"),
        ("provider: ollama\n  model: m\n  batch_size: 0", 4, "embedding.batch_size must be at least 1"),
        ("provider: ollama\n  model: m\n  batch_size: many", 4, "batch_size must be a whole number, not 'many'"),
        ("provider: ollama\n  model: m\n  batch_size: true", 4, "batch_size must be a whole number, not 'true'"),
        ("provider: ollama\n  model: m\n  batch_size: 1.5", 4, "batch_size must be a whole number, not '1.5'"),
        ("provider: ollama\n  model: m\n  batch_size: 010", 4, "batch_size must be a whole number, not '010'"),
        ("provider: ollama\n  model: m\n  batch_size: 0x10", 4, "batch_size must be a whole number, not '0x10'"),
        ("provider: ollama\n  model: m\n  batch_size: 1:30", 4, "batch_size must be a whole number, not '1:30'"),
        ("provider: ollama\n  model: m\n  batch_size: " + "9" * 5_000, 4, "batch_size must be a whole number"),
        ("provider: ollama\n  model: m\n  batch_size: 2001-12-14", 4, "batch_size must be a whole number"),
        ("provider: ollama\n  model: m\n  batch_size:", 4, "embedding.batch_size has no value"),
        ("provider: ollama\n  model: m\n  timeout_seconds: .nan", 4, "timeout_seconds must be a number, not '.nan'"),
        ("provider: ollama\n  model: m\n  timeout_seconds: .inf", 4, "timeout_seconds must be a number, not '.inf'"),
        ("provider: ollama\n  model: m\n  timeout_seconds: 1e400", 4, "timeout_seconds must be a number"),
        ("provider: ollama\n  model: m\n  timeout_seconds: 1e99", 4, "timeout_seconds must be at most 86,400"),
        ("provider: ollama\n  model: m\n  timeout_seconds: []", 4, "embedding.timeout_seconds must be a number"),
        ("provider: ollama\n  model: m\n  background: perhaps", 4, "background must be true or false, not 'perhaps'"),
        ('provider: ollama\n  model: "a\\0b"', 3, "embedding.model must be one line"),
        ('provider: ollama\n  model: "a\\ud800"', 3, "embedding.model must be one line"),
        ("provider: ollama\n  model: " + "m" * 301, 3, "embedding.model must be one line"),
        ("provider: ollama\n  model: {a: b}", 3, "embedding.model must be a string"),
        ("provider: ollama\n  model: m\n  fallbacks: other", 4, "fallbacks must be a list"),
        ("provider: ollama\n  model: m\n  fallbacks: [{colour: red}]", 4, "unknown setting 'embedding.colour'"),
        ("fallbacks: [" + "{provider: ollama, model: m}, " * 9 + "]", 2, "fallbacks must have at most 8 models"),
        ("provider: ollama\n  model: m\n  fallbacks: [red]", 4, "each of embedding.fallbacks"),
        (
            "provider: ollama\n  model: m\n  fallbacks:\n  - {provider: ollama}",
            5,
            "embedding.model must name the model",
        ),
        ("fallbacks: '[{batch_size: x}]'", 2, "embedding.batch_size must be a whole number"),
        ("embedding: {}", 2, "unknown setting 'embedding.embedding'"),
        ("1: 2", 2, "unknown setting 'embedding.1'"),
        ("~: 2", 2, "unknown setting 'embedding.~'"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_names_file_line_and_setting(
    tmp_path: Path, section: str, line: int, said: str, place: str
) -> None:
    told = str(refused(tmp_path, **{place: f"embedding:\n  {section}\n"}))
    assert said in told
    assert f"{place}/{'.cairn' if place == 'project' else 'cairn'}/config.yaml:{line}: " in told


def test_a_variable_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    assert "CAIRN_MEMORY_MB: memory_mb must be at least 256" in str(refused(tmp_path, CAIRN_MEMORY_MB="1"))
    told = str(refused(tmp_path, CAIRN_EMBEDDING_BATCH_SIZE=KEY))
    assert told == "CAIRN_EMBEDDING_BATCH_SIZE: embedding.batch_size must be a whole number"
    unknown = refused(tmp_path, CAIRN_EMBEDDING_COLOUR="red")
    assert "CAIRN_EMBEDDING_COLOUR: unknown setting" in str(unknown)
    assert unknown.hint.startswith("correct it, or upgrade Cairn if a newer one set it; known settings: api_key_env")
    for text in ("[" * 1_000, "&a [*a]", "{", "x", "[{provider: ollama}]", "[{model: {}}]"):
        assert "CAIRN_EMBEDDING_FALLBACKS" in str(refused(tmp_path, CAIRN_EMBEDDING_FALLBACKS=text))


def test_a_section_that_is_none_is_an_error(tmp_path: Path) -> None:
    assert "embedding must be" in str(refused(tmp_path, "embedding: ollama\n"))


@pytest.mark.parametrize(
    "url",
    ["ftp://host", "localhost:11434", "http://", "http://[::1", "http://host:99999", "https://a\\b", "https://a\tb"],
)
def test_a_url_must_be_one(tmp_path: Path, url: str) -> None:
    user = f"embedding: {{provider: ollama, model: m, url: {json.dumps(url)}}}"
    assert "embedding.url must begin with http" in str(refused(tmp_path, user=user))


@pytest.mark.parametrize(
    "line",
    [
        f"api_key: {KEY}",
        f"token: {KEY}",
        f"api_key_env: {KEY}",
        f"api_key_env: '{KEY} '",
        f"url: https://user:{KEY}@host/v1",
        f"url: https://host/v1?key={KEY}",
        f"batch_size: {KEY}",
    ],
)
@pytest.mark.parametrize("place", ["project", "user"])
def test_a_key_in_a_settings_file_is_refused_and_not_repeated(tmp_path: Path, line: str, place: str) -> None:
    error = refused(tmp_path, **{place: f"embedding:\n  provider: openai\n  model: m\n  {line}\n"})
    assert KEY not in f"{error} {error.hint} {error.__cause__!r} {error.__context__!r}"


def test_a_broken_file_is_told_without_its_lines(tmp_path: Path) -> None:
    error = refused(tmp_path, f"embedding:\n  api_key: {KEY}: [\n")
    assert "config.yaml:2 is not valid YAML" in str(error)
    assert KEY not in f"{error}"


@pytest.mark.parametrize("value", ["AWS_SECRET_ACCESS_KEY", "~", "[a]", "sk-this-is-secret-0123456789"])
@pytest.mark.parametrize("name", ["api_key_env", "keyring_service", "price_per_million_tokens"])
@pytest.mark.parametrize(
    "written",
    [
        "embedding: {{{}}}",
        "embedding:\n  fallbacks: [{{provider: ollama, model: m, {}}}]",
        "embedding:\n  fallbacks: '[{{provider: ollama, model: m, {}}}]'",
        'embedding: {{"fallbacks": "- {}"}}',
    ],
)
def test_a_projects_file_names_no_key_however_it_is_written(
    tmp_path: Path, written: str, name: str, value: str
) -> None:
    error = refused(tmp_path, project=written.format(f"{name}: {value}"))
    assert f"embedding.{name}" in str(error)
    assert value[:3] != "sk-" or value not in f"{error} {error.hint}"


def test_a_projects_file_may_not_set_what_is_the_users(tmp_path: Path) -> None:
    for name in sorted(names_shared(Settings, "never")):
        default = str(getattr(Settings(), name) or "/x").lower()
        error = refused(tmp_path, project=f"\n{name}: {default}")
        assert f".cairn/config.yaml:2: a project's file may not set {name}" in str(error)
        assert error.hint == f"set it in {tmp_path}/user/cairn/config.yaml instead"


@pytest.mark.parametrize(
    ("name", "user", "project", "holds"),
    [
        ("max_file_bytes", None, 100_000_000_000, 1_000_000),
        ("max_file_bytes", None, 5, 5),
        ("max_file_bytes", 2_000_000, 1_500_000, 1_500_000),
        ("memory_mb", None, 4_096, 1_024),
        ("memory_mb", 300, 512, 300),
        ("memory_mb", None, 512, 512),
        ("batch_chunks", None, 1_000_000, 3_000),
        ("lock_timeout_seconds", None, 999.0, 120.0),
        ("lock_timeout_seconds", None, 1.5, 1.5),
        ("garbage_days", 30.0, 60.0, 30.0),
        ("garbage_days", 30.0, 1.0, 1.0),
        ("watch_poll_seconds", None, 0.1, 2.0),
        ("watch_poll_seconds", None, 9.0, 9.0),
        ("background_nice", None, 0, 10),
        ("background_nice", None, 19, 19),
        ("pause_on_battery", True, False, True),
        ("pause_on_battery", None, True, True),
    ],
)
def test_a_projects_file_only_asks_for_less_than_the_user_allows(
    tmp_path: Path, name: str, user: object, project: object, holds: object
) -> None:
    settings = load(tmp_path, f"{name}: {project}".lower(), "" if user is None else f"{name}: {user}".lower())
    assert getattr(settings, name) == holds


@pytest.mark.parametrize("user", [0, 1, 3, 64])
@pytest.mark.parametrize("project", [0, 1, 2, 4_096])
def test_a_projects_file_takes_no_more_cores_than_the_user_gives(tmp_path: Path, user: int, project: int) -> None:
    cores = os.cpu_count() or 1
    own = background_cores(Settings(background_cores=user), cores)
    settings = load(tmp_path, f"background_cores: {project}", f"background_cores: {user}")
    assert background_cores(settings, cores) == min(own, project or max(1, cores // 2))


@pytest.mark.parametrize(
    ("name", "user", "project", "holds"),
    [
        ("batch_size", None, 10_000, 64),
        ("batch_size", 8, 4, 4),
        ("concurrency", None, 256, 2),
        ("requests_per_minute", None, 60, 60),
        ("requests_per_minute", 30, 0, 30),
        ("requests_per_minute", 30, 60, 30),
        ("timeout_seconds", None, 86_400.0, 60.0),
        ("query_timeout_seconds", None, 60.0, 2.0),
        ("background", False, True, False),
        ("background", None, False, False),
    ],
)
def test_a_projects_file_only_asks_less_of_the_users_model(
    tmp_path: Path, name: str, user: object, project: object, holds: object
) -> None:
    own = "embedding:\n  provider: ollama\n  model: m\n"
    own += "" if user is None else f"  {name}: {user}\n".lower()
    settings = load(tmp_path, f"embedding: {{{name}: {project}}}".lower(), own)
    assert getattr(settings.embedding, name) == holds
    assert settings.chain[0].name == "ollama:m"


def test_a_projects_file_may_not_make_its_name_a_tale(tmp_path: Path) -> None:
    assert load(tmp_path, "project_name: till").project_name == "till"
    for name in ('"a\\nb"', '"\\e[2J"', "x" * 301, '"\\u2028"'):
        assert "project_name must be one line" in str(refused(tmp_path, f"project_name: {name}"))


def named(name: str, value: object) -> dict[str, Any]:
    return {name: value}


@pytest.mark.parametrize("name", sorted(settings_of(Settings)))
def test_every_number_has_bounds_that_hold_for_all_who_make_settings(name: str) -> None:
    one = settings_of(Settings)[name]
    if type(one.default) not in (int, float):
        return
    for value in (float("nan"), float("inf"), -float("inf"), -1, 10**30):
        with pytest.raises(ConfigError, match=f"^{name} must be"):
            Settings(**named(name, value))


@pytest.mark.parametrize("name", sorted(settings_of(EmbeddingSettings)))
def test_settings_made_in_python_are_of_their_kind(name: str) -> None:
    default = settings_of(EmbeddingSettings)[name].default
    for value in (None, [], object(), "x" if not isinstance(default, str) else 1, True if default is not True else 1):
        with pytest.raises(ConfigError, match=f"^embedding.{name} must be"):
            EmbeddingSettings(**named(name, value))


@pytest.mark.parametrize(
    ("value", "meant"), [("1_000", 1_000), ("+7", 7), (" 8 ", 8), ("'9'", 9), ('"10"', 10), ("!!str 11", 11)]
)
def test_numbers_are_decimal_however_they_are_quoted(tmp_path: Path, value: str, meant: int) -> None:
    assert load(tmp_path, user=f"max_file_bytes: {value}").max_file_bytes == meant


def test_a_text_stays_the_text_it_is(tmp_path: Path) -> None:
    for text in ("010", "1.0", "yes", "2001-12-14", "0x1F", "1e3", "on"):
        assert load(tmp_path, user=f"embedding: {{provider: ollama, model: {text}}}").chain[0].model == text


@pytest.mark.parametrize("line", [f"{KEY}: 1", f"? {KEY}\n: 1", f"{KEY[3:]}AbCdEf: x", f"embedding: {{{KEY}: 1}}"])
def test_a_key_in_the_place_of_a_name_is_not_repeated(tmp_path: Path, line: str) -> None:
    error = refused(tmp_path, line)
    assert "unknown setting" in str(error)
    assert KEY[3:] not in f"{error} {error.hint} {error.__cause__!r} {error.__context__!r}"


def test_a_host_that_only_looks_like_this_machine_is_another() -> None:
    for url in ("http://localhost.example.org", "http://127.0.0.1.example.org", "http://128.0.0.1"):
        assert not ModelSettings("ollama", "m", url).stays_here


def test_texts_and_keys_sent_in_the_clear_are_warned_about() -> None:
    plain = ModelSettings("openai", "m", "http://gpu.example.org/v1", api_key_env="MY_KEY")
    assert "others can read the key and all texts on the way" in warnings_of(plain, {"MY_KEY": KEY})[0]
    assert "others can read all texts" in warnings_of(plain, {})[0]
    assert warnings_of(ModelSettings("openai", "m", "http://localhost:1234/v1")) == []
    assert warnings_of(ModelSettings("openai", "m")) == []


def test_prices_are_known_set_free_or_unknown() -> None:
    assert price_of(ModelSettings("openai", "text-embedding-3-small")) == 0.02
    assert price_of(ModelSettings("openai", "text-embedding-3-small", price_per_million_tokens=1.5)) == 1.5
    assert price_of(ModelSettings("ollama", "nomic-embed-text")) == 0
    assert price_of(ModelSettings("openai", "m", "https://models.example.org/v1")) is None


def test_a_key_comes_from_the_environment_first() -> None:
    settings = ModelSettings("google", "gemini-embedding-001", keyring_service="cairn")
    assert find_key(settings, {"GEMINI_API_KEY": f" {KEY}\n"}) == KEY


def test_a_missing_keyring_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "keyring", None)
    with pytest.raises(ProviderKeyError, match="keyring is not installed") as caught:
        find_key(ModelSettings("openai", "m", keyring_service="cairn"), {})
    assert caught.value.hint == "uv tool install 'codecairn[keyring]'"


def test_the_memory_has_a_section_that_each_place_adds_to(tmp_path: Path) -> None:
    user = "memory:\n  chat_provider: ollama\n  chat_model: qwen3\n  supersede: 0.9\n"
    project = "memory:\n  supersede: 0.95\n  supersede_same_file: 0.6\n"
    settings = load(tmp_path, project, user, CAIRN_MEMORY_CHAT_MODEL="gemma3", CAIRN_MEMORY_MB="512")
    assert settings.memory_mb == 512
    assert settings.memory == MemorySettings(
        supersede=0.95, supersede_same_file=0.6, chat_provider="ollama", chat_model="gemma3"
    )
    assert settings.memory.chat_base_url == "http://localhost:11434"
    assert settings.memory.warnings == []


def test_a_project_does_not_lower_the_similarity_at_which_memories_are_superseded(tmp_path: Path) -> None:
    settings = load(tmp_path, "memory: {supersede: 0.5}", "memory: {supersede: 0.97}")
    assert settings.memory == MemorySettings(supersede=0.97)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("memory: [1]", "memory must be `name: value` lines"),
        ("memory: {colour: red}", "unknown setting 'memory.colour'"),
        ("memory: {supersede: 0.3}", "memory.supersede must be 0, or at least 0.5"),
        ("memory: {supersede_same_file: 1.3}", "memory.supersede_same_file must be at most 1"),
        ("memory: {chat_provider: nobody}", "memory.chat_provider must be one of"),
        ("memory: {chat_provider: openai}", "memory.chat_model must name the model of openai"),
        ("memory: {chat_url: 'ftp://a'}", "memory.chat_url must begin with http"),
    ],
)
def test_a_wrong_setting_of_the_memory_is_refused(tmp_path: Path, user: str, words: str) -> None:
    assert words in str(refused(tmp_path, user=user))


@pytest.mark.parametrize("name", sorted(names_shared(MemorySettings, "never")))
def test_a_project_sets_nothing_of_the_memory_that_is_the_users_own(tmp_path: Path, name: str) -> None:
    value = {"chat_url": "http://a", "chat_provider": "ollama", "chat_api_key_env": "KEY"}.get(name, "1")
    assert f"a project's file may not set memory.{name}" in str(refused(tmp_path, f"memory: {{{name}: {value}}}"))


def test_the_key_of_a_provider_goes_to_its_own_server_only() -> None:
    own = MemorySettings(chat_provider="openai", chat_model="m")
    other = MemorySettings(chat_provider="openai", chat_model="m", chat_url="https://else.example/v1")
    named = MemorySettings(
        chat_provider="openai", chat_model="m", chat_url="https://else.example/v1/", chat_api_key_env="ELSE_KEY"
    )
    assert (own.chat_key_variable, other.chat_key_variable, named.chat_key_variable) == (
        "OPENAI_API_KEY",
        "",
        "ELSE_KEY",
    )
    assert named.chat_base_url == "https://else.example/v1"


def test_the_user_is_warned_of_a_chat_model_that_is_asked_without_encryption() -> None:
    plain = MemorySettings(chat_provider="openai", chat_model="m", chat_url="http://else.example/v1")
    assert plain.warnings[0].startswith("http://else.example/v1 is not encrypted: others can read all summaries")
    assert MemorySettings(chat_provider="openai", chat_model="m").warnings == MemorySettings().warnings == []


# -- hooks -------------------------------------------------------------------------------------------------------------


def test_hooks_have_a_section_that_each_place_adds_to(tmp_path: Path) -> None:
    user = "hooks:\n  reads: replace\n  reads_of: codex=off, goose=replace\n  prompt: false\n"
    settings = load(tmp_path, "hooks: {edits: false}", user, CAIRN_HOOKS_READ_TOKENS="2000")
    assert settings.hooks == HooksSettings(
        reads="replace", reads_of="codex=off, goose=replace", prompt=False, edits=False, read_tokens=2_000
    )
    assert [settings.hooks.reads_by(agent) for agent in ("codex", "goose", "other")] == ["off", "replace", "replace"]
    assert load(tmp_path).hooks is None


@pytest.mark.parametrize(
    ("user", "project", "expected"),
    [
        ("{}", "{reads: replace}", {"x": "auto"}),
        ("{}", "{reads: off}", {"x": "off"}),
        ("{reads: replace}", "{reads: suggest}", {"x": "suggest"}),
        ("{reads: off}", "{reads: suggest}", {"x": "off"}),
        ("{reads_of: x=replace y=off}", "{reads: suggest}", {"x": "suggest", "y": "off"}),
        ("{reads_of: x=replace}", "{reads: off}", {"x": "off", "y": "off"}),
    ],
)
def test_a_project_only_lowers_what_reads_are_answered_with(
    tmp_path: Path, user: str, project: str, expected: dict[str, str]
) -> None:
    hooks = load(tmp_path, f"hooks: {project}", f"hooks: {user}").hooks
    assert hooks is not None
    assert {agent: hooks.reads_by(agent) for agent in expected} == expected


def test_a_project_only_lowers_the_other_limits_of_hooks(tmp_path: Path) -> None:
    project = "hooks: {read_tokens: 100, session_tokens: 90000, searches: true}"
    user = "hooks: {read_tokens: 900, session_tokens: 500, searches: false}"
    assert load(tmp_path, project, user).hooks == HooksSettings(read_tokens=900, session_tokens=500, searches=False)
    assert "may not set hooks.reads_of" in str(refused(tmp_path, "hooks: {reads_of: x=off}"))


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("[1]", "hooks must be `name: value` lines"),
        ("{colour: red}", "unknown setting 'hooks.colour'"),
        ("{reads: sometimes}", "hooks.reads must be one of off, suggest, auto, replace"),
        ("{read_tokens: 1}", "hooks.read_tokens must be at least 100"),
    ],
)
def test_a_wrong_setting_of_hooks_is_refused(tmp_path: Path, section: str, words: str) -> None:
    assert words in str(refused(tmp_path, f"hooks: {section}"))


@pytest.mark.parametrize("text", ["codex", "codex=never", "=off", "codex=off;x=off"])
def test_modes_of_agents_are_pairs(text: str) -> None:
    with pytest.raises(ConfigError, match=r"hooks\.reads_of must be pairs"):
        HooksSettings(reads_of=text)


@pytest.mark.parametrize(
    ("setting", "event", "tool"),
    [
        ("session_start", "session-start", ""),
        ("subagent_start", "subagent-start", ""),
        ("prompt", "prompt", ""),
        ("files", "before-tool", "read"),
        ("files", "before-tool", "shell"),
        ("edits", "after-tool", "edit"),
        ("edits", "after-tool", "write"),
    ],
)
def test_each_moment_at_which_something_is_shown_can_be_switched_off(setting: str, event: str, tool: str) -> None:
    assert HooksSettings().shows_at(event, tool)
    off = HooksSettings(**{setting: False})  # type: ignore[arg-type] # all of these are switches
    assert not off.shows_at(event, tool)
    others = [("prompt", ""), ("session-start", ""), ("before-tool", "read"), ("after-tool", "edit")]
    kept = [other for other in others if off.shows_at(*other)]
    assert len(kept) >= len(others) - 1
